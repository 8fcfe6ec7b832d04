"""tf.errors: the classes of the errors that a run raises. TensorFlow: python/framework/errors_impl.py."""

from typing import TYPE_CHECKING

from ..graph.framework.errors import FailedPreconditionError, InvalidArgumentError
from .missing import module_getattr

__all__ = ["FailedPreconditionError", "InvalidArgumentError"]

if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
