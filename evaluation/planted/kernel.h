/* What the kernels with planted bugs share: element types, the integers of a call, and the switch.
 *
 * TYPE chooses the dtype of the arrays. T is an element in memory, ACC the type that sums are kept in.
 * BUG(n, wrong, right) is `right` in the build that is sound, and `wrong` when bug n is switched on.
 */
#ifndef PLANTED_KERNEL_H
#define PLANTED_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FLOAT16 1
#define BFLOAT16 2
#define FLOAT32 3
#define FLOAT64 4
#define INT32 5
#define INT64 6

static int bug;
void set_bug(int number) { bug = number; }

#define BUG(number, wrong, right) (bug == (number) ? (wrong) : (right))
#define IS(number) (bug == (number))

#if TYPE == FLOAT16
typedef _Float16 T;
typedef float ACC;
static float load(T value) { return value; }
static T truncated(float value) {  /* towards zero */
    T found = value;
    if ((float)found != value && ((float)found < 0 ? (float)found < value : (float)found > value)) {
        uint16_t bits;
        memcpy(&bits, &found, 2);
        bits -= 1;
        memcpy(&found, &bits, 2);
    }
    return found;
}
static T store(float value) { return BUG(15, truncated(value), (T)value); }
#elif TYPE == BFLOAT16
typedef uint16_t T;
typedef float ACC;
static float load(T value) {
    uint32_t bits = (uint32_t)value << 16;
    float found;
    memcpy(&found, &bits, 4);
    return found;
}
static T store(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (IS(15)) return bits >> 16;
    if (value != value) return (T)((bits >> 16) | 0x40);
    bits += IS(16) ? 0x8000 : 0x7fff + ((bits >> 16) & 1);  /* 16: ties away from zero */
    return bits >> 16;
}
#else
#if TYPE == FLOAT32
typedef float T;
typedef float ACC;
#elif TYPE == FLOAT64
typedef double T;
typedef double ACC;
#elif TYPE == INT32
typedef int32_t T;
typedef uint32_t ACC;  /* signed overflow is undefined in C */
#elif TYPE == INT64
typedef int64_t T;
typedef uint64_t ACC;
#endif
static ACC load(T value) { return value; }
static T store(ACC value) { return value; }
#endif
#define IS_INTEGER (TYPE >= INT32)
#define IS_HALF (TYPE <= BFLOAT16)

/* The integers of a call, in the order of ConvGeometry.integers, and the steps of the arrays in elements. */
typedef struct {
    ptrdiff_t batch, in_rows, in_cols, in_channels, out_rows, out_cols, out_channels, groups;
    ptrdiff_t filter_rows, filter_cols, stride_rows, stride_cols, dilation_rows, dilation_cols;
    ptrdiff_t pad_top, pad_left, pad_bottom, pad_right;
    ptrdiff_t first[4], second[4], result[4], bias_step;
    ptrdiff_t relu, has_bias;
} Conv;

#endif
