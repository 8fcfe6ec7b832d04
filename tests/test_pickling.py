"""Whatever a call returns goes to another process and back, and is copied: by pickle, copy and deepcopy."""

import copy
import pickle
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import numpy_backend

X, W = np.arange(32, dtype="float32").reshape(1, 4, 4, 2), np.ones((3, 3, 2, 2), "float32")
NCHW, OIHW = X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)


def copies(thing):
    return [pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)]


def in_another_process(code, hash_seed):
    """What a Python program writes, run where strings hash in another way."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_a_geometry_of_another_process_is_the_same_key():
    code = """
import pickle, sys, teachconv as tc
geometry = tc.conv2d_geometry((1, 4, 4, 2), (3, 3, 2, 2))
known = {geometry: "its hash is kept now"}
sys.stdout.buffer.write(pickle.dumps(geometry))
"""
    geometry = tc.conv2d_geometry(X.shape, W.shape)
    for seed in ("1", "2"):
        theirs = pickle.loads(in_another_process(code, seed))
        assert theirs == geometry
        assert theirs in {geometry}
        assert theirs.output_shape == geometry.output_shape
        assert theirs.rows.formulas == geometry.rows.formulas


def test_geometries_are_copied():
    for geometry in (tc.conv2d_geometry(X.shape, W.shape), tc.conv2d_transpose_geometry(X.shape, W.shape)):
        for other in copies(geometry):
            assert (other, hash(other), str(other)) == (geometry, hash(geometry), str(geometry))


@pytest.mark.parametrize("backend", [None, "numpy", "reference", numpy_backend], ids=str)
def test_plans(backend):
    plan = tc.plan(tc.conv2d, W, input_shape=(3, 4, 4, 2), padding="SAME", backend=backend)
    assert len(pickle.dumps(tc.plan(tc.conv2d, W, input_shape=(1, 999, 999, 2), backend=backend))) < 20_000
    for other in copies(plan):
        assert repr(other) == repr(plan)
        assert np.array_equal(other(X), plan(X))
        assert np.array_equal(other(X, out=np.empty_like(X)), plan(X))


def test_a_plan_keeps_its_choices():
    chosen = {"backend": "cython", "algorithm": "direct", "precision": "strict"}
    if not tc.backends()[3].available:
        chosen = {"backend": "numpy", "algorithm": "taps", "precision": "strict"}
    plan = tc.plan(tc.conv2d, W, input_shape=X.shape, **chosen)
    for other in copies(plan):
        assert other.algorithm == chosen["algorithm"]
        assert tc.trace(tc.conv2d, X, W, **chosen).algorithm == chosen["algorithm"]
        with pytest.raises(ValueError, match="the planned shape"):
            other(X[:, :3])


class Own:
    """A backend that is an instance, or a class; in a module, it could not be found by its name."""

    ALGORITHMS = numpy_backend.ALGORITHMS
    conv2d = staticmethod(numpy_backend.conv2d)
    conv2d_backprop_input = staticmethod(numpy_backend.conv2d_backprop_input)
    conv2d_backprop_filter = staticmethod(numpy_backend.conv2d_backprop_filter)


def test_a_plan_of_ones_own_backend():
    memory = ModuleType("numpy")  # a name of the table, and another backend
    vars(memory).update(vars(Own), __name__="numpy")
    local = type("reference", (Own,), {})
    for backend in (Own, Own(), local, memory):
        plan = tc.plan(tc.conv2d, W, input_shape=X.shape, backend=backend)
        for other in (copy.copy(plan), copy.deepcopy(plan)):
            assert other.options["backend"] is backend
            assert np.array_equal(other(X), plan(X))
        if backend in (local, memory):
            with pytest.raises((TypeError, pickle.PicklingError), match="numpy|reference"):
                pickle.dumps(plan)
        else:
            assert np.array_equal(pickle.loads(pickle.dumps(plan))(X), plan(X))


@pytest.mark.parametrize(
    ("op", "args", "where"),
    [
        (tc.conv2d, (X, W), {"at": (0, 1, 1, 1)}),
        (tc.conv2d, (X, W), {"at_input": (0, 1, 1, 1)}),
        (tc.depthwise_conv2d, (X, W), {"at": (0, 1, 1, 3)}),
        (tc.dialects.torch.conv2d, (NCHW, OIHW), {"at": (0, 1, 1, 1)}),
        (tc.conv2d_backprop_filter, (X, W.shape, np.ones((1, 2, 2, 2), "float32")), {"at": (0, 1, 1, 1)}),
    ],
)
def test_explanations(op, args, where):
    explanation = tc.explain(op, *args, **where)
    for other in copies(explanation):
        assert (other.value, list(other.taps)) == (explanation.value, list(explanation.taps))
        assert (str(other), other.picture()) == (str(explanation), explanation.picture())


def test_reports_of_diff():
    report = tc.diff(tc.conv2d, X, W, backends=["numpy"], against={"mine": tc.conv2d(X, W[::-1, ::-1] * 2)})
    for other in copies(report):
        assert str(other) == str(report)
        assert str(other.rows[-1].explanation) == str(report.rows[-1].explanation)
    dialect = tc.diff(tc.dialects.torch.conv2d, NCHW, OIHW, backends=["numpy"])
    assert str(copies(dialect)[0].rows[0].explanation) == str(dialect.rows[0].explanation)


def test_other_reports():
    for report in (
        tc.backends(),
        tc.trace(tc.conv2d, X, W),
        tc.autotune(tc.conv2d, X, W, backends=["numpy"], rounds=1),
        tc.receptive_field([tc.conv2d_geometry(X.shape, W.shape)]),
        tc.resolve(tc.dialects.torch.conv2d, (1, 2, 4, 4), (2, 2, 3, 3)),
        tc.translate(tc.conv2d, X.shape, W.shape, to="torch"),
        tc.explore(tc.conv2d, X, W),
    ):
        for other in copies(report):
            assert type(other) is type(report)
            assert str(other) == str(report)


def test_the_log_of_a_run_of_a_graph():
    graph = tc.graph
    with graph.Graph().as_default():
        y = graph.nn.conv2d(graph.constant(X), graph.constant(W), 1, "SAME")
        metadata = graph.RunMetadata()
        with graph.Session() as session:
            session.run(y, run_metadata=metadata)
    for other in copies(metadata):
        assert str(other) == str(metadata)
        assert other._repr_html_() == metadata._repr_html_()
