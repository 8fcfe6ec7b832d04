"""Lines of our kernels to show beside another framework's steps, whose loops are machine code."""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.find_source import find_source
from ..graph.framework.op_def import REGISTRY
from ..inspection.sources import SourceLine

__all__ = ["lines"]


def lines(ops: Iterable[str]) -> tuple[SourceLine, ...]:
    """Return where our default kernels for ops apply stride, padding and dilation, and multiply.

    >>> [line.mark for line in lines(["Conv2D"])]
    ['stride', 'padding', 'dilation', 'multiply-add']
    """
    found: list[SourceLine] = []
    for op in dict.fromkeys(op for op in ops if op in REGISTRY):
        of_op = find_source(op).lines
        default = [line for line in of_op if line.algorithm == of_op[0].algorithm]
        found += {line.mark: line for line in reversed(default)}.values()
    return tuple(sorted(dict.fromkeys(found), key=lambda line: _MARKS.index(line.mark)))


_MARKS = ("stride", "padding", "dilation", "multiply-add")
