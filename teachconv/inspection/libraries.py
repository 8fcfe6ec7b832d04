"""Names the libraries in which some algorithms' arithmetic runs, with their versions and the calls."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ..backends import blas
from ..core.dtypes import INTEGERS

# by name: how the backends call a part of SciPy
_SCIPY = {"scipy.sparse": "csr_array @ array", "scipy.signal": "correlate2d or fftconvolve"}


def library(backend: str, name: str, dtype: str) -> tuple[str, str]:
    """Return a library's name with its version, and how it is called.

    BLAS is that of SciPy, which cython calls, or that of NumPy; integers are NumPy's own loops.

    Args:
        backend: the backend that calls it.
        name: "BLAS", "scipy.sparse", "scipy.signal", "cuBLAS" or "cuDNN", as the marks in the sources name
            it.
        dtype: the dtype of the arrays.

    Returns:
        The name with the version, and a remark; of a name that a reader wrote into a mark, the name alone.

    >>> import scipy
    >>> library("scipy", "scipy.signal", "float32")[0] == f"scipy.signal {scipy.__version__}"
    True
    """
    if name in _SCIPY:
        return f"{name} {import_module('scipy').__version__}", _SCIPY[name]
    if name == "cuBLAS":
        cuda = import_module("cupy").cuda
        return f"cuBLAS {cuda.cublas.getVersion(cuda.device.get_cublas_handle())}", "gemmStridedBatched"
    if name == "cuDNN":
        return f"cuDNN {import_module('cudnn').backend_version_string()}", "pygraph.execute"
    if backend == "numpy" and dtype in INTEGERS:
        return f"NumPy {np.__version__}", "matmul's own loops: BLAS has no integers"
    calls = {"cython": ("scipy", "cython_blas, gemm")}
    home, call = calls.get(backend, ("numpy", "matmul, gemm for floats"))
    found = next(iter(blas.libraries(home)), None) if name == "BLAS" else None
    if found is None:
        return (f"the BLAS of {home}", call) if name == "BLAS" else (name, "")
    name = {"openblas": "OpenBLAS", "mkl": "MKL", "blis": "BLIS"}.get(found.internal_api, found.internal_api)
    return f"{name} {found.version}", call
