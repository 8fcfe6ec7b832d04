# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled loops of the cython backend. They loop; checks, allocation and choices are Python's.

Arrays are C-contiguous: x [batch, in_rows, in_cols, in_channels], w [filter_rows, filter_cols,
in_channels / groups, out_channels], y and dy [batch, out_rows, out_cols, out_channels]. ``law`` is
(stride_rows, stride_cols, dilation_rows, dilation_cols, pad_top, pad_left, groups): every integer of
the index law that the arrays' shapes do not say. Integers come as unsigned, whose sums wrap around by
definition.
"""

from cython.parallel cimport prange, threadid
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

ctypedef fused number:
    float
    double
    unsigned int
    unsigned long long

ctypedef fused real:
    float
    double


cdef struct Law:
    Py_ssize_t stride_rows, stride_cols, dilation_rows, dilation_cols, pad_top, pad_left, groups


cdef inline Py_ssize_t in_index(
    Py_ssize_t out_index, Py_ssize_t tap, Py_ssize_t stride, Py_ssize_t dilation, Py_ssize_t pad_before
) noexcept nogil:
    """The one index law."""
    return out_index * stride - pad_before + tap * dilation


cdef inline Py_ssize_t out_index(
    Py_ssize_t in_index, Py_ssize_t tap, Py_ssize_t stride, Py_ssize_t dilation, Py_ssize_t pad_before
) noexcept nogil:
    """The index law read backwards; -1 where the tap would come from between two outputs."""
    cdef Py_ssize_t distance = in_index + pad_before - tap * dilation
    if distance < 0 or distance % stride:
        return -1
    return distance // stride


# ----------------------------------------------------------------------------------------------------
# direct: the loops of the definition, the innermost over output channels, which lie side by side
# ----------------------------------------------------------------------------------------------------


def direct_conv2d(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] w, number[:, :, :, ::1] y, Law law, int threads
):
    """Gather: y[n, r, c, o] += x[n, in_row, in_col, i] * w[tap_row, tap_col, i, o]."""
    cdef Py_ssize_t place, places = y.shape[0] * y.shape[1]
    with nogil:
        for place in prange(places, num_threads=threads, schedule="static"):
            direct_conv2d_row(x, w, y, law, place // y.shape[1], place % y.shape[1])


cdef void direct_conv2d_row(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] w, number[:, :, :, ::1] y,
    Law law, Py_ssize_t n, Py_ssize_t out_row,
) noexcept nogil:
    cdef Py_ssize_t ins = w.shape[2], outs = w.shape[3] // law.groups
    cdef Py_ssize_t out_col, tap_row, tap_col, in_row, in_col, group, i, o
    cdef number value
    cdef number *sums
    cdef const number *weights
    for out_col in range(y.shape[2]):
        memset(&y[n, out_row, out_col, 0], 0, y.shape[3] * sizeof(number))
        for tap_row in range(w.shape[0]):
            in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if in_row < 0 or in_row >= x.shape[1]:
                continue  # padding: a tap that is not there
            for tap_col in range(w.shape[1]):
                in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                if in_col < 0 or in_col >= x.shape[2]:
                    continue
                for group in range(law.groups):
                    sums = &y[n, out_row, out_col, group * outs]
                    for i in range(ins):
                        value = x[n, in_row, in_col, group * ins + i]
                        weights = &w[tap_row, tap_col, i, group * outs]
                        for o in range(outs):
                            sums[o] += value * weights[o]


def direct_conv2d_backprop_input(
    const number[:, :, :, ::1] dy, const number[:, :, :, ::1] w, number[:, :, :, ::1] dx, Law law, int threads
):
    """The scatter, read backwards so that threads never meet: dx[n, in_row, in_col, i] += dy * w."""
    cdef Py_ssize_t place, places = dx.shape[0] * dx.shape[1]
    with nogil:
        for place in prange(places, num_threads=threads, schedule="static"):
            direct_conv2d_backprop_input_row(dy, w, dx, law, place // dx.shape[1], place % dx.shape[1])


cdef void direct_conv2d_backprop_input_row(
    const number[:, :, :, ::1] dy, const number[:, :, :, ::1] w, number[:, :, :, ::1] dx,
    Law law, Py_ssize_t n, Py_ssize_t in_row,
) noexcept nogil:
    cdef Py_ssize_t ins = w.shape[2], outs = w.shape[3] // law.groups
    cdef Py_ssize_t in_col, tap_row, tap_col, out_row, out_col, group, i, o
    cdef number total
    cdef const number *upstream
    cdef const number *weights
    for in_col in range(dx.shape[2]):
        memset(&dx[n, in_row, in_col, 0], 0, dx.shape[3] * sizeof(number))
        for tap_row in range(w.shape[0]):
            out_row = out_index(in_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if out_row < 0 or out_row >= dy.shape[1]:
                continue
            for tap_col in range(w.shape[1]):
                out_col = out_index(in_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                if out_col < 0 or out_col >= dy.shape[2]:
                    continue
                for group in range(law.groups):
                    upstream = &dy[n, out_row, out_col, group * outs]
                    for i in range(ins):
                        weights = &w[tap_row, tap_col, i, group * outs]
                        total = 0
                        for o in range(outs):
                            total = total + upstream[o] * weights[o]
                        dx[n, in_row, in_col, group * ins + i] += total


def direct_conv2d_backprop_filter(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] dy, number[:, :, :, ::1] dw, Law law, int threads
):
    """Sum over the same taps: dw[tap_row, tap_col, i, o] += x[n, in_row, in_col, i] * dy[n, r, c, o].

    Threads share out the taps, never the places: each cell of dw is summed in one order.
    """
    cdef Py_ssize_t tap, taps = dw.shape[0] * dw.shape[1]
    with nogil:
        for tap in prange(taps, num_threads=threads, schedule="static"):
            direct_conv2d_backprop_filter_tap(x, dy, dw, law, tap // dw.shape[1], tap % dw.shape[1])


cdef void direct_conv2d_backprop_filter_tap(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] dy, number[:, :, :, ::1] dw,
    Law law, Py_ssize_t tap_row, Py_ssize_t tap_col,
) noexcept nogil:
    cdef Py_ssize_t ins = dw.shape[2], outs = dw.shape[3] // law.groups
    cdef Py_ssize_t n, out_row, out_col, in_row, in_col, group, i, o
    cdef number value
    cdef number *sums
    cdef const number *upstream
    memset(&dw[tap_row, tap_col, 0, 0], 0, dw.shape[2] * dw.shape[3] * sizeof(number))
    for n in range(dy.shape[0]):
        for out_row in range(dy.shape[1]):
            in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if in_row < 0 or in_row >= x.shape[1]:
                continue
            for out_col in range(dy.shape[2]):
                in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                if in_col < 0 or in_col >= x.shape[2]:
                    continue
                for group in range(law.groups):
                    upstream = &dy[n, out_row, out_col, group * outs]
                    for i in range(ins):
                        value = x[n, in_row, in_col, group * ins + i]
                        sums = &dw[tap_row, tap_col, i, group * outs]
                        for o in range(outs):
                            sums[o] += value * upstream[o]


# ----------------------------------------------------------------------------------------------------
# im2col: a block of output rows at a time as a matrix of patches, multiplied by BLAS
#
# Blocks follow from the shape of one image alone, and each is summed by one thread: neither the number
# of threads nor the size of the batch changes a bit of the result.
# ----------------------------------------------------------------------------------------------------


cdef inline void gemm(
    bint transpose_a, bint transpose_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    const real *a, Py_ssize_t lda, const real *b, Py_ssize_t ldb, real beta, real *c, Py_ssize_t ldc,
) noexcept nogil:
    """C [m, n] = op(A) op(B) + beta C, all in C order. BLAS is in Fortran's, so it computes C.T = B.T A.T."""
    cdef int rows = <int> m, cols = <int> n, depth = <int> k
    cdef int ld_a = <int> lda, ld_b = <int> ldb, ld_c = <int> ldc
    cdef real one = 1
    cdef char op_a = b"T" if transpose_a else b"N"
    cdef char op_b = b"T" if transpose_b else b"N"
    if real is float:
        sgemm(&op_b, &op_a, &cols, &rows, &depth, &one, <float *> b, &ld_b, <float *> a, &ld_a, &beta, c, &ld_c)
    else:
        dgemm(&op_b, &op_a, &cols, &rows, &depth, &one, <double *> b, &ld_b, <double *> a, &ld_a, &beta, c, &ld_c)


cdef void extract_patches(
    const real[:, :, :, ::1] x, real *patches, Py_ssize_t n, Py_ssize_t first_row, Py_ssize_t stop_row,
    Py_ssize_t out_cols, Py_ssize_t filter_rows, Py_ssize_t filter_cols, Py_ssize_t group, Py_ssize_t ins,
    Law law,
) noexcept nogil:
    """Write [out_rows of the block * out_cols, filter_rows * filter_cols * ins], zeros for padding."""
    cdef Py_ssize_t out_row, out_col, tap_row, tap_col, in_row, in_col
    for out_row in range(first_row, stop_row):
        for out_col in range(out_cols):
            for tap_row in range(filter_rows):
                in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
                for tap_col in range(filter_cols):
                    in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                    if 0 <= in_row < x.shape[1] and 0 <= in_col < x.shape[2]:
                        memcpy(patches, &x[n, in_row, in_col, group * ins], ins * sizeof(real))
                    else:
                        memset(patches, 0, ins * sizeof(real))
                    patches += ins


cdef void add_patches(
    real *patches, real[:, :, :, ::1] dx, Py_ssize_t n, Py_ssize_t first_row, Py_ssize_t stop_row,
    Py_ssize_t out_cols, Py_ssize_t filter_rows, Py_ssize_t filter_cols, Py_ssize_t group, Py_ssize_t ins,
    Law law,
) noexcept nogil:
    """The transpose of `extract_patches`: add each patch back to where it was taken from."""
    cdef Py_ssize_t out_row, out_col, tap_row, tap_col, in_row, in_col, i
    cdef real *target
    for out_row in range(first_row, stop_row):
        for out_col in range(out_cols):
            for tap_row in range(filter_rows):
                in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
                for tap_col in range(filter_cols):
                    in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                    if 0 <= in_row < dx.shape[1] and 0 <= in_col < dx.shape[2]:
                        target = &dx[n, in_row, in_col, group * ins]
                        for i in range(ins):
                            target[i] += patches[i]
                    patches += ins


def im2col_conv2d(
    const real[:, :, :, ::1] x, const real[:, :, :, ::1] w, real[:, :, :, ::1] y,
    Law law, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """y = patches(x) times the flattened filter. ``scratch`` holds the patches of a block, row by thread."""
    cdef Py_ssize_t ins = w.shape[2], outs = w.shape[3] // law.groups
    cdef Py_ssize_t depth = w.shape[0] * w.shape[1] * ins
    cdef Py_ssize_t blocks = (y.shape[1] + block_rows - 1) // block_rows
    cdef Py_ssize_t job, n, first, stop, group
    cdef int threads = <int> scratch.shape[0]
    cdef real *patches
    with nogil:
        for job in prange(y.shape[0] * blocks, num_threads=threads, schedule="static"):
            patches = &scratch[threadid(), 0]
            n = job // blocks
            first = (job % blocks) * block_rows
            stop = min(first + block_rows, y.shape[1])
            for group in range(law.groups):
                extract_patches(
                    x, patches, n, first, stop, y.shape[2], w.shape[0], w.shape[1], group, ins, law
                )
                gemm[real](
                    False, False, (stop - first) * y.shape[2], outs, depth, patches, depth,
                    &w[0, 0, 0, group * outs], w.shape[3], 0, &y[n, first, 0, group * outs], y.shape[3],
                )


def im2col_conv2d_backprop_input(
    const real[:, :, :, ::1] dy, const real[:, :, :, ::1] w, real[:, :, :, ::1] dx,
    Law law, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """dx = add_patches(dy times the transposed filter). One thread an image: patches of blocks overlap."""
    cdef Py_ssize_t ins = w.shape[2], outs = w.shape[3] // law.groups
    cdef Py_ssize_t depth = w.shape[0] * w.shape[1] * ins
    cdef Py_ssize_t blocks = (dy.shape[1] + block_rows - 1) // block_rows
    cdef Py_ssize_t block, n, first, stop, group
    cdef int threads = <int> scratch.shape[0]
    cdef real *patches
    with nogil:
        for n in prange(dx.shape[0], num_threads=threads, schedule="static"):
            patches = &scratch[threadid(), 0]
            memset(&dx[n, 0, 0, 0], 0, dx.shape[1] * dx.shape[2] * dx.shape[3] * sizeof(real))
            for block in range(blocks):
                first = block * block_rows
                stop = min(first + block_rows, dy.shape[1])
                for group in range(law.groups):
                    gemm[real](
                        False, True, (stop - first) * dy.shape[2], depth, outs,
                        &dy[n, first, 0, group * outs], dy.shape[3],
                        &w[0, 0, 0, group * outs], w.shape[3], 0, patches, depth,
                    )
                    add_patches(
                        patches, dx, n, first, stop, dy.shape[2], w.shape[0], w.shape[1], group, ins, law
                    )


def im2col_conv2d_backprop_filter(
    const real[:, :, :, ::1] x, const real[:, :, :, ::1] dy, real[:, :, :, ::1] dw,
    Law law, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """dw = transposed patches of x times dy. Threads share out the groups: one order of sums for each cell."""
    cdef Py_ssize_t ins = dw.shape[2], outs = dw.shape[3] // law.groups
    cdef Py_ssize_t depth = dw.shape[0] * dw.shape[1] * ins
    cdef Py_ssize_t blocks = (dy.shape[1] + block_rows - 1) // block_rows
    cdef Py_ssize_t job, n, first, stop, group
    cdef int threads = <int> scratch.shape[0]
    cdef real *patches
    with nogil:
        for group in prange(law.groups, num_threads=threads, schedule="static"):
            patches = &scratch[threadid(), 0]
            for job in range(dy.shape[0] * blocks):
                n = job // blocks
                first = (job % blocks) * block_rows
                stop = min(first + block_rows, dy.shape[1])
                extract_patches(
                    x, patches, n, first, stop, dy.shape[2], dw.shape[0], dw.shape[1], group, ins, law
                )
                gemm[real](
                    True, False, depth, outs, (stop - first) * dy.shape[2], patches, depth,
                    &dy[n, first, 0, group * outs], dy.shape[3],
                    0 if job == 0 else 1, &dw[0, 0, 0, group * outs], dw.shape[3],
                )
