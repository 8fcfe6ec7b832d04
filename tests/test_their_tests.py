"""The runner of other people's programs, on small checkouts made here."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("absl", reason="the bases of TensorFlow's tests need absl-py")
if not hasattr(__import__("os"), "fork"):
    pytest.skip("each program runs in a fork", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).parent / "peers"))

import their_imports
import their_tests

PROGRAMS = {
    "00_multiply.py": "import tensorflow as tf\nx = tf.constant(2.0)\nassert float(x * x) == 4\nprint(x)\n",
    "refused.py": "import tensorflow as tf\nprint(tf.signal.stft)\n",
    "asserts.py": "import tensorflow as tf\nassert float(tf.constant(1.0)) == 2\n",
    "fails.py": "import tensorflow as tf\nprint({}[tf.float32])\n",
    "first.py": "import tensorflow as tf\nx = tf.placeholder(tf.float32)\nprint(tf.Session().run(x * 2, {x: 1}))\n",
    "endless.py": "import tensorflow as tf\nrounds = 0\nwhile True:\n    rounds += 1\nassert rounds > 1\n",
    "data.py": "import tensorflow as tf\n(x, y), _ = tf.keras.datasets.mnist.load_data()\nassert x.shape[1:] == (28, 28)\n",
    "other.py": "import tensorflow as tf, pandas\nprint(1)\n",
    "python2.py": "import tensorflow as tf\nprint 1\n",
    "gone.py": "import tensorflow as tf\ntf.contrib.layers.flatten(1)\n",
}
TESTS = """
from tensorflow.python.framework import constant_op
from tensorflow.python.framework import test_util
from tensorflow.python.ops import nn_ops
from tensorflow.python.platform import test


class ReluTest(test.TestCase):
    @test_util.run_in_graph_and_eager_modes
    def test_right(self):
        self.assertAllClose([0.0, 2.0], nn_ops.relu(constant_op.constant([-1.0, 2.0])))

    def test_wrong(self):
        self.assertAllClose([1.0], nn_ops.relu(constant_op.constant([2.0])))

    def test_error(self):
        with self.assertRaisesRegex(ValueError, "words of theirs"):
            nn_ops.conv2d([1.0], [1.0], strides=1, padding="SAME")

    def test_missing(self):
        nn_ops.quantized_conv2d([1.0])

    @test_util.run_v1_only("")
    def test_skipped(self):
        self.fail()
"""


def test_a_notebook_is_its_cells_without_shell_commands(tmp_path):
    cells = [
        {"cell_type": "code", "source": ["!pip install x\n", "import tensorflow\n", "if 1:\n", "  %time\n"]},
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["print(1)"]},
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    assert their_tests.source_of(path) == "pass\nimport tensorflow\nif 1:\n  pass\n\nprint(1)"
    assert their_tests.not_admitted(their_tests.source_of(path), path) == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("other.py", "imports pandas"),
        ("python2.py", "not Python 3"),
        ("gone.py", "tf.contrib"),
        ("fails.py", ""),
    ],
)
def test_programs_that_need_more_are_not_admitted(tmp_path, name, reason):
    (tmp_path / name).write_text(PROGRAMS[name])
    found = their_tests.not_admitted(PROGRAMS[name], tmp_path / name)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_loops_and_trainings_end(monkeypatch):
    monkeypatch.setattr(their_imports, "SECONDS_A_LOOP", 0.0)
    source = "n = 0\nfor _ in iter(int, 1):\n    n += 1\nm = 0\nwhile True:\n    m += 1\nk = dict(epochs=90, size=90)"
    code, names, cut = their_imports.short_loops(source, "program")
    exec(code, names)
    assert (names["n"], names["m"], cut) == (2, 2, [2, 2])
    assert names["k"] == {"epochs": their_imports.FEW_EPOCHS, "size": 90}


def test_the_word_that_is_missing():
    def word(message):
        return their_tests.word_of({"message": message})

    assert word("AttributeError: teachconv.tf has no 'signal', only what") == "tf.signal"
    assert word("NotImplementedError: teachconv has no tensorflow.python.ops.nn_ops.crelu") == "nn_ops.crelu"
    assert word("TypeError: f() got an unexpected keyword argument 'x'") == "f(..., x=)"


@pytest.mark.slow
def test_a_run_counts_and_writes_the_page(tmp_path, monkeypatch):
    """Every outcome is found, in two small checkouts."""
    pytest.importorskip("matplotlib")
    programs, tests = tmp_path / "programs", tmp_path / "tests"
    programs.mkdir()
    for name, source in PROGRAMS.items():
        (programs / name).write_text(source)
    below = tests / "tensorflow/python/kernel_tests/nn_ops"
    below.mkdir(parents=True)
    (below / "relu_op_test.py").write_text(TESTS)
    for mark in (
        "python/ops/gradient_checker_v2.py",
        "python/framework/test_util.py",
        "python/platform/test.py",
    ):
        (tests / "tensorflow" / mark).parent.mkdir(exist_ok=True)
        (tests / "tensorflow" / mark).touch()
    for name in ("framework/constant_op.py", "ops/nn_ops.py"):
        (tests / "tensorflow/python" / name).touch()
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    arguments = [str(programs), str(tests), "--results", str(results), "--page", str(page)]
    monkeypatch.setattr(sys, "argv", ["their_tests.py", *arguments])
    their_tests.main()
    found = {entry.get("test") or entry["name"]: entry for entry in json.loads(results.read_text())}
    assert {name: entry["outcome"] for name, entry in found.items()} == {
        **dict.fromkeys(
            ("00_multiply.py", "first.py", "endless.py", "data.py", "ReluTest.test_right"), "passed"
        ),
        **dict.fromkeys(("refused.py", "ReluTest.test_missing"), "not there"),
        **dict.fromkeys(("asserts.py", "ReluTest.test_wrong"), "wrong"),
        **dict.fromkeys(("fails.py",), "crashed"),
        **dict.fromkeys(("other.py", "python2.py", "gone.py"), "not admitted"),
        "ReluTest.test_error": "other error",
        "ReluTest.test_skipped": "skipped",
    }, {name: entry.get("message") for name, entry in found.items()}
    assert "| nlintz/TensorFlow-Tutorials | 4 | 1 | 0 | 1 | 1 | 0 | 3 |" in page.read_text()
    assert "`tf.signal` | 1 | 0" in page.read_text()
