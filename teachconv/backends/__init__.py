"""The contract of a backend, the table of backends, and which of them can run on this machine.

A backend is a module with a tuple ``ALGORITHMS`` and three functions of canonical arrays::

    def conv2d(x, w, geometry, *, algorithm, precision, bias=None, activation=None, out=None): ...
    def conv2d_backprop_input(dy, w, geometry, *, algorithm, precision, bias=None, activation=None,
                              out=None): ...
    def conv2d_backprop_filter(x, dy, geometry, *, algorithm, precision, out=None): ...

x is [batch, in_rows, in_cols, in_channels], w is [filter_rows, filter_cols, in_channels / groups,
out_channels], and dy is [batch, out_rows, out_cols, out_channels]; the integers of ``geometry``, a
`teachconv.ConvGeometry`, define the rest. Arrays may have any memory strides and are never empty; both
have the result's dtype. They are the caller's: a backend must not write to them. A tap in the padding
contributes nothing, not even infinity times zero: a backend that multiplies padding by zeros must compute in
another way if ``geometry.has_padding`` and the other array is not finite. ``algorithm`` is the name of
one of ``ALGORITHMS`` that fits the call; None leaves the choice to the backend. ``precision`` is None,
"strict", "fast", or "tf32" if an algorithm has that; ``activation`` is None or "relu". Each function returns
a new array, or ``out``. conv2d_transpose *is* conv2d_backprop_input, and a depthwise convolution has
groups = in_channels. A module with ``TAKES_DEVICE_ARRAYS = True`` is also given CuPy arrays.

A module may have ``RANKS``, the numbers of spatial axes that its functions take, such as (1, 2, 3); without
it they take 2. For rank 1 the axes are (cols,), for rank 3 (depth, rows, cols): ``geometry.axes`` has them,
and x is ``[batch, *in_sizes, in_channels]``, w and dy likewise. It may have ``expected_seconds(kind,
geometry)``, which returns how long algorithms may take, by their names: `teachconv.diff` runs one that takes
long only if it is named.

A new backend is one file, one line in ``TABLE``, and its name in ``BackendName`` of argument_types.py;
`teachconv.check_backend` runs the common cases on it, over each number of axes in ``RANKS``, before it has
that line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product, starmap
from math import prod
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import FLOATS, INTEGERS, accumulator, is_integer
from ..core.geometry import ConvGeometry
from ..core.kinds import KINDS, Kind, kind_of
from ..core.slabs import slab
from ..core.taps import window
from ..support import record, tables
from ..support.argument_types import BackendName
from ..support.errors import ArgumentError, BackendUnavailable, brief, check_word
from ..support.memory import check_memory

__all__ = ["TABLE", "Algorithm", "BackendInfo", "get", "load", "report", "why_not"]

# sums that are kept in a half type, with that type
HALF_SUMS = {f"{dtype} accumulation": dtype for dtype in ("float16", "bfloat16")}
# the names of the bounds in truth/bounds.py; those of HALF_SUMS are `half_accumulation`
WINOGRADS = ("winograd", "winograd2", "winograd4", "winograd4_balanced")
BOUNDS = ("direct", "fft", "tensor", "tf32", *WINOGRADS, *HALF_SUMS)
PRECISIONS = ("strict", "default", "fast", "tf32")  # each allows what those before it allow
ONCE = "once for each multiply-add outside the padding"  # `Algorithm.times` of plain loops

# overflow to infinity, and NaN from infinities, are correct IEEE arithmetic and cause no warnings
QUIET = np.errstate(all="ignore")

TABLE = {
    "reference": "teachconv.backends.reference",
    "numpy": "teachconv.backends.numpy_backend",
    "scipy": "teachconv.backends.scipy_backend",
    "cython": "teachconv.backends.cython_backend",
    "cupy": "teachconv.backends.cupy_backend",
}


def _nothing_refused(kind: Kind, geometry: ConvGeometry) -> str:
    """`Algorithm.refuses` of an algorithm that takes every convolution; a lambda could not be pickled."""
    return ""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What one algorithm of a backend can do.

    A bound is a proven limit of an algorithm's error; ``teachconv.truth.bounds`` has them. A kind, a dtype, a
    precision, a bound or a rank that there is not raises ``ArgumentError``.

    Attributes:
        name: its name.
        summary: what it does, in one line.
        kinds: the kinds of call that it computes.
        dtypes: the dtypes that it takes.
        precision: the least permissive ``precision=`` that allows it. A "strict" algorithm keeps the
            element-wise bound of direct summation. A "default" one may exceed it, but its error relative to
            the largest sum of absolute products of the result is no worse than direct summation's. "fast" and
            "tf32" must be requested.
        error: the name of its bound in ``teachconv.truth.bounds``; "float16 accumulation" or "bfloat16
            accumulation" if sums of that type, the only one in ``dtypes``, are kept in it.
        refuses: a function of the kind and the geometry that returns what the algorithm needs and the
            convolution lacks, or "". In that case the algorithm is never chosen, and requesting it by name is
            an error.
        independent_of_extent: whether the bits of a cell follow from the values that its taps read, and from
            nothing else: not from the size of the image, nor from where the cell lies in it. Then an image
            that is computed in parts has the same bits as if it is computed whole, except the sign and
            payload of a NaN. This is said of the forward op and the input gradient; a filter gradient sums
            over the whole image.
        ranks: the numbers of spatial axes that it takes; None for those of its backend.
        why: why its backend chooses it for a call that names no algorithm; "" if it never does.
        gives_way_to: the algorithm that its backend runs instead for data that it cannot take, such as
            infinity and NaN where it would multiply them by zeros of the padding; "" if it takes any data.
        times: how often the line of its source that multiplies and adds runs; "" if a library has that line.
        usual: whether ``find_source`` shows it first, as the default for most shapes.
        path: the way through its kernel, of those in kernels/paths.h, that ``find_source`` shows first.
    """

    name: str
    summary: str
    kinds: tuple[Kind, ...] = KINDS
    dtypes: tuple[str, ...] = FLOATS + INTEGERS
    precision: str = "strict"
    error: str = "direct"
    refuses: Callable[[Kind, ConvGeometry], str] = _nothing_refused
    independent_of_extent: bool = False
    ranks: tuple[int, ...] | None = None
    why: str = ""
    gives_way_to: str = ""
    times: str = ""
    usual: bool = False
    path: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(map(kind_of, self.kinds)))  # kinds may be given by name
        for name, words, legal in (
            ("error", (self.error,), BOUNDS),
            ("precision", (self.precision,), PRECISIONS),
            ("dtypes", self.dtypes, FLOATS + INTEGERS),
            ("ranks", self.ranks or (), (1, 2, 3)),
        ):
            for one in words:
                check_word(one, f"{name} of algorithm {brief(self.name)}", legal)
        half = HALF_SUMS.get(self.error)
        if half and set(self.dtypes) != {half}:
            raise ArgumentError(
                f"dtypes of algorithm {brief(self.name)} must be {half} alone, as its error is "
                f"{brief(self.error)}; got {', '.join(self.dtypes)}"
            )

    def fits(self, kind: Kind, dtype: str, geometry: ConvGeometry) -> bool:
        """Return whether the algorithm can compute this kind of call for this dtype and geometry.

        Args:
            kind: the kind of call.
            dtype: the dtype's name.
            geometry: the geometry.

        Returns:
            True or False.
        """
        return (
            kind_of(kind) in self.kinds
            and dtype in self.dtypes
            and (self.ranks is None or geometry.rank in self.ranks)
            and not self.refuses(kind_of(kind), geometry)
        )

    def for_call(self, kind: Kind, dtype: str, geometry: ConvGeometry, precision: str | None) -> Algorithm:
        """Return the algorithm with the bound that it has for one call: itself, if it has one for all.

        Args:
            kind: the kind of call.
            dtype: the dtype's name.
            geometry: the geometry.
            precision: what the call has.

        Returns:
            An algorithm with the same name.
        """
        return self

    def may_be_chosen(self, precision: str | None) -> bool:
        """Return whether a backend may choose the algorithm without being asked.

        Args:
            precision: what the call has.

        Returns:
            True or False.
        """
        return PRECISIONS.index(self.precision) <= PRECISIONS.index(precision or "default")


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """One line of `teachconv.backends()`.

    Attributes:
        name: the backend's name.
        available: whether it can run on this machine.
        why_not: why it cannot, or "".
        dtypes: the dtypes that at least one of its algorithms takes.
        algorithms: its algorithms.
    """

    name: BackendName
    available: bool
    why_not: str
    dtypes: tuple[str, ...]
    algorithms: tuple[Algorithm, ...]


class BackendReport(tables.Report, list[BackendInfo]):
    """What `teachconv.backends()` returns: a list that prints as a table."""

    def _headline(self) -> str:
        return f"{sum(info.available for info in self)} of {tables.count(len(self), 'backend')} can run here"

    def _table(self) -> tables.Table:
        columns = tables.left("backend", "available", "dtypes, or why not", "algorithms")
        rows = [
            (
                info.name,
                "yes" if info.available else "no",
                ", ".join(info.dtypes) or info.why_not,
                ", ".join(algorithm.name for algorithm in info.algorithms),
            )
            for info in self
        ]
        from .blas import libraries  # late: a program that prints no table does not need it

        note = "set_num_threads does not hold the BLAS of numpy: threadpoolctl has no control of it"
        notes = () if libraries("numpy") else (note,)
        return tables.Table(columns, rows, notes=notes)

    __repr__ = tables.Report.__str__


def report() -> BackendReport:
    """Return what each backend in the table can do on this machine; ``teachconv.backends()`` calls this.

    Returns:
        A list of `BackendInfo` that prints as a table.

    >>> import teachconv as tc
    >>> {info.name: info.available for info in tc.backends()}["reference"]
    True
    """
    infos = []
    for name in TABLE:
        problem = why_not(name)
        algorithms = () if problem else import_module(TABLE[name]).ALGORITHMS
        facts = not problem, problem, dtypes_of(algorithms), algorithms
        infos.append(BackendInfo(name, *facts))  # type: ignore[arg-type]
    return BackendReport(infos)


def dtypes_of(algorithms: Sequence[Algorithm]) -> tuple[str, ...]:
    """Return the dtypes that at least one of the algorithms takes, floats first."""
    return tuple(d for d in FLOATS + INTEGERS if any(d in a.dtypes for a in algorithms))


def why_not(name: str) -> str:
    """Return why a backend of the table cannot run on this machine, or "" if it can.

    Args:
        name: the backend's name.

    Returns:
        A sentence that says what to install, or "".
    """
    path = TABLE[name]
    if path in sys.modules:
        return _problem(name)
    with record.loading(f"load backend {name}") as stage:
        stage.say("used for the first time in this process: import {}; counted in no other stage", path)
        return _problem(name)


def _problem(name: str) -> str:
    """Import a backend and return why it cannot run here, or ""."""
    try:
        module = import_module(TABLE[name])
    except ImportError as error:
        return f"{error} (pip install {error.name or 'teachconv'})"
    unavailable: Callable[[], str] = getattr(module, "unavailable", lambda: "")
    return unavailable()


_ready: dict[str, ModuleType] = {}  # backends that are known to run, so that calls need not check again


def get(name: Any, called: str = "backend") -> ModuleType:
    """Return the module of a backend.

    Args:
        name: the backend's name.
        called: what error messages call it: the argument or the environment variable that it comes from.

    Returns:
        The module.

    Raises:
        ArgumentError: if there is no such backend.
        BackendUnavailable: if it cannot run on this machine; the message says what is missing.
    """
    if isinstance(name, str) and name in _ready:
        return _ready[name]
    check_word(name, called, TABLE)
    problem = why_not(name)
    if problem:
        raise BackendUnavailable(f"{called} {brief(name)} cannot run here: {problem}")
    _ready[name] = import_module(TABLE[name])
    return _ready[name]


def ranks_of(module: Any) -> tuple[int, ...]:
    """Return over how many axes a backend can convolve: its ``RANKS``, or two by default.

    Raises ``ArgumentError`` for ``RANKS`` that are not some of 1, 2 and 3.
    """
    ranks = getattr(module, "RANKS", (2,))
    if not isinstance(ranks, Sequence) or not ranks or any(rank not in (1, 2, 3) for rank in ranks):
        name = getattr(module, "__name__", type(module).__name__)
        raise ArgumentError(
            f"RANKS of backend {brief(name)} must be some of 1, 2 and 3, such as (1, 2); got {brief(ranks)}"
        )
    return tuple(ranks)


def is_own(module: ModuleType) -> bool:
    """Return whether a module is a backend of the table."""
    return module in _ready.values()


def load(module: str) -> Any:
    """Import a module that a backend needs only for some calls; the first import is a separate stage.

    Args:
        module: its full name.

    Returns:
        The module.

    Raises:
        ImportError: if it is not installed.
    """
    if module in sys.modules:
        return import_module(module)  # which waits where another thread is importing it
    with record.loading(f"load {module}") as stage:
        stage.say("used for the first time in this process; counted in no other stage")
        return import_module(module)


# ---------------------------------------------------------------------------------------------
# What backends share: types, padding, and the last step of a call
# ---------------------------------------------------------------------------------------------


def winograd_needs(kind: Kind, geometry: ConvGeometry) -> str:
    """Return what Winograd's 3 x 3 transforms need and a geometry lacks, or "": for `Algorithm.refuses`."""
    sizes = geometry.filters_shape[-4:-2], geometry.strides[-2:], geometry.dilations, geometry.groups
    if sizes == ((3, 3), (1, 1), (1,) * geometry.rank, 1):
        return ""
    return (
        f"filters 3 x 3, strides 1, dilations 1 and one group; got filters {sizes[0]}, strides {sizes[1]}, "
        f"dilations {sizes[2]} and groups {sizes[3]}"
    )


def pieces_needs(kind: Kind, geometry: ConvGeometry) -> str:
    """Return what Winograd's transforms of pieces of a filter need and a geometry lacks, or ""."""
    taps = [(range(axis.filter_size), axis.stride) for axis in geometry.axes[-2:]]  # of each plane
    if kind.scatters:  # each phase has every stride-th tap, and its own pieces
        pieces = [-(-len(some[::stride]) // 3) for some, stride in taps]
    else:
        pieces = [sum(-(-len(some[phase::stride]) // 3) for phase in some[:stride]) for some, stride in taps]
    larger = any(len(some) > stride for some, stride in taps)
    if larger and max(pieces) <= 3 and set(geometry.dilations) == {1} and geometry.groups == 1:
        return ""
    return (
        "one group, dilations 1, filters larger than strides and at most 3 pieces of 3 taps along an axis; "
        f"got {geometry.groups} groups, dilations {geometry.dilations}, "
        f"filters {geometry.filters_shape[:-2]}, strides {geometry.strides} and pieces {tuple(pieces)}"
    )


def to_accumulator(array: np.ndarray) -> np.ndarray:
    """Return the array in the type in which products are summed.

    float16 and bfloat16 are widened to float32. Integers are viewed as unsigned, because signed overflow is
    undefined in C, while unsigned arithmetic wraps around and gives the same bits.

    Args:
        array: an array of a supported dtype.

    Returns:
        The array or a view of it; a copy for float16 and bfloat16.
    """
    dtype = array.dtype
    wide = accumulator(dtype)
    if wide != dtype:  # "is" would not do: equal dtypes need not be one object
        check_memory(array.shape, wide, f"an array of {dtype.name}, widened")
        return array.astype(wide, copy=False)
    return array if dtype.kind == "f" else array.view(dtype.str.replace("i", "u"))


def zeros(shape: Sequence[int], dtype: np.dtype[Any], what: str = "the result") -> np.ndarray:
    """Return an array of zeros; raise ``MemoryError`` if there is no memory for it."""
    check_memory(shape, dtype, what)
    return np.zeros(shape, dtype)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class PackedFilters:
    """What a backend's `pack` returns, which its functions take in place of ``w``.

    Attributes:
        w: the filter itself, where the backend's kernels read it.
        algorithm: the algorithm that it was packed for.
        numbers: the packed filter; None if the algorithm packs nothing.
        isa: of cython, the instruction set whose layout ``numbers`` has; on another, calls pack again.
        kept: of cupy, all buffers that depend on the filter alone; ``numbers`` is the largest of them.
    """

    w: np.ndarray
    algorithm: str
    numbers: Any = None
    isa: int = 0
    kept: Mapping[str, Any] = field(default_factory=dict)


class Block(NamedTuple):
    """A part of the outputs, which is a smaller convolution by itself.

    Attributes:
        geometry: its geometry.
        inputs: what it reads, an index into the input.
        outputs: its place, an index into the output.
    """

    geometry: ConvGeometry
    inputs: tuple[slice, ...]
    outputs: tuple[slice, ...]


def blocks(geometry: ConvGeometry, places: int) -> Iterator[Block]:
    """Cut the outputs into blocks: whole images, some rows of one, or a part of a row; likewise for any rank.

    One product over all of a large call would need memory for all its patches, and Python would answer
    Ctrl-C only when it has ended.

    Args:
        geometry: the geometry of the whole call.
        places: the most places of a block, each with all of its channels; at least one is taken.

    Yields:
        The blocks in the order of the output.
    """
    sizes = geometry.batch, *(axis.out_size for axis in geometry.axes)
    if prod(sizes) <= places:
        everything = (slice(None),) * len(sizes)
        yield Block(geometry, everything, everything)
        return
    room, steps = max(1, places), []
    for size in reversed(sizes):
        steps.append(max(1, min(size, room)))
        room //= size
    parts = (
        [(first, min(first + step, size)) for first in range(0, size, step)]
        for size, step in zip(sizes, reversed(steps), strict=True)
    )
    for images, *outputs in product(*parts):
        part, inputs = slab(geometry, "output", images[1] - images[0], outputs)
        yield Block(part, tuple(starmap(slice, (images, *inputs))), tuple(starmap(slice, (images, *outputs))))


def pad(x: np.ndarray, geometry: ConvGeometry) -> np.ndarray:
    """Return the part of the zero-extended images that the taps read; negative padding crops.

    Args:
        x: [batch, *in_sizes, in_channels].
        geometry: the geometry.

    Returns:
        The images, whose index 0 is input index -pad_before. Their size is what all taps of all outputs span,
        which may be more or less than pad_after suggests.

    Raises:
        MemoryError: if they do not fit into memory.
    """
    windows = [window(axis) for axis in geometry.axes]
    images = x[:, *(axis.source for axis in windows)]
    if all(axis.inside == slice(0, axis.size) for axis in windows):
        return images
    padded = zeros((len(x), *(axis.size for axis in windows), x.shape[-1]), x.dtype, "the padded input")
    # mark: padding of numpy.im2col/y numpy.im2col/dw scipy.direct/y scipy.direct/dw scipy.fft/y scipy.fft/dw
    padded[:, *(axis.inside for axis in windows)] = images
    return padded


def finish(
    sums: np.ndarray,
    dtype: np.dtype[Any],
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Do the last step of a call: add the bias, apply the activation, and round.

    Args:
        sums: the result in the accumulator's type; it may be overwritten.
        dtype: the dtype of the result.
        bias: [channels], or None.
        activation: None or "relu".
        out: an array to write to, or None.

    Returns:
        ``out`` if it is given, else an array, which may be ``sums``.
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
    """Do what `finish` does, if there is anything to do."""
    if bias is not None:
        sums = np.add(sums, to_accumulator(bias), out=sums if sums.flags.writeable else None)
    result = sums.view(dtype) if is_integer(dtype) else sums
    if activation == "relu":
        result = np.maximum(result, 0)
    if out is None:
        if result.dtype != dtype:
            check_memory(result.shape, dtype, "the result")
        return result.astype(dtype, copy=False)
    np.copyto(out, result, casting="unsafe")
    return out


class _CallableModule(ModuleType):
    """A package that can be called: ``teachconv.backends()`` returns the report."""

    def __call__(self) -> BackendReport:
        return report()


sys.modules[__name__].__class__ = _CallableModule
