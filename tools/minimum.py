"""Build and test with the oldest versions of NumPy, SciPy, threadpoolctl and Cython that pyproject.toml claims.

Usage: python tools/minimum.py [PYTEST ARGUMENTS], by default the tests of the parts that use them. It makes
build/minimum, an environment of its own; the versions are read from pyproject.toml.
"""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "minimum"
TESTS = [
    "tests/test_arguments.py", "tests/test_geometry.py", "tests/test_settings.py", "tests/test_pickling.py",
    "tests/test_state.py", "tests/test_tables.py", "tests/backends/test_backends.py", "tests/backends/test_engine.py",
    "tests/backends/test_reference.py",
]  # fmt: skip


def lower_bounds():
    """Return each requirement with its lower bound as its version: "numpy==1.26"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [line for line in project["build-system"]["requires"] if line.startswith("cython")]
    found = [
        re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in (*project["project"]["dependencies"], *needed)
    ]
    assert all(found), f"a dependency without a lower bound: {project['project']['dependencies']}"
    return [f"{one[1]}=={one[2]}.*" for one in found if one]


def oldest(requirement):
    """Return the first release of a series, as the lower bound means it: "numpy==1.26.0"."""
    name, _, version = requirement.removesuffix(".*").partition("==")
    return f"{name}=={version}.0" if version.count(".") < 2 else requirement


def main():
    """Make the environment, build, test."""
    venv.create(FOLDER / "venv", with_pip=True, clear=True)
    python = str(FOLDER / "venv" / "bin" / "python")
    versions = [oldest(requirement) for requirement in lower_bounds()]
    tests = ["setuptools>=77", "pytest", "pytest-xdist", "hypothesis", "ml_dtypes>=0.5"]
    run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *versions, *tests])
    build = [
        python,
        "setup.py",
        "-q",
        "build",
        "--build-base",
        str(FOLDER),
        "--build-lib",
        str(FOLDER / "lib"),
    ]
    run(build, TEACHCONV_REQUIRE_CYTHON="1")
    print("tested with", *versions, flush=True)
    path = f"{FOLDER / 'lib'}:{ROOT / 'tests'}"
    command = [python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-m", "not slow"]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # the tests import what was built, not the source beside them
    run([*command, *(sys.argv[1:] or TESTS)], PYTHONPATH=path, PYTHONSAFEPATH="1", **one)


def run(command, **environment):
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
