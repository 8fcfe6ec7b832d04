"""What stands between convolutions is defined as the frameworks compute it."""

from functools import partial
from math import exp
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.networks import definitions
from teachconv.networks.comparing.judging import judge
from teachconv.networks.reading import read
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


def test_groups_of_channels_are_normalised_wherever_these_are():
    x = np.random.default_rng(0).standard_normal((2, 6, 5, 4)).astype("float32")
    facts = {"groups": 3, "gamma": None, "beta": None, "eps": 1e-5}
    first = definitions.normalised(x, axes=(2,), **facts).value
    last = definitions.normalised(x.transpose(0, 2, 3, 1), axes=(1, 3), **facts).value
    assert np.allclose(first, last.transpose(0, 3, 1, 2), rtol=1e-12)
    blocks = first.reshape(2, 3, -1)
    assert np.allclose([blocks.mean(-1), blocks.var(-1)], [np.zeros((2, 3)), np.ones((2, 3))], atol=1e-4)


@pytest.mark.parametrize("framework", ["torch", "keras", "onnx"])
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
