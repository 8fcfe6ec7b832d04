/* The first rung of depthwise: a tile of up to 8 pixels of a row, for any filter and stride. The lanes of a
   vector are channels, and each pixel has a register.

     x, one row:  | px 0: c0..c15 c16..c31 | px 1: c0..c15 c16..c31 | px 2 ...
                     |                        |
                     `--- * w[tap] + ...      `--- * w[tap] + ...
     y, one row:  | px 0: c0..c15          | px 1: c0..c15

     for each tile of up to 8 pixels
       for each block of LANES channels                       (x is read in place, from front to back)
         for each tap:  one vector of w, and per pixel one of x:  sum[pixel] += x * w

   Gain over the general kernels: with groups of one channel they would use one lane only. Here memory is the
   limit: two multiply-adds per byte moved. So the tile prefetches the lines that later tiles will read and
   write, and streams its results if x and y exceed the caches. */
#define DEPTHWISE_READ_AHEAD 4096 /* bytes: about an eighth of a first-level cache */
#define DEPTHWISE_WRITE_AHEAD 1024

enum { DEPTHWISE_PIXELS = 8, DEPTHWISE_WIDE = 5 };

/* What happens to each sum, and how it is written. */
typedef struct {
    const real *bias; /* or NULL */
    int relu;
    int streams; /* past the caches: see depthwise_streams */
} depthwise_ending;

/* How a run of outputs finds its inputs and weights. Steps are in numbers. */
typedef struct {
    ptrdiff_t tap_rows, tap_cols;
    ptrdiff_t x_tap, x_pixel, x_block; /* to the next tap column, output, block of channels */
    ptrdiff_t w_tap, w_row, w_block;   /* to the next tap column, tap row, block */
    ptrdiff_t y_pixel, y_row; /* to the next output, the next row of outputs */
    ptrdiff_t lanes;            /* that exist */
    ptrdiff_t x_ahead, y_ahead; /* how many bytes ahead to prefetch; 0 if pixels lie far apart */
    int step_back;              /* the last block begins earlier instead of being cut short */
    int relu, streams;
} depthwise_walk;

/* Returns where the block that holds `lane` begins: the last one steps back if that avoids a partial
   vector. */
INLINE ptrdiff_t block_start(ptrdiff_t lane, ptrdiff_t lanes, int step_back) {
    return step_back ? smaller(lane, lanes - LANES) : lane;
}

/* Finds the outputs first..past-1 of a row whose tap columns all lie inside the image; those before and after
   have some in the padding. */
static inline void inner_columns(const conv_problem *s, ptrdiff_t *first, ptrdiff_t *past) {
    const ptrdiff_t last_tap = (s->filter_cols - 1) * s->dilation_cols;
    ptrdiff_t first_left, past_left, first_right, past_right;
    indices_inside(s->out_cols, s->stride_cols, -s->pad_left, s->in_cols, &first_left, &past_left);
    indices_inside(s->out_cols, s->stride_cols, last_tap - s->pad_left, s->in_cols, &first_right,
                   &past_right);
    *first = smaller(larger(first_left, first_right), s->out_cols);
    *past = s->filter_cols ? larger(*first, smaller(past_left, past_right)) : *first;
}

/* Sums one tile over all taps, for one block of channels. rows[tap_row] + x_start is the first pixel's first
   tap. adjacent: taps and pixels are both one column apart, so a pixel's tap t + 1 and the next pixel's tap t read
   the same input, and five tap columns are taken at a time. */
INLINE void depthwise_block(const int pixels, const int adjacent, const depthwise_walk *k,
                            const real *const *rows, ptrdiff_t x_start, const real *w, vec *sum) {
    const ptrdiff_t step = k->x_pixel;
    UNROLL(8)
    for (int p = 0; p < pixels; p++) sum[p] = (vec){0};
    for (ptrdiff_t tap_row = 0; tap_row < k->tap_rows; tap_row++) {
        const real *at = rows[tap_row] + x_start, *tap = w + tap_row * k->w_row;
        ptrdiff_t left = k->tap_cols;
        for (; adjacent && left >= DEPTHWISE_WIDE;
             left -= DEPTHWISE_WIDE, at += DEPTHWISE_WIDE * step, tap += DEPTHWISE_WIDE * k->w_tap) {
            vec x[DEPTHWISE_PIXELS + DEPTHWISE_WIDE - 1];
            UNROLL(12)
            for (int p = 0; p < pixels + DEPTHWISE_WIDE - 1; p++) x[p] = keep(load(at + p * step));
            UNROLL(5)
            for (int t = 0; t < DEPTHWISE_WIDE; t++) {
                const vec weight = keep(load(tap + t * k->w_tap));
                UNROLL(8)
                for (int p = 0; p < pixels; p++)
                    sum[p] += x[p + t] * weight; /* mark: multiply-add of depthwise if adjacent */
            }
        }
        for (; left > 0; left--, at += k->x_tap, tap += k->w_tap) {
            const vec weight = keep(load(tap));
            UNROLL(8)
            for (int p = 0; p < pixels; p++) {
                const vec x = load(at + p * step);
                sum[p] += x * weight; /* mark: multiply-add of depthwise if rows */
            }
        }
    }
}

/* Applies bias and relu to one tile's `count` channels. */
INLINE void depthwise_finish(const int pixels, const real *bias, ptrdiff_t count, int relu, vec *sum) {
    const vec b = !bias ? (vec){0} : count == LANES ? load(bias) : load_part(bias, count);
    UNROLL(8)
    for (int p = 0; p < pixels; p++) {
        if (bias) sum[p] += b;
        if (relu) sum[p] = rectify(sum[p]);
    }
}

/* Finishes and writes one tile's `left` channels, or LANES if there are more. */
INLINE void depthwise_write(const int pixels, const depthwise_walk *k, const real *bias, ptrdiff_t left,
                            vec *sum, real *y) {
    const ptrdiff_t count = k->step_back ? LANES : smaller(LANES, left);
    if (bias || k->relu) depthwise_finish(pixels, bias, count, k->relu, sum);
    if (k->streams) {
        UNROLL(8)
        for (int p = 0; p < pixels; p++) stream(y + p * k->y_pixel, sum[p]);
    } else if (count == LANES) {
        UNROLL(8)
        for (int p = 0; p < pixels; p++) store(y + p * k->y_pixel, sum[p]);
    } else {
        for (int p = 0; p < pixels; p++) store_part(y + p * k->y_pixel, sum[p], count);
    }
}

/* Computes all channels of one tile. */
INLINE void depthwise_tile(const int pixels, const int adjacent, const depthwise_walk *k,
                           const real *const *rows, ptrdiff_t x_start, const real *w, const real *bias,
                           real *y) {
    vec sum[DEPTHWISE_PIXELS];
    const real *last_row = k->tap_rows > 0 ? rows[k->tap_rows - 1] + x_start : w;
    for (ptrdiff_t left = k->lanes; left > 0; left -= LANES) {
        if (left < LANES && k->step_back) {
            const ptrdiff_t back = LANES - left;
            x_start -= back, y -= back, last_row -= back, bias = bias ? bias - back : NULL;
        }
        depthwise_block(pixels, adjacent, k, rows, x_start, w, sum);
        if (k->tap_cols > 2) { /* phases have few taps, so a prefetch does not pay */
            UNROLL(8)
            for (int p = 0; p < pixels; p++) {
                PREFETCH((const char *)(last_row + p * k->x_pixel) + k->x_ahead, 3);
                if (!k->streams) PREFETCH_TO_WRITE((const char *)(y + p * k->y_pixel) + k->y_ahead);
            }
        }
        depthwise_write(pixels, k, bias, left, sum, y);
        x_start += k->x_block, w += k->w_block, y += LANES, last_row += k->x_block,
            bias = bias ? bias + LANES : NULL;
    }
}

/* Each computes `tiles` tiles of `pixels` pixels, side by side. */
/* clang-format off */
#define TILES_CASE(pixels, adjacent)                                                   \
    case pixels:                                                                                  \
        for (; tiles > 0; tiles--, x_start += pixels * k->x_pixel, y += pixels * k->y_pixel)      \
            depthwise_tile(pixels, adjacent, k, rows, x_start, w, bias, y);      \
        break;
#define TILES_OF(name, adjacent)                                                       \
    KERNEL void name(ptrdiff_t pixels, ptrdiff_t tiles, const depthwise_walk *k,            \
                           const real *const *rows, ptrdiff_t x_start, const real *w,             \
                           const real *bias, real *y) {                                           \
        took(!adjacent ? TOOK_ROWS                                                                \
             : k->tap_cols % DEPTHWISE_WIDE ? TOOK_ADJACENT | TOOK_ROWS : TOOK_ADJACENT);         \
        switch (pixels) {                                                                         \
            TILES_CASE(1, adjacent) TILES_CASE(2, adjacent)                 \
            TILES_CASE(3, adjacent) TILES_CASE(4, adjacent)                 \
            TILES_CASE(5, adjacent) TILES_CASE(6, adjacent)                 \
            TILES_CASE(7, adjacent) TILES_CASE(8, adjacent)                 \
        }                                                                                         \
    }
TILES_OF(depthwise_tiles, 0)
TILES_OF(depthwise_tiles_adjacent, 1)
#undef TILES_OF
#undef TILES_CASE
/* clang-format on */

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
