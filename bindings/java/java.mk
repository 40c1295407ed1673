# SPDX-License-Identifier: MIT

.PHONY: bindings-java bench-java bench-bindings
bindings-java: amalgamation ## the jar for Java: BUILD_DIR/bindings/java
	bindings/java/pack $(BUILD_DIR)

bench-bindings: bench-java

bench-java: bindings-java
	bindings/java/bench
