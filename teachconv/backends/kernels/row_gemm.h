/* row_gemm: convolution as a matrix product whose left matrix is never built.

     direct:    for every output, for every tap, for every channel: one multiply-add
     im2col:    copy every patch into a row of a big matrix (filter_rows * filter_cols copies of x)
     row_gemm:  in NHWC the filter_cols * in_channels inputs under one filter row already lie side by side,
                and those of the next output begin stride_cols * in_channels numbers later. So they already
                form a matrix, with the leading dimension stride_cols * in_channels:

        padded input row   |px 0 |px 1 |px 2 |px 3 |px 4 |                     k ->
        output 0            `------ run 0 -----'                     a[0]  =  x + 0 * step
        output 1                  `------ run 1 -----'               a[1]  =  x + 1 * step   (rows overlap)

   Five loops, from the outside in. As in BLIS, each keeps one operand in one cache:

     loop                        function          what stays where while the loops inside it run
     5  blocks of output pixels  run_blocks        the block's left matrix, 600 KB, in the second-level cache
     4  panels of the filter     run_block         2 vectors of out_channels of the block's results
     3  pieces of k              multiply_panel    the piece of the panel, 128 KB, in the second-level cache
     2  lines of the block       multiply_piece
     1  tiles of the line        multiply_line     the left rows of up to 14 pixels, in the first-level cache
     0  k of the piece           register_tile.h   the tile's sums, in registers

   Two rungs have these loops in another order: small_filter.h (5, 2, 1, 4), streaming.h (5, 3, 4, 2, 1).

   Gain over im2col: no matrix is written and read back, and the tile keeps its sums in registers over the
   whole of k.

   Order of summation in every cell: tap_plane, tap_row, tap_col, in_channel, in every tile, block, panel and thread, so
   the bits are always the same.
   Non-finite data: x may hold anything. Padding is multiplied as zeros, except for whole tap rows of
   PADDED_ROWS above and below the image, so if there is padding, a filter with an infinity or NaN needs the
   direct loops; the caller takes care of that.
   Scratch: the padded rows (600 KB), a table of outputs, a piece of the filter; one patch at least. */

/* What all threads of one run_gather share. */
typedef struct {
    const gather *g;
    gather_layout l;
    const real *x, *w, *packed, *bias; /* packed: or NULL, then w is packed piece by piece, or read in place */
    int relu;
    real *y;
    int small_filter, streaming; /* the loops in two other orders */
    /* threads share the blocks; if these are few, threads share the panels of each block too */
    ptrdiff_t shares;
} gather_run;

/* One piece of one panel: some rows of the filter. */
typedef struct {
    const real *b;
    ptrdiff_t b_step;  /* from row to row: the panel's width, or out_channels if w itself is read */
    real *copy;        /* where the first tile that reads all of it writes a copy for the others, or NULL */
    const char *ahead; /* the next piece: the tiles prefetch its cache lines, one per k ... */
    ptrdiff_t lines;   /* ... as long as any are left */
} filter_piece;

#define PIECE_BYTES (128 * 1024) /* of the packed filter */

/* A piece of k: some whole runs, or a part of one: runs run..past_run-1, of each k0..k0+length-1. */
typedef struct {
    ptrdiff_t run, past_run, k0, length;
    ptrdiff_t first_k, rows; /* its rows of the packed filter */
    int last;
} k_piece;

/* Returns piece `index` of those that take at most `bytes` of a panel. */
INLINE k_piece piece_at(const gather_layout *l, ptrdiff_t bytes, ptrdiff_t index) {
    const ptrdiff_t fit = bytes / (2 * LANES * (ptrdiff_t)sizeof(real)),
                    parts = larger(1, divide_up(l->run_length, fit)),
                    most_runs = parts > 1 ? 1 : larger(1, fit / larger(1, l->run_length)),
                    most_length = larger(1, divide_up(l->run_length, parts)),
                    per_run = larger(1, divide_up(l->run_length, most_length));
    k_piece k = {.run = index / per_run * most_runs, .k0 = index % per_run * most_length};
    k.past_run = smaller(l->runs, k.run + most_runs);
    k.length = smaller(most_length, l->run_length - k.k0);
    k.first_k = k.run * l->run_length + k.k0;
    k.rows = (k.past_run - k.run) * k.length;
    k.last = k.past_run == l->runs && k.k0 + k.length == l->run_length;
    return k;
}

/* Returns how many tiles a line is cut into. */
INLINE ptrdiff_t count_tiles(const gather_layout *l, ptrdiff_t line_pixels) {
    return divide_up(line_pixels, tile_height(l->pixel_step));
}

/* Loop 1: multiplies one line of pixels, tile by tile, by one piece. */
INLINE void multiply_line(const gather_run *r, const pixel_block *block, ptrdiff_t line,
                          const filter_panel *panel, const k_piece *k, filter_piece *piece, tile_ending ending) {
    const gather_layout *l = &r->l;
    ptrdiff_t first, past;
    visible_runs(r->g, l, block, line, &first, &past);
    first = larger(first, k->run), past = larger(first, smaller(past, k->past_run));
    const real *a = block->a + line * l->line_step + panel->group * l->panels.group_inputs + k->k0;
    const ptrdiff_t *y_starts = block->y_starts + line * block->line_pixels;
    const ptrdiff_t rows = (past - first) * k->length, skipped = first < past ? (first - k->run) * k->length : 0;
    ptrdiff_t tiles = count_tiles(l, block->line_pixels);
    for (ptrdiff_t pixel = 0, pixels; tiles > 0; tiles--, pixel += pixels) {
        pixels = divide_up(block->line_pixels - pixel, tiles); /* 28 become 14 + 14, and 16 become 8 + 8 */
        const int copying = piece->copy && rows == k->rows;
        const int shape = copying ? COPYING : panel->width > LANES ? TWO_VECTORS : ONE_VECTOR;
        ending.ahead = piece->ahead, ending.ahead_step = piece->lines > 0 ? LINE_BYTES : 0;
        ending.copy = piece->copy;
        tile_table[pixels][shape](a + pixel * l->pixel_step, l->pixel_step, block->run_starts + first,
                                  past - first, k->length, piece->b + skipped * piece->b_step, piece->b_step,
                                  r->y + panel->y_column, y_starts + pixel, &ending);
        if (copying) piece->b = piece->copy, piece->b_step = 2 * LANES, piece->copy = NULL;
        if (piece->lines > 0) piece->ahead += rows * LINE_BYTES, piece->lines -= rows;
    }
}

/* Loop 2: multiplies all lines of the block by one piece. */
INLINE void multiply_piece(const gather_run *r, const pixel_block *block, const filter_panel *panel,
                           const k_piece *k, filter_piece piece) {
    const tile_ending ending = {.bias = k->last && r->bias ? r->bias + panel->y_column : NULL,
                                .columns = panel->columns, .resume = k->first_k > 0,
                                .relu = k->last && r->relu};
    for (ptrdiff_t line = 0; line < block->lines; line++)
        multiply_line(r, block, line, panel, k, &piece, ending);
}

/* Packs a piece of the filter for this thread alone. */
INLINE void pack_piece(const gather_run *r, const pixel_block *block, const filter_panel *panel, const k_piece *k) {
    pack_panel(r->g, r->w, panel->group, panel->first_column, panel->columns, panel->width, k->first_k,
               k->first_k + k->rows, block->piece);
}

/* Loop 3: multiplies one panel, piece by piece. The packed filter is read from front to back, or w is packed
   piece by piece. While one piece is multiplied, the next is prefetched, because the hardware starts too late
   to prefetch from memory. */
KERNEL void multiply_panel(const gather_run *r, const pixel_block *block, ptrdiff_t index) {
    const filter_panel panel = panel_at(&r->l.panels, index);
    k_piece k = {0};
    for (ptrdiff_t i = 0; !k.last; i++) {
        k = piece_at(&r->l, PIECE_BYTES, i);
        filter_piece piece = {.b = block->piece, .b_step = panel.width};
        if (r->packed) {
            piece.b = r->packed + panel.start + k.first_k * panel.width;
            piece.lines = k.rows * panel.width * (ptrdiff_t)sizeof(real) / LINE_BYTES;
        } else {
            pack_piece(r, block, &panel, &k);
        }
        piece.ahead = (const char *)(piece.b + k.rows * panel.width);
        multiply_piece(r, block, &panel, &k, piece);
    }
}

#include "small_filter.h"
#include "streaming.h"

/* Loop 4: multiplies one block's pixels by one share of the panels. */
KERNEL void run_block(const gather_run *r, ptrdiff_t job, pixel_block *block) {
    const ptrdiff_t panels = r->l.panels.count, share = job % r->shares;
    const ptrdiff_t first = panels * share / r->shares, past = panels * (share + 1) / r->shares;
    fill_block(r->g, &r->l, r->x, job / r->shares, block);
    if (r->small_filter) multiply_small_filter(r, block);
    else if (r->streaming) multiply_streaming(r, block, first, past);
    else
        for (ptrdiff_t panel = first; panel < past; panel++) multiply_panel(r, block, panel);
}

/* Loop 5: runs one thread's blocks, with scratch of its own. */
KERNEL int run_blocks(const void *call, const crew_member *me) {
    const gather_run *r = (const gather_run *)call;
    const gather_layout *l = &r->l;
    const ptrdiff_t buffer_numbers = whole_lines(l->buffer_size),
                    piece_numbers = r->packed ? 0 : whole_lines(PIECE_BYTES / (ptrdiff_t)sizeof(real) + 2 * LANES),
                    table_bytes = (l->block_rows * l->block_cols + l->runs) * (ptrdiff_t)sizeof(ptrdiff_t);
    pixel_block block = {0};
    block.buffer =
        (real *)new_scratch((buffer_numbers + piece_numbers) * (ptrdiff_t)sizeof(real) + table_bytes);
    if (block.buffer) {
        block.piece = block.buffer + buffer_numbers;
        block.run_starts = (ptrdiff_t *)(block.piece + piece_numbers);
        block.y_starts = block.run_starts + l->runs;
        list_runs(r->g, l, block.run_starts);
    }
    EACH_JOB_TAKEN(me, 1, job, l->blocks * r->shares, if (block.buffer) run_block(r, job, &block));
    free_scratch(block.buffer);
    return block.buffer ? CONV_OK : CONV_NO_MEMORY;
}

/* Computes any gather. `packed` is what pack_filter made of w; if it is NULL, w is packed here or read in
   place. */
KERNEL int run_gather(const gather *g, const real *x, const real *w, const real *packed, const real *bias,
                      int relu, real *y, int threads) {
    const conv_problem *s = &g->shape;
    if (count_pixels(s) == 0 || s->out_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(s), threads);
    gather_run r = {.g = g, .l = lay_out_gather(s, threads), .x = x, .w = w, .packed = packed, .bias = bias,
                    .relu = relu, .y = y, .shares = 1};
    const ptrdiff_t bytes = checked_times(r.l.panels.numbers, sizeof(real));
    r.small_filter = bytes <= SMALL_FILTER_BYTES;
    real *own_packed = NULL;
    if (!packed && (r.small_filter || r.l.blocks > 4 * threads)) { /* it pays to pack the whole filter */
        own_packed = (real *)new_scratch(bytes);
        if (!own_packed) return CONV_NO_MEMORY;
        pack_filter(g, w, own_packed, threads);
        r.packed = own_packed;
    }
    if (threads > 1 && r.l.blocks < 2 * threads && !r.small_filter) r.shares = smaller(r.l.panels.count, threads);
    r.streaming = !r.packed && !g->swapped && s->groups == 1;
    const int status = in_crew(threads, run_blocks, &r);
    free_scratch(own_packed);
    return status;
}
