"""Resolves a call of any framework, and translates it to any other.

`resolve` returns the geometry of a call with its derivation; `translate_call` writes the same convolution for
another framework as source text that runs. `teachconv.translate`, in ``networks.handing``, takes layers too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from importlib import import_module, util
from typing import Any

import numpy as np

from ..data.seeded import make_array
from ..dialects.calls import FUNCTIONS, ConvCall, DialectFunction, Operand, bind_shapes
from ..inspection.pictures import padding_picture
from ..running import nn_ops
from ..support.errors import ArgumentError, BackendUnavailable, is_one_of
from ..support.tables import pre
from ..verification.diffing import diff
from ..verification.reports import DiffReport, failed_row
from ..windows.calls import FUNCTIONS as WINDOWS
from ..windows.calls import bound_shapes
from ..windows.normalization import BatchNormCall
from .sizes import family_of, made_for
from .source_text import defined, filter_permutation, write
from .target_calls import Target, TargetCall
from .targets import TARGETS, function_named, target_call
from .window_targets import window_target, write_window

_NCNN = {"-233": "SAME (ONNX's SAME_UPPER)", "-234": "SAME_LOWER"}  # its pad_left

# ---------------------------------------------------------------------------------------------
# Resolve
# ---------------------------------------------------------------------------------------------


def resolve(function: Callable[..., Any] | str, *args: Any, **arguments: Any) -> ConvCall:
    """Return what a call resolves to: geometry, layouts, the filter's permutation, and the derivation.

    Args:
        function: a function of `teachconv.dialects`, or one of teachconv's own ops (TensorFlow's), or a name:
            "torch.conv2d", "F.conv2d", "tf.nn.conv2d". Pools, padding and batch normalisation too.
        *args: the function's arguments; a shape can stand in for an array.
        **arguments: likewise, by name.

    Returns:
        A ``teachconv.dialects.calls.ConvCall``, or of ``teachconv.windows`` a ``PoolCall``, ``PadCall`` or
        ``BatchNormCall``, which prints as the derivation.

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
      filter: weight.transpose(2, 3, 1, 0), IOHW to HWOI, no flip
    rows and columns:
      effective filter  ek = (k - 1)·d + 1 = (3 - 1)·1 + 1 = 3
      full size         F  = (i - 1)·s + ek = (16 - 1)·2 + 3 = 33
      output            o  = F - 2·p + output_padding = 33 - 2·1 + 1 = 32
      result            full[1 : 33] of its 33 cells
      index law         output_index = input_index·2 - 1 + tap·1
    """
    called = _function(function)
    try:
        if is_one_of(called, WINDOWS):
            return bound_shapes(called, args, arguments)[0]
        return bind_shapes(called, args, arguments)[0]
    except ArgumentError as error:
        for number in re.findall(r"-23[34]\b", str(error)):
            raise ArgumentError(f"{error}; in ncnn, {number} stands for {_NCNN[number]}: use that") from error
        raise


def _function(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return a function that may be given by its name."""
    return function_named(function) if isinstance(function, str) else function


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
            gradient of the output. Without filters it defines ``pool(x)``, ``pad(x)`` or
            ``normalise(x, mean, variance, gamma, beta)``. "" if there is no such call.
        filter_permutation: the argument of ``transpose`` that converts the source's filter to the target's,
            or None.
        flip: whether the filter is flipped too, on every axis.
        notes: sentences on what the target cannot express directly.
        source_text: the source call as text.
    """

    source: Any
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
    _made_for: str = field(default="", repr=False)

    def check(self, x: Any = None, w: Any = None, b: Any = None) -> DiffReport:
        """Compare source and target on arrays: in teachconv, and in the framework if it is installed.

        Args:
            x: the input, in the source's layout and of the shape that was translated; None means seeded small
                integers in float32, which every framework sums exactly.
            w: the filter, likewise.
            b: the bias, likewise.

        Returns:
            A `DiffReport` with the source as its reference, and a row for the target as computed by teachconv
            and by the framework. Its title says whether the framework itself ran.

        Raises:
            ArgumentError: if there is no such call, or a shape is not the one that was translated.
            BackendUnavailable: if there is nothing to compare with: SciPy is the target and not installed.
        """
        return self._check(self.function, x, w, b)

    def _check(
        self, function: Callable[[], Callable[..., Any]], x: Any = None, w: Any = None, b: Any = None
    ) -> DiffReport:
        """Check what ``function`` returns in place of what ``code`` defines; see `check`."""
        if not self.possible:
            raise ArgumentError(f"there is no translation to check: {self.why}")
        arrays, given = self._arrays(x, w, b), dict(self._arguments)
        given |= arrays
        roles = {each.role: arrays[each.name] for each in operands(self._function) if each.name in arrays}
        inputs = [roles[role] for role in ("out_backprop", "input", "filters", "bias") if role in roles]
        if isinstance(self.source, BatchNormCall):
            inputs.extend(self.source.channels.astype(inputs[0].dtype))
        against, failed = {}, []
        runs: list[tuple[str, Callable[[], Callable[..., Any]]]] = []
        if self._target.function is not None:
            runs.append((f"teachconv's {self.to}", self._here))
        version = _version(self.to) if installed(self.to) else ""
        if version:
            runs.append((version, function))
        if not runs:
            raise BackendUnavailable(f"{self.to} is not installed, so there is nothing to compare with")
        for name, made in runs:
            try:
                against[name] = np.asarray(made()(*inputs))
            except Exception as error:  # a framework may raise anything; the report shows it
                note = f"raised {type(error).__name__}: {str(error)[:200]}"
                failed.append(failed_row(name, "", note))
        report = DiffReport("", ())  # where every run raised there is nothing to compare
        if against:
            report = diff(self._function, **given, backends=[], against=against)
        ran = f"{version} itself {'ran' if version in against else 'raised an error'}"
        if not version:
            ran = f"{self.to} itself did NOT run: it is not installed"
        title = f"{self.source.function} to {self.to} ({ran})"
        return replace(report, title=title, rows=(*report.rows, *failed))

    def function(self) -> Callable[..., Any]:
        """Return the function that ``code`` defines; this needs the target framework."""
        return defined(self.code, f"<{self.source.function} in {self.to}>")

    def _here(self) -> Callable[..., Any]:
        """Return what ``code`` does, with teachconv's function of the same signature in its place."""
        target = self._target
        own = replace(target, target=Target(stuffs=target.target.stuffs), name="call")
        is_conv = isinstance(self.source, ConvCall)
        code = write(self.source, own, self._made_for) if is_conv else write_window(self.source, own)
        return defined(code, call=target.function)

    def _arrays(self, *given: Any) -> dict[str, np.ndarray]:
        """Return the arrays of the source call by name, seeded ones in place of None."""
        by_role = dict(zip(("input", "filters", "bias"), given, strict=True))
        by_role["out_backprop"] = by_role["input"]
        arrays = {}
        for operand in operands(self._function):
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
        # a pool and its like have no picture
        conv = self.source if isinstance(self.source, ConvCall) else None
        picture = padding_picture(conv.geometry, transposed=conv.kind.scatters) if conv else ""
        right = pre(escape(self.code)) if self.possible else f"<p>impossible: {escape(self.why)}</p>"
        source, derivation = (
            pre(escape(text), "overflow-x:auto") for text in (self.source_text, str(self.source))
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        side = "style='flex:1 1 30em;min-width:0;text-align:left'"
        return (
            "<div style='display:flex;flex-wrap:wrap;gap:2em'>"
            f"<div {side}><b>{escape(self.source.function)}</b>{source}"
            f"{picture}"
            f"<details><summary>derivation</summary>{derivation}</details>"
            "</div>"
            f"<div {side}><b>{escape(self.to)}</b>{right}<ul>{notes}</ul></div></div>"
        )


def translate_call(
    function: Callable[..., Any] | str,
    args: tuple[Any, ...],
    arguments: dict[str, Any],
    to: Target,
    any_size: bool = False,
) -> Translation:
    """Return the translation of a call; see `teachconv.translate`, which takes layers too."""
    called, checked = _function(function), ""
    if is_one_of(called, WINDOWS):
        source, given = bound_shapes(called, args, arguments)
        target = window_target(called, source, given, to)
        if any_size and target.one_size:
            raise ArgumentError(
                f"any_size must be False here: no call of {to.name} has these windows at every size"
            )
        code = "" if target.why_not else write_window(source, target)
    else:
        source, given = bind_shapes(called, args, arguments)
        target, checked, code = written_call(FUNCTIONS[called], source, given, to.name, any_size)
    permutes = bool(target.filter_layout)
    return Translation(
        source,
        to.name,
        not target.why_not,
        target.why_not,
        code,
        filter_permutation(source, target) if permutes else None,
        permutes and source.flip != target.flip,
        target.notes,
        _source_text(called, given),
        called,
        given,
        target,
        checked,
    )


def operands(function: Callable[..., Any]) -> tuple[Operand, ...]:
    """Return the arrays of a function that `translate` takes; a pool, padding and normalisation have one."""
    if is_one_of(function, WINDOWS):
        return (Operand(WINDOWS[function][1], "input"),)
    return FUNCTIONS[function].operands


def written_call(
    entry: DialectFunction, source: ConvCall, given: dict[str, Any], to: str, any_size: bool = False
) -> tuple[TargetCall, str, str]:
    """Return the target's call, the axes whose sizes its code checks, and the code, "" without a call."""
    family = family_of(entry, source, given)
    target = target_call(family, to, any_size)
    if target.why_not:
        return target, "", ""

    def code(conv: ConvCall) -> str:
        """Return what the code does, without the notes, which may differ where the calls do not."""
        other = target_call((conv, *family), to, any_size)
        return other.why_not or write(conv, replace(other, notes=()))

    checked = made_for(entry, family, given, code)
    if any_size and "W" in checked.split(",")[0]:
        raise ArgumentError(
            f"any_size must be False here: an argument of this {source.function} belongs to one image size"
        )
    return target, checked, write(source, target, checked)


def _source_text(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Return the call as it would be written, without arguments that have their default."""
    arrays = [operand.name for operand in operands(function)]
    defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    words = [name for name in arrays if arguments[name] is not None]
    words += [
        f"{name}={name if isinstance(value, np.ndarray) else repr(value)}"
        for name, value in arguments.items()
        if name not in arrays and repr(defaults[name]) != repr(value)
    ]
    return f"{nn_ops.name_of(function)}({', '.join(words)})"


def installed(target: str) -> bool:
    """Return whether the packages that a target needs are installed."""
    return all(util.find_spec(name) is not None for name in TARGETS[target].packages)


@lru_cache
def _version(target: str) -> str:
    """Return the name and version of the target's package."""
    from importlib import metadata  # imported late, because it is slow

    name = TARGETS[target].packages[-1]
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:  # a package such as tensorflow-cpu has another name
        return f"{name} {getattr(import_module(name), '__version__', '')}".rstrip()
