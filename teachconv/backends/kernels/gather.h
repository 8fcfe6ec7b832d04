/* A gather is the problem that row_gemm solves. It is general enough that the phases of an input gradient are
   gathers too.

     y[volume, out, :] = sum over taps and channels of  x[volume, index law(out, tap), :] * filter[tap]

   y may be written with steps: a phase writes every stride-th column. Tap t of the gather may be tap
   first + t * step of the user's filter, and the filter's two channel axes may be swapped. The forward op
   has the steps of a dense y, takes the taps in order and swaps nothing. */
#ifndef TEACHCONV_GATHER_H
#define TEACHCONV_GATHER_H
#include "problem.h"

typedef struct {
    conv_problem shape;
    ptrdiff_t y_image_step, y_plane_step, y_row_step, y_col_step; /* in numbers, not bytes */
    ptrdiff_t first_tap_plane, tap_plane_step, first_tap_row, tap_row_step, first_tap_col, tap_col_step;
    ptrdiff_t stored_rows, stored_cols; /* of the user's filter, in each of its planes */
    int swapped;                        /* the user's filter is [.., out/groups, in] of this gather */
} gather;

static inline gather forward_gather(const conv_problem *p) {
    gather g = {*p, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, p->filter_rows, p->filter_cols, 0};
    g.y_col_step = p->out_channels;
    g.y_row_step = p->out_cols * g.y_col_step;
    g.y_plane_step = p->out_rows * g.y_row_step;
    g.y_image_step = p->out_planes * g.y_plane_step;
    return g;
}

/* Returns which tap of the user's filter a tap of the gather is. */
static inline ptrdiff_t stored_tap(const gather *g, ptrdiff_t tap) {
    const conv_problem *s = &g->shape;
    ptrdiff_t row = tap / s->filter_cols, plane = 0;
    if (s->filter_planes > 1) plane = row / s->filter_rows, row -= plane * s->filter_rows;
    return ((g->first_tap_plane + plane * g->tap_plane_step) * g->stored_rows + g->first_tap_row
            + row * g->tap_row_step)
               * g->stored_cols
           + g->first_tap_col + tap % s->filter_cols * g->tap_col_step;
}

/* Returns where an output pixel of the batch begins in y. */
static inline ptrdiff_t y_start(const gather *g, ptrdiff_t pixel) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t row = pixel / s->out_cols, plane = row / s->out_rows;
    return plane / s->out_planes * g->y_image_step + plane % s->out_planes * g->y_plane_step
           + row % s->out_rows * g->y_row_step + pixel % s->out_cols * g->y_col_step;
}

/* Lists where some pixels, one after the other in the batch, begin in y: row by row, because y_start divides, which
   takes up to 90 cycles. */
static inline void list_y_starts(const gather *g, ptrdiff_t pixel, ptrdiff_t count, ptrdiff_t *starts) {
    const ptrdiff_t cols = g->shape.out_cols, step = g->y_col_step;
    for (ptrdiff_t i = 0; i < count;) {
        const ptrdiff_t start = y_start(g, pixel + i) - i * step,
                        past = smaller(count, i + cols - (pixel + i) % cols);
        for (; i < past; i++) starts[i] = start + i * step;
    }
}

#endif
