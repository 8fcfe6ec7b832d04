"""keras.backend: the settings, as programs for Keras 2 ask for them. Keras: keras/src/backend/config.py."""

from __future__ import annotations

import gc

from ..backends import cython_backend
from . import utils
from .config import epsilon, floatx, image_data_format, set_floatx

__all__ = ["clear_session", "epsilon", "floatx", "image_data_format", "set_floatx"]


def clear_session(free_memory: bool = True) -> None:
    """Restart the numbering of layer names.

    Args:
        free_memory: collect garbage, and give the memory that is kept for later calls back to the system.
    """
    utils.clear_session()
    if free_memory:
        gc.collect()
        cython_backend.release_scratch()
