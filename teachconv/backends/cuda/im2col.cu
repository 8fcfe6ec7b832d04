/* im2col: patches as a matrix, so that the convolution becomes one large matrix product, which cuBLAS computes.

                      taps x in_depth                                out_depth
            place 0 [ patch of output 0   ]                        [           ]
            place 1 [ patch of output 1   ]     times     taps x   [  filter   ]     =   y, place by place
              ...   [ ...                 ]               in_depth [           ]

     to_patches   one thread per element of the left matrix, one block of places at a time, to bound the memory
     cuBLAS       one product for each group
     from_groups  bias, activation, rounding, back to [place, channel]

   With filters 1 x 1 at stride 1, without padding and in one group, x is the left matrix: nothing is written or copied.

   Input gradient: dy times the transposed filter gives the patches of dx, which overlap. They are added back (col2im) as a
   gather: one thread per cell of dx collects the taps that read it. No two threads add to the same cell.
   Filter gradient: the transposed patches times dy, summed block by block.

   Faster than direct, because every number of x is loaded from memory once per tap and multiplied out_depth times from
   registers. The cost is the memory traffic of the patches, which are filter_rows * filter_cols times as large as x. */

#include "common.cuh"
#include "definition.cuh"

#if defined(TO_PATCHES)
/* patches is [groups, places, taps * in_depth], for the places first_place .. first_place + places - 1. */
extern "C" __global__ void to_patches(Problem p, const Number *x, Index first_place, Index places, Sum *patches) {
    const Index depth = (Index)p.taps() * p.in_depth(), cells = p.groups * places * depth;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int channel = (int)(cell % p.in_depth());
        const int tap = (int)(cell % depth / p.in_depth());
        const Index place = first_place + cell / depth % places;
        const int group = (int)(cell / depth / places);
        const int out_col = (int)(place % p.out_cols), out_row = (int)(place / p.out_cols % p.out_rows);
        const int image = (int)(place / p.out_cols / p.out_rows);
        const int in_row = p.in_row(out_row, tap / p.filter_cols), in_col = p.in_col(out_col, tap % p.filter_cols);
        Sum value = 0;
        if (p.has_input(in_row, in_col)) value = widen(x[p.x_at(image, in_row, in_col) + group * p.in_depth() + channel]);
        patches[cell] = value; /* mark: kernel of im2col/y im2col/dw */
    }
}
#endif

#if defined(TO_GROUPS)
/* From [rows, groups * depth], beginning at first_row, to [groups, rows, depth], widened. */
extern "C" __global__ void to_groups(const Number *source, Index first_row, Index rows, int groups, int depth, Sum *matrices) {
    const Index cells = rows * groups * depth;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const Index row = cell / depth % rows, group = cell / depth / rows;
        matrices[cell] = widen(source[((first_row + row) * groups + group) * depth + cell % depth]);
    }
}
#endif

#if defined(FROM_GROUPS)
/* The inverse of to_groups, with the last step of every cell of y or dw. */
extern "C" __global__ void from_groups(Problem p, const Number *first, const Number *second, const Sum *matrices, Index first_row,
                                       Index rows, const Number *bias, int relu, Number *result) {
    const int depth = p.out_depth(); /* columns of one group */
    const Index cells = rows * p.out_channels;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int channel = (int)(cell % p.out_channels);
        const Index row = cell / p.out_channels;
        const Sum sum = matrices[(channel / depth * rows + row) * depth + channel % depth];
        const Index to = (first_row + row) * p.out_channels + channel;
        result[to] = finish_or_redo<KIND>(p, first, second, to, sum, bias, relu);
    }
}
#endif

#if defined(COL2IM)
/* columns is [groups, images, out_rows_here, out_cols, taps * in_depth], for the output rows from first_out_row on. These
   include every output that reads the input rows first_in_row .. first_in_row + in_rows_here - 1 of these images. */
extern "C" __global__ void col2im(Problem p, const Sum *columns, int first_image, int images, int first_in_row,
                                  int in_rows_here, int first_out_row, int out_rows_here, const Number *bias, int relu,
                                  Number *dx) {
    const Index cells = (Index)images * in_rows_here * p.in_cols * p.in_channels;
    for (Index cell = first_cell(); cell < cells; cell += cell_step()) {
        const int in_channel = (int)(cell % p.in_channels), group = in_channel / p.in_depth();
        const Index place = cell / p.in_channels;
        const int in_col = (int)(place % p.in_cols), in_row = first_in_row + (int)(place / p.in_cols % in_rows_here);
        const int image = (int)(place / p.in_cols / in_rows_here);
        Sum sum = 0;
        for (int tap_row = 0; tap_row < p.filter_rows; tap_row++) {
            const int out_row = p.out_row(in_row, tap_row);
            if (out_row < 0) continue;
            for (int tap_col = 0; tap_col < p.filter_cols; tap_col++) {
                const int out_col = p.out_col(in_col, tap_col);
                if (out_col < 0) continue;
                const Index row = (((Index)group * images + image) * out_rows_here + out_row - first_out_row) * p.out_cols + out_col;
                /* mark: kernel of im2col/dx */
                sum += columns[(row * p.taps() + tap_row * p.filter_cols + tap_col) * p.in_depth() + in_channel % p.in_depth()];
            }
        }
        dx[p.x_at(first_image + image, in_row, in_col) + in_channel] = finish(sum, bias, in_channel, relu);
    }
}
#endif
