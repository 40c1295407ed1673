#!/bin/sh
# SPDX-License-Identifier: MIT
# Random commands and jobs for SECONDS_OF_MODEL: those from the number SEED on, at most COUNT.
exec "${BUILD_DIR:-build}/test/proofs/model/model" "${SECONDS_OF_MODEL:-20}" ${SEED:+"$SEED" ${COUNT:+"$COUNT"}}
