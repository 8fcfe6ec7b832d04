"""Repeats calls of aten ops in a process of its own, with the profiler and the libraries' logs."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import child


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Run each call twice, the second time with the profiler, and return what PyTorch says of it."""
    import torch

    torch.set_num_threads(job["threads"])
    torch.backends.mkldnn.enabled = job["onednn"]
    facts = []
    for number, call in enumerate(job["calls"]):
        op = getattr(getattr(torch.ops.aten, call["name"]), call["overload"])
        args = [_decoded(torch, item, arrays) for item in call["args"]]
        child.begin(f"first {number}")  # makes primitives, and code for this processor
        op(*args)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            child.begin(f"call {number}")
            op(*args)
        child.begin(f"after {number}")
        facts.append(
            {
                "keys": str(torch._C._dispatch_keys(next(a for a in args if isinstance(a, torch.Tensor)))),
                "table": torch._C._dispatch_dump_table(f"aten::{call['name']}").splitlines(),
                "backend": _backend(torch, call["name"], args),
                "events": [
                    {"name": event.name, "seconds": event.cpu_time_total / 1e6} for event in profile.events()
                ],
            }
        )
    return {"calls": facts}


def _decoded(torch: Any, item: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return an argument: a tensor with its own strides, or the plain value."""
    if isinstance(item, list):
        return [_decoded(torch, inner, arrays) for inner in item]
    if not isinstance(item, dict):
        return item
    memory = torch.from_numpy(arrays[item["tensor"]]).view(getattr(torch, item["dtype"]))
    return memory.to(item["device"]).as_strided(item["shape"], item["strides"])


def _backend(torch: Any, name: str, args: list[Any]) -> int | None:
    """Return the number of the backend that PyTorch chooses for an op; None for an op that chooses none."""
    if name == "convolution":
        return int(torch._C._select_conv_backend(*args))
    if name == "convolution_backward":
        _, x, w, bias_sizes, *more = args[:10]
        return int(torch._C._select_conv_backend(x, w, None, *more, bias_sizes))
    return None
