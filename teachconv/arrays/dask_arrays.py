"""dask arrays as arguments of the ops: lazy calls, whose results are dask arrays.

The arrays are chunked over images, rows and columns. `dask_graph` makes the graph, `dask_chunks` says what a
chunk reads and computes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from math import isnan
from typing import Any

import dask.array as da
import numpy as np

from ..core.arguments import as_array, shape_only
from ..core.calls import Call
from ..core.geometry import TITLES
from ..core.kinds import OPS, layout_of
from ..dialects.calls import FUNCTIONS
from ..running import dispatch, nn_ops, planning
from ..running.default_backend import default_algorithm, default_backend
from ..support import record, tables
from ..support.devices import Adapter
from ..support.errors import ArgumentError, ArgumentTypeError, warn
from . import dialect_calls
from .dask_chunks import AxisChunk, Job, algorithm_here, result_chunks
from .dask_graph import LazyCall

IMAGES = ("input", "out_backprop")  # the arguments that are chunked; filters and bias go to every chunk whole
_MOST = 100 * 2**20  # bytes of an array that is loaded where a tool needs all of its values


def lazy(op: Callable[..., Any], arguments: Mapping[str, Any]) -> da.Array:
    """Return the result of an op on dask arrays as a dask array; nothing is computed.

    Args:
        op: an op of teachconv, a dialect's function, or a `teachconv.plan`.
        arguments: its arguments by name; those that the op does not have are ignored.

    Returns:
        A dask array. Its name says which algorithm its chunks are computed by.

    Raises:
        ValueError, TypeError: as the op; if the sizes of chunks are unknown; and for ``out``.
    """
    call = lazy_call(op, arguments)
    with record.stage("build graph") as stage:
        result = call.build()
        tasks = len(result.dask.layers[result.name])
        stage.say(
            "{} for {}; nothing is computed yet",
            tables.count(tasks, "task"),
            tables.count(call.chunks, "chunk"),
        )
    return result if call.own is None else call.own.to_theirs(result)


def lazy_call(op: Callable[..., Any], arguments: Mapping[str, Any]) -> LazyCall:
    """Return a call on dask arrays, what `lazy` builds; its arguments are those of `lazy`."""
    own = own_call(op, arguments)
    if own is not None:
        op, arguments = own.op, nn_ops.with_defaults(own.op, (), own.arguments)
    with record.stage("plan chunks") as stage:
        call = replace(_of_op(op, arguments), own=own)
        _tell(stage, call)
    return call


def _of_op(op: Callable[..., Any], given: Mapping[str, Any]) -> LazyCall:
    """Return a call of one of teachconv's ops, or of a `teachconv.plan`."""
    if given.get("out") is not None:
        raise ArgumentTypeError("out must be None for dask arrays: the result is lazy, and dask writes it")
    call, options = _call_of(op, given)
    layout = given.get("data_format") if call.kind.sums_images else call.layout
    layout = layout or layout_of("input", call.geometry.rank)
    backend = default_backend() if options["backend"] is None else options["backend"]
    name, module = dispatch.find_backend(options["backend"])
    named = options["algorithm"] or default_algorithm(name)
    named = None if named == "auto" else named
    job = Job(call.op, call.geometry, layout, backend, named, options["precision"])
    dispatch.find_algorithm(name, module, call, named, job.precision)  # raises if the backend has none
    algorithm = algorithm_here(job, call) or "auto"
    images = tuple(_in_chunks(given[name], name, layout) for name in IMAGES if name in given)
    first = images[0] if isinstance(images[0], da.Array) else da.from_array(images[0], chunks=-1)
    if call.kind.sums_images:
        second, bias = _beside(first, images[1], job), None
    else:
        second, bias = _whole(given.get("filters"), call.second), _whole(given.get("bias"), call.bias)
    return LazyCall(job, first, second, bias, call, algorithm, options)


def _call_of(op: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Call, dict[str, Any]]:
    """Return the call with stand-ins for the dask arrays, and its options."""
    known = dict(given)
    for name, array in given.items():
        if isinstance(array, da.Array):
            _check_chunks(array, name)
            known[name] = shape_only(array.shape, array.dtype)
    if isinstance(op, planning.Plan):
        return op.call_of(known["input"]), op.options
    names = [name for name in inspect.signature(op).parameters if name in given and name != "unknown"]
    return nn_ops.call_of(op, (), {name: known[name] for name in names})


# ---------------------------------------------------------------------------------------------
# A dialect's call
# ---------------------------------------------------------------------------------------------


def own_call(op: Callable[..., Any], arguments: Mapping[str, Any]) -> dialect_calls.OwnCall | None:
    """Return a dialect's call as one of teachconv's op; None for what needs no second name.

    Args:
        op: an op, a dialect's function, or a `teachconv.plan`.
        arguments: its arguments by name.

    Raises:
        ArgumentTypeError: for any other function.
    """
    if isinstance(op, planning.Plan) or nn_ops.name_of(op).removeprefix("teachconv.") in OPS:
        return None
    if op not in FUNCTIONS:
        raise ArgumentTypeError(
            f"{nn_ops.name_of(op)} takes no dask arrays; {', '.join(OPS)} and the dialects' convolutions do"
        )
    return dialect_calls.own_call(op, arguments, _as_lazy, da.transpose, da.flip)


def _as_lazy(value: Any, name: str) -> Any:
    if not isinstance(value, da.Array):
        return as_array(value, name, None)
    _check_chunks(value, name)
    return value


# ---------------------------------------------------------------------------------------------
# The arrays
# ---------------------------------------------------------------------------------------------


def _check_chunks(array: da.Array, name: str) -> None:
    """Raise unless the chunks are NumPy arrays of known sizes."""
    chunk = type(array._meta)
    if chunk is not np.ndarray:
        raise ArgumentTypeError(
            f"{name} must have NumPy arrays as chunks; got {chunk.__module__}.{chunk.__qualname__}: "
            f"{name}.map_blocks(...) with a function that converts them"
        )
    if any(isnan(size) for sizes in array.chunks for size in sizes):
        raise ArgumentError(
            f"{name} must have chunks of known sizes; got {array.chunks}: {name}.compute_chunk_sizes()"
        )


def _in_chunks(array: Any, name: str, layout: str) -> Any:
    """Return an array of images with its channels in one chunk."""
    if not isinstance(array, da.Array):
        return as_array(array, name, len(layout))
    axis = layout.index("C")
    if len(array.chunks[axis]) > 1:
        warn(
            f"{name} has its channels in {len(array.chunks[axis])} chunks, and a convolution sums over all "
            f"channels: they are joined, as by {name}.rechunk({{{axis}: -1}})",
            da.PerformanceWarning,
        )
        array = array.rechunk({axis: -1})
    return array


def _beside(first: da.Array, second: Any, job: Job) -> da.Array:
    """Return out_backprop as a dask array; one that is not takes chunks that go with those of the input."""
    if isinstance(second, da.Array):
        return second
    chunks: list[tuple[int, ...]] = [(size,) for size in second.shape]
    images, *places = job.axes()
    chunks[images] = first.chunks[images]
    for place, axis in zip(places, job.geometry.axes, strict=True):
        chunks[place] = result_chunks(axis, "output", first.chunks[place])
    return da.from_array(second, chunks=tuple(chunks))


def _whole(given: Any, array: np.ndarray | None) -> Any:
    """Return filters or bias in one chunk, or in memory: every chunk of the result needs all of them."""
    if isinstance(given, da.Array):
        return given.rechunk(-1)
    return None if array is None else np.ascontiguousarray(array)


# ---------------------------------------------------------------------------------------------
# What a trace says
# ---------------------------------------------------------------------------------------------


def _tell(stage: Any, call: LazyCall) -> None:
    """Record the chunks, and what the slab of the largest reads beyond its own cells."""
    job, rank = call.job, call.job.geometry.rank
    name, _ = dispatch.find_backend(job.backend)
    stage.know(backend=name, algorithm=call.algorithm)
    stage.arrays(**{job.op.words[job.op.kind.first]: call.first})
    batch, *sides = (
        tables.count(len(chunks), word)
        for chunks, word in zip(call.axes, ("part", *("plane", "row", "column")[-rank:]), strict=True)
    )
    per_axis = ", ".join((f"{batch} of the batch", *sides))
    stage.say("{} chunks ({}): algorithm {}, one thread each", call.chunks, per_axis, call.algorithm)
    for word, chunks in zip(TITLES[-rank:], call.axes[1:], strict=True):
        stage.say("{}", _halo(word, chunks))


def _halo(word: str, chunks: list[AxisChunk]) -> str:
    """Return what the slabs have of one axis: what the largest reads, and how much two neighbours share."""
    largest = max(chunks, key=lambda chunk: chunk.read[1] - chunk.read[0])
    (first, past), (low, high) = largest.part, largest.read
    shared = max((one.read[1] - two.read[0] for one, two in pairwise(chunks)), default=0)
    return (
        f"{word}: chunk {first}..{past - 1} reads {low}..{high - 1}, neighbouring slabs share "
        f"{max(0, shared)} (the halo)"
    )


class Dask(Adapter):
    """dask arrays: every convolution is lazy, whichever argument is a dask array; pools take none."""

    name = "dask arrays"

    def knows(self, cls: type) -> bool:
        """Return whether a class of dask's is its array."""
        return issubclass(cls, da.Array)

    def takes_over(self, value: Any) -> bool:
        """Return True: an op runs on chunks, never on the whole array."""
        return True

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Return the lazy result of an op."""
        return lazy(op, arguments)

    def lazy_call(self, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> LazyCall:
        """Return the call of an op with its arrays not loaded."""
        return lazy_call(op, nn_ops.with_defaults(op, args, kwargs))

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Compute a small array; raise for one that may be larger than the memory."""
        _check_chunks(value, name)
        if value.nbytes > _MOST:
            raise ArgumentTypeError(
                f"{name} is a dask array of {tables.size(value.nbytes)}, and all of its values are needed "
                f"here, but at most {tables.size(_MOST)} are computed unasked: pass a part of it, "
                f"{name}[...].compute()"
            )
        return np.asarray(value)


ADAPTER = Dask()
