// SPDX-License-Identifier: MIT
// build.js: what npm runs at installation; compiles the addon on Linux, unless the package's own is
// for this machine. It never fails: without an addon the package uses child_process, and says so.
// build.js TO: compiles it to the file TO. With the C compiler CC (cc) and CFLAGS (-O2).
'use strict';
const { execFileSync, spawnSync } = require('node:child_process');
const { mkdirSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

const to = process.argv[2] ?? join(__dirname, 'build/aspawn.node');
const source = join(__dirname, 'src');
const image = join(dirname(to), 'aspawn-image');
const core = readFileSync(join(source, 'cflags'), 'utf8').match(/^-.*/gm);
const [compiler, ...options] = (process.env.CC || 'cc').split(' ');
options.push(...(process.env.CFLAGS || '-O2').split(' ').filter(Boolean));

// The program that a child of another user executes first; without it the memory is copied.
function makesImage() {
	const script = join(source, 'aspawn-image.sh');
	return spawnSync('sh', [script, image, compiler, ...options], { stdio: 'ignore' }).status === 0;
}

function isThere() {
	try {
		return !!require(`./prebuilds/linux-${process.arch}/aspawn.node`);
	} catch {
		return false;
	}
}

function build() {
	mkdirSync(dirname(to), { recursive: true });
	const hasImage = makesImage();
	options.push(
		...['-std=gnu11', ...core, '-fPIC', '-Wall', '-Wextra'],
		// Node unloads the addons of a worker at its end;
		// helpers and children still run this one's code.
		...'-shared -nostdlib -Wl,-s,-z,noexecstack,-z,nodelete'.split(' '),
		...['-I', require('node-api-headers').include_dir, '-o', to],
		...['addon.c', 'arguments.c', 'queue.c', 'aspawn.c', 'aspawn.S'].map((name) => join(source, name)),
		'-lgcc',
	);
	if (hasImage) options.push(`-DASPAWN_IMAGE="${image}"`);
	execFileSync(compiler, options, { stdio: 'inherit' });
}

const isWanted = process.platform === 'linux' && (process.env.npm_config_build_from_source || !isThere());
try {
	if (process.argv[2] || isWanted) build();
} catch (error) {
	console.error(`aspawn: the addon is not compiled: ${error.message}`);
	if (process.argv[2]) process.exitCode = 1;
}
