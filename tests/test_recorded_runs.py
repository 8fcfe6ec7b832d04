"""The pictures of recorded runs in the documentation show what the files hold."""

import importlib
import json
import re
import shutil
from math import log2
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = """
sm_80:

| rung | inner loop | multiply-adds of one | instructions for one |
|---|---|---|---|
| `direct` | 16 FFMA of 64 | 32 | 4.0 |
| `tiled` | 32 FFMA of 64 | 32 | 2.0 |
| `tensor_gemm` | 16 HMMA of 128 | 2048 | 8.0 |
"""


@pytest.fixture
def runs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("recorded_runs")


def cells(html):
    """The texts of each row of the tables: rung, bar, number, gain."""
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", html)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.split(r"</t[hd]>", row)[:-1]] for row in rows]


def test_bars_of_the_gpu_are_counts_of_the_table(runs):
    html = runs.gpu_bars(TABLE)
    assert cells(html) == [
        ["direct", "", "8.0", "–"],  # 32 * 16 / 64
        ["tiled", "", "16.0", "× 2.0"],
        ["tensor_gemm", "", "256", "–"],
    ]
    assert re.findall(r"width:([\d.]+)%", html) == ["50.0", "100.0", "100.0"]


def test_every_rung_of_the_tables_has_a_bar(runs):
    text = (ROOT / "docs" / "gpu_tables.inc").read_text(encoding="utf-8")
    rungs = re.findall(r"^\| (`\w+`.*?) \|", text, re.MULTILINE)
    assert len(rungs) > 10
    shown = [name for name, *_ in cells(runs.gpu_bars(text))]
    assert sorted(shown) == sorted(name.replace("`", "") for name in rungs)


def test_bars_of_the_cpu_are_the_recorded_rungs(runs):
    ladders = importlib.import_module("rungs").LADDERS
    recorded = json.loads((ROOT / "docs" / "explanation" / "cpu_rungs.json").read_text(encoding="utf-8"))
    bars = runs.cpu_bars(recorded)
    assert [(ladder["op"], ladder["layer"]) for ladder in recorded["ladders"]] == [row[:2] for row in ladders]
    for op, _, algorithms in ladders:
        assert [name for name, *_ in cells(bars[op])] == list(algorithms)
    assert recorded["machine"]["processor"] in runs.cpu_facts(recorded)


def scale(points, rungs, speed):
    """The height of a speed, from those of the slowest and the fastest rung."""
    speeds, heights = [rung["gflops"] for rung in rungs], [y for _, y in points]
    share = log2(speed / min(speeds)) / log2(max(speeds) / min(speeds))
    return max(heights) + share * (min(heights) - max(heights))


def test_the_roofline_shows_the_recorded_rungs_at_their_places(runs):
    recorded = json.loads((ROOT / "docs" / "engine_roofline.json").read_text(encoding="utf-8"))
    svg = runs.roofline.picture(recorded)
    rungs = [rung for ladder in recorded["ladders"] for rung in ladder["rungs"]]
    assert [row[-1] for row in runs.roofline.LADDERS] == [
        tuple(rung["algorithm"] for rung in ladder["rungs"]) for ladder in recorded["ladders"]
    ]
    points = [tuple(map(float, found)) for found in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)]
    assert len(points) == len(rungs)
    # the faster, the higher: heights follow the speeds, on one scale for all ladders
    assert [y for _, y in sorted(points, key=lambda at: -at[1])] == [
        pytest.approx(y, abs=0.11)
        for y in sorted((scale(points, rungs, rung["gflops"]) for rung in rungs), reverse=True)
    ]
    # each ladder has one place, further right the more operations per byte
    across = sorted({x for x, _ in points})
    intensities = sorted(ladder["intensity"] for ladder in recorded["ladders"])
    steps = [
        (b - a) / log2(j / i)
        for a, b, i, j in zip(across, across[1:], intensities, intensities[1:], strict=False)
    ]
    assert steps == [pytest.approx(steps[0], rel=0.01)] * len(steps)
    for rung in rungs:
        assert f">{rung['algorithm']}</text>" in svg
    assert f"{recorded['ceilings']['multiply-adds']:.0f} GFLOP/s" in svg
    assert "light-dark(" in svg
    assert recorded["machine"]["processor"] in runs.roofline_facts(recorded)


@pytest.mark.parametrize("processor", ["epyc", "xeon"])
def test_a_processor_has_one_table_and_links_to_all_of_its_runs(runs, processor):
    text = runs.speed_on(processor)
    assert text.startswith("## ")
    assert len(re.findall(r"^\| -", text, re.MULTILINE)) == 1
    columns = re.search(r"^\| op .*", text, re.MULTILINE)[0]
    assert "float64, batch 8" in columns
    assert "volumes, batch 1" in columns
    files = sorted(path.name for path in runs.RUNS.glob(f"*_{processor}.txt"))
    assert sorted(re.findall(r"<recorded/benchmarks/(.*?)>", text)) == files
    assert text.count("our plan against the best of") == 1
    assert ("two threads are" in text) == (f"threads_{processor}.txt" in files)


def test_a_run_held_to_avx2_is_a_column_of_its_processor(runs, monkeypatch, tmp_path):
    shutil.copytree(runs.RUNS, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    before = runs.speed_on("xeon")
    shutil.copy(tmp_path / "images_xeon.txt", tmp_path / "avx2_xeon.txt")
    text = runs.speed_on("xeon")
    columns = [re.search(r"^\| op .*", page, re.MULTILINE)[0] for page in (before, text)]
    assert "AVX2" not in columns[0]
    assert "float32 held to AVX2, batch 1" in columns[1]
    assert "<recorded/benchmarks/avx2_xeon.txt>" in text
    assert text.count("ONNX Runtime and JAX did not take part") == 1


def test_every_recorded_run_is_on_the_page(runs):
    text = "".join(map(runs.speed_on, runs.PROCESSORS)) + runs.speed_on_gpu("h200")
    assert sorted(re.findall(r"<recorded/benchmarks/(.*?)>", text)) == sorted(
        path.name for path in runs.RUNS.glob("*.txt")
    )
    assert "## NVIDIA H200\n\n| op " in text
    assert re.search(r"^\| forward +\| float32 +\| 1 +\| [\d.]+", text, re.MULTILINE)
