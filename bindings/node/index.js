// SPDX-License-Identifier: MIT
'use strict';
const childProcess = require('node:child_process');
const { promisify } = require('node:util');
const { killTree, supported, unsupported, within } = require('./lib/handle.js');
const { action: ofLinux, constants } = require('./lib/interface.js');
const { Action } = require('./lib/operands.js');
const { Queue } = require('./lib/queue.js');
const { version } = require('./package.json');

const OWN = ['actions', 'limits', 'cgroup', 'owner', 'diesWithCaller', 'memory', 'group', 'closeOthers', 'rows', 'columns',
	'stopSignal'];

// Another system lacks some signals of Linux, and has other paths.
// So an action checks nothing there: spawn refuses it.
const action = process.platform === 'linux' ? ofLinux :
	Object.fromEntries(Object.keys(ofLinux).map((name) => [name, () => new Action(0)]));

// False for a value that changes nothing, such as `group: supported` where that is false.
const isAsked = ([name, value]) => ![undefined, null, false, 'caller'].includes(value) &&
	!(/^(actions|limits)$/.test(name) && Object.keys(value).length === 0);

// The options that child_process does not have.
function extras(args) {
	const options = args
		.slice(1)
		.find((arg) => arg !== null && typeof arg === 'object' && !Array.isArray(arg));
	const extra = {};
	for (const name of OWN) if (options?.[name] !== undefined) extra[name] = options[name];
	if (supported) return extra;
	const asked = Object.entries(extra).filter(isAsked).map(([name]) => name);
	if (options?.stdio === 'pty') asked.push("stdio: 'pty'");
	if (asked.length) throw unsupported(asked.join(', '));
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
