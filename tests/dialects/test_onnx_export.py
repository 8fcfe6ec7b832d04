"""Single calls as ONNX files: the nodes, the numbers back from our own run, bad arguments, and the writing.

Small integers make every sum exact, so that results must be equal. tests/peers runs the same files in
onnxruntime.
"""

import inspect
import sys

import numpy as np
import pytest
from exported import calls_of, check, dialect_calls, operators, run_here
from helpers import problems
from hypothesis import given, settings

import teachconv as tc

onnx = pytest.importorskip("onnx", reason="onnx is not installed")


@settings(max_examples=8)
@given(problems())
def test_every_op_on_random_geometries(problem):
    for op, arguments in calls_of(problem):
        check(op, arguments)


@pytest.mark.parametrize(("rank", "seeds"), [(2, 30), (1, 20), (3, 20)])
@pytest.mark.parametrize("framework", ["torch", "onnx", "jax", "keras", "tensorflow"])
def test_calls_of_every_dialect(framework, rank, seeds):
    calls = list(dialect_calls(framework, range(7000, 7000 + seeds), rank))
    assert len(calls) > seeds / 4
    for op, arguments in calls:
        check(op, arguments)


def test_layouts_that_cancel_leave_no_transpose():
    x, w = np.ones((1, 3, 8, 8), "float32"), np.ones((4, 3, 3, 3), "float32")
    assert operators(tc.to_onnx(tc.dialects.torch.conv2d, x, w, padding=1)) == ["Conv"]
    assert operators(tc.to_onnx(tc.dialects.onnx.conv, x.shape, w.shape)) == ["Conv"]
    kernel = np.ones((3, 3, 3, 4), "float32")
    assert operators(tc.to_onnx(tc.conv2d, x, kernel, 1, "SAME", "NCHW")) == ["Conv"]
    assert operators(tc.to_onnx(tc.conv2d, (1, 8, 8, 3), kernel)) == ["Transpose", "Conv", "Transpose"]


def test_pads_that_the_operator_says_and_those_that_it_cannot():
    """Asymmetric pads are Conv's own; cropping is a Slice before it, and zeros in front of full a Pad after."""
    x, w = (1, 4, 4, 1), np.ones((3, 3, 1, 1), "float32")

    def attributes(*call, **words):
        node = next(n for n in tc.to_onnx(*call, **words).graph.node if n.op_type.startswith("Conv"))
        return {item.name: list(item.ints) for item in node.attribute if item.ints}

    assert attributes(tc.conv2d, x, w, 2, "SAME")["pads"] == [0, 0, 1, 1]
    cropped = tc.to_onnx(tc.conv2d, x, w, 1, ((-1, 0), (2, 1)))
    assert operators(cropped) == ["Pad", "Slice", "Transpose", "Conv", "Transpose"]
    same = attributes(tc.conv2d_transpose, x, w, (1, 7, 8, 1), 2, "SAME")  # full is 9
    assert same["pads"] == [1, 0, 1, 1]
    longer = attributes(tc.conv2d_transpose, x, w, (1, 10, 9, 1), 2, "VALID")
    assert (longer["pads"], longer["output_padding"]) == ([0, 0, 0, 0], [1, 0])
    beyond = tc.to_onnx(tc.dialects.keras.conv_transpose, (1, 2, 2, 1), w, 1, "valid", None, None, 3)
    assert operators(beyond) == ["Transpose", "ConvTranspose", "Transpose"]
    words = {"padding": ((3, 3), (3, 3)), "use_consistent_padding": False}
    padded = tc.to_onnx(
        tc.dialects.jax.conv_transpose, (1, 4, 4, 1), w, (2, 2), **words, transpose_kernel=True
    )
    assert "Pad" in operators(padded)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_dtypes(dtype):
    x, w = np.ones((1, 4, 4, 2), dtype), np.ones((3, 3, 2, 2), dtype)
    check(tc.conv2d, {"input": x, "filters": w, "strides": 2})
    model = tc.to_onnx(tc.conv2d, x.shape, w.shape, dtype=dtype)
    assert run_here(model, {"input": x, "filters": w}).dtype == dtype


def test_a_named_backend_runs_the_convolutions():
    x, w = np.ones((1, 4, 4, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    model = tc.onnx_model(tc.to_onnx(tc.conv2d, x, w))
    for backend in ("reference", "numpy"):
        trace = model.run({"input": x}, backend=backend)["output"]
        assert np.array_equal(trace, tc.conv2d(x, w))
    with pytest.raises(ValueError, match="backend must be"):
        model.run({"input": x}, backend="nothing")


X, W = np.ones((1, 4, 4, 2), "float32"), np.ones((3, 3, 2, 2), "float32")


@pytest.mark.parametrize(
    ("call", "words", "message"),
    [
        ((len, X), {}, "op must be a keras.Model or one of .*, conv2d, "),
        ((None,), {}, "op must be"),
        ((tc.conv2d, X, W), {"backend": "numpy"}, "to_onnx takes no backend"),
        ((tc.conv2d, X, W), {"stride": 2}, 'did you mean "strides"'),
        ((tc.conv2d, X, W.astype("float64")), {}, "filters must have the dtype of input, float32"),
        ((tc.conv2d, X.astype("int32"), W.astype("int32")), {}, "float16, float32, float64; got int32"),
        ((tc.conv2d, X.shape, W.shape), {"dtype": "int64"}, "got int64"),
        ((tc.conv2d, X.shape, W.shape), {"dtype": "nothing"}, "dtype must be"),
        ((tc.conv2d, X, W), {"dtype": "float64"}, "dtype must be that of the arrays, float32"),
        ((tc.conv2d, (0, 4, 4, 2), W), {}, "input must not be empty"),
        (
            (tc.dialects.jax.conv_general_dilated, (1, 1, 2, 2), (1, 1, 3, 3), (1, 1), "VALID"),
            {},
            "result must not",
        ),
        ((tc.conv2d, X, W), {"path": 3}, "path must be a path; got 3"),
        ((tc.conv2d, X[0], W), {}, "input must have 4 axes"),
        ((tc.conv2d, X, W), {"bias": np.ones(3, "float32")}, "bias must have"),
    ],
)
def test_bad_arguments_are_named(call, words, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tc.to_onnx(*call, **words)


def test_the_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "conv.onnx"
    tc.to_onnx(tc.conv2d, X, W, path=path)
    assert np.array_equal(tc.onnx_model(path).run({"input": X})["output"], tc.conv2d(X, W))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="strides"):
        tc.to_onnx(tc.conv2d, X, W, 0, path=path)

    def full(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr("teachconv.support.files.os.replace", full)
    with pytest.raises(OSError, match="disk is full"):
        tc.to_onnx(tc.conv2d, X, W, 2, path=path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match="nowhere"):
        tc.to_onnx(tc.conv2d, X, W, path=tmp_path / "nowhere" / "conv.onnx")


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(tc.BackendUnavailable, match="pip install onnx"):
        tc.to_onnx(tc.conv2d, X, W)


def test_the_signature_is_open_to_every_op():
    assert list(inspect.signature(tc.to_onnx).parameters) == ["op", "args", "path", "arguments"]
