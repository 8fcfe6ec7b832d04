"""tf.losses of TensorFlow 1: means, which the collection of losses lists. TensorFlow: python/ops/losses/."""

from __future__ import annotations

from typing import Any

from ....graph import GraphKeys, get_default_graph, reduce_mean, square
from ....graph.options import unsupported
from . import nn
from .default_graph import in_graph

__all__ = [
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]

_REDUCTION = "weighted_sum_by_nonzero_weights"


def _mean(losses: Any, key: str | None) -> Any:
    loss = reduce_mean(losses)
    if key is not None:
        get_default_graph().add_to_collection(key, loss)
    return loss


@in_graph
@unsupported("weights", "label_smoothing", "reduction")
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _REDUCTION,
) -> Any:
    """Return the mean cross entropy, for labels that are distributions.

    Args:
        onehot_labels, logits: as in tf.nn.softmax_cross_entropy_with_logits.
        weights, label_smoothing, reduction: must be 1, 0 and the mean.
        scope: has no effect.
        loss_collection: the collection that lists the loss, or None.
    """
    return _mean(nn.softmax_cross_entropy_with_logits(onehot_labels, logits), loss_collection)


@in_graph
@unsupported("weights", "reduction")
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _REDUCTION,
) -> Any:
    """Return the mean cross entropy, for labels that are class numbers.

    Args:
        labels, logits: as in tf.nn.sparse_softmax_cross_entropy_with_logits.
        weights, scope, loss_collection, reduction: as in `softmax_cross_entropy`.
    """
    return _mean(nn.sparse_softmax_cross_entropy_with_logits(labels, logits), loss_collection)


@in_graph
@unsupported("weights", "label_smoothing", "reduction")
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _REDUCTION,
) -> Any:
    """Return the mean of tf.nn.sigmoid_cross_entropy_with_logits.

    Args:
        multi_class_labels, logits: as in tf.nn.sigmoid_cross_entropy_with_logits.
        weights, label_smoothing, scope, loss_collection, reduction: as in `softmax_cross_entropy`.
    """
    return _mean(nn.sigmoid_cross_entropy_with_logits(multi_class_labels, logits), loss_collection)


@in_graph
@unsupported("weights", "reduction")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _REDUCTION,
) -> Any:
    """Return the mean of the squared differences.

    Args:
        labels, predictions: tensors of one shape.
        weights, scope, loss_collection, reduction: as in `softmax_cross_entropy`.
    """
    return _mean(square(predictions - labels), loss_collection)
