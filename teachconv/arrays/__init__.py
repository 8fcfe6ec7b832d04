"""Other libraries' arrays: how they go into the ops, and how a result becomes one of them.

One file a library, each with its ``teachconv.support.devices.Adapter``, which is imported when the first
of its arrays is met; none imports its library before that.
"""

from typing import TYPE_CHECKING, Any

from ..support.errors import no_attribute
from . import jax, torch

__all__ = ["jax", "torch"]

if not TYPE_CHECKING:  # else every name would seem to be there

    def __getattr__(name: str) -> Any:
        """Raise for a name that is not here, with what does the work of one that was."""
        error = no_attribute(__name__, name, __all__)
        if name == "dask":
            error.args = (
                f"{__name__}.dask was removed in 0.2: dask.array.to_zarr writes a lazy result, and "
                "teachconv.trace says which slab a chunk reads",
            )
        raise error
