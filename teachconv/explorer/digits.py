"""The page on which one draws a digit: the shipped network, whole, with a pad before it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ..data import digits
from ..networks.walking import walk
from .network import NetworkExplorer
from .network_document import largest

if TYPE_CHECKING:
    from .. import keras


def digits_model() -> keras.Model:
    """Return the shipped network as a model of `teachconv.keras`; it returns the chances of ten digits."""
    from .. import keras  # with the graph and its backends, which a page of one call does not need

    weights, layers = digits(), keras.layers
    model = keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(8, 3, padding="same", activation="relu", name="conv1"),
            layers.MaxPooling2D(2, name="pool1"),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="conv2"),
            layers.MaxPooling2D(2, name="pool2"),
            layers.Flatten(),
            layers.Dense(10, activation="softmax", name="dense"),
        ],
        name="digits",
    )
    for name in ("conv1", "conv2", "dense"):
        kind = "weights" if name == "dense" else "filters"
        model.get_layer(name).set_weights([weights[f"{name}/{kind}"], weights[f"{name}/bias"]])
    return model


def draw_a_digit() -> NetworkExplorer:
    """Return the page of the shipped network, on which the reader draws its input.

    The colours of each layer reach to the largest number that any of the 100 shipped images gives.

    >>> draw_a_digit()
    Explorer(Draw a digit: 5 layers)
    """
    images = digits()["images"] / np.float32(16)
    model = digits_model()
    with (files("teachconv") / "data" / "digits.npz").open("rb") as file, np.load(file) as arrays:
        recorded = json.loads(arrays["meta"].item())
    many, share = recorded["images"], recorded["accuracy"]
    note = (
        f"This network gets {share['test images']:.1%} of {many['test']} test digits right, and "
        f"{share['drawn']:.1%} of {many['drawn']} drawings made by a program."
    )
    return NetworkExplorer(
        model,
        images[:1],
        scales=largest(walk(model, images)),
        title="Draw a digit",
        pad=True,
        note=note.replace("%", " %"),
    )
