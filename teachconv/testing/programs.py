"""A program in any language as a backend: it stays alive, and is asked by a line of JSON and raw bytes.

A request is one line, in this order and without spaces, and then the bytes of the two arrays and the bias::

    {"op":"conv2d","dtype":"float32","first":[1,4,4,1],"second":[3,3,1,1],"result":[1,2,2,1],
     "strides":[1,1],"pads":[[0,0],[0,0]],"dilations":[1,1],"groups":1,"bias":0,"nbytes":100}

(in one line). ``op`` is "conv2d" of input and filters, "conv2d_backprop_input" of out_backprop and filters,
or "conv2d_backprop_filter" of input and out_backprop; ``first``, ``second`` and ``result`` are the shapes in
the layouts that `process` was given, arrays are little-endian and in C order. Images are not padded: ``pads``
says what to pad, and negative pads crop. ``bias`` is how many numbers the bias has, 0 where there is none;
``nbytes`` is the length of everything that follows. The answer is ``{"nbytes":16}``, a line, and then the
bytes of the result; or one line alone, ``{"refused":"why"}`` for a call that the program does not take,
``{"error":"why"}`` where it fails. At the end of its standard input the program ends. What it writes to its
standard error is quoted if it crashes.

The request of a quantized call also has ``x_zero_point``, ``w_zero_point``, ``y_zero_point``, ``w_dtype``,
``activation_min`` and ``activation_max``. Behind the bias follow the multipliers, and then the shifts:
int32, one for each output channel.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS, Kind
from ..support.argument_types import HasAlgorithms
from ..support.errors import ArgumentError, brief, words_of
from ..verification.running import Program
from .kernels import NUMBERS, kernel


def process(
    command: Sequence[str] | str,
    *,
    x: str = "NHWC",
    w: str = "HWIO",
    y: str | None = None,
    kinds: Iterable[str] | str = "conv2d",
    seconds: float = 10.0,
    **options: Any,
) -> HasAlgorithms:
    """Make a backend of a program that is asked by its standard input and answers by its standard output.

    The program is started at the first call and again after it has ended. A crash, an answer that comes too
    late, and other output than the answer are failed calls. It is sent images that are not padded, and a bias
    where the call has one; what it does not take it refuses, and a report says how many these were. The page
    "A program in another language" has the protocol, and programs in C and in JavaScript.

    Args:
        command: the program, or a list of it and its arguments.
        x: the layout of its activations, as in `kernel`.
        w: the layout of its filters.
        y: the layout of the output, if that is not ``x``.
        kinds: the functions that it has: "conv2d", "conv2d_backprop_input", "conv2d_backprop_filter".
        seconds: how long a call may take.
        **options: ``refuses``, ``dtypes``, ``error``, ``scheme`` and ``types`` of `kernel`.

    Returns:
        A backend.

    Raises:
        ValueError: if there is no such program or kind, or a layout is not legal.

    >>> from teachconv import testing as T
    >>> T.process("cat", x="NCHW", w="OIHW")  # a program that answers with the request
    <kernel cat>
    """
    words = [command] if isinstance(command, str) else [str(word) for word in command]
    if shutil.which(words[0]) is None:
        raise ArgumentError(f"command must be a program that can be run; got {brief(words[0])}")
    program, has = Program(words, seconds), words_of(kinds, "kinds", map(str, KINDS))

    def ask(
        kind: Kind,
        first: Any,
        second: Any,
        bias: Any,
        out: np.ndarray,
        g: ConvGeometry,
        quantized: Any = None,
    ) -> np.ndarray:
        request: dict[str, Any] = {
            "op": str(kind),
            "dtype": first.dtype.name,
            "first": first.shape,
            "second": second.shape,
            "result": out.shape,
            "strides": g.strides,
            "pads": g.padding,
            "dilations": g.dilations,
            "groups": g.groups,
            "bias": 0 if bias is None else bias.size,
        }
        arrays = [first, second, bias]
        if quantized is not None:
            request |= {name: np.asarray(quantized[name]).tolist() for name in NUMBERS}
            request["w_dtype"] = second.dtype.name
            arrays += [quantized["multiplier"], quantized["shift"]]
        sent = b"".join(array.tobytes() for array in arrays if array is not None)
        _, data = program.ask(request, sent, range(out.nbytes, out.nbytes + 1))
        return np.ndarray(out.shape, out.dtype, data)

    functions: dict[Kind, Callable[..., Any]] = {
        FORWARD: lambda x, w, bias, out, geometry, quantized=None: ask(
            FORWARD, x, w, bias, out, geometry, quantized
        ),
        INPUT_GRADIENT: lambda dy, w, bias, out, geometry, quantized=None: ask(
            INPUT_GRADIENT, dy, w, bias, out, geometry, quantized
        ),
        FILTER_GRADIENT: lambda x, dy, out, geometry: ask(FILTER_GRADIENT, x, dy, None, out, geometry),
    }
    for function in functions.values():  # whose name is the kernel's, and its algorithm's
        function.__name__ = Path(words[0]).name
        vars(function)["in_this_process"] = False
    given = [function if str(kind) in has else None for kind, function in functions.items()]
    return kernel(given[0], x=x, w=w, y=y, input_gradient=given[1], filter_gradient=given[2], **options)
