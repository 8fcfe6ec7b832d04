"""A backend of a reader's own: one file, one line in the table, its name for type checkers; no more."""

import shutil
import subprocess
import sys
from pathlib import Path

import own_backend
import pytest

import teachconv as tc
from teachconv.backends import TABLE
from teachconv.core.dtypes import FLOATS, INTEGERS

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "*-pytest-*.pyc", "_build", "_generated", "build", "*.egg-info")
# what has nothing to do with the table of backends, and takes long
SUITE_WITHOUT = [
    *("backends/test_cuda_arithmetic.py", "backends/test_cuda_sources.py", "backends/test_cupy.py"),
    *("backends/test_engine.py", "backends/test_engine_threads.py", "backends/test_reference.py"),
    *("backends/test_winograd.py", "backends/test_play.py"),
    *("graph/test_gradients.py", "graph/test_op_values.py", "graph/test_tape.py"),
    *("keras_models", "tf", "hostile", "cuda", "dialects", "translation"),
    *("peers", "test_benchmarks.py", "test_new_backend.py", "test_notebooks.py"),
]


@pytest.mark.slow
def test_it_keeps_the_contract():
    report = tc.check_backend(own_backend, thorough=True)
    assert report.passed, [row.name for row in report.rows if row.passed is False]
    words = {word for row in report.rows for word in row.name.replace(",", "").split()}
    assert words >= {*FLOATS, *INTEGERS}


@pytest.fixture
def tree(tmp_path):
    """A copy of the project with the new backend in it, as CONTRIBUTING says."""
    shutil.copytree(ROOT, tmp_path / "tree", ignore=LEFT_OUT)
    package = tmp_path / "tree" / "teachconv"
    shutil.copy(own_backend.__file__, package / "backends" / "own_backend.py")
    line = f'    "numpy": "{TABLE["numpy"]}",\n'
    own = '    "own": "teachconv.backends.own_backend",\n'
    replace(package / "backends" / "__init__.py", line, own + line)
    replace(
        package / "support" / "argument_types.py", '"reference", "numpy",', '"reference", "own", "numpy",'
    )
    return tmp_path / "tree"


def replace(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def run(tree, *arguments):
    environment = {"PYTHONPATH": f"{tree}:{tree / 'tests'}", "PATH": "/usr/bin:/bin", "HOME": str(tree)}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=tree, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_the_command_line_knows_it(tree):
    assert "own " in run(tree, "-m", "teachconv", "backends")
    call = ["conv2d", "--input", "1,8,8,2", "--filters", "3,3,2,4", "--padding", "SAME"]
    assert "own      products   pass" in run(tree, "-m", "teachconv", "diff", *call)
    assert "conv2d on backend own" in run(tree, "-m", "teachconv", "trace", *call, "--backend", "own")
    assert "own" in run(tree, "-m", "teachconv", "trace", "--help")


@pytest.mark.slow  # make docs runs them on our own backends
def test_the_docs_tables_know_it(tree):
    # the page is checked against the code: the new kernel label appears where the page lists them
    run(tree, "docs/graph_tables.py")
    run(tree, "-c", "import sys; sys.path.insert(0, 'docs'); import dialect_map; dialect_map.write()")


@pytest.mark.slow
@pytest.mark.release
def test_the_suite_passes_with_it(tree):
    left_out = [f"--ignore=tests/{name}" for name in SUITE_WITHOUT]
    two_workers = ["-n", "2", "--dist", "loadgroup"]
    options = ["-q", "-x", "-m", "not slow and not browser", "-p", "no:cacheprovider", *two_workers]
    printed = run(tree, "-m", "pytest", *options, *left_out)
    assert " passed" in printed
