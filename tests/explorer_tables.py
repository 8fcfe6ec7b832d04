"""The tables that a page draws from, as Python's `taps` has them: the taps of each axis, and the kind of each cell.

The page makes them with ``law.js`` and ``axis_tables.js``; here is what they must be.
"""

from teachconv.core import taps
from teachconv.core.law import AxisGeometry

_STRETCH = 200  # indices of one axis that are drawn without a gap


def axis_of(numbers):
    """Return the axis of a document's ``axes``, and the ranges of the indices that are on the page."""
    names = ("in_size", "filter_size", "out_size", "stride", "dilation")
    axis = AxisGeometry(*(numbers[name] for name in names), *numbers["pad"])
    return axis, range(*numbers["ins"]), range(*numbers["outs"])


def with_tables(call):
    """Return the call of a document with the tables of its axes, as the page makes them."""
    transposed = call["source"] == "out"
    made = []
    for numbers in call["axes"]:
        table = axis_table(*axis_of(numbers), transposed)
        made.append(table | {"formulas": [call["lines"][line] for line in numbers["formulas"]]})
    return call | {"axes": made}


def axis_table(axis, ins, outs, transposed):
    """Return the tables of one axis for the page.

    Args:
        axis: the geometry of the axis.
        ins: the input indices whose values are on the page.
        outs: the output indices whose values are on the page.
        transposed: whether the op is a transposed one.

    Returns:
        A dict. ``gather`` and ``scatter`` list the taps of each index as [tap, other index, whether that is
        outside]. ``in`` and ``out`` are the indices to draw, each with its kind: "" (a value), "padding",
        "crop" (cropped by negative padding), "unread" (read by no tap) or "outside" (before the first output
        or after the last). A transposed op also has ``inserted``, its input with stride - 1 zeros after each
        index, and ``windows``, the places of ``inserted`` that each result index reads with the flipped
        filter.
    """
    gather = {o: [[t.tap, t.in_index, int(t.in_padding)] for t in taps.gather_all(axis, o)] for o in outs}
    scatter = {i: [[t.tap, t.out_index, int(t.in_padding)] for t in taps.scatter_all(axis, i)] for i in ins}
    table = {
        "in_size": axis.in_size,
        "out_size": axis.out_size,
        "filter_size": axis.filter_size,
        "stride": axis.stride,
        "dilation": axis.dilation,
        "pad": [axis.pad_before, axis.pad_after],
        "gather": gather,
        "scatter": scatter,
        "in": _drawn_in(axis, ins, outs),
        "out": [[o, ""] for o in outs],
    }
    if transposed:
        reached = {t[1] for row in scatter.values() for t in row if t[2]}
        before, after = sorted(o for o in reached if o < 0), sorted(o for o in reached if o >= axis.out_size)
        table["out"] = [[o, "outside"] for o in before] + table["out"] + [[o, "outside"] for o in after]
        table |= _zero_insertion(axis, ins)
    return table


def _drawn_in(axis, ins, outs):
    """Return the input indices to draw, those with values and the padding beside them, with their kinds."""
    low, high = ins.start, ins.stop - 1
    reach = [axis.in_index(o, tap) for o in outs for tap in (0, axis.filter_size - 1)]
    if ins.start == 0:
        low = min(0, *reach, max(-axis.pad_before, -len(ins) - axis.filter_size))
    if ins.stop == axis.in_size:
        end = axis.in_size - 1
        high = max(end, *reach, min(end + axis.pad_after, end + len(ins) + axis.filter_size))

    def what(index):
        if not 0 <= index < axis.in_size:
            return "padding"
        if not -axis.pad_before <= index < axis.in_size + axis.pad_after:
            return "crop"
        return "" if any(not t.in_padding for t in taps.scatter_all(axis, index)) else "unread"

    met = {t.in_index for o in outs for t in taps.gather_all(axis, o)}
    return [[index, what(index)] for index in _drawn(low, high, met.union(ins))]


def _drawn(low, high, needed):
    """Every index from ``low`` to ``high``; only the needed ones where a stride or dilation spreads them."""
    return range(low, high + 1) if high - low < _STRETCH else sorted(needed)


def _zero_insertion(axis, ins):
    """Return the transposed convolution as an ordinary one: zeros inserted, filter flipped, stride 1.

    Places of the zero-inserted axis are numbered from the first place that the first result index reads, so
    that tap t of result index y reads the place y + (effective filter - 1) - t * dilation. If
    `taps.scatter_all` has this tap, an input index is there; otherwise an inserted zero (None).
    """
    inserted = {}
    windows = {}
    for y in ins:
        found = {t.tap: t for t in taps.scatter_all(axis, y)}
        windows[y] = []
        for tap in reversed(range(axis.filter_size)):
            place = y + axis.effective_filter - 1 - tap * axis.dilation
            windows[y].append([place, tap])
            meets = found.get(tap)
            inserted[place] = None if meets is None else [meets.out_index, int(meets.in_padding)]
    low, high = min(inserted, default=0), max(inserted, default=-1)
    return {
        "inserted": [[place, inserted.get(place)] for place in _drawn(low, high, inserted)],
        "windows": windows,
    }
