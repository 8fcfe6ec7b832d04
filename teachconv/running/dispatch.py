"""How a call runs: resolve it, find its backend and algorithm, run it, restore the layout.

A *prepared call* is what this comes to before the arrays are known. The ops keep theirs, so that the next
call like it starts at its kernel; a plan is one that has its filters; the calls of every dialect are prepared
and run at once. In TensorFlow this is the work of executor and kernel registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from math import inf
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from .. import backends
from ..backends import Algorithm, ranks_of
from ..core.arguments import as_array, listed, shape_only
from ..core.calls import Call, arranged, checked_bias, resolve
from ..core.kinds import KINDS, Kind, Op
from ..support import record
from ..support.devices import array_module, check_same_place, is_native, is_on_device, on_device_of
from ..support.errors import (
    ArgumentError,
    ArgumentTypeError,
    ContractError,
    brief,
    check_word,
    is_one_of,
    suggestion,
    warn,
)
from ..support.memory import check_memory
from ..support.tables import count, duration
from .default_backend import default_algorithm, default_backend, in_force

# ---------------------------------------------------------------------------------------------
# Running a call: reuse its prepared call, or build it; then run it
# ---------------------------------------------------------------------------------------------


def compute(
    op: Op,
    first: Any,
    second: Any,
    arguments: tuple[Any, ...],
    options: tuple[Any, ...],
    bias: Any = None,
    out: np.ndarray | None = None,
    activation: str | None = None,
) -> np.ndarray:
    """Run a call of an op: by the call prepared for an earlier one, or by one prepared now.

    An earlier call serves if shapes, dtypes, arguments and settings are the same.

    Args:
        op: the op.
        first: the first array of the backend's function, as the caller gave it.
        second: the second.
        arguments: the op's other arguments, in the order in which `resolve` takes them.
        options: backend, algorithm and precision, as the caller gave them.
        bias: the bias, or None.
        out: the array for the result, or None.
        activation: None or "relu", applied by the backend after the bias.

    Returns:
        The result in the caller's layout.
    """
    kept, traced = _kept(op, first, second, arguments, options), record.is_on()
    ready = kept[0] if kept and not traced else None
    call = None
    if ready is None or getattr(ready.module, op.kind.name) is not ready.function:
        call = resolve(op, first, second, bias, *arguments)
        ready = PreparedCall(call, *options)
        if kept is not None:
            as_given = first.dtype == second.dtype == call.first.dtype
            kept[:] = [ready._keep(data_format=arguments[2], as_given=as_given)]
    if ready.kernel is not None and bias is None and out is None and activation is None:
        if traced:
            tell_of_kernel()
        elif (result := ready.kernel(first, second)) is not None:
            return result
    return ready._run(ready._with_arrays(first, second, bias) if call is None else call, out, activation)


@lru_cache(maxsize=256)  # prepared calls that are kept; the least recently used goes first
def _places(*key: Any) -> list[PreparedCall]:
    """Return where the prepared call of a key is kept: in a list, which is empty at first."""
    return []


def _kept(
    op: Op, first: Any, second: Any, arguments: tuple[Any, ...], options: tuple[Any, ...]
) -> list[PreparedCall] | None:
    """Return the place of calls with the same shapes, dtypes, arguments and settings.

    TensorFlow: the kernel cache of common_runtime/eager/execute.cc.

    Returns:
        The place; None for arrays that are not plain ones of NumPy or CuPy, and arguments of unusual types.
    """
    settled = *arguments, *options
    if type(first) is not np.ndarray or type(second) is not np.ndarray:
        if not (is_native(first) and is_native(second)):
            return None
        settled += first.device.id, second.device.id
    try:
        if not _SCALARS.issuperset(map(type, settled)):
            settled = _plain(settled)
        return _places(op, first.shape, first.dtype, second.shape, second.dtype, settled, in_force())
    except (TypeError, RecursionError):  # no key
        return None


_SCALARS = frozenset({int, str, type(None)})


def _plain(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return arguments as a key, equal only for the same meaning: True and 1.0 equal 1, but are refused."""
    return tuple(value if type(value) in _SCALARS else _plain(_sequence(value)) for value in values)


def _sequence(value: Any) -> Any:
    if type(value) is tuple or type(value) is list:
        return value
    raise TypeError


Kernel: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray | None]  # None: take all steps


class PreparedCall:
    """A call with everything decided but its arrays: geometry, backend and algorithm, and perhaps the kernel.

    It is made from one call; what is kept of that are shapes and dtypes.

    Attributes:
        call: the call; its arrays may be others of the same shapes and dtype that take no memory.
        name: the backend's name.
        module: the backend.
        function: its function of this kind of call.
        algorithm: the algorithm that was asked for; None leaves the choice to the backend.
        precision: the precision that was asked for.
        packed: what the backend made of the filters to stand for them, or None.
        kernel: computes the result of two arrays as the caller has them, with the bits of all steps, except
            the sign and payload of a NaN; it returns None for arrays that need more steps. None if there is
            none.
    """

    def __init__(
        self, call: Call, backend: Any = None, algorithm: str | None = None, precision: str | None = None
    ) -> None:
        """Find the backend and the algorithm of a call."""
        # may load the backend, in a stage of its own
        self.name, self.module = find_backend(backend, call.first)
        algorithm = default_algorithm(self.name) if algorithm is None else algorithm
        with record.stage("dispatch") as stage:
            self.algorithm = find_algorithm(self.name, self.module, call, algorithm, precision)
            stage.know(
                backend=self.name,
                algorithm=self.algorithm or "auto",
                kind=call.op.kind.name,
                dtype=call.first.dtype.name,
                geometry=call.geometry,
            )
            stage.say(
                "backend {}, function {}, algorithm {}", self.name, call.op.kind, self.algorithm or "auto"
            )
        self.call, self.precision = call, precision
        self.function = getattr(self.module, call.op.kind.name)
        self.on_host = isinstance(call.first, np.ndarray)
        self.packed: Any = None
        self.kernel: Kernel | None = None
        self._data_format: str | None = None
        self._as_given = False

    def _keep(self, *, data_format: str | None, as_given: bool) -> PreparedCall:
        """Return the prepared call to keep: without arrays, and with the kernel if there is one.

        Args:
            data_format: the layout of the caller's activations, as the caller gave it.
            as_given: whether the call's arrays are the caller's, apart from their layout.
        """
        call, self._data_format = replace(self.call, bias=None), data_format
        self._as_given = as_given and (data_format is None or data_format[-1] == "C")
        if self._as_given:
            with suppress(MemoryError):  # too large for a kernel: a call says so, unless it is given ``out``
                self.kernel = self._kernel_of(call)
        first, second = call.first, call.second
        self.call = replace(
            call,
            first=shape_only(first.shape, first.dtype),
            second=shape_only(second.shape, second.dtype),
        )
        return self

    def _with_arrays(self, first: np.ndarray, second: np.ndarray, bias: Any) -> Call:
        """Return the call of other arrays of the same shapes and dtypes."""
        op = self.call.op
        if self._as_given:  # as the first call's arrays, but where they lie in memory
            first = as_array(first, op.words[op.kind.first], None)
            second = as_array(second, op.words[op.kind.second], None)
        else:
            _, first, second = arranged(op, self._data_format, first, second)
        call = replace(self.call, first=first, second=second.reshape(self.call.second.shape))
        if bias is not None:
            call.bias = checked_bias(bias, call)
        return call

    def _kernel_of(self, call: Call) -> Kernel | None:
        """Return the backend's kernel for calls like this one; None if there is none that takes them.

        Only the backends of the table are asked: what another backend returns is checked at every call.
        """
        make = getattr(self.module, "prepare_kernel", None)
        if make is None or call.layout not in ("NHWC", "HWIO") or not backends.is_own(self.module):
            return None
        if 0 in call.first.shape or 0 in call.second.shape or 0 in call.backend_shape:
            return None
        if self.on_host == getattr(self.module, "TAKES_DEVICE_ARRAYS", False):  # they are copied first
            return None
        if self.function.__module__ != self.module.__name__:  # somebody put another there to see it called
            return None
        kernel: Kernel | None = make(
            call.kind,
            call.geometry,
            call.first.dtype,
            call.result_shape,
            algorithm=self.algorithm,
            precision=self.precision,
            packed=self.packed,
            bias=call.bias,
        )
        return kernel

    def _run(self, call: Call, out: np.ndarray | None = None, activation: str | None = None) -> np.ndarray:
        """Run a call like the prepared one and return the result in the caller's layout."""
        if out is None:
            return call.to_caller(self._run_canonical(call, None, activation))
        _check_out(out, call)
        with on_device_of(out):
            target = call.from_caller(out)
            if array_module(out).may_share_memory(target, out):
                self._run_canonical(call, target, activation)
            else:  # axes that join were not next to each other in memory: no view does that
                out[...] = call.to_caller(self._run_canonical(call, None, activation))
        return out

    def _run_canonical(
        self, call: Call, out: np.ndarray | None = None, activation: str | None = None
    ) -> np.ndarray:
        """Run a call like the prepared one and return the backend's own result, with channels last.

        ``activation`` is None or "relu", applied by the backend after the bias; not for a filter gradient.
        """
        kind, dtype = call.op.kind, call.first.dtype
        shape = call.geometry.shape_of(kind.result)
        if out is None and self.on_host:
            check_memory(shape, dtype, "the result")
        nothing = call.first.size == 0 or call.second.size == 0 or 0 in shape
        if nothing and not getattr(self.module, "TAKES_EMPTY_ARRAYS", False):
            with record.stage("nothing to sum"), on_device_of(call.first):
                xp = array_module(call.first)
                result: Any = xp.zeros(shape, dtype) if out is None else out
                result[...] = 0 if call.bias is None else call.bias
                return xp.maximum(result, 0, out=result) if activation == "relu" else result
        algorithm = None if self.packed is not None else self.algorithm  # packed filters know theirs
        options: dict[str, Any] = {"algorithm": algorithm, "precision": self.precision, "out": out}
        if call.bias is not None:
            options["bias"] = call.bias
        if activation is not None:
            options["activation"] = activation
        with record.stage(f"{self.name}.{kind.name}") as stage:
            second = call.second if self.packed is None else self.packed
            stage.at(self.function)
            result = self.function(call.first, second, call.geometry, **options)
            if getattr(result, "shape", None) != shape or result.dtype != dtype:
                message = f"{self.name}.{kind} returned {_text(result)}, not {list(shape)} {dtype}"
                raise ContractError(message, result)
            if out is not None and result is not out and not array_module(out).may_share_memory(result, out):
                message = f"{self.name}.{kind} returned an array of its own and ignored out="
                raise ContractError(message, result)
            stage.arrays(result=result)
        return result


def tell_of_kernel() -> None:
    """Record that an untraced call would go straight to its kernel from here."""
    with record.stage("prepared call") as stage:
        stage.say("an untraced call goes on at the kernel from here; a trace takes the steps between")


def _text(result: Any) -> str:
    """Shape and dtype of an array, the type of anything else."""
    return f"{list(result.shape)} {result.dtype}" if hasattr(result, "dtype") else type(result).__name__


def run(
    call: Call,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Run a resolved call on a backend and return the result in the caller's layout."""
    return PreparedCall(call, backend, algorithm, precision)._run(call, out)


def run_canonical(
    call: Call,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
    activation: str | None = None,
) -> np.ndarray:
    """Run a resolved call and return the backend's own result, with channels last."""
    return PreparedCall(call, backend, algorithm, precision)._run_canonical(call, out, activation)


# ---------------------------------------------------------------------------------------------
# The backend and its algorithm
# ---------------------------------------------------------------------------------------------


def find_algorithm(
    name: str, module: ModuleType, call: Call, algorithm: Any, precision: Any = None
) -> str | None:
    """Return the requested algorithm, or None for "auto".

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
    kind, geometry = call.op.kind, call.geometry
    named = check_algorithm(name, module, kind, call.first.dtype, algorithm, precision)
    ranks = (named and named.ranks) or ranks_of(module)
    if geometry.rank not in ranks:
        others = [other for other in backends.TABLE if not backends.why_not(other)]
        have = ", ".join(other for other in others if geometry.rank in ranks_of(backends.get(other)))
        who = f"algorithm {brief(algorithm)}" if named and named.ranks else f"backend {brief(name)}"
        axes = "axis" if tuple(ranks) == (1,) else "axes"
        raise ArgumentError(
            f"{who} has kernels for {listed(ranks, 'or')} {axes}; got a convolution over "
            f"{count(geometry.rank, 'axis', 'axes')}, which {have} can compute"
        )
    if named is not None and (reason := named.refuses(kind, geometry)):
        raise ArgumentError(f"algorithm {brief(algorithm)} needs {reason}")
    return None if named is None else named.name


def find_backend(backend: Any = None, array: np.ndarray | None = None) -> tuple[str, ModuleType]:
    """Return name and module of the requested backend, else of the user's default, else of the library's.

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
    """Return name and module of each requested backend; None means all that can run, except the reference.

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
    backends: Sequence[tuple[str, ModuleType]],
    call: Call,
    algorithm: Any = None,
    precision: Any = None,
    within: float = inf,
) -> list[tuple[str, ModuleType, Algorithm]]:
    """Return every algorithm of the backends that fits the call and that both options allow.

    Those of which the backend expects that they take more than ``within`` seconds are left out.

    Raises ``ValueError`` or ``TypeError``, as the op does, for an algorithm that no backend has for the call.
    """
    names = dict.fromkeys(one.name for _, module in backends for one in module.ALGORITHMS)
    named = None if is_one_of(algorithm, ("auto",)) else algorithm
    if not backends:
        return []
    check_word("auto" if named is None else named, "algorithm", ["auto", *names])
    _check_precision([one for _, module in backends for one in module.ALGORITHMS], precision)
    fitting = [
        (name, module, one.for_call(call.kind, call.first.dtype.name, call.geometry, precision))
        for name, module in backends
        for one in module.ALGORITHMS
        if named in (None, one.name)
        and (precision != "strict" or one.precision == "strict")
        and (precision != "tf32" or _has_tf32(module.ALGORITHMS))
        and call.geometry.rank in ranks_of(module)
        and one.fits(call.kind, call.first.dtype.name, call.geometry)
        and hasattr(module, call.kind.name)
        and not _lacks(module, one, call, within)
    ]
    if named is not None and not fitting:
        name, module = next(pair for pair in backends if any(one.name == named for one in pair[1].ALGORITHMS))
        find_algorithm(name, module, call, named, precision)  # raises, and says why
    return fitting


def left_out(
    module: ModuleType, call: Call, named: str | None, within: float = inf
) -> Iterator[tuple[str, str]]:
    """Yield the algorithms of a backend that fit a call and not this machine or time, with the reason."""
    for one in module.ALGORITHMS:
        fits = one.fits(call.kind, call.first.dtype.name, call.geometry)
        if fits and named in (None, "auto", one.name) and (reason := _lacks(module, one, call, within)):
            yield one.name, reason


def _lacks(module: ModuleType, algorithm: Algorithm, call: Call, within: float) -> str:
    """Return what an algorithm lacks, if the backend knows: time, or something of the device; or ""."""
    expected = getattr(module, "expected_seconds", None) if within < inf else None
    seconds = expected(call.kind, call.geometry).get(algorithm.name, 0.0) if expected else 0.0
    if seconds > within:
        return (
            f"it would take more than {duration(within)}: about {duration(seconds)}; "
            f"algorithm={brief(algorithm.name)} runs it"
        )
    lacks = getattr(module, "lacks", None)
    return lacks(algorithm.name, call.first.dtype.name, call.first) if lacks else ""


def _named_backend(backend: Any) -> tuple[str, ModuleType]:
    called = "backend"
    if backend is None:  # set_backend and use_backend have checked theirs, so what is wrong is the variable's
        backend, called = default_backend(), "TEACHCONV_BACKEND"
    if backend is None:
        backend = _best_backend()
    if isinstance(backend, str):
        return backend, backends.get(backend, called)
    there = [name for name in map(str, KINDS) if callable(getattr(backend, name, None))]
    if not there or not hasattr(backend, "ALGORITHMS"):
        lacks = "a tuple ALGORITHMS" if there else f"{listed(KINDS, 'or')}, and a tuple ALGORITHMS"
        raise ArgumentError(
            f"backend must be one of {', '.join(backends.TABLE)}, or a module with {lacks} "
            f"(teachconv.testing.kernel makes one of a plain function); got {brief(backend)}"
        )
    name = getattr(backend, "__name__", type(backend).__name__)
    if type(backend).__hash__ is None:  # what was found for it is kept
        kind = type(backend).__name__
        raise ArgumentTypeError(f"a backend must be hashable, such as a module or a class; {kind} is not")
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
    """cython; or numpy if it is not compiled, with a warning once, unless the wheel is pure on purpose."""
    problem = backends.why_not("cython")
    if problem and not import_module(backends.TABLE["cython"]).left_out():
        silent = "tc.set_backend('numpy') chooses it without this warning"
        warn(f"teachconv runs on the numpy backend: {problem}; {silent}", RuntimeWarning)
    return "numpy" if problem else "cython"


def check_algorithm(
    name: str, module: ModuleType, kind: Kind, dtype: np.dtype[Any], algorithm: Any, precision: Any
) -> Algorithm | None:
    """Return the algorithm if the backend has it for this call, None for "auto"; else raise."""
    algorithms: tuple[Algorithm, ...] = module.ALGORITHMS
    if not hasattr(module, kind.name):
        raise ArgumentError(f"backend {brief(name)} has no {kind}")
    _check_precision(algorithms, precision)
    if is_one_of(algorithm, (None, "auto")):
        word = dtype.name  # NumPy builds the text on every access
        if not any(kind in a.kinds and word in a.dtypes for a in algorithms):
            have = ", ".join(backends.dtypes_of(algorithms))
            raise ArgumentTypeError(f"backend {brief(name)} has no {kind} for {word}; it has {have}")
        return None
    check_word(algorithm, f"algorithm of backend {brief(name)}", ["auto", *(a.name for a in algorithms)])
    known = next(a for a in algorithms if a.name == algorithm)
    if kind not in known.kinds:
        have = ", ".join(a.name for a in algorithms if kind in a.kinds)
        raise ArgumentError(
            f"algorithm {brief(algorithm)} has no {kind}; backend {brief(name)} has {have} for it"
        )
    if dtype.name not in known.dtypes:
        have = ", ".join(known.dtypes)
        raise ArgumentTypeError(f"algorithm {brief(algorithm)} has no {dtype.name}; it has {have}")
    if precision == "strict" and known.precision != "strict":
        have = ", ".join(a.name for a in algorithms if a.precision == "strict")
        raise ArgumentError(
            f"algorithm {brief(algorithm)} does not keep the element-wise bound that precision='strict' asks "
            f"for; those that do: {have}"
        )
    return known


def _has_tf32(algorithms: Iterable[Algorithm]) -> bool:
    return any(a.precision == "tf32" for a in algorithms)


def _check_precision(algorithms: Sequence[Algorithm], precision: Any) -> None:
    if is_one_of(precision, (None, "strict", "fast")):
        return
    has_tf32, is_tf32 = _has_tf32(algorithms), is_one_of(precision, ("tf32",))
    if not (has_tf32 and is_tf32):
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
