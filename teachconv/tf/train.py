"""tf.train: checkpoints, whose files are not TensorFlow's. TensorFlow: python/checkpoint/checkpoint.py."""

from ..graph.options import refuse_other_names
from ..keras.saving import Checkpoint, latest_checkpoint
from .missing import module_getattr

__all__ = ["Checkpoint", "latest_checkpoint"]

refuse_other_names(__name__, module_getattr)
