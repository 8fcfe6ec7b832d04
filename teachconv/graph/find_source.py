"""Finds where an op of the graph is executed: the runtime's own steps, and then those of the backends.

`teachconv.find_source` follows one call, without the runtime.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from dis import get_instructions
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from operator import attrgetter
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .. import backends, dialects
from ..core.kinds import kind_of
from ..dialects.calls import FUNCTIONS
from ..inspection.marks import place
from ..inspection.sources import (
    FOLLOWERS,
    Found,
    Ran,
    SourceChain,
    SourceStep,
    backend_steps,
    chain_of,
    listing,
    names_of_ops,
    source_of,
    step_at,
)
from ..quantized.calls import QuantizedPool
from ..quantized.explaining import is_pool, pool_of_op
from ..quantized.schemes import SCHEMES
from ..running.dispatch import find_backend
from ..support import record
from ..support.errors import ArgumentError, brief, is_one_of, plain, suggestion
from ..windows import calls as windows
from ..windows import pooling
from . import kernels, nest  # noqa: F401  (kernels fills the registry)
from .common_runtime.execute import execute
from .common_runtime.run_metadata import RunMetadata
from .common_runtime.run_steps import (
    KERNEL_PARTS,
    PASSES,
    Part,
    compute_step,
    convolves,
    gradient_step,
    steps_of_backend,
    stopped_chain,
)
from .common_runtime.session import C_API, RUN, Session, copy_of
from .eager.backprop import GradientTape
from .eager.concrete_function import CALL
from .eager.def_function import Function
from .framework.context import get_default_session
from .framework.eager_tensor import EagerTensor
from .framework.errors import FailedPreconditionError, InvalidArgumentError
from .framework.op_def import GRADIENTS, REGISTRY, OpDef
from .framework.op_kernel import KERNELS
from .framework.ops import Graph, GraphKeys, Operation
from .framework.tensor import Tensor
from .gradients.gradients_util import backpropagate
from .ops import array_ops, gen_nn_ops, math_ops, nn_ops, random_ops

_PACKAGE = __name__.partition(".")[0]
_RUNTIME = tuple(f"{_PACKAGE}.{room}." for room in ("graph", "tf", "keras"))  # where the public wrappers are
# whose functions are followed to the generated wrappers that they call
_ROOMS = tuple(f"{_PACKAGE}.{room}" for room in ("graph.ops.", "graph.training", "tf.", "keras."))
EXECUTE = Part(
    "execute",
    execute,
    "tensorflow/core/common_runtime/eager/execute.cc EagerExecute",
    "runs one op at once, without a graph",
    ("eager", "eagerexecute", "tfe_py_fastpathexecute", "tfe_execute"),
)
_TRACING = "tensorflow/python/eager/polymorphic_function/tracing_compilation.py trace_function"
# by the words for them, and their functions
_PARTS: dict[Any, Part] = {
    word: part
    for part in (C_API, RUN, *PASSES, *KERNEL_PARTS, EXECUTE, CALL)
    for word in (part.what.lower(), *part.names, part.function)
}
# the public wrappers by name; that of an element-wise op is the generated one
_PUBLIC: dict[str, Callable[..., Any]] = {
    name: inspect.unwrap(getattr(module, name))
    for module in (nn_ops, math_ops, array_ops, random_ops)
    for name in module.__all__
}


def find_source(op: Any, *args: Any) -> SourceChain:
    """Follow an op from its public wrapper to its kernels and the functions of the backends.

    Args:
        op: the name of the public wrapper (``conv2d_transpose``), the generated wrapper
            (``conv2d_backprop_input``) or the op (``Conv2DBackpropInput``). Also what `teachconv.find_source`
            takes of the runtime: a tensor, an operation, or the method ``gradient`` of a tape.
        *args: for a function such as ``tf.nn.conv2d``, and for the method of a tape, its arguments; the
            call is run.

    Returns:
        The steps with file and line, and the lines of every algorithm that apply stride, padding and
        dilation or that multiply and add.

    Raises:
        ValueError: if there is no op of that name; the message suggests similar names.

    >>> chain = find_source("conv2d_transpose")
    >>> [(step.what, step.name) for step in chain.steps[:3]]
    [('public wrapper', 'conv2d_transpose'),
     ('generated wrapper', 'conv2d_backprop_input'),
     ('op definition', 'Conv2DBackpropInput')]

    Of a node that `gradients` added, the chain begins with the gradient function:

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     x = tg.placeholder("float32", [None, 8, 8, 1])
    ...     (dx,) = tg.gradients(tg.nn.conv2d(x, tg.ones([3, 3, 1, 2])), x)
    >>> [(step.what, step.name) for step in find_source(dx).steps[:2]]
    [('created at', 'gradients/Conv2D_grad/Conv2DBackpropInput'), ('gradient function', '_conv2d_grad')]
    """
    if not isinstance(op, str):
        return source_of(getattr(op, "__self__", op), op, args, {})
    return listing(op, _of_op(*_resolve(op)))


# ---------------------------------------------------------------------------------------------
# Names
# ---------------------------------------------------------------------------------------------

_SPACES = {
    *("tf", "tensorflow", "python", "ops", "nn", "math", "nn_ops", "nn_impl", "gen_nn_ops", "raw_ops"),
    *("compat", "v1", "v2", "tc", "teachconv", "graph", "dialects"),
}
# as people import them
_ALIASES = {
    "F": "torch",
    "lax": "jax",
    "jnp": "jax",
    "nn.Conv2d": "torch",
    "ort": "onnxruntime",
}
_OF_TENSORFLOW = {"tf", "tensorflow", "nn_ops", "gen_nn_ops", "raw_ops"}
# the first part of a dotted name and a package whose attribute it may be; of one, the first that has it
_ROOTS = (
    *(("tf", "tf"), ("tensorflow", "tf"), ("keras", "keras"), ("tc", ""), (_PACKAGE, "")),
    *((dialect, f"dialects.{dialect}") for dialect in dialects.__all__),
)


def meant(text: str) -> Any:
    """Return the object that a name stands for, or the only name in a sentence.

    Args:
        text: an op of teachconv ("conv2d"), a function of a dialect ("torch.conv2d") or of TensorFlow
            ("tf.nn.conv2d"), another public function or class ("tf.keras.layers.Conv2D"), the generated
            module or a function of it ("gen_nn_ops.conv2d"), an op of the runtime ("Conv2D", in capitals or
            not), the class of a kernel ("Conv2DOp") or another part of it ("executor", "Grappler"); or words
            around one of them.

    Returns:
        The function, module, op definition or part.

    Raises:
        ValueError: if the text names none, or several.
    """
    alias = next((name for name in _ALIASES if f"{text}.".startswith(f"{name}.")), "")  # never ours
    words = [] if alias else re.findall(r"[A-Za-z_]\w*(?:\.\w+)*", text)
    if len(words) > 1:  # of a sentence, what looks like code: "is" and "size" are ops too
        words = [word for word in words if re.search(r"[._\d]|[a-z][A-Z]", word)]
    named = {_key(op): op for word in reversed(words) if (op := _named(word)) is not None}
    # "tf.nn.conv2d, gen_nn_ops.conv2d, session.run" asks for the op
    found = {key: op for key, op in named.items() if not isinstance(op, Part)} or named
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise ArgumentError(f"op must name one op; {brief(text)} names {', '.join(reversed(found))}")
    space = text.rpartition(".")[0]
    beside, usual = (getattr(_public(name), "__all__", []) for name in (space, "tf.nn"))
    known = [*REGISTRY, *gen_nn_ops.__all__, *names_of_ops(), *usual]
    near = suggestion(text, [*(f"{space}.{name}" for name in beside), *known])
    framework = _ALIASES.get(alias, text.partition(".")[0])
    if framework in FOLLOWERS:  # a name does not import it
        here = "" if find_spec(framework) else f"; {framework} is not installed here"
        raise ArgumentError(
            f"pass {framework}'s function itself in Python, find_source({plain(text)}, ...) with its "
            f"arguments, not its name{here}{near}"
        )
    near = near or "; such a name is tf.nn.conv2d or Conv2DBackpropInput"
    raise ArgumentError(f"op must be an op of teachconv or the name of one; got {brief(text)}{near}")


def _named(name: str) -> Any:
    """Return what one name with dots stands for, or None."""
    *spaces, last = name.split(".")
    if last == "gen_nn_ops":
        return gen_nn_ops
    own = names_of_ops().get(name.removeprefix("teachconv.").removeprefix("tc.").removeprefix("dialects."))
    if own is not None:
        return own
    tensorflows = _OF_TENSORFLOW.intersection(spaces) and "gen_nn_ops" not in spaces
    if tensorflows and last in _PUBLIC and _SPACES.issuperset(spaces):
        return _PUBLIC[last]
    ops = {op_name.replace("_", "").lower(): op_name for op_name in REGISTRY if _SPACES.issuperset(spaces)}
    classes = {each.kernel.__name__.lower(): each.op for each in KERNELS.values()}
    op_name = ops.get(last.replace("_", "").lower()) or classes.get(name.lower(), "")
    of_op = _generated().get(op_name, REGISTRY.get(op_name))
    ends = () if of_op else ("tf.nn", "tc", "tf.keras.layers")  # of which a name may be the end
    places = (_public(place) for place in (name, *(f"{space}.{name}" for space in ends)))
    return _PARTS.get(".".join(name.lower().split(".")[-2:])) or next(filter(callable, places), of_op)


def _public(name: str) -> Any:
    """Return the public function, class or module of teachconv that a dotted name stands for, or None."""
    root, _, path = name.partition(".")
    for package in (package for start, package in _ROOTS if start == root):
        with suppress(AttributeError):
            module = import_module(f"{_PACKAGE}.{package}".rstrip("."))
            return attrgetter(path)(module) if path else module
    return None


def is_dialects(op: Any) -> bool:
    """Whether what was named is a function of a dialect; ops of teachconv are in that table too."""
    return op in FUNCTIONS and op.__module__.startswith(f"{_PACKAGE}.dialects.")


def _key(op: Any) -> str:
    """Return the name of the op that computes what was named; several names lead to one."""
    if is_dialects(op):
        return FUNCTIONS[op].name
    if isinstance(op, Part):
        return op.what
    if isinstance(op, type):
        return f"{op.__module__}.{op.__name__}"
    name = op.name if isinstance(op, OpDef) else op.__name__
    try:
        return _resolve(name)[1]
    except ArgumentError:  # an op of teachconv that the runtime lacks, or has under another name
        return name


def _resolve(name: str) -> tuple[Callable[..., Any] | None, str]:
    """Return the public function of that name, if there is one, and the op that it leads to."""
    function = _PUBLIC.get(name) or vars(gen_nn_ops).get(name if name in gen_nn_ops.__all__ else "")
    if function is not None:
        return None if _is_generated(function) else function, _op_of(function)
    if name in REGISTRY:
        return None, name
    near = suggestion(name, [*REGISTRY, *gen_nn_ops.__all__, *_PUBLIC])
    raise ArgumentError(f"name must be that of an op or of its wrapper; got {brief(name)}{near}")


@cache
def _generated() -> dict[str, Callable[..., Any]]:
    """Return the generated wrappers by the names of their ops; some ops have none."""
    from .core_ops.op_gen import lower_case_op_name  # not at the top: op_gen is run as a program too

    named = {op_name: lower_case_op_name(op_name) for op_name in REGISTRY}
    return {op: getattr(gen_nn_ops, name) for op, name in named.items() if name in gen_nn_ops.__all__}


def _is_generated(public: Callable[..., Any]) -> bool:
    """Return whether a public function is a generated wrapper, as those of element-wise ops are."""
    return public.__module__ == gen_nn_ops.__name__


@cache
def _op_of(public: Callable[..., Any]) -> str:
    """Return the op to whose generated wrapper a function leads, read from its code instead of a table."""
    generated = next(filter(_is_generated, _reached([public], public.__module__)), None)
    return next((op for op, wrapper in _generated().items() if wrapper is generated), "")


@source_of.register(OpDef)
def _of_definition(owner: OpDef, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow an op that has no wrapper, such as one that an optimiser puts in."""
    _take_nothing(owner.name, args, kwargs)
    return listing(owner.name, _of_op(None, owner.name))


@source_of.register(ModuleType)
def _of_module(owner: ModuleType, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Say what generates the wrappers, from which definitions, and how to continue."""
    from .core_ops import nn_ops as definitions
    from .core_ops import op_gen

    if op is not owner:  # a function of C, such as len, has its module as __self__
        return source_of.dispatch(object)(owner, op, args, kwargs)
    if owner is not gen_nn_ops:
        raise ArgumentError(f"find_source follows only one module, gen_nn_ops; got {brief(owner.__name__)}")
    _take_nothing("gen_nn_ops", args, kwargs)
    next_question = "next: find_source(gen_nn_ops.conv2d), or of another function of it"
    steps = [
        SourceStep("generated module", "gen_nn_ops", place(str(owner.__file__)), 1, next_question),
        step_at("generator", op_gen.generate, "one function for each op definition"),
        step_at("name", op_gen.lower_case_op_name, "Conv2DBackpropInput becomes conv2d_backprop_input"),
        SourceStep(
            "op definitions", "nn_ops", place(definitions.__file__), 1, "TensorFlow: core/ops/nn_ops.cc"
        ),
    ]
    return chain_of("gen_nn_ops, which computes nothing,", steps)


def _of_op(public: Callable[..., Any] | None, op_name: str, backend: str = "") -> Iterator[Found]:
    """Yield the steps of an op from its public wrapper to its kernels, and the lines of its algorithms."""
    yield from _wrappers_of(public, op_name)
    yield from _kernels([op_name], backend)


def _wrappers_of(public: Callable[..., Any] | None, op_name: str) -> Iterator[SourceStep]:
    """Yield the steps of an op from its public wrapper to its definition.

    Without a wrapper they begin with all that lead to the op. Those over one axis are left out: they work on
    images of one row.
    """
    named = [function for name, function in _PUBLIC.items() if "1d" not in name]
    leading = (one for one in named if not _is_generated(one) and _op_of(one) == op_name)
    for wrapper in leading if public is None else (public,):
        yield step_at("public wrapper", wrapper, "normalises its arguments")
    yield from _definition_of(op_name)


def _definition_of(op_name: str) -> Iterator[SourceStep]:
    """Yield the steps of an op's generated wrapper, if it has one, and of its definition."""
    op_def = REGISTRY[op_name]
    if op_name in _generated():
        yield step_at("generated wrapper", _generated()[op_name], f"snake case of {op_name}")
    inputs = ", ".join(arg.name for arg in op_def.inputs) or "none"
    yield SourceStep("op definition", op_name, place(op_def.file), op_def.line, f"inputs: {inputs}")


def _kernels(ops: Iterable[str], backend: str = "") -> Iterator[Found]:
    """Yield the kernels of ops, with the steps of their backends or of one, and their algorithms' lines."""
    found = [definition for op in ops for definition in KERNELS.values() if definition.op == op]
    for kernel in dict.fromkeys(definition.kernel for definition in found):
        mine = [definition for definition in found if definition.kernel is kernel]
        labels = list(dict.fromkeys(definition.label or "default" for definition in mine))
        of_backends = set(labels) == {"default", *backends.TABLE}  # they have rows of their own below
        named = "default, and every backend" if of_backends else ", ".join(labels)
        devices = ", ".join(sorted({definition.device for definition in mine}))
        note = f"{devices}; labels: {named}"
        yield SourceStep("kernel", kernel.__name__, place(mine[0].file), mine[0].line, note)
        yield compute_step(mine[0])
        if kernel.backend_function is not None:
            yield from backend_steps(kind_of(kernel.backend_function), backend)


# ---------------------------------------------------------------------------------------------
# Tensors, operations, runs
# ---------------------------------------------------------------------------------------------


@source_of.register(Operation)
@source_of.register(Tensor)
def _of_node(
    owner: Operation | Tensor, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> SourceChain:
    """Follow a node: where the program created it, whose gradient it is, and the steps of its op.

    With feeds, the node is run as ``session.run(node, feeds)`` does: in a copy of the default session, or in
    one of its own.
    """
    node = owner.op if isinstance(owner, Tensor) else owner
    if args or kwargs:
        session = kwargs.pop("session", None)  # of conv.eval
        return _of_run(copy_of(session) if session else _session_of(node.graph), owner, *args, **kwargs)
    label = f", attribute _kernel {node.attrs['_kernel']!r}" if "_kernel" in node.attrs else ""
    note = f"adds an op {node.type}{label}; computes nothing"
    steps = [SourceStep("created at", node.name, place(node.file), node.line, note)]
    if node.original_op is not None:
        steps.append(gradient_step(node.original_op, f"the gradient of {brief(node.original_op.name)}"))
    way = [
        *_wrappers_of(None, node.type),
        replace(RUN.step("runs it: feed_dict={...} after the tensor shows how"), tensorflow=""),
        *_kernels([node.type], node.attrs.get("_kernel") or find_backend()[0]),
    ]
    kernel = node.graph.last_run.get(node.name)
    ran = f"which ran as {kernel}" if kernel else "which has not run"
    return listing(f"{owner.name}, {ran},", [*steps, *way])


@source_of.register(Session)
def _of_session(owner: Session, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow ``session.run`` with its arguments; the values of the session's variables stay as they are."""
    if op is owner or op.__name__ != "run":
        raise ArgumentError(f"find_source follows only run of a session; got {brief(op)}")
    return _of_run(copy_of(owner), *args, **kwargs) if args or kwargs else _of_part(RUN, RUN, (), {})


def _session_of(graph: Graph) -> Session:
    """Return a copy of the default session, or a session of its own whose variables are initialised."""
    session = get_default_session()
    if session is not None and session.graph is graph:
        return copy_of(session)
    session = Session(graph)
    with suppress(InvalidArgumentError, FailedPreconditionError):  # the run will say what has no value
        session.run([each.initializer for each in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)])
    return session


def _of_run(session: Session, *args: Any, **kwargs: Any) -> SourceChain:
    """Run a session and return the chain of the run; it ends where the run does."""
    metadata = RunMetadata()
    try:
        session.run(*args, **{**kwargs, "run_metadata": metadata})
    except (InvalidArgumentError, FailedPreconditionError) as error:
        return stopped_chain(metadata, error)
    return metadata.chain


@source_of.register(Part)
def _of_part(owner: Part, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Say what a part of the runtime is, where it is here and in TensorFlow, and how to see it at work."""
    _take_nothing(owner.what, args, kwargs)
    file, _, name = owner.tensorflow.partition(" ")
    steps = [
        replace(owner.step(), tensorflow=""),
        SourceStep("in TensorFlow", name, file),
        SourceStep("in a run", "what it does", note="find_source(y, feed_dict={x: ...})"),
    ]
    return listing(f"{owner.what}, a part of the runtime,", steps)


@source_of.register(EagerTensor)
def _of_eager(owner: EagerTensor, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow the op that returned a tensor; for what a tape returned, from its gradient function."""
    _take_nothing(owner, args, kwargs)
    query = f"a tensor {list(owner.shape)} {owner.dtype.name}"
    if not owner.made_by:
        return chain_of(query, [SourceStep("constant", "no op", note="its value was given")])
    way = list(_of_op(None, owner.made_by, find_backend()[0]))
    if owner.gradient_of:
        way.insert(0, gradient_step(owner.gradient_of, f"the gradient of {owner.gradient_of}"))
    return listing(f"{query}, the result of {owner.made_by},", way)


@source_of.register(FunctionType)
def _of_function(owner: FunctionType, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow a public wrapper such as `tf.nn.conv2d`: its op, or the ops of one call."""
    public = inspect.unwrap(op)
    if public in _PARTS:
        return _of_part(_PARTS[public], op, args, kwargs)
    if public in windows.FUNCTIONS:
        return _of_window(public, args, kwargs)
    if is_pool(public):
        return _of_quantized_pool(public, args, kwargs)
    is_op = is_one_of(op, names_of_ops().values())  # an op of teachconv, or a dialect's function
    if is_op or not str(public.__module__).startswith(_RUNTIME if args or kwargs else f"{_PACKAGE}."):
        return source_of.dispatch(object)(owner, op, args, kwargs)
    space = public.__module__.removeprefix(f"{_PACKAGE}.").removeprefix("graph.ops.")
    query = f"{space}.{op.__name__}"
    generated = _is_generated(public)
    steps: list[Found] = [] if generated else [step_at("public function", public)]
    if not args and not kwargs:
        named = op.__name__ in {*_PUBLIC, *gen_nn_ops.__all__}
        of_tf = named and public.__module__.startswith(f"{_PACKAGE}.tf.")
        if not (generated or of_tf or _PUBLIC.get(op.__name__) is public):
            return _of_code(query, steps, [public])
        wrapper, op_name = _resolve(op.__name__)
        return listing(query, _once([*steps, *_of_op(None if generated else wrapper, op_name)]))
    with record.recording() as stages:
        result = op(*args, **kwargs)
    if isinstance(result, Tensor):  # the call only added a node: a graph is being built
        return source_of(result, result, (), {})
    ran = _by_op(stages)
    for of_op in ran:
        op_name = of_op[0].facts["kernel"].op
        # where a generated wrapper was called, the call began below the public ones
        steps += _definition_of(op_name) if generated else _wrappers_of(None, op_name)
        steps += _what_ran(of_op)
    convolutions = list(filter(convolves, ran))
    if len(convolutions) == 1:
        return Ran(convolutions[0]).chain(query, _once(steps))
    return chain_of(query, _once(steps))


def _by_op(stages: list[record.Stage]) -> list[list[record.Stage]]:
    """Return the stages of each op that ran eagerly."""
    starts = [i for i, stage in enumerate(stages) if "kernel" in stage.facts]
    return [stages[begin:end] for begin, end in pairwise([*starts, len(stages)])]


def _what_ran(stages: list[record.Stage]) -> Iterator[Found]:
    """Yield the steps of an op that ran eagerly, from `execute` to the innermost loops."""
    yield EXECUTE.step("runs the op at once: no graph, no session")
    yield compute_step(stages[0].facts["kernel"])
    yield from steps_of_backend(stages)


def _once(found: Iterable[Found]) -> list[Found]:
    """Return each step and line once, and none but the first at the place of the first."""
    first, *rest = dict.fromkeys(found)
    return [first, *(each for each in rest if (each.file, each.line) != (first.file, first.line))]


@source_of.register(Function)
def _of_traced(owner: Function, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Call a ``tf.function``; follow its trace and the kernels that ran."""
    python_function, known = owner.python_function, len(owner.trace_log)
    owner.get_concrete_function(*args, **kwargs)
    note = str(owner.trace_log[-1]) if len(owner.trace_log) > known else "traced before: the trace runs again"
    first = replace(step_at("traced function", python_function, note), tensorflow=_TRACING)
    return chain_of_function(python_function.__name__, [first], owner, *args, **kwargs)


def chain_of_function(
    query: str, first: Sequence[SourceStep], traced: Function, *args: Any, **kwargs: Any
) -> SourceChain:
    """Call a traced function with a log, and return the chain: the ``first`` steps, and those of what ran.

    Afterwards every variable has the value that it had before.
    """
    variables = traced.get_concrete_function(*args, **kwargs).variables
    values = [variable.numpy() for variable in variables]
    try:
        _, metadata = traced.profile(*args, **kwargs)
    finally:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
    chain = metadata.chain
    return replace(chain, query=query, steps=(*first, *chain.steps))


@source_of.register(GradientTape)
def _of_tape(owner: GradientTape, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Compute a tape's gradient; follow the engine, each gradient function, and the ops that these ran."""
    recorded = {operation.type: operation for operation in owner.operations()}
    given = inspect.signature(op).bind(*args, **kwargs).arguments
    reasons = [owner.why_none(source) for source in nest.flatten(given.get("sources", given.get("source")))]
    with record.recording() as stages:
        results = nest.flatten(op(*args, **kwargs))
    steps = [
        step_at("tape", op),
        step_at("engine", backpropagate, "walks the records backwards"),
        *(
            SourceStep("no gradient", f"source {number}", note=reason)
            for number, (result, reason) in enumerate(zip(results, reasons, strict=True))
            if result is None
        ),
        *(
            gradient_step(operation, f"of {operation.type}")
            for operation in recorded.values()
            # none is registered of an op that the tape passed by
            if GRADIENTS.get(operation.attrs.get("_gradient_op_type", operation.type))
        ),
    ]
    ran = (step for of_op in _by_op(stages) for step in _what_ran(of_op))
    return chain_of(f"tape.{op.__name__}", _once([*steps, *ran]))


def _take_nothing(owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if args or kwargs:
        raise ArgumentError(f"find_source takes no arguments after {brief(owner)}, which is not called")


def _reached(functions: Sequence[Any], rooms: Any, owner: type | None = None) -> dict[Any, list[Any]]:
    """Return functions and those of teachconv that their code names, breadth first, each with what it names.

    Args:
        functions: where to begin.
        rooms: the beginnings of the modules whose functions are followed further.
        owner: the class of which they are methods, or None.
    """
    waiting, reached = list(functions), {}
    for function in waiting:
        is_followed = function in functions or function.__module__.startswith(rooms)
        named = _named_in(function.__code__, function, owner) if is_followed else ()
        reached[function] = [*filter(_is_ours, map(_plain, named))]
        waiting += [each for each in dict.fromkeys(reached[function]) if each not in waiting]
    return reached


def _named_in(code: CodeType, function: Any, owner: type | None) -> Iterator[Any]:
    """Yield what code names, functions among it.

    They are globals, attributes of modules, methods of self, and entries of tables; where an attribute of the
    class is the index, its entry alone.
    """
    value: Any = None
    table: Any = None
    for step in get_instructions(code):
        if isinstance(step.argval, CodeType):  # a lambda, or a function in it
            yield from _named_in(step.argval, function, owner)
        if step.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(step.argval)
            table = value if isinstance(value, dict) else table
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            value = getattr(value, step.argval, None) if isinstance(value, type | ModuleType) else None
        elif step.opname.startswith("BINARY") and table is not None:
            entries = [table[value]] if isinstance(value, int) and value in table else table.values()
            yield from entries
            table = None
        else:
            value = owner if step.opname.startswith("LOAD_FAST") and step.argval == "self" else None
        yield value


def _plain(value: Any) -> Any:
    return inspect.unwrap(value) if callable(value) else value


def _is_ours(value: Any) -> bool:
    return inspect.isfunction(value) and value.__module__.startswith(f"{_PACKAGE}.")


def _of_code(
    query: str, steps: Sequence[Found], functions: Sequence[Any], owner: type | None = None
) -> SourceChain:
    """Follow what code may call: the functions that it names on the way to ops, and the ops."""
    reached = _reached(functions, _ROOMS, owner)
    leading = {each for each in reached if _is_generated(each)}
    ops = dict.fromkeys(_op_of(each) for each in reached if each in leading)
    while not leading.issuperset(more := [each for each in reached if leading.intersection(reached[each])]):
        leading.update(more)
    way = [each for each in reached if each in leading and each not in functions and not _is_generated(each)]
    calls = [step_at("calls", each) for each in way]
    wrappers = [step for op_name in ops for step in _definition_of(op_name)]
    return listing(query, [*steps, *calls, *wrappers, *_kernels(ops)])


def _of_window(public: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow a pool, padding or batch normalisation; a call is checked first."""
    resolver = inspect.unwrap(windows.FUNCTIONS[public][0])
    call = windows.bound_call(public, args, kwargs)[0] if args or kwargs else None
    runs = resolver.__globals__[resolver.__annotations__["return"]]
    computes = step_at("computes", runs.__call__, f"{runs.__name__}: NumPy")
    return _windows_chain(public, resolver, call, computes)


def _of_quantized_pool(public: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow a pool of quantized arrays: its own scheme's average, or those of all."""
    pool = pool_of_op(public, args, kwargs)[0] if args or kwargs else None
    schemes = [pool.scheme] if pool else SCHEMES.values()
    averages = [step_at("rescaling", law.average, str(law)) for law in schemes if "avg" in public.__name__]
    computes = step_at("computes", QuantizedPool.steps, "QuantizedPool: NumPy")
    resolver = windows.FUNCTIONS[getattr(pooling, public.__name__)][0]
    return _windows_chain(public, resolver, pool and pool.pool, computes, *averages)


def _windows_chain(public: Any, resolver: Any, call: Any, *computes: SourceStep) -> SourceChain:
    """Return the chain of a function of windows, with the shapes of its call, or None."""
    query = f"{public.__module__.removeprefix(f'{_PACKAGE}.')}.{public.__name__}"
    shapes = f" {list(call.input_shape)} -> {list(call.output_shape)}" if call else ""
    first = step_at("public function", public)
    return chain_of(f"{query}{shapes}", [first, step_at("geometry", resolver), *computes])


# the methods of a class that compute; where there is `call`, the others only lead to it
_METHODS = ("__call__", "call", "apply", "update_state", "result")


@source_of.register(type)
def _of_class(owner: type, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Follow what the methods of a class may call, or a method of the class itself."""
    if not any(base.__module__.startswith(f"{_PACKAGE}.") for base in owner.__mro__):
        return source_of.dispatch(object)(owner, op, args, kwargs)
    _take_nothing(owner.__name__, args, kwargs)
    query = f"{owner.__module__.removeprefix(f'{_PACKAGE}.')}.{owner.__name__}"
    if op is not owner:
        return _of_code(f"{query}.{op.__name__}", [step_at("method", op)], [op.__func__], owner)
    methods = [method for name in _METHODS if _is_ours(method := _plain(getattr(owner, name, None)))]
    steps = [step_at("method", method, method.__qualname__) for method in methods]
    computing = [method for method in methods if method.__name__ == "call"] or methods
    return _of_code(query, [step_at("class", owner), *steps], computing, owner)
