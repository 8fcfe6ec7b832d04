/* The layout of pixel_gemm: which operands are copied, and how the pixels are divided into blocks.

     x in place    a tile's rows are adjacent in_channels
     x copied      into tiles [group][tile][image][plane][row][col][X_TILE], so that a step is one cache line
     x merged      copied with padding; a tile's rows are taken from all taps (pixel_gemm.h)
     dy            in place, or copied into panels [group][panel][image][plane][row][col][2 vectors]

   A block has several images only if it has all their planes, several planes only if it has all their rows, and
   so on: blocks in their order go through the pixels in their order. */

/* x and dy of a block stay in the second-level cache, beside those of the next, which are prefetched. The
   smaller tiles of AVX2 read and write dw more often, and are faster with larger blocks. */
#define SMALL_PIXEL_BLOCK ((LANES * sizeof(real) == LINE_BYTES ? 300 : 600) * (ptrdiff_t)1024)
/* for a large dw, which each block reads and writes; x and dy then do not stay there */
#define LARGE_PIXEL_BLOCK (3500 * (ptrdiff_t)1024)

typedef struct {
    ptrdiff_t in, out, taps, stride, dilation, pad; /* of the problem */
    /* inputs from a cell of x to the next, and cells from an output to the next: a copy that one tap reads leaves
       out the inputs between, otherwise every is 1 and down is the stride */
    ptrdiff_t every, down;
    ptrdiff_t block, blocks; /* outputs of a block, and how many blocks there are */
} pixel_axis;

typedef struct {
    pixel_axis axis[AXES];
    int merged; /* the tiles consist of the rows of all taps, taps * in_channels */
    int copy_x, copy_dy;
    ptrdiff_t rows;             /* of dw per tap (merged: of all taps) and group */
    ptrdiff_t tiles, tile_rows; /* rows = tiles of at most tile_rows */
    ptrdiff_t taps;             /* merged: 1 */
    ptrdiff_t columns, panels;  /* of dw per group */
    ptrdiff_t blocks;
    ptrdiff_t x_step[AXES], x_tile, x_group, dy_step[AXES], dy_panel, dy_group; /* to the next, in numbers */
    ptrdiff_t x_numbers, dy_numbers;                                            /* of the copies */
} pixel_layout;

#define X_TILE ((TILE_PIXELS + LANES - 1) / LANES * LANES) /* numbers of one pixel in a copied tile */

/* Returns how many cells of an axis of x a block of so many outputs has, as a double: huge steps would overflow
   products of integers. In place, cells between the taps count for nothing. */
INLINE double block_cells(const pixel_layout *l, const pixel_axis *a, ptrdiff_t outs) {
    const ptrdiff_t cells = (outs - 1) * a->down + (a->taps - 1) * a->dilation + 1;
    if (l->merged || a->every > 1) return (double)cells;
    if (!l->copy_x && (double)a->taps * (double)outs < (double)cells) return (double)a->taps * (double)outs;
    return (double)smaller(cells, a->in);
}

/* Sets the part of the layout that depends on the tile alone. */
INLINE void pixel_shape(const conv_problem *p, int in_place, int may_merge, pixel_layout *l) {
    const ptrdiff_t channels = p->in_channels / p->groups;
    *l = (pixel_layout){
        .axis = {{p->batch, p->batch, 1, 1, 1, 0},
                 {p->in_planes, p->out_planes, p->filter_planes, p->stride_planes, p->dilation_planes, p->pad_front},
                 {p->in_rows, p->out_rows, p->filter_rows, p->stride_rows, p->dilation_rows, p->pad_top},
                 {p->in_cols, p->out_cols, p->filter_cols, p->stride_cols, p->dilation_cols, p->pad_left}},
        .rows = channels, .taps = count_taps(p), .columns = p->out_channels / p->groups};
    l->merged = may_merge && !in_place && p->groups == 1 && p->dilation_cols == 1 && l->taps > 1
                && channels * 2 <= TILE_PIXELS;
    if (l->merged) l->rows *= l->taps, l->taps = 1;
    l->tiles = divide_up(l->rows, TILE_PIXELS);
    l->tile_rows = divide_up(l->rows, l->tiles); /* 64: 5 tiles of 13, not 4 of 14 and one of 8 */
    l->panels = divide_up(l->columns, 2 * LANES);
    /* a copy pays if the steps from pixel to pixel are too long for the hardware prefetchers, and several
       taps use it, or it is used often: x by every panel, dy by every tile */
    const ptrdiff_t long_step = 512 / (ptrdiff_t)sizeof(real), often = 6, x_step = p->in_channels * p->stride_cols,
                    dy_step = p->out_channels;
    l->copy_x = l->merged
                || (!in_place && (l->taps > 1 ? x_step >= long_step : x_step > long_step && l->panels > often));
    l->copy_dy = dy_step > 2 * LANES && !in_place
                 && (l->merged     ? l->tiles > often
                     : l->taps > 1 ? dy_step >= long_step
                                   : dy_step > long_step && l->tiles > often);
    if (l->columns % (2 * LANES) != 0) l->copy_dy = 1; /* the copy fills the last panel up with zeros */
    for (pixel_axis *a = l->axis; a < l->axis + AXES; a++)
        a->every = l->copy_x && !l->merged && a->taps == 1 ? a->stride : 1, a->down = a->stride / a->every;
}

/* Sets the steps from cell to cell of an operand, the last axis innermost. Returns its numbers. */
INLINE ptrdiff_t lay_out_steps(ptrdiff_t pixel, const ptrdiff_t *cells, ptrdiff_t *step) {
    for (int i = AXES - 1; i >= 0; i--) step[i] = pixel, pixel *= cells[i];
    return pixel;
}

/* Finds the largest blocks whose x and dy take about `bytes`. Returns whether the copies of one output do. */
INLINE int pixel_blocks(pixel_layout *l, double x_pixel, double dy_pixel, ptrdiff_t bytes) {
    const double budget = (double)(bytes / (ptrdiff_t)sizeof(real));
    double x = x_pixel, dy = dy_pixel;
    for (const pixel_axis *a = l->axis; a < l->axis + AXES; a++) x *= block_cells(l, a, 1);
    if (l->copy_x && x + dy > budget) return 0;
    l->blocks = 1;
    for (int i = AXES - 1; i >= 0; i--) {
        pixel_axis *a = &l->axis[i];
        const double x_rest = x / block_cells(l, a, 1), dy_rest = dy;
        for (ptrdiff_t parts = l->blocks == 1 ? 1 : a->out;; parts += parts / 4 + 1) {
            a->block = divide_up(a->out, parts);
            x = x_rest * block_cells(l, a, a->block), dy = dy_rest * (double)a->block;
            if (a->block == 1 || x + dy <= budget) break;
        }
        a->blocks = divide_up(a->out, a->block), l->blocks *= a->blocks;
    }
    return 1;
}

/* Lays out a problem; within the scratch bound, if need be by reading x in place. */
KERNEL void pixel_lay_out(const conv_problem *p, int may_merge, pixel_layout *l) {
    const ptrdiff_t channels = p->in_channels / p->groups,
                    dw_bytes = count_taps(p) * channels * p->out_channels * (ptrdiff_t)sizeof(real);
    ptrdiff_t x_cells[AXES], dy_cells[AXES], x_pixel, dy_pixel, copies;
    for (int in_place = 0; in_place < 2; in_place++) {
        pixel_shape(p, in_place, may_merge, l);
        copies = l->merged ? 1 : p->groups * l->tiles;
        x_pixel = l->copy_x && !l->merged ? X_TILE : p->in_channels;
        dy_pixel = l->copy_dy ? 2 * LANES : p->out_channels;
        if (pixel_blocks(l, (double)x_pixel * (l->copy_x ? copies : 1), (double)p->groups * l->panels * 2 * LANES,
                         larger(SMALL_PIXEL_BLOCK, smaller(LARGE_PIXEL_BLOCK, 2 * dw_bytes))))
            break;
    }
    for (int i = 0; i < AXES; i++) {
        const pixel_axis *a = &l->axis[i];
        x_cells[i] = l->copy_x ? (ptrdiff_t)block_cells(l, a, a->block) : a->in;
        dy_cells[i] = l->copy_dy ? a->block : a->out;
    }
    const ptrdiff_t x = lay_out_steps(x_pixel, x_cells, l->x_step), dy = lay_out_steps(dy_pixel, dy_cells, l->dy_step);
    l->x_tile = l->merged ? 0 : l->copy_x ? x : l->tile_rows, l->x_group = l->copy_x ? l->tiles * x : channels;
    l->dy_panel = l->copy_dy ? dy : 2 * LANES, l->dy_group = l->copy_dy ? l->panels * dy : l->columns;
    l->x_numbers = l->copy_x ? copies * x : 0, l->dy_numbers = l->copy_dy ? p->groups * l->panels * dy : 0;
}

/* The part of an axis that a block has: outputs, and cells of x as the tiles read it, of which cell j is input
   first_in + j * every. */
typedef struct {
    ptrdiff_t first, count, first_in, cells;
} pixel_part;

INLINE void pixel_block_parts(const pixel_layout *l, ptrdiff_t index, pixel_part *part) {
    for (int i = AXES - 1; i >= 0; i--) {
        const pixel_axis *a = &l->axis[i];
        const ptrdiff_t first = index % a->blocks * a->block, count = smaller(a->block, a->out - first),
                        start = first * a->stride - a->pad,
                        past = start + (count - 1) * a->stride + (a->taps - 1) * a->dilation + 1;
        part[i] = (pixel_part){first, count, start, (past - start - 1) / a->every + 1};
        if (!l->merged && a->every == 1) /* those inside */
            part[i].first_in = smaller(a->in, larger(0, start)),
            part[i].cells = larger(0, smaller(a->in, past) - part[i].first_in);
        index /= a->blocks;
    }
}
