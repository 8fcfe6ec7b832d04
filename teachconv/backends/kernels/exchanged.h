/* exchanged: a gather with few pixels and a large filter. The tile's operands are exchanged: the filter
   [tap, in_channel, out_channel], as it lies in memory, is the left matrix (14 in_channels; k is
   out_channel), and the transposed pixels of dy are the two vectors. So w is read once and never copied. The
   sums and their order stay the same, hence the bits too.

             32 pixels of dy
        +--------------------+
     w  |  14 in_channels    |      for each 14 in_channels of dx, for each tap, for each panel of 32 pixels:
        +--------------------+          register_tile.h; then the sums are written to dx, transposed      */
#define FEW_PIXELS 64

/* Some pixels of one gather, whose patches are transposed. */
typedef struct {
    const gather *g;
    const real *w, *packed;
    const ptrdiff_t *tap_starts, *y_starts; /* [taps] in w; [pixels] in y */
    ptrdiff_t pixels, padded, taps;         /* padded: rounded up to vectors */
    const real *bias;
    int relu;
    real *y;
} exchanged;

/* Computes in_channels row..row+rows-1 of dx at all pixels. */
KERNEL void exchanged_tile(const exchanged *e, ptrdiff_t row, ptrdiff_t rows) {
    const ptrdiff_t channels = e->g->shape.in_channels, depth = e->taps * channels, zero = 0;
    const real *w = e->w + row * channels;
    /* a tap's rows lie side by side: while they are multiplied, those of the next tap or of the next tile are
       prefetched, some bytes per k; more than a cache line per k would leave gaps */
    const ptrdiff_t row_bytes = rows * (ptrdiff_t)sizeof(real), line = row_bytes <= 64 ? row_bytes : 0;
    ptrdiff_t sum_starts[TILE_PIXELS];
    real sums[TILE_PIXELS * FEW_PIXELS]; /* [in_channel][pixel] */
    for (ptrdiff_t i = 0; i < rows; i++) sum_starts[i] = i * e->padded;
    for (ptrdiff_t tap = 0; tap < e->taps; tap++) {
        const real *next =
            tap + 1 < e->taps ? w + e->tap_starts[tap + 1] : w + e->tap_starts[0] + rows * channels;
        for (ptrdiff_t first = 0; first < e->pixels; first += 2 * LANES) {
            const ptrdiff_t width = smaller(2 * LANES, e->padded - first);
            const tile_ending ending = {NULL, width, tap > 0, 0, next, first == 0 ? line : 0, NULL};
            tile_table[rows][width > LANES](w + e->tap_starts[tap], channels, &zero, 1, channels,
                                            e->packed + first * depth + tap * channels * width, width,
                                            sums + first, sum_starts, &ending);
        }
    }
    for (ptrdiff_t pixel = 0; pixel < e->pixels; pixel++)
        for (ptrdiff_t i = 0; i < rows; i++) { /* bias and relu as in register_tile.h */
            const real sum = sums[sum_starts[i] + pixel], value = e->bias ? sum + e->bias[row + i] : sum;
            e->y[e->y_starts[pixel] + row + i] = e->relu && value < 0 ? 0 : value;
        }
}

/* Returns how many pixels to compute at a time: as many as the scratch bound allows for two copies of their
   patches. 0 if not even one vector of pixels fits. */
INLINE ptrdiff_t exchanged_pixels(const conv_problem *s) {
    const ptrdiff_t depth = count_taps(s) * s->in_channels;
    return smaller(FEW_PIXELS, SCRATCH_BYTES / 2 / (ptrdiff_t)sizeof(real) / larger(1, depth)) / LANES
           * LANES;
}

/* Computes one thread's tiles. */
KERNEL int exchanged_tiles(const void *call, const crew_member *me) {
    const exchanged *e = (const exchanged *)call;
    const ptrdiff_t rows = e->g->shape.out_channels, tiles = divide_up(rows, tile_height(e->g->shape.in_channels));
    EACH_JOB(me, tile, tiles, {
        const ptrdiff_t row = rows * tile / tiles;
        exchanged_tile(e, row, rows * (tile + 1) / tiles - row);
    });
    return CONV_OK;
}

KERNEL int run_exchanged(const gather *g, const real *x, const real *w, const real *bias, int relu, real *y,
                         int threads) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t pixels = count_pixels(s), taps = count_taps(s), depth = taps * s->in_channels,
                    chunk = smaller(exchanged_pixels(s), round_up(pixels, LANES)),
                    numbers = whole_lines(depth * chunk);
    real *patches = (real *)new_scratch(2 * numbers * (ptrdiff_t)sizeof(real)
                                        + (chunk + taps) * (ptrdiff_t)sizeof(ptrdiff_t));
    if (!patches) return CONV_NO_MEMORY;
    real *packed = patches + numbers;
    ptrdiff_t *tap_starts = (ptrdiff_t *)(packed + numbers), *y_starts = tap_starts + taps;
    for (ptrdiff_t tap = 0; tap < taps; tap++)
        tap_starts[tap] = stored_tap(g, tap) * s->out_channels * s->in_channels;
    took(TOOK_PATCHES);
    for (ptrdiff_t done = 0; done < pixels; done += chunk) {
        const ptrdiff_t count = smaller(chunk, pixels - done), padded = round_up(count, LANES);
        const exchanged e = {g, w, packed, tap_starts, y_starts, count, padded, taps, bias, relu, y};
        fill_patches(g, x, done, count, depth, patches);
        for (ptrdiff_t first = 0; first < count; first += 2 * LANES)
            transpose(patches + first * depth, depth, depth, smaller(2 * LANES, count - first),
                      packed + first * depth, smaller(2 * LANES, padded - first));
        list_y_starts(g, done, count, y_starts);
        in_crew(threads, exchanged_tiles, &e);
    }
    free_scratch(patches);
    return CONV_OK;
}

/* Returns whether there are few pixels, so that packing the filter would take longer than one read of it. */
INLINE int exchange_pays(const conv_problem *s) {
    const ptrdiff_t pixels = count_pixels(s);
    return s->groups == 1 && s->in_channels > 0 && pixels > 0 && pixels <= 2 * FEW_PIXELS
           && s->out_channels >= 4 * smaller(pixels, FEW_PIXELS) && exchanged_pixels(s) > 0;
}
