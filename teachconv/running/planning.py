"""Plans: geometry, algorithm and the arranged filter computed once, for many calls with one filter.

What an inference engine does with constant weights: the filter is packed, or transformed, ahead of time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .. import backends
from ..backends import TABLE
from ..core.arguments import as_array, channels_first, check_elements, normalize_shape
from ..core.calls import Call
from ..support import record
from ..support.argument_types import ArrayLike, Backend, Precision, ShapeLike
from ..support.devices import array_module, check_same_place, on_device_of, override_of
from ..support.errors import ArgumentError, ArgumentTypeError, brief, is_one_of
from ..support.tables import size
from . import nn_ops
from .default_backend import in_force
from .dispatch import Kernel, PreparedCall, tell_of_kernel

_PLANNED = [function for op, function in nn_ops.FUNCTIONS.items() if op.kind.second == "filters"]


class Plan(PreparedCall):
    """A convolution with a fixed filter, created by `plan`; call it with the input any number of times.

    It is a prepared call that holds its filters.

    Attributes:
        geometry: the geometry of every call.
        algorithm: the algorithm of every call, as an op takes it.
        nbytes: the size of the packed filter, 0 if the backend does not pack it.
    """

    __name__ = "plan"  # what error messages call it

    def __init__(self, call: Call, backend: Any, algorithm: str | None, precision: str | None) -> None:
        super().__init__(call, backend, algorithm, precision)
        self.geometry, self._asked = call.geometry, algorithm
        self.nbytes = 0
        packer = getattr(self.module, "pack", None)
        if packer is not None and call.second.size and 0 not in call.backend_shape:
            with record.stage("pack filter"):
                options = {"algorithm": self.algorithm, "precision": precision}  # "auto" is None by now
                self.packed = packer(call.second, call.geometry, kind=call.kind, **options)
            self.algorithm = self.packed.algorithm
            self.nbytes = 0 if self.packed.numbers is None else self.packed.numbers.nbytes
        self._ready: tuple[Any, Kernel | None] = None, None  # the last kind of input, and its kernel

    def __call__(self, input: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Return the op's result for this input; only the batch size may differ from the planned shape."""
        if out is None and (kernel := self._kernel_for(input)) is not None:
            if record.is_on():
                tell_of_kernel()
            elif (result := kernel(input, self.packed.w)) is not None:
                return result
        if (override := override_of(input)) is not None:
            return override(self, {"input": input, "out": out})
        x = as_array(input, "input", self.call.first.ndim)
        check_same_place(x, "input", self.call.second, "filters")
        return self._run(self.call_of(x), out)

    def _kernel_for(self, x: Any) -> Kernel | None:
        """Return the kernel for inputs like this one; None if it, or the plan, needs all steps of a call."""
        w = getattr(self.packed, "w", None)
        if w is None or type(x) is not type(w):
            return None
        like, kernel = self._ready
        this = x.shape, x.dtype, in_force()
        if this != like:
            kernel, planned = None, self.call.first
            if (x.shape[1:], x.dtype) == (planned.shape[1:], planned.dtype):
                kernel = self._kernel_of(self.call_of(x))
            self._ready = this, kernel
        return kernel

    def call_of(self, x: np.ndarray) -> Call:
        """Return the call of an input, with the original filters instead of the packed ones.

        Args:
            x: the input, or an array that stands for it by its shape and dtype.

        Returns:
            The call.

        Raises:
            ArgumentError: if shape or dtype are not the planned ones.
        """
        expected, shape = self.call.first, x.shape
        x = array_module(x).moveaxis(x, 1, -1) if self.call.layout[1] == "C" else x
        if x.shape[1:] != expected.shape[1:] or x.dtype != expected.dtype:
            raise ArgumentError(
                f"apart from the batch, input must have the planned shape {list(self._their_shape())} "
                f"and dtype {expected.dtype}; got {list(shape)} {x.dtype}"
            )
        batch = len(x)
        call = replace(self.call, first=x)
        if batch == self.geometry.batch:
            return call
        geometry = replace(self.geometry, batch=batch)
        return replace(call, geometry=geometry, result_shape=(batch, *call.result_shape[1:]))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of filters, inputs and results."""
        return self.call.first.dtype

    @property
    def options(self) -> dict[str, Any]:
        """Backend, algorithm and precision of every call, as an op takes them."""
        return {"backend": self._backend, "algorithm": self.algorithm, "precision": self.precision}

    def _their_shape(self) -> Sequence[int]:
        shape = self.call.first.shape
        return channels_first(shape) if self.call.layout[1] == "C" else shape

    @property
    def _backend(self) -> Any:
        """The backend's name if the table has it; one's own class may have the same name."""
        known = self.name in TABLE and backends.get(self.name) is self.module
        return self.name if known else self.module

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the request: a backend of the table or a module by name, anything else as pickle can."""
        backend, call = self._backend, self.call
        if isinstance(backend, ModuleType):
            backend = backend.__name__
            if sys.modules.get(backend) is not self.module:
                raise TypeError(
                    f"a plan is pickled with its backend's name, and module {brief(backend)} cannot be "
                    "imported"
                )
        empty = replace(call, first=call.first[:0])
        return _planned_again, (empty, call.first.shape, backend, self._asked, self.precision)

    def __copy__(self) -> Plan:
        return self  # as of all that never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Plan:
        return self

    def __repr__(self) -> str:
        algorithm = self.algorithm or "auto"
        return (
            f"<plan of {self.call.op} on {self.name}, algorithm {algorithm}, "
            f"input {list(self._their_shape())}, {size(self.nbytes)} of arranged filter>"
        )


def _planned_again(
    call: Call,
    input_shape: Sequence[int],
    backend: Any,
    algorithm: str | None,
    precision: str | None,
) -> Plan:
    if isinstance(backend, str) and backend not in TABLE:
        backend = import_module(backend)
    return Plan(replace(call, first=_blank(input_shape, call.second)), backend, algorithm, precision)


def plan(
    op: Callable[..., Any],
    filters: ArrayLike,
    *,
    input_shape: ShapeLike,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    **kwargs: Any,
) -> Plan:
    """Return a callable that computes geometry, algorithm and packed filter once.

    Args:
        op: conv2d, depthwise_conv2d, conv2d_transpose, one of another rank, or an input gradient.
        filters: as in the op. The backend may pack a copy of them; do not change them while the plan is in
            use.
        input_shape: the shape of the op's input, in ``data_format`` order. For an input gradient it is the
            shape of conv2d's input, and the plan is called with out_backprop. The batch size of a call may
            differ.
        backend, algorithm, precision: as in the op.
        **kwargs: the op's other arguments.

    Returns:
        A `Plan`: ``plan(x)`` and ``plan(x, out=y)`` return bit-identical results to the op with
        ``algorithm=plan.algorithm``, except the sign and payload of a NaN, which IEEE 754 leaves open: its
        place is the same. The op may choose another algorithm by itself: it prepares the filter in each call,
        which takes longer than it saves if the image is small.

    >>> import numpy as np, teachconv as tc
    >>> w = np.ones((3, 3, 1, 1), "float32")
    >>> planned = tc.plan(tc.conv2d, w, input_shape=(1, 4, 4, 1), padding="SAME")
    >>> planned(np.ones((1, 4, 4, 1), "float32"))[0, :, 0, 0].tolist()
    [4.0, 6.0, 6.0, 4.0]
    """
    if not is_one_of(op, _PLANNED):
        raise ArgumentTypeError(f"op must be one of {nn_ops.listed(_PLANNED)}; got {brief(op)}")
    nn_ops.refuse(kwargs, "plan", out="give it to the plan's calls, plan(x, out=y)")
    w = as_array(filters, "filters", (3, 4, 5))
    shape = normalize_shape(input_shape, "input_shape", rank=w.ndim - 2)
    check_elements(shape, "input_shape")
    if op in nn_ops.FORWARD_OF:
        forward, _ = nn_ops.call_of(nn_ops.FORWARD_OF[op], (_blank(shape, w), w), kwargs)
        call, _ = nn_ops.call_of(op, (shape, w, _blank(forward.result_shape, w)), kwargs)
    else:
        call, _ = nn_ops.call_of(op, (_blank(shape, w), w), kwargs)
    return Plan(call, backend, algorithm, precision)


def _blank(shape: Sequence[int], w: np.ndarray) -> np.ndarray:
    """An array of any shape that takes no memory, of the dtype of w and where w is."""
    xp = array_module(w)
    with on_device_of(w):
        return xp.broadcast_to(xp.zeros((), w.dtype), tuple(shape))
