/* The stages of winograd.h, which has the formula and the main line: how a problem is divided into blocks, the
   transforms of inputs, filter and outputs, and the products between them. */

/* Block sizes. V of a block takes a quarter of a typical second-level cache (1 MB), but has at least
   WINOGRAD_LEAST_TILES tiles, because all of U is read for each block. With more tiles than out_channels, U is
   smaller than V of all tiles: it is transformed once, for several blocks. Otherwise all tiles are one block, if
   the scratch holds their V, and each panel of U, up to WINOGRAD_PANEL_BYTES, is transformed where it is used.
   M of a round has as many groups as fit WINOGRAD_ROUND_BYTES, part of the second-level cache; at least one. */
#define WINOGRAD_BLOCK_BYTES (256 * 1024)
#define WINOGRAD_LEAST_TILES 28
#define WINOGRAD_PANEL_BYTES (2560 * 1024)
#define WINOGRAD_ROUND_BYTES (128 * 1024)

typedef struct {
    int tile, size, elements;              /* outputs and inputs of a tile along one axis; size * size */
    ptrdiff_t tile_rows, tile_cols, tiles; /* of one image; of the batch */
    int once;                              /* the filter is transformed before all blocks */
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
    const ptrdiff_t fit = TILE_PIXELS * larger(divide_up(WINOGRAD_LEAST_TILES, TILE_PIXELS),
                                               WINOGRAD_BLOCK_BYTES / tile_bytes / TILE_PIXELS),
                    panel_bytes = l.panel_numbers * (ptrdiff_t)sizeof(real),
                    room = SCRATCH_BYTES - 8192 - l.round_tiles / TILE_PIXELS * group_bytes;
    l.once = packed || panel_bytes > WINOGRAD_PANEL_BYTES || l.tiles > (room - panel_bytes) / tile_bytes
             || (l.tiles > fit && l.tiles > s->out_channels);
    l.block_tiles = l.once ? smaller(l.tiles, larger(1, smaller(room / tile_bytes, fit))) : l.tiles;
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

/* The place of a tile: tiles follow each other column by column, row by row, image by image. */
typedef struct {
    ptrdiff_t image, row, col;
} tile_place;

INLINE tile_place winograd_place(const winograd_layout *l, ptrdiff_t tile) {
    return (tile_place){tile / l->tile_cols / l->tile_rows, tile / l->tile_cols % l->tile_rows,
                        tile % l->tile_cols};
}

/* Goes on to the next tile. The divisions of winograd_place take as long as the transform of a vector. */
INLINE void winograd_next(const winograd_layout *l, tile_place *at) {
    if (++at->col < l->tile_cols) return;
    at->col = 0;
    if (++at->row < l->tile_rows) return;
    at->row = 0, at->image++;
}

/* Where the size x size inputs of a tile are. */
typedef struct {
    const real *corner; /* the first input, if the image holds all; the others lie row_step and col_step on */
    ptrdiff_t row_step, col_step;
    const real *each[36]; /* if corner is NULL: every input; zeros where it is padding */
    ptrdiff_t inside[36]; /* -1, or 0 for padding: zeros stay where they are as the channels go on */
    int border;           /* whether the tile is at the border of the image */
} tile_inputs;

INLINE void winograd_find_inputs(const int tile, const conv_problem *s, const winograd_layout *l,
                                 const real *x, tile_place at, tile_inputs *in) {
    static const real zeros[LANES];
    const int size = tile + 2;
    /* mark: padding of winograd2 winograd4 */
    const ptrdiff_t row = tile * at.row - s->pad_top, col = tile * at.col - s->pad_left;
    in->col_step = s->in_channels, in->row_step = s->in_cols * s->in_channels;
    const real *image = x + at.image * s->in_rows * in->row_step;
    if (row >= 0 && col >= 0 && row + size <= s->in_rows && col + size <= s->in_cols) {
        in->corner = image + row * in->row_step + col * in->col_step;
        in->border = at.row == 0 || at.col == 0 || at.row == l->tile_rows - 1 || at.col == l->tile_cols - 1;
        return;
    }
    in->corner = NULL, in->border = 1;
    for (int e = 0; e < size * size; e++) {
        const ptrdiff_t in_row = row + e / size, in_col = col + e % size;
        const int inside = in_row >= 0 && in_row < s->in_rows && in_col >= 0 && in_col < s->in_cols;
        /* far outside, the place itself would overflow */
        in->each[e] = inside ? image + in_row * in->row_step + in_col * in->col_step : zeros;
        in->inside[e] = -inside;
    }
}

/* Transforms the `lanes` channels of a tile that begin at c into the matrices V. */
INLINE void winograd_transform_vector(const int tile, const tile_inputs *in, ptrdiff_t c, ptrdiff_t lanes,
                                      real *v, ptrdiff_t element_step, range_seen *range) {
    const int size = tile + 2, elements = size * size;
    vec d[36];
    UNROLL(36)
    for (int e = 0; e < elements; e++) {
        const real *from = in->corner ? in->corner + e / size * in->row_step + e % size * in->col_step + c
                                      : in->each[e] + (in->inside[e] & c);
        d[e] = lanes == LANES ? load(from) : load_part(from, lanes);
    }
    /* tiles overlap: away from the border, the middles of all tiles cover each input once */
    if (in->border) {
        UNROLL(36)
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
    for (int e = 0; e < elements; e++) store(v + e * element_step + c, d[e]);
}

/* Transforms one tile, a vector of channels at a time. */
INLINE void winograd_transform_tile(const int tile, const conv_problem *s, const winograd_layout *l,
                                    const real *x, tile_place at, real *v, range_seen *range) {
    tile_inputs in;
    winograd_find_inputs(tile, s, l, x, at, &in);
    const ptrdiff_t depth = l->depth, element_step = l->element_step;
    ptrdiff_t c = 0;
    for (; c + LANES <= depth; c += LANES)
        winograd_transform_vector(tile, &in, c, LANES, v, element_step, range);
    if (c < depth) winograd_transform_vector(tile, &in, c, depth - c, v, element_step, range);
}

/* Transforms the block's tiles, and adds the range flags of each image to image_flags. */
INLINE void winograd_transform_inputs(const int tile, const conv_problem *s, const winograd_layout *l,
                                      const real *x, ptrdiff_t first, ptrdiff_t past, real *v,
                                      int *image_flags) {
    range_seen range = {0};
    tile_place at = winograd_place(l, first);
    for (ptrdiff_t i = first; i < past; i++, v += l->depth_step) {
        winograd_transform_tile(tile, s, l, x, at, v, &range);
        const ptrdiff_t image = at.image;
        winograd_next(l, &at);
        if (i + 1 == past || at.image > image) {
            const int flags = range_flags(&range);
            set_bits(&image_flags[image], flags);
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
    tile_place at = winograd_place(l, first_tile);
    for (ptrdiff_t i = 0; i < tiles; i++, winograd_next(l, &at)) {
        real *corner = y + at.image * g->y_image_step + tile * at.row * g->y_row_step
                       + tile * at.col * g->y_col_step;
        const ptrdiff_t rows = smaller(tile, s->out_rows - tile * at.row),
                        cols = smaller(tile, s->out_cols - tile * at.col);
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
