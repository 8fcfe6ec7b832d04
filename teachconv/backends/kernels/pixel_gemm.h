/* pixel_gemm: the filter gradient as a product over pixels.

     dw[tap, in_channel, out_channel] = sum over pixels:  x[pixel at tap, in_channel] * dy[pixel, out_channel]

                          dy: 2 vectors of out_channels         NHWC holds both operands in this order: 14
                        +----------------------------+          in_channels and 32 out_channels side by side,
      x: in_channel 0   |  sum 0,0       sum 0,1     |          one step per pixel. The sums, a piece of dw,
         in_channel 1   |  sum 1,0       sum 1,1     |          stay in registers over all pixels of a block.
            ...         |     ...           ...      |
         in_channel 13  |  sum 13,0      sum 13,1    |
                        +----------------------------+

     for each block of pixels (some images, or planes of one, or rows of one; x and dy fit the second-level cache)
       copy x into tiles and dy into panels, so that a step is short    (where it pays: pixel_layout.h)
       for each tile, panel, tap:                                   <- threads share these, never the pixels
         for image, plane, row, col of the block's outputs whose input is inside:  sums += x * dy

   With few in_channels, tiles would have few rows, hence too few sums in flight, and each would read all of
   dy again. The tiles are then merged: the rows of all taps form one long matrix. Each row of a tile has its
   own pointer into a copy of x, which has zeros as padding, so that all taps have the same pixels:

      x: tap 0,0  in_channel 0   |  sum 0,0   sum 0,1  |   3x3 taps of 1 in_channel: one tile of 9 rows,
         tap 0,1  in_channel 0   |  sum 1,0   sum 1,1  |   dy is read once; 3x3 of 3: 2 tiles of 14 and 13
            ...                  |    ...       ...    |
         tap 2,2  in_channel 0   |  sum 8,0   sum 8,1  |

   The panels are inside the tiles, so that dw is written from front to back: a large dw goes to memory.

   Gain over the plain loops: 28 multiply-adds per 16 loads; over im2col: no matrix.

   Order of summation in every cell: image, plane, row and col of the output, however they are cut into blocks
   and shared by threads.
   Non-finite data: x and dy may hold anything. Taps in the padding are skipped, not multiplied by zero.
   Merged tiles do multiply them: if then neither dw nor dy is finite, dw is computed again tap by tap.
   Scratch: one block's copies, which all threads share; of a ragged dy (out_channels not a multiple of 2
   vectors) one pixel at least. */

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
   then in dy, the lines of the next block. NULL if the jobs before prefetch it. */
INLINE const void *what_comes_next(const pixel_call *c, const pixel_part *part, ptrdiff_t job) {
    const conv_problem *p = c->p;
    ptrdiff_t x_row = 0, dy_row = 0, x_rows = 1, dy_rows = 1; /* the last ones; how many */
    for (int i = 0; i < COLS; i++) {
        const pixel_axis *a = &c->l->axis[i];
        x_row = x_row * a->in + part[i].first_in + (part[i].cells - 1) * a->every;
        dy_row = dy_row * a->out + part[i].first + part[i].count - 1;
        x_rows *= part[i].cells, dy_rows *= part[i].count;
    }
    const ptrdiff_t x_bytes = p->in_cols * p->in_channels * (ptrdiff_t)sizeof(real),
                    dy_bytes = p->out_cols * p->out_channels * (ptrdiff_t)sizeof(real),
                    at = job * dy_rows * part[COLS].count * LINE_BYTES; /* one line per pixel */
    if (at < x_rows * x_bytes) return (const char *)c->x + (x_row + 1) * x_bytes + at;
    return at < x_rows * x_bytes + dy_rows * dy_bytes
               ? (const char *)c->dy + (dy_row + 1) * dy_bytes + (at - x_rows * x_bytes)
               : NULL;
}

/* What the jobs of one tap share in a block: which pixels they go through, and where these begin. */
typedef struct {
    pixel_walk walk;
    ptrdiff_t tap, x_at, dy_at;
} pixel_view;

/* Finds the pixels of a block whose input at a tap is inside the image; merged: all, at tap 0. */
KERNEL void view_pixels(const pixel_call *c, const pixel_part *part, ptrdiff_t tap, pixel_view *v) {
    const conv_problem *p = c->p;
    const pixel_layout *l = c->l;
    const ptrdiff_t tap_row = tap / p->filter_cols,
                    taps[AXES] = {0, tap_row / p->filter_rows, tap_row % p->filter_rows, tap % p->filter_cols};
    int some = 1;
    v->tap = tap, v->x_at = v->dy_at = 0;
    for (int i = 0; i < AXES; i++) {
        const pixel_axis *a = &l->axis[i];
        /* mark: dilation of pixel_gemm */
        const ptrdiff_t start = part[i].first * a->stride - a->pad + taps[i] * a->dilation;
        ptrdiff_t first = 0, past = part[i].count;
        if (!l->merged)
            /* mark: padding of pixel_gemm if taps */
            indices_inside(part[i].count, a->stride, start, a->in, &first, &past);
        v->walk.count[i] = past - first;
        /* mark: stride of pixel_gemm */
        v->walk.x_step[i] = a->down * l->x_step[i], v->walk.dy_step[i] = l->dy_step[i];
        v->x_at += (start - (l->copy_x ? part[i].first_in : 0)) * l->x_step[i] + first * v->walk.x_step[i];
        v->dy_at += (first + (l->copy_dy ? 0 : part[i].first)) * l->dy_step[i];
        some &= past > first;
    }
    if (!some) v->x_at = v->dy_at = v->walk.count[IMAGES] = 0; /* the first block still writes zeros to dw */
}

/* Computes piece `job` of dw, a tile of rows x a panel of columns for one tap, over the block's pixels. */
KERNEL void pixel_job(const pixel_call *c, const pixel_part *part, pixel_view *v, ptrdiff_t block, ptrdiff_t job) {
    const conv_problem *p = c->p;
    const pixel_layout *l = c->l;
    const ptrdiff_t tap = job % l->taps, piece = job / l->taps, panel = piece % l->panels,
                    tile = piece / l->panels % l->tiles, group = piece / l->panels / l->tiles;
    const ptrdiff_t channels = p->in_channels / p->groups, first = tile * l->tile_rows,
                    rows = smaller(l->tile_rows, l->rows - first),
                    columns = smaller(2 * LANES, l->columns - panel * 2 * LANES);
    if (v->tap != tap) view_pixels(c, part, tap, v);
    const void *next = block + 1 < l->blocks ? what_comes_next(c, part, job) : NULL;
    v->walk.ahead = next ? next : c->x, v->walk.ahead_step = next ? LINE_BYTES : 0;
    v->walk.ending = (tile_ending){.columns = columns, .resume = block > 0};
    for (ptrdiff_t i = 0; i < rows; i++) v->walk.dw_starts[i] = i * p->out_channels;
    const ptrdiff_t run = p->filter_cols * channels; /* merged: these rows lie side by side */
    for (ptrdiff_t i = 0; l->merged && i < rows; i++) {
        const ptrdiff_t tap_row = (first + i) / run;
        /* mark: dilation of pixel_gemm if merged */
        v->walk.x_rows[i] = tap_row / p->filter_rows * p->dilation_planes * l->x_step[PLANES]
                            + tap_row % p->filter_rows * p->dilation_rows * l->x_step[ROWS] + (first + i) % run;
    }
    pixel_tile_table[rows][l->merged][columns > LANES](
        &v->walk, (l->copy_x ? c->x_copy : c->x) + v->x_at + group * l->x_group + tile * l->x_tile,
        (l->copy_dy ? c->dy_copy : c->dy) + v->dy_at + group * l->dy_group + panel * l->dy_panel,
        c->dw + (tap * channels + first) * p->out_channels + group * l->columns + panel * 2 * LANES);
}

/* Computes block after block: its copies, then its part of every piece of dw. The threads share each of the
   three loops. */
KERNEL int multiply_blocks(const void *call, const crew_member *me) {
    const pixel_call *c = (const pixel_call *)call;
    const pixel_layout *l = c->l;
    pixel_part part[AXES];
    pixel_view view;
    for (ptrdiff_t block = 0; block < l->blocks; block++) {
        pixel_block_parts(l, block, part);
        view.tap = -1; /* none yet */
        const ptrdiff_t x_rows = l->copy_x ? part[IMAGES].cells * part[PLANES].cells * part[ROWS].cells : 0,
                        dy_rows = l->copy_dy ? part[IMAGES].count * part[PLANES].count * part[ROWS].count : 0;
        EACH_JOB(me, row, x_rows, copy_x_row(c->p, l, part, c->x, row, c->x_copy));
        EACH_JOB(me, row, dy_rows, copy_dy_row(c->p, l, part, c->dy, row, c->dy_copy));
        meet(me); /* before the copies are read */
        EACH_JOB_TAKEN(me, c->at_once, job, c->jobs, pixel_job(c, part, &view, block, job));
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

KERNEL int pixel_gemm_run(const conv_problem *p, const void *x, const void *dy, void *dw, int threads) {
    const ptrdiff_t dw_numbers = count_taps(p) * (p->in_channels / p->groups) * p->out_channels;
    if (dw_numbers == 0) return CONV_OK;
    if (count_pixels(p) == 0 || in_image_numbers(p) == 0) {
        memset(dw, 0, sizeof(real) * (size_t)dw_numbers); /* a sum over nothing */
        return CONV_OK;
    }
    pixel_layout l;
    pixel_lay_out(p, 1, &l);
    const int status = multiply_pixels(p, &l, x, dy, dw, threads); /* mark: kernel of pixel_gemm */
    /* an infinity or NaN of dy times a zero of the merged padding gives a NaN in dw, which is quicker to
       check than dy */
    if (status || !l.merged || all_finite(dw, dw_numbers)
        || all_finite(dy, count_pixels(p) * p->out_channels))
        return status;
    pixel_lay_out(p, 0, &l);
    return multiply_pixels(p, &l, x, dy, dw, threads);
}
