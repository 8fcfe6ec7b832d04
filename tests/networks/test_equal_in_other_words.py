"""`teachconv.compare` judges equal what computes the same in other words, and finds what does not."""

from math import erf

import numpy as np
import pytest

import teachconv as tc
from teachconv import keras
from teachconv.networks import definitions, recorder
from teachconv.networks.comparing.anchoring import arranged, judged
from teachconv.networks.comparing.judging import relayout
from teachconv.networks.comparing.spreading import grown
from teachconv.networks.reading import Layer, by_law
from teachconv.networks.walking import walk
from teachconv.truth import bounds

# ---------------------------------------------------------------------------------------------
# By hand
# ---------------------------------------------------------------------------------------------

X = np.float32([[[1, -2], [3, 4]]])  # one image of one row, two columns and two channels


def layer(output, op_type="convolution", x=X, **facts):
    return Layer("layer", "keras", "word", op_type, (x,), np.float32(output), **facts)


def test_errors_are_carried_through_a_convolution():
    """y = 2a - 3b: an error of 1 in a and of 2 in b makes one of 2·1 + 3·2."""
    filters = np.float32([2, -3]).reshape(1, 2, 1)
    facts = by_law(filters, -1)
    made = layer(X @ filters[0], **{**facts, "op_type": "convolution"})
    errors = grown(made, [np.broadcast_to(np.float64([1, 2]), X.shape)])
    assert errors.shape == (1, 2, 1)
    assert np.allclose(errors, 8, rtol=1e-5)
    alone = grown(
        made, [np.zeros(X.shape)]
    )  # its roundings only: u = 2^-24, and ten terms of at most 8 and 18
    assert 0 < alone.min() < alone.max() < 11 * 2.0**-24 * 18 + 2.0**-24 * 18


@pytest.mark.parametrize(
    ("op", "arguments", "right"),
    [
        (definitions.clip, {"low": 0.0}, [[[0.5, 0], [0.5, 0.5]]]),  # -2 stays below 0
        (definitions.leaky_relu, {"slope": 0.5}, [[[0.5, 0.25], [0.5, 0.5]]]),
        (
            definitions.pointwise,
            {"function": "divide", "constants": {1: 4}},
            [[[0.125, 0.125], [0.125, 0.125]]],
        ),
        # |(x ± 1/2)² - x²| is at most |x| + 1/4
        (definitions.pointwise, {"function": "square"}, [[[1.25, 2.25], [3.25, 4.25]]]),
        (definitions.reduced, {"function": "mean", "axes": (1,), "keepdims": True}, [[[0.5, 0.5]]]),
        (definitions.reduced, {"function": "sum", "axes": (1,), "keepdims": True}, [[[1, 1]]]),
        (definitions.reduced, {"function": "max", "axes": (1,), "keepdims": True}, [[[0.5, 0.5]]]),
        (definitions.reduced, {"function": "min", "axes": (1, 2), "keepdims": False}, [0.5]),
        (definitions.reduced, {"function": "logsumexp", "axes": (1,), "keepdims": False}, [[0.5, 0.5]]),
        (definitions.smooth, {"function": "log_softmax"}, np.ones((1, 2, 2))),  # of itself and of the sum
    ],
)
def test_errors_are_carried_through_functions(op, arguments, right):
    output = op(X, **arguments).value
    found = grown(
        layer(output, arguments.get("function", "relu"), op=op, arguments=arguments), [np.full(X.shape, 0.5)]
    )
    assert np.allclose(found, right, rtol=1e-5, atol=1e-5)


def test_a_product_of_arrays_is_rounded_once_and_a_constant_before():
    terms = [
        definitions.pointwise(*arrays, function=word, **constant).terms
        for word in ("multiply", "add")
        for arrays, constant in (((X, X), {}), ((X,), {"constants": {1: 0.1}}), ((X, X, X), {}))
    ]
    assert terms == [1, 2, 2] * 2
    assert definitions.pointwise(X, X, function="maximum").terms == 0


def test_a_sigmoid_may_be_a_half_and_a_function_of_at_most_a_half():
    """ONNX Runtime and XLA add 1/2 last: far below 0, a few roundings of 1/2 remain, whatever the sum is."""
    x = np.linspace(-20, 20, 4001, dtype="float32")
    made = definitions.smooth(x, function="sigmoid")
    written = np.float32(0.5) + np.float32(0.5) * np.tanh(np.float32(0.5) * x)
    assert np.abs(written / made.value - 1).max() > 0.5  # of the smallest numbers nothing is left
    assert definitions.judged("sigmoid", written, made, "float32").passed
    wrong = written + np.float32(1e-6) * (x < -5)
    assert definitions.judged("sigmoid", wrong, made, "float32").passed is False


@pytest.mark.parametrize(
    ("function", "x", "flushed", "wrong"),
    [
        ("silu (swish)", [-100.0], [-0.0], [-1e-34]),  # x / (1 + exp(-x)), of which the sum is infinite
        ("softmax", [-90.0, 0.0], [0.0, 1.0], [1e-34, 1.0]),  # exp(-90) is no normal number of float32
    ],
)
def test_a_result_that_is_no_normal_number_may_be_0(function, x, flushed, wrong):
    made = definitions.smooth(np.float32(x), function=function)
    results = [definitions.judged("", np.float32(each), made, "float32") for each in (flushed, wrong)]
    assert [row.passed for row in results] == [True, False]


def test_a_product_that_is_no_normal_number_may_be_0():
    """TensorFlow flushes it: a gate that is almost closed, times an activation near 0."""
    made = definitions.pointwise(np.float32([1e-30]), np.float32([1e-9]), function="multiply")
    results = [definitions.judged("", np.float32([number]), made, "float32") for number in (0, 1e-39, 1e-37)]
    assert [row.passed for row in results] == [True, True, False]


def test_an_infinite_sum_may_be_the_largest_number():
    """As TFLite's ADD returns it: log(exp(100) + 1) is a softplus that a converter wrote."""
    x, most = np.float32([np.inf, 1]), float(np.finfo("float32").max)
    made = definitions.pointwise(x, function="add", constants={1: np.float32(1)})
    results = [
        definitions.judged("", np.float32([end, 2]), made, "float32") for end in (most, np.inf, -most, 1)
    ]
    assert [row.passed for row in results] == [True, True, False, False]


def test_a_softmax_of_large_numbers_is_that_of_their_differences():
    made = definitions.smooth(np.array([1e15, 1e15 + 1]), function="softmax")
    assert np.allclose(made.value, [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-15)


def test_logarithms_of_sums_of_exponentials_are_those_of_the_definition():
    """log(e^0 + e^0 + e^0) is log 3; numbers near 1000 have exponentials that are too large."""
    for first in (0.0, 1000.0):
        x = np.full((2, 3), first)
        found = definitions.reduced(x, function="logsumexp", axes=(1,), keepdims=False)
        assert np.allclose(found.value, first + np.log(3), rtol=1e-15)
        assert found.sizes.shape == (2,)
        assert np.allclose(definitions.smooth(x, function="log_softmax").value, -np.log(3), rtol=1e-12)
    assert definitions.pointwise(np.float64([0, 1]), function="erf").value.tolist() == [0, erf(1)]


def test_a_layer_without_a_definition_has_no_bound():
    assert grown(layer(X, "mystery"), [np.zeros(X.shape)]) is None
    one = np.float32([1, 2])
    assert judged(one, one + np.float32(1e-6), None, None).same is None
    assert judged(one, one + np.float32(1e-6), np.full(2, 1e-6), np.full(2, 1e-6)).same
    assert judged(one, one + np.float32(1e-6), np.full(2, 1e-7), np.full(2, 1e-7)).same is False
    assert (
        judged(one, one + np.float32(1e-6), np.full(2, 1.0), np.full(2, 1.0)).same is None
    )  # it says nothing


def test_arrays_are_recognised_in_other_layouts_only_if_they_hold_the_same_numbers():
    x = np.arange(24, dtype="float32").reshape(1, 2, 3, 4)
    for other in (
        x.transpose(0, 2, 3, 1),
        x.reshape(1, 24),
        x[:, :, None],
        x.transpose(0, 3, 1, 2).reshape(1, 4, 6),
    ):
        assert np.array_equal(arranged(x, other)[0](other), x)
        assert np.array_equal(arranged(other, x)[0](x), other)
    assert arranged(x, x[:, ::-1]) is None


def test_an_axis_of_one_is_added_or_left_out_where_the_channels_move():
    x = np.arange(30, dtype="float32").reshape(2, 5, 3)
    assert np.array_equal(relayout(x, -1, 1, 4), x.transpose(0, 2, 1)[:, :, None])
    assert np.array_equal(relayout(x[:, None], -1, 1, 3), x.transpose(0, 2, 1))
    assert relayout(x.reshape(2, 5, 3, 1), -1, -1, 2).shape == (2, 5, 3, 1)  # which two axes cannot hold


# ---------------------------------------------------------------------------------------------
# Models of teachconv.keras
# ---------------------------------------------------------------------------------------------


def model(*layers, shape=(6, 6, 2), seed=0):
    keras.utils.set_random_seed(seed)
    return keras.Sequential([keras.Input(shape), *layers])


def conv(name, filters=3, **named):
    return keras.layers.Conv2D(filters, 3, name=name, **named)


IMAGE = np.random.default_rng(0).standard_normal((1, 6, 6, 2), "float32")


def test_two_convolutions_are_one_and_a_changed_tap_is_found():
    two = model(conv("one", use_bias=False), conv("two", 2, use_bias=False), keras.layers.ReLU(name="relu"))
    first, second = two.get_weights()
    merged = np.zeros((5, 5, 2, 2), "float32")
    for row, col in np.ndindex(3, 3):
        merged[row : row + 3, col : col + 3] += np.einsum("io,rcoj->rcij", first[row, col], second)
    one = keras.layers.Conv2D(2, 5, use_bias=False, name="both")
    single = model(one, keras.layers.ReLU(name="relu"))
    single.set_weights([merged])
    report = tc.compare(two, single, IMAGE)
    assert report.passed, str(report)
    assert [(row.a, row.b) for row in report.layers] == [("one + two", "both"), ("relu", "relu")]
    assert tc.compare(single, two, IMAGE).passed
    merged[0, 0, 0, 0] += 0.01
    single.set_weights([merged])
    report = tc.compare(two, single, IMAGE)
    assert (report.passed, report.first_parting.b) == (False, "both")


def test_a_batch_normalisation_that_hardly_changes_a_number_is_folded():
    """Before training its factor is 0.999995: the folded result is near to what it takes, nearer to what it gives."""
    keras.utils.set_random_seed(0)
    convolution = keras.layers.Conv2D(4, 3)
    norm = keras.layers.BatchNormalization(epsilon=1e-5)
    model = keras.Sequential([keras.Input((8, 8, 2)), convolution, norm, keras.layers.ReLU()])
    whole = keras.Sequential([keras.Input((8, 8, 2)), keras.layers.Conv2D(4, 3), keras.layers.ReLU()])
    whole.layers[0].set_weights([w / np.float32(np.sqrt(1 + 1e-5)) for w in convolution.get_weights()])
    x = np.random.default_rng(0).standard_normal((1, 8, 8, 2), dtype="float32")
    for pair in ((model, whole), (whole, model)):
        report = tc.compare(*pair, x)
        assert report.passed, str(report)


def test_a_bias_that_is_small_is_added_behind_a_product():
    """The product alone is near to the result, too, but nearer to nothing."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    dense, last = torch.nn.Linear(16, 12), torch.nn.Linear(12, 5)
    with torch.no_grad():
        dense.bias *= 1e-4

    class Product(torch.nn.Module):
        def forward(self, x):
            return torch.relu(torch.matmul(x, dense.weight.T) + dense.bias)

    turned = [torch.nn.Unflatten(2, (3, 4)), torch.nn.Flatten(2)]  # what only moves numbers is near, too
    one = torch.nn.Sequential(dense, torch.nn.ReLU(), *turned, last).eval()
    other = torch.nn.Sequential(Product(), *turned, last).eval()
    report = tc.compare(one, other, torch.randn(2, 6, 16))
    assert report.passed, str(report)


def test_weights_that_have_no_effect_are_said():
    layers = conv("one"), keras.layers.ReLU(name="relu"), conv("two", 2)
    one, other = model(*layers), model(conv("one"), keras.layers.ReLU(name="relu"), conv("two", 2))
    weights = one.get_weights()
    weights[1][0] = -100  # the first channel is 0 behind the relu
    one.set_weights(weights)
    weights[2] = weights[2].copy()
    weights[2][0, 0, 0] += 1
    other.set_weights(weights)
    report = tc.compare(one, other, IMAGE)
    assert (report.passed, report.first_parting) == (None, None)
    assert str(report).startswith("equal on these inputs; the weights of 'two' (teachconv) differ by up to ")
    weights[2][0, 0, 1] += 1
    other.set_weights(weights)
    report = tc.compare(one, other, IMAGE)
    assert (report.passed, report.first_parting.b) == (False, "two")


def test_a_relu_beside_a_leaky_one_is_told_the_slope():
    layers = keras.layers.ReLU(name="relu"), keras.layers.LeakyReLU(negative_slope=0.125, name="leaky")
    one, other = (model(conv("one"), activation, conv("two", 2)) for activation in layers)
    for pair, there in ((one, other), 0.125), ((other, one), 0.0):
        row = tc.compare(*pair, IMAGE).first_parting
        assert (row.code, row.a, row.b) == ("slope", *[m.layers[1].name for m in pair])
        assert row.reason.startswith("another slope: ")
        assert f"slope {there}" in row.reason.replace("negative_slope=0.125", "slope 0.125").partition(",")[0]


def test_a_lost_bias_of_a_sequence_s_convolution_that_is_written_as_one_of_images():
    """A causal Conv1D, as some write it: an axis of one, zeros on both sides, a VALID Conv2D, and a crop."""
    one = model(keras.layers.Conv1D(3, 3, padding="causal", name="time"), shape=(8, 2))
    zeros, crop = keras.layers.ZeroPadding2D((0, 2)), keras.layers.Cropping2D(((0, 0), (0, 2)))
    image, back = keras.layers.Conv2D(3, (1, 3), name="image"), keras.layers.Reshape((8, 3))
    other = model(keras.layers.Reshape((1, 8, 2)), zeros, image, crop, back, shape=(8, 2))
    filters, bias = one.get_weights()
    x = np.random.default_rng(1).standard_normal((1, 8, 2), "float32")
    for lost in (False, True):
        one.set_weights([filters, bias + 0.25])
        other.set_weights([filters[None], bias + 0.25 * (not lost)])
        report = tc.compare(one, other, x)
        assert report.passed is not lost
    assert "bias" in report.first_parting.reason, report.first_parting.reason


def test_filters_of_a_channel_that_is_not_used_have_no_effect():
    """The segment is two convolutions. Where the weights of both differ, a factor has moved between them."""
    one, other = (model(conv("one", use_bias=False), conv("two", 2, use_bias=False)) for _ in range(2))
    first, second = one.get_weights()
    second[:, :, 1] = 0
    one.set_weights([first, second])
    other.set_weights([first * np.float32([1, 3, 1]), second])
    report = tc.compare(one, other, IMAGE)
    assert (report.passed, report.first_parting) == (None, None)
    assert str(report).startswith("equal on these inputs; the weights of 'one' (teachconv) differ by up to ")
    second[:, :, 1] = 1
    one.set_weights([first, second])
    other.set_weights([first * np.float32([1, 4, 1]), second / np.float32([[1], [4], [1]])])
    assert tc.compare(one, other, IMAGE).passed


def test_a_channel_of_branches_that_are_joined_is_named():
    """Two convolutions and what joins them, beside the one convolution that they are."""
    x, ends = keras.Input((6, 6, 2)), [conv("upper", 1), conv("lower", 2)]
    single = model(conv("both"))
    joined = keras.Model(x, keras.layers.Concatenate(name="joined")([end(x) for end in ends]))
    weights, bias = single.get_weights()
    joined.set_weights([weights[..., :1], bias[:1], weights[..., 1:], bias[1:]])
    assert tc.compare(single, joined, IMAGE).passed
    joined.set_weights([weights[..., :1], bias[:1], weights[..., 1:] * np.float32([1, 1.5]), bias[1:]])
    report = tc.compare(single, joined, IMAGE)
    assert (report.passed, report.first_parting.b) == (False, "upper + lower + joined")
    assert "equal after multiplying by 3/2" in report.first_parting.reason


def test_a_small_change_is_found_where_it_is():
    """Behind the mean the models' numbers are nearly equal again: the segment goes on up to there."""

    def network(factor):
        layers = (
            keras.layers.Activation("sigmoid", name="gate"),
            keras.layers.GlobalAveragePooling2D(name="mean"),
        )
        made = model(conv("one"), *layers, keras.layers.Dense(2, name="last"))
        weights = made.get_weights()
        made.set_weights([weights[0] * np.float32(factor), *weights[1:]])
        return made

    report = tc.compare(network(1), network(1.001), IMAGE)
    assert (report.passed, report.first_parting.a, report.first_parting.b) == (False, "one", "one")
    assert [row.passed for row in report.layers] == [False, True, True, True]
    recorded = [recorder.record_keras(network(factor), IMAGE) for factor in (1, 1.001)]
    assert tc.compare(*recorded).first_parting.a == "one + gate + mean"  # a recording does not run again


def step(word, output, *more, **said):
    """The recording of one node of ONNX."""
    entry = {"name": word, "framework": "onnx", "word": word, "args": [CHANNELS, *more], "kwargs": said}
    return [entry | {"output": output, "error": "", "input": CHANNELS, "returned": [["", output]]}]


CHANNELS = np.random.default_rng(1).standard_normal((1, 8, 3, 2), "float32")


def shuffled(order):
    """Eight channels as two of twice as many rows and columns."""
    shape, axes = {"DCR": ((2, 2, 2), (2, 3, 0, 4, 1)), "CRD": ((2, 2, 2), (0, 3, 1, 4, 2))}[order]
    return CHANNELS.reshape(1, *shape, 3, 2).transpose(0, *(axis + 1 for axis in axes)).reshape(1, 2, 6, 4)


def enlarged(place):
    """The channels with twice as many rows and columns, interpolated by hand."""
    rows, cols = (
        np.maximum(0, 1 - np.abs(place(np.arange(2 * n), n).clip(0, n - 1)[:, None] - np.arange(n)))
        for n in (3, 2)
    )
    return (rows @ CHANNELS.astype(float) @ cols.T).astype("float32")


def resize(output, **said):
    return step("Resize", output, None, np.float32([1, 1, 2, 2]), **said)


RESIZED = {
    "nearest": resize(CHANNELS.repeat(2, 2).repeat(2, 3), mode="nearest"),
    "ceil": resize(
        enlarged(lambda at, n: np.ceil(at / 2)),
        mode="nearest",
        nearest_mode="ceil",
        coordinate_transformation_mode="asymmetric",
    ),
    "linear": resize(enlarged(lambda at, n: (at + 0.5) / 2 - 0.5), mode="linear"),
    "corners": resize(
        enlarged(lambda at, n: at * (n - 1) / (2 * n - 1)),
        mode="linear",
        coordinate_transformation_mode="align_corners",
    ),
}


@pytest.mark.parametrize(
    ("first", "second", "code", "words"),
    [
        ("nearest", "linear", "interpolation", "it is linear for nearest: "),
        ("corners", "nearest", "interpolation", "it is nearest for linear and it reads the nearest cell"),
        ("nearest", "ceil", "nearest_mode", "it reads the cell at or behind it: "),
        ("corners", "linear", "align_corners", "align_corners is forgotten: half_pixel: "),
        ("linear", "corners", "align_corners", "align_corners is set: "),
    ],
)
def test_mistakes_of_a_resize_have_names(first, second, code, words):
    assert tc.compare(RESIZED[first], RESIZED[first]).passed
    found = tc.compare(RESIZED[first], RESIZED[second])
    assert (found.passed, found.first_parting.code) == (False, code)
    assert words in found.first_parting.reason
    assert "'Resize' (onnx) has mode=" in found.first_parting.reason


def test_each_framework_has_its_own_places():
    """Before opset 11 a cell lies at its index times the step; TFLite says by a flag where it lies."""
    output, other = enlarged(lambda at, n: at / 2), enlarged(lambda at, n: at * (n - 1) / (2 * n - 1))
    scales = np.float32([1, 1, 2, 2])
    assert [
        row.a_passed for row in tc.compare(*[step("Upsample", output, scales, mode="linear")] * 2).layers
    ] == [True]
    wrong = tc.compare(*[step("Upsample", other, scales, mode="linear")] * 2)
    assert [row.a_passed for row in wrong.layers] == [False]
    for numbers, flags in ((output, {}), (other, {"alignCorners": True})):
        (made,) = step("RESIZE_BILINEAR", numbers.transpose(0, 2, 3, 1), **flags)
        made |= {"framework": "tflite", "args": [CHANNELS.transpose(0, 2, 3, 1), np.int32([6, 4])]}
        made["input"] = made["args"][0]
        for recorded, right in (([made], True), ([made | {"kwargs": {"halfPixelCenters": True}}], False)):
            assert [row.a_passed for row in tc.compare(recorded, recorded).layers] == [right]


def test_the_order_of_channels_as_blocks_of_pixels_has_a_name():
    own, other = (step("DepthToSpace", shuffled(order), mode=order) for order in ("CRD", "DCR"))
    assert tc.compare(own, own).passed
    found = tc.compare(own, other)
    assert (found.passed, found.first_parting.code) == (False, "channel_order")
    assert "reads it as DCR, where 'DepthToSpace' (onnx) has CRD" in found.first_parting.reason


def test_a_shuffle_written_by_hand_has_the_order_of_its_channels():
    torch = pytest.importorskip("torch")

    class Network(torch.nn.Module):
        def __init__(self, order):
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.last, self.order = torch.nn.Conv2d(2, 8, 3), torch.nn.Conv2d(2, 3, 1), order

        def forward(self, x):
            y = self.conv(x)
            if self.order == "CRD":
                return self.last(torch.nn.functional.pixel_shuffle(y, 2))
            blocks = y.reshape(1, 2, 2, 2, 4, 4).permute(0, 3, 4, 1, 5, 2)
            return self.last(blocks.reshape(1, 2, 8, 8))

    networks = {order: Network(order).eval() for order in ("CRD", "DCR")}
    x = IMAGE.transpose(0, 3, 1, 2)
    for one, other in (("CRD", "DCR"), ("DCR", "CRD")):
        row = tc.compare(networks[one], networks[other], x).first_parting
        assert row.code == "channel_order"
        assert f"reads it as {other}, where" in row.reason


def test_constants_of_an_onnx_file_are_weights():
    """As exporters write them: nodes in place of initializers. Without them a Clip once lost its limits."""
    onnx = pytest.importorskip("onnx")
    node, numbers = onnx.helper.make_node, np.float32([[2, 3]])
    nodes = [
        node("Constant", [], ["factor"], value=onnx.numpy_helper.from_array(numbers)),
        node("Constant", [], ["low"], value_float=-0.5),
        node("Constant", [], ["high"], value_float=0.25),
        node("Mul", ["x", "factor"], ["scaled"], name="scaled"),
        node("Clip", ["scaled", "low", "high"], ["y"], name="clipped"),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4, 2]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:])
    file = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    x = np.random.default_rng(0).standard_normal((4, 2), "float32")
    assert [layer.name for layer in walk(file, x).layers] == ["scaled", "clipped"]
    report = tc.compare(file, file, x)
    assert report.passed, str(report)
    clip = walk(file, x).layers[1]
    assert clip.arguments == {"low": -0.5, "high": 0.25}


def test_zeros_alone_are_not_the_same():
    """Both return zeros, whatever their weights are."""
    models = [model(conv("one"), keras.layers.ReLU(), seed=seed) for seed in (0, 1)]
    for each in models:
        weights = each.get_weights()
        each.set_weights([weights[0], weights[1] - 100])
    report = tc.compare(*models, IMAGE)
    assert report.passed is None
    assert "are 0" in " ".join(str(report).split())


def test_what_agrees_on_the_given_input_alone_is_not_judged_the_same():
    """A relu in front changes nothing of an image without negative numbers."""
    layers = conv("one"), keras.layers.ReLU(name="first"), conv("one")
    one, other = model(layers[0]), model(layers[1], layers[2])
    other.set_weights(one.get_weights())
    report = tc.compare(one, other, abs(IMAGE))
    assert report.passed is None
    words = "on drawn numbers the models part at layer 'one' (teachconv) and 'first + one' (teachconv): the first model"
    assert words in " ".join(str(report).split())


def test_activations_of_another_program(tmp_path):
    network = model(
        conv("one"),
        keras.layers.BatchNormalization(name="norm"),
        keras.layers.ReLU(name="relu"),
        conv("two", 2),
    )
    made = {one.name: one.output for one in walk(network, IMAGE).layers}
    arrays = {
        "7": made["norm"].transpose(0, 3, 1, 2),
        "8": made["relu"].copy(),
        "out": made["two"].reshape(-1),
    }
    np.savez(tmp_path / "all.npz", **arrays)
    (tmp_path / "folder").mkdir()
    for name, array in arrays.items():
        np.save(tmp_path / f"folder/{name}.npy", array)
    for given in (arrays, tmp_path / "all.npz", tmp_path / "folder"):
        report = tc.compare(network, given, IMAGE)
        assert report.passed, str(report)
        assert [(row.a, row.b) for row in report.layers] == [
            ("one + norm", "7"),
            ("relu", "8"),
            ("two", "out"),
        ]
    arrays["8"][0, 0, 0, 0] += 1
    report = tc.compare(network, arrays, IMAGE)
    assert report.passed
    assert "no layer of the first model has the numbers of '8'" in " ".join(str(report).split())
    weights = network.get_weights()
    network.set_weights([weights[0], weights[1] + np.float32([0, 1, 0]), *weights[2:]])
    report = tc.compare(network, tmp_path / "folder", IMAGE)
    assert (report.passed, report.first_parting.a, report.first_parting.b) == (False, "one + norm", "7")
    assert "bias" in report.first_parting.reason
    network.set_weights(weights)
    del arrays["8"], arrays["out"]
    assert tc.compare(network, arrays, IMAGE).passed is None
    with pytest.raises(ValueError, match="at least one"):
        tc.compare(network, {}, IMAGE)


# ---------------------------------------------------------------------------------------------
# Networks of PyTorch and ONNX
# ---------------------------------------------------------------------------------------------


def activated(text, bias=0.0):
    """Two convolutions of PyTorch, and between them layers such as "relu6 pool"; the first has this bias."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(0)
    known = {
        "relu": nn.ReLU,
        "relu6": nn.ReLU6,
        "pool": lambda: nn.MaxPool2d(2, 1),
        "leaky": lambda: nn.LeakyReLU(0.1),
        "leakier": lambda: nn.LeakyReLU(0.3),
        "zero": lambda: nn.LeakyReLU(0.0),
        "clip": lambda: nn.Hardtanh(0, np.inf),
        "gate": nn.Sigmoid,
    }
    made = nn.Sequential(nn.Conv2d(2, 3, 3))
    last = nn.Conv2d(3, 2, 2)
    for name in text.split():
        made.add_module(name, known[name]())
    with torch.no_grad():
        made[0].bias += bias
    return made.append(last).eval()


FIRST = IMAGE.transpose(0, 3, 1, 2)  # of which no result of the first convolution is above 6
# what two models have between their convolutions, the bias before it, and what is said
LIMITS = [
    ("relu", "relu6", 0, "another high: 'relu6' (torch) has max_val=6.0, where 'relu' (torch) has high inf"),
    ("leaky", "leakier", 99, "another slope: 'leakier' (torch) has negative_slope=0.3"),
    ("relu", "", 99, "the second model has no such layer: 'relu' (torch) is a relu"),
    ("relu relu6", "relu", 0, "the second model has no such layer: 'relu6' (torch) is a relu"),
    ("relu pool", "pool relu6", 0, "another high: 'relu6' (torch)"),
    ("gate relu", "relu gate", 99, "the first model has no such layer: 'relu' (torch) is a relu"),
]


@pytest.mark.parametrize(("one", "other", "bias", "words"), LIMITS)
def test_limits_that_no_number_passes_are_said(one, other, bias, words):
    """Both models agree on this input, and they are other functions."""
    report = tc.compare(activated(one, bias), activated(other, bias), FIRST)
    assert (report.passed, report.first_parting) == (None, None), str(report)
    text = " ".join(str(report).split())
    assert text.startswith(f"equal on these inputs; on larger numbers they differ: {words}"), text
    assert [row.code for row in report.layers].count("no_effect") == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("relu6", "relu6 relu"), ("relu6", "relu relu6"), ("relu pool", "pool relu"), ("relu", "zero")),
        *(("gate", "gate relu6"), ("relu", "clip")),
    ],
)
def test_activations_in_other_words_have_the_same_limits(one, other):
    for models in (one, other), (other, one):
        report = tc.compare(*map(activated, models), FIRST)
        assert report.passed, str(report)


def test_other_numbers_from_inside_a_segment_that_agrees_have_a_place():
    """A mean hides one number of 3,844, and its bound is wide; but what it is the mean of is returned, too."""
    torch = pytest.importorskip("torch")

    class Inside(torch.nn.Module):
        def __init__(self, high):
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.clip = torch.nn.Conv2d(1, 2, 3), torch.nn.Hardtanh(-9, high)

        def forward(self, x):
            last = torch.tanh(self.clip(self.conv(x)))
            return last.mean((2, 3)), last

    image = np.random.default_rng(0).standard_normal((1, 1, 64, 64)).astype("float32")
    largest = walk(Inside(9).eval(), image).layers[0].output.max()
    models = [Inside(float(largest) - less).eval() for less in (0.1, 0.02)]
    report = tc.compare(*models, image)
    rows = [(row.a, row.same) for row in report.layers]
    assert rows == [("conv", True), ("clip", False), ("tanh", True), ("mean", True)]
    assert "another high" in report.first_parting.reason
    recorded = tc.compare(*(recorder.record_torch(made, image) for made in models))
    assert (recorded.passed, recorded.first_parting.a) == (False, "clip")


SOME = (
    *("norm_as_mul_and_add", "norm_folded_forward", "bias_in_the_mean_of_the_norm", "scale_through_a_relu"),
    *(
        "division_by_255",
        "instance_norm_by_hand",
        "too_much_padding_and_a_crop",
        "causal_as_both_sides_and_a_chop",
    ),
    *("transposed_and_a_slice", "stride_as_slicing", "circular_padding_as_concatenation"),
    *(
        "space_to_depth_in_the_other_order",
        "transposed_as_zeros_in_between",
        "groups_as_split_and_concatenation",
    ),
    *("concatenation_as_a_sum", "one_tap_as_a_linear_layer", "unfold_and_a_product", "separable_as_one"),
    *("channels_shuffled", "one_axis_as_two", "three_axes_as_two", "flipped_image_and_filter"),
    *("one_sample_and_one_output", "average_pool_as_depthwise", "max_pool_five_as_two_of_three"),
    *("adaptive_maximum_as_a_pool", "patches_added_as_a_transposed_convolution"),
    *("relu6_as_min_and_max", "hard_swish_by_hand", "prelu_with_equal_slopes", "softmax_by_hand"),
    *("double_beside_single", "nearest_as_a_transposed_convolution", "bilinear_or_with_aligned_corners"),
    *("onnx_one_axis_as_two", "onnx_split_and_concatenation", "onnx_slice_and_pad", "onnx_depth_to_space"),
    *(
        "layer_norm_by_hand",
        "gates_of_one_number_each",
        "gelu_by_hand",
        "log_softmax_by_hand",
        "onnx_constants",
    ),
)


@pytest.mark.parametrize("name", SOME)
def test_a_pair_is_equal_and_its_twin_is_found(name):
    for package in ("torch", "onnx", "onnxruntime"):
        pytest.importorskip(package)
    import equal_networks

    report, _, _ = equal_networks.run(name, equal_networks.same)
    assert report.passed, str(report)
    report, places, _ = equal_networks.run(name, equal_networks.changed)
    assert equal_networks.found(report, places), str(report)


# ---------------------------------------------------------------------------------------------
# What is known of a layer's own error
# ---------------------------------------------------------------------------------------------


def test_a_row_of_weights_rounded_to_half_is_found_in_a_long_sum():
    """A bound for any order of 4,096 terms allows 300 times as much as the roundings are."""
    x = np.random.default_rng(4).random((1, 4096), "float32")
    one, other = (model(keras.layers.Dense(10, name="last"), shape=(4096,)) for _ in range(2))
    weights, bias = one.get_weights()
    for change, code in (
        (weights.astype("float16").astype("float32"), "rounded(float16)"),
        (weights * np.where(np.arange(4096) == 1000, np.float32(1.01), 1)[:, None], "weights"),
    ):
        other.set_weights([change, bias])
        report = tc.compare(one, other, x)
        assert (report.passed, report.first_parting.code) == (False, code), str(report)
    other.set_weights([weights, bias])
    assert tc.compare(one, other, x).passed


@pytest.mark.parametrize("offset", [0, 3, 100])
@pytest.mark.parametrize("size", [8, 64, 256])
def test_a_norm_of_a_large_image_has_a_bound_that_holds_for_sums_one_by_one(size, offset):
    x = np.random.default_rng(size).standard_normal((1, 4, size * size)).astype("float32") + np.float32(
        offset
    )
    arguments = {"groups": 2, "gamma": None, "beta": None, "eps": 1e-5, "axes": (2,)}
    made = definitions.formula(x, function="normalised", **arguments)
    parts = x.reshape(1, 2, -1)
    means = [
        np.cumsum(numbers, 2, "float32")[..., -1:] / np.float32(parts.shape[2])
        for numbers in (parts, parts**2)
    ]
    variances = (
        means[1] - means[0] ** 2,
        np.cumsum((parts - means[0]) ** 2, 2)[..., -1:] / np.float32(parts.shape[2]),
    )
    for variance in variances:
        found = ((parts - means[0]) / np.sqrt(np.float32(variance) + np.float32(1e-5))).reshape(x.shape)
        row = definitions.judged("norm", found, made, x.dtype)
        assert row.passed
    bound = bounds.direct(made.sizes, made.terms, x.dtype).max()
    wrong = definitions.formula(x, function="normalised", **arguments | {"eps": 0.05}).value.astype("float32")
    if not offset:
        assert bound < 0.02 * np.abs(made.value).max()
        assert definitions.judged("norm", wrong, made, x.dtype).passed is False


def test_what_moves_a_norm_s_result_are_its_mean_and_its_deviation_too():
    """Of many shifts of the inputs none is beyond the bound, and the largest is not far from it."""
    rng = np.random.default_rng(5)
    x, error = rng.standard_normal((1, 6, 4)), 1e-6 * rng.random((1, 6, 4))
    arguments = {"groups": 3, "gamma": np.float64([1, -2, 3, 1, 1, 1])[:, None], "beta": None, "eps": 1e-5}
    output = definitions.formula(x, function="normalised", **arguments, axes=(2,)).value
    norm = Layer(
        "norm",
        "keras",
        "word",
        "group norm",
        (x,),
        output,
        op=definitions.formula,
        arguments=arguments | {"axes": (2,), "function": "normalised"},
    )
    bound = grown(norm, [error])
    moved = [
        np.abs(
            definitions.formula(
                x + error * rng.choice([-1, 1], x.shape), function="normalised", **arguments, axes=(2,)
            ).value
            - output
        )
        for _ in range(2000)
    ]
    assert (np.max(moved, 0) <= bound * (1 + 1e-5)).all()
    assert (np.max(moved, 0) / bound).max() > 0.5


def test_a_gelu_beside_its_approximation_is_found_where_that_hardly_differs():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    first, last = torch.nn.Conv2d(2, 4, 3, bias=False), torch.nn.Conv2d(4, 2, 1)
    with torch.no_grad():
        first.weight /= 4
    one, other = (torch.nn.Sequential(first, torch.nn.GELU(way), last).eval() for way in ("none", "tanh"))
    x = torch.from_numpy(IMAGE.transpose(0, 3, 1, 2).copy())
    with torch.no_grad():
        assert 1e-7 < (one(x) - other(x)).abs().max() < 1e-5
    report = tc.compare(one, other, x)
    assert (report.passed, report.first_parting.a, report.first_parting.code) == (False, "1", "function"), (
        str(report)
    )


def test_a_layer_of_one_model_alone_whose_result_goes_nowhere_is_said():
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self, has_more):
            super().__init__()
            torch.manual_seed(0)
            self.a, self.b, self.more = (
                torch.nn.Conv2d(2, 3, 3),
                torch.nn.Conv2d(3, 2, 1),
                torch.nn.Conv2d(3, 4, 1),
            )
            self.has_more = has_more

        def forward(self, x):
            y = self.a(x)
            if self.has_more:
                self.more(y)
            return self.b(y)

    models = [Model(has_more).eval() for has_more in (True, False)]
    x = IMAGE.transpose(0, 3, 1, 2)
    for pair in (models, models[::-1]):
        report = tc.compare(*pair, x)
        assert report.passed, str(report)
        assert "1 layer without a partner: 'more'" in " ".join(str(report).split())
        assert report.unmatched[0].reason == "nothing that the model returns comes from it"


def test_models_that_part_in_a_layer_without_a_definition_are_parted_there():
    """Its results are near enough to be recognised, and what is behind it takes differences of them."""
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self, end):
            super().__init__()
            torch.manual_seed(6)
            self.fc, self.end = torch.nn.Linear(8, 4, bias=False), end
            with torch.no_grad():
                self.fc.weight -= self.fc.weight.mean(1, keepdim=True)

        def forward(self, x):
            return self.fc(torch.lerp(x, self.end, 1e-4))

    ends = [torch.from_numpy(np.random.default_rng(seed).random((1, 8), "float32")) for seed in (0, 1)]
    x = 1 + np.random.default_rng(2).random((1, 8), "float32") / 16
    report = tc.compare(*(Model(end).eval() for end in ends), x)
    assert (report.passed, report.first_parting.a) == (False, "lerp"), str(report)
