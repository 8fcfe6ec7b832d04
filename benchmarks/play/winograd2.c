/* winograd2, F(2x2, 3x3): 16 multiplications where there were 36. It is winograd.h's only
   piece of a 3x3 filter at stride 1.

   Run: build/play/winograd2 [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 28, 128, 128, 3, 1, 0);
    real *x = integers(x_count(&p)), *w = integers(w_count(&p));
    real *y = integers(y_count(&p)), *want = integers(y_count(&p));

    /* right? */
    plain_loops(&p, FORWARD, x, w, want);
    check("winograd2", winograd_run(&p, x, w, NULL, NULL, 0, y, 1), y, want, y_count(&p));

    /* how fast? */
    TIME("winograd2", p, winograd_run(&p, x, w, NULL, NULL, 0, y, 1));

    /* how fast with the filter packed ahead, as a plan has it? */
    real *packed = (real *)new_scratch(winograd_packed_bytes(&p));
    if (!packed || winograd_pack(&p, w, packed, 1)) return 1;
    memset(y, 0, sizeof(real) * (size_t)y_count(&p));
    check("winograd2, packed", winograd_run(&p, x, w, packed, NULL, 0, y, 1), y, want, y_count(&p));
    TIME("winograd2, packed", p, winograd_run(&p, x, w, packed, NULL, 0, y, 1));
    free_scratch(packed);
    free_scratch(x), free_scratch(w), free_scratch(y), free_scratch(want);
    return 0;
}
