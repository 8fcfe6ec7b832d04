/* Rows of an image as depthwise needs them, with LANES channels side by side.

     in place:  [col][channel]             LANES channels or more are side by side already
     copied:    [block][col][LANES]        fewer, or a multiplier: each channel once per output that reads it

     slots:     | row 3 | row 4 | row 2 |  row r is copied into slot r mod slots when it is first needed

   If slots for whole rows would take too much scratch, they hold some columns at a time.

   Gain over packing the whole image: the copies are read back from the first-level cache. */
#define DEPTHWISE_CACHE_BYTES (64 * 1024) /* of copied rows */

/* Columns that are computed together: outputs, and the inputs that their taps reach. */
typedef struct {
    ptrdiff_t first_out, past_out, first_in, past_in;
} column_range;

/* Rows of x as the taps read them: in place, or copied into blocks of channels. A copy is kept until another
   row needs its slot. */
typedef struct {
    const real *image, *end;
    ptrdiff_t image_cols, channels, multiplier, lanes; /* lanes = channels * multiplier */
    ptrdiff_t first_col, cols;                         /* the columns shown; all of them if they fit */
    ptrdiff_t group_lanes, groups;    /* how many lanes are copied at a time; the number of such groups */
    ptrdiff_t pixel_step, block_step; /* numbers from pixel to pixel, from block to block */
    ptrdiff_t slots, row_numbers;
    int in_place;
    real *rows;
    ptrdiff_t *tags; /* which row of which image and group a slot holds; -1 for none */
} row_cache;

/* Makes the cache show columns first..past-1, at most as many as it was opened for. */
static inline void show_columns(row_cache *c, ptrdiff_t first, ptrdiff_t past) {
    if (c->first_col == first && c->cols == past - first) return;
    c->first_col = first, c->cols = past - first;
    if (!c->in_place) c->block_step = c->cols * c->pixel_step;
    for (ptrdiff_t i = 0; i < c->slots; i++) c->tags[i] = -1;
}

/* Returns the convolution restricted to the columns that a cache shows. */
static inline conv_problem in_columns(const conv_problem *p, const column_range *c) {
    conv_problem part = *p;
    part.out_cols = c->past_out - c->first_out;
    part.in_cols = c->past_in - c->first_in;
    part.pad_left += c->first_in - c->first_out * p->stride_cols;
    return part;
}

/* Returns how many input columns there are from an output column's first tap to its last. */
static inline ptrdiff_t reach_cols(const conv_problem *p) {
    return smaller(p->in_cols, (p->filter_cols - 1) * p->dilation_cols + 1);
}

/* Returns `count` output columns from first_out on, or as many as there are, and the inputs that they reach.
   If they are all the columns of a row, these are all inputs. */
static inline column_range forward_columns(const conv_problem *p, ptrdiff_t first_out, ptrdiff_t count) {
    column_range c = {first_out, smaller(p->out_cols, first_out + count), 0, p->in_cols};
    if (count >= p->out_cols) return c;
    const ptrdiff_t first = first_out * p->stride_cols - p->pad_left,
                    past = first + (c.past_out - 1 - first_out) * p->stride_cols
                           + (p->filter_cols - 1) * p->dilation_cols + 1;
    c.first_in = smaller(p->in_cols, larger(0, first));
    c.past_in = larger(c.first_in, smaller(p->in_cols, past));
    return c;
}

/* Returns the largest number of inputs that `count` output columns reach. */
static inline ptrdiff_t held_columns(const conv_problem *p, ptrdiff_t count) {
    if (count >= p->out_cols) return p->in_cols;
    return larger(1, smaller(p->in_cols, (count - 1) * p->stride_cols + reach_cols(p)));
}

/* Returns how many cached rows are needed at once if the taps span `reach` rows; no more than the image
   has. */
static inline ptrdiff_t slots_for(ptrdiff_t reach, ptrdiff_t image_rows) {
    return larger(1, smaller(reach, image_rows));
}

/* Returns how many of `columns` columns, at least 1, fit into `numbers` numbers of scratch. All columns take
   `all` numbers; c of them take fixed + c * each. */
static inline ptrdiff_t columns_that_fit(ptrdiff_t columns, ptrdiff_t all, ptrdiff_t fixed, ptrdiff_t each,
                                         ptrdiff_t numbers) {
    if (all <= larger(0, numbers)) return columns;
    return smaller(columns, larger(1, (numbers - fixed) / larger(1, each)));
}

/* Returns how many numbers fit into the scratch, less what rounding to cache lines and the slots' tags may
   take. */
INLINE ptrdiff_t scratch_numbers(ptrdiff_t slots) {
    return SCRATCH_BYTES / (ptrdiff_t)sizeof(real) - 64 - 32 * (slots + 1);
}

/* Copies lanes first..past-1 of one row from [col][channel] to [block][col][LANES]. Lanes beyond the channels
   may hold anything, because no result is stored from them. */
KERNEL void copy_into_blocks(const row_cache *cache, const real *from, ptrdiff_t first, ptrdiff_t past,
                             real *to) {
    const real *end = cache->end;
    for (ptrdiff_t lane = first; lane < past; lane += LANES) {
        const real *pixel = from + (cache->multiplier == 1 ? lane : 0);
        for (ptrdiff_t col = 0; col < cache->cols; col++, pixel += cache->channels, to += LANES) {
            if (cache->multiplier == 1)
                store(to, pixel + LANES <= end ? load(pixel) : load_part(pixel, end - pixel));
            else
                for (ptrdiff_t i = 0; i < smaller(LANES, past - lane); i++)
                    to[i] = pixel[(lane + i) / cache->multiplier];
        }
    }
}

/* Returns the end of a group's lanes. */
static inline ptrdiff_t past_lane(const row_cache *cache, ptrdiff_t group) {
    return smaller(cache->lanes, (group + 1) * cache->group_lanes);
}

/* Returns the row's first pixel at the group's first lane, and copies the row first if no slot holds it. */
INLINE const real *cached_row(const row_cache *cache, ptrdiff_t image_rows, ptrdiff_t image, ptrdiff_t group,
                              ptrdiff_t row) {
    const real *original =
        cache->image + ((image * image_rows + row) * cache->image_cols + cache->first_col) * cache->channels;
    if (cache->in_place) return original + group * cache->group_lanes;
    const ptrdiff_t tag = (image * cache->groups + group) * image_rows + row, slot = row % cache->slots;
    real *copy = cache->rows + slot * cache->row_numbers;
    if (cache->tags[slot] != tag) {
        copy_into_blocks(cache, original, group * cache->group_lanes, past_lane(cache, group), copy);
        cache->tags[slot] = tag;
    }
    return copy;
}

/* Opens a cache of x [all_rows, image_cols, channels] that shows `slots` rows and `cols` columns at a time.
   Returns 0 if there is not enough memory. */
INLINE int open_row_cache(row_cache *c, const real *x, ptrdiff_t all_rows, ptrdiff_t image_cols,
                          ptrdiff_t cols, ptrdiff_t channels, ptrdiff_t multiplier, ptrdiff_t group_lanes,
                          ptrdiff_t slots, int may_stay) {
    const row_cache in_place = {.image = x,
                                .end = x + all_rows * image_cols * channels,
                                .image_cols = image_cols,
                                .cols = cols,
                                .channels = channels,
                                .multiplier = multiplier,
                                .lanes = channels * multiplier,
                                .group_lanes = group_lanes,
                                .groups = divide_up(channels * multiplier, group_lanes),
                                .pixel_step = channels,
                                .block_step = LANES,
                                .in_place = 1};
    *c = in_place;
    if (may_stay && multiplier == 1 && c->lanes >= LANES) return 1;
    c->in_place = 0, c->pixel_step = LANES, c->block_step = cols * LANES;
    c->slots = slots, c->row_numbers = whole_lines(group_lanes * cols);
    const ptrdiff_t bytes = checked_times(checked_times(slots, c->row_numbers), sizeof(real));
    c->rows = (real *)new_scratch(checked_plus(bytes, slots * (ptrdiff_t)sizeof(ptrdiff_t)));
    if (!c->rows) return 0;
    c->tags = (ptrdiff_t *)(c->rows + slots * c->row_numbers);
    for (ptrdiff_t i = 0; i < slots; i++) c->tags[i] = -1;
    return 1;
}

/* Returns how many lanes, with `numbers_per_lane` numbers each, are copied at a time so that they fit into
   about a first-level cache; without a multiplier, all of them. */
INLINE ptrdiff_t lanes_at_a_time(ptrdiff_t lanes, ptrdiff_t multiplier, ptrdiff_t numbers_per_lane) {
    const ptrdiff_t fit =
        DEPTHWISE_CACHE_BYTES / (ptrdiff_t)sizeof(real) / larger(1, numbers_per_lane) / LANES * LANES;
    const ptrdiff_t all = larger(1, divide_up(lanes, LANES)) * LANES;
    return multiplier == 1 ? all : larger(LANES, smaller(all, fit));
}
