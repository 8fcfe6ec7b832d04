"""The slab of a part of a result: the geometry says what it reads, and algorithms say whether its bits are the same."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teachconv.backends import get, why_not
from teachconv.core.geometry import forward_geometry
from teachconv.core.kinds import FORWARD, INPUT_GRADIENT
from teachconv.core.law import AxisGeometry
from teachconv.core.slabs import axis_slab, slab
from teachconv.core.taps import gather_all

ROLES = {FORWARD: "output", INPUT_GRADIENT: "input"}


def triples(axis):
    """Yield (output, tap, input) of every tap that has a value behind it."""
    for out_index in range(axis.out_size):
        for tap in gather_all(axis, out_index):
            if not tap.in_padding:
                yield tap.out_index, tap.tap, tap.in_index


@given(st.data())
def test_a_slab_holds_the_taps_of_its_part_and_no_others(data):
    def integer(low, high, name):
        return data.draw(st.integers(low, high), name)

    # sizes and padding need not fit each other: a transposed geometry may be larger than the forward formula says
    axis = AxisGeometry(
        in_size=integer(1, 12, "in_size"),
        filter_size=integer(1, 4, "filter_size"),
        out_size=integer(1, 12, "out_size"),
        stride=integer(1, 4, "stride"),
        dilation=integer(1, 3, "dilation"),
        pad_before=integer(-4, 6, "pad_before"),
        pad_after=0,
    )
    role = data.draw(st.sampled_from(["output", "input"]), "role")
    first = integer(0, axis.size_of(role) - 1, "first")
    past = integer(first + 1, axis.size_of(role), "past")
    part, (low, high) = axis_slab(axis, role, (first, past))

    assert 0 <= low < high <= (axis.in_size if role == "output" else axis.out_size)
    assert (part.size_of(role), part.in_size + part.out_size) == (past - first, past - first + high - low)
    shift = (first, low) if role == "output" else (low, first)
    mine = 0 if role == "output" else 2
    want = {triple for triple in triples(axis) if first <= triple[mine] < past}
    got = {(o + shift[0], tap, i + shift[1]) for o, tap, i in triples(part)}
    assert got == want
    # it is no longer than the taps and the gaps of the dilation between them
    read = [triple[2 - mine] for triple in want]
    gap = axis.dilation if role == "output" else axis.effective_filter
    assert not read or (low > min(read) - gap and high - 1 < max(read) + gap)
    # the stored sizes agree: the taps end where the padding does
    assert part.in_index(part.out_size - 1, part.filter_size - 1) == part.in_size + part.pad_after - 1


def test_an_empty_part_reads_nothing():
    axis = forward_geometry((1, 5, 5, 1), (3, 3, 1, 1), (1, 1), ("VALID", ((0, 0), (0, 0))), (1, 1)).rows
    assert [axis_slab(axis, role, (0, 0))[1] for role in ("output", "input")] == [(0, 0), (0, 0)]


# ---------------------------------------------------------------------------------------------
# The same bits
# ---------------------------------------------------------------------------------------------


def random_geometry(rng, largest, channels):
    while True:
        groups, more, out = rng.choice([1, 1, 2, channels]), rng.choice([1, 2, 3]), rng.choice([1, 2, 5])
        sizes = (1, rng.randint(1, largest), rng.randint(1, largest), groups * more)
        filters = (rng.randint(1, 5), rng.randint(1, 5), more, groups * out)
        pads = tuple((rng.randint(-2, 4), rng.randint(-2, 4)) for _ in range(2))
        steps = [(rng.randint(1, 3), rng.randint(1, 3)) for _ in range(2)]
        try:
            return forward_geometry(sizes, filters, steps[0], ("EXPLICIT", pads), steps[1])
        except ValueError:
            continue  # the padding crops all of it


def values(rng, shape, dtype, kind):
    array = rng.standard_normal(shape)
    if kind == "underflow":  # products smaller than the smallest number: zeros that have a sign
        array *= np.sqrt(float(np.finfo(dtype).smallest_subnormal)) / 3
    if kind == "special":
        array[rng.random(shape) < 0.05] = np.inf
        array[rng.random(shape) < 0.05] = np.nan
    return (array * 50 if np.dtype(dtype).kind == "i" else array).astype(dtype)


def bits(array):
    """The bits of an array; every NaN has the same ones, because IEEE leaves their payload open."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.view(f"u{array.itemsize}")


def a_part(rng, size):
    first = rng.randint(0, size - 1)
    return first, rng.randint(first + 1, size)


def differing(module, algorithm, kind, geometry, dtype, data, seed, parts=2):
    """Return the parts whose bits are not those of the whole."""
    rng, role = random.Random(seed), ROLES[kind]
    numbers = np.random.default_rng(seed)
    first = values(numbers, geometry.shape_of(kind.first), dtype, data)
    filters = values(numbers, geometry.filters_shape, dtype, "underflow" if data == "underflow" else "normal")
    run = getattr(module, kind.name)
    with np.errstate(all="ignore"):
        whole, found = run(first, filters, geometry, algorithm=algorithm, precision=None), []
        for _ in range(parts):
            rows, cols = (a_part(rng, size) for size in whole.shape[1:3])
            part, ((top, bottom), (left, right)) = slab(geometry, role, 1, (rows, cols))
            read = np.ascontiguousarray(first[:, top:bottom, left:right])
            got = run(read, filters, part, algorithm=algorithm, precision=None)
            if not np.array_equal(bits(got), bits(whole[:, slice(*rows), slice(*cols)])):
                found.append((rows, cols))
    return found


DATA = {
    "float16": "normal",
    "float32": "normal underflow special",
    "float64": "normal underflow",
    "int32": "normal",
}
TRIED = [(dtype, data) for dtype, kinds in DATA.items() for data in kinds.split()]


@pytest.mark.parametrize(("backend", "rounds", "largest"), [("cython", 40, 40), ("reference", 3, 9)])
@pytest.mark.parametrize("kind", [FORWARD, INPUT_GRADIENT], ids=str)
def test_declared_algorithms_give_a_slab_the_bits_of_the_whole(backend, rounds, largest, kind):
    if why_not(backend):
        pytest.skip(why_not(backend))
    module, rng, seen = get(backend), random.Random(17), set()
    for number in range(rounds):
        geometry = random_geometry(rng, largest, 17)
        for dtype, data in TRIED:
            for one in module.ALGORITHMS:
                if one.independent_of_extent and one.fits(kind, dtype, geometry):
                    seen.add(one.name)
                    bad = differing(module, one.name, kind, geometry, dtype, data, number)
                    assert not bad, (one.name, dtype, data, geometry.integers, bad)
    assert seen == {a.name for a in module.ALGORITHMS if a.independent_of_extent and kind in a.kinds}


def test_what_the_backends_declare():
    declared = {
        name: [a.name for a in get(name).ALGORITHMS if a.independent_of_extent]
        for name in ("reference", "numpy", "scipy", "cython")
        if not why_not(name)
    }
    assert declared.pop("cython", ["direct", "row_gemm", "phases", "depthwise"]) == [
        "direct",
        "row_gemm",
        "phases",
        "depthwise",
    ]
    assert declared == {"reference": ["loops", "direct", "slices"], "numpy": [], "scipy": []}


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_winograd2_is_not_declared_because_its_tiles_begin_at_the_slab():
    geometry = forward_geometry((1, 20, 20, 16), (3, 3, 16, 32), (1, 1), ("VALID", ((0, 0), (0, 0))), (1, 1))
    found = [
        differing(get("cython"), "winograd2", FORWARD, geometry, "float32", "normal", n) for n in range(5)
    ]
    assert any(found)
