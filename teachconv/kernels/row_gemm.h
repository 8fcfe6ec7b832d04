/* row_gemm: convolution as a matrix product whose left matrix is never built.

     direct:    for every output, for every tap, for every channel: one multiply-add
     im2col:    copy every patch into a row of a big matrix (filter_rows * filter_cols copies of x)
     row_gemm:  in NHWC the filter_cols * in_channels inputs under one filter row already lie side by side,
                and those of the next output begin stride_cols * in_channels numbers later. So they already
                form a matrix, with the leading dimension stride_cols * in_channels:

        padded input row   |px 0 |px 1 |px 2 |px 3 |px 4 |                     k ->
        output 0            `------ run 0 -----'                     a[0]  =  x + 0 * step
        output 1                  `------ run 1 -----'               a[1]  =  x + 1 * step   (rows overlap)

     for each block of output rows (its padded input rows fit the second-level cache)
       for each panel of 2 vectors of out_channels (its packed filter is read once)
         for each piece of k
           for each tile of up to 14 pixels:  register_tile.h

   Gain over im2col: no matrix is written and read back, and the tile keeps its sums in registers over the
   whole of k.

   Order of summation in every cell: tap_row, tap_col, in_channel, in every tile, block, panel and thread, so
   the bits are always the same.
   Non-finite data: x may hold anything. Padding is multiplied as zeros, except for whole tap rows of
   PADDED_ROWS above and below the image, so if there is padding, a filter with an infinity or NaN needs the
   direct loops; the caller takes care of that.
   Scratch: the padded rows (600 KB), a table of outputs, a piece of the filter; one patch at least. */

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

/* Copies whole patches, as im2col does. Used only for images too narrow to fill a tile from one row, for
   strides or dilations that make rows wasteful, and for 1x1 with a stride. */
KERNEL void fill_patches(const gather *g, const real *x, ptrdiff_t first_pixel, ptrdiff_t pixels, real *to) {
    const conv_problem *s = &g->shape;
    for (ptrdiff_t pixel = first_pixel; pixel < first_pixel + pixels; pixel++) {
        const ptrdiff_t out_col = pixel % s->out_cols, out_row = pixel / s->out_cols % s->out_rows;
        const ptrdiff_t image = pixel / s->out_cols / s->out_rows;
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

/* Where the filter comes from: packed in advance, packed piece by piece into a small buffer, or read from the
   user's array. */
typedef struct {
    const real *w, *packed;
    real *piece; /* room for one piece of one panel */
    const real *bias;
    int relu;
} filter_feed;

/* One piece of one panel: some rows of the filter. */
typedef struct {
    const real *b;
    ptrdiff_t b_step;  /* from row to row: the panel's width, or out_channels if w itself is read */
    real *copy;        /* where the first tile that reads all of it writes a copy for the others, or NULL */
    const char *ahead; /* the next piece: the tiles prefetch its cache lines, one per k ... */
    ptrdiff_t lines;   /* ... as long as any are left */
} filter_piece;

#define PIECE_BYTES (128 * 1024) /* of the packed filter */
#define COPIED_BYTES (32 * 1024) /* of w: the copy stays in the first-level cache */
#define LINE_BYTES 64

KERNEL void fill_block(const gather *g, const gather_layout *l, const real *x, ptrdiff_t index, real *buffer,
                       pixel_block *block) {
    const conv_problem *s = &g->shape;
    took(1 << l->source);
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
        if (l->source == PATCHES) fill_patches(g, x, first, block->line_pixels, buffer);
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

/* Multiplies runs first_run..past_run-1 (or k0..k0+length-1 of one run) of one panel, for all tiles of a
   line. */
INLINE void multiply_line(const gather *g, const gather_layout *l, const pixel_block *block, ptrdiff_t line,
                          ptrdiff_t first_run, ptrdiff_t past_run, ptrdiff_t k0, ptrdiff_t length,
                          ptrdiff_t group, filter_piece *piece, int shape, real *y, tile_ending ending) {
    ptrdiff_t first, past;
    visible_runs(g, l, block->first_out_row + line, &first, &past);
    first = larger(first, first_run), past = larger(first, smaller(past, past_run));
    const real *a =
        block->a + line * block->line_step + group * (g->shape.in_channels / g->shape.groups) + k0;
    const ptrdiff_t *y_starts = block->y_starts + line * block->line_pixels;
    const ptrdiff_t height = tile_height(l->pixel_step * (ptrdiff_t)sizeof(real), TILE_PIXELS);
    const ptrdiff_t tiles = divide_up(block->line_pixels, height), rows = (past - first) * length;
    for (ptrdiff_t tile = 0, pixel = 0; tile < tiles; tile++) {
        /* 28 pixels become 14 + 14, and 16 become 8 + 8 */
        const ptrdiff_t pixels = divide_up(block->line_pixels - pixel, tiles - tile);
        const int copying = piece->copy && past - first == past_run - first_run;
        const real *b = piece->b + (first < past ? first - first_run : 0) * length * piece->b_step;
        const tile_function multiply = tile_table[pixels][copying ? COPYING : shape];
        ending.ahead = piece->ahead, ending.ahead_step = piece->lines > 0 ? LINE_BYTES : 0;
        ending.copy = piece->copy;
        multiply(a + pixel * l->pixel_step, l->pixel_step, block->run_starts + first, past - first, length, b,
                 piece->b_step, y, y_starts + pixel, &ending);
        if (copying) piece->b = piece->copy, piece->b_step = 2 * LANES, piece->copy = NULL;
        if (piece->lines > 0) piece->ahead += rows * LINE_BYTES, piece->lines -= rows;
        pixel += pixels;
    }
}

/* How k is cut into pieces that fit the caches: a piece is some whole runs, or a part of one. */
typedef struct {
    ptrdiff_t runs, rows;
} piece_shape; /* runs of one piece; k of each run in it */

static inline piece_shape shape_pieces(const gather_layout *l, ptrdiff_t rows_that_fit) {
    const ptrdiff_t parts = larger(1, divide_up(l->run_length, larger(1, rows_that_fit)));
    const piece_shape shape = {parts > 1 ? 1 : larger(1, rows_that_fit / larger(1, l->run_length)),
                               larger(1, divide_up(l->run_length, parts))};
    return shape;
}

/* Multiplies one panel by one piece of k (runs run..past_run-1, k0..k0+length-1 of each), for all lines of
   the block. */
INLINE void multiply_piece(const gather *g, const gather_layout *l, const pixel_block *block,
                           const filter_feed *feed, ptrdiff_t group, ptrdiff_t panel, ptrdiff_t run,
                           ptrdiff_t past_run, ptrdiff_t k0, ptrdiff_t length, filter_piece piece, real *y) {
    ptrdiff_t columns, width;
    (void)find_panel(l, group, panel, &columns, &width);
    const ptrdiff_t first_column = group * l->group_columns + panel * l->panel_columns;
    const int last = past_run == l->runs && k0 + length >= l->run_length;
    const real *bias = feed->bias;
    const tile_ending ending = {.bias = last && bias ? bias + first_column : NULL,
                                .columns = columns,
                                .resume = run * l->run_length + k0 > 0,
                                .relu = last && feed->relu};
    for (ptrdiff_t line = 0; line < block->lines; line++)
        multiply_line(g, l, block, line, run, past_run, k0, length, group, &piece,
                      width > LANES ? TWO_VECTORS : ONE_VECTOR, y + first_column, ending);
}

/* Multiplies one panel. The packed filter is read from front to back, or w is packed piece by piece. While
   one piece is multiplied, the next is prefetched, because the hardware starts too late to prefetch from
   memory. */
KERNEL void multiply_panel(const gather *g, const gather_layout *l, const pixel_block *block,
                           const filter_feed *feed, ptrdiff_t group, ptrdiff_t panel, real *y) {
    ptrdiff_t columns, width;
    const ptrdiff_t start = find_panel(l, group, panel, &columns, &width);
    const piece_shape shape = shape_pieces(l, PIECE_BYTES / (l->panel_columns * (ptrdiff_t)sizeof(real)));
    for (ptrdiff_t run = 0; run == 0 || run < l->runs; run += shape.runs)
        for (ptrdiff_t k0 = 0; k0 == 0 || k0 < l->run_length; k0 += shape.rows) {
            const ptrdiff_t past_run = smaller(l->runs, run + shape.runs),
                            length = smaller(shape.rows, l->run_length - k0),
                            first_k = run * l->run_length + k0, rows = (past_run - run) * length;
            const real *b = feed->piece;
            if (feed->packed) {
                b = feed->packed + start + first_k * width;
            } else {
                pack_panel(g, feed->w, group, panel * l->panel_columns, columns, width, first_k,
                           first_k + rows, feed->piece);
            }
            const filter_piece piece = {
                b, width, NULL, (const char *)(b + rows * width),
                feed->packed ? rows * width * (ptrdiff_t)sizeof(real) / LINE_BYTES : 0};
            multiply_piece(g, l, block, feed, group, panel, run, past_run, k0, length, piece, y);
        }
}

/* With few pixels and a large filter, reading w takes most of the time. So it is read once, from front to
   back, some rows of all panels at a time, and not packed: the first tile of pixels reads a panel's rows in
   place and leaves a copy of them in the first-level cache for the other tiles.

     w  k = 0 | panel 0 | panel 1 | ...    the first tile multiplies panel 0 and copies it,
         ..   |         |         |        the others multiply the copy; then panel 1, ...
         255  |         |         |
         256  |         |         |        prefetched meanwhile, from front to back, a cache line per k */
KERNEL void multiply_streaming(const gather *g, const gather_layout *l, const pixel_block *block,
                               const filter_feed *feed, ptrdiff_t first_panel, ptrdiff_t past_panel,
                               real *y) {
    const ptrdiff_t row_numbers = g->shape.out_channels;
    const piece_shape shape = shape_pieces(l, COPIED_BYTES / (l->panel_columns * (ptrdiff_t)sizeof(real)));
    for (ptrdiff_t run = 0; run == 0 || run < l->runs; run += shape.runs)
        for (ptrdiff_t k0 = 0; k0 == 0 || k0 < l->run_length; k0 += shape.rows) {
            const ptrdiff_t past_run = smaller(l->runs, run + shape.runs),
                            length = smaller(shape.rows, l->run_length - k0),
                            first_k = run * l->run_length + k0, rows = (past_run - run) * length;
            const real *w = feed->w + first_k * row_numbers, *next = w + rows * row_numbers;
            for (ptrdiff_t panel = first_panel; panel < past_panel; panel++) {
                const ptrdiff_t first_column = panel * l->panel_columns;
                ptrdiff_t columns, width;
                (void)find_panel(l, 0, panel, &columns, &width);
                filter_piece piece = {w + first_column, row_numbers, feed->piece,
                                      (const char *)(next + (panel - first_panel) * rows * l->panel_columns),
                                      rows * width * (ptrdiff_t)sizeof(real) / LINE_BYTES};
                if (columns < l->panel_columns) {
                    pack_panel(g, feed->w, 0, first_column, columns, width, first_k, first_k + rows,
                               feed->piece);
                    piece.b = feed->piece, piece.b_step = width, piece.copy = NULL;
                }
                multiply_piece(g, l, block, feed, 0, panel, run, past_run, k0, length, piece, y);
            }
        }
}

/* Multiplies by a packed filter so small that all of it stays in the cache. Each pixel is read once. */
KERNEL void multiply_small_filter(const gather *g, const gather_layout *l, const pixel_block *block,
                                  const filter_feed *feed, real *y) {
    const real *bias = feed->bias;
    const ptrdiff_t height = tile_height(l->pixel_step * (ptrdiff_t)sizeof(real), TILE_PIXELS);
    const ptrdiff_t tiles = divide_up(block->line_pixels, height);
    for (ptrdiff_t line = 0; line < block->lines; line++) {
        ptrdiff_t first, past;
        visible_runs(g, l, block->first_out_row + line, &first, &past);
        const ptrdiff_t *y_starts = block->y_starts + line * block->line_pixels;
        for (ptrdiff_t tile = 0, pixel = 0; tile < tiles; tile++) {
            const ptrdiff_t pixels = divide_up(block->line_pixels - pixel, tiles - tile);
            for (ptrdiff_t group = 0; group < g->shape.groups; group++) {
                const real *a = block->a + line * block->line_step + pixel * l->pixel_step
                                + group * (g->shape.in_channels / g->shape.groups);
                for (ptrdiff_t panel = 0; panel < l->panels_per_group; panel++) {
                    ptrdiff_t columns, width;
                    const ptrdiff_t start = find_panel(l, group, panel, &columns, &width);
                    const ptrdiff_t first_column = group * l->group_columns + panel * l->panel_columns;
                    /* during the first panel, prefetch the next tile's inputs; during the others, the lines
                       that it will write */
                    const real *next = panel == 0 ? a + pixels * l->pixel_step
                                                  : y + y_starts[pixel] + pixels * g->y_col_step;
                    const char *ahead = (const char *)next + larger(0, panel - 1) * l->depth * 64;
                    const tile_ending ending = {
                        bias ? bias + first_column : NULL, columns, 0, feed->relu, ahead, LINE_BYTES, NULL};
                    const real *b = feed->packed + start + first * l->run_length * width;
                    const tile_function multiply = tile_table[pixels][width > LANES];
                    multiply(a, l->pixel_step, block->run_starts + first, past - first, l->run_length, b,
                             width, y + first_column, y_starts + pixel, &ending);
                }
            }
            pixel += pixels;
        }
    }
}

#define SMALL_FILTER_BYTES (256 * 1024)

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

/* What all threads of one run_gather share. */
typedef struct {
    const gather *g;
    const gather_layout *l;
    /* threads share the blocks; if these are few, threads share the panels of each block too */
    ptrdiff_t shares;
    int small_filter, streaming;
} gather_run;

/* Multiplies one block's pixels by one share of the panels. */
INLINE void run_block(const gather_run *r, const real *x, ptrdiff_t job, real *buffer, pixel_block *block,
                      const filter_feed *feed, real *y) {
    const ptrdiff_t panels = r->g->shape.groups * r->l->panels_per_group, share = job % r->shares;
    const ptrdiff_t first_panel = panels * share / r->shares, past_panel = panels * (share + 1) / r->shares;
    fill_block(r->g, r->l, x, job / r->shares, buffer, block);
    if (r->small_filter) multiply_small_filter(r->g, r->l, block, feed, y);
    else if (r->streaming) multiply_streaming(r->g, r->l, block, feed, first_panel, past_panel, y);
    else
        for (ptrdiff_t panel = first_panel; panel < past_panel; panel++)
            multiply_panel(r->g, r->l, block, feed, panel / r->l->panels_per_group,
                           panel % r->l->panels_per_group, y);
}

/* Runs one thread's blocks, with scratch of its own. Every thread of a parallel region calls it. */
INLINE int run_blocks(const gather_run *r, const real *x, filter_feed feed, real *y) {
    const gather_layout *l = r->l;
    const ptrdiff_t buffer_numbers = whole_lines(l->buffer_size);
    const ptrdiff_t piece_numbers =
        feed.packed ? 0 : whole_lines(PIECE_BYTES / (ptrdiff_t)sizeof(real) + 2 * LANES);
    const ptrdiff_t table_bytes = (l->block_rows * l->block_cols + l->runs) * (ptrdiff_t)sizeof(ptrdiff_t);
    real *buffer =
        (real *)new_scratch((buffer_numbers + piece_numbers) * (ptrdiff_t)sizeof(real) + table_bytes);
    pixel_block block = {0};
    if (buffer) {
        ptrdiff_t *tables = (ptrdiff_t *)(buffer + buffer_numbers + piece_numbers);
        feed.piece = buffer + buffer_numbers;
        block.run_starts = tables;
        block.y_starts = tables + l->runs;
        list_runs(r->g, l, tables);
    }
#pragma omp for schedule(dynamic, 1)
    for (ptrdiff_t job = 0; job < l->blocks * r->shares; job++)
        if (buffer) run_block(r, x, job, buffer, &block, &feed, y);
    free_scratch(buffer);
    return buffer ? CONV_OK : CONV_NO_MEMORY;
}

/* Computes any gather. `packed` is what pack_filter made of w; if it is NULL, w is packed here or read in
   place. */
KERNEL int run_gather(const gather *g, const real *x, const real *w, const real *packed, const real *bias,
                      int relu, real *y, int threads) {
    const conv_problem *s = &g->shape;
    if (s->batch == 0 || s->out_rows == 0 || s->out_cols == 0 || s->out_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(s), threads);
    const gather_layout l = lay_out_gather(g, sizeof(real), TILE_PIXELS, LANES, threads);
    const ptrdiff_t filter_numbers = packed_filter_numbers(g, &l, LANES),
                    panels = s->groups * l.panels_per_group;
    gather_run r = {g, &l, 1, filter_numbers * (ptrdiff_t)sizeof(real) <= SMALL_FILTER_BYTES, 0};
    real *own_packed = NULL;
    const int used_often = r.small_filter || l.blocks > 4 * threads;
    if (!packed && used_often) { /* it pays to pack the whole filter */
        own_packed = (real *)new_scratch(checked_times(filter_numbers, sizeof(real)));
        if (!own_packed) return CONV_NO_MEMORY;
        pack_filter(g, &l, w, own_packed, threads);
        packed = own_packed;
    }
    if (threads > 1 && l.blocks < 2 * threads && !r.small_filter) r.shares = smaller(panels, threads);
    r.streaming = !packed && !g->swapped && s->groups == 1;
    const filter_feed feed = {w, packed, NULL, bias, relu};
    int status = CONV_OK;
#pragma omp parallel num_threads(threads) reduction(| : status) if (threads > 1)
    status |= run_blocks(&r, x, feed, y);
    free_scratch(own_packed);
    return status;
}

/* ---- the forward op ---- */

KERNEL ptrdiff_t row_gemm_packed_bytes(const conv_problem *p) {
    const gather g = forward_gather(p);
    gather_layout l = {0};
    l.depth = p->filter_rows * p->filter_cols * (p->in_channels / p->groups);
    l.group_columns = p->out_channels / p->groups;
    return checked_times(packed_filter_numbers(&g, &l, LANES), sizeof(real));
}

KERNEL int row_gemm_pack(const conv_problem *p, const real *w, real *packed, int threads) {
    const gather g = forward_gather(p);
    gather_layout l = {0};
    l.depth = p->filter_rows * p->filter_cols * (p->in_channels / p->groups);
    l.group_columns = p->out_channels / p->groups;
    l.panel_columns = 2 * LANES;
    l.panels_per_group = divide_up(l.group_columns, l.panel_columns);
    pack_filter(&g, &l, w, packed, threads);
    return CONV_OK;
}

KERNEL int row_gemm_run(const conv_problem *p, const real *x, const real *w, const real *packed,
                        const real *bias, int relu, real *y, int threads) {
    const gather g = forward_gather(p);
    /* mark: kernel of row_gemm if whole_input padded_rows patches */
    return run_gather(&g, x, w, packed, bias, relu, y, threads);
}
