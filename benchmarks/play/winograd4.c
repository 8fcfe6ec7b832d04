/* winograd4, F(4x4, 3x3): 36 multiplications where there were 144. The filter has to be 3, the stride 1.
   Its points are square roots, so the sums have roundings; here they are far less than a half, and the
   nearest whole numbers are compared.

   Run: build/play/winograd4 [size in_channels out_channels filter stride batch] */
#include "play.h"

static const real *rounded(real *numbers, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) numbers[i] = (real)nearbyint(numbers[i]);
    return numbers;
}

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 28, 128, 128, 3, 1, 0);
    real *x = integers(x_count(&p)), *w = integers(w_count(&p));
    real *y = integers(y_count(&p)), *want = integers(y_count(&p));

    /* right? */
    plain_loops(&p, FORWARD, x, w, want);
    int status = winograd4_run(&p, x, w, NULL, NULL, 0, y, 1);
    check("winograd4", status, rounded(y, y_count(&p)), want, y_count(&p));

    /* how fast? */
    TIME("winograd4", p, winograd4_run(&p, x, w, NULL, NULL, 0, y, 1));

    /* how fast with the filter packed ahead, as a plan has it? */
    real *packed = (real *)new_scratch(winograd4_packed_bytes(&p));
    if (!packed || winograd4_pack(&p, w, packed, 1)) return 1;
    memset(y, 0, sizeof(real) * (size_t)y_count(&p));
    status = winograd4_run(&p, x, w, packed, NULL, 0, y, 1);
    check("winograd4, packed", status, rounded(y, y_count(&p)), want, y_count(&p));
    TIME("winograd4, packed", p, winograd4_run(&p, x, w, packed, NULL, 0, y, 1));
    free_scratch(packed);
    free_scratch(x), free_scratch(w), free_scratch(y), free_scratch(want);
    return 0;
}
