/* depthwise: a filter of its own for every channel, channels side by side in a vector.

   Run: build/play/depthwise [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 56, 128, 128, 3, 1, 1);
    real *x = integers(x_count(&p)), *w = integers(w_count(&p));
    real *y = integers(y_count(&p)), *want = integers(y_count(&p));

    /* right? */
    plain_loops(&p, FORWARD, x, w, want);
    check("depthwise", depthwise_run(&p, x, w, NULL, NULL, 0, y, 1), y, want, y_count(&p));

    /* how fast? */
    TIME("depthwise", p, depthwise_run(&p, x, w, NULL, NULL, 0, y, 1));
    free_scratch(x), free_scratch(w), free_scratch(y), free_scratch(want);
    return 0;
}
