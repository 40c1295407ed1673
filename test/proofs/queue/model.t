#!/bin/sh
# SPDX-License-Identifier: MIT
# JOBS random jobs, while their server is killed now and then.
exec "${BUILD_DIR:-build}/test/proofs/queue/model" "${BUILD_DIR:-build}/test/proofs/queue/child" "${JOBS:-5000}"
