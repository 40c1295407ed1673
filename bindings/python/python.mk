# SPDX-License-Identifier: MIT

# PYTHON=python3.12 for another one, with setuptools and wheel.
.PHONY: wheel
wheel: ## the Python package, packed: a wheel and a source archive in BUILD_DIR/python
	bindings/python/pack $(BUILD_DIR)/python
