"""What stands between convolutions is defined as the frameworks compute it; and how two layers of it differ is said."""

from dataclasses import replace
from functools import partial
from math import exp
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.dialects import keras as keras_dialect
from teachconv.dialects import torch as torch_dialect
from teachconv.networks import definitions, recorder
from teachconv.networks.comparing.judging import judge
from teachconv.networks.comparing.reasons import reason_of_segment
from teachconv.networks.reading import Layer, by_law, read
from teachconv.networks.walking import walk

RECORDED = Path(__file__).parents[1] / "recorded"

# ---------------------------------------------------------------------------------------------
# Definitions
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "settings", "x", "right"),
    [
        ("selu", {}, [1, -1], [1.0507009873554805, 1.7580993408473766 * (exp(-1) - 1)]),
        ("celu", {"alpha": 2}, [3, -2], [3, 2 * (exp(-1) - 1)]),
        ("elu", {"alpha": 0.5}, [3, -2], [3, 0.5 * (exp(-2) - 1)]),
        ("softsign", {}, [3, -1], [0.75, -0.5]),
        ("softshrink", {}, [2, -2, 0.25], [1.5, -1.5, 0]),
        ("hardshrink", {"alpha": 1}, [2, -2, 0.5], [2, -2, 0]),
        ("hardsigmoid", {"alpha": 0.25}, [1, 4, -4], [0.75, 1, 0]),
        ("logsigmoid", {}, [0], [-np.log(2)]),
        ("softplus", {"alpha": 2}, [0], [np.log(2) / 2]),
    ],
)
def test_activations_by_hand(function, settings, x, right):
    made = definitions.smooth(np.float64(x), function=function, **settings)
    assert np.allclose(made.value, right, rtol=1e-14)
    assert made.terms > 0
    assert (np.asarray(made.sizes) >= np.abs(made.value)).all()


def test_gates_orders_and_indices_by_hand():
    x = np.float32([[3, 1, 2]])
    ordered = partial(definitions.ordered, x, axis=-1, count=2)
    assert [ordered(largest=way).value.tolist() for way in (True, False)] == [[[3, 2]], [[1, 2]]]
    indices = [definitions.reduced(x, function="argmax", axes=a, keepdims=True).value for a in ((1,), (0, 1))]
    assert [each.tolist() for each in indices] == [[[0]], [[0]]]
    assert definitions.gated(x, 0 * x).value.tolist() == [[1.5, 0.5, 1]]


def wide(*arrays):
    return [np.float32(each) for each in arrays]


@pytest.mark.parametrize(
    ("function", "arrays", "settings", "right"),
    [
        ("product", ([[1, 2]], [[3], [-4]]), {}, [[-5]]),
        ("product", ([[1], [2]], [[3, -4]]), {"transposed": (0, 1)}, [[-5]]),
        ("squared difference", ([3, 1], [1, 2]), {}, [4, 1]),
        ("average", ([3, 1], [1, 2], [5, 0]), {}, [3, 1]),
        ("norm", ([[3, -4]],), {"order": 2, "axes": (1,), "keepdims": False}, [5]),
        ("norm", ([[3, -4]],), {"order": 1, "axes": (1,), "keepdims": True}, [[7]]),
        ("norm", ([[3, -4]],), {"order": 2, "axes": (1,), "is_root": False}, [[25]]),
        ("normalize", ([[3, -4], [0, 0]],), {"order": 2, "axes": (1,), "floor": 1e-6}, [[0.6, -0.8], [0, 0]]),
        ("variance", ([[1, 3, 8]],), {"axes": (1,), "fewer": 1, "keepdims": False, "exponent": 1}, [13]),
        ("rms norm", ([[3, -4]], [2, 1]), {"axes": (1,), "eps": 3.5}, [[1.5, -1]]),
        ("einsum", ([[1, 2]], [[3, 4]]), {"equation": "ni,nj->ij", "bias": [1, 0]}, [[4, 4], [7, 8]]),
        (
            "local response norm",  # 1 + (x² of itself and the one before), to the power of 1
            ([[1, 2, 3]],),
            {"before": 1, "after": 0, "axis": 1, "bias": 1, "alpha": 1, "beta": 1},
            [[1 / 2, 2 / 6, 3 / 14]],
        ),
        (
            "attention",  # the second key is masked for the first query; the scores of the second are equal
            ([[1], [0]], [[1], [5]], [[2], [4]], [[0, -np.inf], [0, 0]]),
            {"scale": 1},
            [[2], [3]],
        ),
    ],
)
@np.errstate(all="ignore")  # masked scores are -infinity
def test_formulas_by_hand(function, arrays, settings, right):
    arrays = wide(*arrays)
    made = definitions.formula(*arrays, function=function, **settings)
    assert np.allclose(made.value, right, rtol=1e-12)
    assert definitions.judged("", np.float32(right), made, "float32").passed
    wrong = np.float32(right) + np.float32(1e-4)
    assert definitions.judged("", wrong, made, "float32").passed is False
    constants = {len(arrays) - 1: arrays[-1]} if arrays[1:] else {}
    same = definitions.formula(
        *arrays[: len(arrays) - len(constants)], function=function, constants=constants, **settings
    )
    assert np.array_equal(same.value, made.value)
    errors = [1e-3 * np.abs(np.cos(np.arange(each.size))).reshape(each.shape) for each in arrays]
    moved = definitions.formula(*arrays, function=function, errors=errors, **settings)
    moved = moved.sizes * moved.terms * 2.0**-24
    for seed in range(20):  # whatever the errors are, the result moves by no more
        signs = np.random.default_rng(seed)
        shifted = [x + e * signs.choice([-1, 1], x.shape) for x, e in zip(arrays, errors, strict=True)]
        value = definitions.formula(*shifted, function=function, **settings).value
        assert (np.abs(value - made.value) <= moved * (1 + 1e-6) + 1e-12).all(), function


def test_groups_of_channels_are_normalised_wherever_these_are():
    x = np.random.default_rng(0).standard_normal((2, 6, 5, 4)).astype("float32")
    facts = {"groups": 3, "gamma": None, "beta": None, "eps": 1e-5}
    first = definitions.formula(x, function="normalised", axes=(2,), **facts).value
    last = definitions.formula(x.transpose(0, 2, 3, 1), function="normalised", axes=(1, 3), **facts).value
    assert np.allclose(first, last.transpose(0, 3, 1, 2), rtol=1e-12)
    blocks = first.reshape(2, 3, -1)
    assert np.allclose([blocks.mean(-1), blocks.var(-1)], [np.zeros((2, 3)), np.ones((2, 3))], atol=1e-4)


@pytest.mark.parametrize("framework", ["torch", "keras", "onnx", "tflite"])
def test_frameworks_computed_what_is_defined(framework):
    path = RECORDED / f"between_{framework}.npz"
    report = tc.compare(str(path), str(path))
    assert report.passed, str(report)
    layers = [layer for layer in walk(str(path), None).layers if layer.computes]
    assert len(layers) > 12
    for layer in layers:  # and nothing near to it
        wrong = layer.output + (
            1 if layer.output.dtype.kind == "i" else np.float32(1e-4 * np.abs(layer.output).max())
        )
        assert judge(layer, layer.inputs, wrong).passed is False, layer.name


def test_a_reduction_over_the_whole_image_is_a_pool():
    x = np.random.default_rng(0).standard_normal((1, 4, 5, 3)).astype("float32")
    for word, arguments, keepdims in (
        ("REDUCE_MAX", [np.int32([1, 2])], True),
        ("MEAN", [np.int32([1, 2])], False),
    ):
        output = (np.max if "MAX" in word else np.mean)(x, axis=(1, 2), keepdims=keepdims)
        facts = {"name": "pool", "framework": "tflite", "word": word, "output": output}
        layer = read(
            facts | {"args": [x, *arguments], "kwargs": {"keepDims": keepdims}}, lambda array: array is x
        )
        assert layer.op_type == ("max pool" if "MAX" in word else "average pool")
        assert judge(layer, layer.inputs, layer.output).passed


# ---------------------------------------------------------------------------------------------
# Reasons
# ---------------------------------------------------------------------------------------------

X = np.random.default_rng(0).standard_normal((1, 4, 6, 4)).astype("float32")
IMAGE = 3 * np.random.default_rng(1).standard_normal((1, 6, 5, 4)).astype("float32")


def layer(name, op_type, op, *inputs, **arguments):
    """A layer of Keras that computes what it says."""
    inputs = inputs or (IMAGE,)
    made = op(*inputs, **arguments)
    output = np.float32(made.value if isinstance(made, definitions.Defined) else made)
    return Layer(name, "keras", op_type, op_type, inputs, output, op=op, arguments=arguments)


def smooth(name, function, *inputs, **arguments):
    return layer(
        name, function.partition(" ")[0], definitions.smooth, *inputs, function=function, **arguments
    )


def said(ours, theirs):
    found = reason_of_segment(ours, theirs)
    return found.code, found.words


def test_a_maximum_for_an_average():
    pools = [
        layer(n, f"{n} pool", getattr(keras_dialect, f"{n}_pool"), pool_size=(6, 5))
        for n in ("average", "max")
    ]
    right = "op_type", "a maximum for an average: 'max' (keras) beside 'average' (keras)"
    assert said(pools[:1], pools[1:]) == right


def test_slopes_of_channels_are_compared_in_any_shape():
    one, other = np.float32([[[0.25, 0.5, 0.125, 0.5]]]), np.float32([0.25, 0.5, 0.125, 0.25])
    ours, theirs = (layer(n, "relu", definitions.leaky_relu, slope=w) for n, w in (("a", one), ("b", other)))
    words = "another slope: 'b' (keras) differs from 'a' (keras) by up to 0.25"
    assert said([ours], [theirs]) == ("weights", words)
    plain = layer("b", "relu", definitions.clip, low=0.0)
    assert said([ours], [plain]) == ("weights", words.replace("0.25", "0.5"))


def test_another_axis_of_a_softmax_whatever_its_number():
    rows, channels = smooth("a", "softmax", axis=1), smooth("b", "softmax")
    words = "another axis: 'b' (keras) has axis [2], where 'a' (keras) has axis [0]"
    assert said([rows], [channels]) == ("axis", words.replace("[2]", "[3]").replace("[0]", "[1]"))
    x = IMAGE.transpose(0, 3, 1, 2)
    first = smooth("c", "softmax", x, axis=1)
    first = replace(first, framework="torch", axis=1)
    assert said([first], [channels])[0] == "moved"  # each is over the channels


def test_an_axis_that_no_array_has_raises_nothing():
    """As in a damaged recording, or where a framework takes more than one axis."""
    x = np.float32(3)
    for axis in (-1, [1, 2]):
        scalar = Layer("a", "keras", "softmax", "softmax", (x,), x, definitions.smooth)
        scalar = replace(scalar, arguments={"function": "softmax", "axis": axis})
        assert said([scalar], [scalar])[0] == ""


def test_a_scale_for_a_size():
    x, ways = IMAGE.transpose(0, 3, 1, 2), {"a": {"size": (8, 7)}, "b": {"scale_factor": 1.4}}
    size, scale = (
        replace(layer(name, "resize", torch_dialect.interpolate, x, mode="bilinear", **how), axis=1)
        for name, how in ways.items()
    )
    code, words = said([size], [scale])
    assert code == "scale"
    assert (
        words == "another scale: 'b' (keras) has scale [1.4, 1.4], where 'a' (keras) has scale [1.33333, 1.4]"
    )


def convolution(name, filters, bias):
    facts = by_law(np.float32(filters), -1)
    output = keras_dialect.conv(IMAGE, np.float32(filters)) + np.float32(bias)
    return Layer(name, "keras", "Conv2D", inputs=(IMAGE,), output=output, bias=np.float32(bias), **facts)


def test_an_activation_that_is_folded_into_the_convolution_before_it():
    """Keras 2's hard sigmoid is 0.2 x + 0.5 between 0 and 1, Keras 3's x / 6 + 0.5."""
    filters = np.random.default_rng(2).standard_normal((6, 5, 4, 3)) / 8
    conv, folded = convolution("conv", filters, [0, 1, 2]), convolution("fold", filters / 5, [0.5, 0.7, 0.9])
    gate = smooth("gate", "hardsigmoid", conv.output)
    clip = layer("clip", "relu", definitions.clip, folded.output, low=0.0, high=1.0)
    code, words = said([conv, gate], [folded, clip])
    assert code == "scale_and_shift"
    assert words.startswith(
        "its result is equal when it is multiplied by 0.2 and increased by 0.5: the hard sigmoid of Keras 2"
    )
    changed = convolution("fold", filters / 5, [0.5, 0.7, 1.9])
    clip = layer("clip", "relu", definitions.clip, changed.output, low=0.0, high=1.0)
    assert said([conv, gate], [changed, clip])[0] == "weights"


@pytest.mark.parametrize("is_first", [True, False])
def test_an_activation_that_is_written_as_several_layers_is_not_the_reason(is_first):
    """The halves of the channels are exchanged beside a SiLU, which the other model has as a product."""
    halves = np.split(IMAGE, 2, -1)
    act = smooth("act", "silu (swish)", halves[0])
    gate = smooth("gate", "sigmoid", halves[1])
    times = layer("times", "multiply", definitions.pointwise, halves[1], gate.output, function="multiply")
    sides = [act], [gate, times]
    code, words = said(*(sides if is_first else sides[::-1]))
    assert code == "moved"
    assert words.startswith("the layers compute the same, but what moves the numbers differs")


@pytest.mark.parametrize("is_first", [True, False])
def test_another_activation_is_named_however_it_is_written(is_first):
    """The hard sigmoid as a converter writes it: 3 is added by the convolution, then a ReLU6 and a factor."""
    conv, folded = (
        convolution(name, np.ones((6, 5, 4, 3)) / 40, [b, b, b]) for name, b in (("a", 0), ("b", 3))
    )
    gate = smooth("gate", "sigmoid", conv.output)
    clip = layer("clip", "relu", definitions.clip, folded.output, low=0.0, high=6.0)
    times = layer(
        "times", "multiply", definitions.pointwise, clip.output, function="multiply", constants={1: 1 / 6}
    )
    sides = [conv, gate], [folded, clip, times]
    words = "a hardsigmoid for a sigmoid: 'times' (keras) beside 'gate' (keras)"
    assert said(*(sides if is_first else sides[::-1])) == ("op_type", words)


def test_the_approximate_gelu_of_nine_nodes_beside_the_exact_one():
    x = IMAGE
    square = layer("first", "multiply", definitions.pointwise, x, x, function="multiply")
    nodes = [square]

    def node(function, *inputs, **more):
        nodes.append(
            layer(
                f"{function} {len(nodes)}",
                function,
                definitions.pointwise,
                *inputs,
                function=function,
                **more,
            )
        )
        return nodes[-1].output

    cube = node("multiply", square.output, x)
    inner = node("add", x, node("multiply", cube, constants={0: 0.044715}))
    nodes.append(smooth("tanh", "tanh", node("multiply", inner, constants={1: (2 / np.pi) ** 0.5})))
    node("multiply", node("multiply", x, node("add", nodes[-1].output, constants={1: 1})), constants={1: 0.5})
    code, words = said([smooth("gelu", "gelu")], nodes)
    assert code == "function"
    assert "has function 'gelu (tanh)', where 'gelu' (keras) has function 'gelu'" in words


def test_the_norms_are_one_family():
    """Keras has the norm of each channel as one of as many groups; torch's own call is another."""
    x, facts = IMAGE, {"gamma": None, "beta": None}
    entry = {"name": "norm", "framework": "keras", "word": "GroupNormalization", "args": [x]}
    for groups in (4, -1):
        made = definitions.formula(x, function="normalised", groups=0, axes=(1, 2), eps=1e-3, **facts).value
        kwargs = {"groups": groups, "epsilon": 1e-3, "axis": -1}
        norm = read(entry | {"kwargs": kwargs, "output": np.float32(made)}, lambda array: array is x)
        assert norm.op_type == "instance norm"
        assert judge(norm, norm.inputs, norm.output).passed
        other = layer(
            "a",
            "instance norm",
            definitions.formula,
            function="normalised",
            eps=1e-5,
            groups=0,
            axes=(1, 2),
            **facts,
        )
        assert said([other], [norm])[0] == "eps"
    rows = layer(
        "rows",
        "layer norm",
        definitions.formula,
        function="normalised",
        eps=1e-5,
        groups=0,
        axes=(3,),
        **facts,
    )
    assert said([other], [rows])[1] == "a layer norm for an instance norm: 'rows' (keras) beside 'a' (keras)"


def test_a_scale_and_an_offset_are_the_normalisation_that_they_are():
    """Rescaling beside what a converter makes of it."""
    words = {"mean": np.zeros(4), "variance": np.ones(4), "eps": 0.0, "axis": -1}
    rescaled = layer(
        "r", "batch norm", definitions.batch_norm, gamma=np.full(4, 0.5), beta=-np.ones(4), **words
    )

    def written(scale, offset):
        times = layer("m", "multiply", definitions.pointwise, function="multiply", constants={1: scale})
        return [
            times,
            layer(
                "s",
                "subtract",
                definitions.pointwise,
                times.output,
                function="subtract",
                constants={1: offset},
            ),
        ]

    assert said([rescaled], written(0.25, 1)) == (
        "weights",
        "another gamma: 'm + s' (keras) differs from 'r' (keras) by up to 0.25",
    )
    assert (
        "another beta: 'm + s' (keras) differs from 'r' (keras) by up to 1"
        in said([rescaled], written(0.5, 2))[1]
    )
    assert said(written(0.5, 2), [rescaled])[0] == "weights"


def test_another_order_of_the_same_layers():
    tanh, plus = smooth("t", "tanh"), layer("p", "add", definitions.pointwise, IMAGE, IMAGE, function="add")
    after, before = (
        smooth("t", "tanh", plus.output),
        layer("p", "add", definitions.pointwise, tanh.output, IMAGE, function="add"),
    )
    code, words = said([plus, after], [tanh, before])
    assert (code, words) == (
        "order",
        "the layers are in another order: tanh, add, where the first model has add, tanh",
    )
    assert said([plus, after], [after])[1] == "the second model has no such layer: 'p' (keras) is an addition"


def test_an_array_of_other_numbers_is_said_in_numbers():
    norm = smooth("a", "softsign")
    wrong = norm.output.copy()
    wrong[0, 2, 3, 1] = 7
    array = Layer("dumped", "arrays", "array", "array", (), wrong)
    apart = 7 - norm.output[0, 2, 3, 1]
    words = f"the array holds other numbers, up to {apart:.3g} from those of 'a' (keras), in its cell [0, 2, 3, 1]"
    assert said([norm], [array]) == ("result", words)
    assert said([norm], [replace(array, output=wrong[0])]) == ("result", words)
    array = replace(array, output=wrong[:, :5])
    words = "the array holds other numbers, of shape [1, 5, 5, 4], where 'a' (keras) returns [1, 6, 5, 4]"
    assert said([norm], [array]) == ("result", words)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_shuffle_by_hand_with_the_channels_elsewhere_has_its_order(is_first):
    """PyTorch's pixel_shuffle, which has its channels first and is CRD, beside Keras' reshapes, which are DCR."""
    first = np.arange(128, dtype="float32").reshape(1, 8, 4, 4)
    wide = first.reshape(1, 2, 2, 2, 4, 4).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 8, 8)
    shuffle = Layer("shuffle", "torch", "pixel_shuffle", "layout", (first,), wide, axis=1)
    blocks = first.transpose(0, 2, 3, 1).reshape(1, 4, 4, 2, 2, 2)
    by_hand = Layer(
        "transpose", "keras", "Transpose", "layout", (blocks,), blocks.transpose(0, 1, 3, 2, 4, 5)
    )
    sides = [shuffle], [by_hand]
    code, words = said(*(sides if is_first else sides[::-1]))
    orders = ("DCR", "CRD") if is_first else ("CRD", "DCR")
    assert code == "channel_order"
    assert words.split(" reads it as ")[1][:3] == orders[0]
    assert words.endswith(orders[1])


def test_shapes_that_differ_are_said_in_words():
    arrays = [np.float32(np.arange(n).reshape(1, n // 5, 5)) for n in (30, 15)]

    def join(name, *inputs, axis=1):
        return layer(name, "concatenate", definitions.concatenate, *inputs, axis=axis)

    ours, same = join("a", *arrays), replace(join("b", *arrays), axis=1)
    assert (
        said([ours], [same])[0] == "moved"
    )  # the channels of one are elsewhere, and the shapes are the same
    turned = join("b", *(array.transpose(0, 2, 1) for array in arrays), axis=2)
    code, words = said([ours], [turned])
    takes = "'b' (keras) takes [[1, 5, 6], [1, 5, 3]], where 'a' (keras) takes [[1, 6, 5], [1, 3, 5]]"
    assert (code, words) == ("shape", f"the shapes differ: {takes} (another order of axes)")


# ---------------------------------------------------------------------------------------------
# Whole models
# ---------------------------------------------------------------------------------------------


def network(torch, end):
    """A convolution of PyTorch, and a function of its result."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.down = torch.nn.Conv2d(4, 10, 3), torch.nn.Conv2d(10, 10, 2, 2)

        def forward(self, x):
            return end(self.conv(x), self)

    return Network().eval()


def test_a_view_in_place_of_a_transpose_before_a_concatenation_is_said_in_words():
    torch = pytest.importorskip("torch")

    def joined(head):
        return network(torch, lambda y, net: torch.cat([head(y), head(net.down(y))], 1).softmax(-1))

    right = joined(lambda y: y.view(1, 5, -1).permute(0, 2, 1))
    row = tc.compare(right, joined(lambda y: y.view(1, -1, 5)), X).first_parting
    assert (row.a, row.b, row.code) == ("permute + permute (call 2) + cat", "cat", "moved")
    assert "reads [1, 5, 16] as [1, 16, 5], [1, 5, 4] as [1, 4, 5], the second all as it is" in row.reason
    assert row.share > 0.99  # put right alone, it makes the results equal


def test_heads_of_attention_that_are_split_otherwise():
    torch = pytest.importorskip("torch")

    def product(split):
        def end(y, _):
            one, other = split(y.flatten(2).transpose(1, 2)), split(y.flatten(2).transpose(1, 2).relu())
            return one @ other.transpose(-1, -2)

        return network(torch, end)

    right = product(lambda t: t.reshape(1, 8, 2, 5).transpose(1, 2))
    row = tc.compare(right, product(lambda t: t.reshape(1, 8, 5, 2).permute(0, 3, 1, 2)), X).first_parting
    assert row.code == "moved", row
    assert "[1, 8, 5, 2] as [1, 2, 8, 5]" in row.reason


def test_a_cast_alone_cannot_be_put_right():
    torch = pytest.importorskip("torch")
    one = network(torch, lambda y, net: net.down(y))
    report = tc.compare(one, network(torch, lambda y, net: net.down(y.half().float())), X)
    assert (report.first_parting.b, report.first_parting.share) == ("half", None)
    assert "no nearer" not in str(report)


def test_the_least_numbers_for_the_largest_are_put_right():
    """PyTorch returns them with their places."""
    torch = pytest.importorskip("torch")
    nets = [
        network(torch, lambda y, _, way=way: y.flatten(1).topk(3, largest=way)[0]) for way in (True, False)
    ]
    row = tc.compare(*nets, X).first_parting
    assert (row.code, round(row.share, 3)) == ("largest", 1)


def test_indices_are_recognised_as_activations_are():
    """What differs is the shape of the other result, not the argmax, whose integers are equal."""
    torch = pytest.importorskip("torch")
    nets = [network(torch, lambda y, _, n=n: (y.flatten(n), y.argmax(1))) for n in (2, 3)]
    report = tc.compare(*nets, X)
    assert [(row.a, row.passed) for row in report.layers] == [("conv", True), ("argmax", True)]
    assert (report.passed, report.first_parting.code) == (False, "shape")


@pytest.mark.parametrize("before", [0, 1, 2])
def test_constants_that_are_joined_are_operands(before):
    """A class token, of two as DeiT has them; they were left out, and the model called wrong in itself."""
    torch = pytest.importorskip("torch")

    def joined(token):
        def end(y, _):
            parts = [y.flatten(2), torch.full((1, 10, 1), 0.5), token.expand(1, 10, 2)]
            return torch.cat([*parts[3 - before :], *parts[: 3 - before]], 2).softmax(1)

        return network(torch, end)

    token = torch.nn.Parameter(torch.arange(10.0)[:, None])
    right = joined(token)
    assert tc.compare(right, joined(token), X).passed
    row = tc.compare(right, joined(token + torch.eye(10)[:, :1] / 4), X).first_parting
    assert (row.b.rpartition(" ")[2], row.code) == ("cat", "weights")
    assert "differs from 'cat' (torch) by up to 0.25" in row.reason


def test_a_sum_and_a_product_may_have_constants_in_any_place():
    x = IMAGE[:, :, 0]
    facts = {"name": "n", "framework": "onnx", "kwargs": {}}
    for word, args, right in (
        ("Sum", [x, 0 * x + 2, x, np.float32([1, 2, 3, 4])], 2 * x + 2 + np.float32([1, 2, 3, 4])),
        ("Max", [np.float32([0.5]), x, np.float32([0.25])], np.maximum(x, 0.5)),
        ("MatMul", [x, np.ones((1, 4, 3), "float32")], x.sum(-1, keepdims=True) * np.ones(3, "float32")),
        ("Sub", [np.ones((), "float32"), x], 1 - x),
    ):
        made = read(facts | {"word": word, "args": args, "output": right}, lambda array: array is x)
        assert len(made.inputs) == sum(each is x for each in args)
        assert judge(made, made.inputs, made.output).passed, word
        assert judge(made, made.inputs, made.output + 1).passed is False, word
    ours = layer("a", "subtract", definitions.pointwise, function="subtract", constants={0: 1.0})
    theirs = layer("b", "subtract", definitions.pointwise, function="subtract", constants={1: 1.0})
    assert said([ours], [theirs])[0] == "place"


def attention(torch, how):
    """Queries, keys and values of one product, or of three with a third of its weights each."""

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.qkv = torch.nn.Linear(24, 72)

        def forward(self, x):
            if how == "one":
                q, k, v = self.qkv(x).reshape(*x.shape[:2], 3, 4, 6).permute(2, 0, 3, 1, 4).unbind(0)
            else:
                weights = zip(self.qkv.weight.chunk(3), (1 * self.qkv.bias).chunk(3), strict=True)
                three = [torch.nn.functional.linear(x, w, b).view(*x.shape[:2], 4, 6) for w, b in weights]
                q, k, v = (each.transpose(1, 2) for each in three)
            v = k if how == "keys for values" else v
            return (q @ k.transpose(-2, -1)).softmax(-1) @ v

    return Attention().eval()


def test_one_product_is_three_with_a_third_of_its_weights_each():
    """The weights are computed from weights, and each part of a split is an activation."""
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((2, 7, 24)).astype("float32")
    one, three = attention(torch, "one"), attention(torch, "three")
    for pair in ((one, three), (three, one)):
        report = tc.compare(*pair, x)
        assert report.passed, str(report)
    report = tc.compare(one, attention(torch, "keys for values"), x)
    assert report.passed is False
    assert report.first_parting.a.endswith("matmul (call 2)")


def test_weights_that_are_computed_from_weights_are_weights():
    torch = pytest.importorskip("torch")

    def standardised(weight):
        mean, deviation = weight.mean((1, 2, 3), keepdim=True), weight.std((1, 2, 3), keepdim=True)
        return (weight - mean) / deviation

    def functional(change):
        return network(torch, lambda y, net: torch.nn.functional.conv2d(y, change(net.down.weight), stride=2))

    plain = network(torch, lambda y, net: torch.nn.functional.conv2d(y, net.own, stride=2))
    plain.own = standardised(plain.down.weight.detach())
    report = tc.compare(functional(standardised), plain, X)
    assert report.passed, str(report)
    assert tc.compare(functional(lambda w: standardised(w) * 1.01), plain, X).first_parting.a == "conv2d"


@pytest.mark.parametrize("way", ["torch", "onnx", "keras"])
def test_each_part_of_a_split_can_be_put_in_place_of_what_was_computed(way, tmp_path):
    package = pytest.importorskip(way)
    if way == "torch":
        model = network(package, lambda y, _: package.cat([part * 2 for part in y.split(5, 1)], 1))
        record = recorder.record_torch
    elif way == "keras":
        x = package.Input((4, 10))
        parts = package.ops.split(package.layers.ReLU()(x), 2, -1)
        model = package.Model(x, package.ops.concatenate([part * 2 for part in parts], -1))
        record = recorder.record_keras
    else:
        helper = package.helper
        halves = [helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2)]
        nodes = [*halves, helper.make_node("Concat", ["a", "b"], ["y"], axis=1)]
        kind = package.TensorProto.FLOAT
        ends = [[helper.make_tensor_value_info(name, kind, [1, 4, 6, 4])] for name in "xy"]
        model = helper.make_model(
            helper.make_graph(nodes, "g", *ends), opset_imports=[helper.make_opsetid("", 18)]
        )
        model.ir_version = 10  # which each release of onnxruntime reads
        pytest.importorskip("onnxruntime")
        record = recorder.record_onnx
    x = np.abs(X) if way != "keras" else np.abs(X).reshape(-1)[:80].reshape(2, 4, 10)
    plain = record(model, x)
    number = [n for n, entry in enumerate(plain) if entry["word"].lower() == "split"][1]
    zeros = np.zeros_like(plain[number]["output"])
    for results in ({"instead": {number: zeros}}, {"added": {number: -plain[number]["output"]}}):
        changed = record(model, x, **results)
        assert np.array_equal(changed[number]["computed"], plain[number]["output"])
        first, second = np.split(changed[-1]["output"], 2, -1 if way == "keras" else 1)
        assert first.any()
        assert not second.any()


@pytest.mark.parametrize("weights", [False, True])
def test_attention_of_a_layer_is_that_by_hand(weights):
    """PyTorch's function for it was one call without a definition, and so was all behind it."""
    torch = pytest.importorskip("torch")

    class Attention(torch.nn.Module):
        def __init__(self, is_layer):
            super().__init__()
            torch.manual_seed(0)
            self.heads = torch.nn.MultiheadAttention(24, 4, batch_first=True)
            self.is_layer = is_layer

        def forward(self, x):
            if self.is_layer:
                return self.heads(x, x, x, need_weights=weights)[0]
            own = self.heads
            qkv = torch.nn.functional.linear(x, own.in_proj_weight, own.in_proj_bias)
            q, k, v = qkv.reshape(*x.shape[:2], 3, 4, 6).permute(2, 0, 3, 1, 4)
            scores = q @ k.transpose(-2, -1) * 6**-0.5
            return own.out_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))

    x = np.random.default_rng(0).standard_normal((2, 7, 24)).astype("float32")
    report = tc.compare(Attention(True).eval(), Attention(False).eval(), x)
    assert report.passed, str(report)
    changed = Attention(False).eval()
    changed.heads.in_proj_weight.data[30] *= 1.01
    row = tc.compare(Attention(True).eval(), changed, x).first_parting
    assert (row.a.rpartition(" ")[2], row.code) == ("linear", "scale"), row
    assert torch.nn.functional.has_torch_function((torch.zeros(1),)) is False


def test_another_scale_of_attention_and_another_equation_have_their_reason():
    torch = pytest.importorskip("torch")
    attention = torch.nn.functional.scaled_dot_product_attention
    plain, scaled = (network(torch, lambda y, _, s=s: attention(y, y, y, scale=s)) for s in (0.5, 0.505))
    row = tc.compare(plain, scaled, X).first_parting
    assert (row.a, row.code) == ("scaled_dot_product_attention", "scale")
    assert "scale 0.505, where 'scaled_dot_product_attention' (torch) has scale 0.5" in row.reason.replace(
        "scale=", "scale "
    )
    one, other = (
        network(torch, lambda y, _, text=text: torch.einsum(text, y, y))
        for text in ("bchw,bcvw->bhv", "bchw,bcvw->bvh")
    )
    assert tc.compare(one, one, X).passed
    other = network(torch, lambda y, _: torch.einsum("bchw,bdhw->bcd", y, y))
    assert tc.compare(one, other, X).first_parting.a == "einsum"


@pytest.mark.parametrize("way", ["set", "copy"])
def test_a_buffer_that_gets_activations_is_a_constant_no_more(way):
    """Written to as a whole or through a view of it, as caches are."""
    torch = pytest.importorskip("torch")

    def end(y, net, factor=1.0):
        cache = net.cache.clone()
        if way == "set":
            cache[:, :, 1:] = y * factor
        else:
            cache[:, :, 1:].copy_(y * factor)
        return net.down(torch.tanh(cache * 2))

    def padded(y, net):
        return net.down(torch.tanh(torch.nn.functional.pad(y, (0, 0, 1, 0)) * 2))

    networks = [network(torch, each) for each in (padded, end, partial(end, factor=1.01))]
    for net in networks:
        net.register_buffer("cache", torch.zeros(1, 10, 5, 2))
    report = tc.compare(*networks[:2], X)
    assert report.passed, str(report)
    assert ("down", "down") in [(row.a, row.b) for row in report.layers], str(report)
    assert tc.compare(networks[0], networks[2], X).first_parting.b == "mul"
