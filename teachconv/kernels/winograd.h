/* winograd: what F(2x2, 3x3) and F(4x4, 3x3) share. The stages are in winograd_stages.h, the transforms of each in
   winograd2.h and winograd4.h.

     tile x tile outputs y of a 3x3 filter g, from size x size inputs d, size = tile + 2:

         y = A' [ (G g G') * (B' d B) ] A                                   (* element by element)

     Summed over in_channels, each of the size * size elements is a matrix product: M[e] = V[e] U[e]

                 in_channels               out_channels
        tiles  [    V[e]     ]  x  [ U[e] ]                 e = 0..size*size-1

     for each block of tiles                         (V of a block stays in the second-level cache)
       transform_inputs: d to V                      (and check the range of d while it is in registers)
       for each panel of 2 vectors of out_channels   (transform_filter: g to U; its U fits the second level)
         for each round of tiles
           for e in size*size                        (U[e] of the panel stays in the first-level cache)
             for each group of up to 14 tiles:  register_tile.h: M[e]
           transform_outputs: M to y                 (M of a round stays in the caches until it is used here)

   Order of summation in every cell: in_channel, then A' M A. It does not depend on block, round, group, panel
   or thread, so the bits are always the same.
   Non-finite, huge or tiny data: if an image has a number of 2^50 (float64: 2^450) or more, or only numbers
   below 2^-50 (2^-450) that are not all zero, row_gemm computes it again; if the filter does, row_gemm
   computes every image again. The filter must be finite, as in row_gemm.
   Scratch: V of one block, M of one round and one panel of U; V of one tile at least. */

#include "winograd_stages.h"

static inline int winograd_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1 && p->stride_cols == 1
           && p->dilation_rows == 1 && p->dilation_cols == 1 && p->groups == 1 && p->in_channels > 0;
}

/* The stages for one size of tile. */
typedef struct {
    int tile;
    void (*transform_inputs)(const conv_problem *s, const winograd_layout *l, const real *x, ptrdiff_t first,
                             ptrdiff_t past, real *v, int *image_flags);
    int (*transform_filter)(const gather *g, const winograd_layout *l, const real *w, ptrdiff_t panel,
                            real *u);
    void (*multiply)(const gather *g, const winograd_layout *l, const real *v, const real *u, ptrdiff_t panel,
                     ptrdiff_t first, ptrdiff_t past, const real *bias, int relu, real *m, real *y);
} winograd_stages;

#define STAGES(name, tile)                                                                                  \
    KERNEL void name##_transform_inputs(const conv_problem *s, const winograd_layout *l, const real *x,     \
                                        ptrdiff_t first, ptrdiff_t past, real *v, int *image_flags) {       \
        winograd_transform_inputs(tile, s, l, x, first, past, v, image_flags);                              \
    }                                                                                                       \
    KERNEL int name##_transform_filter(const gather *g, const winograd_layout *l, const real *w,            \
                                       ptrdiff_t panel, real *u) {                                          \
        return winograd_transform_filter(tile, g, l, w, panel, u);                                          \
    }                                                                                                       \
    KERNEL void name##_multiply(const gather *g, const winograd_layout *l, const real *v, const real *u,    \
                                ptrdiff_t panel, ptrdiff_t first, ptrdiff_t past, const real *bias,         \
                                int relu, real *m, real *y) {                                               \
        winograd_multiply(tile, g, l, v, u, panel, first, past, bias, relu, m, y);                          \
    }                                                                                                       \
    static const winograd_stages name = {tile, name##_transform_inputs, name##_transform_filter,            \
                                         name##_multiply};
STAGES(winograd2, 2)
STAGES(winograd4, 4)
#undef STAGES

/* What all threads of one winograd_transform_filters share. */
typedef struct {
    const winograd_stages *stages;
    const gather *g;
    const winograd_layout *l;
    const real *w;
    real *u;
} winograd_filter_call;

/* Transforms one thread's panels of the filter. Returns its range flags. */
KERNEL int winograd_filter_panels(const void *call, const crew_member *me) {
    const winograd_filter_call *c = (const winograd_filter_call *)call;
    int flags = 0;
    EACH_JOB(me, panel, c->l->panels,
             flags |= c->stages->transform_filter(c->g, c->l, c->w, panel,
                                                  c->u + c->l->panel_numbers * panel));
    return flags;
}

KERNEL int winograd_transform_filters(const winograd_stages *stages, const gather *g, const real *w, real *u,
                                      int threads) {
    const winograd_layout l = winograd_lay_out(stages->tile, g, 1, threads);
    const winograd_filter_call call = {stages, g, &l, w, u};
    threads = useful_threads((double)l.depth * g->shape.out_channels * 2 * l.elements, threads);
    return in_crew(threads, winograd_filter_panels, &call);
}

INLINE ptrdiff_t winograd_filter_bytes(const winograd_stages *stages, const gather *g) {
    if (!winograd_can(&g->shape)) return 0;
    const winograd_layout l = winograd_lay_out(stages->tile, g, 1, 1);
    return checked_times(checked_times(l.panel_numbers, l.panels), sizeof(real));
}

/* What all threads of one winograd_try share. u: the transformed filter, or NULL. */
typedef struct {
    const winograd_stages *stages;
    const gather *g;
    const winograd_layout *l;
    const real *x, *w, *u, *bias;
    int relu;
    real *y;
    int *image_flags;
    ptrdiff_t shares; /* threads share the blocks; if these are few, they share each block's panels too */
} winograd_call;

enum { WINOGRAD_NO_MEMORY = 1 << 8 }; /* beside the flags of ranges.h */

/* Transforms the inputs of one block and multiplies them by one share of the panels. v, m, panel_u: see
   winograd_blocks. Returns the range flags of the filter. */
KERNEL int winograd_block(const winograd_call *c, ptrdiff_t job, real *v, real *m, real *panel_u) {
    const winograd_layout *l = c->l;
    const ptrdiff_t share = job % c->shares, first = job / c->shares * l->block_tiles,
                    past = smaller(l->tiles, first + l->block_tiles);
    int flags = 0;
    c->stages->transform_inputs(&c->g->shape, l, c->x, first, past, v, c->image_flags);
    for (ptrdiff_t panel = l->panels * share / c->shares; panel < l->panels * (share + 1) / c->shares;
         panel++) {
        if (!c->u) flags |= c->stages->transform_filter(c->g, l, c->w, panel, panel_u);
        c->stages->multiply(c->g, l, v, c->u ? c->u + l->panel_numbers * panel : panel_u, panel, first, past,
                            c->bias, c->relu, m, c->y);
    }
    return flags;
}

/* Computes one thread's blocks, with scratch of its own: V, M and one panel of U. */
KERNEL int winograd_blocks(const void *call, const crew_member *me) {
    const winograd_call *c = (const winograd_call *)call;
    const winograd_layout *l = c->l;
    const ptrdiff_t v_numbers = l->elements * l->element_step,
                    m_numbers = l->elements * l->round_tiles * 2 * LANES;
    real *v = (real *)new_scratch((v_numbers + m_numbers + (c->u ? 0 : l->panel_numbers))
                                  * (ptrdiff_t)sizeof(real));
    int flags = v ? 0 : WINOGRAD_NO_MEMORY;
    real *m = v + v_numbers, *panel_u = m + m_numbers;
    EACH_JOB_TAKEN(me, 1, job, l->blocks * c->shares,
                   if (v) flags |= winograd_block(c, job, v, m, panel_u));
    free_scratch(v);
    return flags;
}

/* Transforms and multiplies. The range flags of each image and of the filter tell the caller which images
   must be computed again. */
KERNEL int winograd_try(const winograd_stages *stages, const gather *g, const real *x, const real *w,
                        const real *u, const real *bias, int relu, real *y, int threads, int *image_flags,
                        int *filter_flags) {
    const winograd_layout l = winograd_lay_out(stages->tile, g, u != NULL, threads);
    real *own_u = NULL;
    int flags_of_u = 0;
    if (l.once && !u) {
        own_u = (real *)new_scratch(winograd_filter_bytes(stages, g));
        if (!own_u) return CONV_NO_MEMORY;
        flags_of_u = winograd_transform_filters(stages, g, w, own_u, threads);
        u = own_u;
    }
    const winograd_call call = {
        .stages = stages,
        .g = g,
        .l = &l,
        .x = x,
        .w = w,
        .u = u,
        .bias = bias,
        .relu = relu,
        .y = y,
        .image_flags = image_flags,
        .shares = threads > 1 && l.blocks < threads ? smaller(l.panels, threads) : 1,
    };
    const int flags = in_crew(threads, winograd_blocks, &call);
    free_scratch(own_u);
    *filter_flags = flags | flags_of_u;
    return flags & WINOGRAD_NO_MEMORY ? CONV_NO_MEMORY : CONV_OK;
}

/* Writes the cells whose windows lie in the padding: the bias alone. With F(4x4, 3x3) the other cells of their
   tiles leave rounding errors there. */
KERNEL void winograd_padding_only(const gather *g, const real *bias, int relu, real *y) {
    const conv_problem *s = &g->shape;
    ptrdiff_t first_row, past_row, first_col, past_col;
    /* the last tap of the first of them, and the first tap of the last, lie inside */
    indices_inside(s->out_rows, 1, 2 - s->pad_top, s->in_rows + 2, &first_row, &past_row);
    indices_inside(s->out_cols, 1, 2 - s->pad_left, s->in_cols + 2, &first_col, &past_col);
    if (past_row - first_row == s->out_rows && past_col - first_col == s->out_cols) return;
    for (ptrdiff_t i = 0; i < s->batch * s->out_rows * s->out_cols; i++) {
        const ptrdiff_t row = i / s->out_cols % s->out_rows, col = i % s->out_cols;
        if (row >= first_row && row < past_row && col >= first_col && col < past_col) continue;
        real *cell = y + i / s->out_cols / s->out_rows * g->y_image_step + row * g->y_row_step
                     + col * g->y_col_step;
        for (ptrdiff_t o = 0; o < s->out_channels; o++)
            cell[o] = !bias || (relu && bias[o] < 0) ? 0 : bias[o];
    }
}

/* Computes the gather g, which is a whole problem or all of its input gradient; row_gemm computes again what
   is out of range. */
KERNEL int winograd_gather(const winograd_stages *stages, const conv_problem *p, const gather *g,
                           const real *x, const real *w, const real *u, const real *bias, int relu, real *y,
                           int threads) {
    const conv_problem *s = &g->shape;
    if (!winograd_can(p) || !winograd_can(s)) return CONV_UNSUPPORTED;
    if (s->batch == 0 || s->out_rows == 0 || s->out_cols == 0 || s->out_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(s) / stages->tile, threads);
    int filter_flags = 0, *image_flags = (int *)calloc((size_t)s->batch, sizeof(int));
    int status = image_flags ? CONV_OK : CONV_NO_MEMORY;
    if (!status)
        status = winograd_try(stages, g, x, w, u, bias, relu, y, threads, image_flags, &filter_flags);
    if (!status) winograd_padding_only(g, bias, relu, y);
    gather one_image = *g;
    one_image.shape.batch = 1;
    for (ptrdiff_t image = 0; !status && image < s->batch; image++)
        if (!range_is_safe(filter_flags) || !range_is_safe(image_flags[image])) {
            took(TOOK_REDO); /* mark: fallback of winograd2 winograd4 if redo by row_gemm */
            status = w ? run_gather(&one_image, x + image * s->in_rows * s->in_cols * s->in_channels, w, NULL,
                                    bias, relu, y + image * g->y_image_step, threads)
                       : CONV_OUT_OF_RANGE;
        }
    free(image_flags);
    return status;
}

/* ---- the rungs: the forward op; the input gradient at stride 1, whose only phase is a 3x3 gather ---- */

INLINE gather winograd_input_gather(const conv_problem *p) {
    ptrdiff_t offset;
    return phase_gather(p, 0, 0, &offset);
}

KERNEL int winograd_pack(const winograd_stages *stages, const conv_problem *p, const gather *g, const real *w,
                         real *packed, int threads) {
    if (!winograd_can(p) || !winograd_can(&g->shape)) return CONV_UNSUPPORTED;
    return range_is_safe(winograd_transform_filters(stages, g, w, packed, threads)) ? CONV_OK
                                                                                    : CONV_OUT_OF_RANGE;
}

#define PACKING(rung, stages, make_gather)                                                    \
    KERNEL ptrdiff_t rung##_packed_bytes(const conv_problem *p) {                             \
        const gather g = make_gather(p);                                                      \
        return winograd_filter_bytes(&stages, &g);                                            \
    }                                                                                         \
    KERNEL int rung##_pack(const conv_problem *p, const real *w, real *packed, int threads) { \
        const gather g = make_gather(p);                                                      \
        return winograd_pack(&stages, p, &g, w, packed, threads);                             \
    }
PACKING(winograd2, winograd2, forward_gather)
PACKING(winograd2_input, winograd2, winograd_input_gather)
PACKING(winograd4, winograd4, forward_gather)
PACKING(winograd4_input, winograd4, winograd_input_gather)
#undef PACKING

KERNEL int winograd2_run(const conv_problem *p, const real *x, const real *w, const real *packed,
                         const real *bias, int relu, real *y, int threads) {
    const gather g = forward_gather(p);
    /* mark: kernel of winograd2/y */
    return winograd_gather(&winograd2, p, &g, x, w, packed, bias, relu, y, threads);
}

KERNEL int winograd2_input_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                               const real *bias, int relu, real *dx, int threads) {
    const gather g = winograd_input_gather(p);
    /* mark: kernel of winograd2/dx */
    return winograd_gather(&winograd2, p, &g, dy, w, packed, bias, relu, dx, threads);
}

KERNEL int winograd4_run(const conv_problem *p, const real *x, const real *w, const real *packed,
                         const real *bias, int relu, real *y, int threads) {
    const gather g = forward_gather(p);
    /* mark: kernel of winograd4/y */
    return winograd_gather(&winograd4, p, &g, x, w, packed, bias, relu, y, threads);
}

KERNEL int winograd4_input_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                               const real *bias, int relu, real *dx, int threads) {
    const gather g = winograd_input_gather(p);
    /* mark: kernel of winograd4/dx */
    return winograd_gather(&winograd4, p, &g, dy, w, packed, bias, relu, dx, threads);
}
