"""The rows of a comparison: a segment of both models each, those first at which the models part.

Where no anchor is left, the models have parted. Then the first model runs on with the second's numbers: at
the first place from which on the two agree again, the segment ends that differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ...data.seeded import make_array
from ...support import tables
from ...support.errors import ArgumentError
from ...support.progress import say
from ...verification.reports import DiffRow
from ..reading import LAYOUT, Layer
from ..walking import INPUT, Network
from .anchoring import (
    AS_NEAR,
    Anchor,
    Anchors,
    Arrange,
    Verdict,
    anchored,
    difference,
    farthest,
    half_of_the_digits,
)
from .judging import exact, judge, of_shape, relayout
from .reasons import mended_call, reason_of_segment, without_effect
from .spreading import closure, output_of

NAN = "NaN or infinity begins"
_UNJUDGED = (LAYOUT, "array")  # of which no call is known that may be wrong
_ROUNDS = 4  # the most places that are looked for
_RUNS = 40  # of the first model for each place
_UNLIMITED = ("convolution", "norm", "product")  # ends of the names of layers that may return any number
_LARGE = 1000.0  # in size, beyond the limits of activations
_REFUSED = (TypeError, ValueError, IndexError, RuntimeError)  # raised by a model for numbers it does not take
_FIRST = 5  # the most layers of each model that are tried as one that the other does not have


@dataclass(frozen=True, eq=False)
class LayerRow:
    """A segment of one model beside that of the other: usually one layer of each.

    Attributes:
        a: the first model's layers, as that model names them, with " + " between; None if none belongs to
            the second's.
        b: the second model's, likewise.
        op_type: what it is: "convolution", "max pool", "relu", ...
        a_passed: whether the first model's result is what the layer says it computes from its own input.
        b_passed: likewise for the second model.
        same: whether both segments, from where the models carry the same numbers, end in the same numbers.
        code: a name for what differs, such as "stride", or a code of `teachconv.diff`, or "".
        reason: what is wrong, or why something was not judged, as a sentence.
        call: source text of the first model's layer in the second's framework, if the two differ; or "".
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


class Cut(NamedTuple):
    """Where the models have parted: a layer of each, or an anchor if only the other model has one more."""

    a: int
    b: int
    state: Network  # the first model, with the second's numbers there


class Partings:
    """Two networks, and the rows that compare them."""

    def __init__(self, first: Network, second: Network) -> None:
        self.networks = first, second
        self._own = [
            {n: _own(layer) for n, layer in enumerate(network.layers) if layer.op_type not in _UNJUDGED}
            for network in self.networks
        ]
        # the pairs at which the first model has the second's numbers
        self._forced: list[tuple[int, int]] = []
        # by the ends of segments: their layers, and their rows
        self._done: dict[tuple[int, int], tuple[Sequence[Sequence[int]], list[LayerRow]]] = {}

    def rows(self) -> tuple[list[LayerRow], Verdict]:
        """Return the rows in the first model's order, and what is found of what the models return."""
        anchors, stopped = anchored(*self.networks), [network.layers[-1].error for network in self.networks]
        is_apart, end = stopped.count("") == 1, Verdict(None)
        while True:
            anchors, cut = self._judge_segments(anchors)
            if not any(stopped):
                end = returned(anchors)
                is_apart = end.same is False and end.code not in ("structure", "dtype")
            # in a segment of which no bound tells anything, the models may have parted as well
            unsure = [done for done, rows in self._done.values() if is_apart and rows[-1].same is None]
            opens = [
                sorted({*anchors.open(side, is_apart), *(n for done in unsure for n in done[side])})
                for side in (0, 1)
            ]
            if cut is None and end.same is not False and not any(stopped) and all(opens):
                cut = self._damped(anchors, opens) or self._unbounded(anchors, opens, end)
                if cut is not None:
                    self._part(anchors, cut, opens)
            if cut is None and is_apart and any(opens) and len(self._forced) < _ROUNDS:
                say("running on with the second model's numbers")
                cut = None if any(stopped) else self._cut(anchors, opens)
                cut = cut or self._alike(anchors, opens)
                self._part(anchors, cut, opens, any(stopped))
            if cut is None or cut.state is anchors.networks[0]:
                break
            self._forced.append((cut.a, cut.b))
            anchors = anchored(cut.state, self.networks[1], self._forced)
        if end.same is not False and any(n in self._own[side] for side in (0, 1) for n in opens[side]):
            layers = [opens[0], [] if self.networks[1].framework == "arrays" else opens[1]]
            if not any(stopped):
                self._add(anchors, layers, end, (len(self.networks[0].layers), 0))
        if end.same and any(self._done[place][1][-1].same is not True for place in self._forced):
            end = Verdict(None)
        elif end.same:
            with suppress(*_REFUSED):
                self._judge_beyond(anchors)
        if end.same is False and end.code != "moved":
            end = end._replace(reason=f"{end.reason}; {_last_equal(anchors, ((), ()))}")
        rows = [row for key in sorted(self._done) for row in self._done[key][1]]
        return [*rows, *self._rest(opens, stopped)], end

    def _judge_segments(self, anchors: Anchors) -> tuple[Anchors, Cut | None]:
        """Add the rows of the segments up to one that differs in a part of it.

        Returns:
            The anchors without those that only resemble, and where the models part or None.
        """
        is_dump = self.networks[1].framework == "arrays"
        for anchor in anchors.found[1:]:
            key = anchor.a, anchor.b
            if key in self._done:
                continue
            say(f"judging {anchors.networks[0].layers[anchor.a].name}")
            layers, verdict = [anchors.layers(side, n) for side, n in enumerate(key)], anchors.judged(anchor)
            if verdict.same is False:
                before = {n for number in layers[0] for n in anchors.begins(0, number)}
                near = [anchor, *(known for known in anchors.found[1:] if known.a in before)]
                for rest in filter(None, (self._by_chance(anchors, known) for known in near)):
                    for known in {*anchors.found} - {*rest.found}:
                        self._done.pop(known[:2], None)
                    return self._judge_segments(rest)
                within, cut = layers, self._cut(anchors, layers, key)
            else:
                within = [layers[0], anchors.open(1)] if is_dump else layers
                cut = self._damped(anchors, within, anchor)
            if cut is not None:
                self._part(anchors, cut, within)
                return anchors, cut
            self._add(anchors, layers, verdict, key)
        return anchors, None

    def _judge_beyond(self, anchors: Anchors) -> None:
        """Say which segments agree on these inputs only: those of activations with other limits, say.

        Both models run once more. In place of what layers return that may return any number, such as
        convolutions, both get large drawn numbers, which the layers behind them then go on with.
        """
        drawn, found = list[dict[int, np.ndarray]]([{}, {}]), anchors.found[:1]
        for anchor in anchors.found[1:]:
            a, b, arrange = anchor
            array = output_of(anchors.networks[1], b)
            types = [network.layers[n].op_type for network, n in zip(anchors.networks, (a, b), strict=True)]
            if array.dtype.kind == "f" and any(name.endswith(_UNLIMITED) for name in types):
                drawn[1][b] = _LARGE * make_array(array.shape, "float64", seed=f"beyond {b}")
                drawn[0][a] = arrange(drawn[1][b])
                found.append(anchor)
        if not drawn[0] or not all(network.can_run for network in anchors.networks):
            return
        made = [network.again(there) for network, there in zip(anchors.networks, drawn, strict=True)]
        beyond, done = Anchors(made[0], made[1], found), set[int]()
        for a, b, arrange in anchors.found[1:]:
            ends = [network.last_like(n) for network, n in zip(anchors.networks, (a, b), strict=True)]
            shapes = output_of(made[0], ends[0]).shape, output_of(anchors.networks[1], b).shape

            def as_first(array: np.ndarray, arrange: Arrange = arrange, shapes: Any = shapes) -> np.ndarray:
                return arrange(array.reshape(shapes[1])).reshape(shapes[0])

            layers = [closure(made[side], [n], beyond.known(side)) for side, n in enumerate(ends)]
            ours, theirs = ((output_of(network, n), [n]) for network, n in zip(made, ends, strict=True))
            if beyond.arrived(ours, theirs, as_first).same is False and not done & {*layers[0]}:
                done |= {*layers[0]}
                reason = reason_of_segment(*_parts(made, layers))
                _, rows = self._done.get((ends[0], ends[1]), self._done[a, b])
                words = f"equal on these inputs; on larger numbers they differ: {reason.words}"
                rows[-1] = replace(rows[-1], same=None, code="no_effect", reason=words)

    def _part(
        self, anchors: Anchors, cut: Cut, within: Sequence[Sequence[int]], stopped: bool = False
    ) -> None:
        """Add the row of a place at which the models part, or one of them stopped."""
        ends = list(enumerate((cut.a, cut.b)))
        layers = [anchors.layers(side, end) if end in within[side] else [] for side, end in ends]
        if cut.state is not anchors.networks[0]:  # a model may return other numbers from inside a segment
            for key in [key for key, (done, _) in self._done.items() if {*done[0]} & {*layers[0]}]:
                del self._done[key]
        verdict = Verdict(False)
        if cut.state is not anchors.networks[0] and all(layers):
            way = _way(self.networks[1], cut.b, self.networks[0], cut.a)
            verdict = anchors.judged(Anchor(cut.a, cut.b, way))
            if verdict.same is None and verdict.code != "useless":
                verdict = Verdict(False)
        self._add(anchors, layers, verdict, (cut.a, cut.b))
        row = self._done[cut.a, cut.b][1][-1]
        if stopped and not row.code:  # what the other model takes, this one refuses
            takes = [[x.size for x in anchors.networks[side].layers[end].inputs[:1]] for side, end in ends]
            same = False if takes[0] == takes[1] != [] else None
            self._done[cut.a, cut.b][1][-1] = replace(row, same=same, code="raised")

    def _add(
        self, anchors: Anchors, layers: Sequence[Sequence[int]], verdict: Verdict, end: tuple[int, int]
    ) -> None:
        """Add the row of a segment, and before it one of each layer among several that is wrong in itself."""
        row = self._row(layers, verdict)
        if verdict.same is False:
            row = self._explained(anchors, row, layers, end)
        elif verdict.same and not row.wrong and (words := without_effect(*_parts(anchors.networks, layers))):
            row = replace(row, same=None, code="no_effect", reason=words)
        wrong = [
            self._row([[n], []] if side == 0 else [[], [n]], Verdict(None))
            for side, part in enumerate(layers)
            for n in part
            if max(map(len, layers)) > 1 and n in self._own[side] and self._own[side][n].passed is False
        ]
        self._done[end] = layers, [*wrong, row]

    def _row(self, layers: Sequence[Sequence[int]], verdict: Verdict) -> LayerRow:
        """Return the row of a segment."""
        sides = [
            [self._own[side][n] for n in part if n in self._own[side]] for side, part in enumerate(layers)
        ]
        every = [*sides[0], *sides[1]]
        wrong = next((row for row in every if row.passed is False), None)
        unsure = [row for row in every if row.passed is None]
        telling = [wrong] if wrong else unsure or [row for row in every if NAN in row.note][:1]
        parts = _parts(self.networks, layers)
        kinds = [[layer.op_type for layer in part if layer.op_type != LAYOUT] for part in parts]
        names = kinds[0] or kinds[1] or [LAYOUT]
        (a, b), (a_passed, b_passed) = (
            [" + ".join(_names(part)) or None for part in parts],
            [tables.verdict(row.passed for row in rows) if rows else True for rows in sides],
        )
        code = wrong.diagnosis.code if wrong and wrong.diagnosis else verdict.code
        said = "; ".join(filter(None, [*dict.fromkeys(map(found_by, telling)), verdict.reason]))
        most = max([verdict.fraction, *(row.bound_fraction for row in every)])
        op_type = next((name for name in names if "convolution" in name), names[-1])
        return LayerRow(a, b, op_type, a_passed, b_passed, verdict.same, code, said, bound_fraction=most)

    def _cut(
        self, anchors: Anchors, within: Sequence[Sequence[int]], end: tuple[int, int] | None = None
    ) -> Cut | None:
        """Return the first place from which on the models agree: up to the end of a segment, or in the end.

        If there is none in the end, that behind which they have the most in common.
        """
        state, second = anchors.networks
        best, most = None, 0
        places = _places(anchors, within) if len(self._forced) < _ROUNDS else ()
        for a, b in islice((place for place in places if place != end), _RUNS):
            try:
                made = state.again({a: _laid_out(second, b, state, a)})
                found = anchored(made, second, [*self._forced, (a, b)])
            except _REFUSED:
                continue
            if end is not None:
                if any(anchor[:2] == end and found.judged(anchor).same for anchor in found.found):
                    return Cut(a, b, made)
                continue
            gained = sum(n in within[0] and m in within[1] and n > a for n, m, _ in found.found)
            if returned(found).same is not False:  # at the last layers of all it says least
                return best if most > 1 and not gained else Cut(a, b, made)
            if gained > most:
                best, most = Cut(a, b, made), gained
        return best

    def _damped(
        self, anchors: Anchors, within: Sequence[Sequence[int]], end: Anchor | None = None
    ) -> Cut | None:
        """Return the first place at which the models differ, where what that changes in the end is allowed.

        There, numbers are farther apart than their errors, and with the second model's in their place nearly
        all of the difference in the end is gone. Numbers that differ because the segments are written in
        other words, such as with a factor that moved to the next layer, bring the ends no nearer.
        """
        state, second = anchors.networks
        places = _places(anchors, within) if len(self._forced) < _ROUNDS else ()
        for a, b in islice(places, _RUNS):
            if end and (a == end.a or b == end.b) or not _are_alike(state.layers[a], second.layers[b]):
                continue
            with suppress(*_REFUSED):
                place = Anchor(a, b, _way(second, b, state, a))
                one, other = anchors.pair(place)
                sides = (output_of(state, a), [a]), (output_of(second, b), [b])
                errors = [error for error in anchors.errors(*sides, place.arrange) if error is not None]
                cells = difference(one, other) > sum(errors, np.zeros(()))
                if len(errors) < 2 or not cells.any():
                    continue
                before, after = _exchanged(anchors, place, end, cells)
                if AS_NEAR * after < before:
                    return Cut(a, b, state.again({a: other}))
        return None

    def _unbounded(self, anchors: Anchors, within: Sequence[Sequence[int]], end: Verdict) -> Cut | None:
        """Return the first place at which the models differ, where the bound of their far ends says nothing.

        There, two layers of one type are farther apart than their errors, and with the second model's numbers
        in their place the ends agree.
        """
        state, second = anchors.networks
        if end.code != "useless" or len(self._forced) == _ROUNDS:
            return None
        if not _apart(state, second).max(initial=0.0) > max(map(half_of_the_digits, state.outputs())):
            return None
        for a, b in islice(_places(anchors, within), _RUNS):
            if state.layers[a].op_type == second.layers[b].op_type:
                with suppress(*_REFUSED):
                    place = Anchor(a, b, _way(second, b, state, a))
                    if anchors.judged(place).same is False:
                        made = state.again({a: anchors.pair(place)[1]})
                        if returned(anchored(made, second, [*self._forced, (a, b)])).same:
                            return Cut(a, b, made)
        return None

    def _by_chance(self, anchors: Anchors, anchor: Anchor) -> Anchors | None:
        """Return the anchors without one that only resembles: behind it the models agree again.

        With the second model's numbers there, they agree less.
        """
        dropped = [anchor]
        while len(dropped) <= _ROUNDS:
            rest = Anchors(*anchors.networks, [known for known in anchors.found if known not in dropped])
            spans = ([rest.layers(side, n) for side, n in enumerate(known[:2])] for known in rest.found[1:])
            later = next(
                (
                    known
                    for known, layers in zip(rest.found[1:], spans, strict=True)
                    if any(place.a in layers[0] or place.b in layers[1] for place in dropped)
                ),
                None,
            )
            same = rest.judged(later).same if later else returned(rest).same
            if same:
                with suppress(*_REFUSED):
                    ends = [_exchanged(rest, place, later) for place in dropped]
                    return rest if all(AS_NEAR * before < after for before, after in ends) else None
            if later is None or same is None:
                return None
            dropped.append(later)
        return None

    def _alike(self, anchors: Anchors, opens: Sequence[Sequence[int]]) -> Cut:
        """Return the first layers behind the anchors that are of one kind, or the first of all."""
        state, second = anchors.networks
        pairs = [(a, b) for a in opens[0][:_FIRST] for b in opens[1][:_FIRST]]
        pairs = pairs or [(next(iter(opens[0]), INPUT), next(iter(opens[1]), INPUT))]
        alike = (pair for pair in pairs if state.layers[pair[0]].op_type == second.layers[pair[1]].op_type)
        return Cut(*next(alike, pairs[0]), state)

    def _explained(
        self, anchors: Anchors, row: LayerRow, layers: Sequence[Sequence[int]], end: tuple[int, int]
    ) -> LayerRow:
        """Return a row with the reason why its segments differ, and how much of the difference they cause."""
        found = reason_of_segment(*_parts(anchors.networks, layers))
        if not row.wrong:
            if found.code == "moved" and all(layers) and (words := self._wiring(anchors, *end)):
                found = found._replace(code="wiring", words=words)
            is_vague = found.code in ("moved", "wiring", "result", "missing")
            said = [found.words, *([_last_equal(anchors, layers)] * is_vague), row.reason]
            row = replace(row, code=found.code, reason="; ".join(filter(None, said)))
        call = mended_call(*found.pair) if found.pair else ""
        return replace(row, share=self._share(row, layers, anchors.networks[0], *end), call=call)

    def _wiring(self, anchors: Anchors, a: int, b: int) -> str:
        """Say so if two layers take the results of layers that do not belong together, else return ""."""
        known = anchors.known(1)
        ours, theirs = anchors.begins(0, a), anchors.begins(1, b)
        for one, other in zip(ours, theirs, strict=False):
            if one in anchors.known(0) and other in known and known[other] != one:
                first, second = anchors.networks
                places = f"comes from {_name(second, other)}, not from the place of {_name(first, one)}"
                return f"an input of {_name(second, b)} {places}"
        return ""

    def _share(
        self, row: LayerRow, layers: Sequence[Sequence[int]], state: Network, a: int, b: int
    ) -> float | None:
        """Return which part of the final difference goes if the second model gets what the first computes."""
        if INPUT in (a, b) or self.networks[1].layers[b].op_type == "cast":  # which rounds what is right, too
            return None
        first, second = self.networks
        try:
            before = _distance(first, second)
            if row.wrong:
                side = int(row.a_passed is not False)
                number = next(
                    n for n in layers[side] if n in self._own[side] and self._own[side][n].passed is False
                )
                layer = self.networks[side].layers[number]
                made = self.networks[side].again({number: exact(layer, layer.inputs)})
                after = _distance(*((first, made) if side else (made, second)))
            else:
                after = _distance(first, second.again({b: _laid_out(state, a, second, b)}))
        except (AttributeError, *_REFUSED):
            return None
        return float(1 - after / before) if 0 < before < np.inf and after < np.inf else None

    def _rest(self, opens: Sequence[Sequence[int]], stopped: Sequence[str]) -> Iterator[LayerRow]:
        """Yield a row for each layer that is in no segment.

        One whose result the model does not return is judged only if the other model has such a layer, too.
        """
        within = [{n for done, _ in self._done.values() for n in done[side]} for side in (0, 1)]
        lone = [sorted(own.keys() - done) for own, done in zip(self._own, within, strict=True)]
        types = [
            {
                network.layers[n].op_type
                for n in numbers
                if n not in ends and network.layers[n].weights is not None
            }
            for network, numbers, ends in zip(self.networks, lone, opens, strict=True)
        ]
        for side, network in enumerate(self.networks):
            twins = [network.layers[n].output for n in within[side]]
            for number in lone[side]:
                layer = network.layers[number]
                is_still = not _moves(layer)
                if stopped[1 - side]:
                    why = f"the {('second', 'first')[side]} model did not come so far"
                elif is_still:
                    why = "it changes nothing here"
                elif number in opens[side]:
                    why = "the models parted before"
                else:
                    why = "nothing that the model returns comes from it"
                known = [twin for twin in twins if twin is not None and layer.output is not None]
                is_idle = is_still or any(np.array_equal(layer.output, twin) for twin in known)  # type: ignore[arg-type]
                is_idle |= number not in opens[side] and layer.op_type not in types[1 - side]
                same = True if is_idle and not stopped[1 - side] else None
                yield self._row([[number], []] if side == 0 else [[], [number]], Verdict(same, "", why))


def _parts(networks: Sequence[Network], layers: Sequence[Sequence[int]]) -> list[list[Layer]]:
    """Return the layers of a segment of both models."""
    return [[network.layers[n] for n in part] for network, part in zip(networks, layers, strict=True)]


def _exchanged(
    anchors: Anchors, place: Anchor, end: Anchor | None, cells: np.ndarray | bool = True
) -> tuple[float, float]:
    """Return how far the ends of both models are apart, and how far with the second's numbers at a place.

    Of the ends (an anchor's, or None for what the models return) only those numbers count that change with
    the place's cells. The anchors before have the second's numbers in both runs.
    """
    state, second = anchors.networks
    before_it = {known.a: anchors.pair(known)[1] for known in anchors.found[1:] if known.a < place.a}
    plain = state.again(before_it)
    numbers = np.where(cells, anchors.pair(place)[1], output_of(plain, place.a))
    ways = plain, state.again({**before_it, place.a: numbers})
    if end is None:
        before, after = (_apart(network, second) for network in ways)
    else:
        before, after = (difference(output_of(network, end.a), anchors.pair(end)[1]) for network in ways)
    changed = before != after
    return float(before[changed].max(initial=0.0)), float(after[changed].max(initial=0.0))


def _are_alike(one: Layer, other: Layer) -> bool:
    """Return whether layers compute numbers in one way, or nothing is known of the second."""
    return one.op_type != LAYOUT and other.op_type in (one.op_type, "array")


def _names(layers: Sequence[Layer]) -> list[str]:
    """Return the names of a segment's layers, without those that leave the numbers as they are."""
    telling = [layer for layer in layers if layer.op_type != LAYOUT or _moves(layer)]
    return [layer.name for layer in telling or layers]


def _moves(layer: Layer) -> bool:
    """Return whether a layer's numbers are in another order than those of its input."""
    if layer.output is None or not layer.inputs:
        return True
    return not np.array_equal(np.ravel(layer.inputs[0]), np.ravel(layer.output))


def _places(anchors: Anchors, within: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of layers at which the models may have parted, those with little before them first.

    One of the two may be the anchor before them, where only the other model has one more layer. The first
    layers of both come before that if they are of one kind: what seems to be one more may do hardly anything.
    """
    networks, ranked = anchors.networks, list[tuple[int, int, int]]()
    for i, a in enumerate(within[0], 1):
        ranked += [(i + j, a, b) for j, b in enumerate(within[1], 1)]
    for a, b in zip(within[0][:1], within[1][:1], strict=False):
        ranked += [(0, a, b)] * (networks[0].layers[a].op_type == networks[1].layers[b].op_type)
    for side, part in enumerate(within):
        known = anchors.known(side)
        for count, number in enumerate(part[:_FIRST], 1):
            before = [known[n] for n in anchors.begins(side, number) if known.get(n, INPUT) != INPUT]
            ranked += [(count, *((number, n) if side == 0 else (n, number))) for n in before]
    for place in dict.fromkeys((a, b) for _, a, b in sorted(ranked)):
        sizes = [getattr(net.layers[n].output, "size", -1) for net, n in zip(networks, place, strict=True)]
        if sizes[0] == sizes[1] != -1:
            yield place


def _laid_out(network: Network, number: int, other: Network, to: int) -> np.ndarray:
    """Return a layer's result in the layout of a layer of the other network; raise if one has no array."""
    return _way(network, number, other, to)(output_of(network, number))


def _way(network: Network, number: int, other: Network, to: int) -> Arrange:
    """Return how a layer's result is laid out as one of the other network; raise if one has no array."""
    one, two = network.layers[number], other.layers[to]
    if one.output is None or two.output is None:
        raise ArgumentError("a layer without an array as its result has no layout")
    shape = two.output.shape
    if network.framework == "arrays":
        return lambda array: of_shape(array, shape).reshape(shape)
    # where both models have the channels in one place, equal shapes have equal axes
    axis = two.axis if network.axis == other.axis and one.output.shape == shape else one.axis
    return lambda array: relayout(array, axis, two.axis, len(shape)).reshape(shape)


def returned(anchors: Anchors) -> Verdict:
    """Judge what the models return."""
    networks = anchors.networks
    if networks[1].framework == "arrays":
        return _found_again(anchors)
    values = [network.returned for network in networks]
    first, second = (np.sort(network.x, None) for network in networks)
    is_other = farthest(first, second) > half_of_the_digits(first)
    if {network.framework for network in networks} & {"onnx", "tflite"}:  # a file has a list
        arrays = ([each for each in one.values() if isinstance(each[0], np.ndarray)] for one in values)
        values = [{f"[{n}]": each for n, each in enumerate(one)} for one in arrays]
    places = [", ".join(place or "a value alone" for place in one) or "nothing" for one in values]
    if values[0].keys() != values[1].keys():
        found = [Verdict(False, "structure", f"the first returns {places[0]}, the second {places[1]}")]
    else:
        found = [_result(anchors, place, ours, values[1][place]) for place, ours in values[0].items()]
    if not any(isinstance(value, (np.ndarray, float)) for one in values for value, _ in one.values()):
        found.append(Verdict(None, "", "the models return no array"))
    verdict = min(found, key=lambda each: ((False, None, True).index(each.same), not each.reason))
    if is_other and verdict.code in ("", "useless", "result", "moved"):
        return Verdict(None, "", "the models had other inputs")
    return verdict


def _found_again(anchors: Anchors) -> Verdict:
    """Judge whether the last numbers of the first model are among arrays."""
    first, second = anchors.networks
    rest = [first.layers[n] for n in anchors.open(0) if first.layers[n].computes]
    if not rest:
        names = [repr(second.layers[n].name) for n in anchors.open(1)]
        words = f"no layer of the first model has the numbers of {', '.join(names)}" * bool(names)
        return Verdict(True, "", words)
    sizes = [getattr(second.layers[n].output, "size", 0) for n in anchors.open(1)]
    same = None if all(getattr(layer.output, "size", -1) not in sizes for layer in rest) else False
    return Verdict(same, "result" * (same is False), f"no array holds the numbers of {rest[-1]}")


def _result(anchors: Anchors, place: str, ours: Any, theirs: Any) -> Verdict:
    """Judge one of the values that the models return, which come with their makers."""
    first, second = anchors.networks
    names = f"that of the first{place}", f"the result{place} of the second model"
    one, other = (np.asarray(value) for value, _ in (ours, theirs))
    # a model may compute in another precision, and frameworks count with different integers
    rounded = one.dtype.kind == "f" and one.dtype != other.dtype and first.x.dtype == second.x.dtype
    if rounded or one.dtype.kind != other.dtype.kind:
        said = (each if each.dtype.kind in "OU" else f"an array of {each.dtype}" for each in (other, one))
        return Verdict(False, "dtype", "{} is {}, not {}".format(names[1], *said))
    # the numbers must be at the indices that one of the readings gives them: order in memory says nothing
    ways = [
        (lambda array: array),
        (lambda array: relayout(array, second.axis, first.axis, array.ndim)),
    ]
    ways = [way for way in ways if way(other).shape == one.shape]
    if not ways:
        return Verdict(False, "shape", f"{names[1]} has shape {list(other.shape)}, not {list(one.shape)}")
    if one.dtype.kind in "OU":  # None, and the names of types
        return (
            Verdict(True) if one == other else Verdict(False, "result", f"{names[1]} is {other}, not {one}")
        )
    way = min(ways, key=lambda way: farthest(one, way(other)))
    far = farthest(one, way(other))
    if (one != one).any():
        return Verdict(None, "", "it holds NaN")
    if far == 0 and one.size > 1 and np.all(one == one.flat[0]) and (anchors.open(0) or anchors.open(1)):
        return Verdict(None, "", f"all numbers of {names[1]} are {one.flat[0] * 1:.3g}")  # 1 for True
    if far == 0:
        types = f"{names[1]} is an array of {other.dtype}, {names[0]} of {one.dtype}"
        return Verdict(True, "", types * (one.dtype != other.dtype))
    words = f"{names[1]} is up to {far:.3g} from {names[0]}"
    found = anchors.arrived((one, ours[1]), (other, theirs[1]), way)
    # of a layer without a bound, nobody knows whether its difference, which is carried on, is allowed
    if found.same and (
        far <= half_of_the_digits(one)
        or None not in [anchors.judged(known).same for known in anchors.found[1:]]
    ):
        return Verdict(True)
    if far > half_of_the_digits(one) and found.code != "useless":
        code, more = _moved(anchors, ours, theirs)
        return Verdict(False, code, words + more)
    code = "result" if found.same is False else found.code
    return found._replace(code=code, reason=f"{words}; {found.reason}".rstrip("; "))


def _moved(anchors: Anchors, ours: Any, theirs: Any) -> tuple[str, str]:
    """Return the code of a difference of what is returned: other layers, or their numbers elsewhere."""
    (one, makers), (other, others) = ours, theirs
    from_a, from_b = anchors.origins(0, makers), anchors.origins(1, others)
    names = [_name(anchors.networks[0], max(each, default=INPUT)) for each in (from_a, from_b)]
    if from_a and from_b and not from_a & from_b:
        return "wiring", f": it comes from {names[1]}, not from {names[0]}"
    if from_a & from_b and farthest(np.sort(one, None), np.sort(other, None)) <= half_of_the_digits(one):
        return "moved", f", though both come from {names[0]}: what moves the numbers differs"
    return "result", ""


def _name(network: Network, number: int) -> str:
    return "the model's input" if number == INPUT else str(network.layers[number])


def _last_equal(anchors: Anchors, layers: Sequence[Sequence[int]]) -> str:
    """Say up to where the models' numbers are equal."""
    first = min(layers[0], default=len(anchors.networks[0].layers))
    before = [anchor for anchor in anchors.found if anchor.a < first and anchor.a != INPUT]
    if not before:
        return "the last equal activation is the models' input"
    last = max(before, key=lambda anchor: anchor.a)
    names = (_name(network, n) for network, n in zip(anchors.networks, last[:2], strict=True))
    return "the last equal activation is that of {} and {}".format(*names)


def _own(layer: Layer) -> DiffRow:
    """Judge a layer's result on its own input."""
    if layer.error:
        return DiffRow(layer.name, "", None, note=f"it raised {layer.error}")
    if layer.pads and layer.op is None and layer.output is not None:
        return DiffRow(layer.name, "", np.array_equal(layer.around(layer.inputs[0]), layer.output))
    if layer.output is None or layer.op is None:
        return DiffRow(layer.name, "", None, note=f"no definition of {layer.word} here")
    row = judge(layer, layer.inputs, layer.output)
    if row.passed and not np.isfinite(layer.output).all() and all(np.isfinite(x).all() for x in layer.inputs):
        row = replace(row, note=f"{NAN} here")
    return row


def found_by(row: DiffRow) -> str:
    """What a judgement found, as text."""
    nothing = "nothing explains it" if row.passed is False and not row.diagnosis and not row.note else ""
    return "; ".join(filter(None, [str(row.diagnosis or ""), row.note, nothing, row.where]))


def _distance(first: Network, second: Network) -> float:
    """Return how far what the models return is apart, all arrays together."""
    return float(np.linalg.norm(_apart(first, second)))


def _apart(first: Network, second: Network) -> np.ndarray:
    """Return how far each number that the models return is apart."""
    ours, theirs = first.outputs(), second.outputs()
    moved = [relayout(y, second.axis, first.axis, x.ndim) for x, y in zip(ours, theirs, strict=True)]
    pairs = zip(ours, moved, strict=True)
    return np.concatenate([np.ravel(difference(x, y.reshape(x.shape))) for x, y in pairs])
