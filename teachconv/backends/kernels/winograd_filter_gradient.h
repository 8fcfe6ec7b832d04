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

/* What all threads of one winograd_filter_try share. */
typedef struct {
    const gather *g;
    const winograd_layout *l;
    const real *x, *dy;
    real *v, *d, *m, *dw;              /* d: [panel][elements][planes][tiles][width] */
    ptrdiff_t planes, down;            /* of outputs in a block, and of V from one to the next */
    ptrdiff_t d_plane, d_step, m_step; /* from a plane, a panel's element, or a slot to the next */
    int *image_flags;
} winograd_gradient_call;

/* A block: some tiles in some planes of outputs, and the planes of x that these read. */
typedef struct {
    ptrdiff_t first, past, out_plane, out_planes;
    ptrdiff_t in_plane, in_planes; /* that of the first output's first tap; how many are transformed */
    int parts, resume;             /* of a plane's tiles, for threads; whether it is not the first block */
} winograd_gradient_block;

/* Finds the tiles of a job that transforms a part of a plane. Returns the plane, counted in the block. */
INLINE ptrdiff_t winograd_part_of_plane(const winograd_gradient_block *b, ptrdiff_t job, ptrdiff_t *first,
                                        ptrdiff_t *past) {
    const int part = (int)(job % b->parts);
    *first = b->first + share_start(b->past - b->first, part, b->parts);
    *past = b->first + share_start(b->past - b->first, part + 1, b->parts);
    return job / b->parts;
}

/* Computes V of a part of a plane. */
KERNEL void winograd_gradient_inputs(const winograd_gradient_call *c, const winograd_gradient_block *b,
                                     ptrdiff_t job) {
    const conv_problem *s = &c->g->shape;
    ptrdiff_t first, past;
    const ptrdiff_t i = winograd_part_of_plane(b, job, &first, &past),
                    plane = b->in_plane + i / c->down * s->stride_planes + i % c->down;
    if (plane >= 0 && plane < s->in_planes && first < past)
        winograd_inputs(c->g, c->l, c->x + plane * in_plane_numbers(s), first, past,
                        c->v + i * c->l->plane_step + (first - b->first) * c->l->depth_step, c->image_flags);
}

/* Computes A dy A' of a part of a plane, in one panel. */
INLINE void winograd_transform_gradients(const int down, const int across, const winograd_gradient_call *c,
                                         const winograd_gradient_block *b, ptrdiff_t panel, ptrdiff_t job,
                                         range_seen *range) {
    const int n = elements_of(down), m = elements_of(across), tile_rows = outputs_of(down),
              tile_cols = outputs_of(across);
    const gather *g = c->g;
    ptrdiff_t first, past;
    const ptrdiff_t plane = winograd_part_of_plane(b, job, &first, &past),
                    columns = smaller(2 * LANES, g->shape.out_channels - panel * 2 * LANES),
                    width = columns > LANES ? 2 * LANES : LANES;
    const real *dy = c->dy + (b->out_plane + plane) * g->y_plane_step + panel * 2 * LANES;
    real *d = c->d + panel * c->l->elements * c->d_step + plane * c->d_plane + (first - b->first) * width;
    tile_place at = winograd_place(c->l, first);
    for (ptrdiff_t i = first; i < past; i++, winograd_next(c->l, &at), d += width) {
        const real *corner = dy + at.image * g->y_image_step + tile_rows * at.row * g->y_row_step
                             + tile_cols * at.col * g->y_col_step;
        const ptrdiff_t rows = g->shape.out_rows - tile_rows * at.row,
                        cols = g->shape.out_cols - tile_cols * at.col;
        for (ptrdiff_t k = 0; k < width; k += LANES) {
            vec in[4 * 4], t[4 * 6], line[6];
            UNROLL(16)
            for (int e = 0; e < tile_rows * tile_cols; e++) {
                const int inside = e / tile_cols < rows && e % tile_cols < cols;
                const real *from =
                    inside ? corner + e / tile_cols * g->y_row_step + e % tile_cols * g->y_col_step + k : corner;
                in[e] = !inside                ? (vec){0}
                        : columns - k >= LANES ? load(from)
                                               : load_part(from, columns - k);
                look_at(range, in[e]);
            }
            UNROLL(4)
            for (int j = 0; j < tile_cols; j++) {
                /* mark: gradient-transform of winograd/dw winograd4/dw */
                winograd_output_gradient_line(down, in + j, tile_cols, line);
                UNROLL(6)
                for (int e = 0; e < n; e++) t[e * tile_cols + j] = line[e];
            }
            UNROLL(6)
            for (int e = 0; e < n; e++) {
                winograd_output_gradient_line(across, t + e * tile_cols, 1, line);
                UNROLL(6)
                for (int f = 0; f < m; f++) store(d + (e * m + f) * c->d_step + k, line[f]);
            }
        }
    }
}

/* Computes G' M G of one patch, panel and tap in depth. */
INLINE void winograd_finish_gradient(const int down, const int across, const winograd_gradient_call *c,
                                     ptrdiff_t job) {
    const int n = elements_of(down), m = elements_of(across), tap_rows = taps_of(down), tap_cols = taps_of(across);
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    const winograd_patch *p = l->patch + job % l->patches;
    const ptrdiff_t panel = job / l->patches % l->panels, plane = job / l->patches / l->panels,
                    columns = smaller(2 * LANES, s->out_channels - panel * 2 * LANES),
                    width = columns > LANES ? 2 * LANES : LANES;
    const real *products = c->m + ((plane * l->panels + panel) * l->slots + p->slot) * c->m_step;
    for (ptrdiff_t i = 0; i < l->depth; i++)
        for (ptrdiff_t k = 0; k < width; k += LANES) {
            vec column[6], t[6 * 3], lines[3 * 6], out[3];
            UNROLL(6)
            for (int j = 0; j < m; j++) {
                UNROLL(6)
                for (int e = 0; e < n; e++) column[e] = load(products + (e * m + j) * c->m_step + i * width + k);
                /* mark: output-transform of winograd/dw winograd4/dw */
                winograd_filter_gradient_line(down, column, 1, t + j * 3);
                UNROLL(3)
                for (int r = 0; r < tap_rows; r++) lines[r * m + j] = t[j * 3 + r];
            }
            UNROLL(3)
            for (int r = 0; r < tap_rows; r++) {
                winograd_filter_gradient_line(across, lines + r * m, 1, out);
                UNROLL(3)
                for (int q = 0; q < tap_cols; q++) {
                    const ptrdiff_t tap_row = plane * s->filter_rows + p->rows.first_tap + r * l->rows.step,
                                    tap = tap_row * s->filter_cols + p->cols.first_tap + q * l->cols.step;
                    finish_sum(c->dw + (tap * l->depth + i) * s->out_channels + panel * 2 * LANES + k, out[q],
                               NULL, columns - k, 0);
                }
            }
        }
}

typedef struct {
    void (*gradients)(const winograd_gradient_call *c, const winograd_gradient_block *b, ptrdiff_t panel,
                      ptrdiff_t job, range_seen *range);
    void (*finish)(const winograd_gradient_call *c, ptrdiff_t job);
} winograd_gradient_stages;

#define STAGES(down, across)                                                                                         \
    KERNEL void winograd_gradients_##down##across(const winograd_gradient_call *c, const winograd_gradient_block *b, \
                                                  ptrdiff_t panel, ptrdiff_t job, range_seen *range) {               \
        winograd_transform_gradients(down, across, c, b, panel, job, range);                                         \
    }                                                                                                                \
    KERNEL void winograd_finish_##down##across(const winograd_gradient_call *c, ptrdiff_t job) {                     \
        winograd_finish_gradient(down, across, c, job);                                                              \
    }
ALL_STAGES(STAGES)
#undef STAGES
#define STAGES(down, across) [down][across] = {winograd_gradients_##down##across, winograd_finish_##down##across},
static const winograd_gradient_stages winograd_gradient_stages_of[8][8] = {ALL_STAGES(STAGES)};
#undef STAGES
#undef ALL_STAGES

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
                       .dy_step = {0, c->d_plane, 0, width}, .ahead = d,
                       .ending = {.columns = width, .resume = b->resume}};
    for (ptrdiff_t i = 0; i < rows; i++) walk.dw_starts[i] = i * width;
    pixel_tile_table[rows][0][width > LANES](
        &walk, c->v + slot * l->slot_step + (first * c->down + tap) * l->plane_step + at, d,
        c->m + ((tap * l->panels + panel) * l->slots + slot) * c->m_step + at * width);
}

/* Runs one thread's share of all blocks. Returns the range flags of dy. */
KERNEL int winograd_gradient_blocks(const void *call, const crew_member *me) {
    const winograd_gradient_call *c = (const winograd_gradient_call *)call;
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    const ptrdiff_t groups = divide_up(l->depth, TILE_PIXELS), products = l->slots * l->panels * s->filter_planes;
    const winograd_gradient_stages *stages = &winograd_gradient_stages_of[l->rows.form][l->cols.form];
    range_seen range = {0};
    winograd_gradient_block b = {.parts = me->size};
    for (b.first = 0; b.first < l->tiles; b.first = b.past) {
        b.past = smaller(l->tiles, b.first + l->block_tiles);
        for (b.out_plane = 0; b.out_plane < s->out_planes; b.out_plane += c->planes) {
            b.out_planes = smaller(c->planes, s->out_planes - b.out_plane);
            b.in_plane = b.out_plane * s->stride_planes - s->pad_front;
            b.in_planes = (b.out_planes - 1) * c->down + s->filter_planes;
            EACH_JOB(me, job, b.in_planes * b.parts, winograd_gradient_inputs(c, &b, job));
            for (ptrdiff_t panel = 0; panel < l->panels; panel++)
                EACH_JOB(me, job, b.out_planes * b.parts, stages->gradients(c, &b, panel, job, &range));
            meet(me); /* before the transforms are read */
            EACH_JOB_TAKEN(me, groups, job, products * groups, winograd_gradient_job(c, &b, job, groups));
            meet(me); /* before they are written to again */
            b.resume = 1;
        }
    }
    for (int i = 0; i < l->patches; i++) {
        const winograd_patch *p = &l->patch[i];
        EACH_JOB(me, job, s->filter_planes * l->panels,
                 winograd_gradient_stages_of[p->rows.form][p->cols.form].finish(c, job * l->patches + i));
    }
    return range_flags(&range);
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
        const winograd_gradient_call call = {.g = &g, .l = &l, .x = x, .dy = dy, .v = v, .d = v + v_numbers,
                                             .m = v + v_numbers + d_numbers, .dw = dw, .planes = planes,
                                             .down = down, .d_plane = d_plane, .d_step = d_step,
                                             .m_step = l.depth * 2 * LANES + LANES, .image_flags = image_flags};
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

KERNEL int winograd_filter_run(const conv_problem *p, const void *x, const void *dy, void *dw, int threads) {
    return winograd_filter_run_by(2, p, x, dy, dw, threads);
}
KERNEL int winograd4_filter_run(const conv_problem *p, const void *x, const void *dy, void *dw, int threads) {
    return winograd_filter_run_by(4, p, x, dy, dw, threads);
}
