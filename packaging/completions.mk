# SPDX-License-Identifier: MIT
# The shells' completions of the command, where bash-completion, zsh and fish look below DATADIR.

completions := bash-completion/completions/aspawn zsh/site-functions/_aspawn fish/vendor_completions.d/aspawn.fish
completions_from := cli/completions
in_share = $(call quote,$(DESTDIR)$(DATADIR))

.PHONY: install-completions uninstall-completions
install: install-completions
install-completions:
	$(installing) for file in $(completions); do \
		from=$(completions_from)/$${file##*/}; [ -e "$$from" ] || from=$$from.bash; \
		mkdir -p $(in_share)/"$${file%/*}"; install -m 644 "$$from" $(in_share)/"$$file"; done
	$(call tell,$(in_share)'/bash-completion/completions: aspawn')
	$(call tell,$(in_share)'/zsh/site-functions: _aspawn')
	$(call tell,$(in_share)'/fish/vendor_completions.d: aspawn.fish')

uninstall: uninstall-completions
uninstall-completions:
	$(absolute)for file in $(completions); do rm -f $(in_share)/"$$file"; done
