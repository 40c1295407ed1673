# SPDX-License-Identifier: MIT

.PHONY: bindings-go
bindings-go: amalgamation ## the Go module: BUILD_DIR/bindings/go
	bindings/go/pack $(BUILD_DIR)
