/* implicit_gemm: the matrix product of im2col without the matrix: patches are loaded from x when they are needed.

     one block of 256 threads = one tile of the result: TILE_ROWS x TILE_COLS

        depth ->  8 at a time           columns
                                    [ B          ]   shared memory, double-buffered: one buffer is multiplied
      rows  [ A          ]          [ result     ]   while the other is filled (double_buffer.cuh)
                                      16 x 16 threads, RM x RN sums each, in registers

       for k in chunk: RM numbers of A, RN of B, RM * RN multiply-adds

   Faster than registers, because loads and arithmetic overlap, because four neighbours are read from shared memory at once, and
   because positions in x advance by additions, without divisions (tiles.cuh). It computes all three kinds of call.

   Each cell sums in the order (tap_row, tap_col, channel), or by places, within a split. This does not depend on the tile. */

#include "common.cuh"
#include "tiles.cuh"

#define TILE_DEPTH 8
#include "double_buffer.cuh"

struct __align__(16) Four { Sum value[4]; }; /* 4 neighbours in one access of shared memory */

struct Engine {
    typedef Sum Factor;
    static constexpr int SPARE = 4; /* threads that load neighbours along the depth write different banks */
    static constexpr int RM = TILE_ROWS / 16, RN = TILE_COLS / 16;
    Sum sums[RM][RN] = {};

    DEVICE static Sum factor(Number number) { return widen(number); }
    DEVICE static int row(int i) { return 64 * (i / 4) + threadIdx.x / 16 * 4 + i % 4; }
    DEVICE static int col(int j) { return 64 * (j / 4) + threadIdx.x % 16 * 4 + j % 4; }

    DEVICE void multiply(const Sum (&a)[TILE_DEPTH][TILE_ROWS + SPARE], const Sum (&b)[TILE_DEPTH][TILE_COLS + SPARE]) {
#pragma unroll
        for (int k = 0; k < TILE_DEPTH; k++) {
            Four rows[RM / 4], cols[RN / 4];
#pragma unroll
            for (int i = 0; i < RM / 4; i++) rows[i] = *(const Four *)&a[k][row(4 * i)];
#pragma unroll
            for (int j = 0; j < RN / 4; j++) cols[j] = *(const Four *)&b[k][col(4 * j)];
#pragma unroll
            for (int i = 0; i < RM; i++)
#pragma unroll
                /* mark: multiply-add kernel of implicit_gemm */
                for (int j = 0; j < RN; j++) sums[i][j] += rows[i / 4].value[i % 4] * cols[j / 4].value[j % 4];
        }
    }
    template <class Tile> DEVICE void finish(const Tile &tile) const { store<Engine, 1, 1>(tile, sums); }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) implicit_gemm(Problem p, const Number *first, const Number *second,
                                                                    const Number *bias, int relu, int splits, Sum *partial,
                                                                    Number *result) {
    multiply<Engine>(Tile<KIND, TILE_ROWS, TILE_COLS, TILE_DEPTH, 1>({p, first, second, bias, relu, splits, partial, result, blockIdx.x}));
}
