"""Each benchmark runs once, and what the pages say follows from their tables; timings are not asserted."""

import csv
import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not

FOLDER = Path(__file__).parent.parent / "benchmarks"
pytestmark = [
    pytest.mark.xdist_group("benchmarks"),
    pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled"),
]


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "peers", raising=False)  # tests/peers, where it was imported before
    return importlib.import_module


@pytest.fixture
def restored_affinity():
    """The processors and threads of this process, which a benchmark that runs in it changes."""
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("processes cannot be pinned here")
    cores, threads = os.sched_getaffinity(0), tc.get_num_threads()
    yield
    os.sched_setaffinity(0, cores)
    tc.set_num_threads(threads)


def run(*arguments):
    command = [sys.executable, str(FOLDER / "cpu.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark")
    done = run("--quick", "--output", folder, "--markdown", folder / "page.md")
    return done, folder


@pytest.mark.slow
def test_quick_run_times_every_op(quick):
    done, folder = quick
    assert done.returncode == 0, done.stderr
    with (folder / "results.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["status"] for line in lines} == {"ok"}
    assert {line["competitor"] for line in lines} == {"teachconv", "numpy"}
    assert len({line["op"] for line in lines}) == 7
    assert all(float(line["gflops_min"]) >= float(line["gflops_median"]) > 0 for line in lines)
    assert all(float(line["bound_fraction"]) <= 1 for line in lines)
    assert "depthwise filter gradient, float64, 1 thread" in done.stdout
    assert "against NumPy" in done.stdout


def test_doctests_of_the_benchmarks(module):
    for name in ("layers", "in_short"):
        found = doctest.testmod(module(name))
        assert found.attempted > 0
        assert found.failed == 0


def test_a_wrong_result_is_not_timed(module):
    layers, racing = module("layers"), module("racing")
    problem = layers.Problem(layers.parse_shape("9x8x6:3x3x8:s2"), "filter_gradient", 3, "float32")
    truth = racing.Truth(problem, problem.arrays())
    right = truth.want.astype(np.float32)
    assert truth.judge(right)[1] == ""
    wrong = right.copy()
    wrong[-1, 1, 1, 1] += 1e-2
    assert "times its bound" in truth.judge(wrong)[1]
    assert "shape" in truth.judge(right[:, :1])[1]
    assert racing.validate_small(problem) == ""


RUNS = FOLDER.parent / "docs" / "recorded" / "benchmarks"
LONG_TABLES = sorted(path for path in RUNS.glob("*.txt") if not path.stem.startswith("threads"))


@pytest.mark.parametrize("path", LONG_TABLES, ids=lambda path: path.stem)
def test_the_percents_of_a_file_are_those_of_its_numbers(path):
    """Up to the digits that are shown: 1.8 or 180 GFLOP/s may be 2 % away from what was measured."""
    page = path.read_text(encoding="utf-8")
    checked = 0
    for section in page.split("\n## "):
        words = [*section.partition("\n")[0].split(", "), "float32"]
        dtype = next(word for word in words if word in ("float32", "float64", "tf32", "float16"))
        rows = [line.split("|")[1:-1] for line in section.splitlines() if line.endswith(" |")]
        if not rows or rows[0][-1].strip() != "% of the limit":
            continue
        limit = r"with the ([\d.]+) of a large" if "plans" in path.stem else rf" {dtype} GFLOP/s: (.*)"
        peak = float(re.search(limit, page)[1])
        ours = next(number for number, cell in enumerate(rows[0]) if cell.strip() in ("ours", "our plan"))
        for row in rows[2:]:
            for speed, percent in zip(row[ours].split("/"), row[-1].split("/"), strict=True):
                if speed.strip():
                    assert abs(100 * float(speed) / peak - float(percent)) <= 1 + 0.03 * float(percent)
                    checked += 1
    assert checked >= 45


@pytest.mark.parametrize("path", sorted(RUNS.glob("[ir]*.txt")), ids=lambda path: path.stem)
def test_a_file_says_in_short_what_its_tables_hold(path, module):
    in_short = module("in_short")
    page = path.read_text(encoding="utf-8")
    ratios = in_short.of_page(page)
    assert len({ratio.op.partition(" over ")[0] for ratio in ratios}) == 7
    calls = {(ratio.dtype, ratio.batch) for ratio in ratios}
    all_calls = {("float32", 1), ("float32", 8), ("float64", 1), ("float64", 8)}
    assert calls == (all_calls if path.stem.startswith("images") else {("float32", 1)})
    assert in_short.in_short(ratios) in page
    assert in_short.behind(ratios) in page
    assert in_short.processor_of(page)


def test_ratios_are_in_the_order_of_the_tables(module):
    """A run measures both dtypes of a layer and a batch before the next batch."""
    problems = [
        SimpleNamespace(label="forward", dtype=dtype, batch=batch, layer=SimpleNamespace(name="3x3"))
        for batch in (1, 8)
        for dtype in ("float32", "float64")
    ]
    run = [SimpleNamespace(problem=p, threads=1, ratio=lambda names: 1.0) for p in problems]
    found = [(ratio.dtype, ratio.batch) for ratio in module("report")._ratios(run)]
    assert found == [("float32", 1), ("float32", 8), ("float64", 1), ("float64", 8)]


@pytest.mark.slow
def test_roofline_is_drawn_from_the_results(module, quick, tmp_path):
    pytest.importorskip("matplotlib", reason="the roofline needs matplotlib")
    _, folder = quick
    facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    module("plot").draw(facts, tmp_path / "roofline.svg")
    assert (tmp_path / "roofline.svg").read_text(encoding="utf-8").count("<path") > 20


# ---------------------------------------------------------------------------------------------
# benchmarks/plans.py
# ---------------------------------------------------------------------------------------------


def test_plans_are_timed_next_to_others(module, tmp_path, capsys, restored_affinity):
    plans = module("plans")
    arguments = ["--quick", "--layers", "quick 3x3", "--output", tmp_path, "--markdown", tmp_path / "page.md"]
    (tmp_path / "aims.md").write_text("# Aims\n")
    arguments += ["--aims", tmp_path / "aims.md"]
    assert plans.main([*map(str, arguments)]) == 0
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["competitor"] for line in lines} == {"plan", "fast_plan", "numpy"}
    assert {line["status"] for line in lines} == {"ok"}
    assert all(float(line["bound_fraction"]) <= 1 for line in lines)
    assert "our plan: at most" in capsys.readouterr().out
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert re.search(r"^\| quick 3x3 8-16@14 +\| row_gemm +\|", page, re.MULTILINE)


# ---------------------------------------------------------------------------------------------
# benchmarks/two_threads.py
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def two_processors(restored_affinity):
    """The processors and threads of this process as before, if two threads can be timed here."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this process may use one processor")


def test_two_threads_are_timed_next_to_one_and_a_product(module, tmp_path, capsys, two_processors):
    two_threads = module("two_threads")
    page = tmp_path / "page.md"
    arguments = ["--quick", "--layers", "quick 3x3", "--seconds", "0.01", "--markdown", str(page)]
    assert two_threads.main(arguments) == 0
    assert "3 calls: two threads are" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert re.search(r"^\| quick 3x3 8-16@14 +\|", text, re.MULTILINE)
    assert "- BLAS: " in text


def test_large_calls_on_two_threads_have_an_aim_of_their_own(module):
    two_threads = module("two_threads")
    small, large = (
        two_threads.Problem(layer, "forward", 1, "float32")
        for name in ("lesson 3x3 1-32@28", "3x3 64-64@56")
        for layer in two_threads.LAYERS
        if layer.name == name
    )
    said = two_threads.verdict({small: (1.0, 1.0), large: (1.9, 1.95)})
    assert said.startswith(
        "2 calls: two threads are 1.38 times as fast as one, sgemm's 1.40 times: 0.99 of it; "
    )
    assert said.endswith(
        "1 calls of more than 50 million operations: 1.90 times (aim: 1.85, met), sgemm's 1.95"
    )
    assert "operations" not in two_threads.verdict({small: (1.0, 1.0)})


# ---------------------------------------------------------------------------------------------
# benchmarks/neon.py
# ---------------------------------------------------------------------------------------------


def test_the_loop_with_the_densest_multiply_adds_is_found(module):
    neon = module("neon")
    text = """
f:
.L1:
\tldr\tq0, [x0]
.L2:
\tfmla\tv1.4s, v0.4s, v2.s[0]
\tfmla\tv3.4s, v0.4s, v2.s[1]
\tbne\t.L2
\tfmla\tv1.4s, v0.4s, v2.s[0]
\tbne\t.L1
g:
\tret
"""
    found = neon.functions(text)
    loop = neon.densest_loop(found["f"])
    assert [line.split()[0] for line in loop] == ["fmla", "fmla", "bne"]
    assert neon.multiply_adds(loop) == 2
    assert neon.densest_loop(found["g"]) == []


# ---------------------------------------------------------------------------------------------
# benchmarks/reference.py
# ---------------------------------------------------------------------------------------------


def test_the_reference_is_validated_and_timed(module, capsys):
    module("reference").main(["--cells", "128", "--rounds", "1"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    table = [line for line in lines if line and line[0] in ("float32", "float64")]
    assert [line[1] for line in table] == ["9", "27", "288"] * 2
    assert all(float(ratio) > 0 for line in table for ratio in line[2:])


def test_what_a_user_waits_for_is_a_table_with_its_aims(module, monkeypatch, tmp_path):
    reference, threads = module("reference"), tc.get_num_threads()
    monkeypatch.setattr(reference, "REAL", {"14 x 14, 512 to 512": (6, 2)})
    monkeypatch.setattr(
        reference, "race", lambda runs, rounds: {what: 2.5 for what in runs if run_of(runs[what])}
    )

    def run_of(call):
        call()
        return True

    try:
        assert reference.main(["--real", "--rounds", "1", "--markdown", str(tmp_path / "table.inc")]) == 0
    finally:
        tc.set_num_threads(threads)
    table = (tmp_path / "table.inc").read_text(encoding="utf-8")
    assert "| the exact result | 2.50 s | 1 | 25 products: met |" in table
    assert '`diff(backends=["numpy"])` | 2.50 s | 1 | 45 products: met, 0.7 s: NOT met |' in table
    assert "| `diff()` of all | 2.50 s | 1 | 3 s: met |" in table
    assert "python benchmarks/reference.py --real --rounds 1 --markdown table.inc`" in table


def test_a_run_that_is_held_to_an_instruction_set_says_so(module, monkeypatch):
    machine = module("machine")
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)  # the tests set it
    monkeypatch.setenv("TEACHCONV_ISA", "avx2")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    facts = machine.facts_of_run("benchmarks/cpu.py", ["--quick"])
    assert facts["command"] == "TEACHCONV_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 python benchmarks/cpu.py --quick"
    assert facts["machine"]["processor"].endswith(", held to avx2")


# ---------------------------------------------------------------------------------------------
# benchmarks/naming.py
# ---------------------------------------------------------------------------------------------


def test_the_search_for_names_is_timed_where_it_finds_them(module, capsys):
    module("naming").main(["--most", "4", "--rounds", "1"])
    assert re.search(r"^\| 9,216 \| \d+ ms \| \d+ ms \| \d+ ms \|$", capsys.readouterr().out, re.MULTILINE)


# ---------------------------------------------------------------------------------------------
# benchmarks/train.py
# ---------------------------------------------------------------------------------------------


def test_train_times_steps():
    command = [sys.executable, str(FOLDER / "train.py"), "--quick", "--networks", "digits"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    name, milliseconds, aim = done.stdout.splitlines()[-1].strip("| ").split(" | ")
    assert name == "digits"
    assert float(milliseconds) > 0
    assert float(aim) == 1.1


# ---------------------------------------------------------------------------------------------
# benchmarks/gpu.py, on a stand-in for CuPy
# ---------------------------------------------------------------------------------------------


def test_gpu_says_why_nothing_was_measured(module, capsys):
    if not (why := why_not("cupy")):
        pytest.skip("there is a GPU")
    assert module("gpu").main(["--quick"]) == 2
    assert capsys.readouterr().err.strip() == f"nothing was measured: {why}"


def test_the_gpu_clock_times_a_call_again_that_the_card_waited_for(module, stand_in, monkeypatch):
    """Until the spinning kernel outlasts Python: here the second, four times as long as the first's 2 ms at 1 GHz."""
    spun, calls = [], []

    class Event(stand_in.cuda.Event):
        done = property(lambda self: len(spun) < 2)

    monkeypatch.setattr(stand_in.cuda, "Event", Event)
    monkeypatch.setattr(stand_in.cuda, "get_elapsed_time", lambda start, stop: 250.0 * len(spun))
    spin = lambda source, name: lambda grid, block, values: spun.append((grid, block, *values))  # noqa: E731
    monkeypatch.setattr(stand_in, "RawKernel", spin)
    assert module("gpu").Clock(stand_in, 1 << 10).seconds(lambda: calls.append(1)) == 0.5
    assert spun == [((1,), (1,), 2_000_000), ((1,), (1,), 8_000_000)]
    assert len(calls) == 2


def test_gpu_stops_in_time_and_takes_some_layers(module, stand_in, capsys, monkeypatch, tmp_path):
    gpu = module("gpu")
    monkeypatch.setattr(gpu, "cudnn_missing", lambda: "no PyTorch here")
    wanted = gpu.problems(
        gpu.parse(["--layers", "3x3 64-64@56,VGG 3x3 256", "--batch", "8", "--modes", "tf32"])
    )
    assert [problem.layer.name for _, problem in wanted[:2]] == ["3x3 64-64@56", "VGG 3x3 256-256@56"]
    assert len(wanted) == 2 * 3
    assert gpu.main(["--calls"]) == 0
    costs = re.findall(r"^(.*): ([\d.]+) µs of Python$", capsys.readouterr().out, re.MULTILINE)
    assert len(costs) == 3
    assert all(float(microseconds) > 0 for _, microseconds in costs)
    assert gpu.main(["--quick", "--seconds", "1e-9", "--output", str(tmp_path)]) == 0
    assert "out of time: 1 of 27 problems were measured" in capsys.readouterr().out


def test_gpu_has_cudnn_beside_ours(module, cudnn_stand_in, monkeypatch, tmp_path):
    """Through its frontend, without PyTorch; it is a column, and no rung."""
    gpu = module("gpu")
    monkeypatch.setattr(gpu, "cudnn_missing", lambda: "no PyTorch here")
    arguments = ["--quick", "--ops", "forward", "--modes", "float32", "--shape", "lesson:10x10x1:3x3x32"]
    assert gpu.main([*arguments, "--output", str(tmp_path)]) == 0
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        lines = {line["competitor"]: line for line in csv.DictReader(file)}
    assert lines.keys() == {"teachconv", "cudnn_frontend"}
    assert (lines["cudnn_frontend"]["status"], lines["cudnn_frontend"]["algorithm"]) == ("ok", "cudnn")
    problem = gpu.problems(gpu.parse(arguments))[0][1]
    assert "cudnn" not in gpu.competitors(importlib.import_module("cupy"), gpu.MODES[0], problem, True)


@pytest.mark.slow
def test_gpu_validates_times_and_writes_a_page(module, stand_in, capsys, monkeypatch, tmp_path):
    gpu = module("gpu")
    monkeypatch.setattr(gpu, "cudnn_missing", lambda: "no PyTorch here")
    arguments = ["--quick", "--algorithms", "--shape", "lesson:10x10x1:3x3x32"]
    arguments += ["--output", tmp_path, "--markdown", tmp_path / "p.md"]
    assert gpu.main([*map(str, arguments)]) == 0
    said = capsys.readouterr().out
    assert "not here: cuDNN by PyTorch: no PyTorch here" in said
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["status"] for line in lines} == {"ok"}
    assert {line["dtype"] for line in lines} == {"float32", "tf32", "float16"}
    assert {"teachconv", "direct", "im2col", "implicit_gemm", "tensor_gemm"} <= {
        line["competitor"] for line in lines
    }
    assert all(float(line["bound_fraction"]) <= 1 for line in lines)
    assert {line["algorithm"] for line in lines if line["dtype"] == "tf32"} >= {"tensor_gemm_tf32"}
    page = (tmp_path / "p.md").read_text(encoding="utf-8")
    assert "GPU: no GPU" in page
    assert "limit of float16 GFLOP/s: 4096" in page  # 2,048 multiply-adds a cycle at 1 GHz
    heads = re.findall(r"^\| layer .*", page, re.MULTILINE)
    assert heads
    assert all(head.endswith("| % of the limit |") for head in heads)
