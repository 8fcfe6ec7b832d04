"""The live picture in a real browser: what the reader chooses is computed by Python, here through a stand-in for the notebook."""

import json
import time

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import same

import teachconv as tc
from teachconv.explorer.packing import dumps
from teachconv.explorer.page import script, style

pytestmark = needs_browser

# anywidget's model: what the page sends waits until the test has Python's answer
HOST = """<!DOCTYPE html><meta charset="utf-8"><style>%s</style><div id="widget"></div><script type="module">%s
let answer;
window.sent = [];
window.reply = (text) => answer(JSON.parse(text));
const model = { get: () => (%s), on: (_, take) => { answer = take; }, send: (message) => window.sent.push(message) };
render({ model, el: document.getElementById("widget") });
</script>"""
CLICK = """const { left, top, width, height } = document.querySelector(".overview img").getBoundingClientRect();
const at = { clientX: left + width * arguments[1], clientY: top + height * arguments[0], bubbles: true, detail: 1 };
document.querySelector("button.overview").dispatchEvent(new MouseEvent("click", at));"""


def serve(page, widget):
    """Let Python answer all that the page asks."""
    deadline = time.monotonic() + 0.2
    while time.monotonic() < deadline:
        message = page.run("return window.sent.shift() ?? null")
        if message is None:
            time.sleep(0.02)
            continue
        answers = []
        widget.send = answers.append
        widget._handle_custom_msg(message, [])
        page.run("window.reply(arguments[0])", dumps(answers[0]))
        deadline = time.monotonic() + 0.2


@pytest.mark.slow
def test_a_live_picture_goes_anywhere_with_its_choices(driver, tmp_path):
    pytest.importorskip("anywidget", reason="live pictures need anywidget")
    x = np.random.default_rng(8).normal(size=(1, 180, 190, 3)).astype("float32")
    w = np.random.default_rng(9).integers(-3, 4, (3, 3, 3, 2)).astype("float32")
    widget = tc.explore(tc.conv2d, x, w, 2, "SAME").live()
    data = json.dumps(widget.data).replace("</", "<\\/")
    (tmp_path / "page.html").write_text(HOST % (style(), script(), data))
    page = Page(driver, tmp_path / "page.html")
    page.choose("stride", "1")
    serve(page, widget)
    for down, right in ((0.02, 0.97), (0.9, 0.1)):
        page.run(CLICK, down, right)
        serve(page, widget)
        seen = page.look()
        row, col = (int(part) for part in seen["headline"].split("[")[1].split("]")[0].split(", ")[1:3])
        assert abs(row - 180 * down) <= 4
        assert abs(col - 190 * right) <= 4
        assert same(seen["value"], float(tc.conv2d(x, w, 1, "SAME")[0, row, col, 0]))
        assert page.run("return document.querySelector('h1 code').textContent").endswith("padding='SAME')")
        assert seen["message"] == ""
    assert page.complaints() == []
