"""Records what Keras's layers compute, with their gradients: over one axis and three, and some over two.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 && python tools/recorders/record_keras_layers.py

writes tests/recorded/keras_layers.npz: ``meta``, a JSON string with the versions, and for each layer of the table its
output, the gradients of its input and of its weights, and what it answers when its sizes are not known. The numbers
are small integers and means of two to the power of n cells, so that float32 holds every result exactly.
"""

import json
import os
import zlib
from pathlib import Path

import numpy as np

# name: the class, its arguments, and the shape of one sample
LAYERS = {
    "Conv1D": ("Conv1D", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}, (7, 3)),
    "Conv1D causal": ("Conv1D", {"filters": 2, "kernel_size": 3, "padding": "causal"}, (6, 3)),
    "Conv1D causal, stride 2": (
        "Conv1D",
        {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "causal", "use_bias": False},
        (8, 3),
    ),
    "Conv1D causal, dilation 2": (
        "Conv1D",
        {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "padding": "causal", "activation": "relu"},
        (7, 2),
    ),
    "Conv1D groups": ("Conv1D", {"filters": 6, "kernel_size": 2, "groups": 3}, (5, 6)),
    "Conv2D": ("Conv2D", {"filters": 3, "kernel_size": (2, 3), "padding": "same"}, (4, 5, 2)),
    "Conv3D": (
        "Conv3D",
        {"filters": 3, "kernel_size": (2, 3, 1), "strides": 2, "padding": "same"},
        (4, 5, 3, 2),
    ),
    "Conv3D valid": ("Conv3D", {"filters": 2, "kernel_size": 2, "dilation_rate": (1, 2, 1)}, (3, 4, 3, 2)),
    "Conv1DTranspose": (
        "Conv1DTranspose",
        {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same"},
        (4, 2),
    ),
    "Conv1DTranspose padded": (
        "Conv1DTranspose",
        {"filters": 2, "kernel_size": 4, "strides": 3, "output_padding": 1},
        (4, 2),
    ),
    "Conv3DTranspose": (
        "Conv3DTranspose",
        {"filters": 2, "kernel_size": (2, 3, 2), "strides": (2, 1, 2), "padding": "same"},
        (2, 3, 2, 3),
    ),
    "Conv3DTranspose padded": (
        "Conv3DTranspose",
        {"filters": 2, "kernel_size": 2, "strides": 3, "output_padding": (0, 1, 2)},
        (2, 1, 2, 2),
    ),
    "DepthwiseConv1D": (
        "DepthwiseConv1D",
        {"kernel_size": 3, "strides": 2, "padding": "same", "depth_multiplier": 2},
        (7, 3),
    ),
    "DepthwiseConv1D valid": ("DepthwiseConv1D", {"kernel_size": 2, "dilation_rate": 2}, (6, 3)),
    "SeparableConv1D": (
        "SeparableConv1D",
        {"filters": 4, "kernel_size": 3, "padding": "same", "depth_multiplier": 2},
        (6, 2),
    ),
    "SeparableConv2D": (
        "SeparableConv2D",
        {"filters": 3, "kernel_size": (3, 2), "strides": 2, "activation": "relu"},
        (5, 5, 2),
    ),
    "MaxPooling1D": ("MaxPooling1D", {}, (7, 3)),
    "MaxPooling1D same": ("MaxPooling1D", {"pool_size": 3, "strides": 2, "padding": "same"}, (7, 2)),
    "MaxPooling3D": ("MaxPooling3D", {"pool_size": (2, 1, 2), "padding": "same"}, (3, 4, 5, 2)),
    "AveragePooling1D": ("AveragePooling1D", {"pool_size": 4, "strides": 2}, (8, 2)),
    "AveragePooling3D": ("AveragePooling3D", {"pool_size": 2, "padding": "same"}, (3, 4, 2, 2)),
    "GlobalAveragePooling2D": ("GlobalAveragePooling2D", {}, (4, 2, 3)),
    "GlobalMaxPooling2D": ("GlobalMaxPooling2D", {}, (3, 5, 2)),
    "ZeroPadding2D": ("ZeroPadding2D", {"padding": ((1, 0), (2, 3))}, (4, 3, 2)),
    "ZeroPadding2D of one number": ("ZeroPadding2D", {"padding": 2}, (2, 3, 2)),
    "Cropping2D": ("Cropping2D", {"cropping": ((1, 0), (2, 1))}, (4, 6, 2)),
    "Cropping2D of two numbers": ("Cropping2D", {"cropping": (1, 2)}, (4, 6, 2)),
    "LeakyReLU": ("LeakyReLU", {"negative_slope": 0.25}, (3, 4, 2)),
}


def numbers(name, shape):
    """Small integers, seeded by a name."""
    return np.random.default_rng(zlib.crc32(name.encode())).integers(-3, 4, shape).astype("float32")


def sample(name):
    """The input of a layer: two samples. Of equal cells, TensorFlow's MaxPool3DGrad gives each the whole gradient."""
    shape = (2, *LAYERS[name][2])
    if name in ("MaxPooling3D", "GlobalMaxPooling2D"):
        return np.random.default_rng(3).permutation(np.prod(shape)).reshape(shape).astype("float32")
    return numbers(name, shape)


def weights(name, shapes):
    """Its weights."""
    return [numbers(f"{name}/{index}", shape) for index, shape in enumerate(shapes)]


def counts(name, shape):
    """What each element of the output counts in the sum that is differentiated."""
    return numbers(f"{name}/counts", shape)


def main():
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
    import keras
    import tensorflow as tf

    arrays, facts = {}, {}
    for name, (kind, arguments, shape) in LAYERS.items():
        layer = getattr(keras.layers, kind)(**arguments)
        layer.build((None, *shape))
        layer.set_weights(weights(name, [tuple(weight.shape) for weight in layer.weights]))
        x = tf.constant(sample(name))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = layer(x)
            total = tf.reduce_sum(y * counts(name, tuple(y.shape)))
        found = [
            y,
            tape.gradient(total, x),
            *(tape.gradient(total, weight.value) for weight in layer.weights),
        ]
        for index, array in enumerate(found):
            arrays[f"{name}/{index}"] = np.array(array)
        facts[name] = {
            "output_shape": list(layer.compute_output_shape((None, *shape))),
            "weights": [[weight.name, list(weight.shape)] for weight in layer.weights],
            "params": layer.count_params(),
        }
    versions = {"keras": keras.__version__, "tensorflow": tf.__version__}
    path = Path(__file__).parents[2] / "tests" / "recorded" / "keras_layers.npz"
    meta = {"versions": versions, "script": Path(__file__).name, "layers": facts}
    np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)
    print(f"{path.name}: {len(arrays)} arrays, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
