// SPDX-License-Identifier: MIT
// Cases that run twice, by child_process and by the package: a case is a line, whose events,
// outputs, results or exceptions must be the same both ways.
// What differs on purpose is in README.md.
'use strict';
const assert = require('node:assert');
const childProcess = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { promisify } = require('node:util');
const aspawn = require('aspawn');

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'aspawn-node-'));
after(() => fs.rmSync(directory, { recursive: true }));
const file = (name, text, mode) => {
	fs.writeFileSync(path.join(directory, name), text, { mode });
	return path.join(directory, name);
};
const names = {
	fs, os, path, promisify, URL, Buffer, AbortController, AbortSignal, process,
	script: file('script', '#!/bin/sh\nexit 5\n', 0o755),
	data: file('data', 'text\n', 0o644),
	root: process.getuid() === 0,
	inherited: Object.create({ A: 'of the prototype' }, { B: { value: 'b', enumerable: true } }),
};

const SPAWN = String.raw`
spawn('true')
spawn('sh', ['-c', 'exit 3'])
spawn('sh', ['-c', 'echo out; echo err >&2; exit 300'])
spawn('sh', ['-c', 'kill -9 $$'])
spawn('true', undefined)
spawn('true', null, undefined)
spawn('true', [], null)
spawn('true', {})
spawn('')
spawn()
spawn(3)
spawn('true', 3)
spawn('true', 'args')
spawn('true', [], 3)
spawn('true', ['a\0b'])
spawn('a\0b')
spawn('echo', [1, true, null, undefined, 'a'])
spawn('echo', ['\u00e4\ud800'])
spawn('/none')
spawn('none-of-this-name')
spawn('/etc')
spawn('/etc/passwd')
spawn('/etc/passwd/none')
spawn(script)
spawn(data)
spawn('x'.repeat(300))
spawn('x'.repeat(5000))
spawn('sh', ['-c', 'echo $0 $1', 'zero', 'one'])
spawn('exit 3', { shell: true })
spawn('exit 3', { shell: '/bin/sh' })
spawn('echo', ['$HOME', '*'], { shell: true, env: { HOME: '/h', PATH: '/bin' } })
spawn('true', { shell: '/none' })
spawn('true', { shell: 3 })
spawn('pwd', { cwd: '/usr' })
spawn('pwd', { cwd: new URL('file:///usr') })
spawn('pwd', { cwd: '/none' })
spawn('pwd', { cwd: '/etc/passwd' })
spawn('pwd', { cwd: '' })
spawn('pwd', { cwd: 3 })
spawn('pwd', { cwd: 'a\0b' })
spawn('env', { env: {} })
spawn('env', { env: { A: 'b', PATH: '/bin' } })
spawn('env', { env: { A: 1, B: null, C: undefined, D: true, PATH: '/bin' } })
spawn('/usr/bin/env', { env: { 'A=B': 'c', '': 'd' } })
spawn('/usr/bin/env', { env: inherited })
spawn('/usr/bin/env', { env: ['a', 'b'] })
spawn('/usr/bin/env', { env: { A: 'b\0' } })
spawn('/usr/bin/env', { env: 5 }).stdout && { stdio: 'ignore' }
spawn('true', { env: { PATH: '/none' } })
spawn('script', { env: { PATH: path.dirname(script) } })
spawn('sh', ['-c', 'echo $0'], { argv0: 'other' })
spawn('sh', { argv0: 3 })
spawn('sh', { argv0: 'a\0b' })
spawn('true', { uid: 'root' })
spawn('true', { uid: 1.5 })
spawn('true', { gid: 2 ** 32 })
spawn('sh', ['-c', 'id -u; id -g; id -G'], { uid: 65534, gid: 65534, cwd: '/' }).pid && root ? spawn('id', ['-u'], { uid: 1 }) : spawn('true')
spawn('sh', ['-c', 'test $(cut -d" " -f6 /proc/$$/stat) = $$'], { detached: true })
spawn('sh', ['-c', 'test $(cut -d" " -f6 /proc/$$/stat) = $$'], { detached: false })
spawn('true', { detached: 'yes' })
spawn('true', { windowsHide: 'yes' })
spawn('true', { windowsVerbatimArguments: 3 })
spawn('true', { serialization: 'none' })
spawn('true', { stdio: 'ignore' })
spawn('true', { stdio: 'inherit' })
spawn('true', { stdio: 'none' })
spawn('true', { stdio: ['none'] })
spawn('true', { stdio: [] })
spawn('true', { stdio: 3 })
spawn('true', { stdio: [999] })
spawn('true', { stdio: ['ignore', 999] })
spawn('true', { stdio: [{}] })
spawn('true', { stdio: [new (require('stream').PassThrough)()] })
spawn('ls', ['/proc/self/fd'], { stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'pipe'] })
spawn('readlink', ['/proc/self/fd/0', '/proc/self/fd/2'], { stdio: ['ignore', 'pipe', 'ignore'] })
spawn('sh', ['-c', 'echo a >&2; echo b'], { stdio: [null, undefined, null] })
spawn('sh', ['-c', 'echo a >&3'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
spawn('sh', ['-c', 'echo a >&2'], { stdio: ['overlapped', 'overlapped', 'overlapped'] })
spawn('sleep', ['100'], { timeout: 20 })
spawn('sleep', ['100'], { timeout: 20, killSignal: 'SIGKILL' })
spawn('sleep', ['100'], { timeout: 20, killSignal: 1 })
spawn('true', { timeout: -1 })
spawn('true', { timeout: 1.5 })
spawn('true', { timeout: 'x' })
spawn('true', { killSignal: 'SIGNONE' })
spawn('true', { killSignal: 99 })
spawn('true', { signal: 3 })
spawn('sleep', ['100'], { signal: AbortSignal.abort() })
spawn('sleep', ['100'], { signal: AbortSignal.timeout(20) })
spawn('sleep', ['100'], { signal: AbortSignal.timeout(20), killSignal: 'SIGKILL' })
`;

// Of a running child: what the expression returns or throws, and then its end.
const CHILD = String.raw`
child.kill()
child.kill('SIGKILL')
child.kill(1)
child.kill(0) && child.kill()
child.kill('SIGNONE')
child.kill(65)
child.kill(-1)
child.kill(null)
child.kill(1.5)
child.kill('sigterm')
[child.kill(), child.kill(), child.killed]
[child.killed, child.exitCode, child.signalCode, child.connected, child.spawnfile, child.spawnargs, typeof child.pid]
[child.unref(), child.ref()]
child.send({})
child.disconnect()
[child.stdin.writable, child.stdout.readable, child.stdio.length, child.channel]
Object.keys(child).filter((name) => name !== 'failure').sort()
child[Symbol.dispose]?.()
String(child)
`;

// Results of callbacks and promises.
const EXEC = String.raw`
exec('echo a; echo b >&2')
exec('exit 3')
exec('kill -9 $$')
exec('kill -6 $$; exit 9')
exec('none-of-this-name')
exec('')
exec(3)
exec('true', 3)
exec('pwd', { cwd: '/usr' })
exec('pwd', { cwd: '/none' })
exec('true', { shell: '/none' })
exec('true', { shell: false })
exec('printf "\\303\\244"', { encoding: 'latin1' })
exec('printf a', { encoding: 'buffer' })
exec('printf a', { encoding: null })
exec('printf a', { encoding: 'none' })
exec('echo 1234567890', { maxBuffer: 4 })
exec('echo 1234567890 >&2', { maxBuffer: 4 })
exec('true', { maxBuffer: -1 })
exec('true', { maxBuffer: 'x' })
exec('exec sleep 100', { timeout: 20 })
exec('exec sleep 100', { timeout: 20, killSignal: 'SIGKILL' })
exec('true', { timeout: -1 })
exec('exec sleep 100', { signal: AbortSignal.timeout(20) })
exec('exec sleep 100', { signal: AbortSignal.abort() })
execFile('echo', ['a'])
execFile('echo')
execFile('echo', null, { encoding: 'hex' })
execFile('echo', { cwd: '/none' })
execFile('/none')
execFile('/none', ['a'], { encoding: 'buffer' })
execFile('/etc/passwd')
execFile('sh', ['-c', 'echo a; exit 4'])
execFile('sh', 'args')
execFile('exit 5', { shell: true })
execFile(3)
`;

const NAMED = Array.from({ length: 64 }, (_, i) => i + 1).filter((n) => ![17, 18, 19, 20, 21, 22, 23, 28, 32, 33].includes(n));

const evaluate = (line, given) => new Function(...Object.keys(given), `return ${line}`)(...Object.values(given));
// What is the same of an error; the package's own are without `failure`.
const facts = ({ name, message, code, errno, syscall, path, spawnargs, killed, signal, cmd, stdout, stderr }) =>
	({ name, message, code, errno, syscall, path, spawnargs, killed, signal, cmd, stdout, stderr });
const thrown = (error) => ({ thrown: facts(error) });

function ended(child) {
	const events = [];
	const output = {};
	for (const name of ['spawn', 'error', 'exit', 'close', 'disconnect'])
		child.on(name, (...values) => events.push([name, ...values.map((value) => (value instanceof Error ? facts(value) : value))]));
	child.stdio?.forEach((stream, i) => {
		output[i] = '';
		stream?.on('error', () => {});
		if (i !== 0) stream?.on('data', (data) => (output[i] += data));
	});
	child.stdin?.end();
	return new Promise((resolve) => child.once('close', () => setImmediate(resolve, { events, output })));
}

async function outcome(line, module) {
	try {
		return await ended(evaluate(line, { ...names, ...module, require }));
	} catch (error) {
		return thrown(error);
	}
}

async function childOutcome(line, module) {
	const child = module.spawn('sleep', ['100']);
	const end = ended(child);
	let result;
	try {
		result = evaluate(line, { child });
	} catch (error) {
		result = thrown(error);
	}
	if (!child.killed) child.kill('SIGKILL');
	return { result, ...(await end) };
}

async function execOutcome(line, module) {
	const results = [];
	for (const as of [promisify, (call) => (...args) => new Promise((resolve) => call(...args, (error, ...rest) => resolve([error && facts(error), ...rest])))])
		try {
			results.push(await evaluate(line, { ...names, exec: as(module.exec), execFile: as(module.execFile) }));
		} catch (error) {
			results.push(thrown(error));
		}
	return results;
}

for (const [table, compare] of [[SPAWN, outcome], [CHILD, childOutcome], [EXEC, execOutcome]])
	for (const line of table.trim().split('\n'))
		test(line, async () => {
			const theirs = await compare(line, childProcess);
			assert.deepStrictEqual(await compare(line, aspawn), theirs);
		});

for (const number of NAMED)
	test(`the end by signal ${number} has its name`, async () => {
		const line = `spawn('sh', ['-c', 'ulimit -c 0; kill -${number} $$; exit 9'])`;
		assert.deepStrictEqual(await outcome(line, aspawn), await outcome(line, childProcess));
	});
