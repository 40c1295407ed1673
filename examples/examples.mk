# SPDX-License-Identifier: MIT
# Programs to copy from, and the demonstration that they make together.

examples_dir := $(BUILD_DIR)/examples
define example
	$(making)
	$(CC) $(linker) -std=c11 -Iinclude -Wall -Wextra $(WERROR) $(CFLAGS) $(sanitize) $(LDFLAGS) -pthread -o $@ $(filter-out %.h,$^)
endef

$(examples_dir)/start: examples/start.c $(archives)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/run: examples/run.c $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/command: examples/command.c $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/event_loop: examples/event_loop.c $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/terminal: examples/terminal.c $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/textindex: examples/textindex/textindex.c examples/textindex/methods.c examples/textindex/methods.h $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/poller: $(wildcard examples/poller/*.c examples/poller/*.h) $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/worker: examples/gearman/worker.c examples/poller/list.c examples/poller/report.c examples/poller/poller.h $(archive)
	@mkdir -p $(@D)
	$(example)

$(examples_dir)/freestanding: examples/freestanding.c $(BUILD_DIR)/syscall/start.o $(archive)
	@mkdir -p $(@D)
	$(example) -ffreestanding -fno-stack-protector -static -nostdlib

.PHONY: examples demo demo-begun demo-built
examples: $(examples_dir)/start $(examples_dir)/run $(examples_dir)/command $(examples_dir)/event_loop $(examples_dir)/terminal $(examples_dir)/textindex $(examples_dir)/poller $(examples_dir)/worker $(examples_dir)/freestanding ## the programs of examples/, in BUILD_DIR

demo_programs := start run command freestanding textindex poller
demo-built: $(cli) $(demo_programs:%=$(examples_dir)/%) $(addprefix $(bench_dir)/,memory descriptors waits)

demo-begun:
	$(call tell,'making what the demonstration needs: the library$(comma) the command$(comma) $(words $(demo_programs)) examples$(comma) 3 benchmarks')

demo: demo-begun demo-built ## real commands, and what they cost with aspawn and otherwise: a minute after the build
	+@examples/demo $(examples_dir) $(cli)
