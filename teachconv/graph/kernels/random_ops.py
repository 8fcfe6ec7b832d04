"""The kernels of random numbers, from NumPy's PCG64: they are reproducible, but not TensorFlow's values.

TensorFlow: core/kernels/random_op.cc (Philox). With both seeds 0 the numbers differ from process to process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..framework.errors import InvalidArgumentError
from ..framework.inference import InferringKernel
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernelContext, register_kernel

__all__: list[str] = []


class _Random(InferringKernel):
    """Keeps one generator for all runs of the node in a session, so that each continues the sequence."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        seeds = [node.attrs["seed"], node.attrs["seed2"]]
        self.seeds = [seed & 0xFFFFFFFF for seed in seeds] if any(seeds) else None

    def generator(self, context: OpKernelContext) -> np.random.Generator:
        """Return the node's generator."""
        resources = {} if context.resources is None else context.resources
        known = resources.get(self.node.name)
        if known is None:
            fresh = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seeds)))
            known = resources.setdefault(self.node.name, fresh)  # at once for all threads
        return known

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new numbers of the shape that the input gives."""
        (shape,) = self.infer(*inputs)
        dtype = self.node.attrs["dtype"]
        drawn = np.dtype("float64") if dtype == np.float64 else np.dtype("float32")
        return self.draw(self.generator(context), shape, drawn).astype(dtype, copy=False)

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return random numbers in float32 or float64."""
        raise NotImplementedError


@register_kernel("RandomUniform")
class RandomUniformOp(_Random):
    """Draws from the uniform distribution on [0, 1)."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return uniform random numbers."""
        return generator.random(shape, dtype)


@register_kernel("RandomUniformInt")
class RandomUniformIntOp(_Random):
    """Draws integers from minval to maxval, which is not among them."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new integers of the shape that the first input gives."""
        (shape,) = self.infer(*inputs)
        _, low, high = inputs
        if low >= high:
            raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
        return self.generator(context).integers(low, high, shape, low.dtype)


@register_kernel("RandomStandardNormal")
class RandomStandardNormalOp(_Random):
    """Draws from the normal distribution with mean 0 and standard deviation 1."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return normal random numbers."""
        return generator.standard_normal(shape, dtype)


@register_kernel("TruncatedNormal")
class TruncatedNormalOp(_Random):
    """Draws from the normal distribution cut off at two standard deviations."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return normal random numbers; those beyond 2 are drawn again until none is left."""
        numbers = generator.standard_normal(shape, dtype)
        while (far := np.abs(numbers) > 2).any():
            numbers[far] = generator.standard_normal(int(far.sum()), dtype)
        return numbers
