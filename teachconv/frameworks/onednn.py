"""Reads what oneDNN says about the primitives that it runs; TensorFlow and PyTorch compute with it on a CPU.

oneDNN's documentation, "Verbose mode": with the environment variable ONEDNN_VERBOSE it prints a line with
fields between commas for each primitive that ran, with the implementation that it chose for this processor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

VERBOSE = {"ONEDNN_VERBOSE": "1"}  # the environment of a probe


@dataclass(frozen=True, slots=True)
class Primitive:
    """One primitive that ran.

    Attributes:
        kind: what it computes, such as "convolution" or "reorder".
        implementation: the code that oneDNN chose, such as "brgconv:avx512_core".
        direction: "forward_training", "backward_data", "backward_weights" or another.
        formats: each tensor's type and the order of its axes in memory, such as "src f32 acdb".
        algorithm: such as "convolution_direct"; "" if it has no choice.
        seconds: the time of this run.
    """

    kind: str
    implementation: str
    direction: str
    formats: str
    algorithm: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Log:
    """What oneDNN printed: its version, and what ran in order."""

    version: str
    primitives: tuple[Primitive, ...]


def read(text: str) -> Log:
    """Return what a log with oneDNN's lines says; other lines in it are passed over.

    >>> line = ("onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,"
    ...     "src:f32::blocked:acdb::f0 wei:f32:a:blocked:Acdb16a::f0 bia:undef::undef::: "
    ...     "dst:f32::blocked:acdb::f0,"
    ...     ",alg:convolution_direct,mb1_ic2oc2_ih8oh8kh3,0.25")
    >>> (ran,) = read(line).primitives
    >>> ran.implementation, ran.formats, ran.algorithm, ran.seconds
    ('jit:avx2', 'src f32 acdb, wei f32 Acdb16a, dst f32 acdb', 'convolution_direct', 0.00025)
    """
    version = re.search(r"^onednn_verbose,.*?info,oneDNN (v[\w.]+)", text, re.MULTILINE)
    lines = (line.split(",") for line in text.splitlines() if line.startswith("onednn_verbose,"))
    found = tuple(primitive for fields in lines if (primitive := _primitive(fields)))
    return Log(version[1] if version else "", found)


def _primitive(fields: list[str]) -> Primitive | None:
    """Return the primitive of a line; None for a line of another kind, or one that was cut short."""
    try:
        _, kind, implementation, direction, tensors, _, more, _, time = fields[fields.index("exec") + 1 :]
        seconds = float(time) / 1e3
    except ValueError:
        return None
    algorithm = re.search(r"\balg:(\w+)", more)
    formats = ", ".join(filter(None, map(_format, tensors.split())))
    return Primitive(kind, implementation, direction, formats, algorithm[1] if algorithm else "", seconds)


def _format(tensor: str) -> str:
    """Return name, type and order of the axes: "src f32 acdb" of "src:f32::blocked:acdb::f0"."""
    name, dtype, *rest = re.split(r":|(?<=src|wei|bia|dst)_", tensor)
    layout = rest[rest.index("blocked") + 1] if "blocked" in rest[:-1] else "".join(rest[1:2])
    return "" if dtype == "undef" else f"{name} {dtype} {layout}".strip()
