"""Finds where a call is executed: the steps from the public function to the loops, with file and line.

TensorFlow has no such function; there the path leads through a generated file, a C++ registry filled by
macros, and a library that was chosen when TensorFlow was compiled.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from html import escape
from importlib import import_module
from types import CodeType
from typing import Any

from .. import backends, dialects
from ..core.geometry import TITLES, Conv2DGeometry, forward_geometry, transposed_geometry
from ..core.kinds import OPS, Kind, Op, kind_of
from ..dialects.calls import FUNCTIONS
from ..running import nn_ops
from ..running.dispatch import find_backend, prepare
from ..support import record, tables
from ..support.devices import call_on_host, lazy_call
from ..support.errors import ArgumentTypeError, brief, is_one_of
from . import marks
from .libraries import library
from .tracing import facts_of, trace, traced

# the first part of the module's name of another framework's function, class or object -> the module whose
# `follow` says what that framework runs; it is imported when the first of them is asked about
FOLLOWERS = {
    "tensorflow": "teachconv.frameworks.tensorflow",
    "keras": "teachconv.frameworks.keras",
    "torch": "teachconv.frameworks.torch",
    "jax": "teachconv.frameworks.jax",
    "jaxlib": "teachconv.frameworks.jax",
    "onnxruntime": "teachconv.frameworks.onnxruntime",
}


@dataclass(frozen=True, slots=True)
class SourceStep:
    """One step on the path of a call.

    Attributes:
        what: the kind of step, such as "kernel".
        name: the name of the function, class, op or library.
        file: the file, relative to the folder that contains the package; a file of another framework by its
            full path, or as that framework's repository names it where it is not installed; "" for none.
        line: the line, or 0.
        note: a remark.
        known: how a step in another framework is known, such as "op registry"; "" for our own.
        beside: the step of our graph runtime that does the same; None for our own.
    """

    what: str
    name: str
    file: str = ""
    line: int = 0
    note: str = ""
    known: str = ""
    beside: SourceStep | None = None

    @property
    def where(self) -> str:
        """``file:line``, below the folder of installed packages; the file alone without a line; or ""."""
        short = re.split(r"(?:site|dist)-packages[/\\](?:\w+[/\\]include[/\\])?", self.file)[-1]
        return f"{short}:{self.line}" if self.line else short

    def code(self, more: int = 12) -> list[tuple[int, str]]:
        """Return numbers and text of the line and of ``more`` lines after it; [] if they cannot be read."""
        try:
            found = marks.source(self.file, self.line, more) if self.file else []
        except (OSError, ValueError):  # a function of a notebook has no file
            return []
        return [(number, text) for number, text in found if number >= self.line]


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line that applies the stride, the padding or the dilation, or that multiplies and adds.

    Attributes:
        mark: "stride", "padding", "dilation" or "multiply-add".
        file: the file, relative to the folder that contains the package; "" if there is no such line.
        line: the line, or 0.
        text: the line; if there is none, the reason.
        backend: the backend.
        algorithm: the algorithm.
    """

    mark: str
    file: str
    line: int
    text: str
    backend: str = ""
    algorithm: str = ""

    @property
    def place(self) -> str:
        """The file without its folders and the line, or ""."""
        return f"{self.file.rpartition('/')[2]}:{self.line}" if self.file else ""

    def around(self, more: int = 1) -> list[tuple[int, str]]:
        """Return numbers and text of the line and of ``more`` lines before and after it."""
        return marks.source(self.file, self.line, more) if self.file else []


@dataclass(frozen=True, repr=False)
class SourceChain(tables.Report):
    """The path from a public function to the loops that compute.

    Attributes:
        query: what was looked up: a call in short, or a name.
        steps: the steps in order, each with ``what``, ``name``, ``file`` and ``line``.
        lines: the lines that apply stride, padding and dilation, and those that multiply and add, each with
             ``mark``, ``file``, ``line`` and ``text``.
        backend: the backend that ran; "" without a call.
        algorithm: the algorithm that ran; "" without a call.
        paths: the ways through the compiled kernels that the call took; see kernels/paths.h.
        shown: how many steps lead to the default kernel, of a chain without a call; 0 for all.

    Printed, a chain has at most 15 lines: the steps to the kernel that ran, or to the default one, and the
    first line of it for each mark. ``print(chain.all)`` shows everything, each line between its neighbours.
    """

    query: str
    steps: tuple[SourceStep, ...]
    lines: tuple[SourceLine, ...] = ()
    backend: str = ""
    algorithm: str = ""
    paths: tuple[str, ...] = ()
    shown: int = 0

    @property
    def all(self) -> tables.Table:
        """All steps, and all lines; those of a call with the line before and after each."""
        return self._table()

    def _as_text(self, room: int = 100) -> str:
        return self._brief().text(room)

    def _brief(self) -> tables.Table:
        """The table of at most 15 lines of 100 characters."""
        first = () if self._elsewhere else self.lines[:1]
        mine = [line for line in self.lines for one in first if line.algorithm == one.algorithm]
        lines = list({line.mark: line for line in reversed(mine)}.values())[::-1]  # the first of each mark
        headline, *ran = self._above()
        room = _LINES - 1 - len(ran) - len(lines)
        ways = (i for i, step in enumerate(self.steps) if step.what == "in a tf.function")  # other calls
        count = self.shown or next(ways, len(self.steps))
        if count > room or count < len(self.steps) or len(lines) < len(self.lines):
            room -= 1  # for the line that says what is left out
            count = min(count, room)
        place = _PLACE - 14 if self._elsewhere else _PLACE  # beside it is how the step is known
        rows = [
            (str(i), step.what, _cut(step.name, _NAME), _tail(step.where, place), step.known or step.note)
            for i, step in enumerate(self.steps[:count], 1)
        ]
        columns = (*tables.right(""), *tables.left(*[""] * 4))
        below = [(line.mark, line.place, line.text) for line in lines]
        notes = tables.Table(tables.left(*[""] * 3), _fitted(below)).text().split("\n") if below else []
        left_out = (len(self.steps) - count, "step"), (len(self.lines) - len(lines), "line")
        if counts := [tables.count(*pair) for pair in left_out if pair[0]]:
            notes.append(f"and {' and '.join(counts)} more: --all, or print(chain.all)")
        order = sorted(range(count), key=lambda i: (self.steps[i].what != "geometry", -i))
        return tables.Table(columns, _fitted(rows, order, 2, room - count), headline, ran, notes)

    def _headline(self) -> str:
        return f"{self._question} {self._ran}".rstrip()

    @property
    def _question(self) -> str:
        return f"where is {self.query} executed?"

    @property
    def _ran(self) -> str:
        if self._elsewhere:
            return f"{self.backend}: {self.algorithm}" if self.algorithm else self.backend
        return f"backend {self.backend}, algorithm {self.algorithm}" if self.backend else ""

    @property
    def _elsewhere(self) -> bool:
        """Whether the steps are those of another framework."""
        return bool(self.steps) and bool(self.steps[0].known)

    def _above(self) -> list[str]:
        """The question with what ran; two lines where one would be too long."""
        one = f"{self._question}   {self._ran}".rstrip()
        return [one] if len(one) <= _WIDTH else [self._question, self._ran]

    def _table(self) -> tables.Table:
        rows: list[Any] = []
        for number, step in enumerate(self.steps, 1):
            places: Any = (step.where, step.note)
            if self._elsewhere:  # the note goes below the place
                places = ([*filter(None, (step.where, step.note))], step.known)
            rows.append((str(number), step.what, step.name, *places))
        columns = (*tables.right(""), *tables.left(*[""] * 4))
        notes = [*self._beside(), *self._line_table().text().split("\n")]
        if self._elsewhere and self.lines:
            heading = "their loops are machine code; these lines of teachconv's kernels do the same"
            notes.insert(len(self._beside()), heading)
        headline, *ran = self._above()
        return tables.Table(columns, rows, headline, ran, notes)

    def _beside(self) -> list[str]:
        """The lines that say where our runtime does what another framework's steps do; [] for our own."""
        numbers: dict[SourceStep, list[str]] = {}
        for number, step in enumerate(self.steps, 1):
            if step.beside:
                numbers.setdefault(step.beside, []).append(str(number))
        rows = [(ours.what, ours.name, ours.where, ", ".join(of)) for ours, of in numbers.items()]
        columns = tables.left("", "", "", "")
        title = "the same steps in teachconv's runtime, to be read and stepped into"
        return str(tables.Table(columns, rows, title)).split("\n") if rows else []

    def _line_table(self) -> tables.Table:
        """The lines; those of one call with a line before and after each."""
        rows = []
        for line in self.lines:
            name = () if self.backend else (f"{line.backend} {line.algorithm}",)
            rows.append((*name, line.mark, line.place, self._text(line)))
        return tables.Table(tables.left(*[""] * (3 if self.backend else 4)), rows)

    def _text(self, line: SourceLine) -> tables.Cell:
        if not (self.backend and line.file):
            return line.text
        shown = line.around()
        margin = min(len(text) - len(text.lstrip()) for _, text in shown)
        return [f"{'>' if number == line.line else ' '} {text[margin:]}" for number, text in shown]

    def _repr_html_(self) -> str:
        """The steps and the lines; a click on one opens or closes the code around it."""
        parts = [f"<p>{'<br>'.join(map(escape, [self._headline(), *self._table().lines]))}</p>"]
        for number, step in enumerate(self.steps, 1):
            title = f"{number} {escape(step.what)} <b>{escape(step.name)}</b> {escape(step.where)}"
            known = f" <i>{escape(step.known)}</i>" if step.known else ""
            parts.append(_on_click(f"{title} {escape(step.note)}{known}", step.code()))
            if step.beside:
                beside = f"&emsp;teachconv: <b>{escape(step.beside.name)}</b> {escape(step.beside.where)}"
                parts.append(_on_click(beside, step.beside.code()))
        lines = []
        for line in self.lines:
            name = line.mark if self.backend else f"{line.backend} {line.algorithm}: {line.mark}"
            where = f"{line.file}:{line.line}" if line.file else line.text
            title = f"<b>{escape(name)}</b> {escape(where)}"
            lines.append(_on_click(title, line.around(2), line.line, opened=bool(self.backend)))
        if lines and not self.backend:  # of all backends: too many to show at once
            lines = ["<details><summary>the lines of every algorithm</summary>", *lines, "</details>"]
        return "".join(parts + lines)


_LINES, _WIDTH = 15, 100  # a chain prints no more lines, and no more characters in one
_LEAST = 28  # characters: less of a note says too little
_NAME, _PLACE = 30, 42  # characters of the columns of names and places


def _fitted(
    rows: Sequence[tuple[str, ...]], order: Sequence[int] = (), under: int = 0, spare: int = 0
) -> list[tuple[str, ...]]:
    """Return rows no wider than a line: a last cell that is too long goes below, or is cut.

    Args:
        rows: the rows; none is empty.
        order: the rows whose last cells may go below, the most important one first.
        under: the column in which a cell that goes below begins.
        spare: how many cells may go below.
    """
    widths = [max(map(len, column)) + 2 for column in list(zip(*rows, strict=True))[:-1]]
    room = _WIDTH - sum(widths)
    below = [i for i in order if len(rows[i][-1]) > room][:spare]
    found: list[tuple[str, ...]] = []
    for i, (*cells, last) in enumerate(rows):
        if i in below:
            line = [""] * len(rows[0])
            line[under] = _cut(last, _WIDTH - sum(widths[:under]))
            found += (*cells, ""), tuple(line)
        else:
            found.append((*cells, _cut(last, room) if last else ""))
    return found


def _cut(text: str, room: int) -> str:
    """Return a text, the beginning of it that fits, or nothing where little would fit."""
    return text if len(text) <= room else f"{text[: room - 4].rstrip()} ..." * (room > _LEAST)


def _tail(place: str, room: int) -> str:
    """Return a place, or the end of it that fits."""
    return place if len(place) <= room else f"...{place[3 - room :]}"


def _on_click(title: str, code: list[tuple[int, str]], marked: int = 0, opened: bool = False) -> str:
    """Return HTML: a title that shows and hides lines of code, of which one is marked."""
    if not code:
        return f"<div>{title}</div>"
    texts = [
        f"<mark>{number:5} {escape(text)}</mark>" if number == marked else f"{number:5} {escape(text)}"
        for number, text in code
    ]
    state = " open" if opened else ""
    return f"<details{state}><summary>{title}</summary>{tables.pre('<br>'.join(texts))}</details>"


def find_source(op: Callable[..., Any] | str, *args: Any, **kwargs: Any) -> SourceChain:
    """Run a call and return the path from the public function to the loops that ran, with file and line.

    With an op alone, nothing runs: the chain then has all backends and all their algorithms.

    Args:
        op: any op of teachconv, or a function of a dialect; or its name: "conv2d", "tf.nn.conv2d",
            "gen_nn_ops.conv2d_backprop_input", "Conv2DBackpropInput", "torch.conv_transpose2d", or a sentence
            with one such name. Also any other public function or class of teachconv, its dialects,
            `teachconv.tf` and `teachconv.keras`, or its name, such as "tf.nn.separable_conv2d" or
            "tf.keras.layers.Conv2D": alone, its chain has what its code may call. Also the module
            gen_nn_ops, a ``tf.function`` with its arguments, a tensor or operation of `teachconv.graph`, also
            with feeds, a tensor that an eager op or a tape returned, a layer of `teachconv.keras` with an
            input, and ``model.fit`` with its arguments, of which one step runs. And a function, method or
            layer of an installed framework, such as TensorFlow's own ``tf.nn.conv2d``: its
            steps then say what that framework ran, and how this is known.
        *args: the op's positional arguments.
        **kwargs: the op's keyword arguments.

    Returns:
        A `SourceChain`: ``.steps`` and ``.lines``. A line that the call does not need, such as that of the
        dilation where there is none, is in ``.lines`` with the reason as its text.

    Raises:
        ValueError: if there is no op of that name, and as the op.
        TypeError, BackendUnavailable, MemoryError: as the op.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    >>> chain = tc.find_source(tc.conv2d, x, w, 2, "SAME", backend="reference", algorithm="loops")
    >>> [step.name for step in chain.steps]
    ['conv2d', 'forward_geometry', 'prepare', 'conv2d', 'conv2d', 'conv2d_loops', 'conv2d_loops']
    >>> {line.mark: line.text for line in chain.lines}["padding"]
    'if all(0 <= index < axis.in_size for axis, index in zip(g.axes, in_indices, strict=True)):'
    """
    if isinstance(op, str):  # the runtime, which imports this module, knows the names of both
        meant = import_module(f"{__name__.partition('.')[0]}.graph.find_source").meant(op)
        chain = find_source(meant, *args, **kwargs)
        of_framework = re.fullmatch(r"[\w.]+", op) and op.partition(".")[0] in ("tf", *FOLLOWERS)
        return replace(chain, query=f"{op}, as teachconv has it,") if of_framework else chain
    owner = getattr(op, "__self__", op)
    framework = _framework_of(op) or _framework_of(owner)
    if framework:
        return import_module(FOLLOWERS[framework]).follow(op, args, kwargs)
    if not is_one_of(op, names_of_ops().values()):
        import_module(f"{__name__.partition('.')[0]}.graph.find_source")  # follows all others
    return source_of(owner, op, args, kwargs)


def _framework_of(owner: Any) -> str:
    """Return the name of the framework that a function or an object is from; "" for all others."""
    if isinstance(owner, type) and owner.__module__.startswith(f"{__name__.partition('.')[0]}."):
        return ""  # whatever class it is derived from
    modules = [getattr(owner, "__module__", None), *(cls.__module__ for cls in type(owner).__mro__)]
    names = (str(module).partition(".")[0] for module in modules)
    return next((name for name in names if name in FOLLOWERS), "")


@singledispatch
def source_of(owner: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Do the work of `find_source`; graph and keras register their own objects here.

    Args:
        owner: ``op``, or for a method such as ``model.fit`` its object.
        op: what was asked about.
        args: the positional arguments of the call.
        kwargs: the keyword arguments.

    Returns:
        The chain.
    """
    if not is_one_of(op, names_of_ops().values()):
        raise ArgumentTypeError(
            f"op must be an op of teachconv, or a function, layer or method of {', '.join(FOLLOWERS)}; got "
            f"{brief(op)}. Pass the function that it calls with its arguments, or wrap it in tf.function or "
            "jax.jit"
        )
    return _of_call(op, args, kwargs) if args or kwargs else _of_op(op)


def names_of_ops() -> dict[str, Callable[..., Any]]:
    """Return the ops of teachconv and the functions of the dialects by their names."""
    names = {name: nn_ops.FUNCTIONS[op] for name, op in OPS.items()}
    for module in dialects.__all__:
        import_module(f"{dialects.__name__}.{module}")  # enters the dialect's functions into the table
    return names | {entry.name: function for function, entry in FUNCTIONS.items()}


# ---------------------------------------------------------------------------------------------
# One call
# ---------------------------------------------------------------------------------------------


def _of_call(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Run the call and say what ran."""
    lazy = lazy_call(op, args, kwargs)
    if lazy is None:
        call, options = nn_ops.call_of(op, *call_on_host(args, kwargs))  # also of what autograd records
        ran_call = trace(op, *args, **kwargs)
    else:  # of arrays larger than memory one chunk says what runs
        call, options = lazy.call, lazy.options
        ran_call = traced(op.__name__, lazy.run_one)
    bound = nn_ops.bind(op, args, kwargs)
    bound.apply_defaults()
    steps = [
        *_first_steps(op, call.op.transposed, _padding(call.geometry, bound.arguments.get("padding"))),
        *(() if lazy is None else (step_at(*step) for step in lazy.steps())),
        step_at("dispatch", prepare),
    ]
    query = f"{op.__name__} {shapes_text(call.kind, call.geometry)}"
    if ran_call.algorithm == "" or not any(
        stage.name.startswith(ran_call.backend) for stage in ran_call.stages
    ):
        steps.append(
            SourceStep("result", "zeros and bias", note="an array is empty: there is nothing to sum")
        )
        return SourceChain(query, tuple(steps), (), ran_call.backend, "none")
    _, module = find_backend(options.get("backend") or ran_call.backend)
    steps.append(step_at("backend", getattr(module, call.kind.name)))
    ran = Ran(ran_call.stages, call.geometry)  # of the whole, where one chunk ran
    steps += [*ran.choices(), *ran.kernels()]
    lines, paths = tuple(ran.lines()), tuple(sorted(ran.paths))
    return SourceChain(query, tuple(steps), lines, ran_call.backend, ran_call.algorithm, paths)


def shapes_text(kind: Kind, g: Conv2DGeometry) -> str:
    """Return the shapes of the arrays of a call as text."""
    first, second, result = (list(g.shape_of(role)) for role in (kind.first, kind.second, kind.result))
    return f"{first} * {second} -> {result}"


def _first_steps(op: Callable[..., Any], transposed: bool, padding: str = "") -> list[SourceStep]:
    own = transposed_geometry if transposed else forward_geometry
    resolves = own if _is_own(op) else FUNCTIONS[op].resolver
    return [step_at("public function", op), step_at("geometry", resolves, padding)]


def step_at(what: str, function: Callable[..., Any], note: str = "") -> SourceStep:
    """Return a step for a function of Python: its name, and the file and line where it begins.

    A backend's function may be any callable. A lambda and a partial have a line too; what has no source here,
    such as a function of C, has its name alone.
    """
    plain = inspect.unwrap(function)
    while isinstance(plain, partial):
        plain = inspect.unwrap(plain.func)
    name = getattr(plain, "__name__", type(plain).__name__)
    code = getattr(plain, "__code__", None) or getattr(type(plain).__call__, "__code__", None)
    return SourceStep(what, name, note=note) if code is None else step_at_code(what, name, code, note)


def step_at_code(what: str, name: str, code: CodeType, note: str = "") -> SourceStep:
    """Return a step for compiled Python, such as that of a frame: the file, and the line of its ``def``."""
    try:
        text, first = inspect.getsourcelines(code)
    except OSError:  # it was typed, or made by exec
        text, first = [], code.co_firstlineno
    decorators = next((i for i, line in enumerate(text) if line.lstrip().startswith("def ")), 0)
    return SourceStep(what, name, marks.place(code.co_filename), first + decorators, note)


def _padding(g: Conv2DGeometry, word: Any) -> str:
    """Say in a sentence what the padding is, on each axis."""
    mode = word.upper() if isinstance(word, str) and word else "padding"
    texts = [
        f"{mode} at stride {axis.stride}: pad_before {axis.pad_before}, pad_after {axis.pad_after}"
        for axis in g.axes
    ]
    named = (f"{name}: {text}" for name, text in zip(TITLES[-g.rank :], texts, strict=True))
    return texts[0] if len(set(texts)) == 1 else "; ".join(named)


class Ran:
    """What the stages of a call say about the algorithm that ran.

    Attributes:
        kind: the kind of call.
        geometry: its geometry.
        backend: the backend.
        algorithm: the algorithm, or several, as `teachconv.trace` names them.
        paths: the ways through the compiled kernels that the call took.
    """

    def __init__(self, stages: Sequence[record.Stage], geometry: Conv2DGeometry | None = None) -> None:
        facts = facts_of(stages)
        self.stages = stages
        self.geometry: Conv2DGeometry = geometry or facts["geometry"]
        self.kind: Kind = kind_of(facts["kind"])
        self.backend: str = facts["backend"]
        self.algorithm: str = facts["algorithm"]
        self._dtype: str = facts["dtype"]
        asked = next(stage.facts["algorithm"] for stage in stages if "kind" in stage.facts)
        self._asked = asked != "auto"
        path = backends.TABLE.get(self.backend)  # None for a backend of the caller's
        self._facts = {one.name: one for one in import_module(path).ALGORITHMS} if path else {}
        self.paths = {path for stage in stages for path in stage.facts.get("paths", "").split()}
        self._entered = self.algorithm.split(", ")
        self._fallbacks = self._find("fallback", self._entered)
        self._algorithms = list(dict.fromkeys([*self._entered, *(mark.by for mark in self._fallbacks)]))

    def _find(self, name: str, algorithms: Sequence[str] = ()) -> list[marks.Mark]:
        found = marks.find(self.backend, algorithms or self._algorithms, self.kind, self.paths)
        return list({(mark.file, mark.line): mark for mark in found if mark.name == name}.values())

    def choices(self) -> list[SourceStep]:
        """Where the algorithm was chosen, and why; and where it was chosen again."""
        stages = [stage for stage in self.stages if stage.name.startswith("choose algorithm")]
        steps = [self._choice(stage) for stage in stages] or [
            step_of("choice", mark, self._why(mark.algorithm)) for mark in self._find("choice")
        ]
        return steps + [step_of("fallback", mark, f"{mark.by} does it") for mark in self._fallbacks]

    def _choice(self, stage: record.Stage) -> SourceStep:
        again = stage.name.endswith("again")
        reason = stage.note.removeprefix(f"{stage.facts.get('algorithm')}: ")
        found = [] if again or self._asked else self._find("choice")
        if found:  # the first line is for the algorithm's own reason, a later one for another
            return step_of("choice", found[0 if reason == self._why(found[0].algorithm) else -1], reason)
        file = marks.place(stage.file)
        if reason == stage.facts.get("algorithm"):
            reason = f"{reason}, {self._why(reason)}"
        return SourceStep("choice", marks.function_at(file, stage.line)[0], file, stage.line, reason)

    def _why(self, algorithm: str) -> str:
        """Return why an algorithm ran, in words."""
        own = self._facts[algorithm].why if algorithm in self._facts else ""
        return "asked for" if self._asked else own or "the default"

    def kernels(self) -> list[SourceStep]:
        """The function that the backend enters, and the one with the innermost loop or the library's name."""
        steps = [step_of("kernel", mark) for mark in self._find("kernel", self._entered)]
        for mark in self._find("multiply-add"):
            note = f"by {mark.by}" if mark.by else self._facts[mark.algorithm].times
            steps.append(step_of("innermost loop", mark, note, at_line=True))
            if mark.by:
                name, call = library(self.backend, mark.by, self._dtype)
                steps.append(SourceStep("library", name, note=call))
        return list(dict.fromkeys(steps))

    def lines(self) -> list[SourceLine]:
        """The lines of the algorithm, or why there are none."""
        found = []
        for name in marks.APPLIED:
            reason = _not_needed(name, self.geometry)
            lines = [] if reason else self._find(name)
            found += [line_of(mark) for mark in lines]
            if not lines:
                reason = reason or _no_line(self.backend, self.algorithm, name)
                found.append(SourceLine(name, "", 0, reason, self.backend, self.algorithm))
        return list(dict.fromkeys(found))


def step_of(what: str, mark: marks.Mark, note: str = "", at_line: bool = False) -> SourceStep:
    """Return a step for the function that a mark is in, or for the very line."""
    name, begin = marks.function_at(mark.file, mark.line)
    line = mark.line if at_line or what in ("choice", "fallback") else begin
    return SourceStep(what, name, mark.file, line, note)


def line_of(mark: marks.Mark) -> SourceLine:
    """Return the line of a mark."""
    return SourceLine(mark.name, mark.file, mark.line, mark.text, mark.backend, mark.algorithm)


def _not_needed(mark: str, g: Conv2DGeometry) -> str:
    """Return why a convolution does not need what a mark stands for, or ""."""
    pads = {pad for pair in g.padding for pad in pair}
    reasons = {
        "stride": (g.strides == (1, 1), "1 here: neighbouring outputs start at neighbouring inputs"),
        "dilation": (g.dilations == (1, 1), "1 here: the taps are neighbours"),
        "padding": (pads == {0} and not g.has_padding, "0 here: every tap lies inside"),
    }
    needless, reason = reasons.get(mark, (False, ""))
    if mark == "dilation" and g.filters_shape[:2] == (1, 1):
        return "one tap: there is no distance between taps"
    return reason if needless else ""


def _no_line(backend: str, algorithm: str, mark: str) -> str:
    """Return why an algorithm has no line for a mark, or none on the way that a call took."""
    anywhere = {one.name for one in marks.find(backend, [algorithm])}
    if not anywhere:
        return f"the sources of {backend} mark no line of {algorithm}"
    if mark in anywhere:
        return "the way that this call took through the kernel applies none"
    return f"{algorithm} has no {mark}: it is for {mark} 1"


# ---------------------------------------------------------------------------------------------
# An op alone: all backends, all algorithms
# ---------------------------------------------------------------------------------------------


def _of_op(op: Callable[..., Any]) -> SourceChain:
    name = op.__name__ if _is_own(op) else FUNCTIONS[op].name
    words = OPS[name] if _is_own(op) else _op_of_dialect(op)
    more, lines = backend_steps(words.kind)
    steps = [*_first_steps(op, words.transposed), step_at("dispatch", prepare)]
    return SourceChain(name, (*steps, *more), tuple(lines), shown=len(steps) + 2)


def _is_own(op: Callable[..., Any]) -> bool:
    """Whether it is an op of teachconv's own, and not a dialect's function."""
    return op.__module__ == nn_ops.__name__


def _op_of_dialect(op: Callable[..., Any]) -> Op:
    """Return the op that computes a dialect's function: which it is follows from the arrays that it takes."""
    roles = {operand.role for operand in FUNCTIONS[op].operands}
    if "out_backprop" in roles:
        return OPS["conv2d_backprop_filter" if "input" in roles else "conv2d_backprop_input"]
    return OPS["conv2d_transpose" if "transpose" in op.__name__ else "conv2d"]


def backend_steps(kind: Kind, only: str = "") -> tuple[list[SourceStep], list[SourceLine]]:
    """Return the steps in all backends, or in one, for a kind of call, and the lines of every algorithm.

    The default backend is the first, and its kernel that runs where no shape asks for another one.
    """
    steps: list[SourceStep] = []
    lines: list[SourceLine] = []
    default = find_backend()[0]
    for backend in [only] if only else sorted(backends.TABLE, key=lambda name: name != default):
        module = import_module(backends.TABLE[backend])
        problem = backends.why_not(backend)
        note = f"not here: {problem}" if problem else "the default" if backend == default else ""
        step = step_at("backend", getattr(module, kind.name), note)
        steps.append(replace(step, name=f"{backend}.{step.name}"))
        for algorithm in sorted(module.ALGORITHMS, key=lambda one: not one.usual):
            if kind not in algorithm.kinds:
                continue
            found = marks.find(backend, [algorithm.name], kind)
            if algorithm.path:
                found.sort(key=lambda mark: bool(mark.paths) and algorithm.path not in mark.paths)
            note = algorithm.name + ", the default for most shapes" * algorithm.usual
            steps += dict.fromkeys(step_of("kernel", mark, note) for mark in found if mark.name == "kernel")
            lines += _lines_of(backend, algorithm.name, found)
    return steps, lines


def _lines_of(backend: str, algorithm: str, found: Sequence[marks.Mark]) -> Iterable[SourceLine]:
    for name in marks.APPLIED:
        of_name = [line_of(mark) for mark in found if mark.name == name]
        yield from dict.fromkeys(of_name) or [
            SourceLine(name, "", 0, _no_line(backend, algorithm, name), backend, algorithm)
        ]
