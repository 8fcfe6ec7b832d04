/* Chooses the algorithm by the shape of one image, the size of the type and the width of a vector, never by
   the number of threads or the batch size, so that the bits of the result depend on neither. Each rule counts
   work; the constants were measured (benchmarks/cpu.py). STRICT excludes winograd2 and winograd4, whose error
   bounds follow from more than each cell's own sum; winograd4 runs with FAST only. */
#ifndef TEACHCONV_CHOOSE_H
#define TEACHCONV_CHOOSE_H
#include "gather.h"

/* The algorithms to choose from, by their names in cython_backend.ALGORITHMS. Its other two, direct and im2col,
   are loops of _kernels.pyx. */
#define ALGORITHMS(X)           \
    X(ROW_GEMM, "row_gemm")     \
    X(WINOGRAD2, "winograd2")   \
    X(WINOGRAD4, "winograd4")   \
    X(COL2IM, "col2im")         \
    X(PHASES, "phases")         \
    X(PIXEL_GEMM, "pixel_gemm") \
    X(DEPTHWISE, "depthwise")

#define NUMBER_OF_ALGORITHM(algorithm, name) algorithm,
enum { ALGORITHMS(NUMBER_OF_ALGORITHM) ALGORITHM_COUNT };

/* precision="strict", the default, and "fast" */
enum { STRICT = 0, DEFAULT = 1, FAST = 2 };

/* Returns the channels that are computed where whole vectors are. */
static inline ptrdiff_t in_vectors(ptrdiff_t channels, ptrdiff_t lanes) {
    return (channels + lanes - 1) / lanes * lanes;
}

/* Returns half cycles times lanes of Winograd with tiles of tile x tile outputs. Its products take half a cycle
   per vector of multiply-adds; the transforms add work per tile (`per_input` for each input vector, `per_output`
   for each output vector) and per filter (9 taps read and 16 or 36 written, most of the time waiting for
   memory), which does not pay if there are few tiles. */
static inline double winograd_work(const conv_problem *p, ptrdiff_t lanes, int tile, double per_input,
                                   double per_output, double per_filter) {
    const double in = (double)in_vectors(p->in_channels, lanes), out = (double)in_vectors(p->out_channels, lanes),
                 tiles = (double)((p->out_rows + tile - 1) / tile) * ((p->out_cols + tile - 1) / tile);
    return (tile + 2) * (tile + 2) * tiles * p->in_channels * out / 2
           + tiles * (per_input * in + per_output * out) + per_filter * p->in_channels * p->out_channels;
}

/* Returns the fastest of row_gemm, winograd2 and winograd4 that the precision allows, for 3x3 at stride 1. */
static inline int fastest_for_3x3(const conv_problem *p, ptrdiff_t lanes, int precision) {
    if (p->in_channels < lanes || p->out_channels < 2 * lanes) return ROW_GEMM;
    const double direct
        = 9.0 * p->out_rows * p->out_cols * p->in_channels * in_vectors(p->out_channels, lanes) / 2,
        two = winograd_work(p, lanes, 2, 90, 100, 150),
        /* above 256 channels a panel of transformed filters exceeds the second-level cache */
        four = winograd_work(p, lanes, 4, 150, 100, p->in_channels <= 256 ? 400 : 600);
    if (precision == FAST && four < 0.95 * (two < direct ? two : direct)) return WINOGRAD4;
    return precision != STRICT && two < 0.95 * direct ? WINOGRAD2 : ROW_GEMM;
}

static inline int choose_forward(const conv_problem *p, ptrdiff_t lanes, int precision) {
    const int winograd_shape = p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1
                               && p->stride_cols == 1 && p->dilation_rows == 1 && p->dilation_cols == 1
                               && p->groups == 1;
    if (p->groups == p->in_channels && p->groups > 1) return DEPTHWISE; /* mark: choice of depthwise/y */
    /* mark: choice of winograd2/y winograd4/y row_gemm/y */
    return winograd_shape ? fastest_for_3x3(p, lanes, precision) : ROW_GEMM;
}

/* Chooses the algorithm for dx of the problem p. phases computes whole vectors of in_channels, part of which
   is wasted if the channels are few; col2im fills its vectors with all the taps and then adds them up. */
static inline int choose_input_gradient(const conv_problem *p, ptrdiff_t lanes, int precision) {
    conv_problem back = *p; /* as seen by Winograd: a convolution from dy to dx */
    back.in_channels = p->out_channels, back.out_channels = p->in_channels, back.out_rows = p->in_rows,
    back.out_cols = p->in_cols;
    back.in_rows = p->out_rows, back.in_cols = p->out_cols;
    if (p->groups == p->in_channels && p->groups > 1) return DEPTHWISE; /* mark: choice of depthwise/dx */
    const int gather = choose_forward(&back, lanes, precision);
    /* mark: choice of winograd2/dx winograd4/dx */
    if (gather == WINOGRAD2 || gather == WINOGRAD4) return gather;
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, channels = p->in_channels;
    return p->groups == 1 && taps > 1 /* mark: choice of col2im phases */
                   && 2 * taps * channels <= taps * in_vectors(channels, lanes)
               ? COL2IM
               : PHASES;
}

static inline int choose_filter_gradient(const conv_problem *p) {
    /* mark: choice of depthwise/dw pixel_gemm */
    return p->groups == p->in_channels && p->groups > 1 ? DEPTHWISE : PIXEL_GEMM;
}
#endif
