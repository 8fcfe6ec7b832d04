"""The pages about porting run in the real frameworks: their cells, and the blocks that Sphinx does not run."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {  # the modules that its blocks import
    "howto/port_to_tflite": ("tensorflow", "torch", "ai_edge_litert"),
    "howto/port_from_tensorflow_1": ("tensorflow", "torch", "ai_edge_litert"),
}


@pytest.mark.filterwarnings("ignore:Statistics for quantized inputs:UserWarning")  # TensorFlow's own
@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(page, tmp_path, monkeypatch):
    for module in PAGES[page]:
        pytest.importorskip(module)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|\{code-cell\})\n((?:.*\n)*?)```$", text, re.MULTILINE)
    assert any("assert " in block for block in blocks)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
