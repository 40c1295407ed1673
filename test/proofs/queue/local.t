#!/bin/sh
# SPDX-License-Identifier: MIT
# JOBS random jobs in this process; QUEUE_MODEL is a build of model.c with a sanitizer.
exec "${QUEUE_MODEL:-${BUILD_DIR:-build}/test/proofs/queue/model}" "${BUILD_DIR:-build}/test/proofs/queue/child" \
	local "${JOBS:-5000}"
