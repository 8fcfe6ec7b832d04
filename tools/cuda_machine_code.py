"""Reads the machine code of a GPU kernel: registers and stack from the binary, the instructions from nvdisasm's text."""

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

THREADS = 256  # of a block, in every launch but those of few threads
# what a multiprocessor has: registers, threads, bytes of shared memory (of which each block takes 1 KiB for itself)
REGISTERS, MOST_THREADS = 65536, {75: 1024, 80: 2048, 86: 1536, 89: 1536, 90: 2048, 100: 2048}
SHARED = {75: 64 << 10, 80: 164 << 10, 86: 100 << 10, 89: 100 << 10, 90: 228 << 10, 100: 228 << 10}
_FRAME_SIZE, _REGISTER_COUNT = 0x11, 0x2F  # entries of the section .nv.info: function and number
_FLOAT = ("FFMA", "DFMA", "HMMA", "HFMA2")


@lru_cache(maxsize=1)
def find_nvdisasm():
    """Path of nvdisasm, from NVIDIA's package on PyPI or a toolkit, or None."""
    for place in map(Path, sys.path):
        for found in sorted(place.glob("nvidia/*/bin/nvdisasm")):
            return str(found)
    return shutil.which("nvdisasm")


@dataclass(frozen=True)
class Loop:
    """The innermost loop that multiplies and adds: how many instructions it has of each kind.

    Attributes:
        operation: "FFMA", "DFMA" or "HMMA".
        counts: instructions by their name, without what follows the first dot.
        macs: multiply-adds of one such instruction of a warp.
        loads: bytes of each load from global memory.
    """

    operation: str
    counts: Counter
    macs: int
    loads: tuple[int, ...]

    @property
    def instructions(self):
        return sum(self.counts.values())

    @property
    def share(self):
        """The share of the multiply-adds among the instructions."""
        return self.counts[self.operation] / self.instructions


@dataclass(frozen=True)
class Resources:
    """What a kernel takes: registers of a thread, bytes of its stack, bytes of shared memory of a block."""

    registers: int
    stack: int
    shared: int


def resources(cubin):
    """Return {kernel: Resources} from the ELF file of a binary."""
    sections, names = _sections(cubin)
    symbols = next(section for section in sections if names(section) == ".symtab")
    strings = sections[symbols["link"]]
    by_name = {names(section): section for section in sections}
    numbers = {_FRAME_SIZE: {}, _REGISTER_COUNT: {}}
    data, position = _bytes_of(cubin, by_name[".nv.info"]), 0
    while position < len(data):
        form, kind, size = struct.unpack_from("<BBH", data, position)
        position += 4
        if form != 4:  # the value is in the size's place
            continue
        if kind in numbers:
            index, value = struct.unpack_from("<II", data, position)
            at = struct.unpack_from("<I", cubin, symbols["offset"] + 24 * index)[0] + strings["offset"]
            numbers[kind][cubin[at : cubin.index(b"\0", at)].decode()] = value
        position += size
    kernels = [name.removeprefix(".text.") for name in by_name if name.startswith(".text.")]
    return {
        name: Resources(
            # older cards have the registers in the section's header
            numbers[_REGISTER_COUNT].get(name) or by_name[f".text.{name}"]["info"] >> 24,
            numbers[_FRAME_SIZE][name],
            by_name.get(f".nv.shared.{name}", {"size": 0})["size"],
        )
        for name in kernels
    }


def _bytes_of(elf, section):
    return elf[section["offset"] : section["offset"] + section["size"]]


def _sections(elf):
    """Return the section headers of a 64-bit ELF file, and a function that names one."""
    offset, size, count, names_at = *struct.unpack_from("<Q", elf, 40), *struct.unpack_from("<HHH", elf, 58)
    fields = ("name", "type", "flags", "address", "offset", "size", "link", "info")
    headers = [
        dict(zip(fields, struct.unpack_from("<IIQQQQII", elf, offset + i * size), strict=True))
        for i in range(count)
    ]

    def name(section):
        at = headers[names_at]["offset"] + section["name"]
        return elf[at : elf.index(b"\0", at)].decode()

    return headers, name


def blocks_per_multiprocessor(arch, registers, shared):
    """Return how many blocks of 256 threads fit, by registers, threads and shared memory."""
    by_registers = REGISTERS // (-(-registers // 8) * 8 * THREADS)
    by_threads = MOST_THREADS[arch] // THREADS
    return min(by_registers, by_threads, SHARED[arch] // (shared + 1024))


def disassemble(cubin):
    """Return nvdisasm's text of a binary."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return subprocess.run(
            [find_nvdisasm(), "-c", file.name], capture_output=True, text=True, check=True
        ).stdout


def main_loop(text, kernel, rounds=1):
    """Return the innermost loop of a kernel with the most multiply-adds.

    A loop begins at a label that a later instruction branches back to. It may hold loops that only advance a
    position: those without multiply-adds are counted with it. With ``rounds`` above 1 the loop around it is
    returned, in which the inner one runs so often.
    """
    start = text.index(f".text.{kernel}:")
    end = text.find("\n\t.section", start)
    labels, instructions = {}, []
    for line in text[start : end if end > 0 else None].splitlines():
        if label := re.match(r"(\.L_x_\d+):", line):
            labels[label[1]] = len(instructions)
        elif found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*?);", line):
            instructions.append((found[1], found[2]))
    loops = []
    for last, (name, operands) in enumerate(instructions):
        target = re.search(r"(\.L_x_\d+)", operands) if name.startswith("BRA") else None
        if target and labels.get(target[1], last + 1) <= last:
            loops.append((labels[target[1]], last))

    def fmas(loop):
        return sum(name.startswith(_FLOAT) for name, _ in instructions[loop[0] : loop[1] + 1])

    busy = [loop for loop in loops if fmas(loop)]
    innermost = [a for a in busy if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in busy)]
    first, last = max(innermost, key=fmas)
    body = [name for name, _ in instructions[first : last + 1]] * rounds
    if rounds > 1:
        begin, end = min((a for a in busy if a[0] < first and last < a[1]), key=lambda a: a[1] - a[0])
        body += [name for name, _ in (*instructions[begin:first], *instructions[last + 1 : end + 1])]
    counts = Counter(name.split(".")[0] for name in body)
    operation = max(_FLOAT, key=lambda name: counts[name])
    loads = tuple(_bytes(name) for name in body if name.startswith(("LDG.", "LDGSTS")))
    return Loop(operation, counts, _macs(next(name for name in body if name.startswith(operation))), loads)


def _macs(name):
    """Return the multiply-adds of an instruction of a warp; HMMA.1688 is 16 x 8 x 8."""
    shape = re.match(r"HMMA\.16(8|16)(\d+)", name)
    return 16 * int(shape[1]) * int(shape[2]) if shape else 32


def _bytes(load):
    """Return how many bytes an instruction loads, by its name."""
    sizes = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1}
    return next((sizes[part] for part in load.split(".") if part in sizes), 4)
