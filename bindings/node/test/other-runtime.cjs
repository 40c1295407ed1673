// SPDX-License-Identifier: MIT
// By Bun and Deno, whose child_process is not Node's: the package must not load the addon, and says so, and all
// calls are theirs. test/packages/bindings/node.t runs it, and looks for the warning and the exit status.
'use strict';
const assert = require('node:assert');
const childProcess = require('node:child_process');
const { once } = require('node:events');
const { readFileSync } = require('node:fs');
const { promisify } = require('node:util');
const aspawn = require('aspawn');
require('aspawn/register');

async function main() {
	assert.strictEqual(aspawn.supported, false);
	assert.ok(!readFileSync('/proc/self/maps', 'utf8').includes('aspawn.node'));
	const child = aspawn.spawn('sh', ['-c', 'echo a; exit 3']);
	let text = '';
	child.stdout.on('data', (data) => (text += data));
	assert.deepStrictEqual(await once(child, 'close'), [3, null]);
	assert.strictEqual(text, 'a\n');
	assert.deepStrictEqual(await once(childProcess.spawn('sh', ['-c', 'exit 4']), 'exit'), [4, null]);
	for (const exec of [aspawn.promises.exec, promisify(aspawn.exec)]) assert.strictEqual((await exec('echo b')).stdout, 'b\n');
	assert.strictEqual((await aspawn.promises.execFile('echo', ['c'])).stdout, 'c\n');
	assert.strictEqual((await once(aspawn.spawn('/nowhere'), 'error'))[0].code, 'ENOENT');
	assert.throws(() => aspawn.spawn('true', { limits: { core: 0 } }), /not supported here, so neither is limits/);
	assert.throws(() => new aspawn.Queue(), /not supported here/);
	const sleeping = aspawn.spawn('sleep', ['100']);
	assert.ok(aspawn.killTree(sleeping, 'SIGKILL'));
	assert.deepStrictEqual(await once(sleeping, 'exit'), [null, 'SIGKILL']);
	assert.strictEqual((await import('aspawn')).supported, false);
	console.log('done');
}
main();
