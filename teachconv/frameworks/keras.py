"""Follows layers and ops of Keras to the framework that Keras computes with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..inspection.sources import FOLLOWERS, SourceChain
from ..support.errors import ArgumentError, brief


def follow(op: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> SourceChain:
    """Return the steps of a call, which Keras's backend runs; arguments and errors as `tensorflow.follow`."""
    backend = sys.modules["keras"].backend.backend()
    if backend not in FOLLOWERS:
        known = ", ".join(sorted({*FOLLOWERS} - {"keras"}))
        raise ArgumentError(f"Keras computes with {brief(backend)} here; find_source follows {known}")
    chain: SourceChain = import_module(FOLLOWERS[backend]).follow(op, args, kwargs)
    return chain
