/* Chooses the algorithm by the shape of one image, the size of the type and the width of a vector, never by
   the number of threads or the batch size, so that the bits of the result depend on neither. Each rule counts
   work; the constants were measured (benchmarks/cpu.py). STRICT excludes winograd, winograd2 and winograd4,
   whose error bounds follow from more than each cell's own sum; winograd4 runs with FAST only. A plan has its
   filter transformed once, so the same convolution may choose a winograd there and none without a plan. */
#ifndef TEACHCONV_CHOOSE_H
#define TEACHCONV_CHOOSE_H
#include "phase_axis.h"
#include "winograd_pieces.h"

/* The algorithms to choose from, by their names in cython_backend.ALGORITHMS. Its other two, direct and im2col,
   are loops of _kernels.pyx. */
#define ALGORITHMS(X)           \
    X(ROW_GEMM, "row_gemm")     \
    X(WINOGRAD, "winograd")     \
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

/* What a choice depends on beside the problem. */
typedef struct {
    ptrdiff_t lanes; /* of a vector */
    int precision;
    int planned; /* whether the filter is transformed already */
} choice;

/* Returns the channels that are computed where whole vectors are. */
static inline ptrdiff_t in_vectors(ptrdiff_t channels, ptrdiff_t lanes) {
    return (channels + lanes - 1) / lanes * lanes;
}

/* Work is counted in half cycles times lanes: a vector of multiply-adds takes half a cycle. */
static inline double direct_work(const conv_problem *s, ptrdiff_t lanes) {
    return (double)count_taps(s) * s->out_planes * s->out_rows * s->out_cols * s->in_channels
           * in_vectors(s->out_channels, lanes) / 2;
}

/* The same for winograd. Its transforms add work for each slot of V, element of the outputs and slot of the
   filter: these wait for memory most of the time, and do not pay if there are few tiles. */
static inline double winograd_work(int tile, const conv_problem *s, ptrdiff_t lanes, double per_filter_slot) {
    const winograd_axis rows = winograd_rows(tile, s), cols = winograd_cols(tile, s);
    const double in = (double)in_vectors(s->in_channels, lanes),
                 out = (double)in_vectors(s->out_channels, lanes),
                 tiles = (double)rows.tiles * cols.tiles, slots = rows.slots * cols.slots,
                 elements = elements_of(rows.form) * elements_of(cols.form), per_slot = tile == 2 ? 5.6 : 10,
                 per_element = tile == 2 ? 6.3 : 2.8,
                 /* V of a plane serves all the taps in depth that read it */
                 planes = (double)smaller(s->in_planes, s->out_planes * s->filter_planes);
    return s->filter_planes * slots * tiles * s->out_planes * s->in_channels * out / 2
           + tiles * (planes * per_slot * slots * in + s->out_planes * per_element * elements * out)
           + s->filter_planes * per_filter_slot * slots * s->in_channels * s->out_channels;
}

/* Whether vectors are filled: half empty ones are not worth a transform. */
static inline int fills_vectors(const conv_problem *s, ptrdiff_t lanes) {
    return s->in_channels >= lanes && s->out_channels >= 2 * lanes;
}

/* The work of a convolution, or of all phases of an input gradient, by each of three algorithms. */
typedef struct {
    double direct;    /* row_gemm, phases or pixel_gemm */
    double two, four; /* winograd, with tiles of so many outputs along each axis */
} work;

/* filter_two, filter_four: the work for each number of the transformed filter. */
static inline void add_work(work *sum, const conv_problem *s, const choice *c, double filter_two,
                            double filter_four) {
    const int can = fills_vectors(s, c->lanes) && winograd_can(s);
    const double direct = direct_work(s, c->lanes);
    sum->direct += direct;
    sum->two += can ? winograd_work(2, s, c->lanes, filter_two) : direct;
    /* at a stride the larger tile gains little: it reads the inputs in several parts */
    sum->four += can && s->stride_rows == 1 && s->stride_cols == 1 ? winograd_work(4, s, c->lanes, filter_four)
                                                                   : direct;
}

/* The filter is transformed and read, or in a plan read alone. */
static inline void add_gather(work *sum, const conv_problem *s, const choice *c) {
    if (c->planned) add_work(sum, s, c, 1.5, 3);
    /* above 256 channels a panel of F(4x4, 3x3)'s filters exceeds the second-level cache */
    else add_work(sum, s, c, 9.4, s->in_channels <= 256 ? 11.1 : 16.7);
}

/* Returns the winograd that is faster than `direct`, if the precision allows one. */
static inline int fastest(const work *sum, const conv_problem *p, int precision, int direct) {
    const double least = sum->two < sum->direct ? sum->two : sum->direct;
    if (precision == FAST && sum->four < 0.95 * least) return WINOGRAD4;
    if (precision == STRICT || sum->two >= 0.95 * sum->direct) return direct;
    /* winograd2 is the name for 3x3 at stride 1 */
    return p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1 && p->stride_cols == 1 ? WINOGRAD2
                                                                                                    : WINOGRAD;
}

static inline int choose_forward(const conv_problem *p, const choice *c) {
    work sum = {0};
    if (p->groups == p->in_channels && p->groups > 1 && p->filter_planes == 1)
        return DEPTHWISE; /* mark: choice of depthwise/y */
    add_gather(&sum, p, c);
    /* mark: choice of winograd/y winograd2/y winograd4/y row_gemm/y */
    return fastest(&sum, p, c->precision, ROW_GEMM);
}

/* Chooses the algorithm for dx of the problem p. phases computes whole vectors of in_channels, part of which
   is wasted if the channels are few; col2im fills its vectors with all the taps and then adds them up. */
static inline int choose_input_gradient(const conv_problem *p, const choice *c) {
    work sum = {0};
    if (p->groups == p->in_channels && p->groups > 1) return DEPTHWISE; /* mark: choice of depthwise/dx */
    /* at larger strides, counting the work of all phases would take long */
    if (winograd_can_input(p) && p->stride_planes <= 8 && p->stride_rows <= 8 && p->stride_cols <= 8)
        for (ptrdiff_t i = 0; i < p->stride_planes * p->stride_rows * p->stride_cols; i++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, i / p->stride_cols / p->stride_rows,
                                          i / p->stride_cols % p->stride_rows, i % p->stride_cols, &offset);
            add_gather(&sum, &g.shape, c);
        }
    /* mark: choice of winograd/dx winograd2/dx winograd4/dx */
    const int gather = fastest(&sum, p, c->precision, PHASES);
    const conv_problem merged = merge_columns(p);
    const ptrdiff_t taps = merged.filter_rows * merged.filter_cols, channels = merged.in_channels;
    if (gather != PHASES) return gather;
    return p->groups == 1 && taps > 1 /* mark: choice of col2im phases */
                   && 2 * taps * channels <= taps * in_vectors(channels, c->lanes)
               ? COL2IM
               : PHASES;
}

static inline int choose_filter_gradient(const conv_problem *p, const choice *c) {
    if (p->groups == p->in_channels && p->groups > 1) return DEPTHWISE; /* mark: choice of depthwise/dw */
    work sum = {0};
    /* every block of tiles reads and writes all products, which are as many as the filter transformed */
    add_work(&sum, p, c, 22, 24);
    /* mark: choice of winograd/dw winograd4/dw pixel_gemm */
    const int found = fastest(&sum, p, c->precision, PIXEL_GEMM);
    return found == WINOGRAD2 ? WINOGRAD : found; /* this name has no filter gradient */
}
#endif
