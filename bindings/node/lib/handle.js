// SPDX-License-Identifier: MIT
// What Node's ChildProcess uses to start and watch a process, its _handle: spawn(options),
// kill(), close(), ref(), unref(), hasRef(), pid, onexit(). With this class in the place of Node's
// own, all that child_process does with streams, events, time limits and errors stays Node's.
'use strict';
const { closeSync, openSync, constants } = require('node:fs');
const { ChildProcess } = require('node:child_process');
const {
	constants: { signals, errno },
} = require('node:os');
const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads');
const { action, joined, limitActions, pairs, SIGNAL_NAMES } = require('./actions.js');

// As enum of src/addon.c.
const IGNORE = -1;
const PIPE = -2;
const DETACHED = 1;
const SET_GID = 2;
const SET_UID = 4;
const PRIVATE = 8;
const CLOSE_OTHERS = 16;
const DIES_WITH_CALLER = 32;
const NO_IMAGE = 64;

let binding = null;
let problem;
try {
	binding = require('../build/aspawn.node');
} catch (error) {
	problem = error;
}
exports.binding = binding;

function source(stream) {
	switch (stream.type) {
		case 'ignore':
			return IGNORE;
		case 'pipe':
		case 'overlapped':
			return PIPE;
		case 'wrap':
			return stream.handle.fd;
		default:
			return stream.fd;
	}
}

class Handle {
	#cgroup = -1;

	constructor(child, extra, options) {
		this.child = child;
		this.onexit = child._handle.onexit;
		this.extra = extra;
		this.options = options;
	}

	// Some versions of Node give the options, others a list of their values: hence neither.
	spawn() {
		const { extra, options } = this;
		const actions = [];
		if (extra.group) actions.push(action.setpgid(0));
		actions.push(...limitActions(extra.limits));
		if (extra.cgroup !== undefined) {
			this.#cgroup = openSync(
				extra.cgroup,
				constants.O_RDONLY | constants.O_DIRECTORY,
			);
			actions.push(action.joinCgroup(this.#cgroup));
		}
		actions.push(...(extra.actions ?? []));
		const flags =
			(options.detached ? DETACHED : 0) |
			(options.gid != null ? SET_GID : 0) |
			(options.uid != null ? SET_UID : 0) |
			(extra.private ? PRIVATE : 0) |
			(extra.closeOthers ? CLOSE_OTHERS : 0) |
			(extra.diesWithCaller ? DIES_WITH_CALLER : 0) |
			(extra.noImage ? NO_IMAGE : 0);
		const args = options.args ?? [];
		const env = options.envPairs ?? pairs(process.env);
		const streams = Int32Array.from(options.stdio, source);
		const pid = binding.spawn(
			this,
			options.file,
			joined(args),
			args.length,
			joined(env),
			env.length,
			options.cwd || undefined,
			streams,
			flags,
			options.uid,
			options.gid,
			actions,
		);
		if (this.failure !== undefined) this.child.failure = this.failure;
		streams.forEach((fd, i) => {
			if (fd >= 0) options.stdio[i].handle.open(fd);
		});
		if (pid < 0) {
			this.#closeCgroup();
			return pid;
		}
		this.pid = pid;
		return 0;
	}

	// Called by the addon when the process has ended.
	ended(code, signal) {
		if (this.failure !== undefined) this.child.failure = this.failure;
		this.onexit(code, signal ? (SIGNAL_NAMES.get(signal) ?? '') : '');
	}

	kill(signal) {
		return binding.kill(this, signal);
	}

	killTree(signal) {
		if (this.#cgroup >= 0 && signal === signals.SIGKILL)
			return binding.killCgroup(this.#cgroup);
		return binding.killGroup(this, signal);
	}

	#closeCgroup() {
		if (this.#cgroup >= 0) closeSync(this.#cgroup);
		this.#cgroup = -1;
	}

	close() {
		this.#closeCgroup();
	}

	ref() {
		binding.reference(this, true);
	}

	unref() {
		binding.reference(this, false);
	}

	// enum aspawn_clone_mode
	mode() {
		return binding.mode(this);
	}

	hasRef() {
		return binding.isReferenced(this);
	}
}

// --- in the place of Node's ----------------------------------------------------------

// What the call of aspawn.spawn() and the like that is being made asks for; null: not by aspawn.
let current = null;
let always = false;

function hasChannel(stdio) {
	return Array.isArray(stdio) && stdio.includes('ipc');
}

// Whether ChildProcess uses its _handle as this file needs it. A handle that starts nothing sees it.
function fits() {
	const child = new ChildProcess();
	const options = { file: 'aspawn', args: [], envPairs: [], stdio: ['ignore', 'pipe', 2] };
	const { onexit } = child._handle;
	let result = false;
	child._handle = {
		spawn() {
			const { file, stdio } = options;
			result = file === 'aspawn' && typeof stdio[1].handle.open === 'function' &&
				String(stdio.map(source)) === String([IGNORE, PIPE, 2]);
			return -errno.E2BIG; // such an error throws, and there is no event
		},
		close() {},
	};
	try {
		child.spawn(options);
	} catch {
		return result && typeof onexit === 'function';
	}
	return false;
}

if (!problem && !binding.isSupported()) problem = new Error('the kernel has no pidfds');
if (!problem && process.permission?.has('child') === false)
	problem = new Error('Node was started without --allow-child-process');
if (!problem && !fits()) problem = new Error(`the ChildProcess of Node ${process.version} is unknown`);
exports.problem = problem;
exports.supported = problem === undefined;

if (!problem) {
	const { spawn } = ChildProcess.prototype;
	ChildProcess.prototype.spawn = function (options) {
		const extra = current ?? (always ? {} : null);
		if (extra !== null && !hasChannel(options?.stdio)) {
			current = null;
			this._handle = new Handle(this, extra, options);
		}
		return Reflect.apply(spawn, this, arguments);
	};
} else if (!getEnvironmentData('aspawn told')) {
	setEnvironmentData('aspawn told', true); // to workers too
	process.emitWarning(`aspawn is not used: ${problem.message}`);
}

// Calls a function of child_process, whose process is started by aspawn as extra asks.
exports.within = function within(extra, call) {
	const before = current;
	current = extra;
	try {
		return call();
	} finally {
		current = before;
	}
};

exports.register = function register() {
	always = true;
};

// Sends a signal to a process and all that it has started: to its control group (SIGKILL), or else
// to its process group, if it leads one.
exports.killTree = function killTree(child, signal = 'SIGTERM') {
	const number = typeof signal === 'number' ? signal : signals[signal];
	if (number === undefined) throw new TypeError(`Unknown signal: ${signal}`);
	if (child._handle instanceof Handle) {
		const error = child._handle.killTree(number);
		if (error === 0) child.killed = true;
		else if (error !== -errno.ESRCH)
			throw new Error(`aspawn: the tree cannot be killed: error ${-error}`);
		return error === 0;
	}
	return child.kill(signal);
};
