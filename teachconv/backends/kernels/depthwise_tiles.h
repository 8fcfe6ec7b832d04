/* The first rung of depthwise: a tile of up to 8 pixels of a row, 16 with NEON, for any filter and stride. The
   lanes of a vector are channels, and each pixel has a register.

     x, one row:  | px 0: c0..c15 c16..c31 | px 1: c0..c15 c16..c31 | px 2 ...
                     |                        |
                     `--- * w[tap] + ...      `--- * w[tap] + ...
     y, one row:  | px 0: c0..c15          | px 1: c0..c15

     for each tile of pixels
       for each block of LANES channels                       (x is read in place, from front to back)
         for each tap:  one vector of w, and per pixel one of x:  sum[pixel] += x * w

   Gain over the general kernels: with groups of one channel they would use one lane only. Here memory is the
   limit: two multiply-adds per byte moved. So the tile prefetches the lines that later tiles will read and
   write, and streams its results if x and y exceed the caches. */
#define DEPTHWISE_READ_AHEAD 4096 /* bytes: about an eighth of a first-level cache */
#define DEPTHWISE_WRITE_AHEAD 1024

/* AVX has two units for multiply-adds, which take four cycles: eight sums keep them busy. Cores with NEON have up
   to four units. 16 sums, 5 weights and what is loaded fit their 32 registers. */
enum { DEPTHWISE_PIXELS = BY_LANES ? 16 : 8, DEPTHWISE_WIDE = 5 };

/* How tiles find their inputs and weights, and what happens to their sums. Steps are in numbers. */
typedef struct {
    ptrdiff_t tap_rows, tap_cols;
    ptrdiff_t x_row, x_tap, x_pixel; /* to the next tap row, tap column, output */
    ptrdiff_t w_row, w_tap, w_block; /* to the next tap row, tap column, block of channels */
    ptrdiff_t y_row, y_pixel;
    ptrdiff_t lanes, last_block; /* the last block of LANES begins no later than this */
    int near, prefetches;        /* pixels lie less than 1 KB apart; what later tiles need is prefetched */
    const real *bias;            /* or NULL */
    int relu, adds;              /* adds: to what y holds */
    int in_parts;                /* see depthwise_write_part */
    int streams;                 /* past the caches: see depthwise_streams */
} depthwise_walk;

/* Adds the products of `wide` taps of a row, from x and w at the first of them. If there are several, taps and
   pixels are both one column apart: a pixel's tap t + 1 and the next pixel's tap t read the same input. */
INLINE void depthwise_add_taps(const int pixels, const int wide, const depthwise_walk *k, const real *x,
                               const real *w, vec *sum) {
#if BY_LANES /* all weights stay in registers, and each input is loaded once for the pixels that read it */
    vec weight[DEPTHWISE_WIDE];
    UNROLL(5)
    for (int t = 0; t < wide; t++) weight[t] = keep(load(w + t * k->w_tap));
    UNROLL(20)
    for (int c = 0; c < pixels + wide - 1; c++) {
        const vec value = load(x + c * k->x_pixel);
        UNROLL(5)
        for (int t = wide - 1; t >= 0; t--) /* the pixels from left to right */
            if (c >= t && c - t < pixels)
                sum[c - t] += value * weight[t]; /* mark: multiply-add of depthwise if neon_rows */
    }
#else
    vec value[DEPTHWISE_PIXELS + DEPTHWISE_WIDE - 1];
    if (wide > 1) {
        UNROLL(12)
        for (int p = 0; p < pixels + wide - 1; p++) value[p] = keep(load(x + p * k->x_pixel));
    }
    UNROLL(5)
    for (int t = 0; t < wide; t++) {
        const vec weight = keep(load(w + t * k->w_tap));
        UNROLL(8)
        for (int p = 0; p < pixels; p++) {
            const vec one = wide > 1 ? value[p + t] : load(x + p * k->x_pixel);
            sum[p] += one * weight; /* mark: multiply-add of depthwise if rows */
        }
    }
#endif
}

/* Adds the products of all taps to the sums of pixels of one row, for one block of channels. */
INLINE void depthwise_row_sums(const int pixels, const depthwise_walk *k, const real *x, const real *w, vec *sum) {
    const int adjacent = pixels > 1 && k->x_tap == k->x_pixel;
    const ptrdiff_t x_tap = k->x_tap, w_tap = k->w_tap;
    for (ptrdiff_t tap_row = 0; tap_row < k->tap_rows; tap_row++, x += k->x_row, w += k->w_row) {
        const real *at = x, *tap = w;
        ptrdiff_t left = k->tap_cols;
        for (; adjacent && left >= DEPTHWISE_WIDE;
             left -= DEPTHWISE_WIDE, at += DEPTHWISE_WIDE * x_tap, tap += DEPTHWISE_WIDE * w_tap)
            depthwise_add_taps(pixels, DEPTHWISE_WIDE, k, at, tap, sum);
        for (; left > 0; left--, at += x_tap, tap += w_tap) depthwise_add_taps(pixels, 1, k, at, tap, sum);
    }
}

/* The second rung of depthwise, for 3x3 at stride 1 or 2 and 5x5 at stride 1: a tile of several rows and
   columns, all its channels from front to back.

      x, 6 rows:  | col 0 | col 1 | ... | col 7 |      each x is loaded once and multiplied by the weight of
                     |       |             |           each output of the tile that reads it
      y, 2 rows:  | px 0  | px 1  | px 2  | px 3  |    each output has a register

     for each tile of 2 x 4 outputs (stride 2: 1 x 4) with all taps inside the image
       for each block of LANES channels
         for each row of x, for each of its columns:  sum[output] += x * w, for every output that reads it

   Gain over the tile of one row: with 5x5 taps, 6 inputs are loaded for each output instead of 7.5, with 3x3
   taps 3 instead of 9, and the weights stay in registers: 1.1 to 1.6 times as fast. 5x5 is faster row by row
   beyond the caches. */

enum { TALL_TILE_ROWS = 2 };

/* Returns whether tall tiles can compute the gather, where all its tap rows lie inside the image, and pay. */
static inline int tall_tiles_can(const gather *g, int streams) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t filter = s->filter_rows, stride = s->stride_rows;
    return ((filter == 3 && stride <= 2) || (filter == 5 && stride == 1 && !streams))
           && s->filter_cols == filter && s->stride_cols == stride && s->dilation_rows == 1
           && s->dilation_cols == 1 && g->stored_rows == filter && g->stored_cols == filter
           && g->tap_row_step == 1 && g->tap_col_step == 1;
}

/* Adds the products of all tap rows and `taps` of the filter's columns, for one block of channels. x[q] + lane is
   the first input of row q. */
INLINE void depthwise_tall_sums(const int tall, const int pixels, const int filter, const int taps,
                                const int stride, const real *const *x, ptrdiff_t lane, ptrdiff_t x_tap,
                                const real *w, vec *sum) {
    const int height = (tall - 1) * stride + filter, width = (pixels - 1) * stride + taps;
    vec weight[3 * 3];
    UNROLL(9)
    for (int t = 0; t < 9; t++) /* 5x5 weights do not fit the registers beside the sums */
        if (filter == 3 && t % 3 < taps) weight[t] = keep(load(w + t * LANES));
    UNROLL(6)
    for (int q = 0; q < height; q++) {
        UNROLL(9)
        for (int c = 0; c < width; c++) {
            const vec value = keep(load(x[q] + lane + c * x_tap));
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
}

INLINE vec depthwise_finished(const depthwise_walk *k, vec sum, vec bias) {
    if (k->bias) sum += bias;
    return k->relu ? rectify(sum) : sum;
}

/* Finishes and writes sums of fewer than LANES channels, or adds them to what y holds. */
INLINE void depthwise_write_part(const int pixels, const depthwise_walk *k, const vec *sum, real *y) {
    const ptrdiff_t count = smaller(LANES, k->lanes);
    UNROLL(16)
    for (int p = 0; p < pixels; p++, y += k->y_pixel) {
        vec value = sum[p];
        if (k->adds) value += load_part(y, count);
        store_part(y, depthwise_finished(k, value, k->bias ? load_part(k->bias, count) : (vec){0}), count);
    }
}

/* Finishes and writes the block of channels that begins at `lane`, of a row of outputs. */
INLINE void depthwise_write(const int pixels, const depthwise_walk *k, ptrdiff_t lane, vec *sum, real *y) {
    const ptrdiff_t step = k->y_pixel;
    if (k->bias || k->relu) {
        const vec bias = k->bias ? load(k->bias + lane) : (vec){0};
        UNROLL(16)
        for (int p = 0; p < pixels; p++) sum[p] = depthwise_finished(k, sum[p], bias);
    }
    if (k->streams) {
        UNROLL(16)
        for (int p = 0; p < pixels; p++) stream(y + p * step, sum[p]);
    } else {
        UNROLL(16)
        for (int p = 0; p < pixels; p++) store(y + p * step, sum[p]);
    }
}

/* Computes all channels of a tile of `tall` rows. x and w are at the first tap of the first output. filter: 3 or 5
   in tall tiles, and 0 in those of the first rung. */
INLINE void depthwise_tile(const int tall, const int pixels, const int filter, const int taps, const int stride,
                           const depthwise_walk *walk, const real *x, const real *w, real *y) {
    const depthwise_walk k = *walk; /* a copy, because stores to y might change *walk */
    const real *x_rows[TALL_TILE_ROWS - 1 + 5];
    UNROLL(6)
    for (int q = 0; q < (tall - 1) * stride + filter; q++) x_rows[q] = x + q * k.x_row;
    for (ptrdiff_t block = 0; block < k.lanes; block += LANES, w += k.w_block) {
        const ptrdiff_t lane = smaller(block, k.last_block);
        vec sum[DEPTHWISE_PIXELS];
        UNROLL(16)
        for (int o = 0; o < tall * pixels; o++) sum[o] = (vec){0};
        if (filter) depthwise_tall_sums(tall, pixels, filter, taps, stride, x_rows, lane, k.x_tap, w, sum);
        else depthwise_row_sums(pixels, &k, x + lane, w, sum);
        UNROLL(2)
        for (int r = 0; r < tall; r++) {
            real *to = y + r * k.y_row + lane;
            if (k.prefetches) {
                const real *last = x + lane + (k.tap_rows - 1 + r) * k.x_row;
                UNROLL(16)
                for (int p = 0; p < pixels * stride; p++)
                    PREFETCH((const char *)(last + p * (k.x_pixel / stride)) + DEPTHWISE_READ_AHEAD, 3);
                UNROLL(16)
                for (int p = 0; p < pixels; p++)
                    if (!k.streams) PREFETCH_TO_WRITE((const char *)(to + p * k.y_pixel) + DEPTHWISE_WRITE_AHEAD);
            }
            if (k.in_parts) depthwise_write_part(pixels, &k, sum + r * pixels, to);
            else depthwise_write(pixels, &k, lane, sum + r * pixels, to);
        }
    }
}

/* Each computes `count` outputs of a row, or of `tall` rows; x is at the first tap of the first. */
#define ROW_TILE(pixels)                                                                                     \
    case pixels:                                                                                             \
        depthwise_tile(1, pixels, 0, 0, 1, k, x + col * k->x_pixel, w, y + col * k->y_pixel);                \
        break;
KERNEL void depthwise_row_tiles(ptrdiff_t count, const depthwise_walk *k, const real *x, const real *w, real *y) {
    const ptrdiff_t pixels = divide_up(count, divide_up(count, DEPTHWISE_PIXELS));
    took(BY_LANES ? TOOK_NEON_ROWS : TOOK_ROWS);
    for (ptrdiff_t col = 0; col < count; col += pixels)
        switch (smaller(pixels, count - col)) {
            ROW_TILE(1) ROW_TILE(2) ROW_TILE(3) ROW_TILE(4) ROW_TILE(5) ROW_TILE(6) ROW_TILE(7) ROW_TILE(8)
#if BY_LANES
            ROW_TILE(9) ROW_TILE(10) ROW_TILE(11) ROW_TILE(12) ROW_TILE(13) ROW_TILE(14) ROW_TILE(15) ROW_TILE(16)
#endif
        }
}
#undef ROW_TILE

#define TALL_CASE(tall, pixels, filter, taps, stride)                                                        \
    for (; count - col >= pixels; col += pixels)                                                             \
        depthwise_tile(tall, pixels, filter, taps, stride, k, x + col * k->x_pixel, w, y + col * k->y_pixel);
#define TALL_ROWS(filter)                                                                                    \
    if (tall == 2) {                                                                                         \
        TALL_CASE(2, 4, filter, filter, 1)                                                                   \
        TALL_CASE(2, 2, filter, filter, 1) TALL_CASE(2, 1, filter, filter, 1)                                \
    } else {                                                                                                 \
        TALL_CASE(1, 4, filter, filter, 1) TALL_CASE(1, 1, filter, filter, 1)                                \
    }
KERNEL void depthwise_tall_tiles(ptrdiff_t filter, ptrdiff_t tall, ptrdiff_t count, const depthwise_walk *k,
                                 const real *x, const real *w, real *y) {
    ptrdiff_t col = 0;
    took(TOOK_TALL);
    if (filter == 5) {
        TALL_ROWS(5)
    } else if (k->tap_cols == 2) { /* one output at the side of an image, whatever the stride */
        if (tall == 2) TALL_CASE(2, 1, 3, 2, 1)
        else TALL_CASE(1, 1, 3, 2, 1)
    } else if (k->x_pixel == k->x_tap) {
        TALL_ROWS(3)
    } else { /* four pixels read 27: they have to fit the first-level cache */
        if (k->near && !k->streams) TALL_CASE(1, 4, 3, 3, 2)
        TALL_CASE(1, 2, 3, 3, 2) TALL_CASE(1, 1, 3, 3, 2)
    }
}
#undef TALL_ROWS
#undef TALL_CASE
