// SPDX-License-Identifier: MIT
// elsewhere.cjs REASON: where the package cannot use the addon. It must not load it, all calls are those of
// child_process, and what that has not throws an error with the reason. test/packages/bindings/node.t runs it by Bun
// and Deno, with platform.cjs, and without an addon; and looks for the warning and the exit status.
'use strict';
const assert = require('node:assert');
const childProcess = require('node:child_process');
const { once } = require('node:events');
const { readFileSync } = require('node:fs');
const { promisify } = require('node:util');
const aspawn = require('aspawn');
require('aspawn/register');

const { action, promises, spawn } = aspawn;
const isRefused = (what, call) => assert.throws(call, (error) => {
	assert.strictEqual(error.code, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM');
	assert.ok(error.message.startsWith(`aspawn: ${what} is `) && error.message.includes(process.argv[2]), error.message);
	return true;
});

async function main() {
	assert.strictEqual(aspawn.supported, false);
	assert.ok(!readFileSync('/proc/self/maps', 'utf8').includes('aspawn.node'));
	assert.deepStrictEqual(Object.keys(aspawn).sort(), ['Queue', 'action', 'constants', 'exec', 'execFile', 'killTree',
		'promises', 'spawn', 'supported', 'version']);
	const child = spawn('sh', ['-c', 'echo a; exit 3']);
	assert.strictEqual(child.constructor, childProcess.ChildProcess);
	let text = '';
	child.stdout.on('data', (data) => (text += data));
	assert.deepStrictEqual(await once(child, 'close'), [3, null]);
	assert.strictEqual(text, 'a\n');
	assert.deepStrictEqual(await once(childProcess.spawn('sh', ['-c', 'exit 4']), 'exit'), [4, null]);
	for (const exec of [promises.exec, promisify(aspawn.exec)]) assert.strictEqual((await exec('echo b')).stdout, 'b\n');
	assert.strictEqual((await promises.execFile('echo', ['c'])).stdout, 'c\n');
	assert.strictEqual((await once(spawn('/nowhere'), 'error'))[0].code, 'ENOENT');
	await assert.rejects(promises.execFile('sleep', ['100'], { timeout: 20 }), { killed: true, signal: 'SIGTERM' });
	await assert.rejects(promises.execFile('echo', ['12345'], { maxBuffer: 3 }), { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' });
	const killed = spawn('sleep', ['100']);
	killed.kill();
	assert.deepStrictEqual(await once(killed, 'exit'), [null, 'SIGTERM']);

	// killTree() signals the group if the process leads one, or the process alone.
	const sleeping = spawn('sleep', ['100']);
	assert.ok(aspawn.killTree(sleeping, 'SIGKILL'));
	assert.deepStrictEqual(await once(sleeping, 'exit'), [null, 'SIGKILL']);
	assert.strictEqual(aspawn.killTree(sleeping), false);
	const group = spawn('sh', ['-c', 'sleep 100 & echo; wait'], { detached: true });
	await once(group.stdout, 'data');
	assert.ok(aspawn.killTree(group));
	assert.deepStrictEqual(await once(group, 'close'), [null, 'SIGTERM']); // sleep has held the pipe

	const actions = [action.chdir('/'), action.signalsIgnore(['SIGUSR1']), action.umask(0)];
	const given = { actions, limits: { core: 0 }, cgroup: '/sys/fs/cgroup/a', owner: 'tree', diesWithCaller: true,
		memory: 'shared', group: true, closeOthers: true, rows: 3, columns: 3, stopSignal: 'SIGINT' };
	for (const [name, value] of Object.entries(given))
		for (const start of [spawn, aspawn.execFile, promises.execFile]) isRefused(name, () => start('true', { [name]: value }));
	isRefused('actions, owner', () => aspawn.exec('true', { actions, owner: 'private' }));
	isRefused("stdio: 'pty'", () => spawn('true', { stdio: 'pty' }));
	isRefused('a queue', () => new aspawn.Queue({ running: 2 }));
	const none = { actions: [], limits: {}, owner: 'caller', group: false, diesWithCaller: false, memory: undefined };
	assert.deepStrictEqual(await once(spawn('true', none), 'exit'), [0, null]);
	assert.strictEqual((await import('aspawn')).supported, false);
	console.log('done');
}
main();
