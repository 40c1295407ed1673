# SPDX-License-Identifier: MIT
# What find_package(aspawn) of CMake reads, installed beside aspawn.pc.

LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
cmake_files := aspawn-config.cmake aspawn-config-version.cmake
pointer_size = $(shell $(CC) $(target) -dM -E -x c /dev/null | sed -n 's/.*__SIZEOF_POINTER__ //p')

.PHONY: install-cmake uninstall-cmake
install: install-cmake
install-cmake:
	set -eu; umask 022; to='$(DESTDIR)$(LIBDIR)'/cmake/aspawn; mkdir -p "$$to"; for file in $(cmake_files); do \
		sed -e 's|@NUMBERS@|$(NUMBERS)|' -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@POINTER_SIZE@|$(pointer_size)|' \
			-e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' aspawn/$$file.in >"$$to/$$file"; done
	$(call tell,$(in_lib)'/cmake/aspawn: $(cmake_files)')

uninstall: uninstall-cmake
uninstall-cmake:
	for file in $(cmake_files); do rm -f '$(DESTDIR)$(LIBDIR)'/cmake/aspawn/$$file; done
	-rmdir '$(DESTDIR)$(LIBDIR)'/cmake/aspawn 2>/dev/null
