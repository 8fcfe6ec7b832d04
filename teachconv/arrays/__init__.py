"""Other libraries' arrays: how they go into the ops, and how a result becomes one of them.

One file a library, each with its ``teachconv.support.devices.Adapter``, which is imported when the first
of its arrays is met; none imports its library before that.
"""

from . import jax, torch

__all__ = ["jax", "torch"]
