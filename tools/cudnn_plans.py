"""Prints the plans that cuDNN makes for an H100, in JSON, on a machine without one; tests/peers/test_cudnn_plans.py reads them.

python tools/cudnn_plans.py        (with a libcuda.so.1 where the loader looks first, such as tests/cuda/no_driver.c)
"""

import json
from pathlib import Path

import cudnn as library

from teachconv.backends.cuda import cudnn
from teachconv.backends.cuda.launches import Convolution, Copy, Launch
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FORWARD, INPUT_GRADIENT, KINDS

_H100 = Path(__file__).parents[1] / "tests" / "cuda" / "h100.json"
CARD = library.create_device_properties(_H100.read_text())
LAYERS = {  # input, filters, and the other arguments
    "3x3": ((8, 56, 56, 64), (3, 3, 64, 64), 1, "SAME"),
    "1x1": ((8, 14, 14, 1024), (1, 1, 1024, 256)),
    "stride 2": ((8, 56, 56, 64), (3, 3, 64, 64), 2, ((1, 1), (1, 1))),
    "uneven padding": ((8, 56, 56, 64), (3, 3, 64, 64), 2, "SAME"),
    "dilation 2": ((8, 56, 56, 64), (3, 3, 64, 64), 1, "SAME", "NHWC", 2),
    "groups 4": ((8, 56, 56, 64), (3, 3, 16, 64), 1, "SAME"),
    "depthwise": ((8, 112, 112, 32), (3, 3, 1, 32), 1, "SAME"),
    "odd channels": ((2, 20, 20, 3), (3, 3, 3, 5), 1, "SAME"),
    "rows left over": ((2, 20, 21, 8), (3, 3, 8, 8), 5, "VALID"),
    "cropped": ((2, 20, 20, 8), (3, 3, 8, 8), 1, ((-1, 2), (0, 3))),
}
MODES = (
    ("float16", None),
    ("bfloat16", None),
    ("float32", None),
    ("float32", "tf32"),
    ("float16", "strict"),
    ("float32", "strict"),
    ("float64", None),
)


def plan(kind, layer, dtype, precision, bias=False):
    """The engine, the bytes of its workspace, and the words of all copies."""
    made = cudnn.schedule(kind, conv2d_geometry(*layer), dtype, precision, bias, bias, CARD)
    (step,) = (step for step in made.steps if isinstance(step, Convolution))
    return {
        "engine": step.engine,
        "workspace": made.buffers["workspace"].size,
        "copies": [step.why for step in made.steps if isinstance(step, Copy)],
        "launches": [step.kernel.name for step in made.steps if isinstance(step, Launch)],
    }


def main():
    plans = [
        {"kind": kind.name, "layer": name, "dtype": dtype, "precision": precision}
        | plan(kind, layer, dtype, precision)
        for kind in KINDS
        for name, layer in LAYERS.items()
        for dtype, precision in MODES
    ]
    plans += [
        {"kind": kind.name, "layer": "3x3, bias and relu", "dtype": dtype, "precision": precision}
        | plan(kind, LAYERS["3x3"], dtype, precision, bias=True)
        for kind in (FORWARD, INPUT_GRADIENT)
        for dtype, precision in MODES
    ]
    print(json.dumps(plans))


if __name__ == "__main__":
    main()
