# SPDX-License-Identifier: MIT
# To take the library along: as a few files, or as an archive of the tree.

amalgamation := $(BUILD_DIR)/amalgamation

.PHONY: amalgamation
amalgamation: $(amalgamation)/aspawn.c ## the library as BUILD_DIR/amalgamation/aspawn.h, aspawn.c and aspawn.S, psys.h, and the image

$(amalgamation)/aspawn.c: tools/amalgamate.py LICENSE $(shell find include syscall aspawn command queue -type f)
	tools/amalgamate.py $(@D)

# From a checkout, or from what such an archive was unpacked to: the files that git knows, or
# those of MANIFEST, and amalgamation/. The same files make the same bytes.
dist := aspawn-$(VERSION)
staged := $(BUILD_DIR)/dist/$(dist)
.PHONY: dist
dist: ## the tree with the amalgamation, as BUILD_DIR/aspawn-VERSION.tar.gz
	rm -rf $(BUILD_DIR)/dist && mkdir -p $(staged)
	if [ -e .git ]; then git ls-files; else cat MANIFEST; fi | LC_ALL=C sort >$(staged)/MANIFEST
	[ -s $(staged)/MANIFEST ] && tar -cf - -T $(staged)/MANIFEST | tar -xf - -C $(staged)
	$(staged)/tools/amalgamate.py $(staged)/amalgamation
	time=$${SOURCE_DATE_EPOCH:-$$(if [ -e .git ]; then git log -1 --format=%ct; else stat -c %Y MANIFEST; fi)} && \
	tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime=@$$time \
		-C $(BUILD_DIR)/dist -cf $(BUILD_DIR)/dist/$(dist).tar $(dist)
	gzip -9nc $(BUILD_DIR)/dist/$(dist).tar >$(BUILD_DIR)/$(dist).tar.gz
	rm -rf $(BUILD_DIR)/dist

.PHONY: test-amalgamation test-dist
test-amalgamation: ## the amalgamation, by each compiler for each architecture, and the suite with them
	test/prove --timer -j2 $(wildcard test/amalgamation/*.t)

test-dist: ## the archive: unpacked, built and tested without git
	test/prove --timer test/dist.t
