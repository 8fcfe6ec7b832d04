"""CUDA's compilers without a GPU: nvcc where it is installed, else NVRTC from its PyPI package, through ctypes."""

import ctypes
import pickle
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from cuda_host import made_once
from cuda_machine_code import disassemble

from teachconv.backends.cuda import sources

NVCC = shutil.which("nvcc")


@lru_cache(maxsize=1)
def find_nvrtc():
    """Path of libnvrtc, from NVIDIA's package on PyPI or a toolkit, or None."""
    for place in map(Path, sys.path):
        for found in sorted(place.glob("nvidia/*/lib/libnvrtc.so.*")):
            return found
    found = sorted(Path("/usr/local/cuda/lib64").glob("libnvrtc.so.*"))
    return found[0] if found else None


def headers_beside(library):
    """The CUDA headers of the same release as an NVRTC, as options; else those that are found at all."""
    near = library.parent.parent / "include"
    folders = (str(near),) if (near / "mma.h").is_file() else sources.header_folders()
    return [f"-I{folder}" for folder in folders]


class Nvrtc:
    """One NVRTC library: compiles a source to PTX and cubin, and returns the log."""

    def __init__(self, path):
        self.path, self.library = path, ctypes.CDLL(str(path))

    def compile(self, text, name, options):
        """Return (succeeded, log)."""
        binary, log = self.binary(text, name, options)
        return bool(binary), log

    def binary(self, text, name, options):
        """Return the binary, empty if there is an error, and the log."""
        library, program = self.library, ctypes.c_void_p()
        made = library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
        assert made == 0
        given = [option.encode() for option in [*options, *headers_beside(self.path)]]
        status = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
        log, binary = (self._text(program, what) for what in ("ProgramLog", "CUBIN"))
        library.nvrtcDestroyProgram(ctypes.byref(program))
        return b"" if status else binary, log.rstrip(b"\0").decode().strip()

    def _text(self, program, what):
        """Return what nvrtcGet... has to say about a program."""
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, text)
        return text.raw


class Kept:
    """An NVRTC whose binaries, and their text, stay in a folder that all workers of a run share."""

    def __init__(self, folder):
        self.folder, self.nvrtc = Path(folder), Nvrtc(find_nvrtc())

    def binary(self, text, name, options):
        """Return the binary, empty if there is an error, and the log; each is compiled once."""
        made_of = "\0".join([text, name, *options]).encode()

        def make(path):
            path.write_bytes(pickle.dumps(self.nvrtc.binary(text, name, options)))

        return pickle.loads(made_once(self.folder, "nvrtc.pickle", made_of, make).read_bytes())

    def text(self, binary):
        """Return nvdisasm's text of a binary."""
        return made_once(
            self.folder, "nvdisasm.sass", binary, lambda path: path.write_text(disassemble(binary))
        ).read_text()


def compile_by_nvcc(text, name, options):
    """Return (succeeded, log); warnings are errors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        command = [
            NVCC,
            "-Werror",
            "all-warnings",
            "-cubin",
            "-o",
            str(path.with_suffix(".cubin")),
            *options,
            str(path),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode == 0, (done.stdout + done.stderr).strip()
