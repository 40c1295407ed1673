#!/bin/sh
# SPDX-License-Identifier: MIT
# Who takes results arms the queue's descriptor, and then looks for results once more. Without a
# barrier between the store and that load a processor may exchange them: then the server sees a
# queue that is not armed, the taker no result, and nobody is notified. The function that arms has a
# full barrier behind its last store, on every architecture.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Keeps the function that arms as one of its own.
cat >"$work/kept.c" <<'C'
#include "aspawn/queue/results.c"
void *kept(void);
void *kept(void) { return (void *)(uintptr_t)rearm_fd; }
C

# Extended regular expressions of an instruction: a store to memory, and a full barrier.
patterns()
{
	case $1 in
	x86_64* | i386*) store='(xchg|mov[lq]?[ \t].*[)]$)' barrier='mfence|lock|xchg' ;;
	aarch64*) store='(st[a-z]*|swp[a-z]*)[ \t]' barrier='dmb[ \t]+ish$' ;;
	arm*) store='str[a-z.]*[ \t]' barrier='dmb[ \t]+ish$|__sync_synchronize' ;;
	powerpc*) store='st[a-z]*\.?[ \t]' barrier='(hw)?sync$' ;;
	riscv*) store='(sw|sd|sc[.].*|amo[a-z.]*)[ \t]' barrier='fence([ \t]+rw, *rw)?$' ;;
	mips*) store='(sw|sd|sc)[ \t]' barrier='sync$' ;;
	s390x*) store='(st[a-z]*|mv[a-z]*|cs)[ \t]' barrier='bcr[ \t]+1[45], ?(%r)?0' ;;
	loongarch*) store='(st[.][a-z]|sc[.][a-z]|am[a-z_.]*)[ \t]' barrier='dbar[ \t]+(0|16)$' ;;
	sparc*) store='(st[a-z]*|cas[a-z]*|swap)[ \t]' barrier='membar[ \t]+.*#StoreLoad' ;;
	*) return 1 ;;
	esac
}

# ends_with_barrier "COMPILER": prints the function unless a barrier follows its last store.
ends_with_barrier()
{
	# shellcheck disable=SC2086 # a word each
	$1 -std=c11 -ffreestanding -fno-asynchronous-unwind-tables -DPSYS_NO_UNPREFIXED \
		-fno-stack-protector -I. -Iinclude -w -S "$work/kept.c" -o "$work/kept.s" &&
		awk -v store="^[ \t]*($store)" -v barrier="^[ \t]*($barrier|.*[ \t]($barrier))" '
			/^\.?rearm_fd:/ { inside = 1 }
			/^[ \t]*\.size[ \t]+rearm_fd/ { inside = 0 }
			!inside { next }
			{ sub(/[ \t]*(\/\/|##|# |@ |!).*/, ""); sub(/[ \t]+$/, ""); text = text $0 "\n" }
			$0 ~ store { stored++; fenced = 0 }
			stored && $0 ~ barrier { fenced = 1 }
			END { if (!stored || !fenced) { print text; exit 1 } }' "$work/kept.s"
}

# Of each target: its name, triple, compiler or nothing, flags.
printf 'include $(sort $(wildcard syscall/arch/*/target.mk))\n$(foreach name,$(sort $(TARGETS)),$(info %s))\nall:;@:\n' \
	'$(name)|$($(name).triple)|$($(name).cc)|$($(name).flags)' |
	env -u MAKEFLAGS -u MAKELEVEL make -s -f - >"$work/targets"
while IFS='|' read -r name triple own flags; do
	compiler=${own:-clang-19}
	title="a store that arms is followed by a barrier: $name"
	patterns "$triple" || continue # it has no kernel for more than one processor
	if ! command -v "$compiler" >/dev/null; then
		lacks "$title" "$compiler"
	else
		[ "$own" ] || compiler="$compiler --target=$triple"
		check "$title" ends_with_barrier "$compiler -O2 $flags"
	fi
done <"$work/targets"
for compiler in clang gcc aarch64-linux-gnu-gcc; do
	title="a store that arms is followed by a barrier: $compiler"
	if command -v "$compiler" >/dev/null; then
		patterns "$($compiler -dumpmachine)" && check "$title" ends_with_barrier "$compiler -O2"
	else
		lacks "$title" "$compiler"
	fi
done
finish
