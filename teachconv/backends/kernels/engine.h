/* What the compiled module calls: a table of kernels for each type, on the instruction set in use. The
   comment at the head of each kernel's header shows how it works; kernels_of_one_isa.h lists the headers. */
#ifndef TEACHCONV_ENGINE_H
#define TEACHCONV_ENGINE_H
#include "problem.h"
#include "crew.h"
#include "isa.h"
#include "choose.h"

/* A rung is one algorithm for the forward op or the input gradient. The arrays have the table's type; packed
   and bias may be NULL. packed_bytes and pack are NULL if the filter is used without packing. */
typedef struct {
    ptrdiff_t (*packed_bytes)(const conv_problem *p);
    int (*pack)(const conv_problem *p, const void *w, void *packed, int threads);
    int (*run)(const conv_problem *p, const void *data, const void *w, const void *packed, const void *bias,
               int relu, void *result, int threads);
} conv_rung;

/* One algorithm for the filter gradient. */
typedef int (*filter_gradient)(const conv_problem *p, const void *x, const void *dy, void *dw, int threads);

/* The kernels of each kind of call, by the number of the algorithm; those that an algorithm lacks are NULL. */
typedef struct {
    ptrdiff_t lanes; /* of a vector */
    conv_rung forward[ALGORITHM_COUNT], input_gradient[ALGORITHM_COUNT];
    filter_gradient filter_gradient[ALGORITHM_COUNT];
    int (*all_finite)(const void *x, ptrdiff_t count);
} kernel_table;

extern const char *const teachconv_algorithm_names[ALGORITHM_COUNT];

const kernel_table *kernels_of(int real_is_double);

#endif
