/* pixel_gemm, the general filter gradient: a tile of it stays in registers while all pixels pass by.

   Run: build/play/pixel_gemm [size in_channels out_channels filter stride batch] */
#include "play.h"

int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 28, 128, 128, 3, 1, 0);
    real *x = integers(x_count(&p)), *dy = integers(y_count(&p));
    real *dw = integers(w_count(&p)), *want = integers(w_count(&p));

    /* right? */
    plain_loops(&p, FILTER_GRADIENT, x, want, dy);
    check("pixel_gemm", pixel_gemm_run(&p, x, dy, dw, 1), dw, want, w_count(&p));

    /* how fast? */
    TIME("pixel_gemm", p, pixel_gemm_run(&p, x, dy, dw, 1));
    free_scratch(x), free_scratch(dy), free_scratch(dw), free_scratch(want);
    return 0;
}
