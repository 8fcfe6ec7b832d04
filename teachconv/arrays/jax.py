"""JAX's arrays: under jit, grad and vmap an op is a callback to the host with a derivative of its own.

An array with a value goes in and comes out as it is. While JAX traces a function, its arrays have shapes
but no values; an op then becomes a `jax.pure_callback`, whose host function computes with NumPy arrays and
calls no JAX, inside a `jax.custom_vjp`, whose backward pass calls our gradient ops. These are traced in
turn, so that reverse mode works to any order. There is no forward mode.

JAX: jax/_src/callback.py, jax/_src/custom_derivatives.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from ..core.arguments import Shape, as_array, shape_only
from ..dialects.calls import FUNCTIONS
from ..running import dispatch, nn_ops
from ..running.default_backend import in_force
from ..support.devices import adapter_of
from ..support.errors import ArgumentTypeError
from . import dialect_calls, gradient_rules
from .array_api import ArrayApi

__all__: list[str] = []


class Jax(ArrayApi):
    """Arrays with values, and tracers, which stand for arrays while a function is traced."""

    name = "jax"

    def knows(self, cls: type) -> bool:
        """Return whether it is JAX's class of arrays or of tracers."""
        return issubclass(cls, (type(_jax().numpy.zeros(())), _jax().core.Tracer))

    def takes_over(self, value: Any) -> bool:
        """Return whether the array is a tracer."""
        return isinstance(value, _jax().core.Tracer)

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run an op, as a callback where a function is traced."""
        if not any(adapter_of(item) is self and self.takes_over(item) for item in arguments.values()):
            return super().call(value, op, arguments)
        if op in FUNCTIONS and op not in gradient_rules.ARRAYS:
            xp = _jax().numpy
            return dialect_calls.run(op, arguments, self._as_jax, xp.permute_dims, xp.flip)
        gradient_rules.check(op, arguments, "call it outside of jit, grad and vmap")
        names = tuple(name for name in gradient_rules.ARRAYS[op] if arguments[name] is not None)
        arrays = [self._as_jax(arguments[name], name) for name in names]
        rest = {
            name: _frozen(self._static(arguments[name], name))
            for name in inspect.signature(op).parameters
            if name not in names and name != "out"
        }
        shapes = tuple(zip((array.shape for array in arrays), (array.dtype for array in arrays), strict=True))
        if rest["backend"] is None:
            dispatch.find_backend()  # raises for a wrong name, and says where it comes from
            rest["backend"], named, *_ = in_force()  # the callback runs in a thread of JAX's
            rest["algorithm"] = rest["algorithm"] or named
        key = op, names, tuple(rest.items()), shapes
        try:
            function = _traced(*key)
        except TypeError:  # a backend or a shape of somebody's own may not be hashed
            function = _traced.__wrapped__(*key)
        try:
            return function(*arrays)
        except TypeError as error:
            if "custom_vjp" not in str(error):
                raise
            raise ArgumentTypeError(
                f"{op.__name__} has no forward-mode derivative, which jax.jvp and jax.jacfwd need: use "
                "jax.grad, jax.vjp or jax.jacrev"
            ) from error

    def _as_jax(self, value: Any, name: str) -> Any:
        """Return an array argument as JAX's."""
        if adapter_of(value) is self:
            return value
        array = as_array(value, name, None)
        found = _jax().numpy.asarray(array)
        if found.dtype != array.dtype:
            raise ArgumentTypeError(
                f"{name} has dtype {array.dtype}, which JAX has only after "
                'jax.config.update("jax_enable_x64", True)'
            )
        return found

    def _static(self, value: Any, name: str) -> Any:
        """Return an argument that is not one of the arrays to convolve."""
        if adapter_of(value) is self and self.takes_over(value):
            raise ArgumentTypeError(
                f"{name} must be known while JAX traces the function, as shapes are; got {value}"
            )
        return value

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Return the array as NumPy's, or CuPy's on a GPU; a tracer has no values."""
        if self.takes_over(value):
            raise ArgumentTypeError(
                f"{name} has no values while JAX traces a function (jit, grad, vmap): call this outside of it"
            )
        return super().to_array(value, name)

    def from_array(self, result: np.ndarray, like: Any) -> Any:
        """Return a result as an array of JAX, on the device of ``like`` if that is on one."""
        if not isinstance(result, np.ndarray):
            return _jax().numpy.from_dlpack(result)
        devices = like.devices()
        return _jax().device_put(result, next(iter(devices)) if len(devices) == 1 else None)


def _jax() -> Any:
    return import_module("jax")


def _frozen(value: Any) -> Any:
    """Return lists as tuples, which can be looked up."""
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


@lru_cache(maxsize=256)
def _traced(
    op: Callable[..., Any],
    names: tuple[str, ...],
    rest: tuple[tuple[str, Any], ...],
    arrays: tuple[tuple[Shape, np.dtype[Any]], ...],
) -> Callable[..., Any]:
    """Return an op as a function of its arrays alone that JAX can trace.

    One function for each kind of call: JAX compiles again for every function that is new to it.

    Args:
        op: the op.
        names: the names of its array arguments.
        rest: the other arguments.
        arrays: the arrays' shapes and dtypes.
    """
    jax, static = _jax(), dict(rest)
    blanks = {name: shape_only(*array) for name, array in zip(names, arrays, strict=True)}
    call, _ = nn_ops.call_of(op, (), {**static, **blanks})
    backend, module = dispatch.find_backend(static["backend"])
    dispatch.find_algorithm(backend, module, call, static["algorithm"], static["precision"])
    result = jax.ShapeDtypeStruct(call.result_shape, call.first.dtype)
    ranks = [len(shape) for shape, _ in arrays]

    def on_host(*given: Any) -> np.ndarray:
        """Run the op on NumPy arrays; vmap adds axes in front, of size 1 where an array is not mapped."""
        found = [np.asarray(array) for array in given]
        axes = [array.ndim - rank for array, rank in zip(found, ranks, strict=True)]
        lead = np.broadcast_shapes(*(array.shape[:n] for array, n in zip(found, axes, strict=True)))
        out = np.empty((*lead, *result.shape), result.dtype)
        mapped = [
            np.broadcast_to(array, lead + array.shape[n:]) for array, n in zip(found, axes, strict=True)
        ]
        for index in np.ndindex(lead):
            op(**static, **{n: array[index] for n, array in zip(names, mapped, strict=True)}, out=out[index])
        return out

    @jax.custom_vjp
    def function(*given: Any) -> Any:
        return jax.pure_callback(on_host, result, *given, vmap_method="expand_dims")

    def forward(*given: Any) -> tuple[Any, tuple[Any, ...]]:
        return function(*given), given

    def backward(given: tuple[Any, ...], gradient: Any) -> tuple[Any, ...]:
        arguments = {**static, **dict(zip(names, given, strict=True))}
        return tuple(gradient_rules.gradients(op, arguments, gradient, names).values())

    function.defvjp(forward, backward)
    return function


ADAPTER = Jax()
