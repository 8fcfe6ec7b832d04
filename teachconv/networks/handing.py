"""Translates calls, nodes, layers, and chains of layers of PyTorch or Keras to another framework."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..core.arguments import begins_then_ends, is_shape, truth
from ..data.seeded import make_array
from ..dialects import jax, keras, onnx
from ..dialects.calls import FUNCTIONS
from ..support.argument_types import Framework
from ..support.errors import ArgumentError, brief, is_one_of
from ..translation import translating
from ..translation.onnx_models import Call, call_of_node
from ..translation.pointwise import pointwise_lines
from ..translation.target_calls import Target, TargetCall
from ..translation.targets import target_named
from ..translation.translating import Translation, translate_call
from ..verification.reports import DiffReport, DiffRow, failed_row
from ..windows.calls import FUNCTIONS as WINDOWS
from ..windows.normalization import BatchNormCall
from . import definitions
from .formula_calls import arrays_in
from .reading import LAYOUT, NORM, read
from .walking import DENSE, INPUT, Network, framework_of, walk


@dataclass(frozen=True, eq=False, repr=False)
class ModelTranslation(Translation):
    """A chain of layers as calls of another framework, a function for each layer.

    It is a `Translation` whose ``code`` ends with ``network(x, weights)``, over NumPy arrays in the source's
    layouts. No two of its functions have one name.

    Attributes:
        weights: the source's arrays that each layer takes, by its name, as ``network`` takes them.
        steps: the translations of convolutions, pools, padding and normalisations, by the layer's name.
    """

    weights: Mapping[str, tuple[np.ndarray, ...]] = field(default_factory=dict, repr=False)
    steps: Mapping[str, Translation] = field(default_factory=dict, repr=False)
    _parts: Mapping[str, _Part] = field(default_factory=dict, repr=False)  # by the names of their functions

    def check(self, x: Any = None, w: Any = None, b: Any = None) -> DiffReport:
        """Check the functions of ``code`` one by one, and that ``network`` calls them in order.

        Each of ``steps`` runs on seeded small integers, and each other function on what the model's own layer
        got. Without the framework, only teachconv's version of the steps and the order are checked.

        Raises:
            ArgumentError: if there is no translation, or an array is given: a step's own check takes them.
        """
        if not self.possible or any(array is not None for array in (x, w, b)):
            why = self.why or "x, w and b must be None for a chain; the check of each of .steps takes them"
            raise ArgumentError(f"there is no translation to check: {why}")
        made = cache(lambda: self.function().__globals__)  # what ``code`` defines
        there, ran, rows = translating.installed(self.to), "", list[DiffRow]()
        for word, part in self._parts.items():
            if part.call is not None:
                report = self.steps[part.name]._check(lambda word=word: made()[word])  # type: ignore[misc]
                rows += (replace(row, name=f"{part.name}: {row.name}") for row in report.rows)
                ran = report.title.partition(" (")[2]
            else:
                missing = DiffRow(part.name, "", None, note=f"{self.to} is not installed")
                rows.append(part.judged(made()[word]) if there else missing)
        return DiffReport(f"{self.source.function} to {self.to} ({ran}", (*rows, self._order()))

    def _order(self) -> DiffRow:
        """Run ``network`` on functions that return what the model's layers did, and note what they get."""
        parts, fits = [*self._parts.items()], list[bool]()

        def stand_in(name: str, *given: np.ndarray) -> np.ndarray:
            word, part = parts[len(fits) % len(parts)]
            fits.append(word == name and _bytes(*given) == _bytes(part.x, *part.arrays))
            return part.y

        names: dict[str, Any] = {"np": np} | {word: partial(stand_in, word) for word in self._parts}
        exec(compile(self.code.rpartition("\n\n\n")[2], "<network>", "exec"), names)
        found = names["network"](parts[0][1].x, self.weights)
        if len(fits) == len(parts) and all(fits) and _bytes(found.ravel()) == _bytes(parts[-1][1].y.ravel()):
            return DiffRow("network", "", True)
        return failed_row("network", "", "it does not hand each layer's result to the next")


def _bytes(*arrays: np.ndarray) -> list[Any]:
    """Return shapes and bytes, which are equal where NaN is, too."""
    return [(array.shape, array.tobytes()) for array in arrays]


class _Chain(str):
    """The layers of a `ModelTranslation` as text."""

    function = "a chain of layers"


def translate(
    function: Callable[..., Any] | str, *args: Any, to: Framework, any_size: bool = False, **arguments: Any
) -> Translation:
    """Translate a call to another framework, as source text that runs.

    The code holds for every size if its padding does. Otherwise it refuses sizes other than that of the call.

    Args:
        function: a function of `teachconv.dialects`, or one of teachconv's own ops (TensorFlow's), or a name:
            "torch.conv2d", "F.conv2d", "tf.nn.conv2d". Pools, padding and batch normalisation too. Or a layer
            with one convolution, a ``torch.nn.Module`` or one of Keras; or a chain of layers, such as a
            ``torch.nn.Sequential``. Or a node of `onnx_model`.
        *args: the function's arguments; a shape can stand in for an array. After a layer, give the shape of
            its input; after a node, nothing.
        to: "tensorflow", "torch", "jax", "onnx" (run by onnxruntime), "keras" or "scipy"; "tf" and "pytorch"
            are known too.
        any_size: whether the code has to hold for images of any size; it then computes the padding from the
            image's shape if the framework has no word for it.
        **arguments: the function's arguments by name.

    Returns:
        A `Translation`: ``.code``, ``.filter_permutation``, ``.possible``, ``.why``, ``.check(x, w)``. For a
        chain, the code ends with ``network(x, weights)``, and there are ``.weights`` and ``.steps``.

    Raises:
        ValueError, TypeError: if the target is unknown, the function itself would raise it, or no code holds
            for any size, because an argument such as ``output_shape`` fixes it.

    >>> import teachconv as tc
    >>> t = tc.translate(tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), strides=2, padding="SAME", to="torch")
    >>> print(t)                                         # SAME is not padding=1 at stride 2
    import numpy as np
    import torch
    import torch.nn.functional as F
    <BLANKLINE>
    <BLANKLINE>
    def convolve(x, w):
        # x: the input, NHWC; w: HWIO, as tensorflow.conv2d has them
        # torch has no asymmetric padding: F.pad(x, (0, 1, 0, 1)) first
        if x.shape[1:3] + w.shape[:2] != (8, 8, 3, 3):
            raise ValueError(f"made for x [N, 8, 8, C] and w [3, 3, I, O]; got {x.shape} and {w.shape}")
        x = x.transpose(0, 3, 1, 2)  # NHWC to NCHW
        w = w.transpose(3, 2, 0, 1)  # HWIO to OIHW
        x = torch.from_numpy(x.copy())
        w = torch.from_numpy(w.copy())
        x = F.pad(x, (0, 1, 0, 1))  # left, right, top, bottom
        y = F.conv2d(x, w, stride=(2, 2))
        y = y.numpy()
        y = y.transpose(0, 2, 3, 1)  # NCHW to NHWC
        return y
    >>> t.filter_permutation, t.check().passed
    ((3, 2, 0, 1), True)
    """
    target, any_size = target_named(to), truth(any_size, "any_size")
    found = call_of_node(function) or _of_layer(function, args, target, any_size)
    if isinstance(found, Translation):
        if arguments:
            raise ArgumentError(f"a chain of layers takes no arguments; got {brief(arguments)}")
        return found
    function, args, given = found or (function, args, {})
    return translate_call(function, args, given | arguments, target, any_size)


def _of_layer(layer: Any, shapes: tuple[Any, ...], to: Target, any_size: bool) -> Call | Translation | None:
    """Return the call of a layer, or the translation of a chain of layers; None for anything else.

    Raises:
        ValueError, TypeError: if its layers do not form a chain with a convolution; the message lists them.
    """
    if framework_of(layer) not in ("torch", "keras", "teachconv") or not callable(layer):
        return None
    if len(shapes) != 1 or not is_shape(shapes[0]):
        raise ArgumentError(f"the shape of the layer's input, alone, must follow it; got {brief(shapes)}")
    x = make_array(shapes[0], "float32", "normal", "translate")
    if framework_of(layer) != "torch":
        layer(x)  # its weights are made by its first call
    network, name = walk(layer, x), type(layer).__name__
    computing = [(n, one) for n, one in enumerate(network.layers) if one.op_type != LAYOUT or one.error]
    before, why = INPUT, list[str]()
    for number, one in computing:
        if one.error:
            why.append(f"{one.name!r} raised {one.error}")
        elif len(one.sources) != 1 or before not in one.sources[0]:
            why.append(f"{one.name!r} does not take the result of the layer before it alone")
        before = number if one.computes else before
    if not any("convolution" in one.op_type and one.word not in DENSE for _, one in computing):
        why.append("none is a convolution")
    if why:
        words = "a layer with a convolution, or a chain of layers with one"
        raise ArgumentError(f"function must be {words}; of the layers of this {name} {why[0]}")
    if len(network.outputs()) != 1:
        raise ArgumentError(f"function must return one array; this {name} returns {len(network.outputs())}")
    parts = [part for _, one in computing for part in _parts(one, network)]
    names = _unique(part.name for part in parts)
    parts = [part._replace(name=own) for part, own in zip(parts, names, strict=True)]
    inner = getattr(layer, "layers", None) or [*getattr(layer, "children", tuple)()]
    return _translated(name, network, parts, to, any_size) if parts[1:] or inner else parts[0].call


class _Part(NamedTuple):
    """What a layer or a part of it got and returned, its arrays, and its call or the lines for y.

    The lines come with what computes y in float64.
    """

    name: str
    x: np.ndarray
    y: Any
    arrays: tuple[np.ndarray, ...] = ()
    call: Call | None = None
    lines: Callable[[Target], list[str]] = lambda to: []
    names: str = "x"
    exact: Callable[..., definitions.Defined] | None = None

    def judged(self, function: Callable[..., Any]) -> DiffRow:
        """Judge what a function computes from the model's own input of this part."""
        assert self.exact is not None
        try:
            got = np.asarray(function(self.x, *self.arrays))
        except Exception as error:  # a framework may raise anything
            return failed_row(self.name, "", f"raised {type(error).__name__}: {str(error)[:200]}")
        return definitions.judged(self.name, got, self.exact(self.x, *self.arrays), self.x.dtype)


def _unique(names: Iterable[str]) -> list[str]:
    """Return names, with a number behind those that came before."""
    found: list[str] = []
    for name in names:
        ways = (name, *(f"{name}_{number}" for number in range(2, len(found) + 3)))
        found.append(next(way for way in ways if way not in found))
    return found


def _parts(layer: Any, network: Network) -> Iterator[_Part]:
    """Yield the parts of a layer: padding before it, its computation, and a bias added to the result."""
    name, x, y, function, given = layer.name, layer.inputs[0], layer.output, layer.op, dict(layer.arguments)
    bias, axis = layer.bias, layer.axis
    if layer.pads:
        sides, x = {"pad_width": layer.pads, "constant_values": layer.filled}, layer.around(before := x)
        own = f"{name} (padding)" if function else name
        yield _Part(own, before, x, (), (keras.pad, (before.shape,), sides))
    if layer.word in DENSE and function:
        entry = network.calls[layer.call]
        plain, y, axis = read(entry, lambda _: False), entry["output"], -1
        lines, matrix = partial(pointwise_lines, "matmul", {}), plain.arguments["filters"][0, 0]
        exact = partial(definitions.formula, function="product")
        own = arrays_in(entry["args"])[0]
        yield _Part(name, own, y, (matrix,), lines=lines, names="x, w", exact=exact)
    elif is_one_of(function, FUNCTIONS):
        roles = {operand.role: operand.name for operand in FUNCTIONS[function].operands}
        if bias is not None and "bias" in roles:
            given[roles["bias"]], bias = bias, None
        arrays = [given[roles[role]] for role in ("filters", "bias") if roles.get(role) in given]
        yield _Part(name, x, y, (*arrays,), (function, (x.shape,), given))
    elif is_one_of(function, WINDOWS) or function is definitions.batch_norm:
        known = {"gamma": "scale", "beta": "offset", "eps": "epsilon"} if layer.op_type == NORM else {}
        words = {known.get(word, word): given[word] for word in map(str, given)}
        yield _Part(name, x, y, (), (keras.batch_normalization if known else function, (x.shape,), words))
    elif function is definitions.pad:
        words = {"pad_width": given["sides"], "mode": given["mode"]}
        crop = {"pads": begins_then_ends(given["sides"]), "constant_value": given["value"]}
        call = (onnx.pad, (x.shape,), crop) if np.min(given["sides"]) < 0 else (jax.pad, (x.shape,), words)
        yield _Part(name, x, y, (), call)
    elif function or not layer.pads:
        exact = function and partial(function, **given)  # without it no more is known than a name
        word = given.pop("function", getattr(function, "__name__", ""))
        lines = partial(pointwise_lines, "" if given.keys() & {"axis", "alpha"} else word, given)
        yield _Part(name, x, y, lines=lines, exact=exact)
    if bias is not None:
        bias = bias.reshape(-1, *[1] * (y.ndim - 2) * (axis == 1))
        name, exact = f"{name} (bias)", partial(definitions.pointwise, function="add")
        yield _Part(name, y, y, (bias,), lines=lambda to: ["y = x + b"], names="x, b", exact=exact)


def _translated(name: str, network: Network, parts: list[_Part], to: Target, any_size: bool) -> Translation:
    """Return the translation of parts of which each takes the result of the one before."""
    steps: dict[str, Translation] = {}
    weights: dict[str, tuple[np.ndarray, ...]] = {}
    blocks, have, why = dict.fromkeys(["\n".join(["import numpy as np", *to.imports])]), parts[0].x, ""
    body = [f"# x: {list(have.shape)}; weights: the arrays of each layer, as {name} has them"]
    # of ASCII letters: Python takes some others for one another
    words = _unique(re.sub(r"\W+", "_", f"layer_{part.name}", flags=re.ASCII).strip("_") for part in parts)
    functions: dict[str, _Part] = {}
    for word, part in zip(words, parts, strict=True):
        body += _reshaped(have, part.x)
        arrays, lines = part.arrays, part.lines(to)
        code = "\n    ".join([f"def f({part.names}):", *lines, "return y"])
        problem = "" if lines else f"{to.name} has no function for it here"
        if part.call is not None:
            function, shapes, arguments = part.call
            step = steps[part.name] = translate_call(function, shapes, arguments, to, any_size)
            code, problem = step.code.rstrip("\n"), step.why
            if isinstance(step.source, BatchNormCall):
                arrays = (*step.source.channels.astype(part.x.dtype),)
        functions[word] = part._replace(arrays=arrays)
        why = why or problem and f"layer {part.name!r}: {problem}"
        *helpers, own = code.split("\n\n\n")
        blocks |= dict.fromkeys([*helpers[1:], re.sub(r"^def \w+", f"def {word}", own)])
        weights |= {part.name: arrays} if arrays else {}
        have, named = part.y, f", *weights[{part.name!r}]" * bool(arrays)
        body.append(f"x = {word}(x{named})  # {list(have.shape)}")
    body += [*_reshaped(have, network.outputs()[0]), "return x\n"]
    text = "\n\n\n".join([*blocks, "\n    ".join(["def network(x, weights):", *body])]) * (not why)
    sizes = "\n".join(f"{part.name}: {list(part.x.shape)} to {list(part.y.shape)}" for part in parts)
    notes = tuple(f"{of}: {note}" for of, step in steps.items() for note in step.notes)
    return ModelTranslation(
        source=_Chain(sizes),
        to=to.name,
        possible=not why,
        why=why,
        code=text,
        filter_permutation=None,
        flip=False,
        notes=notes,
        source_text=name,
        _function=translate,
        _arguments={},
        _target=TargetCall(),
        weights=weights,
        steps=steps,
        _parts=functions,
    )


def _reshaped(have: Any, want: Any) -> list[str]:
    """Return the line that reshapes x, or no line."""
    if not np.array_equal(np.ravel(have), np.ravel(want)):
        raise ArgumentError("function must be a chain of layers, between which no axes change places")
    return [] if np.shape(have) == np.shape(want) else [f"x = x.reshape{(-1, *want.shape[1:])}"]
