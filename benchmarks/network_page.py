"""Measures the page on which one draws a digit, from a pointer's event to the paint, in Chromium.

    python benchmarks/network_page.py [--digits 20] [--markdown docs/network_page_times.inc]

Fingers follow recorded drawings on a phone's screen of 390 x 844 pixels, three device pixels to each, while
the browser slows the page's thread down (the DevTools' CPU throttling). Of each move the table has, in
milliseconds, the processor time of it, a mean, which other programs hardly change, and how much of it
the browser takes if the page sees no moves. By the clock it has what the event takes, which computes all
numbers of the network, and then the frame, up to its paint. The answers are compared with the model's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import machine
import numpy as np

from teachconv.explorer.digits import digits_model, draw_a_digit

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples")]

from browser import Page, chromium  # noqa: E402
from drawn_digits import prepare  # noqa: E402

SLOWER = {"no throttling": 1, "a phone: 4 times slower": 4, "a slow phone: 6 times slower": 6}
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": True}
THOUSANDTHS = 1000  # the recorded places are in thousandths of the pad's side
STEP = 0.03  # of the pad's side: a finger's move between two events, about 200 pixels a second
# the window's listeners see an event before the page and after it; a message comes after the paint
_TIMED = """
window.times = [];
addEventListener("pointermove", (event) => {
  const began = performance.now();
  let handled = began;
  addEventListener("pointermove", () => { handled = performance.now(); }, { once: true });
  if (window.alone) event.stopImmediatePropagation();
  requestAnimationFrame(() => {
    const frame = performance.now();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.times.push([handled - began, performance.now() - frame]);
    port2.postMessage(0);
  });
}, true);
"""
_DRAWN = "return [document.querySelector('header output').textContent, window.times.splice(0)]"


def between(stroke: np.ndarray) -> list[np.ndarray]:
    """Return the places of a finger that follows a stroke, one for each event."""
    places = [stroke[0]]
    for start, end in pairwise(stroke):
        count = max(1, round(float(np.hypot(*(end - start))) / STEP))
        places += [start + (end - start) * (n + 1) / count for n in range(count)]
    return places


def thread_seconds(page: Page) -> float:
    """Return the processor time that the page's thread has taken so far."""
    metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}["ThreadTime"]


def times(page: Page, drawings: list[dict[str, Any]], alone: bool = False) -> tuple[float, np.ndarray]:
    """Draw digits with a finger, and check the answers.

    Args:
        page: the page.
        drawings: the recorded drawings.
        alone: whether the page sees none of the moves, so that the browser alone is measured.

    Returns:
        The milliseconds that the page's thread took for a move, and those of each event and its frame.
    """
    page.run("window.alone = arguments[0]", alone)
    before = thread_seconds(page)
    box = page.run("return document.querySelector('.surface').getBoundingClientRect().toJSON()")
    model, taken = digits_model(), []

    def touch(name: str, place: np.ndarray | None = None) -> None:
        there = []
        if place is not None:
            x, y = (float(part) for part in place * (box["width"], box["height"]))
            there = [{"x": box["left"] + x, "y": box["top"] + y}]
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": name, "touchPoints": there})

    for drawing in drawings:
        page.run(
            "[...document.querySelectorAll('.tools button')].find((e) => e.textContent === 'clear').click()"
        )
        strokes = [np.array(stroke) / THOUSANDTHS for stroke in drawing["strokes"]]
        for stroke in strokes:
            first, *rest = between(stroke)
            touch("touchStart", first)
            for place in rest:
                touch("touchMove", place)
            touch("touchEnd")
        answer, found = page.run(_DRAWN)
        scores = np.asarray(model(prepare(strokes)[None, ..., None].astype("float32") / 16))
        if not alone and not answer.startswith(f"{scores.argmax()}, "):
            raise SystemExit(f"the page answers {answer}, and the model {scores.argmax()}")
        taken += found
    return 1000 * (thread_seconds(page) - before) / len(taken), np.array(taken)


def main(argv: list[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--digits", type=int, default=20, help="how many of the 200 recorded drawings")
    parser.add_argument("--markdown", type=Path, help="write the table to this file")
    given = parser.parse_args(argv)
    recorded = json.loads((ROOT / "tests/recorded/drawn_digits.json").read_text(encoding="utf-8"))["digits"]
    drawings = recorded[:: max(1, len(recorded) // given.digits)][: given.digits]
    rows = [
        "| page's thread | moves | processor time | browser alone | event, median | frame, median |",
        f"|---|{'--:|' * 5}",
    ]
    with tempfile.TemporaryDirectory() as folder, chromium() as driver:
        path = draw_a_digit().save(Path(folder) / "page.html")
        page = Page(driver, path, width=PHONE["width"], height=PHONE["height"])
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        page.run(_TIMED)
        version = driver.capabilities["browserVersion"]
        for name, slower in SLOWER.items():
            driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": slower})
            alone, _ = times(page, drawings, alone=True)
            mean, both = times(page, drawings)
            shown = [mean, alone, *np.median(both, axis=0)]
            rows.append(f"| {name} | {len(both):,} | {' | '.join(f'{value:.1f}' for value in shown)} |")
    facts = machine.facts_of_run("benchmarks/network_page.py", argv)
    load = facts["machine"].get("load before the run", "unknown")
    where = f"Chromium {version}, {facts['machine']['processor']}, load {load}"
    rows += ["", f"Milliseconds. `{facts['command']}`, {facts['date']}, {where}"]
    print("\n".join(rows))
    if given.markdown:
        given.markdown.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
