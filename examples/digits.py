"""Trains a network on scikit-learn's handwritten digits: Conv2D - MaxPool - Conv2D - MaxPool - Dense.

    python examples/digits.py                    # seeds 0 to 4: at least 98 % of the test images each
    python examples/digits.py --plot digits.png  # also draws the curves, the filters and the mistakes

There are 1,797 images of 8 x 8 pixels. A fifth of them, with as many of each digit, is kept for the test.
The seed decides on this split, the initial weights, the order of the samples and the dropout; with the
cython backend a run then repeats bit for bit, whatever the number of threads. It takes scikit-learn; plots
take matplotlib.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from teachconv import keras
from teachconv.keras import layers


def samples(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training images, test images, training labels and test labels."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = digits.images[..., np.newaxis].astype("float32") / 16  # [1797, 8, 8, 1], from 0 to 1
    x_train, x_test, y_train, y_test = train_test_split(
        images, digits.target, test_size=0.2, stratify=digits.target, random_state=seed
    )
    return x_train, x_test, y_train, y_test


def network() -> keras.Sequential:
    """Return the network, compiled."""
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Dropout(0.4),
            layers.Flatten(),
            layers.Dense(10),
        ],
        name="digits",
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.002), loss, metrics=["accuracy"])
    return model


def train(seed: int, epochs: int = 20, verbose: int = 0) -> tuple[keras.Sequential, keras.callbacks.History]:
    """Train the network; the last quarter of the epochs has a tenth of the learning rate."""
    keras.utils.set_random_seed(seed)
    x_train, x_test, y_train, y_test = samples(seed)
    model = network()
    slower = keras.callbacks.LearningRateScheduler(
        lambda epoch, rate: rate / 10 if epoch == 3 * epochs // 4 else rate
    )
    history = model.fit(
        x_train,
        y_train,
        epochs=epochs,
        verbose=verbose,
        callbacks=[slower],
        validation_data=(x_test, y_test),
    )
    return model, history


def draw(model: keras.Sequential, history: keras.callbacks.History, seed: int) -> Any:
    """Return a figure of the curves, the first layer's filters, and the test images that it gets wrong."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10, 6), layout="constrained")
    upper, lower = figure.subfigures(2, 1)
    axes = upper.subplots(1, 2)
    for ax, name in zip(axes, ("loss", "accuracy"), strict=True):
        ax.plot(history.history[name], label="training, with dropout")
        ax.plot(history.history[f"val_{name}"], label="test")
        ax.set(title=name, xlabel="epoch")
        ax.legend()
    _, x_test, _, y_test = samples(seed)
    predicted = model.predict(x_test).argmax(-1)
    wrong = np.flatnonzero(predicted != y_test)[:8]
    filters = model.layers[0].get_weights()[0]  # [3, 3, 1, 32]
    pictures = [filters[:, :, 0, i] for i in range(24)] + [x_test[i, :, :, 0] for i in wrong]
    titles = [""] * 24 + [f"{y_test[i]}, not {predicted[i]}" for i in wrong]
    grid = lower.subplots(4, 8)
    for ax in grid.flat:
        ax.axis("off")
    for ax, picture, title in zip(grid.flat, pictures, titles, strict=False):
        ax.imshow(picture, cmap="gray")
        ax.set_title(title, fontsize=8)
    return figure


def main() -> None:
    """Train with each seed and print the accuracy on the test images."""
    parser = argparse.ArgumentParser(description="train a network on handwritten digits")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4], help="one run for each")
    parser.add_argument("--epochs", type=int, default=20, help="how often all images are used")
    parser.add_argument("--plot", metavar="FILE", help="draw the last run")
    options = parser.parse_args()
    network().summary(geometry=True)
    for seed in options.seeds:
        start = time.perf_counter()
        model, history = train(seed, options.epochs)
        seconds, accuracy = time.perf_counter() - start, history.history["val_accuracy"][-1]
        print(f"seed {seed}: {accuracy:.2%} of the test images are right, after {seconds:.0f} s")
    if options.plot:
        draw(model, history, seed).savefig(options.plot)


if __name__ == "__main__":
    main()
