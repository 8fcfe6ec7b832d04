"""Notebooks run from top to bottom; the assertions inside them hold.

Two of them run here, as a reader runs them. The build of the documentation runs all, and fails where one raises.
"""

import base64
import gc
import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import mostly_slow

import teachconv as tc
from teachconv import exercises

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
INDEX = Path(__file__).parents[1] / "docs" / "learn" / "index.md"
sys.path.append(str(INDEX.parents[1]))  # for notebook_copies
# The most memory that a kernel has held, in MB, where Linux says so. VmHWM is of this program alone: ru_maxrss
# begins with what the process held that started it.
PEAK = """from pathlib import Path
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
print(next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0))"""


def parsed(text):
    """The notebook of a file's text."""
    import nbformat  # takes seconds, which only the worker that runs these tests is to spend

    return nbformat.reads(text, as_version=4)


def read(path):
    return parsed(path.read_text(encoding="utf-8"))


def with_answers(path):
    """A notebook as the pages have it, with an answer in each cell that is the reader's."""
    pytest.importorskip("yaml", reason="the documentation reads CITATION.cff")
    copies = importlib.import_module("notebook_copies")
    return parsed(copies.with_answers(path.read_text(encoding="utf-8"), path.parent))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_listed_and_carries_one_picture(path):
    """A page of the repository shows it; recorders/record_notebook_pictures.py draws it."""
    notebook = read(path)
    ((cell, output),) = ((cell, output) for cell in notebook.cells for output in cell.get("outputs", []))
    assert "cover" in cell.metadata["tags"]
    assert output.data["text/plain"] == cell.metadata["mystnb"]["image"]["alt"]
    picture = base64.b64decode(output.data["image/png"])  # JupyterLab shows no SVG of others
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 40_000
    assert not [cell for cell in notebook.cells if cell.get("execution_count")]
    assert f"\n{path.stem}\n" in INDEX.read_text(encoding="utf-8")
    answers = [
        cell.source for cell in with_answers(path).cells if "hide-cell" in cell.metadata.get("tags", [])
    ]
    assert any("assert " in answer for answer in answers)
    assert not [
        cell for cell in notebook.cells if "hide-cell" in cell.metadata.get("tags", [])
    ]  # those stand open


def test_every_answer_belongs_to_a_cell():
    """Those of puzzles also stand on their page, and the cell checks what the reader writes."""
    shown = {}
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            for name in re.findall(r"%load answers/(\w+)\.py", cell.source):
                assert "# your answer" in cell.source
                shown[name] = cell.source
    files = {path.stem for path in (NOTEBOOKS[0].parent / "answers").glob("*.py")}
    puzzles = {*exercises.puzzles().names}
    assert shown.keys() | puzzles == files
    for name in puzzles & shown.keys():
        assert exercises.puzzles()[name].signature in shown[name]
        assert f'ex.check("{name}", {name})' in shown[name]


def test_the_pages_count_the_notebooks():
    words = ["eighteen", "nineteen", "twenty", "twenty-one", "twenty-two"]
    word = words[len(NOTEBOOKS) - 18]
    for page in (INDEX.parents[1] / "index.md", INDEX.parents[2] / "README.md"):
        assert f"{word} notebooks" in page.read_text(encoding="utf-8").lower()


def test_the_notebooks_to_start_with_need_no_other():
    """What the pages recommend first includes all that each of these needs, by the table for teachers."""
    page = INDEX.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) [^|]*\| ([^|]*) \| (\d+) \|", page, re.MULTILINE)
    needs = {number: set(re.findall(r"\d+", it)) for number, it, _ in rows}
    assert [*needs] == [str(number) for number in range(len(NOTEBOOKS))]
    for path, (_, _, minutes) in zip(NOTEBOOKS, rows, strict=True):  # the table says what the notebooks say
        ((named, time),) = re.findall(r"You need: (.*?) Time: (\d+) minutes", read(path).cells[0].source)
        assert time == minutes
        linked = {str(int(number)) for number in re.findall(r"\]\((\d\d)_", named)}
        assert needs[str(int(path.name[:2]))] <= linked | {"0"}, path.name
    readme = (INDEX.parents[2] / "README.md").read_text(encoding="utf-8")
    (on_page,) = re.findall(r"Start with notebooks ([\d, and]+)\*\*", page)
    (on_readme,) = re.findall(r"begin with ([\d, and]+)\n", readme)
    for listed in (on_page, on_readme):
        first = [str(int(number)) for number in re.findall(r"\d+", listed)]
        for place, number in enumerate(first):
            assert needs[number] <= set(first[:place]), (
                f"{number} needs {needs[number]}; before it: {first[:place]}"
            )
    assert re.findall(r"\d+", on_page) == [str(int(number)) for number in re.findall(r"\d+", on_readme)]


def test_the_extra_installs_what_the_notebooks_import():
    """All that they import at the top of a cell; CuPy stands behind a condition."""
    project = tomllib.loads((INDEX.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = " ".join(project["optional-dependencies"]["notebooks"])
    code = [cell.source for path in NOTEBOOKS for cell in read(path).cells if cell.cell_type == "code"]
    imported = {
        name for source in code for name in re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE)
    }
    brings = {
        "matplotlib": "teachconv[plot",
        "PIL": "teachconv[plot",
        "dask": ",dask]",
        "sklearn": "scikit-learn",
        "IPython": "ipykernel",
    }
    own = {"teachconv", "numpy", "scipy", "photo_network", "digits_network", "eight_bugs", "cuda_host"}
    assert {"matplotlib", "dask", "sklearn"} <= imported - sys.stdlib_module_names - own <= brings.keys()
    assert all(words in extra for words in brings.values())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_leads_back_and_forth(path):
    """Each names the one that it needs, the next one, and pages that go further."""
    cells = read(path).cells
    links = [re.findall(r"\]\((\d\d_\w+\.ipynb)\)", cell.source) for cell in (cells[0], cells[-1])]
    before, after = [name for name in links[0] if name < path.name], path.name
    assert before or path == NOTEBOOKS[0]
    later = [one.name for one in NOTEBOOKS if one.name > after][:1] or [NOTEBOOKS[0].name]
    assert links[1] == later
    further = re.findall(r"\]\((\.\./docs/[^)]*\.md)\)", cells[-1].source)
    assert further
    assert all((path.parent / page).is_file() for page in further)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")  # of the Jupyter stack
@pytest.mark.parametrize(
    "path",
    mostly_slow([path for path in NOTEBOOKS if path.stem[:2] in ("01", "14")], NOTEBOOKS[0]),
    ids=lambda path: path.stem,
)
def test_notebook_runs(path, tmp_path, monkeypatch):
    from nbclient import NotebookClient
    from nbformat import v4

    examples, before = str(path.parents[1] / "examples"), os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [examples, before])))
    notebook = with_answers(path)
    notebook.cells.append(v4.new_code_cell(PEAK))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    teach = (INDEX.parents[1] / "teach" / "index.md").read_text(encoding="utf-8")
    (most,) = re.findall(r"in the plan stays below (\d+) MB", teach)
    assert int(notebook.cells.pop().outputs[0].text) < int(most)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(
        "image/svg+xml" in out.get("data", {}) or "<svg" in str(out) for cell in code for out in cell.outputs
    )


def test_the_memory_of_a_notebook_is_not_that_of_the_process_that_started_it():
    held = np.ones(300 << 17)  # 300 MB that pages of memory stand behind
    ran = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < held.nbytes >> 21


def test_the_notebook_that_looks_for_the_loop_shows_it_and_steps_there(capsys):
    path = next(path for path in NOTEBOOKS if path.stem[:2] == "14")
    first, *others = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
    space = {}
    exec(first, space)
    assert first.count("conv2d") == 1
    assert 8 <= len(capsys.readouterr().out.splitlines()) <= 15
    last = next(number for number, source in enumerate(others) if "pdb.Pdb(" in source)
    gc.disable()  # hypothesis calls a function at each collection, where the debugger would stop, too
    try:
        for source in others[: last + 1]:
            exec(source, space)
    finally:
        gc.enable()
    session = capsys.readouterr().out
    way = ["session.py", "executor.py", "conv_ops.py", "dispatch.py", "reference.py"]
    stack = session[session.index("(Pdb) where") : session.index("(Pdb) p (n")]
    assert list(dict.fromkeys(name for name in re.findall(r"(\w+\.py)\(", stack) if name in way)) == way
    assert len(re.findall(r"^. \w+\.py\(", stack, re.MULTILINE)) <= 15
    # image[0, 0, 0, 0] to [0, 1, 1, 0] are 0 1 | 1 2, and the filter has ones alone
    assert "(Pdb) p x[n, *in_indices, in_channel], w[*taps, i, o]\n(2.0, 1.0)\n" in session
    assert "(Pdb) p terms\n[0.0, 1.0, 1.0, 2.0]\n" in session
    assert not re.search(r"[/\\]\w+\.py", session)


def test_the_notebook_on_a_gpu_uses_one_that_is_there(stand_in, monkeypatch, capsys):
    """Its cells that need a GPU, on the stand-in for CuPy, which times one rung on a smaller layer."""
    path = next(path for path in NOTEBOOKS if path.stem[:2] == "18")
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(sys, "path", sys.path[:])  # the notebook adds tests/
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    space = {}
    for cell in read(path).cells:
        if cell.cell_type != "code" or "COMPILER" in cell.source:
            continue
        if "autotune" in cell.source:
            space["layer"] = tc.conv2d_geometry((1, 4, 4, 8), (3, 3, 8, 8), 1, "SAME")
        one_rung = 'backends=["cupy"], algorithm="direct", rounds=1'
        exec(cell.source.replace('backends=["cupy"]', one_rung), space)
    shown = capsys.readouterr().out
    assert shown.startswith("There is a GPU here.\n")
    assert "There is no GPU" not in shown
    assert "launch pipelined_gemm" in shown
    assert "µs on the device" in shown
    assert "\ncupy     direct " in shown


@pytest.mark.parametrize(
    ("address", "has_badge"),
    [("", False), ("https://example.org/us/teachconv", False), ("https://github.com/us/teachconv.git", True)],
)
def test_a_badge_is_shown_where_the_repository_has_an_address(address, has_badge, monkeypatch):
    pytest.importorskip("yaml", reason="the documentation reads CITATION.cff")
    notebook_copies = importlib.import_module("notebook_copies")
    path = NOTEBOOKS[6]
    text = path.read_text(encoding="utf-8")
    made = notebook_copies.with_badge(text, path.name, address)
    before, after = (parsed(one).cells for one in (text, made))
    assert before[1:] == after[1:]
    if not has_badge:
        assert made == text
        return
    title, line = after[0].source.split("\n\n")[:2]
    assert title == before[0].source.split("\n")[0]
    assert f"/github/us/teachconv/blob/main/notebooks/{path.name})" in line
    picture = re.search(r"!\[Open in Colab\]\(\.\./(\S+?)\)", line)[1]
    assert (INDEX.parents[1] / picture).is_file()
