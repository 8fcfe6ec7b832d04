"""Pools compared with the real frameworks on seeded random calls that are not the recorded ones."""

import os
import subprocess
import sys

import pytest
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment
from peers import window_sweeps as sweeps
from translation.test_window_targets import FORWARD, translated
from windows.test_recorded_windows import FUNCTIONS, agree

import teachconv as tc

pytestmark = pytest.mark.peers

MODULES = {
    "tensorflow": "tensorflow",
    "torch": "torch",
    "onnx": "onnxruntime",
    "jax": "jax",
    "keras": "keras",
}


def on_tensorflow(case, test="test_live"):
    """Keras reads its backend once, and the rules are those of TensorFlow: the case runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{__file__}::{test}[{case}]"],
        env=os.environ | {"KERAS_BACKEND": "tensorflow"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize(("framework", "function"), FUNCTIONS)
def test_live(framework, function):
    pytest.importorskip(MODULES[framework])
    if framework == "keras" and os.environ["KERAS_BACKEND"] != "tensorflow":
        return on_tensorflow(f"keras-{function}")
    for seed in range(5000, 5060):
        shape, dtype, arguments = sweeps.call(framework, function, seed)
        x = sweeps.data(shape, dtype, function, seed)
        try:
            theirs = sweeps.theirs(framework, function, x, arguments, seed)
        except Exception as error:  # a framework may raise anything
            theirs = error
        try:
            ours = sweeps.ours(framework, function, x, arguments, seed)
        except (tc.ArgumentError, tc.ArgumentTypeError) as error:
            ours = error
        refused = isinstance(ours, Exception), isinstance(theirs, Exception)
        if not (
            all(refused) or (not any(refused) and agree(framework, function, x, arguments, ours, theirs))
        ):
            assert sweeps.known(framework, function, shape, arguments, ours, theirs), (
                seed,
                arguments,
                theirs,
            )


@pytest.mark.parametrize("to", MODULES)
def test_live_translations(to):
    """Calls of every framework, translated into one, run in that one."""
    pytest.importorskip(MODULES[to])
    if to == "keras" and os.environ["KERAS_BACKEND"] != "tensorflow":
        return on_tensorflow("keras", "test_live_translations")
    compared = 0
    for number, (framework, function) in enumerate(FORWARD):
        for seed in range(6000 + 20 * number, 6010 + 20 * number):
            shape, dtype, arguments = sweeps.call(framework, function, seed)
            try:
                found = translated(framework, function, shape, arguments, to)
            except tc.ArgumentError:
                continue
            if found.possible and 0 not in found.source.output_shape:
                report = found.check(sweeps.data(shape, "float32", function, seed))
                assert report.passed, f"{framework}.{function} {shape} {arguments}\n{report}\n{found.code}"
                assert len(report.rows) == 2
                compared += 1
    assert compared > 80
