"""Builds what a lecturer needs as a folder and a zip: python course/build.py [FOLDER]. `make course` runs it.

Slides are written in Markdown and shown by reveal.js, which npm brings. Without npm they stay Markdown, and
the last line says so. teachconv draws the figures.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.text import Text

import teachconv as tc
from teachconv.data import digits, photo

HERE = Path(__file__).parent
ROOT = HERE.parent
REVEAL = "reveal.js@5.2.1"


def edges():
    """A photograph, and Sobel's filter across and down."""
    grey, sobel = photo().mean(axis=2), np.array([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    found = tc.conv2d(grey[None, ..., None], np.stack([sobel, sobel.T], -1)[:, :, None], padding="SAME")[0]
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.4))
    for axis, picture in zip(axes, (grey, found[..., 0], found[..., 1]), strict=True):
        axis.imshow(picture, cmap="gray")
        axis.set_axis_off()
    return figure


def window():
    """One output cell, and no other: the next one is for the class."""
    x = np.float32([[4, 3, 1], [2, 1, 0], [1, 2, 4]]).reshape(1, 3, 3, 1)
    w = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)
    return tc.plot.window(tc.conv2d, x, w, at=(0, 0, 0, 0))


def columns(geometry):
    """The columns of a geometry, without the formulas below them: too small for a slide."""
    return tc.plot.geometry(geometry, formulas=False)


def size(cols, padding="SAME"):
    """The columns of a layer of 3 taps at stride 2."""
    return columns(tc.conv2d_geometry((1, 1, cols, 1), (1, 3, 1, 1), (1, 2), padding))


def transposed():
    """Two inputs stamp five outputs."""
    return columns(tc.conv2d_transpose_geometry((1, 1, 2, 1), (1, 3, 1, 1), [1, 1, 5, 1], (1, 2), "VALID"))


def channels():
    """Which input channel feeds which output channel."""
    figure, axes = plt.subplots(1, 3, figsize=(8, 2.8))
    for axis, depth, title in zip(axes, (8, 4, 1), ("ordinary", "2 groups", "depthwise"), strict=True):
        geometry = tc.conv2d_geometry((1, 1, 1, 8), (1, 1, depth, 8))
        axis.spy(tc.conv_matrix(np.ones((1, 1, depth, 8)), geometry), markersize=8)
        axis.set(title=title, xlabel="input channel", ylabel="output channel", xticks=[], yticks=[])
    return figure


def matrix():
    """The matrix of a convolution along one axis."""
    w = np.array([1.0, 2, 3]).reshape(1, 3, 1, 1)
    figure, axis = plt.subplots(figsize=(6, 3))
    axis.imshow(tc.conv_matrix(w, tc.conv2d_geometry((1, 1, 12, 1), w.shape)).toarray(), cmap="Blues")
    axis.set(xlabel="input", ylabel="output")
    return figure


def gridding():
    """The receptive field of three layers of dilation 2."""
    layer = tc.conv2d_geometry((1, 15, 15, 1), (3, 3, 1, 1), 1, "SAME", dilations=2)
    return tc.plot.receptive_field([layer] * 3).figure


def table():
    """All products of five inputs, three taps and stride 2."""
    figure, axis = plt.subplots(figsize=(7, 2.6))
    for tap, colour in enumerate(("tab:blue", "tab:orange", "tab:green")):
        axis.scatter([2 * out + tap for out in range(2)], range(2), s=500, color=colour, label=f"w[{tap}]")
    axis.set(xlabel="input", ylabel="output", yticks=range(2), ylim=(1.6, -0.6), xlim=(-0.5, 4.5))
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=0.5)
    return figure


def port():
    """Where the windows of SAME and of padding=1 begin, on eight inputs."""
    figure, axes = plt.subplots(2, 1, figsize=(8, 3.6), sharex=True)
    for axis, padding, title in zip(axes, ("SAME", 1), ("SAME: 0 and 1", "padding=1: 1 and 1"), strict=True):
        cols = tc.conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, padding).cols
        axis.scatter(range(8), [0] * 8, s=160, color="black", marker="s")
        for out in range(cols.out_size):
            first = 2 * out - cols.pad_before
            axis.plot(
                [first - 0.3, first + 2.3],
                [out % 2 + 1] * 2,
                linewidth=8,
                color="tab:blue",
                solid_capstyle="butt",
            )
            axis.text(first + 1, out % 2 + 1.35, f"output {out}", ha="center", fontsize=10)
        axis.set(title=title, ylim=(-0.6, 3), xlim=(-1.6, 8.6), yticks=[], xticks=range(-1, 9))
    axes[1].set_xlabel("input; -1 and 8 are padding")
    figure.tight_layout()
    return figure


def bugs():
    """The differences of eight wrong results."""
    sys.path.insert(0, str(ROOT / "examples"))
    import eight_bugs

    rng = np.random.default_rng(0)
    x, w = rng.integers(-4, 5, (2, 8, 8, 4)) * 1.0, rng.integers(-3, 4, (3, 3, 4, 4)) * 1.0
    bias = rng.integers(-3, 4, 4) * 1.0
    right = tc.conv2d(x, w, 2, "SAME", bias=bias)
    figure, axes = plt.subplots(2, 4, figsize=(8, 4.6), layout="constrained")
    for number, (axis, bug) in enumerate(
        zip(axes.flat, eight_bugs.wrong_results(x, w, bias), strict=True), 1
    ):
        different = (bug - right)[0, ..., 0]
        most = np.abs(different).max()  # each map has a scale of its own
        axis.imshow(different, cmap="bwr", vmin=-most, vmax=most)
        axis.set(title=f"{number}: ±{most:.0f}", xticks=[], yticks=[])
    return figure


def maps():
    """A seven, and what the first layer of the digits network makes of it."""
    data = digits()
    seven = data["images"][data["labels"] == 7][:1].astype("float32") / 16
    found = np.maximum(tc.conv2d(seven, data["conv1/filters"], padding="SAME", bias=data["conv1/bias"]), 0)[0]
    figure = plt.figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 2))
    left.subplots().imshow(seven[0, ..., 0], cmap="gray_r")
    right.subplots(2, -(-found.shape[2] // 2))
    for axis, plane in zip(right.axes, np.moveaxis(found, -1, 0), strict=False):
        axis.imshow(plane, cmap="Blues", vmin=0, vmax=found.max())
    for axis in figure.axes:
        axis.set_axis_off()
    return figure


FIGURES = {
    "edges": edges, "window": window, "same_7": lambda: size(7), "same_8": lambda: size(8), "table": table,
    "transposed": transposed, "channels": channels, "matrix": matrix, "gridding": gridding, "port": port,
    "bugs": bugs, "maps": maps,
}  # fmt: skip


def for_slides(svg):
    """White paper in a dark system, too; and letters large enough for two pictures beside each other."""
    svg = re.sub("<style>.*?</style>", "", svg, flags=re.DOTALL)
    least = 13.5 if 'width="540"' not in svg else 9  # the window's picture fills the slide
    return re.sub(r'font-size="([\d.]+)"', lambda size: f'font-size="{max(float(size[1]), least):g}"', svg)


def draw(folder):
    """Draw all figures of the slides; no label is below 22 pixels on a screen of 1920 by 1080."""
    folder.mkdir(parents=True)
    for name, make in FIGURES.items():
        figure, file = make(), folder / f"{name}.svg"
        if isinstance(figure, tc.plot.Picture):
            file.write_text(for_slides(figure.svg), encoding="utf-8")
            continue
        for words in figure.findobj(Text):
            words.set_fontsize(max(words.get_fontsize(), 12))
        figure.savefig(file, bbox_inches="tight")
    plt.close("all")


SLIDES = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="reveal/reveal.css"><link rel="stylesheet" href="reveal/theme/white.css">
<style>.reveal img {{ width: 100%; height: 430px; object-fit: contain; margin: 0; }}
.reveal p:has(img + img) img {{ width: 49%; height: 300px; }}
.reveal table, .reveal code {{ font-size: 0.8em; }}
:root {{ --r-main-font-size: 32px; --r-heading-text-transform: none; }}</style></head>
<body><div class="reveal"><div class="slides">
<section data-markdown data-separator="^\\n---\\n$" data-separator-notes="^Note:"><textarea data-template>
{text}
</textarea></section></div></div>
<script src="reveal/reveal.js"></script><script src="reveal/plugin/markdown/markdown.js"></script>
<script src="reveal/plugin/notes/notes.js"></script>
<script>Reveal.initialize({{ hash: true, plugins: [RevealMarkdown, RevealNotes] }});</script></body></html>
"""
_SYMBOLS = {
    r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉", r"\text{padding}": "padding",
    r"\ldots": "…", r"\partial": "∂", r"\langle": "⟨", r"\rangle": "⟩", r"\le": "≤",
    r"\sum": "Σ", r"\gamma_K": "γ<sub>K</sub>", r"|\text{error}|": "|error|",
    "^T": "ᵀ", "_1": "₁", "_2": "₂", "_0": "₀", "_o": "ₒ",
}  # fmt: skip


def plain_formulas(text):
    """Write the few formulas of the slides with letters of Unicode, so that no script is needed for them."""
    for word, letter in _SYMBOLS.items():
        text = text.replace(word, letter)
    return text.replace("$", "")


def slides(folder):
    """Write the slides; return whether reveal.js was there."""
    draw(folder / "figures")
    for path in sorted((HERE / "slides").glob("*.md")):
        shutil.copy(path, folder)
        text = plain_formulas(path.read_text(encoding="utf-8"))
        title = text.splitlines()[0].strip("# ")
        page = SLIDES.format(title=title, text=html.escape(text, quote=False))
        (folder / f"{path.stem}.html").write_text(page, encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        npm = shutil.which("npm")  # on Windows npm.cmd, which a process is started from by its path only
        command = [npm, "pack", "--silent", REVEAL]
        if not npm or subprocess.run(command, cwd=temporary, timeout=120).returncode:
            for page in folder.glob("*.html"):
                page.unlink()
            return False
        shutil.unpack_archive(next(Path(temporary).glob("*.tgz")), temporary)
        package = Path(temporary) / "package"
        for part in ("reveal.js", "reveal.css", "theme/white.css"):
            (folder / "reveal" / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(package / "dist" / part, folder / "reveal" / part)
        shutil.copytree(package / "dist" / "theme" / "fonts", folder / "reveal" / "theme" / "fonts")
        shutil.copy(package / "LICENSE", folder / "reveal")
        for plugin in ("markdown/markdown.js", "notes/notes.js"):
            (folder / "reveal" / "plugin" / plugin).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(package / "plugin" / plugin, folder / "reveal" / "plugin" / plugin)
    return True


def study(students, teachers):
    """Write the page of the study, with its questions but not their answers, and the analysis."""
    questions = json.loads((HERE / "study" / "questions.json").read_text(encoding="utf-8"))
    asked = [
        {form: {key: question[form][key] for key in ("text", "options")} for form in "AB"}
        for question in questions
    ]
    page = (HERE / "study" / "study.html").read_text(encoding="utf-8")
    inside = json.dumps(asked, ensure_ascii=False).replace("</", "<\\/")
    for folder in (students, teachers):
        folder.mkdir(parents=True, exist_ok=True)
    (students / "study.html").write_text(page.replace("QUESTIONS", inside), encoding="utf-8")
    for name in ("analysis.ipynb", "questions.json"):
        shutil.copy(HERE / "study" / name, teachers)


def readable(page):
    """Return a page of docs/teach as plain Markdown whose links work in the folder `teachers`."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"\n```\{(toctree|include)\}.*?```\n|\n\([\w-]+\)=", "", text, flags=re.DOTALL)
    text = re.sub(r'<a href="[^"]*">(.*?)</a>', r"\1 (in the documentation)", text, flags=re.DOTALL)
    return relinked(text, page)


def relinked(text, page):
    """Return a text whose links work in the zip; for a page that is not in it there is its title."""

    def link(found):
        words, target, place = found.groups(default="")
        if target.endswith(".ipynb"):
            return f"[{words}](../students/notebooks/{Path(target).name})"
        title = title_of(page.parent / target)
        if "/" in target:
            return (
                f"{words} (in the documentation: *{title}*)" if words else f"*{title}* in the documentation"
            )
        return f"[{words or title}]({target}{place})"

    return re.sub(r"\[([^][]*)\]\(([^)#]*\.md|\.\./learn/[^)#]*\.ipynb)(#[^)]*)?\)", link, text)


def title_of(page):
    """Return the first heading of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(line[2:] for line in lines if line.startswith("# "))


README = """# A course on convolutions

- `students`: give this folder to the students. Its README says how they install what they need.
- `teachers`: begin with `index.md`, which has the plan. This folder has solutions and answers.
"""
STUDENTS = """# A course on convolutions

## Install

You need Python 3.11 or newer. teachconv {version} has to be installed; where it is on PyPI,

    python -m pip install teachconv jupyterlab matplotlib scikit-learn

Until then, from the file that your teacher gives you, in its folder:

    python -m pip install teachconv-{version}-py3-none-any.whl jupyterlab matplotlib scikit-learn

or from a clone of its repository (`python -m pip install .`). On Windows write `py` for `python`. To see
whether it works:

    python -m teachconv exercises

On a JupyterHub, upload this whole folder, not single notebooks: they read `examples`. If teachconv is not
installed there, install it in a terminal of the hub, as above.

## What is here

- `notebooks`: start `python -m jupyter lab` in this folder and open them. The answers that they mention, in
  `answers`, are not here: your teacher has them, and they are on the pages of teachconv.
- `conv_layer`: assignment 1. `TASK.md` says what to do; `python check_layer.py` says what is wrong.
- `port`, `digits`: assignments 2 and 3, in the same way.
- `study.html`: ten questions, to be answered in a browser before the course and after it.

Leave `checking.py` where it is: both checkers use it. `examples` belongs to the notebooks; notebook 11 says
when to read it.
"""


def copy(source, target, *without):
    """Copy a folder without what Python and Jupyter leave in it, and without these names."""
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", *without)
    shutil.copytree(source, target, ignore=ignored)


def main(target="dist/teachconv-course"):
    """Build the folder and the zip."""
    target = Path(target)
    students, teachers = target / "students", target / "teachers"
    shutil.rmtree(target, ignore_errors=True)
    for folder in (students, teachers):
        folder.mkdir(parents=True)
    (target / "README.md").write_text(README, encoding="utf-8")
    (students / "README.md").write_text(STUDENTS.format(version=tc.__version__), encoding="utf-8")
    for page in sorted((ROOT / "docs" / "teach").glob("*.md")):
        (teachers / page.name).write_text(readable(page), encoding="utf-8")
    for part in ("conv_layer", "port", "digits"):
        copy(HERE / part, students / part)
    shutil.copy(HERE / "checking.py", students)
    copy(ROOT / "notebooks", students / "notebooks", "answers")
    for notebook in (students / "notebooks").glob("*.ipynb"):
        text = notebook.read_text(encoding="utf-8")
        notebook.write_text(relinked(text, ROOT / "notebooks" / notebook.name), encoding="utf-8")
    copy(ROOT / "examples", students / "examples", "kernels", "downstream")
    copy(HERE / "solutions", teachers / "solutions")
    shutil.copy(HERE / "graders.py", teachers / "solutions")
    for name in ("rubric.md", "exam.md"):
        shutil.copy(HERE / name, teachers)
    copy(ROOT / "notebooks" / "answers", teachers / "notebooks" / "answers")
    shown = slides(teachers / "slides")
    study(students, teachers / "study")
    archive = shutil.make_archive(str(target), "zip", target.parent, target.name)
    print(archive if shown else f"{archive}; the slides are Markdown only: npm could not bring {REVEAL}")


if __name__ == "__main__":
    main(*sys.argv[1:])
