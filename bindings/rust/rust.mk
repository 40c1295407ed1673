# SPDX-License-Identifier: MIT

.PHONY: crates
crates: $(amalgamation)/aspawn.c ## the crates aspawn and aspawn-sys, packed: BUILD_DIR/crates
	bindings/rust/pack $(BUILD_DIR)/crates
