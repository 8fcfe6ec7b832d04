"""Runs kernels on the host under ThreadSanitizer: each thread of a block is a fiber of its own, see cuda/shim.h."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from cuda_host import COMPILER, SHIM, Host, build, build_host

from teachconv.backends.cuda import sources

FLAGS = (
    "-std=c++17",
    "-O1",
    "-fPIC",
    "-g1",
    "-fsanitize=thread",
    "-fno-strict-aliasing",
    "-w",
    "-shared",
)


class RaceError(AssertionError):
    """Two threads accessed the same memory, at least one of them to write, and no barrier is between the two."""


class Racer(Host):
    """A host machine whose every launch is a process under ThreadSanitizer."""

    def __init__(self, folder, reverse=False, sources_of=None):
        super().__init__(folder, reverse, sources_of, FLAGS)

    def launch(self, step, arguments):
        kernel = step.kernel
        options = sources.defines(kernel.dtype, kernel.defines)
        text = self.sources_of.get(kernel.file)
        library = build_host(self.folder, kernel.file, options, text, FLAGS)
        flags = [flag for flag in FLAGS if flag != "-shared"]
        program = build(self.folder, "main.exe", SHIM.with_name("main.cpp").read_text(), [*flags, "-ldl"])
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            file.write(np.int64([step.grid, step.block, step.shared, len(arguments)]).tobytes())
            for value in arguments:
                file.write(_argument(value))
            file.flush()
            command = [program, library, f"launch_{kernel.name}", file.name, str(int(self.reverse))]
            done = subprocess.run(command, capture_output=True, text=True)
            if "data race" in done.stderr:
                raise RaceError(done.stderr[:2000])
            assert done.returncode != 2, f"threads of {kernel.name} part at a barrier"
            assert done.returncode == 0, done.stderr
            results = Path(file.name).read_bytes()
        for array in (value for value in arguments if _is_pointer(value)):
            array[...] = np.frombuffer(results[: array.nbytes], array.dtype).reshape(array.shape)
            results = results[array.nbytes :]


def _is_pointer(value):
    return isinstance(value, np.ndarray) and not value.dtype.names


def _argument(value):
    if value is None:
        return np.int64([1, -1]).tobytes()
    data = np.asarray(value).tobytes()
    return np.int64([_is_pointer(value), len(data)]).tobytes() + data


def has_thread_sanitizer():
    """Whether the compiler has it, and it runs here."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        command = [COMPILER, "-fsanitize=thread", "-x", "c++", "-", "-o", str(program)]
        made = subprocess.run(command, input="int main() {}", text=True, capture_output=True)
        return made.returncode == 0 and subprocess.run([str(program)], capture_output=True).returncode == 0
