/* How winograd.h cuts one axis of a filter into pieces of one to three taps.

   F(2, r) computes two outputs of a piece of r taps with r + 1 multiplications instead of 2 r: winograd_matrices.h
   has F(2, 3) on paper. Its points are 0, infinity, 1 and -1. F(2, 2) uses the first three of them, F(2, 1) the
   first two, and the same A' turns the products at the points into outputs. So the products of several pieces
   are added point by point, and A' runs once for all of them:

     5 taps            g0 g1 g2 | g3 g4          F(2, 3) + F(2, 2):  4 + 3 = 7 products for 2 outputs, not 10
                       V0 V1 V2 V3
                     + W0 W1 W2                  V * its taps + W * its taps, then A' once
     5 x 5 taps        the same along both axes: 7 * 7 = 49 products for 2 x 2 outputs, not 100
     3 taps, stride 2  g0 g2 | g1                even taps read even inputs, odd taps odd ones: two filters at
                                                 stride 1, F(2, 2) + F(2, 1): 3 + 2 = 5 products, not 6;
                                                 25 instead of 36 along both axes

   F(4, r) has six points, of which F(4, 2) uses five and F(4, 1) four: five taps take 6 + 5 products for 4
   outputs, not 20, and 11 * 11 instead of 400 along both axes.

   (D. Huang et al., DWM: A Decomposable Winograd Method for Convolution Acceleration, AAAI 2020.) */
#ifndef TEACHCONV_WINOGRAD_PIECES_H
#define TEACHCONV_WINOGRAD_PIECES_H
#include "problem.h"

enum { WINOGRAD_MOST_PIECES = 3, WINOGRAD_MOST_ELEMENTS = 6 }; /* of one axis */

/* A form is the number of an F(m, r): 1 is F(1, 1), where there is nothing to gain; 2, 3, 4 are F(2, 1), F(2, 2),
   F(2, 3); 5, 6, 7 are F(4, 1), F(4, 2), F(4, 3). An element is a point of one axis: there are m + r - 1. */
static inline int outputs_of(int form) { return form > 4 ? 4 : form > 1 ? 2 : 1; }
static inline int taps_of(int form) { return form > 4 ? form - 4 : form > 1 ? form - 1 : 1; }
static inline int elements_of(int form) { return outputs_of(form) + taps_of(form) - 1; }

typedef struct {
    int form;
    ptrdiff_t first_tap;
} winograd_piece;

typedef struct {
    int form;       /* of the largest piece, whose elements are the sums of all */
    int slots;      /* elements of all pieces: the products for a tile */
    int pieces;     /* 0 if there would be too many */
    ptrdiff_t step; /* from a tap of a piece, or from an input, to the next: the stride */
    ptrdiff_t tiles;
    winograd_piece piece[WINOGRAD_MOST_PIECES];
} winograd_axis;

/* Cuts an axis for tiles of `tile` outputs: 2 or 4, but 1 if it has one tap. */
static inline winograd_axis winograd_cut(int tile, ptrdiff_t filter, ptrdiff_t stride, ptrdiff_t outs) {
    winograd_axis a = {.step = stride};
    for (ptrdiff_t phase = 0; phase < smaller(stride, filter); phase++)
        for (ptrdiff_t left = divide_up(filter - phase, stride), first = phase; left > 0;) {
            /* 4 taps are 2 + 2: as many products as 3 + 1, with fewer elements */
            const ptrdiff_t taps = left == 4 ? 2 : smaller(3, left);
            const int form = filter == 1 ? 1 : (int)((tile == 4 ? 4 : 1) + taps);
            if (a.pieces == WINOGRAD_MOST_PIECES) return (winograd_axis){0};
            a.piece[a.pieces++] = (winograd_piece){form, first};
            a.form = (int)larger(a.form, form), a.slots += elements_of(form);
            left -= taps, first += taps * stride;
        }
    a.tiles = divide_up(outs, outputs_of(a.form));
    return a;
}

static inline winograd_axis winograd_rows(int tile, const conv_problem *s) {
    return winograd_cut(tile, s->filter_rows, s->stride_rows, s->out_rows);
}
static inline winograd_axis winograd_cols(int tile, const conv_problem *s) {
    return winograd_cut(tile, s->filter_cols, s->stride_cols, s->out_cols);
}

/* Returns whether tiles can compute the problem, with fewer products than taps. */
static inline int winograd_can(const conv_problem *s) {
    if (s->dilation_planes != 1 || s->dilation_rows != 1 || s->dilation_cols != 1 || s->groups != 1
        || s->in_channels == 0)
        return 0;
    const winograd_axis rows = winograd_rows(2, s), cols = winograd_cols(2, s);
    return rows.pieces && cols.pieces && larger(taps_of(rows.form), taps_of(cols.form)) > 1;
}

/* Returns whether they can compute its input gradient, which is a problem at stride 1 for each phase. */
static inline int winograd_can_input(const conv_problem *p) {
    conv_problem phase = *p; /* the one with the most taps */
    phase.filter_rows = divide_up(p->filter_rows, p->stride_rows), phase.stride_rows = 1;
    phase.filter_cols = divide_up(p->filter_cols, p->stride_cols), phase.stride_cols = 1;
    return winograd_can(&phase);
}
#endif
