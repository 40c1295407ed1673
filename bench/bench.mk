# Speed, by google-benchmark (libbenchmark-dev). What is read off is a ratio: all
# ways of starting a child stand in one run of one program.

bench_dir := $(BUILD_DIR)/bench
bench_programs := responsiveness lifetime memory
bench_run = --benchmark_out_format=json --benchmark_report_aggregates_only=true

$(bench_dir)/child: bench/child.c $(BUILD_DIR)/syscall/start.o
	@mkdir -p $(@D)
	$(CC) $(linker) -O2 -ffreestanding -static -nostdlib -o $@ $^

$(bench_programs:%=$(bench_dir)/%): $(bench_dir)/%: bench/%.cc bench/ways.cc bench/ways.h $(archive) $(bench_dir)/child
	$(CXX) $(linker) -std=c++17 -O2 -Wall -Wextra $(WERROR) -Iinclude -DBENCH_CHILD='"$(abspath $(bench_dir))/child"' \
		-o $@ $< bench/ways.cc $(archive) -lbenchmark -pthread

.PHONY: bench bench-quick bench-chart
bench: $(bench_programs:%=$(bench_dir)/%) ## time until the caller goes on, and until the child is reaped: 3 minutes
	$(bench_dir)/responsiveness $(bench_run) --benchmark_out=$(bench_dir)/responsiveness.json \
		--benchmark_repetitions=25 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/lifetime $(bench_run) --benchmark_out=$(bench_dir)/lifetime.json \
		--benchmark_repetitions=15 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05
	$(bench_dir)/memory $(bench_run) --benchmark_out=$(bench_dir)/memory.json \
		--benchmark_repetitions=7 --benchmark_min_time=0.03
	bench/report.py $(bench_dir)/responsiveness.json $(bench_dir)/lifetime.json $(bench_dir)/memory.json

bench-quick: $(bench_dir)/responsiveness ## the first of them, in seconds
	@$(bench_dir)/responsiveness $(bench_run) --benchmark_out=$(bench_dir)/quick.json \
		--benchmark_repetitions=5 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.02 \
		>$(bench_dir)/quick.txt 2>&1 || { cat $(bench_dir)/quick.txt; exit 1; }
	@bench/report.py $(bench_dir)/quick.json

bench-chart: ## doc/responsiveness.svg, of the last bench
	bench/report.py --data $(bench_dir)/responsiveness.json >$(bench_dir)/responsiveness.dat
	gnuplot -e "data='$(bench_dir)/responsiveness.dat'" bench/responsiveness.gnuplot >doc/responsiveness.svg
