/* riscv32: clone and clone3, as with 64 bits. */
#include "../riscv64/clone.S"
