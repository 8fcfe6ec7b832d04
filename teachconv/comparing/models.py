"""`compare`: two models, one question: which layer differs first, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import tables
from ..arguments import as_array
from ..devices import to_host
from ..errors import ArgumentError
from ..networks.reading import LAYOUT, Layer
from ..networks.walking import INPUT, Network, fitted, framework_of, walk
from ..progress import during, say
from ..verification.diffing import DiffRow
from .judging import judge, relayout
from .lining import Pair, line_up
from .reasons import mended_call, reason

__all__ = ["Comparison", "LayerRow", "compare"]


_NAN = "NaN or infinity begins"


@dataclass(frozen=True, eq=False)
class LayerRow:
    """A layer of one model beside that of the other.

    Attributes:
        a: the first model's layer, as that model names it; None if none belongs to the second's.
        b: the second model's, likewise.
        kind: what it is: "convolution", "max pool", "relu", ...
        passed: whether all that was judged is within its bound; None if something was not judged.
        a_passed: whether the first model's result is what the layer says it computes from its own input.
        b_passed: likewise for the second model.
        same: whether the second model's layer computes, from its own input, what the first's would.
        code: a name for what differs, such as "stride", or a code of `teachconv.diff`, or "".
        reason: what is wrong, or why something was not judged, as a sentence.
        call: source text of the first model's layer in the second's framework, where the two part; or "".
        bound_fraction: the largest error of the three, as a fraction of its bound.
    """

    a: str | None
    b: str | None
    kind: str
    a_passed: bool | None = None
    b_passed: bool | None = None
    same: bool | None = None
    code: str = ""
    reason: str = ""
    call: str = ""
    bound_fraction: float = 0.0

    @property
    def passed(self) -> bool | None:
        """Whether both layers are right and do the same."""
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
    """

    frameworks: tuple[str, str]
    layers: tuple[LayerRow, ...]
    moved: int = 0

    @property
    def passed(self) -> bool | None:
        """Whether both models compute the same, layer by layer; None if something could not be judged."""
        return tables.verdict(row.passed for row in self.layers)

    @property
    def first_wrong(self) -> LayerRow | None:
        """The first layer whose result is not what it says it computes from its own input, or None."""
        return next((row for row in self.layers if row.wrong), None)

    @property
    def first_parting(self) -> LayerRow | None:
        """The first layer at which the models compute something else, or None."""
        return next((row for row in self.layers if row.same is False), None)

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
        parts = []
        if wrong is not None:
            name, framework = (wrong.a, first) if wrong.a_passed is False else (wrong.b, second)
            parts.append(f"layer {name!r} ({framework}) is wrong in itself: {wrong.reason}")
        if parting is not None and parting is not wrong:
            pair = [f"{n!r} ({f})" for n, f in ((parting.a, first), (parting.b, second)) if n is not None]
            parts.append(f"the models part at layer {' and '.join(pair)}: {parting.reason}")
        parts += [f"{row.a or row.b!r}: {row.reason}" for row in self.layers if "it raised" in row.reason]
        alone = [repr(row.a or row.b) for row in self.unmatched]
        if alone:
            shown = ", ".join(alone[:3]) + (f" and {len(alone) - 3} more" if len(alone) > 3 else "")
            parts.append(f"{tables.count(len(alone), 'layer')} without a partner: {shown}")
        open_ = [repr(row.a or row.b) for row in self.layers if row.passed is None and row.a and row.b]
        if open_:
            parts.append(f"{tables.count(len(open_), 'layer')} not judged: {', '.join(open_[:3])}")
        nan = next((row for row in self.layers if _NAN in row.reason), None)
        parts += [] if nan is None else [f"{_NAN} at layer {nan.a or nan.b!r}"]
        if self.passed:
            parts.insert(0, f"all {tables.count(len(self.layers), 'layer')} agree ({first} and {second})")
        return "; ".join(parts)

    def _table(self) -> tables.Table:
        words = {True: "pass", False: "FAIL", None: "-"}
        rows = [
            (
                row.a or "",
                row.b or "",
                row.kind,
                words[row.a_passed] if row.a else "",
                words[row.b_passed] if row.b else "",
                words[row.same],
                tables.number(row.bound_fraction) if row.bound_fraction else "",
                f"{row.code}: {row.reason}" if row.code else row.reason,
            )
            for row in self.layers
        ]
        marked = [at for at, row in enumerate(self.layers) if row.passed is False]
        first, second = self.frameworks
        columns = tables.left(f"a ({first})", f"b ({second})", "kind", "a itself", "b itself", "the same")
        notes = [
            "itself: the result, against the exact result of what the layer says, on its own input; the same: "
            "b's result, against what a's layer computes from b's input"
        ]
        if self.moved:
            notes.append(f"{tables.count(self.moved, 'layer')} that only move numbers have no row")
        parting = self.first_parting
        if parting is not None and parting.call:
            notes += [
                f"{parting.b!r} as {parting.a!r} has it:",
                *(f"  {l}" for l in parting.call.splitlines()),
            ]
        columns = (*columns, *tables.right("of bound"), *tables.left(""))
        return tables.Table(columns, rows, self._headline(), notes, marked=marked)


def compare(a: Any, b: Any, x: Any = None) -> Comparison:
    """Compare two models layer by layer: which layer differs first, and why.

    Both run on the same input. Their layers are lined up by weights, kinds and order. Each layer is judged
    on its own input by the exact result of what it says it computes, within a proven error bound; and the
    second model's layer by what the first's would compute from that input. So an early mistake does not blur
    later layers.

    Args:
        a: the model that is right: a ``torch.nn.Module``, a Keras model, one of ``teachconv.keras``, an ONNX
            file, or a recording made by ``teachconv.networks.recorder``.
        b: its port, likewise, in any framework.
        x: the input of ``a``, an array with the batch first; ``b`` gets it with its channels where ``b`` has
            them. A pair of arrays if the two take others. None if both are recordings.

    Returns:
        A `Comparison`: ``.passed``, ``.first_wrong``, ``.first_parting``, ``.layers``, ``.unmatched``. It
        prints as a table whose first line is the verdict.

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
    given = x if isinstance(x, (tuple, list)) and len(x) == 2 else (x, None)
    with during("compare"):
        say("running the first model")
        first = walk(a, _input(given[0], "x"))
        say("running the second model")
        if given[1] is None and given[0] is not None and framework_of(b) not in ("recording", ""):
            given = given[0], fitted(_input(given[0], "x"), b, first.axis)
        second = walk(b, _input(given[1], "x[1]"))
        rows = tuple(_rows(first, second, line_up(first, second)))
    moved = sum(layer.kind == LAYOUT for layer in (*first.layers, *second.layers))
    return Comparison((first.framework, second.framework), rows, moved)


def _input(x: Any, name: str) -> Any:
    """Return an input as an array of the host; None stays None."""
    if x is None:
        return None
    found = to_host(as_array(x.detach() if hasattr(x, "detach") else x, name, None))
    if found.ndim < 2:
        raise ArgumentError(f"{name} must have the batch first; got shape {list(found.shape)}")
    return np.asarray(found)


def _rows(a: Network, b: Network, pairs: list[Pair]) -> Iterator[LayerRow]:
    """Yield the row of each pair."""
    places: tuple[dict[int, int], ...] = {INPUT: -1}, {INPUT: -1}  # in which pair each layer is
    for at, pair in enumerate(pairs):
        for side in (0, 1):
            places[side].update(dict.fromkeys(pair.numbers[side], at))
    undefined = tuple(
        {p.numbers[side] for p in pairs if (p.a, p.b)[1 - side] is None and (p.a, p.b)[side].op is None}  # type: ignore[union-attr]
        for side in (0, 1)
    )
    for pair in pairs:
        say(f"judging {(pair.a or pair.b).name}")  # type: ignore[union-attr]
        if pair.a is None or pair.b is None:
            stopped = (b if pair.b is None else a).layers[-1].error
            yield _alone(pair, bool(undefined[0] or undefined[1]), stopped)
            continue
        row = _row(pair.a, pair.b)
        other = _other_source(a, b, pair, places, pairs)
        if row.same is not False and other:
            row = replace(row, same=False, code="wiring", reason=other)
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
    found = LayerRow(
        a.name, b.name, a.kind, own[0].passed, own[1].passed, reason=_found(own[0]) or _found(own[1])
    )
    if wrong is not None:
        code = wrong.diagnosis.code if wrong.diagnosis else ""
        found = replace(found, code=code, reason=_found(wrong))
    fractions = [row.bound_fraction for row in own if row.compared]
    if a.op is None or a.output is None:
        return replace(found, bound_fraction=max(fractions, default=0.0))
    inputs = [relayout(x, b.axis, a.axis, a.inputs[0].ndim) for x in b.inputs]
    if b.output is None:
        code, words = reason(
            a, b, inputs, DiffRow(b.name, "", False, note="the same input goes through the other")
        )
        if not code and inputs[0].shape != a.inputs[0].shape:
            return found
        return replace(found, same=False, code=code or "raised", reason=f"{found.reason}; {words}")
    row = judge(a, inputs, relayout(b.output, b.axis, a.axis, a.output.ndim))
    same = row.passed if row.compared or b.op is None else False
    found = replace(found, same=same, bound_fraction=max([*fractions, row.bound_fraction]))
    if same is not False:
        return found
    code, words = reason(a, b, inputs, row)
    if wrong is None:
        found = replace(found, code=code, reason=words)
    return replace(found, call=mended_call(a, b, inputs))


def _alone(pair: Pair, unsure: bool, stopped: str) -> LayerRow:
    """Return the row of a layer without a partner.

    It passes if it changed nothing; it is not judged if it has no definition, or may be a part of what has
    none in the other model.
    """
    layer = pair.a or pair.b
    assert layer is not None
    row = _own(layer)
    changed = layer.output is None or not any(np.array_equal(x, layer.output) for x in layer.inputs)
    same = True if not changed else None if layer.op is None or unsure or stopped else False
    names = (layer.name, None) if pair.a is not None else (None, layer.name)
    other = "second" if pair.a is not None else "first"
    why = f"the {other} model has no such layer" if changed else "it changes nothing here"
    why = f"the {other} model did not come so far" if stopped else why
    why = "; ".join(filter(None, [why, _found(row)]))
    own = (row.passed, None) if pair.a is not None else (None, row.passed)
    return LayerRow(*names, layer.kind, *own, same, "missing" if same is False else "", why)


def _other_source(
    a: Network, b: Network, pair: Pair, places: tuple[dict[int, int], ...], pairs: list[Pair]
) -> str:
    """Say which input of two layers comes from layers that do not belong together, or ""."""
    assert pair.a is not None and pair.b is not None
    ways = []  # of each side, for each input, the pairs that it may come from
    for network, numbers, known in ((a, pair.numbers[0], places[0]), (b, pair.numbers[1], places[1])):
        ways.append([{known.get(one) for one in each} - {None} for each in network.sources[min(numbers)]])
    first, second = ways
    if pair.a.kind in ("add", "multiply") and len(first) == len(second) == 2 and not first[0] & second[0]:
        second = second[::-1]
    if len(first) != len(second):
        return f"{pair.a} has {tables.count(len(first), 'input')}, {pair.b} {len(second)}"
    for ours, theirs in zip(first, second, strict=True):
        lonely = any(
            at is not None and at >= 0 and None in (pairs[at].a, pairs[at].b) for at in ours | theirs
        )
        if ours and theirs and not ours & theirs and not lonely:
            return f"an input of {pair.b} comes from {_name(max(theirs), pairs, 1)}, that of {pair.a} from {_name(max(ours), pairs, 0)}"  # type: ignore[type-var]
    return ""


def _name(at: Any, pairs: list[Pair], side: int) -> str:
    layer = None if at < 0 else (pairs[at].a, pairs[at].b)[side]
    return "the model's input" if layer is None else str(layer)
