/* The kernels for float on AVX2. */
#define REAL_IS_DOUBLE 0
#define ISA_LEVEL 1
#define KERNEL_TABLE teachconv_f32_avx2
#include "kernels_of_one_isa.h"
