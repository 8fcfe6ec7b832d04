"""Notebooks in a real JupyterLab and Notebook 7: the pictures work in their outputs and follow their theme.

Both are in the extra ``notebooks``; a test is skipped where its program is not installed.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from browser import Page, chromium, needs_browser

from teachconv.support import palette

pytestmark = [
    needs_browser,
    pytest.mark.slow,
]

# the module of each program, and the address of a notebook in it
PROGRAMS = {"jupyterlab": "lab/tree", "notebook": "notebooks"}

CELLS = (
    "import numpy as np, teachconv as tc\n"
    "x = np.arange(25, dtype='float32').reshape(1, 5, 5, 1)\n"
    "tc.explore(tc.conv2d, x, np.ones((3, 3, 1, 1), 'float32'), 2, 'SAME')",
    "tc.explain(tc.conv2d, x, np.ones((3, 3, 1, 1), 'float32'), 2, 'SAME', at=(0, 0, 0, 0))",
)
PAPER = [
    "rgb({}, {}, {})".format(*(int(value[i : i + 2], 16) for i in (1, 3, 5)))
    for value in palette.COLOURS["paper"]
]

GROUND = "return getComputedStyle(document.body).backgroundColor"
FILL = "return getComputedStyle(document.querySelector('.jp-OutputArea .tc-picture > rect')).fill"


def executed(path, environment):
    """Write a notebook whose cells have run, and trust it, as one's own notebooks are."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    NotebookClient(notebook, timeout=120).execute()
    nbformat.write(notebook, path)
    command = [sys.executable, "-m", "jupyter", "trust", str(path)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request, tmp_path_factory):
    """A running JupyterLab or Notebook, which serves on this machine alone: its name, and an executed notebook."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed: pip install {request.param}")
    home = tmp_path_factory.mktemp(request.param)
    folders = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    environment = os.environ | folders | {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
    (home / "work").mkdir()
    executed(home / "work" / "page.ipynb", environment)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    options = {
        "ip": "127.0.0.1",
        "port": port,
        "token": "",
        "password": "",
        "open_browser": False,
        "allow_root": True,
        "root_dir": str(home / "work"),
    }
    command = [sys.executable, "-m", request.param, "--expose-app-in-browser", "--LabApp.news_url="]
    command += [f"--ServerApp.{name}={value}" for name, value in options.items()]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5)
                    break
                except OSError:
                    assert time.monotonic() < deadline, (home / "log").read_text()
                    time.sleep(0.2)
            yield request.param, f"http://127.0.0.1:{port}/{PROGRAMS[request.param]}/page.ipynb"
        finally:
            server.terminate()
            server.wait(20)


def until(ask, seconds=60):
    """Wait until the answer is not empty; an output may be drawn again while we look at it."""
    from selenium.common.exceptions import WebDriverException

    deadline = time.monotonic() + seconds
    while True:
        try:
            if found := ask():
                return found
        except WebDriverException:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.1)


class Address:
    """What a `Page` opens, if it is no file."""

    def __init__(self, address):
        self.address = address

    def as_uri(self):
        return self.address


def test_the_outputs_follow_the_theme(program):
    name, address = program
    with chromium() as driver:
        online = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", online)
        page = Page(driver, Address(address), width=1400, height=1000, dark=False)
        until(lambda: page.all(".jp-OutputArea iframe"))

        def in_the_frame(script):
            driver.switch_to.frame(page.all(".jp-OutputArea iframe")[0])
            try:
                return page.run(script)
            finally:
                driver.switch_to.default_content()

        until(lambda: in_the_frame("return document.querySelector('.headline output')"))
        for dark, theme in ((0, "JupyterLab Light"), (1, "JupyterLab Dark"), (0, "JupyterLab Light")):
            page.run(
                "return jupyterapp.commands.execute('apputils:change-theme', { theme: arguments[0] }).then(() => 1)",
                theme,
            )
            until(lambda dark=dark: in_the_frame(GROUND) == PAPER[dark])
            until(lambda dark=dark: page.run(FILL) == PAPER[dark])
            if folder := os.environ.get("TEACHCONV_SCREENSHOTS"):
                driver.save_screenshot(f"{folder}/{name}-{theme.rpartition(' ')[2]}.png")
        # the keys of the explorer stay in its frame
        seen = in_the_frame(
            "document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));"  # it moves until then
            'document.querySelector(\'.stage .grid:nth-of-type(3) [data-row="1"][data-col="1"]\').click();'
            "return document.querySelector('.headline').textContent"
        )
        assert seen == "output[0, 1, 1, 0] = 108"
        ours = [text for text in page.complaints() if "srcdoc" in text or "teachconv" in text]
        assert ours == []
