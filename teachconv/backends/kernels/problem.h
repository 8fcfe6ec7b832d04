/* The convolution problem, in the words of the whole project, and the size arithmetic that every kernel
   shares.

     x  [batch, in_planes, in_rows, in_cols, in_channels]                                  NDHWC
     w  [filter_planes, filter_rows, filter_cols, in_channels / groups, out_channels]      DHWIO
     y  [batch, out_planes, out_rows, out_cols, out_channels]                              NDHWC

   A volume is a stack of planes; an image is one plane, and its filter too. A kernel that knows nothing of planes
   is given images only.

   A tap is one cell (plane, row, column) of the filter. The one index law says which input it reads:
   in_index = out_index * stride - pad_before + tap * dilation. A tap whose in_index lies outside
   0..in_size-1 contributes nothing. out_rows and pad_top are given, not derived, so the outputs may extend
   beyond the inputs that the taps reach, or end before them. */
#ifndef TEACHCONV_PROBLEM_H
#define TEACHCONV_PROBLEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "paths.h"

/* One axis: the sizes of x, y and the filter along it, and the numbers of the index law. */
typedef struct {
    ptrdiff_t in, out, filter, stride, dilation, pad;
} conv_axis;

typedef struct {
    ptrdiff_t batch, in_channels, out_channels, groups;
    union { /* the axes one after the other, or each number by its name */
        conv_axis axes[3];
        struct {
            ptrdiff_t in_planes, out_planes, filter_planes, stride_planes, dilation_planes, pad_front;
            ptrdiff_t in_rows, out_rows, filter_rows, stride_rows, dilation_rows, pad_top;
            ptrdiff_t in_cols, out_cols, filter_cols, stride_cols, dilation_cols, pad_left;
        };
    };
} conv_problem;

enum { CONV_OK = 0, CONV_NO_MEMORY = 1, CONV_TOO_LARGE = 2, CONV_UNSUPPORTED = 3, CONV_OUT_OF_RANGE = 4 };

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }
static inline ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b) { return a > b ? a : b; }
static inline ptrdiff_t divide_up(ptrdiff_t a, ptrdiff_t b) { return (a + b - 1) / b; } /* a >= 0, b > 0 */
static inline ptrdiff_t round_up(ptrdiff_t a, ptrdiff_t unit) { return divide_up(a, unit) * unit; }
static inline ptrdiff_t floor_divide(ptrdiff_t a, ptrdiff_t b) {
    if (b == 1) return a; /* the usual stride; a division takes up to 90 cycles */
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}
static inline ptrdiff_t ceil_divide(ptrdiff_t a, ptrdiff_t b) { return -floor_divide(-a, b); }

/* Returns a * b, or -1 if the product overflows or a factor is -1 already, so that a product of many sizes
   needs one test. */
static inline ptrdiff_t checked_times(ptrdiff_t a, ptrdiff_t b) {
    if (a < 0 || b < 0) return -1;
    if (a != 0 && b > PTRDIFF_MAX / a) return -1;
    return a * b;
}

static inline ptrdiff_t checked_plus(ptrdiff_t a, ptrdiff_t b) {
    return a < 0 || b < 0 || a > PTRDIFF_MAX - b ? -1 : a + b;
}

/* Returns whether the size of every array, in bytes of the widest type, fits into a ptrdiff_t, and the reach of
   the taps. Checked once per problem; pads are not checked. */
static inline int problem_fits(const conv_problem *p) {
    ptrdiff_t x = p->batch, y = p->batch, w = 1;
    int fits = p->groups > 0 && p->in_channels % p->groups == 0 && p->out_channels % p->groups == 0;
    for (const conv_axis *a = p->axes; a < p->axes + 3; a++) {
        x = checked_times(x, a->in), y = checked_times(y, a->out), w = checked_times(w, a->filter);
        fits &= a->stride > 0 && a->dilation > 0
                && checked_plus(checked_times(a->out, a->stride), checked_times(a->filter, a->dilation)) >= 0;
    }
    x = checked_times(x, p->in_channels), y = checked_times(y, p->out_channels);
    w = checked_times(checked_times(w, p->in_channels), p->out_channels);
    return fits && x >= 0 && y >= 0 && w >= 0 && larger(x, larger(y, w)) < PTRDIFF_MAX / 128;
}

/* Returns how many inputs there are from an output's first tap to its last. */
static inline ptrdiff_t taps_reach(const conv_axis *a) { return (a->filter - 1) * a->dilation + 1; }

/* Finds the range first..past-1 of the output indices (or taps) i with 0 <= i * step + start < size. All
   others lie in the padding. */
static inline void indices_inside(ptrdiff_t count, ptrdiff_t step, ptrdiff_t start, ptrdiff_t size,
                                  ptrdiff_t *first, ptrdiff_t *past) {
    *first = smaller(count, larger(0, ceil_divide(-start, step)));
    *past = larger(*first, smaller(count, ceil_divide(size - start, step)));
}

/* Returns the number of multiply-adds of a forward pass. A double is exact enough to choose by. */
static inline double problem_macs(const conv_problem *p) {
    return (double)p->batch * p->out_planes * p->out_rows * p->out_cols * p->out_channels * p->filter_planes
           * p->filter_rows * p->filter_cols * (p->in_channels / p->groups);
}

static inline ptrdiff_t count_taps(const conv_problem *p) {
    return p->filter_planes * p->filter_rows * p->filter_cols;
}

/* Return the output pixels of the batch, the numbers of one plane of x, and those of one of its volumes. */
static inline ptrdiff_t count_pixels(const conv_problem *p) {
    return p->batch * p->out_planes * p->out_rows * p->out_cols;
}
static inline ptrdiff_t in_plane_numbers(const conv_problem *p) {
    return p->in_rows * p->in_cols * p->in_channels;
}
static inline ptrdiff_t in_image_numbers(const conv_problem *p) { return p->in_planes * in_plane_numbers(p); }

/* Finds the taps in depth that an output plane has inside the volume. The first of them reads plane
   first_plane + first * dilation_planes. Returns first_plane, which may lie in the padding. */
static inline ptrdiff_t planes_inside(const conv_problem *p, ptrdiff_t out_plane, ptrdiff_t *first, ptrdiff_t *past) {
    const ptrdiff_t first_plane = out_plane * p->stride_planes - p->pad_front;
    indices_inside(p->filter_planes, p->dilation_planes, first_plane, p->in_planes, first, past);
    return first_plane;
}

/* Multiply-adds per thread that are worth starting it: about 50 microseconds of one thread. With fewer, two
   threads took longer than one. The fuzzer sets fewer. */
#if !defined(TEACHCONV_ENOUGH_MACS)
#define TEACHCONV_ENOUGH_MACS 5e6
#endif

/* Waking threads takes some microseconds, so a small problem uses one thread. */
static inline int useful_threads(double macs, int threads) {
    const double enough = TEACHCONV_ENOUGH_MACS;
    if (threads <= 1 || macs < 2 * enough) return 1;
    return macs / enough < threads ? (int)(macs / enough) : threads;
}

/* The most scratch memory that one thread allocates, not counting the packed or transformed filter: kernels
   work in blocks that fit. If even the smallest block does not fit, it is allocated anyway; each header says
   what that block is, such as one patch or one pixel of a row. */
#define SCRATCH_BYTES ((ptrdiff_t)4 * 1024 * 1024)

/* Inputs and results larger than this, together, are taken to exceed the caches: half of the third level of
   32 MB that some processors have, which other cores use too. The fuzzer sets fewer. */
#if !defined(TEACHCONV_STREAM_BYTES)
#define TEACHCONV_STREAM_BYTES (16 * 1024 * 1024)
#endif
#define STREAM_BYTES ((double)TEACHCONV_STREAM_BYTES)

#define LINE_BYTES 64 /* of a cache line */

/* Rounds a count of numbers up to whole cache lines (16 numbers are one line or two), so that several arrays
   of any type can share one block of scratch and each begins aligned. */
static inline ptrdiff_t whole_lines(ptrdiff_t numbers) { return round_up(numbers, 16); }

/* Allocates scratch in whole cache lines; returns NULL if there is no memory or `bytes` is negative. It is freed
   at the end of the call, and kept for a later one: at most KEPT_BYTES by all threads of the process together. */
#define KEPT_BYTES ((ptrdiff_t)64 * 1024 * 1024)
void *new_scratch(ptrdiff_t bytes);
void free_scratch(void *block);

/* Sets how many bytes are kept from now on, and frees what is above. */
void keep_scratch(ptrdiff_t bytes);

/* The same memory for arrays: the functions of an allocator of NumPy's, version 1 of PyDataMem_Handler. An array owns its
   block until it is freed, in whatever thread, so nobody else is lent it. */
void *new_array(void *unused, size_t bytes);
void *new_zeros(void *unused, size_t count, size_t each);
void *resized_array(void *unused, void *memory, size_t bytes);
void free_array(void *unused, void *memory, size_t unreliable);

#endif
