"""Traces one call: every stage from the Python arguments to the loops that ran, with file and line.

TensorFlow's counterpart is RunMetadata and its timeline; here the stages come from `record.stage`,
which ops and backends call anyway.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from math import prod
from typing import Any

import numpy as np

from .. import nn_ops, record
from ..dtypes import to_dtype

__all__ = ["Trace", "arrays_of", "place_of", "trace"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True, eq=False)
class Trace:
    """What one call did.

    ``result`` is the call's result; ``stages`` are its steps in order of their start, each with
    ``name``, ``file``, ``line``, ``shapes``, ``dtypes``, ``nbytes``, ``seconds``, ``note`` and
    ``depth``; ``seconds`` is the wall-clock time of the whole call, the recording included.
    """

    op: str
    result: np.ndarray
    stages: tuple[record.Stage, ...]
    backend: str
    algorithm: str
    seconds: float

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        rows = []
        for stage in self.stages:
            name = "  " * stage.depth + stage.name
            arrays = ", ".join(arrays_of(stage))
            rows.append((name, f"{stage.seconds * 1e6:,.0f}", place_of(stage), arrays, stage.note))
        return rows

    def __str__(self) -> str:
        rows = self._rows()
        lines = [
            f"{self.op} on backend {self.backend}, algorithm {self.algorithm}: "
            f"{self.seconds * 1e6:,.0f} µs in {len(rows)} stages"
        ]
        names = max(len(row[0]) for row in rows)
        times = max(len(row[1]) for row in rows)
        for name, microseconds, place, arrays, note in rows:
            lines.append(f"{name:<{names}}  {microseconds:>{times}} µs  {place}")
            for text in [*([arrays] if arrays else []), *(note.splitlines())]:
                lines.append(" " * (names + times + 7) + text)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th style='text-align:left'>{name}</th>" for name in ("stage", "µs", "where", "arrays, note")
        )
        body = ""
        for stage, (_, microseconds, place, arrays, note) in zip(self.stages, self._rows(), strict=True):
            details = escape(arrays) + ("<br>" if arrays and note else "")
            if "\n" in note:
                details += f"<pre style='margin:0'>{escape(note)}</pre>"
            else:
                details += escape(note)
            indent = f"text-align:left;padding-left:{stage.depth + 0.3}em"
            body += (
                f"<tr><td style='{indent}'>{escape(stage.name)}</td><td>{microseconds}</td>"
                f"<td style='text-align:left'><code>{escape(place)}</code></td>"
                f"<td style='text-align:left'>{details}</td></tr>"
            )
        title = f"{escape(self.op)} on {escape(self.backend)}, algorithm {escape(self.algorithm)}"
        return f"<table><caption>{title}: {self.seconds * 1e6:,.0f} µs</caption><tr>{head}</tr>{body}</table>"


def trace(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Trace:
    """Run ``op(*args, **kwargs)`` and return its result with every stage that the call went through.

    ``op`` is any op of teachconv, the arguments are its own, shapes and errors too. Nothing is run
    twice or simulated: the stages are those of this very call, in the backend that ran.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
    >>> t = tc.trace(tc.conv2d, x, w, padding="SAME", backend="numpy")
    >>> [stage.name for stage in t.stages][-4:]
    ['choose algorithm', 'flatten filter', 'extract patches', 'matmul']
    >>> t.stages[-2].shapes["patches"]                         # [groups, places, taps]
    (1, 16, 9)
    """
    if op not in nn_ops.RESOLVERS:
        nn_ops.call_of(op, args, kwargs)  # raises, and says which ops there are
    start = time.perf_counter()
    with record.recording() as stages:
        result = op(*args, **kwargs)
    seconds = time.perf_counter() - start
    facts: dict[str, str] = {}
    for stage in stages:
        facts |= stage.facts
    name = getattr(op, "__name__", repr(op))
    return Trace(name, result, tuple(stages), facts.get("backend", ""), facts.get("algorithm", ""), seconds)


def arrays_of(stage: record.Stage) -> list[str]:
    """Name, shape, dtype and size of each array that a stage made, as text."""
    return [
        f"{name} {list(shape)} {stage.dtypes[name]} {_size(shape, stage.dtypes[name])}"
        for name, shape in stage.shapes.items()
    ]


def place_of(stage: record.Stage) -> str:
    """File and line, relative to the package where the file is in it."""
    path = os.path.abspath(stage.file)
    if path.startswith(_PACKAGE + os.sep):
        path = os.path.relpath(path, os.path.dirname(_PACKAGE))
    return f"{path}:{stage.line}"


def _size(shape: tuple[int, ...], dtype: str) -> str:
    size: float = prod(shape) * to_dtype(dtype).itemsize
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"
