"""One call of the public API from a handful of bytes: the fuzzer's way through Python into the compiled module.

The bytes say op, rank, dtype, shapes, layout, strides in memory, `out`, threads, algorithm, instruction set and data. A
call must raise what the reference raises, or give the reference's numbers: the data are small integers times a
power of two, whose sums are exact in any order, and some are infinite or NaN. Only winograd4, which multiplies by
square roots, may differ, by its bound. tools/fuzz/fuzz.py runs `try_one`
under atheris, and on the kept corpus.
"""

import numpy as np
from ml_dtypes import bfloat16, finfo

import teachconv as tc
from teachconv.backends import cython_backend
from teachconv.core.arguments import PADDING_WORDS, channels_first
from teachconv.core.kinds import OPS
from teachconv.truth import bounds

DTYPES = [np.dtype(name) for name in ("float32", "float64", "float16", bfloat16, "int32", "int64")]
ALGORITHMS = [None, None, *(algorithm.name for algorithm in cython_backend.ALGORITHMS)]
HUGE = [2**15, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, 2**63, 2**70]
PLANNED = [tc.conv2d, tc.conv1d, tc.conv3d, tc.convolution]
LEGAL = (ValueError, TypeError, MemoryError)  # what a call may raise
MOST_REFERENCE_MACS, MOST_MACS = 4000, 200_000


class Bytes:
    """Numbers from bytes; zeros once they have run out."""

    def __init__(self, data):
        self._left = iter(data)

    def below(self, count):
        return next(self._left, 0) % count

    def one_in(self, count):
        return self.below(count) == 1

    def choose(self, values):
        return values[self.below(len(values))]

    def size(self, most):
        return 1 + self.below(most) if not self.one_in(24) else self.choose([0, 40, 65])

    def step(self):
        step = 1 + self.below(3) if not self.one_in(24) else self.choose([0, -1, *HUGE])
        return step

    def pad(self):
        return self.below(7) - 2 if not self.one_in(24) else self.choose([1, -1]) * self.choose(HUGE)


def make_array(source, shape, dtype, exponent, specials):
    """Small integers times a power of two, laid out in memory in one of several ways."""
    seed = source.below(256)
    values = np.random.default_rng(seed).integers(-7, 8, shape).astype(np.float64)
    if dtype.kind == "i":
        values = values.astype(dtype) * (np.iinfo(dtype).max // 5 if exponent else 1)  # sums wrap around
    else:
        with np.errstate(all="ignore"):
            values = (values * 2.0**exponent).astype(dtype)
        for _ in range(specials if values.size else 0):
            place = tuple(source.below(size) for size in shape)
            values[place] = source.choose([np.inf, -np.inf, np.nan])
    return in_memory(values, source.below(10))


def in_memory(values, way):
    """The same values in another arrangement: reversed, spread, transposed, misaligned, read-only."""
    if way == 1:
        return values[..., ::-1].copy()[..., ::-1]
    if way == 2:
        spread = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        spread[..., ::2] = values
        return spread[..., ::2]
    if way == 3:
        return np.asfortranarray(values)
    if way == 4:  # its numbers begin at odd addresses
        block = np.zeros(values.nbytes + 1, np.uint8)
        odd = np.ndarray(values.shape, values.dtype, block, 1)
        odd[...] = values
        return odd
    if way == 5:
        values.flags.writeable = False
    if way == 6:
        return values.swapaxes(0, -1).copy().swapaxes(0, -1)
    if way == 7:
        return values.astype(values.dtype.newbyteorder())
    return values


def make_call(source):
    """Return (op, its arguments, its options): legal more often than not."""
    entry = OPS[source.choose(sorted(OPS))]
    op, kind, dtype = getattr(tc, entry.name), entry.kind, source.choose(DTYPES)
    rank = 1 + source.below(3) if entry.rank is None else entry.rank
    axes = "DHW"[-rank:]
    layout = source.choose([f"N{axes}C", f"N{axes}C", f"NC{axes}"])
    depthwise, groups = entry.depthwise, 1 if source.below(3) else source.size(6)
    depth, outs = source.size(9), source.size(20)
    if depthwise:
        groups, depth = depth * groups, 1

    def of_each(draw):
        return tuple(draw() for _ in range(rank))

    filter_shape = (*of_each(lambda: source.size(4)), depth, outs if depthwise else groups * outs)
    if source.one_in(3):
        filter_shape = (*(3,) * rank, *filter_shape[-2:])
    strides = source.choose([1, 1, source.step(), of_each(source.step)])
    dilations = source.choose([None, None, source.step(), of_each(source.step)])
    pads = of_each(lambda: (source.pad(), source.pad()))
    padding = source.choose([*PADDING_WORDS, pads, source.pad(), *["CAUSAL"] * (rank == 1)])
    x_shape = (source.size(3), *map(source.size, (5, 9, 12)[-rank:]), groups * depth)
    if depthwise:
        filter_shape = (*filter_shape[:-2], groups, outs)
    if not depthwise and source.one_in(16):
        filter_shape = (*filter_shape[:-2], depth + 1, filter_shape[-1])  # channels that do not fit
    if layout[-1] != "C":
        x_shape = channels_first(x_shape)
    options = {"strides": strides, "padding": padding, "data_format": layout, "dilations": dilations}
    y_shape = output_shape(depthwise, x_shape, filter_shape, options)
    if source.one_in(16):
        y_shape = (*y_shape[:-2], y_shape[-2] + 1, y_shape[-1])
    exponents = [0 if source.below(3) else source.below(31) - 15 for _ in range(2)]
    if dtype.itemsize == 2:  # float16 ends at 2^16
        exponents = [exponent // 4 for exponent in exponents]
    specials = [0 if source.below(4) else source.below(3) for _ in range(2)]

    def array(shape, number):
        return make_array(source, shape, dtype, exponents[number], specials[number])

    if entry.transposed:
        arguments = [array(y_shape, 0), array(filter_shape, 1), source.choose([x_shape, None])]
    elif kind.gathers:
        arguments = [array(x_shape, 0), array(filter_shape, 1)]
    elif kind.scatters:
        arguments = [x_shape, array(filter_shape, 1), array(y_shape, 0)]
    else:
        arguments = [array(x_shape, 0), filter_shape, array(y_shape, 1)]
    if not entry.is_gradient and source.one_in(3):
        channels = x_shape if entry.transposed else y_shape
        options["bias"] = array((channels[layout.index("C")],), 0).astype(dtype)
    return op, arguments, options


def output_shape(depthwise, x_shape, filter_shape, options):
    """The shape of y; any where there is none, so that the call is refused."""
    try:
        geometry = tc.conv_geometry(
            x_shape,
            (*filter_shape[:-2], 1, filter_shape[-2] * filter_shape[-1]) if depthwise else filter_shape,
            **options,
        )
    except LEGAL:
        return (1, *[2] * (len(x_shape) - 2), 1)
    return geometry.output_shape if max(geometry.output_shape) <= 200 else (1, *[2] * (len(x_shape) - 2), 1)


def outcome(op, arguments, options):
    """What a call returns, or the error that it raises."""
    try:
        with np.errstate(all="ignore"):
            return op(*arguments, **options)
    except LEGAL as error:
        return error


def arrays_of(arguments):
    return [array for array in arguments if isinstance(array, np.ndarray)]


def make_out(source, want, arguments):
    """An array for `out`: contiguous, spread, or one that overlaps an input and has to be refused."""
    way = source.below(5)
    arrays = arrays_of(arguments)
    if way == 0 or not isinstance(want, np.ndarray) or not want.size:
        return None, False
    if way == 1:
        shared = next((array for array in arrays if array.shape == want.shape), None)
        # the library copies misaligned arrays and reads the copy: then nothing overlaps
        return shared, shared is not None and shared.flags.aligned
    return in_memory(np.full_like(want, 3), {2: 0, 3: 2, 4: 1}[way]), False


def same(one, other, call=None):
    """Whether two results have the same numbers, NaN equal to NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind != "i":
        one, other = one.astype(np.float64), other.astype(np.float64)
        return np.array_equal(one, other, equal_nan=True)
    return np.array_equal(one, other)


def within(one, other, call):
    """Whether two results differ by no more than the bound of winograd4 for the whole call, NaN equal to NaN."""
    if same(one, other) or one.dtype.kind == "i" or (one.shape, one.dtype) != (other.shape, other.dtype):
        return same(one, other)
    operands = call.kind, call.first, call.second, call.geometry, one.dtype
    with np.errstate(all="ignore"):
        allowed = bounds.winograd4_balanced(*operands).max() + 4 * float(finfo(one.dtype).smallest_subnormal)
        one, other = one.astype(np.float64), other.astype(np.float64)
        allowed = allowed + 2 * np.abs(other) * float(finfo(call.first.dtype).eps)
        return bool((np.isclose(one, other, 0, 0, equal_nan=True) | (np.abs(one - other) <= allowed)).all())


def try_one(data):
    """Make a call from bytes, run it on the cython backend and on the reference, and compare."""
    source = Bytes(data)
    cython_backend.set_isa(source.choose(["best", "baseline", "avx2", "avx512"]))
    tc.set_num_threads(1 + source.below(3))
    algorithm = source.choose(ALGORITHMS)
    precision = source.choose([None, None, None, "strict", "fast"])
    op, arguments, options = make_call(source)
    chosen = {"backend": "cython", "algorithm": algorithm, "precision": precision}
    try:
        call, _ = tc.nn_ops.call_of(op, tuple(arguments), dict(options))
    except LEGAL:
        assert isinstance(outcome(op, arguments, {**options, **chosen}), LEGAL)
        return
    if call.geometry.macs > MOST_MACS or np.prod([float(size) for size in call.result_shape]) > 1e6:
        outcome(op, arguments, {**options, "backend": "cython"}) if call.geometry.macs > 2**40 else None
        return
    judge = "reference" if call.geometry.macs <= MOST_REFERENCE_MACS else "numpy"
    want = outcome(op, arguments, {**options, "backend": judge})
    before = [array.copy() for array in arrays_of(arguments)]
    out, refused = make_out(source, want, arguments)
    got = outcome(op, arguments, {**options, **chosen, "out": out})
    after = [
        array if array is not out else copy for array, copy in zip(arrays_of(arguments), before, strict=True)
    ]
    if isinstance(got, LEGAL):  # an algorithm may refuse what another computes; "auto" may not
        assert refused or algorithm is not None or isinstance(want, LEGAL), f"{type(got).__name__}: {got}"
    else:
        assert not refused, "out overlaps an input and was taken"
        assert out is None or got is out, "another array than out was returned"
        assert not isinstance(want, LEGAL), f"{judge} raises {want!r}, cython does not"
        square_roots = algorithm == "winograd4" or (algorithm is None and precision == "fast")
        assert (within if square_roots else same)(got, want, call), (
            f"cython gives\n{got}\nand {judge}\n{want}"
        )
    assert all(map(same, after, before)), "an input was changed"
    if op in PLANNED and source.one_in(3) and out is None and not isinstance(got, LEGAL):
        planned = tc.plan(op, arguments[1], input_shape=arguments[0].shape, **options, **chosen)
        if planned.algorithm != algorithm:
            got = op(*arguments, **options, **chosen | {"algorithm": planned.algorithm})
        assert same(planned(arguments[0]), got), "a plan gives other numbers"
