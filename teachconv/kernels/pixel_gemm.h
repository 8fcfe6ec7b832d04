/* pixel_gemm: the filter gradient as a product over pixels.

     dw[tap, in_channel, out_channel] = sum over pixels:  x[pixel at tap, in_channel] * dy[pixel, out_channel]

                          dy: 2 vectors of out_channels         NHWC holds both operands in this order: 14
                        +----------------------------+          in_channels and 32 out_channels side by side,
      x: in_channel 0   |  sum 0,0       sum 0,1     |          one step per pixel. The sums, a piece of dw,
         in_channel 1   |  sum 1,0       sum 1,1     |          stay in registers over all pixels of a block.
            ...         |     ...           ...      |
         in_channel 13  |  sum 13,0      sum 13,1    |
                        +----------------------------+

     for each block of pixels (some images, or some rows of one; its x and dy fit the second-level cache)
       copy x into tiles and dy into panels, so that a step is short    (where it pays: pixel_layout.h)
       for each tile, panel, tap:                                   <- threads share these, never the pixels
         for image, out_row, out_col of the block whose input is inside:  sums += x * dy

   With few in_channels, tiles would have few rows, hence too few sums in flight, and each would read all of
   dy again. The tiles are then merged: the rows of all taps form one long matrix. Each row of a tile has its
   own pointer into a copy of x, which has zeros as padding, so that all taps have the same pixels:

      x: tap 0,0  in_channel 0   |  sum 0,0   sum 0,1  |   3x3 taps of 1 in_channel: one tile of 9 rows,
         tap 0,1  in_channel 0   |  sum 1,0   sum 1,1  |   dy is read once; 3x3 of 3: 2 tiles of 14 and 13
            ...                  |    ...       ...    |
         tap 2,2  in_channel 0   |  sum 8,0   sum 8,1  |

   The panels are inside the tiles, so that dw is written from front to back: a large dw goes to memory.

   Gain over the plain loops: 28 multiply-adds per 16 loads; over im2col: no matrix.

   Order of summation in every cell: image, out_row, out_col. Blocks depend on the shape only, so the bits do
   not depend on the number of threads.
   Non-finite data: x and dy may hold anything. Taps in the padding are skipped, not multiplied by zero.
   Merged tiles do multiply them: if then neither dw nor dy is finite, dw is computed again tap by tap.
   Scratch: one block's copies, which all threads share; of a ragged dy (out_channels not a multiple of 2
   vectors) one pixel at least. If not even one row of it fits, blocks are parts of a row. */

#include "pixel_tile.h"
#include "pixel_layout.h"
#include "pixel_copies.h"

/* What all threads of one multiply_pixels share. */
typedef struct {
    const conv_problem *p;
    const pixel_layout *l;
    const real *x, *dy;
    real *x_copy, *dy_copy, *dw;
    ptrdiff_t jobs;
    int at_once; /* jobs that a thread takes */
} pixel_call;

/* Returns what a job prefetches: the jobs of a block in turn prefetch the lines that follow the block in x,
   then in dy, the lines of the next block. NULL if there is no next block, or the jobs before prefetch it. */
INLINE const void *what_comes_next(const conv_problem *p, const pixel_range *r, const real *x, const real *dy,
                                   ptrdiff_t job) {
    if (r->first_image + r->images == p->batch && r->first_row + r->rows == p->out_rows
        && r->first_col + r->cols == p->out_cols)
        return NULL;
    const ptrdiff_t lines = r->images * r->rows * r->cols; /* one per pixel */
    const ptrdiff_t x_bytes = r->images * r->in_rows * p->in_cols * p->in_channels * (ptrdiff_t)sizeof(real);
    const ptrdiff_t dy_bytes = lines * p->out_channels * (ptrdiff_t)sizeof(real), at = job * lines * LINE_BYTES;
    const char *x_next =
        (const char *)x
        + (((r->first_image + r->images - 1) * p->in_rows + r->first_in_row + r->in_rows) * p->in_cols)
              * p->in_channels * (ptrdiff_t)sizeof(real);
    const char *dy_next =
        (const char *)dy
        + (((r->first_image + r->images - 1) * p->out_rows + r->first_row + r->rows) * p->out_cols)
              * p->out_channels * (ptrdiff_t)sizeof(real);
    if (at < x_bytes) return x_next + at;
    return at - x_bytes < dy_bytes ? dy_next + (at - x_bytes) : NULL;
}

/* Computes piece `job` of dw over the block's pixels whose input is inside the image. */
KERNEL void pixel_job(const pixel_call *c, const pixel_range *r, ptrdiff_t block, ptrdiff_t job) {
    const conv_problem *p = c->p;
    const pixel_layout *l = c->l;
    const pixel_piece piece = {.group = job / l->taps / l->panels / l->tiles,
                               .tile = job / l->taps / l->panels % l->tiles,
                               .panel = job / l->taps % l->panels,
                               .tap = job % l->taps};
    /* merged: tap 0 */
    const ptrdiff_t tap_row = piece.tap / p->filter_cols, tap_col = piece.tap % p->filter_cols;
    const ptrdiff_t channels = p->in_channels / p->groups, first = piece.tile * l->tile_rows,
                    rows = smaller(l->tile_rows, l->rows - first);
    const ptrdiff_t columns = smaller(2 * LANES, l->columns - piece.panel * 2 * LANES);
    ptrdiff_t first_row = 0, past_row = r->rows, first_col = 0, past_col = r->cols;
    /* mark: dilation of pixel_gemm */
    const ptrdiff_t row_start = r->first_row * p->stride_rows - p->pad_top + tap_row * p->dilation_rows;
    const ptrdiff_t col_start = r->first_col * p->stride_cols - p->pad_left + tap_col * p->dilation_cols;
    if (!l->merged) {
        /* mark: padding of pixel_gemm if taps */
        indices_inside(r->rows, p->stride_rows, row_start, p->in_rows, &first_row, &past_row);
        indices_inside(r->cols, p->stride_cols, col_start, p->in_cols, &first_col, &past_col);
    }
    const void *next = what_comes_next(p, r, c->x, c->dy, job);
    pixel_walk walk = {.images = r->images,
                       .lines = past_row - first_row,
                       .pixels = past_col - first_col,
                       .ahead = next ? next : c->x,
                       .ahead_step = next ? LINE_BYTES : 0,
                       .ending = {.columns = columns, .resume = block > 0}};
    for (ptrdiff_t i = 0; i < rows; i++) walk.dw_starts[i] = i * p->out_channels;
    pixel_view from_x = {c->x, 0, 0, 0}, from_dy = {c->dy, 0, 0, 0};
    if (walk.lines == 0 || walk.pixels == 0) {
        walk.images = 0; /* dw is still written, as zeros, if this is the first block */
    } else {
        from_x = view_x(p, l, r, c->x, c->x_copy, &piece, row_start + first_row * p->stride_rows,
                        col_start + first_col * p->stride_cols, first_row, first_col);
        from_dy = view_dy(p, l, r, c->dy, c->dy_copy, &piece, first_row, first_col);
    }
    walk.x_pixel = from_x.pixel, walk.x_line = from_x.line, walk.x_image = from_x.image;
    walk.dy_pixel = from_dy.pixel, walk.dy_line = from_dy.line, walk.dy_image = from_dy.image;
    const ptrdiff_t run = p->filter_cols * channels; /* merged: these rows lie side by side */
    for (ptrdiff_t i = first; l->merged && i < first + rows; i++)
        /* mark: dilation of pixel_gemm if merged */
        walk.x_rows[i - first] = i / run * p->dilation_rows * l->x_cols * p->in_channels + i % run;
    real *dw = c->dw + ((tap_row * p->filter_cols + tap_col) * channels + first) * p->out_channels
               + piece.group * l->columns + piece.panel * 2 * LANES;
    pixel_tile_table[rows][l->merged][columns > LANES](&walk, from_x.at, from_dy.at, dw);
}

/* Computes block after block: its copies, then its part of every piece of dw. The threads share each of the
   three loops. */
KERNEL int multiply_blocks(const void *call, const crew_member *me) {
    const pixel_call *c = (const pixel_call *)call;
    const conv_problem *p = c->p;
    const pixel_layout *l = c->l;
    for (ptrdiff_t block = 0; block < l->image_blocks * l->row_blocks * l->col_blocks; block++) {
        const pixel_range r = pixel_block_range(p, l, block);
        const ptrdiff_t x_rows = l->copy_x ? r.images * r.copied_rows : 0,
                        dy_rows = l->copy_dy ? r.images * r.rows : 0;
        EACH_JOB(me, i, x_rows,
                 copy_x_row(p, l, &r, c->x, i / r.copied_rows, i % r.copied_rows, c->x_copy));
        EACH_JOB(me, i, dy_rows, copy_dy_row(p, l, &r, c->dy, i / r.rows, i % r.rows, c->dy_copy));
        meet(me); /* before the copies are read */
        EACH_JOB_TAKEN(me, c->at_once, job, c->jobs, pixel_job(c, &r, block, job));
        meet(me); /* before they are written to again */
    }
    return CONV_OK;
}

INLINE int multiply_pixels(const conv_problem *p, const pixel_layout *l, const real *x, const real *dy,
                           real *dw, int threads) {
    took(l->merged ? TOOK_MERGED : TOOK_TAPS);
    threads = useful_threads(problem_macs(p), threads);
    real *copies =
        (real *)new_scratch(checked_times(checked_plus(l->x_numbers, l->dy_numbers + 64), sizeof(real)));
    if (!copies) return CONV_NO_MEMORY;
    const ptrdiff_t jobs = p->groups * l->panels * l->tiles * l->taps;
    const pixel_call call = {
        .p = p,
        .l = l,
        .x = x,
        .dy = dy,
        .x_copy = copies + whole_lines(l->dy_numbers),
        .dy_copy = copies,
        .dw = dw,
        .jobs = jobs,
        /* neighbouring jobs share operands, so a thread takes up to 16 at once; but every thread gets some */
        .at_once = (int)larger(1, smaller(16, jobs / (4 * larger(1, threads))))};
    const int status = in_crew(threads, multiply_blocks, &call);
    free_scratch(copies);
    return status;
}

KERNEL int pixel_gemm_run(const conv_problem *p, const real *x, const real *dy, real *dw, int threads) {
    const ptrdiff_t dw_numbers =
        p->filter_rows * p->filter_cols * (p->in_channels / p->groups) * p->out_channels;
    if (dw_numbers == 0) return CONV_OK;
    if (p->batch == 0 || p->out_rows == 0 || p->out_cols == 0 || p->in_rows == 0 || p->in_cols == 0) {
        memset(dw, 0, sizeof(real) * (size_t)dw_numbers); /* a sum over nothing */
        return CONV_OK;
    }
    pixel_layout l;
    pixel_lay_out(p, 1, &l);
    const int status = multiply_pixels(p, &l, x, dy, dw, threads); /* mark: kernel of pixel_gemm */
    /* an infinity or NaN of dy times a zero of the merged padding gives a NaN in dw, which is quicker to
       check than dy */
    if (status || !l.merged || all_finite(dw, dw_numbers)
        || all_finite(dy, p->batch * p->out_rows * p->out_cols * p->out_channels))
        return status;
    pixel_lay_out(p, 0, &l);
    return multiply_pixels(p, &l, x, dy, dw, threads);
}
