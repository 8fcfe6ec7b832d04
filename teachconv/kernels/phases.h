/* phases: the input gradient (and the transposed convolution) as stride_rows * stride_cols small dense
   convolutions.

     dx, stride 2:   A B A B       every A sees the same taps of the filter, every B the same others, ...
                     C D C D       so A, B, C, D are four gathers over dy, each by row_gemm, each writing
                     A B A B       every second column of every second row
                     C D C D

     for each phase: row_gemm with that phase's taps, the filter's channel axes swapped while it is packed

   Gained over scattering: no zeros inserted into dy, no sums read back from memory: every dx cell is written
   once.

   Order of every cell's sum: taps from last to first within its phase, then out_channel. Same bits always.
   Non-finite data: dy may hold anything; the filter must be finite, as in row_gemm.
   Scratch as in row_gemm. */

/* Few pixels, much filter: the tile with its roles exchanged. The filter [tap, in_channel, out_channel] is
   the left matrix as it lies in memory (14 in_channels, out_channel running), and the pixels of dy,
   transposed, are the two vectors: w is read once, and nothing of it is copied. Same sums in the same order
   as the other way round, hence the same bits.

             32 pixels of dy
        +--------------------+
     w  |  14 in_channels    |      for each 14 in_channels of dx, for each tap, for each panel of 32 pixels:
        +--------------------+          register_tile.h; then the sums, transposed, into dx               */
#define FEW_PIXELS 64

/* Some pixels of one gather, with their patches transposed. */
typedef struct {
    const gather *g;
    const real *w, *packed;
    const ptrdiff_t *tap_starts, *y_starts; /* [taps] in w; [pixels] in y */
    ptrdiff_t pixels, padded, taps;         /* padded: rounded up to vectors */
} exchanged;

/* The tile's sums [in_channel][pixel] into dx, with the ending that register_tile.h would have given them. */
INLINE void store_exchanged(const real *sums, ptrdiff_t width, ptrdiff_t rows, ptrdiff_t pixels,
                            const real *bias, int relu, const ptrdiff_t *y_starts, real *y) {
    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++)
        for (ptrdiff_t row = 0; row < rows; row++) {
            const real value = bias ? sums[row * width + pixel] + bias[row] : sums[row * width + pixel];
            y[y_starts[pixel] + row] = relu && value < 0 ? 0 : value;
        }
}

/* dx of in_channels row..row+rows-1 at all pixels. */
KERNEL void exchanged_tile(const exchanged *e, ptrdiff_t row, ptrdiff_t rows, const real *bias, int relu,
                           real *y) {
    const ptrdiff_t channels = e->g->shape.in_channels, depth = e->taps * channels, zero = 0;
    const real *w = e->w + row * channels, *packed = e->packed;
    /* a tap's rows lie side by side: while they are multiplied, those of the next tap or of the next tile are
       prefetched, some bytes per k; more than a line per k would leave gaps */
    const ptrdiff_t row_bytes = rows * (ptrdiff_t)sizeof(real), line = row_bytes <= 64 ? row_bytes : 0;
    ptrdiff_t sum_starts[TILE_PIXELS];
    real sums[TILE_PIXELS * FEW_PIXELS];
    for (ptrdiff_t i = 0; i < rows; i++) sum_starts[i] = i * e->padded;
    for (ptrdiff_t tap = 0; tap < e->taps; tap++) {
        const real *next =
            tap + 1 < e->taps ? w + e->tap_starts[tap + 1] : w + e->tap_starts[0] + rows * channels;
        for (ptrdiff_t first = 0; first < e->pixels; first += 2 * LANES) {
            const ptrdiff_t width = smaller(2 * LANES, e->padded - first);
            const tile_ending ending = {NULL, width, tap > 0, 0, next, first == 0 ? line : 0, NULL};
            const tile_function multiply = tile_table[rows][width > LANES];
            multiply(w + e->tap_starts[tap], channels, &zero, 1, channels,
                     packed + first * depth + tap * channels * width, width, sums + first, sum_starts,
                     &ending);
        }
    }
    store_exchanged(sums, e->padded, rows, e->pixels, bias ? bias + row : NULL, relu, e->y_starts, y + row);
}

/* How many pixels at a time: as many as the scratch bound allows for their patches, twice. 0: not even one
   vector of them. */
INLINE ptrdiff_t exchanged_pixels(const conv_problem *s) {
    const ptrdiff_t depth = s->filter_rows * s->filter_cols * s->in_channels;
    return smaller(FEW_PIXELS, SCRATCH_BYTES / 2 / (ptrdiff_t)sizeof(real) / larger(1, depth)) / LANES
           * LANES;
}

KERNEL int run_exchanged(const gather *g, const real *x, const real *w, const real *bias, int relu, real *y,
                         int threads) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t pixels = s->batch * s->out_rows * s->out_cols, taps = s->filter_rows * s->filter_cols,
                    depth = taps * s->in_channels;
    const ptrdiff_t chunk = smaller(exchanged_pixels(s), divide_up(pixels, LANES) * LANES),
                    tiles = divide_up(s->out_channels, TILE_PIXELS);
    const ptrdiff_t numbers = whole_lines(depth * chunk);
    real *patches = (real *)new_scratch(2 * numbers * (ptrdiff_t)sizeof(real)
                                        + (chunk + taps) * (ptrdiff_t)sizeof(ptrdiff_t));
    if (!patches) return CONV_NO_MEMORY;
    real *packed = patches + numbers;
    ptrdiff_t *tap_starts = (ptrdiff_t *)(packed + numbers), *y_starts = tap_starts + taps;
    for (ptrdiff_t tap = 0; tap < taps; tap++)
        tap_starts[tap] = ((g->first_tap_row + tap / s->filter_cols * g->tap_row_step) * g->stored_cols
                           + g->first_tap_col + tap % s->filter_cols * g->tap_col_step)
                          * s->out_channels * s->in_channels;
    (void)threads; /* where there is no OpenMP */
    for (ptrdiff_t done = 0; done < pixels; done += chunk) {
        const ptrdiff_t count = smaller(chunk, pixels - done);
        const ptrdiff_t padded = divide_up(count, LANES) * LANES;
        const exchanged e = {g, w, packed, tap_starts, y_starts, count, padded, taps};
        took(TOOK_PATCHES);
        fill_patches(g, x, done, count, patches);
        for (ptrdiff_t first = 0; first < count; first += 2 * LANES)
            transpose(patches + first * depth, depth, depth, smaller(2 * LANES, count - first),
                      packed + first * depth, smaller(2 * LANES, padded - first));
        for (ptrdiff_t i = 0, pixel = done; i < count; i++, pixel++)
            y_starts[i] = pixel / s->out_cols / s->out_rows * g->y_image_step
                          + pixel / s->out_cols % s->out_rows * g->y_row_step
                          + pixel % s->out_cols * g->y_col_step;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
        for (ptrdiff_t tile = 0; tile < tiles; tile++) {
            const ptrdiff_t row = s->out_channels * tile / tiles, past = s->out_channels * (tile + 1) / tiles;
            exchanged_tile(&e, row, past - row, bias, relu, y);
        }
    }
    free_scratch(patches);
    return CONV_OK;
}

/* One phase, with exchanged roles where few pixels meet much filter. */
INLINE int run_phase(const gather *g, const real *dy, const real *w, const real *packed, const real *bias,
                     int relu, real *dx, int threads) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t pixels = s->batch * s->out_rows * s->out_cols;
    if (!packed && s->groups == 1 && s->in_channels > 0 && pixels > 0 && pixels <= 2 * FEW_PIXELS
        && s->out_channels >= 4 * smaller(pixels, FEW_PIXELS) && exchanged_pixels(s) > 0)
        return run_exchanged(g, dy, w, bias, relu, dx, useful_threads(problem_macs(s), threads));
    return run_gather(g, dy, w, packed, bias, relu, dx, threads);
}

KERNEL ptrdiff_t phases_packed_bytes(const conv_problem *p) {
    /* every tap belongs to at most one phase, and every phase rounds its columns up alike */
    const ptrdiff_t columns = divide_up(p->in_channels / p->groups, LANES) * LANES;
    return checked_times(
        checked_times(p->filter_rows * p->filter_cols, checked_times(p->out_channels, columns)),
        sizeof(real));
}

INLINE void phase_layout(const gather *g, gather_layout *l) {
    const conv_problem *s = &g->shape;
    l->depth = s->filter_rows * s->filter_cols * (s->in_channels / s->groups);
    l->group_columns = s->out_channels / s->groups;
    l->panel_columns = 2 * LANES;
    l->panels_per_group = divide_up(l->group_columns, l->panel_columns);
}

KERNEL int phases_pack(const conv_problem *p, const real *w, real *packed, int threads) {
    for (ptrdiff_t row = 0; row < smaller(p->stride_rows, p->in_rows); row++)
        for (ptrdiff_t col = 0; col < smaller(p->stride_cols, p->in_cols); col++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, row, col, &offset);
            gather_layout l = {0};
            phase_layout(&g, &l);
            pack_filter(&g, &l, w, packed, threads);
            packed += packed_filter_numbers(&g, &l, LANES);
        }
    return CONV_OK;
}

KERNEL int phases_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                      const real *bias, int relu, real *dx, int threads) {
    int status = CONV_OK;
    took(TOOK_PHASES);
    for (ptrdiff_t row = 0; row < smaller(p->stride_rows, p->in_rows); row++)
        for (ptrdiff_t col = 0; col < smaller(p->stride_cols, p->in_cols); col++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, row, col, &offset);
            gather_layout l = {0};
            phase_layout(&g, &l);
            /* mark: kernel of phases */
            status |= run_phase(&g, dy, w, packed, bias, relu, dx + offset, threads);
            if (packed) packed += packed_filter_numbers(&g, &l, LANES);
        }
    return status;
}
