/* The kernels for float on AVX-512. */
#define REAL_IS_DOUBLE 0
#define ISA_LEVEL 2
#define KERNEL_TABLE teachconv_f32_avx512
#include "kernels_of_one_isa.h"
