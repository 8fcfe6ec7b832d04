/* definition.cuh: one cell of a result by its definition, for the three kinds of call.

   KIND, a macro, is the kind that a source is compiled for: Forward, InputGradient or FilterGradient. Each has the same three
   functions of the offset of a cell in the result.

   direct.cu computes every cell this way. The faster kernels multiply the zeros of the padding, which gives NaN if the other
   factor is infinite or NaN. So they recompute a cell whose sum is NaN: here the padding is skipped, not multiplied. */

#ifndef TEACHCONV_DEFINITION_CUH
#define TEACHCONV_DEFINITION_CUH

struct Forward {
    DEVICE static Index cells(const Problem &p) { return p.places() * p.out_channels; }
    DEVICE static int channel(const Problem &p, Index cell) { return (int)(cell % p.out_channels); } /* the bias's */

    /* y[image, out_row, out_col, out_channel] = sum over (tap_row, tap_col, in_channel of its group) of x * w */
    DEVICE static Sum value(const Problem &p, const Number *x, const Number *w, Index cell) {
        const int out_channel = channel(p, cell);
        const Index place = cell / p.out_channels;
        const int out_col = (int)(place % p.out_cols);
        const int out_row = (int)(place / p.out_cols % p.out_rows);
        const int image = (int)(place / p.out_cols / p.out_rows);
        const int first_channel = out_channel / p.out_depth() * p.in_depth(); /* of its group */
        Sum sum = 0;
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++)
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++) {
                const int in_row = p.in_row(out_row, tap_row), in_col = p.in_col(out_col, tap_col);
                if (!p.has_input(in_row, in_col)) continue;
                const Number *pixel = x + p.x_at(image, in_row, in_col) + first_channel;
                const Number *weight = w + p.w_at(tap_row, tap_col, 0) + out_channel;
                for (int channel = 0; channel < p.in_depth(); channel++)
                    /* mark: multiply-add of direct/y */
                    sum += widen(pixel[channel]) * widen(weight[(Index)channel * p.out_channels]);
            }
        return sum;
    }
};

struct InputGradient {
    DEVICE static Index cells(const Problem &p) { return (Index)p.batch * p.in_rows * p.in_cols * p.in_channels; }
    DEVICE static int channel(const Problem &p, Index cell) { return (int)(cell % p.in_channels); }

    /* dx[image, in_row, in_col, in_channel] = sum over the taps and the outputs that read the cell through them of dy * w */
    DEVICE static Sum value(const Problem &p, const Number *dy, const Number *w, Index cell) {
        const int in_channel = channel(p, cell);
        const Index place = cell / p.in_channels;
        const int in_col = (int)(place % p.in_cols);
        const int in_row = (int)(place / p.in_cols % p.in_rows);
        const int image = (int)(place / p.in_cols / p.in_rows);
        const int first_channel = in_channel / p.in_depth() * p.out_depth(), channel_of_group = in_channel % p.in_depth();
        Sum sum = 0;
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++)
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++) {
                const int out_row = p.out_row(in_row, tap_row), out_col = p.out_col(in_col, tap_col);
                if (out_row < 0 || out_col < 0) continue;
                const Number *upstream = dy + p.y_at(image, out_row, out_col) + first_channel;
                const Number *weight = w + p.w_at(tap_row, tap_col, channel_of_group) + first_channel;
                for (int channel = 0; channel < p.out_depth(); channel++)
                    sum += widen(upstream[channel]) * widen(weight[channel]); /* mark: multiply-add of direct/dx */
            }
        return sum;
    }
};

struct FilterGradient {
    DEVICE static Index cells(const Problem &p) { return (Index)p.taps() * p.in_depth() * p.out_channels; }
    DEVICE static int channel(const Problem &, Index) { return 0; } /* a filter gradient has no bias */

    /* dw[tap_row, tap_col, in_channel, out_channel] = sum over the images and their outputs of x * dy */
    DEVICE static Sum value(const Problem &p, const Number *x, const Number *dy, Index cell) {
        const int out_channel = (int)(cell % p.out_channels);
        const int channel = (int)(cell / p.out_channels % p.in_depth()) + out_channel / p.out_depth() * p.in_depth();
        const int tap = (int)(cell / p.out_channels / p.in_depth());
        const int tap_row = tap / p.filter_cols, tap_col = tap % p.filter_cols;
        Sum sum = 0;
        for (int image = 0; image < p.batch; image++)
            for (int out_row = 0; out_row < p.out_rows; out_row++)
                for (int out_col = 0; out_col < p.out_cols; out_col++) {
                    const int in_row = p.in_row(out_row, tap_row), in_col = p.in_col(out_col, tap_col);
                    if (!p.has_input(in_row, in_col)) continue;
                    /* mark: multiply-add of direct/dw */
                    sum += widen(x[p.x_at(image, in_row, in_col) + channel]) * widen(dy[p.y_at(image, out_row, out_col) + out_channel]);
                }
        return sum;
    }
};

/* The last step of a cell whose sum may hold products with padding. */
template <class Kind>
DEVICE Number finish_or_redo(const Problem &p, const Number *first, const Number *second, Index cell, Sum sum, const Number *bias,
                             int relu) {
    if (sum != sum) { /* NaN */
        sum = Kind::value(p, first, second, cell);
        p.count_redone();
    }
    return finish(sum, bias, Kind::channel(p, cell), relu);
}

/* The same for a cell that is stored already. */
template <class Kind>
DEVICE void redo_if_nan(const Problem &p, const Number *first, const Number *second, Index cell, const Number *bias, int relu,
                        Number *result) {
    const Sum stored = widen(result[cell]);
    if (stored != stored) result[cell] = finish_or_redo<Kind>(p, first, second, cell, stored, bias, relu);
}

#endif
