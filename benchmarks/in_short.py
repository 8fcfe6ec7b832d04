"""Says in a few lines what a page of measurements shows: where teachconv is ahead, level and behind.

`report.markdown_page` writes them. The documentation reads them from the page's tables, so that both say the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

LEVEL = 0.05  # a ratio of at most 5 % above or below 1 is level
HEADING, BEHIND = "## In short", "## Where it is behind"


@dataclass(frozen=True)
class Ratio:
    """Teachconv's speed divided by that of the fastest of the other libraries, on one layer."""

    op: str
    dtype: str
    batch: int
    layer: str
    value: float


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
        batches = [int(number) for number in re.findall(r"batch (\d+)", page.partition("\n## ")[0])]
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


def in_short(ratios: Iterable[Ratio], processor: str) -> str:
    """Return the lines and a table as Markdown.

    >>> ratios = [Ratio("forward", "float32", 1, "a", 2.0), Ratio("forward", "float32", 1, "b", 0.5)]
    >>> print(in_short(ratios, "a processor").partition("\\n\\n|")[0])  # doctest: +NORMALIZE_WHITESPACE
    ## In short
    <BLANKLINE>
    On one core of this processor, a processor, in float32, compared with the fastest library on each layer,
    on average over the layers:
    <BLANKLINE>
    - level, within 5 %: forward (1.00)
    """
    groups: dict[tuple[str, str, int], list[Ratio]] = {}
    for ratio in ratios:
        groups.setdefault((ratio.op, ratio.dtype, ratio.batch), []).append(ratio)
    if not groups:
        return f"{HEADING}\n\nNo other library took part in this run."
    batches = {batch for *_, batch in groups}
    kinds: dict[str, list[str]] = {"ahead": [], "level, within 5 %": [], "behind": []}
    means: dict[str, list[float]] = {}
    table = ["| | mean | ahead | level | behind | furthest ahead | furthest behind |", "|" + " --- |" * 7]
    for (op, dtype, batch), group in groups.items():
        name = op + (f" in {dtype}" if dtype != "float32" else "")
        name += f", batch {batch}" if len(batches) > 1 else ""
        mean = exp(sum(log(ratio.value) for ratio in group) / len(group))
        if dtype == "float32":
            kinds[_kind(mean)].append(f"{name} ({mean:.2f})")
        means.setdefault(dtype, []).append(mean)
        counts = [sum(_kind(ratio.value) == kind for ratio in group) for kind in kinds]
        ends = [end(group, key=lambda ratio: ratio.value) for end in (max, min)]
        extremes = [f"{end.layer}: {end.value:.2f}" for end in ends]
        cells = [name, f"{mean:.2f}", *map(str, counts), *extremes]
        table.append("| " + " | ".join(cells) + " |")
    head = (
        f"On one core of this processor, {processor}, in float32, compared with the fastest "
        "library on each layer, on average over the layers:"
    )
    lines = [f"- {kind}: {'; '.join(names)}" for kind, names in kinds.items() if names]
    lines += [
        f"- in {dtype} the means go from {min(found):.2f} to {max(found):.2f}"
        for dtype, found in means.items()
        if dtype != "float32"
    ]
    tail = (
        "The number in parentheses is how many times as fast teachconv is, a geometric mean over layers. "
        "The table counts the layers that are ahead, level and behind, and names the two extremes."
    )
    return "\n\n".join([HEADING, head, "\n".join(lines), "\n".join(table), tail])


def behind(ratios: Iterable[Ratio]) -> str:
    """Return the layers on which another library is faster as Markdown, the furthest behind first.

    >>> ratios = [Ratio("forward", "float32", 1, "a", 0.9), Ratio("forward", "float32", 8, "b", 0.5)]
    >>> print(behind([*ratios, Ratio("forward", "float32", 1, "c", 0.95)]).splitlines()[-1])
    - forward, float32: b, batch 8 (0.50); a, batch 1 (0.90)
    """
    groups: dict[tuple[str, str], list[Ratio]] = {}
    for ratio in sorted(ratios, key=lambda ratio: ratio.value):
        if _kind(ratio.value) == "behind":
            groups.setdefault((ratio.op, ratio.dtype), []).append(ratio)
    lines = [
        f"- {op}, {dtype}: " + "; ".join(f"{r.layer}, batch {r.batch} ({r.value:.2f})" for r in group)
        for (op, dtype), group in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
    ]
    head = "Layers on which the fastest of the other libraries is more than 5 % faster, with our ratio to it:"
    return "\n\n".join([BEHIND, head, "\n".join(lines)] if lines else [BEHIND, "On no layer of this run."])


def _kind(ratio: float) -> str:
    """Return whether a ratio is ahead, level or behind, as it is shown: with two decimals."""
    shown = round(ratio, 2)
    return "ahead" if shown > 1 + LEVEL else "behind" if shown < 1 - LEVEL else "level, within 5 %"
