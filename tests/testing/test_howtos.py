"""The pages that say how to check a kernel: every block of Python runs, with stand-ins where a GPU is needed."""

import contextlib
import ctypes
import io
import re
import shutil
import sys
from pathlib import Path

import pytest
from cuda_host import COMPILER, FLAGS, SHIM, build, build_shim
from fake_cupy import RawKernel, fake_cupy

PAGES = Path(__file__).parents[2] / "docs" / "howto"
WITHOUT_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def python_blocks(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return [found[1] for found in re.finditer(r"^```(?:\{code-cell\}|python)\n((?:.*\n)*?)```$", text, re.M)]


@pytest.fixture
def stand_ins(kernel_folder, monkeypatch):
    """CuPy, whose kernels run on the host."""
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    cupy = fake_cupy(kernel_folder)["cupy"]

    def raw_kernel(source, name):
        text = f'#include "{SHIM}"\n{source}\nEXPORT({name})\n'
        made = build(kernel_folder, "howto.so", text, [*FLAGS, "-nodefaultlibs"], [build_shim(kernel_folder)])
        return RawKernel(getattr(ctypes.CDLL(str(made)), f"launch_{name}"))

    cupy.RawKernel = raw_kernel
    monkeypatch.setitem(sys.modules, "cupy", cupy)


@pytest.fixture
def path(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


def run(blocks, names):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in blocks:
            exec(compile(block, "page", "exec"), names)
    return printed.getvalue()


def test_any_kernel(stand_ins, path):
    blocks = [block for block in python_blocks("check_any_kernel") if "import torch" not in block]
    assert len(blocks) == 7
    names = {"__name__": "page"}
    printed = run(blocks, names).split("\n")
    assert re.match(r"\d+ pass, \d+ not run \(.*no parameter for groups", printed[0] + printed[1])
    assert "the filter is not square" in " ".join(printed)
    assert "student, stride 1: passes" in printed
    assert "rounding(last shift): equal when" in " ".join(printed)
    assert any(line.startswith("student, stride 2: ") and "passes" not in line for line in printed)
    assert (
        "other, stride 1: another process cannot import it: raised EOFError: EOF when reading a line"
        in printed
    )
    names["test_fuzz"]()


def test_triton_on_tensors(path):
    torch = pytest.importorskip("torch")
    blocks = python_blocks("check_any_kernel")
    names = {"__name__": "page", "device": "cpu"}
    names["triton_conv"] = lambda x, w, stride, padding: torch.nn.functional.conv2d(
        x, w, None, stride, padding
    )
    run([blocks[0], *(block for block in blocks if "import torch" in block)], names)


@WITHOUT_NODE
def test_a_program():
    printed = run(python_blocks("check_a_program"), {"__name__": "page"})
    assert re.search(r"pass.*on conv against the reference.*\n.*pass.*on node against the reference", printed)
    assert "nothing was compared, 12 not run (12: no result)" in printed
