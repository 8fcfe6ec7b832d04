/* winograd: F(2x2, 3x3) and F(4x4, 3x3), selected by -DTILE=2 or 4. Fewer multiplications, and more additions.

     SIZE = TILE + 2:  SIZE x SIZE inputs d,  3x3 filter g,  TILE x TILE outputs:    y = A' [ (G g G') * (B' d B) ] A

     transform_filter   thread = one (in_channel, out_channel)      U[e][in_channel][out_channel]
     transform_input    thread = one (tile, in_channel)             V[e][tile][in_channel]        e = 0 .. SIZE*SIZE-1
     cuBLAS             SIZE*SIZE products, batched                 M[e] = V[e] U[e]
     transform_output   thread = one (tile, out_channel)            TILE x TILE cells of y

     multiplications per output and channel pair:   direct 9,   TILE 2: 16/4 = 4,   TILE 4: 36/16 = 2.25

   Tiles overlap by two rows and columns in the input, and not in the output. Channels are the fastest axis everywhere, so
   that neighbouring threads read and write neighbouring numbers. Tiles are computed in blocks, to bound the size of V and
   M. At stride 1 the input gradient is this same convolution, of dy with the flipped and transposed filter.

   The filter gradient (TILE 2) uses the same matrices, and its products sum over the tiles of all images:

     SIZE x SIZE inputs d,  TILE x TILE numbers of dy,  3x3 taps:    dw = G' [ sum of (B' d B) * (A dy A') ] G

     transform_input    as above, of x                              V[e][tile][in_channel]
     transform_input    with -DOF_GRADIENT, of dy                   U[e][tile][out_channel]       U = A dy A'
     cuBLAS             16 products for each slice of the tiles     M[e][slice] += V[e]' U[e]
     transform_sums     thread = one (in_channel, out_channel)      9 cells of dw

   With few channels, 16 products would occupy few multiprocessors. So the tiles of a block are cut into slices of equal length;
   their products are computed at the same time, and added at the end. Tiles beyond the last image are zeros.

   The transforms mix neighbouring cells: an infinity or NaN would spread, and numbers that are too large or too small would
   overflow or lose bits. Both are marked when they are read, and transform_output computes these images by the definition:

       marks[0]  there is a number that is not finite, or whose magnitude is above `largest`
       marks[1]  there is a number other than zero
       marks[2]  there is a number whose magnitude is at least `smallest`

   Each image has three marks, and so has the filter; in a filter gradient, which sums over images, x has three, and so has dy.
   Several threads may write the same 1 to the same place, so their order does not matter. An image is computed by the definition
   if its mark 0 or the filter's is set, or if it or the filter has numbers other than zero and all of them are tiny. For a filter
   gradient the same holds of x, dy and all cells.

   A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016, sections 4.1 and 4.3. */

#include "common.cuh"
#include "definition.cuh"

#define SIZE (TILE + 2)

/* The marks that a number sets, as three bits. A NaN fails every comparison. */
DEVICE int marks_of(Sum number, Sum largest, Sum smallest) {
    const Sum size = number < 0 ? -number : number;
    return !(size <= largest) | (size > 0) << 1 | (size >= smallest) << 2;
}

/* A thread sets its marks once, after its last number, and reads them first: almost always they are set already. */
DEVICE void set_marks(int bits, int *marks) {
    for (int i = 0; i < 3; i++)
        if (bits >> i & 1 && !marks[i]) marks[i] = 1;
}

DEVICE bool is_unfit(const int *marks) { return marks[0] || (marks[1] && !marks[2]); }

/* B', G and A' applied to one line of numbers with a distance of `step`; for the filter gradient A and G'. */
#if TILE == 2
DEVICE void input_line(Sum *d, int step) {
    const Sum d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    d[0] = d0 - d2; /* mark: own of winograd2 */
    d[step] = d1 + d2;
    d[2 * step] = d2 - d1;
    d[3 * step] = d1 - d3;
}
DEVICE void filter_line(const Sum *g, int step, Sum *u, int u_step) {
    const Sum half = (Sum)0.5;
    u[0] = g[0];
    u[u_step] = (g[0] + g[step] + g[2 * step]) * half;
    u[2 * u_step] = (g[0] - g[step] + g[2 * step]) * half;
    u[3 * u_step] = g[2 * step];
}
DEVICE void output_line(const Sum *m, int step, Sum *y, int y_step) {
    y[0] = m[0] + m[step] + m[2 * step];
    y[y_step] = m[step] - m[2 * step] - m[3 * step];
}
DEVICE void gradient_line(Sum *d, int step) { /* in place: two numbers become four */
    const Sum d0 = d[0], d1 = d[step];
    d[step] = d0 + d1; /* mark: gradient-transform of winograd2/dw */
    d[2 * step] = d0 - d1;
    d[3 * step] = -d1;
}
DEVICE void taps_line(const Sum *m, int step, Sum *w, int w_step) {
    const Sum plus = (m[step] + m[2 * step]) * (Sum)0.5, minus = (m[step] - m[2 * step]) * (Sum)0.5;
    w[0] = m[0] + plus;
    w[w_step] = minus;
    w[2 * w_step] = plus + m[3 * step];
}
#elif TILE == 4
DEVICE void input_line(Sum *d, int step) {
    const Sum d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    d[0] = 4 * d0 - 5 * d2 + d4; /* mark: own of winograd4 */
    d[step] = -4 * d1 - 4 * d2 + d3 + d4;
    d[2 * step] = 4 * d1 - 4 * d2 - d3 + d4;
    d[3 * step] = -2 * d1 - d2 + 2 * d3 + d4;
    d[4 * step] = 2 * d1 - d2 - 2 * d3 + d4;
    d[5 * step] = 4 * d1 - 5 * d3 + d5;
}
DEVICE void filter_line(const Sum *g, int step, Sum *u, int u_step) {
    const Sum g0 = g[0], g1 = g[step], g2 = g[2 * step];
    u[0] = g0 * (Sum)0.25;
    u[u_step] = (g0 + g1 + g2) / -6;
    u[2 * u_step] = (g0 - g1 + g2) / -6;
    u[3 * u_step] = (g0 + 2 * g1 + 4 * g2) / 24;
    u[4 * u_step] = (g0 - 2 * g1 + 4 * g2) / 24;
    u[5 * u_step] = g2;
}
DEVICE void output_line(const Sum *m, int step, Sum *y, int y_step) {
    const Sum m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
    y[0] = m[0] + m1 + m2 + m3 + m4;
    y[y_step] = m1 - m2 + 2 * m3 - 2 * m4;
    y[2 * y_step] = m1 + m2 + 4 * m3 + 4 * m4;
    y[3 * y_step] = m1 - m2 + 8 * m3 - 8 * m4 + m[5 * step];
}
#else
#error "define TILE as 2 or 4"
#endif

#if defined(TRANSFORM_FILTER)
/* w is [3, 3, in_channels, out_channels]; with `flip` it becomes the filter of the input gradient, with rows and columns
   flipped and channels exchanged. u is [SIZE * SIZE, depth, width]: in- and out_channels, or with `flip` the reverse. */
extern "C" __global__ void transform_filter(const Number *w, int in_channels, int out_channels, int flip, Sum largest,
                                            Sum smallest, Sum *u, int *marks) {
    const Index pairs = (Index)in_channels * out_channels;
    for (Index pair = first_cell(); pair < pairs; pair += cell_step()) {
        Sum g[9], lines[3 * SIZE], all[SIZE * SIZE];
        Index source = pair; /* u's pairs are [depth, width]; w's [in_channels, out_channels] */
        if (flip) source = pair % in_channels * out_channels + pair / in_channels;
        int seen = 0;
        for (int tap = 0; tap < 9; tap++) {
            g[tap] = widen(w[(flip ? 8 - tap : tap) * pairs + source]);
            seen |= marks_of(g[tap], largest, smallest);
        }
        set_marks(seen, marks);
        for (int col = 0; col < 3; col++) filter_line(g + col, 3, lines + col, 3);            /* G g */ /* mark: filter-transform of winograd2/y winograd2/dx winograd4 */
        for (int row = 0; row < SIZE; row++) filter_line(lines + 3 * row, 1, all + SIZE * row, 1); /* (G g) G' */
        for (int e = 0; e < SIZE * SIZE; e++) u[e * pairs + pair] = all[e];
    }
}
#endif

#if defined(TRANSFORM_INPUT)
#if defined(OF_GRADIENT)
#define SPAN TILE /* the tile is one of outputs, without overlap */
#define SPAN_LINE gradient_line
#else
#define SPAN SIZE
#define SPAN_LINE input_line
#endif
/* source is [batch, rows, cols, channels]: x, or dy. v is [SIZE * SIZE, tiles, channels], for the tiles from first_tile on;
   tiles are numbered by image, row and column. marks_step is the distance of two images' marks, or 0 if they share them. */
extern "C" __global__ void transform_input(const Number *source, int batch, int rows, int cols, int channels, int pad_top,
                                           int pad_left, int tile_rows, int tile_cols, Index first_tile, Index tiles, Sum largest,
                                           Sum smallest, Sum *v, int *marks, int marks_step) {
    const Index cells = tiles * channels;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int channel = (int)(cell % channels);
        const Index tile = first_tile + cell / channels;
        const int left = (int)(tile % tile_cols) * TILE - pad_left;
        const int top = (int)(tile / tile_cols % tile_rows) * TILE - pad_top;
        const Index image = tile / tile_cols / tile_rows;
        Sum d[SIZE * SIZE];
        int seen = 0;
        for (int i = 0; i < SPAN; i++)
            for (int j = 0; j < SPAN; j++) {
                const int row = top + i, col = left + j;
                Sum value = 0;
                if (image < batch && row >= 0 && row < rows && col >= 0 && col < cols) { /* mark: padding of winograd2 winograd4 */
                    value = widen(source[((image * rows + row) * cols + col) * channels + channel]);
                    seen |= marks_of(value, largest, smallest);
                }
                d[i * SIZE + j] = value;
            }
        set_marks(seen, marks + image * marks_step);
        for (int col = 0; col < SPAN; col++) SPAN_LINE(d + col, SIZE);    /* B' d */ /* mark: input-transform kernel of winograd2 winograd4 */
        for (int row = 0; row < SIZE; row++) SPAN_LINE(d + SIZE * row, 1); /* (B' d) B */
        for (int e = 0; e < SIZE * SIZE; e++) v[e * cells + cell] = d[e];
    }
}
#endif

#if defined(TRANSFORM_OUTPUT)
/* m is [SIZE * SIZE, tiles, channels]; result [batch, rows, cols, channels]: y, or dx. */
extern "C" __global__ void transform_output(Problem p, const Number *first, const Number *second, const Sum *m, const int *filter_marks,
                                            const int *data_marks, int source_rows, int source_cols, int pad_top, int pad_left,
                                            int rows, int cols, int channels, int tile_rows, int tile_cols, Index first_tile, Index tiles, const Number *bias, int relu, Number *result) {
    const Index cells = tiles * channels;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int channel = (int)(cell % channels);
        const Index tile = first_tile + cell / channels;
        const int left = (int)(tile % tile_cols) * TILE, top = (int)(tile / tile_cols % tile_rows) * TILE;
        const Index image = tile / tile_cols / tile_rows;
        Sum all[SIZE * SIZE], lines[TILE * SIZE], y[TILE * TILE];
        for (int e = 0; e < SIZE * SIZE; e++) all[e] = m[e * cells + cell];
        for (int col = 0; col < SIZE; col++) output_line(all + col, SIZE, lines + col, SIZE);         /* A' m */ /* mark: output-transform of winograd2/y winograd2/dx winograd4 */
        for (int row = 0; row < TILE; row++) output_line(lines + SIZE * row, 1, y + TILE * row, 1); /* (A' m) A */
        const bool unfit = is_unfit(filter_marks) || is_unfit(data_marks + image * 3);
#pragma unroll
        for (int i = 0; i < TILE; i++)
#pragma unroll
            for (int j = 0; j < TILE; j++) {
                if (top + i >= rows || left + j >= cols) continue;
                const Index to = ((image * rows + top + i) * cols + left + j) * channels + channel;
                /* in a window that lies in the padding, the tile's other cells leave rounding errors */
                const int row = top + i - pad_top, col = left + j - pad_left;
                const bool reached = row > -3 && row < source_rows && col > -3 && col < source_cols;
                if (!unfit) result[to] = finish(reached ? y[i * TILE + j] : (Sum)0, bias, channel, relu);
            }
        for (int cell = 0; unfit && cell < TILE * TILE; cell++) {
            const int row = top + cell / TILE, col = left + cell % TILE;
            if (row >= rows || col >= cols) continue;
            const Index to = ((image * rows + row) * cols + col) * channels + channel;
            result[to] = finish(KIND::value(p, first, second, to), bias, channel, relu);
        }
    }
}
#endif

#if defined(TRANSFORM_SUMS)
/* sums is [SIZE * SIZE, slices, in_channels, out_channels]; result [3, 3, in_channels, out_channels]: dw. */
extern "C" __global__ void transform_sums(Problem p, const Number *x, const Number *dy, const Sum *sums, int slices,
                                          const int *x_marks, const int *dy_marks, Number *result) {
    const Index pairs = (Index)p.in_channels * p.out_channels;
    const bool unfit = is_unfit(x_marks) || is_unfit(dy_marks);
    for (Index pair = first_cell(); !unfit && pair < pairs; pair += cell_step()) {
        Sum all[SIZE * SIZE], lines[3 * SIZE], dw[9];
#pragma unroll
        for (int e = 0; e < SIZE * SIZE; e++) {
            all[e] = 0;
            for (int slice = 0; slice < slices; slice++) all[e] += sums[((Index)e * slices + slice) * pairs + pair];
        }
        for (int col = 0; col < SIZE; col++) taps_line(all + col, SIZE, lines + col, SIZE);   /* G' m */ /* mark: output-transform of winograd2/dw */
        for (int row = 0; row < 3; row++) taps_line(lines + SIZE * row, 1, dw + 3 * row, 1); /* (G' m) G */
#pragma unroll
        for (int tap = 0; tap < 9; tap++) {
            /* of a tap that reads padding alone, the other taps leave rounding errors */
            const int row = tap / 3 - p.pad_top, col = tap % 3 - p.pad_left; /* what it reads for the first output */
            const bool reached = row < p.in_rows && row + p.out_rows > 0 && col < p.in_cols && col + p.out_cols > 0;
            result[tap * pairs + pair] = narrow(reached ? dw[tap] : (Sum)0);
        }
    }
    for (Index cell = first_cell(); unfit && cell < 9 * pairs; cell += cell_step()) {
        result[cell] = narrow(KIND::value(p, x, dy, cell));
        p.count_redone();
    }
}
#endif
