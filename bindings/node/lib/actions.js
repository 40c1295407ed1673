// SPDX-License-Identifier: MIT
// Actions: what the new process does before it executes the program. Each is
// [kind, numbers, strings, list], the kind as enum aspawn_action_kind of aspawn/action.h.
'use strict';
const {
	constants: { signals },
} = require('node:os');
const {
	constants: { O_RDONLY },
} = require('node:fs');

// Of signals, by their numbers.
exports.SIGNAL_NAMES = new Map(Object.entries(signals).map(([name, number]) => [number, name]));

// As the addon has arrays of strings.
exports.joined = (words) => (words.length ? words.join('\0') + '\0' : '');

// An environment as an array.
exports.pairs = (env) =>
	Object.entries(env)
		.filter(([, value]) => value !== undefined)
		.map(([name, value]) => `${name}=${value}`);

exports.limitActions = (limits) =>
	Object.entries(limits ?? {}).map(([name, value]) =>
		exports.action.rlimit(name, ...[].concat(value)),
	);

function int(value, name) {
	if (!Number.isInteger(value))
		throw new TypeError(`aspawn: ${name} must be an integer, not ${value}`);
	return value;
}

function text(value, name) {
	if (typeof value !== 'string' || value.includes('\0'))
		throw new TypeError(`aspawn: ${name} must be a string without NUL, not ${value}`);
	return value;
}

function signal(value) {
	if (typeof value === 'string' && signals[value] !== undefined) return signals[value];
	return int(value, 'signal');
}

const RESOURCES = {
	cpu: 0,
	fsize: 1,
	data: 2,
	stack: 3,
	core: 4,
	rss: 5,
	nproc: 6,
	nofile: 7,
	memlock: 8,
	as: 9,
	locks: 10,
	sigpending: 11,
	msgqueue: 12,
	nice: 13,
	rtprio: 14,
	rttime: 15,
};
if (process.arch.startsWith('mips'))
	Object.assign(RESOURCES, { nofile: 5, as: 6, rss: 7, nproc: 8, memlock: 9 });
const INFINITY = 2n ** 64n - 1n;

function limit(value) {
	if (value === Infinity) return INFINITY;
	if (typeof value === 'bigint' && value >= 0n && value <= INFINITY) return value;
	if (!Number.isSafeInteger(value) || value < 0)
		throw new RangeError(`aspawn: not a limit: ${value}`);
	return BigInt(value);
}

exports.action = {
	dup2: (from, to) => [1, [int(from, 'from'), int(to, 'to')]],
	open: (fd, path, flags = O_RDONLY, mode = 0) => [
		2,
		[int(fd, 'fd'), int(flags, 'flags'), int(mode, 'mode')],
		[text(path, 'path')],
	],
	close: (fd) => [6, [int(fd, 'fd')]],
	closeFrom: (first) => [7, [int(first, 'first')]],
	cloexecFrom: (first) => [8, [int(first, 'first')]],
	setenv: (name, value) => [9, [], [text(name, 'name'), text(value, 'value')]],
	unsetenv: (name) => [10, [], [text(name, 'name')]],
	clearenv: () => [11],
	chdir: (path) => [12, [], [text(path, 'path')]],
	fchdir: (fd) => [13, [int(fd, 'fd')]],
	umask: (mask) => [14, [int(mask, 'mask')]],
	setsid: () => [15],
	setpgid: (group = 0) => [16, [int(group, 'group')]],
	controllingTerminal: (fd) => [17, [int(fd, 'fd')]],
	foreground: (fd) => [18, [int(fd, 'fd')]],
	pdeathsig: (number) => [23, [signal(number)]],
	rlimit(resource, soft, hard = soft) {
		const number = typeof resource === 'string' ? RESOURCES[resource] : resource;
		return [24, [int(number, `limit ${resource}`), limit(soft), limit(hard)]];
	},
	nice: (value) => [25, [int(value, 'value')]],
	scheduler: (policy, priority = 0) => [
		26,
		[int(policy, 'policy'), int(priority, 'priority')],
	],
	ioprio: (value) => [28, [int(value, 'value')]],
	oomScoreAdj: (value) => [29, [int(value, 'value')]],
	joinCgroup: (fd) => [31, [int(fd, 'fd')]],
	user: (uid, gid, groups = []) => [
		32,
		[int(uid, 'uid'), int(gid, 'gid')],
		[],
		groups.map((group) => int(group, 'group')),
	],
	capDrop: (capability) => [36, [int(capability, 'capability')]],
	capAmbient: (capability) => [37, [int(capability, 'capability')]],
	noNewPrivs: () => [39],
	landlock: (fd) => [41, [int(fd, 'fd')]],
	chroot: (path) => [42, [], [text(path, 'path')]],
	unshare: (flags) => [44, [int(flags, 'flags')]],
	setns: (fd, type = 0) => [45, [int(fd, 'fd'), int(type, 'type')]],
	mount: (source, target, type, flags = 0, options = '') => [
		46,
		[int(flags, 'flags')],
		[source, target, type, options].map((word) => text(word, 'argument')),
	],
	hostname: (name) => [47, [], [text(name, 'name')]],
	write: (path, string) => [48, [], [text(path, 'path'), text(string, 'text')]],
	signalDefault: (number) => [50, [signal(number)]],
	signalIgnore: (number) => [51, [signal(number)]],
	onlyBelow: (first) => [52, [int(first, 'first')]],
};
