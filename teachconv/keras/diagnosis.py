"""Finds the layer where a computation stopped being finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import brief
from ..tables import number
from .layers.layer import set_all


def first_not_finite(model: Any, x: Any, y: Any, where: str) -> str:
    """Return what to tell about a loss that is not finite: the step, and the first layer where it shows.

    The layers run once more, one by one; the model is then as before.

    Args:
        model: the model, with the weights before the step.
        x: the samples of the batch.
        y: their labels.
        where: the name of the step.

    Returns:
        The message.
    """
    before = model.get_weights()
    try:
        found, value = _search(model, x)
        loss = float(np.asarray(model.loss(y, value)))
    finally:
        set_all(model.weights, before, model.name)  # a BatchNormalization updates its averages
    rate = number(float(model.optimizer.learning_rate.numpy()))
    return (
        f"the loss is {loss} at {where}: {found}. The weights are those before this step. A smaller "
        f"learning rate (now {rate}), or samples of about -1 to 1, may help"
    )


def _search(model: Any, x: Any) -> tuple[str, Any]:
    """Return where it begins, and the model's output."""
    found, value = "", x
    for layer in model.layers:
        largest = np.max(np.abs(value)) if np.size(value) else 0.0
        value = layer(value, training=True)
        if found or np.isfinite(np.asarray(value)).all():
            continue
        what = f"layer {brief(layer.name)} ({type(layer).__name__})"
        broken = [weight.name for weight in layer.weights if not np.isfinite(weight.numpy()).all()]
        if broken:
            found = (
                f"{what} is the first that is not finite: the step before left {brief(broken[0])} not finite"
            )
        else:
            found = (
                f"{what} is the first whose output is not finite; its input reaches {number(float(largest))}"
            )
    return found or "every layer's output is finite, the loss function's result is not", value
