"""tf.keras.backend: only ``clear_session``."""

from __future__ import annotations

from ...keras import utils

__all__ = ["clear_session"]


def clear_session(free_memory: bool = True) -> None:
    """Restart the numbering of layer names.

    Args:
        free_memory: has no effect.
    """
    utils.clear_session()
