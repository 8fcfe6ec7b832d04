"""Times teachconv's plans next to engines that prepare weights: ONNX Runtime, LiteRT, OpenVINO and ncnn.

    pip install ".[bench-plans]"
    python benchmarks/plans.py                              every layer, on one core: about 5 minutes
    python benchmarks/plans.py --quick                      a smoke test: seconds, NumPy only
    python benchmarks/plans.py --layers 3x3 --seconds 5

Forward convolutions, float32, one pinned thread; ncnn computes a batch image by image. Validates first, then
times, as cpu.py does (`racing`). Our plan is compared with the best of ONNX Runtime, LiteRT and OpenVINO,
layer by layer, and the plan with precision="fast" with the best of these and ncnn. The exit status is 1
if a plan's result is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import in_short
import machine
import report
from cpu import add_aims_argument, add_layer_arguments, allowed_cores, ceilings, layer_list, pin, progress
from layers import LAYERS, QUICK_LAYERS, Problem, fits
from racing import Budget, Measurement, Race, validate_small

ENGINES = ("onnxruntime", "litert", "openvino", "ncnn")
# our plan: the engines it is compared with, and the least mean ratio
AIMS = {"plan": (ENGINES[:3], 1.5), "fast_plan": (ENGINES, 1.3)}
TITLES = {
    "plan": "our plan",
    "fast_plan": "fast plan",
    "onnxruntime": "ONNX Runtime",
    "litert": "LiteRT",
    "openvino": "OpenVINO",
}


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peer-python", default=sys.executable, metavar="PATH", help="interpreter that has the engines"
    )
    parser.add_argument(
        "--core", type=int, default=allowed_cores()[0], help="processor to pin to (default: %(default)s)"
    )
    add_layer_arguments(parser, "1,8", "tiny layers, NumPy only")
    add_aims_argument(parser)
    parser.add_argument("--seconds", type=float, help="per problem, all engines together (default: 2)")
    parser.add_argument("--output", type=Path, default=Path("benchmark-results/plans"), metavar="DIR")
    arguments = parser.parse_args(argv)
    arguments.batch = arguments.batch or ([1, 2] if arguments.quick else [1, 8])
    arguments.seconds = arguments.seconds or (0.02 if arguments.quick else 2.0)
    return arguments


def problems(arguments: argparse.Namespace) -> list[Problem]:
    """Return the forward convolutions of the table, depthwise ones included."""
    return [
        Problem(layer, op, batch, "float32")
        for layer in layer_list(arguments, QUICK_LAYERS if arguments.quick else LAYERS)
        for op in ("forward", "depthwise")
        if fits(layer, op)
        for batch in arguments.batch
    ]


def measure(arguments: argparse.Namespace, facts: dict[str, Any]) -> tuple[list[Measurement], list[str]]:
    """Run every problem; return the measurements and the failures of the plans."""
    work, measured, wrong = problems(arguments), [], []
    pin([arguments.core])
    rivals = ["numpy"] if arguments.quick else ENGINES
    race = Race([*AIMS, *rivals], arguments.peer_python, 1, None, Budget(7, arguments.seconds))
    facts["missing"] = race.missing
    for worker in race.workers:
        facts["versions"] |= worker.versions
    try:
        with progress(len(work)) as say:
            for number, problem in enumerate(work):
                say(f"{problem.layer.name} batch {problem.batch}", number)
                failure = validate_small(problem) if problem.batch == arguments.batch[0] else ""
                measured.append(race.run(problem))
                timings = measured[-1].timings
                said = [failure, *(t.note for n, t in timings.items() if n in AIMS and t.status != "ok")]
                wrong += [f"{problem.layer.name} batch {problem.batch}: {text}" for text in said if text]
    finally:
        race.close()
    return measured, wrong


def table(measured: Sequence[Measurement], most: float) -> report.Table:
    """Return a line per layer, and the geometric means and worst layers of both ratios.

    ``most`` is the machine's limit, of which our plan reaches some percent.
    """
    names = list(dict.fromkeys(name for m in measured for name in m.timings))
    batches = sorted({m.problem.batch for m in measured})
    by_key = {(m.problem.layer.name, m.problem.batch): m for m in measured}
    head = ["layer", "algorithms", *(TITLES.get(name, name) for name in names)]
    lines = [[*head, *(f"{TITLES[ours]} / best" for ours in AIMS), report.LIMIT]]
    for layer in dict.fromkeys(m.problem.layer.name for m in measured):
        row = [by_key[layer, batch] for batch in batches if (layer, batch) in by_key]
        chosen = dict.fromkeys(row[0].timings[ours].algorithm for ours in AIMS if ours in row[0].timings)
        speeds = [" | ".join(report.speed(m, name) for m in row) for name in names]
        lines.append(
            [
                layer,
                ", ".join(chosen),
                *speeds,
                *(" | ".join(_ratio(m, ours) for m in row) for ours in AIMS),
                " | ".join(report.percent(m, "plan", most) for m in row),
            ]
        )
    for text, figure in (("geometric mean", report.geometric_mean), ("worst layer", min)):
        cells = [" | ".join(_figure(measured, ours, batch, figure) for batch in batches) for ours in AIMS]
        lines.append([text, "", *[""] * len(names), *cells, ""])
    return lines


def _ratio(m: Measurement, ours: str) -> str:
    ratio = m.ratio(AIMS[ours][0], ours=ours)
    return "–" if ratio is None else f"{ratio:.2f}"


def _figure(measured: Sequence[Measurement], ours: str, batch: int, figure: Any) -> str:
    ratios = [m.ratio(AIMS[ours][0], ours=ours) for m in measured if m.problem.batch == batch]
    known = [ratio for ratio in ratios if ratio is not None]
    return f"{figure(known):.2f}" if known else "–"


def judged(measured: Sequence[Measurement], ours: str) -> list[tuple[float, Problem]]:
    """Return the ratios of a plan to the best of its rivals."""
    ratios = [(m.ratio(AIMS[ours][0], ours=ours), m.problem) for m in measured]
    return [(ratio, problem) for ratio, problem in ratios if ratio is not None]


def verdicts(measured: Sequence[Measurement]) -> list[str]:
    """Say of each plan by how much it is ahead or behind, over all layers and batches, and on which."""
    lines = []
    for ours, (rivals, _) in AIMS.items():
        if not (known := judged(measured, ours)):
            continue
        mean = report.geometric_mean([ratio for ratio, _ in known])
        ahead = sum(ratio > 1 + in_short.LEVEL for ratio, _ in known)
        behind = sorted(((r, p) for r, p in known if r < 1 - in_short.LEVEL), key=lambda pair: pair[0])
        best = ", ".join(TITLES.get(name, name) for name in rivals)
        where = "; ".join(f"{p.layer.name}, batch {p.batch} ({ratio:.2f})" for ratio, p in behind)
        lines.append(
            f"{TITLES[ours]} against the best of {best}: geometric mean {mean:.2f}; of {len(known)} layers "
            f"and batches ahead in {ahead}, level in {len(known) - ahead - len(behind)}, behind in "
            f"{len(behind)}{f': {where}' if where else ''}"
        )
    return lines


def aims(measured: Sequence[Measurement]) -> list[str]:
    """Say of each plan whether its aim is met."""
    lines = []
    for ours, (_, aim) in AIMS.items():
        if known := judged(measured, ours):
            mean = report.geometric_mean([ratio for ratio, _ in known])
            verdict = "met" if mean >= aim else "NOT met"
            lines.append(f"- {TITLES[ours]}: geometric mean {mean:.2f} (aim: {aim:.2f}, {verdict})")
    return lines


def exactness(measured: Sequence[Measurement]) -> list[str]:
    """Say of each competitor how large its errors were, as a fraction of the bound of direct summation."""
    worst: dict[str, tuple[float, str]] = {}
    for m in measured:
        for name, timing in m.timings.items():
            if timing.status == "ok" and timing.bound_fraction is not None:
                where = f"{m.problem.layer.name}, batch {m.problem.batch}"
                worst[name] = max(worst.get(name, (0.0, "")), (timing.bound_fraction, where))
    return [
        f"{TITLES.get(name, name)}: at most {fraction:.2g} of the bound ({where})"
        + ("; less exact than direct summation, within the bound of F(4×4, 3×3)" if fraction > 1 else "")
        for name, (fraction, where) in worst.items()
    ]


def title(facts: dict[str, Any]) -> str:
    """Return the title of the file of a run."""
    return f"Plans next to inference engines: {facts['machine']['processor']}"


def page(facts: dict[str, Any], measured: Sequence[Measurement]) -> str:
    """Return all tables of this run, and what they show in short."""
    batches = sorted({m.problem.batch for m in measured})
    remarks = [*(f"{n}: {why}" for n, why in facts["missing"].items()), *report.notes(measured)]
    most = report.limit(facts["ceilings"], "float32")
    parts = [
        f"# {title(facts)}",
        f"Made by `{facts['command']}` on {facts['date']}; do not edit.",
        "\n".join(f"- {line}" for line in verdicts(measured)),
        "Engines for inference pack or transform constant weights once, as `tc.plan` does. "
        "Forward convolutions in float32, each competitor pinned to one core in a process of its own, in "
        "interleaved rounds; every result was checked before timing. GFLOP/s count the operations of direct "
        "summation, of the fastest call; the numbers in a cell are "
        + " and ".join(f"batch {batch}" for batch in batches)
        + ". ncnn computes a batch image by image, in float32 throughout; its input is in its own packed "
        'layout already. The fast plan is made with `precision="fast"`, which allows `winograd4`. The column '
        f"*{report.LIMIT}* compares our plan's GFLOP/s with the {most:.1f} of a large matrix product on the "
        "same core; `winograd2` multiplies less than direct summation, so it can exceed 100.",
        report.as_markdown(table(measured, most)),
        "## Errors",
        "The largest error of each, measured by the bound of direct summation (for our Winograd "
        "algorithms by that of the largest sum):",
        "\n".join(f"- {line}" for line in exactness(measured)),
    ]
    if remarks:
        parts += ["## Without a number", "\n".join(f"- `{remark}`" for remark in remarks)]
    known = [f"- {key}: {value}" for key, value in (facts["machine"] | facts["versions"]).items()]
    return "\n\n".join([*parts, "## Machine and versions", "\n".join(known)]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    if not problems(arguments):
        print("nothing to time: no layer fits --layers and --shape", file=sys.stderr)
        return 2
    facts = machine.facts_of_run("benchmarks/plans.py", argv)
    started = time.monotonic()
    measured, wrong = measure(arguments, facts)
    facts["ceilings"] = ceilings(arguments)
    facts["minutes"] = round((time.monotonic() - started) / 60, 1)
    print(report.as_markdown(table(measured, report.limit(facts["ceilings"], "float32"))))
    for line in (*verdicts(measured), *aims(measured), *exactness(measured), *report.notes(measured)):
        print(line)
    for name, reason in facts["missing"].items():
        print(f"not here: {name}: {reason}")
    report.write_files(arguments.output, facts, measured)
    if arguments.markdown:
        arguments.markdown.write_text(page(facts, measured), encoding="utf-8")
    if arguments.aims:
        report.write_aims(arguments.aims, title(facts), facts, "\n".join(aims(measured)))
    for failure in wrong:
        print(f"WRONG: {failure}", file=sys.stderr)
    print(f"{len(measured)} problems in {facts['minutes']} minutes", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
