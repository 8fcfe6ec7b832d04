"""Pools compared with the real frameworks on seeded random calls that are not the recorded ones."""

import os
import subprocess
import sys

import pytest
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment
from peers import window_sweeps as sweeps
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


def on_tensorflow(case):
    """Keras reads its backend once, and the rules are those of TensorFlow: the case runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{__file__}::test_live[{case}]"],
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
