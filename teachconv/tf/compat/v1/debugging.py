"""tf.debugging of TensorFlow 1: the root's assertions, and one more. TensorFlow: python/ops/check_ops.py."""

# ruff: noqa: F403  (check_ops says in __all__ which of its names are public)

from typing import TYPE_CHECKING

from ... import debugging
from ...missing import module_getattr
from . import check_ops
from .check_ops import *
from .default_graph import in_graph

__all__ = ["assert_shapes"]
__all__ += check_ops.__all__

assert_shapes = in_graph(debugging.assert_shapes)

if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
