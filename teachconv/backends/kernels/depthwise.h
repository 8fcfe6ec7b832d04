/* depthwise: groups == in_channels. Nothing is summed over channels, so the lanes of a vector are channels.

     for each image, for each strip of 4 out rows                     <- threads share these
       for each row, or pair of rows
         3x3 at stride 1 or 2, 5x5 at stride 1, with all tap rows inside:  tall tiles (depthwise_tiles.h)
         otherwise:          tiles, row by row; border pixels one by one, with the taps inside

   If x and y exceed the caches, the results are streamed.

   LANES channels or more are read in whole blocks: if they are not a multiple of LANES, the last block begins
   earlier and computes some channels twice. With several outputs per channel (the multiplier m: out_channel o
   reads in_channel o / m), a strip is computed for LANES out_channels at a time, and what it reads is first copied
   (depthwise_windows.h).

   The input gradient is the same gather over dy, phase by phase (see phases.h), with the taps read backwards: the
   filter is packed from its last tap to the first. A strip of 4 rows of dx is computed in all phases, each of which
   writes every stride-th pixel; 3x3 at stride 2 has tiles of all phases (depthwise_input_gradient.h). With a
   multiplier m, the m numbers of each channel are added one after the other.

   Order of summation in every cell: tap_row, tap_col; in the input gradient from the last tap of the phase to the
   first, then m. The bits are the same for any number of threads.
   Non-finite data: allowed everywhere. No padding is multiplied: pixels at the left and right border use only
   the taps inside the image.
   Scratch: copies only, 3 MB, or what 4 rows of 1 column of outputs reach of LANES channels. */

static inline int depthwise_can(const conv_problem *p) { return p->groups == p->in_channels; }

/* What all threads of one call share. y is the result: in the input gradient dx, while x is dy. */
typedef struct {
    const conv_problem *p;
    int gradient;
    window_source x;
    window_axis rows, cols;
    const real *packed, *bias; /* packed: [sum][block][taps][LANES] */
    real *y;
    int relu, streams, tiles;               /* tiles: those of depthwise_input_gradient.h */
    ptrdiff_t lanes, sums;                  /* channels of y; how many channels of x are added up in each */
    ptrdiff_t divisor;                      /* how many of them read the same channel of x */
    ptrdiff_t group_lanes, part_cols;       /* computed at a time */
    ptrdiff_t groups, parts, strips, shift; /* strip i begins at row 4 * i - shift */
} depthwise_call;

/* Returns w [taps][out_channels] packed as [sum][block][taps][LANES], for the input gradient from the last tap to
   the first; NULL if there is not enough memory. */
INLINE real *depthwise_packed(const depthwise_call *c, const real *w) {
    const ptrdiff_t taps = c->p->filter_rows * c->p->filter_cols, lanes = c->lanes;
    real *packed = (real *)new_scratch(
             checked_times(c->sums * taps * divide_up(lanes, LANES) * LANES, sizeof(real))),
         *to = packed;
    for (ptrdiff_t sum = 0; packed && sum < c->sums; sum++)
        for (ptrdiff_t lane = 0; lane < lanes; lane += LANES) {
            const ptrdiff_t first = c->x.whole ? smaller(lane, lanes - LANES) : lane;
            const lane_numbers n = numbers_of(c->sums, sum, 1, first, lanes - first);
            for (ptrdiff_t tap = 0; tap < taps; tap++, to += LANES)
                copy_lanes(&n, w + (c->gradient ? taps - 1 - tap : tap) * c->p->out_channels, to);
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

/* Computes all outputs of a gather over a window. walk: what does not depend on the gather. */
KERNEL void depthwise_gather(const gather *g, const window *x, const depthwise_walk *walk, const real *w, real *y) {
    const conv_problem *s = &g->shape;
    const int tall_can = tall_tiles_can(g, walk->streams);
    depthwise_walk k = *walk;
    k.prefetches = k.near && (k.streams || (!tall_can && s->filter_cols > 2)); /* else it does not pay */
    /* mark: dilation of depthwise/y if rows neon_rows tall */
    k.x_row = s->dilation_rows * x->row, k.x_tap = s->dilation_cols * x->pixel;
    k.x_pixel = s->stride_cols * x->pixel;
    k.w_tap = g->tap_col_step * LANES, k.w_row = g->tap_row_step * g->stored_cols * LANES;
    k.y_row = g->y_row_step, k.y_pixel = g->y_col_step;
    w += (g->first_tap_row * g->stored_cols + g->first_tap_col) * LANES;
    for (ptrdiff_t row = 0, tall; row < s->out_rows; row += tall, y += tall * k.y_row) {
        /* mark: stride of depthwise/y if rows neon_rows tall */
        const ptrdiff_t in_row = row * s->stride_rows - s->pad_top;
        ptrdiff_t first_row, past_row;
        /* mark: padding of depthwise/y if rows neon_rows tall */
        indices_inside(s->filter_rows, s->dilation_rows, in_row, s->in_rows, &first_row, &past_row);
        k.tap_rows = past_row - first_row;
        const int in_tall_tiles = tall_can && k.tap_rows == s->filter_rows;
        /* as many as have all tap rows inside */
        tall = in_tall_tiles && s->stride_rows == 1
                   ? smaller(TALL_TILE_ROWS, smaller(s->out_rows - row, s->in_rows - s->filter_rows + 1 - in_row))
                   : 1;
        for (column_run run = run_from(s, 0); run.first < s->out_cols; run = run_from(s, run.past)) {
            k.tap_cols = run.past_tap - run.first_tap;
            const ptrdiff_t in_col = run.first * s->stride_cols - s->pad_left + run.first_tap * s->dilation_cols,
                            from = (in_row + first_row * s->dilation_rows) * x->row + in_col * x->pixel;
            const real *at = x->first + (k.tap_rows && k.tap_cols ? from : 0),
                       *taps = w + first_row * k.w_row + run.first_tap * k.w_tap;
            real *to = y + run.first * k.y_pixel;
            if (in_tall_tiles && (k.tap_cols == s->filter_cols || (k.tap_cols == 2 && s->filter_cols == 3)))
                depthwise_tall_tiles(s->filter_cols, tall, run.past - run.first, &k, at, taps, to);
            else
                for (ptrdiff_t r = 0; r < tall; r++)
                    depthwise_row_tiles(run.past - run.first, &k, at + r * x->row, taps, to + r * k.y_row);
        }
    }
}

/* Returns phase (row, col) of the input gradient, or the forward op. */
static inline gather depthwise_phase(const depthwise_call *c, ptrdiff_t row, ptrdiff_t col) {
    ptrdiff_t offset;
    if (!c->gradient) return forward_gather(c->p);
    gather g = phase_gather(c->p, 0, row, col, &offset);
    /* as the filter is packed */
    g.first_tap_row = g.stored_rows - 1 - g.first_tap_row, g.tap_row_step = -g.tap_row_step;
    g.first_tap_col = g.stored_cols - 1 - g.first_tap_col, g.tap_col_step = -g.tap_col_step;
    if (g.shape.in_channels == 0) g.shape.filter_rows = g.shape.filter_cols = 0; /* no tap: zeros and bias */
    return g;
}

/* Returns the indices i of a phase, for which i * phases + phase lies in the span. */
static inline span phase_span(span s, ptrdiff_t phase, ptrdiff_t phases) {
    const span found = {ceil_divide(s.first - phase, phases), ceil_divide(s.past - phase, phases)};
    return found;
}

/* Computes strip `job`: of one image, one group of lanes, one part of the columns. copy: room for a window. */
KERNEL void depthwise_strip(const depthwise_call *c, real *copy, ptrdiff_t job) {
    const ptrdiff_t group = job / c->strips / c->parts % c->groups, first_lane = group * c->group_lanes,
                    image = job / c->strips / c->parts / c->groups,
                    row = job % c->strips * DEPTHWISE_STRIP - c->shift,
                    col = job / c->strips % c->parts * c->part_cols;
    const ptrdiff_t lanes = smaller(c->group_lanes, c->lanes - first_lane),
                    taps = c->p->filter_rows * c->p->filter_cols, blocks = divide_up(c->lanes, LANES);
    const ptrdiff_t row_phases = c->gradient ? c->rows.stride : 1, col_phases = c->gradient ? c->cols.stride : 1;
    const span rows = {larger(0, row), smaller(c->rows.outputs, row + DEPTHWISE_STRIP)},
               cols = {col, smaller(c->cols.outputs, col + c->part_cols)},
               in_rows = inputs_reached(&c->rows, rows), in_cols = inputs_reached(&c->cols, cols);
    /* the phases that the strip has, of what may be very many */
    const ptrdiff_t some_rows = smaller(row_phases, rows.past - rows.first),
                    some_cols = smaller(col_phases, cols.past - cols.first);
    real *y = c->y + image * c->rows.outputs * c->cols.outputs * c->lanes + first_lane;
    for (ptrdiff_t sum = 0; sum < c->sums; sum++) {
        const int last = sum + 1 == c->sums;
        const depthwise_walk k = {.w_block = taps * LANES, .lanes = lanes,
                                  .last_block = c->x.whole ? lanes - LANES : 0,
                                  .near = c->x.channels * (ptrdiff_t)sizeof(real) < 1024,
                                  .bias = last && c->bias ? c->bias + first_lane : NULL,
                                  .relu = last && c->relu, .adds = sum > 0,
                                  .in_parts = sum > 0 || lanes < LANES, .streams = c->streams};
        const real *w = c->packed + (sum * blocks + group) * k.w_block; /* whole: group is 0 */
        if (c->tiles) {
            depthwise_input_pairs(c->p, image, rows, &k, c->x.x, w, y);
            continue;
        }
        const lane_numbers n = numbers_of(c->sums, sum, c->divisor, first_lane, lanes);
        const window x = open_window(&c->x, image, in_rows, in_cols, &n, copy);
        for (ptrdiff_t i = 0; i < some_rows * some_cols; i++) {
            const ptrdiff_t r = (rows.first + i / some_cols) % row_phases, q = (cols.first + i % some_cols) % col_phases;
            const span phase_rows = phase_span(rows, r, row_phases), phase_cols = phase_span(cols, q, col_phases);
            gather g = depthwise_phase(c, r, q);
            restrict_to_window(&g.shape, phase_rows, phase_cols, in_rows, in_cols);
            depthwise_gather(&g, &x, &k, w,
                             y + ((phase_rows.first * row_phases + r) * c->cols.outputs
                                  + phase_cols.first * col_phases + q)
                                     * c->lanes);
        }
    }
}

/* Computes one thread's strips, with a window of its own. */
KERNEL int depthwise_strips(const void *call, const crew_member *me) {
    const depthwise_call *c = (const depthwise_call *)call;
    const ptrdiff_t jobs = c->p->batch * c->groups * c->parts * c->strips,
                    pixels = most_inputs(&c->rows, DEPTHWISE_STRIP) * most_inputs(&c->cols, c->part_cols);
    real *copy = c->x.whole ? NULL : (real *)new_scratch(checked_times(pixels * LANES, sizeof(real)));
    if (!c->x.whole && !copy) return CONV_NO_MEMORY;
    EACH_JOB(me, job, jobs, depthwise_strip(c, copy, job));
    free_scratch(copy);
    if (c->streams) streams_end();
    return CONV_OK;
}

/* Computes y from x, or dx from dy. */
KERNEL int depthwise_call_run(const conv_problem *p, int gradient, const real *x, const real *w, const real *bias,
                              int relu, real *y, int threads) {
    const window_axis rows = window_rows(p, gradient), cols = window_cols(p, gradient);
    const ptrdiff_t lanes = gradient ? p->in_channels : p->out_channels,
                    x_channels = gradient ? p->out_channels : p->in_channels,
                    multiplier = p->out_channels / p->in_channels, sums = gradient ? multiplier : 1;
    const int whole = multiplier == 1 && lanes >= LANES, tiles = gradient && whole && input_tiles_can(p);
    depthwise_call c = {.p = p, .gradient = gradient,
                        .x = {x, p->batch, rows.inputs, cols.inputs, x_channels, whole}, .rows = rows,
                        .cols = cols, .bias = bias, .y = y, .relu = relu,
                        .streams = sums == 1 && depthwise_streams(p, y, lanes), .tiles = tiles, .lanes = lanes,
                        .sums = sums, .divisor = gradient ? 1 : multiplier,
                        .group_lanes = whole ? lanes : LANES,
                        .part_cols = whole ? cols.outputs : columns_that_fit(&rows, &cols, 0),
                        .shift = tiles ? p->pad_top & 1 : 0};
    c.groups = divide_up(lanes, c.group_lanes), c.parts = divide_up(cols.outputs, c.part_cols);
    c.strips = divide_up(rows.outputs + c.shift, DEPTHWISE_STRIP);
    real *packed = depthwise_packed(&c, w);
    if (!packed) return CONV_NO_MEMORY;
    c.packed = packed;
    const int status = in_crew(useful_threads(problem_macs(p) * 4, threads), depthwise_strips, &c);
    free_scratch(packed);
    return status;
}

KERNEL int depthwise_run(const conv_problem *p, const void *x, const void *w, const void *unused,
                         const void *bias, int relu, void *y, int threads) {
    (void)unused;
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->out_rows == 0 || p->out_cols == 0 || p->out_channels == 0) return CONV_OK;
    return depthwise_call_run(p, 0, x, w, bias, relu, y, threads); /* mark: kernel of depthwise/y */
}

KERNEL int depthwise_input_run(const conv_problem *p, const void *dy, const void *w, const void *unused,
                               const void *bias, int relu, void *dx, int threads) {
    (void)unused;
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->in_rows == 0 || p->in_cols == 0 || p->in_channels == 0) return CONV_OK;
    conv_problem q = *p;
    if (p->out_channels == 0) q.out_channels = q.in_channels, q.filter_rows = q.out_rows = 0; /* zeros and bias */
    return depthwise_call_run(&q, 1, dy, w, bias, relu, dx, threads); /* mark: kernel of depthwise/dx */
}
