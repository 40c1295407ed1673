# SPDX-License-Identifier: MIT
# aspawn: every command starts here; `make help` lists them.

VERSION := $(shell sed -n 's/^TAG=v//p' RELEASE)
NUMBERS := $(firstword $(subst -, ,$(VERSION)))
# Each version before a release (1.0.0-rc.1) has an ABI of its own.
SOVERSION := $(or $(filter-out $(NUMBERS),$(VERSION)),$(firstword $(subst ., ,$(VERSION))))

comma := ,
# One word of the shell, as paths may have spaces.
quote = '$(subst ','\'',$(1))'

# V=1 shows commands. Otherwise a line names each file from which others are made, unless -s is
# given.
V ?=
ifneq ($(V),1)
.SILENT:
tell = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,printf '%s\n') $(1)
endif
making = $(call tell,'making $@')

# What a caller may set.
BUILD_DIR ?= build$(if $(TARGET),/$(TARGET))
ifneq ($(words $(BUILD_DIR)),1)
$(error BUILD_DIR must be one word: "$(BUILD_DIR)")
endif
# Objects are made anew if one of these is not as it was. Install alone takes them from the
# last build: root installs what a user has built.
settings := CC CPPFLAGS CFLAGS LDFLAGS SANITIZE TARGET TARGET_FLAGS IMAGE_FILE
built := $(BUILD_DIR)/settings
$(eval $(file <$(built)))
ifneq ($(MAKECMDGOALS),)
ifeq ($(filter-out install install-%,$(MAKECMDGOALS)),)
$(foreach name,$(settings),$(if $(filter undefined default,$(origin $(name))),\
	$(if $(filter undefined,$(origin built.$(name))),,$(eval $(name) := $$(built.$(name))))))
endif
endif
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DESTDIR ?=
LDCONFIG ?= ldconfig
CPPFLAGS ?=
# Not -g: valgrind 3.19 gives up at a library with the DWARF 5 of clang. A loop here goes round a
# few times, and as vectors it takes hundreds of bytes, which clang 19 does even for size.
CFLAGS ?= -Os -fno-tree-vectorize -gdwarf-4
LDFLAGS ?=
WERROR ?=
TARGET ?=
SANITIZE ?=
# Absolute path: the program for commands of another user is installed there, and not executed from
# memory (a memfd).
IMAGE_FILE ?=
ifeq ($(origin CC),default)
CC := $(shell for cc in clang gcc cc; do command -v $$cc >/dev/null && echo $$cc && break; done)
endif

# CC may be "ccache gcc -m32". clang-19 goes with clang++-19, and has its own llvm-ar and lld.
compiler := $(lastword $(filter-out -%,$(CC)))
compiler_name := $(notdir $(compiler))
is_clang := $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | grep -o -m 1 __clang__)
tool = $(shell command -v "$$($(CC) -print-prog-name=$(1) 2>/dev/null)")
ifeq ($(origin CXX),default)
CXX := $(patsubst $(compiler),$(compiler:%$(compiler_name)=%)$(patsubst cc,c++,$(subst gcc,g++,$(subst \
	clang,clang++,$(compiler_name:musl-gcc=gcc)))),$(CC))
endif
ifeq ($(origin AR),default)
ifneq ($(is_clang),)
AR := $(or $(call tool,llvm-ar),ar)
else
# gcc-ar knows the objects of -flto.
AR := $(or $(if $(findstring gcc,$(compiler_name)),$(shell command -v "$(subst gcc,gcc-ar,$(compiler:musl-gcc=gcc))")),\
	$(call tool,ar),ar)
endif
endif

target := $(if $(TARGET),$(if $(is_clang),--target=$(TARGET)) $(TARGET_FLAGS))
linker := $(if $(is_clang),$(if $(findstring -fuse-ld=,$(CC) $(LDFLAGS)),,$(if $(or $(TARGET),$(call tool,ld.lld)),-fuse-ld=lld)))

# The compiler says which directory of include/syscall/arch.h is its own.
arch := $(notdir $(patsubst %/,%,$(dir $(filter %/call.h,$(shell \
	$(CC) $(target) -ffreestanding -Iinclude -include syscall/arch.h -M -x c /dev/null 2>/dev/null)))))
-include $(wildcard syscall/arch/*/target.mk)
# Gcc makes calls of it, on some architectures for atomic operations, shifts or saved registers.
libgcc = $(if $(is_clang),,$(wildcard $(shell $(CC) $(target) -print-libgcc-file-name)))
prefix_maps = $(filter -f%-prefix-map=%,$(CFLAGS))

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-variadic-macros -Wno-missing-field-initializers $(WERROR)
common := $(target) -std=c11 -Iinclude $(warnings) -MMD -MP $(CPPFLAGS)
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
# After CFLAGS: a distribution asks for the stack protector there, whose canary a child cannot have.
core := $(common) $(filter -%,$(file <aspawn/cflags)) -fPIC $($(arch).cflags) $(sanitize)

sources := $(sort $(wildcard syscall/*.c aspawn/*/*.c))
assembly := $(filter-out start,$(sort $(basename $(notdir $(wildcard syscall/arch/$(arch)/*.S)))))
objects := $(sources:%.c=$(BUILD_DIR)/%.o) $(assembly:%=$(BUILD_DIR)/syscall/arch/%.o)
archive := $(BUILD_DIR)/libaspawn.a
psys := $(BUILD_DIR)/libpsys.a
archives := $(psys) $(archive)
shared := $(archives:.a=.so)

# The command has no libc, and so none of the functions that sanitizers call.
command := $(if $(SANITIZE),,$(BUILD_DIR)/cli/aspawn)

.PHONY: all
all: $(archives) $(shared) $(command) ## the libraries, and the command, in BUILD_DIR (build); CC=gcc, TARGET=aarch64-linux-gnu

# libaspawn needs no libpsys: it has the same objects, but the one with a function for each system
# call. A program may link both archives, as members of one name are the same.
$(psys) $(psys:.a=.so): $(filter $(BUILD_DIR)/syscall/%,$(objects))
$(archive) $(archive:.a=.so): $(filter-out $(BUILD_DIR)/syscall/symbols.o,$(objects))
$(shared): RELEASE
$(psys:.a=.so): syscall/libpsys.map
$(archive:.a=.so): aspawn/libaspawn.map

$(archives):
	$(making)
	@rm -f $@
	$(AR) rcsD $@ $^

ifneq ($(foreach name,$(settings),$(built.$(name))),$(foreach name,$(settings),$($(name))))
.PHONY: $(built)
endif
$(built):
	@mkdir -p $(@D)
	@printf 'define built.%s\n%s\nendef\n' $(foreach name,$(settings),$(name) $(call quote,$(subst $$,$$$$,$($(name))))) >$@

$(shared):
	$(making)
	$(CC) $(target) $(linker) $(CFLAGS) $(LDFLAGS) -shared -nostdlib -Wl,-soname,$(@F).$(SOVERSION) \
		-Wl,--version-script=$(filter %.map,$^) -Wl,-Bsymbolic,-z,now,-z,noexecstack -o $@ $(filter %.o,$^) $(libgcc)

$(BUILD_DIR)/syscall/arch/%.o: syscall/arch/$(arch)/%.S $(built)
	@mkdir -p $(@D)
	$(CC) $(target) -Iinclude -MMD -MP -gdwarf-4 $(prefix_maps) -c $< -o $@

$(sources:%.c=$(BUILD_DIR)/%.o): $(BUILD_DIR)/%.o: %.c aspawn/cflags $(built)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(core) -c $< -o $@

# The program that aspawn/child/image.h describes.
image := $(BUILD_DIR)/aspawn/child/image/program
image_flags := $(filter-out -MMD -MP,$(common)) $(filter -%,$(file <aspawn/cflags)) $($(arch).cflags)
$(image).build: aspawn/child/image/program.c $(built)
	@mkdir -p $(@D)
	$(CC) $(image_flags) -fsyntax-only -MMD -MP -MT $@ -MF $(image).d $<
	$(CC) $(image_flags) -E -P $< | cksum | sed 's/ .*//; s/^/-DASPAWN_IMAGE_BUILD=/; s/$$/U/' >$@

$(image): aspawn/child/image/aspawn-image.sh aspawn/child/image/image.ld aspawn/cflags $(image).build $(wildcard syscall/arch/$(arch)/*.S)
	$< $@ $(image_compiler) $(CC) $(target) $(linker) $$(cat $(image).build)

$(BUILD_DIR)/aspawn/child/image.o: $(image)
$(BUILD_DIR)/aspawn/child/image.o: core += @$(image).build $(if $(IMAGE_FILE),-DASPAWN_IMAGE_FILE='"$(IMAGE_FILE)"',-DASPAWN_IMAGE='"$(abspath $(image))"')

include cli/cli.mk
include compat/compat.mk
include test/test.mk test/proofs/coverage.mk
include bench/bench.mk
include examples/examples.mk
include packaging/dist.mk packaging/cmake.mk packaging/completions.mk tools/site.mk
include $(wildcard bindings/*/*.mk)

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
in_lib := $(call quote,$(DESTDIR)$(LIBDIR))
in_bin := $(call quote,$(DESTDIR)$(BINDIR))
in_include := $(call quote,$(DESTDIR)$(INCLUDEDIR))
in_image := $(call quote,$(DESTDIR)$(IMAGE_FILE))
in_data := $(call quote,$(DESTDIR)$(DATADIR)/aspawn)
in_man := $(call quote,$(DESTDIR)$(MANDIR))
headers = $(shell find include -name '*.h' | sed 's|^include/||')
man_pages = $(foreach section,1 3 7,$(patsubst doc/%,man$(section)/%,$(wildcard doc/*.$(section))))
# Each other name below NAME in a page of functions, with the page: aspawn_ended:aspawn_wait.3
man_links = $(foreach page,$(wildcard doc/*.3),$(patsubst %,%:$(notdir $(page)),$(filter-out $(basename $(notdir $(page))), \
	$(shell sed -n -e '/^\.SH NAME/,/\\-/{/^\./d' -e 's/\\-.*//' -e 's/,//g' -e p -e '}' $(page)))))
# The public interface for programs (doc/bindings.md).
description := interface.json interface.schema.json
absolute = $(foreach name,BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR,$(if $(filter /%,$(firstword $($(name)))),,\
	$(error $(name) must be absolute: "$($(name))")))
# All can read what is installed, whatever the umask of the caller.
installing = $(absolute)set -eu; umask 022;
# pc_file TEMPLATE, to standard output. What is below PREFIX goes along when that is moved.
below_prefix = $(subst ^,,$(subst ^$(PREFIX)/,$${prefix}/,^$(1)))
pc_value = -e $(call quote,s|@$(1)@|$(subst |,\|,$(subst &,\&,$(2)))|g)
pc_file = sed $(call pc_value,PREFIX,$(PREFIX)) $(call pc_value,INCLUDEDIR,$(call below_prefix,$(INCLUDEDIR))) \
	$(call pc_value,LIBDIR,$(call below_prefix,$(LIBDIR))) $(call pc_value,VERSION,$(VERSION)) $(call pc_value,ADDRESS,$(shell sed -n 's/^ADDRESS=//p' RELEASE)) $(1)

install: all ## the command, headers, libraries, files for pkg-config, man pages: DESTDIR, PREFIX, BINDIR, LIBDIR, INCLUDEDIR, DATADIR, MANDIR
	$(if $(command),$(installing) mkdir -p $(in_bin); install -m 755 $(command) $(in_bin))
	$(if $(command),$(call tell,$(in_bin)': aspawn'))
	$(installing) for header in $(headers); do \
		mkdir -p $(in_include)/"$${header%/*}"; \
		install -m 644 "include/$$header" $(in_include)/"$$header"; done
	$(call tell,$(in_include)': $(words $(headers)) headers')
	$(installing) mkdir -p $(in_lib)/pkgconfig; install -m 644 $(archives) $(in_lib); \
		for name in $(basename $(notdir $(archives))); do \
		install -m 755 $(BUILD_DIR)/$$name.so $(in_lib)/$$name.so.$(VERSION); \
		$(if $(filter-out $(VERSION),$(SOVERSION)),ln -sf $$name.so.$(VERSION) $(in_lib)/$$name.so.$(SOVERSION);) \
		ln -sf $$name.so.$(SOVERSION) $(in_lib)/$$name.so; done; \
		$(call pc_file,packaging/psys.pc.in) >$(in_lib)/pkgconfig/psys.pc; \
		$(call pc_file,packaging/aspawn.pc.in) >$(in_lib)/pkgconfig/aspawn.pc
	$(call tell,$(in_lib)': $(notdir $(archives) $(shared:=.$(VERSION)))')
	$(call tell,$(in_lib)'/pkgconfig: psys.pc aspawn.pc')
	$(if $(IMAGE_FILE),$(installing) mkdir -p "$$(dirname $(in_image))"; install -m 755 $(image) $(in_image))
	$(if $(IMAGE_FILE),$(call tell,$(in_image)))
	$(installing) mkdir -p $(in_data); install -m 644 $(description:%=doc/%) $(in_data)
	$(call tell,$(in_data)': $(description)')
	$(installing) mkdir -p $(in_man)/man1 $(in_man)/man3 $(in_man)/man7; \
		for page in $(man_pages); do install -m 644 "doc/$${page#*/}" $(in_man)/"$$page"; done; \
		for link in $(man_links); do echo ".so man3/$${link#*:}" >$(in_man)/man3/"$${link%:*}.3"; done
	$(call tell,$(in_man)'/man1: $(words $(filter man1/%,$(man_pages))) page')
	$(call tell,$(in_man)'/man3: $(words $(filter man3/%,$(man_pages)) $(man_links)) pages')
	$(call tell,$(in_man)'/man7: $(words $(filter man7/%,$(man_pages))) page')
	@test -z $(call quote,$(DESTDIR)) && test "$$(id -u)" = 0 && PATH=$$PATH:/sbin:/usr/sbin && $(LDCONFIG) 2>/dev/null && \
		$(LDCONFIG) -p 2>/dev/null | grep -qF $(call quote,$(LIBDIR)/libaspawn.so.$(SOVERSION)) || \
	printf '%s\n' $(call quote,If programs do not find $(LIBDIR)/libaspawn.so.$(SOVERSION): run ldconfig as root with that directory in \
		/etc/ld.so.conf or$(comma) with musl$(comma) list it in /etc/ld-musl-*.path; or set LD_LIBRARY_PATH. \
		If pkg-config does not: PKG_CONFIG_PATH=$(LIBDIR)/pkgconfig.)

uninstall: ## what install and install-compat put there
	$(absolute)for header in $(headers) aspawn-compat/popen_noshell.h; do rm -f $(in_include)/"$$header"; done
	for file in $(sort $(foreach file,$(notdir $(shared)),$(file) $(file).$(SOVERSION) $(file).$(VERSION))) \
		$(notdir $(archives)) libaspawn-compat.a libaspawn-preload.so \
		pkgconfig/psys.pc pkgconfig/aspawn.pc pkgconfig/aspawn-compat.pc; do rm -f $(in_lib)/"$$file"; done
	$(if $(IMAGE_FILE),rm -f $(in_image))
	rm -f $(in_bin)/aspawn
	for page in $(man_pages) $(foreach link,$(man_links),man3/$(firstword $(subst :, ,$(link))).3); do \
		rm -f $(in_man)/"$$page"; done
	for file in $(description); do rm -f $(in_data)/$$file; done
	for directory in $(shell find include -mindepth 1 -depth -type d | sed 's|^include/||') aspawn-compat; do \
		rmdir $(in_include)/"$$directory" 2>/dev/null || true; done
	rmdir $(in_data) 2>/dev/null || true

.PHONY: lint analyze format clean help
tracked = $(or $(shell git ls-files $(1) 2>/dev/null),$(error lint and format need the list of files that git has))
# Those whose first line names the interpreter.
scripts = $(shell awk 'FNR == 1 && /^.!\/.*$(1)$$/ { print FILENAME } { nextfile }' $(call tracked,))
# The analyzer takes a va_list whose address cli/text.c hands on for one that is not begun.
lint: ## clang-format, gofmt, clang-tidy, shellcheck, flake8, and checks of the layering, the conditional expressions, the prose
	clang-format --dry-run -Werror $(call tracked,'*.c' '*.h' '*.cc')
	if command -v gofmt >/dev/null; then ! gofmt -l $(call tracked,'*.go') | grep .; fi
	shellcheck $(sort $(call scripts,sh) $(call tracked,'*.sh'))
	flake8 $(sort $(call scripts,python3) $(call tracked,'*.py'))
	clang-tidy --quiet --warnings-as-errors='*' $(sources) $(filter-out cli/text.c,$(wildcard cli/*.c)) -- -std=c11 -Iinclude -ffreestanding
	clang-tidy --quiet --warnings-as-errors='*' $(compat_sources) $(wildcard compat/preload/*.c) -- -std=c11 -Iinclude -Icompat/popen_noshell/include
	test/prove test/checks/layering.t test/checks/conditionals.py test/checks/prose.py

analyze: ## gcc -fanalyzer, cppcheck, ruff, mypy, clippy, go vet; test/proofs/analysis/answers.txt has what is wrong of it
	test/prove --timer -v test/proofs/analysis/analyze.py

format: ## clang-format and gofmt, in place
	clang-format -i $(call tracked,'*.c' '*.h' '*.cc')
	if command -v gofmt >/dev/null; then gofmt -w $(call tracked,'*.go'); fi

.PHONY: visited
visited: ## the files and functions that a start with a pipe enters until its clone, by gdb
	$(MAKE) -s BUILD_DIR=$(BUILD_DIR)/visited CFLAGS='-O1 -g -gdwarf-4 -fno-inline -fno-optimize-sibling-calls' $(BUILD_DIR)/visited/libaspawn.a
	$(CC) -g -Iinclude -o $(BUILD_DIR)/visited/program tools/visited.c $(BUILD_DIR)/visited/libaspawn.a
	gdb -q -batch -x tools/visited.py $(BUILD_DIR)/visited/program

clean: ## remove BUILD_DIR
	rm -rf $(BUILD_DIR)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | sort -u | expand -t 26

-include $(shell find $(BUILD_DIR) -type f -name '*.d' 2>/dev/null)
