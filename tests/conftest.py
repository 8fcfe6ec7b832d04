"""Settings of the whole test run, and fixtures."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import teachconv as tc
from teachconv.backends import why_not

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
    """Where the GPU's kernels, compiled for the host, are kept for the length of the run."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def _same_settings_after():
    threads = tc.get_num_threads()
    yield
    tc.set_num_threads(threads)
