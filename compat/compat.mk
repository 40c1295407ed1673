# Drop-ins for programs that exist, beside a libc: to link with, and to preload.

compat_sources := $(wildcard compat/*.c)
compat_objects := $(compat_sources:%.c=$(BUILD_DIR)/%.o)
preload_objects := $(patsubst %.c,$(BUILD_DIR)/%.o,$(wildcard compat/preload/*.c))
compat := $(BUILD_DIR)/libaspawn-compat.a
preload := $(BUILD_DIR)/libaspawn-preload.so

.PHONY: compat
compat: $(compat) $(preload) ## the drop-ins: libaspawn-compat.a and libaspawn-preload.so

$(BUILD_DIR)/compat/%.o: compat/%.c $(built)
	@mkdir -p $(@D)
	$(CC) $(common) -Icompat/include -fPIC -ffunction-sections $($(arch).cflags) $(CFLAGS) $(sanitize) -c $< -o $@

$(compat): $(compat_objects)
	@rm -f $@
	$(AR) rcs $@ $^

# It exports what replaces the libc's, and nothing else. Every program below loads it,
# so it is small to load: one segment to read and one to write, and the functions of the
# libc are looked up when they are called. For that its table of them stays writable. It
# is never unloaded: the libc keeps pointers to its functions, for fork().
$(preload): $(compat_objects) $(preload_objects) $(archive) compat/preload/preload.map
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -shared -nostartfiles -Wl,-soname,$(@F) -Wl,--gc-sections \
		-Wl,--hash-style=gnu,$(if $(findstring -fuse-ld=lld,$(linker) $(CC) $(LDFLAGS)),--no-rosegment,-z$(comma)noseparate-code) \
		-Wl,--version-script=compat/preload/preload.map -Wl,-Bsymbolic,-z,lazy,-z,norelro,-z,noexecstack,-z,nodelete -o $@ $(filter-out %.map,$^) -pthread

.PHONY: install-compat
install-compat: install compat ## the drop-ins too, with aspawn-compat.pc
	$(installing) mkdir -p $(in_include)/aspawn-compat; \
		install -m 644 compat/include/popen_noshell.h $(in_include)/aspawn-compat; \
		install -m 644 $(compat) $(in_lib); install -m 755 $(preload) $(in_lib); \
		$(call pc_file,compat/aspawn-compat.pc.in) >$(in_lib)/pkgconfig/aspawn-compat.pc
