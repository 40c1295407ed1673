// SPDX-License-Identifier: MIT
// A queue of commands: src/queue.c.
'use strict';
const { Buffer } = require('node:buffer');
const { EventEmitter } = require('node:events');
const {
	constants: { errno },
} = require('node:os');
const { joined, limitActions, pairs, SIGNAL_NAMES } = require('./actions.js');
const { binding, problem, supported } = require('./handle.js');

// enum aspawn_outcome of aspawn/command.h.
const RAN = 1;
const NOT_STARTED = 2;
const TIMED_OUT = 3;
const CANCELLED = 5;

// Node does not know ECHILD.
function systemError(number, message, text = `${message}: ${binding.errorName(number)}`) {
	return Object.assign(new Error(`aspawn: ${text}`), { errno: number, code: binding.errorName(number) });
}

function check(value, name, from = 0, to = 2 ** 32 - 1) {
	if (value === undefined) return 0;
	if (!Number.isInteger(value) || value < from || value > to)
		throw new RangeError(`aspawn: ${name} must be an integer from ${from} to ${to}, not ${value}`);
	return value;
}

function noNul(text, name) {
	if (typeof text !== 'string' || text.includes('\0'))
		throw new TypeError(`aspawn: ${name} must be a string without NUL, not ${text}`);
	return text;
}

function bytesOf(input) {
	if (input === undefined || Buffer.isBuffer(input)) return input;
	if (typeof input === 'string') return Buffer.from(input);
	if (ArrayBuffer.isView(input))
		return Buffer.from(input.buffer, input.byteOffset, input.byteLength);
	throw new TypeError('aspawn: input must be a string or bytes');
}

// All that queueSubmit() has after the owner, but the cookie, which comes first of the numbers.
function request(file, args, options, env) {
	const grace = options.grace === 0 ? -1 : check(options.grace, 'grace');
	const { stdout = 'pipe', stderr = 'pipe' } = options;
	const words = [options.argv0 ?? file, ...args].map((word) => noNul(word, 'argument'));
	if (!['pipe', 'ignore'].includes(stdout) || !['pipe', 'ignore', 'stdout'].includes(stderr))
		throw new TypeError(`aspawn: no such streams: ${stdout}, ${stderr}`);
	const kept = check(options.maxOutput ?? 4096, 'maxOutput', 1, 2 ** 32 - 2) + 1; // with a NUL
	const own = options.env && pairs(options.env).map((pair) => noNul(pair, 'env'));
	return [
		noNul(file, 'file'),
		joined(words),
		words.length,
		own ? joined(own) : env.text,
		own ? own.length : env.count,
		options.cwd === undefined ? undefined : noNul(String(options.cwd), 'cwd'),
		[...limitActions(options.limits), ...(options.actions ?? [])],
		bytesOf(options.input),
		[
			0,
			options.tail ? 1 : 0,
			stdout === 'pipe' ? kept : 0,
			stderr === 'pipe' ? kept : 0,
			stderr === 'stdout' ? 1 : 0,
			check(options.timeout, 'timeout'),
			grace,
			check(options.key, 'key', 1),
			check(options.keyLimit ?? (options.key && 1), 'keyLimit', 1),
			check(options.priority, 'priority', 0, 7),
		],
	];
}

class Queue extends EventEmitter {
	#env;
	#jobs = new Map(); // those that the addon has, by cookie
	#backlog = new Set(); // those for which it had no place, in their order
	#cookie = 0;
	#closed = false;

	constructor(options = {}) {
		super();
		if (!supported) throw new Error('aspawn is not supported here', { cause: problem });
		const env = pairs(options.env ?? process.env).map((pair) => noNul(pair, 'env'));
		this.#env = { text: joined(env), count: env.length };
		const error = binding.queueCreate(this, [
			check(options.jobs, 'jobs', 1, 32768),
			check(options.running, 'running', 1, 32768),
			check(options.jobBytes, 'jobBytes', 1, 1 << 24),
			check(options.delay, 'delay'),
		]);
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

	#job(file, args = [], options = {}) {
		if (!Array.isArray(args)) [args, options] = [[], args];
		if (this.#closed) throw systemError(-errno.ECANCELED, file);
		const { signal, encoding = 'utf8' } = options;
		if (signal?.aborted) throw abortError(signal);
		const job = { file, signal, encoding, request: request(file, args, options, this.#env) };
		job.request.at(-1)[0] = job.cookie = ++this.#cookie;
		job.promise = new Promise((resolve, reject) => Object.assign(job, { resolve, reject }));
		job.abort = () => this.#cancel(job);
		signal?.addEventListener('abort', job.abort);
		return job;
	}

	// False if there is no place.
	#give(job) {
		const ticket = binding.queueSubmit(this, ...job.request);
		if (ticket === -errno.EAGAIN && this.#jobs.size) return false;
		if (ticket < 0) {
			this.#settle(job, systemError(ticket, job.file));
			return true;
		}
		job.ticket = ticket;
		job.request = undefined;
		this.#jobs.set(job.cookie, job);
		if (this.#jobs.size === 1) binding.queueReference(this, true);
		return true;
	}

	#cancel(job) {
		if (this.#backlog.delete(job)) this.#settle(job, abortError(job.signal));
		else binding.queueCancel(this, job.ticket);
	}

	// With an error, or with what the result is.
	#settle(job, error, result = {}) {
		job.signal?.removeEventListener('abort', job.abort);
		result.file = job.file;
		if (error) Object.assign(error, result, { code: error.code });
		if (this.listenerCount('result'))
			process.nextTick(() => this.emit('result', error ?? result));
		if (error) job.reject(error);
		else job.resolve(result);
	}

	// Called by the addon.
	results(results) {
		for (const raw of results) {
			const job = this.#jobs.get(raw.cookie);
			this.#jobs.delete(raw.cookie);
			this.#settle(job, errorOf(raw, job), resultOf(raw, job));
		}
		for (const job of this.#backlog) {
			if (!this.#give(job)) break;
			this.#backlog.delete(job);
		}
		if (this.#jobs.size || this.#closed) return;
		binding.queueReference(this, false);
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
		const jobs = [...this.#jobs.values(), ...this.#backlog];
		this.#jobs.clear();
		this.#backlog.clear();
		for (const job of jobs)
			this.#settle(job, systemError(-errno.ECANCELED, job.file));
		process.nextTick(() => this.emit('close'));
	}
}

function abortError(signal) {
	const error = new Error('The operation was aborted', { cause: signal?.reason });
	return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}

function resultOf(raw, job) {
	const text = (bytes) =>
		bytes && job.encoding !== 'buffer' ? bytes.toString(job.encoding) : bytes;
	const hasStatus = raw.status >= 0;
	const signal = raw.status & 0x7f;
	return {
		code: hasStatus && !signal ? (raw.status >> 8) & 0xff : null,
		signal: hasStatus && signal ? (SIGNAL_NAMES.get(signal) ?? '') : null,
		stdout: text(raw.stdout),
		stderr: text(raw.stderr),
		stdoutTotal: raw.stdoutTotal,
		stderrTotal: raw.stderrTotal,
		pid: raw.pid || undefined,
		waited: raw.waited,
		ran: raw.ran,
	};
}

// Why a program did not run, or not to its own end.
function errorOf(raw, job) {
	switch (raw.outcome) {
		case RAN:
			return undefined;
		case NOT_STARTED:
			return Object.assign(systemError(raw.errno, job.file, raw.failure), { failure: raw.failure });
		case TIMED_OUT:
			return systemError(-errno.ETIMEDOUT, job.file);
		case CANCELLED:
			return abortError(job.signal);
		default:
			return systemError(-errno.ECHILD, `${job.file}: the queue's server was killed`);
	}
}

module.exports = { Queue };
