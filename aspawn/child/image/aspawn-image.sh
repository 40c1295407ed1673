#!/bin/sh
# SPDX-License-Identifier: MIT
# Links the image, the program that a command of another user executes first:
#
#	aspawn-image.sh FILE COMPILER [OPTION...]
#
# COMPILER may be several words ("ccache gcc"). OPTIONs may be all options of a program: the image
# gets the options that choose an architecture or a linker. The script fails, and leaves no FILE, if
# the compiler cannot link a static program without a libc: the library then copies memory instead.
set -eu
here=$(dirname "$0")
image=$1
shift

taken=all # takes words that are no option: all, one, or none
for word; do
	shift
	case $word in
	-target) taken=one ;;
	-mllvm) taken='' && continue ;;
	-m* | --target=* | -fuse-ld=* | -DASPAWN_IMAGE_BUILD=*) taken= ;;
	-*) taken='' && continue ;;
	*) [ "$taken" ] || continue; [ $taken = all ] || taken= ;;
	esac
	set -- "$@" "$word"
done

# The n64 ABI has only position-independent calls.
if "$@" -w -dM -E -x c /dev/null | grep -q '_MIPS_SIM _ABI64'; then position=-fPIE; else position=-fno-pic; fi

# To save space gcc calls functions of libgcc on some architectures.
libgcc=$("$@" -print-libgcc-file-name)
[ -e "$libgcc" ] || libgcc=

if [ -e "$here/aspawn-image.c" ]; then # the amalgamation has these files
	set -- "$@" "$here/aspawn-image.c" "$here/aspawn-image.S" -Wl,-T,"$here/aspawn-image.ld"
else
	tree=$here/../../..
	arch=$("$@" -w -ffreestanding -I"$tree/include" -include syscall/arch.h -M -x c /dev/null |
		sed -n 's|.*/arch/\([a-z0-9_]*\)/call\.h.*|\1|p')
	# Not -fcf-protection: image.ld discards the note that asks for it.
	# shellcheck disable=SC2046 # a word each
	set -- "$@" -I"$tree/include" $(sed -n "s/#.*//; s/-fcf-protection=[a-z]*//; s/^$arch\.cflags := //p" "$tree/syscall/arch/$arch/target.mk")
	for file in "$tree/syscall/arch/$arch"/*.S; do
		[ "${file##*/}" = clone.S ] || set -- "$@" "$file"
	done
	set -- "$@" "$here/program.c" -Wl,-T,"$here/image.ld"
fi

core=$(sed -n '/^-/p' "$here/../../cflags") # tools/amalgamate.py replaces this

rm -f "$image"
# shellcheck disable=SC2086 # a word each
"$@" -std=c11 $core -Oz -g0 -w -fno-asynchronous-unwind-tables "$position" -static -nostdlib -no-pie \
	-Wl,--gc-sections,--build-id=none,--no-eh-frame-hdr,-s -o "$image" ${libgcc:+"$libgcc"}
