"""The roofline of a run: ``python benchmarks/plot.py results.json roofline.svg`` (needs matplotlib)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FRAMEWORKS = ("torch", "torch_channels_last", "onnxruntime", "tensorflow", "jax")
MARKERS = {
    "forward": "o",
    "input_gradient": "s",
    "filter_gradient": "^",
    "transposed": "D",
    "depthwise": "P",
    "depthwise_input_gradient": "X",
    "depthwise_filter_gradient": "v",
}
OURS, THEIRS, CEILING = "#0b6e99", "#d9730d", "#555555"


def draw(facts: dict[str, Any], path: Path) -> None:
    """Draw GFLOP/s over operations per byte for teachconv and the best peer, with the ceilings."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "teachconv"  # the same bytes for the same numbers
    from matplotlib import pyplot

    problems = _problems(facts["results"])
    threads = min(key[-1] for key in problems)  # the ceilings were measured with this number
    problems = {key: found for key, found in problems.items() if key[-1] == threads}
    dtypes = sorted({key[3] for key in problems})
    figure, axes = pyplot.subplots(1, len(dtypes), figsize=(6.5 * len(dtypes), 5), sharey=True, squeeze=False)
    for axis, dtype in zip(axes[0], dtypes, strict=True):
        shown = {key: found for key, found in problems.items() if key[3] == dtype}
        _panel(axis, dtype, shown, facts["ceilings"])
        axis.set_title(f"{dtype}, {threads} thread{'s' * (threads > 1)}")
    axes[0][0].set_ylabel("GFLOP/s of the direct algorithm")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    figure.subplots_adjust(bottom=0.24, top=0.92, left=0.7 / figure.get_figwidth(), right=0.98, wspace=0.08)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _problems(results: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return each problem's intensity, teachconv's speed and the best peer's (or NumPy's)."""
    keys = ("op", "layer", "batch", "dtype", "threads")
    problems: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in results:
        found = problems.setdefault(tuple(line[key] for key in keys), {"intensity": line["intensity"]})
        if line["gflops_min"] is not None:
            found[line["competitor"]] = line["gflops_min"]
    for found in problems.values():
        peers = [found[name] for name in FRAMEWORKS if name in found] or [found.get("numpy", 0.0)]
        found["best"] = max(peers)
    return {key: found for key, found in problems.items() if "teachconv" in found and found["best"] > 0}


def _panel(axis: Any, dtype: str, problems: dict[tuple[Any, ...], Any], ceilings: dict[str, float]) -> None:
    intensities = [found["intensity"] for found in problems.values()]
    low, high = min(intensities) / 2, max(intensities) * 2
    peak, copy = ceilings[f"gemm {dtype} GFLOP/s"], ceilings["copy GB/s"]
    corner = peak / copy
    xs = [low, min(max(corner, low), high), high]
    axis.plot(xs, [min(peak, copy * x) for x in xs], color=CEILING, lw=1, label="copy and matrix product")
    labelled: set[str] = set()
    for (op, *_), found in problems.items():
        x, ours, best = found["intensity"], found["teachconv"], found["best"]
        axis.plot([x, x], [ours, best], color="#cccccc", lw=0.8, zorder=1)
        for speed, color, name in ((best, THEIRS, "best peer"), (ours, OURS, "teachconv")):
            label = f"{name}, {op.replace('_', ' ')}"
            again = label in labelled
            labelled.add(label)
            axis.plot(
                x, speed, MARKERS[op], color=color, ms=4.5, alpha=0.8, label="_" * again + label, zorder=2
            )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("operations per byte if each array is moved once")
    axis.grid(True, which="both", lw=0.3, alpha=0.5)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
