/* one_channel: one input channel and 3x3 taps, as in a first lesson; the filter stays in registers.

   Run: build/play/one_channel [size in_channels out_channels filter stride batch]; for a layer of another
   kind, row_gemm runs. */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 28, 1, 32, 3, 1, 0);
    real *x = integers(x_count(&p)), *w = integers(w_count(&p));
    real *y = integers(y_count(&p)), *want = integers(y_count(&p));

    /* right? */
    plain_loops(&p, FORWARD, x, w, want);
    check("one_channel", small_layer_or_row_gemm_run(&p, x, w, NULL, NULL, 0, y, 1), y, want, y_count(&p));

    /* how fast? */
    TIME("one_channel", p, small_layer_or_row_gemm_run(&p, x, w, NULL, NULL, 0, y, 1));
    free_scratch(x), free_scratch(w), free_scratch(y), free_scratch(want);
    return 0;
}
