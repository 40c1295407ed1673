// SPDX-License-Identifier: MIT
// The queue: test/packages/bindings/node.t runs this on the packed one.
'use strict';
const assert = require('node:assert');
const childProcess = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { action, Queue } = require('aspawn');

let queue;
before(() => {
	queue = new Queue({ running: 4 });
});
after(() => queue.close());

const shell = (script, options) => queue.submit('sh', ['-c', script], options);
const says = async (script, options) => (await shell(script, options)).stdout;
// The output of a program of its own.
const program = (script, options) =>
	childProcess.spawnSync(process.execPath, ['-e', `const { Queue } = require('aspawn'); ${script}`], {
		cwd: __dirname,
		encoding: 'utf8',
		timeout: 30000,
		...options,
	});

test('more jobs than places, a few at a time', async () => {
	const small = new Queue({ jobs: 4, running: 2 });
	let most = 0;
	const all = await Promise.all(
		Array.from({ length: 60 }, async (_, i) => {
			const result = await small.submit('sh', ['-c', `echo ${i}; exit ${i % 3}`]);
			most = Math.max(most, small.counts().running);
			return result;
		}),
	);
	assert.deepStrictEqual(
		all.map(({ stdout, code }) => [stdout, code]),
		all.map((_, i) => [`${i}\n`, i % 3]),
	);
	assert.ok(most <= 2);
	assert.deepStrictEqual(small.counts(), { waiting: 0, running: 0, servers: 1 });
	small.close();
	assert.strictEqual(small.counts(), undefined);
});

test('input, outputs and what is kept of them', async () => {
	const result = await shell('cat; echo 12345678 >&2', { input: 'of the input', maxOutput: 6 });
	assert.deepStrictEqual([result.stdout, result.stdoutTotal], ['of the', 12]);
	assert.deepStrictEqual([result.stderr, result.stderrTotal], ['123456', 9]);
	assert.strictEqual(await says('printf 12345678', { maxOutput: 3, tail: true }), '678');
	const { stdout, stderr } = await shell('echo a; echo b >&2', { stderr: 'stdout' });
	assert.deepStrictEqual([stdout, stderr], ['a\nb\n', undefined]);
	for (const encoding of ['buffer', null]) {
		const bytes = await shell('cat', { input: Buffer.from([0, 255]), encoding });
		assert.deepStrictEqual([...bytes.stdout], [0, 255]);
	}
	assert.strictEqual(await says('printf a', { encoding: 'HEX' }), '61');
	assert.strictEqual((await shell('echo a', { stdout: 'ignore' })).stdout, undefined);
});

test('cwd, env, argv0, limits and actions', async () => {
	assert.strictEqual(await says('pwd', { cwd: '/usr' }), '/usr\n');
	assert.strictEqual(await says('echo $A', { env: { A: 'a b', PATH: '/bin' } }), 'a b\n');
	const own = new Queue({ env: { A: 'c', PATH: '/bin' } });
	assert.strictEqual((await own.submit('sh', ['-c', 'echo $A'])).stdout, 'c\n');
	own.close();
	assert.strictEqual(await says('echo $0', { argv0: 'other' }), 'other\n');
	assert.strictEqual(
		await says('ulimit -n; umask', { limits: { nofile: 50 }, actions: [action.umask(0o27)] }),
		'50\n0027\n',
	);
});

test('no signal is blocked or ignored', async () => {
	const text = await says('grep -E "Sig(Blk|Ign)" /proc/self/status');
	assert.match(text, /SigBlk:\s0+\nSigIgn:\s0+\n/);
});

test('a signal is no error, but a program that is missing is one', async () => {
	const { code, signal } = await shell('kill -9 $$');
	assert.deepStrictEqual([code, signal], [null, 'SIGKILL']);
	for (const [number, name] of [[6, 'SIGABRT'], [29, 'SIGIO'], [34, 'SIG34'], [64, 'SIG64']])
		assert.strictEqual((await shell(`ulimit -c 0; kill -${number} $$`)).signal, name);
	await assert.rejects(queue.submit('unmae'), {
		code: 'ENOENT',
		message: 'aspawn: search "unmae": ENOENT',
		failure: 'search "unmae": ENOENT',
		file: 'unmae',
	});
	await assert.rejects(shell('true', { cwd: '/nowhere' }), {
		code: 'ENOENT',
		failure: /chdir "\/nowhere": ENOENT/,
	});
});

test('a time limit ends what the program has started too', async () => {
	// Otherwise sleep would hold the pipe.
	const promise = shell('sleep 60 & echo started; wait', { timeout: 2000 });
	await assert.rejects(promise, { code: 'ETIMEDOUT', signal: 'SIGTERM', stdout: 'started\n' });
	const stubborn = shell("trap '' TERM; while :; do sleep 1; done", { timeout: 100, grace: 0 });
	await assert.rejects(stubborn, { code: 'ETIMEDOUT', signal: 'SIGKILL' });
});

test('a time limit sends the stop signal', async () => {
	const options = { timeout: 2000, grace: 1e6 };
	const script = "trap 'exit 7' USR1; while :; do sleep 0.1; done";
	await assert.rejects(shell(script, { ...options, stopSignal: 'SIGUSR1' }), { code: 'ETIMEDOUT', survivors: 0 });
	const prepared = queue.prepare('sleep', ['100'], { stopSignal: 'SIGUSR1' });
	await assert.rejects(queue.submit(prepared, options), { code: 'ETIMEDOUT', signal: 'SIGUSR1' });
	prepared.release();
});

test('a result says what was given up', async () => {
	const { stdout, stdoutCut, stderrCut, memoryPeak } = await shell('sleep 2 2>&- & echo a', { grace: 50 });
	assert.deepStrictEqual([stdout, stdoutCut, stderrCut, memoryPeak], ['a\n', true, false, undefined]);
});

test('a tree ends with its job', { timeout: 30000 }, async () => {
	// Otherwise sleep would hold the pipe.
	const [script, options] = ['setsid sleep 1000 & echo started', { owner: 'tree' }];
	const prepared = queue.prepare('sh', ['-c', script], options);
	for (const job of [shell(script, { ...options, grace: 1e6 }), queue.submit(prepared, { grace: 1e6 })])
		assert.strictEqual((await job).stdout, 'started\n');
	prepared.release();
	await assert.rejects(queue.submit(queue.prepare('true'), options), /"owner" is the prepared command's/);
});

test('AbortSignal: before, in the queue and in the run', async () => {
	const small = new Queue({ jobs: 1, running: 1 });
	const controller = new AbortController();
	const { signal } = controller;
	const many = Array.from({ length: 40 }, () => small.submit('sleep', ['60'], { signal }));
	assert.strictEqual(small.counts().waiting + small.counts().running, 40);
	controller.abort();
	for (const { reason } of await Promise.allSettled(many))
		assert.strictEqual(reason.name, 'AbortError');
	await assert.rejects(small.submit('true', { signal }), { name: 'AbortError' });
	assert.strictEqual((await small.submit('true')).code, 0);
	small.close();
});

test('of jobs with a key so many run at a time', async () => {
	const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'aspawn-queue-'));
	const script = `mkdir ${directory}/one && sleep 0.01 && rmdir ${directory}/one`;
	const all = await Promise.all(Array.from({ length: 8 }, () => shell(script, { key: 1 })));
	assert.deepStrictEqual(
		all.map(({ code, stderr }) => [code, stderr]),
		all.map(() => [0, '']),
	);
	fs.rmdirSync(directory);
});

test('a higher priority starts first', async () => {
	const own = new Queue({ running: 1 });
	const controller = new AbortController();
	const first = own.submit('sleep', ['60'], { signal: controller.signal });
	while (!own.counts().running) await new Promise(setImmediate);
	const order = [];
	const others = [0, 2, 1].map((priority) =>
		own.submit('true', { priority }).then(() => order.push(priority)),
	);
	controller.abort();
	await assert.rejects(first);
	await Promise.all(others);
	assert.deepStrictEqual(order, [2, 1, 0]);
	own.close();
});

test('events: result, idle, close', async () => {
	const own = new Queue();
	const results = [];
	own.on('result', (result) => results.push(result.code));
	own.submit('sh', ['-c', 'exit 3']);
	own.submit('unmae'); // its promise rejects, which the listener knows
	await once(own, 'idle');
	assert.deepStrictEqual(results.sort(), [3, 'ENOENT']);
	own.close();
	await once(own, 'close');
	own.close();
	await assert.rejects(own.submit('true'), { code: 'ECANCELED' });
});

test('close within a listener, with jobs that run and wait', async () => {
	const own = new Queue({ jobs: 2, running: 2 });
	const promises = [own.submit('true'), ...Array(5).fill(['60']).map((a) => own.submit('sleep', a))];
	own.once('result', () => own.close());
	const [first, ...others] = await Promise.allSettled(promises);
	assert.strictEqual(first.value.code, 0);
	for (const { reason } of others) assert.strictEqual(reason.code, 'ECANCELED');
});

test('what is wrong with the arguments rejects', async () => {
	await assert.rejects(queue.submit('a\0b'), TypeError);
	await assert.rejects(queue.submit('true', [3]), TypeError);
	for (const wrong of ['hi', 3, true, () => {}]) {
		await assert.rejects(queue.submit('echo', wrong), { code: 'ERR_INVALID_ARG_TYPE' });
		await assert.rejects(queue.submit('echo', [], wrong), { code: 'ERR_INVALID_ARG_TYPE' });
		assert.throws(() => queue.prepare('echo', wrong), { code: 'ERR_INVALID_ARG_TYPE' });
		assert.throws(() => new Queue(wrong), { code: 'ERR_INVALID_ARG_TYPE' });
	}
	const wrong = [{ signal: 3 }, { actions: 3 }, { actions: [3] }, { limits: 3 }, { input: 0 }, { owner: 'private' }];
	for (const options of [...wrong, { limits: { cpu: [1, 2, 3] } }, { env: 5 }, { env: '' }, { env: ['A=b'] }, { tail: 'no' }])
		await assert.rejects(queue.submit('true', options), { code: 'ERR_INVALID_ARG_TYPE' });
	await assert.rejects(queue.submit(3), { message: 'aspawn: "file" must be a string or Buffer, not 3' });
	await assert.rejects(queue.submit('true', { input: 3 }), { message: 'aspawn: "input" must be a string or Buffer, not 3' });
	await assert.rejects(queue.submit('true', { uid: 65534 }), /a job has no option "uid"/);
	assert.throws(() => queue.prepare('true', { timeout: 10 }), /a prepared command has no option "timeout"/);
	assert.throws(() => new Queue({ cwd: '/' }), /a queue has no option "cwd"/);
	for (const env of [5, 'A=b', true, ['A=b'], () => {}])
		assert.throws(() => new Queue({ env }), { code: 'ERR_INVALID_ARG_TYPE', message: /^aspawn: "env" must be an object/ });
	for (const none of [null, undefined]) {
		assert.strictEqual((await queue.submit('true', none, none)).code, 0);
		queue.prepare('true', none, none).release();
		new Queue(none).close();
	}
	await assert.rejects(queue.submit('true', { timeout: 'long' }), TypeError);
	await assert.rejects(queue.submit('true', { timeout: -1 }), RangeError);
	await assert.rejects(queue.submit('true', { stdout: 'inherit' }), TypeError);
	for (const encoding of ['utf9', '', 8])
		await assert.rejects(queue.submit('true', { encoding }), { code: 'ERR_INVALID_ARG_TYPE' });
	await assert.rejects(queue.submit('true', ['x'.repeat(40000)]), { code: 'E2BIG', failure: 'argument "Queue({ jobBytes })": E2BIG' });
	await assert.rejects(queue.submit('true', { priority: 8 }), {
		code: 'EINVAL',
		message: 'aspawn: argument "priority": EINVAL',
	});
	const invalid = { limits: { core: 0 }, actions: [action.umask(0), action.setenv('a=b', '')] };
	const failure = 'action 1, setenv: EINVAL';
	await assert.rejects(queue.submit('true', invalid), { code: 'EINVAL', failure });
	assert.throws(() => queue.prepare('true', invalid), { code: 'EINVAL', failure });
	await assert.rejects(queue.submit('true', { actions: [action.outputPipe(3)] }), { code: 'EINVAL' });
	const actions = [action.dup2(9999, 0)];
	await assert.rejects(queue.submit('true', { actions }), { code: 'EBADF' });
	assert.throws(() => new Queue({ running: 0 }), RangeError);
});

test('a job has the descriptors that its actions use', async () => {
	const fd = fs.openSync('/proc/self/comm');
	const { stdout } = await queue.submit('cat', { actions: [action.dup2(fd, 0)] });
	fs.closeSync(fd);
	assert.strictEqual(stdout, fs.readFileSync('/proc/self/comm', 'utf8'));
});

test('a prepared command, with its arguments and those of a job', async () => {
	const own = new Queue({ jobs: 4 });
	const prepared = own.prepare('sh', ['-c', 'echo $0 $1 $A; umask; cat; pwd >&2'], {
		argv0: 'shell',
		env: { A: 'a' },
		cwd: '/usr',
		actions: [action.umask(0o27)],
		stderr: 'stdout',
	});
	const script = 'echo $0 $A';
	const results = await Promise.all([
		own.submit(prepared),
		own.submit(prepared, { input: 'of the job\n' }),
		own.submit(prepared, ['-c', script, 'other', 'b'], { maxOutput: 7 }),
		...Array.from({ length: 20 }, () => own.submit(prepared, ['-c', script, 'more'])),
	]);
	const [first, second, third, ...more] = results.map(({ stdout }) => stdout);
	assert.strictEqual(first, '-c a\n0027\n/usr\n'.replace('-c', 'shell'));
	assert.strictEqual(second, 'shell a\n0027\nof the job\n/usr\n');
	assert.strictEqual(third, 'other a');
	assert.deepStrictEqual(more, Array(20).fill('more a\n'));
	assert.strictEqual(results[0].file, 'sh');
	await assert.rejects(own.submit(prepared, { cwd: '/' }), /"cwd" is the prepared command's/);
	await assert.rejects(queue.submit(prepared), /another queue/);

	const waits = own.submit(prepared, ['-c', 'read line', 'sh'], { timeout: 60000 });
	assert.throws(() => prepared.release(), /1 jobs/);
	await waits;
	prepared.release();
	prepared.release();
	await assert.rejects(own.submit(prepared), { code: 'EINVAL', failure: 'argument "prepared": EINVAL' });
	own.close();
	assert.throws(() => own.prepare('true'), { code: 'ECANCELED' });
});

test('a prepared command that cannot be executed', async () => {
	const prepared = queue.prepare('unmae');
	await assert.rejects(queue.submit(prepared, ['-a']), { code: 'ENOENT', file: 'unmae', failure: 'search "unmae": ENOENT' });
	prepared.release();
});

test('jobs are no children of this process', async () => {
	assert.notStrictEqual(await says('echo $PPID'), `${process.pid}\n`);
	let signals = 0;
	const count = () => {
		signals++;
	};
	process.on('SIGCHLD', count);
	await shell('true');
	await new Promise((resolve) => setTimeout(resolve, 20));
	assert.strictEqual(signals, 0);
	process.off('SIGCHLD', count);
});

test('the program ends when no job is left', () => {
	const script = "new Queue().submit('echo', ['a']).then((r) => console.log(r.stdout.trim()))";
	const { stdout, stderr, status } = program(script);
	assert.deepStrictEqual([stdout, stderr, status], ['a\n', '', 0]);
});

test('jobs end with the program', { timeout: 60000 }, async () => {
	const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'aspawn-queue-'));
	for (const end of ['process.exit(3)', 'process.kill(process.pid, "SIGKILL")']) {
		const fifo = path.join(directory, String(end.length));
		childProcess.execFileSync('mkfifo', [fifo]);
		const script = `
			const { Queue } = require('aspawn');
			new Queue().submit('sh', ['-c', 'exec >${fifo}; echo started; exec sleep 1000']);
			process.stdin.resume().on('end', () => ${end});`;
		const child = childProcess.spawn(process.execPath, ['-e', script], { cwd: __dirname });
		const stream = fs.createReadStream(fifo);
		await once(stream, 'data');
		child.stdin.end();
		await once(stream, 'end'); // sleep has ended
	}
	fs.rmSync(directory, { recursive: true });
});

test('an exception in a listener is uncaught, and no other', () => {
	const { stdout, stderr } = program(`
		process.on('uncaughtException', (error) => console.log(error.message));
		const q = new Queue();
		q.on('result', () => { throw new Error('of the listener'); });
		q.submit('true');`);
	assert.strictEqual(stdout, 'of the listener\n', stderr);
});

test('input is copied, also of a job that waits for a place', async () => {
	const queue = new Queue({ jobs: 1, running: 1 });
	const input = Buffer.alloc(1);
	const jobs = [...'abcd'].map((letter) => {
		input.write(letter);
		return queue.submit('cat', { input });
	});
	assert.deepStrictEqual((await Promise.all(jobs)).map(({ stdout }) => stdout), [...'abcd']);
	queue.close();
});

test('a worker that ends while its job runs', async () => {
	const script = `const { Queue } = require(${JSON.stringify(require.resolve('aspawn'))});
		const q = new Queue();
		q.submit('sleep', ['60']);
		q.submit('true').then(() => process.exit(3));`;
	const worker = new Worker(script, { eval: true });
	assert.deepStrictEqual(await once(worker, 'exit'), [3]);
});

test('a lost job says that the server was killed', async () => {
	const own = new Queue();
	await assert.rejects(own.submit('sh', ['-c', 'kill -KILL $PPID; exec sleep 60']), {
		code: 'ECHILD',
		message: "aspawn: sh: the queue's server was killed: ECHILD",
	});
	own.close();
});

test('a server that a job stops is continued', { timeout: 60000 }, async () => {
	assert.strictEqual((await shell('kill -STOP $PPID')).code, 0);
});

test('a queue that is dropped without close() ends when it is collected', () => {
	const { stdout, stderr } = program(
		`require('v8').setFlagsFromString('--expose-gc');
		const collect = async () => {
			require('vm').runInNewContext('gc')();
			await new Promise(setImmediate);
		};
		const descriptors = () => require('fs').readdirSync('/proc/self/fd').length;
		const lives = (pid) => {
			try { return process.kill(pid, 0); } catch { return false; }
		};
		(async () => {
			new Queue().close();
			const before = descriptors();
			const servers = [];
			for (let i = 0; i < 50; i++)
				servers.push(Number((await new Queue().submit('sh', ['-c', 'echo $PPID'])).stdout));
			while (descriptors() > before || servers.some(lives)) await collect();
			console.log(servers.length);
		})();`,
	);
	assert.strictEqual(stdout, '50\n', stderr);
});

test('a queue that is dropped is not collected before its jobs have ended', () => {
	const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'aspawn-queue-'));
	const fifo = path.join(directory, 'fifo');
	childProcess.execFileSync('mkfifo', [fifo]);
	const { stdout, stderr } = program(
		`require('v8').setFlagsFromString('--expose-gc');
		(async () => {
			new Queue().submit('sh', ['-c', 'read line <${fifo}; echo $line'])
				.then((result) => console.log(result.stdout));
			for (let i = 0; i < 10; i++) {
				require('vm').runInNewContext('gc')();
				await new Promise(setImmediate);
			}
			require('fs').writeFileSync('${fifo}', 'to the end\\n');
		})();`,
	);
	assert.strictEqual(stdout, 'to the end\n\n', stderr);
	fs.rmSync(directory, { recursive: true });
});
