"""Arrays in host memory (NumPy) and in GPU memory (CuPy), and the few functions that tell them apart.

CuPy is imported only when an array is on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from .errors import ArgumentError, ArgumentTypeError

__all__ = [
    "array_module",
    "call_on_host",
    "check_same_place",
    "contiguous",
    "device_array",
    "hold_borrowed",
    "is_on_device",
    "lies_on_a_gpu",
    "on_device_of",
    "seconds_on_device",
    "to_host",
]

_DLPACK_CUDA = 2  # kDLCUDA of dlpack.h


def lies_on_a_gpu(value: Any) -> bool:
    """Return whether a value is an array in GPU memory.

    Args:
        value: anything; an array of any library with ``__cuda_array_interface__`` or DLPack is recognised.

    Returns:
        True for an array on a GPU, False for everything else.
    """
    try:
        # DLPack first: a tensor that requires a gradient has its device, but no __cuda_array_interface__
        if hasattr(value, "__dlpack_device__"):
            return int(value.__dlpack_device__()[0]) == _DLPACK_CUDA
        return hasattr(value, "__cuda_array_interface__")
    except Exception:  # not a usable array; the caller raises the error that says so
        return False


def device_array(value: Any, name: str) -> Any:
    """Return an array on a GPU as a CuPy array, without a copy.

    A PyTorch tensor that requires a gradient is detached: no op of teachconv is recorded by PyTorch.

    Args:
        value: an array on a GPU, of any library.
        name: what error messages call it.

    Returns:
        A CuPy array on the same memory.

    Raises:
        ArgumentTypeError: if CuPy cannot be imported, or cannot read the array.
    """
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
        if getattr(value, "requires_grad", False):
            value = value.detach()
        array = cupy.from_dlpack(value) if hasattr(value, "__dlpack__") else cupy.asarray(value)
    except Exception as error:
        raise ArgumentTypeError(f"{name} must be an array; got {kind}: {error}") from error
    with _lock:
        _borrowed.append((None, array))
    return array


# Arrays of other libraries and, once kernels that may read them were launched, the event after the last of
# them. Their owner may use the memory again as soon as the last reference to it is dropped, and it does not
# know of kernels that still run on CuPy's stream.
_borrowed: list[tuple[Any, Any]] = []
_lock = Lock()


def hold_borrowed() -> None:
    """Hold the arrays that `device_array` borrowed until the work queued so far on the stream has ended.

    The backend calls this after its launches. What has ended by now is released.
    """
    if not _borrowed:
        return
    event = import_module("cupy").cuda.Event(disable_timing=True)
    event.record()
    with _lock:
        _borrowed[:] = [
            (after or event, array) for after, array in _borrowed if after is None or not after.done
        ]


def on_device_of(array: Any) -> AbstractContextManager[Any]:
    """Return a context in which new arrays are created where an array is, even if another GPU is current.

    Args:
        array: a NumPy or CuPy array.

    Returns:
        The array's device as a context manager; for a NumPy array one that does nothing.
    """
    return array.device if is_on_device(array) else nullcontext()


def seconds_on_device(array: Any, run: Callable[[], Any]) -> float:
    """Return how long ``run()`` keeps the GPU of an array busy, by two CUDA events around it.

    Args:
        array: a CuPy array.
        run: what is timed; its launches may return before the work is done.

    Returns:
        Seconds, from the first launch to the end of the work, and at least those until the work is queued.
    """
    cuda = import_module("cupy").cuda
    with on_device_of(array):
        start, stop = cuda.Event(), cuda.Event()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        return float(cuda.get_elapsed_time(start, stop)) / 1e3


def is_on_device(array: Any) -> bool:
    """Return whether an array that `as_array` returned is a CuPy array."""
    return not isinstance(array, np.ndarray)


def array_module(array: Any) -> Any:
    """Return the module whose functions take this array: cupy for an array on a GPU, else numpy."""
    return import_module("cupy") if is_on_device(array) else np


def contiguous(array: np.ndarray) -> np.ndarray:
    """Return the array in C order and in the same memory; a copy only if it is not contiguous already."""
    return array_module(array).ascontiguousarray(array)


def to_host(value: Any) -> Any:
    """Return a NumPy copy of an array on a GPU; anything else is returned unchanged.

    Args:
        value: anything.

    Returns:
        A NumPy array, or ``value``.

    >>> to_host([1, 2])
    [1, 2]
    """
    return device_array(value, "array").get() if lies_on_a_gpu(value) else value


def call_on_host(args: Iterable[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with every array on a GPU copied to the host.

    Args:
        args: positional arguments.
        kwargs: keyword arguments.

    Returns:
        The positional arguments as a tuple, and the keyword arguments as a dict.

    >>> call_on_host((1,), {"padding": "SAME"})
    ((1,), {'padding': 'SAME'})
    """
    return tuple(map(to_host, args)), {name: to_host(value) for name, value in kwargs.items()}


def check_same_place(first: Any, first_name: str, second: Any, second_name: str) -> None:
    """Raise unless both arrays are on the host or on the same GPU; nothing is copied silently.

    Args:
        first: an array.
        first_name: what error messages call it.
        second: another array.
        second_name: what error messages call that one.

    Raises:
        ArgumentError: if the arrays are in different memories; the message says how to move one.
    """
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
