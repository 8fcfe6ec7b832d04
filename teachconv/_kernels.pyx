# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled module: the loops of `direct` and `im2col`, and the functions that call kernels/engine.h.

The Python side checks arguments, allocates and chooses. Arrays are C-contiguous: x [batch, in_rows,
in_cols, in_channels], w [filter_rows, filter_cols, in_channels / groups, out_channels], y and dy [batch,
out_rows, out_cols, out_channels]. A `Problem` holds every integer of the convolution. Integer arrays
are passed as unsigned, because unsigned sums wrap around by definition.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cython.parallel cimport prange, threadid
from libc.stdint cimport uintptr_t
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

cdef extern from "kernels/engine.h" nogil:
    ctypedef struct conv_problem:
        Py_ssize_t batch, in_rows, in_cols, in_channels, out_rows, out_cols, out_channels, groups
        Py_ssize_t filter_rows, filter_cols, stride_rows, stride_cols, dilation_rows, dilation_cols
        Py_ssize_t pad_top, pad_left

    ctypedef struct conv_rung:
        Py_ssize_t (*packed_bytes)(const conv_problem *p) noexcept nogil
        int (*pack)(const conv_problem *p, const void *w, void *packed, int threads) noexcept nogil
        int (*run)(
            const conv_problem *p, const void *data, const void *w, const void *packed, const void *bias,
            int relu, void *result, int threads) noexcept nogil

    ctypedef int (*filter_gradient)(
        const conv_problem *p, const void *x, const void *dy, void *dw, int threads) noexcept nogil

    ctypedef struct kernel_table:
        Py_ssize_t lanes
        conv_rung *rungs
        filter_gradient pixel_gemm, depthwise
        int (*all_finite)(const void *x, Py_ssize_t count) noexcept nogil

    int ROW_GEMM, WINOGRAD2, WINOGRAD2_INPUT, WINOGRAD4, WINOGRAD4_INPUT, PHASES_INPUT, COL2IM_INPUT
    int DEPTHWISE, DEPTHWISE_INPUT
    int STRICT, DEFAULT, FAST
    const kernel_table *kernels_of(int real_is_double)
    int teachconv_set_isa(int level)
    int teachconv_isa()
    int teachconv_paths
    int problem_fits(const conv_problem *p)
    double problem_macs(const conv_problem *p)
    int threads_that_pay "useful_threads"(double macs, int threads)
    int choose_forward(const conv_problem *p, Py_ssize_t lanes, int precision)
    int choose_input_gradient(const conv_problem *p, Py_ssize_t lanes, int precision)
    int choose_filter_gradient(const conv_problem *p)


# the names of the numbers in kernels/choose.h
cdef tuple ALGORITHMS = (
    "", "row_gemm", "winograd2", "phases", "col2im", "pixel_gemm", "depthwise", "winograd4",
)


cdef class Problem:
    """The integers of one convolution, forward, as every kernel takes them: struct conv_problem."""

    cdef conv_problem p

    def __init__(
        self, Py_ssize_t batch, Py_ssize_t in_rows, Py_ssize_t in_cols, Py_ssize_t in_channels,
        Py_ssize_t out_rows, Py_ssize_t out_cols, Py_ssize_t out_channels, Py_ssize_t groups,
        Py_ssize_t filter_rows, Py_ssize_t filter_cols, Py_ssize_t stride_rows, Py_ssize_t stride_cols,
        Py_ssize_t dilation_rows, Py_ssize_t dilation_cols, Py_ssize_t pad_top, Py_ssize_t pad_left,
    ):
        self.p = conv_problem(
            batch, in_rows, in_cols, in_channels, out_rows, out_cols, out_channels, groups, filter_rows,
            filter_cols, stride_rows, stride_cols, dilation_rows, dilation_cols, pad_top, pad_left,
        )
        if not problem_fits(&self.p):
            raise MemoryError("the convolution is too large for the sizes of this processor")

    def threads(self, int most):
        """Return how many threads pay for this problem; 1 in a child of a process that had used threads."""
        return threads_that_pay(problem_macs(&self.p), most)

    def choose(self, str kind, Py_ssize_t itemsize, str precision):
        """Return the algorithm for one kind of call, by the rules of kernels/choose.h."""
        cdef Py_ssize_t lanes = kernels_of(itemsize == 8).lanes
        cdef int code, allowed = {"strict": STRICT, "fast": FAST}.get(precision, DEFAULT)
        if kind == "conv2d":
            code = choose_forward(&self.p, lanes, allowed)
        elif kind == "conv2d_backprop_input":
            code = choose_input_gradient(&self.p, lanes, allowed)
        else:
            code = choose_filter_gradient(&self.p)
        return ALGORITHMS[code]


ISA_NAMES = ("baseline", "avx2", "avx512")


def isa():
    """Return the instruction set in use: "baseline", "avx2" or "avx512"."""
    return ISA_NAMES[teachconv_isa()]


def isa_level():
    """Return the number of the instruction set in use: a level of kernels/isa.h."""
    return teachconv_isa()


def set_isa(str name):
    """Use another instruction set, if the processor has it, and return the one in use.

    Call it as cython_backend.set_isa, which also forgets the algorithms chosen for the old one.
    """
    teachconv_set_isa(-1 if name == "best" else ISA_NAMES.index(name))
    return isa()


# the names of the bits in kernels/paths.h
PATHS = (
    "whole_input", "padded_rows", "patches", "redo", "phases", "scatter", "planes", "merged", "taps",
    "strips", "adjacent", "wide", "rows", "moving", "one_channel", "tiles", "tall",
)


def take_paths():
    """Return the names of the paths through the kernels that any thread took since the last call."""
    global teachconv_paths
    cdef int paths = teachconv_paths
    teachconv_paths = 0
    return [name for bit, name in enumerate(PATHS) if paths >> bit & 1]


def all_finite(const real[:, :, :, ::1] array):
    """Return whether every number is finite."""
    cdef Py_ssize_t count = array.shape[0] * array.shape[1] * array.shape[2] * array.shape[3]
    cdef int result
    with nogil:
        result = kernels_of(real is double).all_finite(&array[0, 0, 0, 0], count)
    return bool(result)


cdef inline Py_ssize_t in_index(
    Py_ssize_t out_index, Py_ssize_t tap, Py_ssize_t stride, Py_ssize_t dilation, Py_ssize_t pad_before
) noexcept nogil:
    """The one index law."""
    # mark: stride dilation of direct/y direct/dw im2col
    return out_index * stride - pad_before + tap * dilation


cdef inline Py_ssize_t out_index(
    Py_ssize_t in_index, Py_ssize_t tap, Py_ssize_t stride, Py_ssize_t dilation, Py_ssize_t pad_before
) noexcept nogil:
    """The index law solved for the output; -1 if the tap falls between two outputs."""
    cdef Py_ssize_t distance = in_index + pad_before - tap * dilation  # mark: dilation of direct/dx
    if distance < 0 or distance % stride:  # mark: stride of direct/dx
        return -1
    return distance // stride


# ----------------------------------------------------------------------------------------------------
# direct: the loops of the definition, the innermost over output channels, which lie side by side
#
# A call computes a part of the places, which are rows of the images, of each a part of the columns; for the
# filter gradient taps, of whose sums it adds the terms of a part of the rows. In between Python answers Ctrl-C.
# ----------------------------------------------------------------------------------------------------


def direct_conv2d(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] w, number[:, :, :, ::1] y,
    Problem problem, int threads, (Py_ssize_t, Py_ssize_t) places, (Py_ssize_t, Py_ssize_t) part
):
    """Gather: y[n, r, c, o] += x[n, in_row, in_col, i] * w[tap_row, tap_col, i, o]."""
    cdef conv_problem law = problem.p
    cdef Py_ssize_t place
    with nogil:
        for place in prange(places[0], places[1], num_threads=threads, schedule="static"):
            # mark: kernel of direct/y
            direct_conv2d_row(x, w, y, law, place // y.shape[1], place % y.shape[1], part)


cdef void direct_conv2d_row(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] w, number[:, :, :, ::1] y,
    conv_problem law, Py_ssize_t n, Py_ssize_t out_row, (Py_ssize_t, Py_ssize_t) cols,
) noexcept nogil:
    cdef Py_ssize_t ins = w.shape[2], outs = w.shape[3] // law.groups
    cdef Py_ssize_t out_col, tap_row, tap_col, in_row, in_col, group, i, o
    cdef number value
    cdef number *sums
    cdef const number *weights
    for out_col in range(cols[0], cols[1]):
        memset(&y[n, out_row, out_col, 0], 0, y.shape[3] * sizeof(number))
        for tap_row in range(w.shape[0]):
            in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if in_row < 0 or in_row >= x.shape[1]:  # mark: padding of direct/y
                continue  # padding contributes nothing
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
                            sums[o] += value * weights[o]  # mark: multiply-add of direct/y


def direct_conv2d_backprop_input(
    const number[:, :, :, ::1] dy, const number[:, :, :, ::1] w, number[:, :, :, ::1] dx,
    Problem problem, int threads, (Py_ssize_t, Py_ssize_t) places, (Py_ssize_t, Py_ssize_t) part
):
    """Scatter, cell by cell of dx, so that threads never collide: dx[n, in_row, in_col, i] += dy * w."""
    cdef conv_problem law = problem.p
    cdef Py_ssize_t place
    with nogil:
        for place in prange(places[0], places[1], num_threads=threads, schedule="static"):
            # mark: kernel of direct/dx
            direct_conv2d_backprop_input_row(dy, w, dx, law, place // dx.shape[1], place % dx.shape[1], part)


cdef void direct_conv2d_backprop_input_row(
    const number[:, :, :, ::1] dy, const number[:, :, :, ::1] w, number[:, :, :, ::1] dx,
    conv_problem law, Py_ssize_t n, Py_ssize_t in_row, (Py_ssize_t, Py_ssize_t) cols,
) noexcept nogil:
    cdef Py_ssize_t ins = w.shape[2], outs = w.shape[3] // law.groups
    cdef Py_ssize_t in_col, tap_row, tap_col, out_row, out_col, group, i, o
    cdef number total
    cdef const number *upstream
    cdef const number *weights
    for in_col in range(cols[0], cols[1]):
        memset(&dx[n, in_row, in_col, 0], 0, dx.shape[3] * sizeof(number))
        for tap_row in range(w.shape[0]):
            out_row = out_index(in_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if out_row < 0 or out_row >= dy.shape[1]:  # mark: padding of direct/dx
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
                            total = total + upstream[o] * weights[o]  # mark: multiply-add of direct/dx
                        dx[n, in_row, in_col, group * ins + i] += total


def direct_conv2d_backprop_filter(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] dy, number[:, :, :, ::1] dw,
    Problem problem, int threads, (Py_ssize_t, Py_ssize_t) places, (Py_ssize_t, Py_ssize_t) part
):
    """Sum over the same taps: dw[tap_row, tap_col, i, o] += x[n, in_row, in_col, i] * dy[n, r, c, o].

    Threads share the taps, never the outputs, so each cell of dw is summed in one order.
    """
    cdef conv_problem law = problem.p
    cdef Py_ssize_t tap
    with nogil:
        for tap in prange(places[0], places[1], num_threads=threads, schedule="static"):
            # mark: kernel of direct/dw
            direct_conv2d_backprop_filter_tap(x, dy, dw, law, tap // dw.shape[1], tap % dw.shape[1], part)


cdef void direct_conv2d_backprop_filter_tap(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] dy, number[:, :, :, ::1] dw,
    conv_problem law, Py_ssize_t tap_row, Py_ssize_t tap_col, (Py_ssize_t, Py_ssize_t) rows,
) noexcept nogil:
    cdef Py_ssize_t ins = dw.shape[2], outs = dw.shape[3] // law.groups
    cdef Py_ssize_t place, n, out_row, out_col, in_row, in_col, group, i, o
    cdef number value
    cdef number *sums
    cdef const number *upstream
    if rows[0] == 0:
        memset(&dw[tap_row, tap_col, 0, 0], 0, dw.shape[2] * dw.shape[3] * sizeof(number))
    for place in range(rows[0], rows[1]):
        n, out_row = place // dy.shape[1], place % dy.shape[1]
        in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
        if in_row < 0 or in_row >= x.shape[1]:  # mark: padding of direct/dw
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
                        sums[o] += value * upstream[o]  # mark: multiply-add of direct/dw


# ----------------------------------------------------------------------------------------------------
# im2col: a block of output rows at a time as a matrix of patches, multiplied by BLAS
#
# Blocks depend on the shape of one image alone, and one thread sums each block. So neither the number of
# threads nor the batch size changes the bits of the result.
# ----------------------------------------------------------------------------------------------------


cdef inline void gemm(
    bint transpose_a, bint transpose_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    const real *a, Py_ssize_t lda, const real *b, Py_ssize_t ldb, real beta, real *c, Py_ssize_t ldc,
) noexcept nogil:
    """C [m, n] = op(A) op(B) + beta C, all in C order. BLAS uses Fortran order: C.T = B.T A.T."""
    cdef int rows = <int> m, cols = <int> n, depth = <int> k
    cdef int ld_a = <int> lda, ld_b = <int> ldb, ld_c = <int> ldc
    cdef real one = 1
    cdef char op_a = b"T" if transpose_a else b"N"
    cdef char op_b = b"T" if transpose_b else b"N"
    if real is float:
        sgemm(
            &op_b, &op_a, &cols, &rows, &depth, &one, <float *> b, &ld_b, <float *> a, &ld_a, &beta,
            c, &ld_c
        )
    else:
        dgemm(
            &op_b, &op_a, &cols, &rows, &depth, &one, <double *> b, &ld_b, <double *> a, &ld_a, &beta,
            c, &ld_c
        )


cdef void extract_patches(
    const real[:, :, :, ::1] x, real *patches, Py_ssize_t n, Py_ssize_t first_row, Py_ssize_t stop_row,
    Py_ssize_t out_cols, Py_ssize_t filter_rows, Py_ssize_t filter_cols, Py_ssize_t group, Py_ssize_t ins,
    conv_problem law,
) noexcept nogil:
    """Write patches [out_rows of the block * out_cols, filter_rows * filter_cols * ins], padding as zeros."""
    cdef Py_ssize_t out_row, out_col, tap_row, tap_col, in_row, in_col
    for out_row in range(first_row, stop_row):
        for out_col in range(out_cols):
            for tap_row in range(filter_rows):
                in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
                for tap_col in range(filter_cols):
                    in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                    if 0 <= in_row < x.shape[1] and 0 <= in_col < x.shape[2]:  # mark: padding of im2col
                        memcpy(patches, &x[n, in_row, in_col, group * ins], ins * sizeof(real))
                    else:
                        memset(patches, 0, ins * sizeof(real))
                    patches += ins


def im2col_conv2d(
    const real[:, :, :, ::1] x, const real[:, :, :, ::1] w, real[:, :, :, ::1] y,
    Problem problem, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """y = patches(x) times the flattened filter. ``scratch`` has a row for the patches of each thread."""
    cdef conv_problem law = problem.p
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
                extract_patches(  # mark: kernel of im2col/y
                    x, patches, n, first, stop, y.shape[2], w.shape[0], w.shape[1], group, ins, law
                )
                gemm[real](  # mark: multiply-add of im2col/y by BLAS
                    False, False, (stop - first) * y.shape[2], outs, depth, patches, depth,
                    &w[0, 0, 0, group * outs], w.shape[3], 0, &y[n, first, 0, group * outs], y.shape[3],
                )


def im2col_conv2d_backprop_filter(
    const real[:, :, :, ::1] x, const real[:, :, :, ::1] dy, real[:, :, :, ::1] dw,
    Problem problem, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """dw = transposed patches of x times dy. Threads share the groups: each cell is summed in one order."""
    cdef conv_problem law = problem.p
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
                extract_patches(  # mark: kernel of im2col/dw
                    x, patches, n, first, stop, dy.shape[2], dw.shape[0], dw.shape[1], group, ins, law
                )
                gemm[real](  # mark: multiply-add of im2col/dw by BLAS
                    True, False, depth, outs, (stop - first) * dy.shape[2], patches, depth,
                    &dy[n, first, 0, group * outs], dy.shape[3],
                    0 if job == 0 else 1, &dw[0, 0, 0, group * outs], dw.shape[3],
                )


# ----------------------------------------------------------------------------------------------------
# The kernels: one entry for the forward op and the input gradient, one for the filter gradient
# ----------------------------------------------------------------------------------------------------

cdef dict RUNG_NUMBERS = {
    "row_gemm_conv2d": ROW_GEMM,
    "winograd2_conv2d": WINOGRAD2,
    "winograd2_conv2d_backprop_input": WINOGRAD2_INPUT,
    "winograd4_conv2d": WINOGRAD4,
    "winograd4_conv2d_backprop_input": WINOGRAD4_INPUT,
    "phases_conv2d_backprop_input": PHASES_INPUT,
    "col2im_conv2d_backprop_input": COL2IM_INPUT,
    "depthwise_conv2d": DEPTHWISE,
    "depthwise_conv2d_backprop_input": DEPTHWISE_INPUT,
}


def packed_numbers(str name, Problem problem, Py_ssize_t itemsize):
    """Return how many numbers a rung's packed filter has; 0 if the rung packs nothing."""
    cdef int number = RUNG_NUMBERS[name]
    cdef const conv_rung *rung = &kernels_of(itemsize == 8).rungs[number]
    if rung.packed_bytes == NULL:
        return 0
    cdef Py_ssize_t nbytes = rung.packed_bytes(&problem.p)
    if nbytes < 0:
        raise MemoryError("the packed filter is too large for the sizes of this processor")
    return nbytes // itemsize


def pack(str name, Problem problem, const real[:, :, :, ::1] w, real[::1] packed, int threads):
    """Fill ``packed`` with the filter as the rung reads it; return 0, or a status of kernels/problem.h."""
    cdef int number = RUNG_NUMBERS[name], status
    with nogil:
        status = kernels_of(real is double).rungs[number].pack(
            &problem.p, &w[0, 0, 0, 0], &packed[0], threads)
    return status


def run(
    str name, Problem problem, const real[:, :, :, ::1] data, const real[:, :, :, ::1] w,
    const real[::1] packed, int packed_isa, const real[::1] bias, bint relu, real[:, :, :, ::1] result,
    int threads,
):
    """Run a rung that gathers or scatters. ``packed`` and ``bias`` may be None.

    A filter that was packed for another instruction set, whose vectors have another width, is ignored:
    the rung then packs ``w`` itself.

    Return a status of kernels/problem.h: 0 for success, 1 for no memory, 3 for a problem that the rung does
    not solve, 4 for a filter out of the rung's range.
    """
    cdef int number = RUNG_NUMBERS[name], status
    cdef bint usable = packed is not None and packed_isa == teachconv_isa()
    cdef const real *packed_numbers = &packed[0] if usable else NULL
    cdef const real *bias_numbers = NULL if bias is None else &bias[0]
    with nogil:
        status = kernels_of(real is double).rungs[number].run(
            &problem.p, &data[0, 0, 0, 0], &w[0, 0, 0, 0], packed_numbers, bias_numbers, relu,
            &result[0, 0, 0, 0], threads)
    return status


def run_filter_gradient(
    str name, Problem problem, const real[:, :, :, ::1] x, const real[:, :, :, ::1] dy,
    real[:, :, :, ::1] dw, int threads,
):
    """Run "pixel_gemm" or "depthwise" for the filter gradient; return a status as `run` does."""
    cdef const kernel_table *kernels = kernels_of(real is double)
    cdef filter_gradient gradient = kernels.depthwise if name == "depthwise" else kernels.pixel_gemm
    cdef int status
    with nogil:
        status = gradient(&problem.p, &x[0, 0, 0, 0], &dy[0, 0, 0, 0], &dw[0, 0, 0, 0], threads)
    return status


# ----------------------------------------------------------------------------------------------------
# A prepared call: all of `run` and `run_filter_gradient` that can be done before the arrays arrive
# ----------------------------------------------------------------------------------------------------


cdef struct address:
    void *data
    Py_ssize_t nbytes


cdef address address_of(object array, int flags) except *:
    """Return where an array in C order has its data, and their size. The caller holds the array."""
    cdef Py_buffer view
    cdef address found
    PyObject_GetBuffer(array, &view, flags)  # raises for an array in another order, or a read-only one
    found.data, found.nbytes = view.buf, view.len
    PyBuffer_Release(&view)
    return found


cdef class PreparedCall:
    """One kernel on one problem, with everything that a call needs except its two arrays.

    Calling it returns the result, the same bits as `run` gives, or None if it cannot compute this call: an
    array is not in C order or not aligned, another instruction set is in use, the filter has an infinity or
    NaN that padding would meet, or the kernel returned a status. The caller then does all steps one by one,
    which deal with each of these.
    """

    cdef conv_problem p
    cdef int (*run_rung)(
        const conv_problem *p, const void *data, const void *w, const void *packed, const void *bias,
        int relu, void *result, int threads) noexcept nogil
    cdef filter_gradient gradient  # NULL for a rung that gathers or scatters
    cdef int (*all_finite)(const void *x, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t itemsize
    cdef int isa, threads
    cdef bint apart, check_filter
    cdef object allocate, shape, dtype  # of the result
    cdef object kept  # the packed filter and the bias, which a plan has
    cdef const void *packed
    cdef const void *bias

    def __init__(
        self, str name, Problem problem, shape, dtype, allocate, bint apart, int threads, bint check_filter,
        packed, bias,
    ):
        # name: a rung, or for the filter gradient "pixel_gemm" or "depthwise"
        cdef const kernel_table *kernels = kernels_of(dtype.itemsize == 8)
        cdef int number
        if name in RUNG_NUMBERS:
            number = RUNG_NUMBERS[name]
            self.run_rung = kernels.rungs[number].run
        else:
            self.gradient = kernels.depthwise if name.startswith("depthwise") else kernels.pixel_gemm
        self.p, self.all_finite = problem.p, kernels.all_finite
        self.shape, self.dtype, self.allocate, self.itemsize = shape, dtype, allocate, dtype.itemsize
        self.isa, self.threads, self.check_filter = teachconv_isa(), threads, check_filter
        self.apart = apart
        self.kept = packed, bias
        self.packed = NULL if packed is None else address_of(packed, PyBUF_SIMPLE).data
        self.bias = NULL if bias is None else address_of(bias, PyBUF_SIMPLE).data

    def __call__(self, first, second):
        # the result for two arrays of the shapes and the dtype that were prepared, or None
        cdef address a, b, c
        cdef int status
        cdef bint before
        try:
            a, b = address_of(first, PyBUF_SIMPLE), address_of(second, PyBUF_SIMPLE)
        except (BufferError, ValueError):  # NumPy raises either
            return None
        if (<uintptr_t> a.data | <uintptr_t> b.data) % self.itemsize or self.isa != teachconv_isa():
            return None
        result = self.allocate(self.shape, first if self.apart else self.dtype)
        c = address_of(result, PyBUF_WRITABLE)
        with nogil:
            # infinity or NaN shows in the filter before the call or in the result after it: see _run_rung
            before = self.check_filter and b.nbytes <= c.nbytes
            if before and not self.all_finite(b.data, b.nbytes // self.itemsize):
                status = -1
            elif self.gradient != NULL:
                status = self.gradient(&self.p, a.data, b.data, c.data, self.threads)
            else:
                status = self.run_rung(
                    &self.p, a.data, b.data, self.packed, self.bias, 0, c.data, self.threads)
            if self.check_filter and not before and not self.all_finite(c.data, c.nbytes // self.itemsize):
                status |= not self.all_finite(b.data, b.nbytes // self.itemsize)
        return None if status else result
