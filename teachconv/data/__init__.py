"""The data shipped with the package: a photograph, and a small trained network with its outputs."""

from __future__ import annotations

from importlib.resources import files

import numpy as np


def photo() -> np.ndarray:
    """Return the shipped photograph of a cat.

    The cat is Chelsea; the photograph is by Stefan van der Walt, CC0. See ``teachconv/data/LICENSE.txt``.

    Returns:
        A uint8 array, [150 rows, 225 columns, 3 colours].

    >>> photo().shape, photo().dtype
    ((150, 225, 3), dtype('uint8'))
    """
    with (files("teachconv") / "data" / "photo.npy").open("rb") as file:
        return np.load(file, allow_pickle=False)


def digits() -> dict[str, np.ndarray]:
    """Return a small trained network, 100 images for it, and PyTorch's outputs for them.

    Each of the two convolutions is followed by ReLU and a max pool of 2 x 2; the last layer is dense.
    tools/recorders/record_digits.py trained it and made the file.

    Returns:
        Arrays by name. The weights are float32: ``conv1/filters`` [3, 3, 1, 8] and ``conv1/bias``,
        ``conv2/filters`` [3, 3, 8, 16] and ``conv2/bias``, ``dense/weights`` [64, 10] and ``dense/bias``.
        ``images`` [100, 8, 8, 1] is uint8 from 0 to 16, which the network takes divided by 16;
        ``labels`` is [100], and ``logits``, which PyTorch computed, [100, 10].

    >>> data = digits()
    >>> data["images"].shape, data["conv2/filters"].shape
    ((100, 8, 8, 1), (3, 3, 8, 16))
    """
    with (
        (files("teachconv") / "data" / "digits.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return {name: arrays[name] for name in arrays.files if name != "meta"}
