/* planes: what col2im does for one to four in_channels at stride_cols 1, where a vector of its columns would
   hold the numbers of one pixel only. The operands of the matrix product are exchanged:

     plane[tap_row, tap_col, in_channel][pixel] = w[tap_row, tap_col, in_channel, :] . dy[pixel, :]
     dx[index law(pixel, tap)] += plane[tap][pixel]

             32 pixels of one out row                  one row of a plane, with a vector of zeros
        +------------------------------+               on either side:
     w  |  9 taps x 1 in_channel       |                   | 0 0 0 | out_cols | 0 0 0 |
        +------------------------------+

     for each image, for each block of out rows (its planes fit the second-level cache)
       for out_row, for each two vectors of its pixels: transpose dy, then register_tile.h for up to 14 taps
       for in_row, for each vector of its cells: dx += sum over tap_row, tap_col of plane[tap] beside the cell

   Gain over columns, on one channel: a vector of dx adds whole vectors, and their sum stays in a register.
   Columns are added to memory, one number at a time.

   Order of summation in every cell: within a tap, out_channel; then block of out rows, and in it tap_row,
   tap_col. The zeros beside a row change no sum, because a sum that begins with +0 is never -0.
   Non-finite data: dy may hold anything; the filter must be finite, because the last vector of a row is filled up
   with zeros.
   Scratch: the planes of some out rows (512 KB), of one at least (2 MB at most); the filter is not packed. */
#define MOST_PLANE_CHANNELS 4

/* The planes of some out rows of one image. */
typedef struct {
    ptrdiff_t planes;    /* tap_rows * tap_cols * in_channels */
    ptrdiff_t row_step;  /* from one out row of a plane to the next */
    ptrdiff_t row_count; /* out rows in a plane */
} plane_block;

/* Returns the sizes of the planes; row_count is 0 where columns are better, or where the planes of one out
   row would take too much scratch. */
INLINE plane_block plane_sizes(const conv_problem *p) {
    const ptrdiff_t planes = checked_times(checked_times(p->filter_rows, p->filter_cols), p->in_channels),
                    row_step = checked_times(divide_up(p->out_cols, LANES) + 2, LANES),
                    row_numbers = checked_times(planes, row_step),
                    most = SCRATCH_BYTES / 2 / (ptrdiff_t)sizeof(real);
    plane_block b = {planes, row_step, 0};
    if (p->groups == 1 && p->in_channels <= MOST_PLANE_CHANNELS && p->stride_cols == 1 && row_numbers >= 0
        && row_numbers <= most && p->out_channels <= most / (2 * LANES))
        b.row_count = larger(1, smaller(p->out_rows, most / 4 / larger(1, row_numbers)));
    return b;
}

INLINE ptrdiff_t plane_numbers(const plane_block *b) {
    return whole_lines(b->planes * b->row_count * b->row_step);
}

/* Room for two vectors of pixels, transposed. */
INLINE ptrdiff_t pixel_numbers(const conv_problem *p) { return whole_lines(p->out_channels * 2 * LANES); }

/* Multiplies the filter by the pixels of some out rows. pixels: see pixel_numbers. */
KERNEL void fill_planes(const conv_problem *p, const plane_block *b, const real *dy, const real *w,
                        ptrdiff_t rows, real *pixels, real *planes) {
    const ptrdiff_t depth = p->out_channels, plane_step = b->row_count * b->row_step, zero = 0;
    ptrdiff_t starts[TILE_PIXELS];
    for (ptrdiff_t i = 0; i < TILE_PIXELS; i++) starts[i] = i * plane_step;
    for (ptrdiff_t row = 0; row < rows; row++)
        for (ptrdiff_t first = 0; first < p->out_cols; first += 2 * LANES) {
            const ptrdiff_t count = smaller(2 * LANES, p->out_cols - first),
                            width = divide_up(count, LANES) * LANES;
            const tile_ending ending = {NULL, width, 0, 0, NULL, 0, NULL};
            transpose(dy + (row * p->out_cols + first) * depth, depth, depth, count, pixels, width);
            for (ptrdiff_t plane = 0; plane < b->planes; plane += TILE_PIXELS) {
                const tile_function multiply =
                    tile_table[smaller(TILE_PIXELS, b->planes - plane)][width > LANES];
                multiply(w + plane * depth, depth, &zero, 1, depth, pixels, width,
                         planes + plane * plane_step + row * b->row_step + LANES + first, starts, &ending);
            }
        }
}

/* Adds the planes of out rows first_row.. to one row of dx. tap_rows: room for the rows of taps that reach it,
   each as the plane of its first tap. */
KERNEL void add_planes(const conv_problem *p, const plane_block *b, const real *planes, ptrdiff_t first_row,
                       ptrdiff_t rows, ptrdiff_t in_row, const real **tap_rows, real *dx) {
    const ptrdiff_t channels = p->in_channels, plane_step = b->row_count * b->row_step;
    ptrdiff_t count = 0;
    for (ptrdiff_t tap_row = 0; tap_row < p->filter_rows; tap_row++) {
        /* mark: dilation padding of col2im if planes */
        const ptrdiff_t distance = in_row + p->pad_top - tap_row * p->dilation_rows,
                        out_row = floor_divide(distance, p->stride_rows);
        /* mark: stride of col2im if planes */
        if (out_row * p->stride_rows != distance || out_row < first_row || out_row >= first_row + rows)
            continue;
        tap_rows[count++] = planes + tap_row * p->filter_cols * channels * plane_step
                            + (out_row - first_row) * b->row_step + LANES;
    }
    for (ptrdiff_t channel = 0; channel < channels; channel++)
        for (ptrdiff_t in_col = 0; in_col < p->in_cols; in_col += LANES) {
            const ptrdiff_t inside = smaller(LANES, p->in_cols - in_col);
            real *to = dx + in_col * channels + channel;
            vec sum = {0};
            for (ptrdiff_t i = 0; i < count; i++)
                for (ptrdiff_t tap_col = 0; tap_col < p->filter_cols; tap_col++) {
                    const ptrdiff_t out_col = in_col + p->pad_left - tap_col * p->dilation_cols;
                    if (out_col > -LANES && out_col < p->out_cols)
                        sum += load(tap_rows[i] + (tap_col * channels + channel) * plane_step + out_col);
                }
            if (channels == 1 && inside == LANES) store(to, load(to) + sum);
            else
                for (ptrdiff_t i = 0; i < inside; i++) to[i * channels] += ((const real *)&sum)[i];
        }
}

/* Returns the bytes of one thread's scratch. */
INLINE ptrdiff_t planes_scratch_bytes(const conv_problem *p, const plane_block *b) {
    return (plane_numbers(b) + pixel_numbers(p)) * (ptrdiff_t)sizeof(real)
           + p->filter_rows * (ptrdiff_t)sizeof(real *);
}

/* One image. dx holds zeros; so does the scratch before a thread's first image, and those beside rows stay. */
KERNEL void planes_image(const conv_problem *p, const plane_block *b, const real *dy, const real *w,
                         real *scratch, real *dx) {
    const ptrdiff_t reach = (p->filter_rows - 1) * p->dilation_rows;
    real *planes = scratch, *pixels = planes + plane_numbers(b);
    const real **tap_rows = (const real **)(pixels + pixel_numbers(p));
    took(TOOK_PLANES);
    for (ptrdiff_t first = 0; first < p->out_rows; first += b->row_count) {
        const ptrdiff_t rows = smaller(b->row_count, p->out_rows - first),
                        first_in = larger(0, first * p->stride_rows - p->pad_top),
                        past_in =
                            smaller(p->in_rows, (first + rows - 1) * p->stride_rows - p->pad_top + reach + 1);
        fill_planes(p, b, dy + first * p->out_cols * p->out_channels, w, rows, pixels, planes);
        for (ptrdiff_t in_row = first_in; in_row < past_in; in_row++)
            add_planes(p, b, planes, first, rows, in_row, tap_rows,
                       dx + in_row * p->in_cols * p->in_channels);
    }
}
