"""What all frameworks' steps have: errors of one line, and our own steps and lines beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..graph.find_source import find_source
from ..graph.framework.op_def import REGISTRY
from ..inspection.marks import APPLIED, SourceLine
from ..inspection.sources import SourceChain, SourceStep, step_at
from ..support.errors import ArgumentError
from ..support.tables import first_lines


@contextmanager
def refusals(framework: str) -> Iterator[None]:
    """Run a call of a framework; what it raises becomes an error of one line."""
    try:
        yield
    except Exception as error:
        line = str(error).strip().splitlines()[0][:300]
        raise ArgumentError(f"{framework} refuses the call: {line}") from error


def chain(
    query: str,
    steps: Iterable[SourceStep],
    ops: Iterable[str],
    version: str,
    ran: Iterable[str],
    beside: Mapping[str, tuple[str, Callable[..., Any]]] | None = None,
) -> SourceChain:
    """Return the steps of a framework as a chain.

    Args:
        query: what was followed.
        steps: its steps.
        ops: the ops of our runtime that do the same, whose lines are shown.
        version: the framework with its version.
        ran: what computed; a name that occurs again is listed once.
        beside: by ``what`` of their steps that of ours that does the same, and its function.
    """
    ours = {what: step_at(*own) for what, own in (beside or {}).items()}
    made = (replace(step, beside=ours.get(step.what, step.beside)) for step in steps)
    return SourceChain(query, tuple(made), lines(ops), version, ", ".join(dict.fromkeys(ran)))


def lines(ops: Iterable[str]) -> tuple[SourceLine, ...]:
    """Return where our default kernels for ops apply stride, padding and dilation, and multiply.

    >>> [line.mark for line in lines(["Conv2D"])]
    ['stride', 'padding', 'dilation', 'multiply-add']
    """
    found = [
        line for op in dict.fromkeys(ops) if op in REGISTRY for line in first_lines(find_source(op).lines)
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda line: APPLIED.index(line.mark)))
