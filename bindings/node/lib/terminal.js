// SPDX-License-Identifier: MIT
// This process's end of a child's terminal.
'use strict';
const { ReadStream } = require('node:tty');
const { getSystemErrorName } = require('node:util');

// Duplex. Reading fails with EIO when no process has the terminal any more, which is its end.
class Terminal extends ReadStream {
	#resize;

	constructor(fd, resize) {
		super(fd);
		this.#resize = resize;
	}

	destroy(error, callback) {
		if (error?.code !== 'EIO') return super.destroy(error, callback);
		this.once('end', () => super.destroy());
		this.push(null);
		this.read(0);
		return this;
	}

	// The size in characters; the child's foreground processes get SIGWINCH.
	resize(columns, rows) {
		const error = this.destroyed ? 0 : this.#resize(rows, columns);
		if (error < 0) throw new Error(`aspawn: the terminal is not resized: ${getSystemErrorName(error)}`);
	}
}
exports.Terminal = Terminal;
