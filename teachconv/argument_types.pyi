"""What type checkers see of `teachconv.argument_types`, whose home is in `support`."""

from .support.argument_types import *  # noqa: F403
