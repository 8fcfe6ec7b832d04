"""Names and titles that hold HTML or script: a browser shows them as text and runs nothing of them."""

import json
import types

import numpy as np
import pytest
from browser import Page, needs_browser
from helpers import mostly_slow

import teachconv as tc
from teachconv.backends import numpy_backend
from teachconv.explorer import explorer as explorer_module

X, W = np.arange(16.0, dtype="float32").reshape(1, 4, 4, 1), np.ones((2, 2, 1, 1), "float32")
RUN = "window.attacked = true"
NAMES = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>--></script><script>{RUN}</script>",
    f"<img src=x onerror='{RUN}'>",
    f"\"><svg onload='{RUN}'>",
    f"' onmouseover='{RUN}' autofocus onfocus='{RUN}",
    f"javascript:{RUN}//",
    f"</title></style></textarea><script>{RUN}</script>",
    f"${{{RUN}}} `{RUN}` \\u003cscript\\u003e",
    f"\u2028\u2029\0\x1b]0;<b>{RUN}</b>",
    "&lt;b&gt; &amp;amp; &#60;i&#62;",
]


def hostile_page(name):
    """An explorer whose second column, backend and algorithm carry the name."""
    mine = types.ModuleType(name)
    mine.__dict__.update({key: value for key, value in vars(numpy_backend).items() if key != "__name__"})
    return tc.explore(tc.conv2d, X, W, backend=mine).beside(np.ones((1, 3, 3, 1), "float32"), name=name)


def attacked(driver, path):
    page = Page(driver, path)
    page.run(
        "for (const e of document.querySelectorAll('details')) e.open = true;"
        "for (const e of document.querySelectorAll('*')) e.dispatchEvent(new MouseEvent('mouseover'));"
    )
    page.run("return new Promise((done) => setTimeout(done, 50))")
    return page, bool(page.run("return window.attacked ?? false"))


@needs_browser
@pytest.mark.parametrize("name", mostly_slow(NAMES, *NAMES[1:10:4]), ids=range(len(NAMES)))
def test_names_are_shown_as_text(name, driver, tmp_path):
    page, ran = attacked(driver, hostile_page(name).save(tmp_path / "page.html"))
    assert not ran
    assert page.complaints() == []
    text = page.run("return document.body.textContent")
    assert name.replace("\0", "\ufffd") in text or name in text
    assert page.look()["grids"]


@needs_browser
def test_the_check_sees_a_script_that_runs(driver, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer_module, "dumps", json.dumps)
    _, ran = attacked(driver, hostile_page(NAMES[1]).save(tmp_path / "page.html"))
    assert ran


@needs_browser
def test_a_notebook_frame_keeps_to_itself(driver, tmp_path):
    """The frame of a notebook is sandboxed, and a name does not end its attribute."""
    path = tmp_path / "notebook.html"
    body = "".join(hostile_page(name)._repr_html_() for name in NAMES[:6])
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{body}", encoding="utf-8")
    _, ran = attacked(driver, path)
    assert not ran
    assert driver.execute_script("return document.querySelectorAll('iframe').length") == 6


def test_a_name_that_is_no_text_leaves_no_file(tmp_path):
    """A lone surrogate cannot be written; an earlier page stays as it was."""
    path = tmp_path / "page.html"
    path.write_text("earlier")
    with pytest.raises(ValueError, match="surrogate"):
        hostile_page("\ud800").save(path)
    assert path.read_text() == "earlier"


@pytest.mark.parametrize("name", NAMES[:6], ids=range(6))
def test_reports_escape_names(name):
    report = tc.diff(tc.conv2d, X, W, against={name: np.ones((1, 3, 3, 1), "float32")}, backends=["numpy"])
    html = report._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "<svg onload" not in html
