/* Another second rung of depthwise, for 3x3 at stride 2 and 5x5 at stride 1: a tile of several rows and
   columns, all its channels from front to back.

      x, 6 rows:  | col 0 | col 1 | ... | col 7 |      each x is loaded once and multiplied by the weight of
                     |       |             |           each output of the tile that reads it
      y, 2 rows:  | px 0  | px 1  | px 2  | px 3  |    each output has a register

     for each tile of 2 x 4 outputs (stride 2: 1 x 2) with all taps inside the image
       for each block of LANES channels
         for each row of x, for each of its columns:  sum[output] += x * w, for every output that reads it

   Gain over the tile of one row: with 5x5 taps, 6 inputs are loaded for each output instead of 12, and every
   weight has a fixed place, so addresses take no instructions: 1.1 to 1.4 times as fast. 3x3 at stride 1 is
   faster in strips, whose weights stay in registers, and 5x5 beyond the caches row by row. */

enum { TALL_TILE_ROWS = 2, TALL_TILE_PIXELS = 4, TALL_TILE_TAPS = 5 };

/* Returns whether tall tiles can compute the gather, where all its tap rows lie inside the image, and pay. */
static inline int tall_tiles_can(const gather *g, int streams) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t filter = s->filter_rows, stride = s->stride_rows;
    return ((filter == 3 && stride == 2) || (filter == 5 && stride == 1 && !streams))
           && s->filter_cols == filter && s->stride_cols == stride && s->dilation_rows == 1
           && s->dilation_cols == 1 && g->stored_rows == filter && g->stored_cols == filter
           && g->tap_row_step == 1 && g->tap_col_step == 1;
}

/* Computes all channels of one tile. rows[q] + x_start is the first tap column of its first output, q rows
   down. */
INLINE void depthwise_tall_tile(const int tall, const int pixels, const int filter, const int stride,
                                const depthwise_walk *walk, const real *const *rows, ptrdiff_t x_start,
                                const real *w, const real *bias, real *y) {
    const int height = (tall - 1) * stride + filter, width = (pixels - 1) * stride + filter;
    const depthwise_walk k = *walk; /* a copy, because stores to y might change *walk */
    const real *x[TALL_TILE_ROWS - 1 + TALL_TILE_TAPS];
    UNROLL(6)
    for (int q = 0; q < height; q++) x[q] = rows[q] + x_start;
    for (ptrdiff_t left = k.lanes, at = 0; left > 0; left -= LANES) {
        if (left < LANES && k.step_back) {
            const ptrdiff_t back = LANES - left;
            at -= back, y -= back, bias = bias ? bias - back : NULL;
        }
        vec sum[TALL_TILE_ROWS * TALL_TILE_PIXELS];
        UNROLL(8)
        for (int o = 0; o < tall * pixels; o++) sum[o] = (vec){0};
        UNROLL(6)
        for (int q = 0; q < height; q++) {
            UNROLL(8)
            for (int c = 0; c < width; c++) {
                const vec value = load(x[q] + at + c * k.x_tap);
                UNROLL(8)
                for (int o = 0; o < tall * pixels; o++) {
                    const int tap_row = q - o / pixels * stride, tap_col = c - o % pixels * stride;
                    if (tap_row >= 0 && tap_row < filter && tap_col >= 0 && tap_col < filter)
                        /* mark: multiply-add of depthwise/y depthwise/dx if tall */
                        sum[o] += value * load(w + (tap_row * filter + tap_col) * LANES);
                }
            }
        }
        UNROLL(2)
        for (int r = 0; r < tall; r++) {
            UNROLL(4)
            for (int p = 0; p < pixels * stride; p++)
                if (k.x_ahead)
                    PREFETCH((const char *)(x[height - tall + r] + at + p * k.x_tap) + k.x_ahead, 3);
            UNROLL(4)
            for (int p = 0; p < pixels; p++)
                if (k.y_ahead && !k.streams)
                    PREFETCH_TO_WRITE((const char *)(y + r * k.y_row + p * k.y_pixel) + k.y_ahead);
            depthwise_write(pixels, &k, bias, left, sum + r * pixels, y + r * k.y_row);
        }
        at += k.x_block, w += k.w_block, y += LANES, bias = bias ? bias + LANES : NULL;
    }
}

/* Each computes the pixels first..past-1 of `tall` rows. */
/* clang-format off */
#define TALL_CASE(tall, pixels, filter, stride)                                                              \
    for (; past - first >= pixels; first += pixels)                                                          \
        depthwise_tall_tile(tall, pixels, filter, stride, k, rows, x_start + first * k->x_pixel, w, bias,    \
                            y + first * k->y_pixel);
KERNEL void depthwise_tall_tiles(ptrdiff_t filter, ptrdiff_t tall, ptrdiff_t first, ptrdiff_t past,
                                 const depthwise_walk *k, const real *const *rows, ptrdiff_t x_start,
                                 const real *w, const real *bias, real *y) {
    took(TOOK_TALL);
    if (filter == 3) {
        TALL_CASE(1, 2, 3, 2) TALL_CASE(1, 1, 3, 2)
    } else if (tall == 2) {
        TALL_CASE(2, 4, 5, 1) TALL_CASE(2, 1, 5, 1)
    } else {
        TALL_CASE(1, 4, 5, 1) TALL_CASE(1, 1, 5, 1)
    }
}
#undef TALL_CASE
/* clang-format on */
