"""Build the one compiled module, teachconv/_kernels.pyx; everything else is in pyproject.toml.

Without a C compiler the install still works, pure: the extension is optional, the cython backend then
says that it is missing, and numpy becomes the default. TEACHCONV_REQUIRE_CYTHON=1 makes a failed
build an error, TEACHCONV_NO_CYTHON=1 leaves the extension out.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup


def extensions():
    if os.environ.get("TEACHCONV_NO_CYTHON") == "1":
        return []
    from Cython.Build import cythonize

    if sys.platform == "win32":
        compile_args, link_args = ["/O2", "/openmp"], []
    elif sys.platform == "darwin":  # Apple's clang has no OpenMP of its own: one thread there
        compile_args, link_args = ["-O3", "-g0"], []
    else:
        compile_args, link_args = ["-O3", "-g0", "-fopenmp"], ["-fopenmp"]
    if os.environ.get("TEACHCONV_SANITIZE") == "1":  # see make sanitize
        checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
        compile_args, link_args = ["-O1", "-g1", "-fopenmp", *checks], ["-fopenmp", *checks]
    modules = cythonize(
        Extension(
            "teachconv._kernels",
            ["teachconv/_kernels.pyx"],
            depends=sorted(str(header) for header in Path("teachconv/kernels").glob("*.h")),
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        ),
        build_dir="build/cython",
    )
    for module in modules:  # cythonize() drops optional=, so it is set on what it returns
        module.optional = os.environ.get("TEACHCONV_REQUIRE_CYTHON") != "1"
    return modules


setup(ext_modules=extensions())
