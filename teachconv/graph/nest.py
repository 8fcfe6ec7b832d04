"""Nested structures: flattens lists, tuples, named tuples and dicts to leaves, and packs them again.

TensorFlow: python/util/nest.py. Fetches, and the arguments and results of functions, are such structures. The
order of the leaves is that of the items, also in dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ..support.errors import ArgumentError, brief

Path: TypeAlias = "tuple[Any, ...]"


DEEPEST = 100  # a list that contains itself would never end


def _items(structure: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return the keys and items of a container, or None for a leaf."""
    if isinstance(structure, (list, tuple)):
        return enumerate(structure)
    return structure.items() if isinstance(structure, Mapping) else None


def walk(structure: Any, path: Path = ()) -> Iterator[tuple[Path, str, Any]]:
    """Yield containers and leaves, each container before its items.

    Two structures with the same paths, descriptions and leaves are equal.

    Args:
        structure: the structure.
        path: what the paths begin with.

    Yields:
        (path, description, value): the keys and indices that lead to it; what a container is, such as
        "list of 2", and "" for a leaf.

    >>> [(path, what) for path, what, _ in walk({"a": [1, 2]})]
    [((), "dict of 'a'"), (('a',), 'list of 2'), (('a', 0), ''), (('a', 1), '')]
    """
    items = _items(structure)
    if len(path) > DEEPEST:
        raise ArgumentError(f"structures must be nested at most {DEEPEST} times; got {brief(structure)}")
    if items is None:
        yield path, "", structure
        return
    size = ", ".join(map(repr, structure)) if isinstance(structure, Mapping) else str(len(structure))
    yield path, f"{type(structure).__name__} of {size}", structure
    for key, item in items:
        yield from walk(item, (*path, key))


def flatten_with_paths(structure: Any) -> Iterator[tuple[Path, Any]]:
    """Yield each leaf with its path.

    >>> list(flatten_with_paths({"a": [1, 2], "b": 3}))
    [(('a', 0), 1), (('a', 1), 2), (('b',), 3)]
    """
    return ((path, value) for path, what, value in walk(structure) if not what)


def flatten(structure: Any) -> list[Any]:
    """Return the leaves.

    Args:
        structure: the structure; anything but a list, tuple or dict is a leaf.

    Returns:
        The leaves in order.

    >>> flatten([1, (2, {"a": 3}), None])
    [1, 2, 3, None]
    """
    return [leaf for _, leaf in flatten_with_paths(structure)]


def pack_sequence_as(structure: Any, leaves: Iterable[Any]) -> Any:
    """Put leaves into a structure.

    Args:
        structure: a structure whose own leaves are not used.
        leaves: as many leaves as it has.

    Returns:
        A new structure of the same kinds of containers.

    >>> pack_sequence_as({"a": [1, 2], "b": 3}, "xyz")
    {'a': ['x', 'y'], 'b': 'z'}
    """
    items = _items(structure)
    remaining = iter(leaves)
    if items is None:
        return next(remaining)
    packed = {key: pack_sequence_as(item, remaining) for key, item in items}
    if hasattr(structure, "_fields"):  # a named tuple
        return type(structure)(*packed.values())
    if isinstance(structure, Mapping):
        return packed if type(structure) is dict else type(structure)(packed)  # type: ignore[call-arg]
    return type(structure)(packed.values())


def map_structure(function: Callable[..., Any], structure: Any) -> Any:
    """Return the structure of the function's results for each leaf.

    Args:
        function: a function of a leaf.
        structure: the structure.

    Returns:
        A new structure.

    >>> map_structure(str, [1, {"a": 2}])
    ['1', {'a': '2'}]
    """
    return pack_sequence_as(structure, [function(leaf) for leaf in flatten(structure)])
