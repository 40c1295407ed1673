// SPDX-License-Identifier: MIT
'use strict';
const childProcess = require('node:child_process');
const { promisify } = require('node:util');
const { action, constants } = require('./lib/interface.js');
const { killTree, problem, supported, within } = require('./lib/handle.js');
const { Queue } = require('./lib/queue.js');
const { version } = require('./package.json');

const OWN = ['actions', 'limits', 'cgroup', 'owner', 'diesWithCaller', 'memory', 'group', 'closeOthers', 'rows', 'columns',
	'stopSignal'];

// The options that child_process does not have.
function extras(args) {
	const options = args
		.slice(1)
		.find((arg) => arg !== null && typeof arg === 'object' && !Array.isArray(arg));
	const extra = {};
	for (const name of OWN) if (options?.[name] !== undefined) extra[name] = options[name];
	if (!supported && Object.keys(extra).length)
		throw new Error(`aspawn is not supported here, so neither is ${Object.keys(extra)}`, { cause: problem });
	return extra;
}

// A function of child_process, or what promisify() makes of it, whose process is started by aspawn.
const started = (name, as = (call) => call) =>
	(...args) => within(extras(args), () => as(childProcess[name])(...args));
const promises = { execFile: started('execFile', promisify), exec: started('exec', promisify) };
const [spawn, execFile, exec] = ['spawn', 'execFile', 'exec'].map((name) =>
	Object.defineProperties(started(name), { name: { value: name }, [promisify.custom]: { value: promises[name] } }),
);

module.exports = { spawn, execFile, exec, Queue, killTree, action, constants, supported, version, promises };
