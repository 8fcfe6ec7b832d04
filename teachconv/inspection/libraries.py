"""Names the libraries in which some algorithms' arithmetic runs, with their versions and the calls."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..backends import blas
from ..core.dtypes import INTEGERS


def library(backend: str, name: str, dtype: str) -> tuple[str, str]:
    """Return a library's name with its version, and how it is called.

    Args:
        backend: the backend that calls it.
        name: "BLAS", "scipy.sparse", "scipy.signal" or "cuBLAS", as the marks in the sources name it.
        dtype: the dtype of the arrays.

    Returns:
        The name with the version, and a remark.

    >>> import scipy
    >>> library("scipy", "scipy.signal", "float32")[0] == f"scipy.signal {scipy.__version__}"
    True
    """
    if name == "BLAS":
        return _blas(backend, dtype)
    if name == "cuBLAS":
        version = import_module("cupy").cuda.cublas.getVersion
        cublas: Any = import_module("cupy_backends.cuda.libs.cublas")
        return f"cuBLAS {version(cublas.create())}", "gemmStridedBatched"
    call = {"scipy.sparse": "csr_array @ array", "scipy.signal": "correlate2d or fftconvolve"}[name]
    return f"{name} {import_module('scipy').__version__}", call


def _blas(backend: str, dtype: str) -> tuple[str, str]:
    """Return the BLAS of SciPy, which cython calls, or that of NumPy; integers are NumPy's own loops."""
    home, call = (
        ("scipy", "cython_blas, gemm") if backend == "cython" else ("numpy", "matmul, gemm for floats")
    )
    if backend == "numpy" and dtype in INTEGERS:
        return f"NumPy {np.__version__}", "matmul's own loops: BLAS has no integers"
    found = next(iter(blas.libraries(home)), None)
    if found is None:
        return f"the BLAS of {home}", call
    name = {"openblas": "OpenBLAS", "mkl": "MKL", "blis": "BLIS"}.get(found.internal_api, found.internal_api)
    return f"{name} {found.version}", call
