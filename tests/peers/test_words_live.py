"""The recorded answers to TensorFlow's words are those of the TensorFlow that is installed (make test-peers)."""

import json
import os
import subprocess
import sys

import pytest
from recorders.snippets import FOLDER

pytestmark = pytest.mark.peers
SCRIPT = FOLDER.parents[2] / "tools" / "recorders" / "record_tensorflow_words.py"


@pytest.mark.parametrize("version", ["1", "2"])
def test_recorded_answers(version):
    tensorflow = pytest.importorskip("tensorflow")
    recorded = json.loads((FOLDER.parent / "tensorflow_words.json").read_text(encoding="utf-8"))
    if tensorflow.__version__ != recorded["versions"]["tensorflow"]:
        pytest.skip(f"recorded with TensorFlow {recorded['versions']['tensorflow']}")
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}  # other tests set it
    done = subprocess.run(
        [sys.executable, SCRIPT, version], capture_output=True, text=True, check=True, env=environment
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) > 100
    for name, answer in found.items():
        for what in ("printed", "error"):
            assert answer[what] == recorded["outcomes"][name][what], name
