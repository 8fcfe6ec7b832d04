/* winograd: what F(2x2, 3x3) and F(4x4, 3x3) share. Their transforms are in winograd2.h and winograd4.h.

     tile x tile outputs y of a 3x3 filter g, from size x size inputs d, size = tile + 2:

         y = A' [ (G g G') * (B' d B) ] A                                   (* element by element)

     Summed over in_channels, each of the size * size elements is a matrix product: M[e] = V[e] U[e]

                 in_channels               out_channels
        tiles  [    V[e]     ]  x  [ U[e] ]                 e = 0..size*size-1

     for each block of tiles                         (V of a block fits the second-level cache)
       transform_inputs: d to V                      (and check the range of d while it is in registers)
       for each panel of 2 vectors of out_channels   (transform_filter: g to U; its U fits the second level)
         for each round of tiles
           for e in size*size                        (U[e] of the panel stays in the first-level cache)
             for each group of up to 14 tiles:  register_tile.h: M[e]
           transform_outputs: M to y                 (M of a round stays in the caches until it is used here)

   Order of summation in every cell: in_channel, then A' M A. It does not depend on block, round, group, panel
   or thread, so the bits are always the same.
   Non-finite, huge or tiny data: if an image has a number of 2^50 (float64: 2^450) or more, or only numbers
   below 2^-50 (2^-450) that are not all zero, row_gemm computes it again; if the filter does, row_gemm
   computes every image again. The filter must be finite, as in row_gemm.
   Scratch: V of one block, M of one round and one panel of U; V of one tile at least. */

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

static inline int winograd_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1 && p->stride_cols == 1
           && p->dilation_rows == 1 && p->dilation_cols == 1 && p->groups == 1 && p->in_channels > 0;
}

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

/* ---- the main line ---- */

/* The stages for one size of tile. */
typedef struct {
    int tile;
    void (*transform_inputs)(const conv_problem *s, const winograd_layout *l, const real *x, ptrdiff_t first,
                             ptrdiff_t past, real *v, int *image_flags);
    int (*transform_filter)(const gather *g, const winograd_layout *l, const real *w, ptrdiff_t panel,
                            real *u);
    void (*multiply)(const gather *g, const winograd_layout *l, const real *v, const real *u, ptrdiff_t panel,
                     ptrdiff_t first, ptrdiff_t past, const real *bias, int relu, real *m, real *y);
} winograd_stages;

#define STAGES(name, tile)                                                                                  \
    KERNEL void name##_transform_inputs(const conv_problem *s, const winograd_layout *l, const real *x,     \
                                        ptrdiff_t first, ptrdiff_t past, real *v, int *image_flags) {       \
        winograd_transform_inputs(tile, s, l, x, first, past, v, image_flags);                              \
    }                                                                                                       \
    KERNEL int name##_transform_filter(const gather *g, const winograd_layout *l, const real *w,            \
                                       ptrdiff_t panel, real *u) {                                          \
        return winograd_transform_filter(tile, g, l, w, panel, u);                                          \
    }                                                                                                       \
    KERNEL void name##_multiply(const gather *g, const winograd_layout *l, const real *v, const real *u,    \
                                ptrdiff_t panel, ptrdiff_t first, ptrdiff_t past, const real *bias,         \
                                int relu, real *m, real *y) {                                               \
        winograd_multiply(tile, g, l, v, u, panel, first, past, bias, relu, m, y);                          \
    }                                                                                                       \
    static const winograd_stages name = {tile, name##_transform_inputs, name##_transform_filter,            \
                                         name##_multiply};
STAGES(winograd2, 2)
STAGES(winograd4, 4)
#undef STAGES

KERNEL int winograd_transform_filters(const winograd_stages *stages, const gather *g, const real *w, real *u,
                                      int threads) {
    const winograd_layout l = winograd_lay_out(stages->tile, g, 1, threads);
    int flags = 0;
    threads = useful_threads((double)l.depth * g->shape.out_channels * 2 * l.elements, threads);
    if (threads == 1) /* see IN_THREADS */
        for (ptrdiff_t panel = 0; panel < l.panels; panel++)
            flags |= stages->transform_filter(g, &l, w, panel, u + l.panel_numbers * panel);
    else
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : flags)
        for (ptrdiff_t panel = 0; panel < l.panels; panel++)
            flags |= stages->transform_filter(g, &l, w, panel, u + l.panel_numbers * panel);
    return flags;
}

INLINE ptrdiff_t winograd_filter_bytes(const winograd_stages *stages, const gather *g) {
    if (!winograd_can(&g->shape)) return 0;
    const winograd_layout l = winograd_lay_out(stages->tile, g, 1, 1);
    return checked_times(checked_times(l.panel_numbers, l.panels), sizeof(real));
}

/* What all threads of one winograd_try share. u: the transformed filter, or NULL. */
typedef struct {
    const winograd_stages *stages;
    const gather *g;
    const winograd_layout *l;
    const real *x, *w, *u, *bias;
    int relu;
    real *y;
    int *image_flags;
    ptrdiff_t shares; /* threads share the blocks; if these are few, they share each block's panels too */
} winograd_call;

enum { WINOGRAD_NO_MEMORY = 1 << 8 }; /* beside the flags of ranges.h */

/* Transforms the inputs of one block and multiplies them by one share of the panels. v, m, panel_u: see
   winograd_blocks. Returns the range flags of the filter. */
KERNEL int winograd_block(const winograd_call *c, ptrdiff_t job, real *v, real *m, real *panel_u) {
    const winograd_layout *l = c->l;
    const ptrdiff_t share = job % c->shares, first = job / c->shares * l->block_tiles,
                    past = smaller(l->tiles, first + l->block_tiles);
    int flags = 0;
    c->stages->transform_inputs(&c->g->shape, l, c->x, first, past, v, c->image_flags);
    for (ptrdiff_t panel = l->panels * share / c->shares; panel < l->panels * (share + 1) / c->shares;
         panel++) {
        if (!c->u) flags |= c->stages->transform_filter(c->g, l, c->w, panel, panel_u);
        c->stages->multiply(c->g, l, v, c->u ? c->u + l->panel_numbers * panel : panel_u, panel, first, past,
                            c->bias, c->relu, m, c->y);
    }
    return flags;
}

/* Computes one thread's blocks, with scratch of its own: V, M and one panel of U. `alone`, all blocks (see
   IN_THREADS). */
KERNEL int winograd_blocks(const winograd_call *c, int alone) {
    const winograd_layout *l = c->l;
    const ptrdiff_t v_numbers = l->elements * l->element_step,
                    m_numbers = l->elements * l->round_tiles * 2 * LANES;
    real *v = (real *)new_scratch((v_numbers + m_numbers + (c->u ? 0 : l->panel_numbers))
                                  * (ptrdiff_t)sizeof(real));
    int flags = v ? 0 : WINOGRAD_NO_MEMORY;
    real *m = v + v_numbers, *panel_u = m + m_numbers;
    EACH_JOB(alone, (dynamic, 1), job, l->blocks * c->shares,
             if (v) flags |= winograd_block(c, job, v, m, panel_u));
    free_scratch(v);
    return flags;
}

/* Transforms and multiplies. The range flags of each image and of the filter tell the caller which images
   must be computed again. */
KERNEL int winograd_try(const winograd_stages *stages, const gather *g, const real *x, const real *w,
                        const real *u, const real *bias, int relu, real *y, int threads, int *image_flags,
                        int *filter_flags) {
    const winograd_layout l = winograd_lay_out(stages->tile, g, u != NULL, threads);
    const int transform_once =
        l.blocks > 2 * threads || l.panel_numbers * (ptrdiff_t)sizeof(real) > WINOGRAD_PANEL_BYTES;
    real *own_u = NULL;
    int flags = 0, flags_of_u = 0;
    if (!u && transform_once) {
        own_u = (real *)new_scratch(winograd_filter_bytes(stages, g));
        if (!own_u) return CONV_NO_MEMORY;
        flags_of_u = winograd_transform_filters(stages, g, w, own_u, threads);
        u = own_u;
    }
    const winograd_call call = {
        .stages = stages,
        .g = g,
        .l = &l,
        .x = x,
        .w = w,
        .u = u,
        .bias = bias,
        .relu = relu,
        .y = y,
        .image_flags = image_flags,
        .shares = threads > 1 && l.blocks < threads ? smaller(l.panels, threads) : 1,
    };
    IN_THREADS(threads, flags, winograd_blocks(&call, threads == 1));
    free_scratch(own_u);
    *filter_flags = flags | flags_of_u;
    return flags & WINOGRAD_NO_MEMORY ? CONV_NO_MEMORY : CONV_OK;
}

/* Computes the gather g, which is a whole problem or all of its input gradient; row_gemm computes again what
   is out of range. */
KERNEL int winograd_gather(const winograd_stages *stages, const conv_problem *p, const gather *g,
                           const real *x, const real *w, const real *u, const real *bias, int relu, real *y,
                           int threads) {
    const conv_problem *s = &g->shape;
    if (!winograd_can(p) || !winograd_can(s)) return CONV_UNSUPPORTED;
    if (s->batch == 0 || s->out_rows == 0 || s->out_cols == 0 || s->out_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(s) / stages->tile, threads);
    int filter_flags = 0, *image_flags = (int *)calloc((size_t)s->batch, sizeof(int));
    int status = image_flags ? CONV_OK : CONV_NO_MEMORY;
    if (!status)
        status = winograd_try(stages, g, x, w, u, bias, relu, y, threads, image_flags, &filter_flags);
    gather one_image = *g;
    one_image.shape.batch = 1;
    for (ptrdiff_t image = 0; !status && image < s->batch; image++)
        if (!range_is_safe(filter_flags) || !range_is_safe(image_flags[image])) {
            took(TOOK_REDO); /* mark: fallback of winograd2 winograd4 if redo by row_gemm */
            status = w ? run_gather(&one_image, x + image * s->in_rows * s->in_cols * s->in_channels, w, NULL,
                                    bias, relu, y + image * g->y_image_step, threads)
                       : CONV_OUT_OF_RANGE;
        }
    free(image_flags);
    return status;
}

/* ---- the rungs: the forward op; the input gradient at stride 1, whose only phase is a 3x3 gather ---- */

INLINE gather winograd_input_gather(const conv_problem *p) {
    ptrdiff_t offset;
    return phase_gather(p, 0, 0, &offset);
}

KERNEL int winograd_pack(const winograd_stages *stages, const conv_problem *p, const gather *g, const real *w,
                         real *packed, int threads) {
    if (!winograd_can(p) || !winograd_can(&g->shape)) return CONV_UNSUPPORTED;
    return range_is_safe(winograd_transform_filters(stages, g, w, packed, threads)) ? CONV_OK
                                                                                    : CONV_OUT_OF_RANGE;
}

#define PACKING(rung, stages, make_gather)                                                    \
    KERNEL ptrdiff_t rung##_packed_bytes(const conv_problem *p) {                             \
        const gather g = make_gather(p);                                                      \
        return winograd_filter_bytes(&stages, &g);                                            \
    }                                                                                         \
    KERNEL int rung##_pack(const conv_problem *p, const real *w, real *packed, int threads) { \
        const gather g = make_gather(p);                                                      \
        return winograd_pack(&stages, p, &g, w, packed, threads);                             \
    }
PACKING(winograd2, winograd2, forward_gather)
PACKING(winograd2_input, winograd2, winograd_input_gather)
PACKING(winograd4, winograd4, forward_gather)
PACKING(winograd4_input, winograd4, winograd_input_gather)
#undef PACKING

KERNEL int winograd2_run(const conv_problem *p, const real *x, const real *w, const real *packed,
                         const real *bias, int relu, real *y, int threads) {
    const gather g = forward_gather(p);
    /* mark: kernel of winograd2/y */
    return winograd_gather(&winograd2, p, &g, x, w, packed, bias, relu, y, threads);
}

KERNEL int winograd2_input_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                               const real *bias, int relu, real *dx, int threads) {
    const gather g = winograd_input_gather(p);
    /* mark: kernel of winograd2/dx */
    return winograd_gather(&winograd2, p, &g, dy, w, packed, bias, relu, dx, threads);
}

KERNEL int winograd4_run(const conv_problem *p, const real *x, const real *w, const real *packed,
                         const real *bias, int relu, real *y, int threads) {
    const gather g = forward_gather(p);
    /* mark: kernel of winograd4/y */
    return winograd_gather(&winograd4, p, &g, x, w, packed, bias, relu, y, threads);
}

KERNEL int winograd4_input_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                               const real *bias, int relu, real *dx, int threads) {
    const gather g = winograd_input_gather(p);
    /* mark: kernel of winograd4/dx */
    return winograd_gather(&winograd4, p, &g, dy, w, packed, bias, relu, dx, threads);
}
