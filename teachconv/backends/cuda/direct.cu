/* direct: the definition, one thread per cell of the result.

     thread = one cell of y                       a block: 256 neighbours in memory
                                                  (channels side by side: reads and writes coalesce)
     for each tap_row, tap_col                    in_index = out_index * stride - pad_before + tap * dilation
       if the input is in the padding: skip       (padding contributes nothing; it is skipped, not multiplied by zero)
       for each in_channel of the group
         sum += x[in_row, in_col, in_channel] * w[tap_row, tap_col, in_channel, out_channel]

   The input gradient inverts the index law, with one thread per cell of x, which finds the outputs that read this input.
   So no two threads add to the same cell. The filter gradient has one thread per cell of w, which sums over all places.

   Each x is read filter_rows * filter_cols * out_channels times, at best from caches. Faster kernels read it less often. */

#include "common.cuh"
#include "definition.cuh"

extern "C" __global__ void direct(Problem p, const Number *first, const Number *second, const Number *bias, int relu,
                                  Number *result) {
    for (Index cell = first_cell(); cell < KIND::cells(p); cell += cell_step())
        /* mark: kernel of direct */
        result[cell] = finish(KIND::value(p, first, second, cell), bias, KIND::channel(p, cell), relu);
}
