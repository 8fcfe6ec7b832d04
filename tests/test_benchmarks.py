"""The benchmarks run, reject wrong results and judge their aims; timings are not asserted."""

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
from threadpoolctl import threadpool_info, threadpool_limits

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


def test_a_wrong_argument_is_named():
    done = run("--quick", "--shape", "mine:28x28x6:3x3x8:g4")
    assert done.returncode == 2
    assert "must be multiples of g4" in done.stderr


def test_doctests_of_the_benchmarks(module):
    for name in ("layers", "report", "in_short"):
        found = doctest.testmod(module(name))
        assert found.attempted > 0
        assert found.failed == 0


@pytest.mark.parametrize("rank", [1, 3])
def test_sequences_and_volumes_are_problems_too(module, rank):
    layers, racing, report = module("layers"), module("racing"), module("report")
    for layer in layers.TABLES[rank]:
        assert layers.parse_shape(layer.spec).spec == layer.spec
        for op in (*layers.OPS[:4], *layers.DEPTHWISE):
            if layers.fits(layer, op):
                problem = layers.Problem(layer.smaller(), op, 2, "float32")
                facts = json.loads(json.dumps(problem.facts()))
                assert layers.Problem.from_facts(facts) == problem
                assert racing.validate_small(problem) == ""
    ((title, _),) = report.sections(
        [racing.Measurement(problem, 1, {"teachconv": racing.Timing("ok", seconds=[1.0])})]
    )
    assert (" over sequences, " in title, " over volumes, " in title) == (rank == 1, rank == 3)


@pytest.mark.parametrize("op", ["forward", "input_gradient", "filter_gradient", "transposed"])
def test_a_wrong_result_is_not_timed(module, op):
    layers, racing = module("layers"), module("racing")
    problem = layers.Problem(layers.parse_shape("9x8x6:3x3x8:s2"), op, 3, "float32")
    truth = racing.Truth(problem, problem.arrays())
    right = truth.want.astype(np.float32)
    assert truth.judge(right)[1] == ""
    wrong = right.copy()
    wrong[-1, 1, 1, 1] += 1e-2
    assert "times its bound" in truth.judge(wrong)[1]
    assert "shape" in truth.judge(right[:, :1])[1]
    assert racing.validate_small(problem) == ""


def test_aims_are_judged_by_the_best_peer(module):
    layers, racing, report = module("layers"), module("racing"), module("report")
    problem = layers.Problem(layers.LAYERS[0], "filter_gradient", 1, "float32")

    def timing(seconds):
        return racing.Timing("ok", seconds=[seconds, 2 * seconds, 3 * seconds])

    timings = {"teachconv": timing(2.0), "torch": timing(4.0), "jax": timing(1.0), "numpy": timing(8.0)}
    timings["tensorflow"] = racing.Timing("wrong", "error 9 times its bound", seconds=[0.1])
    measured = [racing.Measurement(problem, 1, timings)]
    verdicts = {line[0]: line[1:] for line in report.judge_aims(measured, None)}
    assert verdicts["filter gradient: geometric mean"] == ["1.45", "0.50", "0.50", "1", "NOT met"]
    assert verdicts["against NumPy: worst layer"][1].startswith("4.00")
    assert verdicts["against NumPy: worst layer"][-1] == "met"
    assert not any("forward" in name or "float64" in name for name in verdicts)
    ((_, table),) = report.sections(measured)
    row = dict(zip(table[0], table[1], strict=True))
    assert row["fastest"] == "jax"
    assert row["tensorflow"] == "WRONG"
    assert len(report.notes(measured)) == 1


def test_a_page_opens_with_what_its_tables_say(module):
    layers, racing, report, in_short = (
        module("layers"),
        module("racing"),
        module("report"),
        module("in_short"),
    )
    speeds = {"forward": (1.0, 2.0), "filter_gradient": (1.0, 0.5)}  # seconds of ours, and of torch

    def measured(op, batch):
        ours, torch = (racing.Timing("ok", "", "row_gemm", [seconds]) for seconds in speeds[op])
        problem = layers.Problem(layers.LAYERS[0], op, batch, "float32")
        return racing.Measurement(problem, 1, {"teachconv": ours, "torch": torch})

    measurements = [measured(op, batch) for op in speeds for batch in (1, 8)]
    facts = {"command": "c", "date": "d", "machine": {"processor": "a processor"}, "ranks": [2]}
    peak = measurements[0].gflops("teachconv") / 0.42
    facts |= {"versions": {}, "ceilings": {"gemm float32 GFLOP/s": peak}, "call overhead, µs": 1}
    page = report.markdown_page(facts, measurements, None)
    lines, _, rest = page.partition(in_short.HEADING)[2].partition(in_short.BEHIND)
    assert "this processor, a processor, in float32" in lines
    assert "- ahead: forward, batch 1 (2.00); forward, batch 8 (2.00)\n" in lines
    assert "- behind: filter gradient, batch 1 (0.50); filter gradient, batch 8 (0.50)\n" in lines
    again = in_short.in_short(in_short.of_page(page), in_short.processor_of(page))
    assert again.partition(in_short.HEADING)[2].strip() == lines.strip()
    name = layers.LAYERS[0].name
    assert f"- filter gradient, float32: {name}, batch 1 (0.50); {name}, batch 8 (0.50)\n" in rest
    assert "- forward" not in rest
    head, _, row, *_ = page.partition("## Forward, float32, 1 thread\n\n")[2].splitlines()
    assert head.endswith("| % of the limit |")
    assert row.endswith("| 42 / 336 |")  # the operations of eight images in the time of one


def test_the_limit_is_that_of_as_many_threads_as_are_timed(module, monkeypatch, restored_affinity):
    machine, seen = module("machine"), set()

    def matmul(a, b, out):
        seen.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

    monkeypatch.setattr(np, "matmul", matmul)
    tc.set_num_threads(1)
    with threadpool_limits(2, user_api="blas"):
        machine.ceilings(8, 1)
    assert seen == {1}


DOCS = FOLDER.parent / "docs"


@pytest.mark.parametrize("name", ["cpu", "cpu_epyc", "ranks", "ranks_epyc", "plans", "gpu"])
def test_the_percents_of_a_page_are_those_of_its_numbers(name):
    """Up to the digits that are shown: 1.8 or 180 GFLOP/s may be 2 % away from what was measured."""
    page = (DOCS / f"benchmarks_{name}.md").read_text(encoding="utf-8")
    checked = 0
    for section in page.split("\n## "):
        words = [*section.partition("\n")[0].split(", "), "float32"]
        dtype = next(word for word in words if word in ("float32", "float64", "tf32", "float16"))
        rows = [line.split("|")[1:-1] for line in section.splitlines() if line.endswith(" |")]
        if not rows or rows[0][-1].strip() != "% of the limit":
            continue
        limit = r"with the ([\d.]+) of a large" if name == "plans" else rf" {dtype} GFLOP/s: (.*)"
        peak = float(re.search(limit, page)[1])
        ours = next(number for number, cell in enumerate(rows[0]) if cell.strip() in ("ours", "our plan"))
        for row in rows[2:]:
            for speed, percent in zip(row[ours].split("/"), row[-1].split("/"), strict=True):
                if speed.strip():
                    assert abs(100 * float(speed) / peak - float(percent)) <= 1 + 0.03 * float(percent)
                    checked += 1
    assert checked >= 45


PAGES = sorted((FOLDER.parent / "docs").glob("benchmarks_cpu*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_speed_of_the_documentation_is_read_from_its_pages(path, module):
    in_short = module("in_short")
    page = path.read_text(encoding="utf-8")
    ratios = in_short.of_page(page)
    assert len({ratio.op for ratio in ratios}) == 7
    assert {(ratio.dtype, ratio.batch) for ratio in ratios} >= {
        ("float32", 1),
        ("float32", 8),
        ("float64", 1),
    }
    assert in_short.processor_of(page)


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
    assert "| quick 3x3 8-16@14 | row_gemm |" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_plan_is_judged_by_the_best_engine_of_its_kind(module):
    layers, racing, plans = module("layers"), module("racing"), module("plans")

    def measurement(batch, **seconds):
        problem = layers.Problem(layers.LAYERS[4], "forward", batch, "float32")
        timings = {name: racing.Timing("ok", "", name, [time], 0.1) for name, time in seconds.items()}
        return racing.Measurement(problem, 1, timings)

    measured = [
        measurement(1, plan=1.0, fast_plan=0.5, onnxruntime=2.0, litert=3.0, ncnn=0.4),
        measurement(8, plan=1.0, fast_plan=0.5, onnxruntime=4.5, openvino=5.0),
    ]
    measured[0].timings["ncnn"].bound_fraction = 3.0
    first, second = plans.verdicts(measured)
    assert "geometric mean 3.00; of 2 layers and batches ahead in 2" in first
    assert first.endswith("behind in 0")
    assert "geometric mean 2.68; of 2 layers and batches ahead in 1" in second
    assert second.endswith(f"behind in 1: {layers.LAYERS[4].name}, batch 1 (0.80)")
    assert plans.aims(measured) == [
        "- our plan: geometric mean 3.00 (aim: 1.50, met)",
        "- fast plan: geometric mean 2.68 (aim: 1.30, met)",
    ]
    head, row, mean, worst = plans.table(measured, 2 * measured[0].gflops("plan"))
    assert row[-1] == "50 | 400"
    assert dict(zip(head, row, strict=True))["fast plan / best"] == "0.80 | 9.00"
    assert dict(zip(head, worst, strict=True))["our plan / best"] == "2.00 | 4.50"
    assert mean[0] == "geometric mean"
    said = plans.exactness(measured)
    assert [line.partition(":")[0] for line in said if "less exact" in line] == ["ncnn"]


def test_an_engine_that_transforms_is_judged_by_that_bound(module):
    layers, racing = module("layers"), module("racing")
    for text, allowed in (("9x8x6:3x3x8", True), ("9x8x6:3x3x8:s2", False)):
        problem = layers.Problem(layers.parse_shape(text), "forward", 1, "float32")
        truth = racing.Truth(problem, problem.arrays())
        rough = truth.want.astype(np.float32)
        rough[0, 1, 1, 1] += 2e-4
        assert "times its bound" in truth.judge(rough)[1]
        assert (truth.judge_transformed(rough) == "") is allowed
        rough[0, 1, 1, 1] += 1
        assert truth.judge_transformed(rough) != ""


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
    assert "| quick 3x3 8-16@14 |" in text
    assert "- BLAS: " in text


def test_other_bits_with_two_threads_are_not_timed(module, monkeypatch, capsys, two_processors):
    two_threads, real = module("two_threads"), tc.trace

    def other(*args, **options):
        return SimpleNamespace(result=real(*args, **options).result + np.float32(tc.get_num_threads() == 2))

    monkeypatch.setattr(tc, "trace", other)
    assert two_threads.main(["--quick", "--layers", "quick 3x3", "--seconds", "0.01"]) == 1
    assert "forward, quick 3x3 8-16@14, batch 1: other bits than with one thread" in capsys.readouterr().err


def test_the_product_of_a_call_has_its_multiply_adds(module, monkeypatch):
    two_threads, layers = module("two_threads"), module("layers")
    multiply_adds = []
    monkeypatch.setattr(np, "matmul", lambda a, b, out: multiply_adds.append(a.size * b.shape[1]))
    stem = layers.parse_shape("9x8x6:3x3x8:s2")
    for op in layers.OPS[:3]:
        two_threads.product_of(layers.Problem(stem, op, 2, "float32"))()
    assert multiply_adds == [2 * 5 * 4 * 54 * 8] * 3


def test_the_verdict_on_two_threads_is_that_of_the_means(module):
    two_threads, layers = module("two_threads"), module("layers")
    problems = [layers.Problem(layers.LAYERS[4], "forward", batch, "float32") for batch in (1, 8)]
    found = dict(zip(problems, [(1.0, 2.0), (1.44, 2.0)], strict=True))
    assert two_threads.verdict(found).endswith("1.20 times as fast as one, sgemm's 2.00 times: 0.60 of it")
    assert two_threads.aim(found) == "- 0.60 of sgemm's speed-up (aim: 0.9, NOT met)"
    assert two_threads.table(found)[-1] == ["geometric mean", "1.00 / 2.00", "1.44 / 2.00"]


# ---------------------------------------------------------------------------------------------
# benchmarks/reference.py
# ---------------------------------------------------------------------------------------------


def test_the_reference_is_validated_and_timed(module, capsys):
    module("reference").main(["--cells", "128", "--rounds", "1"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    table = [line for line in lines if line and line[0] in ("float32", "float64")]
    assert [line[1] for line in table] == ["9", "27", "288"] * 2
    assert all(float(ratio) > 0 for line in table for ratio in line[2:])


def test_a_wrong_reference_is_not_timed(module, monkeypatch):
    benchmark = module("reference")
    monkeypatch.setattr(benchmark, "round_sum", lambda terms, dtype: 0.5)
    with pytest.raises(SystemExit, match="9 terms, float32"):
        benchmark.main(["--cells", "128", "--rounds", "1"])


# ---------------------------------------------------------------------------------------------
# benchmarks/train.py
# ---------------------------------------------------------------------------------------------


def test_train_times_steps():
    command = [sys.executable, str(FOLDER / "train.py"), "--quick", "--networks", "digits"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    name, milliseconds, aim = done.stdout.splitlines()[-1].strip("| ").split(" | ")
    assert name == "digits"
    assert float(milliseconds) > 0
    assert float(aim) == 0.7


def test_train_times_nothing_whose_losses_differ(module, monkeypatch):
    train = module("train")

    class Competitor:
        def __init__(self, name, network, python):
            self.hello = {"losses": [2.3, 2.2 if name == "pytorch" else 2.1, 2.0], "versions": {}}

        def run(self, steps):
            raise AssertionError("timed before it was validated")

        def stop(self):
            pass

    monkeypatch.setattr(train, "Competitor", Competitor)
    options = SimpleNamespace(peer_python="python", rounds=1, steps=1)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        train.race("digits", ["teachconv", "pytorch"], options)


# ---------------------------------------------------------------------------------------------
# benchmarks/gpu.py, on a stand-in for CuPy
# ---------------------------------------------------------------------------------------------


def test_gpu_says_why_nothing_was_measured(module, capsys):
    if not (why := why_not("cupy")):
        pytest.skip("there is a GPU")
    assert module("gpu").main(["--quick"]) == 2
    assert capsys.readouterr().err.strip() == f"nothing was measured: {why}"


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
    assert page.count("| % of the limit |") == page.count("| layer |") > 0


def test_gpu_finds_wrong_results(module, stand_in, monkeypatch):
    gpu, layers = module("gpu"), module("layers")

    class Wrong:
        def prepare(self, problem, arrays):
            return lambda: np.ones(problem.shapes["dy"], "float32"), lambda y: y, ""

    monkeypatch.setattr(gpu, "competitors", lambda *given: {"teachconv": Wrong()})
    problem = layers.Problem(layers.QUICK_LAYERS[0], "forward", 2, "float32")
    measured = gpu.measure(stand_in, None, gpu.MODES[0], problem, 2, False)
    assert measured.timings["teachconv"].status == "wrong"
    assert "times its bound" in measured.timings["teachconv"].note
