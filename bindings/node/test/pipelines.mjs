// SPDX-License-Identifier: MIT
// 20 times yes into a program that reads one line, by execa, with a transform of the program's
// input: test/packages/bindings/node.t runs this with aspawn/register. The program ends while its
// input is written. If its exit is seen before the error of that write (EPIPE), its input ends
// prematurely, and the pipeline fails. Half of the pipelines fail if exits are reported too early.
// The program reads only after a write waits for room in the pipe. Otherwise a busy machine could
// end the program between two writes, and the pipeline would fail by Node's own spawn too. The
// program reads single bytes, which make no room.
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';

const child = spawn('true');
assert.strictEqual(child._handle.constructor.name, 'Handle', 'not by aspawn');
for (let i = 0; i < 20; i++) {
	const yes = execa({ reject: false })`yes`;
	const stdio = [{ *transform(line) { yield line; } }, 'pipe', 'pipe', 'pipe'];
	const head = execa({ stdio })('sh', ['-c', 'read -r go <&3; read -r line; echo "$line"']);
	yes.pipe(head).catch(() => {}); // yes fails: nobody reads what it writes
	while (!process.getActiveResourcesInfo().includes('SimpleWriteWrap')) await setTimeout(1);
	head.stdio[3].end('go\n');
	assert.strictEqual((await head).stdout, 'y');
	await yes;
}
