"""Draws digits with a simulated hand and records 200 of them, 20 a class, as strokes.

    python tools/recorders/record_drawn_digits.py   # writes tests/recorded/drawn_digits.json

No person drew them. Each digit has three to five forms, which are lists of points that were written down by hand: a 7
with a bar or without, a 4 that is open or closed, an 8 in one line or of two rings. A drawing takes a form and moves
each of its points a little, makes it wider or narrower, slants and turns it, chooses its size and its place on the
pad, and follows it with a pen at an uneven speed, whose place is noted at even times: a quick hand notes few points
and cuts corners. Strokes, and the pen's width, are in thousandths of the pad's side, from its top left.

`drawings` also makes those, of another seed, that the network of teachconv.data.digits was trained on
(record_digits.py). The last form of each digit is left out where the question is how forms that are new are read.
"""

import json
from pathlib import Path

import numpy as np

PATH = Path(__file__).resolve().parents[2] / "tests" / "recorded" / "drawn_digits.json"
SEED, A_CLASS = 2026, 20

CURVE, LINES = True, False  # whether the points are joined by a smooth curve or by straight lines
# the forms of each digit, in a box of width and height 1 from its top left; a stroke that begins where the one
# before it ends goes on without a lifted pen
FORMS = {
    0: [
        [(CURVE, [(.55, .02), (.15, .15), (.02, .5), (.15, .88), (.5, .99), (.85, .85), (.98, .48), (.85, .13), (.5, .02)])],
        [(CURVE, [(.7, .08), (.4, 0), (.1, .2), (.03, .6), (.25, .95), (.6, .98), (.9, .75), (.97, .4), (.8, .1), (.55, .03)])],
        [(CURVE, [(.4, .03), (.8, .1), (.98, .45), (.85, .87), (.45, .99), (.1, .8), (.02, .4), (.2, .08), (.5, .04)])],
    ],
    1: [
        [(LINES, [(.5, 0), (.5, 1)])],
        [(LINES, [(.1, .3), (.6, 0), (.6, 1)])],
        [(LINES, [(.05, .35), (.55, 0), (.55, 1)]), (LINES, [(.1, 1), (.95, 1)])],
        [(LINES, [(0, .45), (.7, 0), (.7, 1)])],
    ],
    2: [
        [(CURVE, [(.05, .25), (.25, .03), (.6, 0), (.88, .2), (.8, .45), (.5, .7), (.05, 1)]), (LINES, [(.05, 1), (.98, .98)])],
        [(CURVE, [(0, .2), (.35, 0), (.8, .1), (.85, .38), (.4, .75), (.02, .98)]), (LINES, [(.02, .98), (.95, 1)])],
        [(CURVE, [(.08, .2), (.4, 0), (.85, .12), (.85, .4), (.5, .72), (.12, .95), (.2, .8), (.45, .88), (.75, 1), (1, .92)])],
    ],
    3: [
        [(CURVE, [(.08, .13), (.4, 0), (.82, .1), (.8, .36), (.35, .47)]), (CURVE, [(.35, .47), (.85, .55), (.95, .8), (.6, 1), (.2, .97), (.02, .82)])],
        [(CURVE, [(.03, .2), (.3, 0), (.75, .05), (.85, .25), (.7, .42), (.4, .48), (.75, .54), (.97, .72), (.85, .93), (.45, 1), (.05, .85)])],
        [(LINES, [(.08, .02), (.88, .02), (.42, .42)]), (CURVE, [(.42, .42), (.85, .5), (.95, .78), (.6, 1), (.2, .97), (.02, .82)])],
    ],
    4: [
        [(LINES, [(.6, 0), (.02, .65), (.98, .65)]), (LINES, [(.68, .3), (.68, 1)])],
        [(LINES, [(.15, 0), (.1, .52), (.95, .52)]), (LINES, [(.8, 0), (.8, 1)])],
        [(LINES, [(.72, 1), (.72, 0), (.02, .68), (1, .68)])],
        [(LINES, [(.35, 0), (.03, .6), (.97, .6)]), (LINES, [(.72, .1), (.6, 1)])],
        [(CURVE, [(.2, .02), (.05, .35), (.2, .52), (.55, .52), (.85, .45)]), (LINES, [(.88, .02), (.78, 1)])],
    ],
    5: [
        [(LINES, [(.9, 0), (.2, .02), (.12, .45)]), (CURVE, [(.12, .45), (.5, .36), (.9, .5), (.95, .78), (.6, 1), (.2, .98), (.02, .85)])],
        [(LINES, [(.18, .02), (.1, .45)]), (CURVE, [(.1, .45), (.55, .38), (.92, .6), (.82, .92), (.4, 1), (.02, .88)]), (LINES, [(.18, .02), (.92, 0)])],
        [(CURVE, [(.95, .03), (.55, .02), (.22, .05), (.18, .25), (.15, .43), (.45, .4), (.8, .5), (.92, .72), (.75, .95), (.35, 1), (.03, .88)])],
    ],
    6: [
        [(CURVE, [(.75, .02), (.4, .15), (.12, .45), (.03, .75), (.3, .99), (.75, .95), (.95, .72), (.7, .52), (.3, .57), (.08, .75)])],
        [(CURVE, [(.55, 0), (.2, .3), (.03, .7), (.25, .98), (.65, 1), (.95, .8), (.8, .56), (.45, .54), (.15, .7)])],
        [(CURVE, [(.9, .08), (.55, .02), (.18, .3), (.03, .68), (.3, .98), (.7, .97), (.92, .75), (.7, .55), (.35, .58), (.1, .72)])],
    ],
    7: [
        [(LINES, [(.02, .02), (.98, .02), (.35, 1)])],
        [(LINES, [(.02, .04), (.95, 0), (.4, 1)]), (LINES, [(.25, .5), (.9, .48)])],
        [(CURVE, [(.02, .1), (.3, .03), (.65, .06), (.95, .02), (.75, .35), (.5, .65), (.4, 1)])],
        [(LINES, [(.05, .2), (.05, .03), (.95, .03), (.45, 1)])],
    ],
    8: [
        [(CURVE, [(.8, .12), (.5, 0), (.15, .12), (.2, .35), (.6, .52), (.92, .75), (.7, .98), (.3, .98), (.08, .78), (.35, .52), (.75, .35), (.82, .13)])],
        [(CURVE, [(.5, .47), (.15, .3), (.2, .06), (.5, 0), (.82, .08), (.85, .3), (.5, .48), (.1, .7), (.12, .92), (.5, 1), (.9, .92), (.9, .68), (.5, .47)])],
        [(CURVE, [(.5, 0), (.18, .1), (.2, .35), (.5, .45), (.82, .33), (.8, .1), (.5, 0)]), (CURVE, [(.5, .46), (.12, .6), (.08, .85), (.5, 1), (.92, .85), (.88, .6), (.5, .46)])],
    ],
    9: [
        [(CURVE, [(.85, .2), (.55, 0), (.15, .1), (.05, .35), (.35, .52), (.75, .42), (.88, .18)]), (LINES, [(.88, .18), (.8, 1)])],
        [(CURVE, [(.88, .25), (.6, .02), (.2, .08), (.05, .3), (.3, .5), (.7, .42), (.9, .2), (.88, .6), (.7, .92), (.4, 1), (.12, .93)])],
        [(CURVE, [(.8, .08), (.4, 0), (.08, .2), (.15, .45), (.5, .5), (.85, .3), (.9, .08), (.82, .5), (.6, 1)])],
    ],
}


def main():
    digits = drawings(A_CLASS, SEED)
    assert len(digits) == 200
    about = "synthetic: drawn by a simulated hand; x and y of each point, and the pen's width, in thousandths of the pad's side"
    lines = ",\n".join(json.dumps(digit, separators=(",", ":")) for digit in digits)
    PATH.write_text(f'{{"script":"{Path(__file__).name}","about":"{about}","digits":[\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{PATH.name}: {len(digits)} digits, {PATH.stat().st_size:,} bytes")


def drawings(a_class, seed, *, all_forms=True):
    """Return digits, each a dict of its class, its form, its strokes and the width of the pen."""
    random = np.random.default_rng(seed)
    digits = []
    for _ in range(a_class):
        for digit, forms in FORMS.items():
            form = int(random.integers(len(forms) if all_forms else len(forms) - 1))
            digits.append({"digit": digit, "form": form, **drawing(forms[form], digit == 1, random)})
    return digits


def drawing(form, is_narrow, random):
    """Return the strokes of a form as one hand draws it once, and the width of its pen."""
    width = random.uniform(0.3, 0.5) if is_narrow else random.uniform(0.5, 0.85)  # the height is 1
    size, pen = random.uniform(0.35, 0.9), random.uniform(0.05, 0.12)
    slant, turn = random.uniform(-0.15, 0.35), random.normal(0, 0.06)
    speed = random.uniform(0.02, 0.09)  # heights of the digit between two notes of the pen's place
    wobble = random.uniform(0.005, 0.035)
    turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])

    lines, end = [], None  # of the strokes, and the form's point at which the stroke before ended
    for is_curve, points in form:
        moved = np.array(points) + random.normal(0, wobble, (len(points), 2))
        goes_on = points[0] == end
        if goes_on:
            moved[0] = last
        end, last = points[-1], moved[-1]
        line = smooth(moved) if is_curve else moved
        line = line * [width, 1] + np.outer(0.5 - line[:, 1], [slant, 0]) - [width / 2, 0.5]
        noted = followed(line @ turned, speed, random)
        if goes_on:
            lines[-1] = np.concatenate([lines[-1], noted[1:]])
        else:
            lines.append(noted)

    low, high = np.concatenate(lines).min(0), np.concatenate(lines).max(0)
    margin = pen / 2 + 0.01
    size = min(size, (1 - 2 * margin) / max(high - low))
    room = np.maximum(1 - 2 * margin - size * (high - low), 0)
    origin = margin + random.uniform(size=2) * room - size * low
    strokes = [np.rint((line * size + origin) * 1000).astype(int).tolist() for line in lines]
    return {"pen": round(pen * 1000), "strokes": strokes}


def smooth(points, pieces=16):
    """Return the Catmull-Rom curve through points, as a line of many pieces."""
    ends = np.concatenate([[2 * points[0] - points[1]], points, [2 * points[-1] - points[-2]]])
    t = np.arange(pieces)[:, None] / pieces
    parts = [
        (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3) / 2
        for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:])
    ]
    return np.concatenate([*parts, points[-1:]])


def followed(line, speed, random):
    """Return the places that are noted while a pen follows a line at an uneven speed, with a little tremor."""
    lengths = np.concatenate([[0], np.hypot(*np.diff(line, axis=0).T).cumsum()])
    notes = max(2, round(lengths[-1] / speed) + 1)
    times = np.linspace(0, 1, notes)
    passed = lengths[-1] * (times + random.uniform(-0.05, 0.05) * np.sin(2 * np.pi * times))
    places = np.stack([np.interp(passed, lengths, line[:, axis]) for axis in (0, 1)], axis=1)
    return places + random.normal(0, 0.004, places.shape)


if __name__ == "__main__":
    main()
