"""The types of public arguments, for type checkers and for readers of signatures.

A checker finds ``padding="SMAE"`` and ``strides="2"`` before a program runs. When it runs, `arguments`
checks the values, and says what would be legal.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np

__all__ = [
    "AnyDataFormat",
    "ArrayLike",
    "Backend",
    "BackendName",
    "CausalPaddingLike",
    "DTypeLike",
    "DataFormat",
    "File",
    "Framework",
    "Int",
    "Ints",
    "KerasPadding",
    "PaddingLike",
    "Pairs",
    "Precision",
    "SequenceFormat",
    "ShapeLike",
    "VolumeFormat",
]


class HasArray(Protocol):
    """An array that NumPy can read: its own, PyTorch's, JAX's, dask's, or a tensor of a graph."""

    def __array__(self) -> Any: ...


class HasDLPack(Protocol):
    """An array that lends its memory by DLPack, such as one on a GPU."""

    def __dlpack__(self) -> Any: ...


class HasNamespace(Protocol):
    """An array of a library that follows the array API."""

    def __array_namespace__(self) -> Any: ...


class HasFunction(Protocol):
    """An array that NumPy's functions take, such as dask's, whose ``__array__`` pyright overlooks."""

    @property
    def __array_function__(self) -> Any: ...


class HasInterface(Protocol):
    """An array, or an image of Pillow, that describes its memory."""

    @property
    def __array_interface__(self) -> Any: ...


class Nested(Protocol):
    """Lists or tuples of numbers or of arrays, or nested ones.

    A text is not one: of a text one may only ask whether it contains a text, of a list whether it contains
    any object.
    """

    def __len__(self) -> int: ...

    def __contains__(self, item: object, /) -> bool: ...

    def __getitem__(self, index: int, /) -> float | HasArray | Nested: ...


class HasAlgorithms(Protocol):
    """An object that is a backend; `teachconv.backends` says what else it has."""

    ALGORITHMS: Any


ArrayLike: TypeAlias = HasArray | HasDLPack | HasNamespace | HasFunction | HasInterface | Nested
Int: TypeAlias = SupportsIndex  # of Python, NumPy, ...
ShapeLike: TypeAlias = Sequence[Int] | HasArray
Ints: TypeAlias = Int | Sequence[Int]  # one for all axes, or one for each
Pairs: TypeAlias = Sequence[Sequence[Int]]  # (before, after) of each axis
PaddingWord: TypeAlias = Literal["SAME", "VALID", "SAME_LOWER"]  # `arguments.PADDING_WORDS` has them as texts
PaddingLike: TypeAlias = PaddingWord | Ints | Pairs
CausalPaddingLike: TypeAlias = PaddingLike | Literal["CAUSAL"]  # of a sequence
KerasPadding: TypeAlias = Literal["valid", "same", "VALID", "SAME"]  # of a layer
DataFormat: TypeAlias = Literal["NHWC", "NCHW"]
SequenceFormat: TypeAlias = Literal["NWC", "NCW"]
VolumeFormat: TypeAlias = Literal["NDHWC", "NCDHW"]
AnyDataFormat: TypeAlias = SequenceFormat | DataFormat | VolumeFormat
Precision: TypeAlias = Literal["strict", "fast", "tf32"]
BackendName: TypeAlias = Literal["reference", "numpy", "scipy", "cython", "cupy"]
Backend: TypeAlias = BackendName | ModuleType | HasAlgorithms
DTypeLike: TypeAlias = str | np.dtype[Any] | type[Any]
Framework: TypeAlias = Literal["tensorflow", "tf", "torch", "pytorch", "jax", "onnx", "keras", "scipy"]
File: TypeAlias = str | os.PathLike[str]
