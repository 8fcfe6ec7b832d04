"""The compiled module is linked as setup.py asks: addresses read-only after loading, no executable stack, canaries."""

import struct
import sys

import pytest

from teachconv.backends import why_not

STACK, RELRO, DYNAMIC = 0x6474E551, 0x6474E552, 2
FLAGS, FLAGS_1, BIND_NOW, NOW, EXECUTABLE = 30, 0x6FFFFFFB, 8, 1, 1


@pytest.fixture(scope="module")
def module_bytes():
    if sys.platform != "linux":
        pytest.skip("only Linux has ELF files")
    if why := why_not("cython"):
        pytest.skip(why)
    from teachconv import _kernels

    with open(_kernels.__file__, "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def segments(module_bytes):
    """{type: (flags, offset, size)} of the program headers of a 64-bit ELF file."""
    assert module_bytes[:5] == b"\x7fELF\x02"
    (start,) = struct.unpack_from("<Q", module_bytes, 32)
    size, count = struct.unpack_from("<HH", module_bytes, 54)
    headers = [struct.unpack_from("<IIQQQQ", module_bytes, start + number * size) for number in range(count)]
    return {kind: (flags, offset, length) for kind, flags, offset, _, _, length in headers}


def test_every_address_is_resolved_when_the_module_is_loaded_and_read_only_then(module_bytes, segments):
    _, offset, length = segments[DYNAMIC]
    entries = dict(struct.iter_unpack("<QQ", module_bytes[offset : offset + length]))
    assert entries.get(FLAGS, 0) & BIND_NOW
    assert entries.get(FLAGS_1, 0) & NOW
    assert RELRO in segments


def test_no_stack_is_executable(segments):
    flags, *_ = segments[STACK]
    assert not flags & EXECUTABLE


def test_functions_with_arrays_on_the_stack_check_it(module_bytes):
    assert b"__stack_chk_fail\0" in module_bytes
