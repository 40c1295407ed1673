# Drop-ins for programs that exist, beside a libc: to link with, and to preload.

compat_sources := $(wildcard compat/*.c)
compat_objects := $(compat_sources:%.c=$(BUILD_DIR)/%.o)
compat := $(BUILD_DIR)/libaspawn-compat.a
preload := $(BUILD_DIR)/libaspawn-preload.so

.PHONY: compat
compat: $(compat) $(preload) ## the drop-ins: libaspawn-compat.a and libaspawn-preload.so

$(BUILD_DIR)/compat/%.o: compat/%.c
	@mkdir -p $(@D)
	$(CC) $(common) -Icompat/include -fPIC -ffunction-sections $(CFLAGS) $(sanitize) -c $< -o $@

$(compat): $(compat_objects)
	@rm -f $@
	$(AR) rcs $@ $^

# It exports what replaces the libc's, and nothing else.
$(preload): $(compat_objects) $(archive) compat/preload.map
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--gc-sections \
		-Wl,--version-script=compat/preload.map -Wl,-Bsymbolic,-z,now,-z,noexecstack -o $@ $(compat_objects) $(archive) -pthread
