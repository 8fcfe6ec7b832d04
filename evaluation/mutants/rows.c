/* Forward: four pixels of a row by eight channels in registers. The filter is read where it lies. */
#include "kernel.h"

#define PIXELS 4
#define LANES 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void run(const T *x, const T *w, const T *bias, T *y, const Conv *c) {
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    /* mutate */
    for (ptrdiff_t at = 0; at < c->batch * c->out_rows; at++)
        for (ptrdiff_t col = 0; col < c->out_cols; col += PIXELS)
            for (ptrdiff_t group = 0; group < c->groups; group++)
                for (ptrdiff_t block = 0; block < width; block += LANES) {
                    ptrdiff_t image = at / c->out_rows, row = at % c->out_rows;
                    ptrdiff_t pixels = MIN(PIXELS, c->out_cols - col), lanes = MIN(LANES, width - block);
                    ptrdiff_t from = col * c->stride_cols - c->pad_left;
                    ptrdiff_t to = from + (pixels - 1) * c->stride_cols + (c->filter_cols - 1) * c->dilation_cols;
                    int inside = from >= 0 && to < c->in_cols;
                    T sums[PIXELS * LANES] = {0};
                    for (ptrdiff_t i = 0; i < c->filter_rows; i++) {
                        ptrdiff_t in_row = row * c->stride_rows - c->pad_top + i * c->dilation_rows;
                        if (in_row < 0 || in_row >= c->in_rows) continue;
                        const T *line = x + (image * c->in_rows + in_row) * c->in_cols * c->in_channels + group * depth;
                        for (ptrdiff_t j = 0; j < c->filter_cols; j++)
                            for (ptrdiff_t pixel = 0; pixel < pixels; pixel++) {
                                ptrdiff_t in_col = from + pixel * c->stride_cols + j * c->dilation_cols;
                                if (!inside && (in_col < 0 || in_col >= c->in_cols)) continue;
                                const T *cell = line + in_col * c->in_channels;
                                const T *weights = w + (i * c->filter_cols + j) * depth * c->out_channels + group * width + block;
                                for (ptrdiff_t k = 0; k < depth; k++)
                                    for (ptrdiff_t lane = 0; lane < lanes; lane++)
                                        sums[pixel * LANES + lane] += cell[k] * weights[k * c->out_channels + lane];
                            }
                    }
                    T *cells = y + (at * c->out_cols + col) * c->out_channels + group * width + block;
                    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++)
                        for (ptrdiff_t lane = 0; lane < lanes; lane++) {
                            T sum = sums[pixel * LANES + lane];
                            if (c->has_bias) sum += bias[group * width + block + lane];
                            cells[pixel * c->out_channels + lane] = c->relu && sum < 0 ? 0 : sum;
                        }
                }
    /* end */
}
