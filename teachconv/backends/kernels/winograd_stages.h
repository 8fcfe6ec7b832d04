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
#define WINOGRAD_GRADIENT_BYTES (500 * 1024) /* winograd_filter_gradient.h */

/* Of the rows and the columns together. */
enum {
    WINOGRAD_ELEMENTS = WINOGRAD_MOST_ELEMENTS * WINOGRAD_MOST_ELEMENTS,
    WINOGRAD_PATCHES = WINOGRAD_MOST_PIECES * WINOGRAD_MOST_PIECES
};

/* A patch of the filter: a piece of the rows with a piece of the columns. */
typedef struct {
    winograd_piece rows, cols;
    int elements, slot;               /* a slot is an element of a patch; here is the first one */
    int element[WINOGRAD_ELEMENTS];   /* to which element of the tile each is added */
} winograd_patch;

typedef struct {
    winograd_axis rows, cols;
    int patches, elements, slots;
    ptrdiff_t tiles; /* of the batch */
    int once;        /* the filter is transformed before all blocks */
    ptrdiff_t block_tiles, blocks, round_tiles;
    ptrdiff_t depth, depth_step;     /* in_channels; rounded up to vectors */
    ptrdiff_t planes;                /* of V: as many as the filter has; more in a block of the filter gradient */
    ptrdiff_t plane_step, slot_step; /* numbers from V of a plane, of a slot, to that of the next */
    ptrdiff_t panel_numbers, panels;
    winograd_patch patch[WINOGRAD_PATCHES];
    /* The product of an element is a sum of runs, one for each tap in depth and patch that has the element. V has
       the slots patch by patch, so each run begins somewhere; U has the runs of an element side by side. */
    ptrdiff_t runs[WINOGRAD_ELEMENTS], v_starts[WINOGRAD_ELEMENTS][WINOGRAD_PATCHES];
    ptrdiff_t u_starts[WINOGRAD_ELEMENTS];
} winograd_layout;

INLINE void winograd_lay_out_patches(winograd_layout *l) {
    const int across = elements_of(l->cols.form);
    l->patches = l->slots = 0, l->elements = elements_of(l->rows.form) * across;
    for (int i = 0; i < l->rows.pieces * l->cols.pieces; i++) {
        winograd_patch *p = &l->patch[l->patches++];
        p->rows = l->rows.piece[i / l->cols.pieces], p->cols = l->cols.piece[i % l->cols.pieces];
        const int m = elements_of(p->cols.form);
        p->elements = elements_of(p->rows.form) * m, p->slot = l->slots;
        l->slots += p->elements;
        for (int e = 0; e < p->elements; e++) p->element[e] = e / m * across + e % m;
    }
}

INLINE void winograd_lay_out_runs(winograd_layout *l) {
    ptrdiff_t start = 0;
    memset(l->runs, 0, sizeof l->runs);
    for (const winograd_patch *p = l->patch; p < l->patch + l->patches; p++)
        for (int e = 0; e < p->elements; e++)
            l->v_starts[p->element[e]][l->runs[p->element[e]]++] = (p->slot + e) * l->slot_step;
    for (int e = 0; e < l->elements; e++) {
        l->u_starts[e] = start;
        /* + LANES, here and in slot_step: streams a power of two apart would share one cache set */
        start += l->planes * l->runs[e] * l->depth * 2 * LANES + LANES;
    }
    l->panel_numbers = start;
}

/* Returns the part of the layout that does not depend on blocks. */
INLINE winograd_layout winograd_lay_out_tiles(int tile, const conv_problem *s) {
    winograd_layout l;
    l.rows = winograd_rows(tile, s), l.cols = winograd_cols(tile, s);
    winograd_lay_out_patches(&l);
    l.tiles = s->batch * l.rows.tiles * l.cols.tiles;
    l.depth = s->in_channels, l.planes = s->filter_planes;
    l.depth_step = divide_up(l.depth, LANES) * LANES;
    l.panels = divide_up(s->out_channels, 2 * LANES);
    return l;
}

/* Returns the bytes of the table of runs, in whole cache lines: see winograd_depth. */
INLINE ptrdiff_t winograd_table_bytes(const winograd_layout *l) {
    return divide_up(l->elements * l->planes * l->patches * (ptrdiff_t)sizeof(ptrdiff_t), LINE_BYTES) * LINE_BYTES;
}

INLINE winograd_layout winograd_lay_out(int tile, const gather *g, int packed, int threads) {
    const conv_problem *s = &g->shape;
    winograd_layout l = winograd_lay_out_tiles(tile, s);
    const ptrdiff_t tile_bytes = l.slots * l.planes * l.depth_step * (ptrdiff_t)sizeof(real);
    const ptrdiff_t group_bytes = l.elements * TILE_PIXELS * 2 * VECTOR_BYTES;
    l.round_tiles = larger(1, WINOGRAD_ROUND_BYTES / group_bytes) * TILE_PIXELS;
    const ptrdiff_t fit = TILE_PIXELS * larger(divide_up(WINOGRAD_LEAST_TILES, TILE_PIXELS),
                                               WINOGRAD_BLOCK_BYTES / tile_bytes / TILE_PIXELS),
                    panel_bytes = l.slots * l.planes * l.depth * 2 * VECTOR_BYTES,
                    room = SCRATCH_BYTES - 16384 - l.round_tiles / TILE_PIXELS * group_bytes
                           - winograd_table_bytes(&l);
    l.once = packed || s->out_planes > 1 || panel_bytes > WINOGRAD_PANEL_BYTES || l.tiles > (room - panel_bytes) / tile_bytes
             || (l.tiles > fit && l.tiles > s->out_channels);
    l.block_tiles = l.once ? smaller(l.tiles, larger(1, smaller(room / tile_bytes, fit))) : l.tiles;
    if (l.tiles > l.block_tiles)
        l.block_tiles = smaller(l.block_tiles, larger(TILE_PIXELS, even_block(l.tiles, l.block_tiles, threads)));
    l.blocks = l.block_tiles ? divide_up(l.tiles, l.block_tiles) : 0;
    l.plane_step = l.block_tiles * l.depth_step, l.slot_step = l.planes * l.plane_step + LANES;
    winograd_lay_out_runs(&l);
    return l;
}

/* ---- the stages; the forms of rows and columns, and so their n and m elements, are constants in each of their
   copies, so that the loops unroll ---- */

/* The place of a tile: tiles follow each other column by column, row by row, image by image. */
typedef struct {
    ptrdiff_t image, row, col;
} tile_place;

INLINE tile_place winograd_place(const winograd_layout *l, ptrdiff_t tile) {
    return (tile_place){tile / l->cols.tiles / l->rows.tiles, tile / l->cols.tiles % l->rows.tiles,
                        tile % l->cols.tiles};
}

/* Goes on to the next tile. The divisions of winograd_place take as long as the transform of a vector. */
INLINE void winograd_next(const winograd_layout *l, tile_place *at) {
    if (++at->col < l->cols.tiles) return;
    at->col = 0;
    if (++at->row < l->rows.tiles) return;
    at->row = 0, at->image++;
}

/* Where the inputs of one piece of a tile are, one for each element. */
typedef struct {
    const real *corner; /* the first input, if the image holds all; the others lie row_step and col_step on */
    ptrdiff_t row_step, col_step;
    const real *each[WINOGRAD_ELEMENTS]; /* if corner is NULL: every input; zeros where it is padding */
    ptrdiff_t inside[WINOGRAD_ELEMENTS]; /* -1, or 0 for padding: zeros stay where they are as channels go on */
    int border;                          /* whether the tile is at the border of the image */
} tile_inputs;

INLINE void winograd_find_inputs(const int n, const int m, const conv_problem *s, const winograd_layout *l,
                                 const winograd_patch *p, const real *x, tile_place at, tile_inputs *in) {
    static const real zeros[LANES];
    /* mark: padding of winograd winograd2 winograd4 */
    const ptrdiff_t row = l->rows.step * outputs_of(l->rows.form) * at.row + p->rows.first_tap - s->pad_top,
                    col = l->cols.step * outputs_of(l->cols.form) * at.col + p->cols.first_tap - s->pad_left,
                    past_row = row + l->rows.step * (n - 1), past_col = col + l->cols.step * (m - 1);
    /* mark: stride of winograd/y winograd/dw winograd4/y winograd4/dw */
    in->col_step = l->cols.step * s->in_channels, in->row_step = l->rows.step * s->in_cols * s->in_channels;
    const real *image = x + at.image * in_image_numbers(s);
    if (row >= 0 && col >= 0 && past_row < s->in_rows && past_col < s->in_cols) {
        in->corner = image + (row * s->in_cols + col) * s->in_channels;
        in->border =
            at.row == 0 || at.col == 0 || at.row == l->rows.tiles - 1 || at.col == l->cols.tiles - 1;
        return;
    }
    in->corner = NULL, in->border = 1;
    for (int e = 0; e < n * m; e++) {
        const ptrdiff_t in_row = row + l->rows.step * (e / m), in_col = col + l->cols.step * (e % m);
        const int inside = in_row >= 0 && in_row < s->in_rows && in_col >= 0 && in_col < s->in_cols;
        /* do not form pointers far outside the image: undefined behaviour */
        in->each[e] = inside ? image + (in_row * s->in_cols + in_col) * s->in_channels : zeros;
        in->inside[e] = -inside;
    }
}

/* Transforms the `lanes` channels of a piece of a tile that begin at c into n * m of the matrices V. */
INLINE void winograd_transform_vector(const int down, const int across, const tile_inputs *in,
                                      int first_of_phase, ptrdiff_t c, ptrdiff_t lanes, real *v,
                                      ptrdiff_t slot_step, range_seen *range) {
    const int n = elements_of(down), m = elements_of(across), rows = outputs_of(down), cols = outputs_of(across);
    vec d[WINOGRAD_ELEMENTS];
    _Alignas(64) real copied[WINOGRAD_ELEMENTS * LANES];
    const real *from = copied;
    ptrdiff_t row_step = m * LANES, col_step = LANES;
    const int masked = ISA_LEVEL == 2; /* a part of a vector is loaded like a whole one */
    if (in->corner && (masked || lanes == LANES))
        from = in->corner + c, row_step = in->row_step, col_step = in->col_step;
    else
        for (int e = 0; e < n * m; e++)
            store(copied + e * LANES,
                  load_part(in->corner ? in->corner + e / m * in->row_step + e % m * in->col_step + c
                                       : in->each[e] + (in->inside[e] & c),
                            lanes));
    UNROLL(36)
    for (int e = 0; e < n * m; e++) {
        const real *at = from + e / m * row_step + e % m * col_step;
        d[e] = masked ? load_part(at, lanes) : load(at);
    }
    /* tiles overlap: away from the border, the first inputs of all tiles cover each input once, if the patch is
       the first of its phase */
    if (in->border) {
        UNROLL(36)
        for (int e = 0; e < n * m; e++) look_at(range, d[e]);
    } else if (first_of_phase) {
        UNROLL(16)
        for (int e = 0; e < rows * cols; e++) look_at(range, d[e / cols * m + e % cols]);
    }
    UNROLL(6)
    for (int i = 0; i < m; i++) winograd_input_line(down, d + i, m); /* mark: input-transform of winograd winograd2 winograd4 */
    UNROLL(6)
    for (int i = 0; i < n; i++) winograd_input_line(across, d + m * i, 1);
    UNROLL(36)
    for (int e = 0; e < n * m; e++) store(v + e * slot_step + c, d[e]);
}

/* Transforms one piece of the block's tiles, and adds the range flags of each image to image_flags. */
INLINE void winograd_transform_inputs(const int down, const int across, const conv_problem *s,
                                      const winograd_layout *l, const winograd_patch *p, const real *x,
                                      ptrdiff_t first, ptrdiff_t past, real *v, int *image_flags) {
    const ptrdiff_t depth = l->depth, slot_step = l->slot_step;
    const int first_of_phase = p->rows.first_tap < l->rows.step && p->cols.first_tap < l->cols.step;
    range_seen range = {0};
    tile_inputs in = {0};
    tile_place at = winograd_place(l, first);
    for (ptrdiff_t i = first; i < past; i++, v += l->depth_step) {
        winograd_find_inputs(elements_of(down), elements_of(across), s, l, p, x, at, &in);
        for (ptrdiff_t c = 0; c < depth; c += LANES)
            winograd_transform_vector(down, across, &in, first_of_phase, c, smaller(LANES, depth - c), v,
                                      slot_step, &range);
        const ptrdiff_t image = at.image;
        winograd_next(l, &at);
        if (i + 1 == past || at.image > image) {
            const int flags = range_flags(&range);
            set_bits(&image_flags[image], flags);
            memset(&range, 0, sizeof range);
        }
    }
}

/* Computes U of one piece, plane of the filter and panel: [in_channels][width] at u[e] for each of its elements.
   Returns the range flags of its taps. */
INLINE int winograd_transform_taps(const int down, const int across, const gather *g,
                                   const winograd_layout *l, const winograd_patch *p, const real *w,
                                   ptrdiff_t plane, ptrdiff_t panel, ptrdiff_t columns, ptrdiff_t width,
                                   real *const *u) {
    const int n = elements_of(down), m = elements_of(across), tap_cols = taps_of(across),
              taps_in_all = taps_of(down) * tap_cols;
    const ptrdiff_t depth = l->depth, first_column = panel * 2 * LANES, out_channels = g->shape.out_channels,
                    row_taps = l->rows.step * g->shape.filter_cols,
                    first_tap = (plane * g->shape.filter_rows + p->rows.first_tap) * g->shape.filter_cols
                                + p->cols.first_tap;
    /* if w already has the order needed, it is read in place; otherwise 16 channels at a time are packed
       first, [tap][16 channels][width], so that they stay in the first-level cache */
    const int in_place = !g->swapped && columns == width;
    _Alignas(64) real packed[9 * 16 * 2 * 16];
    const ptrdiff_t k_step = in_place ? out_channels : width,
                    tap_row_step = in_place ? row_taps * depth * out_channels : tap_cols * 16 * width,
                    tap_col_step = in_place ? l->cols.step * depth * out_channels : 16 * width;
    range_seen range = {0};
    for (ptrdiff_t first = 0; first < depth; first += 16) {
        const ptrdiff_t count = smaller(16, depth - first);
        const real *from = in_place ? w + (first_tap * depth + first) * out_channels + first_column : packed;
        for (int e = 0; e < (in_place ? 0 : taps_in_all); e++) {
            const ptrdiff_t tap = first_tap + e / tap_cols * row_taps + e % tap_cols * l->cols.step;
            pack_panel(g, w, 0, first_column, columns, width, tap * depth + first,
                       tap * depth + first + count, packed + e * 16 * width);
        }
        for (ptrdiff_t i = 0; i < count * width; i += LANES) {
            const real *at = from + i / width * k_step + i % width;
            vec taps[9], line[WINOGRAD_MOST_ELEMENTS], t[3 * WINOGRAD_MOST_ELEMENTS];
            UNROLL(9)
            for (int e = 0; e < taps_in_all; e++) {
                const real *tap = at + e / tap_cols * tap_row_step + e % tap_cols * tap_col_step;
                if (in_place) PREFETCH(tap + 16 * k_step, 3);
                taps[e] = load(tap);
                look_at(&range, taps[e]);
            }
            UNROLL(3)
            for (int j = 0; j < tap_cols; j++) {
                /* mark: filter-transform of winograd/y winograd/dx winograd2 winograd4/y winograd4/dx */
                winograd_filter_line(down, taps + j, tap_cols, line);
                UNROLL(6)
                for (int e = 0; e < n; e++) t[e * tap_cols + j] = line[e];
            }
            UNROLL(6)
            for (int e = 0; e < n; e++) {
                winograd_filter_line(across, t + e * tap_cols, 1, line);
                UNROLL(6)
                for (int f = 0; f < m; f++) store(u[e * m + f] + first * width + i, line[f]);
            }
        }
    }
    return range_flags(&range);
}

/* Transforms the products of each tile of a round into its outputs.
   products: [elements][round_tiles][width]. */
INLINE void winograd_transform_outputs(const int down, const int across, const gather *g,
                                       const winograd_layout *l, const real *products, ptrdiff_t first_tile, ptrdiff_t tiles,
                                       ptrdiff_t width, ptrdiff_t columns, const real *bias, int relu,
                                       real *y) {
    const int n = elements_of(down), m = elements_of(across), tile_rows = outputs_of(down),
              tile_cols = outputs_of(across);
    const conv_problem *s = &g->shape;
    const ptrdiff_t step = l->round_tiles * width;
    tile_place at = winograd_place(l, first_tile);
    for (ptrdiff_t i = 0; i < tiles; i++, winograd_next(l, &at)) {
        real *corner = y + at.image * g->y_image_step + tile_rows * at.row * g->y_row_step
                       + tile_cols * at.col * g->y_col_step;
        const ptrdiff_t rows = smaller(tile_rows, s->out_rows - tile_rows * at.row),
                        cols = smaller(tile_cols, s->out_cols - tile_cols * at.col);
        for (ptrdiff_t c = 0; c < width; c += LANES) {
            vec column[6], t[6][4], lines[4 * 6], o[4][4];
            UNROLL(6)
            for (int j = 0; j < m; j++) {
                UNROLL(6)
                for (int e = 0; e < n; e++) column[e] = load(products + (e * m + j) * step + i * width + c);
                /* mark: output-transform of winograd/y winograd/dx winograd2 winograd4/y winograd4/dx */
                winograd_output_line(down, column, 1, t[j]);
                UNROLL(4)
                for (int r = 0; r < tile_rows; r++) lines[r * m + j] = t[j][r];
            }
            UNROLL(4)
            for (int r = 0; r < tile_rows; r++) winograd_output_line(across, lines + r * m, 1, o[r]);
            if (rows == tile_rows && cols == tile_cols) {
                UNROLL(4)
                for (int r = 0; r < tile_rows; r++) {
                    UNROLL(4)
                    for (int q = 0; q < tile_cols; q++)
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

/* The stages for one form along the rows and one along the columns: of a patch, or of the tile. */
typedef struct {
    void (*inputs)(const conv_problem *s, const winograd_layout *l, const winograd_patch *p, const real *x,
                   ptrdiff_t first, ptrdiff_t past, real *v, int *image_flags);
    int (*taps)(const gather *g, const winograd_layout *l, const winograd_patch *p, const real *w,
                ptrdiff_t plane, ptrdiff_t panel, ptrdiff_t columns, ptrdiff_t width, real *const *u);
    void (*outputs)(const gather *g, const winograd_layout *l, const real *products, ptrdiff_t first_tile,
                    ptrdiff_t tiles, ptrdiff_t width, ptrdiff_t columns, const real *bias, int relu, real *y);
} winograd_stages;

#define STAGES(down, across)                                                                                        \
    KERNEL void winograd_inputs_##down##across(const conv_problem *s, const winograd_layout *l,                     \
                                               const winograd_patch *p, const real *x, ptrdiff_t first,             \
                                               ptrdiff_t past, real *v, int *image_flags) {                         \
        winograd_transform_inputs(down, across, s, l, p, x, first, past, v, image_flags);                           \
    }                                                                                                               \
    KERNEL int winograd_taps_##down##across(const gather *g, const winograd_layout *l, const winograd_patch *p,     \
                                            const real *w, ptrdiff_t plane, ptrdiff_t panel, ptrdiff_t columns,     \
                                            ptrdiff_t width, real *const *u) {                                      \
        return winograd_transform_taps(down, across, g, l, p, w, plane, panel, columns, width, u);                  \
    }                                                                                                               \
    KERNEL void winograd_outputs_##down##across(const gather *g, const winograd_layout *l, const real *products,    \
                                                ptrdiff_t first_tile, ptrdiff_t tiles, ptrdiff_t width,             \
                                                ptrdiff_t columns, const real *bias, int relu, real *y) {           \
        winograd_transform_outputs(down, across, g, l, products, first_tile, tiles, width, columns, bias, relu, y); \
    }
#define ALL_STAGES(X) \
    X(1, 2) X(1, 3) X(1, 4) X(2, 1) X(2, 2) X(2, 3) X(2, 4) X(3, 1) X(3, 2) X(3, 3) X(3, 4) X(4, 1) X(4, 2) X(4, 3) X(4, 4) \
    X(1, 5) X(1, 6) X(1, 7) X(5, 1) X(5, 5) X(5, 6) X(5, 7) X(6, 1) X(6, 5) X(6, 6) X(6, 7) X(7, 1) X(7, 5) X(7, 6) X(7, 7)
ALL_STAGES(STAGES)
#undef STAGES
#define STAGES(down, across) [down][across] = {winograd_inputs_##down##across, winograd_taps_##down##across, winograd_outputs_##down##across},
static const winograd_stages winograd_stages_of[8][8] = {ALL_STAGES(STAGES)};
#undef STAGES

/* Computes V of a block's tiles in one plane, of which x is the first image's. */
KERNEL void winograd_inputs(const gather *g, const winograd_layout *l, const real *x, ptrdiff_t first,
                            ptrdiff_t past, real *v, int *image_flags) {
    for (const winograd_patch *p = l->patch; p < l->patch + l->patches; p++)
        winograd_stages_of[p->rows.form][p->cols.form].inputs(
            &g->shape, l, p, x, first, past, v + p->slot * l->slot_step, image_flags);
}

/* Computes U of one panel. Returns the range flags of the filter. */
KERNEL int winograd_filter(const gather *g, const winograd_layout *l, const real *w, ptrdiff_t panel, real *u) {
    const ptrdiff_t columns = smaller(2 * LANES, g->shape.out_channels - panel * 2 * LANES),
                    width = columns > LANES ? 2 * LANES : LANES;
    real *next[WINOGRAD_ELEMENTS], *to[WINOGRAD_ELEMENTS]; /* where each element's next run begins; the patch's */
    int flags = 0;
    for (int e = 0; e < l->elements; e++) next[e] = u + l->u_starts[e];
    for (ptrdiff_t plane = 0; plane < l->planes; plane++)
        for (const winograd_patch *p = l->patch; p < l->patch + l->patches; p++) {
            for (int e = 0; e < p->elements; e++) {
                to[e] = next[p->element[e]];
                next[p->element[e]] += l->depth * width;
            }
            flags |= winograd_stages_of[p->rows.form][p->cols.form].taps(g, l, p, w, plane, panel, columns, width, to);
        }
    return flags;
}

/* The taps in depth of one plane of outputs, without those in the padding, and their runs. */
typedef struct {
    ptrdiff_t first, count;
    ptrdiff_t *starts; /* in V, [elements][count][runs of the element] */
} winograd_depth;

/* Lists the runs. first_plane: the plane of x that tap 0 reads; V of a plane replaces that of an earlier one. */
INLINE void winograd_list_runs(const winograd_layout *l, ptrdiff_t first_plane, const winograd_depth *taps) {
    ptrdiff_t *start = taps->starts;
    for (int e = 0; e < l->elements; e++)
        for (ptrdiff_t tap = taps->first; tap < taps->first + taps->count; tap++)
            for (ptrdiff_t run = 0; run < l->runs[e]; run++)
                *start++ = l->v_starts[e][run] + (first_plane + tap) % l->planes * l->plane_step;
}

/* Computes one panel of a block in one plane: for each round of tiles the products, then the outputs. */
KERNEL void winograd_multiply(const gather *g, const winograd_layout *l, const winograd_depth *taps,
                              const real *v, const real *u, ptrdiff_t panel, ptrdiff_t first, ptrdiff_t past,
                              const real *bias, int relu, real *m, real *y) {
    const ptrdiff_t columns = smaller(2 * LANES, g->shape.out_channels - panel * 2 * LANES),
                    width = columns > LANES ? 2 * LANES : LANES, m_step = l->round_tiles * width;
    ptrdiff_t m_starts[TILE_PIXELS];
    const tile_ending ending = {NULL, width, 0, 0, u, 0, NULL};
    for (ptrdiff_t i = 0; i < TILE_PIXELS; i++) m_starts[i] = i * width;
    if (bias) bias += panel * 2 * LANES;
    for (ptrdiff_t start = first; start < past; start += l->round_tiles) {
        const ptrdiff_t count = smaller(l->round_tiles, past - start),
                        groups = divide_up(count, TILE_PIXELS);
        const ptrdiff_t *starts = taps->starts;
        for (int e = 0; e < l->elements; starts += taps->count * l->runs[e++])
            for (ptrdiff_t group = 0; group < groups; group++) {
                const ptrdiff_t at = count * group / groups, tiles = count * (group + 1) / groups - at;
                const tile_function multiply = tile_table[tiles][width > LANES];
                multiply(v + (start - first + at) * l->depth_step, l->depth_step, starts,
                         taps->count * l->runs[e], l->depth,
                         u + l->u_starts[e] + taps->first * l->runs[e] * l->depth * width, width,
                         m + e * m_step + at * width, m_starts, &ending);
            }
        winograd_stages_of[l->rows.form][l->cols.form].outputs(
            g, l, m, start, count, width, columns, bias, relu, y + panel * 2 * LANES);
    }
}
