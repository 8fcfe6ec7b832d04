/* The layout of pixel_gemm: which operands are copied, and how the pixels are divided into blocks.

     x in place    a tile's rows are adjacent in_channels
     x copied      into tiles [group][tile][image][row][col][X_TILE], so that a step is one cache line
     x merged      copied with padding; a tile's rows are taken from all taps (pixel_gemm.h)
     dy            in place, or copied into panels [group][panel][image][row][col][2 vectors] */
/* x and dy of a block stay in the second-level cache, beside those of the next, which are prefetched. The
   smaller tiles of AVX2 read and write dw more often, and are faster with larger blocks. */
#define SMALL_PIXEL_BLOCK ((LANES * sizeof(real) == LINE_BYTES ? 300 : 600) * (ptrdiff_t)1024)
/* for a large dw, which each block reads and writes; x and dy then do not stay there */
#define LARGE_PIXEL_BLOCK (3500 * 1024)

typedef struct {
    int merged;  /* the tiles consist of the rows of all taps, filter_rows * filter_cols * in_channels */
    int one_tap; /* 1x1: only the pixels of x that outputs read are copied */
    int copy_x, copy_dy;
    ptrdiff_t rows;             /* of dw per tap (merged: of all taps) and group */
    ptrdiff_t tiles, tile_rows; /* rows = tiles of at most tile_rows */
    ptrdiff_t taps;             /* how many (tap_row, tap_col); merged: 1 */
    ptrdiff_t columns, panels;  /* of dw per group */
    ptrdiff_t block_images, block_rows, row_blocks, image_blocks;
    ptrdiff_t block_cols, col_blocks; /* out_cols and 1, unless one row's copy would be too large */
    ptrdiff_t x_rows, x_cols;         /* of the copied x, per image */
    ptrdiff_t x_numbers, dy_numbers;
} pixel_layout;

#define X_TILE ((TILE_PIXELS + LANES - 1) / LANES * LANES) /* numbers of one pixel in a copied tile */

/* Returns the part of the layout that depends on the tile alone. */
INLINE pixel_layout pixel_shape(const conv_problem *p, int may_merge) {
    pixel_layout l = {0};
    const ptrdiff_t channels = p->in_channels / p->groups;
    l.merged = may_merge && p->groups == 1 && p->dilation_cols == 1 && p->filter_rows * p->filter_cols > 1
               && channels * 2 <= TILE_PIXELS;
    l.taps = p->filter_rows * p->filter_cols;
    l.one_tap = l.taps == 1;
    l.rows = channels;
    if (l.merged) l.rows *= l.taps, l.taps = 1;
    l.tiles = divide_up(l.rows, TILE_PIXELS);
    l.tile_rows = divide_up(l.rows, larger(1, l.tiles)); /* 64: 5 tiles of 13, not 4 of 14 and one of 8 */
    l.columns = p->out_channels / p->groups;
    l.panels = divide_up(l.columns, 2 * LANES);
    /* a copy pays if the steps from pixel to pixel are too long for the hardware prefetchers, and several
       taps use it, or it is used often: x by every panel, dy by every tile */
    const ptrdiff_t long_step = 512 / (ptrdiff_t)sizeof(real), often = 6;
    const ptrdiff_t x_step = p->in_channels * p->stride_cols, dy_step = p->out_channels;
    l.copy_x = l.merged || (l.taps > 1 ? x_step >= long_step : x_step > long_step && l.panels > often);
    l.copy_dy = p->out_channels > 2 * LANES
                && (l.merged     ? l.tiles > often
                    : l.taps > 1 ? dy_step >= long_step
                                 : dy_step > long_step && l.tiles > often);
    if (l.columns % (2 * LANES) != 0) l.copy_dy = 1; /* the copy fills the last panel up with zeros */
    l.x_cols = l.merged    ? (p->out_cols - 1) * p->stride_cols + p->filter_cols
               : l.one_tap ? p->out_cols
                           : p->in_cols;
    return l;
}

/* Sets how many rows and images make a block whose x and dy take about `bytes`. Returns the bytes of the
   copies. Sizes are doubles, because huge steps would overflow an integer; up to 2^53 they are exact. */
INLINE double pixel_blocks(const conv_problem *p, pixel_layout *l, ptrdiff_t bytes) {
    const ptrdiff_t down = l->one_tap ? 1 : p->stride_rows;
    const ptrdiff_t reach_rows = (p->filter_rows - 1) * p->dilation_rows + 1;
    const ptrdiff_t x_pixel = l->merged ? p->in_channels : p->groups * l->tiles * X_TILE;
    const double budget = (double)(bytes / (ptrdiff_t)sizeof(real));
    const double x_row = (double)larger(1, l->x_cols) * (double)larger(1, x_pixel);
    const double dy_row = (double)larger(1, p->out_cols * p->groups * l->panels * 2 * LANES);
    const double reach = (double)reach_rows * x_row;
    const double fit = (budget > reach ? budget - reach : 0) / (x_row * (double)down + dy_row) + 1;
    l->block_rows = fit < (double)p->out_rows ? (ptrdiff_t)fit : p->out_rows;
    l->row_blocks = divide_up(p->out_rows, l->block_rows);
    l->block_rows = divide_up(p->out_rows, l->row_blocks);
    l->row_blocks = divide_up(p->out_rows, l->block_rows);
    l->x_rows = (l->block_rows - 1) * down + reach_rows;
    if (!l->merged && !l->one_tap && l->row_blocks == 1)
        l->x_rows = smaller(l->x_rows, p->in_rows + 2 * reach_rows);
    const double image = (double)l->x_rows * x_row + (double)p->out_rows * dy_row;
    l->block_images = l->row_blocks > 1 ? 1 : larger(1, smaller(p->batch, (ptrdiff_t)(budget / image)));
    l->image_blocks = divide_up(p->batch, l->block_images);
    l->block_cols = p->out_cols, l->col_blocks = 1;
    const double x_numbers = l->copy_x ? (double)l->block_images * (double)l->x_rows * x_row : 0,
                 dy_numbers = l->copy_dy ? (double)(l->block_images * l->block_rows) * dy_row : 0,
                 all_bytes = (x_numbers + dy_numbers) * sizeof(real);
    const int fits = all_bytes <= (double)SCRATCH_BYTES; /* otherwise the caller goes on to another layout */
    l->x_numbers = fits ? (ptrdiff_t)x_numbers : 0, l->dy_numbers = fits ? (ptrdiff_t)dy_numbers : 0;
    return all_bytes;
}

/* Finds a layout within the scratch bound. It tries smaller blocks, then x in place, then dy in place too
   unless it is ragged, then parts of its rows. */
KERNEL void pixel_lay_out(const conv_problem *p, int may_merge, pixel_layout *l) {
    const ptrdiff_t dw_bytes = p->filter_rows * p->filter_cols * (p->in_channels / p->groups)
                               * p->out_channels * (ptrdiff_t)sizeof(real);
    *l = pixel_shape(p, may_merge);
    if (pixel_blocks(p, l, larger(SMALL_PIXEL_BLOCK, smaller(LARGE_PIXEL_BLOCK, 2 * dw_bytes)))
        <= SCRATCH_BYTES)
        return;
    if (pixel_blocks(p, l, SMALL_PIXEL_BLOCK) <= SCRATCH_BYTES) return;
    *l = pixel_shape(p, 0);
    l->copy_x = 0;
    if (pixel_blocks(p, l, SMALL_PIXEL_BLOCK) <= SCRATCH_BYTES) return;
    l->copy_dy = l->columns % (2 * LANES) != 0;
    if (pixel_blocks(p, l, SMALL_PIXEL_BLOCK) <= SCRATCH_BYTES) return;
    const ptrdiff_t dy_pixel = p->groups * l->panels * 2 * LANES; /* the block is one row of one image */
    l->block_cols = larger(1, SMALL_PIXEL_BLOCK / (ptrdiff_t)sizeof(real) / dy_pixel);
    l->col_blocks = divide_up(p->out_cols, l->block_cols);
    l->dy_numbers = l->block_cols * dy_pixel;
}

/* One block of pixels: images first_image.., out rows first_row.., out columns first_col.., and the rows of x
   that are copied for it. */
typedef struct {
    ptrdiff_t first_image, images, first_row, rows, first_col, cols;
    /* the input rows that any tap of the block reads, inside the image (merged: with padding) */
    ptrdiff_t first_in_row, in_rows;
    ptrdiff_t copied_rows; /* in_rows; with one tap, only the row that each out row reads */
} pixel_range;

INLINE pixel_range pixel_block_range(const conv_problem *p, const pixel_layout *l, ptrdiff_t index) {
    pixel_range r;
    r.first_col = index % l->col_blocks * l->block_cols;
    r.cols = smaller(l->block_cols, p->out_cols - r.first_col);
    index /= l->col_blocks;
    const ptrdiff_t first_image = index / l->row_blocks * l->block_images;
    r.first_image = first_image;
    r.images = smaller(l->block_images, p->batch - first_image);
    r.first_row = index % l->row_blocks * l->block_rows;
    r.rows = smaller(l->block_rows, p->out_rows - r.first_row);
    const ptrdiff_t start = r.first_row * p->stride_rows - p->pad_top;
    const ptrdiff_t past =
        start + (r.rows - 1) * p->stride_rows + (p->filter_rows - 1) * p->dilation_rows + 1;
    r.first_in_row = l->merged ? start : smaller(p->in_rows, larger(0, start));
    r.in_rows = (l->merged ? past : larger(r.first_in_row, smaller(p->in_rows, past))) - r.first_in_row;
    r.copied_rows = l->one_tap ? r.rows : r.in_rows;
    return r;
}
