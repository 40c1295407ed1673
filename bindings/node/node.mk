# SPDX-License-Identifier: MIT

.PHONY: bindings-node bench-node bench-bindings
bindings-node: amalgamation ## the npm package, packed and installed: BUILD_DIR/bindings/node
	bindings/node/pack $(BUILD_DIR)

bench-bindings: bench-node

bench-node: bindings-node
	bindings/node/bench
