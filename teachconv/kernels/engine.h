/* Every kernel for every instruction set and type, and the functions that Python calls. How each kernel
   works is drawn at the head of its header; kernels_of_one_isa.h lists them. */
#ifndef TEACHCONV_ENGINE_H
#define TEACHCONV_ENGINE_H
#include "problem.h"
#include "isa.h"
#include "gather.h"
#include "phase_axis.h"
#include "choose.h"

#define REAL_IS_DOUBLE 0
#define ISA_LEVEL 0
#include "kernels_of_one_isa.h"
#undef ISA_LEVEL
#if defined(TEACHCONV_X86)
#define ISA_LEVEL 1
#include "kernels_of_one_isa.h"
#undef ISA_LEVEL
#define ISA_LEVEL 2
#include "kernels_of_one_isa.h"
#undef ISA_LEVEL
#endif
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 1
#define ISA_LEVEL 0
#include "kernels_of_one_isa.h"
#undef ISA_LEVEL
#if defined(TEACHCONV_X86)
#define ISA_LEVEL 1
#include "kernels_of_one_isa.h"
#undef ISA_LEVEL
#define ISA_LEVEL 2
#include "kernels_of_one_isa.h"
#undef ISA_LEVEL
#endif
#undef REAL_IS_DOUBLE

/* One function per type, which picks the instruction set when it is called. */
#if defined(TEACHCONV_X86)
#define PICK_ISA(result, f, type, arguments)                       \
    (teachconv_isa() == ISA_AVX512 ? f##_##type##_avx512 arguments \
     : teachconv_isa() == ISA_AVX2 ? f##_##type##_avx2 arguments   \
                                   : f##_##type##_base arguments)
#else
#define PICK_ISA(result, f, type, arguments) (f##_##type##_base arguments)
#endif

#define DISPATCH(result, f, type, parameters, arguments) \
    static inline result f##_##type parameters { return PICK_ISA(result, f, type, arguments); }

/* Three functions of an algorithm whose filter can be packed: size, pack, run. */
#define PACKED_ALGORITHM(f, real, type)                                                                     \
    DISPATCH(ptrdiff_t, f##_packed_bytes, type, (const conv_problem *p), (p))                               \
    DISPATCH(int, f##_pack, type, (const conv_problem *p, const real *w, real *packed, int threads),        \
             (p, w, packed, threads))                                                                       \
    DISPATCH(int, f##_run, type,                                                                            \
             (const conv_problem *p, const real *data, const real *w, const real *packed, const real *bias, \
              int relu, real *result, int threads),                                                         \
             (p, data, w, packed, bias, relu, result, threads))

#define PUBLIC_FUNCTIONS(real, type)                                                                      \
    PACKED_ALGORITHM(row_gemm, real, type)        /* forward */                                           \
    PACKED_ALGORITHM(winograd2, real, type)       /* forward */                                           \
    PACKED_ALGORITHM(phases, real, type)          /* input gradient, transposed */                        \
    PACKED_ALGORITHM(winograd2_input, real, type) /* input gradient */                                    \
    PACKED_ALGORITHM(col2im, real, type)          /* input gradient, transposed */                        \
    DISPATCH(int, pixel_gemm_run, type,                                                                   \
             (const conv_problem *p, const real *x, const real *dy, real *dw, int threads),               \
             (p, x, dy, dw, threads))                                                                     \
    DISPATCH(int, depthwise_run, type,                                                                    \
             (const conv_problem *p, const real *x, const real *w, const real *packed, const real *bias,  \
              int relu, real *y, int threads),                                                            \
             (p, x, w, packed, bias, relu, y, threads))                                                   \
    DISPATCH(int, depthwise_input_run, type,                                                              \
             (const conv_problem *p, const real *dy, const real *w, const real *packed, const real *bias, \
              int relu, real *dx, int threads),                                                           \
             (p, dy, w, packed, bias, relu, dx, threads))                                                 \
    DISPATCH(int, depthwise_filter_run, type,                                                             \
             (const conv_problem *p, const real *x, const real *dy, real *dw, int threads),               \
             (p, x, dy, dw, threads))                                                                     \
    DISPATCH(int, all_finite, type, (const real *x, ptrdiff_t count), (x, count))

PUBLIC_FUNCTIONS(float, f32)
PUBLIC_FUNCTIONS(double, f64)
#endif
