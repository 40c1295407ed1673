# SPDX-License-Identifier: MIT
# Benchmarks, by google-benchmark (libbenchmark-dev). Only ratios matter: all ways to start a
# child, or to make a call, are measured in one run of one program.

bench_dir := $(BUILD_DIR)/bench
bench_programs := responsiveness lifetime memory commands descriptors users
bench_run = --benchmark_out_format=json --benchmark_report_aggregates_only=true
syscall_run = $(bench_dir)/syscall $(bench_run) --benchmark_out=$(bench_dir)/syscall.json \
	--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.02

$(bench_dir)/child: bench/child.c $(BUILD_DIR)/syscall/start.o
	@mkdir -p $(@D)
	$(CC) $(linker) -O2 -ffreestanding -static -nostdlib -o $@ $^

$(patsubst %,$(bench_dir)/%,$(bench_programs) waits): $(bench_dir)/%: bench/%.cc bench/ways.cc bench/ways.h bench/host.cc bench/host.h $(archive) $(bench_dir)/child
	$(making)
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $(filter-out %.h %/child,$^) -lbenchmark -pthread

$(bench_dir)/text_busy: bench/text_busy.cc $(archive) $(bench_dir)/child
	$(making)
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $< $(archive) -pthread

$(bench_dir)/queue: bench/queue.cc $(archive) $(bench_dir)/child
	$(making)
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $< $(archive) -pthread

.PHONY: bench-queue
bench-queue: $(bench_dir)/queue ## the queue: submissions in bursts, and commands a second, against a loop by hand and posix_spawn
	$<
	bench/pools.sh $<

$(bench_dir)/starter.o: bench/starter.c $(built)
	@mkdir -p $(@D)
	$(CC) $(common) $(CFLAGS) -ffreestanding -fno-stack-protector -fno-pic -c $< -o $@

$(bench_dir)/starter: $(bench_dir)/starter.o $(BUILD_DIR)/syscall/start.o $(archive)
	$(CC) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^

$(bench_dir)/starter_libc: bench/starter_libc.c
	@mkdir -p $(@D)
	$(CC) $(common) $(linker) $(CFLAGS) -static -o $@ $<

.PHONY: bench-cli
cli_starters := $(bench_dir)/starter_libc $(bench_dir)/starter
bench-cli: $(cli) $(cli_starters) $(bench_dir)/child $(bench_dir)/compat/launch ## a start through the command aspawn, beside programs that fork, execute and wait
	bench/cli.sh $(bench_dir)/compat/launch $(bench_dir)/child $(cli) $(cli_starters)

$(bench_dir)/scaling: bench/scaling.cc $(archive) $(bench_dir)/child
	$(making)
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $< $(archive) -pthread

.PHONY: bench-scaling
bench-scaling: $(bench_dir)/scaling ## what a command costs beside its own work, for doc/scaling.md
	$<

$(bench_dir)/syscall: bench/syscall.cc $(psys)
	$(making)
	@mkdir -p $(@D)
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -o $@ $^ -lbenchmark -pthread

.PHONY: bench bench-syscall bench-built
bench-built: $(patsubst %,$(bench_dir)/%,$(bench_programs) waits syscall text_busy queue scaling)

bench: $(bench_programs:%=$(bench_dir)/%) $(bench_dir)/syscall $(bench_dir)/text_busy ## how long the caller is blocked, the time until the child is reaped, and of a system call: 5 minutes
	$(bench_dir)/responsiveness $(bench_run) --benchmark_out=$(bench_dir)/responsiveness.json \
		--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/lifetime $(bench_run) --benchmark_out=$(bench_dir)/lifetime.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/memory $(bench_run) --benchmark_out=$(bench_dir)/memory.json \
		--benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.03
	$(bench_dir)/commands $(bench_run) --benchmark_out=$(bench_dir)/commands.json \
		--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/descriptors $(bench_run) --benchmark_out=$(bench_dir)/descriptors.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.02
	$(bench_dir)/users $(bench_run) --benchmark_out=$(bench_dir)/users.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.03
	$(syscall_run)
	bench/report.py $(bench_programs:%=$(bench_dir)/%.json) $(bench_dir)/syscall.json
	cd $(bench_dir) && ./text_busy

# demo shows these figures: what differs by much, in seconds. The filters have the names of the
# benchmarks.
brief_dir := $(bench_dir)/brief
brief_run = $(bench_run) --benchmark_out=$(brief_dir)/$(1).json $(2) >$(brief_dir)/output 2>&1 || \
	{ cat $(brief_dir)/output; exit 1; }; bench/report.py --brief $(brief_dir)/$(1).json
.PHONY: bench-memory bench-descriptors
bench-memory: $(bench_dir)/memory ## of bench only how long a caller is blocked that has touched 1 GiB, in seconds
	@mkdir -p $(brief_dir)
	@$(bench_dir)/memory $(call brief_run,memory,--benchmark_repetitions=9 --benchmark_min_time=0.005 --benchmark_enable_random_interleaving=true \
		'--benchmark_filter=^(aspawn|vfork|posix_spawn|fork)/MiB:(0|1024)/')

bench-descriptors: $(bench_dir)/descriptors ## of bench only what 10000 open descriptors cost, in seconds
	@mkdir -p $(brief_dir)
	@$(bench_dir)/descriptors $(call brief_run,descriptors,--benchmark_repetitions=9 --benchmark_min_time=0.01 \
		--benchmark_enable_random_interleaving=true \
		'--benchmark_filter=^(aspawn_start, (closefrom|only_below)|vfork|posix_spawn|posix_spawn, closefrom)/.*descriptors:(0|10000)/')

$(bench_dir)/waits: bench/calls.cc bench/calls.h

# BENCH_QUICK=1 for few starts, in minutes.
# TABLES="load exec real-time group threads" for some only.
BENCH_QUICK ?=
TABLES ?=
waits_file := $(bench_dir)/waits.json
.PHONY: bench-waits bench-waits-guest bench-waits-brief bench-waits-documents
bench-waits: $(bench_dir)/waits ## what a caller waits for: load, slow execs, real time, stopped cgroups, other threads: half an hour
	$< $(if $(BENCH_QUICK),quick,full) $(waits_file) $(TABLES)
	bench/waits.py $(waits_file)

bench-waits-guest: $(bench_dir)/waits ## after bench-waits, its cgroup without processor time, in a booted kernel
	bench/waits_guest.py $< $(waits_file)

bench-waits-documents: ## the tables and charts of the last bench-waits, in doc/benchmarks.md and README.md
	bench/waits.py --documents $(waits_file)

bench-waits-brief: $(bench_dir)/waits
	@mkdir -p $(brief_dir)
	@$< demo $(brief_dir)/waits.json 2>$(brief_dir)/output || { cat $(brief_dir)/output; exit 1; }
	@bench/waits.py --demo $(brief_dir)/waits.json

bench-syscall: $(bench_dir)/syscall ## only the time of a system call, in seconds
	@$(syscall_run) >$(bench_dir)/syscall.txt 2>&1 || { cat $(bench_dir)/syscall.txt; exit 1; }
	@bench/report.py $(bench_dir)/syscall.json

# One program has the drop-ins and the libc's functions. popen_noshell.c is built a second time,
# under other names, on the libc's posix_spawnp.
compat_bench = $(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -Icompat/popen_noshell/include \
	-DBENCH_CHILD='"$(abspath $(bench_dir))/compat/child"' -o $@ $(filter-out %.h %/child,$^) -lbenchmark -ldl -pthread
noshell_names := popen_noshell popen_noshell_compat pclose_noshell popen_noshell_set_fork_mode popen_noshell_get_fork_mode
libcs_names := posix_spawnp $(addprefix posix_spawn_file_actions_,init destroy adddup2 addopen)

$(bench_dir)/compat/child: bench/compat/child.c $(BUILD_DIR)/syscall/start.o
	@mkdir -p $(@D)
	$(CC) $(linker) -O2 -ffreestanding -static -nostdlib -Iinclude -o $@ $^

$(bench_dir)/compat/over_libcs.o: compat/popen_noshell/popen_noshell.c
	@mkdir -p $(@D)
	$(CC) $(common) -Icompat/popen_noshell/include $(CFLAGS) $(foreach name,$(noshell_names),-D$(name)=over_libcs_$(name)) \
		$(foreach name,$(libcs_names),-D$(name)=libcs_$(name)) -c $< -o $@

$(bench_dir)/compat/table: bench/compat/table.cc bench/compat/measure.cc bench/compat/libcs.cc bench/compat/measure.h \
		bench/compat/libcs.h $(bench_dir)/compat/over_libcs.o $(compat) $(archive) $(bench_dir)/compat/child
	$(compat_bench)

$(bench_dir)/compat/touched: bench/compat/touched.cc bench/compat/measure.cc bench/compat/measure.h $(archive) $(bench_dir)/compat/child
	$(compat_bench)

$(bench_dir)/compat/spawns: bench/compat/spawns.cc bench/compat/measure.cc bench/compat/measure.h bench/compat/libcs.h \
		$(compat) $(archive) $(bench_dir)/compat/child
	$(compat_bench)

$(bench_dir)/compat/launch: bench/compat/launch.c
	@mkdir -p $(@D)
	$(CC) $(linker) -std=c11 -O2 -Wall -Wextra $(WERROR) -o $@ $<

.PHONY: bench-compat bench-programs
bench-compat: $(bench_dir)/compat/table $(bench_dir)/compat/spawns $(bench_dir)/compat/touched bench-programs ## the drop-ins and the functions of the libc: processor time of commands and of programs
	$(bench_dir)/compat/table $(bench_run) --benchmark_out=$(bench_dir)/compat/table.json \
		--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.1
	$(bench_dir)/compat/spawns $(bench_run) --benchmark_out=$(bench_dir)/compat/spawns.json \
		--benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/compat/touched $(bench_run) --benchmark_out=$(bench_dir)/compat/touched.json \
		--benchmark_repetitions=5 --benchmark_min_time=0.05
	bench/compat/report.py $(addprefix $(bench_dir)/compat/,table.json spawns.json touched.json programs)

# Needs hyperfine; make, ninja, python3, awk and lua are measured if they are there.
bench-programs: $(preload) $(bench_dir)/compat/launch $(bench_dir)/compat/child ## programs with and without the preload: wall and processor time
	bench/compat/programs.sh $(abspath $(preload)) $(bench_dir)/compat

# As root, bench/peers/install first. PEERS="node go" for some only, ROUNDS=1 for a short run.
.PHONY: bench-bindings
bench-bindings: export PYTHON := $(or $(PYTHON),/usr/bin/python3)
bench-bindings: bindings-node bindings-java bindings-go wheel crates ## how long a start blocks its caller, by the packages and by what the languages have: 15 minutes
	bench/peers/build
	bench/peers/peers.py $(PEERS)
