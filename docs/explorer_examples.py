"""Writes the explorers that docs/index.md and docs/explorer.md embed; each build of the docs runs it."""

import shutil
from pathlib import Path

import explorer_stories
import figure_pack
import numpy as np

import teachconv as tc
from teachconv.explorer.digits import draw_a_digit
from teachconv.explorer.page import frame_of, playground_page

# the arrays of the picture on the front page, which shows these lines
X = np.arange(36, dtype="float32").reshape(1, 6, 6, 1)
W = np.float32([[1, 0, -1], [2, 0, -2], [1, 0, -1]]).reshape(3, 3, 1, 1)


def examples():
    """Yield the name and the explorer of each example."""
    rng = np.random.default_rng(7)

    def integers(*shape):
        return rng.integers(-4, 5, shape).astype("float32")

    x, w = integers(1, 6, 6, 2), integers(3, 3, 2, 2)
    yield "conv2d", tc.explore(tc.conv2d, x, w, 2, "SAME", at=(0, 1, 2, 0), budget=350_000)
    small = integers(1, 3, 3, 1)
    yield (
        "transpose",
        tc.explore(
            tc.conv2d_transpose, small, integers(3, 3, 1, 1), None, 2, at=(0, 2, 2, 0), budget=350_000
        ),
    )
    image, edge = x[..., :1], w[..., :1, :1]
    ours = tc.explore(tc.conv2d, image, edge, 2, "SAME", at=(0, 1, 1, 0), budget=300_000)
    torch_arrays = image.transpose(0, 3, 1, 2), edge.transpose(3, 2, 0, 1)
    theirs = tc.explore(tc.dialects.torch.conv2d, *torch_arrays, stride=2, padding=1)
    yield "beside", ours.beside(theirs, name="PyTorch's padding=1")


def write(folder: Path) -> None:
    """Write each example to ``folder/explorer_<name>.html``, ready to be included in a page."""
    folder.mkdir(exist_ok=True)
    for name, explorer in examples():
        (folder / f"explorer_{name}.html").write_text(explorer._repr_html_(), encoding="utf-8")
    extra = folder / "extra" / "explorer"
    extra.mkdir(parents=True, exist_ok=True)
    (extra / "playground.html").write_text(playground_page("../index.html"), encoding="utf-8")
    playground = frame_of("explorer/playground.html", "the convolution playground")
    draw_a_digit().save(extra / "digits.html")
    shutil.copy(folder.parent / "draw_a_digit.png", extra / "digits.png")
    words = "A drawn seven, the layers of a network that reads it, and what speaks most for 7 and against 3"
    digits = frame_of(
        "explorer/digits.html", "draw a digit", f'<img src="explorer/digits.png" alt="{words}">'
    )
    (folder / "digits.html").write_text(digits, encoding="utf-8")
    explorer_stories.write(folder / "extra" / "stories", folder / "stories.html")
    figures = folder / "extra" / "figures"
    for file in (folder.parent / "_build" / "figures").glob("*"):  # what make figures made is not drawn again
        figures.mkdir(exist_ok=True)
        shutil.copy2(file, figures)
    figure_pack.write(figures, figure_pack.FIRST)
    figure_pack.preview(figures, folder / "take_these.html")
    (folder / "playground.html").write_text(playground, encoding="utf-8")
    picture = tc.explain(tc.conv2d, X, W, 2, "SAME", at=(0, 2, 2, 0)).picture()
    (folder / "front.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent / "_generated")
