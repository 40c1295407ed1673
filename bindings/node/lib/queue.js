// SPDX-License-Identifier: MIT
// A queue of commands: src/queue.c.
'use strict';
const { EventEmitter } = require('node:events');
const { constants: { errno } } = require('node:os');
const { clearInterval, setInterval } = require('node:timers');
const { binding, choice, failureText, limitActions, signalName, stopSignal, supported, unsupported } =
	require('./handle.js');
const { action, command: numbersOf, job: numbersOfJob, library, queueOptions } = require('./interface.js');
const { TEXT, actions, boolean, bytes, expect, integer, joined, object, oneOf, pairs, path, systemError, text } =
	require('./operands.js');

const OF_COMMAND = ['argv0', 'cwd', 'env', 'limits', 'actions', 'memory', 'owner', 'stopSignal'];
const OF_PREPARED = [...OF_COMMAND, 'stderr'];
const OF_JOB = [...OF_PREPARED, 'input', 'stdout', 'maxOutput', 'tail', 'encoding', 'timeout', 'grace', 'key',
	'keyLimit', 'priority', 'signal'];

// One that has no effect, such as uid, is refused.
function known(options, what, names) {
	const other = Object.keys(options).find((name) => options[name] !== undefined && !names.includes(name));
	if (other) throw new TypeError(`aspawn: ${what} has no option "${other}"`);
	return options;
}

// [args, options], of which each may be left out.
function given(args, options) {
	if (args === undefined || args === null || Array.isArray(args)) return [args ?? undefined, object(options, 'options')];
	return [undefined, expect(typeof args === 'object', args, 'args', 'an array')];
}

const check = (value, name, from = 0, to = 2 ** 32 - 1) => value === undefined ? 0 : integer(value, name, from, to);

// null is bytes, as child_process has it.
function encodingOf({ encoding = 'utf8' }) {
	if (encoding === null || encoding === 'buffer') return 'buffer';
	return expect(Buffer.isEncoding(encoding), encoding, 'encoding', 'an encoding or "buffer"');
}

// What a job or a prepared command executes, as the addon has it.
function command(file, args, options, env) {
	const { argv0 = file, cwd, stderr = 'pipe', memory, owner } = options;
	const first = [action.resetSignals(), ...limitActions(options.limits)];
	const own = actions(options.actions);
	oneOf(stderr, 'stderr', 'pipe', 'ignore', 'stdout');
	return {
		file, argv0, stderr,
		explained: (failure) => failureText(failure, first.length + (cwd === undefined ? 0 : 1), own),
		arguments: [
			text(file, 'file'),
			joined([argv0, ...args], 'args'),
			options.env == null ? env : joined(pairs(options.env), 'env'),
			cwd === undefined ? undefined : path(cwd, 'cwd'),
			[...first, ...own],
			numbersOf({
				flags: library.COMMAND_SHELL_ON_ENOEXEC, stdErr: stderr === 'stdout' ? library.STREAM_STDOUT : 0,
				memory: choice('MEMORY', memory), owner: choice('OWNER', owner && oneOf(owner, 'owner', 'tree')),
				stopSignal: stopSignal(options),
			}),
		],
	};
}

// All that queueSubmit() has after the object for the failure.
function request(of, options, cookie) {
	const { input, stdout = 'pipe' } = options;
	const stderr = of.stderr === 'pipe' ? (options.stderr ?? 'pipe') : of.stderr;
	oneOf(stdout, 'stdout', 'pipe', 'ignore');
	// with a NUL
	const kept = check(options.maxOutput ?? 4096, 'maxOutput', 1, 2 ** 32 - 2) + 1;
	return [
		...of.arguments,
		numbersOfJob({
			flags: boolean(options.tail, 'tail') && library.JOB_TAIL, cookie, prepared: of.number,
			outSize: stdout === 'pipe' ? kept : 0, errSize: stderr === 'pipe' ? kept : 0,
			timeLimitMs: check(options.timeout, 'timeout'), graceMs: options.grace === 0 ? -1 : check(options.grace, 'grace'),
			key: check(options.key, 'key', 1), keyLimit: check(options.keyLimit ?? (options.key && 1), 'keyLimit', 1),
			priority: check(options.priority, 'priority'),
		}),
		typeof input === 'string' ? Buffer.from(input) : input == null ? undefined : bytes(input, 'input', TEXT).slice(),
	];
}

const PREPARED = new WeakMap(); // of a Prepared: its command, queue, number and jobs

class Prepared {
	release() {
		const of = PREPARED.get(this);
		if (of.jobs) throw new Error(`aspawn: ${of.jobs} jobs of the prepared command have not ended`);
		if (of.number > 0) binding.queueRelease(of.queue, of.number);
		of.number = -1; // of none
	}
}

// The command of a job of a prepared one, of which it has all but the arguments.
function ofPrepared(of, queue, args, options) {
	if (of.queue !== queue) throw new TypeError('aspawn: another queue has prepared the command');
	const own = OF_COMMAND.find((name) => options[name] !== undefined);
	if (own || options.stderr === 'stdout')
		throw new TypeError(`aspawn: "${own ?? 'stderr'}" is the prepared command's`);
	const words = args && joined([of.argv0, ...args], 'args');
	return { ...of, arguments: [undefined, words, undefined, undefined, undefined, undefined] };
}

class Queue extends EventEmitter {
	#env;
	#jobs = new Map(); // those that the addon has, by cookie
	#backlog = new Set(); // those for which it had no place, in their order
	#cookie = 0;
	#closed = false;
	#timer; // while there are jobs: continues a server that a job has stopped

	constructor(options) {
		super();
		options = known(object(options, 'options'), 'a queue', ['jobs', 'running', 'jobBytes', 'delay', 'env']);
		if (!supported) throw unsupported('a queue');
		this.#env = joined(pairs(options.env ?? process.env), 'env');
		const numbers = { delayMs: check(options.delay, 'delay') };
		for (const [name, most] of Object.entries({ jobs: 32768, running: 32768, jobBytes: 1 << 24 }))
			numbers[name] = check(options[name], name, 1, most);
		const error = binding.queueCreate(this, queueOptions(numbers));
		if (error) throw systemError(error, 'no queue');
	}

	submit(...args) {
		let job;
		try {
			job = this.#job(...args);
		} catch (error) {
			return Promise.reject(error);
		}
		if (this.listenerCount('result')) job.promise.catch(() => {}); // a listener has it
		// None passes those that wait for a place.
		if (this.#backlog.size || !this.#give(job)) this.#backlog.add(job);
		return job.promise;
	}

	prepare(file, ...rest) {
		const [args = [], options] = given(...rest);
		if (this.#closed) throw systemError(-errno.ECANCELED, file);
		const of = command(file, args, known(options, 'a prepared command', OF_PREPARED), this.#env);
		const result = {};
		const number = binding.queueSubmit(this, result, ...of.arguments);
		if (number < 0) throw refused(number, of, result);
		const prepared = new Prepared();
		PREPARED.set(prepared, { ...of, queue: this, number, jobs: 0 });
		return prepared;
	}

	#job(file, ...rest) {
		const [args, options] = given(...rest);
		const prepared = PREPARED.get(file);
		if (this.#closed) throw systemError(-errno.ECANCELED, prepared?.file ?? file);
		const { signal } = known(options, 'a job', OF_JOB);
		expect(signal == null || typeof signal.addEventListener === 'function', signal, 'signal', 'an AbortSignal');
		const encoding = encodingOf(options);
		if (signal?.aborted) throw abortError(signal);
		const of = prepared ? ofPrepared(prepared, this, args, options) : command(file, args ?? [], options, this.#env);
		const cookie = ++this.#cookie;
		const job = { of, file: of.file, prepared, signal, encoding, cookie, request: request(of, options, cookie) };
		job.promise = new Promise((resolve, reject) => Object.assign(job, { resolve, reject }));
		job.abort = () => this.#cancel(job);
		signal?.addEventListener('abort', job.abort);
		if (prepared) prepared.jobs++;
		return job;
	}

	// False if there is no place.
	#give(job) {
		const result = {};
		const ticket = binding.queueSubmit(this, result, ...job.request);
		if (ticket === -errno.EAGAIN && this.#jobs.size) return false;
		if (ticket < 0) {
			this.#settle(job, refused(ticket, job.of, result));
			return true;
		}
		job.ticket = ticket;
		job.request = undefined;
		this.#jobs.set(job.cookie, job);
		if (this.#jobs.size === 1) {
			binding.queueReference(this, true);
			clearInterval(this.#timer); // of jobs whose last result was just taken
			this.#timer = setInterval(() => binding.queueCounts(this), 1000).unref();
		}
		return true;
	}

	#cancel(job) {
		if (this.#backlog.delete(job)) this.#settle(job, abortError(job.signal));
		else binding.queueCancel(this, job.ticket);
	}

	// With an error, or with what the result is.
	#settle(job, error, result = {}) {
		job.signal?.removeEventListener('abort', job.abort);
		if (job.prepared) job.prepared.jobs--;
		result.file = job.file;
		if (error) Object.assign(error, result, { code: error.code });
		if (this.listenerCount('result')) process.nextTick(() => this.emit('result', error ?? result));
		if (error) job.reject(error);
		else job.resolve(result);
	}

	// Called by the addon.
	results(results) {
		for (const raw of results) {
			const job = this.#jobs.get(raw.cookie);
			this.#jobs.delete(raw.cookie);
			this.#settle(job, (ERRORS[raw.outcome] ?? ERRORS.lost)(job, raw), resultOf(raw, job));
		}
		for (const job of this.#backlog) {
			if (!this.#give(job)) break;
			this.#backlog.delete(job);
		}
		if (this.#jobs.size || this.#closed) return;
		binding.queueReference(this, false);
		clearInterval(this.#timer);
		process.nextTick(() => this.#jobs.size || this.emit('idle'));
	}

	counts() {
		const counts = binding.queueCounts(this);
		return counts && { ...counts, waiting: counts.waiting + this.#backlog.size };
	}

	close() {
		if (this.#closed) return;
		this.#closed = true;
		binding.queueClose(this);
		clearInterval(this.#timer);
		const jobs = [...this.#jobs.values(), ...this.#backlog];
		this.#jobs.clear();
		this.#backlog.clear();
		for (const job of jobs) this.#settle(job, systemError(-errno.ECANCELED, job.file));
		process.nextTick(() => this.emit('close'));
	}
}

// The library has not taken a command, or not executed it: the failure names an invalid member,
// or a step.
function refused(number, of, result) {
	const failure = of.explained(result.failure);
	return Object.assign(systemError(number, of.file, failure), failure && { failure });
}

function abortError(signal) {
	const error = new Error('The operation was aborted', { cause: signal?.reason });
	return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}

function resultOf(raw, job) {
	const text = (bytes) => bytes && job.encoding !== 'buffer' ? bytes.toString(job.encoding) : bytes;
	const { status, stdout, stderr, outTotal: stdoutTotal, errTotal: stderrTotal, pid, submittedNs, startedNs, endedNs } = raw;
	const number = status & 0x7f;
	const code = status >= 0 && !number ? (status >> 8) & 0xff : null;
	const signal = status >= 0 && number ? signalName(number) || `SIG${number}` : null;
	const outputs = { stdout: text(stdout), stderr: text(stderr), stdoutTotal, stderrTotal };
	const givenUp = { stdoutCut: (raw.cut & 1) !== 0, stderrCut: (raw.cut & 2) !== 0, survivors: raw.survivors };
	const waited = ((startedNs || endedNs) - submittedNs) / 1e6;
	const ran = startedNs && (endedNs - startedNs) / 1e6;
	return { code, signal, ...outputs, ...givenUp, pid: pid || undefined, memoryPeak: raw.memoryPeak || undefined, waited, ran };
}

// Why a program did not run, or not to its own end.
const ERRORS = {
	[library.OUTCOME_RAN]: () => undefined,
	[library.OUTCOME_NOT_STARTED]: (job, raw) => refused(raw.errno, job.of, raw),
	[library.OUTCOME_TIMED_OUT]: (job) => systemError(-errno.ETIMEDOUT, job.file),
	[library.OUTCOME_OUT_OF_MEMORY]: (job) => systemError(-errno.ENOMEM, job.file),
	[library.OUTCOME_CANCELLED]: (job) => abortError(job.signal),
	lost: (job) => systemError(-errno.ECHILD, `${job.file}: the queue's server was killed`),
};

module.exports = { Queue };
