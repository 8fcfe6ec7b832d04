/* The kernels for double on AVX-512. */
#define REAL_IS_DOUBLE 1
#define ISA_LEVEL 2
#define KERNEL_TABLE teachconv_f64_avx512
#include "kernels_of_one_isa.h"
