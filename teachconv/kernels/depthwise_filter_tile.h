/* The second rung of the filter gradient of depthwise, for 3x3 at stride 1 or 2: a tile of several rows and
   columns of dy, all its channels from front to back.

         x, 4 rows:   | col 0 | col 1 | ... | col 5 |      each x is loaded once and multiplied by every dy of
                         |       |             |           the tile that reads it
         dy, 2 rows:  | px 0  | px 1  | px 2  | px 3  |    each dy has a register
         sums:        9 vectors, one per tap

     for each tile of 2 x 4 pixels (stride 2: 1 x 4), from left to right
       for each block of LANES channels
         for each row of x, for each of its columns:  sum[tap] += x * dy, for every tap that reads it

   Gain over row by row: 41 loads per 72 multiply-adds instead of 128; memory is read from front to back. */

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
        vec sum[9], d[FILTER_TILE_ROWS * FILTER_TILE_PIXELS];
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
