# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled module: the loops of `direct` and `im2col`, and the functions that call kernels/engine.h.

The Python side checks arguments, allocates and chooses. Arrays are C-contiguous: x [batch, in_rows,
in_cols, in_channels], w [filter_rows, filter_cols, in_channels / groups, out_channels], y and dy [batch,
out_rows, out_cols, out_channels]. A `Problem` holds every integer of the convolution. Integer arrays
are passed as unsigned, because unsigned sums wrap around by definition. The loops of this file are for
images; most kernels take volumes too, [batch, planes, rows, cols, channels].
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport uint8_t, uintptr_t
from libc.string cimport memcpy, memset, strcpy
from scipy.linalg.cython_blas cimport dgemm, sgemm

try:
    from numpy._core._multiarray_umath import _ARRAY_API
except ImportError:  # NumPy 1
    from numpy.core._multiarray_umath import _ARRAY_API

ctypedef fused number:
    float
    double
    unsigned int
    unsigned long long

ctypedef fused real:
    float
    double

cdef extern from "backends/kernels/engine.h" nogil:
    ctypedef struct conv_problem:
        Py_ssize_t batch, in_planes, in_rows, in_cols, in_channels, out_planes, out_rows, out_cols
        Py_ssize_t out_channels, groups, filter_planes, filter_rows, filter_cols, stride_planes, stride_rows
        Py_ssize_t stride_cols, dilation_planes, dilation_rows, dilation_cols, pad_front, pad_top, pad_left

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
        conv_rung *forward
        conv_rung *input_gradient
        filter_gradient *filter_gradient
        int (*all_finite)(const void *x, Py_ssize_t count) noexcept nogil

    int ALGORITHM_COUNT, PATH_COUNT, ISA_COUNT
    const char *const *teachconv_algorithm_names
    const char *const *teachconv_path_names
    const char *const *teachconv_isa_names
    int STRICT, DEFAULT, FAST
    const kernel_table *kernels_of(int real_is_double)
    int teachconv_set_isa(int level)
    int teachconv_isa()
    int teachconv_paths
    int problem_fits(const conv_problem *p)
    double problem_macs(const conv_problem *p)
    int threads_that_pay "useful_threads"(double macs, int threads)

    ctypedef struct choice:
        Py_ssize_t lanes
        int precision, planned

    int choose_forward(const conv_problem *p, const choice *c)
    int choose_input_gradient(const conv_problem *p, const choice *c)
    int choose_filter_gradient(const conv_problem *p, const choice *c)

    ctypedef struct crew_member:
        int rank, size

    ctypedef int (*crew_work)(const void *call, const crew_member *me) noexcept nogil

    ctypedef struct crew_shortage:
        int asked, size, reason

    int in_crew(int threads, crew_work work, const void *call)
    Py_ssize_t share_start(Py_ssize_t jobs, int rank, int size)
    int CREW_NO_MEMORY, CREW_NO_THREAD
    crew_shortage take_crew_shortage "take_shortage"()
    void keep_scratch_bytes "keep_scratch"(Py_ssize_t most)
    Py_ssize_t MOST_KEPT_BYTES "KEPT_BYTES"
    void *new_array(void *unused, size_t nbytes)
    void *new_zeros(void *unused, size_t count, size_t each)
    void *resized_array(void *unused, void *memory, size_t nbytes)
    void free_array(void *unused, void *memory, size_t unreliable)


cdef tuple names(const char *const *table, int count):
    """Return the names of the numbers of an enum in C, in their order."""
    return tuple([table[code].decode() for code in range(count)])


ALGORITHMS = names(teachconv_algorithm_names, ALGORITHM_COUNT)  # of kernels/choose.h
ISA_NAMES = names(teachconv_isa_names, ISA_COUNT)
PATHS = names(teachconv_path_names, PATH_COUNT)
KEPT_BYTES = MOST_KEPT_BYTES
cdef dict CODES = {name: code for code, name in enumerate(ALGORITHMS)}


cdef class Problem:
    """The integers of one convolution, forward, as every kernel takes them: struct conv_problem."""

    cdef conv_problem p

    def __init__(
        self, Py_ssize_t batch, Py_ssize_t in_planes, Py_ssize_t in_rows, Py_ssize_t in_cols,
        Py_ssize_t in_channels, Py_ssize_t out_planes, Py_ssize_t out_rows, Py_ssize_t out_cols,
        Py_ssize_t out_channels, Py_ssize_t groups, Py_ssize_t filter_planes, Py_ssize_t filter_rows,
        Py_ssize_t filter_cols, Py_ssize_t stride_planes, Py_ssize_t stride_rows, Py_ssize_t stride_cols,
        Py_ssize_t dilation_planes, Py_ssize_t dilation_rows, Py_ssize_t dilation_cols, Py_ssize_t pad_front,
        Py_ssize_t pad_top, Py_ssize_t pad_left,
    ):
        self.p = conv_problem(
            batch, in_planes, in_rows, in_cols, in_channels, out_planes, out_rows, out_cols, out_channels,
            groups, filter_planes, filter_rows, filter_cols, stride_planes, stride_rows, stride_cols,
            dilation_planes, dilation_rows, dilation_cols, pad_front, pad_top, pad_left,
        )
        if not problem_fits(&self.p):
            raise MemoryError("the convolution is too large for the sizes of this processor")

    def threads(self, int most):
        """Return how many threads pay for this problem."""
        return threads_that_pay(problem_macs(&self.p), most)

    def choose(self, kind, Py_ssize_t itemsize, str precision, bint planned):
        """Return the algorithm for one kind of call, or for a plan, by the rules of kernels/choose.h."""
        cdef int code, allowed = {"strict": STRICT, "fast": FAST}.get(precision, DEFAULT)
        cdef choice how = choice(kernels_of(itemsize == 8).lanes, allowed, planned)
        if kind.sums_images:
            code = choose_filter_gradient(&self.p, &how)
        elif kind.scatters:
            code = choose_input_gradient(&self.p, &how)
        else:
            code = choose_forward(&self.p, &how)
        return ALGORITHMS[code]


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


def keep_scratch(Py_ssize_t nbytes):
    """Set how many bytes of scratch are kept for later calls, at first KEPT_BYTES; free what is above."""
    keep_scratch_bytes(nbytes)


def take_paths():
    """Return the names of the paths through the kernels that any thread took since the last call."""
    global teachconv_paths
    cdef int paths = teachconv_paths
    teachconv_paths = 0
    return [name for bit, name in enumerate(PATHS) if paths >> bit & 1]


def take_shortage():
    """Return in words what crews lacked since the last call; "" if each was as large as asked."""
    cdef crew_shortage found = take_crew_shortage()
    if not found.reason:
        return ""
    why = "this build has no threads"
    if found.reason == CREW_NO_MEMORY:
        why = "there is no memory for their stacks and scratch; see RLIMIT_AS"
    elif found.reason == CREW_NO_THREAD:
        why = "the system allows no more; see RLIMIT_NPROC and the cgroup's pids.max"
    return f"{found.size} of {found.asked} threads: the others could not be created, {why}"


def all_finite(const real[::1] array):
    """Return whether every number is finite."""
    cdef int result
    with nogil:
        result = kernels_of(real is double).all_finite(&array[0], array.shape[0])
    return bool(result)


# ----------------------------------------------------------------------------------------------------
# The memory of new arrays: NumPy asks a handler for it, of which each context has its own
# ----------------------------------------------------------------------------------------------------

cdef struct array_handler:  # PyDataMem_Handler of numpy/ndarraytypes.h, version 1
    char name[127]
    uint8_t version
    void *context
    void *(*malloc)(void *context, size_t nbytes) noexcept nogil
    void *(*calloc)(void *context, size_t count, size_t each) noexcept nogil
    void *(*realloc)(void *context, void *memory, size_t nbytes) noexcept nogil
    void (*free)(void *context, void *memory, size_t nbytes) noexcept nogil

cdef array_handler handler = array_handler(
    version=1, context=NULL, malloc=new_array, calloc=new_zeros, realloc=resized_array, free=free_array)
strcpy(handler.name, b"teachconv")
cdef object HANDLER = PyCapsule_New(&handler, "mem_handler", NULL)
# NumPy's C API by its numbers, which stay what they are: its headers are those of the system that compiles,
# not of the one that is compiled for
cdef void **numpy_api = <void **> PyCapsule_GetPointer(_ARRAY_API, NULL)
ctypedef object (*handler_setter)(object handler)
cdef handler_setter set_handler = <handler_setter> numpy_api[304]
cdef object DEFAULT_HANDLER = <object> (<PyObject **> numpy_api[306])[0]


cdef class ReusedMemory:
    """A context manager within which new arrays of this thread get the memory of arrays that were freed.

    An array owns its memory as long as it lives, after the block too. Where somebody has set a handler of
    his own, that stays.
    """

    cdef object before

    def __enter__(self):
        self.before = set_handler(HANDLER)
        if self.before is not DEFAULT_HANDLER:
            set_handler(self.before)

    def __exit__(self, *error):
        set_handler(self.before)


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
# The threads of a crew (kernels/crew.h) share the jobs of one of the loops below
# ----------------------------------------------------------------------------------------------------

cdef enum:
    DIRECT, DIRECT_INPUT, DIRECT_FILTER, IM2COL, IM2COL_FILTER

cdef enum:
    FLOAT, DOUBLE, INT, LONG_LONG


cdef struct loops:
    int loop, type
    conv_problem law
    const void *first  # x or dy
    const void *second  # w or dy
    void *result
    Py_ssize_t first_job, jobs
    Py_ssize_t part_start, part_stop  # direct: the columns of each row, or the rows that are summed
    char *scratch  # im2col: the patches of each thread
    Py_ssize_t scratch_bytes, block_rows  # of each thread, of each block


cdef int run_share(const void *call, const crew_member *me) noexcept nogil:
    """Run one thread's jobs."""
    cdef const loops *c = <const loops *> call
    cdef void *patches = c.scratch + me.rank * c.scratch_bytes
    cdef Py_ssize_t job
    cdef Py_ssize_t start = c.first_job + share_start(c.jobs, me.rank, me.size)
    cdef Py_ssize_t stop = c.first_job + share_start(c.jobs, me.rank + 1, me.size)
    for job in range(start, stop):
        if c.type == FLOAT:
            run_job(c, job, <float *> patches)
        elif c.type == DOUBLE:
            run_job(c, job, <double *> patches)
        elif c.type == INT:
            run_job(c, job, <unsigned int *> patches)
        else:
            run_job(c, job, <unsigned long long *> patches)
    return 0


cdef void run_job(const loops *c, Py_ssize_t job, number *patches) noexcept nogil:
    cdef const number *first = <const number *> c.first
    cdef const number *second = <const number *> c.second
    cdef number *result = <number *> c.result
    if c.loop == DIRECT:
        direct_conv2d_row(first, second, result, &c.law, job, c.part_start, c.part_stop)
    elif c.loop == DIRECT_INPUT:
        direct_conv2d_backprop_input_row(first, second, result, &c.law, job, c.part_start, c.part_stop)
    elif c.loop == DIRECT_FILTER:
        direct_conv2d_backprop_filter_tap(first, second, result, &c.law, job, c.part_start, c.part_stop)
    elif number is float or number is double:
        if c.loop == IM2COL:
            im2col_conv2d_block(first, second, result, &c.law, job, c.block_rows, patches)
        else:
            im2col_conv2d_backprop_filter_group(first, second, result, &c.law, job, c.block_rows, patches)


cdef int type_of(const number *array) noexcept nogil:
    if number is float:
        return FLOAT
    elif number is double:
        return DOUBLE
    else:
        return INT if sizeof(number) == 4 else LONG_LONG


# ----------------------------------------------------------------------------------------------------
# direct: the loops of the definition, the innermost over output channels, which lie side by side
#
# A call computes a part of the places, which are rows of the images, of each a part of the columns. For the
# filter gradient the places are taps, of whose sums it adds the terms of a part of the rows. In between
# Python answers Ctrl-C.
# ----------------------------------------------------------------------------------------------------


def direct_conv2d(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] w, number[:, :, :, ::1] y,
    Problem problem, int threads, (Py_ssize_t, Py_ssize_t) places, (Py_ssize_t, Py_ssize_t) part
):
    """Gather: y[n, r, c, o] += x[n, in_row, in_col, i] * w[tap_row, tap_col, i, o]."""
    cdef loops call
    call = loops(
        DIRECT, type_of(&x[0, 0, 0, 0]), problem.p, &x[0, 0, 0, 0], &w[0, 0, 0, 0], &y[0, 0, 0, 0],
        places[0], places[1] - places[0], part[0], part[1], NULL, 0, 0,
    )
    with nogil:
        in_crew(threads, run_share, &call)  # mark: kernel of direct/y


cdef void direct_conv2d_row(
    const number *x, const number *w, number *y, const conv_problem *law, Py_ssize_t row,
    Py_ssize_t cols_start, Py_ssize_t cols_stop,
) noexcept nogil:
    """Compute some columns of one out row. Rows are counted through the batch."""
    cdef Py_ssize_t ins = law.in_channels // law.groups, outs = law.out_channels // law.groups
    cdef Py_ssize_t n = row // law.out_rows, out_row = row % law.out_rows
    cdef Py_ssize_t out_col, tap_row, tap_col, in_row, in_col, group, i, o
    cdef number value
    cdef number *pixel_sums
    cdef number *sums
    cdef const number *pixel
    cdef const number *weights
    for out_col in range(cols_start, cols_stop):
        pixel_sums = y + (row * law.out_cols + out_col) * law.out_channels  # y[n, out_row, out_col]
        memset(pixel_sums, 0, law.out_channels * sizeof(number))
        for tap_row in range(law.filter_rows):
            in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if in_row < 0 or in_row >= law.in_rows:  # mark: padding of direct/y
                continue  # padding contributes nothing
            for tap_col in range(law.filter_cols):
                in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                if in_col < 0 or in_col >= law.in_cols:
                    continue
                pixel = x + ((n * law.in_rows + in_row) * law.in_cols + in_col) * law.in_channels
                for group in range(law.groups):
                    sums = pixel_sums + group * outs
                    for i in range(ins):
                        value = pixel[group * ins + i]  # x[n, in_row, in_col, group * ins + i]
                        weights = w + ((tap_row * law.filter_cols + tap_col) * ins + i) * law.out_channels
                        weights += group * outs  # w[tap_row, tap_col, i, group * outs]
                        for o in range(outs):
                            sums[o] += value * weights[o]  # mark: multiply-add of direct/y


def direct_conv2d_backprop_input(
    const number[:, :, :, ::1] dy, const number[:, :, :, ::1] w, number[:, :, :, ::1] dx,
    Problem problem, int threads, (Py_ssize_t, Py_ssize_t) places, (Py_ssize_t, Py_ssize_t) part
):
    """Scatter, cell by cell of dx, so that threads never collide: dx[n, in_row, in_col, i] += dy * w."""
    cdef loops call
    call = loops(
        DIRECT_INPUT, type_of(&dy[0, 0, 0, 0]), problem.p, &dy[0, 0, 0, 0], &w[0, 0, 0, 0], &dx[0, 0, 0, 0],
        places[0], places[1] - places[0], part[0], part[1], NULL, 0, 0,
    )
    with nogil:
        in_crew(threads, run_share, &call)  # mark: kernel of direct/dx


cdef void direct_conv2d_backprop_input_row(
    const number *dy, const number *w, number *dx, const conv_problem *law, Py_ssize_t row,
    Py_ssize_t cols_start, Py_ssize_t cols_stop,
) noexcept nogil:
    """Compute some columns of one row of dx. Rows are counted through the batch."""
    cdef Py_ssize_t ins = law.in_channels // law.groups, outs = law.out_channels // law.groups
    cdef Py_ssize_t n = row // law.in_rows, in_row = row % law.in_rows
    cdef Py_ssize_t in_col, tap_row, tap_col, out_row, out_col, group, i, o
    cdef number total
    cdef number *sums
    cdef const number *pixel
    cdef const number *upstream
    cdef const number *weights
    for in_col in range(cols_start, cols_stop):
        sums = dx + (row * law.in_cols + in_col) * law.in_channels  # dx[n, in_row, in_col]
        memset(sums, 0, law.in_channels * sizeof(number))
        for tap_row in range(law.filter_rows):
            out_row = out_index(in_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
            if out_row < 0 or out_row >= law.out_rows:  # mark: padding of direct/dx
                continue
            for tap_col in range(law.filter_cols):
                out_col = out_index(in_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                if out_col < 0 or out_col >= law.out_cols:
                    continue
                pixel = dy + ((n * law.out_rows + out_row) * law.out_cols + out_col) * law.out_channels
                for group in range(law.groups):
                    upstream = pixel + group * outs  # dy[n, out_row, out_col, group * outs]
                    for i in range(ins):
                        weights = w + ((tap_row * law.filter_cols + tap_col) * ins + i) * law.out_channels
                        weights += group * outs  # w[tap_row, tap_col, i, group * outs]
                        total = 0
                        for o in range(outs):
                            total = total + upstream[o] * weights[o]  # mark: multiply-add of direct/dx
                        sums[group * ins + i] += total


def direct_conv2d_backprop_filter(
    const number[:, :, :, ::1] x, const number[:, :, :, ::1] dy, number[:, :, :, ::1] dw,
    Problem problem, int threads, (Py_ssize_t, Py_ssize_t) places, (Py_ssize_t, Py_ssize_t) part
):
    """Sum over the same taps: dw[tap_row, tap_col, i, o] += x[n, in_row, in_col, i] * dy[n, r, c, o].

    Threads share the taps, never the outputs, so each cell of dw is summed in one order.
    """
    cdef loops call
    call = loops(
        DIRECT_FILTER, type_of(&x[0, 0, 0, 0]), problem.p, &x[0, 0, 0, 0], &dy[0, 0, 0, 0], &dw[0, 0, 0, 0],
        places[0], places[1] - places[0], part[0], part[1], NULL, 0, 0,
    )
    with nogil:
        in_crew(threads, run_share, &call)  # mark: kernel of direct/dw


cdef void direct_conv2d_backprop_filter_tap(
    const number *x, const number *dy, number *dw, const conv_problem *law, Py_ssize_t tap,
    Py_ssize_t rows_start, Py_ssize_t rows_stop,
) noexcept nogil:
    """Add the terms of some rows, which are counted through the batch, to one tap of dw."""
    cdef Py_ssize_t ins = law.in_channels // law.groups, outs = law.out_channels // law.groups
    cdef Py_ssize_t tap_row = tap // law.filter_cols, tap_col = tap % law.filter_cols
    cdef Py_ssize_t row, n, out_row, out_col, in_row, in_col, group, i, o
    cdef number value
    cdef number *tap_sums = dw + tap * ins * law.out_channels  # dw[tap_row, tap_col]
    cdef number *sums
    cdef const number *pixel
    cdef const number *out_pixel
    cdef const number *upstream
    if rows_start == 0:
        memset(tap_sums, 0, ins * law.out_channels * sizeof(number))
    for row in range(rows_start, rows_stop):
        n, out_row = row // law.out_rows, row % law.out_rows
        in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
        if in_row < 0 or in_row >= law.in_rows:  # mark: padding of direct/dw
            continue
        for out_col in range(law.out_cols):
            in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
            if in_col < 0 or in_col >= law.in_cols:
                continue
            pixel = x + ((n * law.in_rows + in_row) * law.in_cols + in_col) * law.in_channels
            out_pixel = dy + (row * law.out_cols + out_col) * law.out_channels
            for group in range(law.groups):
                upstream = out_pixel + group * outs  # dy[n, out_row, out_col, group * outs]
                for i in range(ins):
                    value = pixel[group * ins + i]  # x[n, in_row, in_col, group * ins + i]
                    sums = tap_sums + i * law.out_channels + group * outs
                    for o in range(outs):
                        sums[o] += value * upstream[o]  # mark: multiply-add of direct/dw


# ----------------------------------------------------------------------------------------------------
# The gradients of ReLU and of a maximum over windows
#
# No number has a branch of its own, which would be mispredicted for every second one: each is loaded whatever
# is made of it, and the compiler makes vectors of the innermost loops.
# ----------------------------------------------------------------------------------------------------


def relu_gradient(const real[::1] gradients, const real[::1] features, real[::1] result):
    """Write the gradients where a feature is positive, elsewhere 0."""
    with nogil:
        relu_gradient_loop(&gradients[0], &features[0], &result[0], result.shape[0])


cdef void relu_gradient_loop(
    const real *gradients, const real *features, real *result, Py_ssize_t count
) noexcept nogil:
    cdef Py_ssize_t i
    cdef real gradient, zero = 0
    for i in range(count):
        gradient = gradients[i]
        result[i] = gradient if features[i] > zero else zero


def max_pool_gradient(Problem problem, const real[::1] x, const real[::1] dy, real[::1] dx):
    """Add the gradient of each window of each channel to the window's first largest cell, on flat arrays.

    If a window's first cell is NaN, nothing is larger. Windows come in row-major order. dx is 0 at first.
    """
    cdef Py_ssize_t window, first
    with nogil:
        for window in range(problem.p.batch * problem.p.out_rows * problem.p.out_cols):
            for first in range(0, problem.p.in_channels, 64):
                max_pool_gradient_window(&problem.p, &x[0], &dy[0], &dx[0], window, first)


cdef void max_pool_gradient_window(
    const conv_problem *law, const real *x, const real *dy, real *dx, Py_ssize_t window, Py_ssize_t first
) noexcept nogil:
    """Treat at most 64 channels of a window. Windows are counted through the batch."""
    cdef Py_ssize_t n = window // (law.out_rows * law.out_cols), taps = law.filter_rows * law.filter_cols
    cdef Py_ssize_t out_row = window // law.out_cols % law.out_rows, out_col = window % law.out_cols
    cdef Py_ssize_t count = min(law.in_channels - first, <Py_ssize_t> 64), turn, tap, in_row, in_col, place, c
    cdef real[64] largest, winner  # the number of a tap, -1 for none
    cdef real cell, most, before, gradient, number, zero = 0
    cdef bint better
    for c in range(count):
        largest[c] = 0
        winner[c] = -1
    for turn in range(2 * taps):  # first the winners are found, then their gradients are added
        tap = turn % taps
        number = <real> tap
        in_row = in_index(out_row, tap // law.filter_cols, law.stride_rows, law.dilation_rows, law.pad_top)
        in_col = in_index(out_col, tap % law.filter_cols, law.stride_cols, law.dilation_cols, law.pad_left)
        if not (0 <= in_row < law.in_rows and 0 <= in_col < law.in_cols):
            continue
        place = ((n * law.in_rows + in_row) * law.in_cols + in_col) * law.in_channels + first
        if turn < taps:
            for c in range(count):
                cell, most, before = x[place + c], largest[c], winner[c]
                better = (before < zero) | (cell > most)
                largest[c] = cell if better else most
                winner[c] = number if better else before
        else:
            for c in range(count):
                gradient = dy[window * law.in_channels + first + c]
                dx[place + c] += gradient if winner[c] == number else zero


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
    const real *x, const conv_problem *law, Py_ssize_t n, Py_ssize_t first_row, Py_ssize_t stop_row,
    Py_ssize_t group, real *patches,
) noexcept nogil:
    """Write patches [out_rows of the block * out_cols, filter_rows * filter_cols * ins], padding as zeros."""
    cdef Py_ssize_t ins = law.in_channels // law.groups
    cdef Py_ssize_t out_row, out_col, tap_row, tap_col, in_row, in_col
    cdef const real *pixel
    for out_row in range(first_row, stop_row):
        for out_col in range(law.out_cols):
            for tap_row in range(law.filter_rows):
                in_row = in_index(out_row, tap_row, law.stride_rows, law.dilation_rows, law.pad_top)
                for tap_col in range(law.filter_cols):
                    in_col = in_index(out_col, tap_col, law.stride_cols, law.dilation_cols, law.pad_left)
                    if 0 <= in_row < law.in_rows and 0 <= in_col < law.in_cols:  # mark: padding of im2col
                        pixel = x + ((n * law.in_rows + in_row) * law.in_cols + in_col) * law.in_channels
                        memcpy(patches, pixel + group * ins, ins * sizeof(real))
                    else:
                        memset(patches, 0, ins * sizeof(real))
                    patches += ins


def im2col_conv2d(
    const real[:, :, :, ::1] x, const real[:, :, :, ::1] w, real[:, :, :, ::1] y,
    Problem problem, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """y = patches(x) times the flattened filter. ``scratch`` has a row for the patches of each thread."""
    cdef Py_ssize_t blocks = (y.shape[1] + block_rows - 1) // block_rows
    cdef loops call
    call = loops(
        IM2COL, type_of(&x[0, 0, 0, 0]), problem.p, &x[0, 0, 0, 0], &w[0, 0, 0, 0], &y[0, 0, 0, 0],
        0, y.shape[0] * blocks, 0, 0, <char *> &scratch[0, 0], scratch.shape[1] * sizeof(real), block_rows,
    )
    cdef int threads = <int> scratch.shape[0]
    with nogil:
        in_crew(threads, run_share, &call)  # mark: kernel of im2col/y


cdef void im2col_conv2d_block(
    const real *x, const real *w, real *y, const conv_problem *law, Py_ssize_t job, Py_ssize_t block_rows,
    real *patches,
) noexcept nogil:
    """Compute one block of out rows. Blocks are counted through the batch."""
    cdef Py_ssize_t blocks = (law.out_rows + block_rows - 1) // block_rows
    cdef Py_ssize_t ins = law.in_channels // law.groups, outs = law.out_channels // law.groups
    cdef Py_ssize_t n = job // blocks, first = job % blocks * block_rows, group
    cdef Py_ssize_t stop = min(first + block_rows, law.out_rows)
    y += (n * law.out_rows + first) * law.out_cols * law.out_channels
    for group in range(law.groups):
        extract_patches(x, law, n, first, stop, group, patches)
        gemm(  # mark: multiply-add of im2col/y by BLAS
            False, False, (stop - first) * law.out_cols, outs, law.filter_rows * law.filter_cols * ins,
            patches, law.filter_rows * law.filter_cols * ins, w + group * outs, law.out_channels, 0,
            y + group * outs, law.out_channels,
        )


def im2col_conv2d_backprop_filter(
    const real[:, :, :, ::1] x, const real[:, :, :, ::1] dy, real[:, :, :, ::1] dw,
    Problem problem, real[:, ::1] scratch, Py_ssize_t block_rows,
):
    """dw = transposed patches of x times dy. Threads share the groups: each cell is summed in one order."""
    cdef loops call
    call = loops(
        IM2COL_FILTER, type_of(&x[0, 0, 0, 0]), problem.p, &x[0, 0, 0, 0], &dy[0, 0, 0, 0], &dw[0, 0, 0, 0],
        0, problem.p.groups, 0, 0, <char *> &scratch[0, 0], scratch.shape[1] * sizeof(real), block_rows,
    )
    cdef int threads = <int> scratch.shape[0]
    with nogil:
        in_crew(threads, run_share, &call)  # mark: kernel of im2col/dw


cdef void im2col_conv2d_backprop_filter_group(
    const real *x, const real *dy, real *dw, const conv_problem *law, Py_ssize_t group, Py_ssize_t block_rows,
    real *patches,
) noexcept nogil:
    """Compute one group's part of dw, block after block of out rows."""
    cdef Py_ssize_t blocks = (law.out_rows + block_rows - 1) // block_rows
    cdef Py_ssize_t ins = law.in_channels // law.groups, outs = law.out_channels // law.groups
    cdef Py_ssize_t depth = law.filter_rows * law.filter_cols * ins
    cdef Py_ssize_t job, n, first, stop
    for job in range(law.batch * blocks):
        n = job // blocks
        first = job % blocks * block_rows
        stop = min(first + block_rows, law.out_rows)
        extract_patches(x, law, n, first, stop, group, patches)
        gemm(  # mark: multiply-add of im2col/dw by BLAS
            True, False, depth, outs, (stop - first) * law.out_cols, patches, depth,
            dy + (n * law.out_rows + first) * law.out_cols * law.out_channels + group * outs,
            law.out_channels, 0 if job == 0 else 1, dw + group * outs, law.out_channels,
        )


# ----------------------------------------------------------------------------------------------------
# The kernels: one entry for the forward op and the input gradient, one for the filter gradient
# ----------------------------------------------------------------------------------------------------

cdef const conv_rung *rung_of(const kernel_table *kernels, str algorithm, bint scatters) except NULL:
    """Return the rung of an algorithm for the forward op, or for the input gradient, which scatters."""
    cdef int code = CODES[algorithm]
    cdef const conv_rung *rung = &kernels.input_gradient[code] if scatters else &kernels.forward[code]
    if rung.run == NULL:
        raise KeyError(algorithm)
    return rung


cdef filter_gradient gradient_of(const kernel_table *kernels, str algorithm) except NULL:
    """Return an algorithm's kernel for the filter gradient."""
    cdef int code = CODES[algorithm]
    if kernels.filter_gradient[code] == NULL:
        raise KeyError(algorithm)
    return kernels.filter_gradient[code]


def packed_numbers(str algorithm, bint scatters, Problem problem, Py_ssize_t itemsize):
    """Return how many numbers a rung's packed filter has; 0 if the rung packs nothing."""
    cdef const conv_rung *rung = rung_of(kernels_of(itemsize == 8), algorithm, scatters)
    if rung.packed_bytes == NULL:
        return 0
    cdef Py_ssize_t nbytes = rung.packed_bytes(&problem.p)
    if nbytes < 0:
        raise MemoryError("the packed filter is too large for the sizes of this processor")
    return nbytes // itemsize


def pack(
    str algorithm, bint scatters, Problem problem, const real[::1] w, real[::1] packed, int threads
):
    """Fill ``packed`` with the filter as the rung reads it; return 0, or a status of kernels/problem.h."""
    cdef const conv_rung *rung = rung_of(kernels_of(real is double), algorithm, scatters)
    cdef int status
    with nogil:
        status = rung.pack(&problem.p, &w[0], &packed[0], threads)
    return status


def run(
    str algorithm, bint scatters, Problem problem, const real[::1] data, const real[::1] w,
    const real[::1] packed, int packed_isa, const real[::1] bias, bint relu, real[::1] result, int threads,
):
    """Run a rung that gathers or scatters, on flat arrays. ``packed`` and ``bias`` may be None.

    A filter that was packed for another instruction set, whose vectors have another width, is ignored:
    the rung then packs ``w`` itself.

    Return a status of kernels/problem.h: 0 for success, 1 for no memory, 3 for a problem that the rung does
    not solve, 4 for a filter out of the rung's range.
    """
    cdef const conv_rung *rung = rung_of(kernels_of(real is double), algorithm, scatters)
    cdef int status
    cdef bint usable = packed is not None and packed_isa == teachconv_isa()
    cdef const real *packed_numbers = &packed[0] if usable else NULL
    cdef const real *bias_numbers = NULL if bias is None else &bias[0]
    with nogil:
        status = rung.run(
            &problem.p, &data[0], &w[0], packed_numbers, bias_numbers, relu, &result[0], threads)
    return status


def run_filter_gradient(
    str algorithm, Problem problem, const real[::1] x, const real[::1] dy, real[::1] dw, int threads,
):
    """Run an algorithm for the filter gradient, on flat arrays; return a status as `run` does."""
    cdef filter_gradient gradient = gradient_of(kernels_of(real is double), algorithm)
    cdef int status
    with nogil:
        status = gradient(&problem.p, &x[0], &dy[0], &dw[0], threads)
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


cdef class CompiledCall:
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
        self, str algorithm, kind, Problem problem, shape, dtype, allocate, bint apart, int threads,
        bint check_filter, packed, bias,
    ):
        cdef const kernel_table *kernels = kernels_of(dtype.itemsize == 8)
        if kind.sums_images:
            self.gradient = gradient_of(kernels, algorithm)
        else:
            self.run_rung = rung_of(kernels, algorithm, kind.scatters).run
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
