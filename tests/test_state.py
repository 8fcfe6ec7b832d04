"""Settings, plans, threads, forks and pickles in random order: each call runs where the model says, with its bits.

A machine of hypothesis (stateful testing) keeps a model of what the process and each block have set, and takes random
steps. A failure is shrunk to the shortest row of steps.
"""

import os
import pickle
import signal
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

import teachconv as tc
from teachconv.backends import why_not
from teachconv.data.seeded import make_array

BACKENDS = [name for name in ("reference", "numpy", "scipy", "cython") if not why_not(name)]
BEST = "numpy" if why_not("cython") else "cython"
X, W = (
    make_array((2, 5, 5, 4), "float32", "integers", "x"),
    make_array((3, 3, 2, 6), "float32", "integers", "w"),
)
DY = make_array((2, 5, 5, 6), "float32", "integers", "dy")
CALLS = {  # sums of small integers: exact on every backend
    "forward": (tc.conv2d, (X, W)),
    "input gradient": (tc.conv2d_backprop_input, (X.shape, W, DY)),
    "filter gradient": (tc.conv2d_backprop_filter, (X, W.shape, DY)),
    "transposed": (tc.conv2d_transpose, (DY, W, X.shape)),
}
WANTS = {
    name: op(*args, padding="SAME", strides=1, backend="reference") for name, (op, args) in CALLS.items()
}


def result(name, **options):
    op, args = CALLS[name]
    return op(*args, padding="SAME", strides=1, **options)


class Process(RuleBasedStateMachine):
    """What a program may do with the library, and what it should then find."""

    plans = Bundle("plans")

    def __init__(self):
        super().__init__()
        self.default = None  # of the process
        self.blocks = []  # (name, context manager), the innermost last
        self.threads = tc.get_num_threads()

    def expected(self):
        return (self.blocks[-1][0] if self.blocks else self.default) or BEST

    @rule(name=st.sampled_from(sorted(CALLS)))
    def call(self, name):
        assert np.array_equal(result(name), WANTS[name])

    @rule(name=st.sampled_from(sorted(CALLS)))
    def call_traced(self, name):
        op, args = CALLS[name]
        traced = tc.trace(op, *args, padding="SAME", strides=1)
        assert traced.backend == self.expected()
        assert np.array_equal(traced.result, WANTS[name])

    @rule(name=st.sampled_from(sorted(CALLS)), backend=st.sampled_from(BACKENDS))
    def call_on(self, name, backend):
        assert np.array_equal(result(name, backend=backend), WANTS[name])

    @rule(threads=st.integers(1, 4))
    def set_threads(self, threads):
        tc.set_num_threads(threads)
        self.threads = threads

    @rule(threads=st.sampled_from([0, -1, 5000, "2", None]))
    def set_threads_badly(self, threads):
        with pytest.raises((ValueError, TypeError), match="num_threads"):
            tc.set_num_threads(threads)
        assert tc.get_num_threads() == self.threads

    @rule(name=st.sampled_from([None, *BACKENDS]))
    def set_default(self, name):
        tc.set_backend(name)
        self.default = name

    @rule()
    def set_default_badly(self):
        with pytest.raises(ValueError, match="nump"):
            tc.set_backend("nump")

    @rule(name=st.sampled_from([None, *BACKENDS]))
    def enter_block(self, name):
        block = tc.use_backend(name)
        block.__enter__()
        self.blocks.append((name, block))

    @precondition(lambda self: self.blocks)
    @rule()
    def leave_block(self):
        self.blocks.pop()[1].__exit__(None, None, None)

    @rule(target=plans, backend=st.sampled_from([None, *BACKENDS]))
    def make_plan(self, backend):
        made = tc.plan(tc.conv2d, W, input_shape=X.shape, padding="SAME", backend=backend)
        assert f" on {backend or self.expected()}," in repr(made)
        return made

    @rule(plan=plans)
    def call_plan(self, plan):
        out = np.empty_like(WANTS["forward"])
        assert plan(X, out=out) is out
        assert np.array_equal(out, WANTS["forward"])
        assert np.array_equal(plan(X[:1]), WANTS["forward"][:1])

    @rule(target=plans, plan=plans)
    def pickle_plan(self, plan):
        other = pickle.loads(pickle.dumps(plan))
        assert repr(other) == repr(plan)
        return other

    @rule(
        error=st.sampled_from(
            [{"strides": 0}, {"padding": "SAMEE"}, {"algorithm": "none"}, {"dilations": -1}]
        )
    )
    def fail(self, error):
        with pytest.raises(ValueError, match=next(iter(error))):
            tc.conv2d(X, W, **error)

    @rule(name=st.sampled_from(sorted(CALLS)))
    def call_in_threads(self, name):
        """Another thread has the process's default, whatever block this one is in."""
        found = []

        def work():
            op, args = CALLS[name]
            traced = tc.trace(op, *args, padding="SAME", strides=1)
            found.append((traced.backend, np.array_equal(traced.result, WANTS[name])))

        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert found == [(self.default or BEST, True)] * 2

    @precondition(lambda self: hasattr(os, "fork"))
    @rule(name=st.sampled_from(sorted(CALLS)))
    def call_in_a_fork(self, name):
        """A child has its parent's settings and gives its bits."""
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # a child that hangs is killed
            status = 1
            try:
                op, args = CALLS[name]
                traced = tc.trace(op, *args, padding="SAME", strides=1)
                same = np.array_equal(traced.result, WANTS[name]) and tc.get_num_threads() == self.threads
                status = 0 if same and traced.backend == self.expected() else 1
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0

    def teardown(self):
        while self.blocks:
            self.leave_block()
        tc.set_backend(None)


def run_machine(examples, steps):
    threads = tc.get_num_threads()
    try:
        run_state_machine_as_test(
            Process,
            settings=settings(
                max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=True,
                database=None, suppress_health_check=list(HealthCheck),
            ),
        )  # fmt: skip
    finally:
        tc.set_num_threads(threads)


# JAX warns of a fork where an earlier test loaded it
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")


def test_random_steps():
    run_machine(20, 15)


@pytest.mark.slow
def test_many_random_steps():
    run_machine(200, 40)
