/* The kernels for double on the compiler's default instruction set. */
#define REAL_IS_DOUBLE 1
#define ISA_LEVEL 0
#define KERNEL_TABLE teachconv_f64_base
#include "kernels_of_one_isa.h"
