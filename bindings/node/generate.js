#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// generate.js PACKAGE: writes to a package what the library's doc/interface.json says. The actions
// and constants are lib/interface.js for JavaScript and lib/interface.d.ts for TypeScript;
// src/actions.h makes actions for the addon (src/arguments.c),
// and src/members.h sets numbers in structures.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const { actions, constants, structures } = JSON.parse(readFileSync(join(__dirname, '../../doc/interface.json')));
const BY = "Made by the library's bindings/node/generate.js from doc/interface.json.";

const offered = actions.filter(({ operands }) => !operands.some(({ role }) => role === 'function' || role === 'word'));
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const list = (of, separator = ', ') => of.filter((word) => word || word === 0).join(separator);
const lines = (of) => of.join('\n');

// Of a kind of operand: the function of lib/operands.js that converts it, and its type. Those of a
// role that is not here are numbers.
const KINDS = {
	descriptor: ['descriptor', 'Descriptor'],
	path: ['path', 'string | Uint8Array | URL'],
	string: ['text', 'string | Uint8Array'],
	signal: ['signal', 'NodeJS.Signals | number'],
	signals: ['signals', 'Iterable<NodeJS.Signals | number>'],
	resource: ['resource', 'Resource | number'],
	limit: ['limit', 'Limit'],
	capability: ['capability', 'Capability | number'],
	flags: ['integer', 'number | bigint'],
	openFlags: ['openFlags', 'OpenFlags | number'],
	unsigned: ['ids', 'Iterable<number>'],
	byte: ['processors', 'Iterable<number>'],
	sock_filter: ['instructions', 'Uint8Array'],
	data: ['instructions', 'Uint8Array'],
};

// What an operand is if it is left out, as all after it.
function defaultOf({ role, name, element, optional }, isFirst) {
	if (optional) return 'null';
	if (name === 'pgid' || name === 'priority' || (role === 'flags' && !isFirst)) return '0';
	if (element === 'unsigned' && !isFirst) return '[]';
	return { mode: 'as.newMode(flags)', hard: 'soft' }[name];
}

// The operands that JavaScript gives, with kind, initial value, and their names there.
function parameters({ operands }) {
	const creates = operands.some(({ name }) => name === 'mode');
	const given = operands
		.filter(({ role }) => role !== 'count' && role !== 'result')
		.map((operand, i) => {
			const { role, element, name } = operand;
			const kind = element ?? (creates && name === 'flags' ? 'openFlags' : role);
			const [of, type] = KINDS[kind] ?? ['integer', 'number'];
			const convert = of === 'integer' && operand.type.includes('64') ? 'long' : of;
			return { name: camel(name), convert, type, initial: defaultOf(operand, i === 0) };
		});
	const required = given.findLastIndex(({ initial }) => initial === undefined);
	return given.map((operand, i) => (i > required ? operand : { ...operand, initial: undefined }));
}

function makes(action, number) {
	const given = parameters(action);
	const takes = given.map(({ name, initial }) => (initial ? `${name} = ${initial}` : name));
	const converted = given.map(({ name, convert }) => `as.${convert}(${name}, '${name}')`);
	return `\t${camel(action.name)}: (${list(takes)}) => new as.Action(${list([number, ...converted])}),`;
}

// A comment of C in terms of JavaScript, at most 100 columns wide.
const macros = new Map(actions.map(({ macro, name }) => [macro, `\`${camel(name)}\``]));
// Of a constant of C: an option is a name, a kind of something a string.
function inJavaScript(constant) {
	const [, kind, name] = constant.match(/^ASPAWN_([A-Z]+)_(.*)/);
	const word = camel(name.toLowerCase());
	return kind === 'COMMAND' ? `\`${word}\`` : kind === 'CAP' ? short(constant) : `\`'${word}'\``;
}
function comment({ text, errors, copies }) {
	const words = list([text, copies && 'Needs memory of its own.', errors && `Errors: ${errors}`], ' ')
		.replace(/(ASPAWN_[A-Z0-9_]+)(\(\))?/g, (word, macro) => macros.get(macro) ?? inJavaScript(macro))
		.replace(/PSYS_/g, '');
	const rows = words.split('\n').flatMap((part) => part.match(/\S(.{0,90}\S)?(?=\s|$)/g) ?? []);
	return rows.length > 1 ? `\t/**\n${lines(rows.map((row) => `\t * ${row}`))}\n\t */\n` : `\t/** ${words} */\n`;
}

function declares(action) {
	const takes = parameters(action).map(({ name, type, initial }) => `${name}${initial ? '?' : ''}: ${type}`);
	const ends = action.operands.filter(({ role }) => role === 'result')
		.map(({ name }) => ` & { readonly ${camel(name)}?: number }`);
	return `${comment(action)}\t${camel(action.name)}(${list(takes)}): Action${ends.join('')};`;
}

// The operands in the order of C, each by its place among those of JavaScript.
function calls({ name, operands }, number) {
	const sizes = { unsigned: 'sizeof(unsigned)', sock_filter: 'sizeof(struct psys_sock_filter)', byte: '1', data: '1' };
	let place = -1;
	const values = operands.map(({ role, name, type, element }, i) => {
		if (role === 'count') return `COUNT(${place}, ${sizes[operands[i - 1].element]})`;
		if (role === 'result') return `PIPE("${camel(name)}")`;
		place++;
		if (element || role === 'signals') return `ARRAY(${place})`;
		return type.includes('*') ? `TEXT(${place})` : `(${type})INTEGER(${place})`;
	});
	return `ACTION(${list([number, name, ...values])})`;
}

// The numbers in a structure, except those that the addon knows.
const numbersIn = (name) => structures.find((structure) => structure.name === `aspawn_${name}`).members
	.filter(({ name, type }) => /^(u?int\w*|unsigned|size_t)$/.test(type) && !/^(size|reserved|input_size|action_count)$/.test(name));
const GIVEN = ['command', 'job', 'queue_options'];

const short = (name) => name.replace(/^(ASPAWN|PSYS)_/, '');
const inGroup = (test) => constants.filter(({ group }) => test(group));
// Node has signals; resources have names of their own.
const own = inGroup((group) => /^(ASPAWN_CAP$|PSYS_(?!SIG$|RLIMIT$|RLIM64$))/.test(group));
const library = inGroup((group) => group.startsWith('aspawn_') && group !== 'aspawn_action_kind');
const resources = inGroup((group) => group === 'PSYS_RLIMIT');
const resourceName = ({ name }) => name.replace('PSYS_RLIMIT_', '').toLowerCase();

// By process.arch, which the library calls otherwise for some.
const ARCHITECTURES = { arm: 'arm', arm64: 'aarch64', ia32: 'i386', loong64: 'loongarch64', mips: 'mips',
	mipsel: 'mips', ppc64: 'powerpc64', riscv64: 'riscv64', s390x: 's390x' };
function entry({ name, value, values }, as = short(name)) {
	const usual = value ?? values.x86_64;
	const others = values ? Object.entries(ARCHITECTURES).filter(([, of]) => values[of] !== usual)
		.map(([here, of]) => `${here}: ${values[of]}`) : [];
	return `\t${as}: ${others.length ? `{ ${list(others)} }[process.arch] ?? ${usual}` : usual},`;
}
const names = (group) => list(inGroup((name) => name === group).filter(({ text }) => !text.startsWith('reserved'))
	.map(({ name }) => `'${name.split('_').pop().toLowerCase()}'`), ' | ');

const files = {
	'lib/interface.js': `// SPDX-License-Identifier: MIT
// ${BY}
'use strict';
const as = require('./operands.js');

exports.action = {
${lines(offered.map((action, i) => makes(action, i + 1)))}
};

exports.constants = {
${lines(own.map((constant) => entry(constant)))}
};

// Of setrlimit(2).
Object.assign(as.resource.numbers, {
${lines(resources.map((constant) => entry(constant, resourceName(constant))))}
});
Object.assign(as.capability.numbers, exports.constants);

// ASPAWN_...
exports.library = {
${lines(library.map((constant) => entry(constant)))}
};

// The numbers of a structure as an array, of an object with those that are not 0: src/members.h.
${lines(GIVEN.map((name) =>
	`exports.${camel(name)} = (of) => [${list(numbersIn(name).map((member) => `of.${camel(member.name)} ?? 0`))}];`))}
`,
	'lib/interface.d.ts': `// SPDX-License-Identifier: MIT
// ${BY}
import type { Action, Capability, Descriptor, Limit, OpenFlags } from '../index.js';

export type Resource = ${list(resources.map((constant) => `'${resourceName(constant)}'`), ' | ')};
/** Whose child the process is. */
export type Owner = ${names('aspawn_owner')};
/** In what memory it begins. */
export type Memory = ${names('aspawn_memory')};

/** What the process does before it executes the program. An error is one of the spawn. */
export const action: {
${lines(offered.map(declares))}
};

/** Numbers for actions. */
export const constants: {
${lines(own.map((constant) => `${comment(constant)}\treadonly ${short(constant.name)}: number;`))}
};
`,
	'src/actions.h': `/* SPDX-License-Identifier: MIT */
/* ${BY} */
${lines(offered.map((action, i) => calls(action, i + 1)))}
`,
	'src/members.h': `/* SPDX-License-Identifier: MIT */
/* ${BY} */
${lines(GIVEN.map((name) => `static inline void set_${name}(napi_env env, napi_value numbers, struct aspawn_${name} *to)
{
${lines(numbersIn(name).map((member, i) => `	to->${member.name} = (${member.type})integer(env, element(env, numbers, ${i}));`))}
}
`))}
static inline void give_result(napi_env env, napi_value to, const struct aspawn_result *result)
{
${lines(numbersIn('result').map(({ name }) => `	set_number(env, to, "${camel(name)}", (double)result->${name});`))}
}
`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(process.argv[2], name), text);
