# aspawn: every command starts here; `make help` lists them.

version_of = $(shell sed -n 's/^\#define ASPAWN_VERSION_$(1) //p' include/aspawn/version.h)
VERSION := $(call version_of,MAJOR).$(call version_of,MINOR).$(call version_of,PATCH)
# Until 1.0 each minor version may break the ABI.
SONAME := libaspawn.so.$(call version_of,MAJOR).$(call version_of,MINOR)

# What a caller may set.
BUILD_DIR ?= build$(if $(TARGET),/$(TARGET))
PREFIX ?= /usr/local
DESTDIR ?=
# Not -g: valgrind 3.19 gives up at a library with the DWARF 5 of clang.
CFLAGS ?= -O2 -gdwarf-4
LDFLAGS ?=
WERROR ?= -Werror
TARGET ?=
SANITIZE ?=
ifeq ($(origin CC),default)
CC := clang
endif
# clang-19 goes with clang++-19, llvm-ar-19 and lld-19, gcc with g++ and gcc-ar.
is_clang := $(findstring clang,$(CC))
ifeq ($(origin CXX),default)
CXX := $(if $(is_clang),$(subst clang,clang++,$(CC)),$(subst gcc,g++,$(CC)))
endif
ifeq ($(origin AR),default)
AR := $(if $(is_clang),$(subst clang,llvm-ar,$(CC)),$(subst gcc,gcc-ar,$(CC:musl-%=%)))
endif
LLD ?= $(subst clang,lld,$(CC))

target := $(if $(TARGET),$(if $(is_clang),--target=$(TARGET)) $(TARGET_FLAGS))
linker := $(if $(is_clang),-fuse-ld=$(LLD))

# The compiler says which directory of include/syscall/arch.h is its own.
arch := $(notdir $(patsubst %/,%,$(dir $(filter %/call.h,$(shell \
	$(CC) $(target) -ffreestanding -Iinclude -include syscall/arch.h -M -x c /dev/null 2>/dev/null)))))
-include $(wildcard syscall/arch/*/target.mk)

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-variadic-macros -Wno-missing-field-initializers $(WERROR)
common := $(target) -std=c11 -Iinclude $(warnings) -MMD -MP
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
core := $(common) -DPSYS_NO_UNPREFIXED -ffreestanding -fPIC -ffunction-sections -fvisibility=hidden -fno-stack-protector $($(arch).cflags) $(sanitize)

sources := $(sort $(wildcard syscall/*.c aspawn/*.c command/*.c))
assembly := $(filter-out start,$(basename $(notdir $(wildcard syscall/arch/$(arch)/*.S))))
objects := $(sources:%.c=$(BUILD_DIR)/%.o) $(assembly:%=$(BUILD_DIR)/syscall/arch/%.o)
archive := $(BUILD_DIR)/libaspawn.a
shared := $(BUILD_DIR)/libaspawn.so

.PHONY: all
all: $(archive) $(shared) ## the libraries, in BUILD_DIR (build); CC=gcc, TARGET=aarch64-linux-gnu

$(archive): $(objects)
	@rm -f $@
	$(AR) rcs $@ $^

$(shared): $(objects) aspawn/libaspawn.map
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -shared -nostdlib -Wl,-soname,$(SONAME) \
		-Wl,--version-script=aspawn/libaspawn.map -Wl,-Bsymbolic,-z,now,-z,noexecstack -o $@ $(objects)

$(BUILD_DIR)/syscall/arch/%.o: syscall/arch/$(arch)/%.S
	@mkdir -p $(@D)
	$(CC) $(target) -Iinclude -MMD -MP -gdwarf-4 -c $< -o $@

$(BUILD_DIR)/syscall/%.o: syscall/%.c
	@mkdir -p $(@D)
	$(CC) $(core) $(CFLAGS) -c $< -o $@

$(BUILD_DIR)/aspawn/%.o: aspawn/%.c
	@mkdir -p $(@D)
	$(CC) $(core) $(CFLAGS) -c $< -o $@

$(BUILD_DIR)/command/%.o: command/%.c
	@mkdir -p $(@D)
	$(CC) $(core) $(CFLAGS) -c $< -o $@

include compat/compat.mk
include test/test.mk
include bench/bench.mk
include examples/examples.mk
include tools/cmake.mk

# For another architecture, by clang 19 and lld 19 alone, or by a gcc of its own (.cc):
# no sysroot, no foreign header. $(TARGETS) come from syscall/arch/*/target.mk.
.PHONY: cross cross-all $(TARGETS:%=cross-%)
$(TARGETS:%=cross-%): cross-%:
	$(MAKE) -s all suite TARGET=$($*.triple) TARGET_FLAGS='$($*.flags)' \
		CC=$(or $($*.cc),clang-19) BUILD_DIR=$(BUILD_DIR)/$*

cross: cross-$(ARCH) ## ARCH=riscv64: the libraries and the suite for it

cross-all: ## cross for every architecture, with a report
	@mkdir -p $(BUILD_DIR)
	@for row in $(foreach name,$(sort $(TARGETS)),$(name):$($(name).cc)); do \
		name=$${row%%:*} own=$${row#*:}; \
		if [ -n "$$own" ] && ! command -v $$own >/dev/null; then echo "skipped $$name: no $$own"; \
		elif $(MAKE) -s cross-$$name >$(BUILD_DIR)/cross-$$name.log 2>&1; then echo "built   $$name"; \
		else echo "FAILED  $$name: $(BUILD_DIR)/cross-$$name.log"; failed=1; fi; \
	done; exit $${failed:-0}

.PHONY: install uninstall
headers = $(shell cd include && find . -name '*.h')
man3 = $(DESTDIR)$(PREFIX)/share/man/man3
# Each other name below NAME in a page, with the page: aspawn_run:aspawn_command.3
man_links = $(foreach page,$(wildcard doc/*.3),$(patsubst %,%:$(notdir $(page)),$(filter-out $(basename $(notdir $(page))), \
	$(shell sed -n -e '/^\.SH NAME/,/\\-/{/^\./d' -e 's/\\-.*//' -e 's/,//g' -e p -e '}' $(page)))))
install: all ## headers, libraries, aspawn.pc and man pages, under DESTDIR and PREFIX
	for header in $(headers); do \
		install -D -m 644 include/$$header $(DESTDIR)$(PREFIX)/include/$$header || exit 1; done
	install -D -m 644 $(archive) $(DESTDIR)$(PREFIX)/lib/libaspawn.a
	install -D -m 755 $(shared) $(DESTDIR)$(PREFIX)/lib/libaspawn.so.$(VERSION)
	ln -sf libaspawn.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libaspawn.so
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' aspawn/aspawn.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/aspawn.pc
	for page in $(wildcard doc/*.3); do \
		install -D -m 644 $$page $(man3)/$$(basename $$page) || exit 1; done
	for link in $(man_links); do \
		echo ".so man3/$${link#*:}" >$(man3)/$${link%:*}.3 || exit 1; done

uninstall: ## what install put there
	for header in $(headers); do rm -f $(DESTDIR)$(PREFIX)/include/$$header; done
	find $(DESTDIR)$(PREFIX)/include/syscall $(DESTDIR)$(PREFIX)/include/aspawn \
		-depth -type d -empty -delete 2>/dev/null || true
	rm -rf $(DESTDIR)$(PREFIX)/include/aspawn-compat
	rm -f $(DESTDIR)$(PREFIX)/lib/libaspawn.a $(DESTDIR)$(PREFIX)/lib/libaspawn.so* \
		$(DESTDIR)$(PREFIX)/lib/libaspawn-compat.a $(DESTDIR)$(PREFIX)/lib/libaspawn-preload.so \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/aspawn.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/aspawn-compat.pc \
		$(patsubst %,$(man3)/%,$(notdir $(wildcard doc/*.3)) $(foreach link,$(man_links),$(firstword $(subst :, ,$(link))).3))

.PHONY: lint format clean help
lint: ## clang-format, clang-tidy, and the check of the layering
	clang-format --dry-run -Werror $(shell git ls-files '*.c' '*.h' '*.cc')
	clang-tidy --quiet --warnings-as-errors='*' $(sources) -- -std=c11 -Iinclude -ffreestanding
	clang-tidy --quiet --warnings-as-errors='*' $(compat_sources) $(wildcard compat/preload/*.c) -- -std=c11 -Iinclude -Icompat/include
	prove test/checks/layering.t

format: ## clang-format, in place
	clang-format -i $(shell git ls-files '*.c' '*.h' '*.cc')

clean: ## remove BUILD_DIR
	rm -rf $(BUILD_DIR)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | sort -u | expand -t 26

-include $(shell find $(BUILD_DIR) -name '*.d' 2>/dev/null)
