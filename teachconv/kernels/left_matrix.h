/* The left matrix of row_gemm: the inputs of one block of outputs, in lines of pixels at a uniform step.

     WHOLE_INPUT   1x1 at stride 1: x itself, nothing is copied; all pixels form one line
     PADDED_ROWS   the input rows that a block of output rows reads, copied with their padding; a line is one
                   output row
     PATCHES       whole patches, copied as im2col does; all pixels form one line; also 1x1 at stride 1 where
                   the pixels of x would evict each other from the first-level cache

   gather.h chooses one of them and sets the sizes. k counts the numbers of a patch; a run is a range of k
   that lies side by side in the left matrix. */

/* Copies the input rows that one block of outputs reads, with zeros to the left and right of the image. */
KERNEL void fill_padded_rows(const gather *g, const gather_layout *l, const real *x, ptrdiff_t image,
                             ptrdiff_t first_row, ptrdiff_t rows, ptrdiff_t first_col, real *buffer) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t in_rows = (rows - 1) * s->stride_rows + (s->filter_rows - 1) * s->dilation_rows + 1;
    /* mark: stride of row_gemm if padded_rows */
    const ptrdiff_t row_start = first_row * s->stride_rows - s->pad_top,
                    col_start = first_col * s->stride_cols - s->pad_left;
    ptrdiff_t first, past;
    indices_inside(l->padded_cols, 1, col_start, s->in_cols, &first, &past);
    for (ptrdiff_t row = 0; row < in_rows; row++) {
        const ptrdiff_t in_row = row_start + row;
        real *to = buffer + row * l->padded_cols * s->in_channels;
        /* mark: padding of row_gemm phases if padded_rows */
        if (in_row < 0 || in_row >= s->in_rows) continue; /* no run reads this row */
        memset(to, 0, sizeof(real) * (size_t)(first * s->in_channels));
        memcpy(to + first * s->in_channels,
               x + ((image * s->in_rows + in_row) * s->in_cols + col_start + first) * s->in_channels,
               sizeof(real) * (size_t)((past - first) * s->in_channels));
        memset(to + past * s->in_channels, 0,
               sizeof(real) * (size_t)((l->padded_cols - past) * s->in_channels));
    }
}

/* Copies whole patches, as im2col does, pixel_step numbers apart. Used only for images too narrow to fill a tile
   from one row, for strides or dilations that make rows wasteful, and for 1x1 with a stride or a pitch that
   shares a set. */
KERNEL void fill_patches(const gather *g, const real *x, ptrdiff_t first_pixel, ptrdiff_t pixels,
                         ptrdiff_t pixel_step, real *patches) {
    const conv_problem *s = &g->shape;
    for (ptrdiff_t pixel = first_pixel; pixel < first_pixel + pixels; pixel++) {
        const ptrdiff_t out_col = pixel % s->out_cols, out_row = pixel / s->out_cols % s->out_rows;
        const ptrdiff_t image = pixel / s->out_cols / s->out_rows;
        real *to = patches + (pixel - first_pixel) * pixel_step;
        for (ptrdiff_t tap_row = 0; tap_row < s->filter_rows; tap_row++)
            for (ptrdiff_t tap_col = 0; tap_col < s->filter_cols; tap_col++, to += s->in_channels) {
                /* mark: stride dilation of row_gemm if patches */
                const ptrdiff_t in_row = out_row * s->stride_rows - s->pad_top + tap_row * s->dilation_rows;
                const ptrdiff_t in_col = out_col * s->stride_cols - s->pad_left + tap_col * s->dilation_cols;
                /* mark: padding of row_gemm phases if patches */
                if (in_row < 0 || in_row >= s->in_rows || in_col < 0 || in_col >= s->in_cols)
                    memset(to, 0, sizeof(real) * (size_t)s->in_channels);
                else
                    memcpy(to, x + ((image * s->in_rows + in_row) * s->in_cols + in_col) * s->in_channels,
                           sizeof(real) * (size_t)s->in_channels);
            }
    }
}

/* One block of output pixels with its left matrix: `lines` of `line_pixels` pixels at a uniform step. */
typedef struct {
    const real *a;
    ptrdiff_t lines, line_pixels, line_step;
    ptrdiff_t first_out_row;
    const ptrdiff_t *run_starts; /* [runs] */
    ptrdiff_t *y_starts;         /* [lines * line_pixels] */
} pixel_block;

/* Makes the left matrix of block `index`, in `buffer` if it is copied, and lists where its outputs go. */
KERNEL void fill_block(const gather *g, const gather_layout *l, const real *x, ptrdiff_t index, real *buffer,
                       pixel_block *block) {
    const conv_problem *s = &g->shape;
    took(l->source);
    if (l->source == PADDED_ROWS) {
        const ptrdiff_t col_block = index % l->col_blocks, row_block = index / l->col_blocks % l->row_blocks;
        const ptrdiff_t image = index / l->col_blocks / l->row_blocks;
        const ptrdiff_t first_row = row_block * l->block_rows, first_col = col_block * l->block_cols;
        block->lines = smaller(l->block_rows, s->out_rows - first_row);
        block->line_pixels = smaller(l->block_cols, s->out_cols - first_col);
        block->line_step = s->stride_rows * l->padded_cols * s->in_channels;
        block->first_out_row = first_row;
        block->a = buffer;
        fill_padded_rows(g, l, x, image, first_row, block->lines, first_col, buffer);
        ptrdiff_t *start = block->y_starts;
        for (ptrdiff_t row = first_row; row < first_row + block->lines; row++)
            for (ptrdiff_t col = first_col; col < first_col + block->line_pixels; col++)
                *start++ = image * g->y_image_step + row * g->y_row_step + col * g->y_col_step;
    } else {
        const ptrdiff_t pixels = s->batch * s->out_rows * s->out_cols, first = index * l->block_cols;
        block->lines = 1;
        block->line_pixels = smaller(l->block_cols, pixels - first);
        block->line_step = 0;
        block->first_out_row = 0;
        block->a = l->source == WHOLE_INPUT ? x + first * s->in_channels : buffer;
        if (l->source == PATCHES) fill_patches(g, x, first, block->line_pixels, l->pixel_step, buffer);
        ptrdiff_t col = first % s->out_cols, row = first / s->out_cols % s->out_rows,
                  image = first / s->out_cols / s->out_rows;
        for (ptrdiff_t i = 0; i < block->line_pixels; i++) {
            block->y_starts[i] = image * g->y_image_step + row * g->y_row_step + col * g->y_col_step;
            if (++col == s->out_cols) {
                col = 0;
                if (++row == s->out_rows) row = 0, image++;
            }
        }
    }
}

/* Fills the table of the start of each run, relative to a pixel of the left matrix. */
INLINE void list_runs(const gather *g, const gather_layout *l, ptrdiff_t *run_starts) {
    const conv_problem *s = &g->shape;
    for (ptrdiff_t run = 0; run < l->runs; run++) {
        const ptrdiff_t tap_row = run / larger(1, l->runs_per_tap_row),
                        tap_col = run % larger(1, l->runs_per_tap_row);
        run_starts[run] = run * s->in_channels;
        if (l->source == PADDED_ROWS) {
            /* mark: dilation of row_gemm phases if padded_rows */
            const ptrdiff_t row = tap_row * s->dilation_rows, col = tap_col * s->dilation_cols;
            run_starts[run] = (row * l->padded_cols + col) * s->in_channels;
        }
    }
}

/* Finds the runs of the tap rows that lie inside the image for one line of outputs; the others lie above or
   below it. */
INLINE void visible_runs(const gather *g, const gather_layout *l, ptrdiff_t out_row, ptrdiff_t *first,
                         ptrdiff_t *past) {
    const conv_problem *s = &g->shape;
    if (l->source != PADDED_ROWS) {
        *first = 0, *past = l->runs;
        return;
    }
    indices_inside(s->filter_rows, s->dilation_rows, out_row * s->stride_rows - s->pad_top, s->in_rows, first,
                   past);
    *first *= l->runs_per_tap_row, *past *= l->runs_per_tap_row;
}

/* Returns the most pixels of a tile. */
INLINE ptrdiff_t line_tile_height(const gather_layout *l) {
    return tile_height(l->pixel_step * (ptrdiff_t)sizeof(real), TILE_PIXELS);
}
