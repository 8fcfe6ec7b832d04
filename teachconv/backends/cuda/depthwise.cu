/* depthwise: groups = in_channels. Every output channel has one input channel, so there is no matrix product.

     out_cols  ->  [c0 c1 c2 c3][c4 c5 ...      one thread: STRIP neighbouring outputs of CHANNELS neighbouring channels
     channels      |  |  |  |                   one block: 256 neighbours, channels fastest
                   v  v  v  v
     for each tap_row, tap_col
       weights = w[tap_row, tap_col, channels]   loaded once, used STRIP times: faster than direct
       for each of the STRIP outputs
         sums[i] += x[in_row, in_col, channels] * weights

   CHANNELS is 4 if there is one output channel for each input channel and their number is a multiple of 4: one load brings 4
   numbers, and positions are computed once for 4 sums. Otherwise it is 1.

   Input gradient: the same strips over cells of x, with the inverse index law, summed over the channel multiplier.
   Filter gradient: a block of 256 = 32 lanes of CHANNELS channels x 8 rows of threads takes TAPS neighbouring taps and a share
   ("split") of the places. The 8 sums of a channel are added in shared memory, in order, and the splits by add_splits.cu.

   Taps in the padding are skipped, so infinities and NaNs give the right results and nothing has to be recomputed. */

#include "common.cuh"

#define STRIP 4
#define TAPS 5
#define LANES 32
#define ROWS 8

struct __align__(CHANNELS * sizeof(Number)) Some { /* neighbouring channels, in one access of memory */
    Number value[CHANNELS];
    DEVICE static Some at(const Number *from) { return *(const Some *)from; }
};

#if defined(DEPTHWISE_FORWARD)
extern "C" __global__ void depthwise_forward(Problem p, const Number *x, const Number *w, const Number *bias, int relu, Number *y) {
    const int strips = (p.out_cols + STRIP - 1) / STRIP, channels = p.out_channels / CHANNELS; /* mark: kernel of depthwise/y */
    const Index cells = (Index)p.batch * p.out_rows * strips * channels;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int out_channel = (int)(cell % channels) * CHANNELS, in_channel = out_channel / p.out_depth();
        const Index place = cell / channels;
        const int first_col = (int)(place % strips) * STRIP;
        const int out_row = (int)(place / strips % p.out_rows);
        const int image = (int)(place / strips / p.out_rows);
        Sum sums[STRIP][CHANNELS] = {};
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++) {
            const int in_row = p.in_row(out_row, tap_row);
            if (in_row < 0 || in_row >= p.in_rows) continue;
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++) {
                const Some weights = Some::at(w + p.w_at(tap_row, tap_col, 0) + out_channel);
#pragma unroll
                for (int i = 0; i < STRIP; i++) {
                    const int in_col = p.in_col(first_col + i, tap_col);
                    if (in_col < 0 || in_col >= p.in_cols) continue; /* mark: padding of depthwise/y */
                    const Some inputs = Some::at(x + p.x_at(image, in_row, in_col) + in_channel);
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        sums[i][c] += widen(inputs.value[c]) * widen(weights.value[c]); /* mark: multiply-add of depthwise/y */
                }
            }
        }
#pragma unroll
        for (int i = 0; i < STRIP; i++) {
            if (first_col + i >= p.out_cols) continue;
            Some out;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) out.value[c] = finish(sums[i][c], bias, out_channel + c, relu);
            *(Some *)(y + p.y_at(image, out_row, first_col + i) + out_channel) = out;
        }
    }
}
#endif

#if defined(DEPTHWISE_INPUT_GRADIENT)
extern "C" __global__ void depthwise_input_gradient(Problem p, const Number *dy, const Number *w, const Number *bias, int relu,
                                                    Number *dx) {
    /* mark: kernel of depthwise/dx */
    const int strips = (p.in_cols + STRIP - 1) / STRIP, multiplier = p.out_depth(), channels = p.in_channels / CHANNELS;
    const Index cells = (Index)p.batch * p.in_rows * strips * channels;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int in_channel = (int)(cell % channels) * CHANNELS;
        const Index place = cell / channels;
        const int first_col = (int)(place % strips) * STRIP;
        const int in_row = (int)(place / strips % p.in_rows);
        const int image = (int)(place / strips / p.in_rows);
        Sum sums[STRIP][CHANNELS] = {};
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++) {
            const int out_row = p.out_row(in_row, tap_row);
            if (out_row < 0) continue;
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++)
                for (int channel = in_channel * multiplier; channel < (in_channel + 1) * multiplier; channel++) {
                    const Some weights = Some::at(w + p.w_at(tap_row, tap_col, 0) + channel);
#pragma unroll
                    for (int i = 0; i < STRIP; i++) {
                        const int out_col = p.out_col(first_col + i, tap_col);
                        if (out_col < 0) continue;
                        const Some upstream = Some::at(dy + p.y_at(image, out_row, out_col) + channel);
#pragma unroll
                        for (int c = 0; c < CHANNELS; c++)
                            sums[i][c] += widen(upstream.value[c]) * widen(weights.value[c]); /* mark: multiply-add of depthwise/dx */
                    }
                }
        }
#pragma unroll
        for (int i = 0; i < STRIP; i++) {
            if (first_col + i >= p.in_cols) continue;
            Some out;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) out.value[c] = finish(sums[i][c], bias, in_channel + c, relu);
            *(Some *)(dx + p.x_at(image, in_row, first_col + i) + in_channel) = out;
        }
    }
}
#endif

#if defined(DEPTHWISE_FILTER_GRADIENT)
/* One block for each of [splits, tap rows, TAPS tap columns, blocks of channels]; partial is [splits, taps, out_channels]. */
extern "C" __global__ void depthwise_filter_gradient(Problem p, const Number *x, const Number *dy, int splits, Sum *partial) {
    __shared__ Sum sums[ROWS][LANES][CHANNELS];
    const int lane = threadIdx.x % LANES, row = threadIdx.x / LANES; /* mark: kernel of depthwise/dw */
    const int channel_blocks = (p.out_channels + LANES * CHANNELS - 1) / (LANES * CHANNELS);
    const int out_channel = ((int)(blockIdx.x % channel_blocks) * LANES + lane) * CHANNELS, in_channel = out_channel / p.out_depth();
    const int tap_blocks = (p.filter_cols + TAPS - 1) / TAPS, block = (int)(blockIdx.x / channel_blocks);
    const int first_tap = block % tap_blocks * TAPS, tap_row = block / tap_blocks % p.filter_rows;
    const int split = block / tap_blocks / p.filter_rows;
    const Index share = (p.places() + splits - 1) / splits;
    const Index stop = p.places() - split * share < share ? p.places() : (split + 1) * share;
    Sum sum[TAPS][CHANNELS] = {};
    Index place = split * share + row; /* divided once; from then on its column, row and image are counted */
    int out_col = (int)(place % p.out_cols), out_row = (int)(place / p.out_cols % p.out_rows);
    int image = (int)(place / p.out_cols / p.out_rows);
    for (; place < stop && out_channel < p.out_channels; place += ROWS, out_col += ROWS) {
        for (; out_col >= p.out_cols; out_col -= p.out_cols)
            if (++out_row == p.out_rows) out_row = 0, image++;
        const int in_row = p.in_row(out_row, tap_row);
        const Some upstream = Some::at(dy + place * p.out_channels + out_channel); /* loaded once, used TAPS times */
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            const int in_col = p.in_col(out_col, first_tap + t);
            if (first_tap + t >= p.filter_cols || !p.has_input(in_row, in_col)) continue;
            const Some inputs = Some::at(x + p.x_at(image, in_row, in_col) + in_channel);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[t][c] += widen(inputs.value[c]) * widen(upstream.value[c]); /* mark: multiply-add of depthwise/dw */
        }
    }
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
        for (int c = 0; c < CHANNELS; c++) sums[row][lane][c] = sum[t][c];
        __syncthreads();
        for (int c = 0; c < CHANNELS && row == 0 && out_channel < p.out_channels && first_tap + t < p.filter_cols; c++) {
            for (int other = 1; other < ROWS; other++) sum[t][c] += sums[other][lane][c];
            const int tap = tap_row * p.filter_cols + first_tap + t;
            partial[((Long)split * p.taps() + tap) * p.out_channels + out_channel + c] = sum[t][c];
        }
        __syncthreads();
    }
}
#endif
