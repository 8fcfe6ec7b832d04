/* tensor_gemm: implicit_gemm on tensor cores: float16 and bfloat16 with sums in float32; float32 as TF32, on request only.

     one block = one tile of the result, TILE_ROWS x TILE_COLS; its 8 warps are arranged in 4 rows of 2

          columns                a warp's part: a quarter of the rows, half of the columns, as fragments of 16 x 16
        [ w0 | w1 ]
   rows [ w2 | w3 ]              a fragment is distributed over the 32 threads of a warp in an unspecified layout; the whole
        [ w4 | w5 ]              warp together executes load_matrix_sync, mma_sync and store_matrix_sync
        [ w6 | w7 ]

     load a chunk of A and B into shared memory, double-buffered (double_buffer.cuh)
     for each step of 16 (TF32: 8) down the chunk
       for each fragment of the warp's part:  sums += A fragment * B fragment        (one instruction, 4096 or 2048 multiply-adds)
     store each fragment to a corner of shared memory, and from there to the result: bias, activation, rounding

   Faster than implicit_gemm, because tensor cores multiply. float16 and bfloat16 products are exact in float32; the
   additions inside one instruction truncate, so this kernel has an error bound of its own (bounds.tensor). TF32 rounds both
   factors to 11 bits first. The loads, one number at a time, keep the tensor cores waiting: pipelined_gemm.cu loads 8. */

#include <mma.h>
#include "common.cuh"
#include "tiles.cuh"

#define TILE_DEPTH 16
#include "double_buffer.cuh"

namespace wmma = nvcuda::wmma;

struct Engine {
    typedef Number Factor;
    static constexpr int SPARE = 8; /* lines stay aligned to 32 bytes, as fragments require, and begin in different banks */
    static constexpr int ROWS = TILE_ROWS / 4 / 16, COLS = TILE_COLS / 2 / 16; /* fragments of one warp */
#if defined(NUMBER_FLOAT32) /* TF32 */
    typedef wmma::precision::tf32 Type;
    static constexpr int STEP = 8;
    DEVICE static Number factor(Number number) { return wmma::__float_to_tf32(number); } /* mark: own of tensor_gemm_tf32 */
#else
    typedef Number Type;
    static constexpr int STEP = 16;
    DEVICE static Number factor(Number number) { return number; } /* mark: own of tensor_gemm */
#endif
    wmma::fragment<wmma::accumulator, 16, 16, STEP, float> sums[ROWS][COLS];

    DEVICE static int warp_row() { return threadIdx.x / 32 / 2 * (TILE_ROWS / 4); }
    DEVICE static int warp_col() { return threadIdx.x / 32 % 2 * (TILE_COLS / 2); }

    DEVICE Engine() {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) wmma::fill_fragment(sums[i][j], 0.0f);
    }
    DEVICE void multiply(const Number (&a)[TILE_DEPTH][TILE_ROWS + SPARE], const Number (&b)[TILE_DEPTH][TILE_COLS + SPARE]) {
#pragma unroll
        for (int k = 0; k < TILE_DEPTH; k += STEP) {
            wmma::fragment<wmma::matrix_a, 16, 16, STEP, Type, wmma::col_major> rows[ROWS];
            wmma::fragment<wmma::matrix_b, 16, 16, STEP, Type, wmma::row_major> cols[COLS];
#pragma unroll
            for (int i = 0; i < ROWS; i++) wmma::load_matrix_sync(rows[i], &a[k][warp_row() + 16 * i], TILE_ROWS + SPARE);
#pragma unroll
            for (int j = 0; j < COLS; j++) wmma::load_matrix_sync(cols[j], &b[k][warp_col() + 16 * j], TILE_COLS + SPARE);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                /* mark: multiply-add kernel of tensor_gemm tensor_gemm_tf32 */
                for (int j = 0; j < COLS; j++) wmma::mma_sync(sums[i][j], rows[i], cols[j], sums[i][j]);
        }
    }
    /* Through a corner of shared memory of each warp, because nobody knows which thread has which cell of a fragment. */
    template <class Tile> DEVICE void finish(const Tile &tile) {
        __shared__ __align__(32) float corners[THREADS / 32][16][16];
        float(&corner)[16][16] = corners[threadIdx.x / 32];
        const int lane = threadIdx.x % 32;
        bool redo = false;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                wmma::store_matrix_sync(&corner[0][0], sums[i][j], 16, wmma::mem_row_major);
                __syncwarp();
                for (int row = lane / 16; row < 16; row += 2) {
                    const Index at = tile.row_at(warp_row() + 16 * i + row);
                    const int col = warp_col() + 16 * j + lane % 16;
                    if (at >= 0 && tile.has_col(col))
                        redo |= tile.template put<1, 1>(at + col, tile.bias_at() + col, &corner[row][lane % 16]);
                }
                __syncwarp(); /* before the next fragment overwrites the corner */
            }
#pragma unroll 1
        for (int n = 0; redo && n < ROWS * COLS * 8; n++) { /* 8 rows of each fragment, as above */
            const Index at = tile.row_at(warp_row() + n / 8 / COLS * 16 + n % 8 * 2 + lane / 16);
            const int col = warp_col() + n / 8 % COLS * 16 + lane % 16;
            if (at >= 0 && tile.has_col(col)) tile.redo(at + col);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) tensor_gemm(Problem p, const Number *first, const Number *second,
                                                                  const Number *bias, int relu, int splits, Sum *partial,
                                                                  Number *result) {
    multiply<Engine>(Tile<KIND, TILE_ROWS, TILE_COLS, TILE_DEPTH, 1>({p, first, second, bias, relu, splits, partial, result, blockIdx.x}));
}
