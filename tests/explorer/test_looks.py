"""What a page looks like on screens of several sizes, on paper and as a picture: nothing is cut off, blank or unlabelled."""

import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import SAVED, integers, wait_for
from helpers import mostly_slow

import teachconv as tc
from teachconv.cli.demo_command import _page
from teachconv.data import photo
from teachconv.support import palette

pytestmark = needs_browser

SVG = "{http://www.w3.org/2000/svg}"
CALLS = {
    "channels": lambda: tc.explore(
        tc.conv2d, integers(1, 7, 7, 2), integers(3, 3, 2, 4), 2, "SAME", budget=1
    ),
    "transposed": lambda: tc.explore(
        tc.conv2d_transpose, integers(1, 4, 4, 2), integers(3, 3, 1, 2), None, 2, "SAME", budget=1
    ),
    "photo": lambda: tc.explore(
        tc.conv2d, photo()[None, 40:80, 90:150].astype("float32"), integers(3, 3, 3, 4), 2, "SAME", budget=1
    ),
    "beside": lambda: tc.explore(
        tc.conv2d, integers(1, 6, 6, 1), integers(3, 3, 1, 1), 2, "SAME", at=(0, 1, 1, 0), budget=1
    ).beside(padding=1),
    "filter gradient": lambda: tc.explore(
        tc.conv2d_backprop_filter,
        integers(1, 8, 8, 1),
        (3, 3, 1, 1),
        integers(1, 8, 8, 1),
        1,
        "SAME",
        budget=1,
    ),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    saved = {name: call().save(folder / f"{name}.html") for name, call in CALLS.items()}
    whole = tc.explore(tc.conv2d, photo()[None].astype("float32"), integers(3, 3, 3, 1), 1, "SAME", budget=1)
    saved |= {
        "image": whole.save(folder / "image.html"),
        "playground": tc.playground().save(folder / "p.html"),
    }
    return saved | {"photo in the playground": Address(saved["playground"], "#" + PHOTO)}


PHOTO = "conv2d&n=75,113&k=3&s=1&p=same&x=a photo&w=vertical edges"


class Address:
    """A page at an address."""

    def __init__(self, path, hash_):
        self.uri = path.as_uri() + hash_

    def as_uri(self):
        return self.uri


BOX = """
const box = (e) => { const { left, top, right, bottom, width, height } = e.getBoundingClientRect(); return { left, top, right, bottom, width, height }; };
const boxes = (selector) => [...document.querySelectorAll(selector)].map(box);
"""
SEEN = (
    BOX
    + """
return { grids: boxes(".stage .cells"), stage: boxes(".stage")[0], transport: boxes(".transport")[0], main: boxes("main")[0],
  cells: boxes(".stage .cell").map((b) => b.width), headline: boxes(".headline")[0], table: parseFloat(getComputedStyle(document.querySelector("table")).fontSize),
  wide: document.documentElement.scrollWidth };
"""
)


@pytest.mark.parametrize("name", ["channels", "transposed"])
def test_on_a_phone_picture_sum_and_buttons_meet(driver, paths, name):
    page = Page(driver, paths[name], width=390, height=844)
    seen = page.run(SEEN)
    assert seen["wide"] <= 390
    assert max(seen["cells"]) <= 30.5
    # the buttons are at the bottom edge, with the sum above them, and all planes fit in what is left
    assert 790 < seen["transport"]["bottom"] <= 844
    assert seen["headline"]["bottom"] <= seen["transport"]["top"] + 1
    assert max(b["right"] for b in page.run(BOX + "return boxes('.transport > *')")) <= 390
    for grid in seen["grids"]:
        assert grid["left"] >= 0
        assert grid["right"] <= 390
        assert grid["bottom"] <= seen["headline"]["top"]
    caption = page.run(BOX + "return boxes('.caption')[0]")
    assert caption["top"] >= max(grid["bottom"] for grid in seen["grids"])
    assert seen["grids"][1]["top"] == pytest.approx(
        seen["grids"][2 if name == "channels" else 0]["top"], abs=60
    )


# of each written number in a ring, the pixels that are left to the ring on either side
APART = """
return [...document.querySelectorAll(".stage .cell:is(.window, .met, .current)")].filter((e) => e.textContent).map((e) => {
  const range = document.createRange();
  range.selectNodeContents(e);
  const { boxShadow, borderLeftWidth } = getComputedStyle(e);
  const ring = parseFloat(borderLeftWidth) + parseFloat(boxShadow.match(/ ([\\d.]+)px inset/)[1]);
  const { width } = range.getBoundingClientRect();
  return [e.textContent, width && (e.getBoundingClientRect().width - width) / 2 - ring];
});"""


@pytest.mark.parametrize("width", [390, 1280])
def test_numbers_stay_within_their_rings(driver, tmp_path, width):
    """Two channels with numbers of up to six letters; those that would be too small are left out."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 0.3, (1, 4, 4, 2)).astype("float32")
    w = rng.normal(0, 0.1, (3, 3, 2, 2)).astype("float32")
    w[0, 0, 0, 1], w[2, 2, 0, 1] = -0.0012, 0.0076  # of one digit, and of two
    call = tc.explore(tc.conv2d, x, w, 1, "SAME", at=(0, 1, 2, 1), budget=1)
    page = Page(driver, call.save(tmp_path / "long.html"), width=width, height=844)
    found = page.run(APART)
    assert len(found) == 19
    assert max(len(text) for text, _ in found) >= 6
    written = [left for _, left in found if left]
    assert len(written) == 19
    assert min(written) >= 0.2


@pytest.mark.parametrize(("width", "height"), [(960, 540), (640, 400)], ids=["a slide", "200 percent"])
def test_a_low_window_shows_all_planes_and_the_buttons(driver, paths, width, height):
    for name in ("channels", "transposed"):
        page = Page(driver, paths[name], width=width, height=height)
        page.run("scrollTo(0, document.querySelector('.stage').getBoundingClientRect().top)")
        seen = page.run(SEEN)
        for grid in seen["grids"]:
            assert grid["left"] >= 0
            assert grid["right"] <= width
            assert grid["bottom"] <= height, name
        assert seen["transport"]["bottom"] <= height
        assert seen["wide"] <= width


LENS = (
    BOX
    + """
const blank = (canvas) => { const pen = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height }).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0); return new Set(pen.getImageData(0, 0, canvas.width, canvas.height).data).size < 10; };
return { boxes: boxes(".lens canvas, .lens button, .lens input, .lens p").filter((b) => b.width), blank: [...document.querySelectorAll(".lens canvas")].map(blank),
  wide: document.documentElement.scrollWidth, canvases: boxes(".lens canvas").map((b) => b.width) };"""
)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_whole_image_is_inside_every_window(driver, paths, dark):
    sizes = [(1920, 1080), (1280, 800), (960, 540), (768, 1024), (390, 844), (640, 400)]  # the last at 200 %
    for name, (width, height) in itertools.product(("image", "photo in the playground"), sizes):
        driver.get("about:blank")
        page = Page(driver, paths[name], width=width, height=height, dark=dark)
        wait_for(page, "return document.querySelector('.lens canvas')?.width > 80")
        seen = page.run(LENS)
        assert seen["blank"] == [False, False], (name, width)
        assert seen["wide"] <= width, (name, width)
        assert min(box["left"] for box in seen["boxes"]) >= 0
        assert max(box["right"] for box in seen["boxes"]) <= width, (name, width)
        assert min(seen["canvases"]) >= 105
        least, where = page.contrast(".lens *")
        assert least >= 4.5, where
        assert page.complaints() == []


FRAMED = (
    BOX
    + """
const stage = document.querySelector(".stage"), page = document.documentElement;
const within = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility()).map(box);
return { images: within(".lens canvas"), lens: within(".lens .part"), magnifier: within(".stage .cells"), sum: within(".headline"), transport: within(".transport, .transport > *"),
  caption: within(".caption, .caption > *"), scrolls: [page.scrollWidth - innerWidth, page.scrollHeight - innerHeight, stage.scrollWidth - stage.clientWidth], size: [innerWidth, innerHeight] };"""
)


@pytest.mark.parametrize("dark", mostly_slow([False, True], False), ids=["light", "dark"])
@pytest.mark.parametrize("name", mostly_slow(["image", "photo in the playground", "channels"], "image"))
def test_all_of_a_page_fits_into_a_frame_of_640_x_360(driver, paths, tmp_path, name, dark):
    """The whole image, its result, the lens, the magnifier, the sum and the buttons; in a frame and by itself."""
    inside = Address(paths[name], "&embed" if "#" in paths[name].as_uri() else "#embed")
    host = tmp_path / "host.html"
    host.write_text(
        "<!DOCTYPE html><meta charset=utf-8><title>host</title>"
        f'<iframe src="{inside.as_uri()}" width="640" height="360" style="border:0"></iframe>'
    )
    for where, framed in ((host, True), (inside, False)):
        driver.get("about:blank")
        size = {"width": 1000, "height": 800} if framed else {"width": 640, "height": 360}
        page = Page(driver, where, dark=dark, **size)
        if framed:
            driver.switch_to.frame(0)
        try:
            wait_for(page, "return document.querySelector('.stage .cells')?.clientWidth > 0")
            if name != "channels":
                wait_for(page, "return document.querySelector('.lens canvas')?.width > 80")
            seen = page.run(FRAMED)
            blank = page.run(LENS)["blank"]
        finally:
            driver.switch_to.default_content()
        assert seen.pop("size") == [640, 360]
        assert max(seen.pop("scrolls")) <= 0, (name, framed)
        whole = name != "channels"
        assert (len(seen["images"]), len(seen["lens"]), blank) == (2 * whole, 2 * whole, [False] * 2 * whole)
        assert (len(seen["magnifier"]), len(seen["sum"])) == (3, 1)
        every = [box for boxes in seen.values() for box in boxes]
        assert min(min(box["left"], box["top"]) for box in every) >= 0, (name, framed)
        assert max(box["right"] for box in every) <= 640, (name, framed)
        assert max(box["bottom"] for box in every) <= 360, (name, framed)
        assert page.complaints() == []


@pytest.mark.parametrize(("width", "height"), mostly_slow([(1280, 800), (1920, 1080)], (1280, 800)))
def test_a_whole_image_has_320_pixels_where_there_is_room(driver, paths, width, height):
    page = Page(driver, paths["image"], width=width, height=height)
    wait_for(page, "return document.querySelector('.lens canvas')?.width > 80")
    assert page.run(LENS)["canvases"] == [320, 320]
    seen = page.run(SEEN)
    assert max(grid["bottom"] for grid in seen["grids"]) <= seen["transport"]["bottom"] <= height
    gap = page.run(BOX + "return boxes('.side')[0].left - Math.max(...boxes('.lens *').map((b) => b.right))")
    assert gap >= 12  # the fields of the weights do not touch the sum


def test_a_wide_window_is_used(driver, paths):
    seen = Page(driver, paths["channels"], width=1920, height=1080).run(SEEN)
    assert seen["main"]["width"] > 1700
    assert seen["table"] >= 14
    assert max(seen["cells"]) > 48
    assert seen["transport"]["bottom"] <= 1080


def test_the_products_of_a_filter_gradient_and_its_sum_are_on_one_screen(driver, paths):
    page = Page(driver, paths["filter gradient"], width=1280, height=800)
    assert page.run(BOX + "return boxes('.product').length") == 64
    bottoms = page.run(BOX + "return [...boxes('.product'), ...boxes('.terms .said')].map((b) => b.bottom)")
    assert max(bottoms) <= 800


def test_indices_in_the_table_of_taps_do_not_touch(driver, paths):
    page = Page(driver, paths["channels"], width=1280, height=800)
    page.run("document.querySelector('details.taps').open = true")
    gaps = page.run(
        """const range = document.createRange();
        const text = (td) => { range.selectNodeContents(td); return range.getBoundingClientRect(); };
        return [...document.querySelectorAll(".taps tr")].flatMap((tr) => [...tr.children].slice(1).map((td, i) => {
          const [a, b] = [text(tr.children[i]), text(td)];
          return a.width && b.width ? b.left - a.right : 99; }));"""
    )
    assert min(gaps) >= 6


def test_the_numbers_of_columns_do_not_touch(driver, tmp_path):
    x = integers(1, 20, 221, 1)
    call = tc.explore(tc.conv2d_transpose, x, integers(3, 3, 1, 1), None, 2, at=(0, 20, 220, 0), budget=1)
    page = Page(driver, call.save(tmp_path / "page.html"), width=768, height=1024)
    boxes = page.run(
        """const range = document.createRange();
        return [...document.querySelectorAll(".stage .cells")].map((grid) => [...grid.querySelectorAll("[role=columnheader]")]
          .filter((e) => getComputedStyle(e).visibility === "visible").map((e) => { range.selectNodeContents(e); const { left, right } = range.getBoundingClientRect(); return [left, right]; }));"""
    )
    for grid in boxes:
        assert len(grid) > 2
        assert all(after[0] - before[1] >= 2 for before, after in itertools.pairwise(grid))


def test_what_scrolls_can_be_focused_and_headers_have_words(driver, paths):
    for name in ("channels", "filter gradient", "playground"):
        page = Page(driver, paths[name], width=390, height=844)
        page.run("document.querySelectorAll('details').forEach((e) => { e.open = true })")
        found = page.run(
            """const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth;
            const reached = (e) => e.tabIndex >= 0 || e.querySelector("button, input, select, a, [tabindex='0']");
            const headers = [...document.querySelectorAll("th, [role=columnheader], [role=rowheader]")];
            return [...document.querySelectorAll("body *")].filter((e) => scrolls(e) && !reached(e)).map((e) => e.outerHTML.slice(0, 90))
              .concat(headers.filter((e) => !e.textContent.trim()).map((e) => e.outerHTML));"""
        )
        assert found == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_source_of_the_trace_can_be_read(driver, paths, dark):
    page = Page(driver, paths["channels"], dark=dark)
    page.run("document.querySelectorAll('details').forEach((e) => { e.open = true })")
    least, where = page.contrast(".trace *")
    assert least >= 4.5, where


def test_padding_and_what_is_cut_away_look_different(driver, paths):
    page = Page(driver, paths["transposed"])
    style = "const s = getComputedStyle(document.querySelector(arguments[0])); return [s.borderTopStyle, s.backgroundImage !== 'none']"
    looks = [
        page.run(style, f".stage .cell:is({kind}):not(.window)") for kind in (".padding, .outside", ".cut")
    ]
    assert looks == [["dashed", False], ["solid", True]]


def test_numbers_that_are_never_negative_have_a_scale_from_zero(driver, tmp_path):
    x = np.abs(integers(1, 6, 6, 2))
    x[..., 1] *= -1
    for values, low in ((np.abs(x), "0"), (x, "-4")):  # one scale for all channels
        path = tc.explore(tc.conv2d, values, integers(3, 3, 2, 1), budget=1).save(tmp_path / "page.html")
        entry = next(e.text for e in Page(driver, path).all(".legend li") if e.text.startswith("input"))
        assert entry.split() == ["input", low, "4"]


# ---------------------------------------------------------------------------------------------
# Paper, and the picture as a file
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_slow(["channels", "photo", "transposed"], "channels"))
def test_on_paper_all_planes_are_there_and_nothing_to_press(driver, paths, name):
    page = Page(driver, paths[name], width=1280, height=800)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 717, "height": 1046, "deviceScaleFactor": 1, "mobile": False},
    )
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        page.settle()
        page.run("dispatchEvent(new Event('beforeprint'))")
        seen = page.run(SEEN)
        assert all(grid["left"] >= 0 and grid["right"] <= 700 for grid in seen["grids"])
        assert seen["stage"]["height"] < 800  # so that it stays on the first page
        assert (
            page.run(
                """return [...document.querySelectorAll("button:not(.thumb, .overview), select, input, summary")].filter((e) => e.checkVisibility() && !e.closest("details[open]")).length"""
            )
            == 0
        )
        scrolls = "return [...document.querySelectorAll('.tcx *')].filter((e) => e.checkVisibility() && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth).length"
        assert page.run(scrolls) == 0
        assert (
            page.run("return getComputedStyle(document.querySelector('.stage .cell')).printColorAdjust")
            == "exact"
        )
        page.run("dispatchEvent(new Event('afterprint'))")
        assert page.run("return document.querySelector('.drawn')") is None
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def drawing(driver, path, **options):
    """The picture that the page saves."""
    return ElementTree.fromstring(Page(driver, path, width=1280, height=800, **options).run(SAVED))


def test_the_saved_picture_has_the_other_calls_window_and_what_differs(driver, paths):
    root = drawing(driver, paths["beside"])
    dashed = [
        rect
        for rect in root.iter(f"{SVG}rect")
        if rect.get("stroke-dasharray") and rect.get("stroke") == palette.COLOURS["mark"].light
    ]
    assert len(dashed) == 9 + 1  # the window of the other call, and its entry in the legend
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("≠") == 2 * 9
    assert "output[0, 1, 1, 0]" in " ".join(texts)  # the sum as well
    width, height = float(root.get("width")), float(root.get("height"))
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("x") is not None:
            assert float(rect.get("x")) + float(rect.get("width")) <= width
            assert float(rect.get("y")) + float(rect.get("height")) <= height


def test_the_saved_picture_of_a_photo_has_a_scale_and_no_hairlines(driver, tmp_path):
    grey = photo()[None, 40:60, 90:110, :1].astype("float32")
    path = tc.explore(tc.conv2d, grey, np.ones((1, 1, 1, 1), "float32"), budget=1).save(
        tmp_path / "page.html"
    )
    root = drawing(driver, path)
    fills = [rect.get("fill") for rect in root.iter(f"{SVG}rect")]
    assert "rgb(17,17,17)" in fills  # the ends of the scale
    assert "rgb(255,255,255)" in fills
    sharp = [rect for rect in root.iter(f"{SVG}rect") if rect.get("shape-rendering") == "crispEdges"]
    assert len(sharp) >= 2 * 400


def test_a_picture_for_a_paper_is_transparent_light_and_as_wide_as_a_column(driver, paths):
    page = Page(driver, paths["channels"], width=1280, height=800, dark=True)
    chosen = {"background": "transparent", "width": "8.5 cm"}
    root = ElementTree.fromstring(page.run(SAVED, chosen))
    assert root.get("width") == "8.5cm"
    assert root.get("height").endswith("cm")
    fills = {rect.get("fill") for rect in root.iter(f"{SVG}rect") if rect.get("width") == "100%"}
    assert fills == set()  # no ground
    inks = {text.get("fill") for text in root.iter(f"{SVG}text")}
    assert palette.COLOURS["ink"].light in inks
    assert palette.COLOURS["ink"].dark not in inks
    maps = list(root.iter(f"{SVG}image"))
    assert len(maps) == 2 * 2 + 4  # input channels with their filters, and output channels
    assert all(image.get("href").startswith("data:image/png;base64,") for image in maps)


def test_the_picture_as_png_has_two_dots_for_a_pixel(driver, paths):
    page = Page(driver, paths["beside"], width=1280, height=800)
    width = float(ElementTree.fromstring(page.run(SAVED)).get("width"))
    page = Page(driver, paths["beside"], width=1280, height=800)
    sizes = page.run(
        SAVED.replace(
            "blob.text().then(done)",
            "createImageBitmap(blob).then((b) => done([b.width, b.height, blob.type]))",
        ),
        {"format": "PNG"},
    )
    assert sizes[0] == 2 * width
    assert sizes[2] == "image/png"


# ---------------------------------------------------------------------------------------------
# The playground
# ---------------------------------------------------------------------------------------------


def test_all_channels_of_a_large_call_are_painted_or_said_to_be_missing(driver, paths):
    blank = """return [...document.querySelectorAll("[data-thumb^=o] canvas.plane:not(.weights)")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.every((value) => value === 0); })"""
    driver.get("about:blank")
    page = Page(driver, Address(paths["playground"], "#conv2d&n=28&k=3&s=1&p=same&c=3&o=8"))
    assert page.run(blank) == [False] * 8
    title = "return document.querySelector('[data-thumb=o5]').title"
    assert page.run(title) == "output channel 5: painted with sums in float64"
    driver.get("about:blank")
    page = Page(driver, Address(paths["playground"], "#conv2d&n=16&k=9&s=1&p=same&c=16&o=16"))
    assert page.run(blank) == [False] + [True] * 7  # of the channels that are held
    assert "too many to sum here" in page.run("return document.querySelector('.channels-map').textContent")


def test_a_refused_call_keeps_the_picture_and_offers_what_would_do(driver, paths):
    driver.get("about:blank")
    page = Page(driver, Address(paths["playground"], "#conv2d&n=2&k=5&p=valid"))
    assert "VALID needs at least 5 rows" in page.all(".head .message")[0].text
    assert page.run("return document.querySelectorAll('.playground .stale .stage .cell').length") > 0
    assert page.run("return document.querySelectorAll('.help .over').length") == 25 - 4
    offers = page.all(".help button")
    assert [offer.text for offer in offers] == ["padding SAME", "padding 2"]
    offers[1].click()
    assert page.run(
        "return [document.querySelector('.stale'), document.querySelector('h1 code').textContent]"
    ) == [
        None,
        "tc.conv2d(input [1, 2, 2, 1], filters [5, 5, 1, 1], strides=2, padding=2)",
    ]
    assert page.complaints() == []


def test_a_frame_in_a_light_page_is_light_whatever_the_system_is(driver, tmp_path):
    frame = CALLS["beside"]()._repr_html_()
    (tmp_path / "host.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><title>host</title>{frame}")
    page = Page(driver, tmp_path / "host.html", dark=True)
    driver.switch_to.frame(0)
    try:
        light = "rgb({}, {}, {})".format(*bytes.fromhex(palette.COLOURS["paper"].light[1:]))
        wait_for(page, f"return getComputedStyle(document.body).backgroundColor === '{light}'")
    finally:
        driver.switch_to.default_content()
    assert page.complaints() == []


def test_the_demo_on_a_phone(driver, tmp_path):
    """No caption breaks inside a word, a table of taps has its running sum, and a picture's numbers can be read."""
    x = photo()[None, ..., :1].astype("float32")
    explained = tc.explain(tc.conv2d, x, integers(3, 3, 1, 2), 2, "SAME", at=(0, 28, 41, 0))
    captions = ["the photograph", "conv2d", "conv2d_transpose, back to the size of the photograph"]
    path = tmp_path / "demo.html"
    path.write_text(
        _page([(caption, photo()) for caption in captions], [("That cell", explained._repr_html_())]),
        encoding="utf-8",
    )
    page = Page(driver, path, width=390, height=844)
    lines = """const text = document.querySelectorAll('figcaption')[2].firstChild;
      const range = document.createRange();
      range.setStart(text, 0);
      range.setEnd(text, 'conv2d_transpose'.length);
      return range.getClientRects().length"""
    assert page.run(lines) == 1
    assert page.run("return document.documentElement.scrollWidth") <= 390
    sizes = "const { scrollWidth, clientWidth } = document.querySelector('table'); return [scrollWidth, clientWidth]"
    needed, there = page.run(sizes)
    assert needed <= there
    size = "const svg = document.querySelector('.tc-picture'); return 11 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    assert page.run(size) > 9
