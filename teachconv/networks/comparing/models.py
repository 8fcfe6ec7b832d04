"""`compare`: two models, one question: which layer differs first, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.arguments import as_array
from ...support import tables
from ...support.devices import to_host
from ...support.errors import ArgumentError, brief
from ...support.progress import during, say
from ...verification.reports import DiffRow
from ..reading import LAYOUT, Layer
from ..walking import Network, framework_of, walk, walk_beside
from .flowing import Flow
from .judging import exact, judge, relayout
from .lining import Pair, Row, line_up
from .reasons import mended_call, reason

_NAN = "NaN or infinity begins"


@dataclass(frozen=True, eq=False)
class LayerRow:
    """A layer of one model beside that of the other.

    Attributes:
        a: the first model's layer, as that model names it; None if none belongs to the second's.
        b: the second model's, likewise.
        op_type: what it is: "convolution", "max pool", "relu", ...
        a_passed: whether the first model's result is what the layer says it computes from its own input.
        b_passed: likewise for the second model.
        same: whether the second model's layer computes, from its own input, what the first's would.
        code: a name for what differs, such as "stride", or a code of `teachconv.diff`, or "".
        reason: what is wrong, or why something was not judged, as a sentence.
        call: source text of the first model's layer in the second's framework, where the two part; or "".
        bound_fraction: the largest error of the three, as a fraction of its bound.
        share: which part of the difference between the models' outputs is gone if this layer's result is put
            right and the rest runs again: 1 if it alone causes it; None if that is not known.
    """

    a: str | None
    b: str | None
    op_type: str
    a_passed: bool | None = None
    b_passed: bool | None = None
    same: bool | None = None
    code: str = ""
    reason: str = ""
    call: str = ""
    bound_fraction: float = 0.0
    share: float | None = None

    @property
    def passed(self) -> bool | None:
        """Whether both layers are right and do the same; None if something was not judged."""
        judged = [self.same, *([self.a_passed] * bool(self.a)), *([self.b_passed] * bool(self.b))]
        return tables.verdict(judged)

    @property
    def wrong(self) -> bool:
        """Whether one of the two is wrong in itself."""
        return self.a_passed is False or self.b_passed is False


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(tables.Report):
    """Two models layer by layer.

    Attributes:
        frameworks: of the first model and the second.
        layers: a `LayerRow` for each pair of layers, and for each layer without a partner, in the first
            model's order.
        moved: how many layers of both models only move numbers, such as Flatten: they have no row.
        returned: a row for what the models return, compared array by array; it has ``same``, ``code`` and
            ``reason`` alone.
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
        """The first layer at which the models diverge, or `returned` if none does but that, or None."""
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
        raised = [row for row in self.layers if "it raised" in row.reason and row is not parting]
        parts += [f"{row.a or row.b!r}: {row.reason}" for row in raised]
        paired = [row for row in self.layers if row.passed is None and row.a and row.b]
        for words, rows in (("without a partner", self.unmatched), ("not judged", paired)):
            more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
            names = f"{', '.join(repr(row.a or row.b) for row in rows[:3])}{more}"
            parts += [f"{tables.count(len(rows), 'layer')} {words}: {names}"] * bool(rows)
        unjudged = self.returned.same is None and self.returned.reason
        parts += [f"what they return is not judged: {unjudged}"] * bool(unjudged)
        nan = next((row for row in self.layers if _NAN in row.reason), None)
        parts += [] if nan is None else [f"{_NAN} at layer {nan.a or nan.b!r}"]
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
            "itself: the result against the exact result of what the layer says, on its own input; the same: "
            "b's result, against what a's layer computes from b's input",
            *[f"{tables.count(self.moved, 'layer')} that only move numbers have no row"] * bool(self.moved),
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


def compare(a: Any, b: Any, x: Any = None) -> Comparison:
    """Compare two models layer by layer: which layer differs first, and why.

    Both run on the same input. Their layers are lined up by weights, kinds and order. Each layer is judged
    on its own input by the exact result of what it says it computes, within a proven error bound; and the
    second model's layer by what the first's would compute from that input. So an early mistake does not blur
    later layers. What moves numbers, such as a transpose, is judged by what arrives at the next layer, and
    in the end by what the models return: all arrays, in nested tuples, lists and dictionaries.

    Args:
        a: the model that is right: a ``torch.nn.Module``, a Keras model, one of ``teachconv.keras``, an ONNX
            or TFLite file, or a recording made by ``teachconv.networks.recorder``.
        b: its port, likewise, in any framework.
        x: the input of ``a``, an array with the batch first; ``b`` gets it with its channels where ``b`` has
            them. A pair of arrays if the two take others. None if both are recordings.

    Returns:
        A `Comparison`: ``.passed``, ``.first_wrong``, ``.first_parting``, ``.layers``, ``.returned``,
        ``.unmatched``. It prints as a table whose first line is the verdict.

    Raises:
        ValueError, TypeError: if a model or ``x`` is none, does not fit the other, or a model is in training
            mode; the message says which.
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
        if framework_of(model) and isinstance(model, (str, Path)) and not Path(model).is_file():
            raise ArgumentError(f"{name} must be a file that exists; got {brief(str(model))}")
    given = x if isinstance(x, (tuple, list)) and len(x) == 2 else (x, None)
    with during("compare"), np.errstate(all="ignore"):  # files hold any numbers; NaN is named
        say("running the first model")
        first = walk(a, _input(given[0], "x"))
        say("running the second model")
        beside = _input(given[1], "x[1]")
        second = walk_beside(b, _input(given[0], "x"), first.axis) if beside is None else walk(b, beside)
        stopped = [network.layers[-1].error for network in (first, second)]
        pairs = line_up(first, second)
        flow = Flow(pairs, first, second)
        rows = [*_rows(pairs, stopped, flow)]
        failed = [
            at
            for at, row in enumerate(rows)
            if row.passed is False and None not in pairs[at] and row.code not in ("wiring", "moved")
        ]
        for at in failed[:_RERUNS]:
            say(f"running on without the mistake of {rows[at].b}")
            rows[at] = replace(rows[at], share=_share(rows[at], pairs[at], first, second))
        end = flow.returned(tables.verdict(row.passed for row in rows))
        returned = LayerRow(None, None, "result", same=end.same, code=end.code, reason=end.reason)
    moved = sum(layer.op_type == LAYOUT for layer in (*first.layers, *second.layers))
    return Comparison((first.framework, second.framework), tuple(rows), moved, returned)


_RERUNS = 4  # of how many layers it is said how much of the difference they cause


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


def _rows(pairs: list[Pair], stopped: Sequence[str], flow: Flow) -> Iterator[LayerRow]:
    """Yield the row of each pair; ``stopped`` says with what error each model ended, or ""."""
    # what is missing may be a part of what has no definition, or of a step that was not seen
    unsure = any(row is not None and row.layer.op is None for at in flow.lonely for row in pairs[at])
    unsure |= any(not each for pair in pairs for row in pair if row is not None for each in row.sources)
    for a, b in pairs:
        if a is None or b is None:
            yield _alone(a, b, unsure, stopped[b is None])
            continue
        say(f"judging {a.layer.name}")
        row = _row(a.layer, b.layer)
        for same, code, words in flow.inputs(a, b):
            if row.same if same is None else row.same is not False and not same:
                row = replace(row, same=same, code=code, reason=words)
        yield row


def _own(layer: Layer) -> DiffRow:
    """Judge a layer's result on its own input."""
    if layer.error:
        return DiffRow(layer.name, "", None, note=f"it raised {layer.error}")
    if layer.output is None or layer.op is None:
        return DiffRow(layer.name, "", None, note=f"no definition of {layer.word} here")
    row = judge(layer, layer.inputs, layer.output)
    if row.passed and not np.isfinite(layer.output).all() and all(np.isfinite(x).all() for x in layer.inputs):
        row = replace(row, note=f"{_NAN} here")
    return row


def _found(row: DiffRow) -> str:
    """What a judgement found, as text."""
    nothing = "nothing explains it" if row.passed is False and not row.diagnosis and not row.note else ""
    return "; ".join(filter(None, [str(row.diagnosis or ""), row.note, nothing, row.where]))


def _row(a: Layer, b: Layer) -> LayerRow:
    """Judge two layers that belong together."""
    own = _own(a), _own(b)
    wrong = next((row for row in own if row.passed is False), None)
    passed, said = (own[0].passed, own[1].passed), _found(wrong or own[0]) or _found(own[1])
    code = wrong.diagnosis.code if wrong and wrong.diagnosis else ""
    most = max(row.bound_fraction for row in own)
    found = LayerRow(a.name, b.name, a.op_type, *passed, None, code, said, "", most)
    if a.op is None or a.output is None:
        return found
    inputs = _as_a(a, b)
    row = DiffRow(b.name, "", False, note="the same input goes through the other")
    if b.output is not None:
        row = judge(a, inputs, relayout(b.output, b.axis, a.axis, a.output.ndim))
    same = row.passed if row.compared or b.op is None or own[0].passed is None else False
    found = replace(found, same=same, bound_fraction=max(most, row.bound_fraction))
    if same is not False:
        return found
    code, words = reason(a, b, inputs, row)
    if b.output is None:
        if not code and [x.shape for x in inputs[:1]] != [x.shape for x in a.inputs[:1]]:
            return replace(found, same=None)
        code, words = code or "raised", f"{said}; {words}"
    nan = f"; {_NAN} here" * (_NAN in said)
    found = found if wrong else replace(found, code=code, reason=words + nan)
    return replace(found, call=mended_call(a, b, inputs))


def _as_a(a: Layer, b: Layer) -> list[np.ndarray]:
    """Return the second layer's inputs as the first takes them."""
    return [relayout(x, b.axis, a.axis, a.inputs[0].ndim) for x in b.inputs]


def _share(row: LayerRow, pair: Pair, first: Network, second: Network) -> float | None:
    """Return which part of the final difference disappears if a layer's result is corrected."""
    one, other = (each.layer for each in pair if each is not None)
    side, ours, theirs = int(row.a_passed is not False), first.outputs(), second.outputs()
    try:
        before = _distance(ours, theirs, first, second)
        if row.wrong:
            layer, network = ((one, first), (other, second))[side]
            made = network.outputs(layer.call, exact(layer, layer.inputs))
            ours, theirs = (ours, made) if side else (made, theirs)
        else:
            right = exact(one, _as_a(one, other))
            right = relayout(right, one.axis, other.axis, other.inputs[0].ndim)
            theirs = second.outputs(other.call, right)
        after = _distance(ours, theirs, first, second)
    except (AttributeError, TypeError, ValueError, IndexError):  # it cannot run, or returns other sizes
        return None
    return float(1 - after / before) if 0 < before < np.inf and after < np.inf else None


def _distance(ours: list[np.ndarray], theirs: list[np.ndarray], first: Network, second: Network) -> float:
    """Return how far what the models return is apart, all arrays together."""
    moved = [relayout(y, second.axis, first.axis, x.ndim) for x, y in zip(ours, theirs, strict=True)]
    return float(
        np.linalg.norm([np.linalg.norm(x - y.reshape(x.shape)) for x, y in zip(ours, moved, strict=True)])
    )


def _alone(a: Row | None, b: Row | None, unsure: bool, stopped: str) -> LayerRow:
    """Return the row of a layer without a partner.

    It passes if it changed nothing; it is not judged if it has no definition, or may be a part of what has
    none in the other model.
    """
    layer, other = (a.layer, "second") if a is not None else (b.layer, "first")  # type: ignore[union-attr]
    own, same = _own(layer), None if layer.op is None or unsure or stopped else False
    why = f"the {other} model did not come so far" if stopped else f"the {other} model has no such layer"
    if layer.output is not None and any(np.array_equal(x, layer.output) for x in layer.inputs):
        same, why = True, "it changes nothing here"
    names = (layer.name, None) if a is not None else (None, layer.name)
    passed = (own.passed, None) if a is not None else (None, own.passed)
    why = "; ".join(filter(None, [why, _found(own)]))
    return LayerRow(*names, layer.op_type, *passed, same, "missing" * (same is False), why)  # type: ignore[call-arg]
