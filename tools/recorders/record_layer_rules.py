"""Record each framework's padding, with its order of sides, and what its batch normalisation does: layer_rules.json.

    pip install tensorflow-cpu==2.21.0 torch==2.13 jax==0.10.2 onnx==1.23.2 onnxruntime==1.32.0 keras==3.15.1
    pip install --no-deps tf_keras==2.21.0 tf_slim==1.1.0  # Keras 2, and what tf.contrib.slim was
    python record_layer_rules.py

Padding: every call asks for one row above [[1, 2, 3], [4, 5, 6], [7, 8, 9]] and one column to its right, in each mode that teachconv's
page lists; what a framework refuses has its error. Batch normalisation: the defaults as they are in the code, and what
one step does to the moving averages of a batch with mean 1, whose variance is 1, and 2 if it is divided by n - 1.
"""

import inspect
import json
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np

os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "TF_USE_LEGACY_KERAS": "1"}

import jax.numpy as jnp
import keras
import onnx
import onnxruntime
import tensorflow as tf
import tf_keras
import torch
from recording import shorten
from tensorflow.python.framework import ops

ops.Tensor = tf.Tensor  # as slim knows it
import tf_slim  # noqa: E402
from tf_slim.layers.layers import _fused_batch_norm  # noqa: E402  (the call of batch_norm on images)

X = np.float32([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
MODES = ("constant", "reflect", "symmetric", "replicate", "circular")


def onnx_pad(mode):
    helper = onnx.helper
    nodes = [helper.make_node("Pad", ["X", "pads"], ["Y"], mode=mode)]
    pads = helper.make_tensor("pads", onnx.TensorProto.INT64, [4], [1, 0, 0, 1])
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in (("X", [3, 3]), ("Y", None))]
    graph = helper.make_graph(nodes, "pad", ends[:1], ends[1:], [pads])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})[0]


FOUR = torch.from_numpy(X)[None, None]
PADS = {  # framework: (the call as text, what runs it with the framework's word, the words in the order of MODES)
    "tensorflow": (
        "tf.pad(x, [[1, 0], [0, 1]], mode={})",
        lambda mode: tf.pad(X, [[1, 0], [0, 1]], mode=mode).numpy(),
        ("CONSTANT", "REFLECT", "SYMMETRIC", None, None),
    ),
    "torch": (
        "F.pad(x, (0, 1, 1, 0), mode={})",
        lambda mode: torch.nn.functional.pad(FOUR, (0, 1, 1, 0), mode=mode).numpy()[0, 0],
        ("constant", "reflect", None, "replicate", "circular"),
    ),
    "onnx": ("Pad(x, pads=[1, 0, 0, 1], mode={})", onnx_pad, ("constant", "reflect", None, "edge", "wrap")),
    "jax": (
        "jnp.pad(x, ((1, 0), (0, 1)), mode={})",
        lambda mode: np.asarray(jnp.pad(X, ((1, 0), (0, 1)), mode=mode)),
        ("constant", "reflect", "symmetric", "edge", "wrap"),
    ),
    "keras": (
        "keras.ops.pad(x, ((1, 0), (0, 1)), mode={})",
        lambda mode: np.asarray(keras.ops.pad(X, ((1, 0), (0, 1)), mode=mode)),
        ("constant", "reflect", "symmetric", None, None),
    ),
}


def padded():
    for framework, (text, run, words) in PADS.items():
        for mode, word in zip(MODES, words, strict=True):
            entry = {"framework": framework, "mode": mode, "word": word, "call": text.format(repr(word or mode))}
            try:
                entry["result"] = np.asarray(run(word or mode)).tolist()
            except Exception as error:
                entry["error"] = shorten(error)
            yield entry


BATCH = np.float32([0, 2]).reshape(2, 1, 1, 1)


def after_a_step(layer, run):
    run(layer)
    return [float(np.asarray(value).ravel()[0]) for value in layer]


v1 = tf.compat.v1


def after_updates(make):
    """Return the moving mean and variance after the updates of a graph of TensorFlow 1 were run once."""
    with tf.Graph().as_default(), v1.Session() as session:
        make()
        session.run(v1.global_variables_initializer())
        session.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        kept = {variable.op.name.rpartition("/")[2]: session.run(variable).item() for variable in v1.global_variables()}
        return [kept["moving_mean"], kept["moving_variance"]]


def normalized():
    """Yield the defaults and the moving averages, which begin as 0 and 1, after one batch."""
    layer = keras.layers.BatchNormalization()
    layer(BATCH, training=True)
    facts = {"eps": layer.epsilon, "momentum": layer.momentum}
    moved = [float(np.asarray(v).item()) for v in (layer.moving_mean, layer.moving_variance)]
    yield {"framework": "keras", "name": "keras.layers.BatchNormalization", **facts, "after": moved}
    layer = tf_keras.layers.BatchNormalization()
    layer(BATCH, training=True)
    facts = {"eps": layer.epsilon, "momentum": layer.momentum}
    moved = [float(v.numpy().item()) for v in (layer.moving_mean, layer.moving_variance)]
    yield {"framework": "keras", "name": "tf.keras.layers.BatchNormalization (Keras 2, images)", **facts, "after": moved}
    defaults = {name: value.default for name, value in inspect.signature(v1.layers.batch_normalization).parameters.items()}
    facts = {"eps": defaults["epsilon"], "momentum": defaults["momentum"]}
    moved = after_updates(lambda: v1.layers.batch_normalization(tf.constant(BATCH), training=True))
    yield {"framework": "tensorflow", "name": "tf.layers.batch_normalization", **facts, "after": moved}
    defaults = {name: value.default for name, value in inspect.signature(tf_slim.batch_norm).parameters.items()}
    facts = {"eps": defaults["epsilon"], "momentum": defaults["decay"]}
    words = {"decay": defaults["decay"], "epsilon": defaults["epsilon"], "data_format": defaults["data_format"]}
    moved = after_updates(lambda: _fused_batch_norm(tf.constant(BATCH), is_training=True, **words))
    name = f"slim.batch_norm (center={defaults['center']}, scale={defaults['scale']})"
    yield {"framework": "tensorflow", "name": name, **facts, "after": moved}
    layer = torch.nn.BatchNorm2d(1)
    layer(torch.from_numpy(BATCH))
    moved = [layer.running_mean.item(), layer.running_var.item()]
    yield {"framework": "torch", "name": "torch.nn.BatchNorm2d", "eps": layer.eps, "momentum": layer.momentum, "after": moved}
    schema = onnx.defs.get_schema("BatchNormalization", 15)
    eps, momentum = (schema.attributes[name].default_value.f for name in ("epsilon", "momentum"))
    helper, names = onnx.helper, ["X", "scale", "B", "mean", "var"]
    values = [BATCH, *(np.float32([v]) for v in (1, 0, 0, 1))]
    node = helper.make_node("BatchNormalization", names, ["Y", "M", "V"], training_mode=1)
    ends = [helper.make_tensor_value_info(n, 1, v.shape) for n, v in zip(names, values, strict=True)]
    made = [helper.make_tensor_value_info(n, 1, None) for n in ("Y", "M", "V")]
    model = helper.make_model(
        helper.make_graph([node], "bn", ends, made), opset_imports=[helper.make_opsetid("", 15)], ir_version=8
    )
    feeds = dict(zip(names, values, strict=True))
    _, mean, var = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    facts = {"eps": round(eps, 9), "momentum": round(momentum, 9), "after": [float(mean[0]), float(var[0])]}
    yield {"framework": "onnx", "name": "BatchNormalization (opset 15)", **facts}
    raw = inspect.signature(tf.raw_ops.FusedBatchNormV3).parameters["epsilon"].default
    result = tf.raw_ops.FusedBatchNormV3(
        x=BATCH, scale=[1.0], offset=[0.0], mean=[0.0], variance=[1.0], exponential_avg_factor=0.25, is_training=True
    )
    moved = [float(result.batch_mean[0]), float(result.batch_variance[0])]
    name = "tf.raw_ops.FusedBatchNormV3 (exponential_avg_factor=0.25)"
    yield {"framework": "tensorflow", "name": name, "eps": raw, "momentum": 0.25, "after": moved}


import onnx.reference  # noqa: E402

names = ("tensorflow-cpu", "torch", "jax", "onnx", "onnxruntime", "keras", "tf_keras", "tf_slim")
versions = {name.removesuffix("-cpu"): version(name) for name in names}
found = {"script": Path(__file__).name, "versions": versions, "pads": list(padded()), "batch_norm": list(normalized())}
target = Path(__file__).parents[2] / "tests" / "recorded" / "layer_rules.json"
target.write_text(json.dumps(found, indent=1) + "\n")
