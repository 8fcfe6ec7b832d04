"""A resolved call on its way to a backend and back: find the backend, check, hand over, restore the layout.

In TensorFlow this is the work of executor and kernel registry. The ops of `nn_ops`, their gradients and
every dialect's calls come through here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from . import backends, record, settings
from .arguments import Shape, axis_order, check_memory
from .backends import Algorithm, result_shape
from .devices import array_module, check_same_place, contiguous, is_on_device
from .errors import ArgumentError, ArgumentTypeError
from .geometry import Conv2DGeometry

__all__ = ["Call", "CellNames", "check_algorithm", "find_backend", "run", "run_canonical"]


class CellNames(Protocol):
    """How a dialect numbers the cells of its own arrays, whatever the canonical layout is.

    ``role`` is "first", "second" or "result": the array of a `Call` that the cell belongs to. A cell
    of the padding has a name too.
    """

    @property
    def has_gaps(self) -> bool:
        """Whether there are canonical cells of the first array that no cell of the dialect's is."""

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a canonical cell as the dialect numbers it; None where no cell of its arrays is."""

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the canonical cell: `name`, read backwards."""

    def layout(self, role: str) -> str:
        """Return the letters of the dialect's axes, such as "NCHW"."""

    def shape(self, role: str) -> Shape:
        """Return the shape of the dialect's array."""


@dataclass(slots=True, eq=False)  # frozen would double the time of a small call
class Call:
    """One call of an op, resolved: what a backend is given, and how its result goes back.

    ``kind`` is the backend function, ``first`` and ``second`` its arrays in canonical layout (NHWC,
    HWIO), ``result_shape`` and ``data_format`` the caller's. ``data_format`` is "HWIO" for a filter
    gradient; a depthwise filter is [filter_rows, filter_cols, in_channels, channel_multiplier].
    ``packed`` is what a plan's backend made of ``second`` to stand for it, or None. A dialect's call has
    its own ``title`` and ``names`` of cells, and may have any order of the four letters as
    ``data_format``.
    """

    op: str
    kind: str
    first: np.ndarray
    second: np.ndarray
    geometry: Conv2DGeometry
    result_shape: Shape
    data_format: str
    bias: np.ndarray | None = None
    packed: Any = None
    title: str = ""
    names: CellNames | None = None

    def restore(self, result: np.ndarray) -> np.ndarray:
        """Turn a canonical result into the caller's layout."""
        order = axis_order(self.data_format)
        if order != _UNCHANGED or not result.flags.c_contiguous:
            result = contiguous(result.transpose(order))
        return result if result.shape == self.result_shape else result.reshape(self.result_shape)

    def canonical(self, result: np.ndarray) -> np.ndarray:
        """Turn an array in the caller's layout into the canonical one: `restore`, read backwards."""
        order, shape = axis_order(self.data_format), self.canonical_shape
        if order == _UNCHANGED:
            return result.reshape(shape)
        return result.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))

    def cells(self, result: np.ndarray) -> np.ndarray:
        """View a result in cell order: NHWC, HWIO; a depthwise filter as the caller has it."""
        return result if axis_order(self.data_format) == _UNCHANGED else self.canonical(result)

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a cell of the first or second array, or of the result, as the caller numbers it."""
        return cell if self.names is None else self.names.name(role, cell)

    def from_cells(self, cells: np.ndarray) -> np.ndarray:
        """View an array in cell order in the caller's layout: `cells`, read backwards."""
        return cells.transpose(axis_order(self.data_format))

    @property
    def terms(self) -> int:
        """How many terms the longest sum of a cell has, the bias counted."""
        g = self.geometry
        taps = g.rows.filter_size * g.cols.filter_size
        if self.kind == "conv2d":
            count = taps * g.filters_shape[2]
        elif self.kind == "conv2d_backprop_input":
            count = taps * g.out_channels // g.groups
        else:
            count = g.batch * g.rows.out_size * g.cols.out_size
        return max(1, count + (self.bias is not None))

    @property
    def canonical_shape(self) -> Shape:
        """Shape of the result in canonical layout."""
        return result_shape(self.kind, self.geometry)


_UNCHANGED = (0, 1, 2, 3)


def run(
    call: Call,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Run a resolved call on a backend and return the result in the caller's layout."""
    if out is None:
        return call.restore(run_canonical(call, backend, algorithm, precision))
    _check_out(out, call)
    if call.op == "depthwise_conv2d_backprop_filter":  # its axes split and join: no view does that
        out[...] = call.restore(run_canonical(call, backend, algorithm, precision))
    else:
        run_canonical(call, backend, algorithm, precision, call.canonical(out))
    return out


def run_canonical(
    call: Call,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
    activation: str | None = None,
) -> np.ndarray:
    """Run a resolved call and return the backend's own result: NHWC, or HWIO for a filter gradient.

    ``activation`` is None or "relu", applied by the backend after the bias; not for a filter gradient.
    """
    with record.stage("dispatch") as stage:
        name, module = find_backend(backend, call.first)
        dtype, shape = call.first.dtype, call.canonical_shape
        try:
            algorithm = _checked(name, module, call.kind, dtype, algorithm, precision, call.geometry)
        except TypeError:  # of something that cannot be hashed: said once more, by name
            check_algorithm(name, module, call.kind, dtype, algorithm, precision)
            raise
        if not is_on_device(call.first):
            check_memory(shape, dtype, "the result")
        stage.know(backend=name, algorithm=algorithm or "auto")
        stage.say("backend {}, function {}, algorithm {}", name, call.kind, algorithm or "auto")
    if call.first.size == 0 or call.second.size == 0 or 0 in shape:
        with record.stage("nothing to sum"):
            xp = array_module(call.first)
            result = xp.zeros(shape, dtype) if out is None else out
            result[...] = 0 if call.bias is None else call.bias
            return xp.maximum(result, 0, out=result) if activation == "relu" else result
    options: dict[str, Any] = {"algorithm": algorithm, "precision": precision, "out": out}
    if call.bias is not None:
        options["bias"] = call.bias
    if activation is not None:
        options["activation"] = activation
    with record.stage(f"{name}.{call.kind}") as stage:
        second = call.second if call.packed is None else call.packed
        result = getattr(module, call.kind)(call.first, second, call.geometry, **options)
        stage.arrays(result=result)
    return result


@lru_cache(maxsize=1024)
def _checked(
    name: str,
    module: ModuleType,
    kind: str,
    dtype: np.dtype[Any],
    algorithm: Any,
    precision: Any,
    geometry: Conv2DGeometry,
) -> str | None:
    """Return the algorithm's name, or None for "auto"; raise where the backend has none for this call."""
    found = check_algorithm(name, module, kind, dtype, algorithm, precision)
    if found is not None and (reason := found.refuses(kind, geometry)):
        raise ArgumentError(f"algorithm {algorithm!r} needs {reason}")
    return None if found is None else found.name


def find_backend(backend: Any = None, array: np.ndarray | None = None) -> tuple[str, ModuleType]:
    """Return name and module: of the backend asked for, else the default that was set, else cython.

    An ``array`` on a GPU selects cupy by itself; with a backend that works on the host it is refused.
    """
    if array is None or not is_on_device(array):
        return _named_backend(backend)
    name, module = _named_backend("cupy" if backend is None else backend)
    if not getattr(module, "TAKES_DEVICE_ARRAYS", False):
        raise ArgumentError(
            f"backend {name!r} works in the memory of the host, and the arrays are on a GPU: use "
            f"backend='cupy', or copy them with cupy.asnumpy"
        )
    return name, module


def _named_backend(backend: Any) -> tuple[str, ModuleType]:
    if backend is None:
        backend = settings.default_backend() or _best_backend()
    if isinstance(backend, str):
        return backend, backends.get(backend)
    missing = [part for part in (*backends.KINDS, "ALGORITHMS") if not hasattr(backend, part)]
    if missing:
        raise ArgumentError(
            f"backend must be one of {', '.join(backends.TABLE)}, or a module with {', '.join(missing)}; "
            f"got {backend!r}"
        )
    return getattr(backend, "__name__", type(backend).__name__), backend


@lru_cache(maxsize=1)
def _best_backend() -> str:
    """cython; numpy where it is not compiled, which is said once."""
    problem = backends.why_not("cython")
    if problem:
        warnings.warn(f"teachconv runs on the numpy backend: {problem}", RuntimeWarning, stacklevel=6)
    return "numpy" if problem else "cython"


def check_algorithm(
    name: str, module: ModuleType, kind: str, dtype: np.dtype[Any], algorithm: Any, precision: Any
) -> Algorithm | None:
    """Return the algorithm if the backend has it for this call, None for "auto"; raise otherwise."""
    algorithms: tuple[Algorithm, ...] = module.ALGORITHMS
    has_tf32 = any(a.precision == "tf32" for a in algorithms)
    if precision not in (None, "strict", "fast") and not (precision == "tf32" and has_tf32):
        hint = ' ("tf32" is for a GPU)' if precision == "tf32" else ""
        legal = 'None, "strict", "fast" or "tf32"' if has_tf32 else 'None, "strict" or "fast"'
        raise ArgumentError(f"precision must be {legal}; got {precision!r}{hint}")
    if algorithm is None or algorithm == "auto":
        fitting = [a for a in algorithms if kind in a.kinds and dtype.name in a.dtypes]
        if not fitting:
            have = ", ".join(backends.dtypes_of(algorithms))
            raise ArgumentTypeError(f"backend {name!r} has no {kind} for {dtype.name}; it has {have}")
        return None
    found = next((a for a in algorithms if a.name == algorithm), None)
    if found is None:
        have = ", ".join(a.name for a in algorithms)
        raise ArgumentError(f"algorithm of backend {name!r} must be one of auto, {have}; got {algorithm!r}")
    if kind not in found.kinds:
        have = ", ".join(a.name for a in algorithms if kind in a.kinds)
        raise ArgumentError(f"algorithm {algorithm!r} has no {kind}; backend {name!r} has {have} for it")
    if dtype.name not in found.dtypes:
        have = ", ".join(found.dtypes)
        raise ArgumentTypeError(f"algorithm {algorithm!r} has no {dtype.name}; it has {have}")
    if precision == "strict" and found.precision != "strict":
        have = ", ".join(a.name for a in algorithms if a.precision == "strict")
        raise ArgumentError(
            f"algorithm {algorithm!r} does not keep the element-wise bound that precision='strict' asks "
            f"for; those that do: {have}"
        )
    return found


def _check_out(out: Any, call: Call) -> None:
    dtype = call.first.dtype
    if is_on_device(call.first):
        if type(out) is not type(call.first):
            raise ArgumentTypeError(f"out must be a CuPy array, as the input; got {type(out).__qualname__}")
        check_same_place(call.first, "input", out, "out")
    elif not isinstance(out, np.ndarray):
        raise ArgumentTypeError(f"out must be a NumPy array; got {type(out).__qualname__}")
    if out.shape != tuple(call.result_shape) or out.dtype != dtype:
        raise ArgumentError(
            f"out must have shape {list(call.result_shape)} and dtype {dtype}; "
            f"got {list(out.shape)} and {out.dtype}"
        )
    if is_on_device(call.first):
        shares = array_module(out).may_share_memory
        if shares(out, call.first) or shares(out, call.second):
            raise ArgumentError("out must not overlap the memory of the inputs, which are still read")
        return
    if not out.flags.writeable:
        raise ArgumentError("out must be writeable; got a read-only array")
    if np.may_share_memory(out, call.first) or np.may_share_memory(out, call.second):
        raise ArgumentError("out must not overlap the memory of the inputs, which are still read")
