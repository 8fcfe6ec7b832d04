/* A convolution of int8 for a microcontroller, with the arguments of CMSIS-NN's arm_convolve_s8. It gives the bits of
   TFLite's reference kernels.  cc -O2 -shared -fPIC conv_s8.c -o conv_s8.so */
#include <stddef.h>
#include <stdint.h>

typedef struct { int32_t n, h, w, c; } dims;
typedef struct {
    int32_t input_offset, output_offset; /* minus the zero point of the input; the zero point of the output */
    int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    int32_t activation_min, activation_max;
} conv_params;

/* sum * multiplier / 2^31 * 2^shift: the product is rounded half up, and the shift to the right half away from zero */
static int32_t requantize(int32_t sum, int32_t multiplier, int32_t shift) {
    int32_t left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    int32_t shifted = (int32_t)((uint32_t)sum << left);
    int32_t high = (int32_t)(((int64_t)shifted * multiplier + (1 << 30)) >> 31);
    int64_t mask = ((int64_t)1 << right) - 1, threshold = (mask >> 1) + (high < 0);
    return (high >> right) + ((high & mask) > threshold);
}

/* input and output are NHWC, the filter is OHWI; bias may be NULL. There is a multiplier and a shift for each output
   channel. */
void conv_s8(const conv_params *p, const int32_t *multiplier, const int32_t *shift, const dims *in, const int8_t *input,
             const dims *filter, const int8_t *weights, const int32_t *bias, const dims *out, int8_t *output) {
    for (int32_t n = 0; n < out->n; n++)
        for (int32_t r = 0; r < out->h; r++)
            for (int32_t c = 0; c < out->w; c++)
                for (int32_t o = 0; o < out->c; o++) {
                    int32_t sum = bias ? bias[o] : 0;
                    for (int32_t a = 0; a < filter->h; a++)
                        for (int32_t b = 0; b < filter->w; b++) {
                            int32_t row = r * p->stride_h - p->pad_h + a * p->dilation_h;
                            int32_t col = c * p->stride_w - p->pad_w + b * p->dilation_w;
                            if (row < 0 || row >= in->h || col < 0 || col >= in->w) continue;
                            const int8_t *x = input + ((n * in->h + row) * in->w + col) * in->c;
                            const int8_t *w = weights + ((o * filter->h + a) * filter->w + b) * in->c;
                            for (int32_t i = 0; i < in->c; i++) sum += (x[i] + p->input_offset) * w[i];
                        }
                    int32_t y = requantize(sum, multiplier[o], shift[o]) + p->output_offset;
                    y = y < p->activation_min ? p->activation_min : y;
                    y = y > p->activation_max ? p->activation_max : y;
                    *output++ = (int8_t)y;
                }
}
