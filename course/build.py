"""Builds what a lecturer needs as a folder and a zip: python course/build.py [FOLDER]. `make course` runs it.

Slides are written in Markdown and shown by reveal.js, which npm brings. Without npm they stay Markdown, and
the last line says so. teachconv draws the figures.
"""

import html
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import teachconv as tc
from teachconv.data import photo

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
    """One output cell."""
    x = np.float32([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]).reshape(1, 4, 4, 1)
    w = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)
    return tc.plot.window(tc.conv2d, x, w, at=(0, 0, 0, 0))


def size(cols, padding="SAME"):
    """The columns of a layer of 3 taps at stride 2."""
    return tc.plot.geometry(tc.conv2d_geometry((1, 1, cols, 1), (1, 3, 1, 1), (1, 2), padding)).figure


def transposed():
    """Two inputs stamp five outputs."""
    return tc.plot.geometry(
        tc.conv2d_transpose_geometry((1, 1, 2, 1), (1, 3, 1, 1), [1, 1, 5, 1], (1, 2), "VALID")
    ).figure


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
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def port():
    """SAME and padding=1 beside each other."""
    figure, axes = plt.subplots(1, 2, figsize=(13, 4))
    for axis, padding in zip(axes, ("SAME", 1), strict=True):
        tc.plot.geometry(tc.conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, padding), ax=axis)
    return figure


def bugs():
    """The differences of eight wrong results."""
    sys.path.insert(0, str(ROOT / "examples"))
    import eight_bugs

    rng = np.random.default_rng(0)
    x, w = rng.integers(-4, 5, (2, 8, 8, 4)) * 1.0, rng.integers(-3, 4, (3, 3, 4, 4)) * 1.0
    bias = rng.integers(-3, 4, 4) * 1.0
    right = tc.conv2d(x, w, 2, "SAME", bias=bias)
    figure, axes = plt.subplots(1, 8, figsize=(12, 1.8))
    for number, (axis, bug) in enumerate(zip(axes, eight_bugs.wrong_results(x, w, bias), strict=True), 1):
        axis.imshow((bug - right)[0, ..., 0], cmap="bwr", vmin=-60, vmax=60)
        axis.set(title=number, xticks=[], yticks=[])
    return figure


FIGURES = {
    "edges": edges, "window": window, "same_7": lambda: size(7), "same_8": lambda: size(8), "table": table,
    "transposed": transposed, "channels": channels, "matrix": matrix, "gridding": gridding, "port": port,
    "bugs": bugs,
}  # fmt: skip


def draw(folder):
    """Draw all figures of the slides."""
    folder.mkdir(parents=True)
    for name, figure in FIGURES.items():
        figure().savefig(folder / f"{name}.svg", bbox_inches="tight")
    plt.close("all")


SLIDES = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="reveal/reveal.css"><link rel="stylesheet" href="reveal/theme/white.css">
<style>.reveal img {{ width: 100%; height: 430px; object-fit: contain; margin: 0; }}
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
    r"\dots": "…", r"\partial": "∂", r"\langle": "⟨", r"\rangle": "⟩", r"\le": "≤",
    r"\sum": "Σ", r"\gamma_K": "γ", r"|\text{error}|": "|error|",
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
        command = ["npm", "pack", "--silent", REVEAL]
        if not shutil.which("npm") or subprocess.run(command, cwd=temporary, timeout=120).returncode:
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


def study(folder):
    """Write the page of the study, with its questions inside."""
    folder.mkdir(parents=True)
    questions = json.loads((HERE / "study" / "questions.json").read_text(encoding="utf-8"))
    page = (HERE / "study" / "study.html").read_text(encoding="utf-8")
    inside = json.dumps(questions, ensure_ascii=False).replace("</", "<\\/")
    (folder / "study.html").write_text(page.replace("QUESTIONS", inside), encoding="utf-8")
    for name in ("analysis.ipynb", "questions.json"):
        shutil.copy(HERE / "study" / name, folder)


def main(target="dist/teachconv-course"):
    """Build the folder and the zip."""
    target = Path(target)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for page in sorted((ROOT / "docs" / "teach").glob("*.md")):
        shutil.copy(page, target)
    for part in ("conv_layer", "port", "solutions"):
        shutil.copytree(HERE / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(
        ROOT / "notebooks", target / "notebooks",
        ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"),
    )  # fmt: skip
    shutil.copytree(
        ROOT / "examples",
        target / "examples",
        ignore=shutil.ignore_patterns("__pycache__", "kernels", "downstream"),
    )
    shutil.copy(HERE / "graders.py", target / "solutions")
    shown = slides(target / "slides")
    study(target / "study")
    archive = shutil.make_archive(str(target), "zip", target.parent, target.name)
    print(archive if shown else f"{archive}; the slides are Markdown only: npm could not bring {REVEAL}")


if __name__ == "__main__":
    main(*sys.argv[1:])
