"""The figure pack: loops as SVG and GIF, which move, are short, and show the numbers that the library computes."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import SAVED, integers
from helpers import mostly_slow

import teachconv as tc

DOCS = Path(tc.__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))
figure_pack = pytest.importorskip("figure_pack", reason="the docs are not here")
import loops  # noqa: E402  beside figure_pack

SVG = "{http://www.w3.org/2000/svg}"
NAMES = list(figure_pack.LOOPS)


def test_there_are_thirty_and_the_committed_ones_are_small():
    assert 28 <= len(NAMES) <= 34
    assert len({title for title, _ in figure_pack.LOOPS.values()}) == len(NAMES)
    for name in figure_pack.FIRST:
        assert 10_000 < (DOCS / "_static" / f"{name}.gif").stat().st_size <= 300_000


@pytest.mark.parametrize("name", mostly_slow(NAMES, *figure_pack.FIRST, "im2col", "winograd"))
def test_a_loop_moves_and_ends_with_all_numbers(name):
    film = figure_pack.LOOPS[name].make()
    assert 3000 <= sum(frame.milliseconds for frame in film.frames) <= loops.LONGEST
    root = ElementTree.fromstring(loops.to_svg(film, name))
    assert root.get("width") == "320"
    style = root.find(f"{SVG}style").text
    assert len(re.findall("@keyframes", style)) >= len(film.frames) - 2
    still = [g for g in root.iter(f"{SVG}g") if g.get("visibility") != "hidden"]  # what does not animate
    texts = [text.text for g in still for text in g.iter(f"{SVG}text")]
    for plane in (plane for row in film.rows for plane in row):
        assert plane.title in texts
        if plane.fills and plane.numbers.size < 40:
            for value in plane.numbers.flat:
                assert f"{value + 0.0:.3g}".replace("-", "−") in texts
    for box in root.iter(f"{SVG}rect"):
        if box.get("x"):
            assert 0 <= float(box.get("x")) <= 320 - float(box.get("width"))


def test_the_first_loop_shows_what_conv2d_computes():
    film = figure_pack.LOOPS["stride_2_same"].make()
    x, w = figure_pack.integers(1, 6, 6, 1), figure_pack.integers(3, 3, 1, 1)
    want = tc.conv2d(x, w, 2, "SAME")[0, :, :, 0]
    assert film.frames[-1].numbers[2] == dict(np.ndenumerate(want))
    sums = [frame.text.split("so far ")[1] for frame in film.frames[:9]]
    inner = tc.explain(tc.conv2d, x, w, 2, "SAME", at=(0, 0, 0, 0)).taps
    assert [float(text.replace("−", "-")) for text in sums] == [tap.running_sum for tap in inner]


def test_what_has_not_changed_is_not_drawn_again(tmp_path, monkeypatch):
    monkeypatch.setattr(figure_pack, "LOOPS", {"causal": figure_pack.LOOPS["causal"]})
    figure_pack.write(tmp_path, ())
    path = tmp_path / "causal.svg"
    path.write_text("kept", encoding="utf-8")
    figure_pack.write(tmp_path, ())
    assert path.read_text(encoding="utf-8") == "kept"
    (tmp_path / "figures.json").write_text(json.dumps({"causal": "another"}), encoding="utf-8")
    figure_pack.write(tmp_path, ())
    assert path.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.slow
def test_a_gif_has_all_frames(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="GIFs need Pillow")
    film = figure_pack.LOOPS["transposed_stride_2"].make()
    (tmp_path / "loop.gif").write_bytes(loops.to_gif(film))
    with image.open(tmp_path / "loop.gif") as found:
        assert (found.width, found.height, found.n_frames) == (320, film.height, len(film.frames))
        assert found.info["loop"] == 0


# ---------------------------------------------------------------------------------------------
# The same picture everywhere
# ---------------------------------------------------------------------------------------------

RSVG = shutil.which("rsvg-convert")


def drawn_by_rsvg(svg, folder):
    image = pytest.importorskip("PIL.Image", reason="the pictures are compared with Pillow")
    (folder / "picture.svg").write_text(svg, encoding="utf-8")
    done = subprocess.run(
        [RSVG, "-o", folder / "rsvg.png", folder / "picture.svg"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return image.open(folder / "rsvg.png").convert("RGB")


def drawn_by_chromium(driver, svg, size, folder):
    from base64 import b64decode
    from io import BytesIO

    image = pytest.importorskip("PIL.Image", reason="the pictures are compared with Pillow")
    (folder / "picture.html").write_text(
        f"<!DOCTYPE html><meta charset=utf-8><style>body {{ margin: 0 }}</style>{svg}", encoding="utf-8"
    )
    page = Page(driver, folder / "picture.html", width=size[0] + 600, height=size[1] + 60)
    shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    return image.open(BytesIO(b64decode(shot))).convert("RGB").crop((0, 0, *size))


@needs_browser
@pytest.mark.release
@pytest.mark.skipif(RSVG is None, reason="rsvg-convert is not installed: apt install librsvg2-bin")
@pytest.mark.parametrize("name", ["page", "loop"])
def test_rsvg_draws_what_chromium_draws(driver, tmp_path, name):
    """All boxes and marks are at the same places in the same colours; letters may be those of another font."""
    if name == "page":
        x, w = integers(1, 6, 6, 1), integers(3, 3, 1, 1)
        explorer = tc.explore(tc.conv2d, x, w, 2, "SAME", at=(0, 1, 1, 0), budget=1).beside(padding=1)
        page = Page(driver, explorer.save(tmp_path / "page.html"), width=1280, height=800)
        svg = page.run(SAVED)
    else:
        svg = loops.to_svg(figure_pack.LOOPS["stride_2_same"].make(), name)
    first = drawn_by_rsvg(svg, tmp_path)
    second = drawn_by_chromium(driver, svg, first.size, tmp_path)
    small = [np.asarray(one.resize((one.width // 8, one.height // 8)), float) for one in (first, second)]
    apart = np.abs(small[0] - small[1]).max(axis=2)
    assert (apart > 40).mean() < 0.01
    assert apart.mean() < 4
    assert np.ptp(small[0]) > 60  # it is not blank
