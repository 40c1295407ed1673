# SPDX-License-Identifier: MIT
# Drop-ins for existing programs with a libc, by linking or by a preload.

compat_sources := $(sort $(wildcard compat/*.c compat/popen_noshell/*.c))
compat_objects := $(compat_sources:%.c=$(BUILD_DIR)/%.o)
preload_objects := $(patsubst %.c,$(BUILD_DIR)/%.o,$(sort $(wildcard compat/preload/*.c)))
compat := $(BUILD_DIR)/libaspawn-compat.a
preload := $(BUILD_DIR)/libaspawn-preload.so

.PHONY: compat
compat: $(compat) $(preload) ## the drop-ins: libaspawn-compat.a and libaspawn-preload.so

$(BUILD_DIR)/compat/%.o: compat/%.c $(built)
	@mkdir -p $(@D)
	$(CC) $(common) -Icompat/popen_noshell/include -fPIC -ffunction-sections $($(arch).cflags) $(CFLAGS) $(sanitize) -c $< -o $@

$(compat): $(compat_objects)
	$(making)
	@rm -f $@
	$(AR) rcsD $@ $^

# The preload exports only the functions that replace the libc's. Every descendant loads it, so it
# must be cheap to load: it has one read-only and one writable segment, and binds lazily, for which
# its global offset table stays writable (no relro). It is never unloaded, as the libc keeps
# pointers to its fork handlers.
$(preload): $(compat_objects) $(preload_objects) $(archive) compat/preload/preload.map
	$(making)
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -shared -nostartfiles -Wl,-soname,$(@F) -Wl,--gc-sections \
		-Wl,--hash-style=gnu,$(if $(findstring -fuse-ld=lld,$(linker) $(CC) $(LDFLAGS)),--no-rosegment,-z$(comma)noseparate-code) \
		-Wl,--version-script=compat/preload/preload.map -Wl,-Bsymbolic,-z,lazy,-z,norelro,-z,noexecstack,-z,nodelete -o $@ $(filter-out %.map,$^) -pthread

.PHONY: install-compat
install-compat: install compat ## the drop-ins too, with aspawn-compat.pc
	$(installing) mkdir -p $(in_include)/aspawn-compat; \
		install -m 644 compat/popen_noshell/include/popen_noshell.h $(in_include)/aspawn-compat; \
		install -m 644 $(compat) $(in_lib); install -m 755 $(preload) $(in_lib); \
		$(call pc_file,packaging/aspawn-compat.pc.in) >$(in_lib)/pkgconfig/aspawn-compat.pc
	$(call tell,$(in_include)'/aspawn-compat: popen_noshell.h')
	$(call tell,$(in_lib)': libaspawn-compat.a libaspawn-preload.so')
	$(call tell,$(in_lib)'/pkgconfig: aspawn-compat.pc')
