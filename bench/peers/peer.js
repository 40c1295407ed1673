// SPDX-License-Identifier: MIT
// As peers.py says, for Node: the package is $PACKAGE.
'use strict';
const child_process = require('node:child_process');
const { performance } = require('node:perf_hooks');

const [way, what, program] = process.argv.slice(2);
const [count, seconds, mib] = process.argv.slice(5).map(Number);
const stdio = ['ignore', 'pipe', 'ignore'];
let from = child_process;
if (way !== 'child_process') from = require(process.env.PACKAGE);
let begin;
let started;
if (way === 'queue') {
	const queue = new from.Queue({ running: 16 });
	started = () => queue.submit(program);
} else if (what === 'blocked') {
	started = () => {
		const child = from.spawn(program, { stdio });
		child.stdout.resume();
		return new Promise((resolve) => child.on('close', resolve));
	};
} else {
	started = () => new Promise((resolve, reject) => {
		from.execFile(program, (error, stdout) => (error ? reject(error) : resolve({ stdout })));
	});
}

async function blocked() {
	begin = performance.now();
	for (let i = -30; i < count; i++) {
		if (performance.now() - begin > seconds * 1000 || i === 0) {
			if (i > 0) break;
			i = 0; // what was before has compiled it
			begin = performance.now();
		}
		const at = performance.now();
		const ended = started();
		const took = performance.now() - at;
		await ended;
		if (i >= 0) console.log((took * 1000).toFixed(1));
	}
}

async function rate() {
	let done = 0;
	begin = performance.now();
	await Promise.all(Array.from({ length: 16 }, async () => {
		for (; performance.now() - begin < seconds * 1000; done++)
			if ((await started()).stdout !== 'text\n') throw new Error('another text');
	}));
	console.log(((done * 1000) / (performance.now() - begin)).toFixed(1));
}

globalThis.memory = Array.from({ length: mib / 256 }, () => Buffer.alloc(1 << 28, 1));
(what === 'blocked' ? blocked() : rate()).then(() => process.exit());
