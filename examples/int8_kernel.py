"""Judges kernels/conv_s8.c, an int8 convolution in C for a microcontroller, by the bits of TFLite's kernels.

Usage: python examples/int8_kernel.py [conv_s8.c]. It needs a C compiler, cc. A kernel of your own takes as
many lines as `compiled`: the names of its arguments say what they are, in TFLite's words or in CMSIS-NN's.
"""

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import teachconv as tc
from teachconv.testing import fuzz, kernel

SOURCE = Path(__file__).parent / "kernels" / "conv_s8.c"


def compiled(source, folder):
    """Compile a C file, and return its function as a kernel for teachconv."""
    library = Path(folder) / f"{Path(source).stem}.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
    function = ctypes.CDLL(str(library)).conv_s8

    def address(array):
        return None if array is None else ctypes.c_void_p(array.ctypes.data)

    def integers(*numbers):  # a struct of int32_t
        return (ctypes.c_int32 * len(numbers))(*numbers)

    def conv_s8(
        x,
        w,
        bias,
        y,
        strides,
        pads,
        dilations,
        input_offset,
        output_offset,
        multiplier,
        shift,
        act_min,
        act_max,
    ):
        (top, _), (left, _) = pads
        params = integers(input_offset, output_offset, *strides, top, left, *dilations, act_min, act_max)
        function(
            params,
            *(address(multiplier), address(shift)),
            *(integers(*x.shape), address(x)),
            *(integers(*w.shape), address(w)),
            address(bias),
            *(integers(*y.shape), address(y)),
        )

    return kernel(conv_s8, scheme="tflite", x="NHWC", w="OHWI", contiguous=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mine = compiled(sys.argv[1] if len(sys.argv) > 1 else SOURCE, folder)
        print(tc.check_backend(mine, tags=("small", "hand"), kinds="conv2d"))
        print(fuzz(mine, seconds=20))
