"""The CPU engine in several Python threads and in forked processes, and the BLAS that it shares with the caller."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import resident, says_memory
from threadpoolctl import threadpool_limits

import teachconv as tc
from teachconv.backends import blas as blas_module
from teachconv.backends import cython_backend, why_not
from teachconv.data.seeded import make_array
from teachconv.tf.keras.backend import clear_session

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


def test_two_python_threads_at_once():
    x, w = make_array((2, 40, 40, 32), "float32"), make_array((3, 3, 32, 48), "float32")
    wants = {
        a: tc.conv2d(x, w, padding="SAME", algorithm=a)
        for a in ("direct", "im2col", "row_gemm", "winograd2", "winograd4")
    }
    wrong = []

    def work(algorithm):
        for _ in range(5):
            if not np.array_equal(tc.conv2d(x, w, padding="SAME", algorithm=algorithm), wants[algorithm]):
                wrong.append(algorithm)

    workers = [threading.Thread(target=work, args=(a,)) for a in wants for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


class Blas:
    """Stands in for threadpoolctl's controller of a BLAS with 8 threads."""

    def __init__(self, internal_api):
        self.internal_api = internal_api
        # BLIS counts threads for each thread that calls it, OpenBLAS for the process
        self.place = threading.local() if internal_api == "blis" else SimpleNamespace()

    def get_num_threads(self):
        return getattr(self.place, "threads", 8)

    def set_num_threads(self, number):
        self.place.threads = number


@pytest.mark.parametrize("internal_api", ["blis", "openblas"])
def test_two_python_threads_hold_blas_to_one_thread(monkeypatch, internal_api):
    """im2col gave other bits in a second Python thread, and left the BLAS of some thread at one."""
    blas, found = Blas(internal_api), []
    x, w = make_array((1, 6, 6, 4), "float32"), make_array((3, 3, 4, 4), "float32")
    kernel, meet = cython_backend._kernels.im2col_conv2d, threading.Barrier(2)

    class Kernels:
        def __getattr__(self, name):
            return getattr(real, name)

        def im2col_conv2d(self, *args):
            time.sleep(0.02)  # the other thread comes in
            found.append(blas.get_num_threads())
            return kernel(*args)

    def work():
        meet.wait()
        for _ in range(3):
            tc.conv2d(x, w, backend="cython", algorithm="im2col")
        meet.wait()  # nobody is in a kernel
        found.append(blas.get_num_threads() // 8)

    real = cython_backend._kernels
    monkeypatch.setattr(cython_backend, "_kernels", Kernels())
    monkeypatch.setattr(blas_module, "libraries", lambda home: [blas])
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [1] * 8


def blas_threads():
    """Of SciPy's BLAS, which im2col calls."""
    return {library.get_num_threads() for library in blas_module.libraries("scipy")}


def test_im2col_leaves_the_threads_of_blas_as_they_were():
    x, w = make_array((2, 20, 20, 16), "float32"), make_array((3, 3, 16, 24), "float32")
    before, want = blas_threads(), tc.conv2d(x, w, backend="cython", algorithm="im2col")
    with threadpool_limits(limits=3, user_api="blas"):
        inside, got = blas_threads(), []

        def work():
            got.extend(tc.conv2d(x, w, backend="cython", algorithm="im2col") for _ in range(10))

        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        work()
        for worker in workers:
            worker.join()
        assert blas_threads() == inside
    assert blas_threads() == before
    assert all(np.array_equal(y, want) for y in got)


def test_im2col_runs_blas_on_one_thread_while_another_python_thread_limits_it(monkeypatch):
    """threadpoolctl 3.8 ignores the limit of a second Python thread, which gave other bits on some processors."""
    x, w, found = make_array((1, 6, 6, 4), "float32"), make_array((3, 3, 4, 4), "float32"), []
    real = cython_backend._kernels

    class Kernels:
        def __getattr__(self, name):
            return getattr(real, name)

        def im2col_conv2d(self, *args):
            found.append(blas_threads())
            return real.im2col_conv2d(*args)

    monkeypatch.setattr(cython_backend, "_kernels", Kernels())
    tc.conv2d(x, w, backend="cython", algorithm="im2col")  # BLAS is loaded
    before = blas_threads()
    with threadpool_limits(limits=3, user_api="blas"):
        worker = threading.Thread(
            target=tc.conv2d, args=(x, w), kwargs={"backend": "cython", "algorithm": "im2col"}
        )
        worker.start()
        worker.join()
        assert blas_threads() == {3}
    assert (found, blas_threads()) == ([{1}, {1}], before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX's, if loaded
def test_a_child_forked_while_another_thread_runs_im2col():
    """It finishes, with the bits of its parent and the BLAS threads of its parent's caller."""
    tc.set_num_threads(1)
    x, w = make_array((2, 40, 40, 32), "float32"), make_array((3, 3, 32, 48), "float32")
    want, done = tc.conv2d(x, w, backend="cython", algorithm="im2col"), threading.Event()

    def work():
        while not done.is_set():
            tc.conv2d(x, w, backend="cython", algorithm="im2col")

    with threadpool_limits(limits=3, user_api="blas"):
        inside = blas_threads()
        worker = threading.Thread(target=work)
        worker.start()
        statuses = []
        for _ in range(10):
            time.sleep(0.003)
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a child that hangs is killed
                same = np.array_equal(tc.conv2d(x, w, backend="cython", algorithm="im2col"), want)
                os._exit(0 if same and blas_threads() == inside else 1)
            statuses.append(os.waitpid(child, 0)[1])
        done.set()
        worker.join()
    assert statuses == [0] * 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX's, if loaded
def test_a_fork_after_use_is_safe():
    tc.set_num_threads(2)
    x, w = make_array((2, 40, 40, 32), "float32"), make_array((3, 3, 32, 48), "float32")
    wants = {
        a: tc.conv2d(x, w, padding="SAME", algorithm=a)
        for a in ("direct", "im2col", "row_gemm", "winograd2", "winograd4")
    }
    child = os.fork()
    if child == 0:
        same = all(np.array_equal(tc.conv2d(x, w, padding="SAME", algorithm=a), y) for a, y in wants.items())
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(
    not os.path.exists("/proc/self/task"), reason="Linux lists the threads of a process there"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX's, if loaded
def test_a_forked_child_begins_threads_of_its_own():
    """GNU's OpenMP hung there, so a child ran on one thread."""
    tc.set_num_threads(2)
    x, w = make_array((2, 40, 40, 32), "float32"), make_array((3, 3, 32, 48), "float32")
    want = tc.conv2d(x, w, padding="SAME", algorithm="row_gemm")
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        alone = len(os.listdir("/proc/self/task"))
        same = np.array_equal(tc.conv2d(x, w, padding="SAME", algorithm="row_gemm"), want)
        os._exit(0 if same and (alone, len(os.listdir("/proc/self/task"))) == (1, 2) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_python_threads_with_crews_of_changing_size():
    """Workers pass from one crew to another; no bit depends on which and how many there are."""
    cases = [
        (tc.conv2d, (x, w), wanted)
        for x, w in (
            (make_array((1, 60, 60, c), "float32"), make_array((3, 3, c, 32), "float32"))
            for c in (12, 24, 48)
        )
        for wanted in [tc.conv2d(x, w)]
    ]
    wrong = []

    def work(number):
        for step in range(30):
            function, arguments, wanted = cases[(number + step) % len(cases)]
            tc.set_num_threads(1 + (number + step) % 5)
            if not np.array_equal(function(*arguments), wanted):
                wrong.append((number, step))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_workers_stop_looking_for_work():
    """Between two calls of a program that makes one a second they sleep, and take no processor time."""
    program = (
        "import time, numpy as np, teachconv as tc\n"
        "tc.set_num_threads(3)\n"
        "tc.conv2d(np.ones((2, 60, 60, 48), 'float32'), np.ones((3, 3, 48, 32), 'float32'), backend='cython')\n"
        "before = time.process_time()\n"
        "time.sleep(0.3)\n"
        "print(time.process_time() - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.15, done.stdout  # two that look would take 0.6 seconds


@says_memory
def test_memory_of_what_nothing_reaches_is_released():
    """An array of a graph in a cycle of references would come back to the kept memory after the release."""
    large = np.ones(31 << 17)  # once it is freed, glibc keeps up to twice its size: of the next ones all
    del large
    several = [np.ones(1 << 17) for _ in range(60)]
    del several
    clear_session()
    with cython_backend._kernels.ReusedMemory():
        cycle = [np.ones(5 << 20)]
    cycle.append(cycle)
    before = resident()
    del cycle
    clear_session()
    assert before - resident() > 30 << 20


@says_memory
def test_scratch_is_kept_and_released():
    """The filter transformed takes 34 MB, which a release gives back; the next call touches new pages."""
    x, w = make_array((1, 4, 4, 512), "float64"), make_array((3, 3, 512, 512), "float64")
    out = np.empty_like(w)

    def grown_by(step):
        before = resident()
        step()
        return resident() - before

    def call():
        tc.conv2d_backprop_filter(x, w.shape, x, 1, "SAME", backend="cython", algorithm="winograd", out=out)

    clear_session()
    assert grown_by(call) > 30 << 20
    want = out.copy()
    assert abs(grown_by(call)) < 4 << 20
    assert abs(grown_by(lambda: clear_session(free_memory=False))) < 4 << 20
    assert grown_by(clear_session) < -30 << 20
    assert grown_by(call) > 30 << 20
    assert np.array_equal(out, want)
    clear_session()
