# SPDX-License-Identifier: MIT

.PHONY: bindings-node
bindings-node: amalgamation ## the npm package, packed and installed: BUILD_DIR/bindings/node
	bindings/node/pack $(BUILD_DIR)
