"""The data that ship with the package: one photograph, and a small trained network with its answers."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

__all__ = ["digits", "photo"]


def photo() -> np.ndarray:
    """Return the shipped photograph: uint8, [150 rows, 225 columns, 3 colours].

    A cat named Chelsea, by Stefan van der Walt, CC0; see ``teachconv/data/LICENSE.txt``.

    >>> photo().shape, photo().dtype
    ((150, 225, 3), dtype('uint8'))
    """
    with (files("teachconv") / "data" / "photo.npy").open("rb") as file:
        return np.load(file)


def digits() -> dict[str, np.ndarray]:
    """Return a small trained LeNet-shaped network, 100 images for it, and PyTorch's answers.

    Keys: ``conv1/filters`` [3, 3, 1, 6] and ``conv1/bias``, ``conv2/...``, ``dense1/weights`` [64, 48] and
    ``dense1/bias``, ``dense2/...``, ``dense3/...`` (float32); ``images`` [100, 8, 8, 1] of 0..16 (uint8; the
    network takes them divided by 16), ``labels`` [100] and ``logits`` [100, 10], PyTorch's own.
    tests/recorded/record_digits.py made the file.

    >>> data = digits()
    >>> data["images"].shape, data["conv2/filters"].shape
    ((100, 8, 8, 1), (3, 3, 6, 16))
    """
    with (files("teachconv") / "data" / "digits.npz").open("rb") as file, np.load(file) as arrays:
        return {name: arrays[name] for name in arrays.files if name != "meta"}
