/* col2im: the input gradient for in_channels too few to fill a vector: one matrix product, then a scatter.

     columns[pixel, (tap_row, tap_col, in_channel)] = dy[pixel, :] . w[tap_row, tap_col, in_channel, :]
     dx[index law(pixel, tap)] += columns[pixel, tap]

     The first line is one matrix product. In the second, the numbers of a filter row lie side by side.

     for each image, for each block of out rows (its columns fit the second-level cache)
       row_gemm with filter_rows * filter_cols * in_channels columns
       for out_row, out_col, tap_row: add filter_cols * in_channels neighbouring numbers to dx

   Gain over phases: with 3 in_channels a panel of phases uses 3 of 32 lanes; here 4x4 taps x 3 channels =
   48 columns fill three vectors.

   Order of summation in every cell: within a tap, out_channel; then block of out rows, and in it out_row,
   out_col. One thread adds, so the bits are always the same.
   Non-finite data: allowed everywhere in columns, which multiply no padding; taps that fall outside dx are dropped.
   planes.h multiplies zeros by the filter, so that must be finite there.
   With one to four in_channels at stride_cols 1, neighbouring patches overlap by less than a store, so that
   each load would wait for the store before it. There planes.h does the same with other vectors.
   Scratch: the columns of some out rows (512 KB), of one at least. If one row's columns take more than 2 MB,
   phases computes the gradient instead. */

/* Returns how many numbers the columns of one pixel take: whole vectors, because storing part of a vector is
   slow. */
INLINE ptrdiff_t col2im_step(const conv_problem *p) {
    return round_up(p->filter_rows * p->filter_cols * p->in_channels, LANES);
}

/* Returns whether the columns of one out row keep within the scratch bound. */
INLINE int col2im_fits(const conv_problem *p) {
    const ptrdiff_t bytes = checked_times(checked_times(p->out_cols, col2im_step(p)), sizeof(real));
    return bytes >= 0 && bytes <= SCRATCH_BYTES / 2;
}

INLINE gather col2im_product(const conv_problem *p, ptrdiff_t rows, ptrdiff_t columns) {
    const conv_axis one = {1, 1, 1, 1, 1, 0}, down = {rows, rows, 1, 1, 1, 0},
                    across = {p->out_cols, p->out_cols, 1, 1, 1, 0};
    const conv_problem product = {.batch = 1, .in_channels = p->out_channels, .out_channels = columns, .groups = 1,
                                  .axes = {one, down, across}};
    gather g = forward_gather(&product);
    g.swapped = 1; /* w [taps * in_channels, out_channels] is the transpose of what the product needs */
    return g;
}

/* Adds whole vectors, then at most one part of a vector for each power of two. */
INLINE void add_numbers(real *restrict to, const real *restrict from, ptrdiff_t count) {
    ptrdiff_t i = 0;
    for (; i + LANES <= count; i += LANES) store(to + i, load(to + i) + load(from + i));
    UNROLL(5)
    for (ptrdiff_t size = LANES / 2; size > 0; size /= 2)
        if (count - i >= size) {
            for (ptrdiff_t j = 0; j < size; j++) to[i + j] += from[i + j];
            i += size;
        }
}

/* Adds the columns of one out row to dx (one image). */
KERNEL void scatter_row(const conv_problem *p, const real *columns, ptrdiff_t out_row, real *dx) {
    const ptrdiff_t channels = p->in_channels, row_numbers = p->filter_cols * channels, step = col2im_step(p);
    for (ptrdiff_t out_col = 0; out_col < p->out_cols; out_col++, columns += step) {
        const ptrdiff_t in_col = out_col * p->stride_cols - p->pad_left;
        ptrdiff_t first, past;
        indices_inside(p->filter_cols, p->dilation_cols, in_col, p->in_cols, &first, &past);
        for (ptrdiff_t tap_row = 0; tap_row < p->filter_rows; tap_row++) {
            const real *from = columns + tap_row * row_numbers + first * channels;
            /* mark: stride dilation of col2im if scatter */
            const ptrdiff_t in_row = out_row * p->stride_rows - p->pad_top + tap_row * p->dilation_rows;
            /* mark: padding of col2im if scatter */
            if (in_row < 0 || in_row >= p->in_rows || first == past) continue;
            real *to = dx + (in_row * p->in_cols + in_col + first * p->dilation_cols) * channels;
            if (p->dilation_cols == 1) add_numbers(to, from, (past - first) * channels);
            else
                for (ptrdiff_t tap = first; tap < past;
                     tap++, from += channels, to += p->dilation_cols * channels)
                    add_numbers(to, from, channels);
        }
    }
}

/* What all threads of one col2im_run share. */
typedef struct {
    const conv_problem *p;
    const real *dy, *packed, *bias;
    int relu;
    real *dx;
    ptrdiff_t block_rows; /* out rows whose columns are computed at a time */
    plane_block planes;   /* row_count > 0: in place of columns */
    int threads;          /* of one image's products */
} col2im_call;

/* Adds one image's columns to dx. */
INLINE int columns_image(const col2im_call *c, const real *dy, real *columns, real *dx) {
    const conv_problem *p = c->p;
    const ptrdiff_t dy_row = p->out_cols * p->out_channels, step = col2im_step(p);
    took(TOOK_SCATTER);
    for (ptrdiff_t first = 0; first < p->out_rows; first += c->block_rows) {
        const ptrdiff_t rows = smaller(c->block_rows, p->out_rows - first);
        const gather g = col2im_product(p, rows, step);
        const int status =
            run_gather(&g, dy + first * dy_row, NULL, c->packed, NULL, 0, columns, c->threads);
        if (status) return status;
        for (ptrdiff_t row = 0; row < rows; row++)
            scatter_row(p, columns + row * p->out_cols * step, first + row, dx);
    }
    return CONV_OK;
}

/* Computes dx of one image. */
KERNEL int col2im_image(const col2im_call *c, ptrdiff_t image, real *scratch) {
    const conv_problem *p = c->p;
    const ptrdiff_t numbers = in_plane_numbers(p);
    const real *dy = c->dy + image * p->out_rows * p->out_cols * p->out_channels;
    real *dx = c->dx + image * numbers;
    int status = CONV_OK;
    memset(dx, 0, sizeof(real) * (size_t)numbers);
    if (c->planes.row_count) planes_image(p, &c->planes, dy, c->packed, scratch, dx);
    else status = columns_image(c, dy, scratch, dx);
    for (ptrdiff_t i = 0; (c->bias || c->relu) && i < numbers; i++) {
        const real value = c->bias ? dx[i] + c->bias[i % p->in_channels] : dx[i];
        dx[i] = c->relu && value < 0 ? 0 : value;
    }
    return status;
}

/* Computes one thread's images, with scratch of its own. */
KERNEL int col2im_images(const void *call, const crew_member *me) {
    const col2im_call *c = (const col2im_call *)call;
    const conv_problem *p = c->p;
    const ptrdiff_t bytes = c->planes.row_count
                                ? planes_scratch_bytes(p, &c->planes)
                                : checked_times(c->block_rows * p->out_cols * col2im_step(p), sizeof(real));
    real *scratch = (real *)new_scratch(bytes);
    int status = scratch ? CONV_OK : CONV_NO_MEMORY;
    if (scratch && c->planes.row_count) memset(scratch, 0, (size_t)bytes);
    EACH_JOB(me, image, p->batch, if (scratch) status |= col2im_image(c, image, scratch));
    free_scratch(scratch);
    return status;
}

/* Planes read the filter as it is, of which a plan keeps a copy. */
KERNEL ptrdiff_t col2im_packed_bytes(const conv_problem *p) {
    const plane_block b = plane_sizes(p);
    const ptrdiff_t columns = b.row_count ? b.planes : col2im_step(p);
    return checked_times(checked_times(columns, p->out_channels), sizeof(real));
}

KERNEL int col2im_pack(const conv_problem *p, const void *w, void *packed, int threads) {
    const gather g = col2im_product(p, 1, count_taps(p) * p->in_channels);
    if (p->groups != 1) return CONV_UNSUPPORTED;
    if (plane_sizes(p).row_count) memcpy(packed, w, (size_t)col2im_packed_bytes(p));
    else pack_filter(&g, w, packed, threads);
    return CONV_OK;
}

KERNEL int col2im_run(const conv_problem *p, const void *dy, const void *w, const void *packed, const void *bias,
                      int relu, void *dx, int threads) {
    const plane_block planes = plane_sizes(p);
    if (p->groups != 1) return CONV_UNSUPPORTED;
    if (!planes.row_count && !col2im_fits(p))
        /* mark: fallback of col2im if phases by phases */
        return w ? phases_run(p, dy, w, NULL, bias, relu, dx, threads) : CONV_UNSUPPORTED;
    if (p->batch == 0 || in_plane_numbers(p) == 0) return CONV_OK;
    threads = useful_threads(problem_macs(p), threads);
    const int image_threads = (int)smaller(threads, p->batch);
    const ptrdiff_t rows_that_fit =
        512 * 1024 / (ptrdiff_t)sizeof(real) / larger(1, p->out_cols * col2im_step(p));
    if (!packed && planes.row_count) packed = w;
    real *own_packed = packed ? NULL : (real *)new_scratch(col2im_packed_bytes(p));
    if (!packed && !own_packed) return CONV_NO_MEMORY;
    if (own_packed) col2im_pack(p, w, own_packed, threads);
    const col2im_call call = {.p = p, .dy = dy, .packed = own_packed ? own_packed : packed, .bias = bias,
                              .relu = relu, .dx = dx,
                              .block_rows = larger(1, smaller(p->out_rows, rows_that_fit)), .planes = planes,
                              .threads = image_threads > 1 ? 1 : threads};
    const int status = in_crew(image_threads, col2im_images, &call); /* mark: kernel of col2im */
    free_scratch(own_packed);
    return status;
}
