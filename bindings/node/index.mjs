// SPDX-License-Identifier: MIT
import aspawn from './index.js';

export const { spawn, execFile, exec, Queue, killTree, action, constants, supported, version, promises } = aspawn;
export default aspawn;
