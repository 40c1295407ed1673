# SPDX-License-Identifier: MIT
# Which lines and conditions of the library its tests reach. COVERAGE, the compiler's options for
# it, is set in the make that builds for coverage, below BUILD_DIR/coverage.
COVERAGE ?=
counted := $(BUILD_DIR)/coverage
counting := -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -fprofile-update=atomic -DPSYS_NO_PROFILE=

.PHONY: coverage
coverage: ## lines and conditions of the library that the suite reaches, and with fault injection: 5 minutes. FAULTS= without
	$(MAKE) suite $(counted)/faults/scenarios BUILD_DIR=$(counted) CC=clang-19 CFLAGS='-O1 -gdwarf-4' COVERAGE='$(counting)'
	BUILD_DIR=$(counted) test/prove -v test/proofs/coverage/coverage.py :: $(if $(filter undefined,$(origin FAULTS)),--faults)

ifneq ($(COVERAGE),)
$(objects): private core += $(COVERAGE)
$(image): image_compiler := test/proofs/coverage/image-cc
$(suite) $(faults): private LDFLAGS += -Wl,--wrap=main,-T,test/proofs/coverage/counters.ld
$(suite): $(suite).counters.o
$(faults): $(faults).counters.o
%.counters.o: test/proofs/coverage/counters.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(suite_flags) -ffreestanding '-DCOUNTERS="$(abspath $*).counts"' -c $< -o $@
endif
