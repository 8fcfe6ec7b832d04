"""Writes a lazy result to a zarr array on disk, whole or not at all."""

from __future__ import annotations

import operator
import os
import shutil
import sys
from contextlib import nullcontext
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import dask.array as da
from dask.base import get_scheduler
from dask.diagnostics import ProgressBar

from .. import tables
from ..errors import ArgumentError, ArgumentTypeError, brief
from ..files import path_of

__all__ = ["to_zarr"]


def to_zarr(array: da.Array, path: str | os.PathLike[str], *, progress: bool = False) -> Path:
    """Compute a dask array and write it to a new zarr array, chunk by chunk.

    The chunks are written beside the place of the result, and take that place when the last one is there. If
    a worker runs out of memory or the scheduler ends, nothing is left behind.

    Args:
        array: the dask array. Its chunks, of equal sizes but for the last of each axis, become zarr's.
        path: where to write: a path where nothing is yet.
        progress: show dask's progress bar.

    Returns:
        The path.

    Raises:
        ArgumentTypeError: if ``array`` is not a dask array.
        ArgumentError: if there is something at ``path`` already.
        RuntimeError: if the computation was lost; the message says what helps.

    >>> import tempfile, dask.array as da, zarr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = to_zarr(da.ones((4, 4), chunks=2), f"{folder}/ones.zarr")
    ...     float(zarr.open_array(path, mode="r")[:].sum())
    16.0
    """
    if not isinstance(array, da.Array):
        raise ArgumentTypeError(f"array must be a dask array; got {type(array).__qualname__}")
    target = path_of(path)
    if target.exists():
        raise ArgumentError(
            f"path must be a path where nothing is yet; got {brief(str(target))}, which exists"
        )
    unfinished = target.with_name(f"{target.name}.unfinished-{os.getpid()}")
    try:
        stored = da.to_zarr(array, str(unfinished), compute=False)
        _compute(stored, progress)
        unfinished.rename(target)
    except BaseException as error:  # of a lost scheduler too, which asyncio reports as a cancelled task
        shutil.rmtree(unfinished, ignore_errors=True)
        lost = _what_was_lost(error, array)
        if lost:
            raise RuntimeError(f"{lost}; nothing was written to {target}") from error
        raise
    return target


def _compute(stored: Any, progress: bool) -> None:
    """Compute a lazy store: on the cluster of the current client, or by dask's own scheduler."""
    on_cluster = isinstance(getattr(get_scheduler(), "__self__", None), _distributed("Client"))
    if on_cluster and progress:
        import distributed

        future = distributed.default_client().compute(stored)
        distributed.progress(future, notebook=False)
        future.result()
    else:
        with ProgressBar() if progress else nullcontext():
            stored.compute()


def _distributed(*names: str) -> tuple[Any, ...]:
    """Return classes of dask.distributed, which need not be installed: none of them where nobody uses it."""
    module = sys.modules.get("distributed")
    return () if module is None else tuple(operator.attrgetter(name)(module) for name in names)


def _what_was_lost(error: BaseException, array: da.Array) -> str:
    """Return what happened to a cluster and what helps, or "" for an error of another kind."""
    if isinstance(error, _distributed("scheduler.KilledWorker")):
        chunk = tables.size(max(map(prod, product(*array.chunks))) * array.dtype.itemsize)
        return (
            f"workers died again and again while they computed ({error}). If they ran out of memory: each of "
            f"their threads needs room for the slab of every step and for a chunk of the result, which has "
            f"{chunk}; rechunk the input to smaller chunks, or give workers more memory or fewer threads"
        )
    if isinstance(error, _distributed("client.CancelledError", "comm.CommClosedError")):
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return (
            f"the scheduler ended before the last chunk was computed ({reason}); start one and compute again"
        )
    return ""
