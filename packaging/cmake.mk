# SPDX-License-Identifier: MIT
# What find_package(aspawn) of CMake reads, installed beside aspawn.pc.

LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
cmake_files := aspawn-config.cmake aspawn-config-version.cmake
# Of the ELF class: whoever installs may have no compiler.
pointer_size = $(shell expr 4 '*' $$(od -An -tu1 -j4 -N1 $(firstword $(shared))))
in_cmake = $(in_lib)/cmake/aspawn

.PHONY: install-cmake uninstall-cmake
install: install-cmake
install-cmake: all
	$(installing) mkdir -p $(in_cmake); for file in $(cmake_files); do \
		sed $(foreach name,NUMBERS SOVERSION LIBDIR INCLUDEDIR,$(call pc_value,$(name),$($(name)))) \
			$(call pc_value,POINTER_SIZE,$(pointer_size)) packaging/$$file.in >$(in_cmake)/$$file; done
	$(call tell,$(in_lib)'/cmake/aspawn: $(cmake_files)')

uninstall: uninstall-cmake
uninstall-cmake:
	$(absolute)for file in $(cmake_files); do rm -f $(in_cmake)/$$file; done
	rmdir $(in_cmake) 2>/dev/null || true
