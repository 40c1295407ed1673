// SPDX-License-Identifier: MIT
// node -r ./platform.cjs: says PLATFORM in process.platform, and has not what Node lacks there. All else is Linux.
'use strict';
const { PLATFORM } = process.env;
Object.defineProperty(process, 'platform', { value: PLATFORM });
if (PLATFORM === 'win32') {
	process.env.comspec = process.env.ComSpec = '/bin/sh';
	for (const name of Object.keys(process)) if (/^[gs]ete?[ug]id$/.test(name)) delete process[name];
}
