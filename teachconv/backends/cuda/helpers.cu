/* helpers: small kernels around the products: they check that the data suit them, and add partial sums.

   look sets three marks for each image of a tensor (a filter counts as one image). Several threads may write the same 1 to
   the same place, so their order does not matter:

       marks[0]  there is a number that is not finite, or whose magnitude is above `largest`
       marks[1]  there is a number other than zero
       marks[2]  there is a number whose magnitude is at least `smallest`

   decide turns the marks of the data and of the filter into redo[image], which direct.cu reads. An image is recomputed if
   mark 0 is set, or if it has numbers other than zero and all of them are tiny.

   add_splits adds, in order, the partial sums of the blocks that share the places of a filter gradient. */

#include "common.cuh"
#include "marks.cuh"

extern "C" __global__ void look(const Number *data, Long numbers, int images, Sum largest, Sum smallest, int *marks) {
    const Long all = numbers * images;
    for (Long cell = first_cell(); cell < all; cell += cell_step())
        mark(widen(data[cell]), largest, smallest, marks + cell / numbers * 3);
}

/* data_marks and filter_marks may be null; data_images is 1 if all images share one set of marks. */
extern "C" __global__ void decide(const int *data_marks, int data_images, const int *filter_marks, int images, int *redo) {
    for (Long image = first_cell(); image < images; image += cell_step()) {
        const int *of_image = data_marks ? data_marks + (data_images > 1 ? image : 0) * 3 : data_marks;
        redo[image] = (of_image && is_unfit(of_image)) || (filter_marks && is_unfit(filter_marks));
    }
}

extern "C" __global__ void add_splits(const Sum *partial, int splits, Long cells, Number *result) {
    for (Long cell = first_cell(); cell < cells; cell += cell_step()) {
        Sum sum = 0;
        for (int split = 0; split < splits; split++) sum += partial[split * cells + cell];
        result[cell] = narrow(sum);
    }
}
