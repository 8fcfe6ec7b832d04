"""Settings of the whole test run, and fixtures."""

import contextlib
import gc
import os
import sys
from collections import Counter

import numpy as np
import pytest
from browser import chromium, new_tab
from fake_cupy import fake_cupy
from hypothesis import HealthCheck, settings

import teachconv
from teachconv import backends
from teachconv.backends import why_not
from teachconv.backends.cuda import compiling

# for the tests that run TensorFlow: its kernels for dilated and grouped gradients are oneDNN's, and it chooses
# once for the whole process
os.environ |= {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}

settings.register_profile(
    "teachconv", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("teachconv")

if os.environ.get("TEACHCONV_REQUIRE_CYTHON") == "1":
    assert not why_not("cython"), why_not("cython")

# scripts without doctests: the one for a machine with a GPU would put benchmarks/ on the path, the networks need
# frameworks, and the user's program computes, which one test does
collect_ignore = ["cuda/first_run.py", "typing/user.py"]
collect_ignore += ["peers/ported_networks.py", "peers/networks_to_stream.py"]
collect_ignore += ["peers/their_tests.py", "peers/their_helpers.py", "peers/their_imports.py"]


# files whose tests share what takes long to make: a browser, a run of the benchmark, the exact result of a network,
# the C programs, the extension compiled for gcov, arrays of which memory holds one at a time, the parsed sources,
# a fresh process
TOGETHER = (
    "test_explorer_browser.py",
    "test_explorer_clicks.py",
    "test_explorer_pointing.py",
    "test_playground.py",
    "test_benchmarks.py",
    "test_networks.py",
    "test_play.py",
    "test_compiled_marks.py",
    "test_large_arrays.py",
    "test_structure.py",
    "test_first_call.py",
)
# files that load CuPy and NVIDIA's compiler, or GPU kernels compiled for the host; both stay in memory, so one worker
# has each
HOST = ("test_cuda_arithmetic", "test_cuda_races")
GPU = ("test_cuda_", "test_cupy")
# files whose cases share nothing and take long, most of them before a release only: each may run in another worker
APART = ("test_planted.py", "test_ranks_live.py")


def scope_of(nodeid):
    """What runs in one worker, where it shares what is cached: the cases of a test, or the tests of a file."""
    for group in (HOST, GPU):
        if any(name in nodeid for name in group):
            return group[0]
    if any(name in nodeid for name in APART):
        return nodeid
    return nodeid.partition("::" if any(name in nodeid for name in TOGETHER) else "[")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With pytest-xdist, the workers are given scopes."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # pytest_collection_modifyitems has the order

    class ByScope(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope_of(nodeid)

    return ByScope(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of modules that start a browser; put those first, then what stays together and what takes long.

    The short ones are then at the end, where no worker waits long for another.
    """
    for item in items:
        if hasattr(item, "module") and hasattr(item.module, "needs_browser"):
            item.add_marker("browser")

    def turn(item):
        together = any(name in item.nodeid for name in (*TOGETHER, *HOST, *GPU))
        apart = any(name in item.nodeid for name in APART)
        return item.get_closest_marker("browser") is None, not together, not apart

    items.sort(key=turn)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from looking through ten thousand tests, while they are collected and after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Close the browser after the last test that needs it, so that memory holds it or what the others need."""
    if nextitem is None or not nextitem.get_closest_marker("browser"):
        _opened.close()


def pytest_terminal_summary(terminalreporter):
    """Say how many tests were skipped, by reason: pytest's own list has a line for every place."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count:4}: {reason}")


_opened = contextlib.ExitStack()  # the browser, while one is open


@pytest.fixture(scope="session")
def browser():
    """A browser without network; each worker starts one, and pytest_runtest_teardown closes it."""
    return _opened.enter_context(chromium())


@pytest.fixture(scope="module")
def driver(browser):
    """A tab of the browser, for the tests of one module."""
    with new_tab(browser) as found:
        yield found


@pytest.fixture
def rng():
    return np.random.default_rng(20261121)


@pytest.fixture(scope="session")
def kernel_folder(tmp_path_factory):
    """The folder of the GPU kernels compiled for the host during the run, shared by all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    (folder / "kernels").mkdir(exist_ok=True)
    return folder / "kernels"


@pytest.fixture
def cupy_forgotten(monkeypatch, tmp_path):
    """The cupy backend as at its first use, before and after: not looked up, no kernel compiled or kept."""

    def forget():
        backends._ready.pop("cupy", None)
        compiling.forget()

    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "kernels"))
    forget()
    yield
    forget()


@pytest.fixture
def stand_in(cupy_forgotten, monkeypatch, kernel_folder):
    """The stand-in for CuPy, installed in its place."""
    modules = fake_cupy(kernel_folder)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return modules["cupy"]


@pytest.fixture(autouse=True)
def _same_settings_after():
    threads = teachconv.support.settings.asked_threads  # None if nobody has set it
    yield
    teachconv.support.settings.asked_threads = threads
