# SPDX-License-Identifier: MIT

.PHONY: bindings-go bench-go
bindings-go: amalgamation ## the Go module: BUILD_DIR/bindings/go
	bindings/go/pack $(BUILD_DIR)

bench-go: bindings-go
	bindings/go/bench
