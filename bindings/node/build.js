// SPDX-License-Identifier: MIT
// Compiles the addon with the C compiler of the machine: npm runs this at installation.
'use strict';
const { execFileSync } = require('node:child_process');
const { mkdirSync } = require('node:fs');
const { join } = require('node:path');

const to = join(__dirname, 'build');
const source = join(__dirname, 'src');
const compiler = (process.env.CC || 'cc').split(' ');
const image = join(to, 'aspawn-image');
const flags = (process.env.CFLAGS || '-O2').split(' ').filter(Boolean);
mkdirSync(to, { recursive: true });

// The program that a child of another user executes first; without it the memory is copied.
function linksImage() {
	const options = '-Os -std=gnu11 -g0 -w -ffreestanding -fno-stack-protector -ffunction-sections \
-fno-asynchronous-unwind-tables -fno-pic -static -nostdlib -no-pie';
	const script = join(source, 'aspawn-image.ld');
	try {
		execFileSync(
			compiler[0],
			[
				...compiler.slice(1),
				...options.split(' '),
				`-Wl,--gc-sections,--build-id=none,--no-eh-frame-hdr,-s,-T,${script}`,
				'-o',
				image,
				...['aspawn-image.c', 'aspawn-image.S'].map((name) => join(source, name)),
			],
			{ stdio: 'ignore' },
		);
		return true;
	} catch {
		return false;
	}
}

try {
	execFileSync(
		compiler[0],
		[
			...compiler.slice(1),
			...flags,
			'-std=gnu11',
			'-fPIC',
			'-shared',
			'-fvisibility=hidden',
			'-Wall',
			'-Wextra',
			...(linksImage() ? [`-DASPAWN_IMAGE="${image}"`] : []),
			'-I',
			require('node-api-headers').include_dir,
			'-o',
			join(to, 'aspawn.node'),
			...['addon.c', 'arguments.c', 'queue.c', 'aspawn.c', 'aspawn.S'].map((name) => join(source, name)),
		],
		{ stdio: 'inherit' },
	);
} catch (error) {
	console.error(`aspawn needs a C compiler (${compiler[0]}): apt-get install gcc libc6-dev`);
	console.error(error.message);
	process.exit(1);
}
