/* Forward: patches packed in panels of sixteen pixels by sixty-four terms, times the filter in blocks of eight. */
#include "kernel.h"

#define PIXELS 16
#define TERMS 64
#define LANES 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static T panel[(TERMS + 1) * (PIXELS + 1)], packed[(TERMS + 1) * (LANES + 1)];

/* Terms start .. start + terms - 1 of the patches of some pixels; zero in the padding. */
static void pack_patches(const T *x, const Conv *c, ptrdiff_t group, ptrdiff_t first, ptrdiff_t pixels,
                         ptrdiff_t start, ptrdiff_t terms) {
    ptrdiff_t depth = c->in_channels / c->groups;
    /* mutate */
    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++) {
        ptrdiff_t col = (first + pixel) % c->out_cols, row = (first + pixel) / c->out_cols % c->out_rows;
        ptrdiff_t image = (first + pixel) / (c->out_cols * c->out_rows);
        for (ptrdiff_t term = 0; term < terms; term++) {
            ptrdiff_t k = (start + term) % depth, tap = (start + term) / depth;
            ptrdiff_t in_row = row * c->stride_rows - c->pad_top + tap / c->filter_cols * c->dilation_rows;
            ptrdiff_t in_col = col * c->stride_cols - c->pad_left + tap % c->filter_cols * c->dilation_cols;
            int inside = in_row >= 0 && in_row < c->in_rows && in_col >= 0 && in_col < c->in_cols;
            ptrdiff_t cell = (image * c->in_rows + in_row) * c->in_cols + in_col;
            panel[term * PIXELS + pixel] = inside ? x[cell * c->in_channels + group * depth + k] : 0;
        }
    }
    /* end */
}

void run(const T *x, const T *w, const T *bias, T *y, const Conv *c) {
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t all = c->filter_rows * c->filter_cols * depth, places = c->batch * c->out_rows * c->out_cols;
    /* mutate */
    for (ptrdiff_t group = 0; group < c->groups; group++)
        for (ptrdiff_t first = 0; first < places; first += PIXELS)
            for (ptrdiff_t start = 0; start < all; start += TERMS) {
                ptrdiff_t pixels = MIN(PIXELS, places - first), terms = MIN(TERMS, all - start);
                pack_patches(x, c, group, first, pixels, start, terms);
                for (ptrdiff_t block = 0; block < width; block += LANES) {
                    ptrdiff_t lanes = MIN(LANES, width - block), channel = group * width + block;
                    for (ptrdiff_t term = 0; term < terms; term++)
                        for (ptrdiff_t lane = 0; lane < lanes; lane++)
                            packed[term * LANES + lane] = w[(start + term) * c->out_channels + channel + lane];
                    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++) {
                        T *cells = y + (first + pixel) * c->out_channels + channel;
                        T sums[LANES] = {0};
                        for (ptrdiff_t term = 0; term < terms; term++)
                            for (ptrdiff_t lane = 0; lane < lanes; lane++)
                                sums[lane] += panel[term * PIXELS + pixel] * packed[term * LANES + lane];
                        for (ptrdiff_t lane = 0; lane < lanes; lane++) {
                            T sum = start > 0 ? cells[lane] + sums[lane] : sums[lane];
                            if (start + terms >= all) {
                                if (c->has_bias) sum += bias[channel + lane];
                                if (c->relu && sum < 0) sum = 0;
                            }
                            cells[lane] = sum;
                        }
                    }
                }
            }
    /* end */
}
