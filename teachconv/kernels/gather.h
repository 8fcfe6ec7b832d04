/* A gather is the problem that row_gemm solves. It is general enough that the phases of an input gradient are
   gathers too.

     y[volume, out, :] = sum over taps and channels of  x[volume, index law(out, tap), :] * filter[tap]

   y may be written with steps: a phase writes every stride-th column. Tap t of the gather may be tap
   first + t * step of the user's filter, and the filter's two channel axes may be swapped. The forward op
   has the steps of a dense y, takes the taps in order and swaps nothing. */
#ifndef TEACHCONV_GATHER_H
#define TEACHCONV_GATHER_H
#include "problem.h"

typedef struct {
    conv_problem shape;
    ptrdiff_t y_image_step, y_plane_step, y_row_step, y_col_step; /* in numbers, not bytes */
    ptrdiff_t first_tap_plane, tap_plane_step, first_tap_row, tap_row_step, first_tap_col, tap_col_step;
    ptrdiff_t stored_rows, stored_cols; /* of the user's filter, in each of its planes */
    int swapped;                        /* the user's filter is [.., out/groups, in] of this gather */
} gather;

static inline gather forward_gather(const conv_problem *p) {
    gather g = {*p, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, p->filter_rows, p->filter_cols, 0};
    g.y_col_step = p->out_channels;
    g.y_row_step = p->out_cols * g.y_col_step;
    g.y_plane_step = p->out_rows * g.y_row_step;
    g.y_image_step = p->out_planes * g.y_plane_step;
    return g;
}

/* Returns which tap of the user's filter a tap of the gather is. */
static inline ptrdiff_t stored_tap(const gather *g, ptrdiff_t tap) {
    const conv_problem *s = &g->shape;
    ptrdiff_t row = tap / s->filter_cols, plane = 0;
    if (s->filter_planes > 1) plane = row / s->filter_rows, row -= plane * s->filter_rows;
    return ((g->first_tap_plane + plane * g->tap_plane_step) * g->stored_rows + g->first_tap_row
            + row * g->tap_row_step)
               * g->stored_cols
           + g->first_tap_col + tap % s->filter_cols * g->tap_col_step;
}

/* Returns where an output pixel of the batch begins in y. */
static inline ptrdiff_t y_start(const gather *g, ptrdiff_t pixel) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t row = pixel / s->out_cols, plane = row / s->out_rows;
    return plane / s->out_planes * g->y_image_step + plane % s->out_planes * g->y_plane_step
           + row % s->out_rows * g->y_row_step + pixel % s->out_cols * g->y_col_step;
}

/* Where row_gemm takes its left matrix from, each a path: x itself, rows copied with padding, copied patches. */
enum { WHOLE_INPUT = TOOK_WHOLE_INPUT, PADDED_ROWS = TOOK_PADDED_ROWS, PATCHES = TOOK_PATCHES };

typedef struct {
    int source;
    ptrdiff_t depth;            /* multiply-adds per output cell: taps * in_channels / groups */
    ptrdiff_t runs, run_length; /* depth = runs * run_length; a run is contiguous in the left matrix */
    ptrdiff_t runs_per_tap_row; /* PADDED_ROWS: to skip a tap row in the padding */
    ptrdiff_t pixel_step;       /* from one output pixel's k = 0 to the next one's, within a line */
    /* output pixels computed from one filled buffer; PATCHES and WHOLE_INPUT: block_cols only */
    ptrdiff_t block_rows, block_cols;
    ptrdiff_t row_blocks, col_blocks, blocks;
    ptrdiff_t line_pixels; /* PATCHES and WHOLE_INPUT: of a line, which blocks are parts of */
    ptrdiff_t padded_cols, plane_size, buffer_size; /* in numbers; plane_size: PADDED_ROWS, of a tap in depth */
    ptrdiff_t group_columns, panels_per_group, panel_columns;
} gather_layout;

/* The inputs take half of a typical 1-2 MB second-level cache; filter and result stream through the other
   half. */
#define INPUT_BLOCK_BYTES (600 * 1024)
/* A filter too large for the near caches is read again for every block of pixels, so blocks are then
   larger. */
#define BIG_FILTER_BYTES (4 * 1024 * 1024)

/* Returns how many numbers the padded rows of one tile take. */
static inline ptrdiff_t smallest_row_buffer(const conv_problem *s, ptrdiff_t tile_pixels) {
    const ptrdiff_t tall = (s->filter_rows - 1) * s->dilation_rows + 1,
                    wide = (s->filter_cols - 1) * s->dilation_cols + 1;
    return checked_times(
        checked_times(s->filter_planes, tall),
        checked_times((smaller(s->out_cols, tile_pixels) - 1) * s->stride_cols + wide, s->in_channels));
}

/* Returns whether lines at this distance fall on one set of the first-level cache, which has 64 sets of 64
   bytes. */
static inline int shares_a_set(ptrdiff_t pitch_bytes) { return pitch_bytes > 0 && pitch_bytes % 4096 == 0; }

/* Returns the most rows of a tile whose left matrix has this pitch. A set has 8 ways or more: seven rows and a
   line of the filter fit. */
static inline ptrdiff_t tile_height(ptrdiff_t pitch_bytes, ptrdiff_t tile_pixels) {
    return shares_a_set(pitch_bytes) ? smaller(tile_pixels, 7) : tile_pixels;
}

/* The fewest out_channels of a group that pay for a copy of x at a pitch that shares no set. */
#define COPY_COLUMNS 128

static inline int source_of(const conv_problem *s, ptrdiff_t real_bytes, ptrdiff_t tile_pixels) {
    const int one_tap = s->filter_rows == 1 && s->filter_cols == 1;
    const int same_grid = s->stride_rows == 1 && s->stride_cols == 1 && s->pad_top == 0 && s->pad_left == 0
                          && s->out_rows == s->in_rows && s->out_cols == s->in_cols;
    const ptrdiff_t row_buffer = smallest_row_buffer(s, tile_pixels);
    if (one_tap && same_grid)
        return shares_a_set(s->in_channels * real_bytes) && s->out_channels / s->groups >= COPY_COLUMNS
                   ? PATCHES
                   : WHOLE_INPUT;
    /* a row shorter than half a tile leaves registers idle; at strides that skip most of the input, copying
       whole rows is wasteful */
    if (s->out_cols < 7 || s->stride_cols > s->filter_cols * 2 || one_tap) return PATCHES;
    /* so it is at dilations that spread a few taps over more rows than the scratch bound allows */
    return row_buffer >= 0 && row_buffer * real_bytes <= SCRATCH_BYTES / 4 ? PADDED_ROWS : PATCHES;
}

/* The layout for PADDED_ROWS, in which the inputs of a filter row lie side by side. A block consists of rows;
   it is cut into columns only if one row does not fit the budget. */
static inline void lay_out_rows(const conv_problem *s, gather_layout *l, ptrdiff_t budget,
                                ptrdiff_t tile_pixels, int threads) {
    const int merged = s->groups == 1 && s->dilation_cols == 1; /* then a filter row is one contiguous run */
    const ptrdiff_t channels = s->in_channels / s->groups;
    const ptrdiff_t tall = (s->filter_rows - 1) * s->dilation_rows + 1,
                    wide = (s->filter_cols - 1) * s->dilation_cols + 1;
    budget /= s->filter_planes; /* for the rows of each tap in depth */
    l->runs = merged ? s->filter_planes * s->filter_rows : count_taps(s);
    l->run_length = merged ? s->filter_cols * channels : channels;
    l->runs_per_tap_row = merged ? 1 : s->filter_cols;
    l->pixel_step = s->stride_cols * s->in_channels;
    const ptrdiff_t cols_that_fit = (budget / larger(1, tall * s->in_channels) - wide) / s->stride_cols + 1;
    l->block_cols = smaller(s->out_cols, larger(tile_pixels, cols_that_fit / tile_pixels * tile_pixels));
    l->padded_cols = (l->block_cols - 1) * s->stride_cols + wide;
    const ptrdiff_t rows_that_fit =
        (budget / larger(1, l->padded_cols * s->in_channels) - tall) / s->stride_rows + 1;
    l->block_rows = smaller(s->out_rows, larger(1, rows_that_fit));
    if (s->batch * s->out_planes < threads && s->out_rows > 1)
        l->block_rows = smaller(l->block_rows, divide_up(s->out_rows, threads));
    l->block_rows = divide_up(s->out_rows, divide_up(s->out_rows, larger(1, l->block_rows)));
    l->row_blocks = divide_up(s->out_rows, l->block_rows);
    l->col_blocks = divide_up(s->out_cols, l->block_cols);
    l->blocks = s->batch * s->out_planes * l->row_blocks * l->col_blocks;
    l->plane_size = ((l->block_rows - 1) * s->stride_rows + tall) * l->padded_cols * s->in_channels;
    l->buffer_size = s->filter_planes * l->plane_size;
}

/* The layout for PATCHES and WHOLE_INPUT: all pixels in one long line, of copied patches or, for 1x1, of x
   itself; a line for each plane if its taps in depth, which are runs, read planes elsewhere. Copies that would
   share a set lie one cache line further apart. */
static inline void lay_out_pixels(const conv_problem *s, gather_layout *l, ptrdiff_t budget,
                                  ptrdiff_t real_bytes, ptrdiff_t tile_pixels, int threads) {
    const ptrdiff_t pixels = count_pixels(s), taps = count_taps(s);
    const int by_planes = l->source == WHOLE_INPUT
                          && (s->filter_planes > 1 || s->stride_planes > 1 || s->pad_front != 0
                              || s->in_planes != s->out_planes);
    l->runs = l->source == WHOLE_INPUT ? s->filter_planes : s->groups == 1 ? 1 : taps;
    l->run_length = l->depth / l->runs;
    l->runs_per_tap_row = l->runs;
    l->line_pixels = by_planes ? s->out_rows * s->out_cols : pixels;
    l->pixel_step = l->source == WHOLE_INPUT ? s->in_channels : taps * s->in_channels;
    if (l->source == PATCHES && shares_a_set(l->pixel_step * real_bytes)) l->pixel_step += LINE_BYTES / real_bytes;
    const ptrdiff_t fit = smaller(4096, budget / larger(1, l->pixel_step));
    l->block_rows = 1;
    l->block_cols = l->source == WHOLE_INPUT || fit >= tile_pixels
                        ? larger(1, fit / tile_pixels) * tile_pixels
                        : larger(1, fit);
    if (threads > 1)
        l->block_cols =
            smaller(l->block_cols, divide_up(divide_up(pixels, threads), tile_pixels) * tile_pixels);
    l->col_blocks = divide_up(l->line_pixels, l->block_cols);
    l->blocks = pixels / l->line_pixels * l->col_blocks;
    l->row_blocks = 1;
    l->buffer_size = l->source == WHOLE_INPUT ? 0 : smaller(l->block_cols, pixels) * l->pixel_step;
}

static inline gather_layout lay_out_gather(const gather *g, ptrdiff_t real_bytes, ptrdiff_t tile_pixels,
                                           ptrdiff_t lanes, int threads) {
    /* every output size is at least 1 here: the callers return early for an empty y */
    const conv_problem *s = &g->shape;
    gather_layout l = {0};
    l.source = source_of(s, real_bytes, tile_pixels);
    l.depth = count_taps(s) * (s->in_channels / s->groups);
    l.group_columns = s->out_channels / s->groups;
    l.panel_columns = 2 * lanes;
    l.panels_per_group = divide_up(l.group_columns, l.panel_columns);
    const double filter_bytes = (double)l.depth * s->out_channels * real_bytes;
    const ptrdiff_t budget = INPUT_BLOCK_BYTES / real_bytes;
    if (l.source == PADDED_ROWS) lay_out_rows(s, &l, budget, tile_pixels, threads);
    else
        lay_out_pixels(s, &l, filter_bytes > BIG_FILTER_BYTES ? 2 * budget : budget, real_bytes, tile_pixels,
                       threads);
    return l;
}

/* Returns the columns of one group in the packed filter: full panels of 2 vectors, and a last one of 1 or
   2. */
static inline ptrdiff_t packed_columns(const gather_layout *l, ptrdiff_t lanes) {
    return divide_up(l->group_columns, lanes) * lanes;
}

static inline ptrdiff_t packed_filter_numbers(const gather *g, const gather_layout *l, ptrdiff_t lanes) {
    return checked_times(checked_times(g->shape.groups, l->depth), packed_columns(l, lanes));
}

#endif
