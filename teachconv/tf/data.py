"""tf.data: ``Dataset``, and numbers that stand for counts. TensorFlow: python/data/ops/dataset_ops.py."""

from ..graph.data import AUTOTUNE, INFINITE_CARDINALITY, Dataset

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "Dataset"]
