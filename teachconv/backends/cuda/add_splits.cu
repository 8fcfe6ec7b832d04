/* add_splits: adds, in order, the partial sums of the blocks that share the depth of a product, and finishes each cell.

     partial   [splits, cells]      one sum of each cell from each split, written by tiles.cuh, wgmma_gemm.cu or depthwise.cu
     result    [cells]              their sum, bias, activation, one rounding */

#include "common.cuh"
#include "definition.cuh"

#define AT_ONCE 16 /* loads that a thread waits for together */

extern "C" __global__ void add_splits(Problem p, const Number *first, const Number *second, const Number *bias, int relu,
                                      int splits, const Sum *partial, Number *result) {
    const Index cells = KIND::cells(p);
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        Sum sum = 0;
        for (int split = 0; split < splits; split += AT_ONCE) {
            Sum loaded[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) loaded[i] = split + i < splits ? partial[(Long)(split + i) * cells + cell] : 0;
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) sum += loaded[i];
        }
        result[cell] = finish_or_redo<KIND>(p, first, second, cell, sum, bias, relu);
    }
}
