/* winograd's filter gradient: the matrices of winograd.h transposed.

     y = A' [ (G g G') * V ] A   is linear in g, so   dw = G' [ V * (A dy A') ] G,   summed over tiles:

                 tiles of a block                 out_channels
        in_     [      V'        ]  x  [ A dy A' ]        one such product for each slot: 16 for a 3x3, with
        channels                                          A dy A' of the slot's element

     for each block of tiles, in some planes of outputs     (its V and A dy A' stay in the second-level cache)
       transform dy, and x in the planes that these read    <- threads share the tiles,
       for each slot, panel of out_channels, tap in depth,
         14 in_channels: M += V' (A dy A')                  <- these: pixel_tile.h,
     for each tap in depth, patch and panel: G' M G         <- and these

   A tap in depth pairs each plane of dy with one of x, so each transform serves all of them.

   Gain over pixel_gemm: as many fewer multiply-adds as winograd has. (Lavin and Gray 2016, section 4.)

   Order of summation in every cell: block, plane, tile, then G' M G. Blocks depend on the shape only, so the bits
   do not depend on the number of threads.
   Non-finite, huge or tiny data, as winograd.h says of an image: pixel_gemm computes all of dw instead.
   Scratch: the two transforms of one block, at least of one tile in one plane of outputs; and M, which is the
   filter transformed. */

typedef struct {
    const gather *g;
    const winograd_layout *l;
    const real *x, *dy;
    real *v, *d, *m, *dw;
    ptrdiff_t planes, down;            /* of outputs in a block, and of V from one to the next */
    ptrdiff_t d_plane, d_step, m_step; /* from a plane, a panel's element, or a slot to the next */
    int *image_flags;
} winograd_gradient_call;

/* Computes A dy A' of some tiles and one panel: [elements][tiles][width]. */
INLINE void winograd_transform_gradients(const int down, const int across, const gather *g,
                                         const winograd_layout *l, const real *dy, ptrdiff_t first, ptrdiff_t past, ptrdiff_t width,
                                         ptrdiff_t columns, real *d, ptrdiff_t d_step, range_seen *range) {
    const int n = elements_of(down), m = elements_of(across), tile_rows = outputs_of(down),
              tile_cols = outputs_of(across);
    tile_place at = winograd_place(l, first);
    for (ptrdiff_t i = first; i < past; i++, winograd_next(l, &at), d += width) {
        const real *corner = dy + at.image * g->y_image_step + tile_rows * at.row * g->y_row_step
                             + tile_cols * at.col * g->y_col_step;
        const ptrdiff_t rows = g->shape.out_rows - tile_rows * at.row,
                        cols = g->shape.out_cols - tile_cols * at.col;
        for (ptrdiff_t c = 0; c < width; c += LANES) {
            vec in[4 * 4], t[4 * 6], line[6];
            UNROLL(16)
            for (int e = 0; e < tile_rows * tile_cols; e++) {
                const real *from = corner + e / tile_cols * g->y_row_step + e % tile_cols * g->y_col_step + c;
                in[e] = e / tile_cols >= rows || e % tile_cols >= cols ? (vec){0}
                        : columns - c >= LANES                         ? load(from)
                                                                       : load_part(from, columns - c);
                look_at(range, in[e]);
            }
            UNROLL(4)
            for (int j = 0; j < tile_cols; j++) {
                winograd_output_gradient_line(down, in + j, tile_cols, line);
                UNROLL(6)
                for (int e = 0; e < n; e++) t[e * tile_cols + j] = line[e];
            }
            UNROLL(6)
            for (int e = 0; e < n; e++) {
                winograd_output_gradient_line(across, t + e * tile_cols, 1, line);
                UNROLL(6)
                for (int f = 0; f < m; f++) store(d + (e * m + f) * d_step + c, line[f]);
            }
        }
    }
}

/* Computes G' M G of one patch and panel. products: [elements][in_channels][width]. */
INLINE void winograd_finish_gradient(const int down, const int across, const conv_problem *s,
                                     const winograd_layout *l, const winograd_patch *p, const real *products,
                                     ptrdiff_t m_step, ptrdiff_t width, ptrdiff_t columns, real *dw) {
    const int n = elements_of(down), m = elements_of(across), tap_rows = taps_of(down), tap_cols = taps_of(across);
    for (ptrdiff_t k = 0; k < l->depth; k++)
        for (ptrdiff_t c = 0; c < width; c += LANES) {
            vec column[6], t[6 * 3], lines[3 * 6], out[3];
            UNROLL(6)
            for (int j = 0; j < m; j++) {
                UNROLL(6)
                for (int e = 0; e < n; e++) column[e] = load(products + (e * m + j) * m_step + k * width + c);
                winograd_filter_gradient_line(down, column, 1, t + j * 3);
                UNROLL(3)
                for (int r = 0; r < tap_rows; r++) lines[r * m + j] = t[j * 3 + r];
            }
            UNROLL(3)
            for (int r = 0; r < tap_rows; r++) {
                winograd_filter_gradient_line(across, lines + r * m, 1, out);
                UNROLL(3)
                for (int q = 0; q < tap_cols; q++) {
                    const ptrdiff_t tap = (p->rows.first_tap + r * l->rows.step) * s->filter_cols
                                          + p->cols.first_tap + q * l->cols.step;
                    finish_sum(dw + (tap * l->depth + k) * s->out_channels + c, out[q], NULL, columns - c,
                               0);
                }
            }
        }
}

typedef struct {
    void (*gradients)(const gather *g, const winograd_layout *l, const real *dy, ptrdiff_t first,
                      ptrdiff_t past, ptrdiff_t width, ptrdiff_t columns, real *d, ptrdiff_t d_step,
                      range_seen *range);
    void (*finish)(const conv_problem *s, const winograd_layout *l, const winograd_patch *p,
                   const real *products, ptrdiff_t m_step, ptrdiff_t width, ptrdiff_t columns, real *dw);
} winograd_gradient_stages;

#define STAGES(down, across)                                                                                     \
    KERNEL void winograd_gradients_##down##across(const gather *g, const winograd_layout *l, const real *dy,     \
                                          ptrdiff_t first, ptrdiff_t past, ptrdiff_t width,              \
                                          ptrdiff_t columns, real *d, ptrdiff_t d_step,                  \
                                          range_seen *range) {                                           \
        winograd_transform_gradients(down, across, g, l, dy, first, past, width, columns, d, d_step, range);     \
    }                                                                                                    \
    KERNEL void winograd_finish_##down##across(const conv_problem *s, const winograd_layout *l,                  \
                                       const winograd_patch *p, const real *products, ptrdiff_t m_step,  \
                                       ptrdiff_t width, ptrdiff_t columns, real *dw) {                   \
        winograd_finish_gradient(down, across, s, l, p, products, m_step, width, columns, dw);                   \
    }
ALL_STAGES(STAGES)
#undef STAGES
#define STAGES(down, across) [down][across] = {winograd_gradients_##down##across, winograd_finish_##down##across},
static const winograd_gradient_stages winograd_gradient_stages_of[8][8] = {ALL_STAGES(STAGES)};
#undef STAGES
#undef ALL_STAGES

/* A block: some tiles in some planes of outputs, and the planes of x that these read. */
typedef struct {
    ptrdiff_t first, past, out_plane, out_planes;
    ptrdiff_t in_plane, in_planes; /* that of the first output's first tap; how many are transformed */
    int resume;                    /* not the first block */
} winograd_gradient_block;

/* Finds the tiles of a plane in the part first..past-1 of all planes' tiles: those of a thread. */
INLINE int winograd_share_of_plane(const winograd_gradient_block *b, ptrdiff_t plane, ptrdiff_t planes,
                                   const crew_member *me, ptrdiff_t *start, ptrdiff_t *stop) {
    const ptrdiff_t tiles = b->past - b->first;
    *start = larger(0, share_start(planes * tiles, me->rank, me->size) - plane * tiles);
    *stop = smaller(tiles, share_start(planes * tiles, me->rank + 1, me->size) - plane * tiles);
    return *start < *stop;
}

/* Transforms x and dy of this thread's tiles of a block. Returns the range flags of dy. */
KERNEL int winograd_transform_share(const winograd_gradient_call *c, const winograd_gradient_block *b,
                                    const crew_member *me) {
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    ptrdiff_t start, stop;
    range_seen range = {0};
    for (ptrdiff_t i = 0; i < b->in_planes; i++) {
        const ptrdiff_t plane = b->in_plane + i / c->down * s->stride_planes + i % c->down;
        if (plane >= 0 && plane < s->in_planes && winograd_share_of_plane(b, i, b->in_planes, me, &start, &stop))
            winograd_inputs(c->g, l, c->x + plane * in_plane_numbers(s), b->first + start, b->first + stop,
                            c->v + i * l->plane_step + start * l->depth_step, c->image_flags);
    }
    for (ptrdiff_t i = 0; i < b->out_planes; i++)
        for (ptrdiff_t panel = 0;
             winograd_share_of_plane(b, i, b->out_planes, me, &start, &stop) && panel < l->panels; panel++) {
            const ptrdiff_t columns = smaller(2 * LANES, s->out_channels - panel * 2 * LANES),
                            width = columns > LANES ? 2 * LANES : LANES;
            winograd_gradient_stages_of[l->rows.form][l->cols.form].gradients(
                c->g, l, c->dy + (b->out_plane + i) * c->g->y_plane_step + panel * 2 * LANES, b->first + start,
                b->first + stop, width, columns,
                c->d + panel * l->elements * c->d_step + i * c->d_plane + start * width, c->d_step, &range);
        }
    return range_flags(&range);
}

/* Adds the block's products of one slot, panel, tap in depth and group of in_channels to M. */
KERNEL void winograd_gradient_job(const winograd_gradient_call *c, const winograd_gradient_block *b, ptrdiff_t job,
                                  ptrdiff_t groups) {
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    const ptrdiff_t group = job % groups, tap = job / groups % s->filter_planes,
                    panel = job / groups / s->filter_planes % l->panels,
                    slot = job / groups / s->filter_planes / l->panels, at = l->depth * group / groups,
                    rows = l->depth * (group + 1) / groups - at,
                    width = s->out_channels - panel * 2 * LANES > LANES ? 2 * LANES : LANES;
    const winograd_patch *p = l->patch;
    while (p->slot + p->elements <= slot) p++;
    ptrdiff_t first, past; /* of the planes of outputs whose tap in depth is inside */
    indices_inside(b->out_planes, s->stride_planes, b->in_plane + tap, s->in_planes, &first, &past);
    const real *d = c->d + (panel * l->elements + p->element[slot - p->slot]) * c->d_step + first * c->d_plane;
    pixel_walk walk = {.count = {1, past - first, 1, b->past - b->first},
                       .x_step = {0, c->down * l->plane_step, 0, l->depth_step},
                       .dy_step = {0, c->d_plane, 0, width},
                       .ahead = d,
                       .ending = {.columns = width, .resume = b->resume}};
    for (ptrdiff_t i = 0; i < rows; i++) walk.dw_starts[i] = i * width;
    pixel_tile_table[rows][0][width > LANES](
        &walk, c->v + slot * l->slot_step + (first * c->down + tap) * l->plane_step + at, d,
        c->m + ((tap * l->panels + panel) * l->slots + slot) * c->m_step + at * width);
}

KERNEL void winograd_gradient_patch(const winograd_gradient_call *c, ptrdiff_t job) {
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    const winograd_patch *p = l->patch + job % l->patches;
    const ptrdiff_t panel = job / l->patches % l->panels, tap = job / l->patches / l->panels,
                    columns = smaller(2 * LANES, s->out_channels - panel * 2 * LANES);
    winograd_gradient_stages_of[p->rows.form][p->cols.form].finish(
        s, l, p, c->m + ((tap * l->panels + panel) * l->slots + p->slot) * c->m_step, c->m_step,
        columns > LANES ? 2 * LANES : LANES, columns,
        c->dw + tap * s->filter_rows * s->filter_cols * l->depth * s->out_channels + panel * 2 * LANES);
}

/* Runs one thread's share of all blocks. Returns the range flags of dy. */
KERNEL int winograd_gradient_blocks(const void *call, const crew_member *me) {
    const winograd_gradient_call *c = (const winograd_gradient_call *)call;
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    const ptrdiff_t groups = divide_up(l->depth, TILE_PIXELS), products = l->slots * l->panels * s->filter_planes;
    int flags = 0;
    winograd_gradient_block b = {0};
    for (b.first = 0; b.first < l->tiles; b.first = b.past) {
        b.past = smaller(l->tiles, b.first + l->block_tiles);
        for (b.out_plane = 0; b.out_plane < s->out_planes; b.out_plane += c->planes) {
            b.out_planes = smaller(c->planes, s->out_planes - b.out_plane);
            b.in_plane = b.out_plane * s->stride_planes - s->pad_front;
            b.in_planes = (b.out_planes - 1) * c->down + s->filter_planes;
            flags |= winograd_transform_share(c, &b, me);
            meet(me); /* before the transforms are read */
            EACH_JOB_TAKEN(me, groups, job, products * groups, winograd_gradient_job(c, &b, job, groups));
            meet(me); /* before they are written to again */
            b.resume = 1;
        }
    }
    EACH_JOB(me, job, s->filter_planes * l->panels * l->patches, winograd_gradient_patch(c, job));
    return flags;
}

/* Sets the blocks. They take part of the second-level cache; more if M, which each block reads and writes, is
   large. Blocks of several planes overlap in x, so a volume has as many planes in a block as make that little
   work, and fewer tiles. Returns how many planes of outputs that is. */
INLINE ptrdiff_t winograd_lay_out_gradient(const conv_problem *p, ptrdiff_t down, winograd_layout *l) {
    /* V is read down its columns, whose lines would share a few sets of the first-level cache */
    if (l->depth_step * (ptrdiff_t)sizeof(real) % 1024 == 0) l->depth_step += LANES;
    l->panel_numbers = p->filter_planes * l->slots * (l->depth * 2 * LANES + LANES);
    const ptrdiff_t v_numbers = l->slots * l->depth_step, d_numbers = l->elements * l->panels * 2 * LANES,
                    most = (SCRATCH_BYTES - 65536) / (ptrdiff_t)sizeof(real),
                    fit = WINOGRAD_GRADIENT_BYTES / (ptrdiff_t)sizeof(real),
                    room = larger(fit, smaller(most, l->panel_numbers / 2 * l->panels)),
                    overlap = (p->filter_planes - down) * v_numbers, plane = down * v_numbers + d_numbers,
                    enough = larger(1, smaller(p->out_planes, 4 * (p->filter_planes - down))),
                    planes = larger(1, smaller(enough, (room - overlap) / plane));
    l->block_tiles = larger(1, smaller(l->tiles, room / (overlap + planes * plane)));
    l->block_tiles = divide_up(l->tiles, divide_up(l->tiles, l->block_tiles));
    l->planes = (planes - 1) * down + p->filter_planes;
    l->plane_step = l->block_tiles * l->depth_step, l->slot_step = l->planes * l->plane_step + LANES;
    return planes;
}

/* Computes dw. Returns CONV_OUT_OF_RANGE if the transforms cannot handle the data. */
KERNEL int winograd_filter_try(int tile, const conv_problem *p, const real *x, const real *dy, real *dw,
                               int threads) {
    const gather g = forward_gather(p);
    winograd_layout l = winograd_lay_out_tiles(tile, p);
    const ptrdiff_t down = smaller(p->stride_planes, p->filter_planes), /* planes between are not read */
                    planes = winograd_lay_out_gradient(p, down, &l), d_plane = l.block_tiles * 2 * LANES,
                    d_step = planes * d_plane + LANES, v_numbers = l.slots * l.slot_step,
                    d_numbers = l.panels * l.elements * d_step,
                    m_numbers = checked_times(l.panel_numbers, l.panels);
    real *v = (real *)new_scratch(checked_times(checked_plus(v_numbers + d_numbers, m_numbers), sizeof(real)));
    int *image_flags = (int *)calloc((size_t)p->batch, sizeof(int)), status = CONV_NO_MEMORY, flags_of_x = 0;
    if (v && image_flags) {
        const winograd_gradient_call call = {.g = &g,
                                             .l = &l,
                                             .x = x,
                                             .dy = dy,
                                             .v = v,
                                             .d = v + v_numbers,
                                             .m = v + v_numbers + d_numbers,
                                             .dw = dw,
                                             .planes = planes,
                                             .down = down,
                                             .d_plane = d_plane,
                                             .d_step = d_step,
                                             .m_step = l.depth * 2 * LANES + LANES,
                                             .image_flags = image_flags};
        threads = useful_threads(problem_macs(p) / 2, threads);
        const int flags_of_dy = in_crew(threads, winograd_gradient_blocks, &call);
        for (ptrdiff_t image = 0; image < p->batch; image++) flags_of_x |= image_flags[image];
        status = range_is_safe(flags_of_x) && range_is_safe(flags_of_dy) ? CONV_OK : CONV_OUT_OF_RANGE;
    }
    free_scratch(v);
    free(image_flags);
    return status;
}

/* Writes zeros for the taps that read padding only. The other taps of their piece leave rounding errors there: a
   tap's gradient is a sum of elements, in which the inputs that other taps read cancel. */
KERNEL void winograd_clear_taps(const conv_problem *p, real *dw) {
    const ptrdiff_t numbers = p->in_channels * p->out_channels;
    for (ptrdiff_t tap = 0; tap < count_taps(p); tap++) {
        const ptrdiff_t row = tap / p->filter_cols % p->filter_rows, col = tap % p->filter_cols;
        ptrdiff_t first_row, past_row, first_col, past_col;
        indices_inside(p->out_rows, p->stride_rows, row - p->pad_top, p->in_rows, &first_row, &past_row);
        indices_inside(p->out_cols, p->stride_cols, col - p->pad_left, p->in_cols, &first_col, &past_col);
        if (first_row == past_row || first_col == past_col)
            memset(dw + tap * numbers, 0, sizeof(real) * (size_t)numbers);
    }
}

KERNEL int winograd_filter_run_by(int tile, const conv_problem *p, const real *x, const real *dy, real *dw,
                                  int threads) {
    if (!winograd_can(p)) return CONV_UNSUPPORTED;
    if (count_pixels(p) == 0 || p->out_channels == 0)
        return pixel_gemm_run(p, x, dy, dw, threads); /* a sum over nothing */
    /* mark: kernel of winograd/dw winograd4/dw */
    const int status = winograd_filter_try(tile, p, x, dy, dw, threads);
    if (status == CONV_OK) winograd_clear_taps(p, dw);
    if (status != CONV_OUT_OF_RANGE) return status;
    took(TOOK_REDO); /* mark: fallback of winograd/dw winograd4/dw if redo by pixel_gemm */
    return pixel_gemm_run(p, x, dy, dw, threads);
}

KERNEL int winograd_filter_run(const conv_problem *p, const real *x, const real *dy, real *dw, int threads) {
    return winograd_filter_run_by(2, p, x, dy, dw, threads);
}
KERNEL int winograd4_filter_run(const conv_problem *p, const real *x, const real *dy, real *dw, int threads) {
    return winograd_filter_run_by(4, p, x, dy, dw, threads);
}
