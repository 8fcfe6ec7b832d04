"""tf.summary: numbers in a file "scalars.csv". TensorFlow: python/ops/summary_ops_v2.py."""

from ..graph.ops.summary_ops import create_file_writer, scalar

__all__ = ["create_file_writer", "scalar"]
