# To take the library along: as four files, or as an archive of the tree.

amalgamation := $(BUILD_DIR)/amalgamation

.PHONY: amalgamation
amalgamation: $(amalgamation)/aspawn.c ## the library as four files: BUILD_DIR/amalgamation/aspawn.h, aspawn.c, aspawn.S and psys.h

$(amalgamation)/aspawn.c: tools/amalgamate.py LICENSE $(shell find include syscall aspawn command -type f)
	tools/amalgamate.py $(@D)

.PHONY: test-amalgamation
test-amalgamation: amalgamation ## the four files, by each compiler for each architecture, and the suite with them
	prove --timer -j2 $(wildcard test/amalgamation/*.t)
