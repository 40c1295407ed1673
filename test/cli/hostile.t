#!/bin/sh
# SPDX-License-Identifier: MIT
# TREES=200 random trees below aspawn.
exec "$(dirname "$0")/ends/hostile.py"
