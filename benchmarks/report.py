"""Presents measurements as tables, aims, CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import in_short
from in_short import Table, as_markdown
from layers import DEPTHWISE, Layer
from racing import Measurement

FRAMEWORKS = ("torch", "torch_channels_last", "onnxruntime", "tensorflow", "jax")
CUDNN = ("cudnn", "cudnn_channels_last", "cudnn_frontend")
TITLES = {
    "cudnn_frontend": "cudnn, our call",
    "cudnn_channels_last": "cudnn NHWC",
    "teachconv": "ours",
    "plan": "our plan",
    "torch_channels_last": "torch NHWC",
    "onnxruntime": "ORT (prepacked)",
}
_STATISTICS = {"mean": "geometric mean", "worst": "worst layer"}


# ---------------------------------------------------------------------------------------------
# Aims
# ---------------------------------------------------------------------------------------------


def _any_layer(layer: Layer) -> bool:
    return True


def _winograd_layer(layer: Layer) -> bool:
    return layer.is_3x3 and min(layer.in_channels, layer.out_channels) >= 64


@dataclass(frozen=True)
class Aim:
    """A ratio to reach on one thread, as a geometric mean or for the worst layer."""

    text: str
    least: float
    ops: tuple[str, ...]
    figure: str = "mean"
    dtype: str = "float32"
    batch: int | None = None
    rank: int = 2
    layers: Callable[[Layer], bool] = _any_layer
    against: tuple[str, ...] = FRAMEWORKS
    precision: str | None = None  # applies only to a run with this --precision


DENSE = ("forward", "input_gradient", "filter_gradient", "transposed")
ALL = (*DENSE, *DEPTHWISE)
AIMS = (
    Aim("forward, batch 1", 1.40, ("forward",), batch=1),
    Aim("forward, batch 8", 1.40, ("forward",), batch=8),
    Aim(
        "forward, 3x3 stride 1, 64 channels or more, batch 8",
        1.5,
        ("forward",),
        batch=8,
        layers=_winograd_layer,
    ),
    Aim(
        "the same with --precision fast",
        1.8,
        ("forward",),
        batch=8,
        layers=_winograd_layer,
        precision="fast",
    ),
    Aim("input gradient", 1.6, ("input_gradient",)),
    Aim("transposed", 1.35, ("transposed",)),
    Aim("filter gradient", 1.45, ("filter_gradient",)),
    *(Aim(op.replace("_", " "), 1.25, (op,)) for op in DEPTHWISE),
    *(Aim(op.replace("_", " "), 0.9, (op,), "worst") for op in ALL),
    *(Aim(f"float64: {op.replace('_', ' ')}", 2.0, (op,), dtype="float64") for op in ALL),
    *(Aim(f"float64: {op.replace('_', ' ')}", 0.9, (op,), "worst", "float64") for op in ALL),
    Aim("against NumPy", 1, ALL, "worst", against=("numpy",)),
    Aim(
        "against NumPy, lesson-sized",
        4,
        DENSE,
        "worst",
        layers=lambda layer: layer.name.startswith("lesson"),
        against=("numpy",),
    ),
    Aim("sequences", 1.25, ALL, rank=1),
    Aim("sequences", 0.9, ALL, "worst", rank=1),
    Aim("volumes", 1.2, ALL, rank=3),
    Aim(
        "volumes, 3x3x3 stride 1",
        1.4,
        ALL,
        rank=3,
        layers=lambda layer: (layer.filter_sizes, layer.stride) == ((3, 3, 3), 1),
    ),
)


def judge_aims(measurements: Iterable[Measurement], precision: str | None) -> Table:
    """Return a line per aim that this run can judge: ratios by minima and by medians, and met or not."""
    lines = [["aim (one thread)", "at least", "reached", "by medians", "layers", ""]]
    single = [m for m in measurements if m.threads == 1]
    for aim in AIMS:
        if aim.precision not in (None, precision):
            continue
        chosen = [
            m
            for m in single
            if m.problem.op in aim.ops
            and m.problem.dtype == aim.dtype
            and aim.batch in (None, m.problem.batch)
            and aim.rank == m.problem.layer.rank
            and aim.layers(m.problem.layer)
        ]
        by_min, by_median = _figure(aim, chosen, "min"), _figure(aim, chosen, "median")
        if by_min is None or by_median is None:
            continue
        count = sum(m.ratio(aim.against) is not None for m in chosen)
        kind = _STATISTICS[aim.figure]
        verdict = "met" if by_min[0] >= aim.least else "NOT met"
        name = f" ({by_min[1]})" if by_min[1] else ""
        lines.append(
            [
                f"{aim.text}: {kind}",
                f"{aim.least:.2f}",
                f"{by_min[0]:.2f}{name}",
                f"{by_median[0]:.2f}",
                str(count),
                verdict,
            ]
        )
    return lines


def _figure(aim: Aim, chosen: Sequence[Measurement], statistic: str) -> tuple[float, str] | None:
    ratios = [(m.ratio(aim.against, statistic), m.problem) for m in chosen]
    found = [(ratio, f"{p.layer.name}, batch {p.batch}") for ratio, p in ratios if ratio is not None]
    if not found:
        return None
    if aim.figure == "mean":
        return geometric_mean([ratio for ratio, _ in found]), ""
    return min(found)


def write_aims(path: Path, title: str, facts: dict[str, Any], text: str) -> None:
    """Write what a run says of its aims into the developers' page, in place of what it said under this title.

    Args:
        path: benchmarks/aims.md, or another page of this form.
        title: the title of the run's file of tables.
        facts: those of the run.
        text: the aims, as Markdown.
    """
    before, *parts = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    others = [part.rstrip() for part in parts if part.partition("\n")[0] != title]
    mine = f"{title}\n\n`{facts['command']}` on {facts['date']}\n\n{text}"
    page = "\n\n## ".join([before.rstrip(), *sorted([*others, mine])])
    path.write_text(page + "\n", encoding="utf-8")


# ---------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------


def sections(
    measurements: Sequence[Measurement], ceilings: dict[str, float] | None = None
) -> list[tuple[str, Table]]:
    """Return a title and a table for each op, dtype and number of threads.

    With the ceilings of the machine (`machine.ceilings`), tables of the number of threads that they were
    measured with, the smallest, have a column that says how many percent of its limit a call reaches.
    """
    groups: dict[tuple[str, str, int], list[Measurement]] = {}
    for m in measurements:
        groups.setdefault((m.problem.label, m.problem.dtype, m.threads), []).append(m)
    least = min((threads for *_, threads in groups), default=0)
    return [
        (
            _title(label, dtype, threads, group),
            _table(group, limit(ceilings, dtype) if ceilings and threads == least else None),
        )
        for (label, dtype, threads), group in groups.items()
    ]


LIMIT = "% of the limit"


def limit(ceilings: dict[str, float], dtype: str) -> float:
    """Return the limit of a machine: the GFLOP/s of a large matrix product."""
    return ceilings[f"gemm {dtype} GFLOP/s"]


def percent(m: Measurement | None, name: str, most: float) -> str:
    """Return how many percent of the limit a competitor reaches; operations are those of direct summation."""
    reached = None if m is None else m.gflops(name)
    return "–" if reached is None else f"{100 * reached / most:.0f}"


def _batches(group: Sequence[Measurement]) -> list[int]:
    return sorted({m.problem.batch for m in group})


def _title(label: str, dtype: str, threads: int, group: Sequence[Measurement]) -> str:
    batches = " | ".join(f"batch {batch}" for batch in _batches(group))
    count = f", {threads} thread{'s' * (threads > 1)}" if threads else ""  # 0: on a GPU
    return f"{label}, {dtype}{count}: GFLOP/s at {batches}"


def _table(group: Sequence[Measurement], most: float | None) -> Table:
    batches = _batches(group)
    names = list(dict.fromkeys(name for m in group for name in m.timings))
    frameworks = [name for name in (*FRAMEWORKS, *CUDNN) if name in names]
    rivals, against = (
        (frameworks, "best peer") if frameworks or "numpy" not in names else (["numpy"], "numpy")
    )
    layers = list(dict.fromkeys(m.problem.layer for m in group))
    by_key = {(m.problem.layer, m.problem.batch): m for m in group}
    head = ["layer", "algorithm", *(TITLES.get(name, name) for name in names)]
    head += [f"ours / {against}", "by medians", "fastest", *([LIMIT] if most else [])]
    table = [head]
    for layer in layers:
        row = [by_key.get((layer, batch)) for batch in batches]
        table.append(
            [
                layer.name,
                _join([m.timings["teachconv"].algorithm for m in row if m], same="once"),
                *(_join([speed(m, name) for m in row]) for name in names),
                _join([_number(m.ratio(rivals) if m else None, 2) for m in row]),
                _join([_number(m.ratio(rivals, "median") if m else None, 2) for m in row]),
                _join([_fastest(m, rivals) for m in row], same="once"),
                *([_join([percent(m, "teachconv", most) for m in row])] if most else []),
            ]
        )
    lines = [("teachconv", rivals, "ours"), ("plan", rivals, "our plan")]
    lines.append(("plan", ["onnxruntime"], "our plan / ORT"))  # both pack weights in advance
    for ours, others, text in lines:
        if any(m.ratio(others, ours=ours) for m in group):
            for statistic in ("mean", "worst"):
                summary = _summary(statistic, ours, others, batches, group)
                cells = [f"{_STATISTICS[statistic]}, {text}", "", *[""] * len(names), *summary]
                table.append([*cells, *[""] * (len(head) - len(cells))])
    return table


def _summary(
    statistic: str,
    ours: str,
    rivals: Sequence[str],
    batches: Sequence[int],
    group: Sequence[Measurement],
) -> list[str]:
    """Return the geometric mean or worst layer of a ratio per batch, by minima and by medians."""
    cells = []
    for by in ("min", "median"):
        found = []
        for batch in batches:
            ratios = [m.ratio(rivals, by, ours) for m in group if m.problem.batch == batch]
            known = [ratio for ratio in ratios if ratio is not None]
            value = None
            if known:
                value = geometric_mean(known) if statistic == "mean" else min(known)
            found.append(_number(value, 2))
        cells.append(_join(found))
    return cells


def speed(m: Measurement | None, name: str) -> str:
    timing = None if m is None else m.timings.get(name)
    if m is None or timing is None or timing.status == "refused":
        return "–"
    return _number(m.gflops(name), 1) if timing.status == "ok" else timing.status.upper()


def _fastest(m: Measurement | None, rivals: Sequence[str]) -> str:
    best = m.best(rivals) if m else None
    return TITLES.get(best[0], best[0]) if best else "–"


def _number(value: float | None, digits: int) -> str:
    """Format with at least two significant digits: 180, 18, 1.8; ratios have two decimals."""
    if value is None:
        return "–"
    if digits == 1:
        digits = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{value:.{digits}f}"


def _join(cells: Sequence[str], same: str = "each") -> str:
    return cells[0] if same == "once" and len(set(cells)) == 1 else " | ".join(cells)


def notes(measurements: Iterable[Measurement]) -> list[str]:
    """Return the reasons why cells have no number, each once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for m in measurements:
        for name, timing in m.timings.items():
            if timing.status != "ok":
                where = f"{m.problem.label} {m.problem.dtype}"
                found.setdefault((name, timing.status, timing.note.splitlines()[0]), []).append(where)
    return [
        f"{name}, {', '.join(dict.fromkeys(where))}: {status}: {note}"
        for (name, status, note), where in found.items()
    ]


# ---------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------


def records(measurements: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Return one flat record for each competitor on each problem."""
    lines = []
    for m in measurements:
        p = m.problem
        for name, timing in m.timings.items():
            lines.append(
                {
                    "op": p.op,
                    "layer": p.layer.name,
                    "shape": p.layer.spec,
                    "batch": p.batch,
                    "dtype": p.dtype,
                    "threads": m.threads,
                    "competitor": name,
                    "status": timing.status,
                    "algorithm": timing.algorithm,
                    "gflops_min": timing.gflops(p.flops),
                    "gflops_median": timing.gflops(p.flops, "median"),
                    "seconds_min": min(timing.seconds, default=None),
                    "calls": len(timing.seconds),
                    "flops": p.flops,
                    "intensity": p.intensity,
                    "bound_fraction": timing.bound_fraction,
                    "note": timing.note,
                }
            )
    return lines


def write_files(folder: Path, facts: dict[str, Any], measurements: Sequence[Measurement]) -> None:
    """Write results.csv and results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = records(measurements)
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    layers = {m.problem.layer.name: asdict(m.problem.layer) for m in measurements}
    text = json.dumps(facts | {"layers": layers, "results": lines}, indent=1)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")


def _ratios(measurements: Iterable[Measurement]) -> Iterator[in_short.Ratio]:
    """Yield the ratios of one thread to the best framework, which the file opens with."""
    for m in sorted(measurements, key=lambda m: m.problem.dtype):  # as the tables have them
        p, ratio = m.problem, m.ratio(FRAMEWORKS)
        if m.threads == 1 and ratio is not None:
            yield in_short.Ratio(p.label, p.dtype, p.batch, p.layer.name, round(ratio, 2))


def cpu_title(facts: dict[str, Any]) -> str:
    """Return the title of the file of a run."""
    names = {1: "sequences", 2: "images", 3: "volumes"}
    over = " and ".join(names[rank] for rank in facts["ranks"])
    return f"Speed on the CPU{'' if over == 'images' else f' over {over}'}: {facts['machine']['processor']}"


def markdown_page(facts: dict[str, Any], measurements: Sequence[Measurement], picture: str | None) -> str:
    """Return all tables of this run, and what they show in short."""
    ratios = list(_ratios(measurements))
    parts = [
        f"# {cpu_title(facts)}",
        f"Made by `{facts['command']}` on {facts['date']}; do not edit. Every result was checked before "
        "timing, against the bound of direct summation around a float64 result. Each competitor ran pinned "
        "in its own process, in interleaved rounds, on arrays that begin at a cache line, as the libraries' "
        "own do (NumPy's often do not: see docs/engine.md). GFLOP/s count the operations of direct "
        "summation, of the fastest call; the numbers in a cell are "
        + " and ".join(f"batch {batch}" for batch in _batches(measurements))
        + ". ONNX Runtime packs its constant weights in advance, outside the timing; compare it "
        "with a plan. The best peer is the fastest of PyTorch (both layouts), ONNX Runtime, TensorFlow and "
        f"JAX, layer by layer. The column *{LIMIT}* compares our GFLOP/s with those of a large matrix "
        "product of the same dtype on the same core, measured before and after all calls. Winograd's "
        "algorithms multiply less than direct summation, so they can exceed 100.",
        "## In short",
        "How many times as fast teachconv is as the fastest of the other libraries: a geometric mean over "
        "layers, and how many layers are ahead, level within 5 %, and behind.",
        in_short.in_short(ratios),
        in_short.behind(ratios),
    ]
    for title, table in sections(measurements, facts["ceilings"]):
        parts += [f"## {title[0].upper()}{title[1:].partition(':')[0]}", as_markdown(table)]
    remarks = notes(measurements)
    if remarks:
        parts += ["## Without a number", "\n".join(f"- `{remark}`" for remark in remarks)]
    if picture:
        parts += ["## Roofline", f"![GFLOP/s over operations per byte]({picture})"]
    lines = [f"- {key}: {value}" for key, value in (facts["machine"] | facts["versions"]).items()]
    lines += [f"- {name}: {value:.1f}" for name, value in facts["ceilings"].items()]
    lines.append(f"- a call on an 8x8x1 image: {facts['call overhead, µs']} µs")
    parts += ["## Machine and versions", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"
