/* The input gradient of depthwise: the same gather over dy, phase by phase (see phases.h), with the taps read
   backwards.

     stride 1, one output per channel:  depthwise_gather, as the forward op
     otherwise, for each image, for each strip of 4 rows of dx        <- threads share these
       3x3 at stride 2, one output per channel:  tiles (below), all phases together
       otherwise, for each row:
         for each column phase:  depthwise_row, which writes every stride-th pixel
         with a multiplier m:  add the m numbers of each channel

   Gain over phases.h: as for depthwise, the lanes are channels.

   Order of summation in every cell: from the last tap of the phase to the first, then m. The bits are the
   same for any number of threads.
   Non-finite data: allowed everywhere; taps in the padding are skipped.
   Scratch: as in depthwise.h; with a multiplier, the row of dx before it is summed, or as many of its
   columns as fit into 4 MB, one per column phase at least. */

/* The input gradient of depthwise for 3x3 at stride 2: a tile holds all four phases (see phases.h) of some
   pixels.

      dy:   row v-1   |  z-1  |   z   |  z+1  |        2 x 3 numbers, each with up to nine taps
            row v     |  z-1  |   z   |  z+1  |
      dx:   row 2v            | a | b | a | b |        a: four taps, b and c: two, d: one
            row 2v+1          | c | d | c | d |

     for each pair of rows of dx, for each two pairs of columns
       for each block of LANES channels                       (dy is read from front to back)
         for each dy of the tile, for each of its taps:  sum[pixel] += dy * w

   Rows and columns are counted with the padding: row 2v of the figure is row 2v - pad_top of dx.

   Gain over phase by phase: a dy is loaded three times instead of nine, and dx is written from front to back:
   1.7 to 2 times as fast. */

enum { INPUT_TILE_PAIRS = 2 };

/* What the tiles of one image share. Steps are in numbers. */
typedef struct {
    const conv_problem *p;
    const real *dy, *w;
    const depthwise_ending *ending;
    real *dx;
} depthwise_input_tiles;

/* Returns whether tiles can compute the input gradient from dy in place. */
static inline int input_tiles_can(const conv_problem *p) {
    return p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 2 && p->stride_cols == 2
           && p->dilation_rows == 1 && p->dilation_cols == 1 && p->in_channels == p->out_channels
           && p->in_channels >= LANES;
}

/* Computes the pixels of row pair v and of column pairs z..z+pairs-1, all channels. border: some may lie
   outside dx, or read beyond dy. */
INLINE void depthwise_input_tile(const int pairs, const int border, const depthwise_input_tiles *k,
                                 ptrdiff_t v, ptrdiff_t z) {
    /* locals, because a store to dx might change what k points to, for all that the compiler knows */
    const conv_problem p = *k->p;
    const depthwise_ending ending = *k->ending;
    const ptrdiff_t lanes = p.out_channels, dy_row = p.out_cols * lanes, dx_row = p.in_cols * lanes;
    const ptrdiff_t row = 2 * v - p.pad_top, col = 2 * z - p.pad_left;
    const real *w = k->w, *all_dy = k->dy;
    real *all_dx = k->dx;
    ptrdiff_t dy = (v - 1) * dy_row + (z - 1) * lanes, dx = row * dx_row + col * lanes; /* may be negative */
    for (ptrdiff_t lane = 0; lane < lanes; lane += LANES, dy += LANES, dx += LANES, w += 9 * LANES) {
        if (lane + LANES > lanes) { /* the last block steps back */
            const ptrdiff_t back = lane + LANES - lanes;
            dy -= back, dx -= back, lane -= back;
        }
        vec sum[2 * 2 * INPUT_TILE_PAIRS];
        UNROLL(8)
        for (int o = 0; o < 4 * pairs; o++) sum[o] = (vec){0};
        UNROLL(2)
        for (int q = 0; q < 2; q++) {
            /* mark: padding of depthwise/dx if tiles */
            if (border && (v - 1 + q < 0 || v - 1 + q >= p.out_rows)) continue;
            UNROLL(3)
            for (int c = 0; c <= pairs; c++) {
                if (border && (z - 1 + c < 0 || z - 1 + c >= p.out_cols)) continue;
                const vec value = load(all_dy + (dy + q * dy_row + c * lanes));
                UNROLL(9)
                for (int t = 0; t < 9; t++) {
                    /* mark: stride of depthwise/dx if tiles */
                    const int down = 2 * (q - 1) + t / 3, right = 2 * (c - 1) + t % 3;
                    if (down >= 0 && down < 2 && right >= 0 && right < 2 * pairs)
                        /* mark: multiply-add of depthwise/dx if tiles */
                        sum[down * 2 * pairs + right] += value * load(w + t * LANES);
                }
            }
        }
        UNROLL(2)
        for (int down = 0; down < 2; down++) {
            if (border && (row + down < 0 || row + down >= p.in_rows)) continue;
            vec *values = sum + down * 2 * pairs;
            if (ending.bias || ending.relu)
                depthwise_finish(2 * pairs, ending.bias ? ending.bias + lane : NULL, LANES, ending.relu,
                                 values);
            UNROLL(4)
            for (int right = 0; right < 2 * pairs; right++) {
                if (border && (col + right < 0 || col + right >= p.in_cols)) continue;
                real *to = all_dx + (dx + down * dx_row + right * lanes);
                if (ending.streams) stream(to, values[right]);
                else store(to, values[right]);
            }
        }
    }
}

KERNEL void depthwise_input_border(const depthwise_input_tiles *k, ptrdiff_t v, ptrdiff_t z) {
    depthwise_input_tile(1, 1, k, v, z);
}

/* Computes the row pairs v..past_v-1 of one image. */
KERNEL void depthwise_input_pairs(const depthwise_input_tiles *k, ptrdiff_t v, ptrdiff_t past_v) {
    const conv_problem *p = k->p;
    const ptrdiff_t first = floor_divide(p->pad_left, 2),
                    past = floor_divide(p->pad_left + p->in_cols - 1, 2) + 1;
    /* the column pairs that lie inside dx with all that they read inside dy */
    const ptrdiff_t inner = larger(1, ceil_divide(p->pad_left, 2)),
                    past_inner = smaller(p->out_cols, floor_divide(p->pad_left + p->in_cols, 2));
    took(TOOK_TILES);
    for (; v < past_v; v++) {
        const int whole =
            v > 0 && v < p->out_rows && 2 * v >= p->pad_top && 2 * v + 1 - p->pad_top < p->in_rows;
        ptrdiff_t z = first;
        while (z < past) {
            if (!whole || z < inner || z >= past_inner) depthwise_input_border(k, v, z++);
            else if (z + 1 < past_inner) depthwise_input_tile(2, 0, k, v, z), z += 2;
            else depthwise_input_tile(1, 0, k, v, z++);
        }
    }
}

/* ---- all other filters, and the call ---- */

/* Returns the columns of dx from first_dx on, `steps` of each column phase or as many as there are, and the
   columns of dy that contribute to them. */
static inline column_range input_columns(const conv_problem *p, ptrdiff_t first_dx, ptrdiff_t steps) {
    const ptrdiff_t stride = p->stride_cols, past_dx = smaller(p->in_cols, first_dx + steps * stride);
    column_range c = {first_dx, past_dx, 0, p->out_cols};
    if (first_dx == 0 && past_dx == p->in_cols) return c;
    const ptrdiff_t first = first_dx + p->pad_left - (p->filter_cols - 1) * p->dilation_cols,
                    last = past_dx - 1 + p->pad_left;
    c.first_in = smaller(p->out_cols, first <= 0 ? 0 : divide_up(first, stride));
    c.past_in = larger(c.first_in, last < 0 ? 0 : smaller(p->out_cols, last / stride + 1));
    return c;
}

/* Sums the multiplier's outputs of each channel, for one row of dx. */
INLINE void sum_multiplier(const real *spread, ptrdiff_t cells, ptrdiff_t channels, ptrdiff_t multiplier,
                           const real *bias, int relu, real *row) {
    for (ptrdiff_t cell = 0; cell < cells; cell++) {
        real sum = 0;
        for (ptrdiff_t m = 0; m < multiplier; m++) sum += spread[cell * multiplier + m];
        if (bias) sum += bias[cell % channels];
        row[cell] = relu && sum < 0 ? 0 : sum;
    }
}

/* Computes these columns of one row of dx. The row belongs to one row phase, and its column phases write to
   it in turn. spread: room for the columns before sum_multiplier, or NULL without a multiplier. */
INLINE void depthwise_input_row(const conv_problem *p, const row_cache *dy, const column_range *range,
                                ptrdiff_t image, ptrdiff_t in_row, const real *packed,
                                const depthwise_ending *ending, real *spread, real *row) {
    const ptrdiff_t lanes = p->out_channels, multiplier = lanes / p->in_channels,
                    cols = range->past_out - range->first_out;
    const depthwise_ending sums_only = {NULL, 0, 0};
    row += range->first_out * p->in_channels;
    for (ptrdiff_t residue = 0; residue < smaller(p->stride_cols, cols); residue++) {
        ptrdiff_t offset;
        gather g = phase_gather(p, 0, in_row % p->stride_rows, residue, &offset);
        const column_range phase = {
            range->first_out / p->stride_cols,
            range->first_out / p->stride_cols + divide_up(cols - residue, p->stride_cols), range->first_in,
            range->past_in};
        g.shape = in_columns(&g.shape, &phase);
        if (g.shape.in_channels == 0)
            g.shape.filter_rows = g.shape.filter_cols = 0; /* no tap contributes: zeros and bias */
        g.y_col_step = p->stride_cols * lanes;
        depthwise_row(&g, dy, image, 0, packed, spread ? &sums_only : ending, in_row / p->stride_rows, 1,
                      (spread ? spread : row) + residue * lanes);
    }
    if (spread)
        sum_multiplier(spread, cols * p->in_channels, p->in_channels, multiplier, ending->bias, ending->relu,
                       row);
}

/* What all threads of one depthwise_input_run share. */
typedef struct {
    const conv_problem *p;
    const real *dy, *packed;
    real *dx;
    const depthwise_ending *ending;
    int tiles, spread_out;             /* the tiles above; there is a multiplier */
    ptrdiff_t slots, group_lanes;
    ptrdiff_t steps, cols, dy_cols;    /* columns of each phase, of dx and of dy at a time */
    ptrdiff_t parts, strips;           /* of columns and rows */
    ptrdiff_t first_pair, past_pair;   /* tiles: of rows */
} depthwise_input_call;

/* Computes strip `job`: of one image, and one part of its columns. spread: see depthwise_input_row. */
KERNEL void depthwise_input_strip(const depthwise_input_call *c, row_cache *cache, real *spread,
                                  ptrdiff_t job) {
    const conv_problem *p = c->p;
    const ptrdiff_t image = job / c->strips / c->parts, strip = job % c->strips;
    real *dx = c->dx + image * p->in_rows * p->in_cols * p->in_channels;
    if (c->tiles) {
        const depthwise_input_tiles k = {p, c->dy + image * p->out_rows * p->out_cols * p->out_channels,
                                         c->packed, c->ending, dx};
        const ptrdiff_t pair = c->first_pair + strip * 2;
        depthwise_input_pairs(&k, pair, smaller(c->past_pair, pair + 2));
        return;
    }
    const column_range range = input_columns(p, job / c->strips % c->parts * c->cols, c->steps);
    show_columns(cache, range.first_in, range.past_in);
    for (ptrdiff_t row = strip * DEPTHWISE_STRIP; row < smaller(p->in_rows, (strip + 1) * DEPTHWISE_STRIP); row++)
        depthwise_input_row(p, cache, &range, image, row, c->packed, c->ending, spread,
                            dx + row * p->in_cols * p->in_channels);
}

/* Computes one thread's strips, with scratch of its own. */
KERNEL int depthwise_input_strips(const void *call, const crew_member *me) {
    const depthwise_input_call *c = (const depthwise_input_call *)call;
    const conv_problem *p = c->p;
    const ptrdiff_t jobs = p->batch * c->parts * c->strips;
    row_cache cache;
    int ready = open_row_cache(&cache, c->dy, p->batch * p->out_rows, p->out_cols, c->dy_cols,
                               p->out_channels, 1, c->group_lanes, c->slots, 1);
    real *spread =
        c->spread_out ? (real *)new_scratch(checked_times(c->cols * p->out_channels, sizeof(real))) : NULL;
    if (c->spread_out && !spread) ready = 0;
    EACH_JOB(me, job, jobs, if (ready) depthwise_input_strip(c, &cache, spread, job));
    free_scratch(spread);
    free_scratch(cache.rows);
    if (c->ending->streams) streams_end();
    return ready ? CONV_OK : CONV_NO_MEMORY;
}

KERNEL int depthwise_input_run(const conv_problem *p, const real *dy, const real *w, const real *unused,
                               const real *bias, int relu, real *dx, int threads) {
    (void)unused;
    if (!depthwise_can(p)) return CONV_UNSUPPORTED;
    if (p->batch == 0 || p->in_rows == 0 || p->in_cols == 0 || p->in_channels == 0) return CONV_OK;
    const ptrdiff_t lanes = p->out_channels, stride = p->stride_cols, /* mark: kernel of depthwise/dx */
                    slots =
                        slots_for((p->filter_rows - 1) * p->dilation_rows / p->stride_rows + 2, p->out_rows);
    if (p->stride_rows == 1 && stride == 1 && lanes == p->in_channels && p->filter_rows * p->filter_cols > 0) {
        /* one phase, whose taps go from the last to the first: the forward op with a reversed filter */
        ptrdiff_t offset;
        gather g = phase_gather(p, 0, 0, 0, &offset);
        g.first_tap_row = g.first_tap_col = 0, g.tap_row_step = g.tap_col_step = 1;
        return depthwise_gather(&g, dy, w, 1, bias, relu, dx, threads);
    }
    const int tiles = input_tiles_can(p);
    /* tiles: the pairs of rows that hold row 0 to the last, with the padding before them */
    const ptrdiff_t first_pair = floor_divide(p->pad_top, 2),
                    past_pair = floor_divide(p->pad_top + p->in_rows - 1, 2) + 1;
    const int spread_out = lanes != p->in_channels;
    const ptrdiff_t group_lanes = lanes_at_a_time(lanes, 1, 0);
    /* numbers per column of dy, and per column of dx; steps: how many columns of each phase at a time */
    const ptrdiff_t row_lanes = lanes >= LANES ? 0 : slots * group_lanes,
                    spread_lanes = spread_out ? lanes : 0;
    const ptrdiff_t reach = smaller(p->out_cols, (p->filter_cols - 1) * p->dilation_cols / stride + 1);
    const ptrdiff_t steps =
        columns_that_fit(divide_up(p->in_cols, stride), row_lanes * p->out_cols + spread_lanes * p->in_cols,
                         row_lanes * reach, row_lanes + spread_lanes * stride, scratch_numbers(slots));
    const ptrdiff_t cols = smaller(p->in_cols, steps * stride), parts = divide_up(p->in_cols, cols);
    real *packed = depthwise_packed(p, w, lanes >= LANES, 0);
    if (!packed) return CONV_NO_MEMORY;
    const depthwise_ending ending = {bias, relu, !spread_out && depthwise_streams(p, dx, lanes)};
    const depthwise_input_call call = {
        .p = p,
        .dy = dy,
        .packed = packed,
        .dx = dx,
        .ending = &ending,
        .tiles = tiles,
        .spread_out = spread_out,
        .slots = slots,
        .group_lanes = group_lanes,
        .steps = steps,
        .cols = cols,
        .dy_cols = parts == 1 ? p->out_cols : smaller(p->out_cols, larger(1, steps + reach)),
        .parts = parts,
        .strips = tiles ? divide_up(past_pair - first_pair, 2) : divide_up(p->in_rows, DEPTHWISE_STRIP),
        .first_pair = first_pair,
        .past_pair = past_pair};
    const int status = in_crew(useful_threads(problem_macs(p) * 4, threads), depthwise_input_strips, &call);
    free_scratch(packed);
    return status;
}
