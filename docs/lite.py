"""Notebooks and answers that run in the reader's browser: JupyterLite with Pyodide, in the folder ``lite/``.

Here is what goes into the site, and the line on each page that leads there. (jupyterlite-sphinx would give
every page a style sheet that asks another host for a font.) The wheel of teachconv is part of it, pure
Python: there is no C compiler in a browser.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook

HERE = Path(__file__).parent
INSTALL = """# from this site, into this browser: half a minute the first time
%pip install -q teachconv matplotlib pillow"""


def write(folder: Path, pyodide: str, wheels: list[Path] = ()) -> None:
    """Write everything that the site is built from: contents, wheel, settings.

    Args:
        folder: a folder of generated files.
        pyodide: the address of ``pyodide.js``, absolute or below the site.
        wheels: more files for the site; what is not there a reader's browser gets from PyPI.
    """
    contents = folder / "contents"
    (contents / "answers").mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\[([^][]*)\]\(\.\./docs/[^)]*\)", r"\1", text)  # JupyterLite has no other pages
        _write_notebook(contents / path.name, nbformat.reads(text, 4))
    for path in sorted((HERE.parent / "notebooks" / "answers").glob("*.py")):  # what %load reads
        (contents / "answers" / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    for path in (HERE.parent / "examples").glob("*.py"):  # modules that notebooks import
        (contents / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    for path in answers():
        _write_notebook(contents / f"{path.stem}.ipynb", as_notebook(path.read_text(encoding="utf-8")))
    wheel = _wheel(folder / "wheels")
    settings = {
        "PipliteAddon": {"piplite_urls": [str(path) for path in (wheel, *wheels)]},
        "LiteBuildConfig": {"no_sourcemaps": True},
    }
    (folder / "jupyter_lite_config.json").write_text(json.dumps(settings, indent=1))
    kernel = {"pyodideUrl": pyodide, "loadPyodideOptions": {"packages": ["numpy", "scipy", "threadpoolctl"]}}
    plugins = {"@jupyterlite/pyodide-kernel-extension:kernel": kernel}
    data = {"litePluginSettings": plugins, "exposeAppInBrowser": True}  # a test drives the app
    site = {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}
    (folder / "jupyter-lite.json").write_text(json.dumps(site, indent=1))


def build(folder: Path, site: Path) -> None:
    """Build the site of what `write` wrote."""
    command = [sys.executable, "-m", "jupyter", "lite", "build", "--config", "jupyter_lite_config.json"]
    options = ["--contents", "contents", "--output-dir", str(site), "--apps", "notebooks"]
    subprocess.run([*command, *options], cwd=folder, check=True, capture_output=True)


def build_beside_the_pages(app, error):
    """Build the site when Sphinx has written the pages."""
    if error is None and app.builder.name == "html":
        build(HERE / "_generated" / "lite", Path(app.outdir) / "lite")


def answers() -> list[Path]:
    """Return the pages of answers that have code."""
    return [path for path in sorted((HERE / "answers").glob("*.md")) if _has_code(path)]


def _has_code(path: Path) -> bool:
    return path.exists() and "```{code-cell}" in path.read_text(encoding="utf-8")


def as_notebook(text: str) -> nbformat.NotebookNode:
    r"""Return a page as a notebook: its code, and its text without what only Sphinx understands.

    >>> page = "---\nfile_format: mystnb\n---\n# A {term}`page`\n\n[see](b.md)\n\n```{code-cell}\n1\n```\n"
    >>> [cell.source for cell in as_notebook(page).cells]
    ['# A page\n\nsee', '1']
    """
    notebook = read_myst_markdown_notebook(text)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            plain = re.sub(r"^(`{3,}|:{3,})\{.*?^\1$\n?", "", cell.source, flags=re.MULTILINE | re.DOTALL)
            plain = re.sub(r"\{[\w:]+\}`([^`<]*?)(?: *<[^`]*>)?`", r"\1", plain)
            cell.source = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", plain).strip()
    notebook.cells = [cell for cell in notebook.cells if cell.source]
    return notebook


def _write_notebook(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Write a notebook that first installs the library, and names the kernel of the browser."""
    needs_more = any("sklearn" in cell.source for cell in notebook.cells)
    first = nbformat.v4.new_code_cell(INSTALL + " scikit-learn" * needs_more, id="install")
    cells = [first, *notebook.cells]
    for number, cell in enumerate(cells):
        cell.id = cell.get("id", f"cell-{number}")
    metadata = {"kernelspec": {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)


def _wheel(folder: Path) -> Path:
    """Return a wheel of teachconv without the extension."""
    for old in folder.glob("*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "setup.py", "-q", "egg_info", "-e", work, "build", "-b", work]
        command += ["bdist_wheel", "--bdist-dir", f"{work}/wheel", "-d", str(folder)]
        environment = os.environ | {"TEACHCONV_NO_CYTHON": "1"}
        subprocess.run(command, cwd=HERE.parent, env=environment, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def lead_there(app, page, template, context, doctree):
    """Add a line below the title of a page that can be tried in the browser."""
    place, _, name = page.partition("/")
    notebook = place == "learn" and (HERE.parent / "notebooks" / f"{name}.ipynb").exists()
    if notebook or (place == "answers" and _has_code(HERE / f"{page}.md")):
        address = f"../lite/notebooks/index.html?path={name}.ipynb"
        line = f'<p class="try-it"><a href="{address}">Try it in your browser</a>: nothing to install</p>'
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{line}", 1)
