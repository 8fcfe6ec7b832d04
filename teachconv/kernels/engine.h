/* What the compiled module calls: for each type a table of kernels, on the instruction set in use. How each
   kernel works is drawn at the head of its header; kernels_of_one_isa.h lists them. */
#ifndef TEACHCONV_ENGINE_H
#define TEACHCONV_ENGINE_H
#include "problem.h"
#include "isa.h"
#include "choose.h"

/* The forward op or the input gradient by one algorithm. The arrays are of the table's type; packed and bias
   may be NULL. packed_bytes and pack are NULL where the filter is used as it is. */
typedef struct {
    ptrdiff_t (*packed_bytes)(const conv_problem *p);
    int (*pack)(const conv_problem *p, const void *w, void *packed, int threads);
    int (*run)(const conv_problem *p, const void *data, const void *w, const void *packed, const void *bias,
               int relu, void *result, int threads);
} conv_rung;

/* The filter gradient by one algorithm. */
typedef int (*filter_gradient)(const conv_problem *p, const void *x, const void *dy, void *dw, int threads);

enum { ROW_GEMM, WINOGRAD2, WINOGRAD2_INPUT, PHASES_INPUT, COL2IM_INPUT, DEPTHWISE, DEPTHWISE_INPUT, RUNGS };

typedef struct {
    ptrdiff_t lanes; /* of a vector */
    conv_rung rungs[RUNGS];
    filter_gradient pixel_gemm, depthwise;
    int (*all_finite)(const void *x, ptrdiff_t count);
} kernel_table;

const kernel_table *kernels_of(int real_is_double);

#endif
