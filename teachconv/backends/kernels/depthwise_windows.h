/* What the kernels of depthwise read: a window of an image, the rows and columns that a strip of outputs reaches,
   with LANES channels or more side by side.

     in place:  [row][col][channel]     of fewer than LANES channels, the other lanes hold numbers of the next pixels,
                                        and no result is stored from them
     copied:    [row][col][LANES]       a multiplier m: LANES of the out_channels, each with its channel; or a window
                                        at the end of the array, where a whole vector would reach beyond it

   A copy is read back from the near caches. If it took more than COPY_BYTES, the strip is cut into parts of fewer
   columns. */
#define COPY_BYTES (SCRATCH_BYTES / 4 * 3)

enum { DEPTHWISE_STRIP = 4 }; /* rows of outputs */

/* The indices first..past-1 of an axis. */
typedef struct {
    ptrdiff_t first, past;
} span;

/* How the outputs of an axis reach its inputs: those of x; in an input gradient, dx reaches dy. */
typedef struct {
    int gradient;
    ptrdiff_t inputs, outputs, stride, pad, reach; /* reach: from the first tap to the last */
} window_axis;

static inline window_axis window_rows(const conv_problem *p, int gradient) {
    const ptrdiff_t in = p->in_rows, out = p->out_rows, reach = (p->filter_rows - 1) * p->dilation_rows;
    const window_axis rows = {gradient, gradient ? out : in, gradient ? in : out, p->stride_rows, p->pad_top, reach};
    return rows;
}

static inline window_axis window_cols(const conv_problem *p, int gradient) {
    const ptrdiff_t in = p->in_cols, out = p->out_cols, reach = (p->filter_cols - 1) * p->dilation_cols;
    const window_axis cols = {gradient, gradient ? out : in, gradient ? in : out, p->stride_cols, p->pad_left, reach};
    return cols;
}

/* Returns the inputs from the first to the last that these outputs reach. */
static inline span inputs_reached(const window_axis *a, span outputs) {
    const ptrdiff_t first = outputs.first, last = outputs.past - 1;
    const ptrdiff_t from =
        a->gradient ? ceil_divide(first + a->pad - a->reach, a->stride) : first * a->stride - a->pad;
    const ptrdiff_t to =
        a->gradient ? floor_divide(last + a->pad, a->stride) : last * a->stride - a->pad + a->reach;
    const span s = {larger(0, from), smaller(a->inputs, to + 1)}, none = {0, 0};
    return s.first < s.past ? s : none;
}

/* Returns the most inputs that `count` outputs reach. */
static inline ptrdiff_t most_inputs(const window_axis *a, ptrdiff_t count) {
    count = smaller(count, a->outputs);
    const ptrdiff_t most =
        a->gradient ? (count - 1 + a->reach) / a->stride + 1 : (count - 1) * a->stride + a->reach + 1;
    return larger(0, smaller(a->inputs, most));
}

/* Returns how many columns of outputs, at least one, are computed at a time, so that their copied window and
   `more` numbers for each of them fit. */
static inline ptrdiff_t columns_that_fit(const window_axis *rows, const window_axis *cols, ptrdiff_t more) {
    const ptrdiff_t height = most_inputs(rows, DEPTHWISE_STRIP), lane_bytes = LANES * (ptrdiff_t)sizeof(real);
    ptrdiff_t count = larger(1, cols->outputs);
    while (count > 1 && height * most_inputs(cols, count) + more * count > COPY_BYTES / lane_bytes)
        count = divide_up(count, 2);
    return count;
}

/* Which numbers of a pixel, or of a tap, `count` lanes have, LANES at most. If they are adjacent, the first of them
   is enough. */
typedef struct {
    int adjacent;
    ptrdiff_t count, number[LANES];
} lane_numbers;

/* Returns those of `count` lanes, or of LANES if there are more: lane l has number (l * times + plus) / divisor. */
INLINE lane_numbers numbers_of(ptrdiff_t times, ptrdiff_t plus, ptrdiff_t divisor, ptrdiff_t first_lane,
                               ptrdiff_t count) {
    lane_numbers n = {times == 1 && divisor == 1, smaller(LANES, count), {first_lane}};
    for (ptrdiff_t i = 0; !n.adjacent && i < n.count; i++)
        n.number[i] = ((first_lane + i) * times + plus) / divisor;
    return n;
}

INLINE void copy_lanes(const lane_numbers *n, const real *from, real *to) {
    if (n->adjacent) store(to, load_part(from + n->number[0], n->count));
    else
        for (ptrdiff_t i = 0; i < LANES; i++) to[i] = i < n->count ? from[n->number[i]] : 0;
}

/* Images [batch, rows, cols, channels]. */
typedef struct {
    const real *x;
    ptrdiff_t batch, rows, cols, channels;
    int whole; /* only whole blocks of LANES channels are read, see depthwise.h */
} window_source;

/* A window: its first pixel at the first lane, and the numbers from row to row and from pixel to pixel. */
typedef struct {
    const real *first;
    ptrdiff_t row, pixel;
} window;

/* Returns a window of these lanes. copy: room for it. */
KERNEL window open_window(const window_source *s, ptrdiff_t image, span rows, span cols, const lane_numbers *n,
                          real *copy) {
    const ptrdiff_t row = s->cols * s->channels, image_row = image * s->rows, lane = n->number[0],
                    last = ((image_row + rows.past - 1) * s->cols + cols.past - 1) * s->channels + lane;
    const real *from = s->x + ((image_row + rows.first) * s->cols + cols.first) * s->channels;
    const window in_place = {from + lane, row, s->channels},
                 copied = {copy, (cols.past - cols.first) * LANES, LANES};
    if (s->whole || (n->adjacent && last + LANES <= s->batch * s->rows * row)) return in_place;
    for (ptrdiff_t r = rows.first; r < rows.past; r++, from += row) {
        const real *pixel = from;
        for (ptrdiff_t c = cols.first; c < cols.past; c++, pixel += s->channels, copy += LANES)
            copy_lanes(n, pixel, copy);
    }
    return copied;
}

/* Restricts an axis of a gather to these outputs, and to these inputs, which include all that they reach. */
static inline void restrict_axis(span outputs, span inputs, ptrdiff_t stride, ptrdiff_t *out_size,
                                 ptrdiff_t *in_size, ptrdiff_t *pad) {
    *out_size = outputs.past - outputs.first, *in_size = inputs.past - inputs.first;
    *pad += inputs.first - outputs.first * stride;
}

static inline void restrict_to_window(conv_problem *p, span out_rows, span out_cols, span in_rows, span in_cols) {
    restrict_axis(out_rows, in_rows, p->stride_rows, &p->out_rows, &p->in_rows, &p->pad_top);
    restrict_axis(out_cols, in_cols, p->stride_cols, &p->out_cols, &p->in_cols, &p->pad_left);
}

/* Out columns first..past-1 of a row, whose tap columns inside the image are first_tap..past_tap-1: all columns
   that have all taps inside, or one at the border. */
typedef struct {
    ptrdiff_t first, past, first_tap, past_tap;
} column_run;

static inline column_run run_from(const conv_problem *s, ptrdiff_t col) {
    column_run run = {col, col + 1, 0, 0};
    indices_inside(s->filter_cols, s->dilation_cols, col * s->stride_cols - s->pad_left, s->in_cols,
                   &run.first_tap, &run.past_tap);
    const ptrdiff_t last_tap = (s->filter_cols - 1) * s->dilation_cols - s->pad_left;
    if (run.past_tap - run.first_tap == s->filter_cols) /* until the last tap leaves the image */
        run.past = larger(col + 1, smaller(s->out_cols, floor_divide(s->in_cols - 1 - last_tap, s->stride_cols) + 1));
    return run;
}
