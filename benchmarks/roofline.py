"""Records the roofline of this machine and the CPU engine's rungs on it, and draws it.

    python benchmarks/roofline.py [--seconds 6] [--output docs/engine_roofline.json]

The ceilings are those of benchmarks/play/ceilings.c, which needs make and a C compiler. The rungs of each
layer are checked and timed in turns, on one thread, as in benchmarks/rungs.py. `picture` draws the file;
docs/recorded_runs.py calls it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Callable
from math import ceil, log2
from pathlib import Path
from typing import Any

import machine
import numpy as np
from layers import LAYERS, Problem

import teachconv as tc
from teachconv.support.palette import COLOURS, svg_style

ROOT = Path(__file__).parents[1]
# (op, layer, batch, its caption, algorithms); the last one is what a call takes, fast ones aside
LADDERS = (
    ("depthwise", "depthwise 3x3 32@112", 1, "depthwise", ("direct", "depthwise")),
    ("forward", "lesson 3x3 1-32@28", 1, "1 channel", ("direct", "im2col", "row_gemm")),
    ("filter_gradient", "1x1 256-64@56", 1, "filter gradient", ("direct", "im2col", "pixel_gemm")),
    ("input_gradient", "3x3s2 128-128@56", 1, "input gradient", ("direct", "col2im", "phases")),
    (
        "forward",
        "3x3 128-128@28",
        1,
        "3 × 3 forward",
        ("direct", "im2col", "row_gemm", "winograd2", "winograd4"),
    ),
)
CACHES = ("second-level cache", "third-level cache", "memory")  # of the copies, in the program's order


def ceilings() -> dict[str, float]:
    """Build and run the program that measures them: GFLOP/s of multiply-adds, GB/s of copies."""
    program = ROOT / "build" / "play" / "ceilings"
    subprocess.run(["make", "-s", str(program.relative_to(ROOT))], cwd=ROOT, check=True)
    lines = subprocess.check_output([str(program)], text=True).splitlines()
    numbers = [float(re.search(r": ([\d.]+) G", line)[1]) for line in lines]  # type: ignore[index]
    return dict(zip(("multiply-adds", *CACHES), numbers, strict=True))


def main(argv: list[str] | None = None) -> None:
    """Measure ceilings and rungs, and write the file."""
    from rungs import measure

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="for each layer")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "engine_roofline.json")
    arguments = parser.parse_args(argv)
    tc.set_num_threads(1)
    by_name = {layer.name: layer for layer in LAYERS}
    found = []
    for op, layer, batch, caption, algorithms in LADDERS:
        problem = Problem(by_name[layer], op, batch, "float32")
        rungs = measure(problem, algorithms, arguments.seconds)
        found.append(
            {"op": op, "layer": layer, "caption": caption, "intensity": problem.intensity, "rungs": rungs}
        )
        for rung in rungs:
            print(f"{layer:24} {op:16} {rung['algorithm']:10} {rung['gflops']:7.1f} GFLOP/s")
    facts = machine.facts_of_run("benchmarks/roofline.py", argv) | {
        "versions": {"teachconv": tc.__version__, "numpy": np.__version__},
        "ceilings": ceilings(),
        "ladders": found,
    }
    print(facts["ceilings"])
    arguments.output.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 470, 56, 16, 16, 52  # of the picture and its margins


def picture(recorded: dict[str, Any]) -> str:
    """Return the roofline as SVG, for light and dark pages: GFLOP/s over operations per byte."""
    speeds = [rung["gflops"] for ladder in recorded["ladders"] for rung in ladder["rungs"]]
    peak = recorded["ceilings"]["multiply-adds"]
    octaves = (-0.5, 8.4)  # of operations per byte: from 0.7 to 340
    low, high = log2(min(speeds)) - 0.8, log2(max(*speeds, peak)) + 1  # room for words above the roof

    def x_of(intensity: float) -> float:
        return LEFT + (log2(intensity) - octaves[0]) / (octaves[1] - octaves[0]) * (WIDTH - LEFT - RIGHT)

    def y_of(speed: float) -> float:
        return TOP + (high - log2(speed)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        *_axes(octaves, (low, high), x_of, y_of),
        *_roofs(recorded["ceilings"], octaves, low, x_of, y_of),
    ]
    for ladder in recorded["ladders"]:
        parts += _ladder(ladder, x_of(ladder["intensity"]), y_of)
    label = "Roofline: the speed of each rung below the ceilings of the machine"
    return (
        f'<svg class="tc-picture" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'style="max-width:100%" font-family="sans-serif" font-size="12" xmlns="http://www.w3.org/2000/svg">'
        f"{svg_style()}{''.join(parts)}</svg>"
    )


def _colour(name: str) -> str:
    return COLOURS[name].light


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    # with an edge in the colour of the ground, so that it can be read over a line
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{_colour(colour)}" stroke="{_colour("paper")}" '
        f'stroke-width="3" paint-order="stroke" text-anchor="{anchor}">{text}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{_colour(colour)}" '
        f'stroke-width="{width}"/>'
    )


Place = Callable[[float], float]


def _axes(octaves: tuple[float, float], speeds: tuple[float, float], x_of: Place, y_of: Place) -> list[str]:
    ground = HEIGHT - BOTTOM
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_colour("paper")}"/>']
    for octave in range(ceil(octaves[0]), int(octaves[1]) + 1):
        x = x_of(2.0**octave)
        parts += [_line(x, TOP, x, ground, "line", 0.5)]
        parts += [_text(x, ground + 18, str(2**octave), "faint", "middle")]
    for octave in range(ceil(speeds[0]), int(speeds[1]) + 1):
        y = y_of(2.0**octave)
        parts += [_line(LEFT, y, WIDTH - RIGHT, y, "line", 0.5)]
        parts += [_text(LEFT - 8, y + 4, str(2**octave), "faint", "end")]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        _text(middle, HEIGHT - 10, "operations per byte, if each array is moved once", "ink", "middle")
    )
    turned = f'<g transform="rotate(-90 14 {HEIGHT / 2:.0f})">'
    return [*parts, turned, _text(14, HEIGHT / 2, "GFLOP/s", "ink", "middle"), "</g>"]


def _roofs(
    found: dict[str, float], octaves: tuple[float, float], low: float, x_of: Place, y_of: Place
) -> list[str]:
    peak = found["multiply-adds"]
    end = 2.0 ** octaves[1]
    corner = min(peak / found[name] for name in CACHES)
    parts = [
        _line(x_of(corner), y_of(peak), x_of(end), y_of(peak), "ring", 2),
        _text(x_of(16), y_of(peak) - 7, f"multiply-adds in registers: {peak:.0f} GFLOP/s", "ring"),
    ]
    slope = (y_of(1) - y_of(2)) / (x_of(2) - x_of(1))  # of speed = bandwidth * intensity
    for name in CACHES:
        start = max(2.0 ** octaves[0], 2.0**low / found[name])
        x, y = x_of(start), y_of(start * found[name])
        parts.append(_line(x, y, x_of(peak / found[name]), y_of(peak), "ring", 1.2))
        turn = f"rotate({-np.degrees(np.arctan(slope)):.1f} {x:.1f} {y:.1f})"
        words = f"{name}: {found[name]:.0f} GB/s"
        parts += [f'<g transform="{turn}">', _text(x + 6, y - 5, words, "ring"), "</g>"]
    return parts


def _ladder(ladder: dict[str, Any], x: float, y_of: Place) -> list[str]:
    """Draw the points of one layer, above one another, and a line from the first to the fastest."""
    places = [(y_of(rung["gflops"]), rung["algorithm"]) for rung in ladder["rungs"]]
    lowest, highest = max(y for y, _ in places), min(y for y, _ in places)
    right = x < (LEFT + WIDTH) * 0.68 or ladder["op"] == "forward"  # the side on which the names stand
    shift, anchor = (9, "start") if right else (-9, "end")
    parts = [_line(x, lowest, x, highest, "mark", 1.5)]
    free = HEIGHT  # names that would overlap move up
    for y, name in sorted(places, reverse=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{_colour("mark")}"/>')
        free = min(y + 4, free - 13)
        parts.append(_text(x + shift, free, name, "ink", anchor))
    return [*parts, _text(x, lowest + 20, ladder["caption"], "faint", "middle")]


if __name__ == "__main__":
    main()
