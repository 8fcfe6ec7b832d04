"""resolve, explain, diff and receptive_field take pools; each name of a diagnosis is planted and found."""

import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array

torch, onnx, jax, keras = (getattr(tc.dialects, name) for name in ("torch", "onnx", "jax", "keras"))


def image(*shape):
    return make_array(shape, "float32", "normal", "tools") - 3  # below zero, so that zeros would win


SIZES = [(1, 1, 6, 6), (2, 3, 8, 5), (1, 2, 12, 14)]


def zeros_around(x, k, s, p):
    """The maximum over an image that is padded with zeros, by hand."""
    return torch.max_pool2d(np.pad(x, [(0, 0), (0, 0), (p, p), (p, p)]), k, s)


# the code of a diagnosis, the call (function, arguments), and what the mistake gives
PLANTED = {
    "ceil_mode": (torch.max_pool2d, (3, 2, 0, 1, True), lambda x: torch.max_pool2d(x, 3, 2)),
    "ceil_mode kept": (torch.avg_pool2d, (3, 2, 1), lambda x: torch.avg_pool2d(x, 3, 2, 1, True)),
    "padded_with_zeros": (torch.max_pool2d, (3, 2, 1), lambda x: zeros_around(x, 3, 2, 1)),
    "count_include_pad": (torch.avg_pool2d, (3, 2, 1), lambda x: torch.avg_pool2d(x, 3, 2, 1, False, False)),
    "count_include_pad of TensorFlow": (
        lambda x, *a, **k: tc.avg_pool(x, *a, **k),
        (3, 2, ((0, 0), (1, 1)), "NCHW"),
        lambda x: torch.avg_pool2d(np.pad(x, [(0, 0), (0, 0), (0, 0), (1, 1)]), 3, 2),
    ),
    "divisor": (keras.average_pool, (2, 2, "valid", "channels_first"), lambda x: torch.avg_pool2d(x, 2) * 4),
    "average_for_max": (torch.max_pool2d, (2,), lambda x: torch.avg_pool2d(x, 2)),
    "max_for_average": (torch.avg_pool2d, (2,), lambda x: torch.max_pool2d(x, 2)),
    "padding_side": (
        tc.max_pool,
        (2, 1, "SAME", "NCHW"),
        lambda x: tc.max_pool(x, 2, 1, "SAME_LOWER", "NCHW"),
    ),
}
PLANTED["count_include_pad of TensorFlow"] = (tc.avg_pool, *PLANTED["count_include_pad of TensorFlow"][1:])


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("name", PLANTED)
def test_planted_and_found(name, shape):
    function, arguments, mistake = PLANTED[name]
    if name == "ceil_mode kept":
        shape = (*shape[:2], shape[2] // 2 * 2, shape[3] // 2 * 2)
    x = image(*shape)
    right = function(x, *arguments)
    report = tc.diff(function, x, *arguments, against={"right": right, "wrong": mistake(x)})
    assert [row.passed for row in report.rows] == [True, False]
    assert report.rows[1].diagnosis.code == name.split()[0], str(report)
    assert str(report.rows[1].diagnosis.sentence).startswith("equal if ")
    assert report.rows[1].diagnosis.code in str(report)


def test_a_mistake_without_a_name():
    x = image(1, 1, 6, 6)
    row = tc.diff(torch.max_pool2d, x, 2, against=torch.max_pool2d(x, 2) + 1).rows[0]
    assert (row.passed, row.diagnosis, row.first_bad) == (False, None, (0, 0, 0, 0))
    with pytest.raises(tc.ArgumentError, match="against must be an array"):
        tc.diff(torch.max_pool2d, x, 2)


def test_a_mean_is_judged_by_its_bound():
    x = make_array((2, 2, 9, 9), "float32", "scaled", "bound")
    floats = tc.graph.nn.avg_pool(x, 3, 2, "SAME", "NCHW").numpy()
    report = tc.diff(tc.avg_pool, x, 3, 2, "SAME", "NCHW", against=floats)
    assert report.passed
    assert 0 <= report.rows[0].bound_fraction <= 1
    assert not tc.diff(tc.avg_pool, x, 3, 2, "SAME", "NCHW", against=floats * 1.001).passed
    assert tc.diff(tc.avg_pool, x, 3, 2, "SAME", "NCHW", against=floats * 1.001, rtol=2e-3).passed


def test_explain():
    x = np.float32([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]])
    found = tc.explain(torch.avg_pool2d, x, 2, 2, 1, at=(0, -1, -1))
    assert found.value == torch.avg_pool2d(x, 2, 2, 1)[0, 1, 1] == 7.0
    assert (found.cell, found.divisor) == ((0, 1, 1), 4)
    assert found.taps == (((0, 1, 1), 5.0), ((0, 1, 2), 6.0), ((0, 2, 1), 8.0), ((0, 2, 2), 9.0))
    corner = tc.explain(torch.avg_pool2d, x, 2, 2, 1, at=(0, 0, 0))
    assert [value for _, value in corner.taps] == [None, None, None, 1.0]
    assert "1 cell; 3 of 4 in the padding; divided by 4" in str(corner)
    largest = tc.explain(torch.max_pool2d, x, 2, return_indices=True, at=(0, 0, 0))
    assert (largest.value, largest.divisor) == (5.0, None)
    with pytest.raises(IndexError, match=r"at must be inside shape \[1, 1, 1\] as \(C, H, W\)"):
        tc.explain(torch.max_pool2d, x, 2, at=(0, 1, 0))


def test_what_a_pool_has_not_is_refused_and_not_ignored():
    x = image(1, 1, 6, 6)
    with pytest.raises(tc.ArgumentTypeError, match="max_pool2d takes no backends"):
        tc.diff(torch.max_pool2d, x, 2, against=x, backends=["numpy"])
    with pytest.raises(tc.ArgumentTypeError, match="max_pool2d takes no at_input"):
        tc.explain(torch.max_pool2d, x, 2, at_input=(0, 0, 0, 0))
    with pytest.raises(MemoryError, match="a pool's result"):
        onnx.average_pool(x, [2**31 - 1] * 2, pads=[2**31 - 2] * 4)
    assert (
        tc.avg_pool(x, 2**31 - 1, 2**31 - 1, "SAME", "NCHW").item()
        == tc.avg_pool(x, 6, 1, "VALID", "NCHW").item()
    )


def test_resolve():
    call = tc.resolve(torch.max_pool2d, (1, 2, 7, 7), 3, 2, 1, ceil_mode=True)
    assert (call.output_shape, call.input_shape) == ((1, 2, 4, 4), (1, 2, 7, 7))
    assert "⌈(7 + 1 + 1 - 3) / 2⌉ + 1 = 4" in str(call)
    dropped = tc.resolve("torch.max_pool2d", (1, 2, 5, 5), 2, 3, 1, ceil_mode=True)
    assert "the last window would begin in the padding" in str(dropped)
    assert dropped.output_shape == (1, 2, 2, 2)
    for name in ("tf.nn.max_pool", "max_pool", "F.avg_pool2d", "onnx.average_pool", "jax.lax.reduce_window"):
        assert tc.resolve.__globals__["_function"](name).__name__ == name.rpartition(".")[2]
    assert tc.resolve(tc.avg_pool, np.ones((1, 4, 4, 1)), 2, 2, "SAME").divisors.max() == 4


def test_receptive_field():
    conv = tc.conv2d_geometry((1, 16, 16, 1), (3, 3, 1, 1), padding="SAME")
    pool = tc.resolve(tc.max_pool, (1, 16, 16, 1), 3, 2, "SAME")
    found = tc.receptive_field([conv, pool])
    assert found.size == (5, 5)
    assert found.names == ("conv2d", "pool")
    assert (
        found.size == tc.receptive_field([("conv", 3, 1, "SAME"), ("pool", 3, 2, "SAME")], input_size=16).size
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: torch.max_pool2d(x, 3, padding=2),
            "padding rows must be at most half of the window of 3; got 2",
        ),
        (
            lambda x: torch.max_pool2d(x, 3, padding=2, dilation=2),
            "padding rows must be at most half of the window of 3; got 2",
        ),
        (
            lambda x: torch.avg_pool3d(x[:, :, None], 3, padding=1),
            r"input must be as large as the window without its padding; got \[1, 2, 1, 6, 6\]",
        ),
        (lambda x: torch.max_pool2d(x, 2, padding="SAME"), "padding must be an int or .*got 'SAME'"),
        (lambda x: torch.avg_pool2d(x, 2, divisor_override=0), "divisor_override must not be 0"),
        (lambda x: torch.max_pool2d(x, 2, stride=0), "stride must be at least 1"),
        (lambda x: torch.max_pool2d(x, (2, 2, 2)), "kernel_size must be an int or 1 or 2 ints"),
        (lambda x: torch.max_pool2d(x[:, :0], 2), "no empty axis"),
        (lambda x: torch.max_pool2d(x, 9), "explicit padding needs in_rows >= 9"),
        (
            lambda x: onnx.max_pool(x, [2, 2], pads=[2, 0, 0, 0]),
            "Top pads 2 needs to be smaller than the window",
        ),
        (
            lambda x: onnx.max_pool(x, [2, 2], pads=[1, 1]),
            r"pads must be 4 ints, \[top, left, bottom, right\]",
        ),
        (lambda x: onnx.max_pool(x, [2, 2], auto_pad="SAME"), "auto_pad must be one of"),
        (lambda x: onnx.max_pool(x, 2), "kernel_shape must be 2 ints"),
        (lambda x: keras.max_pool(x, 2, padding="SAME_UPPER"), "padding must be 'valid' or 'same'"),
        (lambda x: jax.reduce_window(x, 1, "add", (1, 1, 2, 2)), "init_value must be 0 for add"),
        (lambda x: jax.reduce_window(x, 0, "mean", (1, 1, 2, 2)), "computation must be jax.lax.max or add"),
        (lambda x: jax.reduce_window(x, 0, "add", (2, 2)), "window_dimensions must be 4 ints"),
        (
            lambda x: jax.reduce_window(x, 0, "add", (1, 1, 2, 2), padding=[(0, 0)]),
            "padding must be .* 4 pairs",
        ),
        (
            lambda x: jax.reduce_window(x, 0, "add", (2, 2, 2, 2)),
            "window_dimensions must be 1 on all axes except 3",
        ),
        (
            lambda x: jax.reduce_window(x, 0, "add", (1, 1, 2, 2), base_dilation=(1, 1, 2, 2)),
            "base_dilation must be 1",
        ),
    ],
)
def test_words_of_another_framework_are_refused_by_name(call, message):
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        call(np.ones((1, 2, 6, 6), "float32"))


def test_tensors_and_their_indices():
    torch_itself = pytest.importorskip("torch")
    x = torch_itself.arange(16.0).reshape(1, 1, 4, 4)
    values, indices = torch.max_pool2d(x, 2, return_indices=True)
    assert isinstance(values, torch_itself.Tensor)
    assert indices.tolist() == [[[[5, 7], [13, 15]]]]
    with pytest.raises(tc.ArgumentTypeError, match="has no derivative here"):
        torch.max_pool2d(x.requires_grad_(), 2)
