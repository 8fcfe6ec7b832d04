"""diff, explain, autotune, plan and their kin honour an op's options, or refuse them by name."""

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import numpy_backend

X, W = np.ones((1, 4, 4, 2), np.float32), np.ones((3, 3, 2, 2), np.float32)
OIHW, NCHW = W.transpose(3, 2, 0, 1), X.transpose(0, 3, 1, 2)
OUT = np.empty((1, 2, 2, 2), np.float32)


def rows_of(report):
    return {(row.name, row.algorithm) for row in report.rows}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tc.diff(tc.conv2d, X, W, backend="numpy"), r"diff takes no backend: give backends=\[...\]"),
        (lambda: tc.diff(tc.conv2d, X, W, out=OUT), "diff takes no out: it returns a report"),
        (lambda: tc.diff(tc.dialects.torch.conv2d, NCHW, OIHW, backend="numpy"), "diff takes no backend"),
        (lambda: tc.autotune(tc.conv2d, X, W, backend="numpy"), r"autotune takes no backend: give backends=\[...\]"),
        (lambda: tc.autotune(tc.conv2d, X, W, out=OUT), "autotune takes no out: it returns timings"),
        (lambda: tc.plan(tc.conv2d, W, input_shape=X.shape, out=OUT), r"plan takes no out: .*plan\(x, out=y\)"),
        (lambda: tc.resolve(tc.conv2d, X, W, backend="numpy"), "translation of a call takes no backend"),
        (lambda: tc.translate(tc.conv2d, X, W, to="torch", algorithm="im2col"), "takes no algorithm"),
        *(
            (lambda option=option: tc.explain(tc.conv2d, X, W, at=(0, 0, 0, 0), **option), "explain takes no .*diff compares")
            for option in ({"backend": "numpy"}, {"algorithm": "im2col"}, {"precision": "strict"}, {"out": OUT})
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_honoured_is_refused_by_name(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_diff_keeps_to_the_algorithm_and_the_precision():
    assert rows_of(tc.diff(tc.conv2d, X, W, backends=["numpy"], algorithm="taps")) == {("numpy", "taps")}
    assert rows_of(tc.diff(tc.conv2d, X, W, backends=["numpy"], algorithm="auto")) == {
        ("numpy", "im2col"),
        ("numpy", "taps"),
    }
    found = rows_of(tc.diff(tc.conv2d, X, W, backends=["numpy", "scipy"], precision="strict"))
    assert ("scipy", "fft") not in found
    assert {("scipy", "sparse"), ("numpy", "taps")} < found
    assert ("scipy", "fft") in rows_of(tc.diff(tc.conv2d, X, W, backends=["scipy"], precision="fast"))
    report = tc.diff(tc.conv2d, X, W, backends=["numpy"], algorithm="taps")
    assert report.rows[0].explanation is None or report.rows[0].explanation.value
    wrong = tc.diff(tc.conv2d, X, W, backends=[], algorithm="taps", against={"twice": 2 * tc.conv2d(X, W)})
    assert wrong.rows[0].explanation.value == 18


@pytest.mark.parametrize("function", [tc.diff, tc.autotune])
def test_no_backend_has_the_algorithm(function):
    with pytest.raises(
        ValueError, match="algorithm must be one of auto, im2col, taps; got 'tops' .did you mean .taps."
    ):
        function(tc.conv2d, X, W, backends=["numpy"], algorithm="tops")
    with pytest.raises(TypeError, match="algorithm 'fft' has no int32"):
        function(
            tc.conv2d, X.astype("int32"), W.astype("int32"), backends=["numpy", "scipy"], algorithm="fft"
        )
    with pytest.raises(ValueError, match="'fft' does not keep the element-wise bound"):
        function(tc.conv2d, X, W, backends=["scipy"], algorithm="fft", precision="strict")
    with pytest.raises(
        ValueError, match=r"""precision must be None.*got 'strikt' \(did you mean "strict"\?\)"""
    ):
        function(tc.conv2d, X, W, backends=["scipy"], precision="strikt")


def test_autotune_keeps_to_the_algorithm_and_the_precision():
    def measured(**options):
        return {(m.backend, m.algorithm) for m in tc.autotune(tc.conv2d, X, W, rounds=1, **options)}

    assert measured(backends=["numpy", "scipy"], algorithm="im2col") == {("numpy", "im2col")}
    assert measured(backends="scipy", precision="strict") == {("scipy", "sparse"), ("scipy", "direct")}


@pytest.mark.parametrize("backends", ["numpy", ["numpy"], numpy_backend, (numpy_backend,)], ids=str)
def test_one_backend_needs_no_list(backends):
    assert {m.algorithm for m in tc.autotune(tc.conv2d, X, W, rounds=1, backends=backends)} == {
        "im2col",
        "taps",
    }
    report = tc.diff(tc.conv2d, X, W, backends=backends)
    assert {row.algorithm for row in report.rows} == {"im2col", "taps"}


def test_against_takes_an_array_without_a_name():
    y = tc.conv2d(X, W)
    for theirs in (y, y.tolist()):
        report = tc.diff(tc.conv2d, X, W, backends=[], against=theirs)
        assert [(row.name, row.passed) for row in report.rows] == [("against", True)]
    assert not tc.diff(tc.conv2d, X, W, backends=[], against=y + 1).passed
    with pytest.raises(TypeError, match="against must be an array|must be an array of numbers"):
        tc.diff(tc.conv2d, X, W, backends=[], against="y.npy")


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (
            lambda theirs: tc.diff(tc.conv2d, X, W, backends=[], against={"port": theirs}),
            r"against\['port'\]",
        ),
        (lambda theirs: tc.plot.diff_heatmap(tc.conv2d, X, W, against=theirs), "against"),
        (lambda theirs: tc.explore(tc.conv2d, X, W).beside(theirs), "other"),
    ],
    ids=["diff", "diff_heatmap", "beside"],
)
def test_tools_name_the_argument_that_is_no_array(tool, name):
    with pytest.raises(TypeError, match=f"{name} must be an array: "):
        tool([[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match=f"{name} must have no masked elements"):
        tool(np.ma.masked_less(tc.conv2d(X, W), 1e9))


def test_explore_runs_on_the_backend_asked_for_and_explains_all_the_same():
    picture = tc.explore(tc.conv2d, X, W, backend="numpy", algorithm="taps", at=(0, 1, 1, 0))
    document = picture.data()
    assert (document["call"]["backend"], document["call"]["algorithm"]) == ("numpy", "taps")
    assert picture._repr_svg_().startswith("<svg")
    assert picture.beside(tc.conv2d(X, W) + 1, name="one more").data()["beside"]["passed"] is False


def test_options_that_are_none_are_no_options():
    nothing = {"backend": None, "algorithm": None, "precision": None, "out": None}
    assert tc.explain(tc.conv2d, X, W, at=(0, 0, 0, 0), **nothing).value == 18
    assert tc.diff(tc.conv2d, X, W, backends=["numpy"], **nothing).passed
    assert tc.plan(tc.conv2d, W, input_shape=X.shape, **nothing)(X)[0, 0, 0, 0] == 18
