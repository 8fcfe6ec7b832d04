"""The plans that the real cuDNN makes for a description of an H100, with no GPU and no driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cuda_host import COMPILER

TESTS = Path(__file__).parents[1]
pytest.importorskip("cudnn", reason="needs nvidia-cudnn-frontend: pip install teachconv[cudnn]")


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """The plans by kind, layer, dtype and precision."""
    if sys.platform != "linux" or not COMPILER:
        pytest.skip("needs Linux and a C compiler, for a library in the driver's place")
    folder = tmp_path_factory.mktemp("driver")
    source, target = TESTS / "cuda" / "no_driver.c", folder / "libcuda.so.1"
    subprocess.run([COMPILER, "-x", "c", "-fPIC", "-shared", "-o", target, source], check=True)
    places = {
        "LD_LIBRARY_PATH": [folder, os.environ.get("LD_LIBRARY_PATH")],
        "PYTHONPATH": [TESTS.parent, os.environ.get("PYTHONPATH")],
    }
    first = {name: os.pathsep.join(map(str, filter(None, folders))) for name, folders in places.items()}
    command = [sys.executable, str(TESTS.parent / "tools" / "cudnn_plans.py")]
    done = subprocess.run(command, env=os.environ | first, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return {(one["kind"], one["layer"], one["dtype"], one["precision"]): one for one in found}


def test_every_call_has_a_plan(plans):
    """Three kinds of ten layers in seven modes, and two kinds with a bias; cuDNN pads unevenly itself, and crops never."""
    assert len(plans) == 3 * 10 * 7 + 2 * 7
    for (kind, layer, *_), one in plans.items():
        assert one["engine"].startswith("eng")
        words = [why for why in one["copies"] if "padding" in why]
        assert len(words) == (layer == "cropped"), one
        last = "add_splits" in one["launches"]
        assert last == ("bias" in layer and kind == "conv2d_backprop_input")


def test_the_precision_bars_engines_of_the_real_library(plans):
    """On an H100 the fast engines of these layers multiply on tensor cores."""
    for kind in ("conv2d", "conv2d_backprop_input", "conv2d_backprop_filter"):
        for layer in ("3x3", "1x1", "dilation 2"):
            default, tf32, strict = (
                plans[kind, layer, "float32", p]["engine"] for p in (None, "tf32", "strict")
            )
            assert tf32 not in (default, strict)
            half, strict = (plans[kind, layer, "float16", p]["engine"] for p in (None, "strict"))
            assert half != strict


def test_half_types_are_widened_where_cudnn_adds_no_bias(plans):
    for dtype, count in (("float16", 2), ("bfloat16", 2), ("float32", 0), ("float64", 0)):
        one = plans["conv2d_backprop_input", "3x3, bias and relu", dtype, None]
        assert one["launches"] == ["to_groups"] * count + ["add_splits"]
        assert plans["conv2d", "3x3, bias and relu", dtype, None]["launches"] == []
