"""The programs of the documents that this project starts from, with only the import replaced.

tools/recorders/record_tensorflow_words.py ran them with TensorFlow; docs/tensorflow.md shows them.
"""

import json
import re
from pathlib import Path

import pytest
from recorders.snippets import FOLDER, Outcome, run, snippets, with_teachconv

from teachconv.tf.compat.v1 import reset_default_graph

RECORDED = json.loads((FOLDER.parent / "tensorflow_words.json").read_text(encoding="utf-8"))["outcomes"]
PROGRAMS = {name: program for name, program in snippets().items() if program.file == "documents"}
# an answer that TensorFlow 2.21 no longer gives, and that is right here
OF_TENSORFLOW_1 = "documents: the module behind conv2d_transpose, without unwrapping"
# how graphs print their nodes differs, and docs/differences.md says so: these lines are not compared
PRINTED = re.compile(r"^(Tensor\(|<tf\.Tensor).*\n", re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {OF_TENSORFLOW_1}))
def test_program(name):
    recorded = Outcome(**RECORDED[name])
    assert recorded.error is None
    ours = run(PROGRAMS[name], "teachconv.tf")
    assert ours.error is None, ours.message
    assert PRINTED.sub("", ours.printed) == PRINTED.sub("", recorded.printed)


def test_the_well_known_answer():
    assert RECORDED[OF_TENSORFLOW_1]["error"] == "KeyError"
    assert run(PROGRAMS[OF_TENSORFLOW_1], "teachconv.tf").printed == "conv2d_backprop_input\n"


def test_of_tensorflow_1():
    import teachconv.tf.compat.v1 as tf
    from teachconv.tf.python.ops import gen_nn_ops

    assert tf.nn.conv2d_transpose.__globals__["gen_nn_ops"] is gen_nn_ops


def test_the_page_shows_the_programs():
    page = (Path(__file__).parents[2] / "docs" / "tensorflow.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    programs = {with_teachconv(program.code) for name, program in PROGRAMS.items() if name != OF_TENSORFLOW_1}
    (layers,) = shown - programs
    assert programs <= shown
    assert "tf.layers" in layers


def test_the_program_of_layers_which_tensorflow_no_longer_has(capsys):
    """The names of the variables are TensorFlow 1's."""
    reset_default_graph()
    page = (Path(__file__).parents[2] / "docs" / "tensorflow.md").read_text(encoding="utf-8")
    exec(
        next(code for code in page.split("```python\n")[1:] if "tf.layers.conv2d" in code).partition("```")[
            0
        ],
        {},
    )
    assert capsys.readouterr().out.splitlines() == [
        "(?, 4, 4, 4) 4 ['net/conv2d/kernel:0', 'net/conv2d/bias:0', 'net/dense/kernel:0', 'net/dense/bias:0']",
        "(2, 3)",
    ]
