"""Files that claim enormous sizes: no reader takes more memory than a little beside the file that is there.

One process reads them all under a limited address space and measures the peak of its resident memory for each. What is
claimed is either far more than that space or less, so that it could be had and would be seen. `autotune` keeps no
files, and only a browser reads the data of an explorer's page.
"""

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

MIB = 2**20
BOUND = 24 * MIB  # resident memory that one file may take for a moment
SPACE = 512 * MIB  # of addresses, beside what the process has when everything is imported
LARGE = 300 * MIB  # bytes of files that are holes on disk

pytestmark = [
    pytest.mark.xdist_group("memory"),
    pytest.mark.skipif(
        not os.path.exists("/proc/self/clear_refs"), reason="the peak of the memory is measured by Linux"
    ),
]


# ---------------------------------------------------------------------------------------------
# The files
# ---------------------------------------------------------------------------------------------


def npy(shape, descr="<f4", data=bytes(64)):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def long_header(size):
    """An .npy file of version 2 whose header claims so many bytes."""
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", size) + b"{'descr': '<f4', "


def png(rows, cols):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packed = zlib.compress(bytes(min(rows * (3 * cols + 1), MIB)))
    header = struct.pack(">IIBBBBB", cols, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def npz(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            with archive.open(f"dense/{name}.npy", "w") as member:
                for part in data if isinstance(data, list) else [data]:
                    member.write(part)
    return file.getvalue()


def whole(shape):
    file = io.BytesIO()
    np.save(file, np.ones(shape, "float32"))
    return file.getvalue()


def safetensors(header, length=None):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + bytes(64)


def onnx_model(dims=(2, 1, 3, 3), data=bytes(72), external=None, inputs=(1, 1, 8, 8)):
    import onnx

    tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=dims)
    if external is None:
        tensor.raw_data = data
    else:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in external.items():
            tensor.external_data.add(key=key, value=str(value))
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", kind, list(inputs))],
        [helper.make_tensor_value_info("y", kind, None)],
        [tensor],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def files():
    """The bytes of each file by its name; where a number follows, the file is made so long by a hole."""
    kernel, bias = whole((4, 3)), whole(3)
    made = {
        "whole.npy": whole((1, 4, 4, 1)),
        "4 TB.npy": npy((1, 2**20, 2**20, 1)),
        "400 MB.npy": npy((1, 10_000, 10_000, 1)),
        "2^62 numbers.npy": npy((2**62, 1, 1, 1)),
        "wide text.npy": npy((1, 4, 4, 1), "<U500000000"),
        "a header of 4 GB.npy": (long_header(2**32 - 1), LARGE),
        "a header of 256 MB.npy": (long_header(256 * MIB), LARGE),
        "whole.weights.npz": npz(kernel=kernel, bias=bias),
        "4 TB.weights.npz": npz(kernel=npy((2**20, 2**20)), bias=bias),
        "a bomb of 128 MB.weights.npz": npz(kernel=[npy((4, 3), data=b""), *[bytes(MIB)] * 128], bias=bias),
        "a header of 128 MB.weights.npz": npz(
            kernel=[long_header(128 * MIB), *[bytes(MIB)] * 128], bias=bias
        ),
    }
    if find_spec("PIL"):
        made |= {
            "whole.png": png(9, 12),
            "2 billion pixels.png": png(100, 2**24),
            "88 million pixels.png": png(8_800, 10_000),
            "a plain map.pgm": (b"P5 60000 60000 255\n", LARGE),
        }
    if find_spec("safetensors"):
        entry = {"dtype": "F32", "shape": [2**20, 2**20], "data_offsets": [0, 2**42]}
        good = {
            "dense/kernel": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]},
            "dense/bias": {"dtype": "F32", "shape": [3], "data_offsets": [48, 60]},
        }
        made |= {
            "whole.safetensors": safetensors(good)[:-4],
            "4 TB.safetensors": safetensors(good | {"dense/kernel": entry}),
            "a header of 2^62.safetensors": safetensors(good, 2**62),
            "a header of 256 MB.safetensors": (safetensors(good, 256 * MIB), LARGE),
        }
    if find_spec("onnx"):
        made |= {
            "whole.onnx": onnx_model(),
            "4 TB.onnx": onnx_model((2**20, 2**20, 1, 1), bytes(64)),
            "an input of 4 TB.onnx": onnx_model(inputs=(1, 1, 2**20, 2**20)),
            "4 GB outside.onnx": onnx_model((2**15, 2**15, 1, 1), external={"location": "whole.npy"}),
            "256 MB outside.onnx": onnx_model((2**13, 2**13, 1, 1), external={"location": "whole.npy"}),
            "longer than protobuf has.onnx": (onnx_model(), 2**31 + 1),
        }
    return made


# ---------------------------------------------------------------------------------------------
# The process that reads them
# ---------------------------------------------------------------------------------------------


def read(path):
    """Read one file as a user does."""
    import teachconv as tc
    from teachconv import keras
    from teachconv.cli.main import main

    if path.suffix == ".npy":
        return main(["explain", "conv2d", "--input", str(path), "--filters", "2,2,1,1", "--at", "0,0,0,0"])
    if path.suffix in (".png", ".pgm"):
        return main(["explore", "--input", str(path), "-o", str(path.with_suffix(".html"))])
    if path.suffix == ".onnx":
        return str(tc.onnx_model(path))
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    return model.load_weights(path)


def memory(field):
    """A line of /proc/self/status in bytes."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition(f"\n{field}:")[2].split()[0])


def watch(folder):
    """Read all files, the whole ones first; print for each what came of it and the peak of memory beside before."""
    import resource

    paths = sorted(folder.iterdir(), key=lambda path: (not path.name.startswith("whole"), path.name))
    limited = False
    for path in paths:
        if not (limited or path.name.startswith("whole")):
            resource.setrlimit(resource.RLIMIT_AS, (memory("VmSize") + SPACE,) * 2)
            limited = True
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
        before = memory("VmRSS")
        try:
            outcome = repr(read(path))
        except (ValueError, TypeError, OSError, MemoryError) as error:
            outcome = f"{type(error).__name__}: {error}"
        found = {"name": path.name, "outcome": outcome[:300], "peak": memory("VmHWM") - before}
        print(json.dumps(found), file=sys.__stdout__, flush=True)


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """What came of each file, by its name."""
    folder = tmp_path_factory.mktemp("hostile")
    made = files()
    for name, data in made.items():
        data, size = data if isinstance(data, tuple) else (data, 0)
        with (folder / name).open("wb") as file:
            file.write(data)
            file.truncate(max(size, len(data)))
    run = [sys.executable, __file__, str(folder)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
    assert {row["name"] for row in rows} == set(made)
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("kind", [".npy", ".npz", ".png", ".pgm", ".safetensors", ".onnx"])
def test_enormous_claims_take_little_memory(kind, watched):
    found = [row for name, row in watched.items() if name.endswith(kind)]
    if not found:
        pytest.skip("the library that reads these files is not installed")
    for row in found:
        read_well = row["outcome"] in ("0", "None") or row["outcome"].startswith("'")
        if row["name"].startswith("whole"):
            assert read_well, row
        else:  # the convolutions of a model are listed, however large its input is said to be
            assert read_well == (row["name"] == "an input of 4 TB.onnx"), row
            assert row["peak"] <= BOUND, row


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
