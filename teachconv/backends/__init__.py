"""The contract of a backend, the table of backends, and which of them can run here.

A backend is one module with three functions on canonical arrays and a tuple `ALGORITHMS`::

    def conv2d(x, w, geometry, *, algorithm, precision, bias=None, activation=None, out=None): ...
    def conv2d_backprop_input(dy, w, geometry, *, algorithm, precision, bias=None, activation=None,
                              out=None): ...
    def conv2d_backprop_filter(x, dy, geometry, *, algorithm, precision, out=None): ...

x is [batch, in_rows, in_cols, in_channels], w [filter_rows, filter_cols, in_channels / groups,
out_channels], dy [batch, out_rows, out_cols, out_channels]; ``geometry`` is a `Conv2DGeometry`, whose
integers say everything else. Arrays may have any strides and are never empty; both have the result's
dtype. ``algorithm`` is a name from `ALGORITHMS` that fits the call, or None: the backend chooses.
``precision`` is None, "strict", "fast", or "tf32" where an algorithm has that; ``activation`` None or "relu".
Each returns a new array, or ``out``. conv2d_transpose *is* conv2d_backprop_input; depthwise is groups =
in_channels. A module with ``TAKES_DEVICE_ARRAYS = True`` is given CuPy arrays, too.

A new backend is one file and one line in `TABLE`; `teachconv.check_backend(module)` runs the common
cases on it before that line is there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .. import record
from ..arguments import check_memory
from ..dtypes import FLOATS, INTEGERS, accumulator, is_integer
from ..errors import ArgumentError, BackendUnavailable
from ..geometry import Conv2DGeometry
from ..kinds import KINDS, Kind, kind_of
from ..taps import window

__all__ = ["TABLE", "Algorithm", "BackendInfo", "get", "report", "why_not"]

# overflow to infinity, and NaN from infinities, are what IEEE says: nothing to warn about
QUIET = np.errstate(all="ignore")

TABLE = {
    "reference": "teachconv.backends.reference",
    "numpy": "teachconv.backends.numpy_backend",
    "scipy": "teachconv.backends.scipy_backend",
    "cython": "teachconv.backends.cython_backend",
    "cupy": "teachconv.backends.cupy_backend",
}


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What one algorithm of a backend can do.

    ``precision`` says under which ``precision=`` it may be chosen: "strict" keeps the element-wise
    bound of `bounds.direct`, "default" the weaker one of section "accuracy", "fast" and "tf32" have to be
    asked for. ``error`` names the bound in `bounds` that judges it. ``refuses`` says what an algorithm
    needs that a convolution does not have, or "": asked for by name it is refused with that, and it is
    never chosen.
    """

    name: str
    summary: str
    kinds: tuple[Kind, ...] = KINDS
    dtypes: tuple[str, ...] = FLOATS + INTEGERS
    precision: str = "strict"
    error: str = "direct"
    refuses: Callable[[Kind, Conv2DGeometry], str] = lambda kind, geometry: ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(map(kind_of, self.kinds)))  # names will do, too

    def fits(self, kind: Kind, dtype: str, geometry: Conv2DGeometry) -> bool:
        """Whether it can do this kind of call on this dtype and this convolution."""
        return kind_of(kind) in self.kinds and dtype in self.dtypes and not self.refuses(kind, geometry)


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """One line of `teachconv.backends()`: is it there, or why not, and what can it do."""

    name: str
    available: bool
    why_not: str
    dtypes: tuple[str, ...]
    algorithms: tuple[Algorithm, ...]


class BackendReport(list[BackendInfo]):
    """What `teachconv.backends()` returns: a list that prints as a table."""

    def _cells(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                info.name,
                "yes" if info.available else "no",
                ", ".join(info.dtypes) or info.why_not,
                ", ".join(algorithm.name for algorithm in info.algorithms),
            )
            for info in self
        ]

    def __str__(self) -> str:
        rows = [("backend", "available", "dtypes, or why not", "algorithms"), *self._cells()]
        widths = [max(len(row[i]) for row in rows if row[3]) for i in range(4)]  # reasons run on to the right
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>" for name in ("backend", "available", "dtypes, or why not", "algorithms")
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells()
        )
        return f"<table><tr>{head}</tr>{body}</table>"


def report() -> BackendReport:
    """Return what each backend in the table can do here; ``teachconv.backends()`` calls this.

    >>> import teachconv as tc
    >>> [info.name for info in tc.backends()]
    ['reference', 'numpy', 'scipy', 'cython', 'cupy']
    """
    infos = []
    for name in TABLE:
        problem = why_not(name)
        algorithms = () if problem else import_module(TABLE[name]).ALGORITHMS
        infos.append(BackendInfo(name, not problem, problem, dtypes_of(algorithms), algorithms))
    return BackendReport(infos)


def dtypes_of(algorithms: Sequence[Algorithm]) -> tuple[str, ...]:
    """Return the dtypes that at least one of the algorithms takes, in the order of the contract."""
    return tuple(d for d in FLOATS + INTEGERS if any(d in a.dtypes for a in algorithms))


def why_not(name: str) -> str:
    """Return why a backend of the table cannot run here, or "" if it can."""
    try:
        module = import_module(TABLE[name])
    except ImportError as error:
        return f"{error} (pip install {error.name or 'teachconv'})"
    unavailable: Callable[[], str] = getattr(module, "unavailable", lambda: "")
    return unavailable()


_ready: dict[str, ModuleType] = {}  # what was found to run, so that a call does not look again


def get(name: Any) -> ModuleType:
    """Return the module of a backend by its name, or raise and say what is missing."""
    if isinstance(name, str) and name in _ready:
        return _ready[name]
    if not isinstance(name, str) or name not in TABLE:
        raise ArgumentError(f"backend must be one of {', '.join(TABLE)}; got {name!r}")
    with record.stage("load backend") as stage:
        stage.say("the first use of {} in this process imports {}", name, TABLE[name])
        problem = why_not(name)
        if problem:
            raise BackendUnavailable(f"backend {name!r} cannot run here: {problem}")
        _ready[name] = import_module(TABLE[name])
    return _ready[name]


# ---------------------------------------------------------------------------------------------
# What backends share: types, the epilogue, and refusing what cannot fit into memory
# ---------------------------------------------------------------------------------------------


def to_accumulator(array: np.ndarray) -> np.ndarray:
    """Return the array in the type that sums are held in.

    float16 and bfloat16 are widened to float32. Integers are viewed as unsigned, whose arithmetic
    wraps around by definition; the bits are the same, and signed overflow is undefined in C.
    """
    if is_integer(array.dtype):
        return array.view(array.dtype.str.replace("i", "u"))
    wide = accumulator(array.dtype)
    return array if wide is array.dtype else array.astype(wide, copy=False)


def pad(x: np.ndarray, geometry: Conv2DGeometry) -> np.ndarray:
    """Return the part of the zero-extended images that the taps touch; negative padding crops.

    ``x`` is [batch, in_rows, in_cols, in_channels]. Cell 0 of the result is in_index -pad_before, its
    length is what all taps of all outputs span: there may be more of it, or less, than pad_after says.
    """
    rows, cols = window(geometry.rows), window(geometry.cols)
    if rows.inside == slice(0, rows.size) and cols.inside == slice(0, cols.size):
        return x[:, rows.source, cols.source]
    shape = (len(x), rows.size, cols.size, x.shape[3])
    check_memory(shape, x.dtype, "the padded input")
    padded = np.zeros(shape, x.dtype)
    padded[:, rows.inside, cols.inside] = x[:, rows.source, cols.source]
    return padded


def finish(
    sums: np.ndarray,
    dtype: np.dtype[Any],
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Add the bias, apply the activation, round to ``dtype`` and write to ``out`` if there is one.

    ``sums`` is in the accumulator's type and may be overwritten.
    """
    if bias is None and activation is None and (out is sums or (out is None and sums.dtype == dtype)):
        return sums
    return _finish(sums, dtype, bias, activation, out)


@QUIET
def _finish(
    sums: np.ndarray,
    dtype: np.dtype[Any],
    bias: np.ndarray | None,
    activation: str | None,
    out: np.ndarray | None,
) -> np.ndarray:
    if bias is not None:
        sums = np.add(sums, to_accumulator(bias), out=sums if sums.flags.writeable else None)
    result = sums.view(dtype) if is_integer(dtype) else sums
    if activation == "relu":
        result = np.maximum(result, 0)
    if out is None:
        return result.astype(dtype, copy=False)
    np.copyto(out, result, casting="unsafe")
    return out


class _CallableModule(ModuleType):
    """`teachconv.backends` is this package and, by DESIGN, also a function: both names hold."""

    def __call__(self) -> BackendReport:
        return report()


sys.modules[__name__].__class__ = _CallableModule
