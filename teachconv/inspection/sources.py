"""Finds where a call is executed: the steps from the public function to the loops, with file and line.

TensorFlow has no such function; there the path leads through a generated file, a C++ registry filled by
macros, and a library that was chosen when TensorFlow was compiled.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from html import escape
from importlib import import_module
from types import CodeType
from typing import Any, TypeAlias

from .. import backends, dialects, quantized
from ..core.geometry import TITLES, Conv2DGeometry, forward_geometry, transposed_geometry
from ..core.kinds import OPS, Kind, Op, kind_of
from ..core.winograd import FORMS, products
from ..dialects.calls import FUNCTIONS
from ..quantized.calls import QuantizedCall
from ..quantized.explaining import call_of_op, is_quantized
from ..quantized.schemes import SCHEMES
from ..running import nn_ops
from ..running.dispatch import compute, find_backend
from ..support import record, tables
from ..support.devices import call_on_host, lazy_call
from ..support.errors import ArgumentTypeError, brief, is_one_of
from . import marks
from .libraries import library
from .marks import SourceLine
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
        note: a remark: what the step did this time.
        known: how a step in another framework is known, such as "op registry"; "" for our own.
        beside: the counterpart of the step, which does the same in our graph runtime; None for our own.
        tensorflow: file and function of TensorFlow that do the same as a step of our graph runtime, or "".
    """

    what: str
    name: str
    file: str = ""
    line: int = 0
    note: str = ""
    known: str = ""
    beside: SourceStep | None = None
    tensorflow: str = ""

    @property
    def where(self) -> str:
        """``file:line``, below the folder of installed packages; the file alone without a line; or ""."""
        short = re.split(r"(?:site|dist)-packages[/\\](?:\w+[/\\]include[/\\])?", self.file)[-1]
        return f"{short}:{self.line}" if self.line else short

    def code(self, more: int = 12) -> list[tuple[int, str]]:
        """Return numbers and text of the line and of ``more`` lines after it; [] if they cannot be read."""
        return marks.source(self.file, self.line, after=more) if self.file else []

    def html(self, title: str) -> str:
        """Return the step, and its counterpart, for a notebook; a click shows the code."""
        known = f" <i>{escape(self.known or self.tensorflow)}</i>" if self.known or self.tensorflow else ""
        title = f"{title} <b>{escape(self.name)}</b> {escape(self.where)} {escape(self.note)}{known}"
        beside = self.beside.html("&emsp;teachconv:") if self.beside else ""
        return tables.on_click(title, self.code()) + beside


Found: TypeAlias = SourceStep | SourceLine  # what a source of steps yields, in the order of the call


@dataclass(frozen=True, repr=False)
class SourceChain(tables.Steps):
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


def chain_of(
    query: str, found: Iterable[Found], backend: str = "", algorithm: str = "", paths: Iterable[str] = ()
) -> SourceChain:
    """Return the chain of steps and lines, which may come in any order; equal lines are one."""
    both = list(found)
    steps = tuple(step for step in both if isinstance(step, SourceStep))
    lines = dict.fromkeys(line for line in both if isinstance(line, SourceLine))
    return SourceChain(query, steps, tuple(lines), backend, algorithm, tuple(sorted(paths)))


def listing(query: str, found: Iterable[Found]) -> SourceChain:
    """Return a chain of the code that may run; it shows the kernel to which the default backend leads."""
    chain = chain_of(query, found)
    kinds = [step.what for step in chain.steps]
    return replace(chain, shown=kinds.index("backend") + 2 if "backend" in kinds else len(kinds))


def find_source(op: Callable[..., Any] | str, *args: Any, **kwargs: Any) -> SourceChain:
    """Run a call and return the path from the public function to the loops that ran, with file and line.

    With an op alone, nothing runs: the chain then has all backends and all their algorithms.

    Args:
        op: any op of teachconv, `teachconv.quantized` or a dialect; or its name: "conv2d", "tf.nn.conv2d",
            "gen_nn_ops.conv2d_backprop_input", "Conv2DBackpropInput", "torch.conv_transpose2d", or a sentence
            with one such name. A pool, padding or batch normalisation, alone or with its arguments. Also any
            other public function or class of teachconv, its dialects, `teachconv.tf` and `teachconv.keras`,
            or its name, such as "tf.nn.separable_conv2d" or "tf.keras.layers.Conv2D": alone, its chain has
            what its code may call. Also the module
            gen_nn_ops, a ``tf.function`` with its arguments, a tensor or operation of `teachconv.graph`, also
            with feeds, ``session.run`` with its arguments, the name of a part of that runtime ("executor",
            "placer", "OpKernel"), a tensor that an eager op or a tape returned, a layer of `teachconv.keras`
            with an input, and ``model.fit`` with its arguments, of which one step runs. The run changes no
            variable's value. And a function, method or layer of an installed framework, such as TensorFlow's
            own ``tf.nn.conv2d``: its steps then say what that framework ran, and how this is known.
        *args: the op's positional arguments.
        **kwargs: the op's keyword arguments.

    Returns:
        A `SourceChain`: ``.steps`` and ``.lines``. A line that the call does not need, such as that of the
        dilation where there is none, is in ``.lines`` with the reason as its text. A call by one of
        Winograd's algorithms has the lines of its transforms instead.

    Raises:
        ValueError: if there is no op of that name, and as the op.
        TypeError, BackendUnavailable, MemoryError: as the op.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    >>> chain = tc.find_source(tc.conv2d, x, w, 2, "SAME", backend="reference", algorithm="loops")
    >>> [step.name for step in chain.steps]
    ['conv2d', 'forward_geometry', 'compute', 'conv2d', 'conv2d', 'conv2d_loops', 'conv2d_loops']
    >>> {line.mark: line.text for line in chain.lines}["padding"]
    'if all(0 <= index < axis.in_size for axis, index in zip(g.axes, in_indices, strict=True)):'
    """
    if isinstance(op, str):  # the runtime, which imports this module, knows the names of both
        chain = find_source(import_module(_RUNTIME).meant(op), *args, **kwargs)
        of_framework = re.fullmatch(r"[\w.]+", op) and op.partition(".")[0] in ("tf", *FOLLOWERS)
        return replace(chain, query=f"{op}, as teachconv has it,") if of_framework else chain
    owner = getattr(op, "__self__", op)
    framework = _framework_of(op) or _framework_of(owner)
    if framework:
        return import_module(FOLLOWERS[framework]).follow(op, args, kwargs)
    if not is_one_of(op, names_of_ops().values()):
        import_module(_RUNTIME)  # follows all others
    return source_of(owner, op, args, kwargs)


_PACKAGE = __name__.partition(".")[0]
_RUNTIME = f"{_PACKAGE}.graph.find_source"


def _framework_of(owner: Any) -> str:
    """Return the name of the framework that a function or an object is from; "" for all others."""
    if isinstance(owner, type) and owner.__module__.startswith(f"{_PACKAGE}."):
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
    names |= {f"quantized.{name}": getattr(quantized, name) for name in quantized.calls.OPS}
    return names | {entry.name: function for function, entry in FUNCTIONS.items()}


# ---------------------------------------------------------------------------------------------
# One call
# ---------------------------------------------------------------------------------------------


def _of_call(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Run the call and say what ran."""
    resolved, lazy = None, None if is_quantized(op) else lazy_call(op, args, kwargs)
    if is_quantized(op):
        resolved, options = call_of_op(op, args, kwargs)
        call, ran = resolved.call, trace(op, *args, **kwargs)
    elif lazy is None:
        call, options = nn_ops.call_of(op, *call_on_host(args, kwargs))  # also of what autograd records
        ran = trace(op, *args, **kwargs)
    else:  # of arrays larger than memory one chunk says what runs
        call, options = lazy.call, lazy.options
        ran = traced(op.__name__, lazy.run_one)
    given = nn_ops.with_defaults(op, args, kwargs)
    query = f"{op.__name__} {shapes_text(call.kind, call.geometry)}"
    steps = [
        *_first_steps(op, call.op.transposed, _padding(call.geometry, given.get("padding"))),
        *(() if lazy is None else (step_at(*step) for step in lazy.steps())),
    ]
    if hasattr(options.get("backend"), "SCHEME"):  # a kernel of the caller's, which rescales itself
        kernel = step_at("backend", getattr(options["backend"], call.kind.name))
        return chain_of(query, [*steps, kernel])
    steps.append(_dispatch_of(op))
    if not (ran.algorithm and any(stage.name.startswith(ran.backend) for stage in ran.stages)):
        empty = SourceStep("result", "zeros and bias", note="an array is empty: there is nothing to sum")
        return chain_of(query, [*steps, empty], ran.backend, "none")
    _, module = find_backend(options.get("backend") or ran.backend)
    summed = Ran(ran.stages, call.geometry)  # of the whole, where one chunk ran
    steps += [step_at("backend", getattr(module, call.kind.name)), *summed.choices(), *summed.kernels()]
    return summed.chain(op.__name__, [*steps, *summed.lines(), *_rescaling(resolved, summed.algorithm)])


def _dispatch_of(op: Callable[..., Any]) -> SourceStep:
    """Return the step between the geometry and the backend."""
    if is_quantized(op):
        return step_at("dispatch", QuantizedCall.sums, "takes the zero points off")
    return step_at("dispatch", compute)


def _rescaling(resolved: QuantizedCall | None, algorithm: str) -> list[Found]:
    """Return the step that rescales the sums of a quantized call, and the lines that round."""
    if resolved is None:
        return []
    law, half_up = resolved.scheme, resolved.rescaling.half_up
    paths = [name for name, is_there in (("half_up", half_up), ("half_away", ~half_up)) if is_there.any()]
    lines = marks.find("quantized", [law.rescale.__name__], paths=paths)
    return [
        step_at("rescaling", law.rescale, str(law)),
        *(replace(line, algorithm=algorithm) for line in lines),
    ]


def shapes_text(kind: Kind, g: Conv2DGeometry) -> str:
    """Return the shapes of the arrays of a call as text."""
    first, second, result = (list(g.shape_of(role)) for role in (kind.first, kind.second, kind.result))
    return f"{first} * {second} -> {result}"


def _first_steps(op: Callable[..., Any], transposed: bool, padding: str = "") -> list[SourceStep]:
    own = transposed_geometry if transposed else forward_geometry
    resolves = own if _is_own(op) else FUNCTIONS[op].resolver
    return [step_at("public function", op), step_at("geometry", resolves, padding)]


def step_at(what: str, function: Callable[..., Any], note: str = "") -> SourceStep:
    """Return a step for a function or a class of Python: its name, and the file and line where it begins.

    A backend's function may be any callable. A lambda and a partial have a line too; what has no source here,
    such as a function of C, has its name alone.
    """
    plain = inspect.unwrap(function)
    while isinstance(plain, partial):
        plain = inspect.unwrap(plain.func)
    if isinstance(plain, type):
        file = getattr(sys.modules.get(plain.__module__), "__file__", None)  # None: it was typed
        line = line_where(plain, "class ")
        return SourceStep(what, plain.__name__, marks.place(file) if file else "", line, note)
    name = getattr(plain, "__name__", type(plain).__name__)
    code = getattr(plain, "__code__", None) or getattr(type(plain).__call__, "__code__", None)
    return SourceStep(what, name, note=note) if code is None else step_at_code(what, name, code, note)


def step_at_code(what: str, name: str, code: CodeType, note: str = "") -> SourceStep:
    """Return a step for compiled Python, such as that of a frame: the file, and the line of its ``def``."""
    line = line_where(code, "def ") or code.co_firstlineno
    return SourceStep(what, name, marks.place(code.co_filename), line, note)


def line_where(found: Any, word: str) -> int:
    """Return the line of a class or of code that begins with a word, behind the decorators.

    0 where Python cannot find it, as of what was typed or made by ``exec``.
    """
    try:
        text, first = inspect.getsourcelines(found)
    except (OSError, TypeError):
        return 0
    return first + next((i for i, line in enumerate(text) if line.lstrip().startswith(word)), 0)


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
        self.backend, self.algorithm, self._dtype = facts["backend"], facts["algorithm"], facts["dtype"]
        self.paths = {path for stage in stages for path in stage.facts.get("paths", "").split()}
        self._engine = facts.get("engine", "")  # of cuDNN
        self._asked = next(stage.facts["algorithm"] for stage in stages if "kind" in stage.facts) != "auto"
        path = backends.TABLE.get(self.backend)  # None for a backend of the caller's
        self._known = {one.name: one for one in import_module(path).ALGORITHMS} if path else {}
        names = self.algorithm.split(", ")
        self._entered = marks.find(self.backend, names, self.kind, self.paths)
        self._fallbacks = {mark.place: mark for mark in self._entered if mark.mark == "fallback"}.values()
        names += [mark.by for mark in self._fallbacks]
        found = marks.find(self.backend, names, self.kind, self.paths)
        self._marks = {(mark.mark, mark.file, mark.line): mark for mark in found}.values()

    def chain(self, name: str, found: Iterable[Found]) -> SourceChain:
        """Return the chain of the call."""
        query = f"{name} {shapes_text(self.kind, self.geometry)}"
        return chain_of(query, found, self.backend, self.algorithm, self.paths)

    def choices(self) -> Iterator[SourceStep]:
        """Yield where the algorithm was chosen, and why; and where it was chosen again."""
        stages = [stage for stage in self.stages if stage.name.startswith("choose algorithm")]
        marked = [mark for mark in self._marks if mark.mark == "choice"]
        for stage in stages:
            yield self._choice(stage, [] if self._asked or stage.name.endswith("again") else marked)
        for mark in () if stages else marked:
            yield step_of("choice", mark, self._why(mark.algorithm))
        for mark in self._fallbacks:
            yield step_of("fallback", mark, f"{mark.by} does it")

    def _choice(self, stage: record.Stage, marked: Sequence[SourceLine]) -> SourceStep:
        algorithm = stage.facts.get("algorithm", "")
        reason = stage.note.removeprefix(f"{algorithm}: ")
        if marked:  # the first line is for the algorithm's own reason, a later one for another
            return step_of("choice", marked[0 if reason == self._why(marked[0].algorithm) else -1], reason)
        if reason == algorithm:
            reason = f"{reason}, {self._why(reason)}"
        here = SourceLine("choice", self.backend, algorithm, marks.place(stage.file), stage.line)
        return step_of("choice", here, reason)

    def _why(self, algorithm: str) -> str:
        """Return why an algorithm ran, in words."""
        own = getattr(self._known.get(algorithm), "why", "")
        return "asked for" if self._asked else own or "the default"

    def reason(self) -> str:
        """Return why the algorithm ran: its own reason, the processor's instructions, and the shapes."""
        why = next((choice.note for choice in self.choices()), self._why(self.algorithm))
        named = why if why.startswith(self.algorithm) else f"{self.algorithm}: {why}"
        isa = facts_of(self.stages).get("instruction_set")
        return "; ".join(filter(None, (named, isa, shapes_text(self.kind, self.geometry))))

    def kernels(self) -> Iterable[SourceStep]:
        """Return the function that the backend enters, and that with the innermost loop or the library.

        Of Winograd's loop it is one of four steps, all of which are among the lines.
        """
        steps = [
            step_of("kernel", mark, products(mark.algorithm, self.kind, self.geometry))
            for mark in self._entered
            if mark.mark == "kernel"
        ]
        for mark in self._marks:
            if mark.mark == "multiply-add" and (mark.by or mark.algorithm not in FORMS):
                note = f"by {mark.by}" if mark.by else getattr(self._known.get(mark.algorithm), "times", "")
                steps.append(step_of("innermost loop", mark, note, at_line=True))
                if mark.by:
                    name, call = library(self.backend, mark.by, self._dtype)
                    steps.append(SourceStep("library", name, note=self._engine or call))
        return dict.fromkeys(steps)

    def lines(self) -> Iterator[SourceLine]:
        """Yield the lines of the algorithm, or why there are none."""
        return _lines(self.backend, self.algorithm, self._marks, self.geometry)


def _lines(
    backend: str, algorithm: str, found: Collection[SourceLine], g: Conv2DGeometry | None = None
) -> Iterator[SourceLine]:
    """Yield the lines for each mark, or why an algorithm, or a call of that geometry, has none.

    A call by one of Winograd's has its transforms instead of what it does not need.
    """
    transforms = any(mark.mark in marks.TRANSFORMS for mark in found)
    for name in marks.IN_ORDER:
        reason = "" if g is None else _not_needed(name, g)
        of_name = [] if reason else [mark for mark in found if mark.mark == name]
        yield from of_name
        if not of_name and name in marks.APPLIED and (g is None or not transforms):
            yield SourceLine(name, backend, algorithm, text=reason or _no_line(backend, algorithm, name))


def step_of(what: str, mark: SourceLine, note: str = "", at_line: bool = False) -> SourceStep:
    """Return a step for the function that a mark is in, or for the very line."""
    name, begin = marks.function_at(mark.file, mark.line)
    line = mark.line if at_line or what in ("choice", "fallback") else begin
    return SourceStep(what, name, mark.file, line, note)


def _not_needed(mark: str, g: Conv2DGeometry) -> str:
    """Return why a convolution does not need what a mark stands for, or ""."""
    apart = "one tap: there is no distance between taps" * (g.filters_shape[:2] == (1, 1))
    pads = {pad for pair in g.padding for pad in pair}
    reasons = {
        "stride": "1 here: neighbouring outputs start at neighbouring inputs" * (g.strides == (1, 1)),
        "dilation": apart or "1 here: the taps are neighbours" * (g.dilations == (1, 1)),
        "padding": "0 here: every tap lies inside" * (pads == {0} and not g.has_padding),
    }
    return reasons.get(mark, "")


def _no_line(backend: str, algorithm: str, mark: str) -> str:
    """Return why an algorithm has no line for a mark, or none on the way that a call took."""
    anywhere = {one.mark for one in marks.find(backend, [algorithm])}
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
    steps = [*_first_steps(op, words.transposed), _dispatch_of(op)]
    schemes = SCHEMES.values() if is_quantized(op) else ()
    rescaling = [step_at("rescaling", law.rescale, str(law)) for law in schemes]
    return listing(name, [*steps, *backend_steps(words.kind), *rescaling])


def _is_own(op: Callable[..., Any]) -> bool:
    """Whether it is an op of teachconv's own, and not a dialect's function."""
    return op.__module__ in (nn_ops.__name__, quantized.__name__)


def _op_of_dialect(op: Callable[..., Any]) -> Op:
    """Return the op that computes a dialect's function: which it is follows from the arrays that it takes."""
    roles = {operand.role for operand in FUNCTIONS[op].operands}
    if "out_backprop" in roles:
        return OPS["conv2d_backprop_filter" if "input" in roles else "conv2d_backprop_input"]
    return OPS["conv2d_transpose" if "transpose" in op.__name__ else "conv2d"]


def backend_steps(kind: Kind, only: str = "") -> Iterator[Found]:
    """Yield the steps in all backends, or in one, for a kind of call, and the lines of every algorithm.

    The default backend is the first, and its kernel that runs where no shape asks for another one.
    """
    default = find_backend()[0]
    for backend in [only] if only else sorted(backends.TABLE, key=lambda name: name != default):
        module = import_module(backends.TABLE[backend])
        problem = backends.why_not(backend)
        note = f"not here: {problem}" if problem else "the default" if backend == default else ""
        step = step_at("backend", getattr(module, kind.name), note)
        yield replace(step, name=f"{backend}.{step.name}")
        algorithms = [one for one in module.ALGORITHMS if kind in one.kinds]
        for algorithm in sorted(algorithms, key=lambda one: not one.usual):
            found = marks.find(backend, [algorithm.name], kind)
            if algorithm.path:
                found.sort(key=lambda mark: bool(mark.paths) and algorithm.path not in mark.paths)
            note = algorithm.name + ", the default for most shapes" * algorithm.usual
            yield from dict.fromkeys(step_of("kernel", mark, note) for mark in found if mark.mark == "kernel")
            yield from _lines(backend, algorithm.name, found)
