"""`teachconv.compare` of a float network and its quantized copy, and of two quantized networks."""

import json

import numpy as np
import pytest
from networks import quantized_networks as nets

import teachconv as tc
from teachconv import keras
from teachconv.cli.main import main
from teachconv.networks import recorder
from teachconv.translation.onnx_run import run_model

WORKS = {  # what each framework needs
    "teachconv": [],
    "onnx": [],
    "torch": ["torch"],
    "keras": ["keras"],
}


def entry(word, args, output, **named):
    facts = {"name": word, "framework": "onnx", "word": word, "args": args, "kwargs": {}, "error": ""}
    return facts | {"output": output} | named


def doubling():
    """A float network y = 2x, x, and what it returns: 2, 4, -2 and 1."""
    layer = keras.layers.Conv2D(1, 1, use_bias=False, name="double")
    model = keras.Sequential([keras.Input((2, 2, 1)), layer])
    model.set_weights([np.full((1, 1, 1, 1), 2, "float32")])
    return model, np.float32([1, 2, -1, 0.5]).reshape(1, 2, 2, 1)


def recorded_copy(x, scale, zero, integers):
    """Its copy in ONNX's layout, whose result has this scale and zero point."""
    x = x.transpose(0, 3, 1, 2)
    half, exact = np.float32(0.5), np.int8([2, 4, -2, 1]).reshape(x.shape)
    scale, zero, y = np.float32(scale), np.int8(zero), np.int8(integers).reshape(x.shape)
    filters = np.full((1, 1, 1, 1), 2, "float32")
    entries = [
        entry("QuantizeLinear", [x, half, np.int8(0)], exact, name="xq"),
        entry("DequantizeLinear", [exact, half, np.int8(0)], x),
        entry("Conv", [x, filters], 2 * x),
        entry("QuantizeLinear", [2 * x, scale, zero], y, name="yq"),
        entry("DequantizeLinear", [y, scale, zero], (y.astype("float32") - zero) * scale),
    ]
    entries[-1] |= {"input": x, "returned": [["", entries[-1]["output"]]]}
    return entries


def test_steps_and_decibels_of_a_network_of_one_layer():
    """By hand: 2, 4, -2 and 1 become 3, 3, -3 and 0. Signal 4 + 16 + 4 + 1 = 25, noise 4: 7.96 dB."""
    model, x = doubling()
    found = tc.compare(model, recorded_copy(x, 3, 0, [1, 1, -1, 0]), x)
    row, other = found.layers
    assert (row.name, row.tensor, row.op_type, row.scale, row.zero_point) == (
        "double",
        "yq",
        "convolution",
        3,
        0,
    )
    assert row.rms_steps == pytest.approx(1 / 3)
    assert row.most_steps == pytest.approx(1 / 3)
    assert row.sqnr == row.total_sqnr == pytest.approx(10 * np.log10(25 / 4))
    assert found.sqnr == pytest.approx(10 * np.log10(25 / 4))
    assert (row.saturated, row.share) == (0, 1)
    assert (other.name, other.tensor, other.sqnr, other.share) == ("the input", "xq", np.inf, 0)
    assert found.passed is None
    assert "'double' costs most, in float it would take away 100% of the output's error" in found._headline()


def test_an_output_without_an_error_gives_no_share():
    model, x = doubling()
    found = tc.compare(model, recorded_copy(x, 1, 0, [2, 4, -2, 1]), x)
    assert [row.share for row in found.layers] == [None, None]
    assert found.sqnr == np.inf
    assert "costs most: its results" in str(found)  # and no share of an error


def test_a_cell_beyond_the_largest_integer_is_saturated_and_one_at_it_is_not():
    """The zero point 125 leaves 2 steps above 0: of 2, 4, -2 and 1 the 4 becomes 2."""
    model, x = doubling()
    found = tc.compare(model, recorded_copy(x, 1, 125, [127, 127, 123, 126]), x)
    row = found.layers[0]
    assert (row.code, row.saturated, row.rms_steps, row.most_steps) == ("saturation", 0.25, 1, 2)
    assert "25% of its cells are beyond 127, which stands for 2, and its results reach 4" in row.reason
    assert "its scale must be 2 to hold them" in row.reason


@pytest.mark.parametrize("form", ["qdq", "qlinear"])
@pytest.mark.parametrize("ruined", range(5))
def test_a_scale_eight_times_too_small_is_named_as_saturation(ruined, form):
    pytest.importorskip("onnx")
    layers, x = nets.weights(), nets.image()
    right = nets.scales(layers, x)
    model = nets.float_model(layers)
    plain = tc.compare(model, nets.quantized_model(layers, right, form), x)
    assert plain.sqnr > 30
    assert [row.saturated for row in plain.layers] == [0] * 5
    steps = [scale / 8 if n == ruined else scale for n, scale in enumerate(right)]
    found = tc.compare(model, nets.quantized_model(layers, steps, form), x)
    worst = found.layers[0]
    names = ["the input", *(f"conv{n} + relu{n}" for n in range(4))]
    assert (worst.name, worst.code) == (names[ruined], "saturation")
    assert {row.name for row in found.layers} == {*names}
    needed = float(worst.reason.split("must be ")[1].split()[0])
    assert needed == pytest.approx(right[ruined], rel=0.02)
    values = nets.activations(layers, x)[ruined]
    if ruined < 2:  # before it there is no error but that of the input
        limits = (-128 * steps[0], 127 * steps[0]) if ruined == 0 else (0, 255 * steps[ruined])
        beyond = (values < limits[0] - steps[ruined] / 2) | (values > limits[1] + steps[ruined] / 2)
        assert worst.saturated == pytest.approx(beyond.mean(), abs=0.005)
    assert worst.share > 0.9
    assert all(row.share < 0.05 for row in found.layers[1:])
    assert repr(names[ruined]) in str(found).splitlines()[0]


def with_one_large_filter(layers, at):
    """Filter 3 of a layer is one large weight, on a channel that is 0: its result stays as small as the others'."""
    layers = [(w.copy(), b.copy()) for w, b in layers]
    layers[at - 1][1][0] = -100
    layers[at][0][3] = 0
    layers[at][0][3, 0, 1, 1] = 100
    return layers


@pytest.mark.parametrize("form", ["qdq", "qlinear"])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_one_weight_scale_where_each_filter_needs_its_own(at, form):
    pytest.importorskip("onnx")
    layers, x = with_one_large_filter(nets.weights(), at), nets.image()
    steps, model = nets.scales(layers, x), nets.float_model(layers)
    assert tc.compare(model, nets.quantized_model(layers, steps, form), x).sqnr > 30
    found = tc.compare(model, nets.quantized_model(layers, steps, form, one_scale=[at]), x)
    worst = found.layers[0]
    assert (worst.name, worst.code) == (f"conv{at} + relu{at}", "weights")
    assert worst.rms_steps > 10
    assert worst.share > 0.9
    assert "of its channels the SQNR is" in worst.reason


def float_networks(framework, layers):
    """The network of `quantized_networks` in a framework."""
    if framework == "onnx":
        return nets.float_model(layers)
    if framework == "torch":
        torch = pytest.importorskip("torch")
        parts = [
            part
            for w, _ in layers
            for part in (torch.nn.Conv2d(*w.shape[1::-1], 3, padding=1), torch.nn.ReLU(inplace=True))
        ]
        for part, (w, b) in zip(parts[::2], layers, strict=True):
            part.weight.data, part.bias.data = torch.from_numpy(w), torch.from_numpy(b)
        return torch.nn.Sequential(*parts).eval()
    own = keras if framework == "teachconv" else pytest.importorskip("keras")
    model = own.Sequential(
        [
            own.Input(nets.SHAPE[2:] + nets.SHAPE[1:2]),
            *(
                own.layers.Conv2D(len(b), 3, padding="same", activation="relu", name=f"c{n}")
                for n, (_, b) in enumerate(layers)
            ),
        ]
    )
    model.set_weights([array for w, b in layers for array in (w.transpose(2, 3, 1, 0), b)])
    return model


@pytest.mark.parametrize("framework", ["teachconv", "torch", "keras"])
def test_the_float_model_may_come_from_any_framework(framework):
    pytest.importorskip("onnx")
    layers, x = nets.weights(3), nets.image()
    steps = nets.scales(layers, x)
    steps[2] /= 3
    copy = nets.quantized_model(layers, steps)
    right = tc.compare(nets.float_model(layers), copy, x)
    model = float_networks(framework, layers)
    own = x if framework == "torch" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    found = tc.compare(model, copy, own)
    assert found.sqnr == pytest.approx(right.sqnr, rel=1e-4)
    assert [row.tensor for row in found.layers][0] == "q2"
    ours, theirs = ({row.tensor: row for row in each.layers} for each in (right, found))
    for tensor, row in ours.items():
        for name in ("share", "sqnr", "total_sqnr", "rms_steps", "saturated"):
            assert getattr(theirs[tensor], name) == pytest.approx(getattr(row, name), rel=1e-3, abs=1e-4), (
                name
            )


@pytest.mark.parametrize("version", [10, 13, 21])
def test_a_file_with_the_channels_last_of_any_version(version):
    """As converters from TensorFlow write it, transposed at both ends; and DequantizeLinear is older than 19."""
    helper = pytest.importorskip("onnx").helper
    layers, x = nets.weights(), nets.image()
    steps, model = nets.scales(layers, x), nets.float_model(layers)
    copy = nets.quantized_model(layers, steps, one_scale=range(4))  # axes of scales came with version 13
    right = tc.compare(model, copy, x)
    start, end = copy.graph.input[0], copy.graph.output[0]
    start.CopyFrom(helper.make_tensor_value_info("last", 1, [x.shape[axis] for axis in (0, 2, 3, 1)]))
    copy.graph.node.insert(0, helper.make_node("Transpose", ["last"], ["x"], perm=[0, 3, 1, 2]))
    copy.graph.node.append(helper.make_node("Transpose", ["y"], ["moved"], perm=[0, 2, 3, 1]))
    end.name, copy.opset_import[0].version = "moved", version
    for node in copy.graph.node:
        if version < 13 and node.op_type == "DequantizeLinear":
            del node.attribute[:]
    found = tc.compare(model, copy, x)
    assert found.sqnr == pytest.approx(right.sqnr)
    assert [row.share for row in found.layers] == pytest.approx([row.share for row in right.layers])


def test_what_is_not_a_float_model_beside_its_copy_is_refused():
    onnx = pytest.importorskip("onnx")
    layers, x = nets.weights(2), nets.image()
    model, copy = nets.float_model(layers), nets.quantized_model(layers, nets.scales(layers, x))
    with pytest.raises(ValueError, match="a must be the float model"):
        tc.compare(copy, model, x)
    unknown = nets.quantized_model(layers, nets.scales(layers, x))
    unknown.graph.node[-1].op_type = "Unknown"
    with pytest.raises(ValueError, match="b must run to its end; .*Unknown"):
        tc.compare(model, unknown, x)
    with pytest.raises(ValueError, match="a must be a model: it runs again on the numbers of b"):
        tc.compare(recorder.record_onnx(model, x, run=run_model), copy, x)
    for scale in (0, -0.5, np.nan, np.inf):
        (step,) = (tensor for tensor in copy.graph.initializer if tensor.name == "s1")
        step.CopyFrom(onnx.numpy_helper.from_array(np.float32(scale), "s1"))
        with pytest.raises(ValueError, match=f"positive and finite scales; that of 'q1' is {float(scale)}"):
            tc.compare(model, copy, x)
    copy = nets.quantized_model(layers, nets.scales(layers, x))
    other = keras.Sequential([keras.Input((5,)), keras.layers.Dense(7)])
    with pytest.raises(ValueError, match="no activation of b resembles"):
        tc.compare(other, copy, (np.ones((1, 5), "float32"), x))


def test_the_command_prints_the_ranking(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    layers, x = nets.weights(2), nets.image()
    onnx.save(nets.float_model(layers), tmp_path / "a.onnx")
    onnx.save(nets.quantized_model(layers, nets.scales(layers, x)), tmp_path / "b.onnx")
    np.save(tmp_path / "x.npy", x)
    command = ["compare", *(str(tmp_path / name) for name in ("a.onnx", "b.onnx", "--input", "x.npy"))]
    command[3] = "--input"
    assert main(command) == 0
    assert "costs most" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is None
    assert {row["name"] for row in found["layers"]} == {"the input", "conv0 + relu0", "conv1 + relu1"}


# ---------------------------------------------------------------------------------------------
# Each layer in its own arithmetic
# ---------------------------------------------------------------------------------------------


def weight(arrays):
    arrays["w2"][4, 3, 1, 1] += 40


def scale(arrays):
    arrays["ws2"][4] *= 2


def zero_point(arrays):
    arrays["z1"] += 7


@pytest.mark.parametrize("form", ["qdq", "qlinear"])
@pytest.mark.parametrize(
    ("change", "layers"), [(weight, ("2", "conv1")), (scale, ("2", "conv1")), (zero_point, ("1", "conv0"))]
)
def test_a_ruined_twin_is_named(form, change, layers):
    onnx = pytest.importorskip("onnx")
    weights, x = nets.weights(3), nets.image()
    model = nets.quantized_model(weights, nets.scales(weights, x), form)
    assert tc.compare(model, model, x).passed
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor).copy() for tensor in twin.graph.initializer}
    change(arrays)
    for tensor in twin.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(arrays[tensor.name], tensor.name))
    found = tc.compare(model, twin, x)
    assert found.passed is False
    assert found.first_wrong is None
    assert any(layer in found.first_parting.b for layer in layers), str(found)
    assert found.first_parting.code


def test_a_kernel_that_pads_with_the_integer_0_is_wrong_in_itself():
    random = np.random.default_rng(0)
    x, w = random.integers(0, 256, (1, 2, 5, 5), "uint8"), random.integers(-9, 9, (3, 2, 3, 3), "int8")
    facts = {"x_scale": 0.1, "x_zero_point": 100, "w_scale": 0.02, "y_scale": 0.5, "y_zero_point": 90}

    def recording(padded_with):
        """The layer's result by TensorFlow's layout, as if a border of this integer belonged to x."""
        border = ((0, 0), (1, 1), (1, 1), (0, 0))
        image = np.pad(x.transpose(0, 2, 3, 1), border, constant_values=padded_with)
        y = tc.quantized.conv2d(image, w.transpose(2, 3, 1, 0), **facts).transpose(0, 3, 1, 2)
        one = {name: np.float32(value) for name, value in facts.items() if "scale" in name}
        args = [x, one["x_scale"], np.uint8(100), w, one["w_scale"], np.int8(0), one["y_scale"], np.uint8(90)]
        return [entry("QLinearConv", args, y, name="conv", kwargs={"pads": [1] * 4}, input=x)]

    assert tc.compare(recording(100), recording(100)).passed
    found = tc.compare(recording(100), recording(0))
    assert (found.first_wrong.b, found.first_wrong.code) == ("conv", "zero_padding")
