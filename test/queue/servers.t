#!/bin/sh
# SPDX-License-Identifier: MIT
# JOBS random jobs of three servers, one of which is killed now and then.
SERVERS=3 exec "${BUILD_DIR:-build}/test/queue/model" "${BUILD_DIR:-build}/test/queue/child" \
	"${JOBS:-5000}"
