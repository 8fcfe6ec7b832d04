/* depthwise_filter, the filter gradient of depthwise: up to 9 taps have a sum in a register while the pixels
   pass by.

   Run: build/play/depthwise_filter [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 56, 128, 128, 3, 1, 1);
    real *x = integers(x_count(&p)), *dy = integers(y_count(&p));
    real *dw = integers(w_count(&p)), *want = integers(w_count(&p));

    /* right? */
    plain_loops(&p, FILTER_GRADIENT, x, want, dy);
    check("depthwise_filter", depthwise_filter_run(&p, x, dy, dw, 1), dw, want, w_count(&p));

    /* how fast? */
    TIME("depthwise_filter", p, depthwise_filter_run(&p, x, dy, dw, 1));
    free_scratch(x), free_scratch(dy), free_scratch(dw), free_scratch(want);
    return 0;
}
