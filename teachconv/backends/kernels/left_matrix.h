/* The left matrix of row_gemm: the inputs of one block of outputs, in lines of pixels at a uniform step.

     WHOLE_INPUT   1x1 at stride 1: x itself, nothing is copied; all pixels form one line, or all those of a
                   plane if there are taps in depth, which are runs some planes apart
     PADDED_ROWS   the input rows that a block of output rows reads, copied with their padding, from each of the
                   planes that its taps in depth read; a line is one output row
     PATCHES       whole patches, copied as im2col does; all pixels form one line; also 1x1 at stride 1 where
                   the pixels of x would evict each other from the first-level cache

   k counts the numbers of a patch; a run is a range of k that lies side by side in the left matrix. */
enum { WHOLE_INPUT = TOOK_WHOLE_INPUT, PADDED_ROWS = TOOK_PADDED_ROWS, PATCHES = TOOK_PATCHES };

typedef struct {
    int source;
    panel_layout panels;
    ptrdiff_t runs, run_length; /* depth = runs * run_length */
    ptrdiff_t runs_per_tap_row; /* PADDED_ROWS: to skip a tap row in the padding */
    ptrdiff_t pixel_step;       /* from one output pixel's k = 0 to the next one's, within a line */
    /* PADDED_ROWS: of a plane, and of each its pixels; else 1, and pixels of a plane or the batch */
    ptrdiff_t lines, line_pixels, line_step;
    ptrdiff_t block_rows, block_cols; /* lines, and pixels of each, that are computed from one filled buffer */
    ptrdiff_t row_blocks, col_blocks, blocks;
    ptrdiff_t padded_cols, plane_size, buffer_size; /* in numbers; plane_size: PADDED_ROWS, of a tap in depth */
} gather_layout;

/* The inputs take half of a typical 1-2 MB second-level cache; filter and result stream through the other
   half. */
#define INPUT_BLOCK_NUMBERS (600 * 1024 / (ptrdiff_t)sizeof(real))
/* A filter too large for the near caches is read again for every block of pixels, so blocks are then
   larger. */
#define BIG_FILTER_BYTES (4 * 1024 * 1024)

/* Returns whether lines at this distance, in numbers, fall on one set of the first-level cache, which has 64 sets of
   64 bytes. */
INLINE int shares_a_set(ptrdiff_t pitch) { return pitch > 0 && pitch * (ptrdiff_t)sizeof(real) % 4096 == 0; }

/* Returns the most rows of a tile whose left matrix has this pitch. A set has 8 ways or more: seven rows and a
   line of the filter fit. */
INLINE ptrdiff_t tile_height(ptrdiff_t pitch) { return shares_a_set(pitch) ? smaller(TILE_PIXELS, 7) : TILE_PIXELS; }

/* The fewest out_channels of a group that pay for a copy of x at a pitch that shares no set. */
#define COPY_COLUMNS 128

INLINE int source_of(const conv_problem *s) {
    const int one_tap = s->filter_rows == 1 && s->filter_cols == 1;
    const int same_grid = s->stride_rows == 1 && s->stride_cols == 1 && s->pad_top == 0 && s->pad_left == 0
                          && s->out_rows == s->in_rows && s->out_cols == s->in_cols;
    if (one_tap && same_grid)
        return shares_a_set(s->in_channels) && s->out_channels / s->groups >= COPY_COLUMNS ? PATCHES : WHOLE_INPUT;
    /* a row shorter than half a tile leaves registers idle; at strides that skip most of the input, copying
       whole rows is wasteful */
    if (s->out_cols < 7 || s->stride_cols > s->filter_cols * 2 || one_tap) return PATCHES;
    /* so it is at dilations that spread a few taps over more rows than the scratch bound allows */
    const ptrdiff_t tile_cols = (smaller(s->out_cols, TILE_PIXELS) - 1) * s->stride_cols + taps_reach(&s->axes[2]),
                    tile_rows = checked_times(s->filter_planes, taps_reach(&s->axes[1])),
                    numbers = checked_times(tile_rows, checked_times(tile_cols, s->in_channels));
    return numbers >= 0 && numbers <= SCRATCH_BYTES / 4 / (ptrdiff_t)sizeof(real) ? PADDED_ROWS : PATCHES;
}

/* The layout for PADDED_ROWS, in which the inputs of a filter row lie side by side. A block consists of rows;
   it is cut into columns only if one row does not fit the budget. */
INLINE void lay_out_rows(const conv_problem *s, gather_layout *l, int threads) {
    const int merged = s->groups == 1 && s->dilation_cols == 1; /* then a filter row is one contiguous run */
    const ptrdiff_t tall = taps_reach(&s->axes[1]), wide = taps_reach(&s->axes[2]);
    const ptrdiff_t budget = INPUT_BLOCK_NUMBERS / s->filter_planes; /* for the rows of each tap in depth */
    l->runs_per_tap_row = merged ? 1 : s->filter_cols;
    l->runs = s->filter_planes * s->filter_rows * l->runs_per_tap_row;
    l->lines = s->out_rows, l->line_pixels = s->out_cols;
    l->pixel_step = s->stride_cols * s->in_channels;
    const ptrdiff_t cols_that_fit = (budget / larger(1, tall * s->in_channels) - wide) / s->stride_cols + 1;
    l->block_cols = smaller(s->out_cols, larger(TILE_PIXELS, cols_that_fit / TILE_PIXELS * TILE_PIXELS));
    l->padded_cols = (l->block_cols - 1) * s->stride_cols + wide;
    const ptrdiff_t row = l->padded_cols * s->in_channels,
                    rows_that_fit = (budget / larger(1, row) - tall) / s->stride_rows + 1;
    l->block_rows = smaller(s->out_rows, larger(1, rows_that_fit));
    l->block_rows = even_block(s->out_rows, l->block_rows, s->batch * s->out_planes < threads ? threads : 1);
    l->line_step = s->stride_rows * row;
    l->plane_size = ((l->block_rows - 1) * s->stride_rows + tall) * row;
    l->buffer_size = s->filter_planes * l->plane_size;
}

/* The layout for PATCHES and WHOLE_INPUT: all pixels in one long line, of copied patches or, for 1x1, of x
   itself; a line for each plane if its taps in depth, which are runs, read planes elsewhere. Copies that would
   share a set lie one cache line further apart. */
INLINE void lay_out_pixels(const conv_problem *s, gather_layout *l, int threads) {
    const ptrdiff_t pixels = count_pixels(s), taps = count_taps(s);
    const int whole = l->source == WHOLE_INPUT,
              by_planes = whole
                          && (s->filter_planes > 1 || s->stride_planes > 1 || s->pad_front != 0
                              || s->in_planes != s->out_planes);
    const double filter_bytes = (double)l->panels.depth * s->out_channels * sizeof(real);
    const ptrdiff_t budget = filter_bytes > BIG_FILTER_BYTES ? 2 * INPUT_BLOCK_NUMBERS : INPUT_BLOCK_NUMBERS;
    l->runs = l->runs_per_tap_row = whole ? s->filter_planes : s->groups == 1 ? 1 : taps;
    l->lines = 1, l->line_pixels = by_planes ? s->out_rows * s->out_cols : pixels;
    l->pixel_step = whole ? s->in_channels : taps * s->in_channels;
    if (!whole && shares_a_set(l->pixel_step)) l->pixel_step += LINE_BYTES / (ptrdiff_t)sizeof(real);
    const ptrdiff_t fit = smaller(4096, budget / larger(1, l->pixel_step));
    l->block_rows = 1;
    l->block_cols = whole || fit >= TILE_PIXELS ? larger(1, fit / TILE_PIXELS) * TILE_PIXELS : larger(1, fit);
    l->block_cols = smaller(l->block_cols, round_up(even_block(pixels, l->block_cols, threads), TILE_PIXELS));
    l->buffer_size = whole ? 0 : smaller(l->block_cols, pixels) * l->pixel_step;
}

/* Every output size is at least 1 here: the callers return early for an empty y. */
INLINE gather_layout lay_out_gather(const conv_problem *s, int threads) {
    gather_layout l = {.source = source_of(s), .panels = lay_out_panels(s)};
    /* threads share the panels of a big filter, each of which is read by one of them */
    if (l.panels.numbers * (ptrdiff_t)sizeof(real) >= BIG_FILTER_BYTES && l.panels.count >= 2 * threads) threads = 1;
    if (l.source == PADDED_ROWS) lay_out_rows(s, &l, threads);
    else lay_out_pixels(s, &l, threads);
    l.run_length = l.panels.depth / l.runs;
    l.row_blocks = divide_up(l.lines, l.block_rows);
    l.col_blocks = divide_up(l.line_pixels, l.block_cols);
    l.blocks = count_pixels(s) / (l.lines * l.line_pixels) * l.row_blocks * l.col_blocks;
    return l;
}

/* Copies the input rows that one block of outputs reads in one plane, with zeros to its left and right. */
KERNEL void fill_padded_rows(const gather *g, const gather_layout *l, const real *plane, ptrdiff_t first_row,
                             ptrdiff_t rows, ptrdiff_t first_col, real *to) {
    const conv_problem *s = &g->shape;
    const size_t pixel_bytes = sizeof(real) * (size_t)s->in_channels;
    /* mark: stride of row_gemm if padded_rows */
    const ptrdiff_t first_in_row = first_row * s->stride_rows - s->pad_top,
                    past_in_row = first_in_row + (rows - 1) * s->stride_rows + taps_reach(&s->axes[1]),
                    col_start = first_col * s->stride_cols - s->pad_left;
    ptrdiff_t first, past;
    indices_inside(l->padded_cols, 1, col_start, s->in_cols, &first, &past);
    for (ptrdiff_t in_row = first_in_row; in_row < past_in_row; in_row++, to += l->padded_cols * s->in_channels) {
        /* mark: padding of row_gemm phases if padded_rows */
        if (in_row < 0 || in_row >= s->in_rows) { /* no run of an image reads this row: see visible_runs */
            if (s->filter_planes > 1) memset(to, 0, pixel_bytes * (size_t)l->padded_cols);
            continue;
        }
        memset(to, 0, pixel_bytes * (size_t)first);
        if (first < past)
            memcpy(to + first * s->in_channels, plane + (in_row * s->in_cols + col_start + first) * s->in_channels,
                   pixel_bytes * (size_t)(past - first));
        memset(to + past * s->in_channels, 0, pixel_bytes * (size_t)(l->padded_cols - past));
    }
}

/* Copies whole patches, as im2col does, pixel_step numbers apart. Used only for images too narrow to fill a tile
   from one row, for strides or dilations that make rows wasteful, and for 1x1 with a stride or a pitch that
   shares a set. */
KERNEL void fill_patches(const gather *g, const real *x, ptrdiff_t first_pixel, ptrdiff_t pixels,
                         ptrdiff_t pixel_step, real *patches) {
    const conv_problem *s = &g->shape;
    const size_t pixel_bytes = sizeof(real) * (size_t)s->in_channels;
    for (ptrdiff_t pixel = first_pixel; pixel < first_pixel + pixels; pixel++, patches += pixel_step) {
        const ptrdiff_t out_col = pixel % s->out_cols, out_row = pixel / s->out_cols % s->out_rows,
                        plane = pixel / s->out_cols / s->out_rows, out_plane = plane % s->out_planes;
        const real *volume = x + plane / s->out_planes * in_image_numbers(s);
        real *to = patches;
        for (ptrdiff_t tap = 0; tap < s->filter_planes * s->filter_rows; tap++)
            for (ptrdiff_t tap_col = 0; tap_col < s->filter_cols; tap_col++, to += s->in_channels) {
                const ptrdiff_t tap_row = tap % s->filter_rows, tap_plane = tap / s->filter_rows,
                                in_plane = out_plane * s->stride_planes - s->pad_front + tap_plane * s->dilation_planes;
                /* mark: stride dilation of row_gemm if patches */
                const ptrdiff_t in_row = out_row * s->stride_rows - s->pad_top + tap_row * s->dilation_rows;
                const ptrdiff_t in_col = out_col * s->stride_cols - s->pad_left + tap_col * s->dilation_cols;
                /* mark: padding of row_gemm phases if patches */
                if (in_plane < 0 || in_plane >= s->in_planes || in_row < 0 || in_row >= s->in_rows || in_col < 0
                    || in_col >= s->in_cols)
                    memset(to, 0, pixel_bytes);
                else
                    memcpy(to, volume + ((in_plane * s->in_rows + in_row) * s->in_cols + in_col) * s->in_channels,
                           pixel_bytes);
            }
    }
}

/* One block of output pixels with its left matrix: `lines` of `line_pixels` pixels. Each thread has one, and
   fills it again and again. */
typedef struct {
    const real *a;
    ptrdiff_t lines, line_pixels;
    ptrdiff_t first_out_row;
    ptrdiff_t first_run, past_run; /* those whose plane is not in the padding */
    ptrdiff_t *run_starts;         /* [runs], relative to a pixel of the left matrix */
    ptrdiff_t *y_starts;           /* [lines * line_pixels] */
    real *buffer;                  /* room for what is copied */
    real *piece;                   /* room for one piece of one panel of the filter */
} pixel_block;

/* Makes the left matrix of block `index`, and lists where its outputs go. */
KERNEL void fill_block(const gather *g, const gather_layout *l, const real *x, ptrdiff_t index,
                       pixel_block *block) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t first_col = index % l->col_blocks * l->block_cols,
                    first_row = index / l->col_blocks % l->row_blocks * l->block_rows,
                    plane = index / l->col_blocks / l->row_blocks, /* of the batch, or 0 if all pixels form a line */
                    first_pixel = (plane * l->lines + first_row) * l->line_pixels + first_col,
                    runs_per_plane = l->runs / s->filter_planes;
    took(l->source);
    block->lines = smaller(l->block_rows, l->lines - first_row);
    block->line_pixels = smaller(l->block_cols, l->line_pixels - first_col);
    block->first_out_row = first_row;
    block->a = block->buffer;
    for (ptrdiff_t line = 0; line < block->lines; line++)
        list_y_starts(g, first_pixel + line * l->line_pixels, block->line_pixels,
                      block->y_starts + line * block->line_pixels);
    if (l->source == PATCHES) {
        block->first_run = 0, block->past_run = l->runs;
        fill_patches(g, x, first_pixel, block->line_pixels, l->pixel_step, block->buffer);
        return;
    }
    ptrdiff_t first_tap, past_tap;
    const ptrdiff_t first_plane = planes_inside(s, plane % s->out_planes, &first_tap, &past_tap);
    x += plane / s->out_planes * in_image_numbers(s);
    block->first_run = first_tap * runs_per_plane, block->past_run = past_tap * runs_per_plane;
    if (l->source == WHOLE_INPUT) block->a = x + first_col * s->in_channels;
    for (ptrdiff_t tap = first_tap; tap < past_tap; tap++) {
        const ptrdiff_t in_plane = (first_plane + tap * s->dilation_planes) * in_plane_numbers(s);
        if (l->source == WHOLE_INPUT) block->run_starts[tap] = in_plane;
        else
            fill_padded_rows(g, l, x + in_plane, first_row, block->lines, first_col,
                             block->buffer + tap * l->plane_size);
    }
}

/* Lists where each run begins, of PATCHES and PADDED_ROWS. */
INLINE void list_runs(const gather *g, const gather_layout *l, ptrdiff_t *run_starts) {
    const conv_problem *s = &g->shape;
    for (ptrdiff_t run = 0; run < l->runs; run++) {
        run_starts[run] = run * s->in_channels;
        if (l->source != PADDED_ROWS) continue;
        /* mark: dilation of row_gemm phases if padded_rows */
        const ptrdiff_t row = run / l->runs_per_tap_row % s->filter_rows * s->dilation_rows,
                        col = run % l->runs_per_tap_row * s->dilation_cols;
        run_starts[run] = run / l->runs_per_tap_row / s->filter_rows * l->plane_size
                          + (row * l->padded_cols + col) * s->in_channels;
    }
}

/* Finds the runs of one line of outputs that are not in the padding: of an image those of the tap rows inside it;
   of a volume those of the planes inside it, whose tap rows above and below it would leave gaps and are zeros. */
INLINE void visible_runs(const gather *g, const gather_layout *l, const pixel_block *block, ptrdiff_t line,
                         ptrdiff_t *first, ptrdiff_t *past) {
    const conv_problem *s = &g->shape;
    *first = block->first_run, *past = block->past_run;
    if (l->source != PADDED_ROWS || s->filter_planes > 1 || *first == *past) return;
    indices_inside(s->filter_rows, s->dilation_rows,
                   (block->first_out_row + line) * s->stride_rows - s->pad_top, s->in_rows, first, past);
    *first *= l->runs_per_tap_row, *past *= l->runs_per_tap_row;
}
