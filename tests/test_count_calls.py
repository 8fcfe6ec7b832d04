"""How many functions a call enters, and in how many files a reader follows it: a limit for each way."""

import json
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from teachconv.backends import why_not

ROOT = Path(__file__).parent.parent
LIMITS = {  # functions, stays in files
    "numpy, first": (100, 45),
    "numpy, repeated": (40, 20),
    "cython, first": (100, 45),
    "cython, repeated": (9, 5),
    "eager, repeated": (100, 60),
    "sess.run, first": (224, 90),
}


@pytest.fixture(scope="module")
def entered():
    # a process in which nobody has traced a call: there a stage that nobody hears is no function
    program = "import json, count_calls; print(json.dumps(count_calls.measured()))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "tools", capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(bool(why_not("cython")), reason="the limits are those of the compiled backend, too")
@pytest.mark.parametrize("name", LIMITS)
def test_a_call_can_be_followed(entered, name):
    files = [file for file, _ in entered[name]]
    stays = [file for file, _ in groupby(files)]
    assert files  # a tool that sees nothing would find every call short
    most_functions, most_stays = LIMITS[name]
    assert len(files) <= most_functions, entered[name]
    assert len(stays) <= most_stays, stays


def test_a_repeated_call_is_soon_at_the_backends_function(entered):
    assert entered["numpy, repeated"].index(["backends/numpy_backend.py", "conv2d"]) <= 12
