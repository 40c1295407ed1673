// SPDX-License-Identifier: MIT
// This process's end of a child's terminal.
'use strict';
const { readSync, writeSync } = require('node:fs');
const { ReadStream } = require('node:tty');
const { integer, systemError } = require('./operands.js');

const AGAIN_MS = 5; // until a terminal that was full is asked again

// Duplex. Reading fails with EIO when no process has the terminal any more, which is its end. The
// descriptor does not block.
class Terminal extends ReadStream {
	#resize;

	constructor(fd, resize) {
		super(fd);
		this.#resize = resize;
		this._writev = null; // nor that of Socket
	}

	// libuv's write would wait for the program, which may wait until this process reads.
	_write(chunk, encoding, callback) {
		// which knows the error
		if (!this._handle) return super._write(chunk, encoding, callback);
		const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
		let count = 0;
		try {
			count = writeSync(this._handle.fd, bytes);
		} catch (error) {
			if (error.code !== 'EAGAIN') return callback(error);
		}
		if (count === bytes.length) callback();
		else setTimeout(() => this._write(bytes.subarray(count), encoding, callback), AGAIN_MS);
	}

	// libuv takes a hang-up for the end, when the kernel may have more.
	push(chunk, encoding) {
		if (chunk === null) for (let rest; (rest = this.#rest()).length; ) super.push(rest);
		return super.push(chunk, encoding);
	}

	#rest() {
		const buffer = Buffer.allocUnsafe(4096);
		try {
			return buffer.subarray(0, readSync(this._handle.fd, buffer));
		} catch {
			return '';
		}
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
		const error = this.destroyed ? 0 : this.#resize(integer(rows, 'rows'), integer(columns, 'columns'));
		if (error < 0) throw systemError(error, 'the terminal is not resized');
	}
}
exports.Terminal = Terminal;
