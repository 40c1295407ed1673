# SPDX-License-Identifier: MIT
# The manual on the web.

site := $(BUILD_DIR)/site

.PHONY: site
# By mandoc and cmark-gfm.
site: ## the manual and the documents for a web server or a browser alone: BUILD_DIR/site/index.html
	$(call tell,'making $(site)/index.html')
	rm -rf $(site)
	files=$$($(list_files)) && printf '%s\n' "$$files" | tools/site.py $(site)

dist_site := $(dist)-site
.PHONY: dist-site
dist-site: site ## the same as BUILD_DIR/aspawn-VERSION-site.tar.gz
	rm -rf $(BUILD_DIR)/dist-site && mkdir -p $(BUILD_DIR)/dist-site && cp -R $(site) $(BUILD_DIR)/dist-site/$(dist_site)
	$(call packed,dist-site,$(dist_site))

.PHONY: test-site
# As root, WHOLE=1 test/packages/install first.
test-site: ## the web site: its links, its HTML, and how Chromium shows it
	test/prove --timer test/packages/site/site.t
