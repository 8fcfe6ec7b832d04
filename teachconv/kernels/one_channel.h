/* one_channel: row_gemm's forward op for one input channel and 3x3 taps. The filter is so small that it stays
   in registers while the pixels of an image pass by; in row_gemm the sums stay, and the filter passes by.

     3 padded rows of x:  . a b c d e f .              each x is one number, repeated in all lanes
                          . g h i j k l .
                          . m n o p q r .
     y[pixel, 32 channels] = a * w[0,0] + b * w[0,1] + c * w[0,2] + g * w[1,0] + ...

     for each image, for each block of out rows                 <- threads share these
       copy the rows that its taps reach, with their padding (they fit the first-level cache)
       for each 2 vectors of out_channels: load the filter
         for each row, for each 4 pixels:  for each tap:  sum[pixel] += x * w

   Gain over row_gemm: the filter is loaded once per block instead of once per 14 pixels, no table says where
   the pixels of a tile lie, and a row of any length is one loop: 1.3 times as fast, and 1.3 times that if
   a block is many rows, as in a lesson's image. (5x5 taps, which leave room for one vector of out_channels
   at a time, were slower than row_gemm.)

   Order of summation in every cell, and so the bits: as in row_gemm.
   Non-finite data: x may hold anything; the filter must be finite, as in row_gemm.
   Scratch: the padded rows, 1 MB; if those of one out row take more than a quarter of it, row_gemm is called. */

/* 4 pixels x 2 sums and 9 x 2 weights take 26 of AVX-512's 32 registers; elsewhere, one vector takes 13 of
   16. */
enum { ONE_CHANNEL_PIXELS = 4, ONE_CHANNEL_VECTORS = TILE_PIXELS > 6 ? 2 : 1 };

#define ONE_CHANNEL_BYTES (16 * 1024) /* of a block's padded rows: half of a first-level cache */

/* How a block of outputs is computed. Steps are in numbers. */
typedef struct {
    ptrdiff_t rows, pixels, x_row, x_pixel; /* x_row, x_pixel: to the next out row, pixel */
    ptrdiff_t x_tap_row, x_tap, w_tap;      /* to the next tap row, tap column, tap */
    ptrdiff_t y_pixel, columns;             /* columns: out_channels that exist in these vectors */
    const real *bias;
    int relu;
} one_channel_walk;

/* Returns the length of a padded row. */
static inline ptrdiff_t one_channel_length(const conv_problem *p) {
    return checked_plus((p->out_cols - 1) * p->stride_cols, (p->filter_cols - 1) * p->dilation_cols + 1);
}

/* Returns how many padded rows `rows` out rows reach. */
INLINE ptrdiff_t one_channel_reach(const conv_problem *p, ptrdiff_t rows) {
    return (rows - 1) * p->stride_rows + (p->filter_rows - 1) * p->dilation_rows + 1;
}

/* Returns the out rows of a block. With long rows or a dilation it has more than fit the first-level cache,
   because the next block copies what its taps reach once more. */
INLINE ptrdiff_t one_channel_height(const conv_problem *p) {
    const ptrdiff_t reach = one_channel_reach(p, 1),
                    fit = ONE_CHANNEL_BYTES / (ptrdiff_t)sizeof(real) / one_channel_length(p);
    return smaller(p->out_rows, (larger(fit, 4 * reach) - reach) / p->stride_rows + 1);
}

INLINE int one_channel_can(const conv_problem *p) {
    const ptrdiff_t one = checked_times(one_channel_length(p), one_channel_reach(p, 1));
    return p->in_planes == 1 && p->out_planes == 1 && p->filter_planes == 1 && p->pad_front == 0
           && p->in_channels == 1 && p->out_channels >= LANES && p->filter_rows == 3 && p->filter_cols == 3
           && p->out_rows > 0 && p->out_cols > 0 && one >= 0
           && one <= SCRATCH_BYTES / 16 / (ptrdiff_t)sizeof(real);
}

/* Computes `pixels` neighbouring pixels. adjacent: pixels and taps are one column apart. */
INLINE void one_channel_tile(const int pixels, const int vectors, const int adjacent,
                             const one_channel_walk *k, const vec *weight, const real *x, real *y) {
    const ptrdiff_t x_tap = adjacent ? 1 : k->x_tap, x_pixel = adjacent ? 1 : k->x_pixel;
    vec sum[ONE_CHANNEL_PIXELS * 2];
    UNROLL(8)
    for (int i = 0; i < pixels * vectors; i++) sum[i] = (vec){0};
    UNROLL(9)
    for (int tap = 0; tap < 9; tap++) {
        UNROLL(4)
        for (int p = 0; p < pixels; p++) {
            const real value = x[tap / 3 * k->x_tap_row + tap % 3 * x_tap + p * x_pixel];
            UNROLL(2)
            for (int v = 0; v < vectors; v++)
                /* mark: multiply-add of row_gemm if one_channel */
                sum[p * vectors + v] += value * weight[tap * vectors + v];
        }
    }
    UNROLL(4)
    for (int p = 0; p < pixels; p++) {
        UNROLL(2)
        for (int v = 0; v < vectors; v++) /* + 0: see tile_end in register_tile.h */
            finish_sum(y + p * k->y_pixel + v * LANES, sum[p * vectors + v] + (vec){0},
                       k->bias ? k->bias + v * LANES : NULL, k->columns - v * LANES, k->relu);
    }
}

/* Computes a block of outputs for `vectors` vectors of out_channels. */
INLINE void one_channel_block(const int vectors, const int adjacent, const one_channel_walk *walk,
                              const real *x, const real *w, real *y) {
    const one_channel_walk copy = *walk, *k = &copy; /* stores to y might change *walk */
    vec weight[9 * ONE_CHANNEL_VECTORS];
    UNROLL(9)
    for (int tap = 0; tap < 9; tap++) {
        UNROLL(2)
        for (int v = 0; v < vectors; v++)
            weight[tap * vectors + v] = keep(load(w + tap * k->w_tap + v * LANES));
    }
    for (ptrdiff_t row = 0; row < k->rows; row++, x += k->x_row, y += k->pixels * k->y_pixel) {
        ptrdiff_t pixel = 0;
        for (; pixel + ONE_CHANNEL_PIXELS <= k->pixels; pixel += ONE_CHANNEL_PIXELS)
            one_channel_tile(ONE_CHANNEL_PIXELS, vectors, adjacent, k, weight, x + pixel * k->x_pixel,
                             y + pixel * k->y_pixel);
        for (; pixel < k->pixels; pixel++)
            one_channel_tile(1, vectors, adjacent, k, weight, x + pixel * k->x_pixel, y + pixel * k->y_pixel);
    }
}

KERNEL void one_channel_block_of(ptrdiff_t vectors, const one_channel_walk *k, const real *x, const real *w,
                                 real *y) {
    const int adjacent = k->x_tap == 1 && k->x_pixel == 1;
    if (vectors == 1 && adjacent) one_channel_block(1, 1, k, x, w, y);
    else if (vectors == 1) one_channel_block(1, 0, k, x, w, y);
    else if (adjacent) one_channel_block(ONE_CHANNEL_VECTORS, 1, k, x, w, y);
    else one_channel_block(ONE_CHANNEL_VECTORS, 0, k, x, w, y);
}

/* Copies the rows of x that a block reads, and zeros for the padding, to rows [count][length]. */
INLINE void one_channel_copy(const conv_problem *p, const real *x, ptrdiff_t first_row, ptrdiff_t count,
                             ptrdiff_t length, real *rows) {
    /* the columns first..past-1 of a copy lie inside the image */
    ptrdiff_t first, past;
    indices_inside(length, 1, -p->pad_left, p->in_cols, &first, &past);
    memset(rows, 0, sizeof(real) * (size_t)(length * count));
    /* mark: stride of row_gemm if one_channel */
    const ptrdiff_t first_in = first_row * p->stride_rows - p->pad_top;
    for (ptrdiff_t in_row = first_in; in_row < first_in + count; in_row++, rows += length)
        if (in_row >= 0 && in_row < p->in_rows) /* mark: padding of row_gemm if one_channel */
            memcpy(rows + first, x + in_row * p->in_cols + first - p->pad_left,
                   sizeof(real) * (size_t)(past - first));
}

/* Computes block `i` of the batch for all out_channels. packed: in panels of 2 vectors; the last one may have
   one. rows: room for the rows that it reads. */
KERNEL void one_channel_one_block(const conv_problem *p, const real *x, const real *packed, const real *bias,
                                  int relu, ptrdiff_t i, real *rows, real *y) {
    const ptrdiff_t outs = p->out_channels, length = one_channel_length(p), height = one_channel_height(p),
                    blocks = divide_up(p->out_rows, height), first_row = i % blocks * height,
                    count = smaller(height, p->out_rows - first_row);
    one_channel_copy(p, x + i / blocks * p->in_rows * p->in_cols, first_row, one_channel_reach(p, count),
                     length, rows);
    y += (i / blocks * p->out_rows + first_row) * p->out_cols * outs;
    one_channel_walk k = {.rows = count,
                          .pixels = p->out_cols,
                          .x_row = p->stride_rows * length,
                          .x_pixel = p->stride_cols,
                          /* mark: dilation of row_gemm if one_channel */
                          .x_tap_row = p->dilation_rows * length,
                          .x_tap = p->dilation_cols,
                          .y_pixel = outs,
                          .relu = relu};
    for (ptrdiff_t first = 0, vectors; first < outs; first += vectors * LANES) {
        const ptrdiff_t panel = first / (2 * LANES) * 2 * LANES;
        k.w_tap = outs - panel > LANES ? 2 * LANES : LANES;
        vectors = k.w_tap > LANES ? ONE_CHANNEL_VECTORS : 1;
        k.columns = outs - first, k.bias = bias ? bias + first : NULL;
        one_channel_block_of(vectors, &k, rows, packed + panel * 9 + first - panel, y + first);
    }
}

/* What all threads of one call share. packed: the filter as row_gemm_pack leaves it. */
typedef struct {
    const conv_problem *p;
    const real *x, *packed, *bias;
    int relu;
    real *y;
} one_channel_call;

/* Computes one thread's blocks. */
KERNEL int one_channel_blocks(const void *call, const crew_member *me) {
    const one_channel_call *c = (const one_channel_call *)call;
    const conv_problem *p = c->p;
    const ptrdiff_t height = one_channel_height(p),
                    numbers = one_channel_reach(p, height) * one_channel_length(p);
    real *rows = (real *)new_scratch(numbers * (ptrdiff_t)sizeof(real));
    EACH_JOB(me, i, p->batch * divide_up(p->out_rows, height),
             if (rows) one_channel_one_block(p, c->x, c->packed, c->bias, c->relu, i, rows, c->y));
    free_scratch(rows);
    return rows ? CONV_OK : CONV_NO_MEMORY;
}

/* What the table of kernels calls for row_gemm. */
KERNEL int one_channel_or_row_gemm_run(const conv_problem *p, const real *x, const real *w,
                                       const real *packed, const real *bias, int relu, real *y,
                                       int threads) {
    if (!one_channel_can(p)) return row_gemm_run(p, x, w, packed, bias, relu, y, threads);
    real *own_packed = packed ? NULL : (real *)new_scratch(row_gemm_packed_bytes(p));
    if (!packed && !own_packed) return CONV_NO_MEMORY;
    if (!packed) row_gemm_pack(p, w, own_packed, threads);
    if (!packed) packed = own_packed;
    took(TOOK_ONE_CHANNEL);
    const one_channel_call call = {p, x, packed, bias, relu, y};
    /* mark: kernel of row_gemm if one_channel */
    const int status = in_crew(useful_threads(problem_macs(p), threads), one_channel_blocks, &call);
    free_scratch(own_packed);
    return status;
}
