"""Convolutions of rank 1 and 3 on every backend that has them, by the contract of `teachconv.backends`."""

from itertools import product
from math import prod
from types import ModuleType

import numpy as np
import pytest
from helpers import assert_same_bits, backend_algorithms, problems
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import Algorithm, blocks, get, numpy_backend, pad, ranks_of, reference
from teachconv.core.geometry import conv_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS, DepthwiseCells, layout_of
from teachconv.core.taps import products_of, reached
from teachconv.data.seeded import make_array
from teachconv.truth import bounds


def of_ranks(*, loops=False):
    """Every backend and algorithm that takes ranks 1 and 3."""
    found = [param.values for param in backend_algorithms() if not param.marks]
    found += [("reference", algorithm) for algorithm in reference.ALGORITHMS if loops]
    return [
        pytest.param(get(name), algorithm, id=f"{name}-{algorithm.name}")
        for name, algorithm in dict.fromkeys(found)
        if ranks_of(get(name)) == (1, 2, 3) and algorithm.ranks is None and algorithm.error == "direct"
    ]


BACKENDS = of_ranks()
RANKS = st.sampled_from([1, 3])


def a_problem(data, dtype, values="integers", rank=None, **sizes):
    """A random geometry of rank 1 or 3, and its arrays by their roles."""
    rank = data.draw(RANKS) if rank is None else rank
    sizes = {"max_size": 3 if rank == 3 else 9, "max_filter": 3} | sizes
    g = conv_geometry(**data.draw(problems(rank=rank, **sizes)))
    return g, {
        role: make_array(g.shape_of(role), dtype, values, role) for role in ("input", "filters", "output")
    }


def run(module, kind, arrays, g, algorithm=None):
    """The result of a kind of call of a backend, with an algorithm, or with its own choice if that is None."""
    name = algorithm and algorithm.name
    return getattr(module, kind.name)(arrays[kind.first], arrays[kind.second], g, algorithm=name)


def kinds_of(algorithm, dtype, g):
    """The kinds of call that an algorithm computes for a dtype and a geometry."""
    return [kind for kind in KINDS if algorithm.fits(kind, dtype, g)]


def test_a_backend_without_ranks_has_two_dimensions():
    assert ranks_of(ModuleType("mine")) == (2,)
    assert ranks_of(get("numpy")) == ranks_of(get("reference")) == (1, 2, 3)


@pytest.mark.parametrize("ranks", [2, None, "123", (), (1, "two"), (0, 2), {2: 2}])
def test_ranks_of_ones_own_backend_that_are_none_are_named(ranks):
    own = ModuleType("own")
    vars(own).update({kind.name: getattr(numpy_backend, kind.name) for kind in KINDS})
    own.ALGORITHMS, own.RANKS = numpy_backend.ALGORITHMS, ranks
    for sizes in ((4,), (4, 4)):
        taps = np.ones((*[3] * len(sizes), 1, 1))
        with pytest.raises(ValueError, match=r"RANKS of backend 'own' must be some of 1, 2 and 3.*; got "):
            tc.convolution(np.ones((1, *sizes, 1)), taps, backend=own)


@pytest.mark.parametrize(("module", "algorithm"), of_ranks(loops=True))
def test_rank_1_by_hand(module, algorithm):
    """A causal convolution: each output is the sample, minus the one two before."""
    g = conv_geometry((1, 5, 1), (2, 1, 1), padding=((2, 0),), dilations=2)
    arrays = {
        "input": np.int64([1, 2, 4, 8, 16]).reshape(g.input_shape),
        "filters": np.int64([-1, 1]).reshape(g.filters_shape),
        "output": np.int64([1, 0, 0, 2, 1]).reshape(g.output_shape),
    }
    want = {
        FORWARD: [1, 2, 3, 6, 12],
        INPUT_GRADIENT: [1, -2, -1, 2, 1],
        # the earlier tap meets 2 where out_backprop is 2 and 4 where it is 1; the later one 1, 8 and 16
        FILTER_GRADIENT: [8, 33],
    }
    check_by_hand(module, algorithm, g, arrays, want)


def check_by_hand(module, algorithm, g, arrays, want):
    """Compare all results with numbers worked out by hand, in integers and in float64."""
    for dtype in ("int64", "float64"):
        typed = {role: array.astype(dtype) for role, array in arrays.items()}
        for kind in kinds_of(algorithm, dtype, g):
            assert run(module, kind, typed, g, algorithm).ravel().tolist() == want[kind]


@pytest.mark.parametrize(("module", "algorithm"), of_ranks(loops=True))
def test_rank_3_by_hand(module, algorithm):
    """A 2 x 2 x 2 cube of 0..7 under a filter of ones, SAME: the padding is behind, below and to the right."""
    g = conv_geometry((1, 2, 2, 2, 1), (2, 2, 2, 1, 1), padding="SAME")
    arrays = {
        "input": np.arange(8).reshape(g.input_shape),
        "filters": np.ones(g.filters_shape, np.int64),
        "output": np.int64([0, 1, 0, 0, 0, 0, 0, 10]).reshape(g.output_shape),
    }
    want = {
        FORWARD: [28, 16, 18, 10, 22, 12, 13, 7],
        # output [0, 0, 1] feeds the cells with column 1, output [1, 1, 1] the last cell alone
        INPUT_GRADIENT: [0, 1, 0, 1, 0, 1, 0, 11],
        FILTER_GRADIENT: [1 + 70, 0, 3, 0, 5, 0, 7, 0],
    }
    check_by_hand(module, algorithm, g, arrays, want)


@settings(max_examples=30)
@given(data=st.data(), dtype=st.sampled_from(["float32", "float64", "bfloat16", "int32"]))
def test_loops_and_direct_give_the_same_bits(data, dtype):
    values = "integers" if dtype == "int32" else "normal"
    g, arrays = a_problem(data, dtype, values, max_size=2, max_filter=2, max_channels=2)
    loops, direct = (next(one for one in reference.ALGORITHMS if one.name == n) for n in ("loops", "direct"))
    for kind in KINDS:
        assert_same_bits(run(reference, kind, arrays, g, loops), run(reference, kind, arrays, g, direct))


@pytest.mark.parametrize(("module", "algorithm"), BACKENDS)
@settings(max_examples=15)
@given(data=st.data(), dtype=st.sampled_from(["float32", "float64", "float16", "int32", "int64"]))
def test_every_algorithm_keeps_its_bound(module, algorithm, data, dtype):
    """Integers of any type are exact; other numbers are within the bound of direct summation."""
    g, arrays = a_problem(data, dtype)
    kinds = kinds_of(algorithm, dtype, g)
    for kind in kinds:
        assert_same_bits(run(module, kind, arrays, g, algorithm), run(reference, kind, arrays, g))
    if dtype.startswith("float"):
        arrays = {role: make_array(array.shape, dtype, "normal", role) for role, array in arrays.items()}
        sizes = {role: np.abs(array.astype(np.float64)) for role, array in arrays.items()}
        for kind in kinds:
            abs_sum, terms = (
                run(numpy_backend, kind, sizes, g) * (1 + 2.0**-40),
                max(1, g.terms_of(kind.result)),
            )
            bound = bounds.direct(abs_sum, terms, dtype)
            want = run(reference, kind, arrays, g)
            assert bounds.judge(run(module, kind, arrays, g, algorithm), want, bound, abs_sum, terms).passed


@pytest.mark.parametrize(("module", "algorithm"), BACKENDS)
@settings(max_examples=20)
@given(data=st.data())
def test_the_gradients_are_the_adjoints(module, algorithm, data):
    """<conv(x), y> = <x, convT(y)> = <w, filter gradient>: in integers, and therefore exactly."""
    dtype = "int64" if "int64" in algorithm.dtypes else "float64"
    g, arrays = a_problem(data, dtype)
    results = {kind: run(numpy_backend, kind, arrays, g) for kind in KINDS}
    results |= {kind: run(module, kind, arrays, g, algorithm) for kind in kinds_of(algorithm, dtype, g)}
    assert len({int((results[kind] * arrays[kind.result]).sum()) for kind in KINDS}) == 1


def flat(geometry, more):
    """The arguments of a geometry with one more axis in front, of length 1."""
    (batch, *sizes, channels), filters = geometry.input_shape, geometry.filters_shape
    return conv_geometry(
        (batch, 1, *sizes, channels),
        (1, *filters),
        (more, *geometry.strides),
        ((0, 0), *geometry.padding),
        None,
        (more, *geometry.dilations),
    )


@pytest.mark.parametrize(("module", "algorithm"), of_ranks(loops=True))
@settings(max_examples=30)
@given(
    data=st.data(),
    rank=st.sampled_from([1, 2]),
    dtype=st.sampled_from(["float32", "float64", "float16", "int32"]),
)
def test_one_more_axis_of_length_1_changes_no_bit(module, algorithm, data, rank, dtype):
    """Rank 1 is rank 2 with one row, and rank 2 is rank 3 with a depth of 1."""
    g, arrays = a_problem(
        data, dtype, "integers" if dtype == "int32" else "normal", rank, max_size=4, max_channels=2
    )
    wide = flat(g, data.draw(st.integers(1, 3)))
    assert wide.axes[1:] == g.axes
    widened = {role: array.reshape(wide.shape_of(role)) for role, array in arrays.items()}
    for kind in kinds_of(algorithm, dtype, g):
        want = run(module, kind, arrays, g, algorithm)
        assert_same_bits(run(module, kind, widened, wide, algorithm).reshape(want.shape), want)


@settings(max_examples=20)
@given(data=st.data(), places=st.integers(1, 40))
def test_blocks_cover_the_output_once(data, places):
    g, arrays = a_problem(data, "int64", max_size=4)
    y, seen = run(reference, FORWARD, arrays, g), np.zeros(g.output_shape, int)
    for block in blocks(g, places):
        seen[block.outputs] += 1
        part = reference.conv2d(arrays["input"][block.inputs], arrays["filters"], block.geometry)
        assert np.array_equal(part, y[block.outputs])
    assert (seen == 1).all()


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize(("algorithm", "limit"), [("im2col", "_BLOCK_BYTES"), ("taps", "_BLOCK_MACS")])
def test_a_call_in_many_blocks_is_the_call_in_one(rank, algorithm, limit, monkeypatch):
    sizes = {1: (40,), 3: (5, 6, 7)}[rank]
    g = conv_geometry((2, *sizes, 4), (*(3, 2, 3)[:rank], 2, 6), 2, "SAME")
    arrays = {
        role: make_array(g.shape_of(role), "int64", "integers", role)
        for role in ("input", "filters", "output")
    }
    named = next(one for one in numpy_backend.ALGORITHMS if one.name == algorithm)
    whole = [run(numpy_backend, kind, arrays, g, named) for kind in KINDS]
    monkeypatch.setattr(numpy_backend, limit, 600 if limit == "_BLOCK_BYTES" else {"f": 300, "u": 100})
    cut = numpy_backend._patch_blocks if algorithm == "im2col" else numpy_backend._each_tap
    assert len(list(cut(g, np.dtype("uint64")))) > 2 * (
        1 if algorithm == "im2col" else prod(g.filters_shape[:-2])
    )
    for kind, want in zip(KINDS, whole, strict=True):
        assert np.array_equal(run(numpy_backend, kind, arrays, g, named), want)


def test_padding_is_on_all_sides_of_a_volume():
    g = conv_geometry((1, 1, 1, 1, 1), (3, 3, 3, 1, 1), padding=((1, 1), (2, 0), (0, 2)))
    padded = pad(np.ones(g.input_shape, np.float32), g)
    assert padded.shape == (1, 3, 3, 3, 1)
    assert np.argwhere(padded).tolist() == [[0, 1, 2, 0, 0]]


def test_infinity_meets_no_padding():
    """numpy takes its taps where im2col would multiply zeros of the padding by infinity."""
    g = conv_geometry((1, 3, 1), (3, 1, 1), padding="SAME")
    x, w = np.ones((1, 3, 1), np.float32), np.float32([np.inf, 1, 1]).reshape(3, 1, 1)
    assert numpy_backend.conv2d(x, w, g).ravel().tolist() == [2, np.inf, np.inf]


@settings(max_examples=30)
@given(data=st.data(), role=st.sampled_from(["input", "filters", "output"]))
def test_the_triples_of_a_cell_are_its_sum(data, role):
    g, arrays = a_problem(data, "int64", max_size=2, max_filter=2)
    (kind,) = (kind for kind in KINDS if kind.result == role)
    result, touched = run(reference, kind, arrays, g), np.broadcast_to(reached(g, role), g.shape_of(role))
    for cell in product(*map(range, result.shape)):
        count, go = products_of(g, role, cell, inside=True)
        cells = [triple.cells for triple in go()]
        assert len(cells) == count
        assert (count > 0) == touched[cell]
        assert {each[role] for each in cells} <= {cell}
        assert result[cell] == sum(
            arrays[kind.first][each[kind.first]] * arrays[kind.second][each[kind.second]] for each in cells
        )


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_depthwise_cells_of_any_rank(rank):
    sizes = (3, 2, 4)[:rank]
    names = DepthwiseCells({"filters": (*sizes, 5, 2)})
    named = {names.name("filters", cell) for cell in product(*map(range, (*sizes, 1, 10)))}
    assert named == set(product(*map(range, (*sizes, 5, 2))))
    assert all(names.name("filters", names.find("filters", cell)) == cell for cell in named)
    assert names.layout("filters") == layout_of("filters", rank).replace("O", "M")
    assert names.layout("output") == layout_of("output", rank)


def test_an_algorithm_may_refuse_by_rank():
    flat_only = Algorithm("mine", "", refuses=lambda kind, g: "" if g.rank == 2 else "two axes")
    assert not flat_only.fits(FORWARD, "float32", conv_geometry((1, 4, 1), (3, 1, 1)))
    assert flat_only.fits(FORWARD, "float32", conv_geometry((1, 4, 4, 1), (3, 3, 1, 1)))
