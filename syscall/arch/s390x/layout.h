/* s390x: what its kernel does otherwise than most. */
#ifndef PSYS_S390X_LAYOUT_H
#define PSYS_S390X_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL /* there, and not needed */

/* clone takes stack before flags (CONFIG_CLONE_BACKWARDS2). */
#define PSYS_CLONE_BACKWARDS2

#endif
