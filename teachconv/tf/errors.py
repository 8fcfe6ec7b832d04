"""tf.errors: the classes of the errors that a run raises. TensorFlow: python/framework/errors_impl.py."""

from ..graph.framework.errors import FailedPreconditionError, InvalidArgumentError

__all__ = ["FailedPreconditionError", "InvalidArgumentError"]
