/* tensor_gemm: implicit_gemm on tensor cores: float16 and bfloat16 with sums in float32; float32 as TF32, on request only.

     one block = one tile of the result, TILE_ROWS x TILE_COLS; its 8 warps are arranged in 4 rows of 2

          columns                a warp's part: a quarter of the rows, half of the columns, as fragments of 16 x 16
        [ w0 | w1 ]
   rows [ w2 | w3 ]              a fragment is distributed over the 32 threads of a warp in an unspecified layout; the whole
        [ w4 | w5 ]              warp together executes load_matrix_sync, mma_sync and store_matrix_sync
        [ w6 | w7 ]

     load a chunk of A and B into shared memory, double-buffered as in implicit_gemm
     for each step of 16 (TF32: 8) down the chunk
       for each fragment of the warp's part:  sums += A fragment * B fragment        (one instruction, 4096 or 2048 multiply-adds)
     store each fragment to a corner of shared memory, and from there to the result: bias, activation, rounding

   Faster than implicit_gemm, because tensor cores multiply. float16 and bfloat16 products are exact in float32; the
   additions inside one instruction truncate, so this kernel has an error bound of its own (bounds.tensor). TF32 rounds both
   factors to 11 bits first. Padding is multiplied as zeros, as in implicit_gemm. */

#include <mma.h>
#include "common.cuh"
#include "tiles.cuh"

#ifndef TILE_ROWS
#define TILE_ROWS 64 /* 64 or 128 */
#define TILE_COLS 64
#endif
#define TILE_DEPTH 16

namespace wmma = nvcuda::wmma;

#if defined(NUMBER_FLOAT32) /* TF32 */
typedef wmma::precision::tf32 Factor;
#define STEP 8
DEVICE Number to_factor(Number number) { return wmma::__float_to_tf32(number); } /* mark: own of tensor_gemm_tf32 */
#else
typedef Number Factor;
#define STEP 16
DEVICE Number to_factor(Number number) { return number; } /* mark: own of tensor_gemm */
#endif

#define WARP_ROWS (TILE_ROWS / 4 / 16) /* fragments of one warp */
#define WARP_COLS (TILE_COLS / 2 / 16)
#define PITCH_A (TILE_ROWS + 8) /* rows stay aligned to 32 bytes, as fragments require, and begin in different banks */
#define PITCH_B (TILE_COLS + 8)

template <class Product> DEVICE void multiply(Product &product) {
    __shared__ __align__(32) Number a[2][TILE_DEPTH][PITCH_A], b[2][TILE_DEPTH][PITCH_B];
    __shared__ __align__(32) float corner[THREADS / 32][16][16];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 2 * (TILE_ROWS / 4), warp_col = warp % 2 * (TILE_COLS / 2);
    for (Long tile = blockIdx.x; tile < product.tiles(); tile += gridDim.x) {
        product.start(tile);
        wmma::fragment<wmma::accumulator, 16, 16, STEP, float> sums[WARP_ROWS][WARP_COLS];
#pragma unroll
        for (int i = 0; i < WARP_ROWS; i++)
#pragma unroll
            for (int j = 0; j < WARP_COLS; j++) wmma::fill_fragment(sums[i][j], 0.0f);
        Number a_next[Product::A_ITEMS], b_next[Product::B_ITEMS];
        int buffer = 0;
#pragma unroll
        for (int i = 0; i < Product::A_ITEMS; i++) a[0][Product::a_k(i)][Product::a_row(i)] = to_factor(product.load_a(i));
#pragma unroll
        for (int i = 0; i < Product::B_ITEMS; i++) b[0][Product::b_k(i)][Product::b_col(i)] = to_factor(product.load_b(i));
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
            for (int kk = 0; kk < TILE_DEPTH; kk += STEP) {
                wmma::fragment<wmma::matrix_a, 16, 16, STEP, Factor, wmma::col_major> rows[WARP_ROWS];
                wmma::fragment<wmma::matrix_b, 16, 16, STEP, Factor, wmma::row_major> cols[WARP_COLS];
#pragma unroll
                for (int i = 0; i < WARP_ROWS; i++) wmma::load_matrix_sync(rows[i], &a[buffer][kk][warp_row + 16 * i], PITCH_A);
#pragma unroll
                for (int j = 0; j < WARP_COLS; j++) wmma::load_matrix_sync(cols[j], &b[buffer][kk][warp_col + 16 * j], PITCH_B);
#pragma unroll
                for (int i = 0; i < WARP_ROWS; i++)
#pragma unroll
                    /* mark: multiply-add of tensor_gemm tensor_gemm_tf32 */
                    for (int j = 0; j < WARP_COLS; j++) wmma::mma_sync(sums[i][j], rows[i], cols[j], sums[i][j]);
            }
            if (more) {
                buffer ^= 1;
#pragma unroll
                for (int i = 0; i < Product::A_ITEMS; i++) a[buffer][Product::a_k(i)][Product::a_row(i)] = to_factor(a_next[i]);
#pragma unroll
                for (int i = 0; i < Product::B_ITEMS; i++) b[buffer][Product::b_k(i)][Product::b_col(i)] = to_factor(b_next[i]);
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < WARP_ROWS; i++)
#pragma unroll
            for (int j = 0; j < WARP_COLS; j++) {
                wmma::store_matrix_sync(&corner[warp][0][0], sums[i][j], 16, wmma::mem_row_major);
                __syncwarp();
                for (int cell = lane; cell < 256; cell += 32)
                    product.store(warp_row + 16 * i + cell / 16, warp_col + 16 * j + cell % 16, corner[warp][cell / 16][cell % 16]);
                __syncwarp(); /* before the next fragment overwrites the corner */
            }
        __syncthreads(); /* before the next tile overwrites the buffers */
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) tensor_forward(PROBLEM_PARAMETERS, const Number *x, const Number *w,
                                                                     const Number *bias, int relu, Number *y) {
    Forward<TILE_ROWS, TILE_COLS, TILE_DEPTH> product(PROBLEM, x, w, bias, relu, y);
    multiply(product); /* mark: kernel of tensor_gemm/y tensor_gemm_tf32/y */
}

extern "C" __global__ void __launch_bounds__(THREADS) tensor_input_gradient(PROBLEM_PARAMETERS, const Number *dy, const Number *w,
                                                                            const Number *bias, int relu, Number *dx) {
    InputGradient<TILE_ROWS, TILE_COLS, TILE_DEPTH> product(PROBLEM, dy, w, bias, relu, dx);
    multiply(product); /* mark: kernel of tensor_gemm/dx tensor_gemm_tf32/dx */
}

extern "C" __global__ void __launch_bounds__(THREADS) tensor_filter_gradient(PROBLEM_PARAMETERS, const Number *x, const Number *dy,
                                                                             int splits, Sum *partial) {
    FilterGradient<TILE_ROWS, TILE_COLS, TILE_DEPTH> product(PROBLEM, x, dy, splits, partial);
    multiply(product); /* mark: kernel of tensor_gemm/dw tensor_gemm_tf32/dw */
}
