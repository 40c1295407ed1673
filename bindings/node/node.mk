# SPDX-License-Identifier: MIT

.PHONY: bindings-node bench-node chart-node bench-bindings
bindings-node: amalgamation ## the npm package, packed and installed: BUILD_DIR/bindings/node
	bindings/node/pack $(BUILD_DIR)

bench-bindings: bench-node

bench-node: bindings-node
	bindings/node/bench

chart-node: ## bindings/node/delay.svg, of the last bench-node
	gnuplot -e "data='$(BUILD_DIR)/bindings/node/delay.dat'" bindings/node/delay.gnuplot >bindings/node/delay.svg
