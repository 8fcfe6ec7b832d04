/* The register tile: the innermost loop of row_gemm, phases, winograd and col2im.

                         2 vectors of out_channels
                       +---------------------------+
            filter b   |  b[k][0..]     b[k][1..]  |        one packed row per k, read in order
                       +---------------------------+
     a[pixel 0][k] ->  |  sum 0,0       sum 0,1    |
     a[pixel 1][k] ->  |  sum 1,0       sum 1,1    |        all sums stay in registers while k runs
          ...          |     ...           ...     |
     a[pixel 13][k] -> |  sum 13,0      sum 13,1   |
                       +---------------------------+

     for each run of k (a filter row, or a tap):            the runs are where the input is contiguous
       for k in the run:                                    always in this order, whatever the tile
         for pixel in tile:  sum[pixel] += a[pixel][k] * b[k]

   Gain over the plain loops: 28 multiply-adds per 16 loads instead of 1 per 2, and 28 independent sums, which
   keep two multiply-add units busy although a multiply-add takes four cycles. */

/* How a tile's sums begin and end. k may come in pieces, and then a tile's sums are only part of the
   result. */
typedef struct {
    const real *bias;  /* of the tile's first column, or NULL */
    ptrdiff_t columns; /* out_channels that exist in this tile; the packed filter is zero beyond them */
    int resume;        /* begin with what y holds, not with zero: a later piece of k */
    int relu;
    const void *ahead;    /* prefetched for a later tile, a line per k; any address is allowed */
    ptrdiff_t ahead_step; /* bytes from one k to the next */
    real *copy;           /* COPYING: where to copy the rows of b */
} tile_ending;

/* Columns of the table of tiles: one vector wide, two vectors wide, or two and copying the rows of b that it
   reads. */
enum { ONE_VECTOR = 0, TWO_VECTORS = 1, COPYING = 2 };

/* b_step: vectors * LANES in a packed panel, out_channels if w itself is read */
#define TILE_PARAMETERS                                                                                     \
    const real *a, ptrdiff_t pixel_step, const ptrdiff_t *run_starts, ptrdiff_t runs, ptrdiff_t run_length, \
        const real *b, ptrdiff_t b_step, real *y, const ptrdiff_t *y_starts, const tile_ending *ending
typedef void (*tile_function)(TILE_PARAMETERS);

INLINE void finish_sum(real *to, vec value, const real *bias, ptrdiff_t columns, int relu) {
    if (columns >= LANES) {
        if (bias) value += load(bias);
        store(to, relu ? rectify(value) : value);
    } else if (columns > 0) {
        if (bias) value += load_part(bias, columns);
        store_part(to, relu ? rectify(value) : value, columns);
    }
}

/* These two read and write the tile's last vector if the columns do not fill it: one vector per pixel. They are not
   inlined, because each of about 360 tiles would repeat their code. */
KERNEL void read_cut_vectors(int pixels, const real *y, const ptrdiff_t *y_starts, ptrdiff_t columns,
                             vec *cut) {
    for (int p = 0; p < pixels; p++) cut[p] = load_part(y + y_starts[p], columns);
}

KERNEL void finish_cut_vectors(int pixels, const vec *cut, real *y, const ptrdiff_t *y_starts,
                               const real *bias, ptrdiff_t columns, int relu) {
    for (int p = 0; p < pixels; p++) finish_sum(y + y_starts[p], cut[p], bias, columns, relu);
}

#define EACH_PIXEL(statement) \
    UNROLL(14)                \
    for (int p = 0; p < pixels; p++) statement;

/* Sets the sums to zero, or to what y holds. */
INLINE void tile_begin(const int pixels, const int vectors, vec (*sum)[TILE_VECTORS], const real *y,
                       const ptrdiff_t *y_starts, const tile_ending *ending) {
    UNROLL(2)
    for (int v = 0; v < vectors; v++) {
        EACH_PIXEL(sum[p][v] = (vec){0})
    }
    if (!ending->resume) return;
    UNROLL(2)
    for (int v = 0; v < vectors; v++, y += LANES)
        if (v < vectors - 1 || ending->columns >= vectors * LANES) {
            EACH_PIXEL(sum[p][v] = load(y + y_starts[p]))
        } else {
            vec cut[TILE_PIXELS];
            read_cut_vectors(pixels, y, y_starts, ending->columns - v * LANES, cut);
            EACH_PIXEL(sum[p][v] = cut[p])
        }
}

/* Adds the bias, applies relu and writes the sums to y.

   The + 0 turns a sum of -0 into +0. A fused multiply-add of a product that underflows returns -0, and a zero
   of the padding that is multiplied after it makes that +0. Whether padding is multiplied depends on the size
   of the image (PADDED_ROWS or PATCHES); so the sign of a zero would. */
INLINE void tile_end(const int pixels, const int vectors, vec (*sum)[TILE_VECTORS], real *y,
                     const ptrdiff_t *y_starts, const tile_ending *ending) {
    UNROLL(2)
    for (int v = 0; v < vectors; v++, y += LANES) {
        const real *bias = ending->bias ? ending->bias + v * LANES : NULL;
        EACH_PIXEL(sum[p][v] += (vec){0})
        if (v < vectors - 1 || ending->columns >= vectors * LANES) {
            if (bias) {
                EACH_PIXEL(sum[p][v] += load(bias))
            }
            if (ending->relu) {
                EACH_PIXEL(sum[p][v] = rectify(sum[p][v]))
            }
            EACH_PIXEL(store(y + y_starts[p], sum[p][v]))
        } else {
            vec cut[TILE_PIXELS];
            EACH_PIXEL(cut[p] = sum[p][v])
            finish_cut_vectors(pixels, cut, y, y_starts, bias, ending->columns - v * LANES, ending->relu);
        }
    }
}

/* Every third pixel has a pointer, and the next two pixels lie one and two steps further: five pointers serve
   14 pixels. */
#define PIXEL_AT(p)                       \
    ((p) < 3    ? a0 + (p) * pixel_step         \
     : (p) < 6  ? a3 + ((p) - 3) * pixel_step   \
     : (p) < 9  ? a6 + ((p) - 6) * pixel_step   \
     : (p) < 12 ? a9 + ((p) - 9) * pixel_step   \
                : a12 + ((p) - 12) * pixel_step)

/* Declares b0 and b1, the row of b for this k; copying: writes it to the copy, too. */
#define LOAD_ROW_OF_B                                                 \
    PREFETCH(ahead, 3);                                               \
    ahead += ahead_step;                                              \
    const vec b0 = load(b), b1 = vectors > 1 ? load(b + LANES) : b0;  \
    if (copying) {                                                    \
        store(copy, b0);                                              \
        store(copy + LANES, b1);                                      \
        copy += 2 * LANES;                                            \
    }

/* The callers pass constants as pixels and vectors, so every loop over them unrolls and `sum` stays in
   registers. */
INLINE void register_tile(const int pixels, const int vectors, const int copying, TILE_PARAMETERS) {
    vec sum[TILE_PIXELS][TILE_VECTORS];
    const char *ahead = (const char *)ending->ahead;
    const ptrdiff_t ahead_step = ending->ahead_step;
    real *copy = ending->copy;
    tile_begin(pixels, vectors, sum, y, y_starts, ending);
    for (ptrdiff_t run = 0; run < runs; run++) {
        const real *a0 = a + run_starts[run];
        const real *a3 = a0 + 3 * pixel_step, *a6 = a0 + 6 * pixel_step, *a9 = a0 + 9 * pixel_step,
                   *a12 = a0 + 12 * pixel_step;
        ptrdiff_t k = 0;
#if BY_LANES
        for (; k + LANES <= run_length; k += LANES) {
            vec values[TILE_PIXELS];
            EACH_PIXEL(values[p] = load(PIXEL_AT(p)))
            UNROLL(4)
            for (int i = 0; i < LANES; i++) {
                LOAD_ROW_OF_B
                EACH_PIXEL(sum[p][0] = keep(sum[p][0] + values[p][i] * b0))
                if (vectors > 1) EACH_PIXEL(sum[p][1] = keep(sum[p][1] + values[p][i] * b1))
                b += b_step;
            }
            a0 += LANES, a3 += LANES, a6 += LANES, a9 += LANES, a12 += LANES;
        }
#endif
        for (; k < run_length; k++) {
            LOAD_ROW_OF_B
            UNROLL(14)
            for (int p = 0; p < pixels; p++) {
                const real value = *PIXEL_AT(p);
                /* mark: multiply-add of row_gemm if whole_input padded_rows patches */
                sum[p][0] += value * b0; /* mark: multiply-add of phases winograd/y winograd/dx winograd2 winograd4/y winograd4/dx col2im */
                if (vectors > 1) sum[p][1] += value * b1;
            }
            a0++, a3++, a6++, a9++, a12++;
            b += b_step;
        }
    }
    tile_end(pixels, vectors, sum, y, y_starts, ending);
}
#undef PIXEL_AT
#undef LOAD_ROW_OF_B

#define TILE_OF(name, pixels, vectors, copying)                                                            \
    KERNEL void tile_##pixels##_##name(TILE_PARAMETERS) {                                                  \
        register_tile(pixels, vectors, copying, a, pixel_step, run_starts, runs, run_length, b, b_step, y, \
                      y_starts, ending);                                                                   \
    }
#define TILES_OF(pixels) \
    TILE_OF(one, pixels, 1, 0) TILE_OF(two, pixels, 2, 0) TILE_OF(copying, pixels, 2, 1)
EACH_HEIGHT(TILES_OF)
#undef TILES_OF
#undef TILE_OF

#define ALL(pixels) {tile_##pixels##_one, tile_##pixels##_two, tile_##pixels##_copying},
static const tile_function tile_table[TILE_PIXELS + 1][COPYING + 1] = {
    {0, 0, 0}, EACH_HEIGHT(ALL)
};
#undef ALL
