"""`tc.explore`: a call or a network as an interactive picture."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from ..core.arguments import integer
from ..running import nn_ops
from ..support.errors import ArgumentError, ArgumentTypeError, brief, is_one_of
from .explorer import Explorer
from .network import NetworkExplorer


def explore(
    op: Any,
    *args: Any,
    at: Sequence[int] | None = None,
    budget: int | None = None,
    story: Sequence[Sequence[Any]] | None = None,
    title: str = "",
    **kwargs: Any,
) -> Explorer:
    """Return the interactive picture of ``op(*args, **kwargs)``: all its windows, products and sums.

    For a model and its input, it shows the whole network: what each cell reads, and what led to the answer.

    Args:
        op: an op of teachconv over one axis, two or three, a dialect's function, a convolution or a
            pool of `teachconv.quantized`, or a max or average pool; or a model, as of `teachconv.compare`:
            ``explore(model, x)``, with a batch of one. For a call, the page draws in NHWC for every dialect,
            a sequence as a row, a volume slice by slice; its variants keep the call's padding as numbers, and
            a pool has none.
        *args: the op's arguments.
        at: the cell to begin with, as in `explain`, in NHWC order for every data_format. For a large array,
            only the surroundings of this cell are shown. For a network, (layer, row, column, channel).
        budget: the approximate size of the page in bytes; by default 340 kB, or, if the call itself takes
            more, that and 100 kB for its variants. Variants of the call (other strides, paddings, ...) are
            included as long as they fit, those with the fewest changes first; the page says how many are
            left out. An image is held whole, for the lens, if it takes at most 2 MB or this size. The page of
            a network takes at most 3 MB or this size: with all weights, or else the strongest maps and ways.
        story: the steps of the page's tour, in place of the five that every page has: tuples of (text, at,
            tap, focus), of which the last three may be left out. The text is one sentence; ``at`` a cell as
            above; ``tap`` the number of the last tap that is shown; ``focus`` the parts that are not dimmed,
            of "source", "weights", "products", "sum" and "result". Space and the arrow keys go through the
            steps, and ``page.html#step=3`` opens the third.
        title: the heading of the page, such as the question that a story answers; on the page of a network it
            replaces the name.
        **kwargs: the op's arguments by name.

    Returns:
        An `Explorer`. A notebook displays it; ``.save("page.html")`` writes one file.

    Raises:
        ValueError, TypeError: if the op itself raises it, ``budget`` is not a positive integer, or a step of
            ``story`` is not as above.
        IndexError: if ``at``, or that of a step, is outside the result.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    >>> picture = tc.explore(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"), strides=2, padding="SAME")
    >>> picture
    Explorer(tc.conv2d(input [1, 4, 4, 1], filters [3, 3, 1, 1], strides=2, padding='SAME'))
    >>> picture.html()[:15]
    '<!DOCTYPE html>'
    """
    if not isinstance(title, str):
        raise ArgumentTypeError(f"title must be a text; got {brief(title)}")
    if not inspect.isroutine(op):
        if story is not None:
            raise ArgumentTypeError("story is for the picture of a call; op is a model")
        if len(args) > 1 or kwargs.keys() - {"x"}:
            raise ArgumentTypeError(
                f"op must be a function, such as tc.conv2d, or a model, which takes x alone; got {brief(op)}"
            )
        return NetworkExplorer(op, *args, at=at, budget=budget, title=title, **kwargs)
    if is_one_of(op, nn_ops.RESOLVERS):
        nn_ops.bind(op, args, kwargs, explore)  # raises, and says which argument was meant
    if budget is not None and integer(budget, "budget", "an integer") < 1:
        raise ArgumentError(f"budget must be at least 1 byte; got {budget}")
    if not (story is None or isinstance(story, (list, tuple))):
        raise ArgumentTypeError(
            f"story must be a list of steps, each (text, at, tap, focus); got {brief(story)}"
        )
    return Explorer(op, args, kwargs, at, budget, story, title)
