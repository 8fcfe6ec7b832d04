"""On how many threads BLAS multiplies: `set_num_threads` holds it wherever teachconv calls it."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl
from threadpoolctl import threadpool_limits

import teachconv as tc
from teachconv.backends import blas, numpy_backend, slices
from teachconv.core.calls import resolve
from teachconv.core.kinds import OPS
from teachconv.data.seeded import make_array
from teachconv.support import settings
from teachconv.truth.exact import float64_result
from teachconv.verification.invariance import check_invariance

X, W = make_array((1, 12, 12, 24), "float32"), make_array((3, 3, 24, 32), "float32")
DY = make_array((1, 12, 12, 32), "float32")


def blas_threads():
    return {library.get_num_threads() for library in blas.libraries("numpy")}


def forward(**options):
    return tc.conv2d(X, W, padding="SAME", **options)


def input_gradient(**options):
    return tc.conv2d_backprop_input(X.shape, W, DY, 1, "SAME", **options)


def filter_gradient(**options):
    return tc.conv2d_backprop_filter(X, W.shape, DY, 1, "SAME", **options)


def truth(**options):
    return float64_result(resolve(OPS["conv2d"], X, W, None, 1, "SAME", "NHWC", 1))


class Spied(np.ndarray):
    """An array whose matrix products note how many threads BLAS has."""

    def __matmul__(self, other):
        SEEN.append(blas_threads())
        return np.asarray(self) @ np.asarray(other)


SEEN = []


def exact_sums(**options):
    left = np.ones((2, 64, 32)).view(Spied)
    return slices.exact_sums(left, np.ones((2, 32, 64)))


CALLS = [
    pytest.param(call, {"backend": "numpy", "algorithm": algorithm}, id=f"{call.__name__} {algorithm}")
    for call in (forward, input_gradient, filter_gradient)
    for algorithm in ("im2col", "taps")
] + [pytest.param(call, {}, id=call.__name__) for call in (truth, exact_sums)]


@pytest.fixture
def seen(monkeypatch):
    """How many threads BLAS had at each matrix product."""
    multiply = numpy_backend._multiply

    def spied(left, right):
        SEEN.append(blas_threads())
        return multiply(left, right)

    monkeypatch.setattr(numpy_backend, "_multiply", spied)
    monkeypatch.setattr(settings, "asked_threads", None)
    SEEN.clear()
    return SEEN


@pytest.mark.parametrize(("call", "options"), CALLS)
@pytest.mark.parametrize("number", [1, 2])
def test_set_num_threads_holds_blas(call, options, number, seen):
    """It held cython alone: beside another busy process two threads of BLAS took three times as long as one."""
    with threadpool_limits(3, user_api="blas"):
        tc.set_num_threads(number)
        call(**options)
        assert blas_threads() == {3}  # the caller's own, again
    assert seen
    assert all(found == {number} for found in seen)


@pytest.mark.parametrize(("call", "options"), CALLS)
def test_blas_keeps_its_own_number_if_none_is_set(call, options, seen):
    with threadpool_limits(3, user_api="blas"):
        call(**options)
    assert seen
    assert all(found == {3} for found in seen)


def test_one_thread_holds_blas_for_a_caller_with_its_own_threads(seen):
    with threadpool_limits(3, user_api="blas"), settings.on_threads(1):
        forward(backend="numpy")
    assert seen == [{1}]


def test_threads_of_a_block_leave_no_number_behind(seen):
    """check_invariance set 1, 2, 3 and 7 threads and then the default, as if the caller had asked for it."""
    check_invariance("numpy", tags="hand")
    assert settings.blas_threads() is None


class OneOfTheProcess:
    """Stands in for threadpoolctl's controller of a BLAS with one number of threads for the process."""

    internal_api = "openblas"
    number, changes = 8, 0

    def get_num_threads(self):
        return self.number

    def set_num_threads(self, number):
        self.number = number
        self.changes += 1


@pytest.fixture
def fake(monkeypatch):
    found = OneOfTheProcess()
    monkeypatch.setattr(blas, "libraries", lambda home: [found])
    return found


def test_the_smallest_number_holds_while_threads_overlap(fake):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with blas.held("numpy", 3):
            inside.set()
            leave.wait()

    worker = threading.Thread(target=other)
    with blas.held("numpy", 5):
        assert fake.number == 5
        worker.start()
        inside.wait()
        assert fake.number == 3
    assert fake.number == 3  # the other thread multiplies still
    leave.set()
    worker.join()
    assert fake.number == 8


def test_an_error_sets_the_number_back(fake):
    with pytest.raises(MemoryError), blas.held("numpy", 2):
        raise MemoryError
    assert fake.number == 8


def test_a_tiny_call_sets_nothing(fake):
    tc.set_num_threads(2)
    x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
    tc.conv2d(x, w, backend="numpy")
    assert fake.changes == 0
    forward(backend="numpy")
    assert fake.changes == 2


@pytest.mark.parametrize(
    ("filepath", "held"),
    [
        ("/usr/lib/python3/site-packages/numpy.libs/libopenblas.so", True),
        ("/opt/conda/lib/libopenblas.so", True),
        ("/usr/lib/python3/site-packages/torch/lib/libopenblas.so", False),
    ],
)
def test_the_table_says_where_the_number_cannot_be_set(monkeypatch, filepath, held):
    loaded = SimpleNamespace(lib_controllers=[SimpleNamespace(filepath=filepath)])
    process = SimpleNamespace(select=lambda user_api: loaded)
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", lambda: process)
    monkeypatch.setattr(blas, "libraries", blas.libraries.__wrapped__)
    assert ("does not hold the BLAS of numpy" in str(tc.backends())) != held
