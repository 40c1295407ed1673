# SPDX-License-Identifier: MIT

.PHONY: rock
rock: $(amalgamation)/aspawn.c ## the rock for Lua: BUILD_DIR/rocks
	bindings/lua/pack $(BUILD_DIR)/rocks
