"""Puzzles about the gradients of a convolution, and about the tape that computes gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..running import nn_ops
from .puzzle import Puzzle, ints

Program = Sequence[tuple[str, int, int]]


def _to_input(dy: np.ndarray, w: np.ndarray, n: int, s: int) -> tuple[Any, ...]:
    return nn_ops.conv1d_backprop_input, (1, n, 1), w[:, None, None], dy[None, :, None], s, "VALID"


def _to_filter(x: np.ndarray, dy: np.ndarray, k: int, s: int) -> tuple[Any, ...]:
    return nn_ops.conv1d_backprop_filter, x[None, :, None], (k, 1, 1), dy[None, :, None], s, "VALID"


def scattered(dy: np.ndarray, w: np.ndarray, n: int, s: int, add: bool = True) -> np.ndarray:
    """n numbers, to which each of dy adds the filter, s places apart."""
    result = np.zeros(n)
    for i, value in enumerate(dy):
        part = result[i * s : i * s + len(w)]
        part[:] = add * part + (value * w)[: len(part)]
    return result


def _filter(x: np.ndarray, dy: np.ndarray, k: int, s: int) -> np.ndarray:
    return np.array([sum(x[i * s + j] * dy[i] for i in range(len(dy))) for j in range(k)])


def double(x: np.ndarray) -> np.ndarray:
    """Twice the numbers."""
    return 2 * x


def opposite(x: np.ndarray) -> np.ndarray:
    """Twice the numbers, with the other sign."""
    return -2 * x


def shifted(x: np.ndarray) -> np.ndarray:
    """One more than the numbers, which is not linear."""
    return x + 1


def correlated(x: np.ndarray) -> np.ndarray:
    """The sums of three neighbours with the weights 1, 2, 4."""
    return np.correlate(x, np.array([1.0, 2.0, 4.0]), "valid")


def stamped(y: np.ndarray) -> np.ndarray:
    """The transposed function of `correlated`."""
    return np.convolve(y, np.array([1.0, 2.0, 4.0]))


def stamped_flipped(y: np.ndarray) -> np.ndarray:
    """The same with the filter reversed."""
    return np.convolve(y, np.array([4.0, 2.0, 1.0]))


def _adjoint(forward: Callable[..., Any], backward: Callable[..., Any], x: Any, y: Any) -> bool:
    return bool(np.vdot(forward(x), y) == np.vdot(x, backward(y)))


def _tape(
    program: Program,
    inputs: Sequence[float],
    *,
    add: bool = True,
    own: bool = False,
    sums: bool = False,
    forward: bool = False,
    both: bool = True,
) -> list[float]:
    """Gradients of the last value in the inputs; the options are what is often wrong."""
    values = list(inputs)
    for word, i, j in program:
        values.append(values[i] + values[j] if word == "add" else values[i] * values[j])
    grads = [0.0] * len(values)
    grads[-1] = 1.0
    steps = list(enumerate(program, len(inputs)))
    for target, (word, i, j) in steps if forward else reversed(steps):
        for to, other in ((i, j), (j, i))[: 1 + both]:
            factor = 1.0 if word == "add" or sums else values[to if own else other]
            grads[to] = add * grads[to] + factor * grads[target]
    return grads[: len(inputs)]


_LINES = ((4, 2, 1), (5, 3, 1), (7, 3, 2), (8, 2, 3), (8, 3, 2))  # inputs, taps, stride
_PROGRAMS: tuple[tuple[Program, tuple[float, ...]], ...] = (
    ([("mul", 0, 1)], (3.0, 5.0)),
    ([("add", 0, 1), ("mul", 2, 2)], (2.0, 7.0)),
    ([("mul", 0, 1), ("add", 2, 0)], (3.0, 4.0)),
    ([("mul", 0, 0), ("mul", 3, 1), ("add", 4, 2), ("mul", 5, 0)], (2.0, 3.0, 5.0)),
)


def _outputs(n: int, k: int, s: int) -> int:
    return (n - k) // s + 1


# fmt: off
PUZZLES: tuple[Puzzle, ...] = (
    Puzzle(
        "bias_gradient",
        "backwards through a relu and a bias",
        "y = relu(z) with z = conv + bias. dy is the gradient in y, and both are [images, rows, cols, "
        "channels]. Return the gradient in the bias: one number for each channel.",
        lambda dy, z: (dy * (z > 0)).sum((0, 1, 2)),
        lambda: [(ints(*shape, seed="dy"), ints(*shape, seed="z"))
                 for shape in ((1, 1, 3, 1), (1, 2, 2, 2), (2, 3, 3, 3))],
        (
            ("relu_ignored", "where z was negative the relu lets nothing back",
             lambda dy, z: dy.sum((0, 1, 2))),
            ("at_zero", "at z = 0 the frameworks take 0 for the slope of a relu",
             lambda dy, z: (dy * (z >= 0)).sum((0, 1, 2))),
            ("wrong_mask", "whether a cell is let through is decided by z, not by dy",
             lambda dy, z: np.maximum(dy, 0).sum((0, 1, 2))),
            ("mean", "gradients are added up, not averaged",
             lambda dy, z: (dy * (z > 0)).mean((0, 1, 2))),
            ("images_kept", "one bias serves all images: their gradients are added too",
             lambda dy, z: (dy * (z > 0)).sum((1, 2))),
            ("times_value", "the slope of a relu is 1 or 0, not the value of z",
             lambda dy, z: (dy * np.maximum(z, 0)).sum((0, 1, 2))),
            ("images_averaged", "one bias serves all images: their gradients are added, not averaged",
             lambda dy, z: (dy * (z > 0)).sum((1, 2)).mean(0)),
            ("other_side", "a relu lets back what had a z above 0, not below", lambda dy, z: (
                dy * (z < 0)).sum((0, 1, 2))),
        ),
        ("The relu first: where is its slope 1, and where 0?",
         "One bias is added to every image, row and col of its channel.",
         "What is used in many places gets the sum of what comes back from them."),
        "answers/how_gradients_are_computed",
    ),
    Puzzle(
        "input_gradient",
        "the gradient in the input",
        "y = conv1d(x, w) with VALID and this stride; x has n numbers, w has k. Return the gradient in x, n "
        "numbers, from dy, the gradient in y.",
        scattered,
        lambda: [(ints(_outputs(n, k, s), seed="dy"), ints(k, seed="w"), n, s) for n, k, s in _LINES],
        (
            ("overwritten", "an input is read by several windows: what comes back from them is added",
             lambda dy, w, n, s: scattered(dy, w, n, s, False)),
            ("flipped_filter", "tap j carried x[i * s + j] forward, and carries dy[i] back to it",
             lambda dy, w, n, s: scattered(dy, w[::-1], n, s)),
            ("stride_ignored", "window i begins at input i * s", lambda dy, w, n, s: scattered(dy, w, n, 1)),
            ("too_short", "inputs that no window read have the gradient 0, and are n numbers with them",
             lambda dy, w, n, s: scattered(dy, w, (len(dy) - 1) * s + len(w), s)[: len(dy) * s]),
            ("not_divisible", "window i reads input p only if p - j is a multiple of s",
             lambda dy, w, n, s: np.array([
                 sum(dy[(p - j) // s] * w[j] for j in range(len(w)) if 0 <= (p - j) // s < len(dy))
                 for p in range(n)])),
        ),
        ("Write out two outputs, and look for one input in both.",
         "The gradient in x[p] is the sum of dy[i] * w[j] over all i, j with i * s + j = p.",
         "Loop over i and j as forward, and turn the line round: dx[i * s + j] += dy[i] * w[j]."),
        "answers/how_gradients_are_computed",
        _to_input,
        True,
    ),
    Puzzle(
        "filter_gradient",
        "the gradient in the filter",
        "y = conv1d(x, w) with VALID and this stride; w has k taps. Return the gradient in w, k numbers, "
        "from x and dy, the gradient in y.",
        _filter,
        lambda: [(ints(n), ints(_outputs(n, k, s), seed="dy"), k, s) for n, k, s in _LINES],
        (
            ("flipped_filter", "tap 0 met the first input of every window",
             lambda x, dy, k, s: _filter(x, dy, k, s)[::-1]),
            ("stride_ignored", "window i begins at input i * s", lambda x, dy, k, s: _filter(x, dy, k, 1)),
            ("mean", "a weight is used once for each output: its gradients are added, not averaged",
             lambda x, dy, k, s: _filter(x, dy, k, s) / len(dy)),
            ("flipped_gradient", "output i belongs to window i: dy is not reversed",
             lambda x, dy, k, s: _filter(x, dy[::-1], k, s)),
        ),
        ("Tap j is multiplied with one input in every window.",
         "In window i that input is x[i * s + j].",
         "dw[j] += x[i * s + j] * dy[i]"),
        "answers/how_gradients_are_computed",
        _to_filter,
        True,
    ),
    Puzzle(
        "is_adjoint",
        "a test of gradients without a gradient",
        "forward and backward are functions of an array, and x and y are arrays for them. Return whether "
        "backward passes the adjoint test: the inner product of forward(x) and y equals that of x and "
        "backward(y). All numbers are small and whole, so both sums are exact.",
        _adjoint,
        lambda: [
            (f, g, ints(6), ints(size, seed="y"))
            for f, g, size in ((double, double, 6), (double, opposite, 6), (double, shifted, 6),
                               (correlated, stamped, 4),
                               (correlated, stamped_flipped, 4), (shifted, shifted, 6),
                               (np.negative, np.negative, 6))
        ],
        (
            ("always", "some of these pairs fail the test", lambda forward, backward, x, y: True),
            ("sizes", "both inner products must be equal, their signs too",
             lambda forward, backward, x, y: bool(abs(np.vdot(forward(x), y))
                                                  == abs(np.vdot(x, backward(y))))),
            ("inverse", "backward need not undo forward: a transpose is not an inverse",
             lambda forward, backward, x, y: bool(np.array_equal(backward(forward(x)), x))),
            ("same_argument", "forward gets x, and backward gets y",
             lambda forward, backward, x, y: bool(np.vdot(forward(x), forward(x))
                                                  == np.vdot(x, backward(forward(x))))),
            ("negated", "True means that the test passes",
             lambda forward, backward, x, y: not _adjoint(forward, backward, x, y)),
            ("never", "some of these pairs pass the test", lambda forward, backward, x, y: False),
        ),
        ("np.vdot multiplies two arrays number by number and adds up.",
         "Two inner products: one on the side of the outputs, one on the side of the inputs.",
         "np.vdot(forward(x), y) == np.vdot(x, backward(y)): == is right because whole numbers are not "
         "rounded. For other numbers compare with a bound, as tc.check_gradients does."),
        "answers/how_gradients_are_computed",
    ),
    Puzzle(
        "tape",
        "automatic differentiation in twenty lines",
        "program is a list of steps (op, i, j) with op \"add\" or \"mul\": each appends values[i] + "
        "values[j] or values[i] * values[j] to the list of values, which begins with inputs. Return the "
        "gradients of the last value in the inputs.",
        lambda program, inputs: _tape(program, inputs),
        lambda: _PROGRAMS,
        (
            ("overwritten", "a value that is used twice gets both gradients: add them",
             lambda program, inputs: _tape(program, inputs, add=False)),
            ("own_factor", "the gradient of a * b in a is b, the other factor",
             lambda program, inputs: _tape(program, inputs, own=True)),
            ("only_sums", "a product does not pass its gradient on as it is",
             lambda program, inputs: _tape(program, inputs, sums=True)),
            ("forward_order", "go through the steps backwards: a step's own gradient must be complete first",
             lambda program, inputs: _tape(program, inputs, forward=True)),
            ("seed", "the gradient of the last value in itself is 1: without it all others are 0",
             lambda program, inputs: [0.0] * len(inputs)),
            ("reversed", "the gradients are in the order of the inputs",
             lambda program, inputs: _tape(program, inputs)[::-1]),
            ("one_factor", "both values of a step get a gradient; yours go to the first one alone",
             lambda program, inputs: _tape(program, inputs, both=False)),
        ),
        ("Run the program first, and keep all values.",
         "Begin with gradients of 0, but 1 for the last value, and go through the steps backwards.",
         "add: both get the step's gradient. mul: each gets it times the other value. Always with +=."),
        "answers/how_gradients_are_computed",
    ),
)
# fmt: on
