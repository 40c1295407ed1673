# SPDX-License-Identifier: MIT
# To take the library along: as a few files, or as an archive of the tree.

amalgamation := $(BUILD_DIR)/amalgamation

.PHONY: amalgamation
amalgamation: $(amalgamation)/aspawn.c ## the library as BUILD_DIR/amalgamation/aspawn.h, aspawn.c and aspawn.S, psys.h, and the image

$(amalgamation)/aspawn.c: tools/amalgamate.py LICENSE $(shell find include syscall aspawn -type f)
	tools/amalgamate.py $(@D)

# From a checkout, or from what such an archive was unpacked to: the files that git knows, or
# those of MANIFEST, and amalgamation/. The same files make the same bytes.
dist := aspawn-$(VERSION)
list_files := if [ -e .git ]; then git ls-files; else cat MANIFEST; fi
committed = $${SOURCE_DATE_EPOCH:-$$(if [ -e .git ]; then git log -1 --format=%ct; else stat -c %Y MANIFEST; fi)}
staged := $(BUILD_DIR)/dist/$(dist)

# packed STAGE, NAME: $(BUILD_DIR)/STAGE/NAME as $(BUILD_DIR)/NAME.tar.gz.
packed = time=$(committed) && \
	tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime=@$$time \
		-C $(BUILD_DIR)/$(1) -cf $(BUILD_DIR)/$(1)/$(2).tar $(2) && \
	gzip -9nc $(BUILD_DIR)/$(1)/$(2).tar >$(BUILD_DIR)/$(2).tar.gz && rm -rf $(BUILD_DIR)/$(1)

.PHONY: dist
dist: ## the tree with the amalgamation, as BUILD_DIR/aspawn-VERSION.tar.gz
	rm -rf $(BUILD_DIR)/dist && mkdir -p $(staged)
	$(list_files) | LC_ALL=C sort >$(staged)/MANIFEST
	[ -s $(staged)/MANIFEST ] && tar -cf $(BUILD_DIR)/dist/files.tar -T $(staged)/MANIFEST && \
		tar -xf $(BUILD_DIR)/dist/files.tar -C $(staged)
	$(staged)/tools/amalgamate.py $(staged)/amalgamation
	$(call packed,dist,$(dist))

dist_built := $(dist)-linux-$(arch)
.PHONY: dist-built
dist-built: all compat ## what install-compat installs in /usr/local, as BUILD_DIR/aspawn-VERSION-linux-ARCH.tar.gz
	rm -rf $(BUILD_DIR)/dist-built
	$(MAKE) -s install-compat PREFIX=/usr/local DESTDIR=$(call quote,$(abspath $(BUILD_DIR)/dist-built)/$(dist_built)) >/dev/null
	$(call packed,dist-built,$(dist_built))

.PHONY: release release-files
release: ## the files of a release, signed, in BUILD_DIR/release: KEY=... names the key, for gpg
	CC='$(CC)' packaging/release $(BUILD_DIR)/release --sign $(call quote,$(KEY))

release-files: ## the same without the signature, to be compared with what was released
	CC='$(CC)' packaging/release $(BUILD_DIR)/release

# Where the recipes say that the archive is.
DOWNLOAD ?= $(shell sed -n 's/^ADDRESS=//p' RELEASE)/releases/download/v$(VERSION)
recipes := $(BUILD_DIR)/recipes
.PHONY: recipes
recipes: dist ## recipes for RPM, Conan and Meson, with the sum of the archive, in BUILD_DIR/recipes
	rm -rf $(recipes) && mkdir -p $(recipes) && cp -R packaging/conan packaging/meson packaging/rpm $(recipes)
	sum=$$(sha256sum <$(BUILD_DIR)/$(dist).tar.gz) && find $(recipes) -type f -exec sed -i $(call pc_value,VERSION,$(VERSION)) \
		$(call pc_value,ADDRESS,$(shell sed -n 's/^ADDRESS=//p' RELEASE)) $(call pc_value,DOWNLOAD,$(DOWNLOAD)) \
		-e "s/@SHA256@/$${sum%% *}/" {} +
	cp test/packages/consumers/*.c test/packages/consumers/*.cc test/packages/consumers/cmake-find-package/CMakeLists.txt $(recipes)/conan/test_package

.PHONY: test-amalgamation test-dist test-release test-release-bare test-recipes
test-amalgamation: ## the amalgamation, by each compiler for each architecture, and the suite with them
	test/prove --timer -j2 $(wildcard test/packages/amalgamation/*.t)

test-dist: ## the archive: unpacked, built and tested without git
	test/prove --timer test/packages/dist.t

# test/packages/install first.
test-release: ## the files of a release: made in two places, compared, signed and verified
	test/prove --timer test/packages/release.t

# As root, with debootstrap.
test-release-bare: ## the same on a bare Debian 12, by root and by a user
	test/prove --timer test/packages/bare/release.t

# As root, test/packages/install first.
test-recipes: ## the recipes for RPM, Conan and Meson: what they build is used by programs
	test/prove --timer test/packages/recipes.t
