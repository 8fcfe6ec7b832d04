/* tiled: the convolution as a product of two matrices that are never built, in tiles that threads share.

                            16 out_channels
               depth        [ B        ]        rows     places (image, out_row, out_col)
     16    [ A        ]     [ result   ]        depth    (tap_row, tap_col, in_channel)
     places    16 at a time                     columns  out_channels of one group

     one block = 16 x 16 threads = 16 x 16 cells of y, one cell a thread
     for each 16 of the depth
       every thread loads one number of A (of x, or zero in the padding) and one of B (of w) into shared memory
       wait for all threads; multiply 16 pairs; wait again, before the next 16 overwrite them

   Faster than direct, because each number loaded from global memory is multiplied 16 times, by the threads of a row or column.
   Each pair of loads from shared memory still gives only one multiply-add. */

#include "common.cuh"
#include "definition.cuh"

#define TILE 16

extern "C" __global__ void tiled(Problem p, const Number *x, const Number *w, const Number *bias, int relu, Number *y) {
    __shared__ Sum a[TILE][TILE], b[TILE][TILE + 1]; /* + 1: a column's neighbours lie in different banks */
    const int thread_row = threadIdx.x / TILE, thread_col = threadIdx.x % TILE;
    const int col_tiles = (p.out_depth() + TILE - 1) / TILE;
    const int col = blockIdx.x % col_tiles * TILE + thread_col, group = blockIdx.x / col_tiles % p.groups;
    const Index place = (Index)(blockIdx.x / col_tiles / p.groups) * TILE + thread_row;
    const int out_col = (int)(place % p.out_cols), out_row = (int)(place / p.out_cols % p.out_rows);
    const int image = (int)(place / p.out_cols / p.out_rows), out_channel = group * p.out_depth() + col;
    const bool has_place = place < p.places(), has_col = col < p.out_depth();
    const Index depth = (Index)p.taps() * p.in_depth();
    Sum sum = 0;
    for (Index first = 0; first < depth; first += TILE) {
        const Index k = first + thread_col; /* of A; B's is first + thread_row */
        const int channel = (int)(k % p.in_depth()), tap = (int)(k / p.in_depth());
        const int in_row = p.in_row(out_row, tap / p.filter_cols), in_col = p.in_col(out_col, tap % p.filter_cols);
        const bool has_a = has_place && k < depth && p.has_input(in_row, in_col), has_b = has_col && first + thread_row < depth;
        a[thread_row][thread_col] = has_a ? widen(x[p.x_at(image, in_row, in_col) + group * p.in_depth() + channel]) : (Sum)0;
        b[thread_row][thread_col] = has_b ? widen(w[(first + thread_row) * p.out_channels + out_channel]) : (Sum)0;
        __syncthreads();
        for (int kk = 0; kk < TILE; kk++) sum += a[thread_row][kk] * b[kk][thread_col]; /* mark: multiply-add kernel of tiled */
        __syncthreads();
    }
    if (!has_place || !has_col) return;
    const Index cell = place * p.out_channels + out_channel;
    y[cell] = finish_or_redo<Forward>(p, x, w, cell, sum, bias, relu);
}
