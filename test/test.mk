# Tests, a target for each kind. All speak TAP; prove runs them.

suite_sources := $(sort $(filter-out test/suite/freestanding.c,$(wildcard test/suite/*.c)))
suite_flags = $(common) -Wno-missing-field-initializers

# The suite with no libc: what an emulator and a bare kernel run.
suite := $(BUILD_DIR)/suite
.PHONY: suite
suite: $(suite)
$(suite): $(patsubst test/%.c,$(BUILD_DIR)/test/%.o,$(suite_sources) test/suite/freestanding.c) \
		$(BUILD_DIR)/syscall/start.o $(archive)
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^

$(BUILD_DIR)/test/suite/%.o: test/suite/%.c
	@mkdir -p $(@D)
	$(CC) $(suite_flags) -ffreestanding -fno-stack-protector $(or $($(arch).position),-fno-pic) $($(arch).cflags) $(CFLAGS) -c $< -o $@

$(BUILD_DIR)/syscall/start.o: syscall/arch/$(arch)/start.S
	@mkdir -p $(@D)
	$(CC) $(target) -Iinclude -gdwarf-4 -c $< -o $@

# The same beside a libc, with what needs one. SANITIZE=address,undefined
hosted := $(BUILD_DIR)/suite-hosted
$(hosted): $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(suite_sources) $(wildcard test/hosted/*.c)) $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

$(BUILD_DIR)/test/with-libc/compat/%.o: suite_flags += -Icompat/include
$(BUILD_DIR)/test/with-libc/%.o: test/%.c
	@mkdir -p $(@D)
	$(CC) $(suite_flags) $(if $(SANITIZE),,-fstack-protector-all) $(CFLAGS) $(sanitize) -c $< -o $@

cplusplus := $(BUILD_DIR)/test/cplusplus
$(cplusplus): test/hosted/cplusplus.cc $(archive)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -Iinclude -Wall -Wextra -Wpedantic $(WERROR) $(CFLAGS) $(sanitize) $^ $(linker) $(LDFLAGS) -o $@

export BUILD_DIR CC

.PHONY: test test-suite test-hosted test-checks
test: test-suite test-hosted test-checks test-examples ## the suite without and with a libc, the checks of what is built, the examples

test-suite: $(suite) ## the suite, with no libc
	prove --exec '' $(abspath $(suite))

test-hosted: $(hosted) $(cplusplus) ## the suite beside a libc; SANITIZE=address,undefined
	prove --exec '' $(abspath $(hosted)) $(abspath $(cplusplus))

test-checks: all ## what the libraries contain, what install installs, the layering
	prove $(wildcard test/checks/*.t)

# As long as SECONDS says, in a directory of its own.
SECONDS ?= 60
.PHONY: fuzz
fuzz: $(BUILD_DIR)/fuzz/commands ## random commands, for SECONDS=60
	mkdir -p $(BUILD_DIR)/fuzz/work && cd $(BUILD_DIR)/fuzz/work && ../commands -max_total_time=$(SECONDS) -max_len=512 -print_final_stats=1 \
		-artifact_prefix=../

$(BUILD_DIR)/fuzz/commands: test/fuzz/commands.cc $(sources)
	@mkdir -p $(@D)
	$(MAKE) $(BUILD_DIR)/fuzz/library/libaspawn.a BUILD_DIR=$(BUILD_DIR)/fuzz/library SANITIZE=fuzzer-no-link,address,undefined CFLAGS='-O1 -g'
	clang++ -fuse-ld=lld -std=c++17 -Iinclude -Wall -Wextra -O1 -g -fsanitize=fuzzer,address,undefined $< $(BUILD_DIR)/fuzz/library/libaspawn.a -o $@

.PHONY: check-all test-compilers test-sanitized
check-all: test test-faults-all test-compat test-compat-newer-libc test-programs-notice test-compilers test-sanitized fuzz test-emulated test-kernels test-headers lint ## everything
test-compilers: ## the suite by clang 14, clang 19 and gcc 12, at -O0, -O2 and -flto
	prove --timer -v test/compilers.t

test-sanitized: ## the suite under ASan and UBSan
	$(MAKE) test-hosted test-compat-linked SANITIZE=address,undefined BUILD_DIR=$(BUILD_DIR)/sanitized CFLAGS='-O1 -g'

# TARGETS="riscv64 s390x" for some only.
.PHONY: test-emulated
test-emulated: cross-all ## the suite of every architecture under qemu-user, where memory is a copy
	SUITE_QUICK=1 prove --timer -j2 --exec test/emulated $(foreach name,$(sort $(TARGETS)),$(BUILD_DIR)/$(name)/suite:$($(name).emulator)$(addprefix :,$($(name).cc)))

# PAIRS="x86_64-on-amd64-5.10" for some only. As root, test/kernels/install first.
.PHONY: test-kernels
test-kernels: cross-all ## the suite as the init of real kernels, under QEMU
	test/kernels/run $(PAIRS)

# As root, test/consumers/install first.
.PHONY: test-consumers
test-consumers: all compat ## projects of CMake, Meson, Zig and make that use the library
	prove --timer test/consumers/consumers.t

.PHONY: test-headers reference
reference: ## have.h and doc/syscalls.md, from the table of system calls
	tools/reference.py have
	tools/reference.py list

test-headers: ## the library's numbers, values and structures against the kernel's headers
	prove --timer test/headers/headers.t

# The drop-ins. What the standard says of the functions is tested with the libc's own
# too: the tests are right if these pass, and the drop-ins are if there is no difference.
compat_harness := $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(addprefix test/suite/,harness.c tools.c filter.c))
standard := $(BUILD_DIR)/suite-standard
$(standard): $(compat_harness) $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(wildcard test/compat/standard*.c)) $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

compat_suite := $(BUILD_DIR)/suite-compat
$(compat_suite): $(compat_harness) $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(wildcard test/compat/*.c)) $(compat) $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

.PHONY: test-compat test-compat-linked test-programs test-programs-notice fuzz-compat
# PROGRAMS="make gawk" for some only. As root, test/programs/install first. The slow first.
PROGRAMS ?= python make perl git php $(filter-out python make perl git php,$(basename $(notdir $(wildcard test/programs/*.t))))
test-programs: $(preload) ## test suites of programs, test by test, without and with the preload
	@rm -rf $(BUILD_DIR)/programs
	prove --timer -j3 $(PROGRAMS:%=test/programs/%.t)
	@cat $(BUILD_DIR)/programs/* 2>/dev/null || true

broken := $(BUILD_DIR)/test/broken.so
$(broken): test/programs/broken.c
	@mkdir -p $(@D)
	$(CC) $(common) $(linker) $(CFLAGS) -fPIC -shared -o $@ $<

test-programs-notice: $(preload) $(broken) ## that each suite of test-programs notices a preload that starts nothing
	BROKEN=$(abspath $(broken)) prove --timer -j3 $(PROGRAMS:%=test/programs/%.t)

# LINES random command lines, by the drop-in and by dash and bash.
LINES ?= 10000
fuzz-compat: $(compat_suite) ## random command lines against dash and bash, random lists against the libc's posix_spawn; LINES=10000
	FUZZ_LINES=$(LINES) $(abspath $(compat_suite)) random_

test-compat-linked: $(compat_suite)
	$(if $(SANITIZE),ASAN_OPTIONS=detect_leaks=0 )prove --exec '' $(abspath $(compat_suite))

# test/compat/fetch first.
.PHONY: test-compat-newer-libc
test-compat-newer-libc: $(preload) ## the drop-ins with the newest packaged libc, and the preload built with the host's
	prove --timer test/compat/newer-libc.t

.PHONY: test-compat-musl
test-compat-musl: ## the drop-ins with musl, by musl-gcc: linked, static and loaded before it
	prove --timer test/compat/musl.t

test-compat: test-compat-linked $(standard) $(preload) all ## the drop-ins, linked and preloaded, and the libc by the same tests
	prove --exec '' $(abspath $(standard))
	LD_PRELOAD=$(abspath $(preload)) prove --exec '' $(abspath $(standard))
	prove test/compat/drop-ins.t
	$(MAKE) test-compat-musl test-programs
	SUITE_QUICK=1 prove --exec test/emulated $(abspath $(compat_suite)):qemu-$(shell uname -m)-static

# SCENARIOS="run system" for some only.
.PHONY: test-faults test-faults-all
faults := $(BUILD_DIR)/faults/scenarios
test-faults: $(faults) ## each system call fails in turn, for each way to use the library
	prove -v test/faults/faults.py :: $(SCENARIOS)

test-faults-all: $(faults) ## the same with all errors, and with second failures
	prove -v test/faults/faults.py :: --all $(SCENARIOS)

$(faults): $(patsubst %,$(BUILD_DIR)/test/with-libc/faults/%.o,harness scenarios) $(compat) $(archive) $(BUILD_DIR)/faults/program
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $(filter-out %/program,$^)

$(BUILD_DIR)/faults/program: $(BUILD_DIR)/test/faults/program.o $(BUILD_DIR)/syscall/start.o $(archive)
	@mkdir -p $(@D)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^
	printf 'exec "%s"\n' $(abspath $@) >$(@D)/script && chmod 755 $(@D)/script

$(BUILD_DIR)/test/faults/%.o: test/faults/%.c
	@mkdir -p $(@D)
	$(CC) $(suite_flags) -ffreestanding -fno-stack-protector -fno-pic $(CFLAGS) -c $< -o $@

$(BUILD_DIR)/test/with-libc/faults/%.o: suite_flags += -Icompat/include
