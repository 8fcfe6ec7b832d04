/* direct: the definition, one thread per cell of the result.

     thread = one cell of y                       a block: 256 neighbours in memory
                                                  (channels side by side: reads and writes coalesce)
     for each tap_row, tap_col                    in_index = out_index * stride - pad_before + tap * dilation
       if the input is in the padding: skip       (padding contributes nothing; it is skipped, not multiplied by zero)
       for each in_channel of the group
         sum += x[in_row, in_col, in_channel] * w[tap_row, tap_col, in_channel, out_channel]

   The input gradient inverts the index law, with one thread per cell of x, which finds the outputs that read this input.
   So no two threads add to the same cell. The filter gradient has one thread per cell of w, which sums over all places.

   Each x is read filter_rows * filter_cols * out_channels times, at best from caches. Faster kernels read it less often.

   direct is also the fallback: with a list `redo` it computes only the images that a faster kernel could not handle. */

#include "common.cuh"

extern "C" __global__ void direct_forward(PROBLEM_PARAMETERS, const Number *x, const Number *w, const Number *bias, int relu,
                                          const int *redo, Number *y) {
    const Problem p = PROBLEM; /* mark: kernel of direct/y */
    if (nothing_to_redo(redo, p.batch)) return;
    const Long cells = p.places() * p.out_channels;
    for (Long cell = first_cell(); cell < cells; cell += cell_step()) {
        const int out_channel = (int)(cell % p.out_channels);
        const Long place = cell / p.out_channels;
        const int out_col = (int)(place % p.out_cols);
        const int out_row = (int)(place / p.out_cols % p.out_rows);
        const int image = (int)(place / p.out_cols / p.out_rows);
        if (redo && !redo[image]) continue;
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
                    sum += widen(pixel[channel]) * widen(weight[(Long)channel * p.out_channels]);
            }
        y[cell] = finish(sum, bias, out_channel, relu);
    }
}

extern "C" __global__ void direct_input_gradient(PROBLEM_PARAMETERS, const Number *dy, const Number *w, const Number *bias,
                                                 int relu, const int *redo, Number *dx) {
    const Problem p = PROBLEM; /* mark: kernel of direct/dx */
    if (nothing_to_redo(redo, p.batch)) return;
    const Long cells = (Long)p.batch * p.in_rows * p.in_cols * p.in_channels;
    for (Long cell = first_cell(); cell < cells; cell += cell_step()) {
        const int in_channel = (int)(cell % p.in_channels);
        const Long place = cell / p.in_channels;
        const int in_col = (int)(place % p.in_cols);
        const int in_row = (int)(place / p.in_cols % p.in_rows);
        const int image = (int)(place / p.in_cols / p.in_rows);
        if (redo && !redo[image]) continue;
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
        dx[cell] = finish(sum, bias, in_channel, relu);
    }
}

extern "C" __global__ void direct_filter_gradient(PROBLEM_PARAMETERS, const Number *x, const Number *dy, const int *redo,
                                                  Number *dw) {
    const Problem p = PROBLEM; /* mark: kernel of direct/dw */
    if (nothing_to_redo(redo, 1)) return; /* every cell sums over all images, so there is one flag for the whole call */
    const Long cells = (Long)p.taps() * p.in_depth() * p.out_channels;
    for (Long cell = first_cell(); cell < cells; cell += cell_step()) {
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
        dw[cell] = narrow(sum);
    }
}
