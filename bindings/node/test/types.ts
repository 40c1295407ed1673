// SPDX-License-Identifier: MIT
// Compiled, not run: what the types must accept and reject.
import aspawn, { action, constants, exec, execFile, killTree, promises, Queue, spawn, supported, version } from 'aspawn';
import * as childProcess from 'node:child_process';
import { promisify } from 'node:util';

const plain: childProcess.ChildProcessWithoutNullStreams = spawn('ls', ['-l'], { cwd: '/' });
plain.stdout.on('data', () => {});
const own = spawn('ls', [], {
	actions: [
		action.chdir(new URL('file:///')),
		action.rlimit('cpu', 10, Infinity),
		action.sigmask(['SIGTERM', 3]),
		action.capDrop('CAP_NET_RAW'),
		action.unshare(constants.CLONE_NEWNET),
		action.open(5, Buffer.from('log'), 'a'),
	],
	limits: { nofile: [10, 20n] },
	cgroup: '/sys/fs/cgroup/a',
	owner: 'private',
	diesWithCaller: true,
	memory: 'copied',
});
const failure: string | undefined = own.failure;
spawn('sh', { stdio: 'pty', columns: 100, owner: 'tree' }).terminal?.resize(100, 30);
spawn('sh', [], { stdio: 'pty' }).terminal?.write('exit\r');
const ended: boolean = killTree(own, 'SIGKILL');
const limited = spawn('ls', ['-l'], { limits: { cpu: 10 } });
limited.stdout.on('data', () => {});
limited.stdin.end();
spawn('ls', { group: true, cwd: '/' }).stderr.on('data', () => {});
const tuple = spawn('ls', [], { stdio: ['ignore', 'pipe', process.stderr], owner: 'tree' });
const streams: [null, NodeJS.ReadableStream, null] = [tuple.stdin, tuple.stdout, tuple.stderr];
spawn('ls', { stdio: ['pipe', 'inherit', 'inherit'], owner: 'tree' }).stdin.end(tuple.failure);
const inherited: NodeJS.ReadableStream | null = spawn('ls', [], { stdio: 'inherit', group: true }).stdout;
exec('ls', (error, stdout: string) => {
	void error;
	void stdout;
});
execFile('ls', ['-l'], { group: true }, (error, stdout) => {
	void error;
	stdout.toUpperCase();
});
execFile('ls', { owner: 'tree' }, (error, stdout) => void [error?.code, stdout.toUpperCase()]);
execFile('ls', { owner: 'tree' }).failure?.length;
execFile('ls', { owner: 'tree' }, (error) => error?.failure?.length);
execFile('ls', [], { owner: 'tree', encoding: 'buffer' }, (error, stdout) => stdout.readUInt8());
execFile('ls', { owner: 'tree', encoding: null }, (error, stdout, stderr) => stderr.readUInt8());
execFile('ls', { timeout: 3 }, (error, stdout) => stdout.toUpperCase());
exec('ls', { owner: 'tree', encoding: 'buffer' }, (error, stdout) => stdout.readUInt8());
exec('ls', { owner: 'tree', encoding: 'latin1' }, (error, stdout) => void [error?.code, stdout.toUpperCase()]);
const ofFile: Promise<{ stdout: string }> = promises.execFile('ls', { owner: 'tree', encoding: 'hex' });
promises.execFile('ls', ['-l']).then(({ stdout }) => stdout.toUpperCase());
promises.execFile('ls', null, { owner: 'tree', encoding: 'buffer' }).then(({ stdout }) => stdout.readUInt8());
promises.exec('ls', { encoding: null }).then(({ stdout }) => stdout.readUInt8());
declare const either: 'utf8' | 'buffer';
const output: Promise<{ stdout: string | Buffer }> = promises.exec('ls', { encoding: either });
// @ts-expect-error these are bytes
promises.exec('ls', { encoding: 'buffer' }).then(({ stdout }) => stdout.toUpperCase());
// @ts-expect-error these are bytes
execFile('ls', [], { owner: 'tree', encoding: 'buffer' }, (error, stdout) => stdout.toUpperCase());
// @ts-expect-error it may be bytes
promises.exec('ls', { encoding: either }).then(({ stdout }) => stdout.toUpperCase());
// @ts-expect-error no such encoding
promises.exec('ls', { encoding: 'utf9' });
// @ts-expect-error no such option
promises.execFile('ls', [], { limit: { cpu: 1 } });
// @ts-expect-error it is ignored
tuple.stdin.end();
const both: Promise<{ stdout: string; stderr: string }> = promises.exec('ls', {
	timeout: 10,
	owner: 'private',
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
queue.submit('ls', { owner: 'tree' });
const bytes: Promise<{ stdout: Buffer }> = queue.submit('ls', [], { encoding: 'buffer' });
const alone: Promise<{ stdout: Buffer }> = queue.submit('ls', { encoding: 'buffer' });
const same: Promise<{ stdout: Buffer }> = queue.submit('ls', [], { encoding: null });
queue.submit('ls', { cwd: '/' }).then(({ signal }) => signal === 'SIGTERM' || signal === 'SIG34');
const prepared = queue.prepare('ls', ['-l'], { cwd: '/', stderr: 'stdout' });
const bytesOfPrepared: Promise<{ stdout: Buffer }> = queue.submit(prepared, { encoding: 'buffer' });
const ofPrepared: Promise<{ stdout: string }> = queue.submit(prepared, ['-a'], { timeout: 10 });
const end: number | undefined = action.outputPipe(3).readEnd;
queue.on('result', (result) => void [result.file, result.code, result.stdout]);
queue.on('idle', () => queue.close());
const running: number | undefined = queue.counts()?.running;
// @ts-expect-error no such stream
queue.submit('ls', [], { stdout: 'inherit' });
// @ts-expect-error no such signal
queue.submit('ls').then(({ signal }) => signal === 'RT34');
// @ts-expect-error no such signal
killTree(own, 'SIGNONE');
// @ts-expect-error of the prepared command
queue.submit(prepared, [], { cwd: '/' });
// @ts-expect-error no such owner
spawn('ls', [], { owner: 'nobody' });
// @ts-expect-error no such capability
action.capDrop('CAP_NONE');
// @ts-expect-error no such limit
spawn('ls', [], { limits: { files: 10 } });
// @ts-expect-error not an action
spawn('ls', [], { actions: ['chdir'] });
void [aspawn.spawn, prepared.release(), ofPrepared, end, failure, job, bytes, running, ended, both, again, facts];
void [streams, inherited, ofFile, output, alone, bytesOfPrepared];
