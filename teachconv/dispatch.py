"""A resolved call on its way to a backend and back: find the backend, check, hand over, restore the layout.

In TensorFlow this is the work of executor and kernel registry. The ops of `nn_ops`, their gradients and
every dialect's calls come through here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from . import backends, record, settings
from .arguments import Shape, axis_order
from .backends import Algorithm
from .devices import array_module, check_same_place, contiguous, is_on_device, on_device_of
from .errors import ArgumentError, ArgumentTypeError, ContractError, brief, is_one_of, suggestion
from .geometry import Conv2DGeometry
from .kinds import KINDS, LAYOUTS, CellNames, Kind, Op
from .memory import check_memory

__all__ = [
    "Call",
    "candidates",
    "check_algorithm",
    "find_algorithm",
    "find_backend",
    "find_backends",
    "run",
    "run_canonical",
]


@dataclass(slots=True, eq=False)  # frozen would double the time of a small call
class Call:
    """One call of an op, resolved: what a backend is given, and how its result goes back.

    Attributes:
        op: the op, and with it the kind of call: which role each array has.
        first: the backend function's first array, NHWC.
        second: its second array, HWIO for filters, NHWC for a gradient.
        geometry: the convolution as integers.
        result_shape: the shape of the result as the caller has it.
        layout: the letters of the result's axes as the caller has them; "HWIO" for a filter gradient. A
            dialect may have them in any order. A depthwise filter is reshaped to ``result_shape``.
        bias: [out_channels], or None.
        packed: what a plan's backend made of ``second`` to stand for it, or None.
        title: what a dialect calls the op, or "".
        names: how the caller numbers cells, where that is another way than NHWC and HWIO, or None.
    """

    op: Op
    first: np.ndarray = field(repr=False)
    second: np.ndarray = field(repr=False)
    geometry: Conv2DGeometry
    result_shape: Shape
    layout: str
    bias: np.ndarray | None = field(default=None, repr=False)
    packed: Any = field(default=None, repr=False)
    title: str = ""
    names: CellNames | None = None

    @property
    def kind(self) -> Kind:
        """Which of the three arrays is computed: the backend function."""
        return self.op.kind

    @property
    def backend_shape(self) -> Shape:
        """Shape of the result as a backend returns it: NHWC, or HWIO for a filter gradient."""
        return self.geometry.shape_of(self.op.kind.result)

    @property
    def terms(self) -> int:
        """How many terms the longest sum of a cell has, the bias counted."""
        return max(1, self.geometry.terms_of(self.op.kind.result) + (self.bias is not None))

    def with_each(self, function: Callable[[np.ndarray], np.ndarray]) -> Call:
        """Return the call with ``function`` of each of its arrays in the array's place."""
        bias = None if self.bias is None else function(self.bias)
        return replace(self, first=function(self.first), second=function(self.second), bias=bias)

    def to_caller(self, result: np.ndarray) -> np.ndarray:
        """Turn a backend's result into the caller's layout."""
        order = axis_order(self.layout)
        if order != _UNCHANGED or not result.flags.c_contiguous:
            result = contiguous(result.transpose(order))
        return result if result.shape == self.result_shape else result.reshape(self.result_shape)

    def from_caller(self, result: np.ndarray) -> np.ndarray:
        """Turn an array in the caller's layout into a backend's: the inverse of `to_caller`."""
        order, shape = axis_order(self.layout), self.backend_shape
        if order == _UNCHANGED:
            return result.reshape(shape)
        return result.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a cell of the array of one role as the caller numbers it."""
        return cell if self.names is None else self.names.name(role, cell)

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the backend's cell: the inverse of `name`."""
        return cell if self.names is None else self.names.find(role, cell)

    def cells_of(self, role: str) -> tuple[Shape, str]:
        """Return shape and axis letters by which the caller numbers the cells of one role."""
        if self.names is None:
            return self.geometry.shape_of(role), LAYOUTS[role]
        return self.names.shape(role), self.names.layout(role)


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
        return call.to_caller(run_canonical(call, backend, algorithm, precision))
    _check_out(out, call)
    target = call.from_caller(out)
    if array_module(out).may_share_memory(target, out):
        run_canonical(call, backend, algorithm, precision, target)
    else:  # axes that join were not next to each other in memory: no view does that
        out[...] = call.to_caller(run_canonical(call, backend, algorithm, precision))
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
    kind, dtype = call.op.kind, call.first.dtype
    shape = call.geometry.shape_of(kind.result)
    name, module = find_backend(backend, call.first)  # may load the backend, in a stage of its own
    with record.stage("dispatch") as stage:
        algorithm = find_algorithm(name, module, call, algorithm, precision)
        if out is None and not is_on_device(call.first):
            check_memory(shape, dtype, "the result")
        stage.know(
            backend=name,
            algorithm=algorithm or "auto",
            kind=kind.name,
            dtype=dtype.name,
            geometry=call.geometry,
        )
        stage.say("backend {}, function {}, algorithm {}", name, kind, algorithm or "auto")
    if call.first.size == 0 or call.second.size == 0 or 0 in shape:
        with record.stage("nothing to sum"), on_device_of(call.first):
            xp = array_module(call.first)
            result: Any = xp.zeros(shape, dtype) if out is None else out
            result[...] = 0 if call.bias is None else call.bias
            return xp.maximum(result, 0, out=result) if activation == "relu" else result
    options: dict[str, Any] = {"algorithm": algorithm, "precision": precision, "out": out}
    if call.bias is not None:
        options["bias"] = call.bias
    if activation is not None:
        options["activation"] = activation
    with record.stage(f"{name}.{kind.name}") as stage:
        second = call.second if call.packed is None else call.packed
        function = getattr(module, kind.name)
        stage.at(function)
        result = function(call.first, second, call.geometry, **options)
        if getattr(result, "shape", None) != shape or result.dtype != dtype:
            message = f"{name}.{kind} returned {_text(result)}, not {list(shape)} {dtype}"
            raise ContractError(message, result)
        if out is not None and result is not out and not array_module(out).may_share_memory(result, out):
            raise ContractError(f"{name}.{kind} returned an array of its own and ignored out=", result)
        stage.arrays(result=result)
    return result


def _text(result: Any) -> str:
    """Shape and dtype of an array, the type of anything else."""
    return f"{list(result.shape)} {result.dtype}" if hasattr(result, "dtype") else type(result).__name__


def find_algorithm(
    name: str, module: ModuleType, call: Call, algorithm: Any, precision: Any = None
) -> str | None:
    """Return the algorithm that was asked for, or None for "auto".

    Args:
        name: the backend's name, for messages.
        module: the backend.
        call: what it is to compute.
        algorithm: a name, None or "auto".
        precision: None, "strict", "fast" or "tf32".

    Raises:
        ValueError, TypeError: if the backend has no such algorithm, or none for this call; the message
            says which it has.
    """
    if _seen.get(module) is not module.ALGORITHMS:  # a new backend, or one that was reloaded
        _checked.cache_clear()
        _seen[module] = module.ALGORITHMS
    kind, dtype = call.op.kind, call.first.dtype
    try:
        return _checked(name, module, kind, dtype, algorithm, precision, call.geometry)
    except TypeError:  # if something cannot be hashed, the check names it
        check_algorithm(name, module, kind, dtype, algorithm, precision)
        raise


_seen: dict[ModuleType, tuple[Algorithm, ...]] = {}  # of each backend the algorithms that were looked at


@lru_cache(maxsize=1024)
def _checked(
    name: str,
    module: ModuleType,
    kind: Kind,
    dtype: np.dtype[Any],
    algorithm: Any,
    precision: Any,
    geometry: Conv2DGeometry,
) -> str | None:
    """Return the algorithm's name, or None for "auto"; raise where the backend has none for this call."""
    found = check_algorithm(name, module, kind, dtype, algorithm, precision)
    if found is not None and (reason := found.refuses(kind, geometry)):
        raise ArgumentError(f"algorithm {brief(algorithm)} needs {reason}")
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
            f"backend {brief(name)} works in the memory of the host, and the arrays are on a GPU: use "
            f"backend='cupy', or copy them with cupy.asnumpy"
        )
    return name, module


def find_backends(wanted: Any = None, array: np.ndarray | None = None) -> list[tuple[str, ModuleType]]:
    """Return name and module of each backend, or of the one; None for all that can run, the reference aside.

    For an ``array`` on a GPU these are cupy alone.
    """
    if wanted is None:
        others = [name for name in backends.TABLE if name != "reference"]
        on_device = array is not None and is_on_device(array)
        wanted = ["cupy"] if on_device else [name for name in others if not backends.why_not(name)]
    elif isinstance(wanted, str) or hasattr(wanted, "ALGORITHMS") or not isinstance(wanted, Iterable):
        wanted = [wanted]  # a module, a class or an instance
    return [find_backend(backend, array) for backend in wanted]


def candidates(
    found: Sequence[tuple[str, ModuleType]], call: Call, algorithm: Any = None, precision: Any = None
) -> list[tuple[str, ModuleType, Algorithm]]:
    """Return every algorithm of the backends that fits the call, and that the two options leave.

    Raises ``ValueError`` or ``TypeError``, as the op does, for an algorithm that no backend has for the call.
    """
    names = dict.fromkeys(one.name for _, module in found for one in module.ALGORITHMS)
    named = None if is_one_of(algorithm, ("auto",)) else algorithm
    if not found:
        return []
    if named is not None and not is_one_of(named, names):
        near = suggestion(named, names)
        raise ArgumentError(
            f"algorithm must be one of auto, {', '.join(names)}; got {brief(algorithm)}{near}"
        )
    _check_precision([one for _, module in found for one in module.ALGORITHMS], precision)
    fitting = [
        (name, module, one)
        for name, module in found
        for one in module.ALGORITHMS
        if named in (None, one.name)
        and (precision != "strict" or one.precision == "strict")
        and (precision != "tf32" or _has_tf32(module.ALGORITHMS))
        and one.fits(call.kind, call.first.dtype.name, call.geometry)
        and not _lacks(module, one, call)
    ]
    if named is not None and not fitting:
        name, module = next(pair for pair in found if any(one.name == named for one in pair[1].ALGORITHMS))
        find_algorithm(name, module, call, named, precision)  # raises, and says why
    return fitting


def _lacks(module: ModuleType, algorithm: Algorithm, call: Call) -> str:
    """Return what this machine's device lacks for an algorithm, if the backend knows, or ""."""
    lacks = getattr(module, "lacks", None)
    return lacks(algorithm.name, call.first.dtype.name, call.first) if lacks else ""


def _named_backend(backend: Any) -> tuple[str, ModuleType]:
    if backend is None:
        backend = settings.default_backend() or _best_backend()
    if isinstance(backend, str):
        return backend, backends.get(backend)
    missing = [part for part in (*map(str, KINDS), "ALGORITHMS") if not hasattr(backend, part)]
    if missing:
        raise ArgumentError(
            f"backend must be one of {', '.join(backends.TABLE)}, or a module with {', '.join(missing)}; "
            f"got {brief(backend)}"
        )
    name = getattr(backend, "__name__", type(backend).__name__)
    if type(backend).__hash__ is None:  # what was found for it is kept
        kind = type(backend).__name__
        raise ArgumentTypeError(f"a backend must be hashable, such as a module or a class; {kind} is not")
    if _seen.get(backend, backend) is not backend.ALGORITHMS:
        _check_algorithms(name, backend.ALGORITHMS)
    return name, backend


def _check_algorithms(name: str, algorithms: Any) -> None:
    legal = f"ALGORITHMS of backend {brief(name)} must be a tuple of teachconv.backends.Algorithm"
    if not isinstance(algorithms, (tuple, list)):
        raise ArgumentTypeError(f"{legal}; got {brief(algorithms)}")
    for one in algorithms:
        if not isinstance(one, Algorithm):
            raise ArgumentTypeError(f"{legal}; got {brief(one)} in it")
    if not algorithms:
        raise ArgumentError(f"{legal}, at least one; it is empty")


@lru_cache(maxsize=1)
def _best_backend() -> str:
    """cython; numpy where it is not compiled, which is said once."""
    problem = backends.why_not("cython")
    if problem:
        warnings.warn(f"teachconv runs on the numpy backend: {problem}", RuntimeWarning, stacklevel=6)
    return "numpy" if problem else "cython"


def check_algorithm(
    name: str, module: ModuleType, kind: Kind, dtype: np.dtype[Any], algorithm: Any, precision: Any
) -> Algorithm | None:
    """Return the algorithm if the backend has it for this call, None for "auto"; raise otherwise."""
    algorithms: tuple[Algorithm, ...] = module.ALGORITHMS
    _check_precision(algorithms, precision)
    if is_one_of(algorithm, (None, "auto")):
        fitting = [a for a in algorithms if kind in a.kinds and dtype.name in a.dtypes]
        if not fitting:
            have = ", ".join(backends.dtypes_of(algorithms))
            raise ArgumentTypeError(f"backend {brief(name)} has no {kind} for {dtype.name}; it has {have}")
        return None
    found = next((a for a in algorithms if is_one_of(algorithm, (a.name,))), None)
    if found is None:
        have = ", ".join(a.name for a in algorithms)
        near = suggestion(algorithm, [a.name for a in algorithms])
        raise ArgumentError(
            f"algorithm of backend {brief(name)} must be one of auto, {have}; got {brief(algorithm)}{near}"
        )
    if kind not in found.kinds:
        have = ", ".join(a.name for a in algorithms if kind in a.kinds)
        raise ArgumentError(
            f"algorithm {brief(algorithm)} has no {kind}; backend {brief(name)} has {have} for it"
        )
    if dtype.name not in found.dtypes:
        have = ", ".join(found.dtypes)
        raise ArgumentTypeError(f"algorithm {brief(algorithm)} has no {dtype.name}; it has {have}")
    if precision == "strict" and found.precision != "strict":
        have = ", ".join(a.name for a in algorithms if a.precision == "strict")
        raise ArgumentError(
            f"algorithm {brief(algorithm)} does not keep the element-wise bound that precision='strict' asks "
            f"for; those that do: {have}"
        )
    return found


def _has_tf32(algorithms: Iterable[Algorithm]) -> bool:
    return any(a.precision == "tf32" for a in algorithms)


def _check_precision(algorithms: Sequence[Algorithm], precision: Any) -> None:
    has_tf32 = _has_tf32(algorithms)
    known = (None, "strict", "fast", *["tf32"] * has_tf32)
    if not is_one_of(precision, known):
        is_tf32 = is_one_of(precision, ("tf32",))
        hint = ' ("tf32" is for a GPU)' if is_tf32 else suggestion(precision, ("strict", "fast"))
        legal = 'None, "strict", "fast" or "tf32"' if has_tf32 else 'None, "strict" or "fast"'
        raise ArgumentError(f"precision must be {legal}; got {brief(precision)}{hint}")


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
    if not is_on_device(call.first) and not out.flags.writeable:
        raise ArgumentError("out must be writeable; got a read-only array")
    shares = array_module(out).may_share_memory
    if shares(out, call.first) or shares(out, call.second):
        raise ArgumentError("out must not overlap the memory of the inputs, which are still read")
    if call.bias is not None and shares(out, call.bias):
        raise ArgumentError("out must not overlap the memory of bias, which is still read")
