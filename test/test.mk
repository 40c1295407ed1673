# Tests, a target for each kind; `make test` is what a contributor runs.

suite_sources := $(sort $(filter-out test/suite/freestanding.c,$(wildcard test/suite/*.c)))
suite_flags = $(common) -fno-stack-protector -Wno-missing-field-initializers

# With no libc: what an emulator and a bare kernel run.
suite := $(BUILD_DIR)/suite
suite_objects := $(patsubst test/%.c,$(BUILD_DIR)/test/%.o,$(suite_sources) test/suite/freestanding.c) \
	$(BUILD_DIR)/syscall/start.o
$(suite): $(suite_objects) $(archive)
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -o $@ $^

$(BUILD_DIR)/syscall/start.o: syscall/arch/$(arch)/start.S
	@mkdir -p $(@D)
	$(CC) $(target) -Iinclude -g -c $< -o $@

$(BUILD_DIR)/test/%.o: test/%.c
	@mkdir -p $(@D)
	$(CC) $(suite_flags) -ffreestanding -fno-pic $(CFLAGS) -c $< -o $@
