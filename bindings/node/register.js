// SPDX-License-Identifier: MIT
// node -r aspawn/register program.js: spawn, exec and execFile of child_process by aspawn.
'use strict';
require('./lib/handle.js').register();
