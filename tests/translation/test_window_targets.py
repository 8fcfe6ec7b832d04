"""Pools, padding, batch normalisation and resizes in another framework's words: equal by running, or refused with a reason."""

import numpy as np
import pytest
from peers import window_sweeps as sweeps
from windows.test_recorded_windows import CASES, FUNCTIONS

import teachconv as tc
from teachconv.cli.main import main
from teachconv.translation import translating
from teachconv.translation.targets import TARGETS

torch, onnx, jax, keras = (getattr(tc.dialects, name) for name in ("torch", "onnx", "jax", "keras"))
WITH_POOLS = [name for name, target in TARGETS.items() if target.pool]
FORWARD = [(framework, name) for framework, name in FUNCTIONS if not name.endswith(("grad", "backward"))]


def translated(framework, function, shape, arguments, to, dtype="float32"):
    """The translation of a call of the sweeps."""
    if function.startswith("batch"):
        arguments = sweeps.as_arrays(arguments, dtype)
    arguments = {name: value for name, value in arguments.items() if name != "opset"}
    place = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
    return tc.translate(getattr(place, function), tuple(shape), **arguments, to=to)


@pytest.mark.parametrize(("framework", "function"), FORWARD)
def test_recorded_calls_in_every_framework(framework, function, monkeypatch):
    """Each gives the same by teachconv's function of the target; the peers' tests run the frameworks."""
    monkeypatch.setattr(translating, "installed", lambda name: False)
    answered = [case for case, _ in CASES if (case["framework"], case["function"]) == (framework, function)]
    possible = 0
    for number, case in enumerate([case for case in answered if not case["error"]][:40]):
        to = WITH_POOLS[number % len(WITH_POOLS)]
        try:
            found = translated(framework, function, case["shape"], case["arguments"], to)
        except tc.ArgumentError:  # onnxruntime takes a window larger than the padded input
            assert framework == "onnx"
            continue
        if not found.possible:
            assert found.why
            assert found.code == ""
            continue
        compile(found.code, "code", "exec")
        assert max(map(len, found.code.split("\n"))) < 110
        x = sweeps.data(case["shape"], "float32", function, case["seed"])
        report = found.check(x)
        assert report.passed, f"{case}\n{report}\n{found.code}"
        assert len(report.rows) == 1
        possible += 1
    # TensorFlow has another order of pixels; no adaptive maximum is written for Keras; nobody has patches
    least = {"pixel": 5, "adaptive": 6, "fold": 0, "unfold": 0}
    assert possible >= least.get(function.partition("_")[0], 8)


@pytest.mark.parametrize("to", WITH_POOLS)
def test_a_call_of_one_size_refuses_others_and_one_of_any_size_holds_for_them(to):
    def given(size):
        return np.random.default_rng(size).standard_normal((2, 3, size, size + 1)).astype("float32")

    calls = [
        (torch.max_pool2d, (3, 2, 1, 1, True)),
        (torch.avg_pool2d, (3, 3, 1, True)),
        (torch.avg_pool2d, (3, 2, 1, False, False)),
        (torch.avg_pool2d, (2, 2, 0, False, True, 3)),
        (tc.max_pool, (3, 2, "SAME", "NCHW")),
        (onnx.average_pool, ([2, 3],)),
    ]
    refused = 0
    for function, arguments in calls:
        made = tc.translate(function, (2, 3, 8, 9), *arguments, to=to)
        pool = made._here()
        for size in range(6, 13):
            x = given(size)
            try:
                assert np.allclose(pool(x), function(x, *arguments), atol=1e-6), (made.code, size)
            except ValueError as error:
                assert "made for x [N, C, 8, 9]; got" in str(error)  # noqa: PT017
                refused += 1
        if "made for" in made.code:
            with pytest.raises(tc.ArgumentError, match="any_size must be False here: no call of"):
                tc.translate(function, (2, 3, 8, 9), *arguments, to=to, any_size=True)
        else:
            assert tc.translate(function, (2, 3, 8, 9), *arguments, to=to, any_size=True).code == made.code
    assert refused in (0, 6, 7)


def test_a_resize_by_a_factor_holds_for_all_sizes_and_one_by_sizes_is_made_for_one():
    by_factor = tc.translate(torch.interpolate, (1, 2, 5, 6), None, 1.5, "bilinear", to="onnx")
    for size in range(4, 9):
        x = np.random.default_rng(size).standard_normal((2, 3, size, 5)).astype("float32")
        assert np.array_equal(by_factor._here()(x), torch.interpolate(x, None, 1.5, "bilinear"))
    by_size = tc.translate(torch.interpolate, (1, 2, 5, 6), None, 1.5, "bilinear", True, to="onnx")
    assert "scales" in by_size.code
    to_keras = tc.translate(torch.interpolate, (1, 2, 5, 6), None, 2, "bilinear", to="keras")
    with pytest.raises(ValueError, match=r"made for x \[N, C, 5, 6\]"):
        to_keras._here()(np.ones((1, 2, 6, 6), "float32"))
    with pytest.raises(tc.ArgumentError, match="any_size must be False here: no call of keras"):
        tc.translate(torch.interpolate, (1, 2, 5, 6), None, 2, "bilinear", to="keras", any_size=True)


IMAGE, ONE = (1, 2, 8, 8), np.float32([1, 2])


@pytest.mark.parametrize(
    ("call", "to", "words"),
    [
        (lambda: (torch.max_pool2d, IMAGE, 3, 2, 1), "onnx", ["pads=[1, 1, 1, 1]"]),
        (lambda: (torch.max_pool2d, IMAGE, 3, 2, 0, 1, True), "onnx", ["ceil_mode=1"]),
        (lambda: (torch.max_pool2d, IMAGE, 3, 2, 0, 1, True), "keras", ["constant_values=-np.inf", "NaN"]),
        (lambda: (torch.max_pool2d, IMAGE, 3, 2, 1), "tensorflow", ["[[0, 0], [1, 1], [1, 1], [0, 0]]"]),
        (lambda: (torch.avg_pool2d, IMAGE, 3, 2, 1), "tensorflow", ["(0, 0), (1, 1), (1, 1)", "'VALID'"]),
        (lambda: (torch.avg_pool2d, IMAGE, 3, 2, 1), "onnx", ["count_include_pad=1"]),
        (lambda: (torch.avg_pool2d, IMAGE, 2, 2, 0, False, True, 3), "keras", ["y = y * 4 / 3"]),
        (lambda: (torch.avg_pool2d, IMAGE, 3, 2, 1, True), "tensorflow", ["y = y[:-1] / y[-1:]"]),
        (lambda: (tc.avg_pool, (1, 8, 8, 2), 3, 2, "SAME"), "torch", ["F.avg_pool2d", "ceil_mode=True"]),
        (lambda: (tc.avg_pool, (1, 8, 8, 2), 2, 2, "VALID"), "jax", ["jax.lax.add", "y = y / 4"]),
        (lambda: (jax.reduce_window, (8, 8), 0.0, "add", (2, 2)), "torch", ["divisor_override=1"]),
        (lambda: (jax.reduce_window, (8,), 0.0, "max", (2,)), "keras", ["y = np.maximum(y, 0)"]),
        (
            lambda: (tc.pad, (1, 8, 8, 2), [[0, 0], [1, 2], [3, 0], [0, 0]], "REFLECT"),
            "torch",
            ["(3, 0, 1, 2)"],
        ),
        (
            lambda: (torch.pad, IMAGE, (1, 2, 0, 0), "replicate"),
            "onnx",
            ["mode='edge'", "[0, 0, 0, 1, 0, 0, 0, 2]"],
        ),
        (lambda: (torch.pad, IMAGE, (1, 2, 0, 0), "circular"), "jax", ["mode='wrap'"]),
        (
            lambda: (torch.pad, IMAGE, (1, 2), "constant", 3.0),
            "onnx",
            ["constant_value = np.array(3.0, x.dtype)"],
        ),
        (lambda: (torch.batch_norm, IMAGE, ONE, ONE), "tensorflow", ["variance_epsilon=1e-05"]),
        (
            lambda: (torch.interpolate, IMAGE, None, 2),
            "onnx",
            ["np.array([2.0, 2.0], np.float32)", "axes=[2, 3]"],
        ),
        (lambda: (torch.interpolate, IMAGE, 7, None, "bilinear"), "onnx", ["['X', '', '', 'SIZES']"]),
        (lambda: (torch.interpolate, IMAGE, 7, None, "bilinear", True), "onnx", ["'align_corners'"]),
        (lambda: (torch.interpolate, IMAGE, 7, None, "nearest-exact"), "keras", ["size=[7, 7]", "'nearest'"]),
        (lambda: (torch.interpolate, IMAGE, None, 2, "bilinear"), "tensorflow", ["made for x [N, C, 8, 8]"]),
        (lambda: (torch.interpolate, IMAGE[1:], None, 2, "linear"), "onnx", ["axes=[2]"]),
        (lambda: (tc.resize, (1, 8, 8, 2), (4, 16)), "torch", ["size=[4, 16], mode='bilinear'"]),
        (
            lambda: (tc.resize, (8, 8, 2), (4, 16)),
            "jax",
            ["shape=(4, 16, x.shape[2]), method='linear', antialias=False"],
        ),
        (
            lambda: (torch.interpolate, IMAGE, None, 2),
            "jax",
            ["made for x [N, C, 8, 8]", "shape=(x.shape[0], x.shape[1], 16, 16), method='nearest'"],
        ),
        (lambda: (jax.resize, IMAGE, (1, 2, 7, 9), "linear", False), "onnx", ["'half_pixel'", "[7, 9]"]),
        # larger inputs would shrink, with antialiasing
        (lambda: (jax.resize, IMAGE, (1, 2, 9, 9), "linear"), "torch", ["made for x [N, C, 8, 8]"]),
        (
            lambda: (jax.resize, (1, 3, 3, 2), (1, 9, 9, 2), "nearest"),
            "torch",
            ["[9, 9], mode='nearest-exact'"],
        ),
        (lambda: (tc.depth_to_space, (1, 4, 4, 12), 2), "onnx", ["mode='DCR'"]),
        (lambda: (torch.pixel_shuffle, (1, 4, 3, 3), 2), "tensorflow", ["tf.nn.depth_to_space"]),
        (lambda: (onnx.space_to_depth, IMAGE, 2), "tensorflow", ["tf.nn.space_to_depth(x, block_size=2)"]),
        (lambda: (keras.batch_normalization, (4, 2), ONE, ONE, -1), "torch", ["eps=0.001"]),
    ],
)
def test_the_words(call, to, words):
    function, *arguments = call()
    made = tc.translate(function, *arguments, to=to)
    assert made.possible, made.why
    assert all(word in made.code for word in words), made.code
    assert made.check().passed
    assert (made.filter_permutation, made.flip) == (None, False)
    assert made.source.function in repr(made)
    assert "<b>" in made._repr_html_()


@pytest.mark.parametrize(
    ("call", "to", "why"),
    [
        (
            lambda: (torch.pad, IMAGE, (1, 2, 0, 0), "replicate"),
            "tensorflow",
            "mode must be one of CONSTANT, REFLECT",
        ),
        (lambda: (tc.pad, (4, 4), [[1, 0], [0, 1]], "SYMMETRIC"), "torch", "got 'symmetric'"),
        (lambda: (torch.pad, IMAGE, (-1, 2)), "keras", "must not be negative"),
        (lambda: (jax.pad, (3,), (0, 5), "reflect"), "onnx", "must be at most 2 for reflect"),
        (lambda: (torch.max_pool2d, IMAGE, 2, 1, 0, 2), "keras", "no argument 'dilation_rate'"),
        (lambda: (torch.max_pool2d, IMAGE, 2, 1, 0, 1, False, True), "onnx", "leave the indices out"),
        (lambda: (torch.batch_norm, IMAGE, ONE, ONE, None, None, True), "onnx", "leave training out"),
        (lambda: (torch.batch_norm, IMAGE, ONE, ONE), "jax", "JAX has no batch normalisation"),
        (
            lambda: (tc.resize, (8, 8, 2), (4, 4)),
            "torch",
            "has no function here that does this to an array HWC",
        ),
        (lambda: (torch.interpolate, IMAGE, 7, None, "bilinear", True), "tensorflow", "reads the same cells"),
        (
            lambda: (jax.resize, (1, 10, 10, 1), (1, 25, 10, 1), "nearest"),
            "tensorflow",
            "reads the same cells",
        ),
        (lambda: (torch.interpolate, IMAGE, 7), "keras", "no call of keras.ops.image.resize reads the same"),
        (lambda: (torch.pixel_shuffle, (1, 8, 3, 3), 2), "tensorflow", "in another order: DCR"),
        (lambda: (torch.pixel_unshuffle, IMAGE, 2), "onnx", "SpaceToDepth numbers the channels"),
        (lambda: (torch.max_pool2d, IMAGE, 2), "scipy", "SciPy is a target of convolutions only"),
        (lambda: (torch.max_pool2d, IMAGE, 1, 2), "jax", "window of one cell"),
    ],
)
def test_what_a_framework_cannot_say(call, to, why):
    function, *arguments = call()
    made = tc.translate(function, *arguments, to=to)
    assert why in made.why
    assert "impossible" in str(made)
    with pytest.raises(tc.ArgumentError, match="no translation to check"):
        made.check()


def test_a_shape_has_the_axes_of_the_array():
    for function, arguments in ((torch.max_pool2d, (2,)), (tc.max_pool, (2, 2, "SAME"))):
        with pytest.raises(tc.ArgumentError, match="must have 3 or 4.*axes.*got shape"):
            tc.resolve(function, (8, 8), *arguments)
    with pytest.raises(tc.ArgumentError, match="no negative size"):
        tc.resolve(tc.max_pool, (1, -8, 8, 1), 2, 2, "SAME")


def test_on_the_command_line(capsys):
    words = [
        "translate",
        "torch.max_pool2d",
        "1,3,16,16",
        "kernel_size=3",
        "ceil_mode=True",
        "--to",
        "tensorflow",
    ]
    assert main([*words, "--resolve", "--check"]) == 0
    assert "tf.nn.max_pool(x" in (text := capsys.readouterr().out)
    assert "max_pool2d: input [1, 3, 16, 16]" in text
