/* The kernels for double on AVX2. */
#define REAL_IS_DOUBLE 1
#define ISA_LEVEL 1
#define KERNEL_TABLE teachconv_f64_avx2
#include "kernels_of_one_isa.h"
