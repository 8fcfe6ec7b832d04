"""Compiles and runs a serialized function of JAX in a process of its own, with XLA's profiler; see jax.py."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import child


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the optimised HLO, and for each of its instructions that ran the time."""
    import jax
    from jax.profiler import ProfileData, ProfileOptions

    jax.config.update("jax_enable_x64", job["x64"])
    function = jax.export.deserialize(bytearray(arrays.pop("module").tobytes())).call
    inputs = [
        array.view(np.dtype(dtype)) for array, dtype in zip(arrays.values(), job["dtypes"], strict=True)
    ]
    inputs = [array.reshape(shape) for array, shape in zip(inputs, job["shapes"], strict=True)]
    compiled = jax.jit(function).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    options = ProfileOptions()
    options.python_tracer_level = 0
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        child.begin("call")
        with jax.profiler.trace(folder, profiler_options=options):
            jax.block_until_ready(compiled(*inputs))
        child.begin("after")
        for path in Path(folder).rglob("*.xplane.pb"):
            for plane in ProfileData.from_file(str(path)).planes:
                for line in plane.lines:
                    for event in line.events:
                        op = dict(event.stats).get("hlo_op")
                        if op is not None and not event.name.startswith("end:"):
                            seconds[str(op)] = event.duration_ns / 1e9
    return {"hlo": compiled.as_text(), "seconds": seconds}
