"""Where an array lies: in the memory of the host, as NumPy's, or in that of a GPU, as CuPy's.

CuPy is imported only for an array that lies on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .errors import ArgumentError, ArgumentTypeError

__all__ = [
    "array_module",
    "call_on_host",
    "check_same_place",
    "contiguous",
    "device_array",
    "is_on_device",
    "lies_on_a_gpu",
    "to_host",
]

_DLPACK_CUDA = 2  # kDLCUDA of dlpack.h


def lies_on_a_gpu(value: Any) -> bool:
    """Whether a value is an array in a GPU's memory, whichever library's."""
    try:
        if hasattr(value, "__cuda_array_interface__"):  # PyTorch's CPU tensors raise AttributeError here
            return True
        return hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == _DLPACK_CUDA
    except Exception:  # whatever it is, it is not an array on a GPU; the caller says what is wrong with it
        return False


def device_array(value: Any, name: str) -> Any:
    """Return an array that lies on a GPU as CuPy's, without a copy; ``name`` is what an error calls it."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise ArgumentTypeError(
            f"{name} lies on a GPU ({kind}), where only the cupy backend works, and CuPy cannot be imported: "
            f"{error}; pip install teachconv[gpu-cuda13] or [gpu-cuda12], or copy {name} to the host"
        ) from error
    try:
        if isinstance(value, cupy.ndarray):
            return value
        return cupy.from_dlpack(value) if hasattr(value, "__dlpack__") else cupy.asarray(value)
    except Exception as error:
        raise ArgumentTypeError(f"{name} must be an array; got {kind}: {error}") from error


def is_on_device(array: Any) -> bool:
    """Whether an array that `as_array` returned is a CuPy array."""
    return not isinstance(array, np.ndarray)


def array_module(array: Any) -> Any:
    """Return numpy, or cupy for what lies on a GPU: the module whose functions take this array."""
    return import_module("cupy") if is_on_device(array) else np


def contiguous(array: np.ndarray) -> np.ndarray:
    """Return the array C-contiguous, where it lies: a copy if it is not so already."""
    return array_module(array).ascontiguousarray(array)


def to_host(value: Any) -> Any:
    """Return an array on a GPU as NumPy's, a copy; anything else as it is.

    >>> to_host([1, 2])
    [1, 2]
    """
    return device_array(value, "array").get() if lies_on_a_gpu(value) else value


def call_on_host(args: Iterable[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with every array that lies on a GPU copied to the host.

    >>> call_on_host((1,), {"padding": "SAME"})
    ((1,), {'padding': 'SAME'})
    """
    return tuple(map(to_host, args)), {name: to_host(value) for name, value in kwargs.items()}


def check_same_place(first: Any, first_name: str, second: Any, second_name: str) -> None:
    """Raise unless both arrays are in one memory: nothing is copied between host and GPUs in silence."""
    if not (is_on_device(first) or is_on_device(second)):
        return
    places = [
        "the host" if not is_on_device(array) else f"GPU {array.device.id}" for array in (first, second)
    ]
    if places[0] == places[1]:
        return
    if is_on_device(first):
        help_ = f"cupy.asarray({second_name}), with cupy.cuda.Device({first.device.id}) as the current device"
    else:
        help_ = f"cupy.asnumpy({second_name}), or cupy.asarray({first_name})"
    raise ArgumentError(
        f"{second_name} must be where {first_name} is, on {places[0]}; got one on {places[1]}: {help_}"
    )
