// SPDX-License-Identifier: MIT
export * from './index.js';
export * as default from './index.js';
