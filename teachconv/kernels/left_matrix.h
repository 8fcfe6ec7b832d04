/* The left matrix of row_gemm: the inputs of one block of outputs, in lines of pixels at a uniform step.

     WHOLE_INPUT   1x1 at stride 1: x itself, nothing is copied; all pixels form one line, or all those of a
                   plane if there are taps in depth, which are runs some planes apart
     PADDED_ROWS   the input rows that a block of output rows reads, copied with their padding, from each of the
                   planes that its taps in depth read; a line is one output row
     PATCHES       whole patches, copied as im2col does; all pixels form one line; also 1x1 at stride 1 where
                   the pixels of x would evict each other from the first-level cache

   gather.h chooses one of them and sets the sizes. k counts the numbers of a patch; a run is a range of k
   that lies side by side in the left matrix. */

/* Copies the input rows that one block of outputs reads in one plane, with zeros to its left and right. */
KERNEL void fill_padded_rows(const gather *g, const gather_layout *l, const real *plane, ptrdiff_t first_row,
                             ptrdiff_t rows, ptrdiff_t first_col, real *buffer) {
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
        if (in_row < 0 || in_row >= s->in_rows) { /* no run of an image reads this row: see visible_runs */
            if (s->filter_planes > 1) memset(to, 0, sizeof(real) * (size_t)(l->padded_cols * s->in_channels));
            continue;
        }
        memset(to, 0, sizeof(real) * (size_t)(first * s->in_channels));
        if (first < past)
            memcpy(to + first * s->in_channels, plane + (in_row * s->in_cols + col_start + first) * s->in_channels,
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
        const ptrdiff_t out_plane = pixel / s->out_cols / s->out_rows % s->out_planes,
                        volume = pixel / s->out_cols / s->out_rows / s->out_planes;
        real *to = patches + (pixel - first_pixel) * pixel_step;
        for (ptrdiff_t tap = 0; tap < s->filter_planes * s->filter_rows; tap++) {
            const ptrdiff_t tap_plane = tap / s->filter_rows, tap_row = tap % s->filter_rows;
            const ptrdiff_t in_plane = out_plane * s->stride_planes - s->pad_front + tap_plane * s->dilation_planes;
            for (ptrdiff_t tap_col = 0; tap_col < s->filter_cols; tap_col++, to += s->in_channels) {
                /* mark: stride dilation of row_gemm if patches */
                const ptrdiff_t in_row = out_row * s->stride_rows - s->pad_top + tap_row * s->dilation_rows;
                const ptrdiff_t in_col = out_col * s->stride_cols - s->pad_left + tap_col * s->dilation_cols;
                /* mark: padding of row_gemm phases if patches */
                if (in_plane < 0 || in_plane >= s->in_planes || in_row < 0 || in_row >= s->in_rows || in_col < 0
                    || in_col >= s->in_cols)
                    memset(to, 0, sizeof(real) * (size_t)s->in_channels);
                else
                    memcpy(to,
                           x + volume * in_image_numbers(s) + in_plane * in_plane_numbers(s)
                               + (in_row * s->in_cols + in_col) * s->in_channels,
                           sizeof(real) * (size_t)s->in_channels);
            }
        }
    }
}

/* One block of output pixels with its left matrix: `lines` of `line_pixels` pixels at a uniform step. */
typedef struct {
    const real *a;
    ptrdiff_t lines, line_pixels, line_step;
    ptrdiff_t first_out_row;
    ptrdiff_t first_tap_plane, past_tap_plane; /* the taps in depth that are not in the padding */
    ptrdiff_t *run_starts;                     /* [runs] */
    ptrdiff_t *y_starts;                       /* [lines * line_pixels] */
} pixel_block;

/* Makes the left matrix of block `index`, in `buffer` if it is copied, and lists where its outputs go. */
KERNEL void fill_block(const gather *g, const gather_layout *l, const real *x, ptrdiff_t index, real *buffer,
                       pixel_block *block) {
    const conv_problem *s = &g->shape;
    took(l->source);
    if (l->source == PADDED_ROWS) {
        const ptrdiff_t col_block = index % l->col_blocks, row_block = index / l->col_blocks % l->row_blocks;
        const ptrdiff_t plane = index / l->col_blocks / l->row_blocks, volume = plane / s->out_planes,
                        out_plane = plane - volume * s->out_planes;
        const ptrdiff_t first_row = row_block * l->block_rows, first_col = col_block * l->block_cols;
        block->lines = smaller(l->block_rows, s->out_rows - first_row);
        block->line_pixels = smaller(l->block_cols, s->out_cols - first_col);
        block->line_step = s->stride_rows * l->padded_cols * s->in_channels;
        block->first_out_row = first_row;
        block->a = buffer;
        const ptrdiff_t first_plane = planes_inside(s, out_plane, &block->first_tap_plane, &block->past_tap_plane);
        for (ptrdiff_t tap = block->first_tap_plane; tap < block->past_tap_plane; tap++)
            fill_padded_rows(g, l,
                             x + volume * in_image_numbers(s)
                                 + (first_plane + tap * s->dilation_planes) * in_plane_numbers(s),
                             first_row, block->lines, first_col, buffer + tap * l->plane_size);
        ptrdiff_t *start = block->y_starts;
        for (ptrdiff_t row = first_row; row < first_row + block->lines; row++)
            for (ptrdiff_t col = first_col; col < first_col + block->line_pixels; col++)
                *start++ = volume * g->y_image_step + out_plane * g->y_plane_step + row * g->y_row_step
                           + col * g->y_col_step;
    } else {
        const ptrdiff_t line = index / l->col_blocks, in_line = index % l->col_blocks * l->block_cols,
                        first = line * l->line_pixels + in_line;
        block->lines = 1;
        block->line_pixels = smaller(l->block_cols, l->line_pixels - in_line);
        block->line_step = 0;
        block->first_out_row = 0;
        if (l->source == WHOLE_INPUT) {
            const ptrdiff_t first_plane =
                planes_inside(s, line % s->out_planes, &block->first_tap_plane, &block->past_tap_plane);
            for (ptrdiff_t tap = block->first_tap_plane; tap < block->past_tap_plane; tap++)
                block->run_starts[tap] = (first_plane + tap * s->dilation_planes) * in_plane_numbers(s);
            block->a = x + line / s->out_planes * in_image_numbers(s) + in_line * s->in_channels;
        } else {
            block->a = buffer, block->first_tap_plane = 0, block->past_tap_plane = s->filter_planes;
            fill_patches(g, x, first, block->line_pixels, l->pixel_step, buffer);
        }
        ptrdiff_t col = first % s->out_cols, row = first / s->out_cols % s->out_rows,
                  plane = first / s->out_cols / s->out_rows, volume = plane / s->out_planes;
        plane -= volume * s->out_planes;
        for (ptrdiff_t i = 0; i < block->line_pixels; i++) {
            block->y_starts[i] = volume * g->y_image_step + plane * g->y_plane_step + row * g->y_row_step
                                 + col * g->y_col_step;
            if (++col < s->out_cols) continue;
            col = 0;
            if (++row < s->out_rows) continue;
            row = 0;
            if (++plane == s->out_planes) plane = 0, volume++;
        }
    }
}

/* Fills the table of the start of each run, relative to a pixel of the left matrix. */
INLINE void list_runs(const gather *g, const gather_layout *l, ptrdiff_t *run_starts) {
    const conv_problem *s = &g->shape;
    for (ptrdiff_t run = 0; run < l->runs; run++) {
        const ptrdiff_t tap = run / larger(1, l->runs_per_tap_row), /* plane and row */
                        tap_col = run % larger(1, l->runs_per_tap_row);
        run_starts[run] = run * s->in_channels;
        if (l->source == PADDED_ROWS) {
            /* mark: dilation of row_gemm phases if padded_rows */
            const ptrdiff_t row = tap % s->filter_rows * s->dilation_rows, col = tap_col * s->dilation_cols;
            run_starts[run] =
                tap / s->filter_rows * l->plane_size + (row * l->padded_cols + col) * s->in_channels;
        }
    }
}

/* Finds the runs of one line of outputs that are not in the padding: of an image those of the tap rows inside it;
   of a volume those of the planes inside it, whose tap rows above and below it would leave gaps and are zeros. */
INLINE void visible_runs(const gather *g, const gather_layout *l, const pixel_block *block, ptrdiff_t line,
                         ptrdiff_t *first, ptrdiff_t *past) {
    const conv_problem *s = &g->shape;
    if (l->source != PADDED_ROWS || s->filter_planes > 1 || block->first_tap_plane == block->past_tap_plane) {
        const ptrdiff_t of_plane = l->runs / s->filter_planes;
        *first = block->first_tap_plane * of_plane, *past = block->past_tap_plane * of_plane;
        if (l->source == PATCHES) *first = 0, *past = l->runs;
        return;
    }
    indices_inside(s->filter_rows, s->dilation_rows,
                   (block->first_out_row + line) * s->stride_rows - s->pad_top, s->in_rows, first, past);
    *first *= l->runs_per_tap_row, *past *= l->runs_per_tap_row;
}

/* Returns the most pixels of a tile. */
INLINE ptrdiff_t line_tile_height(const gather_layout *l) {
    return tile_height(l->pixel_step * (ptrdiff_t)sizeof(real), TILE_PIXELS);
}
