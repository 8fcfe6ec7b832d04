/* One axis of one phase of an input gradient. A phase is a residue class of input indices modulo the stride;
   only certain taps of the filter contribute to it.

     index law:  in = out * stride - pad + tap * dilation,   so (in + pad - tap * dilation) mod stride is 0

     stride 2, 3 taps,   in:    0   1   2   3   4          tap 1 contributes to even inputs, taps 0 and 2
     pad 1:              taps:  1  0,2  1  0,2  1          to odd ones: two small dense convolutions      */
#ifndef TEACHCONV_PHASE_AXIS_H
#define TEACHCONV_PHASE_AXIS_H
#include "gather.h"

typedef struct {
    ptrdiff_t count; /* inputs of this residue class: residue, residue + stride, ... */
    /* taps that contribute to them, read from last to first, because a gather's taps grow with the index */
    ptrdiff_t taps;
    ptrdiff_t first_tap, tap_step; /* of the user's filter; tap_step is negative */
    ptrdiff_t pad, dilation; /* out index of the phase's m-th input and j-th tap: m - pad + j * dilation */
} phase_axis;

static inline phase_axis phase_of(ptrdiff_t residue, ptrdiff_t in_size, ptrdiff_t filter, ptrdiff_t stride,
                                  ptrdiff_t dilation, ptrdiff_t pad) {
    phase_axis a = {0, 0, 0, -1, 0, 1};
    /* greatest common divisor: taps of one class lie stride / divisor apart */
    ptrdiff_t divisor = stride, other = dilation;
    while (other) {
        const ptrdiff_t rest = divisor % other;
        divisor = other, other = rest;
    }
    a.count = in_size > residue ? divide_up(in_size - residue, stride) : 0;
    /* mark: dilation of phases depthwise/dx if phases rows tall */
    a.dilation = dilation / divisor;
    /* mark: padding of phases depthwise/dx if phases rows tall */
    const ptrdiff_t wanted = residue + pad - floor_divide(residue + pad, stride) * stride,
                    step = stride / divisor;
    for (ptrdiff_t tap = 0; tap < smaller(filter, step); tap++)
        /* mark: stride of phases winograd/dx depthwise/dx if phases rows tall */
        if (tap * dilation % stride == wanted) {
            a.taps = (filter - 1 - tap) / step + 1;
            a.first_tap = tap + (a.taps - 1) * step;
            a.tap_step = -step;
            a.pad = (a.taps - 1) * a.dilation - floor_divide(residue + pad - tap * dilation, stride);
        }
    return a;
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
    const phase_axis planes = phase_of(plane_residue, p->in_planes, p->filter_planes, p->stride_planes,
                                       p->dilation_planes, p->pad_front);
    const phase_axis rows =
        phase_of(row_residue, p->in_rows, p->filter_rows, p->stride_rows, p->dilation_rows, p->pad_top);
    const phase_axis cols =
        phase_of(col_residue, p->in_cols, p->filter_cols, p->stride_cols, p->dilation_cols, p->pad_left);
    gather g = {.y_image_step = in_image_numbers(p),
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
    g.shape = (conv_problem){.batch = p->batch,
                             .in_planes = p->out_planes,
                             .in_rows = p->out_rows,
                             .in_cols = p->out_cols,
                             .in_channels = p->out_channels,
                             .out_planes = planes.count,
                             .out_rows = rows.count,
                             .out_cols = cols.count,
                             .out_channels = p->in_channels,
                             .groups = p->groups,
                             .filter_planes = planes.taps,
                             .filter_rows = rows.taps,
                             .filter_cols = cols.taps,
                             .stride_planes = 1,
                             .stride_rows = 1,
                             .stride_cols = 1,
                             .dilation_planes = planes.dilation,
                             .dilation_rows = rows.dilation,
                             .dilation_cols = cols.dilation,
                             .pad_front = planes.pad,
                             .pad_top = rows.pad,
                             .pad_left = cols.pad};
    /* if no tap contributes to these inputs: a gather over no channels, which writes zeros (and bias) */
    if (planes.taps == 0 || rows.taps == 0 || cols.taps == 0)
        g.shape.in_channels = 0, g.shape.filter_planes = g.shape.filter_rows = g.shape.filter_cols = 1,
        g.shape.pad_front = g.shape.pad_top = g.shape.pad_left = 0;
    *y_offset = ((plane_residue * p->in_rows + row_residue) * p->in_cols + col_residue) * p->in_channels;
    return g;
}
#endif
