#!/bin/sh
# SPDX-License-Identifier: MIT
# A binding for another language: Python and its ctypes, without a compiler.
command -v python3 >/dev/null || {
	echo "1..0 # SKIP no python3"
	exit 0
}
exec python3 "$(dirname "$0")/binding.py" "${BUILD_DIR:-build}/libaspawn.so"
