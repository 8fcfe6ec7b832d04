"""Arrays of any library that speaks DLPack or the array API standard, CuPy's among them.

An array's ``__array_namespace__`` is the module whose functions take it (https://data-apis.org/array-api).
That is enough for every library that has it. Of libraries that have only DLPack or
``__cuda_array_interface__``, the arrays on a GPU go in, and the result is CuPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..support.devices import Adapter, device_array, is_on_device, lies_on_a_gpu


class ArrayApi(Adapter):
    """Arrays that say by themselves how to convert them."""

    name = "array"

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Return the array as NumPy's or, on a GPU, CuPy's; without a copy where the library allows it."""
        return device_array(value, name) if lies_on_a_gpu(value) else super().to_array(value, name)

    def to_host(self, value: Any) -> np.ndarray:
        """Return the values as a NumPy array, copied from the GPU if necessary."""
        array: Any = self.to_array(value, "array")
        return array.get() if is_on_device(array) else array

    def from_array(self, result: np.ndarray, like: Any) -> Any:
        """Return the result as an array of the namespace of ``like``; without one as NumPy's or CuPy's."""
        if isinstance(result, type(like)) or not hasattr(like, "__array_namespace__"):
            return result
        return like.__array_namespace__().from_dlpack(result)


ADAPTER = ArrayApi()
