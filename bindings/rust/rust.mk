# SPDX-License-Identifier: MIT

.PHONY: crates bench-rust bench-bindings
crates: $(amalgamation)/aspawn.c ## the crates aspawn and aspawn-sys, packed: BUILD_DIR/crates
	bindings/rust/pack $(BUILD_DIR)/crates

bench-bindings: bench-rust

bench-rust:
	bindings/rust/bench
