"""CuPy's arrays, which the cupy backend takes as they are. The result of an op stays on the GPU."""

from __future__ import annotations

from .array_api import ArrayApi


class CuPy(ArrayApi):
    """Arrays on a GPU that a backend computes with."""

    name = "cupy"
    native = True
    writable = True


ADAPTER = CuPy()
