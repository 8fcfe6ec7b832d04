"""What goes with lazy results: write one to a zarr array, and draw the chunks of a call.

The ops themselves take dask arrays as they are: see docs/larger_than_memory.md.
"""

from .dask_pictures import chunk_picture
from .dask_store import to_zarr

__all__ = ["chunk_picture", "to_zarr"]
