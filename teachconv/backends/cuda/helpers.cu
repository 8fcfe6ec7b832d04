/* helpers: small kernels that stand around the products: is the data fit for them, and adding up partial sums.

   look marks what a tensor holds; three marks for each image (a filter counts as one image). Threads that find the same
   thing write the same 1 to the same place, so that no order matters:

       marks[0]  a number that is not finite, or above `largest`
       marks[1]  a number that is not zero
       marks[2]  a number of at least `smallest`

   decide turns the marks of the data and of the filter into redo[image], which direct.cu reads: an image is done again
   where mark 0 is set, or where there are numbers and all of them are tiny.

   add_splits: the filter gradient's places are shared out among blocks; their sums are added here, in order. */

#include "common.cuh"
#include "marks.cuh"

extern "C" __global__ void look(const Number *data, Long numbers, int images, Sum largest, Sum smallest, int *marks) {
    const Long all = numbers * images;
    for (Long cell = first_cell(); cell < all; cell += cell_step())
        mark(widen(data[cell]), largest, smallest, marks + cell / numbers * 3);
}

/* data_marks or filter_marks may be absent; data_images is 1 where all images share one set of marks. */
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
