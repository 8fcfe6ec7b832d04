"""Settings of the whole test run, and fixtures."""

import contextlib
import functools
import gc
import os
import sys
from collections import Counter

import numpy as np
import pytest
from browser import chromium, new_tab
from cuda_host import encode_for_host
from fake_cudnn import fake_cudnn
from fake_cupy import fake_cupy
from hypothesis import HealthCheck, settings

import teachconv
from teachconv import backends
from teachconv.backends import why_not
from teachconv.backends.cuda import compiling, cudnn, device
from teachconv.running import dispatch

# for the tests that run TensorFlow: its kernels for dilated and grouped gradients are oneDNN's, and it chooses
# once for the whole process
os.environ |= {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}

settings.register_profile(
    "teachconv", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("teachconv")

if os.environ.get("TEACHCONV_REQUIRE_CYTHON") == "1":
    assert not why_not("cython"), why_not("cython")

collect_ignore = ["typing/user.py"]  # a user's program, which one test runs; it has no doctests


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Run the modules that start a browser first, and all of them in one worker: each worker would start its own."""
    for item in items:
        if hasattr(getattr(item, "module", None), "needs_browser"):
            item.add_marker("browser")
            item.add_marker(pytest.mark.xdist_group("browser"))
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


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


_opened = contextlib.ExitStack()  # closes the browser, while one is open


@functools.cache
def _browser():
    """A browser without network; each worker starts one, and again where it was closed before its next test."""
    _opened.callback(_browser.cache_clear)
    return _opened.enter_context(chromium())


@pytest.fixture(scope="module")
def driver():
    """A tab of the browser, for the tests of one module."""
    with new_tab(_browser()) as found:
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
def cupy_forgotten():
    """The cupy backend as at its first use, before and after: not looked up, no call kept, no kernel loaded."""

    def forget():
        backends._ready.pop("cupy", None)
        compiling.forget()
        dispatch._places.cache_clear()

    forget()
    yield
    forget()


@pytest.fixture
def stand_in(cupy_forgotten, monkeypatch, kernel_folder, tmp_path):
    """The stand-in for CuPy, installed in its place, with no kernel compiled yet."""
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "kernels"))
    modules = fake_cupy(kernel_folder)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(device, "encode", encode_for_host)  # the driver's
    return modules["cupy"]


@pytest.fixture
def cudnn_stand_in(stand_in, monkeypatch):
    """The stand-in for NVIDIA's package of cuDNN, in its place, beside the one for CuPy."""
    library = fake_cudnn()
    monkeypatch.setitem(sys.modules, "cudnn", library)

    def forget():
        cudnn.handle.cache_clear()
        cudnn.schedule.cache_clear()

    forget()
    yield library
    forget()


@pytest.fixture(autouse=True)
def _same_settings_after():
    threads = teachconv.support.settings.asked_threads  # None if nobody has set it
    yield
    teachconv.support.settings.asked_threads = threads
