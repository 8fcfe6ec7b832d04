/* depthwise: groups == in_channels. Nothing is summed over channels, so the lanes of a vector are channels,
   and neighbouring pixels are in separate registers.

     x, one row:  | px 0: c0..c15 c16..c31 | px 1: c0..c15 c16..c31 | px 2 ...
                     |                        |
                     `--- * w[tap] + ...      `--- * w[tap] + ...
     y, one row:  | px 0: c0..c15          | px 1: c0..c15

     for each image, for each out row
       for each tile of up to 8 pixels
         for each block of LANES channels                     (x is read in place, from front to back)
           for each tap:  one vector of w, and per pixel one of x:  sum[pixel] += x * w

   Gain over the general kernels: with groups of one channel they would use one lane only. Here memory is the
   limit: two multiply-adds per byte moved. So the tile prefetches the lines that later tiles will read and
   write.

   LANES channels or more are not copied: if they are not a multiple of LANES, the last block begins earlier
   and computes some channels twice.
   With fewer channels, or several outputs per channel (the multiplier m: out_channel o reads in_channel o /
   m), each row is first copied to [block][col][LANES], with each channel repeated m times, and kept as long
   as taps read it.

   Order of summation in every cell: tap_row, tap_col; in strips (3x3 at stride 1) tap_col, tap_row. The bits
   are the same for any number of threads.
   Non-finite data: allowed everywhere. No padding is multiplied: pixels at the left and right border use only
   the taps inside the image.
   Scratch: copied rows only (64 KB), LANES channels at least of the rows that the taps reach. If those take
   more than 4 MB, some out columns are computed at a time, one at least. For a filter of more than 64 rows
   the result is CONV_UNSUPPORTED. */
#define DEPTHWISE_STRETCH_BYTES (24 * 1024)
#define DEPTHWISE_READ_AHEAD 1024 /* bytes */
#define DEPTHWISE_WRITE_AHEAD 1024
/* tap rows in a table of pointers on the stack; filters with more are refused */
#define DEPTHWISE_MAX_ROWS 64

enum { DEPTHWISE_PIXELS = 8, DEPTHWISE_TAPS = 9, DEPTHWISE_STRIP = 4 };

/* How a run of outputs finds its inputs and weights. Steps are in numbers. */
typedef struct {
    ptrdiff_t tap_rows, tap_cols;
    ptrdiff_t x_tap, x_pixel, x_block; /* to the next tap column, output, block of channels */
    ptrdiff_t w_tap, w_row, w_block;   /* to the next tap column, tap row, block */
    ptrdiff_t y_pixel;
    ptrdiff_t lanes;            /* that exist */
    ptrdiff_t x_ahead, y_ahead; /* how many bytes ahead to prefetch; 0 if pixels lie far apart */
    int step_back;              /* the last block begins earlier instead of being cut short */
    int relu;
} depthwise_walk;

/* A stretch of columns in a strip of out rows, 3x3 at stride 1. */
typedef struct {
    ptrdiff_t first_out, past_out, in_cols, pad; /* columns */
    ptrdiff_t x_pixel, y_pixel, y_row, w_tap, w_row;
    ptrdiff_t x_ahead, y_ahead;
    int relu;
} depthwise_strip_walk;

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

static inline int depthwise_can(const conv_problem *p) {
    return p->groups == p->in_channels && p->filter_rows <= DEPTHWISE_MAX_ROWS;
}

/* ---- the filter ---- */

/* Returns where the block that holds `lane` begins: the last one steps back if that avoids a partial
   vector. */
INLINE ptrdiff_t block_start(ptrdiff_t lane, ptrdiff_t lanes, int step_back) {
    return step_back ? smaller(lane, lanes - LANES) : lane;
}

/* Returns w [taps][lanes] packed as [block][taps][LANES], with zeros beyond the lanes; NULL if there is not
   enough memory. */
INLINE real *depthwise_packed(const conv_problem *p, const real *w, int step_back) {
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, lanes = p->out_channels;
    real *packed = (real *)new_scratch(checked_times(taps * divide_up(lanes, LANES) * LANES, sizeof(real))),
         *to = packed;
    for (ptrdiff_t lane = 0; packed && lane < lanes; lane += LANES) {
        const ptrdiff_t first = block_start(lane, lanes, step_back), count = smaller(LANES, lanes - first);
        for (ptrdiff_t tap = 0; tap < taps; tap++, to += LANES)
            store(to, load_part(w + tap * lanes + first, count));
    }
    return packed;
}

/* ---- the tile ---- */

/* Sums one tile over all taps, for one block of channels. rows[tap_row] + x_start is the first pixel's first
   tap. taps_wide: 3 or 5 if the filter has that many columns (the loop over them then unrolls), else 0.
   adjacent: taps and pixels are both one column apart, so a pixel's tap t + 1 and the next pixel's tap t read
   the same input. */
INLINE void depthwise_block(const int pixels, const int taps_wide, const int adjacent,
                            const depthwise_walk *k, const real *const *rows, ptrdiff_t x_start,
                            const real *w, vec *sum) {
    const ptrdiff_t step = k->x_pixel;
    UNROLL(8)
    for (int p = 0; p < pixels; p++) sum[p] = (vec){0};
    for (ptrdiff_t tap_row = 0; tap_row < k->tap_rows; tap_row++) {
        const real *at = rows[tap_row] + x_start, *tap = w + tap_row * k->w_row;
        if (adjacent) {
            vec x[DEPTHWISE_PIXELS + 4];
            UNROLL(12)
            for (int p = 0; p < pixels + taps_wide - 1; p++) x[p] = load(at + p * step);
            UNROLL(5)
            for (int t = 0; t < taps_wide; t++) {
                const vec weight = load(tap + t * k->w_tap);
                UNROLL(8)
                for (int p = 0; p < pixels; p++)
                    sum[p] += x[p + t] * weight; /* mark: multiply-add of depthwise if adjacent */
            }
        } else if (taps_wide) {
            UNROLL(5)
            for (int t = 0; t < taps_wide; t++) {
                const vec weight = load(tap + t * k->w_tap);
                UNROLL(8)
                for (int p = 0; p < pixels; p++) {
                    const vec x = load(at + t * k->x_tap + p * step);
                    sum[p] += x * weight; /* mark: multiply-add of depthwise if wide */
                }
            }
        } else {
            for (ptrdiff_t t = 0; t < k->tap_cols; t++, at += k->x_tap, tap += k->w_tap) {
                const vec weight = load(tap);
                UNROLL(8)
                for (int p = 0; p < pixels; p++) {
                    const vec x = load(at + p * step);
                    sum[p] += x * weight; /* mark: multiply-add of depthwise if rows */
                }
            }
        }
    }
}

/* Applies bias and relu to one tile's `count` channels. */
INLINE void depthwise_ending(const int pixels, const real *bias, ptrdiff_t count, int relu, vec *sum) {
    const vec b = !bias ? (vec){0} : count == LANES ? load(bias) : load_part(bias, count);
    UNROLL(8)
    for (int p = 0; p < pixels; p++) {
        if (bias) sum[p] += b;
        if (relu) sum[p] = rectify(sum[p]);
    }
}

/* Computes all channels of one tile. */
INLINE void depthwise_tile(const int pixels, const int taps_wide, const int adjacent, const depthwise_walk *k,
                           const real *const *rows, ptrdiff_t x_start, const real *w, const real *bias,
                           real *y) {
    vec sum[DEPTHWISE_PIXELS];
    const real *last_row = k->tap_rows > 0 ? rows[k->tap_rows - 1] + x_start : w;
    for (ptrdiff_t left = k->lanes; left > 0; left -= LANES) {
        if (left < LANES && k->step_back) {
            const ptrdiff_t back = LANES - left;
            x_start -= back, y -= back, last_row -= back, bias = bias ? bias - back : NULL;
        }
        depthwise_block(pixels, taps_wide, adjacent, k, rows, x_start, w, sum);
        const ptrdiff_t count = k->step_back ? LANES : smaller(LANES, left);
        if (bias || k->relu) depthwise_ending(pixels, bias, count, k->relu, sum);
        UNROLL(8)
        for (int p = 0; taps_wide && p < pixels; p++) { /* phases have few taps, so a prefetch does not pay */
            PREFETCH((const char *)(last_row + p * k->x_pixel) + k->x_ahead, 3);
            PREFETCH_TO_WRITE((const char *)(y + p * k->y_pixel) + k->y_ahead);
        }
        if (count == LANES) {
            UNROLL(8)
            for (int p = 0; p < pixels; p++) store(y + p * k->y_pixel, sum[p]);
        } else {
            for (int p = 0; p < pixels; p++) store_part(y + p * k->y_pixel, sum[p], count);
        }
        x_start += k->x_block, w += k->w_block, y += LANES, last_row += k->x_block,
            bias = bias ? bias + LANES : NULL;
    }
}

/* Each computes `tiles` tiles of `pixels` pixels, side by side. */
/* clang-format off */
#define TILES_CASE(pixels, taps_wide, adjacent)                                                   \
    case pixels:                                                                                  \
        for (; tiles > 0; tiles--, x_start += pixels * k->x_pixel, y += pixels * k->y_pixel)      \
            depthwise_tile(pixels, taps_wide, adjacent, k, rows, x_start, w, bias, y);      \
        break;
#define TILES_OF(name, taps_wide, adjacent)                                                       \
    KERNEL void name(ptrdiff_t pixels, ptrdiff_t tiles, const depthwise_walk *k,            \
                           const real *const *rows, ptrdiff_t x_start, const real *w,             \
                           const real *bias, real *y) {                                           \
        took(adjacent ? TOOK_ADJACENT : taps_wide ? TOOK_WIDE : TOOK_ROWS);                       \
        switch (pixels) {                                                                         \
            TILES_CASE(1, taps_wide, adjacent) TILES_CASE(2, taps_wide, adjacent)                 \
            TILES_CASE(3, taps_wide, adjacent) TILES_CASE(4, taps_wide, adjacent)                 \
            TILES_CASE(5, taps_wide, adjacent) TILES_CASE(6, taps_wide, adjacent)                 \
            TILES_CASE(7, taps_wide, adjacent) TILES_CASE(8, taps_wide, adjacent)                 \
        }                                                                                         \
    }
TILES_OF(depthwise_tiles, 0, 0)
TILES_OF(depthwise_tiles_3, 3, 0)
TILES_OF(depthwise_tiles_5_adjacent, 5, 1)
#undef TILES_OF
#undef TILES_CASE
/* clang-format on */

/* ---- 3x3 at stride 1: a strip of rows, column by column ---- */

/* Computes out rows r = 0..rows-1 of a strip, for one block of channels and out columns first..past-1. Tap t
   of row r reads input row x_rows[r + t].

      x arrives         | column i |       each x is loaded once and added to three columns of sums;
      out column  i+pad-2  i+pad-1  i+pad      the first is then finished, and the others move one to the left

   Weights and sums stay in registers: 9 + 3 * 4 of AVX-512's 32. */
INLINE void depthwise_strip(const int rows, const int taps, const depthwise_strip_walk *k,
                            const real *const *x_rows, const real *w, const real *bias, real *y) {
    vec weight[9], done[DEPTHWISE_STRIP], next[DEPTHWISE_STRIP], begun[DEPTHWISE_STRIP];
    UNROLL(9)
    for (int t = 0; t < 3 * taps; t++) weight[t] = load(w + t / 3 * k->w_row + t % 3 * k->w_tap);
    UNROLL(4)
    for (int r = 0; r < rows; r++) next[r] = begun[r] = (vec){0};
    for (ptrdiff_t col = k->first_out - k->pad, out = k->first_out - 2; out < k->past_out; col++, out++) {
        UNROLL(4)
        for (int r = 0; r < rows; r++) done[r] = next[r], next[r] = begun[r], begun[r] = (vec){0};
        if (col >= 0 && col < k->in_cols) { /* mark: padding of depthwise if strips */
            UNROLL(6)
            for (int q = 0; q < rows + taps - 1; q++) {
                const real *at = x_rows[q] + col * k->x_pixel;
                const vec x = load(at);
                if (q >= taps - 1) PREFETCH((const char *)at + k->x_ahead, 3);
                UNROLL(4)
                for (int r = 0; r < rows; r++)
                    if (q - r >= 0 && q - r < taps) {
                        /* mark: multiply-add of depthwise if strips */
                        done[r] += x * weight[3 * (q - r) + 2];
                        next[r] += x * weight[3 * (q - r) + 1];
                        begun[r] += x * weight[3 * (q - r)];
                    }
            }
        }
        if (out < k->first_out) continue; /* the two columns before the stretch only begin the sums */
        UNROLL(4)
        for (int r = 0; r < rows; r++) {
            real *to = y + r * k->y_row + out * k->y_pixel;
            PREFETCH_TO_WRITE((const char *)to + k->y_ahead);
            finish_sum(to, done[r], bias, LANES, k->relu);
        }
    }
}

KERNEL void depthwise_strip_of(ptrdiff_t rows, ptrdiff_t taps, const depthwise_strip_walk *k,
                               const real *const *x_rows, const real *w, const real *bias, real *y) {
    switch (rows > 1 ? rows + 2 : taps) {
    case 1: depthwise_strip(1, 1, k, x_rows, w, bias, y); break;
    case 2: depthwise_strip(1, 2, k, x_rows, w, bias, y); break;
    case 3: depthwise_strip(1, 3, k, x_rows, w, bias, y); break;
    case 4: depthwise_strip(2, 3, k, x_rows, w, bias, y); break;
    case 5: depthwise_strip(3, 3, k, x_rows, w, bias, y); break;
    case 6: depthwise_strip(4, 3, k, x_rows, w, bias, y); break;
    }
}

/* Computes out rows first_row..first_row+rows-1, for all of which tap rows first_tap..past_tap-1 lie inside
   the image, stretch by stretch and block by block. */
KERNEL void depthwise_strip_rows(const gather *g, const real *x, ptrdiff_t first_row, ptrdiff_t rows,
                                 ptrdiff_t first_tap, ptrdiff_t past_tap, const real *w, const real *bias,
                                 int relu, real *y) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t lanes = s->in_channels, taps = past_tap - first_tap,
                    bytes = lanes * (ptrdiff_t)sizeof(real);
    const ptrdiff_t stretch = larger(8, DEPTHWISE_STRETCH_BYTES / (bytes * (rows + 2)));
    took(TOOK_STRIPS);
    /* else the next pixels lie pages away, and the hardware prefetchers do better alone */
    const int near = bytes < 1024;
    const real *x_rows[DEPTHWISE_STRIP + 2], *blocks[DEPTHWISE_STRIP + 2];
    for (ptrdiff_t q = 0; q < rows + taps - 1; q++)
        x_rows[q] = x + (first_row - s->pad_top + first_tap + q) * s->in_cols * lanes;
    depthwise_strip_walk k = {.in_cols = s->in_cols,
                              .pad = s->pad_left,
                              .x_pixel = lanes,
                              .y_pixel = g->y_col_step,
                              .y_row = g->y_row_step,
                              .w_tap = g->tap_col_step * LANES,
                              .w_row = g->tap_row_step * 3 * LANES,
                              .x_ahead = near ? DEPTHWISE_READ_AHEAD : 0,
                              .y_ahead = near ? DEPTHWISE_WRITE_AHEAD : 0,
                              .relu = relu};
    w += ((g->first_tap_row + first_tap * g->tap_row_step) * 3 + g->first_tap_col) * LANES;
    y += first_row * g->y_row_step;
    for (ptrdiff_t col = 0; col < s->out_cols; col += stretch) {
        k.first_out = col, k.past_out = smaller(s->out_cols, col + stretch);
        for (ptrdiff_t lane = 0; lane < lanes; lane += LANES) {
            const ptrdiff_t first = block_start(lane, lanes, 1);
            for (ptrdiff_t q = 0; q < rows + taps - 1; q++) blocks[q] = x_rows[q] + first;
            depthwise_strip_of(rows, taps, &k, blocks, w + lane * 9, bias ? bias + first : NULL, y + first);
        }
    }
}

/* ---- rows and images ---- */

/* Computes one border pixel from the taps that lie inside the image. */
INLINE void depthwise_border(const conv_problem *s, const depthwise_walk *k, const real *const *rows,
                             ptrdiff_t x_start, const real *w, const real *bias, ptrdiff_t col, real *y) {
    depthwise_walk border = *k;
    ptrdiff_t first_tap, past_tap;
    indices_inside(s->filter_cols, s->dilation_cols, col * s->stride_cols - s->pad_left, s->in_cols,
                   &first_tap, &past_tap);
    border.tap_cols = past_tap - first_tap;
    if (border.tap_cols == 0) border.tap_rows = 0, first_tap = 0;
    depthwise_tiles(1, 1, &border, rows, x_start + col * k->x_pixel + first_tap * k->x_tap,
                    w + first_tap * k->w_tap, bias, y + col * k->y_pixel);
}

/* Computes one row of outputs for the lanes of one group. w is packed; y points to the row's first output. */
KERNEL void depthwise_row(const gather *g, const row_cache *cache, ptrdiff_t image, ptrdiff_t group,
                          const real *w, const real *bias, int relu, ptrdiff_t out_row, ptrdiff_t y_pixel,
                          real *y) {
    const conv_problem *s = &g->shape;
    /* mark: stride of depthwise/y if wide rows adjacent */
    const ptrdiff_t in_row = out_row * s->stride_rows - s->pad_top, first_lane = group * cache->group_lanes;
    const ptrdiff_t taps = g->stored_cols * g->stored_rows, pixel = cache->pixel_step;
    const real *rows[DEPTHWISE_MAX_ROWS];
    ptrdiff_t first_row, past_row, first, past;
    /* mark: padding of depthwise/y if wide rows adjacent */
    indices_inside(s->filter_rows, s->dilation_rows, in_row, s->in_rows, &first_row, &past_row);
    for (ptrdiff_t tap = first_row; tap < past_row; tap++)
        /* mark: dilation of depthwise/y if wide rows adjacent */
        rows[tap - first_row] = cached_row(cache, s->in_rows, image, group, in_row + tap * s->dilation_rows);
    inner_columns(s, &first, &past);
    const int near = cache->channels * (ptrdiff_t)sizeof(real) < 1024;
    const depthwise_walk k = {.tap_rows = past_row - first_row,
                              .tap_cols = s->filter_cols,
                              .x_tap = s->dilation_cols * pixel,
                              .x_pixel = s->stride_cols * pixel,
                              .x_block = cache->block_step,
                              .w_tap = g->tap_col_step * LANES,
                              .w_row = g->tap_row_step * g->stored_cols * LANES,
                              .w_block = taps * LANES,
                              .y_pixel = y_pixel,
                              .lanes = past_lane(cache, group) - first_lane,
                              .x_ahead = near && cache->in_place ? DEPTHWISE_READ_AHEAD : 0,
                              .y_ahead = near ? DEPTHWISE_WRITE_AHEAD : 0,
                              .step_back = cache->in_place,
                              .relu = relu};
    const int adjacent = k.x_tap == pixel && k.x_pixel == pixel;
    const ptrdiff_t start = -s->pad_left * pixel, tiles = divide_up(past - first, DEPTHWISE_PIXELS);
    const ptrdiff_t tile = divide_up(past - first, larger(1, tiles)), rest = tile ? (past - first) % tile : 0;
    w += ((g->first_tap_row + first_row * g->tap_row_step) * g->stored_cols + g->first_tap_col) * LANES
         + first_lane * taps;
    y += first_lane, bias = bias ? bias + first_lane : NULL;
    for (ptrdiff_t col = 0; col < first; col++) depthwise_border(s, &k, rows, start, w, bias, col, y);
    for (ptrdiff_t pixels = tile, col = first; pixels > 0 && col < past; pixels = rest) {
        const ptrdiff_t count = (past - col) / pixels;
        (s->filter_cols == 5 && adjacent ? depthwise_tiles_5_adjacent
         : s->filter_cols == 3
             ? depthwise_tiles_3
             : depthwise_tiles)(pixels, count, &k, rows, start + col * k.x_pixel, w, bias, y + col * y_pixel);
        col += count * pixels;
    }
    for (ptrdiff_t col = past; col < s->out_cols; col++)
        depthwise_border(s, &k, rows, start, w, bias, col, y);
}

/* Returns whether strips can compute the gather. */
INLINE int strips_can(const gather *g, const row_cache *cache) {
    const conv_problem *s = &g->shape;
    return cache->in_place && s->in_channels == s->out_channels && g->stored_rows == 3 && g->stored_cols == 3
           && s->filter_rows == 3 && s->filter_cols == 3 && s->stride_rows == 1 && s->stride_cols == 1
           && s->dilation_rows == 1 && s->dilation_cols == 1;
}

/* Computes up to DEPTHWISE_STRIP rows of outputs of one image. */
KERNEL void depthwise_rows(const gather *g, const row_cache *cache, ptrdiff_t image, ptrdiff_t group,
                           const real *w, const real *bias, int relu, ptrdiff_t first_row, ptrdiff_t past_row,
                           real *y) {
    const conv_problem *s = &g->shape;
    const int strips = strips_can(g, cache);
    const real *x = cache->image + image * s->in_rows * s->in_cols * s->in_channels;
    for (ptrdiff_t row = first_row, count; row < past_row; row += count) {
        ptrdiff_t first_tap, past_tap;
        count = 1;
        indices_inside(3, 1, row - s->pad_top, s->in_rows, &first_tap, &past_tap);
        if (!strips || first_tap == past_tap) {
            depthwise_row(g, cache, image, group, w, bias, relu, row, g->y_col_step, y + row * g->y_row_step);
            continue;
        }
        if (past_tap - first_tap == 3)
            /* as many as have all three inside */
            count = smaller(past_row, s->in_rows - 2 + s->pad_top) - row;
        depthwise_strip_rows(g, x, row, count, first_tap, past_tap, w, bias, relu, y);
    }
}

KERNEL int depthwise_run(const conv_problem *p, const real *x, const real *w, const real *unused,
                         const real *bias, int relu, real *y, int threads) {
    (void)unused;
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->out_rows == 0 || p->out_cols == 0 || p->out_channels == 0) return CONV_OK;
    const gather whole = forward_gather(p);
    const ptrdiff_t multiplier = p->out_channels / p->in_channels,
                    slots = slots_for((p->filter_rows - 1) * p->dilation_rows + 1, p->in_rows);
    const ptrdiff_t group_lanes = lanes_at_a_time(p->out_channels, multiplier, slots * p->in_cols);
    const ptrdiff_t groups = divide_up(p->out_channels, group_lanes),
                    strips = divide_up(p->out_rows, DEPTHWISE_STRIP);
    const int in_place = multiplier == 1 && p->out_channels >= LANES;
    const ptrdiff_t row_lanes = in_place ? 0 : slots * group_lanes, reach = reach_cols(p);
    const ptrdiff_t cols = columns_that_fit(p->out_cols, row_lanes * p->in_cols,
                                            row_lanes * (reach - p->stride_cols), row_lanes * p->stride_cols,
                                            scratch_numbers(slots)),
                    cols_held = held_columns(p, cols), parts = divide_up(p->out_cols, cols);
    real *packed = depthwise_packed(p, w, in_place); /* mark: kernel of depthwise/y */
    int failed = !packed;
    threads = useful_threads(problem_macs(p) * 4, threads);
#pragma omp parallel num_threads(threads) reduction(| : failed) if (threads > 1)
    {
        row_cache cache;
        const int ready = open_row_cache(&cache, x, p->batch * p->in_rows, p->in_cols, cols_held,
                                         p->in_channels, multiplier, group_lanes, slots, 1);
        if (!ready) failed = 1;
#pragma omp for schedule(static)
        for (ptrdiff_t i = 0; i < p->batch * groups * parts * strips; i++) {
            const ptrdiff_t image = i / strips / parts / groups, group = i / strips / parts % groups,
                            part = i / strips % parts, row = i % strips * DEPTHWISE_STRIP;
            if (!ready || !packed) continue;
            const column_range range = forward_columns(p, part * cols, cols);
            gather g = whole;
            g.shape = in_columns(p, &range);
            show_columns(&cache, range.first_in, range.past_in);
            depthwise_rows(&g, &cache, image, group, packed, bias, relu, row,
                           smaller(p->out_rows, row + DEPTHWISE_STRIP),
                           y + image * g.y_image_step + range.first_out * g.y_col_step);
        }
        free_scratch(cache.rows);
    }
    free_scratch(packed);
    return failed ? CONV_NO_MEMORY : CONV_OK;
}
