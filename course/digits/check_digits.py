"""Checks digits.py, and says what is wrong: python check_digits.py [digits.py]. Exits with 1 if so.

It marks a folder of submissions, too: python check_digits.py FOLDER --csv points.csv
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for checking
import checking

POINTS = {
    "relu_backward": 5,
    "max_pool": 10,
    "max_pool_backward": 15,
    "loss": 10,
    "loss_backward": 10,
    "read_digits": 35,
}
CASES = ((2, 3, 4, 6), (1, 2, 6, 4), (3, 1, 2, 8), (5, 4, 8, 8))  # [batch, channels, rows, cols]
LEAST, MOST = 0.80, 0.95  # the accuracies that give no points, and all


def arrays(shape, seed):
    """Different numbers, none of them 0, the gradient in a pool's output, scores, and labels."""
    random = np.random.default_rng([seed, *shape])
    x = random.permutation(np.arange(1.0, np.prod(shape) + 1)).reshape(shape) - np.prod(shape) // 2 - 0.5
    dout = checking.numbers((*shape[:2], shape[2] // 2, shape[3] // 2), "dout", seed) / 2  # not whole
    return x, dout, checking.numbers((shape[0], 7), "scores", seed), random.integers(0, 7, shape[0])


@cache
def digits(seed):
    """scikit-learn's digits: images and labels to train with, and others, drawn by the seed."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise SystemExit("the digits come with scikit-learn: python -m pip install scikit-learn") from None
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    images, labels = images[order].reshape(-1, 1, 8, 8) / 16, labels[order]
    return images[360:], labels[360:], images[:360], labels[:360]


def arguments(name, shape, seed):
    """Return the arguments of a function of digits.py."""
    x, dout, scores, labels = arrays(shape, seed)
    return {
        "relu_backward": (checking.numbers(shape, "d", seed) / 2, x),
        "max_pool": (x,),
        "max_pool_backward": (dout, x),
        "loss": (scores, labels),
        "loss_backward": (scores, labels),
        "read_digits": digits(seed)[:3] if name == "read_digits" else (),
    }[name]


def blocks(x):
    """[batch, channels, rows / 2, 2, cols / 2, 2]."""
    return x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2)


def softmax(scores):
    """Each image's probabilities."""
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def right(name, args):
    """Return the right result of a function, and usual wrong ones with what they say."""
    if name == "relu_backward":
        dout, x = args
        return dout * (x > 0), {
            "dout is passed on everywhere": dout,
            "yours is the relu of dout": np.maximum(dout, 0),
        }
    if name == "max_pool":
        found = blocks(args[0])
        return found.max((3, 5)), {
            "yours is the mean, not the largest": found.mean((3, 5)),
            "yours is the smallest": found.min((3, 5)),
        }
    if name == "max_pool_backward":
        dout, x = args
        largest = blocks(x) == blocks(x).max((3, 5), keepdims=True)
        spread = np.broadcast_to(dout[:, :, :, None, :, None], largest.shape)
        shaped = {"right": spread * largest, "all": spread * 1.0, "quarter": spread / 4}
        shaped = {key: value.reshape(x.shape) for key, value in shaped.items()}
        return shaped["right"], {
            "each cell of a window gets dout; only its largest does": shaped["all"],
            "dout is shared by the window, as in a mean": shaped["quarter"],
        }
    scores, labels = args
    chosen = -np.log(softmax(scores)[np.arange(len(labels)), labels])
    gradient = softmax(scores) - np.eye(scores.shape[1])[labels]
    if name == "loss":
        return chosen.mean(), {"yours is the sum over the images, not the mean": chosen.sum()}
    return gradient / len(labels), {
        "the loss is a mean: divide by the number of images": gradient,
        "1 is not subtracted at the label": softmax(scores) / len(labels),
        "the sign is wrong": -gradient / len(labels),
    }


def fault(name, shape, seed, got):
    """Return what is wrong with a result, or None."""
    if name == "read_digits":
        labels = digits(seed)[3]
        if got.shape != labels.shape:
            return checking.Fault(
                f"the shape is {list(got.shape)}, not {list(labels.shape)}: one label for each image"
            )
        accuracy = (got == labels).mean()
        if accuracy >= MOST:
            return None
        share = max(0.0, (accuracy - LEAST) / (MOST - LEAST))
        return checking.Fault(
            f"{accuracy:.1%} of {len(labels)} digits are right; {MOST:.0%} are asked", share
        )
    want, mistakes = right(name, arguments(name, shape, seed))
    if checking.near(got, want):
        return None
    if found := checking.known(got, mistakes.items()):
        return found
    if got.shape != np.shape(want):
        return checking.Fault(f"the shape is {list(got.shape)}, not {list(np.shape(want))}")
    return checking.differ(got, want)


def legal(shape):
    """Raise a ValueError unless an array of this shape can be a case."""
    if len(shape) != 4 or any(not isinstance(n, int) or n < 1 for n in shape) or shape[2] % 2 or shape[3] % 2:
        raise ValueError(
            f"a case is [batch, channels, rows, cols] with even rows and cols; got {list(shape)}"
        )


def facts(shape):
    """Return what a case has that others do not have."""
    return {"with several images": shape[0] > 1, "with several channels": shape[1] > 1}


ASSIGNMENT = checking.Assignment(
    "digits.py", POINTS, (5, 5, 5), CASES, lambda shape: f"x {list(shape)}", facts, legal, arguments, fault,
    once=frozenset({"read_digits"}), seconds=120,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(checking.main(ASSIGNMENT))
