"""What a reader takes away: the picture as SVG, calls in each framework's words, films, and a stand-in without scripts."""

import re
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import wait_for

import teachconv as tc
from teachconv.inspection.svg import Picture
from teachconv.support import palette

SVG = "{http://www.w3.org/2000/svg}"
X = np.random.default_rng(3).integers(-4, 5, (1, 6, 6, 2)).astype("float32")
W = np.random.default_rng(4).integers(-4, 5, (3, 3, 2, 2)).astype("float32")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    picture = tc.explore(tc.conv2d, X, W, 2, "SAME", budget=400_000)  # with all its variants
    return picture.save(tmp_path_factory.mktemp("take") / "page.html")


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_button_downloads_the_picture_that_is_shown(driver, path, tmp_path, dark):
    page = Page(driver, path, width=1280, height=900, dark=dark)
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.all(".extras summary")[0].click()
    page.all(".save")[0].click()
    deadline = time.monotonic() + 60
    while not (tmp_path / "conv2d.svg").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    root = ElementTree.parse(tmp_path / "conv2d.svg").getroot()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    seen = page.look()
    assert texts[0].startswith("tc.conv2d(input [1, 6, 6, 2]")
    for grid in seen["grids"]:
        assert grid["title"] in texts
    numbers = [cell["text"] for grid in seen["grids"] for cell in grid["cells"] if cell["text"]]
    assert len(numbers) == 36 + 9 + 9
    assert all(texts.count(number) >= numbers.count(number) for number in numbers)
    colours = {name: colour[dark] for name, colour in palette.COLOURS.items()}
    strokes = [rect.get("stroke") for rect in root.iter(f"{SVG}rect")]
    window = sum("window" in cell["classes"] for cell in seen["grids"][0]["cells"])
    assert strokes.count(colours["ring"]) >= window > 0
    assert colours["mark"] in strokes
    assert colours["filter"] in strokes
    assert next(root.iter(f"{SVG}rect")).get("fill") == colours["paper"]
    assert page.complaints() == []


@needs_browser
def test_the_call_can_be_copied_in_each_frameworks_words(driver, path):
    page = Page(driver, path, width=1280, height=900)
    page.run("navigator.clipboard.writeText = async (text) => { window.taken = text; }")

    def copied(framework):
        page.run(
            "window.taken = null; const select = document.querySelector('.take-away select');"
            "select.value = arguments[0]; select.dispatchEvent(new Event('change'));"
            "document.querySelector('.take-away .copy').click();",
            framework,
        )
        wait_for(page, "return window.taken !== null")
        return page.run("return window.taken"), page.all(".said")[0].text

    for to in ("tensorflow", "torch", "jax", "onnx", "keras"):
        assert copied(to) == (tc.translate(tc.conv2d, X, W, 2, "SAME", to=to).code, "")
    page.choose("stride", "1")
    assert copied("torch")[0] == tc.translate(tc.conv2d, X, W, 1, "SAME", to="torch").code
    page.choose("padding", "1")
    page.choose("dilation", "2")
    page.choose("filter size", "2 × 2")  # four changes
    call = tc.conv2d, X.shape, (2, 2, 2, 2), 1, 1
    for to in ("tensorflow", "torch", "jax", "onnx", "keras"):
        assert copied(to) == (tc.translate(*call, dilations=2, to=to).code, "")
    assert page.complaints() == []


@needs_browser
def test_a_refused_call_says_why_it_cannot_be_copied(driver, tmp_path):
    page = Page(driver, tc.explore(tc.conv2d, X[:, :4, :4], W).save(tmp_path / "page.html"))
    page.choose("filter size", "5 × 5")
    with pytest.raises(ValueError, match="VALID needs in_rows >= 5"):
        tc.conv2d(X[:, :4, :4], np.ones((5, 5, 2, 2), "float32"))
    page.all(".extras summary")[0].click()
    page.all(".take-away .copy")[0].click()
    wait_for(page, "return document.querySelector('.said').textContent !== ''")
    assert page.all(".said")[0].text == (
        "not possible: VALID needs at least 5 rows (filter 5, dilation 1); got 4"
    )
    assert page.look()["message"].startswith("The op refuses these arguments: VALID needs at least 5 rows (")
    assert page.complaints() == []


@needs_browser
def test_a_download_works_in_a_notebooks_frame(driver, tmp_path):
    html = tc.explore(tc.conv2d, X, W, 2, "SAME", budget=120_000)._repr_html_()
    (tmp_path / "host.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><title>host</title>{html}")
    page = Page(driver, tmp_path / "host.html", width=1280, height=900)
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    driver.switch_to.frame(0)
    try:
        page.run("document.querySelector('.save').click()")
    finally:
        driver.switch_to.default_content()
    deadline = time.monotonic() + 60
    while not (tmp_path / "conv2d.svg").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert page.complaints() == []


@needs_browser
def test_where_no_script_runs_there_is_an_image(driver, tmp_path):
    """GitHub and others take frames, styles and scripts away; what is left is an image of the picture."""
    html = tc.explore(tc.conv2d, X, W, 2, "SAME", budget=120_000)._repr_html_()
    page = f"<!DOCTYPE html><meta charset=utf-8><title>host</title>{html}"
    (tmp_path / "host.html").write_text(page)
    driver.get((tmp_path / "host.html").as_uri())
    assert not driver.find_element("css selector", "body img").is_displayed()  # the frame is there
    assert driver.find_element("css selector", "iframe").is_displayed()
    bare = re.sub(r"<(style|iframe|noscript|script)\b.*?</\1>", "", page, flags=re.S)
    (tmp_path / "bare.html").write_text(bare)
    driver.get((tmp_path / "bare.html").as_uri())
    image = driver.find_element("css selector", "body img")
    assert image.is_displayed()
    assert image.size["width"] > 300
    assert "conv2d" in image.get_attribute("alt")


def test_a_notebook_has_the_image_too(monkeypatch):
    """Places that show no HTML, such as a printed notebook, take the image; matplotlib is not needed for it."""
    monkeypatch.setattr(Picture, "figure", None)
    bundle = tc.explore(tc.conv2d, X, W, 2, "SAME", budget=120_000)._repr_mimebundle_()
    assert bundle["text/html"].startswith("<style>")
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag == f"{SVG}svg"
    assert "conv2d" in bundle["text/plain"]
    assert set(tc.explore(tc.conv2d, X[:0], W)._repr_mimebundle_()) == {"text/html", "text/plain"}


def frames(path):
    image = pytest.importorskip("PIL.Image", reason="GIFs need Pillow")
    with image.open(path) as film:
        for number in range(film.n_frames):
            film.seek(number)
            yield np.asarray(film.convert("RGB")).astype(int)


def test_colours_are_fixed_over_the_frames_and_rings_are_whole(tmp_path):
    pytest.importorskip("matplotlib", reason="tc.plot needs matplotlib")
    found = list(frames(tc.plot.animate(tmp_path / "film.gif", tc.conv2d, X, W, 2, "SAME")))
    assert len(found) == 9
    ring, mark = (
        np.array([int(palette.COLOURS[name].light[i : i + 2], 16) for i in (1, 3, 5)])
        for name in ("ring", "mark")
    )
    # the cell's frame has as many pixels in a corner as in the middle: nothing is cut off
    sizes = [(np.abs(frame - mark).sum(axis=2) == 0)[:, frame.shape[1] * 2 // 3 :].sum() for frame in found]
    assert min(sizes) > 200
    assert max(sizes) - min(sizes) <= 0.1 * max(sizes)
    assert all((np.abs(frame - ring).sum(axis=2) == 0).sum() > 200 for frame in found)
    # a cell of the result that is drawn keeps its colour: the last frame has the ground of every earlier one
    for earlier, later in zip(found[:-1], found[1:], strict=True):
        changed = (earlier != later).any(axis=2).mean()
        assert changed < 0.12


@pytest.mark.parametrize("at", [(0, 0, 0, 0), (0, 3, 3, 0), (0, 6, 6, 0)], ids=str)
def test_the_window_of_a_transposed_call_lies_in_its_plane(at):
    """Its taps outside the input are drawn as padding, not over what stands beside; all cells have one plane."""
    call = tc.conv2d_transpose, X[:, :3, :3, :1], W[..., :1, :1], None, 2, "VALID"
    root = ElementTree.fromstring(tc.plot.window(*call, at=at).svg)
    cells = {title.text.split(":")[0] for title in root.iter(f"{SVG}title") if title.text.startswith("input")}
    assert cells == {f"input 3 x 3 [{row}, {col}]" for row in range(-1, 4) for col in range(-1, 4)}
    legend = [text.text for text in root.iter(f"{SVG}text")]
    assert "padding" in legend
    assert ("padding in the window" in legend) == (at != (0, 3, 3, 0))  # whose one tap is in the middle
