/* col2im: the input gradient where in_channels are too few to fill a vector: one product, then a scatter.

     columns[pixel, (tap_row, tap_col, in_channel)] = dy[pixel, :] . w[tap_row, tap_col, in_channel, :]      one plain matrix product
     dx[index law(pixel, tap)] += columns[pixel, tap]                                                       filter rows side by side

     for each image, for each block of out rows (its columns fit the second-level cache)
       row_gemm with filter_rows * filter_cols * in_channels columns
       for out_row, out_col, tap_row: add filter_cols * in_channels neighbouring numbers to dx

   Gained over phases: with 3 in_channels a panel of phases uses 3 of 32 lanes; here 4x4 taps x 3 channels = 48 columns fill three vectors.

   Order of every cell's sum: out_channel within a tap; then out_row, out_col. One thread adds, so the bits are always the same.
   Non-finite data: anything anywhere; no padding is multiplied, and taps that fall outside dx are dropped. */

static inline int NAME(col2im_can)(const conv_problem *p) { return p->groups == 1; }

INLINE gather NAME(col2im_product)(const conv_problem *p, ptrdiff_t out_rows) {
    const ptrdiff_t columns = p->filter_rows * p->filter_cols * p->in_channels;
    const conv_problem product = {1, out_rows, p->out_cols, p->out_channels, out_rows, p->out_cols, columns, 1, 1, 1, 1, 1, 1, 1, 0, 0};
    gather g = forward_gather(&product);
    g.swapped = 1; /* w [taps * in_channels, out_channels] is the transpose of what the product wants */
    return g;
}

#if defined(__GNUC__)
typedef real NAME(short_vector) __attribute__((vector_size(16), may_alias, aligned(sizeof(real)))); /* for runs shorter than a vector */
#else
typedef real NAME(short_vector);
#endif
#define SHORT_LANES ((ptrdiff_t)(sizeof(NAME(short_vector)) / sizeof(real)))

INLINE void NAME(add_numbers)(real *to, const real *from, ptrdiff_t count) {
    ptrdiff_t i = 0;
    for (; i + LANES <= count; i += LANES) NAME(store)(to + i, NAME(load)(to + i) + NAME(load)(from + i));
    for (; i + SHORT_LANES <= count; i += SHORT_LANES) *(NAME(short_vector) *)(to + i) += *(const NAME(short_vector) *)(from + i);
    for (; i < count; i++) to[i] += from[i];
}
#undef SHORT_LANES

/* Adds the columns of one out row to dx (one image). */
KERNEL void NAME(scatter_row)(const conv_problem *p, const real *columns, ptrdiff_t out_row, real *dx) {
    const ptrdiff_t channels = p->in_channels, row_numbers = p->filter_cols * channels;
    for (ptrdiff_t out_col = 0; out_col < p->out_cols; out_col++) {
        const ptrdiff_t in_col = out_col * p->stride_cols - p->pad_left;
        ptrdiff_t first, past;
        indices_inside(p->filter_cols, p->dilation_cols, in_col, p->in_cols, &first, &past);
        for (ptrdiff_t tap_row = 0; tap_row < p->filter_rows; tap_row++, columns += row_numbers) {
            const ptrdiff_t in_row = out_row * p->stride_rows - p->pad_top + tap_row * p->dilation_rows;
            if (in_row < 0 || in_row >= p->in_rows || first == past) continue;
            real *to = dx + (in_row * p->in_cols + in_col + first * p->dilation_cols) * channels;
            if (p->dilation_cols == 1) NAME(add_numbers)(to, columns + first * channels, (past - first) * channels);
            else for (ptrdiff_t tap = first; tap < past; tap++, to += p->dilation_cols * channels) NAME(add_numbers)(to, columns + tap * channels, channels);
        }
    }
}

INLINE int NAME(col2im_image)(const conv_problem *p, const real *dy, const real *packed, const real *bias, int relu, ptrdiff_t block_rows, real *columns,
                              real *dx, int threads) {
    const ptrdiff_t row_columns = p->out_cols * p->filter_rows * p->filter_cols * p->in_channels, numbers = p->in_rows * p->in_cols * p->in_channels;
    memset(dx, 0, sizeof(real) * (size_t)numbers);
    for (ptrdiff_t first = 0; first < p->out_rows; first += block_rows) {
        const ptrdiff_t rows = smaller(block_rows, p->out_rows - first);
        const gather g = NAME(col2im_product)(p, rows);
        const int status = NAME(run_gather)(&g, dy + first * p->out_cols * p->out_channels, NULL, packed, NULL, 0, columns, threads);
        if (status) return status;
        for (ptrdiff_t row = 0; row < rows; row++) NAME(scatter_row)(p, columns + row * row_columns, first + row, dx);
    }
    for (ptrdiff_t i = 0; (bias || relu) && i < numbers; i++) {
        const real value = bias ? dx[i] + bias[i % p->in_channels] : dx[i];
        dx[i] = relu && value < 0 ? 0 : value;
    }
    return CONV_OK;
}

KERNEL ptrdiff_t NAME(col2im_packed_bytes)(const conv_problem *p) {
    const ptrdiff_t columns = divide_up(p->filter_rows * p->filter_cols * p->in_channels, LANES) * LANES;
    return checked_times(checked_times(columns, p->out_channels), sizeof(real));
}

KERNEL int NAME(col2im_pack)(const conv_problem *p, const real *w, real *packed, int threads) {
    const gather g = NAME(col2im_product)(p, 1);
    gather_layout l = {0};
    if (!NAME(col2im_can)(p)) return CONV_UNSUPPORTED;
    NAME(phase_layout)(&g, &l);
    NAME(pack_filter)(&g, &l, w, packed, threads);
    return CONV_OK;
}

KERNEL int NAME(col2im_run)(const conv_problem *p, const real *dy, const real *w, const real *packed, const real *bias, int relu, real *dx, int threads) {
    if (!NAME(col2im_can)(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->in_rows == 0 || p->in_cols == 0 || p->in_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(p), threads);
    const ptrdiff_t row_columns = p->out_cols * p->filter_rows * p->filter_cols * p->in_channels;
    const ptrdiff_t block_rows = larger(1, smaller(p->out_rows, 512 * 1024 / (ptrdiff_t)sizeof(real) / larger(1, row_columns)));
    const int image_threads = (int)smaller(threads, p->batch);
    real *own_packed = packed ? NULL : (real *)new_scratch(NAME(col2im_packed_bytes)(p));
    if (!packed) {
        if (!own_packed) return CONV_NO_MEMORY;
        NAME(col2im_pack)(p, w, own_packed, threads);
        packed = own_packed;
    }
    int status = CONV_OK;
#pragma omp parallel num_threads(image_threads) reduction(| : status) if (image_threads > 1)
    {
        real *columns = (real *)new_scratch(checked_times(checked_times(block_rows, row_columns), sizeof(real)));
        if (!columns) status = CONV_NO_MEMORY;
#pragma omp for schedule(static)
        for (ptrdiff_t image = 0; image < p->batch; image++)
            if (columns)
                status |= NAME(col2im_image)(p, dy + image * p->out_rows * p->out_cols * p->out_channels, packed, bias, relu, block_rows, columns,
                                             dx + image * p->in_rows * p->in_cols * p->in_channels, image_threads > 1 ? 1 : threads);
        free_scratch(columns);
    }
    free_scratch(own_packed);
    return status;
}
