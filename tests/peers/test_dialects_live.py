"""The dialects compared with the real frameworks on seeded random calls: values and errors.

Each framework is skipped where it is not installed. Data are small integers, whose sums are exact in
float32 in any order, so results must be equal. Where the two sides refuse different calls the
difference must be one that is known and listed here.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from peers import sweeps
from peers.frameworks import FRAMEWORKS, RefusedError, ends_in_xla, unwritten_by_onednn, wrong_in_jax

import teachconv as tc

pytestmark = pytest.mark.peers

CALLS = {"torch": 400, "jax": 300, "onnx": 400, "keras": 300, "tensorflow": 300}
OTHER_AXES = {"torch": 150, "jax": 60, "onnx": 150, "keras": 60}  # tensorflow: test_ranks_live.py


def _known_torch(op, shapes, arguments, ours, theirs):
    # the kernel that PyTorch takes where output_padding reaches the stride refuses an empty result
    if op.startswith("conv_transpose") and not isinstance(ours, Exception):
        return 0 in ours.shape and "Output size is too small" in str(theirs)
    return False


def _known_onnx(op, shapes, arguments, ours, theirs):
    # what the specification defines and onnxruntime has no kernel for
    text = str(theirs)
    if op == "conv":
        return "Dilation not supported for AutoPadType" in text
    extra = arguments.get("output_padding", [0] * len(arguments["strides"]))
    beyond = any(r >= s for r, s in zip(extra, arguments["strides"], strict=True))
    return beyond and "inconsistent with input spatial dimensions" in text


def _known_keras(op, shapes, arguments, ours, theirs):
    # only Keras' TensorFlow backend checks output_padding
    return op == "conv_transpose" and "output_padding" in str(ours)


def _known_tensorflow(op, shapes, arguments, ours, theirs):
    # with oneDNN, a filter one larger than the input gives memory of the input's shape; see docs/dialects.md
    if isinstance(theirs, Exception):
        return "dilation" in str(theirs) or "could not create a primitive" in str(theirs)
    if op == "conv2d":
        return list(theirs.shape) == shapes["input"] and "needs in_" in str(ours)
    return "output_shape" in str(ours) and 1 in shapes["input"][1:3]


KNOWN = {
    "torch": _known_torch,
    "jax": lambda *_: False,
    "onnx": _known_onnx,
    "keras": _known_keras,
    "tensorflow": _known_tensorflow,
}


def known_wrong(framework, arguments):
    """Whether a framework may give wrong values for a call; each case is in docs/dialects.md."""
    return framework == "jax" and wrong_in_jax(arguments["padding"])


def attempt(function, *args):
    try:
        return function(*args)
    except (ValueError, TypeError, RefusedError) as error:
        return error


@pytest.mark.filterwarnings("ignore")  # the frameworks' own
@pytest.mark.parametrize(
    ("framework", "rank", "calls"),
    [
        *((framework, 2, calls) for framework, calls in CALLS.items()),
        *((framework, rank, calls) for framework, calls in OTHER_AXES.items() for rank in (1, 3)),
    ],
)
def test_random_calls(framework, rank, calls):
    dialect = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
    answered = refused = 0
    for seed in range(calls):
        op, shapes, arguments = getattr(sweeps, framework)(seed, rank)
        rng = np.random.default_rng(seed)
        arrays = {name: rng.integers(-3, 4, shape).astype("float32") for name, shape in shapes.items()}
        theirs = attempt(FRAMEWORKS[framework], op, arrays, arguments)
        ours = attempt(lambda: getattr(dialect, op)(**arrays, **arguments))  # noqa: B023 (called at once)
        call = f"seed {seed}: {op} {shapes} {arguments}\n  here {ours!r:.300}\n  {framework} {theirs!r:.300}"
        if isinstance(ours, Exception) and isinstance(theirs, Exception):
            refused += 1
        elif isinstance(ours, Exception) or isinstance(theirs, Exception):
            assert KNOWN[framework](op, shapes, arguments, ours, theirs), call
        else:
            assert ours.shape == theirs.shape, call
            assert np.array_equal(ours, theirs) or known_wrong(framework, arguments), call
            answered += 1
    assert answered > calls / 4
    assert refused > calls / 40


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rank", [2, 1, 3])
@pytest.mark.parametrize("target", CALLS)
@pytest.mark.parametrize("source", CALLS)
def test_random_translations(source, target, rank):
    """Calls of one framework, translated into another, run in that other."""
    dialect = tc if source == "tensorflow" else getattr(tc.dialects, source)
    for package in {"onnx": ["onnx", "onnxruntime"]}.get(target, [target]):
        pytest.importorskip(package, reason=f"{package} is not installed")
    compared, most = 0, 60 if rank == 2 else 30
    for seed in range(1000, 1000 + most):
        op, shapes, arguments = getattr(sweeps, source)(seed, rank)
        translation = attempt(lambda: tc.translate(getattr(dialect, op), **shapes, **arguments, to=target))  # noqa: B023
        if isinstance(translation, Exception) or not translation.possible:
            continue
        if target == "tensorflow" and unwritten_by_onednn(translation.source.geometry):
            continue
        if rank == 3 and ends_in_xla(translation, target):
            continue
        report = translation.check()
        call = f"seed {seed}: {op} {shapes} {arguments}\n{report}\n{translation.code}"
        assert report.passed, call
        assert len(report.rows) == 2, call
        assert not any(row.max_abs for row in report.rows), call
        compared += 1
    assert compared > most / 6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", CALLS)
@pytest.mark.parametrize(
    ("rows", "pads"), [(1, ((3, -2), (0, 0))), (3, ((0, 0), (-1, 1))), (3, ((-2, 3), (1, -1)))]
)
def test_padding_on_one_side_and_cropping_on_the_other(target, rows, pads):
    for package in {"onnx": ["onnx", "onnxruntime"]}.get(target, [target]):
        pytest.importorskip(package, reason=f"{package} is not installed")
    x, w = np.ones((1, rows, 4, 3), "float32"), np.ones((2, 2, 3, 2), "float32")
    translation = tc.translate(tc.conv2d, x, w, 1, pads, to=target)
    report = translation.check(x, w)
    assert len(report.rows) == 2
    assert report.passed, f"{report}\n{translation.code}"
    assert "itself ran)" in report.title


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", CALLS)
def test_code_for_any_size(target):
    """One translation runs in the framework on images of eight sizes."""
    for package in {"onnx": ["onnx", "onnxruntime"]}.get(target, [target]):
        pytest.importorskip(package, reason=f"{package} is not installed")
    rng = np.random.default_rng(3)
    w = rng.integers(-3, 4, (3, 2, 2, 4)).astype("float32")
    for padding, strides, dilations in (("SAME", 2, 1), ("SAME_LOWER", (3, 2), 1), ("SAME", 2, 2)):
        call = padding, "NHWC", dilations
        code = tc.translate(tc.conv2d, (1, 7, 7, 2), w.shape, strides, *call, to=target, any_size=True)
        convolve = code.function()
        for size in range(5, 13):
            x = rng.integers(-3, 4, (2, size, size + 1, 2)).astype("float32")
            assert np.array_equal(convolve(x, w), tc.conv2d(x, w, strides, *call)), (code, size)


def test_jax_reads_past_the_row():
    """The bug in JAX 0.10.2 that a translation to JAX works around; once it is mended, this test says so."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x, w = np.ones((1, 3, 4, 2), "float32"), np.ones((2, 3, 2, 2), "float32")  # NCHW, OIHW
    pads = ((0, 0), (-1, 1))
    assert np.asarray(jax.lax.conv_general_dilated(x, w, (1, 1), pads)).max() == 9
    ours = tc.dialects.jax.conv_general_dilated
    assert ours(x, w, (1, 1), pads).max() == 6
    assert tc.translate(ours, x, w, (1, 1), pads, to="jax").check(x, w).passed


def test_keras_on_tensorflow():
    """Keras reads its backend once, so the translations to Keras run again in a process of their own."""
    pytest.importorskip("keras", reason="keras is not installed")
    pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    if os.environ["KERAS_BACKEND"] == "tensorflow":
        pytest.skip("this is that process")
    selected = "keras and (translations or cropping or any_size)"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", selected],
        env=os.environ | {"KERAS_BACKEND": "tensorflow"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_padding_modes_of_torch(mode):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = np.random.default_rng(7)
    x = rng.integers(-3, 4, (2, 2, 6, 5)).astype("float32")
    layer = torch.nn.Conv2d(2, 3, 3, stride=2, padding=(2, 1), padding_mode=mode, bias=False)
    with torch.no_grad():
        layer.weight[...] = torch.from_numpy(rng.integers(-3, 4, (3, 2, 3, 3)).astype("float32"))
        want = layer(torch.from_numpy(x)).numpy()
    padded = tc.dialects.torch.pad(x, (1, 1, 2, 2), "constant" if mode == "zeros" else mode)
    assert np.array_equal(tc.dialects.torch.conv2d(padded, layer.weight.detach().numpy(), stride=2), want)


@pytest.mark.filterwarnings("ignore")
def test_dimension_numbers_objects_of_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x, w = np.ones((1, 5, 5, 2), "float32"), np.ones((3, 3, 2, 3), "float32")
    numbers = jax.lax.conv_dimension_numbers(x.shape, w.shape, ("NHWC", "HWIO", "NCHW"))
    want = np.asarray(jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=numbers))
    got = tc.dialects.jax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=numbers)
    assert np.array_equal(got, want)


@pytest.mark.filterwarnings("ignore")
def test_arrays_of_other_frameworks_go_in():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, w = torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3)
    want = torch.nn.functional.conv2d(x, w, padding=1)
    assert np.array_equal(tc.dialects.torch.conv2d(x, w, padding=1), want.numpy())
    assert tc.diff(tc.dialects.torch.conv2d, x, w, padding=1, against={"torch": want}).passed
    assert tc.resolve(tc.dialects.torch.conv2d, x, w, padding=1).output_shape == tuple(want.shape)
