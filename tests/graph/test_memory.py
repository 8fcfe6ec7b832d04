"""A run's arrays have the memory of arrays that were freed: bits, owners, threads, forks, errors, bounds."""

import ctypes
import importlib
import os
import platform
import subprocess
import sys
import threading
from contextlib import nullcontext

import helpers
import numpy as np
import pytest
from helpers import resident, says_memory

from teachconv import graph as tg
from teachconv import keras
from teachconv.backends import cython_backend
from teachconv.graph.common_runtime import graph_execution_state
from teachconv.graph.kernels import compiled

try:
    from numpy._core.multiarray import _ARRAY_API, get_handler_name
except ImportError:  # NumPy 1
    from numpy.core.multiarray import _ARRAY_API, get_handler_name

pytestmark = pytest.mark.skipif(cython_backend._kernels is None, reason="the module is not compiled")
X = np.random.default_rng(0).random((16, 24, 24, 8), dtype=np.float32)  # 288 KB
LABELS = np.arange(16) % 10


def network():
    keras.utils.set_random_seed(7)
    conv = keras.layers.Conv2D(16, 3, padding="same", activation="relu")
    layers = [conv, keras.layers.MaxPooling2D(), keras.layers.Flatten(), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input(X.shape[1:]), *layers])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def trained(steps=4):
    """Return the losses and the weights."""
    model = network()
    return [model.train_on_batch(X, LABELS) for _ in range(steps)], model.get_weights()


def without(monkeypatch):
    monkeypatch.setattr(graph_execution_state, "reused_memory", nullcontext)


@tg.function
def blurred(x):
    """Return an array; others of its size live in the run alone."""
    y = tg.nn.relu(x - 0.5)
    return y * 3.0 + tg.nn.relu(-y), tg.reduce_sum(y * y)


@tg.function
def cubes(x):
    y = x * x * x
    return y, tg.reduce_sum(y)


def expected(x):
    y = np.maximum(x - np.float32(0.5), np.float32(0))
    return y * np.float32(3)


def test_the_bits_are_those_of_numpys_memory(monkeypatch):
    losses, weights = trained()
    without(monkeypatch)
    plain_losses, plain_weights = trained()
    assert losses == plain_losses
    assert [w.tobytes() for w in weights] == [w.tobytes() for w in plain_weights]


FAULTS = """
import resource, sys
from contextlib import nullcontext
sys.path[:0] = sys.argv[1:]
import numpy as np
import test_memory as t

def faults():
    model, counts = t.network(), []
    for _ in range(12):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        model.train_on_batch(t.X, t.LABELS)
        counts.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return int(np.median(counts[4:]))

reused = faults()
t.graph_execution_state.reused_memory = nullcontext
print(reused, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the faults are those with glibc")
def test_a_step_has_few_page_faults():
    """In a process of its own: glibc gives back less and less, the larger the blocks are that it has seen."""
    folders = [os.path.dirname(module.__file__) for module in (sys.modules[__name__], helpers)]
    done = subprocess.run(
        [sys.executable, "-c", FAULTS, *folders], capture_output=True, text=True, check=True
    )
    reused, before = map(int, done.stdout.split())
    assert reused < 20 < 100 < before


def test_what_a_caller_keeps_is_never_lent_again():
    model, kept = network(), []
    weight = model.trainable_variables[0]
    for step in range(6):
        x = X + np.float32(step)
        with tg.GradientTape() as outer:
            outer.watch(t := tg.constant(x))
            with tg.GradientTape() as inner:
                inner.watch(t)
                y, total = cubes(t)
            slope = inner.gradient(total, t)
            curve = tg.reduce_sum(slope * slope)
        model.train_on_batch(X, LABELS)
        arrays = [
            y,
            slope,
            outer.gradient(curve, t),
            model.predict(X, verbose=0),
            weight.numpy(),
            weight.read_value(),
        ]
        kept += [(array, np.array(array)) for array in arrays]
        np.testing.assert_array_equal(y, x * x * x)
    addresses = [np.asarray(array).__array_interface__["data"][0] for array, _ in kept]
    assert len({*addresses}) >= len(kept) - 6  # the two reads of a weight may share one
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)


def test_a_fetched_array_and_a_view_of_one_outlive_session_and_function():
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", X.shape)
        y = x * 2.0
        half = y[:8]
    with tg.Session(graph) as session:
        fetched = session.run([y, half], {x: X})
        for _ in range(4):
            session.run([y, half], {x: X + 1})
    cython_backend.release_scratch()
    np.testing.assert_array_equal(fetched[0], X * 2)
    np.testing.assert_array_equal(fetched[1], X[:8] * 2)
    assert get_handler_name(fetched[0]) == "teachconv"
    larger = fetched[0]
    larger.resize((32, 24, 24, 8), refcheck=False)
    np.testing.assert_array_equal(larger[:16], X * 2)


def test_the_handler_is_set_during_a_run_alone():
    blurred(X)
    assert get_handler_name(np.empty(3)) == "default_allocator"
    with pytest.raises(ValueError, match="Tensor had NaN"):
        tg.function(lambda x: tg.check_numerics(tg.nn.relu(x), "x"))(X * np.float32("nan"))
    assert get_handler_name(np.empty(3)) == "default_allocator"
    np.testing.assert_array_equal(blurred(X)[0], expected(X))


def test_another_handler_stays():
    """A program's own handler of arrays, here NumPy's in a capsule of its own, is used and left as it was."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    table = ctypes.cast(pointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
    default = ctypes.cast(table[306], ctypes.POINTER(ctypes.py_object))[0]
    name = ctypes.c_char_p(b"mem_handler")
    own = new(pointer(default, name), name, None)
    set_handler(own)
    try:
        y, _ = blurred(X)
        assert get_handler_name(np.asarray(y)) == "default_allocator"
    finally:
        assert set_handler(default) is own


def test_threads_share_the_kept_memory():
    wrong = []

    def run(number):
        for step in range(40):
            x = X + np.float32(number - step)
            y = np.asarray(blurred(x)[0])
            if not np.array_equal(y, expected(x)):
                wrong.append((number, step))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_and_its_parent_have_arrays_of_their_own():
    mine = np.asarray(blurred(X)[0])
    child = os.fork()
    if not child:
        right = all(np.array_equal(blurred(X + 1)[0], expected(X + 1)) for _ in range(5))
        os._exit(0 if right and np.array_equal(mine, expected(X)) else 1)
    for _ in range(5):
        np.testing.assert_array_equal(blurred(X)[0], expected(X))
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(mine, expected(X))


def test_a_module_that_another_thread_is_loading_is_awaited(tmp_path, monkeypatch):
    """While it runs, a module is among those of the process, and lacks what it defines at its end."""
    (tmp_path / "slow_module.py").write_text(
        "import __main__\n__main__.begun.set()\n__main__.go.wait(10)\nfrom contextlib import nullcontext as ReusedMemory\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(compiled, "_KERNELS", "slow_module")
    main = sys.modules["__main__"]
    for name in ("begun", "go"):
        monkeypatch.setattr(main, name, threading.Event(), raising=False)
    made = []
    loader = threading.Thread(target=importlib.import_module, args=("slow_module",))
    loader.start()
    assert main.begun.wait(10)
    runner = threading.Thread(target=lambda: made.append(compiled.reused_memory()))
    runner.start()
    runner.join(0.05)  # it waits; without that it has ended by now
    main.go.set()
    for thread in (runner, loader):
        thread.join()
    monkeypatch.delitem(sys.modules, "slow_module")
    assert [type(one) for one in made] == [nullcontext]


@says_memory
def test_no_more_than_the_bound_is_kept():
    cython_backend.release_scratch()
    before = resident()
    for images in (32, 31, 30, 29):  # of 37 to 42 MB, none of which fits the block of another
        blurred(np.ones((images, 576, 576), np.float32))
    assert resident() - before < cython_backend._kernels.KEPT_BYTES + (16 << 20)
    cython_backend.release_scratch()
    assert resident() - before < 16 << 20
