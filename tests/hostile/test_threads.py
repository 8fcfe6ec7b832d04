"""Limits on memory and on threads: a call runs on fewer threads, or raises MemoryError, and the process goes on.

Each test limits a process of its own. GNU's OpenMP, which made the threads before, ended it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import teachconv as tc
from teachconv.backends import why_not

pytestmark = [
    pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled"),
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="reads /proc, and what a limit does differs"
    ),
]

BEGIN = """
import os, resource, threading
import numpy as np
import teachconv as tc
from teachconv.data.seeded import make_array

SHAPE, FILTERS = (2, 40, 40, 32), (3, 3, 32, 48)
x, w, dy = make_array(SHAPE, "float32"), make_array(FILTERS, "float32"), make_array((2, 40, 40, 48), "float32")
CALLS = {
    (op, a): (getattr(tc, op), *args, 1, "SAME")
    for op, args, algorithms in (
        ("conv2d", (x, w), ("direct", "im2col", "row_gemm", "winograd2", "winograd4")),
        ("conv2d_backprop_input", (SHAPE, w, dy), ("direct", "phases", "col2im", "winograd2")),
        ("conv2d_backprop_filter", (x, FILTERS, dy), ("direct", "im2col", "pixel_gemm")),
        ("depthwise_conv2d", (x, w[..., :32, :1]), ("depthwise",)),
        ("depthwise_conv2d_backprop_input", (SHAPE, w[..., :32, :1], x), ("depthwise",)),
        ("depthwise_conv2d_backprop_filter", (x, (3, 3, 32, 1), x), ("depthwise",)),
    )
    for a in algorithms
}

def call(name):
    function, *args = CALLS[name]
    return function(*args, algorithm=name[1], backend="cython")

def limit(what, number=None):
    most = resource.getrlimit(what)[1]
    resource.setrlimit(what, (most if number is None else number, most))

def leave(megabytes):
    pages = int(open("/proc/self/statm").read().split()[0])
    limit(resource.RLIMIT_AS, pages * resource.getpagesize() + int(megabytes * 2**20))

def note(name):
    function, *args = CALLS[name]
    traced = tc.trace(function, *args, algorithm=name[1], backend="cython")
    assert np.array_equal(traced.result, wants[name])
    return next(stage.note for stage in traced.stages if stage.name.startswith("_kernels."))

tc.set_num_threads(1)
wants = {name: call(name) for name in CALLS}
note(("conv2d", "direct"))  # everything that a trace needs is loaded
"""


def in_a_process(code):
    environment = os.environ | {"PYTHONPATH": str(Path(tc.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_with_little_memory_fewer_threads_give_the_same_bits_and_the_trace_says_so():
    out = in_a_process("""
tc.set_num_threads(64)
leave(20)
print(note(("conv2d", "direct")))
for name in CALLS:
    if name[1] != "im2col":
        assert np.array_equal(call(name), wants[name]), name
limit(resource.RLIMIT_AS)
print(note(("conv2d", "direct")))
""")
    limited, free = out.splitlines()
    assert " of 8 threads: the others could not be created, there is no memory for their stacks" in limited
    assert "RLIMIT_AS" in limited
    assert "could not" not in free


def test_whatever_memory_is_left_a_call_gives_its_bits_or_raises_memory_error():
    out = in_a_process("""
tc.set_num_threads(4)
outcomes = set()
for left in (0, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20, 30, 33, 50, 70):
    for name in CALLS:
        limit(resource.RLIMIT_AS)
        leave(left)
        try:
            got = call(name)
        except MemoryError:
            outcomes.add("no memory")
        else:
            assert np.array_equal(got, wants[name]), (left, name)
            outcomes.add("right")
print(*sorted(outcomes), sep=", ")
""")
    assert out == "no memory, right\n"


def test_im2col_gives_blas_no_thread_without_room_for_its_buffers():
    """OpenBLAS 0.3.30 looks for memory for ever; 0.3.31 ends the process."""
    out = in_a_process("""
tc.set_num_threads(2)
leave(100)
print(note(("conv2d", "im2col")))
limit(resource.RLIMIT_AS)
leave(30)
try:
    call(("conv2d", "im2col"))
except MemoryError as error:
    print(error)
""")
    fewer, none = out.splitlines()
    assert "1 of 2 threads: there is no memory for the buffers of BLAS in more" in fewer
    assert none == "im2col needs 64 MB for the buffers of BLAS; use another algorithm"


def test_where_the_system_refuses_threads_the_call_runs_on_one():
    out = in_a_process("""
if os.getuid() == 0:
    os.setuid(65534)  # root has no such limit
limit(resource.RLIMIT_NPROC, 0)
tc.set_num_threads(8)
print(note(("conv2d", "direct")))
print(len(os.listdir("/proc/self/task")))
for name in CALLS:
    assert np.array_equal(call(name), wants[name]), name
""")
    said, tasks = out.splitlines()
    assert "1 of 8 threads: the others could not be created, the system allows no more" in said
    assert "RLIMIT_NPROC" in said
    assert tasks == "1"
