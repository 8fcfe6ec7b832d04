/* The second rung of the filter gradient of depthwise, for 3x3 at stride 1 or 2: a strip of up to 4 out rows,
   column by column.

         x, 6 rows:   | col -1  col 0  col 1 | col 2 | ...      each x is loaded once; the others move on
         dy, 4 rows:           | col 0 |                        and once each dy
         sums:        9 vectors, one per tap, for all rows of the strip

     for each stretch of out columns (its x fits the first-level cache)
       for each block of LANES channels
         for each out column, for each row of the strip, for each tap inside the image:  sum[tap] += x * dy

   Gain over row by row: 10 loads per 36 multiply-adds instead of 16, the sums are read and written a quarter
   as often, and the border columns need no pass of their own: 1.4 to 1.9 times as fast. */

/* A stretch of columns in a strip of out rows. Steps are in numbers. */
typedef struct {
    ptrdiff_t first_out, past_out, in_cols, pad; /* columns */
    ptrdiff_t x_pixel, dy_pixel, dy_row;
    ptrdiff_t x_ahead, dy_ahead; /* how many bytes ahead to prefetch; 0 if pixels lie far apart */
} depthwise_filter_walk;

/* Adds the products of out rows r = 0..rows-1 to the sums of one block of channels, [tap col][tap
   row][LANES]. Tap row t of row r reads x_rows[r * stride + t]. */
INLINE void depthwise_filter_strip(const int rows, const int taps, const int stride,
                                   const depthwise_filter_walk *k, const real *const *x_rows, const real *dy,
                                   real *sums) {
    const int height = (rows - 1) * stride + taps;
    vec sum[3 * 3], seen[(DEPTHWISE_STRIP + 2) * 3]; /* [tap row][tap col], [row][tap col] */
    ptrdiff_t col = k->first_out * stride - k->pad;  /* of tap col 0 */
    UNROLL(9)
    for (int t = 0; t < 3 * taps; t++) sum[t] = load(sums + (t % 3 * 3 + t / 3) * LANES);
    UNROLL(3)
    for (int c = 0; c < 3; c++) {
        const int exists = c < 3 - stride && col + c >= 0 && col + c < k->in_cols;
        UNROLL(6)
        for (int q = 0; q < height; q++)
            seen[q * 3 + c] = exists ? load(x_rows[q] + (col + c) * k->x_pixel) : (vec){0};
    }
    for (ptrdiff_t out = k->first_out; out < k->past_out; out++, col += stride) {
        const int all = col >= 0 && col + 2 < k->in_cols;
        const real *d = dy + out * k->dy_pixel;
        UNROLL(2)
        for (int c = 3 - stride; c < 3; c++) {
            if (!all && (col + c < 0 || col + c >= k->in_cols)) continue;
            UNROLL(6)
            for (int q = 0; q < height; q++) {
                const real *at = x_rows[q] + (col + c) * k->x_pixel;
                seen[q * 3 + c] = load(at);
                if (q >= height - rows * stride) PREFETCH((const char *)at + k->x_ahead, 3);
            }
        }
        UNROLL(4)
        for (int r = 0; r < rows; r++) {
            const vec upstream = load(d + r * k->dy_row);
            PREFETCH((const char *)(d + r * k->dy_row) + k->dy_ahead, 3);
            UNROLL(3)
            for (int c = 0; c < 3; c++) {
                /* mark: padding of depthwise/dw if strips */
                if (!all && (col + c < 0 || col + c >= k->in_cols)) continue;
                UNROLL(3)
                for (int t = 0; t < taps; t++)
                    /* mark: multiply-add of depthwise/dw if strips */
                    sum[t * 3 + c] += seen[(r * stride + t) * 3 + c] * upstream;
            }
        }
        UNROLL(6)
        for (int q = 0; q < height; q++) {
            UNROLL(2)
            for (int c = 0; c < 3 - stride; c++) seen[q * 3 + c] = seen[q * 3 + c + stride];
        }
    }
    UNROLL(9)
    for (int t = 0; t < 3 * taps; t++) store(sums + (t % 3 * 3 + t / 3) * LANES, sum[t]);
}

/* clang-format off */
KERNEL void depthwise_filter_strip_of(ptrdiff_t rows, ptrdiff_t taps, ptrdiff_t stride,
                                      const depthwise_filter_walk *k, const real *const *x_rows,
                                      const real *dy, real *sums) {
    switch (stride * 10 + (rows > 1 ? rows + 2 : taps)) {
    case 11: depthwise_filter_strip(1, 1, 1, k, x_rows, dy, sums); break;
    case 12: depthwise_filter_strip(1, 2, 1, k, x_rows, dy, sums); break;
    case 13: depthwise_filter_strip(1, 3, 1, k, x_rows, dy, sums); break;
    case 14: depthwise_filter_strip(2, 3, 1, k, x_rows, dy, sums); break;
    case 15: depthwise_filter_strip(3, 3, 1, k, x_rows, dy, sums); break;
    case 16: depthwise_filter_strip(4, 3, 1, k, x_rows, dy, sums); break;
    case 21: depthwise_filter_strip(1, 1, 2, k, x_rows, dy, sums); break;
    case 22: depthwise_filter_strip(1, 2, 2, k, x_rows, dy, sums); break;
    case 23: depthwise_filter_strip(1, 3, 2, k, x_rows, dy, sums); break;
    case 24: depthwise_filter_strip(2, 3, 2, k, x_rows, dy, sums); break;
    }
}
/* clang-format on */

/* Returns whether strips can compute the filter gradient from rows that are read in place. */
INLINE int filter_strips_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->dilation_rows == 1 && p->dilation_cols == 1
           && p->stride_rows == p->stride_cols && p->stride_cols <= 2;
}

/* Adds all out rows of one image for `lanes` channels. x and dy point to the first of them at row and column
   0; sums [block][tap col][tap row][LANES]. The last block begins `back` channels earlier. */
KERNEL void depthwise_filter_strips(const conv_problem *p, const real *x, const real *dy, ptrdiff_t lanes,
                                    ptrdiff_t back, real *sums) {
    /* mark: stride of depthwise/dw if strips */
    const ptrdiff_t stride = p->stride_cols, most = TILE_PIXELS > 6 ? DEPTHWISE_STRIP / stride : 1;
    const ptrdiff_t bytes = p->in_channels * (ptrdiff_t)sizeof(real);
    const ptrdiff_t stretch = larger(8, DEPTHWISE_STRETCH_BYTES / (bytes * stride * (most * stride + 2)));
    const int near = bytes < 1024;
    took(TOOK_STRIPS);
    depthwise_filter_walk k = {.in_cols = p->in_cols,
                               .pad = p->pad_left,
                               .x_pixel = p->in_channels,
                               .dy_pixel = p->in_channels,
                               .dy_row = p->out_cols * p->in_channels,
                               .x_ahead = near ? stretch * stride * bytes : 0,
                               .dy_ahead = near ? stretch * bytes : 0};
    for (ptrdiff_t row = 0, rows; row < p->out_rows; row += rows) {
        const ptrdiff_t in_row = row * stride - p->pad_top;
        const real *x_rows[DEPTHWISE_STRIP + 2];
        ptrdiff_t first_tap, past_tap;
        indices_inside(3, 1, in_row, p->in_rows, &first_tap, &past_tap);
        rows = 1;
        if (first_tap == past_tap) continue;
        if (past_tap - first_tap == 3) /* as many as have all three inside */
            rows = smaller(smaller(most, p->out_rows - row), (p->in_rows - 3 - in_row) / stride + 1);
        const ptrdiff_t height = (rows - 1) * stride + past_tap - first_tap;
        for (ptrdiff_t col = 0; col < p->out_cols; col += stretch) {
            k.first_out = col, k.past_out = smaller(p->out_cols, col + stretch);
            for (ptrdiff_t lane = 0; lane < lanes; lane += LANES) {
                const ptrdiff_t first = lane - (lane + LANES > lanes ? back : 0);
                for (ptrdiff_t q = 0; q < height; q++)
                    x_rows[q] = x + (in_row + first_tap + q) * p->in_cols * p->in_channels + first;
                depthwise_filter_strip_of(rows, past_tap - first_tap, stride, &k, x_rows,
                                          dy + row * k.dy_row + first,
                                          sums + (lane / LANES * 9 + first_tap) * LANES);
            }
        }
    }
}
