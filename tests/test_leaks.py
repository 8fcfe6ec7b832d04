"""Memory and file descriptors do not grow over 100,000 mixed calls, failed ones included."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc

CALLS = 100_000
PROGRAM = """
import gc, os, pickle, random, sys
import numpy as np
import teachconv as tc
from teachconv.data.seeded import make_array

x, w, dy = (make_array(shape, "float32") for shape in ((1, 6, 6, 4), (3, 3, 4, 8), (1, 6, 6, 8)))
ops = [(tc.conv2d, (x, w)), (tc.conv2d_backprop_input, (x.shape, w, dy)),
       (tc.conv2d_backprop_filter, (x, w.shape, dy)), (tc.conv2d_transpose, (dy, w))]
backends = [info.name for info in tc.backends() if info.available and info.name not in ("reference", "cupy")]
plan = tc.plan(tc.conv2d, w, input_shape=x.shape)
wrong = [{"strides": 0}, {"padding": "SAMEE"}, {"algorithm": "none"}, {"backend": "nump"}]

def other_shape(rows, cols):
    tc.conv2d(np.ones((1, rows, cols, 1), "float32"), np.ones((2, 2, 1, 1), "float32"))

def one(rng):
    op, args = rng.choice(ops)
    step = rng.randrange(12)
    if step == 0:
        try:
            op(*args, **rng.choice(wrong))
        except ValueError:
            pass
    elif step == 1:
        plan(x)
    elif step == 2:
        other = pickle.loads(pickle.dumps(plan)) if rng.randrange(20) == 0 else plan
        other(x, out=np.empty((1, 4, 4, 8), "float32"))
    elif step == 3:
        with tc.use_backend(rng.choice(backends)):
            op(*args, padding="SAME")
    elif step == 4:
        tc.set_num_threads(rng.randint(1, 3))
    elif step == 5 and rng.randrange(20) == 0:
        str(tc.trace(op, *args, padding="SAME"))
    elif step == 6:
        other_shape(rng.randint(3, 102), rng.randint(3, 102))
    else:
        op(*args, padding="SAME", backend=rng.choice(backends), algorithm=None)

def measure():
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), sys.getallocatedblocks(), len(os.listdir("/proc/self/fd"))

rng, calls = random.Random(20261122), int(sys.argv[1])
for rows in range(3, 103):  # more shapes than any cache keeps: they are full, and may not grow
    for cols in range(3, 103):
        other_shape(rows, cols)
for _ in range(calls // 10):  # what is loaded once
    one(rng)
print(*measure())
for _ in range(5):
    for _ in range(calls // 5):
        one(rng)
    print(*measure())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc on this system")
def test_nothing_grows():
    """Less than a small Python object (32 bytes) and a block of memory in fifty calls are left of a call.

    Of the memory, the middle one of five parts counts: a leak shows in each of them, what is loaded once in one.
    """
    environment = os.environ | {"PYTHONPATH": str(Path(tc.__file__).parents[1]), "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", PROGRAM, str(CALLS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(done.stdout)  # bytes, blocks and files
    seen = np.array([line.split() for line in done.stdout.splitlines()], np.int64)
    memory, blocks, files = seen.T
    assert files[-1] == files[0]
    assert blocks[-1] - blocks[0] < CALLS / 50
    assert np.median(np.diff(memory)) < 32 * CALLS / 5
