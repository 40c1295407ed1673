#!/bin/sh
# SPDX-License-Identifier: MIT
# The tool gets a signal at its own system calls: at each with WHOLE=1.
exec "$(dirname "$0")/ends/each_call.py"
