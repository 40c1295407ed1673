# SPDX-License-Identifier: MIT

# PYTHON=python3.12 for another one, with setuptools and wheel.
.PHONY: wheel bench-python bench-bindings
wheel: ## the Python package, packed: a wheel and a source archive in BUILD_DIR/python
	bindings/python/pack $(BUILD_DIR)/python

bench-bindings: bench-python ## how long a start blocks its caller, by the packages and by what the languages have

bench-python:
	bindings/python/bench
