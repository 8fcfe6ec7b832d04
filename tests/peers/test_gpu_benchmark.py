"""The peer path of benchmarks/gpu.py, with PyTorch on the CPU in cuDNN's place and the stand-in in CuPy's."""

import csv
import importlib
import sys
from pathlib import Path

import pytest

import teachconv as tc

torch = pytest.importorskip("torch")
BENCHMARKS = Path(tc.__file__).parents[1] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "peers", raising=False)  # pytest has put this folder there
    module = importlib.import_module("gpu")
    monkeypatch.setattr(module.Cudnn, "device", "cpu")
    monkeypatch.setattr(module, "cudnn_missing", lambda: "")
    yield module
    for name in ("gpu", "peers", "racing", "report", "layers", "machine", "cpu"):
        sys.modules.pop(name, None)


def test_every_problem_has_its_peers(gpu, stand_in, tmp_path):
    arguments = ["--quick", "--modes", "float32,tf32", "--output", str(tmp_path)]
    assert gpu.main(arguments) == 0
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    peers = [line for line in lines if line["competitor"].startswith("cudnn")]
    assert {line["competitor"] for line in peers} == {"cudnn", "cudnn_channels_last"}
    assert {line["status"] for line in peers} == {"ok"}
    assert len(peers) == 2 * len([line for line in lines if line["competitor"] == "teachconv"])
    assert torch.is_grad_enabled()  # a benchmark leaves the process as it was: other tests train with PyTorch


def test_a_less_exact_peer_is_timed_and_flagged(gpu, stand_in, monkeypatch):
    prepare = gpu.Cudnn.prepare

    def less_exact(self, problem, arrays):
        run, restore, algorithm = prepare(self, problem, arrays)
        return run, lambda y: restore(y) * (1 + self.error), algorithm

    monkeypatch.setattr(gpu.Cudnn, "prepare", less_exact)
    problem = gpu.Problem(gpu.QUICK_LAYERS[0], "filter_gradient", 2, "float32")
    clock = gpu.Clock(stand_in, 1 << 10)
    for error, status in ((1e-4, "ok"), (0.1, "wrong")):
        monkeypatch.setattr(gpu.Cudnn, "error", error, raising=False)
        measured = gpu.measure(stand_in, clock, gpu.MODES[0], problem, 1, False)
        timing = measured.timings["cudnn"]
        assert timing.status == status
        assert ("less exact" in timing.note) is (status == "ok")
        assert bool(timing.seconds) is (status == "ok")
