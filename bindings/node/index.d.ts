// SPDX-License-Identifier: MIT
/// <reference types="node" />
import * as childProcess from 'node:child_process';
import { EventEmitter } from 'node:events';
import * as net from 'node:net';
import { Readable, Writable } from 'node:stream';

import type { constants, Memory, Owner, Resource } from './lib/interface';
export { action, constants, type Memory, type Owner, type Resource } from './lib/interface';

/** What the process does before it executes the program; made by the functions of `action`. */
export interface Action {
	readonly number: number;
	readonly operands: readonly unknown[];
}
/** A descriptor, or what has one, as a FileHandle. */
export type Descriptor = number | { readonly fd: number };
export type Capability = Extract<keyof typeof constants, `CAP_${string}`>;
/** Bytes, seconds or a number, as setrlimit(2) has it; `Infinity` is no limit. */
export type Limit = number | bigint;
/** As of `fs.open()`. */
export type OpenFlags = 'r' | 'r+' | 'w' | 'w+' | 'wx' | 'wx+' | 'a' | 'a+' | 'ax' | 'ax+';

/** Options beside those of `child_process`. The order: group, limits, cgroup, actions. */
export interface OwnOptions {
	/** Done in this order, after the streams and `cwd`, and before `gid` and `uid`. */
	actions?: readonly Action[];
	/** Soft limits, or soft and hard ones. */
	limits?: Partial<Record<Resource, Limit | readonly [soft: Limit, hard: Limit]>>;
	/** The directory of a control group (version 2) that the process begins in. */
	cgroup?: string | Uint8Array | URL;
	/** `'private'`: no SIGCHLD, and no wait of another part of this process sees the child. The
	 * call waits until a helper process has cloned it. `'tree'`:
	 * all that descends from it ends with it, too. */
	owner?: Owner;
	/** Of `killTree`: the first signal for a tree, in place of SIGTERM. */ stopSignal?: NodeJS.Signals | number;
	/** The child is private, and killed when this process ends, however it does. */ diesWithCaller?: boolean;
	/** `'copied'`: the child begins in a copy of the memory, at the cost of a fork: with a
	 * `uid`, `gid` or the like it does not execute a program without a file, which security
	 * monitors report. `'suspended'`: this thread waits for the exec, as debuggers need it. */
	memory?: Memory;
	/** The process leads a process group, which `killTree` ends. */ group?: boolean;
	/** Close all descriptors that are not in `stdio`, also those that another module opened
	 * without FD_CLOEXEC. Not with actions that make descriptors above them. */
	closeOthers?: boolean;
}

/** This process's end of a child's terminal: its output, and for what somebody would type. It ends
 * when no process has the terminal any more. To destroy it hangs the child up. */
export interface Terminal extends net.Socket {
	/** In characters. */ resize(columns: number, rows: number): void;
}
/** The process leads a session on a terminal of its own, which is its standard streams. */
export interface TerminalOptions extends Omit<childProcess.SpawnOptions, 'stdio'>, OwnOptions {
	stdio: 'pty';
	/** 24 */ rows?: number;
	/** 80 */ columns?: number;
}

/** A ChildProcess of `child_process`; `failure` says what failed: `chdir "/nowhere": ENOENT`.
 * Its errors have it too. */
export type Child<T extends childProcess.ChildProcess> = T & { failure?: string };

type Args = readonly string[] | undefined | null;
type Rest<Options> = [options: Options] | [args: readonly string[], options: Options];
type Given<Options> = [args?: Args, options?: Options] | [options: Options];
type WithoutStdio = childProcess.SpawnOptionsWithoutStdio & OwnOptions;
type WithStdio<I extends Stdio, O extends Stdio, E extends Stdio> = childProcess.SpawnOptionsWithStdioTuple<I, O, E> & OwnOptions;
type Stdio = childProcess.StdioNull | childProcess.StdioPipe;
type End<T, Stream> = T extends childProcess.StdioPipe ? Stream : null;

/** As of `child_process`, with `OwnOptions` too. */
export const spawn: typeof childProcess.spawn & {
	(command: string, ...rest: Rest<TerminalOptions>): Child<childProcess.ChildProcess> & { terminal?: Terminal };
	(command: string, ...rest: Rest<WithoutStdio>): Child<childProcess.ChildProcessWithoutNullStreams>;
	<I extends Stdio, O extends Stdio, E extends Stdio>(command: string, ...rest: Rest<WithStdio<I, O, E>>): Child<
		childProcess.ChildProcessByStdio<End<I, Writable>, End<O, Readable>, End<E, Readable>>>;
	(command: string, ...rest: Rest<childProcess.SpawnOptions & OwnOptions>): Child<childProcess.ChildProcess>;
};

type Encoding = BufferEncoding | 'buffer' | null | undefined;
type Output<E> = E extends 'buffer' | null ? Buffer : string;
type ExecOptions<E> = childProcess.ExecOptions & OwnOptions & { encoding?: E };
type ExecFileOptions<E> = childProcess.ExecFileOptions & OwnOptions & { encoding?: E };
type Callback<E, Error> = (error: (Error & { failure?: string }) | null, stdout: Output<E>, stderr: Output<E>) => void;
type Executed<E> = [callback?: Callback<E, childProcess.ExecFileException>];
type Outputs<E> = childProcess.PromiseWithChild<{ stdout: Output<E>; stderr: Output<E> }>;

export const exec: typeof childProcess.exec & (<E extends Encoding = 'utf8'>(command: string, options: ExecOptions<E>,
	callback?: Callback<E, childProcess.ExecException>) => Child<childProcess.ChildProcess>);
export const execFile: typeof childProcess.execFile & {
	<E extends Encoding = 'utf8'>(file: string, options: ExecFileOptions<E>, ...rest: Executed<E>): Child<childProcess.ChildProcess>;
	<E extends Encoding = 'utf8'>(file: string, args: Args, options: ExecFileOptions<E>,
		...rest: Executed<E>): Child<childProcess.ChildProcess>;
};

/** With an AbortSignal in `options.signal`, as the promisified functions of `child_process`. */
export const promises: {
	exec<E extends Encoding = 'utf8'>(command: string, options?: ExecOptions<E>): Outputs<E>;
	execFile<E extends Encoding = 'utf8'>(file: string, ...given: Given<ExecFileOptions<E>>): Outputs<E>;
};

/**
 * Sends a signal to the process and what it has started: SIGKILL to all of its `cgroup`; SIGKILL,
 * or its `stopSignal` and a second later SIGKILL, to a tree; else to the process group if it leads
 * one (`group`, `detached`), or to it alone, as always on Windows.
 * @returns false if it has ended
 */
export function killTree(child: childProcess.ChildProcess, signal?: NodeJS.Signals | number): boolean;

/** Of a `Queue`. */
export interface QueueOptions {
	/** Jobs that the kernel's side of the queue has at the same time: 256. Others wait in this
	 * process. At most 32768. */
	jobs?: number;
	/** Jobs that run at the same time: 16. */ running?: number;
	/** Bytes of each job: command, environment, input, and the output that is kept: 32768.
	 * At most 16 MiB. */
	jobBytes?: number;
	/** The least time between two starts: milliseconds. */ delay?: number;
	/** Of all jobs without one of their own: `process.env` as it is when the queue is made. */
	env?: NodeJS.ProcessEnv;
}

/** Of a job. The order: `cwd`, limits, actions. */
export interface JobOptions {
	cwd?: string | URL;
	env?: NodeJS.ProcessEnv;
	argv0?: string;
	/** Otherwise standard input is empty. */ input?: string | NodeJS.ArrayBufferView;
	/** `'pipe'`: kept. */ stdout?: 'pipe' | 'ignore';
	/** `'pipe'`: kept. `'stdout'`: where that goes. */ stderr?: 'pipe' | 'ignore' | 'stdout';
	/** Bytes of each output that are kept, the first ones: 4096. More is dropped. */ maxOutput?: number;
	/** Of a longer output the last bytes are kept. */ tail?: boolean;
	/** Of the outputs: `'utf8'`. null is `'buffer'`. */ encoding?: Encoding;
	/** Milliseconds from the start until the program and what it has started get `stopSignal`.
	 * */ timeout?: number;
	/** SIGTERM. The program begins with the default action for it. */ stopSignal?: NodeJS.Signals | number;
	/** Milliseconds from `stopSignal` to SIGKILL: 1000. */ grace?: number;
	/** Of the jobs with the same key at most `keyLimit` (1) run at the same time. */ key?: number;
	keyLimit?: number;
	/** Of the jobs that wait, those of the highest priority start first: from 0 to 7. Those
	 * that wait in this process (`QueueOptions.jobs`) come after all of these. */
	priority?: number;
	limits?: OwnOptions['limits'];
	memory?: Exclude<Memory, 'suspended'>;
	/** All that descends from the program ends with it. */ owner?: 'tree';
	/** Descriptors of this process that they use stay open until the job has ended. */
	actions?: readonly Action[];
	/** Cancels the job. */ signal?: AbortSignal;
}

/** Those of a job that a prepared command has, and those that its jobs have then. */
export type CommandOptions = Pick<JobOptions, 'cwd' | 'env' | 'argv0' | 'limits' | 'memory' | 'owner' | 'actions' | 'stderr' | 'stopSignal'>;
export type PreparedOptions = Omit<JobOptions, keyof CommandOptions> & { stderr?: 'pipe' | 'ignore' };

/** A command of which a queue has a copy. */
export interface Prepared {
	/** No job of it may wait or run. */ release(): void;
}

/** How a job ended. */
export interface JobResult<Output = string> {
	file: string;
	/** The exit status; null after a signal. */ code: number | null;
	signal: NodeJS.Signals | `SIG${number}` | null;
	/** undefined with `'ignore'`. */ stdout: Output;
	stderr: Output;
	/** Bytes that the program wrote. */ stdoutTotal: number;
	stderrTotal: number;
	/** Another process still held it after the grace. */ stdoutCut: boolean;
	stderrCut: boolean;
	/** Processes of a tree that could not be ended; 1 for another program that may not be
	 * killed. */ survivors: number;
	/** Most bytes of memory of the group of `newCgroup`. */ memoryPeak: number | undefined;
	pid: number | undefined;
	/** Milliseconds from the submission to the start, and from there to the end. */ waited: number;
	ran: number;
}

type Job<E> = Promise<JobResult<Output<E>>>;

/**
 * Why a program did not run to its own end. `code`: `'ENOENT'` and the like, with `failure`, if it
 * was never executed; `'ETIMEDOUT'`; `'ENOMEM'` if the OOM killer ended it in its group of
 * `newCgroup`; `'ABORT_ERR'`; `'EAGAIN'`, `'E2BIG'`, `'EBADF'` if the queue cannot have it;
 * `'ECANCELED'` if the queue was closed; `'ECHILD'` if its server was killed.
 */
export interface JobError extends Error, Partial<JobResult<string | Buffer>> {
	file: string;
	code: any;
	errno?: number;
	/** `search "unmae": ENOENT` */ failure?: string;
}

/**
 * Runs many programs, so many at a time, by a server: a process that shares this one's memory, and
 * has none of its descriptors; a job has those that its actions use. A submission is no system
 * call, and no memory of this process makes it longer. A program ends with its queue, and a queue
 * with the process. The server keeps the credentials that the process had:
 * close the queue before `process.setuid()`.
 */
export class Queue extends EventEmitter {
	constructor(options?: QueueOptions);
	/** Resolves when the program has run, whatever its status;
	 * rejects with a `JobError` otherwise. */
	submit<E extends Encoding = 'utf8'>(file: string, ...given: Given<JobOptions & { encoding?: E }>): Job<E>;
	/** A job of a prepared command: with these arguments, or with its own. */
	submit<E extends Encoding = 'utf8'>(command: Prepared, ...given: Given<PreparedOptions & { encoding?: E }>): Job<E>;
	/** Copies a command to the queue for many jobs, which then copy only their arguments. It
	 * takes the place of a job until its `release()`. */
	prepare(file: string, ...given: Given<CommandOptions>): Prepared;
	/** Numbers of jobs; undefined once closed. */
	counts(): Record<'waiting' | 'running' | 'servers', number> | undefined;
	/** Kills all jobs, whose promises reject, and ends the server. A queue that is dropped
	 * without it, and has no jobs, ends when it is collected. */
	close(): void;
	/** Each job's result; then errors are not those of an unhandled promise. */
	on(event: 'result', listener: (result: JobResult<string | Buffer> | JobError) => void): this;
	/** No job is left. */ on(event: 'idle' | 'close', listener: () => void): this;
	on(event: string | symbol, listener: (...args: any[]) => void): this;
}

/** False on other systems than Linux; and, after a warning that says why, if the kernel has no
 * pidfds (before Linux 5.3), there is no addon for this machine, Node's ChildProcess is not as
 * expected (Bun and Deno have others), or its permission model allows no child processes. Then all
 * calls are those of `child_process`, and an option, an action or a queue that this has not throws
 * an error with the code `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM`. */
export const supported: boolean;
/** Of the package. */
export const version: string;
