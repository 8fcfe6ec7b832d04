"""Prepared calls: what a call resolved to is kept, so that the next call like it starts at its kernel.

Geometry, backend, algorithm and the shape of the result follow from a few values: the arguments of
`_prepare`, whose cache is the dictionary. A call that finds itself there computes the same bits by the same
kernel, but for the sign and payload of a NaN. Every other call takes the long way through `nn_ops` and
`dispatch`: with a bias or ``out``, with arrays that have to be converted or arranged, with arguments in
unusual types, and with invalid ones.
TensorFlow: the kernel cache of common_runtime/eager/execute.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from . import backends, record, settings
from .arguments import Shape, shape_only
from .dispatch import Call, find_algorithm
from .memory import check_memory

__all__ = ["Kernel", "kernel_of", "run_kernel", "run_prepared"]

Kernel: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray | None]  # None: take the long way

_MOST = 256  # prepared calls that are kept; the least recently used goes first


def run_prepared(
    resolve: Callable[..., Call],
    first: Any,
    second: Any,
    arguments: tuple[Any, ...],
    options: tuple[Any, ...],
) -> np.ndarray | None:
    """Run a call whose like came before on the kernel that was prepared for it.

    Args:
        resolve: makes a `Call` of the two arrays and the arguments.
        first: the first array of the backend's function.
        second: the second.
        arguments: the op's other arguments, as the caller gave them, without ``bias``.
        options: backend, algorithm and precision, as the caller gave them.

    Returns:
        The result in the caller's layout, or None if the call has to take the long way.
    """
    if type(first) is not np.ndarray or type(second) is not np.ndarray:
        return None
    try:
        given = _plain(arguments), _plain(options)
        found = _prepare(
            resolve, first.shape, first.dtype, second.shape, second.dtype, *given, settings.in_force()
        )
    except (TypeError, RecursionError):  # no key; the long way says what is wrong with it, if anything is
        return None
    if found is None:
        return None
    kernel, module, name, function = found
    if getattr(module, name) is not function:  # the backend was reloaded
        _prepare.cache_clear()
        return None
    return run_kernel(kernel, first, second)


def run_kernel(kernel: Kernel, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    """Run a prepared kernel; a trace shows all steps instead, and says so."""
    if record.is_on():
        with record.stage("prepared call") as stage:
            stage.say("an untraced call goes on at the kernel from here; a trace takes the steps between")
        return None
    return kernel(first, second)


_SCALARS = frozenset({int, str, type(None)})


def _plain(values: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """Return arguments as a key whose equals mean the same: True and 1.0 equal 1, and are refused."""
    if _SCALARS.issuperset(map(type, values)):
        return tuple(values)
    return tuple(value if type(value) in _SCALARS else _plain(_sequence(value)) for value in values)


def _sequence(value: Any) -> Any:
    if type(value) is tuple or type(value) is list:
        return value
    raise TypeError


@lru_cache(maxsize=_MOST)
def _prepare(
    resolve: Callable[..., Call],
    first_shape: Shape,
    first_dtype: np.dtype[Any],
    second_shape: Shape,
    second_dtype: np.dtype[Any],
    arguments: tuple[Any, ...],
    options: tuple[Any, ...],
    in_force: tuple[int, str | None, str],
) -> tuple[Kernel, ModuleType, str, Any] | None:
    """Resolve a call from everything that decides it; None if it has to take the long way.

    Returns:
        The kernel, and where its backend function was found: module, name, and the function itself.
    """
    if "NCHW" in arguments:  # a filter gradient's call does not say how the images lie
        return None
    backend, algorithm, precision = options
    name = next(one for one in (backend, in_force[1], "cython") if one is not None)
    try:
        module = backends.get(name)
        with record.silent():
            first, second = shape_only(first_shape, first_dtype), shape_only(second_shape, second_dtype)
            call = resolve(first, second, *arguments)
            algorithm = find_algorithm(name, module, call, algorithm, precision)
    except Exception:  # the long way raises it again, where the caller can see the steps
        return None
    kernel = kernel_of(module, call, algorithm, precision)
    function = getattr(module, call.kind.name)
    patched = function.__module__ != module.__name__  # somebody put another function there to see it called
    converted = not call.first.dtype == first_dtype == second_dtype
    return None if kernel is None or patched or converted else (kernel, module, call.kind.name, function)


def kernel_of(
    module: ModuleType, call: Call, algorithm: str | None, precision: str | None, packed: Any = None
) -> Kernel | None:
    """Return a backend's kernel for calls like this one, or None if it has none that takes them as they are.

    Only the backends of the table are asked: what another backend returns is checked at every call.
    """
    prepare = getattr(module, "prepare_kernel", None)
    empty = 0 in call.first.shape or 0 in call.second.shape or 0 in call.backend_shape
    if prepare is None or empty or call.layout not in ("NHWC", "HWIO") or not backends.is_own(module):
        return None
    check_memory(call.backend_shape, call.first.dtype, "the result")
    kernel: Kernel | None = prepare(
        call.kind,
        call.geometry,
        call.first.dtype,
        call.result_shape,
        algorithm=algorithm,
        precision=precision,
        packed=packed,
        bias=call.bias,
    )
    return kernel
