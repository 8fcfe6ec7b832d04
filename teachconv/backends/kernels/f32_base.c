/* The kernels for float on the compiler's default instruction set. */
#define REAL_IS_DOUBLE 0
#define ISA_LEVEL 0
#define KERNEL_TABLE teachconv_f32_base
#include "kernels_of_one_isa.h"
