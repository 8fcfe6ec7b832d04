/* depthwise: groups = in_channels. Every output channel has one input channel, so there is no matrix product.

     out_cols  ->  [c0 c1 c2 c3][c4 c5 ...      one thread: STRIP neighbouring outputs of CHANNELS neighbouring channels
     channels      |  |  |  |                   one block: neighbours, channels fastest, then rows
                   v  v  v  v
     for each tap_row
       numbers = x[in_row, SPAN columns, channels]     [ n0 n1 n2 n3 n4 n5 ]    loaded once, into registers
       for each tap_col                                  ^^^^^^^^^^^ tap_col 0
         sums[i] += numbers[i + tap_col] * weights          ^^^^^^^^^^^ tap_col 1: faster than direct

   CHANNELS is as many as 16 bytes hold if that divides the number of channels and there is one output channel for each input
   channel; otherwise it is less, down to 1. One load brings them all, and positions are computed once for all.

   With -DFILTER_ROWS the compiler knows the filter's rows, its columns (TAPS) and the strides, and the dilation is 1. Without it a
   thread takes TAPS columns of the filter at a time, at any stride and dilation.

   Input gradient: the same strips over cells of x, with the inverse index law, summed over the channel multiplier.
   Filter gradient: a thread sums TAP_ROWS x TAPS taps over its strips of dy. A block takes LANES x CHANNELS channels and a share
   ("split") of the strips. The sums of its threads are added in shared memory, in order, and the splits by add_splits.cu.

   For y and dx, taps in the padding are skipped, so infinities and NaNs give the right results. For dw they are multiplied by zeros,
   so sums that are NaN are computed again by the definition. */

#include "common.cuh"
#include "definition.cuh"

#if defined(FILTER_ROWS)
#define KNOWN true
DEVICE Problem known(Problem p) { /* the same problem, with constants for the compiler */
    p.filter_rows = FILTER_ROWS, p.filter_cols = TAPS;
    p.stride_rows = STRIDE_ROWS, p.stride_cols = STRIDE_COLS;
    p.dilation_rows = p.dilation_cols = 1;
    return p;
}
#else
#define KNOWN false
#define STRIDE_COLS 1 /* in a span, which has one number for each output of the strip */
DEVICE Problem known(const Problem &p) { return p; }
#endif

struct Widened {
    Sum value[CHANNELS];
};
struct __align__(CHANNELS * sizeof(Number)) Some { /* neighbouring channels, in one access of memory */
    Number value[CHANNELS];
    DEVICE static Some at(const Number *from) { return *(const Some *)from; }
    DEVICE Widened widened() const {
        Widened sums;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) sums.value[c] = widen(value[c]);
        return sums;
    }
    DEVICE static Some at_if(bool there, const Number *from, Index offset) {
        Some zeros = {};
        return there ? at(from + offset) : zeros; /* no address is formed outside the array */
    }
};

#if defined(DEPTHWISE_STRIPS)
struct Size {
    int rows, cols, channels;
    DEVICE Index at(int image, int row, int col) const { return (((Index)image * rows + row) * cols + col) * channels; }
    DEVICE bool has(int row, int col) const { return (unsigned)row < (unsigned)rows & (unsigned)col < (unsigned)cols; }
};

/* Where a strip of y reads x, and one of dx reads dy: row and column of number j of the span, and the tap through which cell i of the
   strip reads it, which may be none. */
template <class Kind> struct Reads;
template <> struct Reads<Forward> {
    static constexpr bool IS_FORWARD = true;
    static constexpr int SPAN = (STRIP - 1) * STRIDE_COLS + TAPS;
    DEVICE static int skipped(const Problem &) { return 0; }
    DEVICE static int row(const Problem &p, int row, int tap) { return p.in_row(row, tap); }
    DEVICE static int col(const Problem &p, int first, int tap, int j) { return KNOWN ? p.in_col(first, 0) + j : p.in_col(first + j, tap); }
    DEVICE static int tap(int i, int j) { return j - i * STRIDE_COLS; }
};
template <> struct Reads<InputGradient> {
    static constexpr bool IS_FORWARD = false;
    static constexpr int BACK = (TAPS - 1) / STRIDE_COLS, SPAN = (STRIP - 1) / STRIDE_COLS + BACK + 1;
    /* the first strip begins so many cells before dx that an output reads its first cell through tap 0; the pad may be negative */
    DEVICE static int skipped(const Problem &p) { return (p.pad_left % STRIDE_COLS + STRIDE_COLS) % STRIDE_COLS; }
    DEVICE static int row(const Problem &p, int row, int tap) { return p.out_row(row, tap); }
    DEVICE static int col(const Problem &p, int first, int tap, int j) {
        return KNOWN ? (first + p.pad_left) / STRIDE_COLS - BACK + j : p.out_col(first + j, tap);
    }
    DEVICE static int tap(int i, int j) { return i - (j - BACK) * STRIDE_COLS; }
};

/* source is x or dy, result is y or dx. */
extern "C" __global__ void depthwise_strips(Problem given, const Number *source, const Number *w, const Number *bias, int relu,
                                            Number *result) {
    typedef Reads<KIND> Read;
    const Problem p = known(given); /* mark: kernel of depthwise/y depthwise/dx */
    const bool forward = Read::IS_FORWARD;
    const Size x = {p.in_rows, p.in_cols, p.in_channels}, y = {p.out_rows, p.out_cols, p.out_channels};
    const Size from = forward ? x : y, to = forward ? y : x;
    const int multiplier = CHANNELS > 1 ? 1 : p.out_depth(), skipped = Read::skipped(p);
    const int strips = (to.cols + skipped + STRIP - 1) / STRIP, pieces = to.channels / CHANNELS;
    const Index cells = (Index)p.batch * strips * to.rows * pieces;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const Index line = cell / pieces / to.rows; /* strips below each other are neighbours: they read the same rows */
        const int channel = (int)(cell % pieces) * CHANNELS, row = (int)(cell / pieces % to.rows);
        const int image = (int)(line / strips), first = (int)(line % strips) * STRIP - skipped;
        Sum sums[STRIP][CHANNELS] = {};
        for (int m = 0; m < (forward ? 1 : multiplier); m++) {
            const int out_channel = forward ? channel : channel * multiplier + m;
            const Number *const pixels = source + from.at(image, 0, 0) + (forward ? channel / multiplier : out_channel);
            for (int first_row = 0; first_row < p.filter_rows; first_row += TAP_ROWS)
                for (int first_tap = 0; first_tap < p.filter_cols; first_tap += TAPS) {
                    int cols[Read::SPAN];
                    Some numbers[TAP_ROWS][Read::SPAN];
#pragma unroll
                    for (int j = 0; j < Read::SPAN; j++) cols[j] = Read::col(p, first, first_tap, j);
#pragma unroll
                    for (int r = 0; r < TAP_ROWS; r++) {
                        const int from_row = Read::row(p, row, first_row + r);
#pragma unroll
                        for (int j = 0; j < Read::SPAN; j++)
                            if (from.has(from_row, cols[j])) numbers[r][j] = Some::at(pixels + from.at(0, from_row, cols[j]));
                    }
#pragma unroll
                    for (int r = 0; r < TAP_ROWS; r++) {
                        const int from_row = Read::row(p, row, first_row + r), tap = (first_row + r) * p.filter_cols + first_tap;
                        if (!from.has(from_row, 0)) continue;
                        Widened weights[TAPS];
#pragma unroll
                        for (int t = 0; t < TAPS; t++) weights[t] = Some::at(w + (Index)(tap + t) * p.out_channels + out_channel).widened();
#pragma unroll
                        for (int j = 0; j < Read::SPAN; j++) {
                            if (!from.has(from_row, cols[j])) continue; /* mark: padding of depthwise/y */
                            const Widened number = numbers[r][j].widened(); /* converted once for all taps */
#pragma unroll
                            for (int i = 0; i < STRIP; i++) {
                                const int t = Read::tap(i, j);
                                if (t < 0 || t >= TAPS) continue;
#pragma unroll
                                for (int c = 0; c < CHANNELS; c++)
                                    /* mark: multiply-add of depthwise/y depthwise/dx */
                                    sums[i][c] += number.value[c] * weights[t].value[c];
                            }
                        }
                    }
                }
        }
#pragma unroll
        for (int i = 0; i < STRIP; i++) {
            if (!to.has(row, first + i)) continue;
            Some out;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) out.value[c] = finish(sums[i][c], bias, channel + c, relu);
            *(Some *)(result + to.at(image, row, first + i) + channel) = out;
        }
    }
}
#endif

#if defined(DEPTHWISE_FILTER_GRADIENT)
#define THREADS 256
#define ROWS (THREADS / LANES)
#define WIDTH (LANES * CHANNELS)
#define SPAN ((STRIP - 1) * STRIDE_COLS + TAPS)
#define SPARE 8 /* then neighbouring channels are in different banks of shared memory */

/* One block for each of [splits, blocks of tap rows, blocks of TAPS tap columns, blocks of channels]; its threads are [ROWS, LANES].
   partial is [splits, taps, out_channels]; a single split writes the result. One block of a multiprocessor has enough loads on
   their way if the compiler may use all registers, which it is told by the 1. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) depthwise_filter_gradient(Problem given, const Number *x, const Number *dy,
                                                                                   int splits, Sum *partial, Number *result) {
    __shared__ Sum shared[TAPS * CHANNELS][THREADS + SPARE];
    const Problem p = known(given); /* mark: kernel of depthwise/dw */
    const int channel_blocks = (p.out_channels + WIDTH - 1) / WIDTH, block = (int)(blockIdx.x / channel_blocks);
    const int col_blocks = (p.filter_cols + TAPS - 1) / TAPS, row_blocks = (p.filter_rows + TAP_ROWS - 1) / TAP_ROWS;
    const int first_tap = block % col_blocks * TAPS, first_row = block / col_blocks % row_blocks * TAP_ROWS;
    const int split = block / col_blocks / row_blocks, strips = (p.out_cols + STRIP - 1) / STRIP;
    const int first_channel = (int)(blockIdx.x % channel_blocks) * WIDTH, channel = first_channel + threadIdx.x % LANES * CHANNELS;
    const Number *const inputs = x + (CHANNELS > 1 ? channel : channel / p.out_depth()), *const outputs = dy + channel;
    const Index all = (Index)p.batch * p.out_rows * strips, share = (all + splits - 1) / splits;
    const Index stop = all - split * share < share ? all : (split + 1) * share;
    Index at = split * share + threadIdx.x / LANES; /* divided once; from then on its strip, row and image are counted */
    int strip = (int)(at % strips), out_row = (int)(at / strips % p.out_rows), image = (int)(at / strips / p.out_rows);
    const int more_strips = ROWS % strips, more_rows = ROWS / strips % p.out_rows, more_images = ROWS / strips / p.out_rows;
    Sum sums[TAP_ROWS][TAPS][CHANNELS] = {};
    for (; at < stop && channel < p.out_channels; at += ROWS) {
        const int out_col = strip * STRIP, in_col = p.in_col(out_col, first_tap);
        Some upstream[STRIP], numbers[SPAN];
#pragma unroll
        for (int i = 0; i < STRIP; i++)
            upstream[i] = Some::at_if(out_col + i < p.out_cols, outputs, p.y_at(image, out_row, out_col + i));
#pragma unroll
        for (int r = 0; r < TAP_ROWS; r++) {
            const int in_row = p.in_row(out_row, first_row + r);
#pragma unroll
            for (int j = 0; j < SPAN; j++) {
                const int col = in_col + j * p.dilation_cols;
                numbers[j] = Some::at_if(p.has_input(in_row, col), inputs, p.x_at(image, in_row, col));
            }
#pragma unroll
            for (int i = 0; i < STRIP; i++)
#pragma unroll
                for (int t = 0; t < TAPS; t++)
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        /* mark: multiply-add of depthwise/dw */
                        sums[r][t][c] += widen(numbers[i * STRIDE_COLS + t].value[c]) * widen(upstream[i].value[c]);
        }
        strip += more_strips, out_row += more_rows, image += more_images;
        if (strip >= strips) strip -= strips, out_row++;
        if (out_row >= p.out_rows) out_row -= p.out_rows, image++;
    }
    auto cell_of = [&](int r, int t, int c) { /* in the result; -1 if the block ends beyond it */
        const int tap_row = first_row + r, tap_col = first_tap + t, tap = tap_row * p.filter_cols + tap_col;
        const bool has = tap_row < p.filter_rows && tap_col < p.filter_cols && first_channel + c < p.out_channels;
        return has ? (Index)tap * p.out_channels + first_channel + c : -1;
    };
    bool redo = false;
#pragma unroll
    for (int r = 0; r < TAP_ROWS; r++) {
#pragma unroll
        for (int t = 0; t < TAPS; t++)
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) shared[t * CHANNELS + c][threadIdx.x] = sums[r][t][c];
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < TAPS * WIDTH; i += THREADS) {
            const int t = i / WIDTH, c = i % WIDTH;
            const Index cell = cell_of(r, t, c);
            if (cell < 0) continue;
            Sum sum = 0;
#pragma unroll 8
            for (int row = 0; row < ROWS; row++) sum += shared[t * CHANNELS + c % CHANNELS][row * LANES + c / CHANNELS];
            if (splits > 1) partial[(Long)split * p.taps() * p.out_channels + cell] = sum;
            else result[cell] = narrow(sum), redo |= sum != sum; /* NaN */
        }
        __syncthreads();
    }
    for (int r = 0; r < TAP_ROWS && redo; r++)
        for (int i = threadIdx.x; i < TAPS * WIDTH; i += THREADS) {
            const Index cell = cell_of(r, i / WIDTH, i % WIDTH);
            if (cell >= 0) redo_if_nan<FilterGradient>(p, x, dy, cell, nullptr, 0, result);
        }
}
#endif
