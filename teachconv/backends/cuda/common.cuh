/* common.cuh: what all kernels share: number types, the problem as integers, the index law, the last step.

   The sources are compiled for one dtype at a time: -DNUMBER_FLOAT32 and so on. Number is the type in memory, Sum the type
   in which products are summed. A source with several kernels is compiled for one of them: -DTO_PATCHES. The only includes are CUDA's headers for half types, and only if the dtype needs them.
   Every loop over cells has a step of the whole grid: any grid gives the same result. Offsets have 32 bits if every array
   has fewer than 2^30 elements, and 64 bits with -DWIDE. Threads never add to the same cell: the same call gives the same bits.

   A tap is one position of the filter. */

#ifndef TEACHCONV_COMMON_CUH
#define TEACHCONV_COMMON_CUH

#define DEVICE __device__ __forceinline__

typedef long long Long;
#if defined(WIDE)
typedef Long Index; /* an offset in an array, or a number of cells */
#else
typedef int Index;
#endif

#if defined(NUMBER_FLOAT16)
#include <cuda_fp16.h>
typedef __half Number;
typedef float Sum;
DEVICE Sum widen(Number number) { return __half2float(number); }
DEVICE Number narrow(Sum sum) { return __float2half_rn(sum); }
#elif defined(NUMBER_BFLOAT16)
#include <cuda_bf16.h>
typedef __nv_bfloat16 Number;
typedef float Sum;
DEVICE Sum widen(Number number) { return __bfloat162float(number); }
DEVICE Number narrow(Sum sum) { return __float2bfloat16_rn(sum); }
#elif defined(NUMBER_FLOAT32) || defined(NUMBER_FLOAT64)
#if defined(NUMBER_FLOAT32)
typedef float Number;
#else
typedef double Number;
#endif
typedef Number Sum;
DEVICE Sum widen(Number number) { return number; }
DEVICE Number narrow(Sum sum) { return sum; }
#else /* integers wrap around: unsigned arithmetic does so by definition */
#define NUMBER_IS_INTEGER 1
#if defined(NUMBER_INT32)
typedef int Number;
typedef unsigned int Sum;
#elif defined(NUMBER_INT64)
typedef long long Number;
typedef unsigned long long Sum;
#else
#error "define one of NUMBER_FLOAT16, _BFLOAT16, _FLOAT32, _FLOAT64, _INT32, _INT64"
#endif
DEVICE Sum widen(Number number) { return (Sum)number; }
DEVICE Number narrow(Sum sum) { return (Number)sum; }
#endif

#if defined(NUMBER_IS_INTEGER)
DEVICE bool is_negative(Sum sum) { return narrow(sum) < 0; }
#else
DEVICE bool is_negative(Sum sum) { return sum < 0; } /* false for NaN, so relu keeps it */
#endif

/* The 16 integers of a geometry, passed by value, and during a trace a place to count. */
struct Problem {
    int batch, in_rows, in_cols, in_channels, out_rows, out_cols, out_channels, groups;
    int filter_rows, filter_cols, stride_rows, stride_cols, dilation_rows, dilation_cols, pad_top, pad_left;
    int *redone; /* for each thread of the grid, how many cells it has computed again; or null */

    DEVICE void count_redone() const {
        if (redone) redone[blockIdx.x * blockDim.x + threadIdx.x]++;
    }
    DEVICE int in_depth() const { return in_channels / groups; } /* channels of one group */
    DEVICE int out_depth() const { return out_channels / groups; }
    DEVICE int taps() const { return filter_rows * filter_cols; }
    DEVICE Index places() const { return (Index)batch * out_rows * out_cols; } /* output cells of one channel */

    /* in_index = out_index * stride - pad_before + tap * dilation: the input that a tap of an output reads */
    /* mark: stride dilation of direct/y direct/dw im2col/y im2col/dw depthwise/y depthwise/dw tiled registers */
    DEVICE int in_row(int out_row, int tap) const { return out_row * stride_rows - pad_top + tap * dilation_rows; }
    DEVICE int in_col(int out_col, int tap) const { return out_col * stride_cols - pad_left + tap * dilation_cols; }

    /* the inverse of the index law: the output that reads this input through this tap, or -1 if there is none */
    /* mark: dilation of direct/dx im2col/dx depthwise/dx */
    DEVICE int out_row(int row, int tap) const { return backwards(row + pad_top - tap * dilation_rows, stride_rows, out_rows); }
    DEVICE int out_col(int col, int tap) const { return backwards(col + pad_left - tap * dilation_cols, stride_cols, out_cols); }

    DEVICE static int backwards(int distance, int stride, int size) {
        if (stride == 1) return (unsigned)distance < (unsigned)size ? distance : -1; /* without a division */
        /* mark: stride of direct/dx im2col/dx depthwise/dx */
        if (distance < 0 || distance % stride) return -1; /* before the first output, or between two outputs */
        return distance / stride < size ? distance / stride : -1; /* mark: padding of direct/dx im2col/dx depthwise/dx */
    }
    /* One comparison for each axis: as an unsigned number a negative index is larger than any size. */
    /* mark: padding of direct/y direct/dw im2col/y im2col/dw depthwise/dw tiled registers */
    DEVICE bool has_input(int row, int col) const { return (unsigned)row < (unsigned)in_rows && (unsigned)col < (unsigned)in_cols; }
    DEVICE bool has_output(int row, int col) const { return (unsigned)row < (unsigned)out_rows && (unsigned)col < (unsigned)out_cols; }

    DEVICE Index x_at(int image, int row, int col) const { return (((Index)image * in_rows + row) * in_cols + col) * in_channels; }
    DEVICE Index y_at(int image, int row, int col) const { return (((Index)image * out_rows + row) * out_cols + col) * out_channels; }
    DEVICE Index w_at(int tap_row, int tap_col, int channel) const {
        return (((Index)tap_row * filter_cols + tap_col) * in_depth() + channel) * out_channels;
    }
};

/* The last step of a cell: bias, activation, one rounding. */
DEVICE Number finish(Sum sum, const Number *bias, int channel, int relu) {
    if (bias) sum += widen(bias[channel]);
    return narrow(relu && is_negative(sum) ? (Sum)0 : sum);
}

DEVICE Index first_cell() { return (Index)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE Index cell_step() { return (Index)gridDim.x * blockDim.x; }

#endif
