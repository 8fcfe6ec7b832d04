"""`compare`: two models, one question: which layer differs first, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.arguments import as_array
from ...data.seeded import make_array
from ...support import tables
from ...support.devices import to_host
from ...support.errors import ArgumentError, brief
from ...support.progress import during, say
from ..reading import LAYOUT
from ..walking import Network, arrays_of, dumped, framework_of, walk, walk_beside
from .parting import NAN, LayerRow, Partings
from .ranking import QuantizedComparison, ranked


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(tables.Report):
    """Two models layer by layer.

    Attributes:
        frameworks: of the first model and the second.
        layers: a `LayerRow` for each segment of both models, and for each layer outside all segments, in the
            first model's order.
        moved: how many layers of both models only move numbers, such as Flatten.
        returned: a row for what the models return, compared array by array; only its ``same``, ``code`` and
            ``reason`` are set.
    """

    frameworks: tuple[str, str]
    layers: tuple[LayerRow, ...]
    moved: int = 0
    returned: LayerRow = LayerRow(None, None, "result", same=True)

    @property
    def passed(self) -> bool | None:
        """Whether both models compute and return the same; None if something could not be judged."""
        return tables.verdict(row.passed for row in self._rows)

    @property
    def _rows(self) -> tuple[LayerRow, ...]:
        return *self.layers, self.returned

    @property
    def first_wrong(self) -> LayerRow | None:
        """The first layer whose result is not what it says it computes from its own input, or None."""
        return next((row for row in self.layers if row.wrong), None)

    @property
    def first_parting(self) -> LayerRow | None:
        """The first layer at which the models diverge; `returned` if only that differs; or None."""
        return next((row for row in self._rows if row.same is False), None)

    @property
    def unmatched(self) -> tuple[LayerRow, ...]:
        """The layers that have no partner in the other model."""
        return tuple(row for row in self.layers if row.a is None or row.b is None)

    def check(self) -> None:
        """Raise ``AssertionError`` with the text of the comparison unless it passed."""
        if not self.passed:
            raise AssertionError(str(self))

    def _headline(self) -> str:
        wrong, parting, first, second = self.first_wrong, self.first_parting, *self.frameworks
        count = len(self.layers)
        alike = "the one layer agrees" if count == 1 else f"all {count:,} layers agree"
        parts = [f"{alike} ({first} and {second})"] * (self.passed is True)
        if wrong is not None:
            name, framework = (wrong.a, first) if wrong.a_passed is False else (wrong.b, second)
            parts.append(f"layer {name!r} ({framework}) is wrong in itself: {wrong.reason}{_caused(wrong)}")
        if parting is not None and parting not in (wrong, self.returned):
            pair = [f"{n!r} ({f})" for n, f in ((parting.a, first), (parting.b, second)) if n is not None]
            where = f"the models part at layer {' and '.join(pair)}"
            parts.append(f"{where}: {parting.reason}{_caused(parting)}")
        parts += [f"the models return different results: {self.returned.reason}"] * (
            self.returned.same is False
        )
        parts += [row.reason for row in self.layers if row.code == "no_effect"]
        raised = [row for row in self.layers if "it raised" in row.reason and row is not parting]
        parts += [f"{row.a or row.b!r}: {row.reason}" for row in raised]
        paired = [row for row in self.layers if row.passed is None and row.a and row.b]
        for words, rows in (("without a partner", self.unmatched), ("not judged", paired)):
            more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
            names = f"{', '.join(repr(row.a or row.b) for row in rows[:3])}{more}"
            parts += [f"{tables.count(len(rows), 'layer')} {words}: {names}"] * bool(rows)
        unjudged = self.returned.same is None and self.returned.reason
        parts += [f"what they return is not judged: {unjudged}"] * bool(unjudged)
        parts += [self.returned.reason] * bool(self.returned.same and self.returned.reason)
        nan = next((row for row in self.layers if NAN in row.reason), None)
        parts += [] if nan is None else [f"{NAN} at layer {nan.a or nan.b!r}"]
        return "; ".join(parts)

    def _table(self) -> tables.Table:
        words = {True: "pass", False: "FAIL", None: "-"}
        rows = [
            (
                row.a or "",
                row.b or "",
                row.op_type,
                words[row.a_passed] if row.a else "",
                words[row.b_passed] if row.b else "",
                words[row.same],
                tables.number(row.bound_fraction) if row.bound_fraction else "",
                row.code or row.reason,
            )
            for row in (self._rows if self.returned.same is False else self.layers)
        ]
        marked = [at for at, row in enumerate(self._rows) if row.passed is False]
        parting, (first, second) = self.first_parting, self.frameworks
        heads = (f"a ({first})", f"b ({second})", "type", "a itself", "b itself", "the same")
        notes = [
            "itself: each layer's result against the exact result of what it says, on its own input; "
            "the same: whether both end in the same numbers",
            *[f"{tables.count(self.moved, 'layer')} that only move numbers"] * bool(self.moved),
            *(
                f"{row.b or row.a}: {row.reason}{_caused(row)}"
                for row in self.layers
                if row.code and row.passed is False and row not in (parting, self.first_wrong)
            ),
        ]
        if parting is not None and parting.call and first != second:
            lines = [f"  {line}" for line in parting.call.splitlines()]
            notes += [f"{parting.a!r} ({first}) for {second}:", *lines]
        columns = (*tables.left(*heads), *tables.right("of bound"), *tables.left(""))
        return tables.Table(columns, rows, self._headline(), notes, marked=marked)


def _caused(row: LayerRow) -> str:
    """Say how much of the final difference a layer causes, if known."""
    if row.share is None:
        return ""
    if row.share < 0.005:
        return " (put right alone, it brings the outputs no nearer)"
    return f" (of the difference at the end it causes {row.share:.0%})"


def compare(a: Any, b: Any, x: Any = None) -> Comparison | QuantizedComparison:
    """Compare two models layer by layer: which layer differs first, and why.

    Both run on the same input. Each layer is judged on its own input by the exact result of what it says it
    computes, within a proven error bound. Then the places are found where both models carry the same
    numbers, in whatever layout. What lies between two such places is a segment: however it is written, with
    batch normalisation or folded, it agrees if it ends in the same numbers, within what follows from the
    roundings of its layers, which are known. Where a segment differs, the first model runs on with the
    second's numbers, so an early mistake does not hide later ones. Finally, all arrays that the models return
    are judged, in nested tuples, lists and dictionaries too.

    A quantized copy of a float model is not judged: its layers are ranked by what their quantization costs.

    Args:
        a: the model that is right: a ``torch.nn.Module``, a Keras model, one of ``teachconv.keras``, an ONNX
            or TFLite file, or a recording made by ``teachconv.networks.recorder``.
        b: its port, likewise, in any framework; or activations that another program wrote: a mapping of
            arrays, an .npz file or a folder of .npy files, in any names and layouts.
        x: the input of ``a``, an array with the batch first; ``b`` gets it with its channels where ``b`` has
            them. A pair of arrays if the two take others. None if both are recordings.

    Returns:
        A `Comparison`: ``.passed``, ``.first_wrong``, ``.first_parting``, ``.layers``, ``.returned``,
        ``.unmatched``. It prints as a table whose first line is the verdict. If ``b`` is quantized and ``a``
        is not, a `QuantizedComparison`: ``.layers``, the worst first, and ``.sqnr``.

    Raises:
        ValueError, TypeError: if an argument is not a model or an input, if the two do not fit each other, or
            if a model is in training mode; the message says which.
        BackendUnavailable: if a package that reads a model is missing.

    >>> import numpy as np, teachconv as tc
    >>> from teachconv import keras
    >>> def network(padding):
    ...     keras.utils.set_random_seed(0)
    ...     down = keras.layers.Conv2D(4, 3, 2, padding, activation="relu", name="down")
    ...     return keras.Sequential([keras.Input((9, 9, 3)), down, keras.layers.Conv2D(2, 1, name="last")])
    >>> x = np.random.default_rng(0).standard_normal((1, 9, 9, 3), "float32")
    >>> found = tc.compare(network("same"), network("valid"), x)
    >>> found.passed, found.first_parting.a, found.first_parting.code
    (False, 'down', 'padding')
    """
    for name, model in (("a", a), ("b", b)):
        if framework_of(model) and isinstance(model, (str, Path)) and not os.path.exists(model):
            raise ArgumentError(f"{name} must be a file that exists; got {brief(str(model))}")
    given = x if isinstance(x, (tuple, list)) and len(x) == 2 else (x, None)
    with during("compare"), np.errstate(all="ignore"):  # files hold any numbers; NaN is named
        say("running the first model")
        first = walk(a, _input(given[0], "x"))
        arrays, beside = arrays_of(b), _input(given[1], "x[1]")
        if arrays is not None:
            return _compared(first, dumped(arrays, first))
        say("running the second model")
        second = walk_beside(b, _input(given[0], "x"), first.axis) if beside is None else walk(b, beside)
        is_first, is_second = (any(layer.quantization for layer in each.layers) for each in (first, second))
        if is_first and not is_second:
            raise ArgumentError(
                "a must be the float model where the other one is quantized; got them swapped"
            )
        if is_second and not is_first:
            return ranked(first, second)
        found = _compared(first, second)
        is_run = "recording" not in (framework_of(a), framework_of(b)) and given[0] is not None
        if not found.passed or not is_run or beside is not None or first.x.dtype.kind != "f":
            return found
        say("running both on drawn numbers")
        return replace(found, returned=_on_drawn(a, b, np.asarray(_input(given[0], "x"))) or found.returned)


def _on_drawn(a: Any, b: Any, x: np.ndarray) -> LayerRow | None:
    """Return the row of models that agree on an input but not on drawn numbers, else None."""
    drawn = make_array(x.shape, x.dtype.name, "normal", "compare")
    try:
        first = walk(a, drawn)
        found = _compared(first, walk_beside(b, drawn, first.axis))
    except (TypeError, ValueError, RuntimeError):  # of numbers that a model does not take
        return None
    if found.passed is not False:
        return None
    words = f"they agree on this input; on drawn numbers {found._headline()}"
    return LayerRow(None, None, "result", code="no_effect", reason=words)


def _compared(first: Network, second: Network) -> Comparison:
    rows, end = Partings(first, second).rows()
    returned = LayerRow(None, None, "result", same=end.same, code=end.code, reason=end.reason)
    moved = sum(layer.op_type == LAYOUT for layer in (*first.layers, *second.layers))
    return Comparison((first.framework, second.framework), tuple(rows), moved, returned)


def _input(x: Any, name: str) -> Any:
    """Return an input as an array of the host; None stays None."""
    if x is None:
        return None
    found = to_host(as_array(x.detach() if hasattr(x, "detach") else x, name, None))
    special = " with NaN or infinity" * (not np.isfinite(found).all())
    if found.ndim < 2 or special:
        shape = f"{list(found.shape)}{special}"
        raise ArgumentError(f"{name} must have the batch first and finite numbers; got shape {shape}")
    return np.asarray(found)
