// SPDX-License-Identifier: MIT
import * as childProcess from 'node:child_process';

/** What the process does before it executes the program; made by the functions of `action`. */
export type Action = readonly [kind: number, ...rest: unknown[]] & { readonly __action?: never };
/** Bytes, seconds or a number, as setrlimit(2) has it; `Infinity` is no limit. */
export type Limit = number | bigint;
export type Resource =
	| 'cpu'
	| 'fsize'
	| 'data'
	| 'stack'
	| 'core'
	| 'rss'
	| 'nproc'
	| 'nofile'
	| 'memlock'
	| 'as'
	| 'locks'
	| 'sigpending'
	| 'msgqueue'
	| 'nice'
	| 'rtprio'
	| 'rttime';

/** Options beside those of `child_process`. The order: group, limits, cgroup, actions. */
export interface OwnOptions {
	/** Done in this order, after the streams and `cwd`, and before `gid` and `uid`. */
	actions?: readonly Action[];
	/** Soft limits, or soft and hard ones. */
	limits?: Partial<Record<Resource, Limit | readonly [soft: Limit, hard: Limit]>>;
	/** The directory of a control group (version 2) that the process begins in. */
	cgroup?: string;
	/** No SIGCHLD, and no wait of another part of this process sees the child. */
	private?: boolean;
	/** The process leads a process group, which `killTree` ends. */
	group?: boolean;
	/** Close all descriptors that are not in `stdio`, also those that another module opened without
	 * FD_CLOEXEC. Not with actions that make descriptors above them. */
	closeOthers?: boolean;
}

/** A ChildProcess of `child_process`; `failure` says what failed: `chdir "/nowhere": ENOENT`. */
export type Child<T extends childProcess.ChildProcess> = T & { failure?: string };

type Spawn = typeof childProcess.spawn;
type Exec = typeof childProcess.exec;
type ExecFile = typeof childProcess.execFile;

/** As of `child_process`, with `OwnOptions` too. */
export const spawn: Spawn & {
	(
		command: string,
		options: childProcess.SpawnOptions & OwnOptions,
	): Child<childProcess.ChildProcess>;
	(
		command: string,
		args: readonly string[],
		options: childProcess.SpawnOptions & OwnOptions,
	): Child<childProcess.ChildProcess>;
};
export const exec: Exec & {
	(
		command: string,
		options: childProcess.ExecOptions & OwnOptions,
		callback?: (
			error: childProcess.ExecException | null,
			stdout: string,
			stderr: string,
		) => void,
	): Child<childProcess.ChildProcess>;
};
export const execFile: ExecFile & {
	(
		file: string,
		args: readonly string[],
		options: childProcess.ExecFileOptions & OwnOptions,
		callback?: (
			error: childProcess.ExecFileException | null,
			stdout: string,
			stderr: string,
		) => void,
	): Child<childProcess.ChildProcess>;
};

/** With an AbortSignal in `options.signal`, as the promisified functions of `child_process`. */
export const promises: {
	exec(
		command: string,
		options?: childProcess.ExecOptions & OwnOptions,
	): childProcess.PromiseWithChild<{ stdout: string; stderr: string }>;
	execFile(
		file: string,
		args?: readonly string[],
		options?: childProcess.ExecFileOptions & OwnOptions,
	): childProcess.PromiseWithChild<{ stdout: string; stderr: string }>;
};

/**
 * Sends a signal to the process and what it has started: SIGKILL to all of its `cgroup`, other signals,
 * or without a cgroup, to the process group if it leads one (`group`, `detached`), else to it alone.
 * @returns false if it has ended
 */
export function killTree(
	child: childProcess.ChildProcess,
	signal?: NodeJS.Signals | number,
): boolean;

/** Errors of an action are errors of the spawn; aspawn_action(3) has each action's. */
export const action: {
	dup2(from: number, to: number): Action;
	open(fd: number, path: string, flags?: number, mode?: number): Action;
	close(fd: number): Action;
	closeFrom(first: number): Action;
	cloexecFrom(first: number): Action;
	setenv(name: string, value: string): Action;
	unsetenv(name: string): Action;
	clearenv(): Action;
	chdir(path: string): Action;
	fchdir(fd: number): Action;
	umask(mask: number): Action;
	setsid(): Action;
	setpgid(group?: number): Action;
	controllingTerminal(fd: number): Action;
	foreground(fd: number): Action;
	pdeathsig(signal: NodeJS.Signals | number): Action;
	rlimit(resource: Resource | number, soft: Limit, hard?: Limit): Action;
	nice(value: number): Action;
	scheduler(policy: number, priority?: number): Action;
	ioprio(value: number): Action;
	oomScoreAdj(value: number): Action;
	joinCgroup(fd: number): Action;
	user(uid: number, gid: number, groups?: readonly number[]): Action;
	capDrop(capability: number): Action;
	capAmbient(capability: number): Action;
	noNewPrivs(): Action;
	landlock(fd: number): Action;
	chroot(path: string): Action;
	unshare(flags: number): Action;
	setns(fd: number, type?: number): Action;
	mount(
		source: string,
		target: string,
		type: string,
		flags?: number,
		options?: string,
	): Action;
	hostname(name: string): Action;
	write(path: string, text: string): Action;
	signalDefault(signal: NodeJS.Signals | number): Action;
	signalIgnore(signal: NodeJS.Signals | number): Action;
};

/** False if the kernel has no pidfds (before Linux 5.3), the addon was not built, or Node's
 * ChildProcess is not as expected: then all calls are those of `child_process`. */
export const supported: boolean;
/** Of the package. */
export const version: string;
