"""Padding by hand, its transpose, and what a transposed convolution with circular padding is."""

import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.networks import reading
from teachconv.windows.padding import source

torch, onnx, jax, keras = (getattr(tc.dialects, name) for name in ("torch", "onnx", "jax", "keras"))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_definition_is_that_of_numpy(mode, size):
    x = np.arange(size)
    for before, after in ((0, 1), (2, 0), (4, 7), (11, 3)):
        words = {"constant_values": -1} if mode == "constant" else {}
        want = np.pad(x, (before, after), mode, **words)
        assert [source(place, size, mode) for place in range(-before, size + after)] == want.tolist()


def test_the_order_of_the_sides_by_hand():
    """One row above, two columns to the right, in every framework's order."""
    x = np.int32([[1, 2], [3, 4]])
    want = [[0, 0, 0, 0], [1, 2, 0, 0], [3, 4, 0, 0]]
    assert tc.pad(x, [[1, 0], [0, 2]]).tolist() == want
    assert torch.pad(x, (0, 2, 1, 0)).tolist() == want
    assert onnx.pad(x, [1, 0, 0, 2]).tolist() == want
    assert onnx.pad(onnx.pad(x, [0, 2], axes=[-1]), [1, 0], axes=[0]).tolist() == want
    assert jax.pad(x, ((1, 0), (0, 2))).tolist() == want
    assert keras.pad(x, ((1, 0), (0, 2))).tolist() == want
    assert jax.pad(x, 1).shape == jax.pad(x, (1, 1)).shape == jax.pad(x, [(1, 1)]).shape == (4, 4)


def test_what_a_negative_number_does():
    x = np.int32([[1, 2, 3]])
    assert torch.pad(x, (-2, 2), "reflect").tolist() == [[3, 2, 1]]  # what was cut off is still mirrored
    assert onnx.pad(x, [-1, 1], mode="reflect", axes=[1]).tolist() == [[2, 3, 2]]
    assert onnx.pad(x, [-1, 2], mode="wrap", axes=[1]).tolist() == [[2, 3, 2, 3]]  # it wraps what is left
    assert torch.pad(x, (-1, 1), "circular").tolist() == [[2, 3, 2]]


MODES = [
    ("CONSTANT", tc.pad),
    ("REFLECT", tc.pad),
    ("SYMMETRIC", tc.pad),
    ("edge", jax.pad),
    ("wrap", jax.pad),
]


@pytest.mark.parametrize(("mode", "function"), MODES)
def test_backward_is_the_transpose(mode, function):
    x = make_array((2, 3, 4), "int32", "integers", "pad")
    call = tc.resolve(function, x, [[0, 0], [2, 1], [0, 3]], mode)
    dy = make_array(call.output_shape, "int32", "integers", "pad dy")
    assert (call(x) * dy).sum() == (x * call.backward(dy)).sum()


def test_a_gradient_is_rounded_once():
    call = tc.resolve(jax.pad, (1,), (1, 1), "edge")
    dy = np.float32([1e30, 1, -1e30])
    assert call.backward(dy).tolist() == [1]
    with pytest.raises(tc.ArgumentError, match=r"grad must have shape \[3\], by the sides of jax.pad"):
        call.backward(dy[1:])


def circular_conv(x, w, stride):
    """A convolution of integers whose input wraps around, by its definition alone."""
    rows, cols = x.shape
    k = len(w)
    y = np.zeros((-(-rows // stride), -(-cols // stride)), int)
    for r, c in np.ndindex(y.shape):
        for i, j in np.ndindex(w.shape):
            cell = x[(r * stride + i - k // 2) % rows, (c * stride + j - k // 2) % cols]
            y[r, c] += cell * w[i, j]
    return y


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [(4, 4), (3, 5)])
def test_circular_padding_of_a_transposed_convolution(size, stride):
    """PyTorch issue 46027: the transpose of wrap, then convolve is convolve transposed, then add what wrapped."""
    w = make_array((3, 3), "float32", "integers", "w")
    pads = tc.resolve(torch.pad, (1, 1, *size), (1, 1, 1, 1), "circular")
    out = tuple(-(-n // stride) for n in size)
    dy = make_array(out, "float32", "integers", "dy")
    wide = tc.conv2d_transpose(
        dy[None, :, :, None],
        w[:, :, None, None],
        (1, *pads.output_shape[2:], 1),
        stride,
        "VALID",
    )
    got = pads.backward(wide.transpose(0, 3, 1, 2))[0, 0]
    for index in np.ndindex(*size):  # the transpose of a matrix, column by column
        unit = np.zeros(size, int)
        unit[index] = 1
        assert got[index] == sum((circular_conv(unit, w.astype(int), stride) * dy).ravel())


def test_circular_transposed_is_the_gradient_of_torch():
    real = pytest.importorskip("torch")
    x = make_array((1, 2, 6, 5), "float32", "integers", "x")
    w = make_array((3, 2, 3, 3), "float32", "integers", "w")
    given = real.from_numpy(x).requires_grad_()
    layer = real.nn.Conv2d(2, 3, 3, stride=2, padding=1, padding_mode="circular", bias=False)
    layer.weight.data = real.from_numpy(w)
    y = layer(given)
    dy = make_array(tuple(y.shape), "float32", "integers", "dy")
    y.backward(real.from_numpy(dy))
    pads = tc.resolve(torch.pad, x, (1, 1, 1, 1), "circular")
    wide = torch.conv2d_input(pads.output_shape, w, dy, stride=2)
    assert np.array_equal(pads.backward(wide), given.grad.numpy())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: tc.pad(x, [[0, 0], [3, 0]], "REFLECT"),
            "paddings of axis 1 must be at most 2 for REFLECT and size 3",
        ),
        (
            lambda x: tc.pad(x, [[0, 0], [0, 4]], "symmetric"),
            "paddings of axis 1 must be at most 3 for SYMMETRIC",
        ),
        (lambda x: tc.pad(x, [[0, 0], [-1, 0]]), "paddings of axis 1 must not be negative"),
        (lambda x: tc.pad(x, [[1, 1]]), "paddings must be one pair for each axis of tensor, 2 pairs of ints"),
        (
            lambda x: tc.pad(x, [1, 1, 1, 1]),
            "paddings must be one pair for each axis of tensor, 2 pairs of ints",
        ),
        (lambda x: tc.pad(x, 1), "paddings must be one pair for each axis of tensor, 2 pairs of ints"),
        (
            lambda x: tc.pad(x, [[0, 0], [1, 1]], "circular"),
            "mode must be one of CONSTANT, REFLECT, SYMMETRIC",
        ),
        (
            lambda x: torch.pad(x, (1, 1), "symmetric"),
            "mode must be one of constant, reflect, replicate, circular",
        ),
        (lambda x: torch.pad(x, ((1, 1), (1, 1))), "pad"),
        (lambda x: torch.pad(x, (1,)), "at most 2 for each axis"),
        (lambda x: torch.pad(x, (1, 1, 1, 1), "reflect"), "pad must have 2 numbers for reflect"),
        (lambda x: torch.pad(x, (0, 4), "circular"), "at most 3 for circular"),
        (lambda x: torch.pad(x, (-3, 0), "replicate"), "must leave a cell for replicate"),
        (
            lambda x: torch.pad(x[:, :0], (1, 0), "replicate"),
            "as there is no cell to read, for replicate and size 0",
        ),
        (lambda x: onnx.pad(x, [1, 1]), "pads must be 4 ints, all begins, then all ends"),
        (
            lambda x: onnx.pad(x, [0, 1, 0, 1], mode="replicate"),
            "mode must be one of constant, reflect, edge, wrap",
        ),
        (lambda x: onnx.pad(x, [1, 1], axes=[2]), "axes must be axes of shape"),
        (lambda x: onnx.pad(x, [1, 1, 1, 1], axes=[1, -1]), "each once"),
        (lambda x: onnx.pad(x, [0, -1, 0, 2], mode="reflect"), "at most 1 for reflect"),
        (lambda x: jax.pad(x, -1), "pad_width of axis 0 must not be negative"),
        (lambda x: jax.pad(x, 1, "circular"), "mode must be one of constant, edge"),
        (lambda x: jax.pad(x, "1"), "pad_width"),
        (lambda x: keras.pad(x, 1, "reflect", 5), "constant_values must be None for reflect"),
        (lambda x: keras.pad(x, ((0, 0), (3, 3)), "reflect"), "at most 2 for reflect"),
        (lambda x: keras.pad(x, 1, "edge"), "mode must be one of constant, reflect, symmetric"),
        (lambda x: tc.pad(x, [[2**40, 0], [0, 0]]), "2\\*\\*31"),
    ],
)
def test_refused(call, message):
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        call(np.ones((2, 3), "float32"))


def test_an_empty_axis_can_be_padded_with_a_constant():
    assert tc.pad(np.zeros((0, 2), "int32"), [[2, 0], [0, 1]], constant_values=7).tolist() == [[7] * 3] * 2
    with pytest.raises(MemoryError, match="a padded array"):
        tc.pad(np.ones((1, 1), "float32"), [[2**30, 0], [2**30, 0]])


def test_resolve_and_explain():
    x = np.int32([[1, 2, 3]])
    call = tc.resolve(tc.pad, x, [[0, 0], [2, 1]], "REFLECT")
    assert call.sources == ([0], [2, 1, 0, 1, 2, 1])
    assert "axis 1: 3 +2 +1 = 6; cell o is place o -2" in str(call)
    assert call == tc.resolve("tf.pad", (1, 3), [[0, 0], [2, 1]], "reflect")
    found = tc.explain(tc.pad, x, [[0, 0], [2, 1]], "REFLECT", at=(0, 0))
    assert (found.value, found.taps) == (3, (((0, 2), 3),))
    assert "read at input[0,2]: the cell is place 0,-2 of the input" in str(found)
    outside = tc.explain(torch.pad, x, (1, 0), value=5.0, at=(0, 0))
    assert (outside.value, outside.taps) == (5.0, (((0, -1), None),))
    assert "the constant" in str(outside)


SHAPES = [(1, 3, 4, 2), (2, 5, 4, 3), (1, 8, 9, 1)]
NHWC = [[0, 0], [2, 1], [0, 1], [0, 0]]
# the code of a diagnosis, part of its sentence, the mode of the right call, and what the mistake gives
PLANTED = [
    ("mode", "symmetric", "REFLECT", lambda x: tc.pad(x, NHWC, "SYMMETRIC")),
    ("mode", "constant", "REFLECT", lambda x: tc.pad(x, NHWC)),
    ("mode", "edge", "SYMMETRIC", lambda x: jax.pad(x, NHWC, "edge")),
    ("mode", "wrap", "REFLECT", lambda x: jax.pad(x, NHWC, "wrap")),
    (
        "order_of_sides",
        "before and after",
        "REFLECT",
        lambda x: tc.pad(x, [pair[::-1] for pair in NHWC], "REFLECT"),
    ),
    (
        "order_of_sides",
        "axes 0 and 1",
        "CONSTANT",
        lambda x: tc.pad(x, [NHWC[i] for i in (1, 0, 2, 3)], "CONSTANT"),
    ),
    ("order_of_sides", "the last axis on", "CONSTANT", lambda x: tc.pad(x, NHWC[::-1])),
    (
        "order_of_sides",
        "ONNX's begins and ends are read",
        "CONSTANT",
        lambda x: tc.pad(x, [[0, 2], [0, 0], [0, 1], [1, 0]]),
    ),
    (
        "order_of_sides",
        "read as ONNX's begins",
        "CONSTANT",
        lambda x: tc.pad(x, [[0, 0], [0, 1], [2, 0], [1, 0]]),
    ),
    ("value", "-inf", "CONSTANT", lambda x: tc.pad(x, NHWC, constant_values=-np.inf)),
]


@pytest.mark.parametrize(("list_", "words"), [((1, 2, 1, 0), "PyTorch's list is read as ONNX's")])
def test_a_list_that_was_copied(list_, words):
    """Of rows and columns alone, as F.pad and Pad with axes have them; and the other way round."""
    x = make_array((1, 2, 5, 6), "float32", "normal", "copied")
    copied = onnx.pad(x, list_, axes=[2, 3], mode="reflect")
    assert words in str(tc.diff(torch.pad, x, list_, "reflect", against=copied).rows[0].diagnosis)
    right = tc.diff(onnx.pad, x, list_, axes=[2, 3], mode="reflect", against=torch.pad(x, list_, "reflect"))
    assert "ONNX's list is read as PyTorch's" in str(right.rows[0].diagnosis)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("code", "words", "mode", "mistake"), PLANTED, ids=range(len(PLANTED)))
def test_planted_and_found(code, words, mode, mistake, shape):
    x = make_array(shape, "float32", "normal", "planted") - 3
    report = tc.diff(tc.pad, x, NHWC, mode, against={"right": tc.pad(x, NHWC, mode), "wrong": mistake(x)})
    assert [row.passed for row in report.rows] == [True, False]
    found = report.rows[1].diagnosis
    if found is None:  # a result of another shape has no first bad cell, but may have a name
        pytest.fail(str(report))
    assert (found.code, words in found.sentence) == (code, True), str(report)


@pytest.mark.parametrize(
    ("framework", "args", "kwargs"),
    [
        ("torch", [[3, 4, 1, 2]], {"value": 5.0}),
        ("torch", [[3, 4, 1, 2], "constant", 5.0], {}),
        ("torch", [], {"pad": (3, 4, 1, 2), "value": 5}),
        ("onnx", [np.int64([0, 0, 1, 3, 0, 0, 2, 4]), np.float32([5])], {"mode": "constant"}),
        ("onnx", [np.int64([1, 3, 2, 4]), np.float32(5), np.int64([2, 3])], {}),
        ("onnx", [np.int64([3, 1, 4, 2]), np.float32(5), np.int64([-1, -2])], {}),
        ("onnx", [], {"pads": [0, 0, 1, 3, 0, 0, 2, 4], "value": 5.0, "mode": "constant"}),
        ("keras", [], {"padding": ((1, 2), (3, 4)), "data_format": "channels_first"}),
    ],
)
def test_a_recorded_layer_of_padding_has_the_sides_of_its_call(framework, args, kwargs):
    x = np.ones((1, 2, 6, 7), "float32")
    word = "ZeroPadding2D" if framework == "keras" else "pad"
    entry = {
        "framework": framework,
        "word": word,
        "name": "p",
        "args": [x, *args],
        "kwargs": kwargs,
        "output": None,
    }
    layer = reading.read(entry, lambda array: array is x)
    assert layer.pads == ((0, 0), (0, 0), (1, 2), (3, 4))
    assert layer.filled == (0 if framework == "keras" else 5)
    assert layer.op_type == "pad"


def test_a_recorded_layer_that_mirrors_or_crops_is_not_read_as_zeros():
    x = np.ones((1, 2, 6, 7), "float32")
    for args in ([(1, 1, 1, 1), "reflect"], [(-1, 1)]):
        entry = {
            "framework": "torch",
            "word": "pad",
            "name": "p",
            "args": [x, *args],
            "kwargs": {},
            "output": None,
        }
        assert reading.read(entry, lambda array: array is x).pads == ()
