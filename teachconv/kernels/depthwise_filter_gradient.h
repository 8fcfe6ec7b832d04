/* The filter gradient of depthwise: the pixels of a row are the innermost loop, and up to 9 taps have a sum
   each.

         dy:         | px 0 | px 1 | ...                        each pixel loads one vector of dy, and per tap
         x, 3 rows:  | px -1  px 0  px 1 | px 2 | ...           row one new x; the other x move one tap on
         sums:       9 vectors, one per tap                     (5 columns: two rows, 10 sums, at a time)

     for each group of channels                                 <- threads share these, never the pixels
       for each image
         3x3 at stride 1 or 2, read in place:  tiles (below), up to 2 out rows together
         otherwise, for each out row
           for each stretch of out columns (its x fits the first-level cache)
             for each block of LANES channels
               for each pixel:  for each tap:  sum[tap] += x * dy

   Gain over a pass per tap: dy is read once per 9 taps, x once per tap row.

   Order of summation in every cell: image, out_row, out_col, in each part of the columns (one part, unless
   the scratch bound requires more); in tiles image, pair of rows, up to 4 columns, out_row, out_col. The bits
   are the same for any number of threads.
   Non-finite data: allowed everywhere; taps in the padding are skipped.
   Scratch: as in depthwise.h; the sums (1 MB, those of LANES channels at least). */

/* The second rung of the filter gradient of depthwise, for 3x3 at stride 1 or 2: a tile of several rows and
   columns of dy, all its channels from front to back.

         x, 4 rows:   | col 0 | col 1 | ... | col 5 |      each x is loaded once and multiplied by every dy of
                         |       |             |           the tile that reads it
         dy, 2 rows:  | px 0  | px 1  | px 2  | px 3  |    each dy has a register
         sums:        9 vectors, one per tap

     for each tile of 2 x 4 pixels (stride 2: 1 x 4), from left to right
       for each block of LANES channels
         for each row of x, for each of its columns:  sum[tap] += x * dy, for every tap that reads it

   Gain over row by row: 41 loads per 72 multiply-adds instead of 80; memory is read from front to back. */

enum { FILTER_TILE_ROWS = TILE_PIXELS > 6 ? 2 : 1, FILTER_TILE_PIXELS = 4 };

/* Where a tile finds x and dy. Steps are in numbers. */
typedef struct {
    ptrdiff_t pixel, x_row, dy_row; /* to the next pixel, of x and of dy, and to the next row */
    ptrdiff_t first_row, past_row;  /* the tap rows inside the image, for tiles of one row */
    ptrdiff_t in_cols, lanes, back; /* the last block of channels begins `back` earlier */
} depthwise_filter_tile_walk;

/* Adds the products of a tile to the sums, [block][tap col][tap row][LANES]. x points to the image's first
   pixel, and x + x_start is the first tap of the tile's first pixel, in column `col`. border: some columns
   may lie in the padding. */
INLINE void depthwise_filter_tile(const int rows, const int pixels, const int stride, const int border,
                                  const depthwise_filter_tile_walk *k, const real *x, ptrdiff_t x_start,
                                  ptrdiff_t col, const real *dy, real *sums) {
    const int width = (pixels - 1) * stride + 3;
    const ptrdiff_t pixel = k->pixel, x_row = k->x_row, dy_row = k->dy_row; /* stores might change *k */
    for (ptrdiff_t left = k->lanes; left > 0; left -= LANES) {
        if (left < LANES) x_start -= k->back, dy -= k->back;
        vec sum[9], d[2 * FILTER_TILE_PIXELS];
        UNROLL(9)
        for (int t = 0; t < 9; t++) sum[t] = load(sums + t * LANES);
        UNROLL(8)
        for (int o = 0; o < rows * pixels; o++)
            d[o] = keep(load(dy + o / pixels * dy_row + o % pixels * pixel));
        UNROLL(5)
        for (int q = 0; q < (rows - 1) * stride + 3; q++) {
            /* mark: padding of depthwise/dw if tiles */
            if (rows == 1 && (q < k->first_row || q >= k->past_row)) continue;
            UNROLL(9)
            for (int c = 0; c < width; c++) {
                if (border && (col + c < 0 || col + c >= k->in_cols)) continue;
                const vec value = keep(load(x + (x_start + q * x_row + c * pixel)));
                UNROLL(8)
                for (int o = 0; o < rows * pixels; o++) {
                    const int tap_row = q - o / pixels * stride, tap_col = c - o % pixels * stride;
                    if (tap_row >= 0 && tap_row < 3 && tap_col >= 0 && tap_col < 3)
                        /* mark: multiply-add of depthwise/dw if tiles */
                        sum[tap_col * 3 + tap_row] += value * d[o];
                }
            }
        }
        UNROLL(9)
        for (int t = 0; t < 9; t++) store(sums + t * LANES, sum[t]);
        x_start += LANES, dy += LANES, sums += 9 * LANES;
    }
}

/* Each adds `rows` rows of out pixels. x + x_start is column 0 of the row of the first tap. */
/* clang-format off */
#define TILE_CASE(rows, pixels, stride, border, until)                                                       \
    for (; until - out >= pixels; out += pixels)                                                             \
        depthwise_filter_tile(rows, pixels, stride, border, k, x, x_start + out * stride * k->pixel,         \
                              out * stride - pad, dy + out * k->pixel, sums);
#define FILTER_ROW(rows, stride)                                                                             \
    KERNEL void depthwise_filter_row_##rows##_##stride(const depthwise_filter_tile_walk *k,                  \
                                                       const conv_problem *p, const real *x,                 \
                                                       ptrdiff_t x_start, const real *dy, real *sums) {      \
        ptrdiff_t out = 0, first, past;                                                                      \
        const ptrdiff_t pad = p->pad_left;                                                                   \
        inner_columns(p, &first, &past);                                                                     \
        x_start -= pad * k->pixel;                                                                           \
        TILE_CASE(rows, 1, stride, 1, first)                                                                 \
        TILE_CASE(rows, 4, stride, 0, past)                                                                  \
        TILE_CASE(rows, 2, stride, 0, past)                                                                  \
        TILE_CASE(rows, 1, stride, 0, past)                                                                  \
        TILE_CASE(rows, 1, stride, 1, p->out_cols)                                                           \
    }
FILTER_ROW(1, 1)
FILTER_ROW(1, 2)
FILTER_ROW(2, 1)
#undef FILTER_ROW
#undef TILE_CASE
/* clang-format on */

/* Returns whether tiles can compute the filter gradient from rows that are read in place. */
INLINE int filter_tiles_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->dilation_rows == 1 && p->dilation_cols == 1
           && p->stride_rows == p->stride_cols && p->stride_cols <= 2;
}

/* Adds all out rows of one image for `lanes` channels. x and dy point to the first of them at row and column
   0; sums [block][tap col][tap row][LANES]. The last block begins `back` channels earlier. */
KERNEL void depthwise_filter_tiles(const conv_problem *p, const real *x, const real *dy, ptrdiff_t lanes,
                                   ptrdiff_t back, real *sums) {
    /* mark: stride of depthwise/dw if tiles */
    const ptrdiff_t stride = p->stride_cols, most = stride == 1 ? FILTER_TILE_ROWS : 1;
    took(TOOK_TILES);
    depthwise_filter_tile_walk k = {.pixel = p->in_channels,
                                    .x_row = p->in_cols * p->in_channels,
                                    .dy_row = p->out_cols * p->in_channels,
                                    .in_cols = p->in_cols,
                                    .lanes = lanes,
                                    .back = back};
    for (ptrdiff_t row = 0, rows; row < p->out_rows; row += rows) {
        const ptrdiff_t in_row = row * stride - p->pad_top;
        indices_inside(3, 1, in_row, p->in_rows, &k.first_row, &k.past_row);
        /* as many as have all three inside */
        rows = k.past_row - k.first_row < 3
                   ? 1
                   : smaller(smaller(most, p->out_rows - row), p->in_rows - 2 - in_row);
        const ptrdiff_t x_start = in_row * k.x_row;
        if (stride == 2) depthwise_filter_row_1_2(&k, p, x, x_start, dy + row * k.dy_row, sums);
        else if (rows == 1) depthwise_filter_row_1_1(&k, p, x, x_start, dy + row * k.dy_row, sums);
        else depthwise_filter_row_2_1(&k, p, x, x_start, dy + row * k.dy_row, sums);
    }
}

/* ---- all other filters, and the call ---- */

enum { DEPTHWISE_TAPS = 9 };

#define DEPTHWISE_STRETCH_BYTES (24 * 1024) /* half of a first-level cache of 48 KB */

/* What the filter gradient of one group of lanes iterates over. */
typedef struct {
    /* [tap col][tap row]: x at that tap of out column 0, first lane of the group */
    const real *const *tap_starts;
    const real *dy;                /* out column 0 */
    ptrdiff_t first_row, past_row; /* the tap rows inside the image */
    ptrdiff_t x_pixel, x_block, dy_pixel, dy_block, blocks;
    ptrdiff_t last_back; /* how far the last block steps back */
} depthwise_taps_walk;

/* Adds `pixels` products to the sums of up to 9 taps; sums: [tap][LANES]; tap_starts[t] + x_start is tap t of
   the first pixel. */
INLINE void depthwise_taps(const int taps, const real *const *tap_starts, ptrdiff_t x_start, ptrdiff_t x_step,
                           const real *dy, ptrdiff_t dy_step, ptrdiff_t pixels, real *sums) {
    vec sum[DEPTHWISE_TAPS];
    const real *x[DEPTHWISE_TAPS];
    UNROLL(9)
    for (int t = 0; t < taps; t++) sum[t] = load(sums + t * LANES), x[t] = tap_starts[t] + x_start;
    for (ptrdiff_t at = 0; pixels > 0; pixels--, at += x_step, dy += dy_step) {
        const vec d = load(dy);
        UNROLL(9)
        for (int t = 0; t < taps; t++) {
            const vec value = load(x[t] + at);
            sum[t] += value * d; /* mark: multiply-add of depthwise/dw if taps */
        }
    }
    UNROLL(9)
    for (int t = 0; t < taps; t++) store(sums + t * LANES, sum[t]);
}

/* The same for rows of `cols` taps one pixel apart, at stride 1: each new x is the rightmost tap of one
   pixel, and for each of the next pixels it is a tap further to the left. Tap (row, col) has number col *
   step + row. */
INLINE void depthwise_taps_moving(const int rows, const int cols, ptrdiff_t step,
                                  const real *const *tap_starts, ptrdiff_t x_start, ptrdiff_t x_step,
                                  const real *dy, ptrdiff_t dy_step, ptrdiff_t pixels, real *sums) {
    vec sum[3 * 5], seen[3 * 5];
    const real *x[3];
    UNROLL(3)
    for (int r = 0; r < rows; r++) {
        x[r] = tap_starts[(cols - 1) * step + r] + x_start;
        UNROLL(5)
        for (int c = 0; c < cols; c++) {
            sum[r * cols + c] = load(sums + (c * step + r) * LANES);
            if (c < cols - 1) seen[r * cols + c] = load(tap_starts[c * step + r] + x_start);
        }
    }
    for (ptrdiff_t at = 0; pixels > 0; pixels--, at += x_step, dy += dy_step) {
        const vec d = load(dy);
        UNROLL(3)
        for (int r = 0; r < rows; r++) {
            seen[r * cols + cols - 1] = load(x[r] + at);
            UNROLL(5)
            for (int c = 0; c < cols; c++)
                /* mark: multiply-add of depthwise/dw if moving */
                sum[r * cols + c] += seen[r * cols + c] * d;
            UNROLL(4)
            for (int c = 0; c < cols - 1; c++) seen[r * cols + c] = seen[r * cols + c + 1];
        }
    }
    UNROLL(3)
    for (int r = 0; r < rows; r++) {
        UNROLL(5)
        for (int c = 0; c < cols; c++) store(sums + (c * step + r) * LANES, sum[r * cols + c]);
    }
}

KERNEL void depthwise_some_taps(ptrdiff_t taps, const real *const *tap_starts, ptrdiff_t x_start,
                                ptrdiff_t x_step, const real *dy, ptrdiff_t dy_step, ptrdiff_t pixels,
                                real *sums) {
    took(TOOK_TAPS);
    while (taps > 0) {
        const ptrdiff_t now = taps >= 9 ? 9 : taps == 6 || taps <= 3 ? taps : taps >= 6 ? 6 : 3;
        switch (now) {
        case 1: depthwise_taps(1, tap_starts, x_start, x_step, dy, dy_step, pixels, sums); break;
        case 2: depthwise_taps(2, tap_starts, x_start, x_step, dy, dy_step, pixels, sums); break;
        case 3: depthwise_taps(3, tap_starts, x_start, x_step, dy, dy_step, pixels, sums); break;
        case 6: depthwise_taps(6, tap_starts, x_start, x_step, dy, dy_step, pixels, sums); break;
        default: depthwise_taps(9, tap_starts, x_start, x_step, dy, dy_step, pixels, sums); break;
        }
        taps -= now, tap_starts += now, sums += now * LANES;
    }
}

/* The same for 3 or 5 tap columns and any rows, as many rows at a time as keep the sums in registers. */
KERNEL void depthwise_moving(const conv_problem *p, ptrdiff_t rows, const real *const *tap_starts,
                             ptrdiff_t x_start, ptrdiff_t x_step, const real *dy, ptrdiff_t dy_step,
                             ptrdiff_t pixels, real *sums) {
    took(TOOK_MOVING);
    const ptrdiff_t step = p->filter_rows, most = p->filter_cols == 3 ? 3 : TILE_PIXELS > 6 ? 2 : 1;
    for (ptrdiff_t now; rows > 0; rows -= now, tap_starts += now, sums += now * LANES) {
        now = smaller(most, rows);
        switch (p->filter_cols * 10 + now) {
#define ROWS_OF(cols, rows)                                                                              \
    case cols * 10 + rows:                                                                               \
        depthwise_taps_moving(rows, cols, step, tap_starts, x_start, x_step, dy, dy_step, pixels, sums); \
        break;
            ROWS_OF(3, 1) ROWS_OF(3, 2) ROWS_OF(3, 3) ROWS_OF(5, 1) ROWS_OF(5, 2)
#undef ROWS_OF
        }
    }
}

/* Adds the products of out columns first..past-1 with tap columns first_tap..past_tap-1, which lie inside the
   image for all of them, for all blocks of the group. sums [block][tap col][tap row][LANES]. */
INLINE void depthwise_filter_columns(const conv_problem *p, const depthwise_taps_walk *k, ptrdiff_t first,
                                     ptrdiff_t past, ptrdiff_t first_tap, ptrdiff_t past_tap, real *sums) {
    const real *const *starts = k->tap_starts;
    const ptrdiff_t rows = k->past_row - k->first_row, taps = p->filter_rows * p->filter_cols;
    const int adjacent =
        p->stride_cols == 1 && p->dilation_cols == 1 && past_tap - first_tap == p->filter_cols;
    const int moving = adjacent && (p->filter_cols == 3 || p->filter_cols == 5);
    /* if all tap rows are inside the image, the taps of neighbouring columns follow each other */
    const ptrdiff_t run = rows == p->filter_rows ? rows * (past_tap - first_tap) : rows;
    for (ptrdiff_t block = 0; block < k->blocks; block++, sums += taps * LANES) {
        const ptrdiff_t back = block + 1 == k->blocks ? k->last_back : 0;
        const ptrdiff_t x = first * k->x_pixel + block * k->x_block - back;
        const real *dy = k->dy + first * k->dy_pixel + block * k->dy_block - back;
        ptrdiff_t tap = first_tap * p->filter_rows + k->first_row;
        if (moving)
            depthwise_moving(p, rows, starts + tap, x, k->x_pixel, dy, k->dy_pixel, past - first,
                             sums + tap * LANES);
        else
            for (; tap < past_tap * p->filter_rows; tap += run == rows ? p->filter_rows : run)
                depthwise_some_taps(run, starts + tap, x, k->x_pixel, dy, k->dy_pixel, past - first,
                                    sums + tap * LANES);
    }
}

/* Adds one out row: the inner columns in stretches, the border columns one by one with the taps inside the
   image. */
INLINE void depthwise_filter_row(const conv_problem *p, const depthwise_taps_walk *k, ptrdiff_t stretch,
                                 real *sums) {
    ptrdiff_t first, past;
    inner_columns(p, &first, &past);
    for (ptrdiff_t col = 0; col < p->out_cols;) {
        const int inner = col >= first && col < past;
        const ptrdiff_t next = inner ? smaller(past, col + stretch) : col + 1;
        ptrdiff_t first_tap = 0, past_tap = p->filter_cols;
        if (!inner)
            indices_inside(p->filter_cols, p->dilation_cols, col * p->stride_cols - p->pad_left, p->in_cols,
                           &first_tap, &past_tap);
        if (first_tap < past_tap) depthwise_filter_columns(p, k, col, next, first_tap, past_tap, sums);
        col = next;
    }
}

/* Adds all images and rows for one group of lanes. p: the convolution restricted to what the caches show.
   sums [block][tap col][tap row][LANES]. */
INLINE void depthwise_filter_group(const conv_problem *p, const row_cache *x, const row_cache *dy,
                                   const real **tap_starts, ptrdiff_t group, real *sums) {
    const ptrdiff_t lanes = past_lane(x, group) - group * x->group_lanes, blocks = divide_up(lanes, LANES);
    const ptrdiff_t x_pixel = p->stride_cols * x->pixel_step,
                    line_bytes = x_pixel * p->filter_rows * (ptrdiff_t)sizeof(real);
    const ptrdiff_t stretch = larger(16, DEPTHWISE_STRETCH_BYTES / line_bytes);
    if (x->in_place && filter_tiles_can(p)) {
        for (ptrdiff_t image = 0; image < p->batch; image++)
            depthwise_filter_tiles(p, cached_row(x, p->in_rows, image, group, 0),
                                   cached_row(dy, p->out_rows, image, group, 0), lanes,
                                   blocks * LANES - lanes, sums);
        return;
    }
    for (ptrdiff_t i = 0; i < p->batch * p->out_rows; i++) {
        const ptrdiff_t image = i / p->out_rows, out_row = i % p->out_rows,
                        /* mark: stride of depthwise/dw if taps moving */
                        in_row = out_row * p->stride_rows - p->pad_top;
        ptrdiff_t first_row, past_row;
        indices_inside(p->filter_rows, p->dilation_rows, in_row, p->in_rows, &first_row, &past_row);
        if (past_row == first_row) continue; /* mark: padding of depthwise/dw if taps moving */
        for (ptrdiff_t tap_row = first_row; tap_row < past_row; tap_row++) {
            /* mark: dilation of depthwise/dw if taps moving */
            const real *row = cached_row(x, p->in_rows, image, group, in_row + tap_row * p->dilation_rows);
            for (ptrdiff_t tap_col = 0; tap_col < p->filter_cols; tap_col++)
                tap_starts[tap_col * p->filter_rows + tap_row] =
                    row + (tap_col * p->dilation_cols - p->pad_left) * x->pixel_step;
        }
        const depthwise_taps_walk k = {.tap_starts = tap_starts,
                                       .dy = cached_row(dy, p->out_rows, image, group, out_row),
                                       .first_row = first_row,
                                       .past_row = past_row,
                                       .x_pixel = x_pixel,
                                       .x_block = x->block_step,
                                       .dy_pixel = dy->pixel_step,
                                       .dy_block = dy->block_step,
                                       .blocks = blocks,
                                       .last_back = x->in_place ? blocks * LANES - lanes : 0};
        depthwise_filter_row(p, &k, stretch, sums);
    }
}

/* Writes the group's sums to dw [taps][lanes]. */
INLINE void depthwise_filter_store(const conv_problem *p, const row_cache *x, ptrdiff_t group,
                                   const real *sums, real *dw) {
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, lanes = p->out_channels;
    for (ptrdiff_t lane = group * x->group_lanes; lane < past_lane(x, group);
         lane += LANES, sums += taps * LANES) {
        const ptrdiff_t repeated = lane - block_start(lane, lanes, x->in_place);
        for (ptrdiff_t tap = 0; tap < taps; tap++)
            memcpy(dw + (tap % p->filter_rows * p->filter_cols + tap / p->filter_rows) * lanes + lane,
                   sums + tap * LANES + repeated, sizeof(real) * (size_t)smaller(LANES, lanes - lane));
    }
}

/* What all threads of one depthwise_filter_run share. */
typedef struct {
    const conv_problem *p;
    const real *x, *dy;
    real *dw;
    ptrdiff_t multiplier, slots, group_lanes, groups;
    ptrdiff_t cols, x_cols; /* columns of dy at a time, and those of x that they reach */
} depthwise_filter_call;

/* Computes one group of channels. One thread adds all its pixels. sums: room for the group's, and for a table
   of taps. */
KERNEL void depthwise_filter_one_group(const depthwise_filter_call *c, row_cache *x, row_cache *dy,
                                       real *sums, ptrdiff_t group) {
    const conv_problem *p = c->p;
    const ptrdiff_t numbers = whole_lines(c->group_lanes * p->filter_rows * p->filter_cols);
    memset(sums, 0, sizeof(real) * (size_t)numbers);
    for (ptrdiff_t col = 0; col < p->out_cols; col += c->cols) {
        const column_range range = forward_columns(p, col, c->cols);
        const conv_problem part = in_columns(p, &range);
        show_columns(x, range.first_in, range.past_in);
        show_columns(dy, range.first_out, range.past_out);
        depthwise_filter_group(&part, x, dy, (const real **)(sums + numbers), group, sums);
    }
    depthwise_filter_store(p, x, group, sums, c->dw);
}

/* Computes one thread's groups, with scratch of its own. */
KERNEL int depthwise_filter_groups(const void *call, const crew_member *me) {
    const depthwise_filter_call *c = (const depthwise_filter_call *)call;
    const conv_problem *p = c->p;
    const ptrdiff_t taps = p->filter_rows * p->filter_cols;
    row_cache x, dy; /* both in place, or both copied */
    const int x_ready = open_row_cache(&x, c->x, p->batch * p->in_rows, p->in_cols, c->x_cols, p->in_channels,
                                       c->multiplier, c->group_lanes, c->slots, 1);
    const int dy_ready = open_row_cache(&dy, c->dy, p->batch * p->out_rows, p->out_cols, c->cols,
                                        p->out_channels, 1, c->group_lanes, 1, x.in_place);
    real *sums = (real *)new_scratch(whole_lines(c->group_lanes * taps) * (ptrdiff_t)sizeof(real)
                                     + taps * (ptrdiff_t)sizeof(real *));
    const int ready = sums && x_ready && dy_ready;
    EACH_JOB(me, group, c->groups,
             if (ready) depthwise_filter_one_group(c, &x, &dy, sums, group));
    free_scratch(sums);
    free_scratch(x.rows);
    free_scratch(dy.rows);
    return ready ? CONV_OK : CONV_NO_MEMORY;
}

KERNEL int depthwise_filter_run(const conv_problem *p, const real *x, const real *dy, real *dw, int threads) {
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    const ptrdiff_t lanes = p->out_channels, taps = p->filter_rows * p->filter_cols;
    if (lanes == 0 || taps == 0) return CONV_OK;
    const ptrdiff_t multiplier = lanes / p->in_channels, /* mark: kernel of depthwise/dw */
                    slots = slots_for((p->filter_rows - 1) * p->dilation_rows + 1, p->in_rows);
    threads = (int)smaller(useful_threads(problem_macs(p) * 4, threads), divide_up(lanes, LANES));
    /* in place, a group is a thread's share; otherwise, what the cache of copied rows holds */
    const ptrdiff_t share = divide_up(divide_up(lanes, LANES), threads) * LANES;
    const ptrdiff_t sums_fit =
        larger(1, SCRATCH_BYTES / 4 / (ptrdiff_t)sizeof(real) / (taps * LANES)) * LANES;
    const ptrdiff_t group_lanes = smaller(
        smaller(share, sums_fit), lanes_at_a_time(lanes, multiplier, slots * p->in_cols + p->out_cols));
    const ptrdiff_t copied_lanes = multiplier == 1 && lanes >= LANES ? 0 : group_lanes,
                    row_lanes = slots * copied_lanes, reach = reach_cols(p);
    /* if copied rows are too large for scratch, groups have LANES lanes: so the parts do not depend on
       threads either */
    const ptrdiff_t sums_take =
        smaller(whole_lines(group_lanes * taps) + 2 * taps, SCRATCH_BYTES / 2 / (ptrdiff_t)sizeof(real));
    const ptrdiff_t cols =
        columns_that_fit(p->out_cols, row_lanes * p->in_cols + copied_lanes * p->out_cols,
                         row_lanes * (reach - p->stride_cols), row_lanes * p->stride_cols + copied_lanes,
                         scratch_numbers(slots) - sums_take);
    const depthwise_filter_call call = {.p = p,
                                        .x = x,
                                        .dy = dy,
                                        .dw = dw,
                                        .multiplier = multiplier,
                                        .slots = slots,
                                        .group_lanes = group_lanes,
                                        .groups = divide_up(lanes, group_lanes),
                                        .cols = cols,
                                        .x_cols = held_columns(p, cols)};
    return in_crew(threads, depthwise_filter_groups, &call);
}
