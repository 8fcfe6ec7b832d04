/* col2im, the input gradient for few input channels: dy times the filter, added back patch by patch.

   Run: build/play/col2im [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 64, 3, 128, 4, 2, 0);
    real *dy = integers(y_count(&p)), *w = integers(w_count(&p));
    real *dx = integers(x_count(&p)), *want = integers(x_count(&p));

    /* right? */
    plain_loops(&p, INPUT_GRADIENT, want, w, dy);
    check("col2im", col2im_run(&p, dy, w, NULL, NULL, 0, dx, 1), dx, want, x_count(&p));

    /* how fast? */
    TIME("col2im", p, col2im_run(&p, dy, w, NULL, NULL, 0, dx, 1));

    /* how fast with the filter packed ahead, as a plan has it? */
    real *packed = (real *)new_scratch(col2im_packed_bytes(&p));
    if (!packed || col2im_pack(&p, w, packed, 1)) return 1;
    memset(dx, 0, sizeof(real) * (size_t)x_count(&p));
    check("col2im, packed", col2im_run(&p, dy, w, packed, NULL, 0, dx, 1), dx, want, x_count(&p));
    TIME("col2im, packed", p, col2im_run(&p, dy, w, packed, NULL, 0, dx, 1));
    free_scratch(packed);
    free_scratch(dy), free_scratch(w), free_scratch(dx), free_scratch(want);
    return 0;
}
