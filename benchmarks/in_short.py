"""Tables in Markdown, and what the ratios of a run show in short: where teachconv is ahead, level and behind.

`report.markdown_page` writes both into the file of a run. The documentation reads the ratios from the file's
tables, so that its page says the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

LEVEL = 0.05  # a ratio of at most 5 % above or below 1 is level
BEHIND = "## Where it is behind"
Table = list[list[str]]
_BATCHES = re.compile(r"the numbers in a cell are [^.]*")


@dataclass(frozen=True)
class Ratio:
    """Teachconv's speed divided by that of the fastest of the other libraries, on one layer."""

    op: str
    dtype: str
    batch: int
    layer: str
    value: float


def as_markdown(table: Table) -> str:
    """Return the table in Markdown, in aligned columns, with | inside cells replaced by /.

    >>> print(as_markdown([["layer", "a"], ["1x1", "2 | 3"]]))
    | layer | a     |
    | ----- | ----- |
    | 1x1   | 2 / 3 |
    """
    rows = [[cell.replace(" | ", " / ") for cell in row] for row in table]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    aligned = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in aligned)


def of_page(page: str) -> list[Ratio]:
    """Read the ratios of one thread from the tables of a page that `report.markdown_page` wrote."""
    found = []
    for title, text in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page, re.MULTILINE):
        parts = title.split(", ")
        if len(parts) != 3 or parts[2] != "1 thread":
            continue
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.split("\n") if "|" in line]
        if "ours / best peer" not in rows[0]:
            continue
        column = rows[0].index("ours / best peer")
        batches = [int(number) for number in re.findall(r"batch (\d+)", _BATCHES.search(page)[0])]  # type: ignore[index]
        for row in rows[2:]:
            values = row[column].split(" / ")
            if row[1]:  # a layer, not a line that sums up
                found += [
                    Ratio(parts[0].lower(), parts[1], batch, row[0], float(value))
                    for batch, value in zip(batches, values, strict=True)
                    if value != "–"
                ]
    return found


def processor_of(page: str) -> str:
    """Read the processor from a page."""
    return re.search(r"^- processor: (.*)$", page, re.MULTILINE)[1]  # type: ignore[index]


def in_short(ratios: Iterable[Ratio]) -> str:
    """Return a table as Markdown: a row for each op, a column for each dtype or rank, and batch.

    A cell has the geometric mean of the ratios, and in parentheses how many layers are ahead, level and
    behind. The last column names the layer that is furthest behind.

    >>> a, b = Ratio("forward", "float32", 1, "a", 2.0), Ratio("forward over volumes", "float32", 1, "b", 0.5)
    >>> print(in_short([a, b]))
    | op      | float32, batch 1 | volumes, batch 1 | least     |
    | ------- | ---------------- | ---------------- | --------- |
    | forward | 2.00 (1/0/0)     | 0.50 (0/0/1)     | 0.50 at b |
    """
    rows: dict[str, dict[str, list[Ratio]]] = {}
    for ratio in ratios:
        op, _, rank = ratio.op.partition(" over ")
        column = f"{rank or ratio.dtype}, batch {ratio.batch}"
        rows.setdefault(op, {}).setdefault(column, []).append(ratio)
    if not rows:
        return "No other library took part in this run."
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    table = [["op", *columns, "least"]]
    for op, row in rows.items():
        least = min((ratio for group in row.values() for ratio in group), key=lambda ratio: ratio.value)
        cells = [_summary([ratio.value for ratio in row.get(column, [])]) for column in columns]
        table.append([op, *cells, f"{least.value:.2f} at {least.layer}"])
    return as_markdown(table)


def _summary(values: Sequence[float]) -> str:
    """Return the geometric mean of some ratios, and how many are ahead, level and behind."""
    if not values:
        return ""
    counts = Counter(map(standing, values))
    return f"{geometric_mean(values):.2f} ({counts['ahead']}/{counts['level']}/{counts['behind']})"


def behind(ratios: Iterable[Ratio]) -> str:
    """Return the layers on which another library is faster as Markdown, the furthest behind first.

    >>> ratios = [Ratio("forward", "float32", 1, "a", 0.9), Ratio("forward", "float32", 8, "b", 0.5)]
    >>> print(behind([*ratios, Ratio("forward", "float32", 1, "c", 0.95)]).splitlines()[-1])
    - forward, float32: b, batch 8 (0.50); a, batch 1 (0.90)
    """
    groups: dict[tuple[str, str], list[Ratio]] = {}
    for ratio in sorted(ratios, key=lambda ratio: ratio.value):
        if standing(ratio.value) == "behind":
            groups.setdefault((ratio.op, ratio.dtype), []).append(ratio)
    lines = [
        f"- {op}, {dtype}: " + "; ".join(f"{r.layer}, batch {r.batch} ({r.value:.2f})" for r in group)
        for (op, dtype), group in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
    ]
    head = "Layers on which the fastest of the other libraries is more than 5 % faster, with our ratio to it:"
    return "\n\n".join([BEHIND, head, "\n".join(lines)] if lines else [BEHIND, "On no layer of this run."])


def standing(ratio: float) -> str:
    """Return whether a ratio is ahead, level or behind, as it is shown: with two decimals."""
    shown = round(ratio, 2)
    return "ahead" if shown > 1 + LEVEL else "behind" if shown < 1 - LEVEL else "level"
