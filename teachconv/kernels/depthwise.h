/* depthwise: groups == in_channels. Nothing is summed over channels, so the lanes of a vector are channels.

     for each image, for each strip of 4 out rows                     <- threads share these
       3x3 at stride 1 or 2, 5x5 at stride 1, with all tap rows inside:  tall tiles (depthwise_tiles.h), up to two rows
       otherwise:          tiles, row by row; border pixels one by one, with the taps inside

   If x and y exceed the caches, the results are streamed.

   LANES channels or more are not copied: if they are not a multiple of LANES, the last block begins earlier
   and computes some channels twice.
   With fewer channels, or several outputs per channel (the multiplier m: out_channel o reads in_channel o /
   m), each row is first copied to [block][col][LANES], with each channel repeated m times, and kept as long
   as taps read it.

   Order of summation in every cell: tap_row, tap_col. The bits are the same for any number of threads.
   Non-finite data: allowed everywhere. No padding is multiplied: pixels at the left and right border use only
   the taps inside the image.
   Scratch: copied rows only (64 KB), LANES channels at least of the rows that the taps reach. If those take
   more than 4 MB, some out columns are computed at a time, one at least. For a filter of more than 64 rows
   the result is CONV_UNSUPPORTED. */

enum { DEPTHWISE_STRIP = 4 };

/* tap rows in a table of pointers on the stack; filters with more are refused */
#define DEPTHWISE_MAX_ROWS 64

static inline int depthwise_can(const conv_problem *p) {
    return p->groups == p->in_channels && p->filter_rows <= DEPTHWISE_MAX_ROWS;
}

/* Returns w [taps][lanes] packed as [block][taps][LANES], with zeros beyond the lanes; NULL if there is not
   enough memory. reversed: from the last tap to the first. */
INLINE real *depthwise_packed(const conv_problem *p, const real *w, int step_back, int reversed) {
    const ptrdiff_t taps = p->filter_rows * p->filter_cols, lanes = p->out_channels;
    real *packed = (real *)new_scratch(checked_times(taps * divide_up(lanes, LANES) * LANES, sizeof(real))),
         *to = packed;
    for (ptrdiff_t lane = 0; packed && lane < lanes; lane += LANES) {
        const ptrdiff_t first = block_start(lane, lanes, step_back), count = smaller(LANES, lanes - first);
        for (ptrdiff_t tap = 0; tap < taps; tap++, to += LANES)
            store(to, load_part(w + (reversed ? taps - 1 - tap : tap) * lanes + first, count));
    }
    return packed;
}

/* Returns whether to stream the results: if x and y do not fit the caches together, and every vector is a
   whole cache line. */
INLINE int depthwise_streams(const conv_problem *p, const real *result, ptrdiff_t channels) {
    const double numbers = (double)p->in_rows * p->in_cols * p->in_channels
                           + (double)p->out_rows * p->out_cols * p->out_channels;
    return CAN_STREAM && p->batch * numbers * sizeof(real) > STREAM_BYTES && channels % LANES == 0
           && (uintptr_t)result % LINE_BYTES == 0;
}

/* Computes pixel `col` of `tall` rows from the taps that lie inside the image. */
INLINE void depthwise_border(const conv_problem *s, ptrdiff_t tall, int in_tall_tiles,
                             const depthwise_walk *k, const real *const *rows, ptrdiff_t x_start,
                             const real *w, const real *bias, ptrdiff_t col, real *y) {
    depthwise_walk border = *k;
    ptrdiff_t first_tap, past_tap;
    indices_inside(s->filter_cols, s->dilation_cols, col * s->stride_cols - s->pad_left, s->in_cols,
                   &first_tap, &past_tap);
    border.tap_cols = past_tap - first_tap;
    if (border.tap_cols == 0) border.tap_rows = 0, first_tap = 0;
    x_start += first_tap * k->x_tap, w += first_tap * k->w_tap;
    if (in_tall_tiles && s->filter_cols == 3 && border.tap_cols == 2)
        depthwise_tall_sides(tall, col, &border, rows, x_start, w, bias, y);
    else
        for (ptrdiff_t r = 0; r < tall; r++)
            depthwise_tiles(1, 1, &border, rows + r, x_start + col * k->x_pixel, w, bias,
                            y + r * k->y_row + col * k->y_pixel);
}

/* Computes one row of outputs, or `tall` rows in tall tiles, for the lanes of one group. w is packed; y points
   to the first row's first output. */
KERNEL void depthwise_row(const gather *g, const row_cache *cache, ptrdiff_t image, ptrdiff_t group,
                          const real *w, const depthwise_ending *ending, ptrdiff_t out_row,
                          ptrdiff_t tall, real *y) {
    const conv_problem *s = &g->shape;
    /* mark: stride of depthwise/y if rows adjacent tall */
    const ptrdiff_t in_row = out_row * s->stride_rows - s->pad_top, first_lane = group * cache->group_lanes;
    const ptrdiff_t taps = g->stored_cols * g->stored_rows, pixel = cache->pixel_step;
    const real *rows[DEPTHWISE_MAX_ROWS + TALL_TILE_ROWS - 1];
    ptrdiff_t first_row, past_row, first, past;
    /* mark: padding of depthwise/y if rows adjacent tall */
    indices_inside(s->filter_rows, s->dilation_rows, in_row, s->in_rows, &first_row, &past_row);
    for (ptrdiff_t tap = first_row; tap < past_row + tall - 1; tap++)
        /* mark: dilation of depthwise/y if rows adjacent tall */
        rows[tap - first_row] = cached_row(cache, s->in_rows, image, group, in_row + tap * s->dilation_rows);
    inner_columns(s, &first, &past);
    const int near = cache->channels * (ptrdiff_t)sizeof(real) < 1024;
    const depthwise_walk k = {.tap_rows = past_row - first_row,
                              .tap_cols = s->filter_cols,
                              .x_tap = s->dilation_cols * pixel,
                              .x_pixel = s->stride_cols * pixel,
                              .x_block = cache->block_step,
                              .w_tap = g->tap_col_step * LANES,
                              .w_row = g->tap_row_step * g->stored_cols * LANES,
                              .w_block = taps * LANES,
                              .y_pixel = g->y_col_step,
                              .y_row = g->y_row_step,
                              .lanes = past_lane(cache, group) - first_lane,
                              .x_ahead = near && cache->in_place ? DEPTHWISE_READ_AHEAD : 0,
                              .y_ahead = near ? DEPTHWISE_WRITE_AHEAD : 0,
                              .step_back = cache->in_place,
                              .relu = ending->relu,
                              .streams = ending->streams};
    const int adjacent = k.x_tap == pixel && k.x_pixel == pixel;
    const ptrdiff_t start = -s->pad_left * pixel, tiles = divide_up(past - first, DEPTHWISE_PIXELS);
    const ptrdiff_t tile = divide_up(past - first, larger(1, tiles)), rest = tile ? (past - first) % tile : 0;
    w += ((g->first_tap_row + first_row * g->tap_row_step) * g->stored_cols + g->first_tap_col) * LANES
         + first_lane * taps;
    const real *bias = ending->bias ? ending->bias + first_lane : NULL;
    y += first_lane;
    const int in_tall_tiles = tall_tiles_can(g, ending->streams) && k.tap_rows == s->filter_rows;
    for (ptrdiff_t i = 0; i < first + s->out_cols - past; i++) {
        const ptrdiff_t col = i < first ? i : past + i - first;
        depthwise_border(s, tall, in_tall_tiles, &k, rows, start, w, bias, col, y);
    }
    if (in_tall_tiles) {
        depthwise_tall_tiles(s->filter_cols, tall, first, past, &k, rows, start, w, bias, y);
        return;
    }
    for (ptrdiff_t pixels = tile, col = first; pixels > 0 && col < past; pixels = rest) {
        const ptrdiff_t count = (past - col) / pixels;
        (s->filter_cols >= DEPTHWISE_WIDE && adjacent ? depthwise_tiles_adjacent : depthwise_tiles)(
            pixels, count, &k, rows, start + col * k.x_pixel, w, bias, y + col * k.y_pixel);
        col += count * pixels;
    }
}

/* Computes up to DEPTHWISE_STRIP rows of outputs of one image. */
KERNEL void depthwise_rows(const gather *g, const row_cache *cache, ptrdiff_t image, ptrdiff_t group,
                           const real *w, const depthwise_ending *ending, ptrdiff_t first_row,
                           ptrdiff_t past_row, real *y) {
    const conv_problem *s = &g->shape;
    const int tall = s->stride_rows == 1 && tall_tiles_can(g, ending->streams);
    for (ptrdiff_t row = first_row, count; row < past_row; row += count) {
        ptrdiff_t first_tap, past_tap;
        indices_inside(s->filter_rows, s->dilation_rows, row * s->stride_rows - s->pad_top, s->in_rows,
                       &first_tap, &past_tap);
        /* as many as have all tap rows inside */
        const ptrdiff_t whole = past_tap - first_tap < s->filter_rows
                                    ? 1
                                    : smaller(past_row, s->in_rows - s->filter_rows + 1 + s->pad_top) - row;
        count = tall ? smaller(TALL_TILE_ROWS, whole) : 1;
        depthwise_row(g, cache, image, group, w, ending, row, count, y + row * g->y_row_step);
    }
}

/* What all threads of one depthwise_run share. */
typedef struct {
    const gather *g;
    const real *x, *packed;
    real *y;
    const depthwise_ending *ending;
    ptrdiff_t multiplier, slots, group_lanes;
    ptrdiff_t cols, held_cols;       /* out columns at a time, and the in columns that they reach */
    ptrdiff_t groups, parts, strips; /* of lanes, columns and rows */
} depthwise_call;

/* Computes strip `job`: of one image, one group of lanes, one part of the columns. */
KERNEL void depthwise_one_strip(const depthwise_call *c, row_cache *cache, ptrdiff_t job) {
    const conv_problem *p = &c->g->shape;
    const ptrdiff_t image = job / c->strips / c->parts / c->groups,
                    group = job / c->strips / c->parts % c->groups, part = job / c->strips % c->parts,
                    row = job % c->strips * DEPTHWISE_STRIP;
    const column_range range = forward_columns(p, part * c->cols, c->cols);
    gather g = *c->g;
    g.shape = in_columns(p, &range);
    show_columns(cache, range.first_in, range.past_in);
    depthwise_rows(&g, cache, image, group, c->packed, c->ending, row,
                   smaller(p->out_rows, row + DEPTHWISE_STRIP),
                   c->y + image * g.y_image_step + range.first_out * g.y_col_step);
}

/* Computes one thread's strips, with copied rows of its own. */
KERNEL int depthwise_strips(const void *call, const crew_member *me) {
    const depthwise_call *c = (const depthwise_call *)call;
    const conv_problem *p = &c->g->shape;
    const ptrdiff_t jobs = p->batch * c->groups * c->parts * c->strips;
    row_cache cache;
    const int ready = open_row_cache(&cache, c->x, p->batch * p->in_rows, p->in_cols, c->held_cols,
                                     p->in_channels, c->multiplier, c->group_lanes, c->slots, 1);
    EACH_JOB(me, job, jobs, if (ready) depthwise_one_strip(c, &cache, job));
    free_scratch(cache.rows);
    if (c->ending->streams) streams_end();
    return ready ? CONV_OK : CONV_NO_MEMORY;
}

/* Computes a gather: a whole problem, or its input gradient at stride 1. reversed: the filter is stored from the
   last tap to the first. */
KERNEL int depthwise_gather(const gather *g, const real *x, const real *w, int reversed, const real *bias,
                            int relu, real *y, int threads) {
    const conv_problem *p = &g->shape;
    const ptrdiff_t multiplier = p->out_channels / p->in_channels,
                    slots = slots_for((p->filter_rows - 1) * p->dilation_rows + TALL_TILE_ROWS, p->in_rows);
    const ptrdiff_t group_lanes = lanes_at_a_time(p->out_channels, multiplier, slots * p->in_cols);
    const int in_place = multiplier == 1 && p->out_channels >= LANES;
    const ptrdiff_t row_lanes = in_place ? 0 : slots * group_lanes, reach = reach_cols(p);
    const ptrdiff_t cols = columns_that_fit(p->out_cols, row_lanes * p->in_cols,
                                            row_lanes * (reach - p->stride_cols), row_lanes * p->stride_cols,
                                            scratch_numbers(slots));
    real *packed = depthwise_packed(p, w, in_place, reversed);
    if (!packed) return CONV_NO_MEMORY;
    const depthwise_ending ending = {bias, relu, depthwise_streams(p, y, p->out_channels)};
    const depthwise_call call = {.g = g,
                                 .x = x,
                                 .packed = packed,
                                 .y = y,
                                 .ending = &ending,
                                 .multiplier = multiplier,
                                 .slots = slots,
                                 .group_lanes = group_lanes,
                                 .cols = cols,
                                 .held_cols = held_columns(p, cols),
                                 .groups = divide_up(p->out_channels, group_lanes),
                                 .parts = divide_up(p->out_cols, cols),
                                 .strips = divide_up(p->out_rows, DEPTHWISE_STRIP)};
    const int status = in_crew(useful_threads(problem_macs(p) * 4, threads), depthwise_strips, &call);
    free_scratch(packed);
    return status;
}

KERNEL int depthwise_run(const conv_problem *p, const real *x, const real *w, const real *unused,
                         const real *bias, int relu, real *y, int threads) {
    (void)unused;
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->out_rows == 0 || p->out_cols == 0 || p->out_channels == 0) return CONV_OK;
    const gather g = forward_gather(p);
    return depthwise_gather(&g, x, w, 0, bias, relu, y, threads); /* mark: kernel of depthwise/y */
}
