/* implicit_gemm: the matrix product of im2col without the matrix: patches are loaded from x when they are needed.

     one block of 256 threads = one tile of the result: 16 RM rows, 16 RN columns

        depth ->  8 at a time           columns
                                    [ B          ]   shared memory, double-buffered: one buffer is multiplied
      rows  [ A          ]          [ result     ]   while the other is filled
                                      16 x 16 threads, RM x RN sums each, in registers

     load chunk 0 into shared memory
     for each chunk
       load the next chunk into registers                  (the loads overlap ...)
       for k in chunk: RM numbers of A, RN of B, RM * RN fused multiply-adds     (... with the arithmetic)
       store the registers to the other buffer; wait for all threads; swap the buffers

   Faster than im2col, because the patches are never in memory. Each number loaded from shared memory is multiplied RM or RN
   times. Each cell sums in the order (tap_row, tap_col, channel), or by places within a split. This does not depend on the
   tile, so the bits are always the same.

   Padding is multiplied as zeros here. If the filter (for the filter gradient: dy) holds an infinity or NaN, which
   helpers.cu detects, direct.cu recomputes the call. */

#include "common.cuh"
#include "tiles.cuh"

#ifndef RM
#define RM 4 /* rows and columns of sums in one thread: 4 or 8 */
#define RN 4
#endif
#define TILE_ROWS (16 * RM)
#define TILE_COLS (16 * RN)
#define TILE_DEPTH 8

struct __align__(16) Four { Sum value[4]; }; /* 4 neighbours in one shared-memory access */

template <class Product> DEVICE void multiply(Product &product) {
    __shared__ __align__(16) Sum a[2][TILE_DEPTH][TILE_ROWS + 4], b[2][TILE_DEPTH][TILE_COLS + 4]; /* + 4: threads write different banks */
    const int thread_row = threadIdx.x / 16 * 4, thread_col = threadIdx.x % 16 * 4;
    for (Long tile = blockIdx.x; tile < product.tiles(); tile += gridDim.x) {
        product.start(tile);
        Sum sums[RM][RN] = {};
        Number a_next[Product::A_ITEMS], b_next[Product::B_ITEMS];
        int buffer = 0;
#pragma unroll
        for (int i = 0; i < Product::A_ITEMS; i++) a[0][Product::a_k(i)][Product::a_row(i)] = widen(product.load_a(i));
#pragma unroll
        for (int i = 0; i < Product::B_ITEMS; i++) b[0][Product::b_k(i)][Product::b_col(i)] = widen(product.load_b(i));
        __syncthreads();
        for (Long k = 0; k < product.depth; k += TILE_DEPTH) {
            const bool more = k + TILE_DEPTH < product.depth;
            if (more) {
                product.next_chunk();
#pragma unroll
                for (int i = 0; i < Product::A_ITEMS; i++) a_next[i] = product.load_a(i);
#pragma unroll
                for (int i = 0; i < Product::B_ITEMS; i++) b_next[i] = product.load_b(i);
            }
#pragma unroll
            for (int kk = 0; kk < TILE_DEPTH; kk++) {
                Four rows[RM / 4], cols[RN / 4];
#pragma unroll
                for (int i = 0; i < RM / 4; i++) rows[i] = *(const Four *)&a[buffer][kk][64 * i + thread_row];
#pragma unroll
                for (int j = 0; j < RN / 4; j++) cols[j] = *(const Four *)&b[buffer][kk][64 * j + thread_col];
#pragma unroll
                for (int i = 0; i < RM; i++)
#pragma unroll
                    /* mark: multiply-add of implicit_gemm */
                    for (int j = 0; j < RN; j++) sums[i][j] += rows[i / 4].value[i % 4] * cols[j / 4].value[j % 4];
            }
            if (more) {
                buffer ^= 1;
#pragma unroll
                for (int i = 0; i < Product::A_ITEMS; i++) a[buffer][Product::a_k(i)][Product::a_row(i)] = widen(a_next[i]);
#pragma unroll
                for (int i = 0; i < Product::B_ITEMS; i++) b[buffer][Product::b_k(i)][Product::b_col(i)] = widen(b_next[i]);
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < RM; i++)
#pragma unroll
            for (int j = 0; j < RN; j++) product.store(64 * (i / 4) + thread_row + i % 4, 64 * (j / 4) + thread_col + j % 4, sums[i][j]);
        __syncthreads(); /* before the next tile overwrites the buffers */
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) implicit_forward(PROBLEM_PARAMETERS, const Number *x, const Number *w,
                                                                       const Number *bias, int relu, Number *y) {
    Forward<TILE_ROWS, TILE_COLS, TILE_DEPTH> product(PROBLEM, x, w, bias, relu, y);
    multiply(product); /* mark: kernel of implicit_gemm/y */
}

extern "C" __global__ void __launch_bounds__(THREADS) implicit_input_gradient(PROBLEM_PARAMETERS, const Number *dy, const Number *w,
                                                                              const Number *bias, int relu, Number *dx) {
    InputGradient<TILE_ROWS, TILE_COLS, TILE_DEPTH> product(PROBLEM, dy, w, bias, relu, dx);
    multiply(product); /* mark: kernel of implicit_gemm/dx */
}

extern "C" __global__ void __launch_bounds__(THREADS) implicit_filter_gradient(PROBLEM_PARAMETERS, const Number *x, const Number *dy,
                                                                               int splits, Sum *partial) {
    FilterGradient<TILE_ROWS, TILE_COLS, TILE_DEPTH> product(PROBLEM, x, dy, splits, partial);
    multiply(product); /* mark: kernel of implicit_gemm/dw */
}
