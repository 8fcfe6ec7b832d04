/* small_layers: row_gemm's forward op for two kinds of layers that leave its tile half empty.

   One input channel and 3x3 taps: the filter is so small that it stays in registers while the pixels of an
   image pass by; in row_gemm the sums stay, and the filter passes by.

     3 padded rows of x:  . a b c d e f .              each x is one number, repeated in all lanes
                          . g h i j k l .
                          . m n o p q r .
     y[pixel, 32 channels] = a * w[0,0] + b * w[0,1] + c * w[0,2] + g * w[1,0] + ...

   Fewer out_channels than a vector has lanes: the lanes are neighbouring pixels of a row, and a tile's sums are
   transposed at the end.

     channel 0 of x:      . a b c d e f .              each weight is one number, repeated in all lanes
     sums of out_channel 0, pixels 0, 1, 2, ... = (. a b ...) * w[0,0] + (a b c ...) * w[0,1] + ...

     for each image, for each block of out rows                 <- threads share these
       copy the rows that its taps reach, with their padding (they fit the first-level cache)
       one channel:  for each 2 vectors of out_channels: load the filter
                       for each row, for each 4 pixels:  for each tap:  sum[pixel] += x * w
       few filters:  for each row, for each 2 vectors of pixels:
                       for each tap, for each in_channel:  sum[out_channel] += x * w

   For few filters a copied row holds one channel after the other, and of each the columns 0, stride, 2 * stride, ..,
   then 1, stride + 1, ..: so whatever the stride, neighbouring pixels read neighbouring numbers.

   Gain over row_gemm: one channel: the filter is loaded once per block instead of once per 14 pixels, no table
   says where the pixels of a tile lie, and a row of any length is one loop: 1.3 times as fast, and 1.3 times that
   if a block is many rows, as in a lesson's image. (5x5 taps, which leave room for one vector of out_channels at
   a time, were slower than row_gemm.) Few filters: no lanes are multiplied for
   nothing: 1.4 times as fast with 8 filters, 2 to 3.5 times with one to four.

   Order of summation in every cell, and so the bits: as in row_gemm.
   Non-finite data: x may hold anything; the filter must be finite, as in row_gemm.
   Scratch: the padded rows, 2 MB; if those of one out row take more than a quarter of it, row_gemm is called. */

/* 4 pixels x 2 sums and 9 x 2 weights take 26 of AVX-512's 32 registers; elsewhere, one vector takes 13. */
enum { ONE_CHANNEL_PIXELS = 4, ONE_CHANNEL_VECTORS = ISA_LEVEL == 2 ? 2 : 1 };

#define SMALL_LAYER_BYTES (16 * 1024) /* of a block's padded rows: half of a first-level cache */

/* The padded rows of one block. Sizes are in numbers. */
typedef struct {
    ptrdiff_t split;         /* stride_cols, or 1 if the columns stay as they are */
    ptrdiff_t length;        /* of a channel's columns 0, split, 2 * split, .. of a padded row */
    ptrdiff_t row;           /* from a padded row to the next: in_channels * split * length */
    ptrdiff_t height;        /* out rows of a block */
    ptrdiff_t reach;         /* padded rows that they reach */
    ptrdiff_t numbers;       /* of all of them, and of a vector's loads beyond the last; -1 if too many */
    ptrdiff_t depth;         /* few filters: taps * in_channels */
} small_layer_layout;

/* Returns whether one channel's filter can stay in registers. */
INLINE int is_one_channel(const conv_problem *p) {
    return p->in_channels == 1 && p->out_channels >= LANES && p->filter_rows == 3 && p->filter_cols == 3;
}

/* Returns whether lanes of pixels take fewer vectors than lanes of out_channels, and the copies are worth it. */
INLINE int is_few_filters(const conv_problem *p) {
    return p->groups == 1 && p->out_channels < LANES && p->filter_rows * p->filter_cols > 1
           && 3 * p->out_channels * divide_up(p->out_cols, LANES) <= 2 * p->out_cols;
}

/* Lays out the padded rows. With long rows or a dilation a block has more of them than fit the first-level cache,
   because the next block copies what its taps reach once more. */
INLINE small_layer_layout lay_out_small_layer(const conv_problem *p) {
    const ptrdiff_t reach = taps_reach(&p->axes[1]),
                    padded = checked_plus((p->out_cols - 1) * p->stride_cols, taps_reach(&p->axes[2]));
    small_layer_layout l = {.split = is_one_channel(p) ? 1 : p->stride_cols, .numbers = -1};
    if (padded < 0) return l;
    l.length = divide_up(padded, l.split);
    l.row = checked_times(checked_times(p->in_channels, l.split), l.length);
    l.depth = is_one_channel(p) ? 0 : count_taps(p) * p->in_channels;
    const ptrdiff_t one = checked_times(l.row, reach);
    if (one <= 0 || one > SCRATCH_BYTES / 8 / (ptrdiff_t)sizeof(real)) return l;
    const ptrdiff_t fit = SMALL_LAYER_BYTES / (ptrdiff_t)sizeof(real) / l.row;
    l.height = smaller(p->out_rows, (larger(fit, 4 * reach) - reach) / p->stride_rows + 1);
    l.reach = (l.height - 1) * p->stride_rows + reach;
    l.numbers = whole_lines(l.reach * l.row + 2 * LANES);
    return l;
}

/* What all threads of one call share, and how a block is computed: each thread has a copy, whose last part is of its
   block. Steps are in numbers. */
typedef struct {
    const conv_problem *p;
    small_layer_layout l;
    const real *x, *w, *bias;
    real *y;
    int relu, packed;                            /* packed: w is what row_gemm_pack made of the filter */
    ptrdiff_t x_row, x_pixel, x_tap_row, x_tap;  /* one channel: to the next out row, pixel, tap row, tap column */
    ptrdiff_t outs, columns;                     /* out_channels; one channel: those that exist in these vectors */
    ptrdiff_t w_step;                            /* to the weights of the next tap and channel */
    ptrdiff_t rows, pixels;                      /* of the block: out rows, and pixels of each */
    const ptrdiff_t *starts; /* few filters: of each tap and channel among the padded rows: [depth] */
} small_layer;

/* ---- one channel ---- */

/* Computes `pixels` neighbouring pixels. */
INLINE void one_channel_tile(const int pixels, const int vectors, const small_layer *k,
                             const vec *weight, const real *x, real *y) {
    const real *rows[3] = {x, x + k->x_tap_row, x + 2 * k->x_tap_row};
    vec sum[ONE_CHANNEL_PIXELS * 2];
    UNROLL(8)
    for (int i = 0; i < pixels * vectors; i++) sum[i] = (vec){0};
    UNROLL(9)
    for (int tap = 0; tap < 9; tap++) {
        UNROLL(4)
        for (int p = 0; p < pixels; p++) {
            const real value = rows[tap / 3][tap % 3 * k->x_tap + p * k->x_pixel];
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
            finish_sum(y + p * k->outs + v * LANES, sum[p * vectors + v] + (vec){0},
                       k->bias ? k->bias + v * LANES : NULL, k->columns - v * LANES, k->relu);
    }
}

/* Computes a block of outputs for `vectors` vectors of out_channels. */
INLINE void one_channel_block(const int vectors, const small_layer *shown, const real *x, const real *w, real *y) {
    const small_layer copy = *shown, *k = &copy; /* stores to y might change what a pointer shows */
    vec weight[9 * ONE_CHANNEL_VECTORS];
    UNROLL(9)
    for (int tap = 0; tap < 9; tap++) {
        UNROLL(2)
        for (int v = 0; v < vectors; v++)
            weight[tap * vectors + v] =
                keep(load_part(w + tap * k->w_step + v * LANES, smaller(LANES, k->columns - v * LANES)));
    }
    for (ptrdiff_t row = 0; row < k->rows; row++, x += k->x_row, y += k->pixels * k->outs) {
        ptrdiff_t pixel = 0;
        for (; pixel + ONE_CHANNEL_PIXELS <= k->pixels; pixel += ONE_CHANNEL_PIXELS)
            one_channel_tile(ONE_CHANNEL_PIXELS, vectors, k, weight, x + pixel * k->x_pixel,
                             y + pixel * k->outs);
        for (; pixel < k->pixels; pixel++)
            one_channel_tile(1, vectors, k, weight, x + pixel * k->x_pixel, y + pixel * k->outs);
    }
}

/* Computes a block of outputs for all out_channels: of w as it is, or packed in panels of 2 vectors, the last of
   which may have one. */
KERNEL void one_channel_panels(small_layer k, const real *x, real *y) {
    const real *bias = k.bias;
    took(TOOK_ONE_CHANNEL);
    for (ptrdiff_t first = 0, vectors; first < k.outs; first += vectors * LANES) {
        const ptrdiff_t panel = first / (2 * LANES) * 2 * LANES;
        const real *w = k.w + first + (k.packed ? panel * 8 : 0);
        k.w_step = !k.packed ? k.outs : k.outs - panel > LANES ? 2 * LANES : LANES;
        k.columns = k.outs - first, k.bias = bias ? bias + first : NULL;
        vectors = k.columns > LANES ? ONE_CHANNEL_VECTORS : 1;
        if (vectors == 1) one_channel_block(1, &k, x, w, y + first);
        else one_channel_block(ONE_CHANNEL_VECTORS, &k, x, w, y + first);
    }
}

/* ---- few filters ---- */

/* Computes up to `vectors` vectors of pixels; y_end: of the block. The transposed squares overlap: each pixel's
   store fills a vector, and the next pixel's overwrites what is not its own. */
INLINE void few_filters_tile(const int outs, const int vectors, const small_layer *k, const real *x,
                             const real *w, real *y, real *y_end) {
    vec sum[TILE_PIXELS][2];
    real lines[TILE_PIXELS * 2 * LANES];
    UNROLL(14)
    for (int o = 0; o < outs; o++) sum[o][0] = sum[o][1] = (vec){0};
    for (ptrdiff_t i = 0; i < k->l.depth; i++, w += k->w_step) {
        const real *at = x + k->starts[i];
        const vec x0 = load(at), x1 = vectors > 1 ? load(at + LANES) : x0;
        UNROLL(14)
        for (int o = 0; o < outs; o++) {
            sum[o][0] += w[o] * x0; /* mark: multiply-add of row_gemm if few_filters */
            if (vectors > 1) sum[o][1] += w[o] * x1;
        }
    }
    UNROLL(14)
    for (int o = 0; o < outs; o++) {
        UNROLL(2)
        for (int v = 0; v < vectors; v++) {
            vec value = sum[o][v] + (vec){0}; /* see tile_end in register_tile.h */
            if (k->bias) value += k->bias[o];
            store(lines + (o * 2 + v) * LANES, k->relu ? rectify(value) : value);
        }
    }
    for (int v = 0; v < vectors; v++, y += LANES * outs) {
        real turned[LANES * LANES];
        const int fits = y_end - y >= (LANES - 1) * outs + LANES;
        transpose_square(lines + v * LANES, 2 * LANES, outs, fits ? y : turned, outs);
        if (!fits) memcpy(y, turned, sizeof(real) * (size_t)smaller(LANES * outs, y_end - y));
    }
}

/* Each computes a block of outputs for `outs` out_channels. */
#define FEW_FILTERS_OF(outs)                                                                             \
    KERNEL void few_filters_##outs(const small_layer *k, const real *x, const real *w, real *y) {        \
        real *y_end = y + k->rows * k->pixels * outs;                                                    \
        for (ptrdiff_t row = 0; row < k->rows; row++, x += k->x_row, y += k->pixels * outs) {            \
            ptrdiff_t pixel = 0;                                                                         \
            for (; pixel + LANES < k->pixels; pixel += 2 * LANES)                                        \
                few_filters_tile(outs, 2, k, x + pixel, w, y + pixel * outs, y_end);                     \
            if (pixel < k->pixels) few_filters_tile(outs, 1, k, x + pixel, w, y + pixel * outs, y_end);  \
        }                                                                                                \
    }
/* at most two thirds of the lanes: see is_few_filters */
#if ISA_LEVEL == 2
#define EACH_FEW(X) UP_TO_SIX(X) X(7) X(8) X(9) X(10)
#else
#define EACH_FEW(X) UP_TO_SIX(X)
#endif
EACH_FEW(FEW_FILTERS_OF)
#undef FEW_FILTERS_OF

/* ---- both ---- */

/* Copies the rows of x that a block reads, and zeros for the padding. */
INLINE void copy_small_layer(const conv_problem *p, const small_layer_layout *l, const real *x,
                             ptrdiff_t first_row, ptrdiff_t count, real *to) {
    const ptrdiff_t channels = p->in_channels, split = l->split,
                    /* mark: stride of row_gemm if one_channel few_filters */
                    first_in = first_row * p->stride_rows - p->pad_top;
    memset(to, 0, sizeof(real) * (size_t)(count * l->row + 2 * LANES));
    for (ptrdiff_t in_row = first_in; in_row < first_in + count; in_row++)
        for (ptrdiff_t line = 0; line < channels * split; line++, to += l->length) {
            const ptrdiff_t channel = line / split, start = line % split - p->pad_left;
            ptrdiff_t first, past;
            if (in_row < 0 || in_row >= p->in_rows) continue; /* mark: padding of row_gemm if one_channel few_filters */
            indices_inside(l->length, split, start, p->in_cols, &first, &past);
            if (first == past) continue;
            const real *from = x + (in_row * p->in_cols + first * split + start) * channels + channel;
            if (channels * split == 1) memcpy(to + first, from, sizeof(real) * (size_t)(past - first));
            else
                for (ptrdiff_t i = first; i < past; i++, from += split * channels) to[i] = *from;
        }
}

/* Computes block `i` of the batch. rows: room for the padded rows. */
KERNEL void small_layer_block(const small_layer *call, ptrdiff_t i, const ptrdiff_t *starts, real *rows) {
    small_layer k = *call;
    const conv_problem *p = k.p;
    const ptrdiff_t blocks = divide_up(p->out_rows, k.l.height), first_row = i % blocks * k.l.height;
    real *y = k.y + (i / blocks * p->out_rows + first_row) * p->out_cols * p->out_channels;
    k.starts = starts, k.rows = smaller(k.l.height, p->out_rows - first_row);
    copy_small_layer(p, &k.l, k.x + i / blocks * in_plane_numbers(p), first_row,
                     k.l.reach - (k.l.height - k.rows) * p->stride_rows, rows);
    if (is_one_channel(p)) {
        /* mark: dilation of row_gemm if one_channel */
        k.x_tap_row = p->dilation_rows * k.l.row, k.x_tap = p->dilation_cols;
        one_channel_panels(k, rows, y);
        return;
    }
    took(TOOK_FEW_FILTERS);
    switch (p->out_channels) {
#define CASE(outs) case outs: few_filters_##outs(&k, rows, k.w, y); break;
        EACH_FEW(CASE)
#undef CASE
    }
}

/* Computes one thread's blocks, with scratch of its own. */
KERNEL int small_layer_blocks(const void *call, const crew_member *me) {
    const small_layer *c = (const small_layer *)call;
    const conv_problem *p = c->p;
    const small_layer_layout *l = &c->l;
    real *rows = (real *)new_scratch(l->numbers * (ptrdiff_t)sizeof(real) + l->depth * (ptrdiff_t)sizeof(ptrdiff_t));
    if (!rows) return CONV_NO_MEMORY;
    ptrdiff_t *starts = (ptrdiff_t *)(rows + l->numbers);
    for (ptrdiff_t i = 0; i < l->depth; i++) {
        const ptrdiff_t channel = i % p->in_channels, tap = i / p->in_channels,
                        /* mark: dilation of row_gemm if few_filters */
                        row = tap / p->filter_cols * p->dilation_rows, col = tap % p->filter_cols * p->dilation_cols;
        starts[i] = row * l->row + (channel * l->split + col % l->split) * l->length + col / l->split;
    }
    EACH_JOB(me, i, p->batch * divide_up(p->out_rows, l->height), small_layer_block(c, i, starts, rows));
    free_scratch(rows);
    return CONV_OK;
}

/* What the table of kernels calls for row_gemm. */
KERNEL int small_layer_or_row_gemm_run(const conv_problem *p, const void *x, const void *w, const void *packed,
                                       const void *bias, int relu, void *y, int threads) {
    small_layer_layout l = {.numbers = -1};
    const int is_image = p->in_planes == 1 && p->out_planes == 1 && p->filter_planes == 1 && p->pad_front == 0;
    if (is_image && (is_one_channel(p) || is_few_filters(p)) && p->out_rows > 0 && p->out_cols > 0)
        l = lay_out_small_layer(p);
    if (l.numbers < 0) return row_gemm_run(p, x, w, packed, bias, relu, y, threads);
    const small_layer call = {.p = p, .l = l, .x = x, .w = packed ? packed : w, .bias = bias, .y = y,
                              .relu = relu, .packed = packed != NULL, .x_row = p->stride_rows * l.row,
                              .x_pixel = p->stride_cols, .outs = p->out_channels,
                              .w_step = packed ? LANES : p->out_channels, .pixels = p->out_cols};
    /* mark: kernel of row_gemm if one_channel few_filters */
    return in_crew(useful_threads(problem_macs(p), threads), small_layer_blocks, &call);
}
