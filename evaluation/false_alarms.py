"""Runs right kernels on random calls and counts what a diff says against them, which must be nothing.

The kernels sum the same products in any order and with any rounding that their bounds allow, or transform them: FFT
and Winograd, each under its own bound. ``PYTHONPATH=.:evaluation python evaluation/false_alarms.py 10000`` makes
that many runs.
"""

import sys
from functools import partial
from types import ModuleType

import numpy as np

import teachconv as tc
from teachconv.backends import QUIET, Algorithm, finish, to_accumulator, winograd_needs
from teachconv.core.dtypes import FLOATS
from teachconv.core.kinds import FORWARD, KINDS
from teachconv.core.taps import overlap
from teachconv.data.seeded import DATA
from teachconv.verification.cases import Case

DTYPES = ("float32", "float32", "float32", "float64", "float16", "bfloat16", "int32", "int64")

# ---------------------------------------------------------------------------------------------
# Sums of products: [..., terms], in the accumulator's type
# ---------------------------------------------------------------------------------------------


def in_order(a, b):
    """One after the other."""
    return np.add.accumulate(a * b, axis=-1, dtype=a.dtype)[..., -1]


def backwards(a, b):
    """The last one first."""
    return in_order(a[..., ::-1], b[..., ::-1])


def shuffled(a, b):
    """In an order that is drawn."""
    order = np.random.default_rng(a.size).permutation(a.shape[-1])
    return in_order(a[..., order], b[..., order])


def pairwise(a, b):
    """Two halves of two halves."""
    parts = a * b
    while parts.shape[-1] > 1:
        odd = parts[..., parts.shape[-1] // 2 * 2 :]
        parts = np.concatenate([parts[..., :-1:2] + parts[..., 1::2], odd], -1)
    return parts[..., 0]


def lanes(a, b):
    """Eight sums as vectors have them, joined at the end."""
    sums = [in_order(a[..., at::8], b[..., at::8]) for at in range(min(8, a.shape[-1]))]
    return in_order(np.stack(sums, -1), np.ones((), a.dtype))


def blocks(a, b):
    """Blocks of sixteen terms, each summed by itself."""
    starts = range(0, a.shape[-1], 16)
    sums = np.stack([backwards(a[..., at : at + 16], b[..., at : at + 16]) for at in starts], -1)
    return in_order(sums, np.ones((), a.dtype))


def sorted_by_size(a, b):
    """The largest product first: the worst order."""
    products = a * b
    sizes = np.abs(products.astype(np.float64))
    order = np.argsort(-np.where(np.isnan(sizes), np.inf, sizes), -1)
    return in_order(np.take_along_axis(products, order, -1), np.ones((), a.dtype))


def in_wider(a, b):
    """In float64, or long double for float64; rounded once more at the end."""
    wide = {"float32": np.float64, "float64": np.longdouble}.get(a.dtype.name, a.dtype)
    return in_order(a.astype(wide), b.astype(wide)).astype(a.dtype)


def fused(a, b):
    """Each product and sum rounded once, as by a fused multiply-add."""
    wide = {"float32": np.float64, "float64": np.longdouble}.get(a.dtype.name, a.dtype)
    total = np.zeros(a.shape[:-1], a.dtype)
    for term in range(a.shape[-1]):
        total = (total + a[..., term].astype(wide) * b[..., term]).astype(a.dtype)
    return total


SUMS = (in_order, backwards, shuffled, pairwise, lanes, blocks, sorted_by_size, in_wider, fused)


def operands(kind, first, second, geometry):
    """Both factors of every product of every cell of the result, [*result, terms]; 0 in the padding."""
    shape = geometry.shape_of(kind.result)
    parts = []
    groups = geometry.groups
    for tap in np.ndindex(*geometry.filters_shape[:2]):
        outs, ins = zip(*map(overlap, (geometry.rows, geometry.cols), tap), strict=True)
        arrays = {kind.first: first, kind.second: second}
        x, w, y = (arrays.get(role) for role in ("input", "filters", "output"))
        if kind.gathers:
            left = by_group(x[:, *ins], groups)[..., None, :]  # [n, r, c, group, 1, k]
            right = by_group(w[tap], groups).transpose(1, 2, 0)  # [group, o, k]
            parts.append(spread(shape, np.s_[:, *outs], left, right, groups))
        elif kind.scatters:
            left = by_group(y[:, *outs], groups)[..., None, :]  # [n, r, c, group, 1, o]
            right = by_group(w[tap], groups).swapaxes(0, 1)  # [group, k, o]
            parts.append(spread(shape, np.s_[:, *ins], left, right, groups))
        else:
            left = np.moveaxis(by_group(x[:, *ins], groups), (3, 4), (1, 0))[
                :, :, None
            ]  # [k, group, 1, n, r, c]
            right = np.moveaxis(by_group(y[:, *outs], groups), (3, 4), (0, 1))  # [group, o, n, r, c]
            pair = np.broadcast_arrays(left, right)
            terms = [part.reshape(*shape[2:], part[0, 0, 0].size) for part in pair]
            parts.append(terms)
    if not kind.sums_images:
        return [np.concatenate(part, -1) for part in zip(*parts, strict=True)]
    longest = max(1, *(part[0].shape[-1] for part in parts))  # a sum of nothing has one term, 0
    made = np.zeros((2, *shape, longest), first.dtype)
    for tap, pair in zip(np.ndindex(*shape[:2]), parts, strict=True):
        for which, part in enumerate(pair):
            made[which, *tap, ..., : part.shape[-1]] = part
    return list(made)


def by_group(array, groups):
    """The last axis as [group, channel of the group]."""
    return array.reshape(*array.shape[:-1], groups, array.shape[-1] // groups)


def spread(shape, where, left, right, groups):
    """Put the factors of one tap where they belong; elsewhere they are 0."""
    made = []
    for part in np.broadcast_arrays(left, right):
        full = np.zeros((*shape, part.shape[-1]), part.dtype)
        full[where] = part.reshape(*part.shape[:3], shape[3], part.shape[-1])
        made.append(full)
    return made


# ---------------------------------------------------------------------------------------------
# Transforms
# ---------------------------------------------------------------------------------------------

WINOGRAD = {
    2: (
        [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]],
        [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
        [[1, 1, 1, 0], [0, 1, -1, -1]],
    ),
    4: (
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ],
        [
            [1 / 4, 0, 0],
            [-1 / 6, -1 / 6, -1 / 6],
            [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6],
            [1 / 24, -1 / 12, 1 / 6],
            [0, 0, 1],
        ],
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]],
    ),
}


def winograd(tile, x, w, geometry):
    """F(2x2, 3x3) or F(4x4, 3x3), Lavin and Gray 2016."""
    into, weights, back = (np.array(matrix, x.dtype) for matrix in WINOGRAD[tile])
    rows, cols = geometry.rows, geometry.cols
    down, along = (-(-axis.out_size // tile) for axis in (rows, cols))
    image = np.zeros((len(x), down * tile + 2, along * tile + 2, x.shape[3]), x.dtype)
    spans = []
    for size, axis in zip(image.shape[1:3], (rows, cols), strict=True):
        start, stop = max(0, axis.pad_before), min(size, axis.pad_before + axis.in_size)
        spans.append(
            (
                slice(start, max(start, stop)),
                slice(start - axis.pad_before, max(start, stop) - axis.pad_before),
            )
        )
    image[:, *(span for span, _ in spans)] = x[:, *(span for _, span in spans)]
    y = np.zeros((len(x), down * tile, along * tile, w.shape[3]), x.dtype)
    u = np.einsum("ai,ijco->ajco", weights, w)
    u = np.einsum("bj,ajco->abco", weights, u)
    for row in range(0, down * tile, tile):
        for col in range(0, along * tile, tile):
            d = image[:, row : row + tile + 2, col : col + tile + 2]
            v = np.einsum("bj,najc->nabc", into, np.einsum("ai,nijc->najc", into, d))
            m = np.einsum("nabc,abco->nabo", v, u)
            m = np.einsum("bj,najo->nabo", back, np.einsum("ai,nijo->najo", back, m))
            y[:, row : row + tile, col : col + tile] = m
    return y[:, : rows.out_size, : cols.out_size]


def fft(x, w, geometry):
    """The image's spectrum times that of the flipped filter; strides pick from the full result."""
    axes = geometry.rows, geometry.cols
    sizes = [axis.in_size + axis.effective_filter - 1 for axis in axes]
    wide = np.zeros((*(axis.effective_filter for axis in axes), *w.shape[2:]), w.dtype)
    wide[:: axes[0].dilation, :: axes[1].dilation] = w[::-1, ::-1]
    left, right = np.fft.rfft2(x, sizes, (1, 2)), np.fft.rfft2(wide, sizes, (0, 1))
    full = np.fft.irfft2(np.einsum("nrci,rcio->nrco", left, right), sizes, (1, 2))
    places = [
        np.arange(axis.out_size) * axis.stride - axis.pad_before + axis.effective_filter - 1 for axis in axes
    ]
    inside = [(place >= 0) & (place < size) for place, size in zip(places, sizes, strict=True)]
    y = full[:, np.clip(places[0], 0, sizes[0] - 1)[:, None], np.clip(places[1], 0, sizes[1] - 1)]
    return np.where((inside[0][:, None] & inside[1])[..., None], y, 0).astype(x.dtype)


def needs_one_group(kind, geometry):
    """What the FFT lacks."""
    return "" if geometry.groups == 1 else "one group"


TRANSFORMS = {"winograd2": partial(winograd, 2), "winograd4": partial(winograd, 4), "fft": fft}

# ---------------------------------------------------------------------------------------------
# The backend and its calls
# ---------------------------------------------------------------------------------------------


def backend():
    """A module with every kernel as an algorithm."""
    made = ModuleType("right")
    made.ALGORITHMS = (
        *(Algorithm(sums.__name__, sums.__doc__, why="one of many") for sums in SUMS),
        Algorithm("fft", "by spectra", (FORWARD,), FLOATS, "default", "fft", needs_one_group),
        *(
            Algorithm(name, name, (FORWARD,), FLOATS, "default", name, winograd_needs)
            for name in ("winograd2", "winograd4")
        ),
    )
    for kind in KINDS:
        setattr(made, kind.name, partial(compute, kind))
    return made


@QUIET
def compute(
    kind, first, second, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None
):
    """Run an algorithm; a transform gives way to a plain sum for data that are not finite or overflow in it."""
    a, b = to_accumulator(first), to_accumulator(second)
    made = None
    if algorithm in TRANSFORMS:
        made = TRANSFORMS[algorithm](a, b, geometry)
        made = made if np.isfinite(made).all() else None
    if made is None:
        sums = {sums.__name__: sums for sums in SUMS}.get(algorithm, in_order)
        made = sums(*operands(kind, a, b, geometry))
    return finish(made, first.dtype, bias, activation, out)


def random_case(random):
    """A case of any op with sizes and steps that are drawn; None if there is no such convolution."""

    def draw(*choices):
        return choices[random.integers(len(choices))]

    op = draw("conv2d", "conv2d", "conv2d", "depthwise_conv2d", "conv2d_transpose")
    taps = draw((3, 3), (3, 3), (1, 1), tuple(random.integers(1, 6, 2)))
    plain = random.random() < 0.4  # what Winograd needs
    strides, dilations = (1, 1) if plain else (tuple(map(int, random.integers(1, 4, 2))) for _ in range(2))
    if not plain and draw(True, False):
        dilations = 1
    padding = draw(
        "SAME", "VALID", "SAME_LOWER", tuple(tuple(map(int, random.integers(-1, 4, 2))) for _ in "rc")
    )
    batch, sizes = int(random.integers(1, 4)), map(int, random.integers(1, 12, 2))
    groups = 1 if plain or op == "depthwise_conv2d" else draw(1, 1, 2, 3)
    depth, width = (int(random.integers(1, draw(4, 10, 30))) for _ in range(2))
    channels = depth * groups
    taps = tuple(map(int, taps))
    filters = (*taps, depth, width * groups)
    if op == "depthwise_conv2d":
        filters = *taps, channels, min(width, 3)
    elif op == "conv2d_transpose":
        filters, channels = (*taps, width, channels), channels
    case = Case(
        f"random {random.integers(10**9)}",
        op,
        (batch, *sizes, channels),
        filters,
        strides,
        padding,
        dilations,
    )
    return case


def run(count, seed=0, say=lambda text: None, kinds=DATA):
    """Make at least ``count`` runs; returns how many there were, and the rows that failed or aroused suspicion."""
    random, module, runs, alarms = np.random.default_rng(seed), backend(), 0, []
    while runs < count:
        case = random_case(random)
        dtype, data = DTYPES[random.integers(len(DTYPES))], kinds[random.integers(len(kinds))]
        try:
            problems = list(case.problems(dtype, data))
        except ValueError:  # there is no such convolution
            continue
        for problem in problems:
            if macs(problem) > 100_000:
                continue
            report = tc.diff(problem.op, *problem.args, **problem.kwargs, backends=[module])
            for row in report.rows:
                runs += row.compared
                if row.passed is False or "suspicious" in row.note:
                    alarms.append(f"{case} {dtype} {data}, {problem.op.__name__}: {row}")
                    say(alarms[-1])
        say(f"{runs} runs, {len(alarms)} alarms")
    return runs, alarms


def macs(problem):
    """How many products a problem has."""
    call, _ = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)
    return call.terms * int(np.prod(call.backend_shape))


def main():
    """Make the runs of the command line."""
    runs, alarms = run(int(sys.argv[1]) if sys.argv[1:] else 10_000, say=lambda text: print(text, flush=True))
    print(f"{runs} runs of right kernels, {len(alarms)} alarms")
    sys.exit(bool(alarms))


if __name__ == "__main__":
    main()
