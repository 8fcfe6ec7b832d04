"""Shows the checkerboard of a Conv2DTranspose, and removes it by the choice of kernel and stride.

    python examples/checkerboard.py --plot checkerboard.png

A Conv2DTranspose with stride 2 computes the four cells of each 2 x 2 block of its output from different
taps of the filter. With a 3 x 3 kernel it even sums 1, 2, 2 and 4 products there; with 4 x 4 it is 4
everywhere. The network has to learn that the four sums are equal where the picture is flat, and learns it
slowly and never exactly. Where the picture is enlarged first (UpSampling2D) and then convolved with stride
1, the four cells share all taps: there is nothing to learn. After A. Odena, V. Dumoulin and C. Olah,
Deconvolution and checkerboard artifacts, Distill 2016.

The network sees a photograph at half its size and learns to give it back. Then it is shown flat grey
pictures: the checkerboard is how much the four cells of a block differ in its answers, in grey levels from
0 to 255.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import teachconv as tc
from teachconv import keras
from teachconv.data import photo
from teachconv.keras import layers

KINDS = ("kernel 3, stride 2", "kernel 4, stride 2", "upsampling, then kernel 3, stride 1")
LEVELS = np.linspace(0.1, 0.9, 9, dtype="float32")


def samples(size: int = 32, step: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return patches of the grey photograph at half their size, and as they are, from 0 to 1."""
    grey = photo().astype("float32").mean(-1, keepdims=True) / 255  # [150 rows, 225 columns, 1]
    rows, cols = (range(0, n - size + 1, step) for n in grey.shape[:2])
    large = np.array([grey[row : row + size, col : col + size] for row in rows for col in cols])
    half = size // 2
    return large.reshape(-1, half, 2, half, 2, 1).mean((2, 4)), large


def network(kind: str) -> keras.Sequential:
    """Return a network that makes pictures twice as large, by one of the `KINDS`."""
    enlarge = {
        KINDS[0]: [layers.Conv2DTranspose(1, 3, strides=2, padding="same")],
        KINDS[1]: [layers.Conv2DTranspose(1, 4, strides=2, padding="same")],
        KINDS[2]: [layers.UpSampling2D(2), layers.Conv2DTranspose(1, 3, strides=1, padding="same")],
    }
    model = keras.Sequential(
        [
            keras.Input((None, None, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            *enlarge[kind],
        ]
    )
    model.compile(keras.optimizers.Adam(0.001), "mse")
    return model


def products(kind: str) -> list[int]:
    """Return how many products the four cells of a 2 x 2 block sum, for each channel, in the last layer."""
    layer = network(kind).layers[-1]
    x, w = np.ones((1, 8, 8, 1)), np.ones((*layer.kernel_size, 1, 1))
    sums = tc.dialects.keras.conv_transpose(x, w, layer.strides, "same")
    return [int(sums[0, 4 + row, 4 + col, 0]) for row in (0, 1) for col in (0, 1)]


def checkerboard(model: keras.Sequential) -> float:
    """Return how much the four cells of a block differ where the picture is flat, in grey levels of 255."""
    flat = np.ones((len(LEVELS), 16, 16, 1), "float32") * LEVELS[:, None, None, None]
    inside = model.predict(flat)[:, 8:-8, 8:-8, 0]  # away from the borders, whose padding shows too
    blocks = inside.reshape(len(LEVELS), 8, 2, 8, 2)
    return float(blocks.std((2, 4)).mean()) * 255


def train(kind: str, epochs: int, seed: int = 0) -> tuple[keras.Sequential, list[float], list[float]]:
    """Train a network; return it, its loss and its checkerboard after each epoch."""
    keras.utils.set_random_seed(seed)
    model, found = network(kind), []

    class Measure(keras.callbacks.Callback):
        """Measures the checkerboard after each epoch."""

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            """Append to the list."""
            found.append(checkerboard(self.model))

    history = model.fit(*samples(), epochs=epochs, verbose=0, callbacks=[Measure()])
    return model, history.history["loss"], found


def draw(runs: dict[str, tuple[keras.Sequential, list[float], list[float]]]) -> Any:
    """Return a figure of the curves, and of each network's output for a part of the photograph."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
    for kind, (_, losses, boards) in runs.items():
        axes[0, 0].semilogy(losses, label=kind)
        axes[0, 1].semilogy(np.maximum(boards, 1e-3), label=kind)
    axes[0, 0].set(title="loss", xlabel="epoch")
    axes[0, 1].set(title="checkerboard, grey levels of 255", xlabel="epoch")
    axes[0, 1].legend(fontsize=7)
    small, large = samples(64, 16)
    axes[0, 2].imshow(large[20, :, :, 0], cmap="gray", vmin=0, vmax=1)
    axes[0, 2].set_title("the photograph")
    for ax, (kind, (model, _, _)) in zip(axes[1], runs.items(), strict=True):
        ax.imshow(model.predict(small[20:21])[0, :, :, 0], cmap="gray", vmin=0, vmax=1)
        ax.set_title(kind, fontsize=9)
    for ax in axes.flat[2:]:
        ax.axis("off")
    return figure


def main() -> None:
    """Train one network of each kind and print its checkerboard."""
    parser = argparse.ArgumentParser(
        description="show and remove the checkerboard of a transposed convolution"
    )
    parser.add_argument("--epochs", type=int, default=12, help="how often all patches are used")
    parser.add_argument("--seed", type=int, default=0, help="of weights and order")
    parser.add_argument("--plot", metavar="FILE", help="draw the curves and the results")
    options = parser.parse_args()
    runs = {kind: train(kind, options.epochs, options.seed) for kind in KINDS}
    print(
        "products in a 2 x 2 block, and the checkerboard in grey levels of 255 after epochs 3 and",
        options.epochs,
    )
    for kind, (_, losses, boards) in runs.items():
        early = boards[min(3, options.epochs) - 1]
        print(f"{kind:36} {products(kind)!s:13} {early:6.2f} {boards[-1]:6.2f}   loss {losses[-1]:.5f}")
    if options.plot:
        draw(runs).savefig(options.plot)


if __name__ == "__main__":
    main()
