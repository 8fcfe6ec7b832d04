/* The second rung of depthwise, for 3x3 at stride 1 or 2 and 5x5 at stride 1: a tile of several rows and
   columns, all its channels from front to back.

      x, 6 rows:  | col 0 | col 1 | ... | col 7 |      each x is loaded once and multiplied by the weight of
                     |       |             |           each output of the tile that reads it
      y, 2 rows:  | px 0  | px 1  | px 2  | px 3  |    each output has a register

     for each tile of 2 x 4 outputs (stride 2: 1 x 4) with all taps inside the image
       for each block of LANES channels
         for each row of x, for each of its columns:  sum[output] += x * w, for every output that reads it

   Gain over the tile of one row: with 5x5 taps, 6 inputs are loaded for each output instead of 12, with 3x3
   taps 3 instead of 9, and the weights stay in registers: 1.1 to 1.6 times as fast. 5x5 is faster row by row
   beyond the caches. */

enum { TALL_TILE_ROWS = 2, TALL_TILE_PIXELS = 4, TALL_TILE_TAPS = 5 };

/* Returns whether tall tiles can compute the gather, where all its tap rows lie inside the image, and pay. */
static inline int tall_tiles_can(const gather *g, int streams) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t filter = s->filter_rows, stride = s->stride_rows;
    return ((filter == 3 && stride <= 2) || (filter == 5 && stride == 1 && !streams))
           && s->filter_cols == filter && s->stride_cols == stride && s->dilation_rows == 1
           && s->dilation_cols == 1 && g->stored_rows == filter && g->stored_cols == filter
           && g->tap_row_step == 1 && g->tap_col_step == 1;
}

/* Computes all channels of one tile with `taps` of the filter's columns. rows[q] + x_start is the first of
   these taps of its first output, q rows down. */
INLINE void depthwise_tall_tile(const int tall, const int pixels, const int filter, const int taps,
                                const int stride, const depthwise_walk *walk, const real *const *rows,
                                ptrdiff_t x_start, const real *w, const real *bias, real *y) {
    const int height = (tall - 1) * stride + filter, width = (pixels - 1) * stride + taps;
    const depthwise_walk k = *walk; /* a copy, because stores to y might change *walk */
    const real *x[TALL_TILE_ROWS - 1 + TALL_TILE_TAPS];
    UNROLL(6)
    for (int q = 0; q < height; q++) x[q] = rows[q] + x_start;
    for (ptrdiff_t left = k.lanes, at = 0; left > 0; left -= LANES) {
        if (left < LANES && k.step_back) {
            const ptrdiff_t back = LANES - left;
            at -= back, y -= back, bias = bias ? bias - back : NULL;
        }
        vec sum[TALL_TILE_ROWS * TALL_TILE_PIXELS], weight[3 * 3];
        UNROLL(8)
        for (int o = 0; o < tall * pixels; o++) sum[o] = (vec){0};
        UNROLL(9)
        for (int t = 0; t < 9; t++) /* 5x5 weights do not fit the registers beside the sums */
            if (filter == 3 && t % 3 < taps) weight[t] = keep(load(w + t * LANES));
        UNROLL(6)
        for (int q = 0; q < height; q++) {
            UNROLL(9)
            for (int c = 0; c < width; c++) {
                const vec value = keep(load(x[q] + at + c * k.x_tap));
                UNROLL(8)
                for (int o = 0; o < tall * pixels; o++) {
                    const int tap_row = q - o / pixels * stride, tap_col = c - o % pixels * stride;
                    if (tap_row >= 0 && tap_row < filter && tap_col >= 0 && tap_col < taps)
                        /* mark: multiply-add of depthwise/y depthwise/dx if tall */
                        sum[o] += value
                                  * (filter == 3 ? weight[tap_row * 3 + tap_col]
                                                 : load(w + (tap_row * filter + tap_col) * LANES));
                }
            }
        }
        UNROLL(2)
        for (int r = 0; r < tall; r++) {
            UNROLL(8)
            for (int p = 0; p < pixels * stride; p++)
                if (k.streams && k.x_ahead)
                    PREFETCH((const char *)(x[height - tall + r] + at + p * k.x_tap) + k.x_ahead, 3);
            depthwise_write(pixels, &k, bias, left, sum + r * pixels, y + r * k.y_row);
        }
        at += k.x_block, w += k.w_block, y += LANES, bias = bias ? bias + LANES : NULL;
    }
}

/* Each computes the pixels first..past-1 of `tall` rows. */
/* clang-format off */
#define TALL_CASE(tall, pixels, filter, taps, stride)                                                        \
    for (; past - first >= pixels; first += pixels)                                                          \
        depthwise_tall_tile(tall, pixels, filter, taps, stride, k, rows, x_start + first * k->x_pixel, w,    \
                            bias, y + first * k->y_pixel);
#define TALL_ROWS(filter)                                                                                    \
    if (tall == 2) {                                                                                         \
        TALL_CASE(2, 4, filter, filter, 1)                                                                   \
        TALL_CASE(2, 2, filter, filter, 1) TALL_CASE(2, 1, filter, filter, 1)                                \
    } else {                                                                                                 \
        TALL_CASE(1, 4, filter, filter, 1) TALL_CASE(1, 1, filter, filter, 1)                                \
    }
KERNEL void depthwise_tall_tiles(ptrdiff_t filter, ptrdiff_t tall, ptrdiff_t first, ptrdiff_t past,
                                 const depthwise_walk *k, const real *const *rows, ptrdiff_t x_start,
                                 const real *w, const real *bias, real *y) {
    took(TOOK_TALL);
    if (filter == 5) {
        TALL_ROWS(5)
    } else if (k->x_pixel == k->x_tap) {
        TALL_ROWS(3)
    } else { /* four pixels read 27: they have to fit the first-level cache */
        if (k->x_ahead && !k->streams) TALL_CASE(1, 4, 3, 3, 2)
        TALL_CASE(1, 2, 3, 3, 2) TALL_CASE(1, 1, 3, 3, 2)
    }
}
#undef TALL_ROWS

/* Computes pixel `first` of `tall` rows with two of three tap columns, as those at the image's sides have.
   rows + x_start is the first of these taps of pixel 0. */
KERNEL void depthwise_tall_sides(ptrdiff_t tall, ptrdiff_t first, const depthwise_walk *k,
                                 const real *const *rows, ptrdiff_t x_start, const real *w, const real *bias,
                                 real *y) {
    const ptrdiff_t past = first + 1;
    if (tall == 2) TALL_CASE(2, 1, 3, 2, 1)
    else TALL_CASE(1, 1, 3, 2, 1) /* of one output, whatever the stride */
}
#undef TALL_CASE
/* clang-format on */
