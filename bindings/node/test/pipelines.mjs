// SPDX-License-Identifier: MIT
// 60 times yes | head by execa, with a transform of head's input: test/packages/bindings/node.t
// runs this with aspawn/register. head ends while its input is written. If its exit is seen before
// the error of that (EPIPE), its input ends prematurely, and the pipeline fails. A few may, on a
// busy machine, as with Node's own spawn: head may end between two writes. Of exits that are
// reported too early it was 20 to 90 of 200.
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { execa } from 'execa';

const child = spawn('true');
assert.strictEqual(child._handle.constructor.name, 'Handle', 'not by aspawn');
const failures = {};
for (let i = 0; i < 60; i++) {
	const yes = execa({ reject: false })`yes`;
	const head = execa({ stdin: { *transform(line) { yield line; } } })`head -n 1`;
	yes.pipe(head).catch(() => {}); // yes fails: nobody reads what it writes
	try {
		assert.strictEqual((await head).stdout, 'y');
	} catch ({ code, message }) {
		failures[code] = (failures[code] ?? 0) + 1;
	}
	await yes;
}
const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
assert.ok(failed <= 2, JSON.stringify(failures));
