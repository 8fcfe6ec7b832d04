"""Draws docs/engine_error.svg: what one large input does to the error of its neighbours in three algorithms.

    python docs/engine_error.py       (needs matplotlib)

A 3x3 convolution of an image of ordinary numbers with one large input. Each cell shows its error against a
float64 result, divided by its own sum |x||w|. By this measure direct summation keeps its bound in every cell.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import teachconv as tc
from teachconv.data.seeded import make_array

TARGET = Path(__file__).with_name("engine_error.svg")
ALGORITHMS = {"row_gemm": 0, "winograd2": 2, "winograd4": 4}  # name: size of its tiles
SIZE, CHANNELS, PLACE, LARGE = 16, 64, (5, 5), 2.0**12


def errors() -> dict[str, np.ndarray]:
    """Return of each algorithm the largest error of each pixel over its channels, [rows, cols]."""
    x, w = make_array((1, SIZE, SIZE, CHANNELS), "float32"), make_array((3, 3, CHANNELS, CHANNELS), "float32")
    x[0, *PLACE] *= np.float32(LARGE)
    wide = x.astype(np.float64), w.astype(np.float64)
    truth = tc.conv2d(*wide, padding="SAME", backend="numpy")
    own = tc.conv2d(*map(np.abs, wide), padding="SAME", backend="numpy")
    results = {name: tc.conv2d(x, w, padding="SAME", backend="cython", algorithm=name) for name in ALGORITHMS}
    return {name: (np.abs(y - truth) / own).max(axis=-1)[0] for name, y in results.items()}


def main() -> None:
    """Compute the errors and draw them."""
    import matplotlib
    from matplotlib import pyplot
    from matplotlib.colors import LogNorm

    matplotlib.rcParams |= {"svg.hashsalt": "teachconv", "svg.fonttype": "none"}
    found = errors()
    figure, axes = pyplot.subplots(1, len(found), figsize=(9.6, 3.4), layout="constrained")
    for ax, (name, error) in zip(axes, found.items(), strict=True):
        colours = ax.pcolormesh(error, norm=LogNorm(1e-8, 1e-2), cmap="viridis", edgecolors="none")
        for edge in range(ALGORITHMS[name], SIZE, ALGORITHMS[name] or SIZE):
            ax.axhline(edge, color="white", lw=0.4)
            ax.axvline(edge, color="white", lw=0.4)
        ax.plot(PLACE[1] + 0.5, PLACE[0] + 0.5, "x", color="red")
        ax.set(title=f"{name}: up to {error.max():.1e}", xticks=[], yticks=[], aspect="equal")
        ax.invert_yaxis()
    figure.colorbar(colours, ax=axes, label="error / own sum |x||w|")
    figure.savefig(TARGET, metadata={"Date": None})
    print({name: f"{error.max():.2e}" for name, error in found.items()})


if __name__ == "__main__":
    main()
