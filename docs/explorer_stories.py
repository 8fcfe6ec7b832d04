"""Twelve stories: a call, a question, and the steps of a tour that answer it on real numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import teachconv as tc

STORIES: dict[str, "Story"] = {}


class Story(NamedTuple):
    """A title, and the function that makes the page; its docstring is the question that the page answers."""

    title: str
    make: Callable[[], Any]

    def page(self):
        """Return the explorer, with the question at the top of its page."""
        explorer = self.make()
        explorer.title = self.make.__doc__
        return explorer


def story(title):
    """Add a story."""

    def add(make):
        STORIES[make.__name__] = Story(title, make)
        return make

    return add


def integers(*shape):
    """Return seeded whole numbers from -4 to 4."""
    return np.random.default_rng(list(shape)).integers(-4, 5, shape).astype("float32")


def step(text, at, lit, tap=None):
    """Return a step: its sentence, its cell, and the parts that are lit."""
    return text, at, tap, lit.split()


def explored(op, *args, story, **kwargs):
    """Return the explorer of a call that begins where its story does."""
    return tc.explore(op, *args, at=story[0][1], story=story, **kwargs)


W = np.float32([[1, 0, 2], [-1, 1, 0], [-2, 1, 1]]).reshape(3, 3, 1, 1)


@story("SAME pads below")
def same_pads_below():
    """Why does SAME pad below and to the right at stride 2?"""
    x = integers(1, 6, 6, 1)
    rows = tc.conv2d_geometry(x.shape, W.shape, 2, "SAME").rows
    total = rows.pad_before + rows.pad_after
    return explored(
        tc.conv2d,
        x,
        W,
        2,
        "SAME",
        story=[
            step(
                "The first window begins at the edge: there is no padding above it.",
                (0, 0, 0, 0),
                "source result",
            ),
            step(
                f"{rows.out_size} windows need {rows.in_size + total} rows; the input has {rows.in_size}.",
                (0, 1, 1, 0),
                "source",
            ),
            step(
                f"So {total} is missing: half of it, rounded down, goes above: {rows.pad_before}.",
                (0, 0, 1, 0),
                "source",
            ),
            step(
                f"The rest goes below: {rows.pad_after}. The last window reaches it.",
                (0, 2, 2, 0),
                "source result",
            ),
            step(
                "A tap in the padding adds nothing: it is skipped.",
                (0, 2, 2, 0),
                "source weights products sum",
                tap=8,
            ),
        ],
    )


@story("The PyTorch port")
def the_pytorch_port():
    """Why is a network ported from TensorFlow off by one pixel?"""
    x = integers(1, 6, 6, 1)
    ours = explored(
        tc.conv2d,
        x,
        W,
        2,
        "SAME",
        story=[
            step(
                "TensorFlow's SAME: at stride 2 this window begins at row 2.", (0, 1, 1, 0), "source result"
            ),
            step(
                "Dashed: PyTorch's padding=1 begins one row and one column earlier.", (0, 1, 1, 0), "source"
            ),
            step(
                "Every output differs, as the map of differences shows.", (0, 1, 1, 0), "products sum result"
            ),
            step(
                "Pad by hand in PyTorch, below and to the right: both agree.", (0, 2, 2, 0), "source result"
            ),
        ],
    )
    torch_arrays = x.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)
    theirs = tc.explore(tc.dialects.torch.conv2d, *torch_arrays, stride=2, padding=1)
    return ours.beside(theirs, name="PyTorch's padding=1")


@story("7 and 8 both shrink to 4")
def seven_and_eight():
    """Why does conv2d_transpose want an output_shape?"""
    sizes = {n: tc.conv2d_geometry((1, n, n, 1), W.shape, 2, "SAME").rows.out_size for n in (7, 8)}
    assert sizes == {7: 4, 8: 4}
    return explored(
        tc.conv2d_transpose,
        integers(1, 4, 4, 1),
        W,
        (1, 7, 7, 1),
        2,
        "SAME",
        story=[
            step("At stride 2, SAME makes 4 rows of 7 rows, and of 8.", (0, 2, 2, 0), "source"),
            step("So the way back does not know its size: output_shape says 7.", (0, 2, 2, 0), "result"),
            step("The frame is that choice: what is outside it is cut away.", (0, 6, 6, 0), "result"),
            step("Choose 8 × 8 above: the same sums stand one place further.", (0, 3, 3, 0), "source result"),
        ],
    )


@story("Checkerboards")
def checkerboards():
    """Where do the checkerboards of generated images come from?"""
    ones = np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
    counts = tc.conv2d_transpose(*ones, None, 2, "VALID")[0, :, :, 0]
    return explored(
        tc.conv2d_transpose,
        *ones,
        None,
        2,
        "VALID",
        story=[
            step(
                "A constant input and a constant filter: is the output constant?",
                (0, 4, 4, 0),
                "source weights",
            ),
            step(
                f"Here {counts[4, 4]:.0f} stamps overlap: the sum is {counts[4, 4]:.0f}.",
                (0, 4, 4, 0),
                "result products sum",
            ),
            step(f"One column further only {counts[4, 3]:.0f} do.", (0, 4, 3, 0), "result products sum"),
            step(
                f"And here a single one: {counts[3, 3]:.0f}. That is the checkerboard.",
                (0, 3, 3, 0),
                "result products sum",
            ),
            step(
                "The filter's size is not a multiple of the stride: stamps overlap unevenly.",
                (0, 4, 4, 0),
                "source weights result",
            ),
        ],
    )


@story("output_padding")
def output_padding():
    """What does output_padding add?"""
    x = integers(1, 3, 3, 1)
    rows = tc.conv2d_transpose_geometry(x.shape, W.shape, None, 2, 1, output_padding=1).rows
    return explored(
        tc.conv2d_transpose,
        x,
        W,
        None,
        2,
        1,
        output_padding=1,
        story=[
            step(
                f"padding=1 cuts the full result of {rows.full_size} rows, on each side.",
                (0, 2, 2, 0),
                "result",
            ),
            step(
                "output_padding=1 cuts one row less below, one column less on the right.",
                (0, 5, 5, 0),
                "result",
            ),
            step(
                "No zeros are added: this cell is a sum like any other.",
                (0, 5, 5, 0),
                "source products sum result",
            ),
            step(f"So {rows.in_size} rows, where {rows.in_size - 1} would be usual.", (0, 5, 0, 0), "result"),
        ],
    )


@story("The holes of a dilation")
def dilation_leaves_holes():
    """What does a dilation skip?"""
    x = integers(1, 9, 9, 1)
    rows = tc.conv2d_geometry(x.shape, W.shape, 1, "VALID", dilations=2).rows
    return explored(
        tc.conv2d,
        x,
        W,
        1,
        "VALID",
        dilations=2,
        story=[
            step(
                f"9 weights reach over {rows.effective_filter} × {rows.effective_filter} cells.",
                (0, 2, 2, 0),
                "source weights",
            ),
            step(
                "Between the taps are holes: these cells are not read.",
                (0, 2, 2, 0),
                "source products",
                tap=4,
            ),
            step("The next window reads cells between those: it shares none.", (0, 2, 3, 0), "source result"),
            step("Two columns further it shares cells with the first again.", (0, 2, 4, 0), "source result"),
            step(
                "Neighbours share no input: a next dilation of 2 keeps them apart.",
                (0, 2, 3, 0),
                "source result",
            ),
        ],
    )


@story("Groups are walls")
def groups_are_walls():
    """What do groups leave out?"""
    x, w = integers(1, 5, 5, 4), integers(3, 3, 2, 4)
    return explored(
        tc.conv2d,
        x,
        w,
        1,
        "SAME",
        story=[
            step(
                "Two groups: this output channel reads input channels 0 and 1.",
                (0, 1, 1, 0),
                "source products sum result",
            ),
            step("So does the other output channel of its group.", (0, 1, 1, 1), "products sum result"),
            step(
                "Across the wall: channels 2 and 3, with weights of their own.",
                (0, 1, 1, 2),
                "source weights products",
            ),
            step(
                f"{w.size} weights instead of {3 * 3 * 4 * 4}: half of all pairs of channels.",
                (0, 1, 1, 3),
                "weights products",
            ),
        ],
    )


@story("Depthwise")
def depthwise():
    """What is special about a depthwise convolution?"""
    x, w = integers(1, 5, 5, 3), integers(3, 3, 3, 1)
    return explored(
        tc.depthwise_conv2d,
        x,
        w,
        1,
        "SAME",
        story=[
            step(
                "Each channel has a filter of its own: 9 products, not 27.",
                (0, 1, 1, 0),
                "source weights products sum",
            ),
            step(
                "Channel 1, filter 1: no number of channel 0 is in it.",
                (0, 1, 1, 1),
                "source weights products sum",
            ),
            step("So channels never mix: a 1 × 1 convolution has to follow.", (0, 1, 1, 2), "source result"),
            step(
                f"{w.size} weights; with all pairs of channels it would be {3 * 3 * 3 * 3}.",
                (0, 1, 1, 2),
                "weights",
            ),
        ],
    )


@story("1 × 1")
def one_by_one():
    """What can a 1 × 1 convolution do?"""
    return explored(
        tc.conv2d,
        integers(1, 4, 4, 4),
        integers(1, 1, 4, 3),
        story=[
            step("The window is a single cell: no neighbour is read.", (0, 1, 1, 0), "source weights result"),
            step("But all four channels are: four products, one sum.", (0, 1, 1, 0), "products sum"),
            step(
                "Another output channel is another mixture of the same four numbers.",
                (0, 1, 1, 1),
                "products sum result",
            ),
            step(
                "Every cell is mixed alike: a matrix product of [16, 4] and [4, 3].",
                (0, 2, 3, 2),
                "products sum result",
            ),
        ],
    )


@story("The gradient of a weight")
def the_filter_gradient():
    """Which windows saw this weight?"""
    return explored(
        tc.conv2d_backprop_filter,
        integers(1, 6, 6, 1),
        (3, 3, 1, 1),
        integers(1, 4, 4, 1),
        story=[
            step(
                "This weight was in all 16 windows, each time over another cell.",
                (1, 1, 0, 0),
                "source result",
            ),
            step(
                "What it met, times how much that output should change.",
                (1, 1, 0, 0),
                "source weights products",
                tap=5,
            ),
            step("All 16 products add up: the gradient of one weight.", (1, 1, 0, 0), "products sum result"),
            step("The next weight met the same pattern, one column further.", (1, 2, 0, 0), "source result"),
            step(
                "So the gradient is a convolution too: the input with the gradients.",
                (0, 0, 0, 0),
                "source weights result",
            ),
        ],
    )


@story("Causal")
def causal():
    """How does a convolution avoid looking into the future?"""
    x, w = integers(1, 8, 1), integers(3, 1, 1)
    axis = tc.conv_geometry(x.shape, w.shape, 1, "CAUSAL").cols
    return explored(
        tc.conv1d,
        x,
        w,
        1,
        "CAUSAL",
        story=[
            step(
                f"Time runs to the right. All padding is before: {axis.pad_before}, which is 3 − 1.",
                (0, 4, 0),
                "source weights",
            ),
            step("Output 4 reads times 2, 3 and 4: nothing later.", (0, 4, 0), "source result"),
            step(
                "The first output knows one number; two taps fall into the padding.",
                (0, 0, 0),
                "source products sum",
            ),
            step("Choose SAME above: one tap is on the right, in the future.", (0, 7, 0), "source result"),
        ],
    )


@story("A strided pool")
def a_strided_pool():
    """Is an average pool a convolution?"""
    return explored(
        tc.avg_pool,
        integers(1, 6, 6, 2),
        2,
        2,
        "VALID",
        story=[
            step(
                "A window of weights 1: the sum of four cells, divided by 4.",
                (0, 1, 1, 0),
                "weights products sum",
            ),
            step("Stride 2 and size 2: windows touch and never overlap.", (0, 1, 2, 0), "source result"),
            step(
                "Each channel is pooled alone, as in a depthwise convolution.",
                (0, 1, 1, 1),
                "source products result",
            ),
            step("A quarter of the cells is left, and no weight is learned.", (0, 2, 2, 1), "source result"),
        ],
    )


def write(folder: Path, links: Path) -> None:
    """Write a page and a picture for each story, and a list of links to them."""
    folder.mkdir(parents=True, exist_ok=True)
    items = []
    for name, told in STORIES.items():
        page = told.page()
        page.save(folder / f"{name}.html")
        picture = page._repr_svg_()
        image = ""
        if picture:  # a pool has none
            (folder / f"{name}.svg").write_text(picture, encoding="utf-8")
            image = f'<img src="{folder.name}/{name}.svg" alt="">'
        link = f'<a href="{folder.name}/{name}.html#step=1">{image}<b>{told.title}</b></a>'
        items.append(f"<li>{link} {told.make.__doc__}</li>")
    links.write_text(f'<ol class="stories">{"".join(items)}</ol>', encoding="utf-8")
