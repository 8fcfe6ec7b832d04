/* phases, the general input gradient: the scatter as stride x stride small gathers.

   Run: build/play/phases [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 28, 128, 128, 3, 2, 0);
    real *dy = integers(y_count(&p)), *w = integers(w_count(&p));
    real *dx = integers(x_count(&p)), *want = integers(x_count(&p));

    /* right? */
    plain_loops(&p, INPUT_GRADIENT, want, w, dy);
    check("phases", phases_run(&p, dy, w, NULL, NULL, 0, dx, 1), dx, want, x_count(&p));

    /* how fast? */
    TIME("phases", p, phases_run(&p, dy, w, NULL, NULL, 0, dx, 1));

    /* how fast with the filter packed ahead, as a plan has it? */
    real *packed = (real *)new_scratch(phases_packed_bytes(&p));
    if (!packed || phases_pack(&p, w, packed, 1)) return 1;
    memset(dx, 0, sizeof(real) * (size_t)x_count(&p));
    check("phases, packed", phases_run(&p, dy, w, packed, NULL, 0, dx, 1), dx, want, x_count(&p));
    TIME("phases, packed", p, phases_run(&p, dy, w, packed, NULL, 0, dx, 1));
    free_scratch(packed);
    free_scratch(dy), free_scratch(w), free_scratch(dx), free_scratch(want);
    return 0;
}
