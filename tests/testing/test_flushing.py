"""A library that makes the processor flush subnormal numbers to zero: its kernel fails, and the report says why."""

import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.xdist_group("flushing")

SOURCE = """
#if defined(__x86_64__)
#include <xmmintrin.h>
static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
#else
static void flush(void) {
    unsigned long mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1ul << 24));
}
#endif
__attribute__((constructor)) static void loaded(void) { flush(); }
"""  # what gcc's -ffast-math links into a library
PROGRAM = """
import ctypes, sys
import numpy as np
import teachconv as tc
from teachconv import testing as T

def right(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("ncrsij,ocij->nors", windows, w)

def lazy(x, w):
    ctypes.CDLL(sys.argv[1])
    return right(x, w)

def said(function):
    options = {"tags": ["hand", "odd"], "kinds": "conv2d", "data": ["integers", "tiny"]}
    kernel = T.kernel(function, x="NCHW", w="OIHW")
    report = tc.check_backend(kernel, "float32", **options)
    x = np.full((1, 1, 3, 3), 2.0**-140, "float32")
    call = T.Case("mine", "conv2d", (1, 3, 3, 1), (3, 3, 1, 1))
    one = T.check(kernel, call, "float32", "integers", "conv2d", way="subnormal numbers")
    own = tc.diff(tc.conv2d, x.transpose(0, 2, 3, 1), x.transpose(2, 3, 0, 1) * 0 + 1, backends=["reference"])
    rows = [row for row in report.failed if "subnormal" in row.name or "tiny" in row.name]
    print(report.passed, bool(rows), "flushes subnormal" in report.summary, one.passed, own.passed)

if sys.argv[2] == "lazily":
    said(lazy)
else:
    said(right)
    ctypes.CDLL(sys.argv[1])
    said(right)
print(not sys.float_info.min / 2)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if platform.machine() not in ("x86_64", "aarch64", "arm64"):
        pytest.skip("the mode of this processor is not known here")
    folder = tmp_path_factory.mktemp("flushing")
    (folder / "fast.c").write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "fast.c", "-o", "fast.so"], cwd=folder, check=True)
    (folder / "program.py").write_text(PROGRAM)
    return folder


@pytest.mark.parametrize(
    ("when", "lines"),
    {
        "before": ["True False False True True", "False True True False True", "True"],
        "lazily": ["False True True False True", "True"],
    }.items(),
)
def test_a_process_that_flushes_is_told_and_its_kernel_fails(library, when, lines):
    command = [sys.executable, str(library / "program.py"), str(library / "fast.so"), when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout.split("\n")[:-1] == lines, done.stdout + done.stderr
