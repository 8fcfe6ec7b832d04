/* phases: the input gradient (and the transposed convolution) as stride_rows * stride_cols small dense convolutions.

     dx, stride 2:   A B A B       every A sees the same taps of the filter, every B the same others, ...
                     C D C D       so A, B, C, D are four gathers over dy, each by row_gemm, each writing
                     A B A B       every second column of every second row
                     C D C D

     for each phase: row_gemm with that phase's taps, the filter's channel axes swapped while it is packed

   Gained over scattering: no zeros inserted into dy, no sums read back from memory: every dx cell is written once.

   Order of every cell's sum: taps from last to first within its phase, then out_channel. Same bits always.
   Non-finite data: dy may hold anything; the filter must be finite, as in row_gemm. */

/* Few pixels, much filter: the tile with its roles exchanged. The filter [tap, in_channel, out_channel] is the left matrix as it lies in
   memory (14 in_channels, out_channel running), and the pixels of dy, transposed, are the two vectors: w is read once, and nothing of
   it is copied. Same sums in the same order as the other way round, hence the same bits.

             32 pixels of dy
        +--------------------+
     w  |  14 in_channels    |      for each 14 in_channels of dx: for each panel of 32 pixels: register_tile.h, transposed into dx  */
#ifndef FEW_PIXELS
#define FEW_PIXELS 64
#endif

/* The tile's sums [in_channel][pixel] into dx, with the ending that register_tile.h would have given them. */
INLINE void NAME(store_exchanged)(const real *sums, ptrdiff_t width, ptrdiff_t rows, ptrdiff_t pixels, const real *bias, int relu, const ptrdiff_t *y_starts, real *y) {
    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++)
        for (ptrdiff_t row = 0; row < rows; row++) {
            const real value = bias ? sums[row * width + pixel] + bias[row] : sums[row * width + pixel];
            y[y_starts[pixel] + row] = relu && value < 0 ? 0 : value;
        }
}

KERNEL int NAME(run_exchanged)(const gather *g, const real *x, const real *w, const real *bias, int relu, real *y, int threads) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t pixels = s->batch * s->out_rows * s->out_cols, taps = s->filter_rows * s->filter_cols, depth = taps * s->in_channels;
    const ptrdiff_t padded = divide_up(pixels, LANES) * LANES, tiles = divide_up(s->out_channels, TILE_PIXELS);
    real *patches = (real *)new_scratch(checked_times(checked_times(depth, pixels + padded), sizeof(real)) + (pixels + taps) * (ptrdiff_t)sizeof(ptrdiff_t));
    if (!patches) return CONV_NO_MEMORY;
    real *packed = patches + depth * pixels;
    ptrdiff_t *run_starts = (ptrdiff_t *)(packed + depth * padded), *y_starts = run_starts + taps;
    NAME(fill_patches)(g, x, 0, pixels, patches);
    for (ptrdiff_t first = 0; first < pixels; first += 2 * LANES)
        NAME(transpose)(patches + first * depth, depth, depth, smaller(2 * LANES, pixels - first), packed + first * depth, smaller(2 * LANES, padded - first));
    for (ptrdiff_t tap = 0; tap < taps; tap++)
        run_starts[tap] = ((g->first_tap_row + tap / s->filter_cols * g->tap_row_step) * g->stored_cols + g->first_tap_col
                           + tap % s->filter_cols * g->tap_col_step) * s->out_channels * s->in_channels;
    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++)
        y_starts[pixel] = pixel / s->out_cols / s->out_rows * g->y_image_step + pixel / s->out_cols % s->out_rows * g->y_row_step
            + pixel % s->out_cols * g->y_col_step;
    (void)threads; /* where there is no OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (ptrdiff_t tile = 0; tile < tiles; tile++) {
        real sums[TILE_PIXELS * 2 * VECTOR_BYTES / sizeof(real)];
        ptrdiff_t sum_starts[TILE_PIXELS];
        const ptrdiff_t row = s->out_channels * tile / tiles, rows = s->out_channels * (tile + 1) / tiles - row;
        for (ptrdiff_t first = 0; first < pixels; first += 2 * LANES) {
            const ptrdiff_t width = smaller(2 * LANES, padded - first);
            const tile_ending ending = {NULL, width, 0, 0, w + row * s->in_channels, 0};
            for (ptrdiff_t i = 0; i < rows; i++) sum_starts[i] = i * width;
            NAME(tiles)[rows][width > LANES](w + row * s->in_channels, s->in_channels, run_starts, taps, s->in_channels, packed + first * depth, width,
                                             sums, sum_starts, &ending);
            NAME(store_exchanged)(sums, width, rows, smaller(width, pixels - first), bias ? bias + row : NULL, relu, y_starts + first, y + row);
        }
    }
    free_scratch(patches);
    return CONV_OK;
}

/* One phase, whichever way suits it. */
INLINE int NAME(run_phase)(const gather *g, const real *dy, const real *w, const real *packed, const real *bias, int relu, real *dx, int threads) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t pixels = s->batch * s->out_rows * s->out_cols;
    if (!packed && s->groups == 1 && s->in_channels > 0 && pixels > 0 && pixels <= FEW_PIXELS && s->out_channels >= 4 * pixels)
        return NAME(run_exchanged)(g, dy, w, bias, relu, dx, useful_threads(problem_macs(s), threads));
    return NAME(run_gather)(g, dy, w, packed, bias, relu, dx, threads);
}

KERNEL ptrdiff_t NAME(phases_packed_bytes)(const conv_problem *p) {
    /* every tap belongs to at most one phase, and every phase rounds its columns up alike */
    const ptrdiff_t columns = divide_up(p->in_channels / p->groups, LANES) * LANES;
    return checked_times(checked_times(p->filter_rows * p->filter_cols, checked_times(p->out_channels, columns)), sizeof(real));
}

INLINE void NAME(phase_layout)(const gather *g, gather_layout *l) {
    const conv_problem *s = &g->shape;
    l->depth = s->filter_rows * s->filter_cols * (s->in_channels / s->groups);
    l->group_columns = s->out_channels / s->groups;
    l->panel_columns = 2 * LANES;
    l->panels_per_group = divide_up(l->group_columns, l->panel_columns);
}

KERNEL int NAME(phases_pack)(const conv_problem *p, const real *w, real *packed, int threads) {
    for (ptrdiff_t row = 0; row < p->stride_rows; row++)
        for (ptrdiff_t col = 0; col < p->stride_cols; col++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, row, col, &offset);
            gather_layout l = {0};
            NAME(phase_layout)(&g, &l);
            NAME(pack_filter)(&g, &l, w, packed, threads);
            packed += packed_filter_numbers(&g, &l, LANES);
        }
    return CONV_OK;
}

KERNEL int NAME(phases_run)(const conv_problem *p, const real *dy, const real *w, const real *packed, const real *bias, int relu, real *dx, int threads) {
    int status = CONV_OK;
    for (ptrdiff_t row = 0; row < p->stride_rows; row++)
        for (ptrdiff_t col = 0; col < p->stride_cols; col++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, row, col, &offset);
            gather_layout l = {0};
            NAME(phase_layout)(&g, &l);
            if (g.shape.out_rows == 0 || g.shape.out_cols == 0) offset = 0; /* nothing is written: stay inside dx */
            status |= NAME(run_phase)(&g, dy, w, packed, bias, relu, dx + offset, threads);
            if (packed) packed += packed_filter_numbers(&g, &l, LANES);
        }
    return status;
}
