"""Writes what the explanation shows of recorded runs: bars of the rungs, and the speed in short.

docs/conf.py calls `write`. The sources are docs/explanation/cpu_rungs.json (benchmarks/rungs.py),
docs/engine_roofline.json (benchmarks/roofline.py), docs/gpu_tables.inc (docs/gpu_tables.py) and the files in
docs/recorded/benchmarks/ (benchmarks/cpu.py, plans.py, two_threads.py and gpu.py). So a new run changes the
pages without an edit; avx2_*.txt is a run of cpu.py that `machine.HELD` holds to AVX2.
"""

import html
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "benchmarks"))  # after docs: both have a reference.py

import in_short  # noqa: E402
import roofline  # noqa: E402

from teachconv.backends import get  # noqa: E402

RUNS = HERE / "recorded" / "benchmarks"
PROCESSORS = ("epyc", "xeon")  # the newest first
OPS = {
    "forward": "conv2d",
    "input_gradient": "conv2d_backprop_input",
    "filter_gradient": "conv2d_backprop_filter",
}
# the rung that a rung of the GPU adds its idea to
GPU_BEFORE = {
    "tiled": "direct",
    "registers": "tiled",
    "implicit_gemm": "registers",
    "pipelined_gemm_float32": "implicit_gemm",
    "pipelined_gemm": "tensor_gemm",
    "pipelined_gemm_tf32": "tensor_gemm_tf32",
}
_HELD = (
    "In the column *held to AVX2*, all were told not to use AVX-512: it stands for processors that lack it. "
    "ONNX Runtime and JAX did not take part: the one cannot be told, and the convolutions of the other "
    "exceeded what AVX2 can reach, whatever it was told."
)
FFMA, HMMA = "multiply-adds of 32 threads (FFMA)", "products of matrices on tensor cores (HMMA)"


def bars(caption: str, unit: str, rows: list[tuple[str, float, str]]) -> str:
    """Return a table with a bar in each row: its name, its number, and a remark."""
    most = max(number for _, number, _ in rows)
    lines = [
        f'<tr><th scope="row"><code>{html.escape(name).replace("_", "_<wbr>")}</code></th>'
        f'<td><span style="width:{100 * number / most:.1f}%"></span></td>'
        f"<td>{number:.{0 if number >= 100 else 1}f}</td><td>{html.escape(remark)}</td></tr>"
        for name, number, remark in rows
    ]
    head = f'<tr><th>rung</th><th aria-label="bar"></th><th>{html.escape(unit)}</th><th>gain</th></tr>'
    return (
        f'<div class="table-wrapper"><table class="bars docutils"><caption>{html.escape(caption)}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def gains(rungs: list[tuple[str, float]], before: dict[str, str]) -> list[tuple[str, float, str]]:
    """Add to each rung how many times its number is that of the rung before, which ``before`` names."""
    numbers = dict(rungs)
    return [
        (name, number, f"× {number / numbers[before[name]]:.1f}" if name in before else "–")
        for name, number in rungs
    ]


def cpu_bars(recorded: dict) -> dict[str, str]:
    """Return the bars of each ladder of benchmarks/rungs.py, by op."""
    found = {}
    for ladder in recorded["ladders"]:
        x, w = (" × ".join(map(str, ladder["shapes"][name])) for name in ("x", "w"))
        names = [rung["algorithm"] for rung in ladder["rungs"]]
        before = dict(zip(names[1:], names, strict=False))
        rungs = gains([(rung["algorithm"], rung["gflops"]) for rung in ladder["rungs"]], before)
        found[ladder["op"]] = bars(f"{OPS[ladder['op']]}, input {x}, filters {w}", "GFLOP/s", rungs)
    return found


def cpu_facts(recorded: dict) -> str:
    """Return a paragraph of Markdown: where and when the bars were recorded."""
    machine, versions = (
        recorded["machine"],
        ", ".join(" ".join(pair) for pair in recorded["versions"].items()),
    )
    return (
        f"Recorded by `{recorded['command']}` on {recorded['date']}: {machine['processor']} "
        f"({machine['instruction sets']}), one core, float32, {versions}. NumPy's matrix product reached "
        f"{recorded['ceiling']:.0f} GFLOP/s in the same run. The numbers are those of the fastest call, and "
        "count the operations of direct summation.\n"
    )


def roofline_facts(recorded: dict) -> str:
    """Return a paragraph of Markdown: where and when the roofline was recorded."""
    machine = recorded["machine"]
    versions = ", ".join(" ".join(pair) for pair in recorded["versions"].items())
    return (
        f"Recorded by `{recorded['command']}` on {recorded['date']}: {machine['processor']} "
        f"({machine['instruction sets']}; caches {machine['caches']}), one core, float32, {versions}. "
        "Each point is the fastest call.\n"
    )


def gpu_bars(tables: str) -> str:
    """Return bars of the multiply-adds that an instruction of the inner loop does on average."""
    parts = []
    for arch, table in re.findall(r"^(sm_\d+):\n\n((?:\|.*\n)*)", tables, re.MULTILINE):
        groups: dict[str, list[tuple[str, float]]] = {"FFMA": [], "HMMA": []}
        for line in table.split("\n")[2:-1]:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            done, kind, all_of_them = re.fullmatch(r"(\d+) (\w+) of (\d+)", cells[1]).groups()
            groups[kind].append((cells[0].replace("`", ""), int(cells[2]) * int(done) / int(all_of_them)))
        for kind, name in (("FFMA", FFMA), ("HMMA", HMMA)):
            parts.append(
                bars(f"{arch}: {name}", "multiply-adds per instruction", gains(groups[kind], GPU_BEFORE))
            )
    return "\n".join(parts)


def summaries(backend: str, names: list[str]) -> str:
    """Return a Markdown list of algorithms with what each gains, in the backend's own words."""
    words = {algorithm.name: algorithm.summary for algorithm in get(backend).ALGORITHMS}
    return "\n".join(f"- `{name}`: {words[name]}" for name in names) + "\n"


def long_table(name: str, words: str) -> str:
    """Return a link to the file of a run, with its date."""
    date = re.search(r"\d{4}-\d\d-\d\d", (RUNS / name).read_text(encoding="utf-8"))[0]
    return f"{{download}}`{words} <recorded/benchmarks/{name}>` ({date})"


def speed_on(processor: str) -> str:
    """Return what the runs on a processor show in short, with links to their files."""
    words = {
        "images": "images",
        "ranks": "sequences and volumes",
        "avx2": "images, held to AVX2",
        "plans": "plans",
        "threads": "two threads",
    }
    runs = {run: RUNS / f"{run}_{processor}.txt" for run in words}
    texts = {run: path.read_text(encoding="utf-8") for run, path in runs.items() if path.exists()}
    said = [text.split("\n\n")[2] for run, text in texts.items() if run in ("plans", "threads")]
    ratios = in_short.of_page(texts["images"]) + in_short.of_page(texts["ranks"])
    if "avx2" in texts:
        ratios += [
            replace(ratio, dtype=f"{ratio.dtype} held to AVX2") for ratio in in_short.of_page(texts["avx2"])
        ]
        said.insert(0, _HELD)
    links = ", ".join(long_table(runs[run].name, words[run]) for run in texts)
    parts = [
        f"## {in_short.processor_of(texts['images'])}",
        in_short.in_short(ratios),
        *said,
        f"Every layer: {links}.",
        *(
            f"![GFLOP/s over operations per byte, {words[run]}](recorded/benchmarks/{run}_{processor}.svg)"
            for run in ("images", "ranks")
        ),
    ]
    return "\n\n".join(parts)


def speed_on_gpu(card: str) -> str:
    """Return the short table of the run on a card, with a link to its file."""
    text = (RUNS / f"gpu_{card}.txt").read_text(encoding="utf-8")
    table = text.partition("## In short\n\n")[2].partition("\n\n")[0]
    name = re.search(r"^- GPU: (.*)$", text, re.MULTILINE)[1]
    return f"## {name}\n\n{table}\n\nEvery layer: {long_table(f'gpu_{card}.txt', name)}.\n"


def write(folder: Path) -> None:
    """Write the parts that docs/explanation includes, each only if it has changed."""
    folder.mkdir(exist_ok=True)
    recorded = json.loads((HERE / "explanation" / "cpu_rungs.json").read_text(encoding="utf-8"))
    roof = json.loads((HERE / "engine_roofline.json").read_text(encoding="utf-8"))
    parts = {
        "engine_roofline.html": roofline.picture(roof),
        "engine_roofline.md": roofline_facts(roof),
        "speed_on_cpu.md": "\n\n".join(map(speed_on, PROCESSORS)),
        "speed_on_gpu.md": speed_on_gpu("h200"),
        "cpu_rungs.md": cpu_facts(recorded),
        "gpu_rungs.html": gpu_bars((HERE / "gpu_tables.inc").read_text(encoding="utf-8")),
    }
    parts |= {f"cpu_rungs_{op}.html": text for op, text in cpu_bars(recorded).items()}
    for ladder in recorded["ladders"]:
        names = [rung["algorithm"] for rung in ladder["rungs"]]
        parts[f"cpu_rungs_{ladder['op']}.md"] = summaries("cython", names)
    for name, text in parts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
