"""tf.keras.backend: only ``clear_session``."""

from __future__ import annotations

from ...backends import cython_backend
from ...keras import utils

__all__ = ["clear_session"]


def clear_session(free_memory: bool = True) -> None:
    """Restart the numbering of layer names.

    Args:
        free_memory: give the memory that is kept for later calls back to the system.
    """
    utils.clear_session()
    if free_memory:
        cython_backend.release_scratch()
