# Speed, by google-benchmark (libbenchmark-dev). What is read off is a ratio: all
# ways of starting a child, or of making a call, stand in one run of one program.

bench_dir := $(BUILD_DIR)/bench
bench_programs := responsiveness lifetime memory commands descriptors
bench_run = --benchmark_out_format=json --benchmark_report_aggregates_only=true
syscall_run = $(bench_dir)/syscall $(bench_run) --benchmark_out=$(bench_dir)/syscall.json \
	--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.02

$(bench_dir)/child: bench/child.c $(BUILD_DIR)/syscall/start.o
	@mkdir -p $(@D)
	$(CC) $(linker) -O2 -ffreestanding -static -nostdlib -o $@ $^

$(bench_programs:%=$(bench_dir)/%): $(bench_dir)/%: bench/%.cc bench/ways.cc bench/ways.h $(archive) $(bench_dir)/child
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $< bench/ways.cc $(archive) -lbenchmark -pthread

$(bench_dir)/text_busy: bench/text_busy.cc $(archive) $(bench_dir)/child
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $< $(archive) -pthread

$(bench_dir)/syscall: bench/syscall.cc $(archive)
	@mkdir -p $(@D)
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -o $@ $^ -lbenchmark -pthread

.PHONY: bench bench-quick bench-syscall bench-chart
bench: $(bench_programs:%=$(bench_dir)/%) $(bench_dir)/syscall $(bench_dir)/text_busy ## time until the caller goes on, until the child is reaped, and of a system call: 5 minutes
	$(bench_dir)/responsiveness $(bench_run) --benchmark_out=$(bench_dir)/responsiveness.json \
		--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/lifetime $(bench_run) --benchmark_out=$(bench_dir)/lifetime.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/memory $(bench_run) --benchmark_out=$(bench_dir)/memory.json \
		--benchmark_repetitions=7 --benchmark_min_time=0.03
	$(bench_dir)/commands $(bench_run) --benchmark_out=$(bench_dir)/commands.json \
		--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/descriptors $(bench_run) --benchmark_out=$(bench_dir)/descriptors.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.02
	$(syscall_run)
	bench/report.py $(bench_programs:%=$(bench_dir)/%.json) $(bench_dir)/syscall.json
	cd $(bench_dir) && ./text_busy

bench-quick: $(bench_dir)/responsiveness ## the first of them, in seconds
	@$(bench_dir)/responsiveness $(bench_run) --benchmark_out=$(bench_dir)/quick.json \
		--benchmark_repetitions=5 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.02 \
		>$(bench_dir)/quick.txt 2>&1 || { cat $(bench_dir)/quick.txt; exit 1; }
	@bench/report.py $(bench_dir)/quick.json

bench-syscall: $(bench_dir)/syscall ## the last of them, in seconds
	@$(syscall_run) >$(bench_dir)/syscall.txt 2>&1 || { cat $(bench_dir)/syscall.txt; exit 1; }
	@bench/report.py $(bench_dir)/syscall.json

bench-chart: ## doc/responsiveness.svg, of the last bench
	bench/report.py --data $(bench_dir)/responsiveness.json >$(bench_dir)/responsiveness.dat
	gnuplot -e "data='$(bench_dir)/responsiveness.dat'" bench/responsiveness.gnuplot >doc/responsiveness.svg

# The drop-ins beside the libc's own, in one program.
$(bench_dir)/compat/child: bench/compat/child.c $(BUILD_DIR)/syscall/start.o
	@mkdir -p $(@D)
	$(CC) $(linker) -O2 -ffreestanding -static -nostdlib -Iinclude -o $@ $^

$(bench_dir)/compat/table: bench/compat/table.cc $(compat) $(archive) $(bench_dir)/compat/child
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -Icompat/include \
		-DBENCH_CHILD='"$(abspath $(bench_dir))/compat/child"' -o $@ $< $(compat) $(archive) -lbenchmark -ldl -pthread

.PHONY: bench-compat
bench-compat: $(bench_dir)/compat/table ## the drop-ins, and what the libc has: processor time of a command
	$(bench_dir)/compat/table $(bench_run) --benchmark_out=$(bench_dir)/compat/table.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.1
	bench/compat/report.py $(bench_dir)/compat/table.json
