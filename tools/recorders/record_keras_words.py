"""Records what Keras's functions of one number, binary and absolute losses, metrics and RMSprop compute.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 && python tools/recorders/record_keras_words.py

writes tests/recorded/keras_words.npz: ``meta``, a JSON string with the versions, signatures and plain numbers, and
arrays by name.
"""

import inspect
import json
import os
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}

import keras
import numpy as np
import tensorflow as tf

FUNCTIONS = {
    "relu": {},
    "leaky_relu": {},
    "leaky_relu of 0.5": {"negative_slope": 0.5},
    "elu": {},
    "elu of 2": {"alpha": 2.0},
    "sigmoid": {},
    "tanh": {},
}
RMSPROP = {  # numbers that float32 holds exactly, to which Keras rounds them
    "rmsprop": {"learning_rate": 2**-7, "rho": 0.875, "epsilon": 2**-20},
    "rmsprop with momentum": {"learning_rate": 2**-7, "rho": 0.75, "momentum": 0.5, "epsilon": 2**-10},
}
NAMES = {
    "layers": """Add Concatenate Cropping2D ELU GlobalAveragePooling2D GlobalMaxPooling2D LeakyReLU ZeroPadding2D add
        concatenate""",
    "losses": "BinaryCrossentropy MeanAbsoluteError binary_crossentropy mean_absolute_error",
    "metrics": "BinaryAccuracy MeanAbsoluteError",
    "optimizers": "RMSprop",
    "activations": "elu leaky_relu sigmoid tanh",
    "Sequential": "test_on_batch get_config",
}


def functions(arrays):
    x = np.linspace(-6, 6, 49)
    arrays["x"] = x
    for name, arguments in FUNCTIONS.items():
        value = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(value)
            y = getattr(keras.activations, name.split()[0])(value, **arguments)
        arrays[f"{name}/value"], arrays[f"{name}/gradient"] = np.array(y), np.array(tape.gradient(y, value))


def losses(arrays):
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 4, (6, 3)).astype("float32")
    probabilities = np.array(keras.ops.sigmoid(logits))
    probabilities[0] = [0, 1, 0.5]  # the logarithm of 0 is kept away by clipping
    truth = rng.integers(0, 2, (6, 3)).astype("float32")
    arrays |= {"logits": logits, "probabilities": probabilities, "truth": truth}
    for name, given, from_logits in (("logits", logits, True), ("probabilities", probabilities, False)):
        found = keras.losses.binary_crossentropy(truth, given, from_logits=from_logits)
        arrays[f"binary_crossentropy/{name}"] = np.array(found)
        arrays[f"BinaryCrossentropy/{name}"] = np.array(
            keras.losses.BinaryCrossentropy(from_logits=from_logits)(truth, given)
        )
    arrays["mean_absolute_error"] = np.array(keras.losses.mean_absolute_error(truth, probabilities))
    arrays["MeanAbsoluteError"] = np.array(keras.losses.MeanAbsoluteError()(truth, probabilities))
    arrays["BinaryAccuracy"] = np.array(keras.metrics.BinaryAccuracy()(truth, probabilities))
    arrays["BinaryAccuracy of 0"] = np.array(keras.metrics.BinaryAccuracy(threshold=0.0)(truth, logits))
    arrays["metrics.MeanAbsoluteError"] = np.array(keras.metrics.MeanAbsoluteError()(truth, probabilities))


def optimizer(arrays):
    rng = np.random.default_rng(9)
    gradients, start = rng.normal(0, 1, (5, 7)), rng.normal(0, 1, 7)
    arrays |= {"gradients": gradients, "start": start}
    for name, arguments in RMSPROP.items():
        variable, made = keras.Variable(start, dtype="float64"), keras.optimizers.RMSprop(**arguments)
        values = []
        for gradient in gradients:
            made.apply([tf.constant(gradient)], [variable])
            values.append(np.array(variable))
        arrays[name] = np.array(values)


def branches(facts):
    """The order of the layers of a model with branches, which is that of its weights."""
    a, b = keras.Input((6, 6, 2), name="a"), keras.Input((6, 6, 3), name="b")
    first = keras.layers.Conv2D(4, 3, padding="same", name="first")(a)
    second = keras.layers.Conv2D(4, 1, name="second")(b)
    third = keras.layers.Conv2D(4, 3, padding="same", name="third")(second)
    total = keras.layers.Add(name="total")([first, third])
    shared = keras.layers.Conv2D(4, 3, padding="same", name="shared")
    x = shared(shared(total))
    x = keras.layers.Concatenate(name="joined")([x, second, total])
    out = keras.layers.Dense(2, name="out")(keras.layers.GlobalAveragePooling2D(name="mean")(x))
    model = keras.Model([a, b], out)
    facts["layers"] = [layer.name for layer in model.layers]
    facts["weights"] = [list(weight.shape) for weight in model.weights]


def main():
    arrays, facts = {}, {}
    functions(arrays)
    losses(arrays)
    optimizer(arrays)
    branches(facts)
    signatures = {}
    for module, names in NAMES.items():
        for name in names.split():
            parameters = inspect.signature(getattr(getattr(keras, module), name)).parameters.values()
            signatures[f"{module}.{name}"] = [
                [each.name, None if each.default is each.empty else repr(each.default)]
                for each in parameters
                if each.name != "self" and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
            ]
    versions = {"keras": keras.__version__, "tensorflow": tf.__version__}
    path = Path(__file__).parents[2] / "tests" / "recorded" / "keras_words.npz"
    meta = {"versions": versions, "script": Path(__file__).name, "signatures": signatures, **facts}
    np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)
    print(f"{path.name}: {len(arrays)} arrays, {path.stat().st_size:,} bytes", facts)


if __name__ == "__main__":
    main()
