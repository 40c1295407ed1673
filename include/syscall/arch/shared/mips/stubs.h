/* SPDX-License-Identifier: MIT */
/*
 * mips64, the n64 and n32 ABIs: the register-level stubs (call.h says which register is
 * which). Those of o32, with arguments on the stack, are in ../../mips/call.h.
 */
#ifndef PSYS_MIPS_STUBS_H
#define PSYS_MIPS_STUBS_H

#include "../word.h"

#ifndef PSYS_DECLARATIONS_ONLY
#define PSYS_CLOBBERS \
	"$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", PSYS_HI_LO "memory"

PSYS_INLINE psys_word psys_call0(psys_word nr)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall" : "+r"(r2), "=r"(r7) : : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call1(psys_word nr, psys_word a1)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall" : "+r"(r2), "=r"(r7) : "r"(r4) : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call2(psys_word nr, psys_word a1, psys_word a2)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4), "r"(r5)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call3(psys_word nr, psys_word a1, psys_word a2, psys_word a3)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call4(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7") = a4;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call5(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7") = a4;
	register psys_word r8 __asm__("$8") = a5;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6), "r"(r8)
			 : "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call6(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5, psys_word a6)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7") = a4;
	register psys_word r8 __asm__("$8") = a5;
	register psys_word r9 __asm__("$9") = a6;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6), "r"(r8), "r"(r9)
			 : PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

#undef PSYS_CLOBBERS
#undef PSYS_HI_LO

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
