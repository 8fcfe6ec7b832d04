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
       copy x into tiles and dy into panels, so that a step is short    (if they are used often enough)
       for each panel, tile, tap:                                   <- threads share these, never the pixels
         for image, out_row, out_col of the block whose input is inside:  sums += x * dy

   With few in_channels, tiles would have few rows, hence too few sums in flight, and each would read all of
   dy again. The tiles are then merged: the rows of all taps form one long matrix. Each row of a tile has its
   own pointer into a copy of x, which has zeros as padding, so that all taps have the same pixels:

      x: tap 0,0  in_channel 0   |  sum 0,0   sum 0,1  |   3x3 taps of 1 in_channel: one tile of 9 rows,
         tap 0,1  in_channel 0   |  sum 1,0   sum 1,1  |   dy is read once; 3x3 of 3: 2 tiles of 14 and 13
            ...                  |    ...       ...    |
         tap 2,2  in_channel 0   |  sum 8,0   sum 8,1  |

   Gain over the plain loops: 28 multiply-adds per 16 loads; over im2col: no matrix.

   Order of summation in every cell: image, out_row, out_col. Blocks depend on the shape only, so the bits do
   not depend on the number of threads.
   Non-finite data: x and dy may hold anything. Taps in the padding are skipped, not multiplied by zero.
   Merged tiles do multiply them: if then neither dw nor dy is finite, dw is computed again tap by tap.
   Scratch: one block's copies, which all threads share; of a ragged dy (out_channels not a multiple of 2
   vectors) one pixel at least. If not even one row of it fits, blocks are parts of a row. */
#define SMALL_PIXEL_BLOCK (600 * 1024) /* x and dy of a block stay in the second-level cache */
/* for a large dw, which each block reads and writes; x and dy then do not stay there */
#define LARGE_PIXEL_BLOCK (3500 * 1024)

/* What one tile iterates over: images x lines x pixels. Steps are in numbers. */
typedef struct {
    ptrdiff_t images, lines, pixels;
    ptrdiff_t x_image, x_line, x_pixel, dy_image, dy_line, dy_pixel;
    const void *ahead; /* part of the next block; one cache line of it is prefetched per pixel */
    ptrdiff_t x_rows[TILE_PIXELS];    /* merged: where each row of the tile finds its x */
    ptrdiff_t dw_starts[TILE_PIXELS]; /* where each row's sums go */
    tile_ending ending;
} pixel_walk;

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

typedef void (*pixel_function)(const pixel_walk *walk, const real *x, const real *dy, real *dw);

INLINE void pixel_tile(const int rows, const int vectors, const int merged, const pixel_walk *walk,
                       const real *x, const real *dy, real *dw) {
    vec sum[TILE_PIXELS][TILE_VECTORS];
    const real *x_rows[TILE_PIXELS];
    UNROLL(14)
    for (int r = 0; r < rows; r++) x_rows[r] = x + (merged ? walk->x_rows[r] : r);
    tile_begin(rows, vectors, sum, dw, walk->dw_starts, &walk->ending);
    const ptrdiff_t x_step = walk->x_pixel, dy_step = walk->dy_pixel;
    const char *ahead = (const char *)walk->ahead;
    for (ptrdiff_t image = 0; image < walk->images; image++)
        for (ptrdiff_t line = 0; line < walk->lines; line++) {
            const real *b = dy + image * walk->dy_image + line * walk->dy_line;
            ptrdiff_t a = image * walk->x_image + line * walk->x_line;
            for (ptrdiff_t pixel = walk->pixels; pixel > 0; pixel--, a += x_step, b += dy_step) {
                /* the hardware does not predict steps that skip cache lines */
                if (!merged) PREFETCH(x + a + 12 * x_step, 3);
                PREFETCH(b + 12 * dy_step, 3);
                PREFETCH(ahead, 2);
                ahead += 64;
                const vec b0 = load(b), b1 = vectors > 1 ? load(b + LANES) : b0;
                UNROLL(14)
                for (int r = 0; r < rows; r++) {
                    const real value = merged ? x_rows[r][a] : x[a + r];
                    sum[r][0] += value * b0; /* mark: multiply-add of pixel_gemm */
                    if (vectors > 1) sum[r][1] += value * b1;
                }
            }
        }
    tile_end(rows, vectors, sum, dw, walk->dw_starts, &walk->ending);
}

#define TILE_OF(name, rows, vectors, merged)                                                      \
    KERNEL void pixel_tile_##rows##_##name(const pixel_walk *walk, const real *x, const real *dy, \
                                           real *dw) {                                            \
        pixel_tile(rows, vectors, merged, walk, x, dy, dw);                                       \
    }
/* clang-format off */
#define TILES_OF(rows) \
    TILE_OF(one, rows, 1, 0) TILE_OF(two, rows, 2, 0) \
    TILE_OF(one_merged, rows, 1, 1) TILE_OF(two_merged, rows, 2, 1)
TILES_OF(1) TILES_OF(2) TILES_OF(3) TILES_OF(4) TILES_OF(5) TILES_OF(6)
#if TILE_PIXELS > 6
TILES_OF(7) TILES_OF(8) TILES_OF(9) TILES_OF(10) TILES_OF(11) TILES_OF(12) TILES_OF(13) TILES_OF(14)
#endif
#undef TILES_OF
#undef TILE_OF
#define NAMED(rows, name) pixel_tile_##rows##_##name
#define ALL(rows) {{NAMED(rows, one), NAMED(rows, two)}, {NAMED(rows, one_merged), NAMED(rows, two_merged)}}
static const pixel_function pixel_tile_table[TILE_PIXELS + 1][2][TILE_VECTORS] = {
    {{0, 0}, {0, 0}}, ALL(1), ALL(2), ALL(3), ALL(4), ALL(5), ALL(6),
#if TILE_PIXELS > 6
    ALL(7), ALL(8), ALL(9), ALL(10), ALL(11), ALL(12), ALL(13), ALL(14),
#endif
};
#undef ALL
#undef NAMED
/* clang-format on */

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
    /* a copy pays if several taps use it. It also pays if it is used often (x by every panel, dy by every
       tile) and the steps from pixel to pixel are too long for the hardware prefetchers, or the tiles are
       merged */
    const ptrdiff_t long_step = 512 / (ptrdiff_t)sizeof(real), often = 6;
    l.copy_x = l.merged || l.taps > 1 || (l.panels > often && p->in_channels * p->stride_cols > long_step);
    l.copy_dy = p->out_channels > 2 * LANES
                && (l.taps > 1 || (l.tiles > often && (l.merged || p->out_channels > long_step)));
    if (l.columns % (2 * LANES) != 0) l.copy_dy = 1; /* the copy fills the last panel up with zeros */
    l.x_cols = l.merged    ? (p->out_cols - 1) * p->stride_cols + p->filter_cols
               : l.one_tap ? p->out_cols
                           : p->in_cols;
    return l;
}

/* Sets how many rows and images make a block whose x and dy take about `bytes`. Returns the bytes of the
   copies. */
INLINE ptrdiff_t pixel_blocks(const conv_problem *p, pixel_layout *l, ptrdiff_t bytes) {
    const ptrdiff_t budget = bytes / (ptrdiff_t)sizeof(real), down = l->one_tap ? 1 : p->stride_rows;
    const ptrdiff_t reach_rows = (p->filter_rows - 1) * p->dilation_rows + 1;
    const ptrdiff_t x_row =
        larger(1, l->x_cols * (l->merged ? p->in_channels : p->groups * l->tiles * X_TILE));
    const ptrdiff_t dy_row = larger(1, p->out_cols * p->groups * l->panels * 2 * LANES);
    const ptrdiff_t fit = (budget - smaller(budget, reach_rows * x_row)) / (x_row * down + dy_row) + 1;
    l->block_rows = smaller(p->out_rows, fit);
    l->row_blocks = divide_up(p->out_rows, l->block_rows);
    l->block_rows = divide_up(p->out_rows, l->row_blocks);
    l->row_blocks = divide_up(p->out_rows, l->block_rows);
    l->x_rows = (l->block_rows - 1) * down + reach_rows;
    if (!l->merged && !l->one_tap && l->row_blocks == 1)
        l->x_rows = smaller(l->x_rows, p->in_rows + 2 * reach_rows);
    l->block_images = l->row_blocks > 1
                          ? 1
                          : larger(1, smaller(p->batch, budget / (l->x_rows * x_row + p->out_rows * dy_row)));
    l->image_blocks = divide_up(p->batch, l->block_images);
    l->block_cols = p->out_cols, l->col_blocks = 1;
    l->x_numbers = l->copy_x ? l->block_images * l->x_rows * x_row : 0;
    l->dy_numbers = l->copy_dy ? l->block_images * l->block_rows * dy_row : 0;
    return (l->x_numbers + l->dy_numbers) * (ptrdiff_t)sizeof(real);
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

/* Copies one row of x into tiles [group][tile][image][row][col][X_TILE] or, if merged, into a padded row. A
   pixel of a tile is copied in whole vectors; what lies beyond its tile_rows is never used. */
KERNEL void copy_x_row(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *x,
                       ptrdiff_t image, ptrdiff_t row, real *to) {
    const ptrdiff_t in_row =
        l->one_tap ? (r->first_row + row) * p->stride_rows - p->pad_top : r->first_in_row + row;
    /* copied col c is input col c * step + start */
    const ptrdiff_t step = l->one_tap ? p->stride_cols : 1,
                    start = l->one_tap || l->merged ? -p->pad_left : 0;
    ptrdiff_t first, past;
    indices_inside(l->x_cols, step, start, p->in_cols, &first, &past);
    const int inside = in_row >= 0 && in_row < p->in_rows;
    if (!inside && !l->merged) return; /* no tile reads such rows */
    if (!inside) first = past = 0;
    const real *from =
        x + ((r->first_image + image) * p->in_rows + (inside ? in_row : 0)) * p->in_cols * p->in_channels;
    /* nothing may be read beyond this */
    const real *end = x + p->batch * p->in_rows * p->in_cols * p->in_channels;
    if (l->merged) {
        to += (image * r->copied_rows + row) * l->x_cols * p->in_channels;
        /* mark: padding of pixel_gemm if merged */
        memset(to, 0, sizeof(real) * (size_t)(first * p->in_channels));
        if (first < past)
            memcpy(to + first * p->in_channels, from + (first + start) * p->in_channels,
                   sizeof(real) * (size_t)((past - first) * p->in_channels));
        memset(to + past * p->in_channels, 0, sizeof(real) * (size_t)((l->x_cols - past) * p->in_channels));
        return;
    }
    /* pixel by pixel, so that x is read from front to back, even if that writes to many tiles in turn */
    const ptrdiff_t channels = p->in_channels / p->groups;
    const ptrdiff_t tile_numbers = r->images * r->copied_rows * l->x_cols * X_TILE;
    if (first < past) from += (first * step + start) * p->in_channels;
    to += ((image * r->copied_rows + row) * l->x_cols + first) * X_TILE;
    for (ptrdiff_t col = first; col < past; col++, from += step * p->in_channels, to += X_TILE)
        for (ptrdiff_t tile = 0; tile < p->groups * l->tiles; tile++) {
            const real *a = from + tile / l->tiles * channels + tile % l->tiles * l->tile_rows;
            real *pixel = to + tile * tile_numbers;
            for (ptrdiff_t i = 0; i < X_TILE; i += LANES)
                store(pixel + i, a + i + LANES <= end ? load(a + i) : load_part(a + i, end - a - i));
        }
}

/* Copies one row of dy into panels [group][panel][image][row][col][2 vectors], with zeros beyond the
   columns. */
KERNEL void copy_dy_row(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *dy,
                        ptrdiff_t image, ptrdiff_t row, real *to) {
    const ptrdiff_t dy_row = (r->first_image + image) * p->out_rows + r->first_row + row;
    const real *from = dy + (dy_row * p->out_cols + r->first_col) * p->out_channels;
    const ptrdiff_t panel_numbers = r->images * r->rows * r->cols * 2 * LANES;
    to += (image * r->rows + row) * r->cols * 2 * LANES;
    for (ptrdiff_t col = 0; col < r->cols; col++, from += p->out_channels, to += 2 * LANES)
        for (ptrdiff_t group = 0; group < p->groups; group++)
            for (ptrdiff_t panel = 0; panel < l->panels; panel++) {
                const ptrdiff_t columns = smaller(2 * LANES, l->columns - panel * 2 * LANES);
                const real *b = from + group * l->columns + panel * 2 * LANES;
                real *pixel = to + (group * l->panels + panel) * panel_numbers;
                if (columns == 2 * LANES) {
                    store(pixel, load(b));
                    store(pixel + LANES, load(b + LANES));
                } else {
                    for (ptrdiff_t j = 0; j < 2 * LANES; j++) pixel[j] = j < columns ? b[j] : 0;
                }
            }
}

/* Computes one piece of dw (a tile of rows x a panel of columns, for one tap) over the block's pixels whose
   input is inside the image. */
KERNEL void pixel_job(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *x,
                      const real *x_copy, const real *dy, const real *dy_copy, ptrdiff_t group,
                      ptrdiff_t panel, ptrdiff_t tile, ptrdiff_t tap, int resume, const void *ahead,
                      real *dw) {
    const ptrdiff_t tap_row = tap / p->filter_cols, tap_col = tap % p->filter_cols; /* merged: the first */
    const ptrdiff_t channels = p->in_channels / p->groups, first = tile * l->tile_rows,
                    rows = smaller(l->tile_rows, l->rows - first);
    const ptrdiff_t columns = smaller(2 * LANES, l->columns - panel * 2 * LANES);
    ptrdiff_t first_row = 0, past_row = r->rows, first_col = 0, past_col = r->cols;
    /* mark: dilation of pixel_gemm */
    const ptrdiff_t row_start = r->first_row * p->stride_rows - p->pad_top + tap_row * p->dilation_rows;
    const ptrdiff_t col_start = r->first_col * p->stride_cols - p->pad_left + tap_col * p->dilation_cols;
    if (!l->merged) {
        /* mark: padding of pixel_gemm if taps */
        indices_inside(r->rows, p->stride_rows, row_start, p->in_rows, &first_row, &past_row);
        indices_inside(r->cols, p->stride_cols, col_start, p->in_cols, &first_col, &past_col);
    }
    pixel_walk walk = {.images = r->images,
                       .lines = past_row - first_row,
                       .pixels = past_col - first_col,
                       .ahead = ahead,
                       .ending = {.columns = columns, .resume = resume}};
    for (ptrdiff_t i = 0; i < rows; i++) walk.dw_starts[i] = i * p->out_channels;
    const ptrdiff_t in_row = row_start + first_row * p->stride_rows,
                    in_col = col_start + first_col * p->stride_cols;
    if (walk.lines == 0 || walk.pixels == 0 || r->images == 0) {
        walk.images = 0; /* dw is still written, as zeros, if this is the first block */
    } else {
        const int compact = l->copy_x && l->one_tap; /* copied pixels follow the outputs, not the inputs */
        const ptrdiff_t x_width = l->copy_x && !l->merged ? X_TILE : p->in_channels;
        const ptrdiff_t x_cols = l->copy_x ? l->x_cols : p->in_cols;
        const ptrdiff_t x_rows = l->copy_x ? r->copied_rows : p->in_rows;
        walk.x_pixel = (compact ? 1 : p->stride_cols) * x_width;
        walk.x_line = (compact ? 1 : p->stride_rows) * x_cols * x_width; /* mark: stride of pixel_gemm */
        walk.x_image = x_rows * x_cols * x_width;
        if (l->merged) {
            x = x_copy;
            const ptrdiff_t run = p->filter_cols * channels; /* these lie side by side */
            for (ptrdiff_t i = first; i < first + rows; i++)
                /* mark: dilation of pixel_gemm if merged */
                walk.x_rows[i - first] = i / run * p->dilation_rows * x_cols * x_width + i % run;
        } else if (l->copy_x)
            x = x_copy + (group * l->tiles + tile) * r->images * walk.x_image
                + (compact ? first_row * x_cols + first_col : (in_row - r->first_in_row) * x_cols + in_col)
                      * x_width;
        else
            x += ((r->first_image * p->in_rows + in_row) * p->in_cols + in_col) * x_width + group * channels
                 + first;
        const ptrdiff_t dy_rows = l->copy_dy ? r->rows : p->out_rows;
        walk.dy_pixel = l->copy_dy ? 2 * LANES : p->out_channels;
        walk.dy_line = (l->copy_dy ? r->cols : p->out_cols) * walk.dy_pixel,
        walk.dy_image = dy_rows * walk.dy_line;
        dy = l->copy_dy ? dy_copy + (group * l->panels + panel) * r->images * walk.dy_image
                        : dy + (r->first_image * p->out_rows + r->first_row) * walk.dy_line
                              + r->first_col * walk.dy_pixel + group * l->columns + panel * 2 * LANES;
        dy += first_row * walk.dy_line + first_col * walk.dy_pixel;
    }
    dw += ((tap_row * p->filter_cols + tap_col) * channels + first) * p->out_channels + group * l->columns
          + panel * 2 * LANES;
    pixel_tile_table[rows][l->merged][columns > LANES](&walk, x, dy, dw);
}

/* Returns what a job prefetches. The jobs of a block in turn prefetch the lines that follow the block in x,
   then in dy: the lines of the next block. */
INLINE const void *what_comes_next(const conv_problem *p, const pixel_range *r, const real *x, const real *dy,
                                   ptrdiff_t job) {
    const ptrdiff_t lines = r->images * r->rows * r->cols; /* one per pixel */
    const ptrdiff_t x_bytes = r->images * r->in_rows * p->in_cols * p->in_channels * (ptrdiff_t)sizeof(real);
    const ptrdiff_t dy_bytes = lines * p->out_channels * (ptrdiff_t)sizeof(real), at = job * lines * 64;
    const char *x_next =
        (const char *)x
        + (((r->first_image + r->images - 1) * p->in_rows + r->first_in_row + r->in_rows) * p->in_cols)
              * p->in_channels * (ptrdiff_t)sizeof(real);
    const char *dy_next =
        (const char *)dy
        + (((r->first_image + r->images - 1) * p->out_rows + r->first_row + r->rows) * p->out_cols)
              * p->out_channels * (ptrdiff_t)sizeof(real);
    if (at < x_bytes) return x_next + at;
    /* beyond both, return any address: a useless prefetch costs little */
    return at - x_bytes < dy_bytes ? dy_next + (at - x_bytes) : (const char *)x;
}

INLINE int multiply_pixels(const conv_problem *p, const pixel_layout *layout, const real *x, const real *dy,
                           real *dw, int threads) {
    const pixel_layout l = *layout;
    took(l.merged ? TOOK_MERGED : TOOK_TAPS);
    threads = useful_threads(problem_macs(p), threads);
    real *copies =
        (real *)new_scratch(checked_times(checked_plus(l.x_numbers, l.dy_numbers + 64), sizeof(real)));
    if (!copies) return CONV_NO_MEMORY;
    real *dy_copy = copies, *x_copy = copies + whole_lines(l.dy_numbers);
    const ptrdiff_t jobs = p->groups * l.panels * l.tiles * l.taps;
#pragma omp parallel num_threads(threads) if (threads > 1)
    for (ptrdiff_t block = 0; block < l.image_blocks * l.row_blocks * l.col_blocks; block++) {
        const pixel_range r = pixel_block_range(p, &l, block);
#pragma omp for schedule(static) nowait
        for (ptrdiff_t i = 0; i < (l.copy_x ? r.images * r.copied_rows : 0); i++)
            copy_x_row(p, &l, &r, x, i / r.copied_rows, i % r.copied_rows, x_copy);
#pragma omp for schedule(static)
        for (ptrdiff_t i = 0; i < (l.copy_dy ? r.images * r.rows : 0); i++)
            copy_dy_row(p, &l, &r, dy, i / r.rows, i % r.rows, dy_copy);
#pragma omp for schedule(dynamic, 16)
        for (ptrdiff_t job = 0; job < jobs; job++) {
            const ptrdiff_t tap = job % l.taps, tile = job / l.taps % l.tiles,
                            panel = job / l.taps / l.tiles % l.panels;
            pixel_job(p, &l, &r, x, x_copy, dy, dy_copy, job / l.taps / l.tiles / l.panels, panel, tile, tap,
                      block > 0, what_comes_next(p, &r, x, dy, job), dw);
        }
    }
    free_scratch(copies);
    return CONV_OK;
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
