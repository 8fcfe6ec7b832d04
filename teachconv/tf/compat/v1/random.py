"""Random numbers in the words of TensorFlow 1. They are seeded, but they are not TensorFlow's values."""

from __future__ import annotations

from ... import random
from .default_graph import in_graph

__all__ = ["normal", "set_random_seed", "truncated_normal", "uniform"]

normal = random_normal = in_graph(random.normal)
uniform = random_uniform = in_graph(random.uniform)
truncated_normal = in_graph(random.truncated_normal)
set_random_seed = in_graph(random.set_seed)
