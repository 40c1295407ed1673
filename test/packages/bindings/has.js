// SPDX-License-Identifier: MIT
// has.js PACKAGE: reads names of doc/bindings.md's column (column.py), and prints those that the
// package has not: an export, a member of a child, queue or prepared command, or an option. An
// option is read by the function, or, with a value, taken where another value is not.
'use strict';
const aspawn = require(process.argv[2]);

const queue = new aspawn.Queue();
const prepared = queue.prepare('true');
const { failure } = aspawn.spawn('/no/such').on('error', () => {});
const child = Object.assign(aspawn.spawn('true'), { failure });
const named = { ...aspawn, child, prepared, Queue: queue };
const called = {
	Queue: (options) => new aspawn.Queue(options).close(),
	spawn: (options) => aspawn.spawn('true', options),
	submit: (options) => queue.submit('true', [], options),
};

async function takes(name, option, value) {
	const read = new Set();
	const call = async (options) => called[name](new Proxy(options, { get: (from, key) => (read.add(key), from[key]) }));
	if (!value) return call({}).then(() => read.has(option));
	const isTaken = (value) => call({ [option]: value }).then(() => true, () => false);
	return (await isTaken(value)) && !(await isTaken('another'));
}

async function has(name) {
	const [, of, option, value] = /^(?:(\w+)\()?\{ (\w+)(?:: '(\w+)')? \}\)?$/.exec(name) ?? [];
	if (option) return takes(of ?? 'spawn', option, value);
	const path = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()).split('.');
	if (path.length === 1) return path[0] in aspawn;
	return path.reduce((object, part) => object?.[part], named) !== undefined;
}

async function main() {
	const names = require('node:fs').readFileSync(0, 'utf8').trim().split('\n');
	for (const name of names)
		if (!(await has(name))) {
			console.log(`it has not: ${name}`);
			process.exitCode = 1;
		}
	if (names.length < 50) throw new Error('too few names');
	queue.close();
}
main();
