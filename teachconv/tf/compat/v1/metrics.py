"""tf.metrics of TensorFlow 1: means over several runs. TensorFlow: python/ops/metrics_impl.py."""

from __future__ import annotations

from typing import Any

from ....graph import GraphKeys, cast, control_dependencies, equal, reduce_sum, size, truediv
from ....graph.options import unsupported
from .default_graph import in_graph
from .framework import Variable, name_scope

__all__ = ["accuracy"]


@in_graph
@unsupported("weights", "metrics_collections", "updates_collections")
def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return how many predictions were right in all runs so far, and what counts those of a run.

    Args:
        labels, predictions: class numbers of one shape.
        weights, metrics_collections, updates_collections: must be None.
        name: the name scope.

    Returns:
        Two scalars, the share and the share after this run; ``tf.local_variables_initializer`` resets both.
    """
    with name_scope(name, "accuracy"):
        right = cast(equal(cast(predictions, labels.dtype), labels), "float32")
        total, count = (
            Variable(0.0, False, [GraphKeys.LOCAL_VARIABLES], name=each) for each in ("total", "count")
        )
        updates = [total.assign_add(reduce_sum(right)), count.assign_add(cast(size(right), "float32"))]
        with control_dependencies(updates):
            update = truediv(total.read_value(), count.read_value(), "update_op")
        return truediv(total.value(), count.value(), "value"), update
