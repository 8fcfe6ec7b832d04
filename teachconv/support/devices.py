"""Arrays in host memory (NumPy) and in GPU memory (CuPy), and the registry of other libraries' arrays.

A library is known by the name of its module, and the `Adapter` of its arrays is imported when the first of
them is met; CuPy is imported only when an array is on a GPU.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from importlib import import_module
from threading import Lock, get_ident
from typing import Any

import numpy as np

from . import record
from .errors import ArgumentError, ArgumentTypeError, brief, leave_untraced, plain

_DLPACK_CUDA = 2  # kDLCUDA of dlpack.h


# ---------------------------------------------------------------------------------------------
# Other libraries' arrays
# ---------------------------------------------------------------------------------------------

# the first part of the module's name of a class of arrays -> the module that has its ADAPTER
ADAPTERS = {
    "cupy": "teachconv.arrays.cupy",
    "jax": "teachconv.arrays.jax",
    "jaxlib": "teachconv.arrays.jax",
    "torch": "teachconv.arrays.torch",
    "dask": "teachconv.arrays.dask_arrays",
    # The graph runtime's tensors, by their module: other classes of teachconv must not load it.
    "teachconv.graph.framework.tensor": "teachconv.graph.framework.tensor",
}
_PROTOCOLS = "teachconv.arrays.array_api"  # for every other class with DLPack or __array_namespace__


class Adapter:
    """How the arrays of one library go into an op, and how its result becomes one of them.

    The base class converts to NumPy and returns NumPy. A subclass says what differs, and its module ends in
    ``ADAPTER = ItsClass()``, which `ADAPTERS` names.

    There are two ways. Where the first array argument of a call has an adapter, `call` converts the arrays,
    runs the op on NumPy or CuPy arrays, and converts the result back. Arrays without values, such as the
    tensors of a graph, and arrays whose library records what is done with them take over the whole call,
    whichever argument they are: `takes_over` says so, and `call` is then their own.

    Attributes:
        name: what traces and error messages call the library's arrays.
        native: whether backends take them as they are, so that no call is needed around the op.
        writable: whether `to_array` returns a view that writes to the same memory, which ``out`` needs.
        cast: the method that converts to another dtype, as `re.sub` replaces it where ``\\2`` is its name.
    """

    name = "arrays"
    native = False
    writable = False
    cast = r'.astype("\2")'

    def knows(self, cls: type) -> bool:
        """Return whether a class of the library is one of arrays."""
        return True

    def takes_over(self, value: Any) -> bool:
        """Return whether `call` computes a call with this array, whichever argument it is."""
        return False

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run an op on arrays of the library.

        Args:
            value: the array that decides: the first that takes over, or the first array argument.
            op: the op, such as `teachconv.conv2d`, or a dialect's function.
            arguments: all of its arguments by name; names that the op does not have are ignored.

        Returns:
            The result, of the kind of ``value``; ``out`` if that was given.
        """
        own = {name: arguments[name] for name in inspect.signature(op).parameters}
        out = own.get("out")
        if out is not None and not getattr(adapter_of(out), "writable", True):
            raise ArgumentTypeError(
                f"out must be an array that can be written to, such as a NumPy array; got {_class_of(out)}"
            )
        with record.stage(f"convert {self.name}") as stage:
            converted = {name: to_array(item, name) for name, item in own.items()}
            stage.arrays(**{n: a for n, a in converted.items() if a is not own[n]})
        try:
            result = op(**converted)
        except ArgumentTypeError as error:  # it advises how to convert NumPy's arrays, which op was given
            for name, adapter in ((name, adapter_of(item)) for name, item in own.items()):
                call = rf'(\b{name}|with )\.astype\("(\w+)"\)'
                error.args = (re.sub(call, rf"\1{adapter.cast}", str(error)) if adapter else str(error),)
            raise
        if isinstance(result, tuple):
            return tuple(self.from_array(part, value) for part in result)
        return self.from_array(result, value) if out is None else out

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Return an array of the library as a NumPy array, or a CuPy array if it is on a GPU.

        Args:
            value: the array.
            name: what error messages call it.

        Raises:
            ArgumentTypeError: if that is not possible, or would lose something without a word.
        """
        refuse_endless(value, name)
        try:
            if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
                return np.asarray(value)
            return np.from_dlpack(value)
        except Exception as error:
            got = _class_of(value) if hasattr(value, "shape") else f"{brief(value)}"
            raise ArgumentTypeError(
                f"{name} must be an array or nested lists; got {got}: {plain(error)}"
            ) from error

    def to_host(self, value: Any) -> np.ndarray:
        """Return the values as a NumPy array, for tools that only look at them."""
        return self.to_array(value, "array")

    def lazy_call(self, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a call whose arrays are loaded part by part, for tools that look at cells, or None.

        Args:
            op: the op.
            args: its positional arguments.
            kwargs: its keyword arguments.

        Returns:
            None where the arrays are in memory; else a `teachconv.arrays.dask_graph.LazyCall`.
        """
        return None

    def from_array(self, result: np.ndarray, like: Any) -> Any:
        """Return a result of an op as an array of the library, of the kind and on the device of ``like``."""
        return result


def refuse_endless(value: Any, name: str) -> None:
    """Raise ``ArgumentTypeError`` for an object with more items than its length says.

    NumPy reads what has ``__len__`` and ``__getitem__``, and no ``__iter__``, until an ``IndexError``; a
    class of data whose ``__getitem__`` takes any index would fill the memory.
    """
    is_other = hasattr(value, "__array__") or hasattr(value, "shape") or hasattr(value, "__iter__")
    if is_other or not (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        return
    try:
        length = len(value)
        value[length]
    except Exception:  # of a method of the value: NumPy meets it, too
        return
    raise ArgumentTypeError(
        f"{name} must be an array or nested lists; got {brief(value)}, which has more items than its "
        f"length {length}: numpy.stack([data[i] for i in range(len(data))]) makes an array of it"
    )


def first_of(value: Any, name: str) -> Any:
    """Return the first number of nested lists, and anything else as it is.

    Raises:
        ArgumentError: for lists that are nested more often than an array has axes; in one that holds itself
            twice NumPy would look for the end for ever.
        ArgumentTypeError: for an object that gives more items than its length.
    """
    first = value
    for _ in range(65):
        if not (isinstance(first, (list, tuple)) and first):
            refuse_endless(first, name)
            return first
        first = first[0]
    legal = "nested lists of equal lengths, at most 64 in each other"
    raise ArgumentError(f"{name} must be {legal}; got {brief(value)}")


def refuse_masked(value: Any, name: str) -> None:
    """Raise ``ArgumentError`` for an array with masked elements."""
    if np.ma.is_masked(value):
        raise ArgumentError(
            f"{name} must have no masked elements: a convolution has no value for them; "
            f"got {np.ma.count_masked(value)} of them (use {name}.filled(...))"
        )


def _class_of(value: Any) -> str:
    """Return the name of a value's class with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


@lru_cache(maxsize=1024)
def _adapter_of_class(cls: type) -> Adapter | None:
    """Return the adapter of a class: that of the first of its bases whose library has one."""
    for base in cls.__mro__:
        module = ADAPTERS.get(base.__module__.partition(".")[0]) or ADAPTERS.get(base.__module__)
        if module is not None:
            adapter: Adapter = import_module(module).ADAPTER
            if adapter.knows(cls):
                return adapter
    if issubclass(cls, (np.ndarray, np.generic)):
        return None
    protocols = ("__array_namespace__", "__dlpack_device__", "__cuda_array_interface__")
    if any(hasattr(cls, protocol) for protocol in protocols):
        return import_module(_PROTOCOLS).ADAPTER
    return None


@leave_untraced
def adapter_of(value: Any) -> Adapter | None:
    """Return the adapter of another library's array, or None for a NumPy array and anything else.

    >>> import numpy as np
    >>> adapter_of(np.ones(3)), adapter_of([1.0]), adapter_of("SAME")
    (None, None, None)
    """
    cls: Any = type(value)
    return None if cls is np.ndarray else _adapter_of_class(cls)


def is_native(value: Any) -> bool:
    """Return whether a value is an array on a GPU that backends take as it is: CuPy's."""
    adapter = adapter_of(value)
    return adapter is not None and adapter.native


@leave_untraced
def override_of(first: Any, *others: Any) -> Callable[..., Any] | None:
    """Return what runs a call instead of the op itself, or None.

    Arrays that take over decide wherever they are; otherwise the first array argument does.

    Args:
        first: the first array argument of the op.
        *others: the other arguments that may be arrays.

    Returns:
        `Adapter.call` for the array that decides: a function of the op and its arguments by name.
    """
    cls: Any = type(first)
    of_first = None if cls is np.ndarray else _adapter_of_class(cls)
    if of_first is not None and of_first.takes_over(first):
        return partial(of_first.call, first)
    for value in others:
        cls = type(value)
        if cls is not np.ndarray and value is not None:
            adapter = _adapter_of_class(cls)
            if adapter is not None and adapter.takes_over(value):
                return partial(adapter.call, value)
    return None if of_first is None or of_first.native else partial(of_first.call, first)


def lazy_call(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the `Adapter.lazy_call` of the first argument that has one, or None."""
    adapters = map(adapter_of, (*args, *kwargs.values()))
    calls = (adapter.lazy_call(op, args, kwargs) for adapter in adapters if adapter is not None)
    return next((call for call in calls if call is not None), None)


def to_array(value: Any, name: str) -> Any:
    """Return another library's array as NumPy's or CuPy's; anything else is returned unchanged."""
    adapter = adapter_of(value)
    return value if adapter is None else adapter.to_array(value, name)


# ---------------------------------------------------------------------------------------------
# Arrays on a GPU
# ---------------------------------------------------------------------------------------------


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

    Args:
        value: an array on a GPU, of any library.
        name: what error messages call it.

    Returns:
        A CuPy array on the same memory.

    Raises:
        ArgumentTypeError: if CuPy cannot be imported, or cannot read the array.
    """
    kind = _class_of(value)
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise ArgumentTypeError(
            f"{name} lies on a GPU ({kind}), where only the cupy backend works, and CuPy cannot be imported: "
            f"{plain(error)}; pip install teachconv[gpu-cuda13] or [gpu-cuda12], or copy {name} to the host"
        ) from error
    try:
        if isinstance(value, cupy.ndarray):
            return value
        array = cupy.from_dlpack(value) if hasattr(value, "__dlpack__") else cupy.asarray(value)
    except Exception as error:
        raise ArgumentTypeError(f"{name} must be an array; got {kind}: {plain(error)}") from error
    with _lock:
        _borrowed.append((get_ident(), None, array))
    return array


# Arrays of other libraries, each with the thread that will launch kernels on it and, once it has done so, the
# event after the last of them. Their owner may use the memory again as soon as the last reference to it is
# dropped, and it does not know of kernels that still run on CuPy's stream.
_borrowed: list[tuple[int, Any, Any]] = []
_lock = Lock()


def hold_borrowed() -> None:
    """Hold the arrays that `device_array` borrowed until the work queued so far on the stream has ended.

    The backend calls this after its launches. What has ended by now is released; what other threads have
    borrowed waits for their own launches.
    """
    if not _borrowed:
        return
    event = import_module("cupy").cuda.Event(disable_timing=True)
    event.record()
    with _lock:
        _borrowed[:] = [
            (thread, after or (event if thread == get_ident() else None), array)
            for thread, after, array in _borrowed
            if after is None or not after.done
        ]


def on_device_of(array: Any) -> AbstractContextManager[Any]:
    """Return a context in which new arrays are created on an array's device, even if another GPU is current.

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
    with on_device_of(array):
        return array_module(array).ascontiguousarray(array)


def to_host(value: Any) -> Any:
    """Return the values of another library's array, or of one on a GPU, as NumPy's; anything else unchanged.

    Args:
        value: anything.

    Returns:
        A NumPy array, or ``value``.

    >>> to_host([1, 2])
    [1, 2]
    """
    adapter = adapter_of(value)
    return value if adapter is None else adapter.to_host(value)


def values_on_host(value: Any, name: str) -> np.ndarray:
    """Return numbers that a tool looks at, from any library or GPU, as a NumPy array of any dtype.

    Raises:
        ArgumentError, ArgumentTypeError: if elements are masked, or it is not an array.
    """
    refuse_masked(value, name)
    first_of(value, name)
    try:
        return np.asarray(to_host(value))
    except Exception as error:  # of a method of the value, or of lists of several lengths
        raise ArgumentTypeError(f"{name} must be an array: {plain(error)}") from error


def call_on_host(args: Iterable[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with the arrays of other libraries and of GPUs as NumPy arrays.

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
