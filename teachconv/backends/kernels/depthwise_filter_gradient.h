/* The filter gradient of depthwise: the pixels of a row are the innermost loop, and up to 10 taps have a sum
   each.

         dy:         | px 0 | px 1 | ...                        each pixel loads one vector of dy, and per tap
         x, 3 rows:  | px -1  px 0  px 1 | px 2 | ...           row one new x; the other x move one tap on
         sums:       9 vectors, one per tap                     (5 columns: two rows, 10 sums, at a time)

     for each group of channels                                 <- threads share these, never the pixels
       for each image
         3x3 at stride 1 or 2, whole blocks of channels:  tiles (below), up to 2 out rows together
         otherwise, for each out row
           for each stretch of out columns (its x fits the first-level cache)
             for each block of LANES channels, for each 10 taps or fewer
               for each pixel:  for each tap:  sum[tap] += x * dy

   Gain over a pass per tap: dy is read once per 10 taps, x once per tap row.

   Order of summation in every cell: image, out_row, out_col; in tiles image, pair of rows, up to 4 columns, out_row,
   out_col. If windows are cut into parts (depthwise_windows.h): image, strip of 4 rows, part, out_row, out_col.
   The bits are the same for any number of threads.
   Non-finite data: allowed everywhere; taps in the padding are skipped.
   Scratch: as in depthwise.h, with the strip of dy; the sums (1 MB, those of LANES channels at least). */

/* What the filter gradient of one group of channels iterates over: windows of x and dy, and their problem. Steps
   are in numbers. */
typedef struct {
    conv_problem p;
    window x, dy;
    ptrdiff_t x_row, x_tap, x_pixel; /* to the next tap row, tap column, pixel of dy */
    ptrdiff_t sums_row;              /* to the next tap row */
    ptrdiff_t stretch;               /* how many pixels reach x that fits the first-level cache */
    ptrdiff_t lanes, last_block;     /* the last block of LANES begins no later than this */
    ptrdiff_t first_row, past_row;   /* the tap rows inside the image */
} depthwise_filter_walk;

/* Returns where the first tap of an output lies, from the window's first pixel. */
static inline ptrdiff_t first_tap_of(const depthwise_filter_walk *k, ptrdiff_t out_row, ptrdiff_t out_col) {
    const conv_problem *p = &k->p;
    /* mark: stride of depthwise/dw if taps tiles */
    return (out_row * p->stride_rows - p->pad_top) * k->x.row + out_col * k->x_pixel - p->pad_left * k->x.pixel;
}

/* The second rung of the filter gradient of depthwise, for 3x3 at stride 1 or 2: a tile of several rows and
   columns of dy, all its channels from front to back.

         x, 4 rows:   | col 0 | col 1 | ... | col 5 |      each x is loaded once and multiplied by every dy of
                         |       |             |           the tile that reads it
         dy, 2 rows:  | px 0  | px 1  | px 2  | px 3  |    each dy has a register
         sums:        9 vectors, one per tap

     for each tile of 2 x 4 pixels (stride 2: 1 x 4), from left to right
       for each block of LANES channels
         for each row of x, for each of its columns:  sum[tap] += x * dy, for every tap that reads it

   Gain over row by row: memory is read from front to back. */

enum { FILTER_TILE_ROWS = ISA_LEVEL == 2 ? 2 : 1, FILTER_TILE_PIXELS = 4 };

/* Adds the products of a tile to the sums, [block][tap][LANES]. x + from is the first tap of the tile's first
   pixel. border: a tile of one pixel, whose tap columns from->first_tap..past_tap-1 lie inside the image. */
INLINE void depthwise_filter_tile(const int rows, const int pixels, const int stride, const int border,
                                  const depthwise_filter_walk *walk, const column_run *run, ptrdiff_t from,
                                  const real *dy, real *sums) {
    const int width = (pixels - 1) * stride + 3;
    const window x = walk->x; /* copies, because stores to sums might change *walk */
    const ptrdiff_t dy_row = walk->dy.row, pixel = x.pixel, lanes = walk->lanes, last_block = walk->last_block,
                    first_row = walk->first_row, past_row = walk->past_row, first_tap = run->first_tap,
                    past_tap = run->past_tap;
    for (ptrdiff_t block = 0; block < lanes; block += LANES, sums += 9 * LANES) {
        const ptrdiff_t lane = smaller(block, last_block);
        vec sum[9], d[2 * FILTER_TILE_PIXELS];
        UNROLL(9)
        for (int t = 0; t < 9; t++) sum[t] = load(sums + t * LANES);
        UNROLL(8)
        for (int o = 0; o < rows * pixels; o++)
            d[o] = keep(load(dy + lane + o / pixels * dy_row + o % pixels * pixel));
        UNROLL(5)
        for (int q = 0; q < (rows - 1) * stride + 3; q++) {
            if (rows == 1 && (q < first_row || q >= past_row)) continue;
            UNROLL(9)
            for (int c = 0; c < width; c++) {
                if (border && (c < first_tap || c >= past_tap)) continue;
                const vec value = keep(load(x.first + (from + lane + q * x.row + c * pixel)));
                UNROLL(8)
                for (int o = 0; o < rows * pixels; o++) {
                    const int tap_row = q - o / pixels * stride, tap_col = c - o % pixels * stride;
                    if (tap_row >= 0 && tap_row < 3 && tap_col >= 0 && tap_col < 3)
                        /* mark: multiply-add of depthwise/dw if tiles */
                        sum[tap_row * 3 + tap_col] += value * d[o];
                }
            }
        }
        UNROLL(9)
        for (int t = 0; t < 9; t++) store(sums + t * LANES, sum[t]);
    }
}

/* Adds a run of pixels in `rows` rows. */
#define TILE_CASE(rows, pixels, stride, border)                                                              \
    for (; run->past - col >= pixels; col += pixels)                                                         \
        depthwise_filter_tile(rows, pixels, stride, border, k, run, first_tap_of(k, out_row, col),        \
                              dy + col * k->dy.pixel, sums);
#define TILES_OF(rows, stride)                                                                               \
    if (border) { TILE_CASE(rows, 1, stride, 1) }                                                            \
    else { TILE_CASE(rows, 4, stride, 0) TILE_CASE(rows, 2, stride, 0) TILE_CASE(rows, 1, stride, 0) }
KERNEL void depthwise_filter_tiles(const depthwise_filter_walk *k, ptrdiff_t rows, ptrdiff_t out_row,
                                   const column_run *run, real *sums) {
    const int border = run->past_tap - run->first_tap < 3;
    const real *dy = k->dy.first + out_row * k->dy.row;
    ptrdiff_t col = run->first;
    took(TOOK_TILES);
    if (k->p.stride_cols == 2) { TILES_OF(1, 2) }
    else if (rows == 1) { TILES_OF(1, 1) }
    else { TILES_OF(2, 1) }
}
#undef TILES_OF
#undef TILE_CASE

/* Returns whether tiles can compute the filter gradient from rows that are read in place. */
INLINE int filter_tiles_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->dilation_rows == 1 && p->dilation_cols == 1
           && p->stride_rows == p->stride_cols && p->stride_cols <= 2;
}

/* ---- all other filters, and the call ---- */

#define DEPTHWISE_STRETCH_BYTES (24 * 1024) /* half of a first-level cache of 48 KB */

/* Adds `pixels` products to the sums of rows x cols taps, from x at the first of them. moving: taps and pixels
   are one column apart, so each new x is the rightmost tap of one pixel, and for each of the next pixels it is a
   tap further to the left. */
INLINE void depthwise_taps(const int rows, const int cols, const int moving, const depthwise_filter_walk *k,
                           const real *x, const real *dy, ptrdiff_t pixels, real *sums) {
    const ptrdiff_t x_tap = k->x_tap, x_pixel = k->x_pixel, dy_pixel = k->dy.pixel;
    vec sum[2 * 5], value[2 * 5];
    const real *at[5];
    UNROLL(5)
    for (int r = 0; r < rows; r++) {
        at[r] = x + r * k->x_row;
        UNROLL(5)
        for (int c = 0; c < cols; c++) {
            sum[r * cols + c] = load(sums + r * k->sums_row + c * LANES);
            if (moving && c < cols - 1) value[r * cols + c] = load(at[r] + c * x_tap);
        }
    }
    for (ptrdiff_t i = 0; pixels > 0; pixels--, i += x_pixel, dy += dy_pixel) {
        const vec d = load(dy);
        UNROLL(5)
        for (int r = 0; r < rows; r++) {
            UNROLL(5)
            for (int c = 0; c < cols; c++) {
                if (!moving || c == cols - 1) value[r * cols + c] = load(at[r] + i + c * x_tap);
                sum[r * cols + c] += value[r * cols + c] * d; /* mark: multiply-add of depthwise/dw if taps */
            }
            if (moving) {
                UNROLL(4)
                for (int c = 0; c < cols - 1; c++) value[r * cols + c] = value[r * cols + c + 1];
            }
        }
    }
    UNROLL(5)
    for (int r = 0; r < rows; r++) {
        UNROLL(5)
        for (int c = 0; c < cols; c++) store(sums + r * k->sums_row + c * LANES, sum[r * cols + c]);
    }
}

INLINE void depthwise_some_taps(int moving, ptrdiff_t rows, ptrdiff_t cols, const depthwise_filter_walk *k,
                                const real *x, const real *dy, ptrdiff_t pixels, real *sums) {
    switch (moving * 100 + cols * 10 + rows) {
#define TAPS_OF(moving, cols, rows)                                                              \
    case moving * 100 + cols * 10 + rows:                                                        \
        depthwise_taps(rows, cols, moving, k, x, dy, pixels, sums);                              \
        break;
        TAPS_OF(0, 1, 1) TAPS_OF(0, 1, 2) TAPS_OF(0, 1, 3) TAPS_OF(0, 1, 4) TAPS_OF(0, 1, 5)
        TAPS_OF(0, 2, 1) TAPS_OF(0, 2, 2) TAPS_OF(0, 2, 3) TAPS_OF(0, 2, 4) TAPS_OF(0, 2, 5)
        TAPS_OF(0, 3, 1) TAPS_OF(0, 3, 2) TAPS_OF(0, 3, 3) TAPS_OF(0, 4, 1) TAPS_OF(0, 5, 1)
        TAPS_OF(1, 3, 1) TAPS_OF(1, 3, 2) TAPS_OF(1, 3, 3) TAPS_OF(1, 5, 1) TAPS_OF(1, 5, 2)
#undef TAPS_OF
    }
}

/* Adds a run of pixels of one row, for all its taps inside the image: as many of them at a time as keep the sums in
   registers. */
KERNEL void depthwise_filter_taps(const depthwise_filter_walk *k, ptrdiff_t out_row, const column_run *run,
                                  real *sums) {
    took(TOOK_TAPS);
    for (ptrdiff_t first = run->first, pixels; first < run->past; first += pixels) {
        real *block_sums = sums;
        pixels = smaller(k->stretch, run->past - first);
        for (ptrdiff_t block = 0; block < k->lanes; block += LANES, block_sums += k->p.filter_rows * k->sums_row) {
            const ptrdiff_t lane = smaller(block, k->last_block), from = first_tap_of(k, out_row, first) + lane;
            const real *dy = k->dy.first + (out_row * k->dy.row + first * k->dy.pixel + lane);
            for (ptrdiff_t col = run->first_tap, cols, rows; col < run->past_tap; col += cols) {
                const ptrdiff_t left = run->past_tap - col, height = k->past_row - k->first_row;
                const int moving = k->x_tap == k->x_pixel && pixels > 1 && left >= 3;
                cols = smaller(left, moving ? (left >= 5 ? 5 : 3) : height == 1 ? 5 : height <= 3 ? 3 : 2);
                for (ptrdiff_t row = k->first_row; row < k->past_row; row += rows) {
                    rows = cols <= 2 ? 5 : cols == 3 ? 3 : moving && ISA_LEVEL == 2 ? 2 : 1;
                    rows = smaller(rows, k->past_row - row);
                    depthwise_some_taps(moving, rows, cols, k, k->x.first + (from + row * k->x_row + col * k->x_tap),
                                        dy, pixels, block_sums + row * k->sums_row + col * LANES);
                }
            }
        }
    }
}

/* Adds all rows of outputs of a window. sums [block][tap][LANES]. */
INLINE void depthwise_filter_window(depthwise_filter_walk *k, int tiles, real *sums) {
    const conv_problem *p = &k->p;
    /* mark: dilation of depthwise/dw if taps tiles */
    k->x_row = p->dilation_rows * k->x.row, k->x_tap = p->dilation_cols * k->x.pixel;
    k->x_pixel = p->stride_cols * k->x.pixel, k->sums_row = p->filter_cols * LANES;
    k->stretch =
        larger(16, DEPTHWISE_STRETCH_BYTES / (ptrdiff_t)sizeof(real) / (k->x_pixel * p->filter_rows));
    for (ptrdiff_t row = 0, rows; row < p->out_rows; row += rows) {
        const ptrdiff_t in_row = row * p->stride_rows - p->pad_top;
        /* mark: padding of depthwise/dw if taps tiles */
        indices_inside(p->filter_rows, p->dilation_rows, in_row, p->in_rows, &k->first_row, &k->past_row);
        /* tiles: as many as have all tap rows inside */
        rows = tiles && p->stride_rows == 1 && k->past_row - k->first_row == 3
                   ? smaller(smaller(FILTER_TILE_ROWS, p->out_rows - row), p->in_rows - 2 - in_row)
                   : 1;
        for (column_run run = run_from(p, 0); run.first < p->out_cols; run = run_from(p, run.past)) {
            if (run.first_tap == run.past_tap) continue;
            if (tiles) depthwise_filter_tiles(k, rows, row, &run, sums);
            else depthwise_filter_taps(k, row, &run, sums);
        }
    }
}

/* What all threads of one depthwise_filter_run share. */
typedef struct {
    const conv_problem *p;
    window_source x, dy;
    window_axis rows, cols;
    real *dw;
    ptrdiff_t multiplier, groups, group_lanes, part_rows, part_cols; /* lanes, and rows and columns of dy, at a time */
    ptrdiff_t x_numbers, dy_numbers, sums_numbers;       /* of scratch */
} depthwise_filter_call;

/* Computes one group of channels. One thread adds all its pixels. scratch: for sums and copies. */
KERNEL void depthwise_filter_group(const depthwise_filter_call *c, real *scratch, ptrdiff_t group) {
    const conv_problem *p = c->p;
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, first_lane = group * c->group_lanes,
                    lanes = smaller(c->group_lanes, p->out_channels - first_lane),
                    parts = divide_up(p->out_rows, c->part_rows);
    const lane_numbers x_numbers = numbers_of(1, 0, c->multiplier, first_lane, lanes),
                       dy_numbers = numbers_of(1, 0, 1, first_lane, lanes);
    real *sums = scratch, *x_copy = sums + c->sums_numbers, *dy_copy = x_copy + c->x_numbers;
    depthwise_filter_walk k = {.lanes = lanes, .last_block = c->x.whole ? lanes - LANES : 0};
    memset(sums, 0, sizeof(real) * (size_t)c->sums_numbers);
    for (ptrdiff_t i = 0; i < p->batch * parts; i++)
        for (ptrdiff_t col = 0; col < p->out_cols; col += c->part_cols) {
            const ptrdiff_t image = i / parts, row = i % parts * c->part_rows;
            const span rows = {row, smaller(p->out_rows, row + c->part_rows)},
                       cols = {col, smaller(p->out_cols, col + c->part_cols)},
                       in_rows = inputs_reached(&c->rows, rows), in_cols = inputs_reached(&c->cols, cols);
            k.p = *p;
            restrict_to_window(&k.p, rows, cols, in_rows, in_cols);
            k.x = open_window(&c->x, image, in_rows, in_cols, &x_numbers, x_copy);
            k.dy = open_window(&c->dy, image, rows, cols, &dy_numbers, dy_copy);
            depthwise_filter_window(&k, c->x.whole && filter_tiles_can(p), sums);
        }
    for (ptrdiff_t block = 0; block < lanes; block += LANES) {
        const ptrdiff_t repeated = block - smaller(block, k.last_block), count = smaller(LANES, lanes - block);
        for (ptrdiff_t tap = 0; tap < taps; tap++, sums += LANES)
            store_part(c->dw + tap * p->out_channels + first_lane + block, load_part(sums + repeated, count),
                       count);
    }
}

/* Computes one thread's groups, with scratch of its own. */
KERNEL int depthwise_filter_groups(const void *call, const crew_member *me) {
    const depthwise_filter_call *c = (const depthwise_filter_call *)call;
    real *scratch =
        (real *)new_scratch(checked_times(c->sums_numbers + c->x_numbers + c->dy_numbers, sizeof(real)));
    if (!scratch) return CONV_NO_MEMORY;
    EACH_JOB(me, group, c->groups, depthwise_filter_group(c, scratch, group));
    free_scratch(scratch);
    return CONV_OK;
}

KERNEL int depthwise_filter_run(const conv_problem *p, const void *x, const void *dy, void *dw, int threads) {
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    const ptrdiff_t lanes = p->out_channels, taps = p->filter_rows * p->filter_cols;
    if (lanes == 0 || taps == 0) return CONV_OK;
    const ptrdiff_t multiplier = lanes / p->in_channels; /* mark: kernel of depthwise/dw */
    const int whole = multiplier == 1 && lanes >= LANES;
    const window_axis rows = window_rows(p, 0), cols = window_cols(p, 0);
    threads = (int)smaller(useful_threads(problem_macs(p) * 4, threads), divide_up(lanes, LANES));
    /* in place, a group is a thread's share, or as many lanes as the sums fit */
    const ptrdiff_t share = divide_up(divide_up(lanes, LANES), threads) * LANES,
                    sums_fit = larger(1, SCRATCH_BYTES / 4 / (ptrdiff_t)sizeof(real) / (taps * LANES)) * LANES;
    depthwise_filter_call c = {.p = p, .x = {x, p->batch, p->in_rows, p->in_cols, p->in_channels, whole},
                               .dy = {dy, p->batch, p->out_rows, p->out_cols, lanes, whole}, .rows = rows,
                               .cols = cols, .dw = dw, .multiplier = multiplier,
                               .group_lanes = whole ? smaller(share, sums_fit) : LANES,
                               .part_rows = whole ? larger(1, p->out_rows) : DEPTHWISE_STRIP,
                               .part_cols = whole ? p->out_cols : columns_that_fit(&rows, &cols, DEPTHWISE_STRIP)};
    c.groups = divide_up(lanes, c.group_lanes), c.sums_numbers = whole_lines(c.group_lanes * taps);
    if (!whole) {
        c.x_numbers = most_inputs(&rows, DEPTHWISE_STRIP) * most_inputs(&cols, c.part_cols) * LANES;
        c.dy_numbers = DEPTHWISE_STRIP * c.part_cols * LANES;
    }
    return in_crew(threads, depthwise_filter_groups, &c);
}
