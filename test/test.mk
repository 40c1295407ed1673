# SPDX-License-Identifier: MIT
# Tests, a target for each kind. All speak TAP; test/prove runs them and says what failed and what
# was skipped, of several targets by $(summary), whichever of them fails.

suite_sources := $(sort $(filter-out test/suite/freestanding.c,$(wildcard test/suite/*.c test/suite/*/*.c)))
suite_flags = $(common) -Itest/suite -Wno-missing-field-initializers

# The suite with no libc: what an emulator and a bare kernel run.
suite := $(BUILD_DIR)/suite
.PHONY: suite
suite: $(suite)
$(suite): $(patsubst test/%.c,$(BUILD_DIR)/test/%.o,$(suite_sources) test/suite/freestanding.c) \
		$(BUILD_DIR)/syscall/start.o $(archives)
	$(making)
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^ $(libgcc)

$(BUILD_DIR)/test/suite/%.o: test/suite/%.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(suite_flags) -ffreestanding -fno-stack-protector $(or $($(arch).position),-fno-pic) $($(arch).cflags) -c $< -o $@

$(BUILD_DIR)/syscall/start.o: syscall/arch/$(arch)/start.S $(built)
	@mkdir -p $(@D)
	$(CC) $(target) -Iinclude -gdwarf-4 $(prefix_maps) -c $< -o $@

# The same beside a libc, with what needs one. SANITIZE=address,undefined
hosted := $(BUILD_DIR)/suite-hosted
$(hosted): $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(suite_sources) $(wildcard test/hosted/*.c)) $(archives)
	$(making)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

$(BUILD_DIR)/test/with-libc/compat/%.o: suite_flags += -Icompat/popen_noshell/include
$(BUILD_DIR)/test/with-libc/%.o: test/%.c $(built)
	@mkdir -p $(@D)
	$(CC) $(suite_flags) $(if $(SANITIZE),,-fstack-protector-all) $(CFLAGS) $(sanitize) -c $< -o $@

cplusplus := $(BUILD_DIR)/test/cplusplus
$(cplusplus): test/hosted/cplusplus.cc $(archive)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -Iinclude -Wall -Wextra -Wpedantic $(WERROR) $(CFLAGS) $(sanitize) $^ $(linker) $(LDFLAGS) -o $@

export BUILD_DIR CC
summary = +@test/prove --summary $(MAKE) --no-print-directory

# ONLY="ffi install" for some only. Ffi is for tools alone.
ONLY ?= $(filter-out $(if $(TOOLCHAINS),,ffi),$(basename $(notdir $(wildcard test/checks/*.t))))
checks := $(ONLY:%=test/checks/%.t)
users := $(wildcard test/users/*.t test/users/examples/*.t)
documents := test/users/documents/documents.t

# All at once, as the suites sleep most of the time.
.PHONY: test test-suite test-trees test-hosted test-checks test-documents test-users
test: $(suite) $(hosted) $(cplusplus) all compat examples ## the suite without and with a libc, the checks of what is built, the examples, the documents
	SUITE_TREES=600 test/prove --timer -j3 --exec '' \
		'$(abspath $(suite))' '$(abspath $(hosted))' '$(abspath $(cplusplus))' \
		test/proofs/model/model.t $(checks) $(documents) $(users)

test-suite: $(suite) ## the suite, with no libc
	SUITE_TREES=1000 test/prove --exec '' '$(abspath $(suite))'

# TREES=100000, SEED=1 for others.
test-trees: $(suite) ## 10 000 hostile trees: two minutes
	SUITE_TREES=$(or $(TREES),10000) SUITE_SEED=$(or $(SEED),10000) SUITE_PATIENT=1 \
		test/prove --exec '' '$(abspath $(suite))' :: hostile_trees_end_as_a_whole a_tracer_outside_holds

# RUNS=200, STRESS='stress-ng...', or empty for nothing beside.
# What failed is kept in BUILD_DIR/repeated.
.PHONY: test-suite-repeated
test-suite-repeated: $(suite) ## the suite RUNS=200 times, two copies at a time, with stress-ng beside: an hour
	$(if $(RUNS),RUNS=$(RUNS) )test/prove --timer -v test/repeated.t :: '$(abspath $(suite))'

test-hosted: $(hosted) $(cplusplus) ## the suite beside a libc; SANITIZE=address,undefined
	test/prove --exec '' '$(abspath $(hosted))' '$(abspath $(cplusplus))'

# WAYS="setsid nohup" for some only.
ways := $(BUILD_DIR)/test/cli/ways
$(ways): test/cli/ends/ways.c $(built)
	@mkdir -p $(@D)
	$(CC) $(common) $(linker) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $<

entry := $(BUILD_DIR)/test/cli/entry
$(BUILD_DIR)/test/cli/ends/entry.o: test/cli/ends/entry.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(suite_flags) -ffreestanding -fno-stack-protector -fno-pic -c $< -o $@

$(entry): $(BUILD_DIR)/test/cli/ends/entry.o $(BUILD_DIR)/syscall/start.o $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^

# TREES=100000, SEED=1 for others.
.PHONY: test-ends test-cli-whole
test-cli-whole: $(cli) $(ways) $(entry) ## test-cli with 10 000 hostile trees, a signal at each system call, 1 GiB, a minute of quiet
	WHOLE=1 TREES=$(or $(TREES),10000) SEED=$(or $(SEED),10000) test/prove --timer $(sort $(wildcard test/cli/*.t))

test-cli: $(ways) $(entry)
test-ends: $(cli) $(ways) ## what survives aspawn, timeout(1) and others, in 70 ways, as the table of doc/ends.md: 3 minutes
	test/cli/ends/ends.py --table $(WAYS)

# JOBS=100000 for more.
JOBS ?= 5000
queue_child := $(BUILD_DIR)/test/proofs/queue/child
queue_model := $(BUILD_DIR)/test/proofs/queue/model
$(BUILD_DIR)/test/proofs/queue/child.o: test/proofs/queue/child.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(suite_flags) -ffreestanding -fno-stack-protector -fno-pic -c $< -o $@

$(queue_child): $(BUILD_DIR)/test/proofs/queue/child.o $(BUILD_DIR)/syscall/start.o $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^

$(queue_model): $(BUILD_DIR)/test/with-libc/proofs/queue/model.o $(archive)
	@mkdir -p $(@D)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

.PHONY: test-queue test-queue-races
test-queue: $(queue_model) $(queue_child) ## random jobs of 8 threads against a model, while the server is killed: JOBS=5000
	JOBS=$(JOBS) test/prove --timer test/proofs/queue/model.t test/proofs/queue/local.t

test-queue-races: $(queue_child) ## the same in one process, under ThreadSanitizer
	$(MAKE) $(BUILD_DIR)/races/test/proofs/queue/model BUILD_DIR=$(BUILD_DIR)/races SANITIZE=thread \
		CFLAGS='-O1 -g' CPPFLAGS=-DASPAWN_QUEUE_VISIBLE
	JOBS=$(JOBS) QUEUE_MODEL=$(abspath $(BUILD_DIR))/races/test/proofs/queue/model test/prove --timer test/proofs/queue/local.t

# SECONDS=3600 for longer. SEED=1 COUNT=1 for one trial, whose number a failure prints.
model := $(BUILD_DIR)/test/proofs/model/model
model_programs := $(addprefix $(BUILD_DIR)/test/proofs/model/,reporter writer)
$(BUILD_DIR)/test/proofs/model/%.o: test/proofs/model/%.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(suite_flags) -ffreestanding -fno-stack-protector -fno-pic -c $< -o $@

$(model_programs): %: %.o $(BUILD_DIR)/test/proofs/model/state.o $(BUILD_DIR)/syscall/start.o $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^

$(model): $(patsubst %,$(BUILD_DIR)/test/with-libc/proofs/model/%.o,main caller commands library by_fork jobs state) $(archive)
	@mkdir -p $(@D)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

test: $(model) $(model_programs)
.PHONY: test-model test-model-longer
test-model: $(model) $(model_programs) ## random commands against a model by fork, and random jobs: SECONDS=20
	SECONDS_OF_MODEL=$(or $(SECONDS),20) test/prove --timer test/proofs/model/model.t

test-model-longer:
	$(MAKE) test-model SECONDS=300

# MODELS="stack weak" for some only; WHOLE=1 for all states of the queue's.
.PHONY: test-models
test-models: ## models of the protocols, and their mutants, by spin: a minute
	test/prove --timer -v test/proofs/models/models.py$(if $(MODELS), :: $(MODELS))

# TOOLCHAINS=1: what a missing compiler or tool leaves out is a skip.
test-checks: all $(BUILD_DIR)/syscall/start.o ## what the libraries contain, what install installs, the layering
	test/prove -j2 $(checks)

test-documents: all compat $(BUILD_DIR)/syscall/start.o ## the programs and fragments that README.md and the man pages show
	test/prove $(documents)

# Gcc 12, clang 14 and 19, gcc for other architectures, Universal Ctags, bindgen, rustc, and for
# Python cffi, clang and jsonschema.
.PHONY: test-toolchains
test-toolchains: ## test-checks and test-documents, with the compilers and tools that README does not install
	$(summary) TOOLCHAINS=1 -- test-checks test-documents

# As root, with debootstrap. MATRIX=all for all combinations, and for a load, in more than an hour.
.PHONY: test-readme
test-readme: ## the commands that README.md begins with, on a bare Debian 12 and 13, as root in a container and as a user
	test/prove --timer test/packages/bare/readme.t

test-users: examples ## a binding for another language, and the examples with real commands
	test/prove --timer $(users)

# SECONDS=20 for all targets together; test/proofs/fuzz/build.sh builds them.
.PHONY: fuzz test-fuzz-corpus
fuzz: ## random inputs for what test/proofs/fuzz lists, for SECONDS=60; before that the inputs of test-fuzz-corpus
	SECONDS_OF_ALL=$(or $(SECONDS),60) test/prove --timer -v test/proofs/fuzz/fuzz.t

test-fuzz-corpus: ## what fuzzing has found, and what reaches most: seconds
	test/prove --timer test/proofs/fuzz/fuzz.t

.PHONY: check-all test-build test-compilers test-sanitized
check-all: ## everything
	$(summary) TOOLCHAINS=1 MATRIX=all RUNS=5 -- test test-suite-repeated test-trees test-model-longer test-build test-queue test-queue-races test-cli-whole test-models test-amalgamation test-dist test-release test-release-bare test-site test-consumers test-bindings test-bindings-suites test-abi test-debian test-recipes test-faults-all test-instants coverage test-compat test-compat-newer-libc test-programs-notice test-ports test-monitoring test-compilers test-sanitized fuzz test-emulated test-kernels test-systemd test-go-arm64 test-headers test-readme lint analyze

test-build: ## make and make install with other compilers, users, settings and paths
	test/prove --timer -v test/packages/build.t

test-compilers: ## the suite by clang 14, clang 19 and gcc 12, at -O0, -O2 and -flto
	test/prove --timer -v test/packages/compilers.t

test-sanitized: ## the suite under ASan and UBSan
	$(summary) SANITIZE=address,undefined BUILD_DIR=$(BUILD_DIR)/sanitized CFLAGS='-O1 -g' -- test-hosted test-compat-linked

# TARGETS="riscv64 s390x" for some only.
.PHONY: test-emulated
test-emulated: cross-all ## the suite of every architecture under qemu-user, where memory is a copy
	SUITE_QUICK=1 test/prove --timer -j2 --exec test/machines/emulated $(foreach name,$(sort $(TARGETS)),$(BUILD_DIR)/$(name)/suite:$($(name).emulator)$(addprefix :,$($(name).cc)))

# PAIRS="x86_64-on-amd64-5.10" for some only. As root, test/machines/kernels/install first.
.PHONY: test-kernels test-kernels-newest
test-kernels: cross-all $(BUILD_DIR)/cli/aspawn ## the suite as the init of real kernels, under QEMU
	test/machines/kernels/run $(PAIRS)

# CI boots the oldest kernel, and the newest of four architectures that differ most: two have pages
# of 64 KiB or another byte order.
newest := x86_64-on-amd64-5.10 x86_64-on-amd64-new aarch64-on-arm64-new ppc64le-on-ppc64el-64k s390x-on-s390x-new
.PHONY: cross-newest
booted := $(sort $(foreach pair,$(newest),$(firstword $(subst -on-, ,$(pair)))))
cross-newest: # what test-kernels-newest boots, for CI while one of its processors idles
	$(MAKE) cross-all TARGETS='$(booted)'

test-kernels-newest: ## test-kernels for five kernels, most of them the newest
	$(MAKE) test-kernels PAIRS='$(newest)' TARGETS='$(booted)'

# As root, with debootstrap, test/machines/kernels/install first. SUITES=trixie for one.
SUITES ?= bookworm trixie
.PHONY: test-systemd
test-systemd: $(cli) ## the cgroups of the command aspawn below systemd, as a user and as root, in guests under QEMU
	test/machines/kernels/fetch x86_64-on-amd64-6.1 x86_64-on-amd64-6.12
	test/prove --timer -j2 --exec test/machines/systemd/boot $(SUITES)

# As root, test/machines/kernels/install first.
.PHONY: test-go-arm64
test-go-arm64: bindings-go ## the tests of the Go module on arm64, in a guest under QEMU
	test/machines/kernels/fetch aarch64-on-arm64-new
	test/prove --timer test/machines/go-arm64.t

# The other architectures that many machines have. Check-all has all.
emulated := arm i386 loongarch64 mipsel riscv64
.PHONY: test-emulated-rest
test-emulated-rest: ## test-emulated for common targets that test-kernels-newest does not boot
	$(MAKE) test-emulated TARGETS='$(emulated)'

# As root, test/packages/consumers/install first.
.PHONY: test-consumers
test-consumers: all compat ## projects of CMake, Meson, Zig and make, and users' programs
	test/prove --timer test/packages/consumers/users.t test/packages/consumers/consumers.t

.PHONY: test-headers reference
reference: ## what the headers say elsewhere: have.h, doc/syscalls.md, doc/interface.json, the manual
	tools/reference.py have
	tools/reference.py list
	tools/interface.py
	tools/derive.py

test-headers: ## the library's numbers, values and structures against the kernel's headers
	test/prove --timer test/machines/headers/headers.t

# The drop-ins. What the standard says of the functions is tested with the libc's own
# too: the tests are right if these pass, and the drop-ins are if there is no difference.
compat_harness := $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(addprefix test/suite/,harness.c tools.c filter.c))
standard := $(BUILD_DIR)/suite-standard
$(standard): $(compat_harness) $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(wildcard test/compat/standard*.c)) $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

compat_suite := $(BUILD_DIR)/suite-compat
$(compat_suite): $(compat_harness) $(patsubst test/%.c,$(BUILD_DIR)/test/with-libc/%.o,$(wildcard test/compat/*.c)) $(compat) $(archive)
	$(making)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $^

.PHONY: test-compat test-compat-linked test-programs test-programs-notice fuzz-compat
# PROGRAMS="make gawk" for some only. As root, test/users/programs/install first. The slow first.
PROGRAMS ?= python make perl git php $(filter-out python make perl git php,$(basename $(notdir $(wildcard test/users/programs/*.t))))
test-programs: $(preload) ## test suites of programs, test by test, without and with the preload
	@rm -rf $(BUILD_DIR)/programs
	test/prove --timer -j3 $(PROGRAMS:%=test/users/programs/%.t)
	@cat $(BUILD_DIR)/programs/* 2>/dev/null || true

broken := $(BUILD_DIR)/test/broken.so
$(broken): test/users/programs/broken.c
	@mkdir -p $(@D)
	$(CC) $(common) $(linker) $(CFLAGS) -fPIC -shared -o $@ $<

test-programs-notice: $(preload) $(broken) ## that each suite of test-programs notices a preload that starts nothing
	BROKEN=$(abspath $(broken)) test/prove --timer -j3 $(PROGRAMS:%=test/users/programs/%.t)

# LINES random command lines, by the drop-in and by dash and bash.
LINES ?= 10000
fuzz-compat: $(compat_suite) ## random command lines against dash and bash, random lists against the libc's posix_spawn; LINES=10000
	FUZZ_LINES=$(LINES) $(abspath $(compat_suite)) random_

test-compat-linked: $(compat_suite)
	$(if $(SANITIZE),ASAN_OPTIONS=detect_leaks=0 )test/prove --exec '' '$(abspath $(compat_suite))'

# test/compat/fetch first.
.PHONY: test-compat-newer-libc
test-compat-newer-libc: $(preload) ## the drop-ins with the newest packaged libc, and the preload built with the host's
	test/prove --timer test/compat/newer-libc.t

.PHONY: test-compat-musl
test-compat-musl: ## the drop-ins with musl, by musl-gcc: linked, static and loaded before it
	test/prove --timer test/compat/musl.t

test-compat: ## the drop-ins, linked and preloaded, and the libc by the same tests
	$(summary) -- test-compat-all

.PHONY: test-compat-all
test-compat-all: test-compat-linked $(standard) $(preload) all
	test/prove --exec '' '$(abspath $(standard))'
	LD_PRELOAD='$(abspath $(preload))' test/prove --exec '' '$(abspath $(standard))'
	test/prove test/compat/drop-ins.t
	$(MAKE) test-compat-musl test-programs
	SUITE_QUICK=1 test/prove --exec test/machines/emulated $(abspath $(compat_suite)):qemu-$(shell uname -m)-static

# LANGUAGES="node" for some only. As root, test/packages/bindings/LANGUAGE.install first.
LANGUAGES ?= $(basename $(notdir $(wildcard test/packages/bindings/*.t)))
.PHONY: test-bindings test-bindings-suites
test-bindings: all amalgamation ## the packages for other languages
	test/prove --timer $(LANGUAGES:%=test/packages/bindings/%.t)

# As root, test/packages/bindings/suites/install first.
test-bindings-suites: test-bindings ## the languages' own suites, without and with the package
	WHOLE=1 test/prove --timer test/packages/bindings/node.t test/packages/bindings/python.t $(wildcard test/packages/bindings/suites/*.t)

# RUNTIMES="libuv" for some only. As root, test/users/ports/install first.
RUNTIMES ?= $(basename $(notdir $(wildcard test/users/ports/*.t)))
.PHONY: test-ports bench-ports
test-ports: amalgamation ## runtimes with the patches of bindings/libuv, by their own tests: 5 minutes
	test/prove --timer $(RUNTIMES:%=test/users/ports/%.t)

bench-ports: test-ports ## how long uv_spawn() blocks its caller, with and without the patch
	PEERS=libuv bench/peers/build
	bench/peers/peers.py libuv

# As root, test/users/monitoring/install first. CHECKS=2000 for fewer.
.PHONY: test-monitoring
test-monitoring: examples ## the examples for monitoring, with its plugins, ssh and a job server: a minute and a half
	test/prove --timer $(sort $(wildcard test/users/monitoring/*.t))

# SCENARIOS="run system" for some only.
.PHONY: test-faults test-faults-all
faults := $(BUILD_DIR)/faults/scenarios
test-faults: $(faults) ## each system call fails in turn, for each way to use the library
	test/prove -v test/proofs/faults/faults.py :: $(SCENARIOS)

# Another formatter would show nothing in a file before the end, an hour later.
test-faults-all: $(faults) ## the same with all errors, and with second failures
	test/prove -v --formatter TAP::Formatter::Console test/proofs/faults/faults.py :: --all $(SCENARIOS)

faults_parts := $(patsubst %,$(BUILD_DIR)/test/with-libc/proofs/faults/%.o,harness scenarios) $(compat) $(archive)
$(faults): $(faults_parts) $(BUILD_DIR)/faults/program
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread -o $@ $(filter-out %/program,$^)

$(BUILD_DIR)/faults/program: $(BUILD_DIR)/test/proofs/faults/program.o $(BUILD_DIR)/syscall/start.o $(archive)
	@mkdir -p $(@D)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^
	printf 'exec "%s"\n' $(abspath $@) >$(@D)/script && chmod 755 $(@D)/script

$(BUILD_DIR)/test/proofs/faults/%.o: test/proofs/faults/%.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(suite_flags) -ffreestanding -fno-stack-protector -fno-pic -c $< -o $@

$(BUILD_DIR)/test/with-libc/proofs/faults/%.o: suite_flags += -Icompat/popen_noshell/include

# SCENARIOS="queue user" for some only; INSTANTS=some for a part of the pairs, without mutants.
.PHONY: test-instants
test-instants: $(faults) ## two parties of a start are stopped, or killed, at each pair of their system calls: 3 minutes
	COMPILE='$(CC) $(CFLAGS) $(core)' LINK='$(CC) $(linker) $(CFLAGS) $(LDFLAGS) $(sanitize) -pthread' \
		OBJECTS='$(faults_parts)' test/prove -v test/proofs/instants/instants.py :: $(SCENARIOS)

# As root, test/packages/install first.
.PHONY: test-debian
test-debian: ## the Debian packages: built, checked by lintian, used and purged in a bare system
	test/prove --timer test/packages/debian.t

# test/packages/install first.
.PHONY: test-abi abi-baseline
test-abi: all ## that the libraries fit programs linked with the first version of their soname
	test/prove test/packages/abi/abi.t

abi-baseline: all ## record what test-abi compares with
	for library in $(shared:.so=); do \
		test/packages/abi/record $$library.so test/packages/abi/$${library##*/}-$(SOVERSION).abi || exit 1; done
