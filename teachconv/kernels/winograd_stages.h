/* The stages of winograd.h, which has the formula and the main line: how a problem is divided into blocks, the
   transforms of inputs, filter and outputs, and the products between them. */

/* Block sizes. V of a block takes up to a typical second-level cache (1 MB), if that holds two groups of
   tiles. A panel of U up to WINOGRAD_PANEL_BYTES is computed again for each block if there are few blocks. M
   of a round has as many groups as fit WINOGRAD_ROUND_BYTES, part of the second-level cache; at least one. */
#define WINOGRAD_BLOCK_BYTES (1024 * 1024)
#define WINOGRAD_PANEL_BYTES (2560 * 1024)
#define WINOGRAD_ROUND_BYTES (128 * 1024)

typedef struct {
    int tile, size, elements;              /* outputs and inputs of a tile along one axis; size * size */
    ptrdiff_t tile_rows, tile_cols, tiles; /* of one image; of the batch */
    ptrdiff_t block_tiles, blocks, round_tiles;
    ptrdiff_t depth, depth_step; /* in_channels; rounded up to vectors */
    ptrdiff_t element_step;      /* numbers from V[e] to V[e+1] */
    ptrdiff_t u_step, panel_numbers, panels;
} winograd_layout;

INLINE winograd_layout winograd_lay_out(int tile, const gather *g, int packed, int threads) {
    const conv_problem *s = &g->shape;
    winograd_layout l;
    l.tile = tile, l.size = tile + 2, l.elements = l.size * l.size;
    l.tile_rows = divide_up(s->out_rows, tile);
    l.tile_cols = divide_up(s->out_cols, tile);
    l.tiles = s->batch * l.tile_rows * l.tile_cols;
    l.depth = s->in_channels;
    l.depth_step = divide_up(l.depth, LANES) * LANES;
    l.panels = divide_up(s->out_channels, 2 * LANES);
    /* + LANES, here and in V: streams a power of two apart would share one cache set */
    l.u_step = l.depth * 2 * LANES + LANES;
    l.panel_numbers = l.elements * l.u_step;
    const ptrdiff_t tile_bytes = l.elements * l.depth_step * (ptrdiff_t)sizeof(real);
    const ptrdiff_t group_bytes = l.elements * TILE_PIXELS * 2 * VECTOR_BYTES;
    l.round_tiles = larger(1, WINOGRAD_ROUND_BYTES / group_bytes) * TILE_PIXELS;
    const ptrdiff_t fit = WINOGRAD_BLOCK_BYTES / tile_bytes / TILE_PIXELS * TILE_PIXELS;
    const ptrdiff_t panel_bytes = packed ? 0 : l.panel_numbers * (ptrdiff_t)sizeof(real),
                    round_bytes = l.round_tiles / TILE_PIXELS * group_bytes;
    const ptrdiff_t most = (SCRATCH_BYTES - 8192 - round_bytes
                            - (panel_bytes <= WINOGRAD_PANEL_BYTES ? panel_bytes : 0))
                           / tile_bytes;
    l.block_tiles = smaller(l.tiles, larger(1, smaller(most, larger(2 * TILE_PIXELS, fit))));
    /* each block would transform the filter again, so one large block is better than two */
    if (!packed && l.tiles <= most) l.block_tiles = l.tiles;
    if (threads > 1)
        l.block_tiles =
            smaller(l.block_tiles,
                    larger(TILE_PIXELS, divide_up(divide_up(l.tiles, threads), TILE_PIXELS) * TILE_PIXELS));
    l.blocks = l.block_tiles ? divide_up(l.tiles, l.block_tiles) : 0;
    l.element_step = l.block_tiles * l.depth_step + LANES;
    return l;
}

/* ---- the stages; `tile` is a constant in each of their two copies, so that the loops unroll ---- */

INLINE void winograd_input_line(const int tile, vec *d, int step) {
    if (tile == 2) winograd2_input_line(d, step);
    else winograd4_input_line(d, step);
}

INLINE void winograd_filter_line(const int tile, vec g0, vec g1, vec g2, vec *u) {
    if (tile == 2) winograd2_filter_line(g0, g1, g2, u);
    else winograd4_filter_line(g0, g1, g2, u);
}

INLINE void winograd_output_line(const int tile, const vec *m, int step, vec *y) {
    if (tile == 2) winograd2_output_line(m, step, y);
    else winograd4_output_line(m, step, y);
}

/* Transforms one tile, size x size inputs of LANES channels at a time, into the matrices V. */
INLINE void winograd_transform_tile(const int tile, const conv_problem *s, const winograd_layout *l,
                                    const real *x, ptrdiff_t image, ptrdiff_t tile_row, ptrdiff_t tile_col,
                                    real *v, range_seen *range) {
    const int size = tile + 2, elements = size * size;
    /* mark: padding of winograd2 winograd4 */
    const ptrdiff_t row = tile * tile_row - s->pad_top, col = tile * tile_col - s->pad_left;
    const int inside = row >= 0 && col >= 0 && row + size <= s->in_rows && col + size <= s->in_cols;
    /* tiles overlap: away from the border, the middles of all tiles cover each input once */
    const int border = !inside || tile_row == 0 || tile_col == 0 || tile_row == l->tile_rows - 1
                       || tile_col == l->tile_cols - 1;
    /* far outside, the place itself would overflow */
    const real *corner = inside ? x + ((image * s->in_rows + row) * s->in_cols + col) * s->in_channels : x;
    for (ptrdiff_t c = 0; c < l->depth; c += LANES) {
        vec d[36];
        const ptrdiff_t lanes = smaller(LANES, l->depth - c);
        if (inside && lanes == LANES) {
            UNROLL(36)
            for (int e = 0; e < elements; e++)
                d[e] = load(corner + ((e / size) * s->in_cols + e % size) * s->in_channels + c);
        } else {
            for (int e = 0; e < elements; e++) {
                const ptrdiff_t in_row = row + e / size, in_col = col + e % size;
                const int there = in_row >= 0 && in_row < s->in_rows && in_col >= 0 && in_col < s->in_cols;
                d[e] = (vec){0};
                if (!there) continue;
                const real *from =
                    x + ((image * s->in_rows + in_row) * s->in_cols + in_col) * s->in_channels + c;
                d[e] = lanes == LANES ? load(from) : load_part(from, lanes);
            }
        }
        if (border) {
            for (int e = 0; e < elements; e++) look_at(range, d[e]);
        } else {
            UNROLL(16)
            for (int e = 0; e < tile * tile; e++) look_at(range, d[(e / tile + 1) * size + e % tile + 1]);
        }
        UNROLL(6)
        for (int i = 0; i < size; i++) winograd_input_line(tile, d + i, size);
        UNROLL(6)
        for (int i = 0; i < size; i++) winograd_input_line(tile, d + size * i, 1);
        UNROLL(36)
        for (int e = 0; e < elements; e++) store(v + e * l->element_step + c, d[e]);
    }
}

/* Transforms the block's tiles, and adds the range flags of each image to image_flags. */
INLINE void winograd_transform_inputs(const int tile, const conv_problem *s, const winograd_layout *l,
                                      const real *x, ptrdiff_t first, ptrdiff_t past, real *v,
                                      int *image_flags) {
    range_seen range = {0};
    for (ptrdiff_t i = first; i < past; i++, v += l->depth_step) {
        const ptrdiff_t tile_col = i % l->tile_cols, tile_row = i / l->tile_cols % l->tile_rows,
                        image = i / l->tile_cols / l->tile_rows;
        winograd_transform_tile(tile, s, l, x, image, tile_row, tile_col, v, &range);
        /* the last tile of the image or of the block */
        if (i + 1 == past || (i + 1) % (l->tile_rows * l->tile_cols) == 0) {
            const int flags = range_flags(&range);
#pragma omp atomic
            image_flags[image] |= flags;
            memset(&range, 0, sizeof range);
        }
    }
}

/* Computes U of one panel, [size*size][in_channels][width], from the 3x3 taps. Returns the range flags of the
   filter. */
INLINE int winograd_transform_filter(const int tile, const gather *g, const winograd_layout *l, const real *w,
                                     ptrdiff_t panel, real *u) {
    const int size = tile + 2;
    const ptrdiff_t depth = l->depth, first_column = panel * 2 * LANES;
    const ptrdiff_t columns = smaller(2 * LANES, g->shape.out_channels - first_column),
                    width = columns > LANES ? 2 * LANES : LANES, out_channels = g->shape.out_channels;
    /* if w already has the order needed, it is read in place; otherwise 16 channels at a time are packed
       first, [tap][16 channels][width], so that they stay in the first-level cache */
    const int in_place = !g->swapped && columns == width;
    _Alignas(64) real taps[9 * 16 * 2 * 16];
    const ptrdiff_t row_step = in_place ? out_channels : width,
                    tap_step = in_place ? depth * out_channels : 16 * width;
    range_seen range = {0};
    for (ptrdiff_t first = 0; first < depth; first += 16) {
        const ptrdiff_t count = smaller(16, depth - first);
        const real *from = in_place ? w + first * out_channels + first_column : taps;
        for (ptrdiff_t tap = 0; tap < (in_place ? 0 : 9); tap++)
            pack_panel(g, w, 0, first_column, columns, width, tap * depth + first,
                       tap * depth + first + count, taps + tap * 16 * width);
        for (ptrdiff_t i = 0; i < count * width; i += LANES) {
            const real *at = from + i / width * row_step + i % width;
            vec t[3][6], line[6];
            UNROLL(3)
            for (int j = 0; j < 3; j++) {
                const real *g0 = at + j * tap_step, *g1 = g0 + 3 * tap_step, *g2 = g1 + 3 * tap_step;
                if (in_place) {
                    PREFETCH(g0 + 16 * row_step, 3);
                    PREFETCH(g1 + 16 * row_step, 3);
                    PREFETCH(g2 + 16 * row_step, 3);
                }
                look_at(&range, load(g0)), look_at(&range, load(g1)), look_at(&range, load(g2));
                winograd_filter_line(tile, load(g0), load(g1), load(g2), t[j]);
            }
            UNROLL(6)
            for (int e = 0; e < size; e++) {
                winograd_filter_line(tile, t[0][e], t[1][e], t[2][e], line);
                UNROLL(6)
                for (int f = 0; f < size; f++)
                    store(u + (e * size + f) * l->u_step + first * width + i, line[f]);
            }
        }
    }
    return range_flags(&range);
}

/* Transforms the products of each tile of a round into its outputs. m: [size*size][round_tiles][width]. */
INLINE void winograd_transform_outputs(const int tile, const gather *g, const winograd_layout *l,
                                       const real *m, ptrdiff_t first_tile, ptrdiff_t tiles, ptrdiff_t width,
                                       ptrdiff_t columns, const real *bias, int relu, real *y) {
    const int size = tile + 2;
    const conv_problem *s = &g->shape;
    const ptrdiff_t m_step = l->round_tiles * width;
    for (ptrdiff_t i = 0; i < tiles; i++) {
        const ptrdiff_t place = first_tile + i, tile_col = place % l->tile_cols,
                        tile_row = place / l->tile_cols % l->tile_rows;
        real *corner = y + place / l->tile_cols / l->tile_rows * g->y_image_step
                       + tile * tile_row * g->y_row_step + tile * tile_col * g->y_col_step;
        const ptrdiff_t rows = smaller(tile, s->out_rows - tile * tile_row),
                        cols = smaller(tile, s->out_cols - tile * tile_col);
        for (ptrdiff_t c = 0; c < width; c += LANES) {
            vec column[6], t[6][4], lines[4 * 6], o[4][4];
            UNROLL(6)
            for (int j = 0; j < size; j++) {
                UNROLL(6)
                for (int e = 0; e < size; e++) column[e] = load(m + (e * size + j) * m_step + i * width + c);
                winograd_output_line(tile, column, 1, t[j]);
                UNROLL(4)
                for (int r = 0; r < tile; r++) lines[r * size + j] = t[j][r];
            }
            UNROLL(4)
            for (int r = 0; r < tile; r++) winograd_output_line(tile, lines + r * size, 1, o[r]);
            if (rows == tile && cols == tile) {
                UNROLL(4)
                for (int r = 0; r < tile; r++) {
                    UNROLL(4)
                    for (int q = 0; q < tile; q++)
                        finish_sum(corner + r * g->y_row_step + q * g->y_col_step + c, o[r][q],
                                   bias ? bias + c : NULL, columns - c, relu);
                }
            } else {
                for (int r = 0; r < rows; r++)
                    for (int q = 0; q < cols; q++)
                        finish_sum(corner + r * g->y_row_step + q * g->y_col_step + c, o[r][q],
                                   bias ? bias + c : NULL, columns - c, relu);
            }
        }
    }
}

/* Computes one panel of a block: for each round of tiles the products, then the outputs. */
INLINE void winograd_multiply(const int tile, const gather *g, const winograd_layout *l, const real *v,
                              const real *u, ptrdiff_t panel, ptrdiff_t first, ptrdiff_t past,
                              const real *bias, int relu, real *m, real *y) {
    const int elements = (tile + 2) * (tile + 2);
    const ptrdiff_t columns = smaller(2 * LANES, g->shape.out_channels - panel * 2 * LANES),
                    width = columns > LANES ? 2 * LANES : LANES;
    ptrdiff_t m_starts[TILE_PIXELS];
    const ptrdiff_t run_start = 0, m_step = l->round_tiles * width;
    const tile_ending ending = {NULL, width, 0, 0, u, 0, NULL};
    for (ptrdiff_t i = 0; i < TILE_PIXELS; i++) m_starts[i] = i * width;
    if (bias) bias += panel * 2 * LANES;
    for (ptrdiff_t start = first; start < past; start += l->round_tiles) {
        const ptrdiff_t count = smaller(l->round_tiles, past - start),
                        groups = divide_up(count, TILE_PIXELS);
        for (int e = 0; e < elements; e++)
            for (ptrdiff_t group = 0; group < groups; group++) {
                const ptrdiff_t at = count * group / groups, tiles = count * (group + 1) / groups - at;
                const tile_function multiply = tile_table[tiles][width > LANES];
                multiply(v + e * l->element_step + (start - first + at) * l->depth_step, l->depth_step,
                         &run_start, 1, l->depth, u + e * l->u_step, width, m + e * m_step + at * width,
                         m_starts, &ending);
            }
        winograd_transform_outputs(tile, g, l, m, start, count, width, columns, bias, relu,
                                   y + panel * 2 * LANES);
    }
}
