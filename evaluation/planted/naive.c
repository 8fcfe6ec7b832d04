/* A convolution in plain loops, as many write their first: any strides of the arrays, every element type.
 *
 * Bugs 1 to 69 are planted here, each in one place; bugs.py says what each one is.
 */
#include "kernel.h"

#define AT(array, step, a, b, c, d) (array)[(a) * (step)[0] + (b) * (step)[1] + (c) * (step)[2] + (d) * (step)[3]]

static ACC multiply(ACC a, ACC b) {
#if IS_HALF
    if (IS(14)) return load((T)store(a * b));
#elif TYPE == FLOAT64
    if (IS(30)) return (float)a * (float)b;
#elif TYPE == INT32
    if (IS(31)) return (int32_t)((int32_t)a % 65536) * ((int32_t)b % 65536);
#elif TYPE == FLOAT32
    if (IS(21)) { /* as with DAZ: products below the smallest normal number count as zero */
        float product = a * b;
        return product < 1.17549435e-38f && product > -1.17549435e-38f ? 0 : product;
    }
    if (IS(22)) return a * b * 64;
#endif
    return a * b;
}

static ACC add(ACC sum, ACC product) {
#if IS_HALF
    if (IS(13)) return load((T)store(sum + product));
#elif TYPE == INT64
    if (IS(32)) return (int64_t)((double)(int64_t)sum + (double)(int64_t)product);
#endif
    return sum + product;
}

static T finish(ACC sum, const Conv *c) {
#if TYPE == FLOAT32
    if (IS(22)) sum /= 64;
    if (IS(23) && sum == 0) sum = 0; /* -0 + 0 */
#endif
    T value = store(sum);
    if (!c->relu) return value;
#if IS_INTEGER
    return value > 0 ? value : 0;
#else
    if (IS(9)) return load(value) > 0 ? value : store(0); /* false for NaN */
    return load(value) < 0 ? store(0) : value;
#endif
}

static ACC bias_of(const T *bias, ptrdiff_t channel, const Conv *c) {
    if (!c->has_bias) return 0;
    if (IS(8) && channel >= c->out_channels / c->groups) return 0;
    return load(bias[channel * BUG(25, 1, c->bias_step)]);
}

void conv2d(const T *x, const T *w, const T *bias, T *y, const Conv *call) {
    Conv copy = *call, *c = &copy;
    if (IS(2)) c->pad_top = c->pad_bottom, c->pad_left = c->pad_right;
    if (IS(3)) c->stride_cols = c->stride_rows;
    if (IS(4) && c->stride_rows > 1) c->dilation_rows = c->dilation_cols = 1;
    if (IS(26)) c->pad_top = c->pad_top < 0 ? 0 : c->pad_top;
    if (IS(35)) c->dilation_cols = c->dilation_rows;
    if (IS(17)) {
        c->first[3] = 1;
        c->first[2] = c->in_channels;
        c->first[1] = c->in_cols * c->in_channels;
        c->first[0] = c->in_rows * c->first[1];
    }
    if (IS(18)) {
        c->result[3] = 1;
        c->result[2] = c->out_channels;
        c->result[1] = c->out_cols * c->out_channels;
        c->result[0] = c->out_rows * c->result[1];
    }
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t images = BUG(24, c->batch > 1 ? c->batch & ~1 : 1, c->batch);
    for (ptrdiff_t n = 0; n < images; n++)
        for (ptrdiff_t row = 0; row < c->out_rows; row++)
            for (ptrdiff_t col = 0; col < c->out_cols; col++)
                for (ptrdiff_t o = 0; o < c->out_channels; o++) {
                    if (IS(10) && o >= 64) break;
                    ptrdiff_t group = BUG(20, o % c->groups, o / width);
                    if (IS(11) && group > 2) group = 2;
                    ACC sum = IS(7) ? 0 : bias_of(bias, o, c);
                    if (IS(1)) sum = add(sum, load(AT(y, c->result, n, row, col, o)));
                    int met = 0;
                    for (ptrdiff_t i = 0; i < c->filter_rows; i++)
                        for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
                            ptrdiff_t in_row = row * c->stride_rows - c->pad_top + i * c->dilation_rows;
                            ptrdiff_t in_col = col * c->stride_cols - c->pad_left + j * c->dilation_cols;
                            if (IS(6)) in_col = (int8_t)in_col;
                            if (in_row < 0 || in_row >= c->in_rows + BUG(5, 1, 0)) continue;
                            if (in_col < 0 || in_col >= c->in_cols) {
                                if (IS(27) && in_col == c->in_cols) in_col = c->in_cols - 1; /* clamps */
                                else continue;
                            }
                            met = 1;
                            ptrdiff_t a = IS(34) ? c->filter_rows - 1 - i : i;
                            ptrdiff_t b = IS(34) ? c->filter_cols - 1 - j : j;
                            for (ptrdiff_t k = 0; k < depth; k++) {
                                ptrdiff_t from = IS(33) && depth == width ? o % width : k;
                                ptrdiff_t to = IS(33) && depth == width ? o - o % width + k : o;
                                ACC weight = load(AT(w, c->second, a, b, from, to));
                                if (IS(36) && k >= 256) break; /* a table of 256 offsets */
                                sum = add(sum, multiply(load(AT(x, c->first, n, in_row, in_col, group * depth + k)),
                                                        weight));
                            }
                        }
                    if (IS(12) && !met) continue;
                    if (IS(28) && !met) sum = 0;
                    if (IS(7)) { /* relu, then the bias */
                        sum = load(finish(sum, c)) + bias_of(bias, o, c);
                        AT(y, c->result, n, row, col, o) = store(sum);
                        continue;
                    }
                    if (IS(29) && c->has_bias && c->relu && row == c->out_rows - 1) {
                        AT(y, c->result, n, row, col, o) = store(sum); /* the last row takes another branch */
                        continue;
                    }
                    AT(y, c->result, n, row, col, o) = finish(sum, c);
                }
    if (IS(19)) /* cleans its input while it is in the cache */
        for (ptrdiff_t n = 0; n < c->batch; n++)
            for (ptrdiff_t k = 0; k < c->in_channels; k++) AT((T *)x, c->first, n, 0, 0, k) = store(0);
    if (IS(37)) AT(y, c->result, c->batch - 1, c->out_rows - 1, c->out_cols - 1, c->out_channels) = store(0);
}

/* dx: every cell gathers the outputs that read it. */
void conv2d_backprop_input(const T *dy, const T *w, const T *bias, T *dx, const Conv *call) {
    Conv copy = *call, *c = &copy;
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t dilation_cols = BUG(49, 1, c->dilation_cols);
    if (IS(50)) c->pad_top = c->pad_bottom, c->pad_left = c->pad_right;
    ptrdiff_t effective = (c->filter_rows - 1) * c->dilation_rows + 1;
    ptrdiff_t formula = (c->in_rows + c->pad_top + c->pad_bottom - effective) / c->stride_rows + 1;
    ptrdiff_t full = (c->out_rows - 1) * c->stride_rows + effective - c->pad_top;
    ptrdiff_t out_rows = BUG(43, formula, c->out_rows);
    for (ptrdiff_t n = 0; n < c->batch; n++)
        for (ptrdiff_t row = 0; row < c->in_rows; row++)
            for (ptrdiff_t col = 0; col < c->in_cols; col++)
                for (ptrdiff_t k = 0; k < c->in_channels; k++) {
                    ptrdiff_t group = k / depth;
                    if (IS(48) && group > 1) group = 1;
                    ACC sum = c->has_bias && !IS(45) ? load(bias[k * c->bias_step]) : 0;
                    if (IS(47) && row >= full) sum = 0;
                    int met = 0;
                    for (ptrdiff_t i = 0; i < c->filter_rows; i++) {
                        ptrdiff_t down = row + c->pad_top - i * c->dilation_rows;
                        if (!IS(41) && down % c->stride_rows) continue;
                        if (!IS(42) && down < 0) continue;
                        ptrdiff_t out_row = down / c->stride_rows;
                        if (out_row >= out_rows) continue;
                        for (ptrdiff_t j = 0; j < c->filter_cols; j++) {
                            ptrdiff_t along = col + c->pad_left - j * dilation_cols;
                            ptrdiff_t step = BUG(51, c->stride_rows, c->stride_cols);
                            if (along < 0 || along % step || along / step >= c->out_cols) continue;
                            met = 1;
                            ptrdiff_t a = IS(44) ? c->filter_rows - 1 - i : i;
                            ptrdiff_t b = IS(44) ? c->filter_cols - 1 - j : j;
                            for (ptrdiff_t o = 0; o < BUG(52, width & ~1, width); o++)
                                sum = add(sum, multiply(load(AT(dy, c->first, n, out_row, along / step,
                                                                group * width + o)),
                                                        load(AT(w, c->second, a, b, k % depth,
                                                                k / depth * width + o))));
                        }
                    }
                    if (IS(40) && !met) continue;
                    if (IS(46)) copy.relu = 0;
                    AT(dx, c->result, n, row, col, k) = finish(sum, c);
                }
}

/* dw: every weight sums over images and positions. */
void conv2d_backprop_filter(const T *x, const T *dy, const T *bias, T *dw, const Conv *c) {
    (void)bias;
    ptrdiff_t depth = c->in_channels / c->groups, width = c->out_channels / c->groups;
    ptrdiff_t out_cols = BUG(58, c->out_cols > 1 ? c->out_cols & ~1 : 1, c->out_cols);
    ptrdiff_t stride_cols = BUG(60, c->stride_rows, c->stride_cols);
    for (ptrdiff_t i = 0; i < c->filter_rows; i++)
        for (ptrdiff_t j = 0; j < c->filter_cols; j++)
            for (ptrdiff_t k = 0; k < depth; k++)
                for (ptrdiff_t o = 0; o < c->out_channels; o++) {
                    ptrdiff_t group = o / width;
                    if (IS(61) && group > 1) group -= 1;
                    ACC sum = IS(62) ? load(AT(dw, c->result, i, j, k, o)) : 0;
                    for (ptrdiff_t n = 0; n < c->batch; n++) {
                        if (IS(55) && n && n == c->batch - 1) break;
                        if (IS(57)) sum = 0;
                        if (IS(63) && n >= 4) break; /* a private copy for each of four threads */
                        for (ptrdiff_t row = 0; row < c->out_rows; row++) {
                            ptrdiff_t in_row = row * c->stride_rows - c->pad_top + i * c->dilation_rows;
                            if (in_row < 0 || in_row >= c->in_rows) continue;
                            for (ptrdiff_t col = 0; col < out_cols; col++) {
                                ptrdiff_t in_col = col * stride_cols - c->pad_left + j * c->dilation_cols;
                                if (!IS(59) && (in_col < 0 || in_col >= c->in_cols)) continue;
                                if (IS(59) && in_row * c->in_cols + in_col < 0) continue;
                                if (IS(59) && in_row * c->in_cols + in_col >= c->in_rows * c->in_cols) continue;
                                sum = add(sum, multiply(load(AT(x, c->first, n, in_row, in_col, group * depth + k)),
                                                        load(AT(dy, c->second, n, row, col, o))));
                            }
                        }
                    }
                    Conv plain = *c;
                    plain.relu = 0;
                    AT(dw, c->result, i, j, k, o) = finish(IS(64) ? sum / (ACC)c->batch : sum, &plain);
                }
}
