"""Measures how long `diff` looks for the name of a mistake, by the size of the call.

    python benchmarks/naming.py [--most 8] [--rounds 5] [--markdown docs/naming_times.inc]

Calls of conv2d with 10^4 to 10^``most`` multiply-adds, float32, 3x3 and SAME. Three wrong results of each:
one whose mistake is found early, one whose mistake is found late, and noise, which has no name, so that the
search goes on until its limit. First it checks that they get these names. The table shows the processor time
of the search alone, the median of the rounds, in milliseconds, without the comparison with the reference.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import machine
import numpy as np

import teachconv as tc
from teachconv.data.seeded import make_array

NAMES = {"the filter flipped": "flipped_filter", "blocks of 8 channels": "blocked", "noise": None}


def wrong_results(x: np.ndarray, w: np.ndarray) -> dict[str, np.ndarray]:
    """Return the three wrong results of a call."""
    right = tc.conv2d(x, w, padding="SAME")
    n, h, wide, c = right.shape
    blocks = right.transpose(0, 3, 1, 2).reshape(n, c // 8, 8, h, wide).transpose(0, 1, 3, 4, 2)
    results = (
        tc.conv2d(x, w[::-1, ::-1], padding="SAME"),
        blocks.reshape(n, c, h, wide).transpose(0, 2, 3, 1),
        right + make_array(right.shape, "float32", "normal", "noise"),
    )
    return dict(zip(NAMES, results, strict=True))


def times(power: int, rounds: int) -> tuple[int, list[float]]:
    """Return the multiply-adds of a call, and the median time of the search for each of its results."""
    channels = 8 * round(max(1, (10**power / 9 / 400) ** 0.5 / 8))
    side = max(4, round((10**power / 9 / channels**2) ** 0.5))
    x = make_array((1, side, side, channels), "float32", "normal", "x")
    w = make_array((3, 3, channels, channels), "float32", "normal", "w")
    found: dict[str, list[float]] = {what: [] for what in NAMES}
    for _ in range(rounds):
        for what, got in wrong_results(x, w).items():
            row = tc.diff(tc.conv2d, x, w, 1, "SAME", against={what: got}, backends=[]).rows[-1]
            name = row.diagnosis and row.diagnosis.code
            if name != NAMES[what]:
                raise SystemExit(f"{what}, 10^{power} multiply-adds: {name} was found, not {NAMES[what]}")
            found[what].append(row.looked)
    return tc.conv2d_geometry(x.shape, w.shape, 1, "SAME").macs, [*map(statistics.median, found.values())]


def main(argv: list[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=8, help="the power of ten of the largest call")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", type=Path, help="write the table to this file")
    given = parser.parse_args(argv)
    rows = [f"| multiply-adds | {' | '.join(NAMES)} |", f"|{'--:|' * (len(NAMES) + 1)}"]
    for power in range(4, given.most + 1):
        macs, medians = times(power, given.rounds)
        rows.append(f"| {macs:,} | {' | '.join(f'{1000 * seconds:.0f} ms' for seconds in medians)} |")
    facts = machine.facts_of_run("benchmarks/naming.py", argv)
    rows += ["", f"`{facts['command']}`, {facts['date']}, {facts['machine']['processor']}"]
    print("\n".join(rows))
    if given.markdown:
        given.markdown.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
