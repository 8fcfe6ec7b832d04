"""How the steps of another framework are found and shown, without any such framework."""

import sys
import types

import pytest

import teachconv as tc
from teachconv.frameworks import keras
from teachconv.graph.common_runtime import placer
from teachconv.inspection import sources
from teachconv.inspection.sources import SourceChain, SourceStep
from teachconv.support.errors import ArgumentError

OURS = sources.step_at("placer", placer.place)
STEPS = (
    SourceStep("public function", "conv2d_v2", "/usr/lib/dist-packages/tensorflow/python/ops/nn_ops.py", 2262, "goes on", "call stack"),
    SourceStep("placement", "Conv2D", "tensorflow/core/common_runtime/placer.cc", 172, "/device:CPU:0", "TensorFlow's log", OURS),
    SourceStep("rewrite", "Fuse Conv2D", "tensorflow/core/grappler/optimizers/remapper.cc", 3479, "", "TensorFlow's log"),
    SourceStep("kernel", "MklConvCustomBackpropInputOp::Compute", "tensorflow/core/kernels/mkl/mkl_conv_ops.cc", 0, "a long note " * 12, "kernel registry"),
    SourceStep("placement", "Conv2D", "", 0, "", "TensorFlow's log", OURS),
)  # fmt: skip
CHAIN = SourceChain(
    "theirs", STEPS, (), "TensorFlow 2.21.0", "brg_conv_bwd:avx512_core+brg_conv_fwd:avx512_core"
)


def test_a_place_is_shown_from_the_folder_of_packages_on_and_without_a_line_where_there_is_none():
    assert STEPS[0].where == "tensorflow/python/ops/nn_ops.py:2262"
    assert STEPS[3].where == "tensorflow/core/kernels/mkl/mkl_conv_ops.cc"
    assert (
        SourceStep("", "", "/x/site-packages/tensorflow/include/tensorflow/a.h", 1).where
        == "tensorflow/a.h:1"
    )


def test_the_table_says_how_each_step_is_known_and_lists_ours_once():
    lines = str(CHAIN.all).split("\n")
    ran = "TensorFlow 2.21.0: brg_conv_bwd:avx512_core+brg_conv_fwd:avx512_core"
    assert lines[0] == f"where is theirs executed?   {ran}"
    assert max(map(len, lines)) <= 100
    at = next(index for index, line in enumerate(lines) if "rewrite" in line)
    assert lines[at].endswith("TensorFlow's log")
    assert lines[at].split()[4] + lines[at + 1].strip() == f"{STEPS[2].file}:3479"
    (ours,) = (line for line in lines if "placer.py" in line)
    assert ours.split() == ["placer", "place", OURS.where, "2,", "5"]


def test_the_print_has_15_lines_and_leaves_what_was_not_called_to_all():
    other = SourceStep("in a tf.function", "alone", known="TensorFlow's log")
    chain = SourceChain("theirs", (*STEPS[:3], other, STEPS[3]), (), "TensorFlow 2.21.0", "brg_conv")
    lines = str(chain).split("\n")
    assert len(lines) == 5
    assert max(map(len, lines)) <= 100
    assert [line.rpartition("  ")[2] for line in lines[1:4]] == ["call stack", *["TensorFlow's log"] * 2]
    assert lines[4] == "and 2 steps more: --all, or print(chain.all)"
    long = SourceChain("theirs", STEPS[:1] * 40, (), "TensorFlow 2.21.0", "brg_conv")
    assert len(str(long).split("\n")) == 15


def test_the_page_opens_ours_beside_theirs():
    page = CHAIN._repr_html_()
    assert page.count("teachconv: <b>place</b>") == 2
    assert "<i>kernel registry</i>" in page
    assert "def place(" in page


def test_steps_of_our_own_are_shown_as_before():
    chain = SourceChain(
        "ours",
        (SourceStep("kernel", "run", "teachconv/running/nn_ops.py", 3, "a note"),),
        (),
        "cython",
        "direct",
    )
    assert str(chain).split("\n")[:2] == [
        "where is ours executed?   backend cython, algorithm direct",
        "1  kernel  run  teachconv/running/nn_ops.py:3  a note",
    ]


@pytest.fixture
def framework(monkeypatch):
    """A module that follows what is from "someframework", and what it was given."""
    module = types.ModuleType("some_follower")
    module.follow = lambda op, args, kwargs: (op, args, kwargs)
    monkeypatch.setitem(sys.modules, "some_follower", module)
    monkeypatch.setitem(sources.FOLLOWERS, "someframework", "some_follower")


def test_functions_methods_and_objects_of_a_framework_go_to_the_module_that_follows_them(framework):
    class Layer:
        __module__ = "someframework.layers"

        def gradient(self, x):
            return x

    def function(x):
        return x

    function.__module__ = "someframework.nn"

    class Own(Layer):
        __module__ = "program"

    own = Own()
    for op in (function, Layer(), own, own.gradient):
        assert tc.find_source(op, 1, a=2) == (op, (1,), {"a": 2})


def test_a_name_of_a_framework_imports_nothing(framework):
    with pytest.raises(
        ArgumentError,
        match=r"pass someframework's function itself in Python, find_source\(someframework\.x, ",
    ):
        tc.find_source("someframework.x")


def test_a_backend_of_keras_that_nothing_follows_is_named(monkeypatch):
    module = types.ModuleType("keras")
    module.backend = types.SimpleNamespace(backend=lambda: "openvino")
    monkeypatch.setitem(sys.modules, "keras", module)
    with pytest.raises(
        ArgumentError, match="Keras computes with 'openvino' here; find_source follows .*tensorflow"
    ):
        keras.follow(None, (), {})


def test_ours_beside_theirs_are_steps_that_exist():
    """Without TensorFlow: the page that shows both columns is built where it is not installed."""
    from teachconv.frameworks.tensorflow import ours

    beside = ours("Conv2DBackpropInput")
    assert {step.file.split("/")[0] for step in beside.values()} == {"teachconv"}
    for what, name in (
        ("op definition", "Conv2DBackpropInput"),
        ("primitive", "cython.conv2d_backprop_input"),
    ):
        assert beside[what].name == name
    for step in beside.values():
        assert step.line
        assert step.code(), step
    assert {"placement", "executor", "kernels"} <= {*ours("Conv3D")}
