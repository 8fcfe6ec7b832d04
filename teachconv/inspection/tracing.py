"""Traces one call: every stage from the Python arguments to the loops that ran, with file and line.

TensorFlow's counterpart is RunMetadata and its timeline; here the stages come from `record.stage`,
which ops and backends call anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from math import prod
from typing import Any, ParamSpec

import numpy as np

from ..core.dtypes import to_dtype
from ..core.kinds import kind_of
from ..core.winograd import FORMS, products
from ..quantized.explaining import call_of_op, is_pool, is_quantized, pool_of_op
from ..running import nn_ops
from ..support import record, tables
from ..support.errors import brief, is_one_of
from ..windows.calls import FUNCTIONS, bound_call
from . import marks

P = ParamSpec("P")


@dataclass(frozen=True, eq=False, repr=False)
class Trace(tables.Report):
    """The record of one call.

    Attributes:
        op: the name of the op.
        result: the result of the call.
        stages: the steps in order of their start, each with ``name``, ``file``, ``line``, ``shapes``,
            ``dtypes``, ``nbytes``, ``seconds``, ``note`` and ``depth``.
        backend: the backend that ran; "" of a function of windows, which NumPy computes.
        algorithm: the algorithm that ran; "" likewise.
        seconds: the wall-clock time of the whole call, with the recording, but without ``loading``.
        loading: seconds spent on code that this call was the first to use in the process, such as a
            backend's module; the stages whose name begins with "load" say what.
    """

    op: str
    result: np.ndarray
    stages: tuple[record.Stage, ...]
    backend: str
    algorithm: str
    seconds: float
    loading: float = 0.0

    def _headline(self) -> str:
        loading = f" (and {tables.duration(self.loading)} of loading)" if self.loading else ""
        by = f"on backend {self.backend}, algorithm {self.algorithm}" if self.backend else "in NumPy"
        return (
            f"{self.op} {by}: "
            f"{tables.duration(self.seconds)} in {tables.count(len(self.stages), 'stage')}{loading}"
        )

    def _table(self) -> tables.Table:
        columns = (*tables.left("stage"), *tables.right("time"), *tables.left("where, arrays, note"))
        rows = []
        for stage in self.stages:
            details = [place_of(stage), ", ".join(arrays_of(stage)), *stage.note.split("\n")]
            name = "  " * stage.depth + stage.name
            rows.append((name, tables.duration(stage.seconds), list(filter(None, details))))
        return tables.Table(columns, rows, self._headline(), notes=self._steps())

    def _repr_html_(self) -> str:
        drawn = "\n".join(self._steps())
        return replace(self._table(), notes=()).html() + (f"<pre>{escape(drawn)}</pre>" if drawn else "")

    def _steps(self) -> list[str]:
        """The three steps of numpy_backend with their numbers, if they ran as such and fit side by side."""
        values = {name: value for stage in self.stages for name, value in stage.values.items()}
        if not {"patches", "filter_matrix", "product"} <= values.keys():
            return []
        patches, matrix, product = values["patches"], values["filter_matrix"], values["product"]
        if patches.ndim != matrix.ndim:  # of an input gradient, whose patches are the product
            return []
        group = f" of group 0 of {len(matrix)}" if len(matrix) > 1 else ""
        blocks = [
            [f"{title} {list(array[0].shape)}{group}", *matrix_text(array[0])]
            for title, array in (("patches", patches), ("filter", matrix), ("product", product))
        ]
        signs: tuple[list[str], ...] = ["@"], ["="], []
        columns = [column for block, sign in zip(blocks, signs, strict=True) for column in (block, sign)][:-1]
        lines = beside(*columns)
        return lines if max(map(len, lines)) <= _WIDTH else []


_WIDTH = 100  # characters of a line
_ANY_WIDTH = 10_000


def beside(*blocks: Sequence[str]) -> list[str]:
    """Return blocks of text beside each other, line by line."""
    rows = list(zip_longest(*blocks, fillvalue=""))
    return tables.Table(tables.left(*[""] * len(blocks)), rows).text(_ANY_WIDTH).split("\n")


def matrix_text(array: np.ndarray, write: Callable[[Any], str] | None = None) -> list[str]:
    """Return the rows of a matrix as text, its numbers below each other, written with four digits."""
    write = write or (lambda value: tables.number(float(value), 4))
    texts = [list(map(write, row)) for row in array]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [" ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in texts]


def trace(op: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Trace:
    """Run ``op(*args, **kwargs)`` and return its result with every stage of the call.

    Nothing runs twice and nothing is simulated: the stages are those of this call.

    Args:
        op: any op of teachconv, a convolution or a pool of `teachconv.quantized`, or a function of windows,
            such as `teachconv.max_pool`.
        *args: the op's positional arguments.
        **kwargs: the op's keyword arguments.

    Returns:
        A `Trace`: ``.result`` and ``.stages``. Printed for a small call on the numpy backend, it ends with
        the three steps and their numbers: the patches, the filter as a matrix, and their product.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as the op.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
    >>> t = tc.trace(tc.conv2d, x, w, padding="SAME", backend="numpy")
    >>> [stage.name for stage in t.stages][-4:]
    ['choose algorithm', 'flatten filter', 'extract patches', 'matmul']
    >>> t.stages[-2].shapes["patches"]                         # [groups, places, taps]
    (1, 16, 9)
    """
    if is_quantized(op):
        (pool_of_op if is_pool(op) else call_of_op)(op, args, kwargs)  # raises, before a stage is recorded
    elif is_one_of(op, FUNCTIONS):
        bound_call(op, args, kwargs)
    elif not is_one_of(op, nn_ops.RESOLVERS):
        nn_ops.call_of(op, args, kwargs)  # raises, and says which ops there are
    nn_ops.bind(op, args, kwargs)  # raises, and says which argument was meant
    return traced(getattr(op, "__name__", brief(op)), lambda: op(*args, **kwargs))


def traced(name: str, run: Callable[[], Any]) -> Trace:
    """Return the trace of what ``run()`` computes: the work of `trace`, for a call of any kind.

    Args:
        name: the name of the call.
        run: runs it and returns its result.

    Returns:
        A `Trace`.
    """
    start = record.clock()
    with record.recording() as stages:
        result = run()
    seconds = record.clock() - start
    loading = sum(stage.seconds for stage in stages if stage.is_loading)
    facts = facts_of(stages)
    last = next((stage for stage in reversed(stages) if stage.depth), stages[-1])  # of the backend
    for line in _marked(facts, [*marks.TRANSFORMS, "multiply-add"]):
        step = "innermost loop" if line.mark == "multiply-add" else line.mark.replace("-", " ")
        last.say("{}: {}", step, loop_text(line))
    if facts.get("algorithm") in FORMS:
        last.say(products(facts["algorithm"], kind_of(facts["kind"]), facts["geometry"]))
    backend, algorithm = facts.get("backend", ""), facts.get("algorithm", "")
    return Trace(name, result, tuple(stages), backend, algorithm, seconds, loading)


def facts_of(stages: Iterable[record.Stage]) -> dict[str, Any]:
    """Return what the stages of a call recorded, such as backend and geometry; of one name, the last."""
    return {name: fact for stage in stages for name, fact in stage.facts.items()}


def innermost_loops(facts: Mapping[str, Any]) -> list[marks.SourceLine]:
    """Return the marks of the innermost loops of a call: the lines that multiply and add.

    Args:
        facts: what the stages of the call recorded; without a kind of call there is no loop.
    """
    return _marked(facts, ["multiply-add"])


def _marked(facts: Mapping[str, Any], names: Sequence[str]) -> list[marks.SourceLine]:
    """Return the marks of some names in what a call ran."""
    if "kind" not in facts:
        return []
    algorithms, paths = facts["algorithm"].split(", "), facts.get("paths", "").split()
    found = marks.find(facts["backend"], algorithms, kind_of(facts["kind"]), paths)
    return [mark for mark in found if mark.mark in names]


def loop_text(mark: marks.SourceLine) -> str:
    """Return function, file and line of an innermost loop as text."""
    by = f", by {mark.by}" if mark.by else ""
    return f"{marks.function_at(mark.file, mark.line)[0]}, {mark.file}:{mark.line}{by}"


def arrays_of(stage: record.Stage) -> list[str]:
    """Name, shape, dtype and size of each array that a stage made, as text."""
    return [
        f"{name} {list(shape)} {dtype} {tables.size(prod(shape) * to_dtype(dtype).itemsize)}"
        for (name, shape), dtype in zip(stage.shapes.items(), stage.dtypes.values(), strict=True)
    ]


def place_of(stage: record.Stage) -> str:
    """File and line, relative to the package where the file is in it."""
    return f"{marks.place(stage.file)}:{stage.line}"
