"""Resolves a call of any framework, and translates it to any other.

`resolve` returns the geometry of a call with its derivation; `translate` writes the same convolution for
another framework as source text that runs; `convert_filters` converts a filter for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module, util
from typing import Any

import numpy as np

from .. import nn_ops
from ..arguments import as_array, integer
from ..data.seeded import make_array
from ..devices import contiguous
from ..dialects.calls import FUNCTIONS, ConvCall, DialectFunction, count, groups_to_last
from ..errors import ArgumentError, ArgumentTypeError
from ..inspection.pictures import padding_picture
from ..verification.diffing import DiffReport, DiffRow, diff
from .source_text import filter_permutation, here, write
from .targets import TARGETS, TargetCall, is_transposed, target_call

__all__ = ["Translation", "convert_filters", "resolve", "translate"]


# ---------------------------------------------------------------------------------------------
# Resolve
# ---------------------------------------------------------------------------------------------


def resolve(function: Callable[..., Any], *args: Any, **arguments: Any) -> ConvCall:
    """Return what a call resolves to: geometry, layouts, the filter's permutation, and the derivation.

    Args:
        function: a function of `teachconv.dialects`, or one of teachconv's own ops (TensorFlow's).
        *args: the function's arguments; a shape can stand in for an array.
        **arguments: likewise, by name.

    Returns:
        A `teachconv.dialects.calls.ConvCall`, which prints as the derivation.

    Raises:
        ValueError, TypeError: if the function itself would raise it.

    >>> import teachconv as tc
    >>> call = tc.resolve(
    ...     tc.dialects.torch.conv_transpose2d, (1, 8, 16, 16), (8, 4, 3, 3), stride=2, padding=1,
    ...     output_padding=1)
    >>> call.output_shape, call.geometry.padding, call.filter_permutation
    ((1, 4, 32, 32), ((1, 1), (1, 1)), (2, 3, 1, 0))
    >>> print(call)
    torch.conv_transpose2d: input [1, 8, 16, 16] NCHW, filter [8, 4, 3, 3] IOHW -> output [1, 4, 32, 32] NCHW
      filter: weight.transpose(2, 3, 1, 0), [in, out, rows, cols] to [rows, cols, out, in], no flip
    rows and columns:
      effective filter  ek = (k - 1)·d + 1 = (3 - 1)·1 + 1 = 3
      full size         F  = (i - 1)·s + ek = (16 - 1)·2 + 3 = 33
      output            o  = F - 2·p + output_padding = 33 - 2·1 + 1 = 32
      result            full[1 : 33], zero outside 0..32
      index law         output_index = input_index·2 - 1 + tap·1
    """
    return _bind(function, args, arguments)[0]


def _bind(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[ConvCall, dict[str, Any]]:
    """Return the resolved call, and the function's arguments by name with shapes in place of arrays."""
    entry = FUNCTIONS.get(function)
    if entry is None:
        known = ", ".join(nn_ops.name_of(known) for known in FUNCTIONS)
        raise ArgumentTypeError(f"function must be one of {known}; got {function!r}")
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    for option in ("backend", "algorithm", "precision", "out", "name"):
        arguments.pop(option, None)
    for operand in entry.operands:
        ranks = (1,) if operand.role == "bias" else operand.ranks
        arguments[operand.name] = _shape(arguments[operand.name], operand.name, ranks, operand.axes)
    return entry.resolver(**arguments), arguments


def _shape(value: Any, name: str, ranks: tuple[int, ...], axes: str) -> tuple[int, ...] | None:
    """Return the shape of an array, or the shape that was given instead."""
    if value is None and ranks == (1,):
        return None
    plain = isinstance(value, (list, tuple)) and all(not isinstance(size, (list, tuple)) for size in value)
    sizes = value if plain else getattr(value, "shape", None)
    if sizes is None:
        sizes = as_array(value, name, ranks, axes).shape
    shape = tuple(integer(size, f"{name} shape") for size in sizes)
    if len(shape) not in ranks:
        legal = " or ".join(map(str, ranks))
        raise ArgumentError(
            f"{name} must have {legal} axes{', ' + axes if axes else ''}; got shape {list(shape)}"
        )
    if min(shape, default=0) < 0:
        raise ArgumentError(f"{name} shape must have no negative size; got {list(shape)}")
    return shape


# ---------------------------------------------------------------------------------------------
# Translate
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Translation:
    """One call, and the same convolution as a call of another framework.

    Attributes:
        source: the call that was translated, resolved.
        to: the target framework.
        possible: whether the target has such a call.
        why: why it has none, or "".
        code: Python source text that defines ``convolve(x, w)``, or ``convolve(x, w, b)`` with a bias, over
            NumPy arrays in the *source's* layouts. For a gradient with respect to the input, x is the
            gradient of the output. "" if there is no such call.
        filter_permutation: the argument of ``transpose`` that converts the source's filter to the target's.
        flip: whether the filter's rows and columns are flipped too.
        notes: sentences on what the target cannot express directly.
        source_text: the source call as text.
    """

    source: ConvCall
    to: str
    possible: bool
    why: str
    code: str
    filter_permutation: tuple[int, ...] | None
    flip: bool
    notes: tuple[str, ...]
    source_text: str
    _function: Callable[..., Any] = field(repr=False)
    _arguments: dict[str, Any] = field(repr=False)
    _target: TargetCall = field(repr=False)

    def check(self, x: Any = None, w: Any = None, b: Any = None) -> DiffReport:
        """Compare source and target on arrays: in teachconv, and in the framework if it is installed.

        Args:
            x: the input, in the source's layout and of the shape that was translated; None means seeded small
                integers in float32, which every framework sums exactly.
            w: the filter, likewise.
            b: the bias, likewise.

        Returns:
            A `DiffReport` with the source as its reference, and a row for the target as computed by teachconv
            and by the framework.

        Raises:
            ArgumentError: if there is no such call, or a shape is not the one that was translated.
        """
        if not self.possible:
            raise ArgumentError(f"there is no translation to check: {self.why}")
        entry = FUNCTIONS[self._function]
        arrays, given = self._arrays(entry, x, w, b), dict(self._arguments)
        given |= arrays
        roles = {operand.role: arrays[operand.name] for operand in entry.operands if operand.name in arrays}
        inputs = [roles.get("out_backprop", roles.get("input")), roles["filters"]]
        if self.source.bias:
            inputs.append(roles["bias"])
        against, failed = {}, []
        runs: list[tuple[str, Callable[[], Callable[..., Any]]]] = []
        if self._target.function is not None:
            runs.append((f"teachconv's {self.to}", lambda: here(self.source, self._target)))
        if installed(self.to):
            runs.append((_version(self.to), self.function))
        for name, made in runs:
            try:
                against[name] = np.asarray(made()(*inputs))
            except Exception as error:  # a framework may raise anything; the report shows it
                note = f"raised {type(error).__name__}: {str(error)[:200]}"
                failed.append(DiffRow(name, "", False, np.inf, np.inf, np.inf, note=note))
        report = diff(self._function, **given, backends=[], against=against)
        missing = "" if installed(self.to) else f" ({self.to} is not installed)"
        return replace(
            report, title=f"{self.source.function} to {self.to}{missing}", rows=(*report.rows, *failed)
        )

    def function(self) -> Callable[..., Any]:
        """Return the function ``convolve`` that ``code`` defines; this needs the target framework."""
        names: dict[str, Any] = {}
        exec(compile(self.code, f"<{self.source.function} in {self.to}>", "exec"), names)
        return names["convolve"]

    def _arrays(self, entry: DialectFunction, *given: Any) -> dict[str, np.ndarray]:
        """Return the arrays of the source call by name, seeded ones in place of None."""
        by_role = dict(zip(("input", "filters", "bias"), given, strict=True))
        by_role["out_backprop"] = by_role["input"]
        arrays = {}
        for operand in entry.operands:
            shape, value = self._arguments[operand.name], by_role[operand.role]
            if shape is None:
                continue
            if value is None:
                value = make_array(shape, "float32", "integers", f"translate {operand.role}")
            if np.shape(value) != shape:
                raise ArgumentError(
                    f"{operand.name} must have the translated shape {list(shape)}; "
                    f"got {list(np.shape(value))}"
                )
            arrays[operand.name] = np.asarray(value)
        return arrays

    def __str__(self) -> str:
        if not self.possible:
            return f"{self.source_text}\n  to {self.to}: impossible: {self.why}"
        return self.code.rstrip("\n")

    def __repr__(self) -> str:
        how = "possible" if self.possible else "impossible"
        return f"<Translation: {self.source.function} to {self.to}, {how}>"

    def _repr_html_(self) -> str:
        right = (
            f"<pre>{escape(self.code)}</pre>" if self.possible else f"<p>impossible: {escape(self.why)}</p>"
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        side = "style='flex:1 1 30em;min-width:0;text-align:left'"
        code = "style='overflow-x:auto'"
        return (
            "<div style='display:flex;flex-wrap:wrap;gap:2em'>"
            f"<div {side}><b>{escape(self.source.function)}</b><pre {code}>{escape(self.source_text)}</pre>"
            f"{padding_picture(self.source.geometry, transposed=is_transposed(self.source))}"
            f"<details><summary>derivation</summary><pre {code}>{escape(str(self.source))}</pre></details>"
            "</div>"
            f"<div {side}><b>{escape(self.to)}</b>{right}<ul>{notes}</ul></div></div>"
        )


def translate(function: Callable[..., Any], *args: Any, to: str, **arguments: Any) -> Translation:
    """Translate a call to another framework, as source text that runs.

    Args:
        function: a function of `teachconv.dialects`, or one of teachconv's own ops (TensorFlow's).
        *args: the function's arguments; a shape can stand in for an array.
        to: "tensorflow", "torch", "jax", "onnx" (run by onnxruntime), "keras" or "scipy".
        **arguments: the function's arguments by name.

    Returns:
        A `Translation`: ``.code``, ``.filter_permutation``, ``.possible``, ``.why``, ``.check(x, w)``.

    Raises:
        ValueError, TypeError: if the target is unknown, or the function itself would raise it.

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
    if to not in TARGETS:
        raise ArgumentError(f"to must be one of {', '.join(TARGETS)}; got {to!r}")
    source, given = _bind(function, args, arguments)
    target = target_call(source, to)
    possible = not target.why_not
    return Translation(
        source,
        to,
        possible,
        target.why_not,
        write(source, target) if possible else "",
        filter_permutation(source, target) if possible else None,
        possible and source.flip != target.flip,
        target.notes,
        _source_text(function, given),
        function,
        given,
        target,
    )


def _source_text(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Return the call as it would be written, without arguments that have their default."""
    entry = FUNCTIONS[function]
    arrays = [operand.name for operand in entry.operands]
    defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    words = [name for name in arrays if arguments[name] is not None]
    words += [
        f"{name}={value!r}"
        for name, value in arguments.items()
        if name not in arrays and repr(defaults[name]) != repr(value)
    ]
    return f"{nn_ops.name_of(function)}({', '.join(words)})"


_PACKAGES = {
    "tensorflow": ("tensorflow",),
    "torch": ("torch",),
    "jax": ("jax",),
    "onnx": ("onnx", "onnxruntime"),
    "keras": ("keras",),
    "scipy": ("scipy",),
}


def installed(target: str) -> bool:
    """Return whether the packages that a target needs are installed."""
    return all(util.find_spec(name) is not None for name in _PACKAGES[target])


def _version(target: str) -> str:
    """Return the name and version of the target's package."""
    from importlib import metadata  # imported late, because it is slow

    name = _PACKAGES[target][-1]
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:  # a package such as tensorflow-cpu has another name
        return f"{name} {getattr(import_module(name), '__version__', '')}".rstrip()


# ---------------------------------------------------------------------------------------------
# Filters
# ---------------------------------------------------------------------------------------------

# the filter's layout in a forward convolution, and in a transposed one
_FILTERS = {
    "tensorflow": ("HWIO", "HWOI"),
    "keras": ("HWIO", "HWOI"),
    "scipy": ("HWIO", "HWOI"),
    "torch": ("OIHW", "IOHW"),
    "onnx": ("OIHW", "IOHW"),
    "jax": ("OIHW", "HWIO"),
    "tensorflow_depthwise": ("HWIM", "HWIM"),
}


def convert_filters(w: Any, from_: str, to: str, transposed: bool = False, groups: int = 1) -> np.ndarray:
    """Return a filter of one framework in the layout of another.

    Args:
        w: a filter: [rows, cols, in/groups, out] for tensorflow, keras and scipy, [out, in/groups, rows,
            cols] for torch, onnx and jax. That of a transposed convolution is [rows, cols, out/groups, in]
            for tensorflow, keras and scipy, [in, out/groups, rows, cols] for torch and onnx, and for jax what
            jax.lax.conv_transpose takes, [rows, cols, in, out] and flipped. "tensorflow_depthwise" is
            [rows, cols, channels, multiplier] with one group for each channel.
        from_: "tensorflow", "torch", "jax", "onnx", "keras", "scipy" or "tensorflow_depthwise".
        to: one of the same names.
        transposed: whether the filter is that of a transposed convolution.
        groups: needed only for jax's transposed filter, whose groups lie along its output channels.

    Returns:
        The filter in C order; a view of ``w`` if nothing changes.

    Raises:
        ValueError, TypeError: if a name is unknown, or the groups do not divide the channels.

    >>> import numpy as np, teachconv as tc
    >>> tc.convert_filters(np.zeros((3, 5, 8, 16), "float32"), "tensorflow", "torch").shape
    (16, 8, 3, 5)
    >>> tc.convert_filters(np.zeros((3, 5, 8, 2), "float32"), "tensorflow_depthwise", "torch").shape
    (16, 1, 3, 5)
    """
    for name, value in (("from_", from_), ("to", to)):
        if value not in _FILTERS:
            raise ArgumentError(f"{name} must be one of {', '.join(_FILTERS)}; got {value!r}")
        if value == "tensorflow_depthwise" and transposed:
            raise ArgumentError(f"{name} must not be {value!r} for a transposed convolution")
    groups = count(groups, "groups")
    filters = as_array(w, "w", 4, f"{_FILTERS[from_][transposed]}")
    law = "HWOI" if transposed else "HWIO"
    letters = _FILTERS[from_][transposed]
    if letters == "HWIM":
        rows, cols, channels, multiplier = filters.shape
        filters, letters = filters.reshape(rows, cols, 1, channels * multiplier), "HWIO"
    filters = filters.transpose([letters.index(letter) for letter in law])
    if transposed and from_ == "jax":
        _check_divides(groups, filters.shape[2])
        filters = groups_to_last(filters, groups)[::-1, ::-1]
    rows, cols, third, fourth = filters.shape
    _check_divides(groups, fourth)
    letters = _FILTERS[to][transposed]
    if letters == "HWIM":
        if third != 1:
            raise ArgumentError(f"w must have one input channel in each group to be depthwise; got {third}")
        channels = groups if groups > 1 else fourth
        return contiguous(filters.reshape(rows, cols, channels, fourth // channels))
    if transposed and to == "jax":
        filters = filters.reshape(rows, cols, third, groups, fourth // groups)
        filters = filters.transpose(0, 1, 3, 2, 4).reshape(rows, cols, groups * third, fourth // groups)
        filters = filters[::-1, ::-1]
    return contiguous(filters.transpose([law.index(letter) for letter in letters]))


def _check_divides(groups: int, channels: int) -> None:
    """Raise unless the groups divide the channels."""
    if channels % groups:
        raise ArgumentError(f"groups must divide the filter's {channels} channels; got {groups}")


def functions() -> Iterable[tuple[str, Callable[..., Any]]]:
    """Yield the functions that can be resolved.

    Yields:
        A short name such as "torch.conv2d", and the function.
    """
    for function, entry in FUNCTIONS.items():
        yield entry.name, function
