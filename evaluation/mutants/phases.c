/* The input gradient: cells that leave the same remainder by the stride read the same taps, four by eight at a time. */
#include "kernel.h"

#define PIXELS 4
#define LANES 8
#define TAPS 256
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void run(const T *dy, const T *w, const T *bias, T *dx, const Conv *c) {
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t taps[TAPS], shifts[TAPS];
    /* mutate */
    for (ptrdiff_t phase = 0; phase < c->stride_cols; phase++) {
        ptrdiff_t count = 0, cells = (c->in_cols - phase + c->stride_cols - 1) / c->stride_cols;
        for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
            ptrdiff_t along = phase + c->pad_left - j * c->dilation_cols;
            if (along % c->stride_cols != 0) continue;
            taps[count] = j;
            shifts[count++] = along / c->stride_cols;
        }
        for (ptrdiff_t at = 0; at < c->batch * c->in_rows; at++)
            for (ptrdiff_t first = 0; first < cells; first += PIXELS)
                for (ptrdiff_t group = 0; group < c->groups; group++)
                    for (ptrdiff_t block = 0; block < depth; block += LANES) {
                        ptrdiff_t image = at / c->in_rows, row = at % c->in_rows;
                        ptrdiff_t pixels = MIN(PIXELS, cells - first), lanes = MIN(LANES, depth - block);
                        T sums[PIXELS * LANES] = {0};
                        for (ptrdiff_t i = 0; i < c->filter_rows; i++) {
                            ptrdiff_t down = row + c->pad_top - i * c->dilation_rows;
                            if (down < 0 || down % c->stride_rows != 0 || down >= c->out_rows * c->stride_rows) continue;
                            const T *line = dy + (image * c->out_rows + down / c->stride_rows) * c->out_cols * c->out_channels;
                            for (ptrdiff_t tap = 0; tap < count; tap++)
                                for (ptrdiff_t pixel = 0; pixel < pixels; pixel++) {
                                    ptrdiff_t out_col = first + pixel + shifts[tap];
                                    if (out_col < 0 || out_col >= c->out_cols) continue;
                                    const T *upstream = line + out_col * c->out_channels + group * width;
                                    const T *weights = w + ((i * c->filter_cols + taps[tap]) * depth + block) * c->out_channels + group * width;
                                    for (ptrdiff_t lane = 0; lane < lanes; lane++)
                                        for (ptrdiff_t o = 0; o < width; o++)
                                            sums[pixel * LANES + lane] += upstream[o] * weights[lane * c->out_channels + o];
                                }
                        }
                        for (ptrdiff_t pixel = 0; pixel < pixels; pixel++)
                            for (ptrdiff_t lane = 0; lane < lanes; lane++) {
                                ptrdiff_t col = phase + (first + pixel) * c->stride_cols, channel = group * depth + block + lane;
                                T sum = sums[pixel * LANES + lane];
                                if (c->has_bias) sum += bias[channel];
                                dx[(at * c->in_cols + col) * c->in_channels + channel] = c->relu && sum < 0 ? 0 : sum;
                            }
                    }
    }
    /* end */
}
