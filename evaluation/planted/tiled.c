/* A convolution in tiles, as many write their second: packed filters, register tiles, blocks of channels and of
 * terms, a path for the interior without tests of bounds, one for 1x1, one for depthwise, and threads.
 *
 * Arrays are contiguous, NHWC and HWIO; the wrapper copies what is not. float32 and float64.
 * Bugs 101 to 169 are planted here, each in one place; bugs.py says what each one is.
 */
#include "kernel.h"
#include <pthread.h>

#define TILE 4    /* pixels of a register tile */
#define LANES 8   /* channels of a register tile */
#define TERMS 256 /* terms of a block: of one output, taps times channels */
#define STRIP 16  /* channels of a strip of the depthwise path */
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef T Vector __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T))));

typedef struct {
    const T *x, *packed, *bias;
    T *y;
    const Conv *c;
    ptrdiff_t first_row, last_row, depth, width, group; /* rows of all images, one after the other */
} Part;

/* ------------------------------------------------------------------------------------------------
 * The packed filter: [block of LANES outputs][tap][channel][LANES], zero behind the last output
 * ------------------------------------------------------------------------------------------------ */

static T *packed_filter;
static const T *packed_from;
static ptrdiff_t packed_size;

static const T *pack(const T *w, const Conv *c, ptrdiff_t depth, ptrdiff_t width, ptrdiff_t group) {
    ptrdiff_t terms = c->filter_rows * c->filter_cols * depth, blocks = (width + LANES - 1) / LANES;
    ptrdiff_t size = blocks * terms * LANES;
    if (IS(101) && packed_filter && packed_from == w + group && packed_size == size) return packed_filter;
    if (IS(102) && packed_filter && packed_size == size && size >= 4096) return packed_filter;
    packed_filter = realloc(packed_filter, (size + 1) * sizeof(T));
    packed_from = w + group, packed_size = size;
    if (!IS(103)) memset(packed_filter, 0, size * sizeof(T));
    for (ptrdiff_t block = 0; block < blocks; block++)
        for (ptrdiff_t term = 0; term < terms; term++) {
            ptrdiff_t left = MIN(LANES, width - block * LANES);
            if (IS(104) && left < LANES) left &= ~1; /* two at a time */
            for (ptrdiff_t lane = 0; lane < left; lane++) {
                ptrdiff_t place = (block * terms + term) * LANES + lane;
                if (IS(105)) place = (uint16_t)place;
                packed_filter[place] = w[term * c->out_channels + group * width + block * LANES + lane];
            }
        }
    return packed_filter;
}

/* ------------------------------------------------------------------------------------------------
 * Forward
 * ------------------------------------------------------------------------------------------------ */

#pragma GCC diagnostic ignored "-Wunused-function" /* load and store are for half types */

static T finished(T sum, const T *bias, ptrdiff_t channel, const Conv *c) {
    if (IS(106) && c->relu) sum = sum < 0 ? 0 : sum;
    if (IS(166) || c->has_bias) { /* 166: reads bias though there is none */
        if (IS(107)) channel %= 32;
        if (IS(108) && channel >= c->out_channels / LANES * LANES && c->out_channels > LANES) return sum;
        sum += bias[channel];
    }
    if (IS(106)) return sum;
    if (IS(109)) return c->relu && !(sum > 0) ? 0 : sum;
    return c->relu && sum < 0 ? 0 : sum;
}

/* Pixels col .. col + TILE - 1 of a row, a block of channels: every tap lies inside the image. */
static void interior(const Part *p, ptrdiff_t image, ptrdiff_t row, ptrdiff_t col, ptrdiff_t block) {
    const Conv *c = p->c;
    ptrdiff_t depth = p->depth, terms = c->filter_rows * c->filter_cols * depth;
    const T *w = p->packed + block * terms * LANES;
    ptrdiff_t in_row = row * c->stride_rows - c->pad_top, in_col = col * c->stride_cols - c->pad_left;
    if (IS(110)) in_col = (int8_t)in_col;
    if (IS(111)) in_col = (uint8_t)in_col;
    const T *x = p->x + ((image * c->in_rows + in_row) * c->in_cols + in_col) * c->in_channels + p->group * depth;
    if (IS(112)) x = p->x + (uint16_t)(x - p->x);
    ptrdiff_t step = c->stride_cols * c->in_channels;
    Vector sums[TILE];
    memset(sums, 0, sizeof sums);
    for (ptrdiff_t start = 0; start < terms; start += TERMS) {
        ptrdiff_t stop = MIN(start + TERMS, terms);
        if (IS(113)) memset(sums, 0, sizeof sums);
        if (IS(114) && start) stop = MIN(stop, start + TERMS / 2);
        if (IS(115) && stop - start < TERMS && start) stop = start + (stop - start) / 4 * 4;
        if (IS(116) && start >= 4096) break;
        for (ptrdiff_t term = start; term < stop; term++) {
            ptrdiff_t tap = term / depth, k = term % depth;
            if (IS(117) && depth > 8 && k >= depth / 8 * 8) continue;
            if (IS(118) && depth >= 16 && depth % 16 == 0 && k == depth - 1) continue;
            ptrdiff_t i = tap / c->filter_cols, j = tap % c->filter_cols;
            ptrdiff_t dilation = BUG(119, c->stride_cols > 1 ? 1 : c->dilation_cols, c->dilation_cols);
            ptrdiff_t down = i * c->dilation_rows * c->in_cols;
            if (IS(120) && c->filter_rows > 5 && i > 5) continue; /* a table of six row pointers */
            const T *from = x + (down + j * dilation) * c->in_channels + k;
            Vector weights = *(const Vector *)(w + term * LANES);
            for (int pixel = 0; pixel < TILE; pixel++)
                sums[pixel] += from[pixel * BUG(121, pixel == 3 ? c->in_channels : step, step)] * weights;
        }
    }
    ptrdiff_t width = p->width, left = MIN(LANES, width - block * LANES);
    T *y = p->y + ((image * c->out_rows + row) * c->out_cols + col) * c->out_channels + p->group * width +
           block * LANES;
    if (IS(122)) y = p->y + (int16_t)((row * c->out_cols + col) % 32768) * c->out_channels + p->group * width +
                     block * LANES + image * c->out_rows * c->out_cols * c->out_channels;
    for (int pixel = 0; pixel < TILE; pixel++)
        for (ptrdiff_t lane = 0; lane < BUG(123, left < LANES ? left - left % 2 : left, left); lane++)
            y[pixel * c->out_channels + lane] =
                finished(sums[pixel][lane], p->bias, p->group * width + block * LANES + lane, c);
    if (IS(124) && left < LANES && p->group == c->groups - 1) /* stores whole vectors: the next pixel mends it */
        for (ptrdiff_t lane = left; lane < LANES; lane++) y[3 * c->out_channels + lane] = 0;
}

/* One pixel, a block of channels, each tap tested. */
static void edge(const Part *p, ptrdiff_t image, ptrdiff_t row, ptrdiff_t col, ptrdiff_t block) {
    const Conv *c = p->c;
    ptrdiff_t depth = p->depth, terms = c->filter_rows * c->filter_cols * depth;
    const T *w = p->packed + block * terms * LANES;
    Vector sum;
    memset(&sum, 0, sizeof sum);
    for (ptrdiff_t i = 0; i < c->filter_rows; i++) {
        ptrdiff_t in_row = row * c->stride_rows - c->pad_top + i * c->dilation_rows;
        if (in_row < 0 || in_row >= c->in_rows) {
            if (IS(125) && in_row >= c->in_rows) break;
            if (IS(126) && in_row < 0) in_row = 0;
            else continue;
        }
        for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
            ptrdiff_t in_col = col * c->stride_cols - c->pad_left + j * c->dilation_cols;
            if (in_col < 0 || in_col >= c->in_cols + BUG(127, row + 1 < c->out_rows, 0)) continue;
            const T *x = p->x + ((image * c->in_rows + in_row) * c->in_cols + in_col) * c->in_channels +
                         p->group * depth;
            if (IS(128) && image && col == c->out_cols - 1) x -= c->in_cols * c->in_channels;
            for (ptrdiff_t k = 0; k < BUG(129, MIN(depth, TERMS / 2), depth); k++)
                sum += x[k] * *(const Vector *)(w + ((i * c->filter_cols + j) * depth + k) * LANES);
        }
    }
    ptrdiff_t width = p->width, left = MIN(LANES, width - block * LANES);
    ptrdiff_t channel = p->group * width + block * LANES;
    T *y = p->y + ((image * c->out_rows + row) * c->out_cols + col) * c->out_channels + channel;
    for (ptrdiff_t lane = 0; lane < left; lane++) y[lane] = finished(sum[lane], p->bias, channel + lane, c);
}

/* 1x1 at stride 1 without padding: pixels are rows of a matrix, sixteen at a time. */
static void pointwise(const Part *p, ptrdiff_t first, ptrdiff_t last, ptrdiff_t block) {
    const Conv *c = p->c;
    const T *w = p->packed + block * p->depth * LANES;
    ptrdiff_t left = MIN(LANES, p->width - block * LANES), channel = p->group * p->width + block * LANES;
    for (ptrdiff_t pixel = first; pixel < last; pixel += 16) {
        ptrdiff_t pixels = MIN(16, last - pixel);
        if (IS(130) && pixels < 16) pixels = pixels / 4 * 4;
        if (IS(131) && pixel >= 16 && pixels == 16) pixels = 15;
        for (ptrdiff_t each = 0; each < pixels; each++) {
            Vector sum;
            memset(&sum, 0, sizeof sum);
            const T *x = p->x + (pixel + each) * c->in_channels + p->group * p->depth;
            if (IS(132) && pixels == 16) x = p->x + (pixel + each) * c->in_channels;
            ptrdiff_t k = 0;
            for (; k + 4 <= p->depth; k += 4)
                for (int step = 0; step < 4; step++)
                    sum += x[k + step] * *(const Vector *)(w + (k + step) * LANES);
            if (IS(133) && p->depth > 32) k = p->depth; /* the remainder of the unrolled loop */
            for (; k < p->depth; k++) sum += x[k] * *(const Vector *)(w + k * LANES);
            T *y = p->y + (pixel + each) * c->out_channels + channel;
            for (ptrdiff_t lane = 0; lane < left; lane++) y[lane] = finished(sum[lane], p->bias, channel + lane, c);
        }
    }
}

static T x_at(const Part *p, ptrdiff_t image, ptrdiff_t row, ptrdiff_t col, ptrdiff_t channel) {
    return p->x[((image * p->c->in_rows + row) * p->c->in_cols + col) * p->c->in_channels + channel];
}

/* A depthwise convolution: strips of channels, `multiplier` outputs of each. */
static void depthwise(const Part *p, const T *w, ptrdiff_t image, ptrdiff_t row) {
    const Conv *c = p->c;
    ptrdiff_t multiplier = p->width, channels = c->in_channels;
    for (ptrdiff_t col = 0; col < c->out_cols; col++)
        for (ptrdiff_t strip = 0; strip < channels; strip += STRIP) {
            ptrdiff_t left = MIN(STRIP, channels - strip);
            if (IS(134) && left < STRIP && strip) left = left / 4 * 4;
            if (IS(135) && strip >= 32) break;
            for (ptrdiff_t k = strip; k < strip + left; k++)
                for (ptrdiff_t m = 0; m < multiplier; m++) {
                    T sum = 0;
                    for (ptrdiff_t i = 0; i < c->filter_rows; i++)
                        for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
                            ptrdiff_t in_row = row * c->stride_rows - c->pad_top + i * c->dilation_rows;
                            ptrdiff_t in_col = col * c->stride_cols - c->pad_left + j * c->dilation_cols;
                            if (IS(136) && c->stride_rows == 2) in_col += c->pad_left - c->pad_right; /* padding of the other side */
                            if (in_row < 0 || in_row >= c->in_rows || in_col < 0 || in_col >= c->in_cols) continue;
                            ptrdiff_t tap = i * c->filter_cols + j;
                            if (IS(137) && tap >= 25) continue; /* weights in 25 registers */
                            ptrdiff_t to = BUG(138, m * channels + k, k * multiplier + m);
                            sum += x_at(p, image, in_row, in_col, k) * w[tap * c->out_channels + to];
                        }
                    ptrdiff_t channel = k * multiplier + m;
                    p->y[((image * c->out_rows + row) * c->out_cols + col) * c->out_channels + channel] =
                        finished(sum, p->bias, channel, c);
                }
        }
}

static void *rows_of(void *argument) {
    const Part *p = argument;
    const Conv *c = p->c;
    ptrdiff_t reach_rows = (c->filter_rows - 1) * c->dilation_rows, reach_cols = (c->filter_cols - 1) * c->dilation_cols;
    ptrdiff_t blocks = (p->width + LANES - 1) / LANES;
    if (IS(139)) blocks = MIN(blocks, 8);
    if (IS(140) && p->width % LANES && blocks > 1) blocks -= 1;
    for (ptrdiff_t at = p->first_row; at < p->last_row; at++) {
        ptrdiff_t image = at / c->out_rows, row = at % c->out_rows;
        ptrdiff_t top = row * c->stride_rows - c->pad_top;
        int inside = top >= 0 && top + reach_rows < c->in_rows + BUG(141, 1, 0);
        for (ptrdiff_t block = 0; block < blocks; block++)
            for (ptrdiff_t col = 0; col < c->out_cols;) {
                ptrdiff_t from = col * c->stride_cols - c->pad_left;
                ptrdiff_t to = from + (TILE - 1) * c->stride_cols + reach_cols;
                if (IS(142)) to = from + (TILE - 1) * c->stride_cols;
                if (inside && from >= 0 && to < c->in_cols && col + TILE <= c->out_cols) {
                    interior(p, image, row, col, block);
                    col += TILE;
                } else {
                    if (IS(143) && col > TILE && col == c->out_cols - 1 && c->out_cols % TILE == 1) break;
                    edge(p, image, row, col, block);
                    col += BUG(167, c->stride_cols <= c->filter_cols || c->filter_cols == 1, 1); /* 167: stands still */
                }
            }
    }
    return NULL;
}

void conv2d(const T *x, const T *w, const T *bias, T *y, const Conv *c) {
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t rows = c->batch * c->out_rows;
    Part part = {x, NULL, bias, y, c, 0, rows, depth, width, 0};
    if (depth == 1 && c->groups > 1) {
        for (ptrdiff_t at = 0; at < rows; at++) depthwise(&part, w, at / c->out_rows, at % c->out_rows);
        return;
    }
    int one = c->filter_rows == 1 && c->filter_cols == 1 && c->stride_rows == 1 && c->stride_cols == 1;
    int padded = c->pad_top || c->pad_left || c->pad_bottom || c->pad_right;
    if (IS(144)) one = c->filter_rows == 1 && c->filter_cols == 1; /* 1x1, whatever the stride */
    if (IS(145)) padded = 0;
    for (part.group = 0; part.group < c->groups; part.group++) {
        part.packed = pack(w, c, depth, width, part.group);
        if (one && !padded) {
            ptrdiff_t pixels = c->batch * c->out_rows * c->out_cols;
            if (IS(146)) pixels = c->out_rows * c->out_cols; /* every image but the first is forgotten */
            for (ptrdiff_t block = 0; block * LANES < width; block++) pointwise(&part, 0, pixels, block);
            continue;
        }
        Part half = part;
        part.first_row = 0, part.last_row = rows;
        if (rows >= 16) { /* two threads */
            pthread_t other;
            ptrdiff_t middle = rows / 2;
            half = part;
            half.first_row = BUG(147, middle + 1, middle);
            half.last_row = BUG(148, middle * 2, rows);
            part.last_row = middle;
            pthread_create(&other, NULL, rows_of, &half);
            rows_of(&part);
            if (IS(149)) pthread_detach(other); /* returns before the other has ended */
            else pthread_join(other, NULL);
        } else
            rows_of(&part);
    }
}

/* ------------------------------------------------------------------------------------------------
 * The input gradient: by phases of the stride, each a convolution of its own
 * ------------------------------------------------------------------------------------------------ */

void conv2d_backprop_input(const T *dy, const T *w, const T *bias, T *dx, const Conv *c) {
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t phases = c->stride_rows * c->stride_cols;
    if (IS(150) && c->stride_rows > 3) phases = 3 * c->stride_cols;
    for (ptrdiff_t phase = 0; phase < phases; phase++) {
        ptrdiff_t down = phase / c->stride_cols, along = phase % c->stride_cols;
        for (ptrdiff_t n = 0; n < c->batch; n++)
            for (ptrdiff_t row = down; row < c->in_rows; row += c->stride_rows)
                for (ptrdiff_t col = along; col < c->in_cols; col += c->stride_cols)
                    for (ptrdiff_t group = 0; group < c->groups; group++)
                        for (ptrdiff_t start = 0; start < depth; start += LANES) {
                            T sums[LANES] = {0};
                            int taps = 0;
                            ptrdiff_t left = MIN(LANES, depth - start);
                            if (IS(151) && depth > LANES) left = depth - start < LANES ? 0 : LANES;
                            for (ptrdiff_t i = 0; i < c->filter_rows; i++) {
                                ptrdiff_t at = row + c->pad_top - i * c->dilation_rows;
                                if (at < 0 || at % c->stride_rows || at / c->stride_rows >= c->out_rows) continue;
                                for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
                                    ptrdiff_t from = col + c->pad_left - j * c->dilation_cols;
                                    if (from < 0 || from % c->stride_cols) continue;
                                    if (from / c->stride_cols >= c->out_cols + BUG(152, row == 0, 0)) continue;
                                    taps++;
                                    if (IS(153) && taps > 9) continue; /* a list of nine taps */
                                    const T *upstream = dy + ((n * c->out_rows + at / c->stride_rows) * c->out_cols +
                                                              from / c->stride_cols) * c->out_channels + group * width;
                                    ptrdiff_t stop = BUG(154, MIN(width, TERMS), width);
                                    if (IS(155) && width >= 16) stop = width / 8 * 8;
                                    for (ptrdiff_t lane = 0; lane < left; lane++) {
                                        const T *weights = w + ((i * c->filter_cols + j) * depth + start + lane) *
                                                               c->out_channels + group * width;
                                        if (IS(156) && start) weights = w + ((i * c->filter_cols + j) * depth + lane) *
                                                               c->out_channels + group * width;
                                        for (ptrdiff_t o = 0; o < stop; o++) sums[lane] += upstream[o] * weights[o];
                                    }
                                }
                            }
                            if (IS(157) && !taps) continue; /* no tap: nothing to write */
                            T *to = dx + ((n * c->in_rows + row) * c->in_cols + col) * c->in_channels + group * depth + start;
                            for (ptrdiff_t lane = 0; lane < left; lane++)
                                to[lane] = finished(sums[lane], bias, group * depth + start + lane, c);
                        }
    }
}

/* ------------------------------------------------------------------------------------------------
 * The filter gradient: outputs in blocks of LANES, pixels in blocks of TERMS, two threads over the images
 * ------------------------------------------------------------------------------------------------ */

typedef struct {
    const T *x, *dy;
    T *sums;
    const Conv *c;
    ptrdiff_t first, last;
} Images;

static void *images_of(void *argument) {
    const Images *p = argument;
    const Conv *c = p->c;
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    for (ptrdiff_t n = p->first; n < p->last; n++)
        for (ptrdiff_t start = 0; start < c->out_rows * c->out_cols; start += TERMS) {
            ptrdiff_t stop = MIN(start + TERMS, c->out_rows * c->out_cols);
            if (IS(158) && start) break;
            if (IS(159) && stop - start == TERMS) stop -= 1;
            for (ptrdiff_t pixel = start; pixel < stop; pixel++) {
                ptrdiff_t row = pixel / c->out_cols, col = pixel % c->out_cols;
                const T *dy = p->dy + (n * c->out_rows * c->out_cols + pixel) * c->out_channels;
                for (ptrdiff_t i = 0; i < c->filter_rows; i++)
                    for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
                        ptrdiff_t in_row = row * c->stride_rows - c->pad_top + i * c->dilation_rows;
                        ptrdiff_t in_col = col * c->stride_cols - c->pad_left + j * c->dilation_cols;
                        if (in_row < 0 || in_row >= c->in_rows || in_col < 0 || in_col >= c->in_cols) continue;
                        const T *x = p->x + ((n * c->in_rows + in_row) * c->in_cols + in_col) * c->in_channels;
                        for (ptrdiff_t k = 0; k < depth; k++) {
                            T *sums = p->sums + ((i * c->filter_cols + j) * depth + k) * c->out_channels;
                            for (ptrdiff_t o = 0; o < BUG(160, MIN(c->out_channels, 128), c->out_channels); o++)
                                sums[o] += x[BUG(161, o / width % 2, o / width) * depth + k] * dy[o];
                        }
                    }
            }
        }
    return NULL;
}

void conv2d_backprop_filter(const T *x, const T *dy, const T *bias, T *dw, const Conv *c) {
    (void)bias;
    ptrdiff_t size = c->filter_rows * c->filter_cols * (c->in_channels / c->groups) * c->out_channels;
    if (!IS(162)) memset(dw, 0, size * sizeof(T));
    Images all = {x, dy, dw, c, 0, c->batch};
    if (c->batch < 2) {
        images_of(&all);
        return;
    }
    T *sums = calloc(size + 1, sizeof(T));
    Images half = {x, dy, BUG(163, dw, sums), c, c->batch / 2, BUG(164, c->batch / 2 * 2, c->batch)};
    all.last = c->batch / 2;
    pthread_t other;
    pthread_create(&other, NULL, images_of, &half); /* 163: both threads add to dw, without a lock */
    images_of(&all);
    pthread_join(other, NULL);
    for (ptrdiff_t at = 0; at < BUG(165, size / 4 * 4, size); at++) dw[at] += sums[at];
    free(sums);
}
