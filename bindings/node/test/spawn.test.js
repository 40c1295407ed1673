// SPDX-License-Identifier: MIT
// The package by itself: test/packages/bindings/node.t runs this on the packed one.
'use strict';
const assert = require('node:assert');
const childProcess = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { promisify } = require('node:util');
const { Worker } = require('node:worker_threads');
const aspawn = require('aspawn');
const { action, constants } = aspawn;

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'aspawn-node-'));
after(() => fs.rmSync(directory, { recursive: true }));
const isRoot = process.getuid() === 0;

// Runs to the end: events in their order, and output.
async function run(...args) {
	const child = aspawn.spawn(...args);
	const events = [];
	const output = ['', ''];
	for (const name of ['spawn', 'error', 'exit', 'close'])
		child.on(name, (...values) => events.push([name, ...values]));
	child.stdout?.on('data', (data) => {
		output[0] += data;
	});
	child.stderr?.on('data', (data) => {
		output[1] += data;
	});
	await new Promise((resolve) => child.once('close', resolve));
	return { child, events, stdout: output[0], stderr: output[1] };
}

const says = async (command, options) =>
	(await aspawn.promises.exec(command, options)).stdout.trim();

test('aspawn is supported here', () => assert.ok(aspawn.supported));

test('processes are started without fork', async () => {
	// The handle is the package's own, of child_process's ChildProcess.
	const child = aspawn.spawn('true');
	assert.ok(child instanceof childProcess.ChildProcess);
	assert.strictEqual(child._handle.constructor.name, 'Handle');
	await once(child, 'exit');
	const other = childProcess.spawn('true');
	assert.notStrictEqual(other._handle.constructor.name, 'Handle');
	await once(other, 'exit');
});

test('a shell on a terminal', async () => {
	for (const owner of ['caller', 'tree']) {
		const child = aspawn.spawn(
			'sh',
			['-c', 'stty size; read a; echo "<$a>"; stty size; exit 3'],
			{ stdio: 'pty', rows: 7, columns: 9, owner, detached: true },
		);
		let text = '';
		child.terminal.setEncoding('utf8').on('data', (data) => {
			text += data;
			if (text !== '7 9\r\n') return;
			child.terminal.resize(100, 30);
			child.terminal.write('typed\r');
		});
		assert.throws(() => child.terminal.resize(65536, 1), /EINVAL/);
		assert.throws(() => child.terminal.resize(80), { code: 'ERR_INVALID_ARG_TYPE' });
		await Promise.all([once(child, 'exit'), once(child.terminal, 'close')]);
		assert.strictEqual(text, '7 9\r\ntyped\r\n<typed>\r\n30 100\r\n');
		assert.strictEqual(child.exitCode, 3);
	}
});

test('a terminal loses nothing at its end', async () => {
	for (let i = 0; i < 20; i++) {
		const child = aspawn.spawn('seq', ['2000'], { stdio: 'pty' });
		let text = '';
		child.terminal.setEncoding('utf8').on('data', (data) => (text += data));
		await once(child.terminal, 'close');
		assert.match(text, /\n2000\r\n$/);
	}
});

test('a terminal that takes no more does not stop the loop', async () => {
	const program = 'stty -echo; echo ready; seq 100000; head -c 500000 | wc -c';
	const child = aspawn.spawn('sh', ['-c', program], { stdio: 'pty' });
	const line = 'x'.repeat(99) + '\n';
	let text = '';
	child.terminal.setEncoding('utf8').on('data', (data) => {
		if (!text) for (const all of [line.repeat(4999), Buffer.from(line)]) child.terminal.write(all);
		text += data;
	});
	await once(child.terminal, 'close');
	assert.match(text, /\n100000\r\n500000\r\n$/);
});

test('a terminal that is destroyed hangs the process up', async () => {
	const child = aspawn.spawn('sleep', ['100'], { stdio: 'pty' });
	const exit = once(child, 'exit');
	const written = promisify(child.terminal.write.bind(child.terminal))('x'.repeat(1 << 20));
	child.terminal.destroy();
	await assert.rejects(written, { code: /^ERR_(STREAM_DESTROYED|SOCKET_CLOSED)$/ });
	assert.deepStrictEqual(await exit, [null, 'SIGHUP']);
	const { child: none, events } = await run('/no/such/program', [], { stdio: 'pty' });
	assert.deepStrictEqual([none.terminal, events[0][1].code], [undefined, 'ENOENT']);
	const failing = await run('true', [], { stdio: 'pty', actions: [action.chdir('/none')] });
	assert.strictEqual(failing.child.failure, 'action 0, chdir "/none": ENOENT');
});

test('events and streams', async () => {
	const { child, events, stdout, stderr } = await run('sh', [
		'-c',
		'echo out; echo err >&2; exit 3',
	]);
	assert.deepStrictEqual(events, [['spawn'], ['exit', 3, null], ['close', 3, null]]);
	assert.strictEqual(stdout, 'out\n');
	assert.strictEqual(stderr, 'err\n');
	assert.strictEqual(child.exitCode, 3);
});

test('a missing program is an error event alone, with what failed', async () => {
	const child = aspawn.spawn('unmae');
	child.on('spawn', () => assert.fail('it was not spawned'));
	const [error] = await once(child, 'error');
	assert.strictEqual(error.code, 'ENOENT');
	assert.strictEqual(error.syscall, 'spawn unmae');
	assert.strictEqual(child.pid, undefined);
	assert.strictEqual(child.failure, 'search "unmae": ENOENT');
});

test('an exec that fails late is an error event', async () => {
	const busy = path.join(directory, 'busy');
	const fd = fs.openSync(busy, 'w', 0o755);
	const child = aspawn.spawn(busy);
	const [error] = await once(child, 'error');
	assert.ok(child.pid > 0);
	assert.strictEqual(error.code, 'ETXTBSY');
	assert.strictEqual(child.failure, `exec "${busy}": ETXTBSY`);
	fs.closeSync(fd);
});

test('a script without its interpreter is never a child', async () => {
	const script = path.join(directory, 'no-interpreter');
	fs.writeFileSync(script, '#!/nowhere/sh\n', { mode: 0o755 });
	const child = aspawn.spawn(script);
	const [error] = await once(child, 'error');
	assert.strictEqual(child.pid, undefined);
	assert.strictEqual(error.code, 'ENOENT');
	assert.strictEqual(child.failure, 'interpreter "/nowhere/sh": ENOENT');
});

test('a missing directory is an error event', async () => {
	const child = aspawn.spawn('true', { cwd: '/nowhere' });
	assert.strictEqual((await once(child, 'error'))[0].code, 'ENOENT');
	assert.match(child.failure, /chdir "\/nowhere": ENOENT/);
});

test('cwd, env and argv0', async () => {
	assert.strictEqual(await says('pwd', { cwd: '/usr' }), '/usr');
	assert.strictEqual(
		await says('echo $A', { env: { A: 'a b', PATH: process.env.PATH } }),
		'a b',
	);
	const { stdout } = await run('/bin/sh', ['-c', 'echo $0'], { argv0: 'other' });
	assert.strictEqual(stdout.trim(), 'other');
});

test('PATH is that of the program', async () => {
	fs.writeFileSync(path.join(directory, 'own-program'), '#!/bin/sh\necho own\n', {
		mode: 0o755,
	});
	const { stdout } = await run('own-program', {
		env: { PATH: `/nowhere:${directory}:/bin` },
	});
	assert.strictEqual(stdout, 'own\n');
});

test('streams: ignored, inherited, files, a swap, and a fourth', async () => {
	const file = path.join(directory, 'file');
	const fd = fs.openSync(file, 'w');
	await run('sh', ['-c', 'echo to 1; echo to 2 >&2'], { stdio: ['ignore', fd, fd] });
	fs.closeSync(fd);
	assert.strictEqual(fs.readFileSync(file, 'latin1'), 'to 1\nto 2\n');

	const script = `const a = require('aspawn');
    a.spawn('sh', ['-c', 'echo to 1; echo to 2 >&2'], { stdio: [0, 2, 1] });`;
	const swapped = childProcess.spawnSync(process.execPath, ['-e', script], {
		cwd: __dirname,
	});
	assert.strictEqual(String(swapped.stdout), 'to 2\n');
	assert.strictEqual(String(swapped.stderr), 'to 1\n');

	const child = aspawn.spawn('sh', ['-c', 'read a <&3; echo "got $a" >&3'], {
		stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
	});
	child.stdio[3].write('words\n');
	assert.strictEqual(String((await once(child.stdio[3], 'data'))[0]), 'got words\n');
	await once(child, 'close');
});

test('input of a mebibyte, and its output', async () => {
	const child = aspawn.spawn('cat');
	let length = 0;
	child.stdout.on('data', (data) => {
		length += data.length;
	});
	child.stdin.end(Buffer.alloc(1 << 20, 'x'));
	await once(child, 'close');
	assert.strictEqual(length, 1 << 20);
});

test('signals: kill, killSignal with timeout, AbortSignal', async () => {
	const child = aspawn.spawn('sleep', ['60']);
	assert.ok(child.kill('SIGINT'));
	assert.deepStrictEqual(await once(child, 'exit'), [null, 'SIGINT']);
	assert.strictEqual(child.kill(), false);

	const limited = aspawn.spawn('sleep', ['60'], { timeout: 50, killSignal: 'SIGUSR1' });
	assert.deepStrictEqual(await once(limited, 'exit'), [null, 'SIGUSR1']);

	const controller = new AbortController();
	const promise = aspawn.promises.execFile('sleep', ['60'], { signal: controller.signal });
	controller.abort();
	await assert.rejects(promise, { name: 'AbortError' });
});

test('no signal is blocked or ignored', async () => {
	const { stdout } = await run('grep', ['-E', 'Sig(Blk|Ign)', '/proc/self/status']);
	assert.match(stdout, /SigBlk:\s0+\nSigIgn:\s0+\n/);
});

test('promises and callbacks', async () => {
	assert.deepStrictEqual(await aspawn.promises.execFile('echo', ['a']), {
		stdout: 'a\n',
		stderr: '',
	});
	assert.deepStrictEqual(await promisify(aspawn.exec)('echo b'), {
		stdout: 'b\n',
		stderr: '',
	});
	await assert.rejects(aspawn.promises.exec('echo c; exit 4'), { code: 4, stdout: 'c\n' });
	const error = await new Promise((resolve) => aspawn.exec('exit 5', resolve));
	assert.strictEqual(error.code, 5);
});

test('detached leads a session', async () => {
	const { stdout } = await run('sh', ['-c', 'ps -o sid= -p $$; echo $$'], { detached: true });
	const [session, pid] = stdout.trim().split(/\s+/);
	assert.strictEqual(session, pid);
});

test('uid and gid', { skip: !isRoot && 'not root' }, async () => {
	assert.strictEqual(
		await says('id -u; id -g; id -G', { uid: 65534, gid: 65534, cwd: '/' }),
		'65534\n65534\n65534',
	);
});

test('uid and gid -1 are refused, not those of the caller', () => {
	for (const { spawn } of [childProcess, aspawn])
		for (const ids of [{ uid: -1 }, { gid: -1 }, { uid: -1, gid: 65534 }])
			assert.throws(() => spawn('true', ids), { code: 'EINVAL', syscall: 'spawn' });
});

test('a user namespace that forbids setgroups() is no failure', async (t) => {
	const script = `const child = require('aspawn').spawn('id', ['-u'], { uid: 0, gid: 0, stdio: 'inherit' });
		child.on('exit', (code) => console.log(code, child.failure));`;
	const words = ['--user', '--map-root-user', process.execPath, '-e', script];
	const { status, stdout, stderr } = childProcess.spawnSync('unshare', words, { cwd: __dirname, encoding: 'utf8' });
	if (/unshare: /.test(stderr)) return t.skip(stderr.trim());
	assert.strictEqual(stdout, '0\n0 undefined\n', `${status} ${stderr}`);
});

test('no right to be another user', async () => {
	const script = `const { spawn } = require('aspawn');
    process.getuid() || (process.setgid(65534), process.setuid(65534));
    try { spawn('true', { uid: 0, cwd: '/' }); } catch (error) { console.log(error.code); }`;
	const child = childProcess.spawnSync(process.execPath, ['-e', script], { cwd: __dirname });
	assert.strictEqual(String(child.stdout), 'EPERM\n', String(child.stderr));
});

test('actions, in their order', async () => {
	const { stdout } = await run('sh', ['-c', 'pwd; umask; echo $A; cat <&5'], {
		actions: [
			action.chdir('/usr'),
			action.chdir('bin'),
			action.umask(0o27),
			action.setenv('A', 'b'),
			action.open(5, '/proc/self/comm'),
		],
	});
	assert.match(stdout, /^\/usr\/bin\n0027\nb\n.+\n$/);
	assert.throws(() => aspawn.spawn('true', { actions: [action.fchdir(9999)] }), {
		code: 'EBADF',
	});
	assert.throws(() => action.chdir(3), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
	assert.throws(() => action.chdir('a\0b'), TypeError);
	assert.throws(() => action.chdir(), TypeError);
	assert.throws(() => action.rlimit('files', 1), TypeError);
	assert.throws(() => action.rlimit('nofile', -1), RangeError);
	assert.throws(() => action.sigmask(['SIGNONE']), TypeError);
	assert.throws(() => action.sigmask([65]), RangeError);
	// They would be empty.
	for (const name of ['groups', 'sigmask', 'signalsIgnore', 'affinity'])
		for (const list of [3, '', null]) assert.throws(() => action[name](list), { code: 'ERR_INVALID_ARG_TYPE' });
	// Of 32 bits they would be others: root, a file, SIGHUP.
	for (const large of [2 ** 32, 2n ** 32n])
		for (const make of [action.close, (id) => action.user(id, 1), action.pdeathsig])
			assert.throws(() => make(large), RangeError);
	assert.throws(() => action.fchdir({ fd: 2 ** 32 }), RangeError);
	assert.throws(() => action.prctl(1, 2n ** 64n, 0, 0, 0), RangeError);
	for (const word of [-1, -(2n ** 63n), 2n ** 64n - 1n]) assert.ok(action.prctl(1, word, 0, 0, 0));
	assert.throws(() => aspawn.spawn('true', { actions: [{ number: 9999 }] }), { code: 'EINVAL' });
});

test('a refusal says what is expected', () => {
	for (const [make, message] of [
		[() => action.chdir(3), '"path" must be a string, Buffer or URL, not 3'],
		[() => action.setenv('A', 3), '"value" must be a string or Buffer, not 3'],
		[() => action.seccomp('RET'), `"filter" must be a Buffer or other bytes, not 'RET'`],
		[() => action.signalsIgnore(['SIGFOO']), `"signal" must be a signal's name or number, not 'SIGFOO'`],
		[() => action.capDrop('CAP_ROOT'), `"capability" must be a capability's name or number, not 'CAP_ROOT'`],
		[() => action.open(5, 'log', 'q'), `"flags" must be flags of fs.open() or a number, not 'q'`],
		[() => aspawn.spawn('true', { limits: { foo: 1 } }), `"resource" must be a limit's name, such as "nofile", or its number, not 'foo'`],
		[() => aspawn.spawn('true', { owner: 'x' }), `"owner" must be one of caller, private, tree, not 'x'`],
		[() => aspawn.spawn('true', { memory: 3 }), '"memory" must be one of shared, suspended, copied, not 3'],
	])
		assert.throws(make, { message: `aspawn: ${message}`, code: 'ERR_INVALID_ARG_TYPE' });
});

const status = (name) => `grep ^${name}: /proc/self/status | cut -f 2`;
// Numbers of constants are those of the kernel if the program finds what they ask for.
const privateMounts = [
	action.unshare(constants.CLONE_NEWNS),
	action.mount(null, '/', null, constants.MS_REC | constants.MS_PRIVATE),
];
const allow = Uint8Array.of(6, 0, 0, 0, 0, 0, 0xff, 0x7f); // RET, SECCOMP_RET_ALLOW
const words = path.join(directory, 'words');
for (const [command, expected, actions, needsRoot] of [
	['echo b >&5; cat <&6', 'a\nb', [action.open(6, words, 'wx+', 0o600), action.write(words, 'a\n'), action.open(5, Buffer.from(words), 'a')]],
	['cat /proc/self/oom_score_adj', '400', [action.oomScoreAdj(400)]],
	['pwd', '/usr', [action.chdir(Buffer.from('/')), action.chdir(new URL('file:///usr'))]],
	['readlink /dev/fd/5', '/dev/null', [action.devNull(5)]],
	['test -e /dev/fd/5 || echo closed', 'closed', [action.devNull(5), action.cloexecFrom(5)]],
	['echo $A$B$C', 'a', [action.setenv('B', 'b'), action.clearenv(), action.setenv('A', 'a'), action.setenv('C', 'c'), action.unsetenv('C')]],
	[status('SigBlk'), '0000000000000a00', [action.sigmask(['SIGUSR1', 12])]],
	[status('SigIgn'), '0000000000000800', [action.signalsIgnore(['SIGUSR1', 'SIGUSR2']), action.signalsDefault(['SIGUSR1'])]],
	[status('SigIgn'), '0000000000000200', [action.signalIgnore('SIGUSR1'), action.signalIgnore('SIGUSR2'), action.signalDefault(12)]],
	[status('Cpus_allowed_list'), '0', [action.affinity([0])]],
	[status('NoNewPrivs'), '1', [action.noNewPrivs()]],
	[status('Seccomp'), '2', [action.noNewPrivs(), action.seccomp(allow)]],
	['ulimit -n; ulimit -Hn', '50\n60', [action.rlimit('nofile', 50, 60n)]],
	['nice', '5', [action.nice(5)]],
	['chrt -p $$ | head -n 1 | grep -o SCHED_.*', 'SCHED_BATCH', [action.scheduler(constants.SCHED_BATCH)]],
	['ionice', 'idle', [action.ioprio(constants.IOPRIO_CLASS_IDLE << 13)]],
	['cat /proc/self/personality', '00040000', [action.personality(0x40000)], true],
	['id -u; id -g; id -G', '65534\n65533\n65533 1 2', [action.user(65534, 65533, [1, 2])], true],
	['id -G', '0 3', [action.groups([3])], true],
	[`${status('CapAmb')}; ${status('CapBnd')}`, /^0+2000\n\w+dfff$/, [action.capAmbient('CAP_NET_RAW'), action.capDrop(constants.CAP_NET_RAW)], true],
	['uname -n', 'of-its-own', [action.unshare(constants.CLONE_NEWUTS), action.hostname('of-its-own')], true],
	['stat -f -c %T /mnt', 'tmpfs', [...privateMounts, action.mount('none', '/mnt', 'tmpfs', constants.MS_NODEV, 'size=4k')], true],
])
	test(`actions: ${command} is ${expected}`, { skip: needsRoot && !isRoot && 'not root' }, async () => {
		const output = await says(command, { actions });
		if (expected instanceof RegExp) assert.match(output, expected);
		else assert.strictEqual(output, expected);
	});

test('landlock passes its flags to the kernel', () => {
	const root = fs.openSync('/');
	const codeOf = (...flags) => {
		try {
			aspawn.spawn('true', { actions: [action.noNewPrivs(), action.landlock(root, ...flags)] });
		} catch ({ code }) {
			return code;
		}
	};
	// EBADFD: no ruleset. Without Landlock both are ENOSYS or the like.
	if (codeOf() === 'EBADFD') assert.strictEqual(codeOf(2 ** 31), 'EINVAL');
	else assert.ok(codeOf());
	fs.closeSync(root);
});

test('descriptors of actions: a FileHandle, a directory, and the ends of pipes', async () => {
	const comm = fs.readFileSync('/proc/self/comm', 'utf8');
	const file = await fs.promises.open('/proc/self/comm');
	const root = await fs.promises.open('/proc/self');
	const { RESOLVE_NO_SYMLINKS } = constants;
	const from = [action.dup2(file, 5), action.openat(6, root, 'comm'), action.openat2(7, root, 'comm', 'r', 0, RESOLVE_NO_SYMLINKS)];
	assert.strictEqual(await says('cat <&5 && cat <&6 && cat <&7', { actions: from }), `${comm}${comm}${comm}`.trim());
	const link = action.openat2(5, constants.AT_FDCWD, '/proc/self/comm', 'r', 0, RESOLVE_NO_SYMLINKS);
	assert.throws(() => aspawn.spawn('true', { actions: [link] }), { code: 'ELOOP' });
	await file.close();
	await root.close();

	const [input, output] = [action.inputPipe(5), action.outputPipe(6)];
	const child = aspawn.spawn('sh', ['-c', 'read line <&5; echo "got $line" >&6'], { actions: [input, output] });
	fs.writeSync(input.writeEnd, 'words\n');
	fs.closeSync(input.writeEnd);
	assert.strictEqual(fs.readFileSync(output.readEnd, 'utf8'), 'got words\n');
	fs.closeSync(output.readEnd);
	await once(child, 'close');

	const lowest = () => {
		const fd = fs.openSync('/dev/null');
		fs.closeSync(fd);
		return fd;
	};
	const unused = action.outputPipe(5);
	const before = lowest();
	const actions = [unused, action.chdir('/nowhere')];
	await once(aspawn.spawn('true', { actions, stdio: 'ignore' }), 'error');
	assert.strictEqual(unused.readEnd, undefined);
	assert.ok(lowest() <= before, 'the end of the pipe is open');
});

test('a failure has the index of the caller\'s action, and names a member that is refused', async () => {
	const own = { cwd: '/', limits: { core: 0 }, group: true, stdio: 'ignore' };
	const child = aspawn.spawn('true', { ...own, actions: [action.umask(0), action.chdir('/nowhere')] });
	await once(child, 'error');
	assert.strictEqual(child.failure, 'action 1, chdir "/nowhere": ENOENT');
	const other = aspawn.spawn('true', { ...own, cwd: '/nowhere', actions: [action.umask(0)] });
	await once(other, 'error');
	assert.strictEqual(other.failure, 'chdir "/nowhere": ENOENT');
	assert.throws(() => aspawn.spawn('true', { owner: 'private', memory: 'suspended' }), {
		code: 'EINVAL',
		failure: /^argument "(owner|memory)": EINVAL$/,
	});
	assert.throws(() => aspawn.spawn('true', { ...own, actions: [action.umask(0), action.setenv('a=b', '')] }), {
		code: 'EINVAL',
		failure: 'action 1, setenv: EINVAL',
	});
	assert.throws(() => aspawn.spawn('true', { owner: 'nobody' }), TypeError);
	assert.throws(() => aspawn.spawn('true', { limits: { core: 0 }, stdio: ['ipc'] }), /no limits with 'ipc'/);
});

test('errors of events, callbacks and promises have the failure', async () => {
	const options = { actions: [action.chdir('/nowhere')] };
	const failure = 'action 0, chdir "/nowhere": ENOENT';
	assert.strictEqual((await once(aspawn.spawn('true', options), 'error'))[0].failure, failure);
	for (const name of ['exec', 'execFile']) {
		assert.strictEqual((await new Promise((resolve) => aspawn[name]('true', options, resolve))).failure, failure);
		await assert.rejects(aspawn.promises[name]('true', options), { code: 'ENOENT', failure });
		await assert.rejects(promisify(aspawn[name])('true', options), { code: 'ENOENT', failure });
	}
	await assert.rejects(aspawn.promises.execFile('/nowhere'), { failure: 'exec "/nowhere": ENOENT' });
	await assert.rejects(aspawn.promises.exec('exit 3'), (error) => !('failure' in error));
	assert.throws(() => aspawn.spawn('true', { stdio: 'pty', rows: 70000 }), { failure: 'argument "rows": EINVAL' });
});

test('an error event that nobody listens to is uncaught', () => {
	const { stdout, stderr } = childProcess.spawnSync(
		process.execPath,
		['-e', "process.on('uncaughtException', ({ failure }) => console.log(failure)); require('aspawn').spawn('/nowhere')"],
		{ cwd: __dirname, encoding: 'utf8' },
	);
	assert.strictEqual(stdout, 'exec "/nowhere": ENOENT\n', stderr);
});

test('the ends of streams are above the standard streams', () => {
	const script = `const fs = require('fs');
		const aspawn = require('aspawn');
		[0, 1].forEach((fd) => fs.closeSync(fd));
		const child = aspawn.spawn('cat');
		const fds = child.stdio.map((stream) => stream._handle.fd);
		const closed = [0, 1].every((fd) => !fs.existsSync('/proc/self/fd/' + fd));
		child.stdin.end();
		child.on('close', (code) => fs.writeSync(2, String([code, closed && fds.every((fd) => fd > 2)])));`;
	const { stderr } = childProcess.spawnSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' });
	assert.strictEqual(stderr, '0,true');
});

test('a lack of descriptors does not switch the package off', { skip: process.arch !== 'x64' && 'a filter of x86_64' }, async () => {
	const instruction = (code, jt, jf, k) => [code, 0, jt, jf, ...new Uint8Array(Uint32Array.of(k).buffer)];
	const [EMFILE, ENOSYS] = [24, 38];
	for (const [error, expected] of [[EMFILE, 'true'], [ENOSYS, 'false']]) {
		// pidfd_open() fails.
		const filter = Uint8Array.from([instruction(0x20, 0, 0, 0), instruction(0x15, 0, 1, 434), instruction(6, 0, 0, 0x50000 + error),
			instruction(6, 0, 0, 0x7fff0000)].flat());
		const { stdout } = await aspawn.promises.execFile(process.execPath, ['-p', "require('aspawn').supported"], {
			actions: [action.noNewPrivs(), action.seccomp(filter)],
			cwd: __dirname,
		});
		assert.strictEqual(stdout.trim(), expected);
	}
});

test('limits', async () => {
	assert.strictEqual(
		await says('ulimit -n; ulimit -Hn; ulimit -c', {
			limits: { nofile: [100, 200], core: 0 },
		}),
		'100\n200\n0',
	);
});

test('a private child whose helper was killed is not waited for busily', async () => {
	const child = aspawn.spawn('sleep', ['1'], { owner: 'private' });
	const [, helper] = /^PPid:\t(.*)$/m.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'latin1'));
	if (+helper === process.pid) return; // the kernel reaps it
	process.kill(helper, 'SIGKILL');
	const before = process.cpuUsage();
	await once(child, 'exit');
	const { user, system } = process.cpuUsage(before);
	assert.ok(user + system < 300_000, `${user + system} us`);
});

test('private children raise no SIGCHLD', async () => {
	let signals = 0;
	const count = () => {
		signals++;
	};
	process.on('SIGCHLD', count);
	await run('true', { owner: 'private' });
	await new Promise((resolve) => setTimeout(resolve, 20));
	assert.strictEqual(signals, 0);
	await run('true');
	await new Promise((resolve) => setTimeout(resolve, 20));
	assert.strictEqual(signals, 1);
	process.off('SIGCHLD', count);
});

test('a tree ends with its child', { timeout: 60000 }, async () => {
	// Otherwise sleep would hold the pipe.
	const { stdout } = await run('sh', ['-c', 'setsid sleep 1000 & echo started'], { owner: 'tree' });
	assert.strictEqual(stdout, 'started\n');
	for (const signal of ['SIGTERM', 'SIGKILL']) {
		const child = aspawn.spawn('sh', ['-c', 'setsid sleep 1000 & echo started; exec sleep 1000'], { owner: 'tree' });
		await once(child.stdout, 'data');
		assert.ok(aspawn.killTree(child, signal));
		assert.deepStrictEqual(await once(child, 'close'), [null, signal]);
	}
});

test('a tree ends by its stop signal', { timeout: 60000 }, async () => {
	for (const signal of [undefined, 'SIGUSR1']) {
		const script = "trap 'exit 7' USR1; echo started; while :; do sleep 0.1; done";
		const child = aspawn.spawn('sh', ['-c', script], { owner: 'tree', stopSignal: 'SIGUSR1' });
		await once(child.stdout, 'data');
		assert.ok(aspawn.killTree(child, signal));
		assert.deepStrictEqual(await once(child, 'close'), [7, null]);
	}
	assert.throws(() => aspawn.spawn('true', { stopSignal: 'SIGNONE' }), { code: 'ERR_INVALID_ARG_TYPE' });
	await assert.rejects(run('true', { stopSignal: 'SIGKILL' }), { code: 'EINVAL', failure: 'argument "stop_signal": EINVAL' });
});

test('children with diesWithCaller end with the process', { timeout: 60000 }, async () => {
	// The child's standard output is the pipe, which then nobody else has.
	const script = `require('aspawn').spawn('sh', ['-c', 'echo started; exec sleep 1000'],
    { diesWithCaller: true, stdio: ['ignore', 1, 2] });`;
	const parent = childProcess.spawn(process.execPath, ['-e', script], { cwd: __dirname });
	await once(parent.stdout, 'data');
	parent.kill('SIGKILL');
	await once(parent, 'close');
});

test('no process of another user shares the memory', { skip: !isRoot && 'not root' }, async () => {
	const [FORK, IMAGE] = [4, 5]; // enum aspawn_clone_mode
	const mode = async (options) => {
		const child = aspawn.spawn('cat', [], { cwd: '/', ...options });
		const mode = child._handle.mode();
		child.stdin.end();
		assert.deepStrictEqual(await once(child, 'close'), [0, null]);
		return mode;
	};
	// Where a program without a file can be executed, and no filter is in the way,
	// by the image.
	const noexec = '/proc/sys/vm/memfd_noexec';
	const mayExecute =
		/\nSeccomp:\t0\n/.test(fs.readFileSync('/proc/self/status', 'utf8')) &&
		!(fs.existsSync(noexec) && fs.readFileSync(noexec, 'utf8').trim() === '2');
	const user = await mode({ uid: 65534 });
	assert.ok(user === IMAGE || (!mayExecute && user === FORK), `mode ${user}`);
	assert.strictEqual(await mode({ uid: 65534, memory: 'copied' }), FORK);
	assert.ok((await mode({})) < FORK);
});

test('killTree ends a group', async () => {
	const child = aspawn.spawn('sh', ['-c', 'sleep 60 & echo started; wait'], { group: true });
	await once(child.stdout, 'data');
	for (const signal of [-1, 128, 2 ** 31])
		assert.throws(() => aspawn.killTree(child, signal), { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
	assert.throws(() => aspawn.killTree(child, 100), { code: 'EINVAL', errno: -22, message: /^aspawn: .*: EINVAL$/ });
	assert.throws(() => aspawn.killTree(child, 'SIGNONE'), { code: 'ERR_INVALID_ARG_TYPE' });
	assert.ok(aspawn.killTree(child, 'SIGKILL'));
	// once sleep's end of the pipe is closed
	assert.deepStrictEqual(await once(child, 'close'), [null, 'SIGKILL']);
});

const CGROUPS = '/sys/fs/cgroup';
test(
	'killTree ends a control group',
	{
		skip:
			!(
				(isRoot && fs.existsSync(`${CGROUPS}/cgroup.kill`)) ||
				fs.existsSync(`${CGROUPS}/cgroup.controllers`)
			) && 'no control groups',
	},
	async (t) => {
		const group = path.join(CGROUPS, `aspawn-node-${process.pid}`);
		try {
			fs.mkdirSync(group);
		} catch (error) {
			return t.skip(`no control group of one's own: ${error.code}`);
		}
		try {
			const child = aspawn.spawn(
				'sh',
				['-c', 'setsid sleep 60 & echo started; wait'],
				{ cgroup: group },
			);
			await once(child.stdout, 'data');
			assert.ok(aspawn.killTree(child, 'SIGKILL'));
			await once(child, 'close');
		} finally {
			for (let i = 0; i < 100; i++) {
				try {
					fs.rmdirSync(group);
					break;
				} catch {
					await new Promise((resolve) => setTimeout(resolve, 10));
				}
			}
		}
	},
);

test('a descriptor that children inherit stays open, unless closeOthers', () => {
	// Node itself keeps those below 16 from its children.
	const fd = fs.openSync('/dev/null');
	const stdio = ['ignore', 'pipe', 'inherit', ...Array(37).fill('ignore'), fd];
	const ask = (module, options) =>
		String(
			childProcess.spawnSync(
				process.execPath,
				[
					'-e',
					`require('${module}').spawn('sh', ['-c', 'test -e /proc/self/fd/40 && echo open || echo closed'], ${options})`,
				],
				{ cwd: __dirname, stdio },
			).stdout,
		);
	assert.strictEqual(ask('child_process', "{ stdio: 'inherit' }"), 'open\n');
	assert.strictEqual(ask('aspawn', "{ stdio: 'inherit' }"), 'open\n');
	assert.strictEqual(ask('aspawn', "{ stdio: 'inherit', closeOthers: true }"), 'closed\n');
	fs.closeSync(fd);
});

test('unref lets the program end', () => {
	const script = `const c = require('aspawn').spawn('sleep', ['60'], { stdio: 'ignore' }); c.unref();
    process.on('exit', () => c.kill())`;
	const child = childProcess.spawnSync(process.execPath, ['-e', script], {
		cwd: __dirname,
		timeout: 30000,
	});
	assert.strictEqual(child.status, 0, String(child.stderr));
});

test('an exception in a listener is uncaught, and no other', () => {
	const script = `process.on('uncaughtException', (error) => console.log(error.message));
    require('aspawn').spawn('true').on('exit', () => { throw new Error('of the listener'); });`;
	const child = childProcess.spawnSync(process.execPath, ['-e', script], { cwd: __dirname });
	assert.strictEqual(String(child.stdout), 'of the listener\n', String(child.stderr));
});

test('AsyncLocalStorage reaches events', async () => {
	const { AsyncLocalStorage } = require('node:async_hooks');
	const storage = new AsyncLocalStorage();
	const seen = await storage.run(
		'here',
		() =>
			new Promise((resolve) =>
				aspawn.spawn('true').on('exit', () => resolve(storage.getStore())),
			),
	);
	assert.strictEqual(seen, 'here');
});

test('an option that is refused leaves no descriptor', () => {
	const open = () => fs.readdirSync('/proc/self/fd').length;
	const before = open();
	const refused = [{ owner: 'none' }, { memory: 'none' }, { actions: 3 }, { actions: [3] }, { limits: 3 }];
	for (const value of ['no', 0, 1, {}]) refused.push({ group: value }, { diesWithCaller: value }, { closeOthers: value });
	for (const cpu of [[], [1], [1, 2, 3], '1', [1, '2'], null]) refused.push({ limits: { cpu } });
	for (const options of [...refused, { stdio: 'pty', rows: 'x' }, { stdio: 'pty', columns: null, rows: 1.5 }])
		assert.throws(() => aspawn.spawn('true', { cgroup: '/', ...options }), { code: 'ERR_INVALID_ARG_TYPE' });
	assert.strictEqual(open(), before);
});

// Helpers, and children before their exec, run it.
test("the addon's code outlives a worker that alone has the package", () => {
	const script = `const { Worker } = require('worker_threads');
		const { readFileSync } = require('fs');
		const hasCode = () => console.log(readFileSync('/proc/self/maps', 'utf8').includes('aspawn.node'));
		hasCode();
		new Worker("require('aspawn').spawn('true').unref()", { eval: true }).on('exit', hasCode);`;
	const { stdout, stderr } = childProcess.spawnSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' });
	assert.strictEqual(stdout, 'false\ntrue\n', stderr);
});

test('workers, also one that ends while its child runs', async () => {
	const work = (script) =>
		new Promise((resolve, reject) => {
			const worker = new Worker(script, { eval: true });
			worker.on('error', reject).on('exit', resolve);
		});
	const from = `require(${JSON.stringify(require.resolve('aspawn'))})`;
	assert.strictEqual(
		await work(
			`${from}.spawn('sh', ['-c', 'exit 7']).on('exit', (code) => process.exit(code))`,
		),
		7,
	);
	assert.strictEqual(
		await work(`${from}.spawn('sleep', ['2'], { stdio: 'ignore' }); process.exit(3)`),
		3,
	);
});

test('200 at once', async () => {
	const all = await Promise.all(Array.from({ length: 200 }, (_, i) => says(`echo ${i}`)));
	assert.deepStrictEqual(
		all,
		all.map((_, i) => String(i)),
	);
});

test('register puts it under child_process, but not under fork', () => {
	const script = `const { spawn, fork, exec } = require('child_process');
    console.log(spawn('true')._handle.constructor.name, exec('true')._handle.constructor.name);
    if (!process.send) {
      const child = fork(process.argv[1], { execArgv: [] });
      console.log(child._handle.constructor.name); child.on('message', (m) => console.log(m));
    } else process.send('by the channel');`;
	const file = path.join(directory, 'program.js');
	fs.writeFileSync(file, script);
	const child = childProcess.spawnSync(process.execPath, [
		'-r',
		require.resolve('aspawn/register'),
		file,
	]);
	assert.match(String(child.stdout), /^Handle Handle\nProcess\n/, String(child.stderr));
	assert.match(String(child.stdout), /by the channel/);
});

test('ChildProcess is as it was, until register', () => {
	const script = `const { ChildProcess, exec } = require('child_process');
		const { spawn } = ChildProcess.prototype;
		const aspawn = require('aspawn');
		aspawn.spawn('true', { actions: [] });
		try { aspawn.spawn('true', { cwd: 3 }); } catch {}
		console.log(ChildProcess.prototype.spawn === spawn, exec('true')._handle.constructor.name);
		require('aspawn/register');
		console.log(ChildProcess.prototype.spawn === spawn, exec('true')._handle.constructor.name);
		aspawn.exec('ulimit -n', { limits: { nofile: 50 } }, (error, stdout) => console.log(stdout));`;
	const { stdout, stderr } = childProcess.spawnSync(process.execPath, ['-e', script], {
		cwd: __dirname,
		encoding: 'utf8',
	});
	assert.strictEqual(stdout, 'true Process\nfalse Handle\n50\n\n', stderr);
});

test('an ES module has its names', () => {
	const script = `import aspawn, { ${Object.keys(aspawn)} } from 'aspawn';
		console.log([${Object.keys(aspawn)}].every((value) => Object.values(aspawn).includes(value)));
		const { stdout } = await promises.exec('echo a');
		console.log(stdout);`;
	const { stdout, stderr } = childProcess.spawnSync(process.execPath, ['--input-type=module', '-e', script], {
		cwd: __dirname,
		encoding: 'utf8',
	});
	assert.strictEqual(stdout, 'true\na\n\n', stderr);
});

// Of a program of its own, in which Node's ChildProcess.prototype.spawn is what change makes of it.
const inOtherNode = (change, script) =>
	childProcess.spawnSync(
		process.execPath,
		[
			'-e',
			`const { ChildProcess, spawn } = require('child_process');
			const theirs = ChildProcess.prototype.spawn;
			ChildProcess.prototype.spawn = function (options) { ${change} };
			${script}`,
		],
		{ cwd: __dirname, encoding: 'utf8' },
	);

test('the handle may be given the options or their values, as from Node 24.19', () => {
	const { stdout, stderr } = inOtherNode(
		`const handle = this._handle;
		const { spawn } = handle;
		handle.spawn = (given, ...values) => handle.constructor.name !== 'Handle'
			? spawn.call(handle, given, ...values)
			: values.length ? spawn.call(handle, { stdio: values[3], file: given, args: values[0] })
			: spawn.call(handle, given.file, given.args, given.cwd, given.envPairs, given.stdio, 0);
		return theirs.call(this, options);`,
		`require('aspawn/register');
		const child = spawn('echo', ['of', 'it'], { stdio: ['ignore', 'pipe', 'inherit'] });
		console.log(child._handle.constructor.name);
		child.stdout.on('data', (data) => console.log(String(data)));`,
	);
	assert.deepStrictEqual([stdout, stderr], ['Handle\nof it\n\n', '']);
});

test('an unknown ChildProcess starts programs itself, and a warning says so once', () => {
	for (const change of [
		'return theirs.call(this, { ...options });', // what Node makes of stdio is not seen
		'this._handle = null; throw new TypeError();',
		'options.stdio = ["ignore", "ignore", "ignore"]; return theirs.call(this, options);',
	]) {
		const { stdout, stderr } = inOtherNode(
			change,
			`const aspawn = require('aspawn');
			require('aspawn/register');
			ChildProcess.prototype.spawn = theirs;
			console.log(aspawn.supported);
			aspawn.spawn('echo', ['1'], { stdio: 'inherit' }).on('exit', () => {
				spawn('echo', ['2'], { stdio: 'inherit' }).on('exit', () => {
					const { Worker } = require('worker_threads');
					new Worker("require('aspawn/register')", { eval: true });
				});
			});`,
		);
		assert.strictEqual(stdout, 'false\n1\n2\n', stderr);
		assert.strictEqual(stderr.match(/aspawn is not used: the ChildProcess of Node/g)?.length, 1, stderr);
	}
});

const permission = ['--permission', '--experimental-permission'].find((flag) =>
	process.allowedNodeEnvironmentFlags.has(flag),
);
test('without the permission to start programs there is none by the addon', { skip: !permission }, () => {
	const script = `const { promises, Queue } = require('aspawn');
		for (const start of [() => promises.exec('echo'), () => new Queue()])
			try { start(); } catch (error) { console.log(error.cause?.message ?? error.code); }`;
	const { stdout, stderr } = childProcess.spawnSync(
		process.execPath,
		[permission, '--allow-addons', '--allow-fs-read=*', '-e', script],
		{ cwd: __dirname, encoding: 'utf8' },
	);
	assert.strictEqual(stdout, 'ERR_ACCESS_DENIED\nNode was started without --allow-child-process\n', stderr);
});

// Waits without the loop until it has ended: then the loop finds all that happened at once.
function untilEnded({ pid }) {
	while (!/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))) continue;
}

for (const [name, expected, program] of [
	[
		'an exit is reported after output that is in the pipe, and before setImmediate',
		['data', 'exit', 'immediate'],
		(spawn, note) => {
			const child = spawn('echo');
			child.stdout.on('data', () => {
				note('data');
				setImmediate(note, 'immediate');
			});
			child.on('exit', () => note('exit'));
			untilEnded(child);
			return [child];
		},
	],
	[
		'an exit is reported after the error of input that it does not read',
		['EPIPE', 'exit'],
		(spawn, note) => {
			const child = spawn('sh', ['-c', 'read line <&3'], { stdio: ['pipe', 'pipe', 2, 'pipe'] });
			child.stdin.on('error', ({ code }) => note(code));
			child.stdin.write('x'.repeat(1 << 22));
			child.stdio[3].write('\n');
			child.on('exit', () => note('exit'));
			untilEnded(child);
			return [child];
		},
	],
	[
		'exits are reported in the order of the starts',
		['exit 0', 'exit 1', 'exit 2'],
		async (spawn, note) => {
			const children = [0, 1, 2].map((i) =>
				spawn('sh', ['-c', 'read line']).on('exit', () => note(`exit ${i}`)),
			);
			await new Promise(setImmediate); // the loop watches them
			for (const i of [1, 2, 0]) {
				children[i].stdin.write('\n');
				untilEnded(children[i]);
			}
			return children;
		},
	],
])
	test(name, async () => {
		for (const { spawn } of [childProcess, aspawn]) {
			const events = [];
			const children = await program(spawn, (event) => events.push(event));
			await Promise.all(children.map((child) => once(child, 'close')));
			assert.deepStrictEqual(events, expected, spawn === aspawn.spawn ? 'aspawn' : 'Node');
		}
	});
