"""How much memory a call may take: what each limit leaves, and calls in processes that have one."""

import os
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from helpers import mostly_slow, only_memory

import teachconv as tc
from teachconv.backends import reference
from teachconv.core import taps
from teachconv.running import dispatch
from teachconv.support import memory
from teachconv.verification import diffing

MIB = 2**20
X, W = np.ones((2, 8, 8, 4), "float32"), np.ones((3, 3, 4, 4), "float32")
UNLIMITED = "9223372036854771712\n"  # in version 1


# ---------------------------------------------------------------------------------------------
# What is read
# ---------------------------------------------------------------------------------------------


def system(tmp_path, monkeypatch, groups="", available=8 * MIB, **files):
    """A system whose files these are; of a control group its path, and [limit, taken, files active and inactive]."""
    made = {
        "proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {available // 1024} kB\n",
        "proc/self/cgroup": groups,
        "proc/self/statm": "256 100 50 1 0 200 0\n",
    }
    for path, (limit, taken, *held) in files.items():
        version1 = path.startswith("memory")
        names = ("limit_in_bytes", "usage_in_bytes") if version1 else ("max", "current")
        words = [f"{'total_' * version1}{word}_file" for word in ("active", "inactive")]
        stat = "".join(f"{word} {held}\n" for word, held in zip(words, held, strict=True)) + "anon 7\n"
        rows = zip((*names, "stat"), (limit, taken, stat), strict=True)
        made |= {f"sys/fs/cgroup/{path}/memory.{name}": str(value) for name, value in rows}
    for path, text in made.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(memory, "_ROOT", tmp_path)


def refusal(nbytes=100 * MIB):
    with pytest.raises(MemoryError) as caught:
        memory.check_bytes(nbytes, "the result")
    return str(caught.value)


@pytest.mark.parametrize(
    ("groups", "files", "legal"),
    [
        (
            "",
            {},
            "720 MiB is legal: nine tenths of the memory that is available now (MemAvailable in /proc/meminfo)",
        ),
        ("0::/\n", {"": ("max\n", 700 * MIB, 0, 0)}, "720 MiB is legal"),
        (
            "0::/box\n",
            {"box": (500 * MIB, 100 * MIB, 0, 0)},
            "360 MiB is legal: nine tenths of what /sys/fs/cgroup/box/memory.max of 500 MiB leaves",
        ),
        (
            "0::/box\n",
            {"box": (500 * MIB, 450 * MIB, 300 * MIB, 50 * MIB)},
            "360 MiB is legal",
        ),  # files are dropped
        (
            "0::/outer/box\n",
            {"outer": (300 * MIB, 100 * MIB, 0, 0), "outer/box": ("max", 0, 0, 0)},
            "180 MiB is legal: nine tenths of what /sys/fs/cgroup/outer/memory.max of 300 MiB leaves",
        ),
        ("0::/box\n", {"unified/box": (500 * MIB, 100 * MIB, 0, 0)}, "360 MiB is legal"),
        (
            "3:cpu,memory:/docker/0af\n0::/\n",  # in a container, which sees the root of its mount
            {"memory": (500 * MIB, 450 * MIB, 300 * MIB, 50 * MIB)},
            "360 MiB is legal: nine tenths of what /sys/fs/cgroup/memory/memory.limit_in_bytes of 500 MiB leaves",
        ),
        ("3:memory:/\n2:cpu:/box\n", {"memory": (UNLIMITED, 0, 0, 0)}, "720 MiB is legal"),
        ("0::/box\n", {"box": (500 * MIB, 600 * MIB, 0, 0)}, "0 B is legal"),
    ],
)
def test_the_least_of_what_the_limits_leave(groups, files, legal, tmp_path, monkeypatch):
    system(tmp_path, monkeypatch, groups, 800 * MIB, **files)
    assert f"the result needs 1 GiB; at most {legal}" in refusal(1024 * MIB)


def test_the_address_space_that_is_left(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    system(tmp_path, monkeypatch, available=800 * MIB)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (101 * MIB, resource.RLIM_INFINITY))
    mapped = 256 * os.sysconf("SC_PAGE_SIZE")
    assert mapped == MIB or pytest.skip("pages have another size here")
    assert refusal().endswith(
        "at most 90 MiB is legal: nine tenths of what RLIMIT_AS (ulimit -v) of 101 MiB leaves"
    )


def test_a_system_without_these_files_has_the_memory_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_ROOT", tmp_path)
    memory.check_bytes(65 * MIB, "the result")
    assert "is legal: nine tenths of this machine's " in refusal(2**60)


def test_a_small_call_reads_no_limit(monkeypatch):
    monkeypatch.setattr(memory, "_limits", lambda: pytest.fail("a limit was read"))
    for backend in tc.backends():
        if backend.available and backend.name not in ("reference", "cupy"):
            tc.conv2d(X, W, padding="SAME", backend=backend.name)
            tc.conv2d_backprop_filter(X, W.shape, X, padding="SAME", backend=backend.name)


# ---------------------------------------------------------------------------------------------
# What is compared with them
# ---------------------------------------------------------------------------------------------


def test_views_are_counted_only_where_they_repeat_numbers(monkeypatch):
    """As arrays in themselves: of what is in memory already a view takes none."""
    images = np.ones((1, 64, 512, 1024), "float32")  # 128 MiB
    only_memory(monkeypatch, MIB)
    monkeypatch.setattr(memory, "TRIFLE", 64 * MIB)
    tc.conv2d(
        images.transpose(0, 2, 3, 1)[:, :, ::-1], np.ones((1, 1, 64, 1), "float32"), 64, backend="numpy"
    )
    wide = np.broadcast_to(images[..., :1], images.shape)
    with pytest.raises(MemoryError, match="input of shape .* needs 128 MiB; at most 1 MiB is legal"):
        tc.conv2d(wide, np.ones((1, 1, 1024, 1), "float32"), 64, backend="numpy")


def test_a_result_is_counted_at_every_call_and_an_array_of_the_callers_is_not(monkeypatch):
    """The kernel for a call's shapes is prepared once, and memory may have gone since."""
    x, w = np.ones((1, 300, 300, 8), "float32"), np.ones((1, 1, 8, 32), "float32")
    first = (
        tc.conv2d(x, w, backend="cython")
        if not tc.backends.why_not("cython")
        else pytest.skip("not compiled")
    )
    only_memory(monkeypatch, 2 * MIB)
    with pytest.raises(MemoryError, match="the result of shape .* needs 11 MiB; at most 2 MiB is legal"):
        tc.conv2d(x, w, backend="cython")
    assert np.array_equal(tc.conv2d(x, w, backend="cython", out=np.empty_like(first)), first)
    dispatch._places.cache_clear()  # nor is one where the call is prepared
    assert np.array_equal(tc.conv2d(x, w, backend="cython", out=np.empty_like(first)), first)


NUMBERS = 20_000  # of an array, beside which little else counts


@pytest.fixture
def counted(monkeypatch):
    """The sizes that were checked."""
    sizes = []
    for module in (reference, taps, diffing):
        monkeypatch.setattr(module, "check_bytes", lambda nbytes, what: sizes.append(nbytes))
    monkeypatch.setattr(reference, "LARGEST_BLOCK", 1 << 12)  # it is no part of what is counted
    return sizes


def peak_of(function):
    """The most memory that Python and NumPy held during a call, beyond what they held before."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", mostly_slow(["float32", "float64", "int64"], "float32"))
@pytest.mark.parametrize("filters", [(1, 1, 16, 1), (1, 1, 1, 16), (2, 2, 2, 2)])
def test_the_memory_of_the_reference_is_counted(filters, dtype, counted):
    rng, side = np.random.default_rng(3), int((NUMBERS / max(filters[2:])) ** 0.5)
    x, w, dy = (
        (1000 * rng.standard_normal(shape)).astype(dtype)
        for shape in ((1, side, side, filters[2]), filters, (1, side, side, filters[3]))
    )
    geometry = tc.conv2d_geometry(x.shape, filters, 1, "SAME")
    for run in (
        lambda: reference.conv2d(x, w, geometry),
        lambda: reference.conv2d_backprop_input(dy, w, geometry),
        lambda: reference.conv2d_backprop_filter(x, dy, geometry),
    ):
        run()  # tables are kept
        counted.clear()
        peak = peak_of(run)
        assert peak < 1.1 * counted[0] + MIB
        assert counted[0] < 2.2 * peak


def test_the_memory_of_the_loops_and_of_tables_is_counted(counted):
    x, w = np.ones((1, 8, 8, 4), "float32"), np.ones((3, 3, 4, 4), "float32")
    geometry = tc.conv2d_geometry(x.shape, w.shape, 1, "SAME")
    dy = np.random.default_rng(3).standard_normal(geometry.output_shape).astype("float32")
    peak = peak_of(lambda: reference.conv2d_backprop_input(dy, w, geometry, algorithm="loops"))
    assert peak / 1.5 < counted[0] < 1.5 * peak
    for size, filter_size in ((5001, 1), (5001, 9), (900, 151)):
        axis = tc.conv2d_geometry((1, size, 1, 1), (filter_size, 1, 1, 1), 1, "SAME").rows
        for table in (taps.gather, taps.scatter):
            taps.gather.cache_clear()
            counted.clear()
            peak = peak_of(lambda table=table, axis=axis: table(axis))
            assert peak / 1.1 < counted[0] < 2 * peak


@pytest.mark.parametrize("dtype", mostly_slow(["float32", "int32"], "float32"))
@pytest.mark.parametrize("filters", [(1, 1, 16, 1), (1, 1, 1, 16), (2, 2, 2, 2)])
def test_the_memory_of_a_comparison_is_counted(filters, dtype, counted):
    rng, side = np.random.default_rng(3), int((NUMBERS / max(filters[2:])) ** 0.5)
    x, w = (
        (1000 * rng.standard_normal(shape)).astype(dtype) for shape in ((1, side, side, filters[2]), filters)
    )
    wrong = tc.conv2d(x, w, 1, "SAME")
    wrong[0, 3, 3, 0] += 12345
    tc.diff(tc.conv2d, x, w, 1, "SAME", backends="numpy")
    counted.clear()
    peak = peak_of(lambda: tc.diff(tc.conv2d, x, w, 1, "SAME", backends="numpy", against=wrong))
    assert peak < max(counted) + 4 * MIB
    assert max(counted) < 4 * peak


def test_what_is_too_large_for_the_reference_or_a_comparison_is_refused_before_it_begins(monkeypatch):
    x, w = np.ones((1, 40, 40, 8), "float32"), np.ones((3, 3, 8, 8), "float32")
    only_memory(monkeypatch, 400_000)
    with pytest.raises(
        MemoryError, match="the reference, which computes in Python's numbers, for a result of .* needs"
    ):
        tc.conv2d(x, w, backend="reference")
    with pytest.raises(
        MemoryError, match=r"comparing a result of \[1, 38, 38, 8\] needs .*; at most 391 KiB is legal"
    ):
        tc.diff(tc.conv2d, x, w, backends="cython")
    with pytest.raises(MemoryError, match="comparing a result of "):
        tc.check_gradients(tc.conv2d, x, w, backend="numpy")
    taps.gather.cache_clear()
    with pytest.raises(
        MemoryError, match="a table of the 3 taps of an axis of 9,001 cells needs .* is legal"
    ):
        taps.gather(tc.conv2d_geometry((1, 9001, 1, 1), (3, 1, 1, 1), 1, "SAME").rows)


# ---------------------------------------------------------------------------------------------
# Processes that have a limit
# ---------------------------------------------------------------------------------------------

LAYER = """
import numpy as np
import teachconv as tc
import scipy.sparse, scipy.signal
{limit}
x, w = np.ones((1, 20, 20, 32), "float32"), np.ones((5, 5, 32, 32), "float32")  # a matrix of 190 MiB
dy = tc.conv2d(x, w, padding="SAME", backend="numpy")
assert np.array_equal(tc.conv2d(x, w, padding="SAME", backend="scipy"), dy)
dx = tc.conv2d_backprop_input(x.shape, w, x, padding="SAME", backend="scipy")
assert np.array_equal(dx, dy)
dw = tc.conv2d_backprop_filter(x, w.shape, dy, padding="SAME", backend="scipy")
assert np.array_equal(dw, tc.conv2d_backprop_filter(x, w.shape, dy, padding="SAME", backend="numpy"))
for refused in (
    lambda: tc.conv2d(x, w, padding=2000, backend="numpy"),
    lambda: tc.conv_matrix(w, tc.conv2d_geometry((1, 40, 40, 32), w.shape, padding="SAME")),
):
    try:
        refused()
    except MemoryError as error:
        print(error)
"""
ULIMIT = """
import resource
mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (150 << 20),) * 2)
"""


def run_layer(limit, **options):
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", LAYER.format(limit=limit)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.splitlines()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux says how much a process has mapped")
def test_an_ordinary_layer_under_ulimit():
    result, matrix = run_layer(ULIMIT)
    assert result.startswith(
        "the result of shape [1, 4016, 4016, 32] and dtype float32 needs 1.92 GiB; at most "
    )
    assert matrix.startswith("building the sparse matrix of shape [51200, 51200] with ")
    for line in (result, matrix):
        assert " is legal: nine tenths of what RLIMIT_AS (ulimit -v) of " in line


@contextmanager
def control_group(limit):
    """Make a control group inside this process's own; skip where there is none to be had."""
    lines = Path("/proc/self/cgroup").read_text().splitlines() if Path("/proc/self/cgroup").exists() else []
    own = {controllers: path for _, controllers, path in (line.split(":", 2) for line in lines)}
    version1 = "memory" in own
    mount = Path("/sys/fs/cgroup/memory" if version1 else "/sys/fs/cgroup")
    group = mount / own.get("memory" if version1 else "", "/").lstrip("/") / f"teachconv-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        try:
            (group / ("memory.limit_in_bytes" if version1 else "memory.max")).write_text(str(limit))
        except OSError as error:
            pytest.skip(f"no control group with a limit of memory can be made here: {error}")
        yield group
    finally:
        group.rmdir()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX's, if loaded
def test_an_ordinary_layer_in_a_control_group():
    with control_group(250 * MIB) as group:
        lines = run_layer("", preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))
    assert len(lines) == 2
    for line in lines:
        assert f" is legal: nine tenths of what {group}/memory." in line
        assert " of 250 MiB leaves" in line
