"""diff passes correct results, fails wrong ones, and names each planted mistake."""

import importlib
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import broken, ignoring

import teachconv as tc
from teachconv import backends
from teachconv.backends import numpy_backend
from teachconv.core.kinds import FORWARD
from teachconv.data.seeded import make_array
from teachconv.running.nn_ops import call_of
from teachconv.truth import bounds
from teachconv.verification import contract
from teachconv.verification.cases import find_cases
from teachconv.verification.diffing import WideTruth, check_cases


def real(shape, name="x", dtype="float32"):
    return make_array(shape, dtype, "normal", name)


X, W = real((2, 9, 8, 4)), real((3, 3, 4, 4), "w")


def code(op, *args, got, **kwargs):
    """Return the diagnosis of ``got``, a wrong port of the call."""
    report = tc.diff(op, *args, backends=[], against={"port": got}, **kwargs)
    assert not report.passed
    row = report.rows[0]
    assert row.bound_fraction > 1
    return None if row.diagnosis is None else row.diagnosis.code


def test_all_backends_pass_and_say_how_far_they_are():
    report = tc.diff(tc.conv2d, X, W, 2, "SAME")
    assert report.passed
    names = {(row.name, row.algorithm) for row in report.rows}
    geometry = tc.conv2d_geometry(X.shape, W.shape, 2, "SAME")
    expected = {
        (b.name, a.name)
        for b in tc.backends()
        for a in b.algorithms
        if b.name != "reference" and a.fits(FORWARD, "float32", geometry)
    }
    assert names == expected
    assert all(0 <= row.bound_fraction <= 1 for row in report.rows)
    assert any(row.max_ulps > 0 for row in report.rows)
    assert all(row.seconds > 0 for row in report.rows)
    assert "all pass" in str(report)
    assert "all pass" in report._repr_html_()


@pytest.mark.parametrize(
    ("op", "sizes", "taps"), [(tc.conv1d, (11,), (3,)), (tc.conv3d, (6, 7, 8), (2, 3, 3))], ids=["1", "3"]
)
def test_a_result_of_another_size_over_one_and_three_axes(op, sizes, taps):
    x, w = real((2, *sizes, 4)), real((*taps, 4, 5), "w")
    for right, wrong, want in (
        ({"padding": "SAME"}, {}, "padding_mode"),
        ({"padding": "SAME", "strides": 2}, {"padding": "SAME"}, "stride"),
        ({"strides": 2}, {"strides": 2, "dilations": 2}, "dilation"),
    ):
        assert code(op, x, w, got=op(x, w, **wrong), **right) == want
    y = op(x, w)
    assert code(op, x, w, got=y[:, :-1]) == "window"
    assert code(op, x, w, got=y[..., 0]) == "output_shape"


def test_a_right_result_from_elsewhere_passes():
    by_hand = np.einsum(
        "nrcabi,abio->nrco",
        np.lib.stride_tricks.sliding_window_view(X, (3, 3), (1, 2)).transpose(0, 1, 2, 4, 5, 3),
        W,
    )
    assert tc.diff(tc.conv2d, X, W, backends=[], against={"einsum": by_hand}).passed


def test_one_wrong_cell_is_found_and_explained():
    got = tc.conv2d(X, W, padding="SAME")
    got[1, 4, 5, 2] += 0.01
    row = tc.diff(tc.conv2d, X, W, 1, "SAME", backends=[], against={"port": got}).rows[0]
    assert not row.passed
    assert row.first_bad == row.worst == (1, 4, 5, 2)
    assert row.diagnosis is None
    assert row.explanation.cell == (1, 4, 5, 2)
    assert row.explanation.value == tc.conv2d(X, W, padding="SAME", backend="reference")[1, 4, 5, 2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
class TestPlanted:
    """Each common mistake, planted on purpose."""

    def arrays(self, dtype, layout):
        x, w = real((2, 9, 8, 4), "x", dtype), real((3, 3, 4, 4), "w", dtype)
        return (x.transpose(0, 3, 1, 2) if layout == "NCHW" else x), w

    def code(self, call, mistaken, layout, op=tc.conv2d):
        args, kwargs = call
        wrong_args, wrong_kwargs = mistaken
        kwargs, wrong_kwargs = kwargs | {"data_format": layout}, wrong_kwargs | {"data_format": layout}
        return code(op, *args, **kwargs, got=op(*wrong_args, **wrong_kwargs))

    def test_flipped_filter(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        same = {"padding": "SAME"}
        assert self.code(((x, w), same), ((x, w[::-1, ::-1]), same), layout) == "flipped_filter"
        assert self.code(((x, w), same), ((x, w[:, ::-1]), same), layout) == "flipped_filter"

    def test_swapped_filter_axes(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        assert self.code(((x, w), {}), ((x, w.swapaxes(0, 1)), {}), layout) == "swapped_filter_axes"

    def test_transposed_filter(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        assert self.code(((x, w), {}), ((x, w.swapaxes(2, 3)), {}), layout) == "transposed_filter"
        wide = real((3, 3, 4, 6), "w", dtype)
        read = wide.reshape(3, 3, 6, 4).swapaxes(2, 3)
        assert self.code(((x, wide), {}), ((x, read), {}), layout) == "transposed_filter"

    def test_padding_side(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        arguments = {"strides": 2, "padding": ((0, 1), (0, 1))}
        wrong = arguments | {"padding": ((1, 0), (1, 0))}
        assert self.code(((x, w), arguments), ((x, w), wrong), layout) == "padding_side"
        even = real((2, 2, 4, 4), "even", dtype)
        assert (
            self.code(((x, even), {"padding": "SAME"}), ((x, even), {"padding": "SAME_LOWER"}), layout)
            == "padding_side"
        )

    def test_stride_phase(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        arguments = {"strides": 3, "padding": ((1, 1), (1, 1))}
        wrong = arguments | {"padding": ((0, 2), (0, 2))}
        assert self.code(((x, w), arguments), ((x, w), wrong), layout) == "stride_phase"

    def test_groups(self, dtype, layout):
        x, _ = self.arrays(dtype, layout)
        w = real((3, 3, 2, 6), "grouped", dtype)
        channels = 1 if layout == "NCHW" else 3
        mixed = np.take(x, [0, 2, 1, 3], channels)
        assert self.code(((x, w), {}), ((mixed, w), {}), layout) == "groups"
        assert self.code(((x, w), {}), ((x, w[..., [0, 3, 1, 4, 2, 5]]), {}), layout) == "groups"

    def test_groups_depthwise(self, dtype, layout):
        x, _ = self.arrays(dtype, layout)
        w = real((3, 3, 4, 2), "depthwise", dtype)
        y = tc.depthwise_conv2d(x, w, data_format=layout)
        wrong = np.take(y, [0, 2, 4, 6, 1, 3, 5, 7], 1 if layout == "NCHW" else 3)  # multiplier first
        assert code(tc.depthwise_conv2d, x, w, data_format=layout, got=wrong) == "groups"

    def test_layout(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        y = tc.conv2d(x, w, padding="SAME", data_format=layout)
        other = y.transpose(0, 3, 1, 2) if layout == "NHWC" else y.transpose(0, 2, 3, 1)
        assert code(tc.conv2d, x, w, padding="SAME", data_format=layout, got=other) == "layout"
        assert (
            code(tc.conv2d, x, w, padding="SAME", data_format=layout, got=other.reshape(y.shape)) == "layout"
        )

    def test_output_shape(self, dtype, layout):
        x, w = self.arrays(dtype, layout)
        wrong = tc.conv2d(x, w, padding=2, data_format=layout)
        assert code(tc.conv2d, x, w, data_format=layout, got=wrong) == "padding"
        assert code(tc.conv2d, x, w, data_format=layout, got=wrong[..., 0]) == "output_shape"

    @pytest.mark.parametrize("step", [(0, 1), (2, -1)])
    def test_shift(self, dtype, layout, step):
        x, w = self.arrays(dtype, layout)
        y = tc.conv2d(x, w, padding="SAME", data_format=layout)
        axes = (2, 3) if layout == "NCHW" else (1, 2)
        got = np.roll(y, step, axes)  # got[r, c] = want[r - dr, c - dc]
        assert (
            code(tc.conv2d, x, w, padding="SAME", data_format=layout, got=got)
            == f"shift({step[0]},{step[1]})"
        )


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_output_alignment(dtype):
    x, w = real((1, 8, 8, 2), "x", dtype), real((3, 3, 4, 2), "w", dtype)
    wide = tc.conv2d_transpose(x, w, (1, 17, 17, 4), 2, "VALID")
    for size, wrong in ((15, wide[:, :15, :15]), (15, wide[:, 2:, 2:]), (16, wide[:, 1:, 1:])):
        shape = (1, size, size, 4)
        assert code(tc.conv2d_transpose, x, w, shape, 2, got=wrong) == "output_alignment"


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_mistakes_in_gradients(dtype):
    x, w = real((2, 8, 8, 4), "x", dtype), real((3, 3, 4, 4), "w", dtype)
    dy = real((2, 4, 4, 4), "dy", dtype)
    dx = (x.shape, w, dy, 2, "SAME")
    op = tc.conv2d_backprop_input
    assert code(op, *dx, got=op(x.shape, w[::-1, ::-1], dy, 2, "SAME")) == "flipped_filter"
    assert code(op, *dx, got=op(x.shape, w, dy, 2, ((1, 0), (1, 0)))) == "padding_side"
    dw = (x, w.shape, dy, 2, "SAME")
    op = tc.conv2d_backprop_filter
    right = op(*dw)
    assert code(op, *dw, got=right[::-1, ::-1]) == "flipped_filter"
    assert code(op, *dw, got=right.swapaxes(2, 3)) == "transposed_filter"
    assert code(op, *dw, got=right.swapaxes(0, 1)) == "swapped_filter_axes"
    assert code(op, *dw, got=op(x, w.shape, dy, 2, ((1, 0), (1, 0)))) == "padding_side"


def test_noise_has_no_diagnosis(rng):
    wrong = rng.standard_normal((2, 7, 6, 4)).astype(np.float32)
    assert code(tc.conv2d, X, W, got=wrong) is None


def test_a_module_of_ones_own():
    assert tc.check_backend(broken(), ["float32", "int32"], tags=["odd", "crop"]).passed
    assert tc.diff(tc.conv2d, X, W, backends=[broken()]).passed

    def flipped(x, w, geometry, **options):
        return numpy_backend.conv2d(x, w[::-1, ::-1], geometry, **options)

    report = tc.check_backend(broken(conv2d=flipped), ["float32"], tags=["odd", "depthwise"], data="normal")
    assert not report.passed
    assert "flipped_filter" in {row.diagnosis.code for row in report.rows if row.diagnosis}
    assert {row.name.split(": ")[1].split(" ")[0] for row in report.rows if row.passed is False} <= {
        "conv2d",
        "depthwise_conv2d",
    }


def test_a_backend_is_checked_by_its_name_and_in_the_dtypes_that_there_are(monkeypatch):
    one = [case for case in find_cases() if case.name == "same"]
    monkeypatch.setattr(contract, "find_cases", lambda *chosen: one)
    assert len(tc.check_backend("numpy", "float32").rows) == len(tc.check_backend("numpy", np.float32).rows)
    found = tc.check_backend("numpy", [np.float32])
    assert found.passed
    assert "contract on numpy" in found.title
    assert {row.name.split(", ")[1].split(" ")[0] for row in found.rows} == {"float32"}
    with pytest.raises(ValueError, match='did you mean "numpy"'):
        tc.check_backend("nunpy")
    with pytest.raises(TypeError, match='did you mean "float32"'):
        tc.check_backend("numpy", ["flaot32"])
    with pytest.raises(
        ValueError, match=r"dtypes \['uint8'\]: the algorithms of numpy list float16, bfloat16"
    ):
        tc.check_backend("numpy", ["uint8"])
    monkeypatch.setattr(contract, "find_spec", lambda name: None)  # as where ml_dtypes is not installed
    names = {part for row in tc.check_backend("numpy").rows for part in re.split("[, ]+", row.name)}
    assert "bfloat16" not in names
    assert {"float16", "float32", "float64", "int32", "int64"} <= names


@pytest.mark.parametrize("what", ["out", "bias", "activation"])
@pytest.mark.usefixtures("undiagnosed")
def test_a_backend_that_ignores_an_argument_fails(what):
    report = tc.check_backend(ignoring(what), ["float32", "int32"], tags="odd")
    assert not report.passed
    assert {"float32", "int32"} <= {
        part for row in report.rows if row.passed is False for part in row.name.split(", ")
    }


@pytest.mark.usefixtures("undiagnosed")
def test_a_backend_that_leaves_part_of_out_unwritten_fails():
    def forgets(x, w, geometry, *, out=None, **options):
        result = numpy_backend.conv2d(x, w, geometry, **options)
        if out is None:
            return result
        out[:, 1:] = result[:, 1:]
        return out

    dtypes = ["bfloat16", "float32", "int64"]
    report = tc.check_backend(broken(conv2d=forgets), dtypes, tags="odd")
    failed = [row for row in report.rows if row.passed is False]
    assert {row.name.split(", ")[1] for row in failed} == set(dtypes)
    assert all("out=" in row.name for row in failed)


@pytest.mark.usefixtures("undiagnosed")
def test_a_backend_that_wants_contiguous_or_writeable_arrays_fails():
    def reads_memory(x, w, geometry, **options):
        return numpy_backend.conv2d(np.ndarray(x.shape, x.dtype, np.array(x.base)), w, geometry, **options)

    def writes(x, w, geometry, **options):
        x *= 1
        return numpy_backend.conv2d(x, w, geometry, **options)

    for wrong in (reads_memory, writes):
        failed = [
            row.name
            for row in tc.check_backend(broken(conv2d=wrong), ["float32"], tags="odd").rows
            if row.passed is False
        ]
        assert any(name.endswith("strided, read-only") for name in failed)


def test_what_a_backend_returns_is_checked_at_every_call():
    def other_dtype(x, w, geometry, **options):
        return numpy_backend.conv2d(x, w, geometry, **options).astype("float64")

    out = np.empty(tc.conv2d(X, W).shape, X.dtype)
    with pytest.raises(tc.ContractError, match="my_backend.conv2d returned .* float64, not .* float32"):
        tc.conv2d(X, W, backend=broken(conv2d=other_dtype))
    with pytest.raises(tc.ContractError, match="ignored out="):
        tc.conv2d(X, W, backend=ignoring("out"), out=out)
    row = tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=other_dtype)]).rows[0]
    assert not row.passed
    assert "float64" in row.note


def test_a_reloaded_backend_is_looked_at_again(tmp_path, monkeypatch):
    source = "from teachconv.backends.numpy_backend import *\nfrom teachconv.backends.numpy_backend import ALGORITHMS"
    path = tmp_path / "reloaded_backend.py"
    path.write_text(
        source + "\nfrom teachconv.backends import Algorithm\nALGORITHMS = (Algorithm('old', 'one'),)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    own = importlib.import_module("reloaded_backend")
    assert tc.trace(tc.conv2d, X, W, backend=own, algorithm="old").backend == "reloaded_backend"
    path.write_text(path.read_text().replace("'old'", "'new'"))
    importlib.reload(own)
    with pytest.raises(ValueError, match="must be one of auto, new"):
        tc.conv2d(X, W, backend=own, algorithm="old")
    assert tc.conv2d(X, W, backend=own, algorithm="new").shape


def test_a_module_that_raises_or_returns_nonsense_is_a_failed_row():
    def raises(x, w, geometry, **options):
        raise ZeroDivisionError("oops")

    def short(x, w, geometry, **options):
        return numpy_backend.conv2d(x, w, geometry, **options)[:, :-1]

    row = tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=raises)]).rows[0]
    assert not row.passed
    assert row.note == "raised ZeroDivisionError: oops"
    for returned, what in ((None, "NoneType"), ("text", "str")):
        row = tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=lambda *a, got=returned, **o: got)]).rows[0]
        assert not row.passed
        assert row.note == f"my_backend.conv2d returned {what}, not [2, 7, 6, 4] float32"

    def says_nothing(x, w, geometry, **options):
        raise ValueError

    assert (
        tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=says_nothing)]).rows[0].note == "raised ValueError"
    )
    row = tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=short)]).rows[0]
    assert not row.passed
    assert row.diagnosis.code == "window"
    incomplete = broken()
    del incomplete.ALGORITHMS
    with pytest.raises(ValueError, match="or a module with a tuple ALGORITHMS"):
        tc.check_backend(incomplete)
    with pytest.raises(TypeError, match="such as a module or a class; SimpleNamespace is not"):
        tc.check_backend(SimpleNamespace(**vars(broken())))


def test_bad_arguments():
    with pytest.raises(ValueError, match="backend must be one of"):
        tc.diff(tc.conv2d, X, W, backends=["cudnn"])
    with pytest.raises(TypeError, match=r"against\['port'\] must be an array of numbers"):
        tc.diff(tc.conv2d, X, W, against={"port": "text"})
    y = np.ma.array(tc.conv2d(X, W), mask=True)
    with pytest.raises(
        ValueError, match=r"against\['port'\] must have no masked elements: .* got 336 of them"
    ):
        tc.diff(tc.conv2d, X, W, backends=[], against={"port": y})
    with pytest.raises(ValueError, match="other must have no masked elements"):
        tc.explore(tc.conv2d, X, W).beside(y)
    for against in (None, {}):
        with pytest.raises(ValueError, match="name a backend, or give an array"):
            tc.diff(tc.conv2d, X, W, backends=[], against=against)
    with pytest.raises(TypeError, match="module must be a backend or the name of one, .*; got None"):
        tc.check_backend(None)


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        (None, "must be a tuple of teachconv.backends.Algorithm; got None"),
        (("plain",), "must be a tuple of teachconv.backends.Algorithm; got 'plain' in it"),
        ((), "at least one; it is empty"),
    ],
)
def test_a_backend_without_algorithms_is_refused(algorithms, message):
    for call in (
        lambda own: tc.check_backend(own),
        lambda own: tc.diff(tc.conv2d, X, W, backends=[own]),
        lambda own: tc.conv2d(X, W, backend=own),
    ):
        with pytest.raises((TypeError, ValueError), match=f"ALGORITHMS of backend 'my_backend' .*{message}"):
            call(broken(ALGORITHMS=algorithms))


def test_what_an_algorithm_says_of_itself_is_checked():
    names = set(bounds.__all__) - {"Verdict", "gamma", "judge", "half_accumulation"}
    assert set(backends.BOUNDS) == names | {"float16 accumulation", "bfloat16 accumulation"}
    for words, message in (
        ({"error": "drect"}, r"error of algorithm 'own' must be one of direct, .*'drect' \(did you mean"),
        ({"precision": "nope"}, "precision of algorithm 'own' must be one of strict, default, fast, tf32"),
        ({"dtypes": ("float31",)}, "dtypes of algorithm 'own' must be one of float16"),
        ({"kinds": ("conv3d",)}, "kind must be one of conv2d"),
    ):
        with pytest.raises(ValueError, match=message):
            backends.Algorithm("own", "", **words)


def test_an_algorithm_that_would_take_long_is_run_only_where_it_is_named(monkeypatch):
    """The backend says how long; an estimate of 5 s is within the budget."""
    pytest.importorskip("scipy")
    scipy_backend = importlib.import_module("teachconv.backends.scipy_backend")
    ran = []
    for name, number in (("sparse", 41.0), ("direct", 5.0)):
        monkeypatch.setattr(
            scipy_backend,
            "expected_seconds",
            lambda kind, geometry, name=name, number=number: ran.append(kind.name) or {name: number},
        )
        report = tc.diff(tc.conv2d, X, W, backends="scipy")
        late = [row for row in report.rows if not row.compared]
        assert report.passed
        assert ran
        assert [row.algorithm for row in late] == ["sparse"] * (number > 5)
        for row in late:
            assert row.note == "it would take more than 5 s: about 41 s; algorithm='sparse' runs it"
            assert report.summary.startswith("2 pass, 1 not run (1: it would take more than 5 s): ")
        named = tc.diff(tc.conv2d, X, W, backends="scipy", algorithm=name)
        assert [(row.algorithm, row.passed) for row in named.rows] == [(name, True)]


@pytest.mark.usefixtures("undiagnosed")
def test_an_algorithm_that_lacks_memory_is_not_wrong():
    def refuses(x, w, geometry, **options):
        raise MemoryError("the padded input needs 9 TiB")

    report = tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=refuses), "numpy"])
    assert report.passed
    row = report.rows[0]
    assert (row.passed, row.compared, row.max_abs) == (None, False, 0)
    missing = sum(not row.compared for row in report.rows)
    assert report.summary.startswith(f"2 pass, {missing} not run ({missing}: the padded input needs 9 TiB): ")
    assert row.note == "the padded input needs 9 TiB"
    assert "not run" in str(report)
    alone = tc.diff(tc.conv2d, X, W, backends=[broken(conv2d=refuses)])
    assert alone.passed is None
    assert "nothing was compared" in str(alone)
    assert not tc.check_backend(
        broken(conv2d=refuses), "float32", tags="hand"
    ).passed  # whose cases are small


@pytest.mark.usefixtures("undiagnosed")
def test_integers_are_compared_exactly_with_floats():
    x, w = np.ones((1, 1, 1, 1), "int64"), np.full((1, 1, 1, 1), 2**53 + 1)
    for theirs, error in ((2.0**53, 1), (np.nan, np.inf), (-np.inf, np.inf), (2**53 + 1, 0)):
        row = tc.diff(tc.conv2d, x, w, backends=[], against=np.full((1, 1, 1, 1), theirs)).rows[0]
        assert (row.passed, row.max_abs) == (error == 0, error)


@pytest.mark.parametrize("tags", [["hand", "odd", "crop"], pytest.param("small", marks=pytest.mark.slow)])
def test_the_table_passes(tags):
    """test_backends has each algorithm of every backend on all dtypes."""
    rows = check_cases(dtype="float32", data="integers", cases=find_cases(tags))
    assert all(row.passed for row in rows), [row.name for row in rows if row.passed is False]


def passing(dtype, x, w, *results):
    """Return which of these results of a single sum pass; every backend of ours must."""
    x, w = np.array(x, dtype).reshape(1, 1, 1, -1), np.array(w, dtype).reshape(1, 1, -1, 1)
    against = {str(value): np.full((1, 1, 1, 1), value, dtype) for value in results}
    report = tc.diff(tc.conv2d, x, w, against=against)
    ours, theirs = report.rows[: -len(results)], report.rows[-len(results) :]
    assert all(row.passed for row in ours), report
    return [float(row.name) for row in theirs if row.passed]


@pytest.mark.usefixtures("undiagnosed")
def test_where_the_result_overflows_only_its_infinity_or_a_number_near_the_largest_passes():
    special = (0, 5, -np.inf, np.inf)
    assert passing("float16", [60000], [2], *special, np.nan, 65504) == [np.inf]  # 120000
    assert passing("float16", [65504, 20], [1, 1], *special, 65504, 65472) == [
        np.inf
    ]  # 65524, nearer to 65536
    assert passing("float32", [3e38], [2], *special, np.nan, 3.4e38) == [np.inf]
    assert passing("float64", [-1.5e308], [2], *special, np.nan, -1.7e308) == [-np.inf]
    # the sum of the positive terms is 60000, which float32 holds; in float32 itself it may become infinity
    assert passing("float16", np.full(400, 300), [1, -1] * 200, *special, np.nan) == [0]
    assert len(passing("float32", [3e38] * 4, [1, 1, -1, -1], np.nan, np.inf, -np.inf)) == 3
    assert passing("float32", [3e38] * 3, [1, 1, -1], *special, np.nan) == [np.inf]
    # an infinity among the data stays; a sum that overflows on the other side makes it NaN
    assert passing("float32", [np.inf, 1], [1, 2], *special, np.nan, 3e38) == [np.inf]
    row = tc.diff(tc.conv2d, [[[[np.inf, 3e38]]]], [[[[1.0], [-2.0]]]], backends="numpy").rows[0]
    assert row.passed


@pytest.mark.parametrize("size", [2.0**-1025, 2.0**-1074])
def test_numbers_below_the_smallest_normal_one_are_judged(size):
    x, w = np.full((1, 5, 5, 1), size), np.ones((3, 3, 1, 1))
    for op, args in (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (x.shape, w, x[:, :3, :3])),
        (tc.conv2d_backprop_filter, (x, w.shape, x[:, :3, :3])),
    ):
        assert tc.diff(op, *args).passed


RIGHT = numpy_backend.conv2d


def writes_to_its_filter(x, w, geometry, **options):
    y = RIGHT(x, w, geometry, **options)
    if w.flags.writeable:
        w[...] = 0
    return y


def returns_one_buffer(x, w, geometry, *, buffers={}, **options):  # noqa: B006 (that is the bug)
    y = RIGHT(x, w, geometry, **options)
    buffer = y if options.get("out") is not None else buffers.setdefault((y.shape, y.dtype), y)
    buffer[...] = y
    return buffer


def needs_a_contiguous_out(x, w, geometry, *, out=None, **options):
    y = RIGHT(x, w, geometry, **options)
    if out is None:
        return y
    out.reshape(-1)[...] = y.reshape(-1)
    return out


def needs_an_algorithm(x, w, geometry, *, algorithm, **options):
    return RIGHT(x, w, geometry, algorithm=algorithm, **options) * (1 if algorithm else 2)


def knows_no_precision(x, w, geometry, *, precision, **options):
    assert precision is None
    return RIGHT(x, w, geometry, precision=precision, **options)


def has_no_relu_without_bias(x, w, geometry, *, bias=None, activation=None, **options):
    return RIGHT(x, w, geometry, bias=bias, activation=activation if bias is not None else None, **options)


def has_no_bias_with_out(x, w, geometry, *, bias=None, out=None, **options):
    return RIGHT(x, w, geometry, bias=bias if out is None else None, out=out, **options)


def has_no_relu_with_out(x, w, geometry, *, activation=None, out=None, **options):
    return RIGHT(x, w, geometry, activation=activation if out is None else None, out=out, **options)


def takes_nan_as_zero(x, w, geometry, **options):
    return RIGHT(np.nan_to_num(x), w, geometry, **options)


def needs_a_contiguous_bias(x, w, geometry, *, bias=None, **options):
    memory = bias if bias is None or bias.flags.c_contiguous else bias.base[: len(bias)]
    return RIGHT(x, w, geometry, bias=memory, **options)


def cannot_go_backwards(x, w, geometry, **options):
    return RIGHT(x[:, ::-1] if x.strides[1] < 0 else x, w, geometry, **options)


def reads_past_its_arrays(x, w, geometry, **options):
    y = RIGHT(x, w, geometry, **options)
    if x.base is None or not x.flags.c_contiguous:
        return y
    start = x.ctypes.data - x.base.ctypes.data
    block = np.lib.stride_tricks.as_strided(x, (x.size + 1,), (x.itemsize,)) if start else x.reshape(-1)
    return y + 0 * block[-1]


def writes_past_out(x, w, geometry, *, out=None, **options):
    y = RIGHT(x, w, geometry, **options)
    if out is None:
        return y
    out[...] = y
    if out.flags.c_contiguous and out.base is not None:
        np.lib.stride_tricks.as_strided(out, (out.size + 1,), (out.itemsize,))[-1] = 0
    return out


def needs_aligned_arrays(x, w, geometry, **options):
    return RIGHT(x * (x.ctypes.data % 64 == 0 or not x.flags.c_contiguous), w, geometry, **options)


def caches_weights_by_address(x, w, geometry, *, cache={}, **options):  # noqa: B006 (that is the bug)
    kept = cache.setdefault((w.ctypes.data, w.shape, w.strides, w.dtype), (w, w.copy()))
    return RIGHT(x, kept[1], geometry, **options)


def flushes_subnormals(x, w, geometry, **options):
    tiny = np.finfo(x.dtype).tiny
    return RIGHT(np.where(np.abs(x) < tiny, 0, x).astype(x.dtype), w, geometry, **options)


def overflows_on_the_way(x, w, geometry, **options):
    with np.errstate(all="ignore"):
        return RIGHT(x * np.float32(2**20), w, geometry, **options) / np.float32(2**20)


def gives_other_bits_each_time(x, w, geometry, *, calls=[0], **options):  # noqa: B006
    calls[0] += 1
    y = RIGHT(x, w, geometry, **options)
    return np.nextafter(y, np.float32(np.inf)) if calls[0] % 2 else y


@pytest.mark.parametrize(
    ("bug", "check", "sentence"),
    [
        (reads_past_its_arrays, "misaligned, read-only", "read outside its arrays: "),
        (writes_past_out, "out=", "wrote outside out: 1 cell around it"),
        (needs_aligned_arrays, "misaligned, read-only", ""),
        (caches_weights_by_address, "new numbers at an old address", "that was at this address before"),
        (flushes_subnormals, "subnormal numbers", ""),
        (overflows_on_the_way, "huge numbers", ""),
        (gives_other_bits_each_time, "float32 normal", "gives other bits when run again: "),
    ],
)
@pytest.mark.usefixtures("undiagnosed")
def test_a_backend_that_breaks_the_contract_in_memory_fails_and_is_told(bug, check, sentence):
    rows = tc.check_backend(broken(conv2d=bug), "float32", tags="odd").rows
    notes = [row.note for row in rows if row.passed is False and row.name.endswith(check)]
    assert notes
    assert all(sentence in note for note in notes)


@pytest.mark.parametrize(
    ("bug", "check"),
    [
        (writes_to_its_filter, "input unchanged"),
        (returns_one_buffer, "a new array"),
        (needs_a_contiguous_out, "out= not contiguous, bias and relu"),
        (has_no_bias_with_out, "out= not contiguous, bias and relu"),
        (has_no_relu_with_out, "out= not contiguous, bias and relu"),
        (needs_an_algorithm, "algorithm=None"),
        (knows_no_precision, "algorithm=None, precision='strict'"),
        (has_no_relu_without_bias, "relu without bias"),
        (takes_nan_as_zero, "NaN, bias and relu"),
        (needs_a_contiguous_bias, "strided, read-only"),
        (cannot_go_backwards, "negative strides"),
    ],
)
@pytest.mark.usefixtures("undiagnosed")
def test_a_backend_that_breaks_the_contract_where_no_number_shows_it_fails(bug, check, monkeypatch):
    monkeypatch.setattr(contract, "check_cases", lambda *arguments: [])
    rows = tc.check_backend(broken(conv2d=bug), ["float32"]).rows
    failed = [row.name.partition("float32, ")[2] for row in rows if row.passed is False]
    assert check in failed
    assert all(row.passed for row in rows if "gradient" in row.name)


@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        ("five images, 70 to 66 channels", lambda g: g.batch > 4),
        ("five images, 70 to 66 channels", lambda g: g.in_channels > 64),
        ("five images, 70 to 66 channels", lambda g: g.out_channels > 64),
        ("9x9", lambda g: g.rows.filter_size > 7),
        ("70 rows", lambda g: g.rows.out_size > 64),
    ],
)
@pytest.mark.usefixtures("undiagnosed")
def test_a_kernel_whose_blocks_are_too_small_fails(case, wrong):
    def zeros_at_the_end(x, w, geometry, **options):
        y = RIGHT(x, w, geometry, **options)
        if wrong(geometry):
            y[-1, -1, -1, -1] = 0
        return y

    cases = [one for one in find_cases() if one.name == case]
    assert all(row.passed for row in check_cases([numpy_backend], cases=cases))
    assert not all(row.passed for row in check_cases([broken(conv2d=zeros_at_the_end)], cases=cases))


@pytest.mark.usefixtures("undiagnosed")
def test_what_a_backend_writes_to_its_input_is_seen_and_reaches_nobody_else():
    def writes(x, w, geometry, **options):
        y = RIGHT(x, w, geometry, **options)
        if x.flags.writeable:
            x *= 0
        return y

    def must_write(x, w, geometry, **options):
        x *= 0
        return RIGHT(x, w, geometry, **options)

    x, before = X.copy(), X.copy()
    for bug in (writes, must_write):
        report = tc.diff(tc.conv2d, x, W, backends=[broken(conv2d=bug), "numpy"])
        assert np.array_equal(x, before)
        assert all(row.passed for row in report.rows if row.name == "numpy")
    assert "read-only" in report.rows[0].note
    rows = tc.check_backend(broken(conv2d=writes), ["float32"], tags="odd").rows
    notes = {row.note for row in rows if row.passed is False}
    assert notes == {"the backend wrote to its input: input was changed"}
    assert tc.check_backend(numpy_backend, ["float32"], tags="odd").passed


def test_a_bias_with_memory_strides_is_added():
    x, w, bias = np.ones((1, 3, 3, 2), "f4"), np.ones((3, 3, 2, 3), "f4"), np.arange(6, dtype="f4")[::-2]
    for backend in (info.name for info in tc.backends() if info.available):
        assert tc.conv2d(x, w, bias=bias, backend=backend).tolist() == [[[[23, 21, 19]]]]


@pytest.mark.skipif(bool(backends.why_not("cython")), reason=backends.why_not("cython") or "compiled")
def test_what_rows_of_a_backend_share_is_computed_once(monkeypatch):
    """The bound of winograd and winograd2, and the plain loops, which are cython's direct."""
    from teachconv.backends import cython_backend

    transforms, loops = [], []
    bound, direct = bounds._winograd, cython_backend._run_direct
    monkeypatch.setattr(bounds, "_winograd", lambda *a: transforms.append(a[-2]) or bound(*a))
    monkeypatch.setitem(cython_backend._LOOPS, "direct", lambda *a: loops.append(a) or direct(*a))
    monkeypatch.setattr("teachconv.verification.diffing._BRIEF", 0)
    x, w = make_array((1, 12, 12, 16), "float32"), make_array((3, 3, 16, 32), "float32")
    assert tc.diff(tc.conv2d, x, w, padding="SAME", backends=["cython"]).passed
    assert (sorted(transforms), len(loops)) == (["winograd", "winograd4"], 1)


def test_a_bound_that_does_not_hold_is_not_that_of_another_name():
    """`winograd2` is `winograd` where both hold; filters of 5 x 5 have several pieces."""
    x, w = make_array((1, 8, 8, 2), "float32"), make_array((5, 5, 2, 3), "float32")
    truth = WideTruth(call_of(tc.conv2d, (x, w), {})[0])
    assert truth.bound("winograd").shape == truth.want.shape
    with pytest.raises(ValueError, match="'winograd2' needs filters 3 x 3"):
        truth.bound("winograd2")
