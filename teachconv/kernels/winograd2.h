/* winograd2: F(2x2, 3x3), four outputs per pair of channels with 16 multiply-adds instead of 36.

     4x4 inputs d, 3x3 filter g, 2x2 outputs:      y = A' [ (G g G') * (B' d B) ] A     (* element by element)

        B' = 1  0 -1  0        G =  1   0   0         A' = 1 1  1  0
             0  1  1  0            1/2 1/2 1/2             0 1 -1 -1
             0 -1  1  0            1/2 -1/2 1/2
             0  1  0 -1             0   0   1

     Summed over in_channels, each of the 16 elements is a matrix product of its own:   M[e] = V[e] U[e]

                 in_channels               out_channels
        tiles  [    V[e]     ]  x  [ U[e] ]                 e = 0..15

     for each block of tiles (their V, 16 matrices, fits the second-level cache)
       transform the block's inputs into V           (and check their range while they are in registers)
       for each panel of 2 vectors of out_channels
         for each group of up to 14 tiles
           for e in 16:  register_tile.h: M[e]         (the 16 products stay in the first-level cache ...)
           transform M back into 2x2 outputs         (... until they are used here)

   Gain over row_gemm: 2.25 times fewer multiply-adds, for about 100 more additions per tile and channel.

   Order of summation in every cell: in_channel, then A' M A. It does not depend on block, group, panel or
   thread, so the bits are always the same.
   Non-finite, huge or tiny data: if an image has a number of 2^50 (float64: 2^450) or more, or only numbers
   below 2^-50 (2^-450) that are not all zero, row_gemm computes it again; if the filter does, row_gemm
   computes every image again. The filter must be finite, as in row_gemm.
   Scratch: V of one block, and one panel of U; V of one tile at least. */

#define WINOGRAD2_BLOCK_BYTES (1024 * 1024) /* of V, if that holds two groups of tiles */
/* a panel of U no larger than this is computed again for every block if there are few blocks */
#define WINOGRAD2_PANEL_BYTES (1536 * 1024)

typedef struct {
    ptrdiff_t tile_rows, tile_cols, tiles; /* of one image; of the batch */
    ptrdiff_t block_tiles, blocks;
    ptrdiff_t depth, depth_step; /* in_channels; rounded up to vectors */
    ptrdiff_t element_step;      /* numbers from V[e] to V[e+1] */
    ptrdiff_t panels;
} winograd2_layout;

static inline int winograd2_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1 && p->stride_cols == 1
           && p->dilation_rows == 1 && p->dilation_cols == 1 && p->groups == 1 && p->in_channels > 0;
}

INLINE winograd2_layout winograd2_lay_out(const gather *g, int packed, int threads) {
    const conv_problem *s = &g->shape;
    winograd2_layout l;
    l.tile_rows = divide_up(s->out_rows, 2);
    l.tile_cols = divide_up(s->out_cols, 2);
    l.tiles = s->batch * l.tile_rows * l.tile_cols;
    l.depth = s->in_channels;
    l.depth_step = divide_up(l.depth, LANES) * LANES;
    l.panels = divide_up(s->out_channels, 2 * LANES);
    const ptrdiff_t fit =
        WINOGRAD2_BLOCK_BYTES / (16 * l.depth_step * (ptrdiff_t)sizeof(real)) / TILE_PIXELS * TILE_PIXELS;
    const ptrdiff_t most =
        (SCRATCH_BYTES - WINOGRAD2_PANEL_BYTES - 4096) / (16 * l.depth_step * (ptrdiff_t)sizeof(real));
    l.block_tiles = smaller(l.tiles, larger(1, smaller(most, larger(2 * TILE_PIXELS, fit))));
    /* each block would transform the filter again, so one large block is better than two */
    if (!packed && l.tiles <= most) l.block_tiles = l.tiles;
    if (threads > 1)
        l.block_tiles =
            smaller(l.block_tiles,
                    larger(TILE_PIXELS, divide_up(divide_up(l.tiles, threads), TILE_PIXELS) * TILE_PIXELS));
    l.blocks = l.block_tiles ? divide_up(l.tiles, l.block_tiles) : 0;
    /* + LANES: 16 streams a power of two apart would share one cache set */
    l.element_step = l.block_tiles * l.depth_step + LANES;
    return l;
}

/* Applies B' to four vectors that lie `step` apart. */
INLINE void winograd2_inputs(vec *d, int step) {
    const vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    d[0] = d0 - d2;
    d[step] = d1 + d2;
    d[2 * step] = d2 - d1;
    d[3 * step] = d1 - d3;
}

/* Transforms one tile, 4x4 inputs of LANES channels at a time, into the 16 matrices V. */
INLINE void winograd2_transform_tile(const conv_problem *s, const winograd2_layout *l, const real *x,
                                     ptrdiff_t image, ptrdiff_t tile_row, ptrdiff_t tile_col, real *v,
                                     range_seen *range) {
    /* mark: padding of winograd2 */
    const ptrdiff_t row = 2 * tile_row - s->pad_top, col = 2 * tile_col - s->pad_left;
    const int inside = row >= 0 && col >= 0 && row + 4 <= s->in_rows && col + 4 <= s->in_cols;
    /* tiles overlap: away from the border, the middle 2x2 of all tiles cover each input once */
    const int border = !inside || tile_row == 0 || tile_col == 0 || tile_row == l->tile_rows - 1
                       || tile_col == l->tile_cols - 1;
    /* far outside, the place itself would overflow */
    const real *corner = inside ? x + ((image * s->in_rows + row) * s->in_cols + col) * s->in_channels : x;
    for (ptrdiff_t c = 0; c < l->depth; c += LANES) {
        vec d[16];
        const ptrdiff_t lanes = smaller(LANES, l->depth - c);
        if (inside && lanes == LANES) {
            UNROLL(16)
            for (int e = 0; e < 16; e++)
                d[e] = load(corner + ((e / 4) * s->in_cols + e % 4) * s->in_channels + c);
        } else {
            for (int e = 0; e < 16; e++) {
                const ptrdiff_t in_row = row + e / 4, in_col = col + e % 4;
                const int there = in_row >= 0 && in_row < s->in_rows && in_col >= 0 && in_col < s->in_cols;
                d[e] = (vec){0};
                if (!there) continue;
                const real *from =
                    x + ((image * s->in_rows + in_row) * s->in_cols + in_col) * s->in_channels + c;
                d[e] = lanes == LANES ? load(from) : load_part(from, lanes);
            }
        }
        if (border)
            for (int e = 0; e < 16; e++) look_at(range, d[e]);
        else look_at(range, d[5]), look_at(range, d[6]), look_at(range, d[9]), look_at(range, d[10]);
        UNROLL(4)
        for (int i = 0; i < 4; i++) winograd2_inputs(d + i, 4);
        UNROLL(4)
        for (int i = 0; i < 4; i++) winograd2_inputs(d + 4 * i, 1);
        UNROLL(16)
        for (int e = 0; e < 16; e++) store(v + e * l->element_step + c, d[e]);
    }
}

/* Transforms the block's tiles, and adds the range flags of each image to image_flags. */
KERNEL void winograd2_transform_inputs(const conv_problem *s, const winograd2_layout *l, const real *x,
                                       ptrdiff_t first, ptrdiff_t past, real *v, int *image_flags) {
    range_seen range = {0};
    for (ptrdiff_t tile = first; tile < past; tile++, v += l->depth_step) {
        const ptrdiff_t tile_col = tile % l->tile_cols, tile_row = tile / l->tile_cols % l->tile_rows,
                        image = tile / l->tile_cols / l->tile_rows;
        winograd2_transform_tile(s, l, x, image, tile_row, tile_col, v, &range);
        /* the last tile of the image or of the block */
        if (tile + 1 == past || (tile + 1) % (l->tile_rows * l->tile_cols) == 0) {
            const int flags = range_flags(&range);
#pragma omp atomic
            image_flags[image] |= flags;
            memset(&range, 0, sizeof range);
        }
    }
}

/* Returns the numbers from U[e] to U[e+1] of one panel; + LANES for the same reason as in V. */
INLINE ptrdiff_t winograd2_u_step(const gather *g) { return g->shape.in_channels * 2 * LANES + LANES; }

/* Computes U of one panel, [16][in_channels][width], from the 3x3 taps. Returns the range flags of the
   filter. */
KERNEL int winograd2_transform_filter(const gather *g, const real *w, ptrdiff_t panel, real *u) {
    const ptrdiff_t depth = g->shape.in_channels, first_column = panel * 2 * LANES;
    const ptrdiff_t columns = smaller(2 * LANES, g->shape.out_channels - first_column),
                    width = columns > LANES ? 2 * LANES : LANES;
    const ptrdiff_t u_step = winograd2_u_step(g), out_channels = g->shape.out_channels;
    const vec half = (vec){0} + (real)0.5;
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
            real *to = u + first * width + i;
            vec t[4][3];
            UNROLL(3)
            for (int j = 0; j < 3; j++) {
                const vec g0 = load(at + j * tap_step), g1 = load(at + (3 + j) * tap_step),
                          g2 = load(at + (6 + j) * tap_step), outer = g0 + g2;
                if (in_place) {
                    PREFETCH(at + j * tap_step + 16 * row_step, 3);
                    PREFETCH(at + (3 + j) * tap_step + 16 * row_step, 3);
                    PREFETCH(at + (6 + j) * tap_step + 16 * row_step, 3);
                }
                look_at(&range, g0), look_at(&range, g1), look_at(&range, g2);
                t[0][j] = g0, t[1][j] = half * (outer + g1), t[2][j] = half * (outer - g1), t[3][j] = g2;
            }
            UNROLL(4)
            for (int e = 0; e < 4; e++, to += 4 * u_step) {
                const vec outer = t[e][0] + t[e][2];
                store(to, t[e][0]);
                store(to + u_step, half * (outer + t[e][1]));
                store(to + 2 * u_step, half * (outer - t[e][1]));
                store(to + 3 * u_step, t[e][2]);
            }
        }
    }
    return range_flags(&range);
}

/* Transforms the 16 products of each tile of a group into its 2x2 outputs. m: [16][TILE_PIXELS][width]. */
INLINE void winograd2_outputs(const gather *g, const winograd2_layout *l, const real *m, ptrdiff_t first_tile,
                              ptrdiff_t tiles, ptrdiff_t width, ptrdiff_t columns, const real *bias, int relu,
                              real *y) {
    const conv_problem *s = &g->shape;
    for (ptrdiff_t i = 0; i < tiles; i++) {
        const ptrdiff_t tile = first_tile + i, tile_col = tile % l->tile_cols,
                        tile_row = tile / l->tile_cols % l->tile_rows;
        real *corner = y + tile / l->tile_cols / l->tile_rows * g->y_image_step + 2 * tile_row * g->y_row_step
                       + 2 * tile_col * g->y_col_step;
        const ptrdiff_t rows = smaller(2, s->out_rows - 2 * tile_row),
                        cols = smaller(2, s->out_cols - 2 * tile_col);
        for (ptrdiff_t c = 0; c < width; c += LANES) {
            vec t[2][4], o[2][2];
            UNROLL(4)
            for (int j = 0; j < 4; j++) {
                const real *at = m + i * width + c + j * TILE_PIXELS * width;
                const vec m0 = load(at), m1 = load(at + 4 * TILE_PIXELS * width);
                const vec m2 = load(at + 8 * TILE_PIXELS * width), m3 = load(at + 12 * TILE_PIXELS * width);
                t[0][j] = m0 + m1 + m2, t[1][j] = m1 - m2 - m3;
            }
            UNROLL(2)
            for (int r = 0; r < 2; r++)
                o[r][0] = t[r][0] + t[r][1] + t[r][2], o[r][1] = t[r][1] - t[r][2] - t[r][3];
            for (int r = 0; r < rows; r++)
                for (int q = 0; q < cols; q++)
                    finish_sum(corner + r * g->y_row_step + q * g->y_col_step + c, o[r][q],
                               bias ? bias + c : NULL, columns - c, relu);
        }
    }
}

/* Computes one panel: for each group of tiles the 16 products, then the outputs. */
KERNEL void winograd2_multiply(const gather *g, const winograd2_layout *l, const real *v, const real *u,
                               ptrdiff_t panel, ptrdiff_t first, ptrdiff_t past, const real *bias, int relu,
                               real *y) {
    const ptrdiff_t columns = smaller(2 * LANES, g->shape.out_channels - panel * 2 * LANES),
                    width = columns > LANES ? 2 * LANES : LANES;
    _Alignas(64) real m[16 * TILE_PIXELS * 2 * VECTOR_BYTES / sizeof(real)];
    ptrdiff_t m_starts[TILE_PIXELS];
    const ptrdiff_t run_start = 0, groups = divide_up(past - first, TILE_PIXELS);
    const tile_ending ending = {NULL, width, 0, 0, u, 0, NULL};
    for (ptrdiff_t i = 0; i < TILE_PIXELS; i++) m_starts[i] = i * width;
    if (bias) bias += panel * 2 * LANES;
    for (ptrdiff_t group = 0, tile = first; group < groups; group++) {
        const ptrdiff_t tiles = divide_up(past - tile, groups - group);
        const tile_function multiply = tile_table[tiles][width > LANES];
        const real *a = v + (tile - first) * l->depth_step;
        for (int e = 0; e < 16; e++)
            multiply(a + e * l->element_step, l->depth_step, &run_start, 1, l->depth,
                     u + e * winograd2_u_step(g), width, m + e * TILE_PIXELS * width, m_starts, &ending);
        winograd2_outputs(g, l, m, tile, tiles, width, columns, bias, relu, y + panel * 2 * LANES);
        tile += tiles;
    }
}

INLINE ptrdiff_t winograd2_panel_start(const gather *g, ptrdiff_t panel) {
    return 16 * winograd2_u_step(g) * panel;
}

KERNEL int winograd2_transform_filters(const gather *g, const real *w, real *u, int threads) {
    const ptrdiff_t panels = divide_up(g->shape.out_channels, 2 * LANES);
    int flags = 0;
    threads = useful_threads((double)g->shape.in_channels * g->shape.out_channels * 32, threads);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : flags) if (threads > 1)
    for (ptrdiff_t panel = 0; panel < panels; panel++)
        flags |= winograd2_transform_filter(g, w, panel, u + winograd2_panel_start(g, panel));
    return flags;
}

INLINE ptrdiff_t winograd2_filter_bytes(const gather *g) {
    return checked_times(checked_times(16 * winograd2_u_step(g), divide_up(g->shape.out_channels, 2 * LANES)),
                         sizeof(real));
}

/* Transforms and multiplies. The range flags of each image and of the filter tell the caller which images
   must be computed again. */
KERNEL int winograd2_try(const gather *g, const real *x, const real *w, const real *u, const real *bias,
                         int relu, real *y, int threads, int *image_flags, int *filter_flags) {
    const conv_problem *s = &g->shape;
    const winograd2_layout l = winograd2_lay_out(g, u != NULL, threads);
    const ptrdiff_t panel_numbers = 16 * winograd2_u_step(g);
    real *own_u = NULL;
    int seen = 0, failed = 0;
    if (!u && (l.blocks > 2 * threads || panel_numbers * (ptrdiff_t)sizeof(real) > WINOGRAD2_PANEL_BYTES)) {
        own_u = (real *)new_scratch(winograd2_filter_bytes(g));
        if (!own_u) return CONV_NO_MEMORY;
        seen = winograd2_transform_filters(g, w, own_u, threads);
        u = own_u;
    }
    const ptrdiff_t shares = threads > 1 && l.blocks < threads ? smaller(l.panels, threads) : 1;
#pragma omp parallel num_threads(threads) reduction(| : seen, failed) if (threads > 1)
    {
        real *v =
            (real *)new_scratch((16 * l.element_step + (u ? 0 : panel_numbers)) * (ptrdiff_t)sizeof(real));
        if (!v) failed = 1;
        real *own_panel = v + 16 * l.element_step;
#pragma omp for schedule(dynamic, 1)
        for (ptrdiff_t job = 0; job < l.blocks * shares; job++) {
            const ptrdiff_t share = job % shares, first = job / shares * l.block_tiles,
                            past = smaller(l.tiles, first + l.block_tiles);
            if (!v) continue;
            winograd2_transform_inputs(s, &l, x, first, past, v, image_flags);
            for (ptrdiff_t panel = l.panels * share / shares; panel < l.panels * (share + 1) / shares;
                 panel++) {
                if (!u) seen |= winograd2_transform_filter(g, w, panel, own_panel);
                winograd2_multiply(g, &l, v, u ? u + winograd2_panel_start(g, panel) : own_panel, panel,
                                   first, past, bias, relu, y);
            }
        }
        free_scratch(v);
    }
    free_scratch(own_u);
    *filter_flags = seen;
    return failed ? CONV_NO_MEMORY : CONV_OK;
}

KERNEL int winograd2_gather(const gather *g, const real *x, const real *w, const real *u, const real *bias,
                            int relu, real *y, int threads) {
    const conv_problem *s = &g->shape;
    if (!winograd2_can(s)) return CONV_UNSUPPORTED;
    if (s->batch == 0 || s->out_rows == 0 || s->out_cols == 0 || s->out_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(s) / 2, threads);
    int filter_flags = 0, *image_flags = (int *)calloc((size_t)s->batch, sizeof(int));
    int status = image_flags ? CONV_OK : CONV_NO_MEMORY;
    if (!status) status = winograd2_try(g, x, w, u, bias, relu, y, threads, image_flags, &filter_flags);
    gather one_image = *g;
    one_image.shape.batch = 1;
    for (ptrdiff_t image = 0; !status && image < s->batch; image++)
        if (!range_is_safe(filter_flags) || !range_is_safe(image_flags[image])) {
            took(TOOK_REDO); /* mark: fallback of winograd2 if redo by row_gemm */
            status = w ? run_gather(&one_image, x + image * s->in_rows * s->in_cols * s->in_channels, w, NULL,
                                    bias, relu, y + image * g->y_image_step, threads)
                       : CONV_OUT_OF_RANGE;
        }
    free(image_flags);
    return status;
}

/* ---- the forward op; and the input gradient at stride 1, whose only phase is a 3x3 gather ---- */

KERNEL ptrdiff_t winograd2_packed_bytes(const conv_problem *p) {
    const gather g = forward_gather(p);
    return winograd2_filter_bytes(&g);
}

KERNEL int winograd2_pack(const conv_problem *p, const real *w, real *packed, int threads) {
    const gather g = forward_gather(p);
    if (!winograd2_can(p)) return CONV_UNSUPPORTED;
    return range_is_safe(winograd2_transform_filters(&g, w, packed, threads)) ? CONV_OK : CONV_OUT_OF_RANGE;
}

KERNEL int winograd2_run(const conv_problem *p, const real *x, const real *w, const real *packed,
                         const real *bias, int relu, real *y, int threads) {
    const gather g = forward_gather(p);
    return winograd2_gather(&g, x, w, packed, bias, relu, y, threads); /* mark: kernel of winograd2/y */
}

KERNEL ptrdiff_t winograd2_input_packed_bytes(const conv_problem *p) {
    ptrdiff_t offset;
    const gather g = phase_gather(p, 0, 0, &offset);
    return winograd2_filter_bytes(&g);
}

KERNEL int winograd2_input_pack(const conv_problem *p, const real *w, real *packed, int threads) {
    ptrdiff_t offset;
    const gather g = phase_gather(p, 0, 0, &offset);
    if (!winograd2_can(p) || !winograd2_can(&g.shape)) return CONV_UNSUPPORTED;
    return range_is_safe(winograd2_transform_filters(&g, w, packed, threads)) ? CONV_OK : CONV_OUT_OF_RANGE;
}

KERNEL int winograd2_input_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                               const real *bias, int relu, real *dx, int threads) {
    ptrdiff_t offset;
    const gather g = phase_gather(p, 0, 0, &offset);
    if (!winograd2_can(p)) return CONV_UNSUPPORTED;
    return winograd2_gather(&g, dy, w, packed, bias, relu, dx, threads); /* mark: kernel of winograd2/dx */
}
