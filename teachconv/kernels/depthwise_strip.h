/* The second rung of depthwise, for 3x3 at stride 1: a strip of 4 rows, column by column.

      x arrives         | column i |       each x is loaded once and added to three columns of sums;
      out column  i+pad-2  i+pad-1  i+pad      the first is then finished, and the others move one to the left

     for each stretch of out columns (its x fits the first-level cache)
       for each block of LANES channels
         for each column of x, for each of its 6 rows:  sum[row][column] += x * w, up to nine times

   Gain over the tile: each x is loaded 1.5 times instead of nine. Weights and sums stay in registers: 9 + 3 *
   4 of AVX-512's 32. */
#define DEPTHWISE_STRETCH_BYTES (24 * 1024) /* half of a first-level cache of 48 KB */

enum { DEPTHWISE_STRIP = 4 };

/* A stretch of columns in a strip of out rows, 3x3 at stride 1. */
typedef struct {
    ptrdiff_t first_out, past_out, in_cols, pad; /* columns */
    ptrdiff_t x_pixel, y_pixel, y_row, w_tap, w_row;
    ptrdiff_t x_ahead, y_ahead;
    int relu, streams;
} depthwise_strip_walk;

/* Computes out rows r = 0..rows-1 of a strip, for one block of channels and out columns first..past-1. Tap t
   of row r reads input row x_rows[r + t]. */
INLINE void depthwise_strip(const int rows, const int taps, const depthwise_strip_walk *walk,
                            const real *const *x_rows, const real *w, const real *bias, real *y) {
    const depthwise_strip_walk k = *walk; /* a copy, because stores to y might change *walk */
    const real *x[DEPTHWISE_STRIP + 2];
    UNROLL(6)
    for (int q = 0; q < rows + taps - 1; q++) x[q] = x_rows[q];
    vec weight[9], done[DEPTHWISE_STRIP], next[DEPTHWISE_STRIP], begun[DEPTHWISE_STRIP];
    UNROLL(9)
    for (int t = 0; t < 3 * taps; t++) weight[t] = load(w + t / 3 * k.w_row + t % 3 * k.w_tap);
    UNROLL(4)
    for (int r = 0; r < rows; r++) next[r] = begun[r] = (vec){0};
    for (ptrdiff_t col = k.first_out - k.pad, out = k.first_out - 2; out < k.past_out; col++, out++) {
        UNROLL(4)
        for (int r = 0; r < rows; r++) done[r] = next[r], next[r] = begun[r], begun[r] = (vec){0};
        if (col >= 0 && col < k.in_cols) { /* mark: padding of depthwise/y depthwise/dx if strips */
            UNROLL(6)
            for (int q = 0; q < rows + taps - 1; q++) {
                const real *at = x[q] + col * k.x_pixel;
                const vec value = load(at);
                if (q >= taps - 1) PREFETCH((const char *)at + k.x_ahead, 3);
                UNROLL(4)
                for (int r = 0; r < rows; r++)
                    if (q - r >= 0 && q - r < taps) {
                        /* mark: multiply-add of depthwise/y depthwise/dx if strips */
                        done[r] += value * weight[3 * (q - r) + 2];
                        next[r] += value * weight[3 * (q - r) + 1];
                        begun[r] += value * weight[3 * (q - r)];
                    }
            }
        }
        if (out < k.first_out) continue; /* the two columns before the stretch only begin the sums */
        UNROLL(4)
        for (int r = 0; r < rows; r++) {
            real *to = y + r * k.y_row + out * k.y_pixel;
            vec sum = done[r];
            if (bias) sum += load(bias);
            if (k.relu) sum = rectify(sum);
            if (k.streams) {
                stream(to, sum);
            } else {
                PREFETCH_TO_WRITE((const char *)to + k.y_ahead);
                store(to, sum);
            }
        }
    }
}

KERNEL void depthwise_strip_of(ptrdiff_t rows, ptrdiff_t taps, const depthwise_strip_walk *k,
                               const real *const *x_rows, const real *w, const real *bias, real *y) {
    switch (rows > 1 ? rows + 2 : taps) {
    case 1: depthwise_strip(1, 1, k, x_rows, w, bias, y); break;
    case 2: depthwise_strip(1, 2, k, x_rows, w, bias, y); break;
    case 3: depthwise_strip(1, 3, k, x_rows, w, bias, y); break;
    case 4: depthwise_strip(2, 3, k, x_rows, w, bias, y); break;
    case 5: depthwise_strip(3, 3, k, x_rows, w, bias, y); break;
    case 6: depthwise_strip(4, 3, k, x_rows, w, bias, y); break;
    }
}

/* Computes out rows first_row..first_row+rows-1, for all of which tap rows first_tap..past_tap-1 lie inside
   the image, stretch by stretch and block by block. */
KERNEL void depthwise_strip_rows(const gather *g, const real *x, ptrdiff_t first_row, ptrdiff_t rows,
                                 ptrdiff_t first_tap, ptrdiff_t past_tap, const real *w,
                                 const depthwise_ending *ending, real *y) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t lanes = s->in_channels, taps = past_tap - first_tap,
                    bytes = lanes * (ptrdiff_t)sizeof(real);
    const ptrdiff_t stretch = larger(8, DEPTHWISE_STRETCH_BYTES / (bytes * (rows + 2)));
    took(TOOK_STRIPS);
    /* else the next pixels lie pages away, and the hardware prefetchers do better alone */
    const int near = bytes < 1024;
    const real *x_rows[DEPTHWISE_STRIP + 2], *blocks[DEPTHWISE_STRIP + 2];
    for (ptrdiff_t q = 0; q < rows + taps - 1; q++)
        x_rows[q] = x + (first_row - s->pad_top + first_tap + q) * s->in_cols * lanes;
    depthwise_strip_walk k = {.in_cols = s->in_cols,
                              .pad = s->pad_left,
                              .x_pixel = lanes,
                              .y_pixel = g->y_col_step,
                              .y_row = g->y_row_step,
                              .w_tap = g->tap_col_step * LANES,
                              .w_row = g->tap_row_step * 3 * LANES,
                              .x_ahead = near ? stretch * bytes : 0, /* the next stretch */
                              .y_ahead = near ? DEPTHWISE_WRITE_AHEAD : 0,
                              .relu = ending->relu,
                              .streams = ending->streams};
    w += ((g->first_tap_row + first_tap * g->tap_row_step) * 3 + g->first_tap_col) * LANES;
    y += first_row * g->y_row_step;
    for (ptrdiff_t col = 0; col < s->out_cols; col += stretch) {
        k.first_out = col, k.past_out = smaller(s->out_cols, col + stretch);
        for (ptrdiff_t lane = 0; lane < lanes; lane += LANES) {
            const ptrdiff_t first = block_start(lane, lanes, 1);
            for (ptrdiff_t q = 0; q < rows + taps - 1; q++) blocks[q] = x_rows[q] + first;
            depthwise_strip_of(rows, taps, &k, blocks, w + lane * 9,
                               ending->bias ? ending->bias + first : NULL, y + first);
        }
    }
}
