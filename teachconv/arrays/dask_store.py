"""Writes a lazy result to a zarr array on disk; a failed write leaves nothing behind."""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import dask.array as da
from dask.base import get_scheduler
from dask.diagnostics import ProgressBar

from ..support.errors import ArgumentError, ArgumentTypeError, brief
from ..support.files import path_of


def to_zarr(array: da.Array, path: str | os.PathLike[str], *, progress: bool = False) -> Path:
    """Compute a dask array and write it to a new zarr array, chunk by chunk.

    The chunks are written beside the place of the result, and take that place after the last one. If a
    worker runs out of memory or the scheduler ends, nothing is left behind.

    Args:
        array: the dask array. Its chunks, of equal sizes except the last of each axis, become zarr's.
        path: where to write: a path where nothing is yet.
        progress: show dask's progress bar.

    Returns:
        The path.

    Raises:
        ArgumentTypeError: if ``array`` is not a dask array.
        ArgumentError: if there is something at ``path`` already.

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
        _compute(da.to_zarr(array, str(unfinished), compute=False), progress)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def _compute(stored: Any, progress: bool) -> None:
    """Compute a lazy store: on the cluster of the current client, or by dask's own scheduler."""
    client = getattr(get_scheduler(), "__self__", None)
    if progress and client is not None:
        distributed = import_module("distributed")
        future = client.compute(stored)
        distributed.progress(future, notebook=False)
        future.result()
    else:
        with ProgressBar() if progress else nullcontext():
            stored.compute()
