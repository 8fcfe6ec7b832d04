"""The data that ship with the package: one photograph."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

__all__ = ["photo"]


def photo() -> np.ndarray:
    """Return the shipped photograph: uint8, [150 rows, 225 columns, 3 colours].

    A cat named Chelsea, by Stefan van der Walt, CC0; see ``teachconv/data/LICENSE.txt``.

    >>> photo().shape, photo().dtype
    ((150, 225, 3), dtype('uint8'))
    """
    with (files("teachconv") / "data" / "photo.npy").open("rb") as file:
        return np.load(file)
