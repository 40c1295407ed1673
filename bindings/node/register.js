// SPDX-License-Identifier: MIT
// node -r aspawn/register program.js: spawn, exec and execFile of child_process by aspawn.
'use strict';
const { problem, register, supported } = require('./lib/handle.js');

if (supported) register();
else if (problem) process.emitWarning(`aspawn is not used: ${problem.message}`);
