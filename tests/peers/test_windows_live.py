"""Pools compared with the real frameworks on seeded random calls that are not the recorded ones."""

import pytest
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


@pytest.mark.parametrize(("framework", "function"), FUNCTIONS)
def test_live(framework, function):
    pytest.importorskip(MODULES[framework])
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
