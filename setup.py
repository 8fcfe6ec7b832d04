"""Build the one compiled module: teachconv/_kernels.pyx with backends/kernels; pyproject.toml has the rest.

The extension needs gcc or clang, on Windows those of mingw-w64: gcc, or what CC names. Without a C compiler,
and with Microsoft's or on a 32-bit processor, which are not supported, the install still works but is pure
Python: the cython backend says that it is missing, and numpy becomes the default.
TEACHCONV_REQUIRE_CYTHON=1 makes a failed or omitted build an error,
TEACHCONV_NO_CYTHON=1 leaves the extension out. One build serves CPython 3.11 and every later version (the
stable ABI); free-threaded CPython has no stable ABI and gets one of its own.
"""

import gzip
import os
import shutil
import sys
import sysconfig
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError

# What makes a fault in the kernels harder to exploit: canaries on the stack, checked copies, and tables of
# addresses that are read-only once the module is loaded. No kernel is slower for it (make bench-check).
HARDENED = ["-fstack-protector-strong", "-Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=2"]
HARDENED_LINKS = ["-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]  # those of ELF
# gcc takes the stack of 64-bit Windows to be aligned for any vector; it is for 16 bytes only (bug 54412).
UNALIGNED = ["-Wa,-muse-unaligned-vector-move"]
# The threads of mingw-w64 and what gcc needs go into the module: a user has neither.
STATIC = ["-static-libgcc", "-Wl,-Bstatic", "-lpthread"]
TARGET = sysconfig.get_platform()  # that of a cross-build, too
COMPILER = os.environ.get("CC", "gcc")
STABLE_ABI = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
REQUIRED = os.environ.get("TEACHCONV_REQUIRE_CYTHON") == "1"
LEFT_OUT = (
    "teachconv: {} is not supported, so teachconv._kernels is left out and the install is pure Python "
    "(the default backend is numpy); the extension needs gcc or clang (on Windows mingw-w64's) and a 64-bit "
    "Python"
)


class BuildKernels(build_ext):
    """Compile the sources in parallel, and no extension with a compiler that is not supported."""

    def get_libraries(self, extension):
        """Link Windows' library of the stable ABI; other than Microsoft's compilers get one version's."""
        libraries = super().get_libraries(extension)
        return ["python3"] if STABLE_ABI and TARGET.startswith("win") else libraries

    def build_extensions(self):
        microsofts = self.compiler.compiler_type == "msvc"
        if microsofts or sys.maxsize < 2**32:
            message = LEFT_OUT.format("Microsoft's C compiler" if microsofts else "a 32-bit processor")
            if REQUIRED:
                raise CompileError(message)
            print(message, file=sys.stderr)
            self.extensions = []
        compile_serially = self.compiler.compile

        def compile_in_parallel(sources, **options):
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = pool.map(lambda source: compile_serially([source], **options), sources)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_in_parallel
        super().build_extensions()


class ReproducibleSdist(sdist):
    """Write the same bytes for the same files; setuptools records who builds, where and when."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        if format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        time = int(
            os.environ.get("SOURCE_DATE_EPOCH", 315532800)
        )  # 1980, the first year that a zip file knows

        def anonymous(entry):
            entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime = 0, 0, "", "", time
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            return entry

        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            archive.add(base_dir, filter=anonymous)  # adds what is in a folder in the order of the names
        return name


def extensions():
    if os.environ.get("TEACHCONV_NO_CYTHON") == "1":
        return []
    from Cython.Build import cythonize

    compile_args, link_args = ["-O3", "-g0", "-pthread"], ["-pthread"]
    if TARGET.startswith(("linux", "macosx")):  # emscripten's linker does not know these
        compile_args += HARDENED
    if TARGET.startswith("linux"):
        link_args += HARDENED_LINKS
    if TARGET.startswith("win"):
        compile_args += [] if "clang" in COMPILER else UNALIGNED
        link_args += STATIC
    sanitize = os.environ.get("TEACHCONV_SANITIZE", "")
    optimize = {"1": "-O1", "small": "-O0", "fuzz": "-O0"}.get(sanitize)
    if optimize:  # see make sanitize, sanitize-small and fuzz
        checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
        if sanitize == "fuzz":
            checks.append("-fsanitize=fuzzer-no-link")
        compile_args, link_args = [optimize, "-g1", "-pthread", *checks], ["-pthread", *checks]
    coverage = os.environ.get("TEACHCONV_COVERAGE") == "1"  # for tests/inspection/test_compiled_marks.py
    if coverage:
        compile_args, link_args = ["-O0", "-g1", "-pthread", "--coverage"], ["-pthread", "--coverage"]
    kernels = Path("teachconv/backends/kernels")
    modules = cythonize(
        Extension(
            "teachconv._kernels",
            ["teachconv/_kernels.pyx", *sorted(map(str, kernels.glob("*.c")))],
            depends=sorted(map(str, kernels.glob("*.h"))),
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE_ABI else [],
            py_limited_api=STABLE_ABI,
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        ),
        build_dir="build/cython-coverage" if coverage else "build/cython",
        emit_linenums=coverage,  # counts are then those of lines of the .pyx file
    )
    if coverage:  # else the C code after the last line of the .pyx file would count as lines of that file
        made = Path("build/cython-coverage/teachconv/_kernels.c")
        made.write_text(made.read_text().replace("/* #### Code section:", '#line 1 "_kernels.c"\n/* ####'))
    for module in modules:  # cythonize() drops optional=, so it is set on what it returns
        module.optional = not REQUIRED
    return modules


modules = extensions()
options = {"bdist_wheel": {"py_limited_api": "cp311"}} if modules and STABLE_ABI else {}
if os.name == "nt" and shutil.which(COMPILER):
    options["build_ext"] = {"compiler": "mingw32"}  # setuptools' name of either
setup(
    ext_modules=modules,
    cmdclass={"build_ext": BuildKernels, "sdist": ReproducibleSdist},
    options=options,
)
