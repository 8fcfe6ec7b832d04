/* registers: tiled, with 4 x 4 cells of the result for each thread, whose sums stay in registers.

                              64 out_channels
                 depth        [ B           ]       one block = 64 x 64 cells of y = 16 x 16 threads
     64      [ A        ]     [ t0 t1 ...   ]       one thread = 4 x 4 cells, 16 apart: neighbouring threads have
     places      16 at a time [ t16 ...     ]       neighbouring columns, and read different banks

     for each 16 of the depth
       every thread loads 4 numbers of A and 4 of B into shared memory; wait
       16 times: 4 numbers of A and 4 of B into registers, 16 multiply-adds; wait

   Faster than tiled, because 8 loads from shared memory give 16 multiply-adds instead of 4. While the block loads, it does not
   multiply: implicit_gemm.cu overlaps the two. */

#include "common.cuh"
#include "definition.cuh"

#define TILE 64
#define DEPTH 16
#define SIDE 4 /* rows and columns of sums in one thread */

extern "C" __global__ void __launch_bounds__(256) registers(Problem p, const Number *x, const Number *w, const Number *bias,
                                                             int relu, Number *y) {
    __shared__ Sum a[DEPTH][TILE + 1], b[DEPTH][TILE];
    const int thread_row = threadIdx.x / 16, thread_col = threadIdx.x % 16;
    const int col_tiles = (p.out_depth() + TILE - 1) / TILE;
    const int first_col = blockIdx.x % col_tiles * TILE, group = blockIdx.x / col_tiles % p.groups;
    const Index first_place = (Index)(blockIdx.x / col_tiles / p.groups) * TILE, depth = (Index)p.taps() * p.in_depth();
    int image[SIDE], out_row[SIDE], out_col[SIDE]; /* of the places that this thread loads */
    for (int i = 0; i < SIDE; i++) {
        const Index place = first_place + thread_row + 16 * i;
        out_col[i] = (int)(place % p.out_cols), out_row[i] = (int)(place / p.out_cols % p.out_rows);
        image[i] = place < p.places() ? (int)(place / p.out_cols / p.out_rows) : -1;
    }
    Sum sums[SIDE][SIDE] = {};
    for (Index first = 0; first < depth; first += DEPTH) {
        const Index k = first + thread_col;
        const int channel = (int)(k % p.in_depth()), tap = (int)(k / p.in_depth());
        const int tap_row = tap / p.filter_cols, tap_col = tap % p.filter_cols;
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            const int in_row = p.in_row(out_row[i], tap_row), in_col = p.in_col(out_col[i], tap_col);
            const bool has_a = image[i] >= 0 && k < depth && p.has_input(in_row, in_col);
            a[thread_col][thread_row + 16 * i] = has_a ? widen(x[p.x_at(image[i], in_row, in_col) + group * p.in_depth() + channel]) : (Sum)0;
            const int col = first_col + thread_col + 16 * i;
            const bool has_b = col < p.out_depth() && first + thread_row < depth;
            b[thread_row][thread_col + 16 * i] = has_b ? widen(w[(first + thread_row) * p.out_channels + group * p.out_depth() + col]) : (Sum)0;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < DEPTH; kk++) {
            Sum rows[SIDE], cols[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; i++) rows[i] = a[kk][thread_row + 16 * i], cols[i] = b[kk][thread_col + 16 * i];
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++) sums[i][j] += rows[i] * cols[j]; /* mark: multiply-add kernel of registers */
        }
        __syncthreads();
    }
    /* Unrolled for the sums to stay in registers; the rare cells to recompute are in a loop of their own, which is not. */
    bool redo = false;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            const Index place = first_place + thread_row + 16 * i;
            const int col = first_col + thread_col + 16 * j, out_channel = group * p.out_depth() + col;
            if (place >= p.places() || col >= p.out_depth()) continue;
            y[place * p.out_channels + out_channel] = finish(sums[i][j], bias, out_channel, relu);
            redo |= sums[i][j] != sums[i][j];
        }
    for (int i = 0; redo && i < SIDE * SIDE; i++) {
        const Index place = first_place + thread_row + i / SIDE * 16;
        const int col = first_col + thread_col + i % SIDE * 16;
        if (place < p.places() && col < p.out_depth())
            redo_if_nan<Forward>(p, x, w, place * p.out_channels + group * p.out_depth() + col, bias, relu, y);
    }
}
