// SPDX-License-Identifier: MIT
// Compiled, not run: what the types must accept and reject.
import { action, exec, execFile, killTree, promises, Queue, spawn, supported, version } from 'aspawn';
import * as childProcess from 'node:child_process';
import { promisify } from 'node:util';

const plain: childProcess.ChildProcessWithoutNullStreams = spawn('ls', ['-l'], { cwd: '/' });
plain.stdout.on('data', () => {});
const own = spawn('ls', [], {
	actions: [action.chdir('/'), action.rlimit('cpu', 10, Infinity)],
	limits: { nofile: [10, 20n] },
	cgroup: '/sys/fs/cgroup/a',
	private: true,
	diesWithCaller: true,
	noImage: true,
});
const failure: string | undefined = own.failure;
const ended: boolean = killTree(own, 'SIGKILL');
exec('ls', (error, stdout: string) => {
	void error;
	void stdout;
});
execFile('ls', ['-l'], { group: true }, (error, stdout) => {
	void error;
	stdout.length;
});
const both: Promise<{ stdout: string; stderr: string }> = promises.exec('ls', {
	timeout: 10,
	private: true,
});
const again: Promise<{ stdout: string; stderr: string }> = promisify(exec)('ls');
const facts: [boolean, string] = [supported, version];
const queue = new Queue({ running: 4, jobs: 100 });
const job: Promise<{ code: number | null; stdout: string }> = queue.submit('ls', ['-l'], {
	input: 'a',
	stderr: 'stdout',
	limits: { cpu: 1 },
	timeout: 10,
	key: 3,
	priority: 7,
});
const bytes: Promise<{ stdout: Buffer }> = queue.submit('ls', [], { encoding: 'buffer' });
queue.submit('ls', { cwd: '/' }).then(({ signal }) => signal === 'SIGTERM');
queue.on('result', (result) => void [result.file, result.code, result.stdout]);
queue.on('idle', () => queue.close());
const running: number | undefined = queue.counts()?.running;
// @ts-expect-error no such stream
queue.submit('ls', [], { stdout: 'inherit' });
// @ts-expect-error no such signal
killTree(own, 'SIGNONE');
// @ts-expect-error no such limit
spawn('ls', [], { limits: { files: 10 } });
// @ts-expect-error not an action
spawn('ls', [], { actions: ['chdir'] });
void [failure, job, bytes, running, ended, both, again, facts];
