/* Chooses the algorithm by the shape of one image, the size of the type and the width of a vector, never by
   the number of threads or the batch size, so that the bits of the result depend on neither. Each rule counts
   work; the constants were measured (benchmarks/cpu.py). `strict` excludes winograd2, whose error bound
   follows from the largest sum of the result and not from each cell's own sum. */
#ifndef TEACHCONV_CHOOSE_H
#define TEACHCONV_CHOOSE_H
#include "gather.h"

enum {
    USE_ROW_GEMM = 1,
    USE_WINOGRAD2 = 2,
    USE_PHASES = 3,
    USE_COL2IM = 4,
    USE_PIXEL_GEMM = 5,
    USE_DEPTHWISE = 6
};

/* Returns whether winograd2 should be faster than row_gemm. Both take half a cycle per vector of
   multiply-adds. winograd2 saves 20 of 36 products, but adds work per tile (about 100 additions per input
   vector, 24 per output vector) and per filter (9 taps read and 16 written, about 150 cycles, most of them
   waiting for memory), which does not pay if there are few tiles. */
static inline int winograd2_pays(const conv_problem *p, ptrdiff_t lanes) {
    const double in = (double)p->in_channels, out = (double)p->out_channels,
                 tiles = (double)((p->out_rows + 1) / 2) * ((p->out_cols + 1) / 2);
    const double direct =
        9.0 * p->out_rows * p->out_cols * in * out / 2; /* multiply-add vectors, times lanes */
    const double products = 16 * tiles * in * out / 2, transforms = tiles * (55 * in + 40 * out),
                 filter = 150 * in * out;
    return p->in_channels >= lanes && p->out_channels >= 2 * lanes
           && products + transforms + filter < 0.95 * direct;
}

static inline int choose_forward(const conv_problem *p, ptrdiff_t lanes, int strict) {
    const int winograd_shape = p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1
                               && p->stride_cols == 1 && p->dilation_rows == 1 && p->dilation_cols == 1
                               && p->groups == 1;
    if (p->groups == p->in_channels && p->groups > 1) return USE_DEPTHWISE; /* mark: choice of depthwise/y */
    /* mark: choice of winograd2/y row_gemm/y */
    return winograd_shape && !strict && winograd2_pays(p, lanes) ? USE_WINOGRAD2 : USE_ROW_GEMM;
}

/* Chooses the algorithm for dx of the problem p. phases computes whole vectors of in_channels, part of which
   is wasted if the channels are few; col2im fills its vectors with all the taps and then adds them up. */
static inline int choose_input_gradient(const conv_problem *p, ptrdiff_t lanes, int strict) {
    conv_problem back = *p; /* as seen by winograd2: a convolution from dy to dx */
    back.in_channels = p->out_channels, back.out_channels = p->in_channels, back.out_rows = p->in_rows,
    back.out_cols = p->in_cols;
    back.in_rows = p->out_rows, back.in_cols = p->out_cols;
    if (p->groups == p->in_channels && p->groups > 1) return USE_DEPTHWISE; /* mark: choice of depthwise/dx */
    /* mark: choice of winograd2/dx */
    if (choose_forward(&back, lanes, strict) == USE_WINOGRAD2) return USE_WINOGRAD2;
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, channels = p->in_channels;
    return p->groups == 1 && taps > 1 /* mark: choice of col2im phases */
                   && 2 * taps * channels <= taps * ((channels + lanes - 1) / lanes * lanes)
               ? USE_COL2IM
               : USE_PHASES;
}

static inline int choose_filter_gradient(const conv_problem *p) {
    /* mark: choice of depthwise/dw pixel_gemm */
    return p->groups == p->in_channels && p->groups > 1 ? USE_DEPTHWISE : USE_PIXEL_GEMM;
}
#endif
