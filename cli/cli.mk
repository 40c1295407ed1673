# SPDX-License-Identifier: MIT
# The command aspawn: static, without a libc, on the public headers alone.

cli := $(BUILD_DIR)/cli/aspawn
cli_objects := $(patsubst %.c,$(BUILD_DIR)/%.o,$(sort $(wildcard cli/*.c)))

$(cli_objects): $(BUILD_DIR)/%.o: %.c $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(common) -ffreestanding -fno-stack-protector -ffunction-sections -fdata-sections $($(arch).cflags) \
		$(or $($(arch).position),-fno-pic) -c $< -o $@

$(cli): $(cli_objects) $(BUILD_DIR)/syscall/start.o $(archive)
	$(making)
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -static -nostdlib -Wl,-e,_start -Wl,--gc-sections -Wl,-s -o $@ $^ $(libgcc)

.PHONY: test-cli
test-cli: $(cli) ## the command aspawn
	test/prove --timer $(sort $(wildcard test/cli/*.t))
