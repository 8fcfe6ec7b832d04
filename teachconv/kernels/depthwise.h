/* depthwise: groups == in_channels. Nothing is summed over channels, so they lie in the vector's lanes and pixels side by side in registers.

     a row of x, [col][channel], is copied into blocks of LANES channels, [block][col][LANES], the first time an output row needs it:

         col 0: c0..c15 c16..c31     ->    block 0: col 0, col 1, col 2, ...        (and kept while the taps pass over it, with
         col 1: c0..c15 c16..c31           block 1: col 0, col 1, col 2, ...        zero columns to the left and right)

     for each image, for each group of blocks (the rows that the taps need fit the first-level cache)
      for each out row
       for each block of channels
         for each tile of up to 8 pixels
           for each tap:  one vector of w, and per pixel one of x:  sum[pixel] += x * w

   What it gains over the general kernels: a group of one channel would leave them with one lane in use. What the copy gains: with 512
   channels neighbouring pixels lie 2 KB apart and share two sets of the first-level cache, which 3 x 3 taps of 8 pixels overflow.

     The input gradient is the same gather over dy, phase by phase (see phases.h), with the taps read backwards.
     The filter gradient turns it inside out: up to 9 taps have a sum each, and the pixels of a row run by.

   Several outputs per channel (the multiplier m): out_channel o reads in_channel o / m, and the copy repeats each channel m times.

   Order of every cell's sum: tap_row, tap_col (input gradient: from the last tap of the phase to the first, then m);
   filter gradient: image, out_row, out_col (in a row of dy that is not finite, the border columns last). Same bits for any number of threads.
   Non-finite data: anything anywhere. Zero columns serve only where what they meet (the filter, or that row of dy) is finite; else the
   border pixels' taps are taken one by one. */
#ifndef TEACHCONV_DEPTHWISE_H
#define TEACHCONV_DEPTHWISE_H
#ifndef DEPTHWISE_CACHE_BYTES
#define DEPTHWISE_CACHE_BYTES (64 * 1024)
#endif
#define DEPTHWISE_MAX_ROWS 64 /* tap rows whose pointers fit the little table on the stack; taller filters are refused */

/* The taps that a tile of pixels sees: all of them inside the image, or the few that one border pixel has left. Numbers, not bytes. */
typedef struct {
    ptrdiff_t tap_rows, tap_cols;
    ptrdiff_t x_tap_step, w_tap_step, w_row_step; /* from tap column to tap column; from tap row to tap row */
    ptrdiff_t x_pixel_step, y_pixel_step;         /* from output to output */
    ptrdiff_t x_block_step, w_block_step;         /* from LANES channels to the next */
    ptrdiff_t columns;                            /* channels that exist */
    int relu;
} depthwise_walk;

/* Rows copied into blocks of channels, each kept until another row needs its slot. */
typedef struct {
    const void *image, *end;
    ptrdiff_t cols, channels, multiplier, lanes; /* lanes = channels * multiplier */
    ptrdiff_t group_lanes, groups;               /* how many lanes are copied at a time; how many times that is */
    ptrdiff_t left, padded_cols;                 /* zero columns before the first; all of them, cols and those after included */
    ptrdiff_t slots, row_numbers;
    int in_place; /* nothing is copied: the taps read x where it lies */
    void *rows;
    ptrdiff_t *tags; /* which row of which image and group a slot holds; -1 none */
} row_cache;

enum { DEPTHWISE_PIXELS = 8, DEPTHWISE_TAPS = 9 };
#endif

/* Lanes first..past-1 of one row, [col][channel], into [block][col][LANES]. Lanes beyond the channels hold anything: none is stored. */
KERNEL void NAME(copy_into_blocks)(const row_cache *cache, const real *from, ptrdiff_t first, ptrdiff_t past, real *to) {
    const real *end = (const real *)cache->end;
    to += cache->left * LANES;
    for (ptrdiff_t lane = first; lane < past; lane += LANES, to += cache->padded_cols * LANES) {
        const real *pixel = from + (cache->multiplier == 1 ? lane : 0);
        for (ptrdiff_t col = 0; col < cache->cols; col++, pixel += cache->channels) {
            real *at = to + col * LANES;
            if (cache->multiplier == 1) NAME(store)(at, pixel + LANES <= end ? NAME(load)(pixel) : NAME(load_part)(pixel, end - pixel));
            else for (ptrdiff_t i = 0; i < smaller(LANES, past - lane); i++) at[i] = pixel[(lane + i) / cache->multiplier];
        }
    }
}

/* The lanes of a group end here. */
static inline ptrdiff_t NAME(past_lane)(const row_cache *cache, ptrdiff_t group) {
    return smaller(cache->lanes, (group + 1) * cache->group_lanes);
}

INLINE const real *NAME(cached_row)(const row_cache *cache, ptrdiff_t image_rows, ptrdiff_t image, ptrdiff_t group, ptrdiff_t row) {
    if (cache->in_place) return (const real *)cache->image + (image * image_rows + row) * cache->cols * cache->channels + group * cache->group_lanes;
    const ptrdiff_t tag = (image * cache->groups + group) * image_rows + row, slot = row % cache->slots;
    real *rows = (real *)cache->rows + slot * cache->row_numbers;
    if (cache->tags[slot] != tag) {
        NAME(copy_into_blocks)(cache, (const real *)cache->image + (image * image_rows + row) * cache->cols * cache->channels, group * cache->group_lanes,
                               NAME(past_lane)(cache, group), rows);
        cache->tags[slot] = tag;
    }
    return rows;
}

/* A cache over x [images, rows, cols, channels], with room for `slots` rows, in one block of memory; rows == NULL where there is none. */
INLINE row_cache NAME(new_row_cache)(const real *x, ptrdiff_t all_rows, ptrdiff_t cols, ptrdiff_t channels, ptrdiff_t multiplier, ptrdiff_t group_lanes,
                                     ptrdiff_t slots, ptrdiff_t left, ptrdiff_t right) {
    row_cache c = {x, x + all_rows * cols * channels, cols, channels, multiplier, channels * multiplier, group_lanes,
                   divide_up(channels * multiplier, group_lanes), left, left + cols + right, slots, group_lanes * (left + cols + right), 0, NULL, NULL};
    c.rows = new_scratch(checked_plus(checked_times(checked_times(slots, c.row_numbers), sizeof(real)), slots * (ptrdiff_t)sizeof(ptrdiff_t)));
    c.tags = c.rows ? (ptrdiff_t *)((real *)c.rows + slots * c.row_numbers) : NULL;
    if (c.rows) memset(c.rows, 0, sizeof(real) * (size_t)(slots * c.row_numbers)); /* the columns left and right stay zero */
    for (ptrdiff_t i = 0; c.rows && i < slots; i++) c.tags[i] = -1;
    return c;
}

/* As many lanes at a time as leave `numbers_per_lane` for each in about a first-level cache; depends on the shape only. */
INLINE ptrdiff_t NAME(lanes_at_a_time)(ptrdiff_t lanes, ptrdiff_t numbers_per_lane) {
    const ptrdiff_t fit = DEPTHWISE_CACHE_BYTES / (ptrdiff_t)sizeof(real) / larger(1, numbers_per_lane) / LANES * LANES;
    return larger(LANES, smaller(divide_up(lanes, LANES) * LANES, fit));
}

/* w [taps][lanes] into [block][taps][LANES], zero beyond the lanes. */
INLINE void NAME(depthwise_pack)(const real *w, ptrdiff_t taps, ptrdiff_t lanes, real *to) {
    for (ptrdiff_t block = 0; block < divide_up(lanes, LANES); block++)
        for (ptrdiff_t tap = 0; tap < taps; tap++, to += LANES)
            NAME(store)(to, NAME(load_part)(w + tap * lanes + block * LANES, smaller(LANES, lanes - block * LANES)));
}

/* One tile, one block of channels: rows[tap_row] + x_start is the first pixel's first tap. taps_wide: 3 where the filter has 3 columns
   (then they unroll), else 0; adjacent: taps and pixels are both one column apart, so a pixel's right tap is the next pixel's left one. */
INLINE void NAME(depthwise_block)(const int pixels, const int taps_wide, const int adjacent, const depthwise_walk *k, const real *const *rows,
                                  ptrdiff_t x_start, const real *w, vec *sum) {
    const ptrdiff_t step = k->x_pixel_step, tap_step = k->x_tap_step, w_step = k->w_tap_step;
    UNROLL(8)
    for (int p = 0; p < pixels; p++) sum[p] = (vec){0};
    for (ptrdiff_t tap_row = 0; tap_row < k->tap_rows; tap_row++) {
        const real *at = rows[tap_row] + x_start, *tap = w + tap_row * k->w_row_step;
        if (adjacent) {
            vec x[DEPTHWISE_PIXELS + 2];
            UNROLL(10)
            for (int p = 0; p < pixels + 2; p++) x[p] = NAME(load)(at + p * step);
            UNROLL(3)
            for (int t = 0; t < 3; t++) {
                const vec weight = NAME(load)(tap + t * w_step);
                UNROLL(8)
                for (int p = 0; p < pixels; p++) sum[p] += x[p + t] * weight;
            }
        } else if (taps_wide) {
            UNROLL(3)
            for (int t = 0; t < 3; t++) {
                const vec weight = NAME(load)(tap + t * w_step);
                UNROLL(8)
                for (int p = 0; p < pixels; p++) sum[p] += NAME(load)(at + t * tap_step + p * step) * weight;
            }
        } else {
            for (ptrdiff_t tap_col = 0; tap_col < k->tap_cols; tap_col++, at += tap_step, tap += w_step) {
                const vec weight = NAME(load)(tap);
                UNROLL(8)
                for (int p = 0; p < pixels; p++) sum[p] += NAME(load)(at + p * step) * weight;
            }
        }
    }
}

INLINE void NAME(depthwise_tile)(const int pixels, const int taps_wide, const int adjacent, const depthwise_walk *k, const real *const *rows,
                                 ptrdiff_t x_start, const real *w, const real *bias, real *y) {
    vec sum[DEPTHWISE_PIXELS];
    ptrdiff_t columns = k->columns;
    for (; columns >= LANES; columns -= LANES, x_start += k->x_block_step, w += k->w_block_step, y += LANES) {
        NAME(depthwise_block)(pixels, taps_wide, adjacent, k, rows, x_start, w, sum);
        if (bias) {
            const vec b = NAME(load)(bias);
            UNROLL(8)
            for (int p = 0; p < pixels; p++) sum[p] += b;
            bias += LANES;
        }
        UNROLL(8)
        for (int p = 0; p < pixels; p++) NAME(store)(y + p * k->y_pixel_step, k->relu ? NAME(relu)(sum[p]) : sum[p]);
    }
    if (columns > 0) {
        NAME(depthwise_block)(pixels, taps_wide, adjacent, k, rows, x_start, w, sum);
        for (int p = 0; p < pixels; p++) NAME(finish_sum)(y + p * k->y_pixel_step, sum[p], bias, columns, k->relu);
    }
}

#define TILES_OF(name, taps_wide, adjacent)                                                                                                   \
    KERNEL void NAME(name)(ptrdiff_t pixels, const depthwise_walk *k, const real *const *rows, ptrdiff_t x_start, const real *w, const real *bias, \
                           real *y) {                                                                                                         \
        switch (pixels) {                                                                                                                     \
        case 1: NAME(depthwise_tile)(1, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        case 2: NAME(depthwise_tile)(2, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        case 3: NAME(depthwise_tile)(3, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        case 4: NAME(depthwise_tile)(4, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        case 5: NAME(depthwise_tile)(5, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        case 6: NAME(depthwise_tile)(6, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        case 7: NAME(depthwise_tile)(7, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                            \
        default: NAME(depthwise_tile)(8, taps_wide, adjacent, k, rows, x_start, w, bias, y); break;                                           \
        }                                                                                                                                     \
    }
TILES_OF(depthwise_pixels, 0, 0)
TILES_OF(depthwise_pixels_3, 3, 0)
TILES_OF(depthwise_pixels_3_adjacent, 3, 1)
#undef TILES_OF

/* The outputs first..past-1 of a row see all tap columns inside the image; those before and after have some in the padding. */
#ifndef TEACHCONV_INNER_COLUMNS
#define TEACHCONV_INNER_COLUMNS
static inline void inner_columns(const conv_problem *s, ptrdiff_t *first, ptrdiff_t *past) {
    ptrdiff_t first_left, past_left, first_right, past_right;
    indices_inside(s->out_cols, s->stride_cols, -s->pad_left, s->in_cols, &first_left, &past_left);
    indices_inside(s->out_cols, s->stride_cols, (s->filter_cols - 1) * s->dilation_cols - s->pad_left, s->in_cols, &first_right, &past_right);
    *first = smaller(larger(first_left, first_right), s->out_cols);
    *past = s->filter_cols ? larger(*first, smaller(past_left, past_right)) : *first;
}
#endif

/* One row of outputs, from cached rows; w packed; y at the row's first output. */
KERNEL void NAME(depthwise_row)(const gather *g, const row_cache *cache, int zero_columns, ptrdiff_t image, ptrdiff_t group, const real *w, const real *bias, int relu, ptrdiff_t out_row,
                                ptrdiff_t y_col_step, real *y) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t in_row = out_row * s->stride_rows - s->pad_top, first_lane = group * cache->group_lanes;
    const ptrdiff_t stored_taps = g->stored_cols * g->stored_rows;
    const real *rows[DEPTHWISE_MAX_ROWS];
    ptrdiff_t first_row, past_row, first, past;
    indices_inside(s->filter_rows, s->dilation_rows, in_row, s->in_rows, &first_row, &past_row);
    for (ptrdiff_t tap = first_row; tap < past_row; tap++)
        rows[tap - first_row] = NAME(cached_row)(cache, s->in_rows, image, group, in_row + tap * s->dilation_rows);
    inner_columns(s, &first, &past);
    if (zero_columns && s->filter_cols) first = 0, past = s->out_cols;
    const ptrdiff_t pixel = cache->in_place ? cache->channels : LANES, block = cache->in_place ? LANES : cache->padded_cols * LANES;
    const depthwise_walk k = {past_row - first_row, s->filter_cols, s->dilation_cols * pixel, g->tap_col_step * LANES,
                              g->tap_row_step * g->stored_cols * LANES, s->stride_cols * pixel, y_col_step, block, stored_taps * LANES,
                              NAME(past_lane)(cache, group) - first_lane, relu};
    const int adjacent = k.x_tap_step == pixel && k.x_pixel_step == pixel;
    const ptrdiff_t start = (cache->left - s->pad_left) * pixel, tiles = divide_up(past - first, DEPTHWISE_PIXELS);
    w += ((g->first_tap_row + first_row * g->tap_row_step) * g->stored_cols + g->first_tap_col) * LANES + first_lane * stored_taps;
    y += first_lane, bias = bias ? bias + first_lane : NULL;
    for (ptrdiff_t tile = 0, col = first; tile < tiles; tile++) {
        const ptrdiff_t pixels = divide_up(past - col, tiles - tile);
        (s->filter_cols != 3 ? NAME(depthwise_pixels) : adjacent ? NAME(depthwise_pixels_3_adjacent) : NAME(depthwise_pixels_3))(
            pixels, &k, rows, start + col * k.x_pixel_step, w, bias, y + col * y_col_step);
        col += pixels;
    }
    for (ptrdiff_t col = first > 0 ? 0 : past; col < s->out_cols; col = col + 1 == first ? past : col + 1) {
        ptrdiff_t first_tap, past_tap;
        indices_inside(s->filter_cols, s->dilation_cols, col * s->stride_cols - s->pad_left, s->in_cols, &first_tap, &past_tap);
        depthwise_walk border = k;
        border.tap_cols = past_tap - first_tap;
        if (border.tap_cols == 0) border.tap_rows = 0;
        NAME(depthwise_pixels)(1, &border, rows, start + col * k.x_pixel_step + first_tap * k.x_tap_step,
                               border.tap_rows ? w + first_tap * k.w_tap_step : w, bias, y + col * y_col_step);
    }
}

/* How far the taps of a gather reach beyond the columns of its input, to the left and to the right. */
#ifndef TEACHCONV_REACH
#define TEACHCONV_REACH
/* Whole vectors only, and pixels that do not all fall into the same few sets of the first-level cache. */
static inline int reads_well_in_place(ptrdiff_t channels, ptrdiff_t lanes, ptrdiff_t real_bytes) {
    return channels % lanes == 0 && channels * real_bytes % 1024 != 0;
}

static inline void widen_reach(const conv_problem *s, ptrdiff_t *left, ptrdiff_t *right) {
    if (s->out_cols == 0 || s->filter_cols == 0) return;
    *left = larger(*left, s->pad_left);
    *right = larger(*right, (s->out_cols - 1) * s->stride_cols - s->pad_left + (s->filter_cols - 1) * s->dilation_cols - (s->in_cols - 1));
}
#endif

static inline int NAME(depthwise_can)(const conv_problem *p) { return p->groups == p->in_channels && p->filter_rows <= DEPTHWISE_MAX_ROWS; }

INLINE real *NAME(depthwise_packed)(const conv_problem *p, const real *w) {
    const ptrdiff_t taps = p->filter_rows * p->filter_cols;
    real *packed = (real *)new_scratch(checked_times(taps * divide_up(p->out_channels, LANES) * LANES, sizeof(real)));
    if (packed) NAME(depthwise_pack)(w, taps, p->out_channels, packed);
    return packed;
}

KERNEL int NAME(depthwise_run)(const conv_problem *p, const real *x, const real *w, const real *unused, const real *bias, int relu, real *y, int threads) {
    (void)unused;
    if (!NAME(depthwise_can)(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->out_rows == 0 || p->out_cols == 0 || p->out_channels == 0) return CONV_OK;
    const gather g = forward_gather(p);
    real *packed = NAME(depthwise_packed)(p, w);
    const int in_place = p->out_channels == p->in_channels && reads_well_in_place(p->in_channels, LANES, sizeof(real));
    const int zero_columns = !in_place && NAME(all_finite)(w, p->filter_rows * p->filter_cols * p->out_channels);
    ptrdiff_t left = 0, right = 0;
    int failed = !packed;
    if (zero_columns) widen_reach(p, &left, &right);
    const ptrdiff_t slots = (p->filter_rows - 1) * p->dilation_rows + 1, group_lanes = in_place ? p->out_channels : NAME(lanes_at_a_time)(p->out_channels, slots * (left + p->in_cols + right));
    const ptrdiff_t groups = divide_up(p->out_channels, group_lanes);
    threads = useful_threads(problem_macs(p) * 4, threads);
#pragma omp parallel num_threads(threads) reduction(| : failed) if (threads > 1)
    {
        row_cache cache = NAME(new_row_cache)(x, p->batch * p->in_rows, p->in_cols, p->in_channels, p->out_channels / p->in_channels, group_lanes, slots,
                                              left, right);
        cache.in_place = in_place;
        if (!cache.rows) failed = 1;
#pragma omp for schedule(static)
        for (ptrdiff_t i = 0; i < p->batch * groups * p->out_rows; i++) {
            const ptrdiff_t image = i / p->out_rows / groups, group = i / p->out_rows % groups, out_row = i % p->out_rows;
            if (cache.rows && packed)
                NAME(depthwise_row)(&g, &cache, zero_columns, image, group, packed, bias, relu, out_row, p->out_channels,
                                    y + image * g.y_image_step + out_row * g.y_row_step);
        }
        free_scratch(cache.rows);
    }
    free_scratch(packed);
    return failed ? CONV_NO_MEMORY : CONV_OK;
}

/* The multiplier's outputs of one row of dx, summed into their channel. */
INLINE void NAME(sum_multiplier)(const real *spread, ptrdiff_t cells, ptrdiff_t channels, ptrdiff_t multiplier, const real *bias, int relu, real *row) {
    for (ptrdiff_t cell = 0; cell < cells; cell++) {
        real sum = 0;
        for (ptrdiff_t m = 0; m < multiplier; m++) sum += spread[cell * multiplier + m];
        if (bias) sum += bias[cell % channels];
        row[cell] = relu && sum < 0 ? 0 : sum;
    }
}

/* dx row by row; each row belongs to one row phase and is written by its column phases in turn. */
KERNEL int NAME(depthwise_input_run)(const conv_problem *p, const real *dy, const real *w, const real *unused, const real *bias, int relu, real *dx, int threads) {
    (void)unused;
    if (!NAME(depthwise_can)(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->in_rows == 0 || p->in_cols == 0 || p->in_channels == 0) return CONV_OK;
    const ptrdiff_t lanes = p->out_channels, multiplier = lanes / p->in_channels;
    real *packed = NAME(depthwise_packed)(p, w);
    const int in_place = reads_well_in_place(lanes, LANES, sizeof(real));
    const int zero_columns = !in_place && NAME(all_finite)(w, p->filter_rows * p->filter_cols * p->out_channels);
    ptrdiff_t left = 0, right = 0;
    int failed = !packed;
    for (ptrdiff_t residue = 0; zero_columns && residue < smaller(p->stride_cols, p->in_cols); residue++) {
        const phase_axis cols = phase_of(residue, p->in_cols, p->filter_cols, p->stride_cols, p->dilation_cols, p->pad_left);
        const conv_problem phase = {1, 1, p->out_cols, 1, 1, cols.count, 1, 1, 1, cols.taps, 1, 1, 1, cols.dilation, 0, cols.pad};
        widen_reach(&phase, &left, &right);
    }
    const ptrdiff_t slots = (p->filter_rows - 1) * p->dilation_rows / p->stride_rows + 2;
    /* where the multiplier's outputs are summed up, a row needs all of its lanes at once */
    const ptrdiff_t group_lanes = multiplier == 1 && !in_place ? NAME(lanes_at_a_time)(lanes, slots * (left + p->out_cols + right)) : divide_up(lanes, LANES) * LANES;
    const ptrdiff_t groups = divide_up(larger(1, lanes), larger(1, group_lanes));
    threads = useful_threads(problem_macs(p) * 4, threads);
#pragma omp parallel num_threads(threads) reduction(| : failed) if (threads > 1)
    {
        row_cache cache = NAME(new_row_cache)(dy, p->batch * p->out_rows, p->out_cols, lanes, 1, larger(1, group_lanes), slots, left, right);
        real *spread = multiplier != 1 ? (real *)new_scratch(checked_times(p->in_cols * lanes, sizeof(real))) : NULL;
        cache.in_place = in_place;
        if (!cache.rows || (multiplier != 1 && !spread)) failed = 1;
#pragma omp for schedule(static)
        for (ptrdiff_t i = 0; i < p->batch * groups * p->in_rows; i++) {
            const ptrdiff_t image = i / p->in_rows / groups, group = i / p->in_rows % groups, in_row = i % p->in_rows;
            real *row = dx + (image * p->in_rows + in_row) * p->in_cols * p->in_channels, *result = multiplier == 1 ? row : spread;
            if (!cache.rows || !packed || !result) continue;
            for (ptrdiff_t residue = 0; residue < smaller(p->stride_cols, p->in_cols); residue++) {
                ptrdiff_t offset;
                gather g = phase_gather(p, in_row % p->stride_rows, residue, &offset);
                if (g.shape.in_channels == 0) g.shape.filter_rows = g.shape.filter_cols = 0;
                NAME(depthwise_row)(&g, &cache, zero_columns, image, group, packed, multiplier == 1 ? bias : NULL, multiplier == 1 && relu, in_row / p->stride_rows,
                                    p->stride_cols * lanes, result + residue * lanes);
            }
            if (multiplier != 1) NAME(sum_multiplier)(spread, p->in_cols * p->in_channels, p->in_channels, multiplier, bias, relu, row);
        }
        free_scratch(spread);
        free_scratch(cache.rows);
    }
    free_scratch(packed);
    return failed ? CONV_NO_MEMORY : CONV_OK;
}

/* ---- the filter gradient ---- */

/* Adds `pixels` products to the sums of up to 9 taps; sums: [tap][LANES]; tap_rows[t] + x_start is tap t of the first pixel. */
INLINE void NAME(depthwise_taps)(const int taps, const real *const *tap_starts, ptrdiff_t x_start, ptrdiff_t x_step, const real *dy, ptrdiff_t pixels, real *sums) {
    vec sum[DEPTHWISE_TAPS];
    const real *x[DEPTHWISE_TAPS];
    UNROLL(9)
    for (int t = 0; t < taps; t++) sum[t] = NAME(load)(sums + t * LANES), x[t] = tap_starts[t] + x_start;
    for (ptrdiff_t at = 0; pixels > 0; pixels--, at += x_step, dy += LANES) {
        const vec d = NAME(load)(dy);
        UNROLL(9)
        for (int t = 0; t < taps; t++) sum[t] += NAME(load)(x[t] + at) * d;
    }
    UNROLL(9)
    for (int t = 0; t < taps; t++) NAME(store)(sums + t * LANES, sum[t]);
}

KERNEL void NAME(depthwise_some_taps)(ptrdiff_t taps, const real *const *tap_starts, ptrdiff_t x_start, ptrdiff_t x_step, const real *dy, ptrdiff_t pixels, real *sums) {
    while (taps > 0) {
        const ptrdiff_t now = taps >= 9 ? 9 : taps == 6 || taps <= 3 ? taps : taps >= 6 ? 6 : 3;
        switch (now) {
        case 1: NAME(depthwise_taps)(1, tap_starts, x_start, x_step, dy, pixels, sums); break;
        case 2: NAME(depthwise_taps)(2, tap_starts, x_start, x_step, dy, pixels, sums); break;
        case 3: NAME(depthwise_taps)(3, tap_starts, x_start, x_step, dy, pixels, sums); break;
        case 6: NAME(depthwise_taps)(6, tap_starts, x_start, x_step, dy, pixels, sums); break;
        default: NAME(depthwise_taps)(9, tap_starts, x_start, x_step, dy, pixels, sums); break;
        }
        taps -= now, tap_starts += now, sums += now * LANES;
    }
}

/* One out row's share of one block of channels. tap_starts [filter_rows * filter_cols]: where tap t's row begins for out column 0. */
KERNEL void NAME(depthwise_filter_row)(const conv_problem *p, const real *const *tap_starts, ptrdiff_t x_start, const real *dy, int zero_columns,
                                       ptrdiff_t first_row, ptrdiff_t past_row, real *sums) {
    ptrdiff_t first, past;
    inner_columns(p, &first, &past);
    if (zero_columns) first = 0, past = p->out_cols;
    const ptrdiff_t step = p->stride_cols * LANES, skipped = first_row * p->filter_cols;
    if (past > first && past_row > first_row)
        NAME(depthwise_some_taps)((past_row - first_row) * p->filter_cols, tap_starts + skipped, x_start + first * step, step, dy + first * LANES, past - first,
                                  sums + skipped * LANES);
    for (ptrdiff_t col = first > 0 ? 0 : past; col < p->out_cols; col = col + 1 == first ? past : col + 1) {
        ptrdiff_t first_tap, past_tap;
        indices_inside(p->filter_cols, p->dilation_cols, col * p->stride_cols - p->pad_left, p->in_cols, &first_tap, &past_tap);
        for (ptrdiff_t tap_row = first_row; tap_row < past_row && past_tap > first_tap; tap_row++) {
            const ptrdiff_t tap = tap_row * p->filter_cols + first_tap;
            NAME(depthwise_some_taps)(past_tap - first_tap, tap_starts + tap, x_start + col * step, 0, dy + col * LANES, 1, sums + tap * LANES);
        }
    }
}

/* One group of lanes, all images and rows. sums [blocks of the group][taps][LANES]. */
INLINE void NAME(depthwise_filter_group)(const conv_problem *p, const row_cache *x, const row_cache *dy, const real **tap_starts, ptrdiff_t group, real *sums) {
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, first_lane = group * x->group_lanes, blocks = divide_up(NAME(past_lane)(x, group) - first_lane, LANES);
    for (ptrdiff_t i = 0; i < p->batch * p->out_rows; i++) {
        const ptrdiff_t image = i / p->out_rows, out_row = i % p->out_rows, in_row = out_row * p->stride_rows - p->pad_top;
        ptrdiff_t first_row, past_row;
        indices_inside(p->filter_rows, p->dilation_rows, in_row, p->in_rows, &first_row, &past_row);
        if (past_row == first_row) continue;
        for (ptrdiff_t tap_row = first_row; tap_row < past_row; tap_row++) {
            const real *row = NAME(cached_row)(x, p->in_rows, image, group, in_row + tap_row * p->dilation_rows);
            for (ptrdiff_t tap_col = 0; tap_col < p->filter_cols; tap_col++)
                tap_starts[tap_row * p->filter_cols + tap_col] = row + tap_col * p->dilation_cols * LANES;
        }
        const real *dy_row = NAME(cached_row)(dy, p->out_rows, image, group, out_row);
        for (ptrdiff_t block = 0; block < blocks; block++) {
            const real *dy_block = dy_row + block * p->out_cols * LANES;
            const int zero_columns = NAME(all_finite)(dy_block, p->out_cols * LANES);
            NAME(depthwise_filter_row)(p, tap_starts, (block * x->padded_cols + x->left - p->pad_left) * LANES, dy_block, zero_columns, first_row, past_row,
                                       sums + block * taps * LANES);
        }
    }
}

KERNEL int NAME(depthwise_filter_run)(const conv_problem *p, const real *x, const real *dy, real *dw, int threads) {
    if (!NAME(depthwise_can)(p)) return CONV_UNSUPPORTED;
    const ptrdiff_t lanes = p->out_channels, taps = p->filter_rows * p->filter_cols;
    if (lanes == 0 || taps == 0) return CONV_OK;
    ptrdiff_t left = 0, right = 0;
    int failed = 0;
    widen_reach(p, &left, &right);
    const ptrdiff_t slots = (p->filter_rows - 1) * p->dilation_rows + 1;
    const ptrdiff_t group_lanes = NAME(lanes_at_a_time)(lanes, slots * (left + p->in_cols + right) + p->out_cols);
    const ptrdiff_t groups = divide_up(lanes, group_lanes), sum_numbers = group_lanes * taps;
    threads = (int)smaller(useful_threads(problem_macs(p) * 4, threads), groups);
#pragma omp parallel num_threads(threads) reduction(| : failed) if (threads > 1)
    {
        row_cache x_rows = NAME(new_row_cache)(x, p->batch * p->in_rows, p->in_cols, p->in_channels, lanes / p->in_channels, group_lanes, slots, left, right);
        row_cache dy_rows = NAME(new_row_cache)(dy, p->batch * p->out_rows, p->out_cols, lanes, 1, group_lanes, 1, 0, 0);
        real *sums = (real *)new_scratch(sum_numbers * (ptrdiff_t)sizeof(real) + taps * (ptrdiff_t)sizeof(real *));
        const int ready = sums && x_rows.rows && dy_rows.rows;
        if (!ready) failed = 1;
#pragma omp for schedule(static)
        for (ptrdiff_t group = 0; group < groups; group++) { /* each group of channels has one thread, which sees every pixel */
            if (!ready) continue;
            memset(sums, 0, sizeof(real) * (size_t)sum_numbers);
            NAME(depthwise_filter_group)(p, &x_rows, &dy_rows, (const real **)(sums + sum_numbers), group, sums);
            for (ptrdiff_t lane = group * group_lanes, block = 0; lane < NAME(past_lane)(&x_rows, group); lane += LANES, block++)
                for (ptrdiff_t tap = 0; tap < taps; tap++)
                    memcpy(dw + tap * lanes + lane, sums + (block * taps + tap) * LANES, sizeof(real) * (size_t)smaller(LANES, lanes - lane));
        }
        free_scratch(sums);
        free_scratch(x_rows.rows);
        free_scratch(dy_rows.rows);
    }
    return failed ? CONV_NO_MEMORY : CONV_OK;
}
