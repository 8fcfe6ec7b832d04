"""Settings of the whole test run, and fixtures."""

import os
import sys

import numpy as np
import pytest
from fake_cupy import fake_cupy
from hypothesis import HealthCheck, settings

import teachconv as tc
from teachconv import backends
from teachconv.backends import cupy_backend, why_not

# for the tests that run TensorFlow: its kernels for dilated and grouped gradients are oneDNN's, and it chooses
# once for the whole process
os.environ |= {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}

settings.register_profile(
    "teachconv", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("teachconv")

if os.environ.get("TEACHCONV_REQUIRE_CYTHON") == "1":
    assert not why_not("cython"), why_not("cython")


@pytest.fixture
def rng():
    return np.random.default_rng(20261121)


@pytest.fixture(scope="session")
def kernel_folder(tmp_path_factory):
    """The folder of the GPU kernels compiled for the host during the run."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def cupy_forgotten(monkeypatch, tmp_path):
    """The cupy backend as at its first use, before and after: not looked up, no kernel compiled or kept."""

    def forget():
        backends._ready.pop("cupy", None)
        cupy_backend._function.cache_clear()
        cupy_backend._module.cache_clear()

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
    threads = tc.get_num_threads()
    yield
    tc.set_num_threads(threads)
