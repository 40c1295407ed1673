// SPDX-License-Identifier: MIT
// What Node's ChildProcess uses to start and watch a process, its _handle: spawn(options),
// kill(), close(), ref(), unref(), hasRef(), pid, onexit(). With this class in the place of Node's
// own, all that child_process does with streams, events, time limits and errors stays Node's.
'use strict';
const { closeSync, openSync, constants } = require('node:fs');
const { ChildProcess } = require('node:child_process');
const { errorMonitor } = require('node:events');
const { constants: { errno, signals } } = require('node:os');
const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads');
const { action, command, library } = require('./interface.js');
const { actions, boolean, expect, integer, joined, object, oneOf, pairs, signal, systemError } = require('./operands.js');
const { Terminal } = require('./terminal.js');

// As enum of src/addon.c.
const [IGNORE, PIPE, PTY] = [-1, -2, -3];

let binding = null;
const isLinux = process.platform === 'linux';
// The addon needs Node's event loop. To load it in another runtime may end the program,
// though not at once.
const other = ['bun', 'deno'].find((name) => process.versions[name]);
let problem; // why children are those of child_process
if (!isLinux) problem = new Error(`aspawn is on Linux only, not on ${process.platform}`);
else if (other) problem = new Error(`${other} is not Node`);
else {
	for (const path of ['../build/aspawn.node', `../prebuilds/linux-${process.arch}/aspawn.node`])
		try {
			binding ??= require(path);
		} catch (error) {
			if (error.code !== 'MODULE_NOT_FOUND') problem = error;
		}
	if (binding) problem = undefined;
	else problem ??= new Error(`there is no addon for ${process.arch}: install gcc or clang, then npm rebuild aspawn`);
}
exports.binding = binding;

// Of signals, by their numbers; of several names the first counts, as for child_process.
const SIGNAL_NAMES = new Map(Object.entries(signals).reverse().map(([name, number]) => [number, name]));
exports.signalName = (number) => SIGNAL_NAMES.get(number) ?? '';

exports.limitActions = (limits) =>
	Object.entries(object(limits, 'limits')).map(([name, value]) => {
		const pair = Array.isArray(value) ? value : [value, value];
		expect(pair.length === 2, value, name, 'a limit, or a soft and a hard one');
		return action.rlimit(name, ...pair);
	});

// A member of enum aspawn_GROUP: 'private' is ASPAWN_OWNER_PRIVATE.
exports.choice = function choice(group, name) {
	if (name === undefined) return 0;
	const members = Object.keys(library).filter((member) => member.startsWith(`${group}_`));
	oneOf(name, group.toLowerCase(), ...members.map((member) => member.slice(group.length + 1).toLowerCase()));
	return library[`${group}_${name.toUpperCase()}`];
};

// What the library calls otherwise.
const ARGUMENTS = { action_count: 'actions', job_bytes: 'Queue({ jobBytes })', pty_columns: 'columns', pty_rows: 'rows' };

// The index of a failure is one in actions, of which the package has put others before and after.
exports.failureText = (text, before, actions = []) =>
	text
		?.replace(/^argument "(?:job\.)?(\w+)"/, (whole, name) => `argument "${ARGUMENTS[name] ?? name}"`)
		.replace(/^action (\d+), /, (whole, index) =>
			index < before || index >= before + actions.length ? '' : `action ${index - before}, `,
		);

const SOURCES = { ignore: IGNORE, pipe: PIPE, overlapped: PIPE };
const source = ({ type, handle, fd }) => SOURCES[type] ?? (type === 'wrap' ? handle.fd : fd);

// Above the standard streams, which the child replaces before it uses this.
function openDirectory(path) {
	const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
	if (fd > 2) return fd;
	try {
		return openDirectory(path);
	} finally {
		closeSync(fd);
	}
}

// As setgid() and setuid(): without privileges only the effective ID changes.
const ids = (id) => (process.geteuid() === 0 ? [id, id, id] : [-1, id, -1]);

class Handle {
	#cgroup = -1;
	#runs = false;
	#isReferenced = true;
	#before = 0; // that many actions are not the caller's

	constructor(child, extra, options) {
		this.child = child;
		this.onexit = child._handle.onexit;
		this.extra = extra;
		this.options = options;
		child.on(errorMonitor, (error) => child.failure && Object.assign(error, { failure: child.failure }));
	}

	// Some versions of Node give the options, others a list of their values: hence neither.
	spawn() {
		try {
			const pid = this.#begin();
			if (pid < 0) return pid;
			this.pid = pid;
			this.#runs = true;
			return 0;
		} finally {
			if (!this.#runs) this.close();
		}
	}

	// Returns the pid, or a negative error number.
	#begin() {
		const { extra, options } = this;
		// setresuid(2) would change nothing
		if (options.uid === -1 || options.gid === -1) return -errno.EINVAL;
		for (const name of ['group', 'diesWithCaller', 'closeOthers']) boolean(extra[name], name);
		const first = [action.resetSignals()];
		if (extra.pty); // it has a session
		else if (options.detached) first.push(action.setsid());
		else if (extra.group) first.push(action.setpgid());
		first.push(...exports.limitActions(extra.limits));
		if (extra.cgroup !== undefined) {
			this.#cgroup = openDirectory(extra.cgroup);
			first.push(action.joinCgroup(this.#cgroup));
		}
		const given = actions(extra.actions);
		const last = [];
		const isOther = options.uid != null || options.gid != null;
		if (options.gid != null) last.push(action.resgid(...ids(options.gid)));
		if (options.uid != null) last.push(action.resuid(...ids(options.uid)));
		if (extra.closeOthers) last.push(action.closefrom(options.stdio.length));
		const groups = isOther && process.geteuid() === 0 ? [action.groups([])] : [];
		const isCertain = first.length === 1 + (!!options.detached && !extra.pty) && !given.length && !isOther;
		const pid = this.#start(first, [...groups, ...last], isCertain);
		// A user namespace may forbid setgroups(), which Node does not mind.
		const isForbidden = pid === -errno.EPERM && this.child.failure === 'groups: EPERM';
		return isForbidden ? this.#start(first, last, false) : pid;
	}

	#start(first, last, isCertain) {
		const { extra, options } = this;
		const streams = Int32Array.from(options.stdio, source);
		const terminals = extra.pty ? streams.fill(PTY, 0, 3).subarray(0, 3) : [];
		const notMade = options.stdio.slice(3).filter(({ type }) => type === 'ignore').length;
		this.#before = streams.length - terminals.length - notMade + (options.cwd ? 1 : 0) + first.length;
		this.failure = undefined;
		const pid = binding.spawn(
			this, options.file, joined((options.args ?? []).map(String), 'args'),
			joined(options.envPairs ?? pairs(process.env), 'env'),
			options.cwd || undefined, [...first, ...(extra.actions ?? []), ...last],
			command({
				flags: library.COMMAND_SHELL_ON_ENOEXEC | (extra.diesWithCaller && library.COMMAND_DIES_WITH_CALLER) |
					(extra.pty && library.COMMAND_NONBLOCK),
				owner: exports.choice('OWNER', extra.owner), memory: exports.choice('MEMORY', extra.memory),
				ptyRows: integer(extra.rows ?? 0, 'rows'), ptyColumns: integer(extra.columns ?? 0, 'columns'),
				stopSignal: exports.stopSignal(extra),
			}),
			streams, isCertain,
		);
		this.#explain();
		streams.forEach((fd, i) => {
			if (fd < 0) return;
			if (i >= terminals.length) options.stdio[i].handle.open(fd);
			else if (pid < 0) closeSync(fd);
			else this.child.terminal = new Terminal(fd, (...size) => binding.resize(this, ...size));
		});
		return pid;
	}

	#explain() {
		const text = exports.failureText(this.failure, this.#before, this.extra.actions);
		if (text) this.child.failure = text;
		else delete this.child.failure;
	}

	// Called by the addon when the process has ended.
	ended(code, signal) {
		this.#runs = false;
		this.#explain();
		this.onexit(code, exports.signalName(signal));
	}

	kill(signal) {
		return binding.kill(this, signal, false);
	}

	killTree(signal) {
		if (this.#cgroup >= 0 && signal === signals.SIGKILL) return binding.killCgroup(this.#cgroup);
		return binding.kill(this, signal, true);
	}

	close() {
		if (this.#cgroup >= 0) closeSync(this.#cgroup);
		this.#cgroup = -1;
	}

	ref(whether = true) {
		this.#isReferenced = whether;
		binding.reference(this, whether);
	}

	unref() {
		this.ref(false);
	}

	// enum aspawn_clone_mode
	mode() {
		return binding.mode(this);
	}

	hasRef() {
		return this.#isReferenced && this.#runs;
	}
}

// --- in the place of Node's ----------------------------------------------------------

// Whether ChildProcess uses its _handle as this file needs it.
// A handle that starts nothing sees it.
function fits() {
	const options = { file: 'aspawn', args: [], envPairs: [], stdio: ['ignore', 'pipe', 2] };
	let result = false;
	try {
		const child = new ChildProcess();
		const { onexit } = child._handle;
		child._handle = {
			spawn() {
				const { file, stdio } = options;
				result = file === 'aspawn' && typeof stdio[1].handle.open === 'function' &&
					String(stdio.map(source)) === String([IGNORE, PIPE, 2]) && typeof onexit === 'function';
				return -errno.E2BIG; // such an error throws, and there is no event
			},
			close() {},
		};
		child.spawn(options);
	} catch {
		return result;
	}
	return false;
}

if (!problem && !binding.isSupported()) problem = new Error('the kernel has no pidfds');
if (!problem && process.permission?.has('child') === false)
	problem = new Error('Node was started without --allow-child-process');
if (!problem && !fits()) problem = new Error(`the ChildProcess of Node ${process.version} is unknown`);
exports.supported = problem === undefined;

// Returns the error for what only the library has.
exports.unsupported = function unsupported(what) {
	const why = isLinux ? `is not supported here: ${problem.message}` : `is on Linux only, not on ${process.platform}`;
	return Object.assign(new Error(`aspawn: ${what} ${why}`, { cause: problem }), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
};

// On other systems the library is never there, so a warning would say nothing new.
if (problem && isLinux && !getEnvironmentData('aspawn told')) {
	setEnvironmentData('aspawn told', true); // to workers too
	process.emitWarning(`aspawn is not used: ${problem.message}`);
}

// What ChildProcess.prototype.spawn is, but with this file's handle.
const replaced = (spawn, extra) =>
	function (options) {
		if (this._handle instanceof Handle) return Reflect.apply(spawn, this, arguments);
		if (options?.stdio === 'pty') {
			options.stdio = 'ignore'; // for Node
			extra = { ...extra, pty: true };
		}
		const hasChannel = Array.isArray(options?.stdio) && options.stdio.includes('ipc');
		if (!hasChannel) this._handle = new Handle(this, extra, options);
		else if (Object.keys(extra).length) throw new Error(`aspawn: no ${Object.keys(extra)} with 'ipc'`);
		try {
			return Reflect.apply(spawn, this, arguments);
		} catch (error) {
			throw this.failure ? Object.assign(error, { failure: this.failure }) : error;
		}
	};

// Calls a function of child_process, whose process is started by aspawn as extra asks. That looks
// for its method in the prototype, which is as it was when this returns.
exports.within = function within(extra, call) {
	if (problem) return call();
	const { prototype } = ChildProcess;
	const { spawn } = prototype;
	prototype.spawn = replaced(spawn, extra);
	try {
		return call();
	} finally {
		prototype.spawn = spawn;
	}
};

exports.register = function register() {
	if (!problem) ChildProcess.prototype.spawn = replaced(ChildProcess.prototype.spawn, {});
};

// 0: SIGTERM
exports.stopSignal = ({ stopSignal }) => stopSignal === undefined ? 0 : signal(stopSignal, 'stopSignal');

// Sends a signal to a process and all that it has started: to its control group (SIGKILL), or else
// to its process group, if it leads one.
exports.killTree = function killTree(child, name = child._handle?.extra?.stopSignal ?? 'SIGTERM') {
	if (child._handle instanceof Handle) {
		const error = child._handle.killTree(signal(name));
		if (error === 0) child.killed = true;
		else if (error !== -errno.ESRCH) throw systemError(error, 'the tree is not killed');
		return error === 0;
	}
	// The child is one of child_process, and may lead a group.
	// Its number is its own until it has ended.
	if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return child.kill(name);
	try {
		return (child.killed = process.kill(-child.pid, name));
	} catch (error) {
		if (error.code !== 'ESRCH') throw error; // it leads no group
		return child.kill(name);
	}
};
