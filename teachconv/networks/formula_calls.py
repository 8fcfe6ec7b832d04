"""Reads the calls of formulas: what frameworks call the settings of `definitions.FORMULAS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import definitions

Entry = Mapping[str, Any]
Facts = dict[str, Any]  # the attributes of a layer that its word determines


def arrays_in(value: Any) -> list[np.ndarray]:
    """Return the arrays of nested lists."""
    if isinstance(value, list):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def constants_of(args: Sequence[Any], arrays: Sequence[np.ndarray]) -> Facts:
    """Return the operands of a call that are none of the arrays that a model computes."""
    places = {n: each for n, each in enumerate(args) if all(each is not array for array in arrays)}
    return {"constants": places} if places else {}


def formula(function: str, settings: Callable[[Entry, Any], Facts], entry: Entry, arrays: list[Any]) -> Facts:
    """A formula of `definitions`, of arrays and constants."""
    parts = [each for each in arrays_in(entry["args"]) if each.dtype.kind not in "iu"]  # those are axes
    given = {"function": function, **constants_of(parts, arrays)}
    given |= settings(entry, arrays[0])
    return {"op_type": function, "inputs": arrays, "op": definitions.formula, "arguments": given}


def _attention(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """Scores of queries and keys, a softmax, and a mean of values; what is True in a mask takes part."""
    said, inputs = entry["said"], entry["args"][:3]
    query, mask = inputs[0], said.get("attn_mask")
    if said.get("dropout_p") or said.get("enable_gqa"):
        return {}
    mask = np.tri(query.shape[-2], inputs[1].shape[-2], dtype=bool) if said.get("is_causal") else mask
    computed = [each for each in inputs if any(each is array for array in arrays)]
    settings: Facts = {"scale": said.get("scale") or query.shape[-1] ** -0.5}
    if mask is not None:
        known = constants_of(inputs, computed).get("constants", {})
        settings["constants"] = known | {3: np.where(mask, 0, -np.inf) if mask.dtype == bool else mask}
    return formula("attention", lambda *_: settings, {**entry, "args": inputs}, computed)


def _axes(entry: Entry, x: np.ndarray, usual: Any = None) -> tuple[int, ...]:
    """Return the axes of a call, as numbers that are not negative; None for all."""
    said = entry["said"]
    axes = said.get("dim", said.get("axes", said.get("axis", usual)))
    return tuple(range(x.ndim)) if axes is None else tuple(int(n) % x.ndim for n in np.ravel(axes))


def over_axes(entry: Entry, x: np.ndarray, usual: Any = None) -> Facts:
    """Return the axes of a call, and whether they are kept with a size of 1."""
    said = entry["said"]
    keepdims = said.get("keepdim", said.get("keepdims", said.get("keepDims", entry["framework"] == "onnx")))
    return {"axes": _axes(entry, x, usual), "keepdims": bool(keepdims)}


def _rms(entry: Entry, x: np.ndarray) -> Facts:
    said, usual = entry["said"], float(np.finfo(x.dtype).eps)  # PyTorch's
    first = said.get("axis", -len(said.get("normalized_shape", "1")))
    axes = range(first % x.ndim, x.ndim) if entry["framework"] != "keras" else np.ravel(first) % x.ndim
    weight = said.get("scale", said.get("weight"))
    weights = {"constants": {1: weight}} if isinstance(weight, np.ndarray) else {}
    eps = said.get("eps", said.get("epsilon", usual if entry["framework"] == "torch" else 1e-5))
    return weights | {"axes": tuple(map(int, axes)), "eps": usual if eps is None else eps}


def _unit(entry: Entry, x: np.ndarray) -> Facts:
    said, framework = entry["said"], entry["framework"]
    order = float(said.get("p", said.get("order", 2)))
    floor = said.get("eps", said.get("epsilon", {"onnx": 0.0, "tflite": 1e-6}.get(framework, 1e-12)))
    return {"order": order, "axes": _axes(entry, x, 1 if framework == "torch" else -1), "floor": floor}


def _norm(order: float, entry: Entry, x: np.ndarray) -> Facts:
    own = entry["said"].get("p", entry["said"].get("ord")) or order
    is_root = "sumsquare" not in entry["word"].lower()
    return over_axes(entry, x) | {"order": 2.0 if own == "fro" else float(own), "is_root": is_root}


def _variance(entry: Entry, x: np.ndarray) -> Facts:
    said = entry["said"]
    usual = said.get("unbiased", entry["framework"] == "torch")
    fewer, is_root = said.get("correction", usual), entry["word"].lower().startswith("std")
    return over_axes(entry, x) | {"fewer": float(fewer), "exponent": 0.5 if is_root else 1.0}


def _neighbours(entry: Entry, x: np.ndarray) -> Facts:
    said, is_tflite = entry["said"], entry["framework"] == "tflite"
    size = 2 * said["radius"] + 1 if is_tflite else said["size"]
    before = size // 2 if entry["framework"] == "torch" else (size - 1) // 2
    alpha = said.get("alpha", 1e-4) / (1 if is_tflite else size)
    own = {"alpha": alpha, "beta": said.get("beta", 0.75), "bias": said.get("k", said.get("bias", 1.0))}
    return own | {"before": before, "after": size - 1 - before, "axis": -1 if is_tflite else 1}


def _einsum(entry: Entry, x: np.ndarray) -> Facts:
    said = entry["said"]
    texts = [said.get("equation"), said.get("subscripts"), *entry["args"]]
    equation = [text for text in texts if isinstance(text, str)][0]
    dense = {"constants": {1: said["kernel"]}, "bias": said.get("bias")} if "kernel" in said else {}
    return dense | {"equation": equation}


# by the words of all frameworks, in small letters
FORMULAS: dict[tuple[str, ...], Callable[[Entry, list[np.ndarray]], Facts]] = {
    ("scaled_dot_product_attention",): _attention,
    ("einsum", "einsumdense"): partial(formula, "einsum", _einsum),
    ("squared_difference",): partial(formula, "squared difference", lambda *_: {}),
    ("average",): partial(formula, "average", lambda *_: {}),
    ("norm", "linalg_vector_norm", "reducel2", "reducesumsquare"): partial(
        formula, "norm", partial(_norm, 2.0)
    ),
    ("reducel1",): partial(formula, "norm", partial(_norm, 1.0)),
    ("normalize", "unitnormalization", "lpnormalization", "l2_normalization"): partial(
        formula, "normalize", _unit
    ),
    ("var", "std"): partial(formula, "variance", _variance),
    ("rms_norm", "rmsnormalization", "rms_normalization"): partial(formula, "rms norm", _rms),
    ("local_response_norm", "lrn", "local_response_normalization"): partial(
        formula, "local response norm", _neighbours
    ),
}
