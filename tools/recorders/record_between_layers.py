"""Record what stands between convolutions, layer by layer: tests/recorded/between_torch.npz, _keras, _onnx and _tflite.

    pip install torch==2.13.0 tensorflow==2.21.0 keras==3.15.1 onnx onnxruntime==1.31.1 ai-edge-litert && python record_between_layers.py

Each layer takes the model's input. Run with the package on PYTHONPATH.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import keras
import numpy as np
import tensorflow as tf
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F  # noqa: N812 (its usual name)

from teachconv.networks import recorder

RECORDED = Path(__file__).parents[2] / "tests" / "recorded"
X = (4 * np.random.default_rng(59).standard_normal((2, 4, 3, 5))).astype("float32")  # NCHW
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, (2, 4)).astype("float32")


class All(nn.Module):
    """Functions of one input."""

    def __init__(self, *parts):
        super().__init__()
        self.modules_of, self.functions = nn.ModuleList(p for p in parts if isinstance(p, nn.Module)), parts

    def forward(self, x):
        return [part(x) for part in self.functions]


def of_torch():
    """Layers and functions of PyTorch."""
    norm = nn.GroupNorm(2, 4)
    norm.load_state_dict({"weight": torch.from_numpy(WEIGHTS[0]), "bias": torch.from_numpy(WEIGHTS[1])})
    smooth = (
        nn.SELU(),
        nn.CELU(0.7),
        nn.ELU(0.5),
        nn.Softsign(),
        nn.LogSigmoid(),
        nn.Tanhshrink(),
        nn.Softplus(2),
    )
    shrinks = nn.Softshrink(0.7), nn.Hardshrink(), nn.Hardtanh(), F.hardtanh, nn.GLU(1)
    taken = (
        lambda x: x.argmax(1),
        lambda x: torch.argmin(x, 2, keepdim=True),
        lambda x: x.argmax(),
        lambda x: x.topk(2, 1)[0],
        lambda x: torch.topk(x, 3, -1, largest=False)[0],
        lambda x: x.max(1)[0],
        lambda x: x.max(),
        lambda x: torch.min(x, 3, True)[0],
        lambda x: x.amax((2, 3)),
        lambda x: x.floor(),
        lambda x: x.round(),
        lambda x: x.ceil(),
        lambda x: x.sign(),
    )
    heads, table = torch.from_numpy(WEIGHTS).reshape(2, 4, 1), torch.from_numpy(WEIGHTS)[:, None] - 1.25
    attention = F.scaled_dot_product_attention
    normalised = (
        nn.RMSNorm([3, 5]),
        lambda x: F.rms_norm(x, [5], torch.linspace(0.5, 1, 5), 1e-3),
        F.normalize,
        lambda x: F.normalize(x, 1.0, 2),
        nn.LocalResponseNorm(3, 0.5, 0.6, 2.0),
        nn.LocalResponseNorm(2),
        lambda x: x.var(1),
        lambda x: torch.var(x, (2, 3), correction=0, keepdim=True),
        lambda x: x.std((1, 2), False),
        lambda x: torch.std(x, 3),
        lambda x: torch.norm(x, dim=1),
        lambda x: x.norm(1, 2, True),
        lambda x: torch.linalg.vector_norm(x, 2, (2, 3)),
    )
    products = (
        lambda x: attention(x, x * 0.5, x + 1),
        lambda x: attention(x, x.flip(1), x.sigmoid(), is_causal=True, scale=0.25),
        lambda x: attention(x, x, x, torch.tril(torch.ones(3, 3, dtype=torch.bool))),
        lambda x: attention(x, x, x, torch.arange(9.0).reshape(3, 3) / 4),
        lambda x: torch.einsum("bchw,bcvw->bhv", x, x),
        lambda x: torch.einsum("nhw,bwcn->bch", heads * table.reshape(2, 1, 4), x[:, :, :, 1:3]),
        lambda x: torch.bmm(x[:, 0], x[:, 1].transpose(1, 2)),
        lambda x: x[0, 0] @ x[0, 1].T,
        lambda x: torch.matmul(x, torch.linspace(-1, 1, 60).reshape(4, 5, 3)),
    )
    pointwise = (
        lambda x: torch.log1p(x.abs()),
        torch.expm1,
        torch.sin,
        torch.cos,
        torch.atan,
        torch.trunc,
        lambda x: torch.exp2(x),
        lambda x: torch.log2(x.abs() + 1),
        nn.Threshold(0.5, -2.0),
    )
    parts = norm, *smooth, *shrinks, *taken, *normalised, *products, *pointwise
    return recorder.record_torch(All(*parts).eval(), X)


def of_keras():
    """Layers of Keras, and operations on its symbolic tensors."""
    layers, ops = keras.layers, keras.ops
    image, line = keras.Input(X.shape[2:] + (4,)), None
    last = np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    norms = (
        layers.GroupNormalization(2),
        layers.GroupNormalization(-1, epsilon=1e-5, scale=False, center=False),
    )
    line = ops.reshape(image, (-1, 15, 4))
    names = (
        "selu",
        "celu",
        "softsign",
        "log_sigmoid",
        "tanh_shrink",
        "soft_shrink",
        "hard_shrink",
        "hard_tanh",
        "glu",
    )
    made = [
        *(norm(image) for norm in norms),
        layers.GroupNormalization(4)(line),
        *(layers.Activation(name)(image) for name in names),
        layers.ELU(0.5)(image),
        layers.ZeroPadding1D(2)(line),
        layers.ZeroPadding1D((1, 3))(line),
        layers.Cropping1D((1, 2))(line),
        layers.UpSampling1D(2)(line),
        layers.ZeroPadding2D(((1, 2), (0, 3)))(image),
        layers.GaussianNoise(0.1)(image),
        image / (ops.abs(image) + 1),
        ops.pad(image, ((0, 0), (1, 1), (2, 0), (0, 0))),
        ops.pad(image, ((0, 0), (1, 1), (2, 0), (0, 0)), constant_values=3.0),
        ops.pad(image, ((0, 0), (1, 1), (2, 0), (0, 0)), mode="reflect"),
        ops.argmax(image, -1),
        ops.argmin(image, 1, keepdims=True),
        ops.top_k(image, 2)[0],
        ops.max(image, axis=(1, 2)),
        ops.max(image, axis=-1),
        ops.min(image, axis=1, keepdims=True),
        ops.celu(image, 0.7),
        ops.elu(image, 0.5),
        ops.hard_sigmoid(image),
        ops.floor(image),
        ops.round(image),
        layers.RMSNormalization()(image),
        layers.UnitNormalization()(image),
        layers.UnitNormalization((1, 2))(image),
        ops.normalize(image, 1, 1),
        ops.var(image, (1, 2)),
        ops.std(image, -1, keepdims=True),
        ops.einsum("bhwc,bhvc->bwv", image, image),
        layers.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d")(line),
        layers.Average()([image, ops.abs(image), ops.sin(image)]),
        ops.log1p(ops.abs(image)),
        ops.matmul(image, ops.transpose(image, (0, 1, 3, 2))),
    ]
    model = keras.Model(image, made)
    norms[0].set_weights([*WEIGHTS])
    return recorder.record_keras(model, last)


def of_onnx():
    """Nodes of ONNX, run by onnxruntime."""
    nodes, held = [], {"k": np.int64([2]), "axes": np.int64([2, 3]), "gamma": WEIGHTS[0], "beta": WEIGHTS[1]}
    held["one"] = np.float32([1])

    def node(word, *more, outputs=1, **attributes):
        names = [f"{word}_{len(nodes)}_{n}" for n in range(outputs)]
        nodes.append(helper.make_node(word, ["x", *more], names, names[0], **attributes))

    for word in ("Selu", "Softsign", "HardSigmoid", "Floor", "Round", "Ceil", "Sign"):
        node(word)
    node("Celu", alpha=0.7)
    node("Elu", alpha=0.5)
    node("ArgMax")
    node("ArgMin", axis=2, keepdims=0)
    node("TopK", "k", outputs=2, axis=1)
    node("TopK", "k", outputs=2, axis=-1, largest=0)
    node("ReduceMax", "axes")
    node("ReduceMin", "k", keepdims=0)
    node("GroupNormalization", "gamma", "beta", num_groups=2, epsilon=1e-3)  # of four channels
    node("LRN", size=3, alpha=0.5, beta=0.6, bias=2.0)
    node("LRN", size=5)
    node("LpNormalization", axis=1)
    node("LpNormalization", axis=2, p=1)
    node("ReduceL2", "axes")
    node("ReduceL1", "k", keepdims=0)
    node("ReduceSumSquare", "axes")
    node("Einsum", "x", equation="bchw,bcvw->bhv")
    node("ThresholdedRelu", alpha=0.5)
    node("Mean", "x", "one")
    node("Sum", "x", "one", "x")
    for word in ("Sin", "Cos", "Atan"):
        node(word)
    graph = helper.make_graph(
        nodes,
        "between",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_empty_tensor_value_info(name) for each in nodes for name in each.output],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    return recorder.record_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), X)


def of_tflite():
    """Operators of TFLite, as its converter writes them for functions of TensorFlow."""
    last = np.ascontiguousarray(X.transpose(0, 2, 3, 1))

    @tf.function(input_signature=[tf.TensorSpec(last.shape)])
    def functions(x):
        return [
            tf.math.squared_difference(x, tf.nn.relu(x)),
            tf.math.l2_normalize(x, -1),
            tf.nn.lrn(x, 1, 2.0, 0.3, 0.6),
            tf.matmul(x, tf.sin(x), transpose_b=True),
            tf.matmul(x, tf.cos(x), transpose_a=True),
            tf.matmul(x, np.linspace(-1, 1, 24, dtype="float32").reshape(2, 1, 4, 3)),
            tf.math.reduce_variance(x, [1, 2]),
            tf.add_n([x, tf.sin(x), tf.abs(x)]),
            tf.math.top_k(x, 2)[0],
            tf.concat([x, np.ones((2, 3, 1, 4), "float32")], 2),
            tf.stack([x, tf.abs(x)]),
            tf.split(x, [1, 3], -1)[1],
            tf.reverse(x, [1]),
            tf.nn.softmax(x),
            tf.nn.elu(x),
        ]

    converter = tf.lite.TFLiteConverter.from_concrete_functions([functions.get_concrete_function()])
    with TemporaryDirectory() as folder:
        path = Path(folder, "between.tflite")
        path.write_bytes(converter.convert())
        return recorder.record_tflite(path, last)


if __name__ == "__main__":
    for make in (of_torch, of_keras, of_onnx, of_tflite):
        recorder.save(RECORDED / f"between_{make.__name__[3:]}.npz", make())
