"""Records how real Keras and PyTorch train: losses of whole networks, single layers, losses, optimizers.

Run it with an interpreter that has TensorFlow, Keras and PyTorch:

    python tools/recorders/record_keras_training.py

It writes tests/recorded/keras_training.npz: ``meta``, a JSON string with the versions, the summaries and the plain
numbers, and arrays by name. The images are the 100 digits that teachconv ships (`teachconv.data.digits`).
"""

import inspect
import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["COLUMNS"] = "100"

import keras
import numpy as np
import torch
from keras import layers
from keras.src.initializers.random_initializers import compute_fans
from torch.nn import functional

STEPS, BATCH = 20, 50
# Keras on TensorFlow rounds these to float32 even where all else is float64: numbers that float32 holds exactly.
# PyTorch adds epsilon elsewhere (Algorithm 1 of the paper, not "epsilon hat"): one that is too small to matter.
ADAM = {"learning_rate": 2**-7, "beta_1": 0.875, "beta_2": 1 - 2**-9, "epsilon": 2**-80}
DATA = Path(__file__).resolve().parents[2] / "teachconv" / "data" / "digits.npz"
with np.load(DATA) as file:
    IMAGES, LABELS = file["images"] / 16.0, file["labels"].astype("int32")
SMALL = IMAGES.reshape(100, 4, 2, 4, 2, 1).mean((2, 4))  # what a network for super-resolution starts from
arrays, facts = {}, {}


def batch(step):
    """The rows of a step: half a batch further each time, so that no two batches in a row are the same."""
    return (step * BATCH // 2 + np.arange(BATCH)) % len(IMAGES)


def digits_network(last=None):
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation=last),
        ],
        name="digits",
    )


def upscaling_network():
    return keras.Sequential(
        [
            keras.Input((4, 4, 1)),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same"),
        ],
        name="upscaling",
    )


def mixed_network():
    """Every other layer once."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.DepthwiseConv2D(3, padding="same", depth_multiplier=4),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.AveragePooling2D(2),
            layers.UpSampling2D(2),
            layers.Conv2D(8, 3, strides=2, padding="valid", activation="relu", use_bias=False),
            layers.Reshape((9, 8)),
            layers.Dropout(0.0),
            layers.Flatten(),
            layers.Dense(10),
            layers.Softmax(),
        ],
        name="mixed",
    )


def seeded_weights(model, seed):
    """Weights for a network, rounded to float32 so that both dtypes start from the same."""
    rng = np.random.default_rng(seed)
    found = []
    for weight in model.weights:
        shape, name = tuple(weight.shape), weight.name
        if len(shape) > 1:
            limit = np.sqrt(6 / sum(compute_fans(shape)))
            found.append(rng.uniform(-limit, limit, shape))
        elif name in ("gamma", "moving_variance"):
            found.append(rng.uniform(0.5, 1.5, shape))
        else:
            found.append(rng.uniform(-0.1, 0.1, shape))
    return [value.astype("float32") for value in found]


def keras_losses(name, build, optimizer, loss, x, y):
    """Train for 20 steps in both dtypes; keep the initial weights, the losses and the final weights."""
    for dtype in ("float64", "float32"):
        keras.config.set_floatx(dtype)
        keras.utils.clear_session()
        model = build()
        weights = seeded_weights(model, 7)
        model.set_weights(weights)
        model.compile(optimizer(), loss=loss())
        losses = []
        for step in range(STEPS):
            rows = batch(step)
            model.reset_metrics()  # else the loss is the mean over all the steps so far
            losses.append(model.train_on_batch(x[rows].astype(dtype), y[rows]))
        arrays[f"{name}/keras_{dtype}"] = np.array(losses, "float64")
        for index, value in enumerate(weights):
            arrays[f"{name}/initial/{index}"] = value
        if dtype == "float64":
            for index, value in enumerate(model.get_weights()):
                arrays[f"{name}/final/{index}"] = value
            arrays[f"{name}/predicted"] = model.predict(x[:5], verbose=0)
    keras.config.set_floatx("float32")


def torch_losses(name, run, optimizer, layout):
    """The same in PyTorch: ``run`` computes the loss of a step from the parameters, which ``layout`` turned."""
    for dtype in (torch.float64, torch.float32):
        count = sum(key.startswith(f"{name}/initial/") for key in arrays)
        initial = [arrays[f"{name}/initial/{index}"] for index in range(count)]
        parameters = [torch.tensor(value, dtype=dtype).requires_grad_() for value in layout(initial)]
        steps, losses = optimizer(parameters), []
        for step in range(STEPS):
            steps.zero_grad()
            loss = run(parameters, batch(step), dtype)
            loss.backward()
            steps.step()
            losses.append(loss.item())
        arrays[f"{name}/torch_{str(dtype).removeprefix('torch.')}"] = np.array(losses, "float64")


def nchw(images, rows, dtype):
    return torch.tensor(images[rows].transpose(0, 3, 1, 2).copy(), dtype=dtype)


def digits_in_torch(parameters, rows, dtype):
    filters, bias, matrix, dense_bias = parameters
    y = functional.relu(functional.conv2d(nchw(IMAGES, rows, dtype), filters, bias, padding=1))
    y = functional.max_pool2d(y, 2).flatten(1)
    y = functional.linear(y, matrix, dense_bias)
    return functional.cross_entropy(y, torch.tensor(LABELS[rows], dtype=torch.int64))


def digits_layout(initial):
    filters, bias, matrix, dense_bias = initial
    by_channel = (
        matrix.reshape(4, 4, 16, 10).transpose(2, 0, 1, 3).reshape(256, 10)
    )  # Flatten is HWC here, CHW there
    return [filters.transpose(3, 2, 0, 1).copy(), bias, by_channel.T.copy(), dense_bias]


def upscaling_in_torch(parameters, rows, dtype):
    filters, bias, transposed, transposed_bias = parameters
    y = functional.relu(functional.conv2d(nchw(SMALL, rows, dtype), filters, bias, padding=1))
    y = functional.conv_transpose2d(y, transposed, transposed_bias, stride=2, padding=1)
    return functional.mse_loss(y, nchw(IMAGES, rows, dtype))


def upscaling_layout(initial):
    filters, bias, transposed, transposed_bias = initial
    return [
        filters.transpose(3, 2, 0, 1).copy(),
        bias,
        transposed.transpose(3, 2, 0, 1).copy(),
        transposed_bias,
    ]


def torch_adam(parameters):
    return torch.optim.Adam(
        parameters, ADAM["learning_rate"], (ADAM["beta_1"], ADAM["beta_2"]), ADAM["epsilon"]
    )


def networks():
    sparse = keras.losses.SparseCategoricalCrossentropy
    keras_losses(
        "digits",
        digits_network,
        lambda: keras.optimizers.Adam(**ADAM),
        lambda: sparse(from_logits=True),
        IMAGES,
        LABELS,
    )
    torch_losses("digits", digits_in_torch, torch_adam, digits_layout)
    # the same with a softmax as last layer, whose logits Keras finds again
    keras_losses(
        "digits_softmax",
        lambda: digits_network("softmax"),
        lambda: keras.optimizers.SGD(0.25, momentum=0.5),
        lambda: "sparse_categorical_crossentropy",
        IMAGES,
        LABELS,
    )
    keras_losses(
        "upscaling", upscaling_network, lambda: keras.optimizers.Adam(**ADAM), lambda: "mse", SMALL, IMAGES
    )
    torch_losses("upscaling", upscaling_in_torch, torch_adam, upscaling_layout)
    keras_losses(
        "mixed",
        mixed_network,
        lambda: keras.optimizers.SGD(0.125, momentum=0.875, nesterov=True),
        lambda: "categorical_crossentropy",
        IMAGES,
        np.eye(10)[LABELS],
    )


def summaries():
    found = {}
    for build in (digits_network, upscaling_network, mixed_network):
        keras.utils.clear_session()
        model = build()
        text = io.StringIO()
        with redirect_stdout(text):
            model.summary()
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
        found[model.name] = {
            "text": text.getvalue(),
            "layers": [
                {
                    "name": layer.name,
                    "class": type(layer).__name__,
                    "output_shape": list(layer.output.shape),
                    "params": layer.count_params(),
                    "weights": [
                        [weight.name, list(weight.shape), weight.trainable] for weight in layer.weights
                    ],
                }
                for layer in model.layers
            ],
            "params": model.count_params(),
        }
    facts["summaries"] = found


def batch_normalization():
    rng = np.random.default_rng(3)
    x = rng.normal(1, 2, (6, 3, 3, 4))
    for dtype in ("float64", "float32"):
        keras.config.set_floatx(dtype)
        keras.utils.clear_session()  # else the layer has the dtype of the first one
        layer = layers.BatchNormalization(momentum=0.9, epsilon=1e-2)
        layer.build(x.shape)
        weights = [rng.uniform(0.5, 1.5, 4) for _ in range(4)] if dtype == "float64" else weights
        layer.set_weights(weights)
        arrays[f"batch_normalization/{dtype}/trained"] = np.array(layer(x.astype(dtype), training=True))
        for index, value in enumerate(layer.get_weights()):
            arrays[f"batch_normalization/{dtype}/after/{index}"] = value
        arrays[f"batch_normalization/{dtype}/inferred"] = np.array(layer(x.astype(dtype), training=False))
    arrays["batch_normalization/x"] = x
    for index, value in enumerate(weights):
        arrays[f"batch_normalization/before/{index}"] = value
    keras.config.set_floatx("float32")


def losses():
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 3, (6, 4)).astype("float32")
    probabilities = np.array(keras.ops.softmax(logits))
    probabilities[0] = [1, 0, 0, 0]  # the logarithm of 0 is kept away by clipping
    unnormalised = (probabilities * 0.5).astype("float32")
    labels = np.array([1, 0, 3, 2, 2, 1], "int32")
    hot = np.eye(4, dtype="float32")[labels]
    arrays.update({"losses/logits": logits, "losses/probabilities": probabilities, "losses/labels": labels})
    functions = keras.losses
    for name, given, from_logits in [
        ("logits", logits, True),
        ("probabilities", probabilities, False),
        ("unnormalised", unnormalised, False),
    ]:
        arrays[f"losses/{name}"] = given
        for kind, truth in (("sparse_categorical_crossentropy", labels), ("categorical_crossentropy", hot)):
            result = getattr(functions, kind)(truth, given, from_logits=from_logits)
            arrays[f"losses/{kind}/{name}"] = np.array(result)
    arrays["losses/mean_squared_error"] = np.array(functions.mean_squared_error(hot, probabilities))
    facts["mean loss"] = float(functions.MeanSquaredError()(hot, probabilities))
    facts["sparse accuracy"] = float(keras.metrics.SparseCategoricalAccuracy()(labels, logits))
    facts["categorical accuracy"] = float(keras.metrics.CategoricalAccuracy()(hot, logits))


def optimizers():
    rng = np.random.default_rng(9)
    gradients = rng.normal(0, 1, (5, 7))
    start = rng.normal(0, 1, 7)
    arrays["optimizers/gradients"], arrays["optimizers/start"] = gradients, start
    found = {
        "sgd": ("SGD", {"learning_rate": 0.125}),
        "sgd_default": ("SGD", {}),
        "momentum": ("SGD", {"learning_rate": 0.125, "momentum": 0.875}),
        "nesterov": ("SGD", {"learning_rate": 0.125, "momentum": 0.875, "nesterov": True}),
        "adam": ("Adam", ADAM),
        "adam_default": ("Adam", {}),
        "adam_large_epsilon": ("Adam", ADAM | {"beta_2": 0.75, "epsilon": 0.125}),
    }
    for name, (kind, arguments) in found.items():
        for dtype in ("float64", "float32"):
            variable = keras.Variable(start.astype(dtype), dtype=dtype)
            optimizer = getattr(keras.optimizers, kind)(**arguments)
            values = []
            for gradient in gradients:
                optimizer.apply([keras.ops.convert_to_tensor(gradient.astype(dtype))], [variable])
                values.append(np.array(variable))
            arrays[f"optimizers/{name}/{dtype}"] = np.array(values)
    facts["optimizers"] = found


def initializers():
    found = []
    for name in (
        "glorot_uniform",
        "glorot_normal",
        "he_normal",
        "he_uniform",
        "lecun_normal",
        "zeros",
        "ones",
    ):
        for shape in ((3, 3, 16, 32), (300, 50), (5, 5, 64, 2)):
            values = np.array(keras.initializers.get(name)(shape, "float32"), "float64")
            fans = compute_fans(shape)
            found.append(
                {
                    "name": name,
                    "shape": shape,
                    "fans": fans,
                    "largest": abs(values).max(),
                    "deviation": values.std(),
                }
            )
    facts["initializers"] = found


def dropout():
    x = np.ones((50, 40), "float32")
    trained = np.array(layers.Dropout(0.25, seed=1)(x, training=True))
    facts["dropout"] = {"values": sorted(set(trained.ravel().tolist())), "kept": float((trained > 0).mean())}


def signatures():
    """The parameters of what teachconv.keras has, too, with their defaults."""
    found = {}
    for module, names in {
        "layers": """Activation AveragePooling2D BatchNormalization Conv2D Conv2DTranspose Dense DepthwiseConv2D Dropout
            Flatten Input MaxPooling2D ReLU Reshape Softmax UpSampling2D""",
        "optimizers": "SGD Adam",
        "losses": "SparseCategoricalCrossentropy CategoricalCrossentropy MeanSquaredError",
        "metrics": "SparseCategoricalAccuracy CategoricalAccuracy MeanSquaredError",
        "initializers": """Constant GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal RandomNormal RandomUniform
            VarianceScaling""",
        "callbacks": "LearningRateScheduler",
    }.items():
        for name in names.split():
            found[f"{module}.{name}"] = getattr(getattr(keras, module), name)
    for name in ("fit", "evaluate", "predict", "train_on_batch", "compile", "get_layer", "summary"):
        found[f"Sequential.{name}"] = getattr(keras.Sequential, name)
    facts["signatures"] = {
        name: [
            [parameter.name, None if parameter.default is parameter.empty else repr(parameter.default)]
            for parameter in inspect.signature(thing).parameters.values()
            if parameter.name != "self"
            and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        ]
        for name, thing in found.items()
    }


if __name__ == "__main__":
    for part in (
        networks,
        summaries,
        batch_normalization,
        losses,
        optimizers,
        initializers,
        dropout,
        signatures,
    ):
        part()
    versions = {"keras": keras.__version__, "torch": torch.__version__, "numpy": np.__version__}
    import tensorflow

    versions["tensorflow"] = tensorflow.__version__
    path = Path(__file__).parents[2] / "tests" / "recorded" / "keras_training.npz"
    meta = {"versions": versions, "script": Path(__file__).name} | facts
    np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)
    print(f"{path.name}: {len(arrays)} arrays, {path.stat().st_size:,} bytes")
    for name in ("digits", "upscaling", "digits_softmax", "mixed"):
        for key in sorted(key for key in arrays if key.startswith(name + "/") and "float" in key):
            print(key, arrays[key][[0, 1, 19]])
