// SPDX-License-Identifier: MIT
// A user's program: tsc --strict accepts it as it is, and it prints "done".
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { action, type Child, type JobError, killTree, promises, Queue, spawn } from 'aspawn';
import type { ChildProcess } from 'node:child_process';

// The output of a command with limits, in another directory.
async function version(directory: string): Promise<string> {
	const actions = [action.chdir(directory), action.umask(0o27)];
	const { stdout } = await promises.execFile('uname', ['-s'], { timeout: 10_000, limits: { cpu: [10, 11] }, owner: 'tree', actions });
	return stdout.trim();
}

// Why a program cannot be started.
async function whyNot(program: string, directory: string): Promise<string | undefined> {
	const child: Child<ChildProcess> = spawn(program, { actions: [action.chdir(directory)], owner: 'private', stdio: 'ignore' });
	try {
		await once(child, 'exit');
	} catch (error) {
		assert.equal((error as JobError).failure, child.failure);
	}
	return child.failure;
}

// How much each of several commands writes.
async function sizes(words: string[]): Promise<Map<string, number>> {
	const queue = new Queue({ running: 4 });
	const jobs = words.map((word) => queue.submit('echo', [word], { timeout: 10_000, maxOutput: 100 }));
	const results = await Promise.all(jobs);
	const { code, signal } = await queue.submit('sh', ['-c', 'kill $$']);
	assert.deepEqual([code, signal], [null, 'SIGTERM']);
	await assert.rejects(queue.submit('unmae'), (error: JobError) => error.failure === 'search "unmae": ENOENT');
	queue.close();
	return new Map(results.map(({ stdout, stdoutTotal }) => [stdout.trim(), stdoutTotal]));
}

async function main(): Promise<void> {
	assert.equal(await version('/usr'), 'Linux');
	assert.equal(await whyNot('true', '/'), undefined);
	assert.equal(await whyNot('true', '/no/such'), 'action 0, chdir "/no/such": ENOENT');
	assert.deepEqual(await sizes(['a', 'bcd']), new Map([['a', 2], ['bcd', 4]]));
	const tree = spawn('sh', ['-c', 'sleep 100 & sleep 100'], { owner: 'tree' });
	killTree(tree, 'SIGKILL');
	assert.deepEqual(await once(tree, 'close'), [null, 'SIGKILL']);
	console.log('done');
}
void main();
