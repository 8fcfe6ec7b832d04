"""The kernels of random numbers, from NumPy's PCG64: they are reproducible, but not TensorFlow's values.

TensorFlow: core/kernels/random_op.cc (Philox). With both seeds 0 the numbers differ from process to process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..node_def import NodeDef
from ..op_kernel import OpKernelContext, register_kernel
from .inference import InferringKernel

__all__: list[str] = []


class _Random(InferringKernel):
    """Keeps one generator for all runs of the node, so that each run continues the sequence."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        seeds = [node.attrs["seed"], node.attrs["seed2"]]
        sequence = np.random.SeedSequence([seed & 0xFFFFFFFF for seed in seeds] if any(seeds) else None)
        self.generator = np.random.Generator(np.random.PCG64(sequence))

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new numbers of the shape that the input gives."""
        (shape,) = self.infer(*inputs)
        dtype = self.node.attrs["dtype"]
        drawn = np.dtype("float64") if dtype == np.float64 else np.dtype("float32")
        return self.draw(shape, drawn).astype(dtype, copy=False)

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return random numbers in float32 or float64."""
        raise NotImplementedError


@register_kernel("RandomUniform")
class RandomUniformOp(_Random):
    """Draws from the uniform distribution on [0, 1)."""

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return uniform random numbers."""
        return self.generator.random(shape, dtype)


@register_kernel("RandomUniformInt")
class RandomUniformIntOp(_Random):
    """Draws integers from minval to maxval, which is not among them."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new integers of the shape that the first input gives."""
        (shape,) = self.infer(*inputs)
        _, low, high = inputs
        if low >= high:
            raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
        return self.generator.integers(low, high, shape, low.dtype)


@register_kernel("RandomStandardNormal")
class RandomStandardNormalOp(_Random):
    """Draws from the normal distribution with mean 0 and standard deviation 1."""

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return normal random numbers."""
        return self.generator.standard_normal(shape, dtype)


@register_kernel("TruncatedNormal")
class TruncatedNormalOp(_Random):
    """Draws from the normal distribution cut off at two standard deviations."""

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return normal random numbers; those beyond 2 are drawn again until none is left."""
        numbers = self.generator.standard_normal(shape, dtype)
        while (far := np.abs(numbers) > 2).any():
            numbers[far] = self.generator.standard_normal(int(far.sum()), dtype)
        return numbers
