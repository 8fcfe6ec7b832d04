"""Follows a layer, a model or a training step to the loops that ran: how `teachconv.find_source` takes them.

``teachconv.find_source(model.fit, x, y)`` runs one training step on the first batch; afterwards every
variable has the value that it had before.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np

from ..graph import function
from ..graph.find_source import chain_of_function
from ..graph.gradients.gradients_util import backpropagate
from ..inspection.sources import SourceChain, source_of, step_at
from ..support.errors import ArgumentError, brief
from .data_adapters import as_batch_size, one_of
from .layers.layer import Layer, are_several, as_list
from .training import Trainer

# the method of a model -> the step that it repeats
_STEPS = {
    "fit": "train_step",
    "train_on_batch": "train_step",
    "evaluate": "test_step",
    "predict": "predict_step",
}


@source_of.register(Layer)
def _of_layer(owner: Layer, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Run a layer or a model on an input, or a step of a method, and follow what ran."""
    name = getattr(op, "__name__", "call")
    if isinstance(owner, Trainer) and name in _STEPS:
        return _of_step(owner, op, args, kwargs)
    if name not in ("__call__", "call"):
        known = ", ".join(_STEPS) if isinstance(owner, Trainer) else "call"
        raise ArgumentError(f"op must be a layer or one of its methods ({known}); got {brief(name)}")
    if not args:
        raise ArgumentError(f"find_source of {brief(owner)} needs an input: find_source(layer, x)")
    first = step_at("layer", type(owner).__call__, f"{type(owner).__name__} {brief(owner.name)}")
    shapes = [list(np.shape(each)) for each in (args[0] if are_several(args[0]) else args[:1])]
    query = f"{owner.name} {', '.join(map(str, shapes))}"
    return chain_of_function(query, [first], function(lambda x: owner(x, **kwargs)), *args)


def _of_step(model: Trainer, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Run the step that a method repeats, on its first batch; all variables get their values back."""
    given = inspect.signature(op).bind(*args, **kwargs).arguments
    x, size = given["x"], as_batch_size(given.get("batch_size"))
    data = x, given.get("y"), given.get("sample_weight")
    predicts = op.__name__ == "predict"
    batches = model._samples(x, size, None) if predicts else model._batches(data, size, None)
    batch = next(iter(batches))
    step = getattr(model, _STEPS[op.__name__])
    first = [step_at("public method", op), step_at("step", step, "traced once for each batch size")]
    if step.__name__ == "train_step":
        note = "walks the nodes backwards while the step is traced, and adds those of the gradients"
        first.append(
            replace(
                step_at("tape", backpropagate, note),
                tensorflow="tensorflow/python/eager/backprop.py GradientTape.gradient",
            )
        )
    traced = function(step, config=getattr(model, "_config", None))
    query = f"{op.__name__} on a batch of {len(as_list(batch[0])[0])}"
    return chain_of_function(query, first, traced, one_of(batch))
