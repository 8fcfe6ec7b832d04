/* depthwise: groups = in_channels. Every output channel has one input channel, so there is no matrix product.

     out_cols  ->  [c0 c1 c2 c3][c4 c5 ...      one thread: STRIP neighbouring outputs of one channel
     channels      |  |  |  |                   one block: 256 neighbouring (strip, channel) pairs, channels fastest
                   v  v  v  v
     for each tap_row, tap_col
       weight = w[tap_row, tap_col, channel]     read once, used STRIP times: faster than direct
       for each of the STRIP outputs
         sum[i] += x[in_row, in_col, in_channel] * weight

   Input gradient: the same strips over cells of x, with the inverse index law, summed over the channel multiplier.
   Filter gradient: a block of 256 = 32 channels x 8 rows of threads takes one tap and a share ("split") of the places.
   The 8 sums of a channel are added in shared memory, in order, and the splits by add_splits of helpers.cu.

   Taps in the padding are skipped, so infinities and NaNs give the right results and nothing has to be recomputed. */

#include "common.cuh"

#define STRIP 4
#define LANES 32
#define ROWS 8

extern "C" __global__ void depthwise_forward(PROBLEM_PARAMETERS, const Number *x, const Number *w, const Number *bias,
                                             int relu, Number *y) {
    const Problem p = PROBLEM; /* mark: kernel of depthwise/y */
    const int strips = (p.out_cols + STRIP - 1) / STRIP;
    const Long cells = (Long)p.batch * p.out_rows * strips * p.out_channels;
    for (Long cell = first_cell(); cell < cells; cell += cell_step()) {
        const int out_channel = (int)(cell % p.out_channels), in_channel = out_channel / p.out_depth();
        const Long place = cell / p.out_channels;
        const int first_col = (int)(place % strips) * STRIP;
        const int out_row = (int)(place / strips % p.out_rows);
        const int image = (int)(place / strips / p.out_rows);
        Sum sum[STRIP] = {};
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++) {
            const int in_row = p.in_row(out_row, tap_row);
            if (in_row < 0 || in_row >= p.in_rows) continue;
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++) {
                const Sum weight = widen(w[p.w_at(tap_row, tap_col, 0) + out_channel]);
                for (int i = 0; i < STRIP; i++) {
                    const int in_col = p.in_col(first_col + i, tap_col);
                    if (in_col >= 0 && in_col < p.in_cols) /* mark: padding of depthwise/y */
                        sum[i] += widen(x[p.x_at(image, in_row, in_col) + in_channel]) * weight; /* mark: multiply-add of depthwise/y */
                }
            }
        }
        for (int i = 0; i < STRIP; i++)
            if (first_col + i < p.out_cols)
                y[p.y_at(image, out_row, first_col + i) + out_channel] = finish(sum[i], bias, out_channel, relu);
    }
}

extern "C" __global__ void depthwise_input_gradient(PROBLEM_PARAMETERS, const Number *dy, const Number *w, const Number *bias,
                                                    int relu, Number *dx) {
    const Problem p = PROBLEM; /* mark: kernel of depthwise/dx */
    const int strips = (p.in_cols + STRIP - 1) / STRIP, multiplier = p.out_depth();
    const Long cells = (Long)p.batch * p.in_rows * strips * p.in_channels;
    for (Long cell = first_cell(); cell < cells; cell += cell_step()) {
        const int in_channel = (int)(cell % p.in_channels);
        const Long place = cell / p.in_channels;
        const int first_col = (int)(place % strips) * STRIP;
        const int in_row = (int)(place / strips % p.in_rows);
        const int image = (int)(place / strips / p.in_rows);
        Sum sum[STRIP] = {};
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++) {
            const int out_row = p.out_row(in_row, tap_row);
            if (out_row < 0) continue;
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++)
                for (int channel = in_channel * multiplier; channel < (in_channel + 1) * multiplier; channel++) {
                    const Sum weight = widen(w[p.w_at(tap_row, tap_col, 0) + channel]);
                    for (int i = 0; i < STRIP; i++) {
                        const int out_col = p.out_col(first_col + i, tap_col);
                        if (out_col >= 0)
                            sum[i] += widen(dy[p.y_at(image, out_row, out_col) + channel]) * weight; /* mark: multiply-add of depthwise/dx */
                    }
                }
        }
        for (int i = 0; i < STRIP; i++)
            if (first_col + i < p.in_cols)
                dx[p.x_at(image, in_row, first_col + i) + in_channel] = finish(sum[i], bias, in_channel, relu);
    }
}

/* partial is [splits, filter_rows * filter_cols, out_channels]. */
extern "C" __global__ void depthwise_filter_gradient(PROBLEM_PARAMETERS, const Number *x, const Number *dy, int splits,
                                                     Sum *partial) {
    const Problem p = PROBLEM; /* mark: kernel of depthwise/dw */
    __shared__ Sum sums[ROWS][LANES];
    const int lane = threadIdx.x % LANES, row = threadIdx.x / LANES;
    const int channel_blocks = (p.out_channels + LANES - 1) / LANES;
    const Long share = (p.places() + splits - 1) / splits, jobs = (Long)splits * p.taps() * channel_blocks;
    for (Long job = blockIdx.x; job < jobs; job += gridDim.x) {
        const int out_channel = (int)(job % channel_blocks) * LANES + lane, in_channel = out_channel / p.out_depth();
        const int tap = (int)(job / channel_blocks % p.taps()), split = (int)(job / channel_blocks / p.taps());
        const Long stop = (split + 1) * share < p.places() ? (split + 1) * share : p.places();
        Sum sum = 0;
        for (Long place = split * share + row; place < stop && out_channel < p.out_channels; place += ROWS) {
            const int out_col = (int)(place % p.out_cols), out_row = (int)(place / p.out_cols % p.out_rows);
            const int image = (int)(place / p.out_cols / p.out_rows);
            const int in_row = p.in_row(out_row, tap / p.filter_cols), in_col = p.in_col(out_col, tap % p.filter_cols);
            if (p.has_input(in_row, in_col))
                /* mark: multiply-add of depthwise/dw */
                sum += widen(x[p.x_at(image, in_row, in_col) + in_channel]) * widen(dy[place * p.out_channels + out_channel]);
        }
        sums[row][lane] = sum;
        __syncthreads();
        if (row == 0 && out_channel < p.out_channels) {
            for (int other = 1; other < ROWS; other++) sum += sums[other][lane];
            partial[((Long)split * p.taps() + tap) * p.out_channels + out_channel] = sum;
        }
        __syncthreads(); /* before the next job overwrites the sums */
    }
}
