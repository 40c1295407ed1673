// SPDX-License-Identifier: MIT
// Operands of actions (interface.js) and other arguments, from what a program gives to what the
// addon takes: numbers, strings and bytes.
'use strict';
const { constants: { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } } = require('node:fs');
const { constants: { errno, signals: SIGNALS } } = require('node:os');
const { fileURLToPath } = require('node:url');
const { inspect } = require('node:util');

// What the process does before it executes the program; number is that of src/actions.h.
class Action {
	constructor(number, ...operands) {
		this.number = number;
		this.operands = operands;
	}
}

// Returns the value if it is as expected.
function expect(isRight, value, name, expected) {
	if (isRight) return value;
	const message = `aspawn: "${name}" must be ${expected}, not ${inspect(value)}`;
	throw Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' });
}

// For a negative error number; failure is the library's text of it.
function systemError(number, what, failure) {
	const code = Object.keys(errno).find((name) => errno[name] === -number) ?? `error ${-number}`;
	return Object.assign(new Error(`aspawn: ${failure ?? `${what}: ${code}`}`), { errno: number, code });
}

const oneOf = (value, name, ...values) => expect(values.includes(value), value, name, `one of ${values.join(', ')}`);
// Options may be left out.
const object = (value, name) =>
	value == null ? {} : expect(typeof value === 'object' && !Array.isArray(value), value, name, 'an object');
const boolean = (value, name) => expect(value == null || typeof value === 'boolean', value, name, 'true or false') === true;
// Array.from() would make an empty one of a number.
const list = (values, name) =>
	Array.from(expect(typeof values === 'object' && values?.[Symbol.iterator], values, name, 'an array'));
const actions = (given) =>
	given == null ? [] : expect(Array.isArray(given) && given.every((action) => Number.isInteger(action?.number)),
		given, 'actions', 'an array of actions');

// Without a range: one of 32 bits, with a sign or without.
function integer(value, name, from = -(2 ** 31), to = 2 ** 32 - 1, expected = 'an integer') {
	expect(typeof value === 'bigint' || Number.isSafeInteger(value), value, name, expected);
	if (value >= from && value <= to) return value;
	const error = new RangeError(`aspawn: "${name}" must be from ${from} to ${to}, not ${value}`);
	throw Object.assign(error, { code: 'ERR_OUT_OF_RANGE' });
}

// A function that takes a number, or a name of one.
const named = (what, numbers, expected = `a ${what}'s name or number`, ...range) =>
	Object.assign(
		(value, name = what) =>
			Object.hasOwn(numbers, value) ? numbers[value] : integer(value, name, range[0], range[1], expected),
		{ numbers },
	);
const signal = named('signal', SIGNALS, undefined, 0, 127);

const READ_WRITE = { r: O_RDONLY, 'r+': O_RDWR, w: O_WRONLY | O_CREAT | O_TRUNC, 'w+': O_RDWR | O_CREAT | O_TRUNC };
const APPEND = { a: O_WRONLY | O_CREAT | O_APPEND, 'a+': O_RDWR | O_CREAT | O_APPEND };
const NEW = { wx: READ_WRITE.w | O_EXCL, 'wx+': READ_WRITE['w+'] | O_EXCL, ax: APPEND.a | O_EXCL, 'ax+': APPEND['a+'] | O_EXCL };
const openFlags = named('flags', { ...READ_WRITE, ...APPEND, ...NEW }, 'flags of fs.open() or a number');

function bytes(value, name, expected = 'a Buffer or other bytes') {
	expect(ArrayBuffer.isView(value), value, name, expected);
	return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

const TEXT = 'a string or Buffer';
function text(value, name, expected = TEXT) {
	if (value === null) return undefined; // optional, or the library refuses it
	const view = typeof value === 'string' ? value : bytes(value, name, expected);
	expect(!view.includes(typeof view === 'string' ? '\0' : 0), value, name, 'without NUL');
	return view.length ? view : '';
}

// A set of numbers, as sigset_t and cpu_set_t are.
function bits(numbers, name, first, last) {
	const words = [0n, 0n];
	for (const value of list(numbers, name)) {
		const bit = integer(value, name, first, last) - first;
		while (words.length <= bit / 64) words.push(0n);
		words[Math.floor(bit / 64)] |= 1n << BigInt(bit % 64);
	}
	return bytes(BigUint64Array.from(words));
}

// Strings as the addon takes them.
function joined(words, name) {
	for (const word of words) expect(typeof word === 'string' && !word.includes('\0'), word, name, 'a string without NUL');
	return words.length ? words.join('\0') + '\0' : '';
}

module.exports = {
	Action, TEXT, actions, boolean, bytes, expect, integer, joined, object, oneOf, openFlags, signal, systemError, text,
	capability: named('capability', {}),
	resource: named('resource', {}, 'a limit\'s name, such as "nofile", or its number'),
	descriptor: (value, name) => integer(typeof value?.fd === 'number' ? value.fd : value, name),
	ids: (values, name) => bytes(Uint32Array.from(list(values, name), (value) => integer(value, name, 0, 2 ** 32 - 1))),
	instructions: bytes,
	limit: (value, name) => (value === Infinity ? 2n ** 64n - 1n : integer(value, name, 0, 2n ** 64n - 1n)),
	long: (value, name) => integer(value, name, -(2n ** 63n), 2n ** 64n - 1n),
	newMode: (flags) => (openFlags(flags) & O_CREAT ? 0o666 : 0),
	path: (value, name) => text(value instanceof URL ? fileURLToPath(value) : value, name, 'a string, Buffer or URL'),
	processors: (values, name) => bits(values, name, 0, 8191),
	signals: (values, name) => bits(list(values, name).map((value) => signal(value)), name, 1, 64),
	// An environment as strings.
	pairs: (env) =>
		Object.entries(object(env, 'env')).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
};
