"""The Sphinx directive: the interactive picture in HTML, an image or a table in what runs no script."""

import html
import json
import os
import re
import struct
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from browser import Page, needs_browser
from explorer_pages import wait_for

from teachconv.explorer import sphinx_directive

pytestmark = pytest.mark.xdist_group("sphinx_directive")


@pytest.fixture(scope="module")
def rendered():
    """A function from reStructuredText to HTML."""
    core = pytest.importorskip("docutils.core", reason="the directive needs docutils, which Sphinx brings")
    from docutils.parsers.rst import directives

    class Sphinx:
        add_directive = staticmethod(directives.register_directive)

        def connect(self, *_):
            """Builders are Sphinx's."""

    assert sphinx_directive.setup(Sphinx())["parallel_read_safe"]
    quiet = {"halt_level": 3, "report_level": 3, "warning_stream": "", "embed_stylesheet": False}
    writers = pytest.importorskip("docutils.writers.html5_polyglot")
    return lambda text: core.publish_parts(text, writer=writers.Writer(), settings_overrides=quiet)["body"]


def test_the_sphinx_directive_embeds_the_picture(rendered):
    body = rendered(
        """
.. teachconv:: conv2d
   :input: 1, 5, 5, 1
   :filters: 3, 3, 1, 1
   :strides: 2
   :padding: 0, 1, 1, 0
   :at: 0, 1, 1, 0
"""
    )
    page = html.unescape(re.search('srcdoc="([^"]*)"', body)[1])
    data = json.loads(re.search('id="explorer-data">(.*?)</script>', page, flags=re.S)[1])
    call = data["call"]
    assert call["code"].endswith("filters [3, 3, 1, 1], strides=2, padding=((0, 1), (1, 0)))")
    assert call["at"] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".. teachconv:: conv4d", "did you mean"),
        (".. teachconv:: conv2d\n   :input: 1,5,5,1", "the option :filters: must give its shape"),
        (".. teachconv:: conv2d\n   :input: 1,2,2,1\n   :filters: 3,3,1,1", "VALID needs in_rows"),
        (".. teachconv:: conv2d\n   :input: a", "invalid option value"),
    ],
)
def test_the_sphinx_directive_says_what_is_wrong(rendered, text, message):
    with pytest.raises(Exception, match=message):  # what docutils raises under its strictest setting
        rendered(text)


# ---------------------------------------------------------------------------------------------
# Sphinx's own builders
# ---------------------------------------------------------------------------------------------

PAGE = """
Pictures
========

.. teachconv:: conv2d
   :input: 1, 5, 5, 1
   :filters: 3, 3, 1, 1
   :strides: 2
   :padding: SAME
   :at: 0, 0, 0, 0
"""
SAID = "the sum of 4 products; 5 of 9 taps in the padding"  # the corner's window hangs over two borders


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A function from a builder's name to the folder of what it wrote; a warning is an error."""
    pytest.importorskip("sphinx", reason="the builders are Sphinx's")
    folder = tmp_path_factory.mktemp("sphinx")
    (folder / "in" / "deep").mkdir(parents=True)
    (folder / "in" / "index.rst").write_text(PAGE)
    (folder / "in" / "deep" / "inner.rst").write_text(f":orphan:\n{PAGE}{PAGE.partition('=' + chr(10))[2]}")
    settings = {"extensions": "teachconv.explorer.sphinx_directive", "project": "pictures"}
    settings |= {"copyright": "none", "version": "1"}
    options = [f"-D{name}={value}" for name, value in settings.items()]

    def build(name, *more, environment=None):
        if not (folder / name).exists() or more:
            command = [sys.executable, "-m", "sphinx", "-qWC", "-b", name, "-d", str(folder / "doctrees")]
            command += [*options, *more, str(folder / "in"), str(folder / name)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            assert done.returncode == 0, done.stderr
        return folder / name

    return build


@pytest.mark.slow
def test_html_has_the_page_alone(built):
    text = (built("html") / "index.html").read_text(encoding="utf-8")
    assert text.count("<iframe") == 1
    assert f"{SAID} <" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("builder", "page"), [("html", "deep/inner.html"), ("dirhtml", "deep/inner/index.html")]
)
def test_the_pictures_of_a_site_share_one_script(built, builder, page):
    """No page has it inside, and each finds it from its own folder."""
    site = built(builder)
    text = (site / page).read_text(encoding="utf-8")
    assert text.count("<iframe") == 2
    assert "class App" not in text
    address = re.search(r'<script src="([^"?]*teachconv[^"?]*)\?v=\w+">', text)[1]
    assert ((site / page).parent / address).resolve() == (
        site / "_static" / "teachconv-explorer.js"
    ).resolve()


@pytest.mark.slow
@needs_browser
def test_a_page_from_disk_draws_with_the_shared_script(built, driver):
    page = Page(driver, built("html") / "deep" / "inner.html")
    for frame in page.all("iframe"):
        page.run("arguments[0].scrollIntoView()", frame)
        driver.switch_to.frame(frame)
        wait_for(page, "return document.querySelectorAll('[role=gridcell]').length >= 25 + 9 + 9")
        driver.switch_to.default_content()
    assert page.complaints() == []


@pytest.mark.slow
def test_latex_has_an_image(built):
    pytest.importorskip("matplotlib", reason="the image is drawn by matplotlib")
    folder = built("latex")
    name = re.search(r"\\sphinxincludegraphics\{\{(\w+)\}\.png\}", (folder / "pictures.tex").read_text())[1]
    image = (folder / f"{name}.png").read_bytes()
    assert image.startswith(b"\x89PNG")
    assert struct.unpack(">I", image[16:20])[0] > 1200  # pixels, for print
    assert "iframe" not in (folder / "pictures.tex").read_text()


@pytest.mark.slow
def test_an_epub_has_an_image_and_no_frame(built):
    pytest.importorskip("matplotlib", reason="the image is drawn by matplotlib")
    page = ElementTree.parse(built("epub") / "index.xhtml")
    images = [e for e in page.iter("{http://www.w3.org/1999/xhtml}img") if SAID in e.get("alt", "")]
    assert [image.get("src")[:22] for image in images] == ["data:image/png;base64,"]
    assert not list(page.iter("{http://www.w3.org/1999/xhtml}iframe"))


@pytest.mark.slow
@pytest.mark.parametrize("builder", ["text", "man"])
def test_plain_text_has_the_table_of_products(built, builder):
    folder = built(builder)
    text = "\n".join(path.read_text() for path in folder.iterdir() if path.is_file())
    assert SAID in text
    assert "running sum" in text
    assert text.count("padding   ") == 5
    assert "image" not in text.lower()


@pytest.mark.slow
def test_latex_without_matplotlib_has_the_table(built, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('matplotlib is not installed')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    folder = built("latex", "-E", environment=os.environ | {"PYTHONPATH": path})
    text = (folder / "pictures.tex").read_text()
    assert SAID in text
    assert "includegraphics{{" not in text
