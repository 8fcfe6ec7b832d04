"""A puzzle: a task, the calls that matter, the usual mistakes, and three hints."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.seeded import make_array
from ..support.tables import Report, Table, left

# a code, a sentence for the learner, and the function that makes it; None where `Puzzle.judge` finds it
Mistake = tuple[str, str, Callable[..., Any] | None]


@dataclass(frozen=True, repr=False)
class Puzzle(Report):
    """A function to write.

    Attributes:
        name: its name.
        title: what it is about, in a few words.
        task: what the function is given, and what it returns.
        right: the right function, which calls teachconv; the task uses the names of its parameters.
        cases: returns the arguments of the calls, the smallest call first.
        mistakes: what is often written instead, so that a wrong answer can be explained.
        hints: three steps towards the answer.
        page: the page of the documentation that explains it.
        call: returns an op with the arguments of the same convolution, of which a picture is drawn.
        diffed: whether the function returns the op's result, so that `teachconv.diff` can name mistakes.
        judge: if several results are right, returns the code of the mistake in a result for the arguments, or
            ""; None if the result has to equal that of ``right``.
        close: the relative difference from that result which is allowed.
    """

    name: str
    title: str
    task: str
    right: Callable[..., Any]
    cases: Callable[[], Iterable[tuple[Any, ...]]]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, str, str]
    page: str
    call: Callable[..., tuple[Any, ...]] | None = None
    diffed: bool = False
    judge: Callable[..., str] | None = None
    close: float = 0.0

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters."""
        given = inspect.signature(self.right).parameters.values()
        return [parameter.name for parameter in given if parameter.default is parameter.empty]

    @property
    def signature(self) -> str:
        """The line with which the function begins."""
        return f"def {self.name}({', '.join(self.parameters)}):"

    def _headline(self) -> str:
        return f"{self.name}: {self.title}"

    def _table(self) -> Table:
        below = f'ex.check("{self.name}", {self.name}) checks it, ex.hint("{self.name}") helps'
        rows: list[tuple[Any, ...]] = [(self.signature,), (f"    {self.task}",)]
        return Table(left(""), rows, self._headline(), [], [below])


def ints(*shape: int, seed: str = "") -> np.ndarray:
    """Return float64 numbers that are small integers, so that sums in any order are exact."""
    return make_array(shape, "float64", "integers", f"puzzle {shape} {seed}")
