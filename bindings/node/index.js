// SPDX-License-Identifier: MIT
'use strict';
const childProcess = require('node:child_process');
const { promisify } = require('node:util');
const { action } = require('./lib/actions.js');
const { killTree, problem, supported, within } = require('./lib/handle.js');
const { Queue } = require('./lib/queue.js');
const { version } = require('./package.json');

const OWN = [
	'actions',
	'limits',
	'cgroup',
	'private',
	'diesWithCaller',
	'noImage',
	'group',
	'closeOthers',
];

// The options that child_process does not have.
function extras(args) {
	const options = args
		.slice(1)
		.find((arg) => arg !== null && typeof arg === 'object' && !Array.isArray(arg));
	const extra = {};
	for (const name of OWN) if (options?.[name] !== undefined) extra[name] = options[name];
	if (!supported && Object.keys(extra).length)
		throw new Error(
			`aspawn is not supported here, so neither is ${Object.keys(extra)}`,
			{ cause: problem },
		);
	return extra;
}

function spawn(...args) {
	return within(extras(args), () => childProcess.spawn(...args));
}

function execFile(...args) {
	return within(extras(args), () => childProcess.execFile(...args));
}

function exec(...args) {
	return within(extras(args), () => childProcess.exec(...args));
}

const promised =
	(name) =>
	(...args) =>
		within(extras(args), () => promisify(childProcess[name])(...args));
for (const call of [execFile, exec])
	Object.defineProperty(call, promisify.custom, { value: promised(call.name) });

module.exports = {
	spawn,
	execFile,
	exec,
	Queue,
	killTree,
	action,
	supported,
	version,
	promises: { execFile: promised('execFile'), exec: promised('exec') },
};
