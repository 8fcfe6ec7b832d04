/* The tile of pixel_gemm: up to 14 in_channels (or, merged, rows of all taps) x 2 vectors of out_channels of
   dw, kept in registers over all pixels of a walk. It is the outer product of register_tile.h with the steps
   of x exchanged: the tile's rows are adjacent numbers, and k steps from pixel to pixel. */

/* The axes that are summed over, of x and of dy; along each, taps follow the index law. Images have one tap. */
enum { IMAGES, PLANES, ROWS, COLS, AXES };

/* What one tile iterates over. Steps are in numbers. */
typedef struct {
    ptrdiff_t count[AXES], x_step[AXES], dy_step[AXES];
    const void *ahead;    /* part of the next block; one cache line of it is prefetched per pixel */
    ptrdiff_t ahead_step; /* LINE_BYTES; 0 if there is nothing to prefetch */
    ptrdiff_t x_rows[TILE_PIXELS];    /* merged: where each row of the tile finds its x */
    ptrdiff_t dw_starts[TILE_PIXELS]; /* where each row's sums go */
    tile_ending ending;
} pixel_walk;

typedef void (*pixel_function)(const pixel_walk *walk, const real *x, const real *dy, real *dw);

INLINE void pixel_tile(const int rows, const int vectors, const int merged, const pixel_walk *walk,
                       const real *x, const real *dy, real *dw) {
    vec sum[TILE_PIXELS][TILE_VECTORS];
    const real *x_rows[TILE_PIXELS];
    UNROLL(14)
    for (int r = 0; r < rows; r++) x_rows[r] = x + (merged ? walk->x_rows[r] : r);
    tile_begin(rows, vectors, sum, dw, walk->dw_starts, &walk->ending);
    const ptrdiff_t x_step = walk->x_step[COLS], dy_step = walk->dy_step[COLS], ahead_step = walk->ahead_step;
    const char *ahead = (const char *)walk->ahead;
    for (ptrdiff_t image = 0; image < walk->count[IMAGES]; image++)
        for (ptrdiff_t plane = 0; plane < walk->count[PLANES]; plane++)
            for (ptrdiff_t row = 0; row < walk->count[ROWS]; row++) {
                const real *b = dy + image * walk->dy_step[IMAGES] + plane * walk->dy_step[PLANES]
                                + row * walk->dy_step[ROWS];
                ptrdiff_t a = image * walk->x_step[IMAGES] + plane * walk->x_step[PLANES]
                              + row * walk->x_step[ROWS];
                for (ptrdiff_t pixel = walk->count[COLS]; pixel > 0; pixel--, a += x_step, b += dy_step) {
                    /* the hardware does not predict steps that skip cache lines */
                    if (!merged) PREFETCH(x + a + 12 * x_step, 3);
                    PREFETCH(b + 12 * dy_step, 3);
                    PREFETCH(ahead, 2);
                    ahead += ahead_step;
                    const vec b0 = load(b), b1 = vectors > 1 ? load(b + LANES) : b0;
#if BY_LANES
                    const int by_lanes = merged ? 0 : rows / (int)LANES * (int)LANES;
                    vec values[TILE_PIXELS / LANES];
                    UNROLL(4)
                    for (int r = 0; r < by_lanes; r += LANES) values[r / LANES] = load(x + a + r);
#endif
                    UNROLL(14)
                    for (int r = 0; r < rows; r++) {
#if BY_LANES
                        const real value = merged         ? x_rows[r][a]
                                           : r < by_lanes ? values[r / LANES][r % LANES]
                                                          : x[a + r];
#else
                        const real value = merged ? x_rows[r][a] : x[a + r];
#endif
                        sum[r][0] += value * b0; /* mark: multiply-add of pixel_gemm winograd/dw winograd4/dw */
                        if (vectors > 1) sum[r][1] += value * b1;
                    }
                }
            }
    tile_end(rows, vectors, sum, dw, walk->dw_starts, &walk->ending);
}

#define TILE_OF(name, rows, vectors, merged)                                                      \
    KERNEL void pixel_tile_##rows##_##name(const pixel_walk *walk, const real *x, const real *dy, \
                                           real *dw) {                                            \
        pixel_tile(rows, vectors, merged, walk, x, dy, dw);                                       \
    }
#define TILES_OF(rows) \
    TILE_OF(one, rows, 1, 0) TILE_OF(two, rows, 2, 0) \
    TILE_OF(one_merged, rows, 1, 1) TILE_OF(two_merged, rows, 2, 1)
EACH_HEIGHT(TILES_OF)
#undef TILES_OF
#undef TILE_OF
#define NAMED(rows, name) pixel_tile_##rows##_##name
#define ALL(rows) {{NAMED(rows, one), NAMED(rows, two)}, {NAMED(rows, one_merged), NAMED(rows, two_merged)}},
static const pixel_function pixel_tile_table[TILE_PIXELS + 1][2][TILE_VECTORS] = {
    {{0, 0}, {0, 0}}, EACH_HEIGHT(ALL)
};
#undef ALL
#undef NAMED
