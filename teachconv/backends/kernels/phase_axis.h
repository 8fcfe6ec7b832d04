/* One axis of one phase of an input gradient. A phase is a residue class of input indices modulo the stride;
   only certain taps of the filter contribute to it.

     index law:  in = out * stride - pad + tap * dilation,   so (in + pad - tap * dilation) mod stride is 0

     stride 2, 3 taps,   in:    0   1   2   3   4          tap 1 contributes to even inputs, taps 0 and 2
     pad 1:              taps:  1  0,2  1  0,2  1          to odd ones: two small dense convolutions      */
#ifndef TEACHCONV_PHASE_AXIS_H
#define TEACHCONV_PHASE_AXIS_H
#include "gather.h"

/* One axis of a phase: a gather over dy at stride 1, and where its taps are stored in the user's filter. */
typedef struct {
    conv_axis axis; /* out: inputs of the residue class: residue, residue + stride, ... */
    /* from last to first, because a gather's taps grow with the index: tap_step is negative */
    ptrdiff_t first_tap, tap_step;
} phase_axis;

static inline phase_axis phase_of(ptrdiff_t residue, const conv_axis *a) {
    phase_axis phase = {.axis = {.in = a->out, .stride = 1}, .tap_step = -1};
    /* greatest common divisor: taps of one class lie stride / divisor apart */
    ptrdiff_t divisor = a->stride, other = a->dilation;
    while (other) {
        const ptrdiff_t rest = divisor % other;
        divisor = other, other = rest;
    }
    phase.axis.out = a->in > residue ? divide_up(a->in - residue, a->stride) : 0;
    /* mark: dilation of phases depthwise/dx if phases rows tall */
    phase.axis.dilation = a->dilation / divisor;
    /* mark: padding of phases depthwise/dx if phases rows tall */
    const ptrdiff_t wanted = residue + a->pad - floor_divide(residue + a->pad, a->stride) * a->stride,
                    step = a->stride / divisor;
    for (ptrdiff_t tap = 0; tap < smaller(a->filter, step); tap++)
        /* mark: stride of phases winograd/dx winograd4/dx depthwise/dx if phases rows tall */
        if (tap * a->dilation % a->stride == wanted) {
            const ptrdiff_t taps = (a->filter - 1 - tap) / step + 1;
            phase.axis.filter = taps;
            phase.first_tap = tap + (taps - 1) * step;
            phase.tap_step = -step;
            phase.axis.pad = (taps - 1) * phase.axis.dilation
                             - floor_divide(residue + a->pad - tap * a->dilation, a->stride);
        }
    return phase;
}

/* Where a filter is as wide as its stride, no two outputs read the same column of x. Then one row of taps and the
   pixels that it reads have the same order in memory, and can be taken for one pixel of more channels:

     x  [rows, out_cols * stride_cols, channels]            [rows, out_cols, stride_cols * channels]
     w  [filter_rows, stride_cols, channels, outputs]       [filter_rows, 1, stride_cols * channels, outputs]

   Returns the problem with such pixels, or the problem itself. */
static inline conv_problem merge_columns(const conv_problem *p) {
    conv_problem merged = *p;
    if (p->filter_cols != p->stride_cols || p->in_cols != p->out_cols * p->stride_cols || p->pad_left != 0
        || p->dilation_cols != 1 || p->groups != 1)
        return merged;
    merged.in_cols = p->out_cols, merged.in_channels = p->stride_cols * p->in_channels;
    merged.filter_cols = merged.stride_cols = 1;
    return merged;
}

/* Returns phase (plane_residue, row_residue, col_residue) of the input gradient as a gather over dy. *y_offset
   becomes the position of the phase's first input in dx. */
static inline gather phase_gather(const conv_problem *p, ptrdiff_t plane_residue, ptrdiff_t row_residue,
                                  ptrdiff_t col_residue, ptrdiff_t *y_offset) {
    const phase_axis planes = phase_of(plane_residue, &p->axes[0]), rows = phase_of(row_residue, &p->axes[1]),
                     cols = phase_of(col_residue, &p->axes[2]);
    gather g = {.shape = {.batch = p->batch,
                          .in_channels = p->out_channels,
                          .out_channels = p->in_channels,
                          .groups = p->groups,
                          .axes = {planes.axis, rows.axis, cols.axis}},
                .y_image_step = in_image_numbers(p),
                .y_plane_step = p->stride_planes * in_plane_numbers(p),
                .y_row_step = p->stride_rows * p->in_cols * p->in_channels,
                .y_col_step = p->stride_cols * p->in_channels,
                .first_tap_plane = planes.first_tap,
                .tap_plane_step = planes.tap_step,
                .first_tap_row = rows.first_tap,
                .tap_row_step = rows.tap_step,
                .first_tap_col = cols.first_tap,
                .tap_col_step = cols.tap_step,
                .stored_rows = p->filter_rows,
                .stored_cols = p->filter_cols,
                .swapped = 1};
    if (count_taps(&g.shape) == 0) { /* a gather over no channels, which writes zeros (and bias) */
        g.shape.in_channels = 0;
        for (conv_axis *a = g.shape.axes; a < g.shape.axes + 3; a++) a->filter = 1, a->pad = 0;
    }
    *y_offset = ((plane_residue * p->in_rows + row_residue) * p->in_cols + col_residue) * p->in_channels;
    return g;
}
#endif
