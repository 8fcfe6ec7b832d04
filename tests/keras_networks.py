"""The networks whose training was recorded (tools/recorders/record_keras_training.py), in teachconv.keras."""

import json
from functools import cache

import numpy as np
from recordings import RECORDED

from teachconv import data, keras
from teachconv.keras import layers

STEPS, BATCH = 20, 50
ADAM = {"learning_rate": 2**-7, "beta_1": 0.875, "beta_2": 1 - 2**-9, "epsilon": 2**-80}


@cache
def recorded():
    """Return (the meta data, the arrays by name)."""
    with np.load(RECORDED / "keras_training.npz") as file:
        return json.loads(file["meta"].item()), {name: file[name] for name in file.files if name != "meta"}


def numbered(prefix):
    """Return the recorded arrays prefix/0, prefix/1, ... in order."""
    _, arrays = recorded()
    count = sum(name.startswith(prefix + "/") for name in arrays)
    return [arrays[f"{prefix}/{index}"] for index in range(count)]


@cache
def samples():
    """Return images, labels, one-hot labels and the images at half size, as they were recorded."""
    images, labels = data.digits()["images"] / 16.0, data.digits()["labels"]
    return images, labels, np.eye(10)[labels], images.reshape(100, 4, 2, 4, 2, 1).mean((2, 4))


def batch(step):
    return (step * BATCH // 2 + np.arange(BATCH)) % 100


def digits(last=None):
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


def upscaling():
    return keras.Sequential(
        [
            keras.Input((4, 4, 1)),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same"),
        ],
        name="upscaling",
    )


def mixed():
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


def _sparse():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


images, labels, hot, small = samples()
NETWORKS = {  # name -> (network, optimizer, loss, samples, labels)
    "digits": (digits, lambda: keras.optimizers.Adam(**ADAM), _sparse, images, labels),
    "digits_softmax": (
        lambda: digits("softmax"),
        lambda: keras.optimizers.SGD(0.25, momentum=0.5),
        lambda: "sparse_categorical_crossentropy",
        images,
        labels,
    ),
    "upscaling": (upscaling, lambda: keras.optimizers.Adam(**ADAM), lambda: "mse", small, images),
    "mixed": (
        mixed,
        lambda: keras.optimizers.SGD(0.125, momentum=0.875, nesterov=True),
        lambda: "categorical_crossentropy",
        images,
        hot,
    ),
}


def compiled(name, dtype, backend=None):
    """Return a network with the recorded initial weights, compiled."""
    build, optimizer, loss, *_ = NETWORKS[name]
    keras.config.set_floatx(dtype)
    try:
        model = build()
    finally:
        keras.config.set_floatx("float32")
    model.set_weights(numbered(f"{name}/initial"))
    model.compile(optimizer(), loss(), backend=backend)
    return model


def train(name, dtype, backend=None, steps=STEPS):
    """Train as it was recorded; return the losses and the model."""
    model, (*_, x, y) = compiled(name, dtype, backend), NETWORKS[name]
    losses = []
    for step in range(steps):
        rows = batch(step)
        model.reset_metrics()
        losses.append(model.train_on_batch(x[rows], y[rows]))
    return np.array(losses), model
