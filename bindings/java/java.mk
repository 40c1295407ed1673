# SPDX-License-Identifier: MIT

.PHONY: bindings-java
bindings-java: amalgamation ## the jar for Java: BUILD_DIR/bindings/java
	bindings/java/pack $(BUILD_DIR)
