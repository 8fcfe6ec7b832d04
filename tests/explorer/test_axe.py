"""The pages by axe: nothing serious is wrong for people who use a keyboard, a screen reader or a narrow screen."""

import sys
from pathlib import Path

import pytest
from browser import Page, needs_browser
from explorer_pages import integers

import teachconv as tc
from teachconv.data import photo
from teachconv.explorer.digits import draw_a_digit

AXE = (
    Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"
)  # make test installs it, where npm is

pytestmark = [
    needs_browser,
    pytest.mark.slow,
    pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: it needs npm, and make test"),
]

PAGES = {
    "conv2d": lambda: tc.explore(tc.conv2d, integers(1, 6, 6, 2), integers(3, 3, 2, 2), 2, "SAME"),
    "beside": lambda: tc.explore(tc.conv1d, integers(1, 8, 1), integers(3, 1, 1), 1, "CAUSAL").beside(
        padding="SAME"
    ),
    "transposed": lambda: tc.explore(
        tc.conv2d_transpose, integers(1, 3, 3, 1), integers(3, 3, 1, 1), None, 2
    ),
    "conv3d": lambda: tc.explore(tc.conv3d, integers(1, 3, 4, 4, 2), integers(2, 3, 3, 2, 1), 1, "SAME"),
    "pool": lambda: tc.explore(tc.avg_pool, integers(1, 6, 6, 2), 3, 2, "SAME"),
    "photo": lambda: tc.explore(
        tc.conv2d, photo()[None, 20:80, 60:140].astype("float32"), integers(3, 3, 3, 1), 1, "SAME", budget=1
    ),
    "playground": tc.playground,
    "network": draw_a_digit,
}
# a page of an image has 6,000 elements, most of them cells: all are looked at, in parts
PARTS = [
    {"include": [["html"]], "exclude": [[".cells"]]},
    *({"include": [[f".stage .grid:nth-of-type({number}) .cells"]]} for number in (1, 2, 3)),
    {"include": [["details .cells"]]},
]
RUN = """const [within, done] = arguments;
axe.run(within, { resultTypes: ["violations"] }).then(({ violations }) =>
  done(violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => [id, nodes[0].html])));"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_axe_finds_nothing_serious(driver, tmp_path, name, width, height):
    path = PAGES[name]().save(tmp_path / "page.html")

    for dark in (False, True) if width > 390 else (False,):
        page = Page(driver, path, width=width, height=height, dark=dark)
        opened = "document.querySelectorAll('details').forEach((e) => { e.open = true })"
        for state in [opened, "document.querySelector('.begin-quiz, .tools button').click()"]:
            page.run(state)
            driver.execute_script(AXE.read_text(encoding="utf-8"))
            for within in PARTS if name == "photo" else ["html"]:
                assert driver.execute_async_script(RUN, within) == [], (dark, state, within)
