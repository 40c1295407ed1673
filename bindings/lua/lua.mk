# SPDX-License-Identifier: MIT

.PHONY: rock bench-lua
rock: $(amalgamation)/aspawn.c ## the rock for Lua: BUILD_DIR/rocks
	bindings/lua/pack $(BUILD_DIR)/rocks

bench-lua: $(amalgamation)/aspawn.c
	bindings/lua/bench
