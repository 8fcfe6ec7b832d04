"""Finds where a call is executed: the steps from the public function to the loops, with file and line.

TensorFlow has no such function; there the path leads through a generated file, a C++ registry filled by
macros, and a library that was chosen when TensorFlow was compiled.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from html import escape
from importlib import import_module
from typing import Any

from .. import backends, dialects, nn_ops, record, tables
from ..devices import call_on_host, lazy_call
from ..dialects.calls import FUNCTIONS
from ..dispatch import find_backend, run_canonical
from ..errors import ArgumentError, brief, suggestion
from ..geometry import Conv2DGeometry, forward_geometry, transposed_geometry
from ..kinds import OPS, Kind, Op
from . import marks
from .libraries import library
from .tracing import Trace, trace, traced

__all__ = [
    "SourceChain",
    "SourceLine",
    "SourceStep",
    "backend_steps",
    "find_op",
    "find_source",
    "line_of",
    "source_of",
    "step_at",
    "step_of",
]


@dataclass(frozen=True, slots=True)
class SourceStep:
    """One step on the way.

    Attributes:
        what: the kind of step, such as "kernel".
        name: the name of the function, class, op or library.
        file: the file, relative to the folder that contains the package; "" for another's library.
        line: the line, or 0.
        note: a remark.
    """

    what: str
    name: str
    file: str = ""
    line: int = 0
    note: str = ""

    @property
    def where(self) -> str:
        """``file:line``, or ""."""
        return f"{self.file}:{self.line}" if self.file else ""

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

    def around(self, more: int = 1) -> list[tuple[int, str]]:
        """Return numbers and text of the line and of ``more`` lines before and after it."""
        return marks.source(self.file, self.line, more) if self.file else []


@dataclass(frozen=True, repr=False)
class SourceChain(tables.Report):
    """The way from a public function to the loops that compute.

    Attributes:
        query: what was looked up: a call in short, or a name.
        steps: the steps in order, each with ``what``, ``name``, ``file`` and ``line``.
        lines: the lines that apply stride, padding and dilation, and those that multiply and add, each with
             ``mark``, ``file``, ``line`` and ``text``.
        backend: the backend that ran; "" without a call.
        algorithm: the algorithm that ran; "" without a call.
        paths: the ways through the compiled kernels that the call took; see kernels/paths.h.
    """

    query: str
    steps: tuple[SourceStep, ...]
    lines: tuple[SourceLine, ...] = ()
    backend: str = ""
    algorithm: str = ""
    paths: tuple[str, ...] = ()

    def _headline(self) -> str:
        ran = f"   backend {self.backend}, algorithm {self.algorithm}" if self.backend else ""
        return f"where is {self.query} executed?{ran}"

    def _table(self) -> tables.Table:
        rows = [
            (str(number), step.what, step.name, step.where, step.note)
            for number, step in enumerate(self.steps, 1)
        ]
        columns = (*tables.right(""), *tables.left(*[""] * 4))
        return tables.Table(columns, rows, self._headline(), notes=self._line_table().text().split("\n"))

    def _line_table(self) -> tables.Table:
        """The lines; those of one call with a line before and after each."""
        rows = []
        for line in self.lines:
            name = () if self.backend else (f"{line.backend} {line.algorithm}",)
            where = f"{line.file.rpartition('/')[2]}:{line.line}" if line.file else ""
            rows.append((*name, line.mark, where, self._text(line)))
        return tables.Table(tables.left(*[""] * (3 if self.backend else 4)), rows)

    def _text(self, line: SourceLine) -> str:
        if not (self.backend and line.file):
            return line.text
        shown = line.around()
        margin = min(len(text) - len(text.lstrip()) for _, text in shown)
        return "\n".join(f"{'>' if number == line.line else ' '} {text[margin:]}" for number, text in shown)

    def _repr_html_(self) -> str:
        """The steps and the lines; a click on one opens or closes the code around it."""
        parts = [f"<p>{escape(self._headline())}</p>"]
        for number, step in enumerate(self.steps, 1):
            title = f"{number} {escape(step.what)} <b>{escape(step.name)}</b> {escape(step.where)}"
            parts.append(_on_click(f"{title} {escape(step.note)}", step.code()))
        lines = []
        for line in self.lines:
            name = line.mark if self.backend else f"{line.backend} {line.algorithm}: {line.mark}"
            where = f"{line.file}:{line.line}" if line.file else line.text
            title = f"<b>{escape(name)}</b> {escape(where)}"
            lines.append(_on_click(title, line.around(2), line.line, opened=bool(self.backend)))
        if lines and not self.backend:  # of all backends: too many to show at once
            lines = ["<details><summary>the lines of every algorithm</summary>", *lines, "</details>"]
        return "".join(parts + lines)


def _on_click(title: str, code: list[tuple[int, str]], marked: int = 0, opened: bool = False) -> str:
    """Return HTML: a title that shows and hides lines of code, of which one is marked."""
    if not code:
        return f"<div>{title}</div>"
    texts = [
        f"<mark>{number:5} {escape(text)}</mark>" if number == marked else f"{number:5} {escape(text)}"
        for number, text in code
    ]
    state = " open" if opened else ""
    return f"<details{state}><summary>{title}</summary><pre>{'<br>'.join(texts)}</pre></details>"


def find_source(op: Callable[..., Any] | str, *args: Any, **kwargs: Any) -> SourceChain:
    """Run a call and return the way from the public function to the loops that ran, with file and line.

    With an op alone, nothing runs: the chain then has all backends and all their algorithms.

    Args:
        op: any op of teachconv, or a function of a dialect; or its name: "conv2d", "tf.nn.conv2d",
            "torch.conv_transpose2d". Also a function of `teachconv.tf`, such as ``tf.nn.conv2d``, a tensor or
            operation of `teachconv.graph`, a tensor that an eager op or a tape returned, a layer of
            `teachconv.keras` with an input, and ``model.fit`` with its arguments, of which one step runs.
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
    ['conv2d', 'forward_geometry', 'run_canonical', 'conv2d', 'conv2d', 'conv2d_loops', 'conv2d_loops']
    >>> {line.mark: line.text for line in chain.lines}["padding"]
    'if 0 <= in_row < rows.in_size and 0 <= in_col < cols.in_size:  # padding contributes nothing'
    """
    return source_of(getattr(op, "__self__", op), op, args, kwargs)


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
    op = find_op(op)
    return _of_call(op, args, kwargs) if args or kwargs else _of_op(op)


def find_op(op: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return an op, given itself or one of its names; raise ``ValueError`` for any other name."""
    if not isinstance(op, str):
        return op
    names = {name: getattr(nn_ops, name) for name in OPS}
    for module in dialects.__all__:
        import_module(
            f"..{module}", dialects.__name__ + ".x"
        )  # enters the dialect's functions into the table
    names |= {entry.name: function for function, entry in FUNCTIONS.items()}
    plain = op.removeprefix("teachconv.").removeprefix("tc.").removeprefix("tf.nn.").removeprefix("tf.")
    plain = plain.removeprefix("dialects.")
    if plain not in names:
        near = suggestion(plain, names)
        raise ArgumentError(f"op must be an op of teachconv or the name of one; got {brief(op)}{near}")
    return names[plain]


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
        _dispatch_step(),
    ]
    g = call.geometry
    first, second, result = (
        list(g.shape_of(role)) for role in (call.kind.first, call.kind.second, call.kind.result)
    )
    query = f"{op.__name__} {first} * {second} -> {result}"
    if ran_call.algorithm == "" or not any(
        stage.name.startswith(ran_call.backend) for stage in ran_call.stages
    ):
        steps.append(
            SourceStep("result", "zeros and bias", note="an array is empty: there is nothing to sum")
        )
        return SourceChain(query, tuple(steps), (), ran_call.backend, "none")
    _, module = find_backend(options.get("backend") or ran_call.backend)
    steps.append(step_at("backend", getattr(module, call.kind.name)))
    ran = _Ran(ran_call, call.kind, options.get("algorithm"))
    steps += [*ran.choices(), *ran.kernels(call.first.dtype.name)]
    lines, paths = tuple(ran.lines(g)), tuple(sorted(ran.paths))
    return SourceChain(query, tuple(steps), lines, ran_call.backend, ran_call.algorithm, paths)


def _first_steps(op: Callable[..., Any], transposed: bool, padding: str = "") -> list[SourceStep]:
    resolves: Callable[..., Any] = transposed_geometry if transposed else forward_geometry
    if not _is_own(op):
        resolves = FUNCTIONS[op].resolver
    return [step_at("public function", op), step_at("geometry", resolves, padding)]


def _dispatch_step() -> SourceStep:
    return step_at("dispatch", run_canonical)


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
    if code is None:
        return SourceStep(what, name, note=note)
    try:
        text, first = inspect.getsourcelines(code)
    except OSError:  # it was typed, or made by exec
        text, first = [], code.co_firstlineno
    decorators = next((i for i, line in enumerate(text) if line.lstrip().startswith("def ")), 0)
    return SourceStep(what, name, marks.place(code.co_filename), first + decorators, note)


def _padding(g: Conv2DGeometry, word: Any) -> str:
    """Say in a sentence what the padding is, in rows and columns."""
    mode = word.upper() if isinstance(word, str) and word else "padding"
    texts = [
        f"{mode} at stride {axis.stride}: pad_before {axis.pad_before}, pad_after {axis.pad_after}"
        for axis in (g.rows, g.cols)
    ]
    return texts[0] if texts[0] == texts[1] else f"rows: {texts[0]}; columns: {texts[1]}"


_ONCE = "once for each multiply-add outside the padding"
_FILLED = "once for each multiply-add of the tiles, which zeros fill up"
_TIMES = {  # how often the line that multiplies and adds runs
    ("reference", "loops"): _ONCE,
    ("reference", "direct"): "once for some cells at a time; map and fsum are C of CPython",
    ("cython", "direct"): _ONCE,
    (
        "cython",
        "row_gemm",
    ): "once for each vector of multiply-adds; padding beside an image is multiplied too",
    ("cython", "winograd2"): "once for each vector of 16 products for 2x2 outputs, which are 36 otherwise",
    ("cython", "winograd4"): "once for each vector of 36 products for 4x4 outputs, which are 144 otherwise",
    (
        "cython",
        "phases",
    ): "once for each vector of multiply-adds; some zeros beyond an edge are multiplied too",
    ("cython", "col2im"): "once for each vector of dy times the filter's taps, which are then added to dx",
    ("cython", "pixel_gemm"): "once for each vector of multiply-adds; merged taps multiply padding too",
    (
        "cython",
        "depthwise",
    ): "once for each vector of multiply-adds outside the padding, all these lines together",
    ("cupy", "direct"): _ONCE,
    **dict.fromkeys(
        [("cupy", name) for name in ("tiled", "registers", "implicit_gemm", "pipelined_gemm_float32")],
        _FILLED,
    ),
    **dict.fromkeys(
        [("cupy", name) for name in ("tensor_gemm", "pipelined_gemm")],
        "once for each 4096 multiply-adds of the tiles, which zeros fill up",
    ),
    **dict.fromkeys(
        [("cupy", name) for name in ("tensor_gemm_tf32", "pipelined_gemm_tf32")],
        "once for each 2048 multiply-adds of the tiles, which zeros fill up",
    ),
    ("cupy", "depthwise"): _ONCE,
}


class _Ran:
    """What the stages of a trace say about the algorithm that ran."""

    def __init__(self, traced: Trace, kind: Kind, asked: Any) -> None:
        self.traced, self.kind = traced, kind
        self.asked = asked not in (None, "auto")
        facts = [stage.facts["paths"].split() for stage in traced.stages if stage.facts.get("paths")]
        self.paths = {path for paths in facts for path in paths}
        self.entered = traced.algorithm.split(", ")
        self.fallbacks = self._find("fallback", self.entered)
        self.algorithms = list(dict.fromkeys([*self.entered, *(mark.by for mark in self.fallbacks)]))

    def _find(self, name: str, algorithms: Sequence[str] = ()) -> list[marks.Mark]:
        found = marks.find(self.traced.backend, algorithms or self.algorithms, self.kind, self.paths)
        lines = {(mark.file, mark.line): mark for mark in found if mark.name == name}
        return list(lines.values())

    def choices(self) -> list[SourceStep]:
        """Where the algorithm was chosen, and why; and where it was chosen again."""
        stages = [stage for stage in self.traced.stages if stage.name.startswith("choose algorithm")]
        steps = [self._choice(stage) for stage in stages] or [
            step_of("choice", mark, "asked for" if self.asked else "the default")
            for mark in self._find("choice")
        ]
        return steps + [step_of("fallback", mark, f"{mark.by} does it") for mark in self.fallbacks]

    def _choice(self, stage: record.Stage) -> SourceStep:
        again = stage.name.endswith("again")
        reason = stage.note.removeprefix(f"{stage.facts.get('algorithm')}: ")
        found = [] if again or self.asked else self._find("choice")
        if found:
            return step_of("choice", next((mark for mark in found if reason in mark.text), found[0]), reason)
        file = marks.place(stage.file)
        if reason == stage.facts.get("algorithm"):
            reason = f"{reason}, {'asked for' if self.asked else 'the default'}"
        return SourceStep("choice", marks.function_at(file, stage.line)[0], file, stage.line, reason)

    def kernels(self, dtype: str) -> list[SourceStep]:
        """The function that the backend enters, and the one with the innermost loop or the library's name."""
        steps = [step_of("kernel", mark) for mark in self._find("kernel", self.entered)]
        for mark in self._find("multiply-add"):
            note = _TIMES.get((mark.backend, mark.algorithm), "") if not mark.by else f"by {mark.by}"
            steps.append(step_of("innermost loop", mark, note, at_line=True))
            if mark.by:
                name, call = library(self.traced.backend, mark.by, dtype)
                steps.append(SourceStep("library", name, note=call))
        return list(dict.fromkeys(steps))

    def lines(self, g: Conv2DGeometry) -> list[SourceLine]:
        """The lines of the algorithm, or why there are none."""
        found = []
        for name in marks.APPLIED:
            reason = _not_needed(name, g)
            lines = [] if reason else self._find(name)
            found += [line_of(mark) for mark in lines]
            if not lines:
                reason = reason or _no_line(self.traced.backend, self.traced.algorithm, name)
                found.append(SourceLine(name, "", 0, reason, self.traced.backend, self.traced.algorithm))
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
    """Return why a convolution does without what a mark stands for, or ""."""
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
    if op not in nn_ops.RESOLVERS:
        nn_ops.call_of(op, (), {})  # raises, and says which ops there are
    name = op.__name__ if _is_own(op) else FUNCTIONS[op].name
    words = OPS[name] if _is_own(op) else _op_of_dialect(op)
    more, lines = backend_steps(words.kind)
    steps = [*_first_steps(op, words.transposed), _dispatch_step(), *more]
    return SourceChain(name, tuple(steps), tuple(lines))


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
    """Return the steps in all backends, or in one, for a kind of call, and the lines of every algorithm."""
    steps: list[SourceStep] = []
    lines: list[SourceLine] = []
    for backend in [only] if only else backends.TABLE:
        module = import_module(backends.TABLE[backend])
        problem = backends.why_not(backend)
        step = step_at("backend", getattr(module, kind.name), f"not here: {problem}" if problem else "")
        steps.append(SourceStep(step.what, f"{backend}.{step.name}", step.file, step.line, step.note))
        for algorithm in module.ALGORITHMS:
            if kind not in algorithm.kinds:
                continue
            found = marks.find(backend, [algorithm.name], kind)
            kernels = [step_of("kernel", mark, algorithm.name) for mark in found if mark.name == "kernel"]
            steps += dict.fromkeys(kernels)
            lines += _lines_of(backend, algorithm.name, found)
    return steps, lines


def _lines_of(backend: str, algorithm: str, found: Sequence[marks.Mark]) -> Iterable[SourceLine]:
    for name in marks.APPLIED:
        of_name = [line_of(mark) for mark in found if mark.name == name]
        yield from dict.fromkeys(of_name) or [
            SourceLine(name, "", 0, _no_line(backend, algorithm, name), backend, algorithm)
        ]
