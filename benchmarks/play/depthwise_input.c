/* depthwise_input, the input gradient of depthwise: the same gather over dy, phase by phase.

   Run: build/play/depthwise_input [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 56, 128, 128, 3, 2, 1);
    real *dy = integers(y_count(&p)), *w = integers(w_count(&p));
    real *dx = integers(x_count(&p)), *want = integers(x_count(&p));

    /* right? */
    plain_loops(&p, INPUT_GRADIENT, want, w, dy);
    check("depthwise_input", depthwise_input_run(&p, dy, w, NULL, NULL, 0, dx, 1), dx, want, x_count(&p));

    /* how fast? */
    TIME("depthwise_input", p, depthwise_input_run(&p, dy, w, NULL, NULL, 0, dx, 1));
    free_scratch(dy), free_scratch(w), free_scratch(dx), free_scratch(want);
    return 0;
}
