"""Checks a learner's function against a puzzle, and names its mistake."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any

import numpy as np

from ..inspection.explaining import explain
from ..support import tables
from ..support.errors import ArgumentError, ArgumentTypeError, ContractError, brief, check_word
from ..verification.diffing import diff
from ..verification.running import what_went_wrong, within
from ..verification.submission import as_array
from . import bugs, gradients, matrices, numbers, sizes, sums
from .puzzle import Puzzle

_PUZZLES: dict[str, Puzzle] = {
    puzzle.name: puzzle
    for module in (sizes, sums, matrices, gradients, numbers, bugs)
    for puzzle in module.PUZZLES
}


@dataclass(frozen=True, repr=False)
class Puzzles(tables.Report):
    """The puzzles, by name."""

    names: tuple[str, ...] = tuple(_PUZZLES)

    def __iter__(self) -> Any:
        return map(_PUZZLES.__getitem__, self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Puzzle:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"name must be the name of a puzzle, such as 'same'; got {brief(name)}")
        check_word(name, "name", self.names)
        return _PUZZLES[name]

    def _headline(self) -> str:
        return f"{len(self)} puzzles; for a task, print ex.puzzles()[{self.names[0]!r}]"

    def _table(self) -> tables.Table:
        rows = [(puzzle.name, puzzle.title) for puzzle in self]
        return tables.Table(tables.left("puzzle", "what it is about"), rows, self._headline())


def puzzles() -> Puzzles:
    """Return the puzzles: a mapping from their names.

    >>> from teachconv import exercises as ex
    >>> print(ex.puzzles()["same"])
    same: what SAME pads
    def same(n, k, s, d):
        n inputs, a filter of k taps, stride s and dilation d. Return (before, after): the zeros that
        TensorFlow's SAME adds on each side.
    ex.check("same", same) checks it, ex.hint("same") helps
    """
    return Puzzles()


def hint(name: str, step: int = 1) -> str:
    """Return one of the three hints for a puzzle.

    Args:
        name: the puzzle.
        step: 1 to 3; each says more than the one before. An answer is on the page of puzzles.

    Raises:
        ValueError: if there is no such puzzle or step.

    >>> from teachconv import exercises as ex
    >>> ex.hint("same")
    'SAME begins with the number of outputs: ceil(n / s), whatever the filter.'
    """
    check_word(step, "step", (1, 2, 3))
    return puzzles()[name].hints[step - 1]


@dataclass(frozen=True, repr=False)
class Checked(tables.Report):
    """The result of a check.

    Attributes:
        puzzle: the puzzle.
        passed: whether the function is right in all cases.
        right: the number of cases in which it is right.
        code: the mistake in one word: one of the puzzle's or of `teachconv.diff`; "shape" or "type" if that
            is wrong, "nothing" if nothing was returned, "raised" for an exception, "rounding", "wrong" if no
            known mistake gives these numbers; "timeout", "crashed" or "ended" for another process; "" if
            it passed.
        sentence: the mistake in a sentence for the learner.
        args: the arguments of the smallest case that fails; () if it passed.
        got: what the function returned for them.
        want: the right result for them.
    """

    puzzle: Puzzle
    passed: bool
    right: int
    code: str = ""
    sentence: str = ""
    args: tuple[Any, ...] = ()
    got: Any = field(default=None)
    want: Any = field(default=None)

    def _headline(self) -> str:
        name, count = self.puzzle.name, len(list(self.puzzle.cases()))
        if self.passed:
            return f"{name}: right in all {count} cases"
        return f"{name}: right in {self.right} of {count} cases; {self.code}: {self.sentence}"

    def _table(self) -> tables.Table:
        if self.passed:
            return tables.Table((), [], self._headline())
        given = zip(self.puzzle.parameters, self.args, strict=True)
        rows = [(f"with {name}", _short(value)) for name, value in given]
        if not _is_error(self.got):
            rows.append(("you returned", _short(self.got)))
        if not self.puzzle.judge:
            rows.append(("right is", _short(self.want)))
        more = f'ex.hint("{self.puzzle.name}") helps; the page {self.puzzle.page} explains it'
        return tables.Table(tables.left("", ""), rows, self._headline(), [], [more])

    def _repr_html_(self) -> str:
        """The table, and below it a picture of the smallest call that fails."""
        picture = self._picture() if self.puzzle.call and not self.passed else ""
        return f"<div>{self._table().html()}{picture}</div>"

    def _picture(self) -> str:
        """The first cell that is wrong, or the first one, of the call that computes the right result."""
        assert self.puzzle.call
        op, *args = self.puzzle.call(*self.args)
        want = np.asarray(op(*args))
        theirs = _as_result(self.got, want) if self.puzzle.diffed else want
        cell = 0 if theirs is None else int(np.argmax(theirs != want))
        at = tuple(map(int, np.unravel_index(cell, want.shape)))
        return f"<p>cell {tables.index(at)}, as it is right:</p>{explain(op, *args, at=at).picture()}"


def _short(value: Any) -> str:
    """A value in one line; of an array its first numbers, and its shape if that says more."""
    if not isinstance(value, (np.ndarray, np.floating)) or value.dtype.kind not in "fiu":
        return getattr(value, "__name__", None) or brief(value)
    first = ", ".join(f"{number:.9g}" for number in value.ravel()[:8])
    numbers = f"[{first}{', ...' * (value.size > 8)}]" if value.shape else first
    return f"{list(value.shape)} {numbers}" if value.ndim > 1 else numbers


def check(name: str, function: Callable[..., Any], *, seconds: float = 20.0) -> Checked:
    """Run a function on the cases of a puzzle, and say which mistake it makes.

    Args:
        name: the puzzle.
        function: the function; it gets copies of the arguments, by position.
        seconds: how long a call may take. Then an endless loop in Python is stopped and the check ends;
            compiled code cannot be stopped, nor anything in a browser.

    Returns:
        The result, which prints as a message to the learner.

    Raises:
        ValueError: if there is no such puzzle, or ``seconds`` is not above 0.
        TypeError: if ``function`` cannot be called.

    >>> from teachconv import exercises as ex
    >>> def same(n, k, s, d):
    ...     return (k - 1) * d // 2, (k - 1) * d // 2  # as PyTorch pads
    >>> found = ex.check("same", same)
    >>> found.passed, found.code, found.args
    (False, 'symmetric', (5, 3, 3, 1))
    """
    puzzle = puzzles()[name]
    if not callable(function):
        raise ArgumentTypeError(f"function must be your function {name}; got {brief(function)}")
    check_seconds(seconds)
    return judged(puzzle, answers(puzzle, lambda args: within(seconds, partial(_call, function, args)), 1))


def check_seconds(seconds: float) -> None:
    """Raise unless a time limit is above 0 and not too large."""
    if not 0 < seconds <= TIMEOUT_MAX:
        raise ArgumentError(f"seconds must be above 0, and at most {TIMEOUT_MAX:g}; got {brief(seconds)}")


_OFTEN = 3  # consecutive errors: then stop, because each may print


def answers(puzzle: Puzzle, call: Callable[[tuple[Any, ...]], Any], patience: int = _OFTEN) -> list[Any]:
    """Return a function's answer to each case; an exception that it raises counts as an answer.

    After ``patience`` calls that ran out of time or ended their process, the last answer counts for the rest.
    """
    found: list[Any] = []
    cases = list(puzzle.cases())
    for args in cases:
        try:
            found.append(call(args))
        except (Exception, SystemExit) as error:
            found.append(error)
        failed = [one is None or _is_error(one) for one in found[-_OFTEN:]]
        if sum(failed) == _OFTEN or sum(_word(one) not in ("", "raised") for one in found) == patience:
            break
    return found + found[-1:] * (len(cases) - len(found))


def _call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return function(*copy.deepcopy(args))


def _is_error(answer: Any) -> bool:
    return isinstance(answer, (Exception, SystemExit))


_NOT_ANSWERED = {"took more than": "timeout", "crashed: ": "crashed", "ended its ": "ended"}


def _word(answer: Any) -> str:
    """Return the code of an answer that is an error; "" for others."""
    if not _is_error(answer):
        return ""
    said = str(answer) if isinstance(answer, ContractError) else ""
    return next((code for text, code in _NOT_ANSWERED.items() if said.startswith(text)), "raised")


def judged(puzzle: Puzzle, answers: Iterable[Any]) -> Checked:
    """Judge the answers to the cases of a puzzle."""
    cases, given = list(puzzle.cases()), list(answers)
    codes = [_judge(puzzle, args, got) for args, got in zip(cases, given, strict=True)]
    bad = next((i for i, code in enumerate(codes) if code), None)
    if bad is None:
        return Checked(puzzle, True, len(cases))
    args, got, want = cases[bad], given[bad], puzzle.right(*cases[bad])
    code, sentence = _told(puzzle, cases, given, codes, bad)
    return Checked(puzzle, False, codes.count(""), code, sentence, args, got, want)


def _judge(puzzle: Puzzle, args: tuple[Any, ...], got: Any) -> str:
    """Return what is wrong with one answer in a word, or ""."""
    if _is_error(got):
        return _word(got)
    if got is None or (isinstance(got, np.ndarray) and got.dtype.hasobject and not got.shape):
        return "nothing"  # another process sends None so
    want, found = np.asarray(puzzle.right(*args)), as_array(got)
    if found is None or (found.dtype.kind in _NUMBERS) != (want.dtype.kind in _NUMBERS):
        return "type"
    if found.shape != want.shape:
        return "shape"
    if puzzle.judge:
        return puzzle.judge(args, found)
    if want.dtype.kind not in _NUMBERS:
        return "" if np.array_equal(found, want) else "wrong"
    return "" if np.all(np.abs(found - want * 1.0) <= puzzle.close * np.abs(want)) else "wrong"


_NUMBERS = "biuf"


def _told(
    puzzle: Puzzle, cases: Sequence[Any], given: Sequence[Any], codes: Sequence[str], bad: int
) -> tuple[str, str]:
    """Return code and sentence for answers that are not all right."""
    got, code = given[bad], codes[bad]
    if _is_error(got):
        return code, what_went_wrong(got).removeprefix("raised ") + _line_of(got)
    if code == "nothing":
        return code, "the function returned None: a return is missing, at least on one path"
    if code == "type":
        return code, f"you returned {_kind(got)}; return {_kind(puzzle.right(*cases[bad]))}"
    sentences = {name: sentence for name, sentence, _ in puzzle.mistakes}
    if code in sentences:
        return code, sentences[code]
    made = {name: answers(puzzle, partial(_call, makes)) for name, _, makes in puzzle.mistakes if makes}
    failing = [i for i, each in enumerate(codes) if each]
    found = [
        (sum(_equal(wrong[i], given[i]) for i in failing), sum(map(_equal, wrong, given)), name)
        for name, wrong in made.items()
        if _equal(wrong[bad], got)
    ]
    explained, most, name = max(found, key=lambda row: row[:2], default=(0, 0, ""))
    if most == len(cases):
        return name, sentences[name]
    want = np.asarray(puzzle.right(*cases[bad]))
    if (
        code == "wrong"
        and want.dtype.kind in _NUMBERS
        and not puzzle.close
        and np.allclose(got, want, 1e-6, 1e-6)
    ):
        return "rounding", "right except for rounding: sum the products themselves, which are whole numbers"
    if puzzle.call and puzzle.diffed and code == "wrong":
        for i in (i for i, each in enumerate(codes) if each == "wrong"):
            op, *more = puzzle.call(*cases[i])
            theirs = _as_result(given[i], np.asarray(op(*more)))
            row = theirs is not None and diff(op, *more, backends=[], against={"yours": theirs}).rows[0]
            if row and row.diagnosis:
                return row.diagnosis.code, row.diagnosis.sentence
    by_chance = want.dtype.kind == "b" or (explained < len(failing) and 2 * most < len(cases))
    if name and not by_chance:
        return name, f"in this case, {sentences[name]}"
    if code == "shape":
        return code, f"you returned {_kind(got)}; return {_kind(want)}"
    return code, "no usual mistake gives these numbers; compute this case by hand"


def _kind(value: Any) -> str:
    """Say what an answer is: one number, numbers of some shape, or a type."""
    array = as_array(value)
    if array is not None and array.dtype.kind == "U":
        return f"a list of {tables.count(array.size, 'text')}" if array.shape else "a text"
    if array is None or array.dtype.kind not in _NUMBERS:
        return f"an object of type {type(value).__name__}"
    if array.ndim > 1:
        return f"numbers of shape {list(array.shape)}"
    return f"a list of {tables.count(array.size, 'number')}" if array.shape else "one number"


def _line_of(error: Any) -> str:
    """Say in which line of the learner's function an exception was raised, where that is known."""
    place = None if isinstance(error, ContractError) else error.__traceback__
    while place is not None and place.tb_frame.f_code is not _call.__code__:
        place = place.tb_next
    return f" (line {place.tb_next.tb_lineno})" if place and place.tb_next else ""


def _equal(made: Any, got: Any) -> bool:
    if _is_error(made) or _is_error(got):
        return type(made) is type(got)
    one, other = as_array(made), as_array(got)
    if one is None or other is None or one.shape != other.shape:
        return False
    numbers = one.dtype.kind in _NUMBERS and other.dtype.kind in _NUMBERS
    return bool(np.allclose(one, other, 1e-12, 0) if numbers else np.array_equal(one, other))


def _as_result(got: Any, want: np.ndarray) -> np.ndarray | None:
    """Return an answer in the axes of an op's result; None if it cannot be one."""
    found = as_array(got)
    if found is None or found.size != want.size or found.dtype.kind not in _NUMBERS:
        return None
    return found.astype(want.dtype).reshape(want.shape)
