# SPDX-License-Identifier: MIT

.PHONY: bindings-java bench-java
bindings-java: amalgamation ## the jar for Java: BUILD_DIR/bindings/java
	bindings/java/pack $(BUILD_DIR)

bench-java: bindings-java
	bindings/java/bench
