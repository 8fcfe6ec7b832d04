"""The check of the built documentation sees links, anchors, references and pictures that lead nowhere."""

import re
from pathlib import Path

import built_links
import pytest

GOOD = """<h1 id="top">A</h1><a href="other.html#there">b</a><a href="#top">c</a><a href="sub/">d</a>
<a href="https://example.org/a">e</a><a href="mailto:a@example.org">f</a><img src="p.png" alt="a picture">
<a class="reference" href="other.html"><code class="xref py py-obj">conv2d</code></a><code>plain</code>
<dl><dt>Return type<span>:</span></dt><dd><p><a href="#top">Variable</a> | None</p></dd></dl>"""


TYPE = '<dt class="field-odd">Type<span class="colon">:</span></dt>\n<dd class="field-odd"><p>'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/index.html").write_text('<a href="../index.html#top">up</a>')
    (tmp_path / "other.html").write_text('<p><a name="there"></a></p>')
    (tmp_path / "p.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(GOOD)
    return tmp_path


def test_a_good_page_has_no_faults(folder):
    pages = built_links.read_all(folder)
    assert list(built_links.faults(folder, pages)) == []
    assert built_links.external(pages) == ["https://example.org/a"]


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="nowhere.html">a</a>', "index.html: nowhere.html: no such file"),
        ('<a href="other.html#here">a</a>', "index.html: other.html#here: no such anchor"),
        ('<a href="#here">a</a>', "index.html: #here: no such anchor"),
        ('<img src="q.png" alt="">', "index.html: q.png: no such file"),
        ('<img src="p.png">', "index.html: picture without alt: p.png"),
        ('<a href="https://">a</a>', "index.html: https://: not an address"),
        ("<p><cite>thing</cite></p>", "index.html: nothing is found for `thing`"),
        ('<code class="xref py py-obj">thing</code>', "index.html: nothing is found for `thing`"),
        (
            f"{TYPE}What is read<em>,</em> in one</p></dd>",
            "index.html: a sentence as a type: What is read, in one",
        ),
    ],
)
def test_a_fault_is_found(folder, html, fault):
    (folder / "index.html").write_text(GOOD + html)
    assert list(built_links.faults(folder, built_links.read_all(folder))) == [fault]


def test_every_public_name_has_one_home():
    reference = built_links.module_at("public_names", Path(__file__).parents[1] / "docs")
    entries = {
        module: {entry["name"]: entry for entry in reference.entries(module)}
        for module in reference.listed_modules()
    }
    assert entries["teachconv.keras.layers"]["Layer"]["kind"] == "class"
    assert entries["teachconv.keras"]["Layer"]["also"] == "The same as `teachconv.keras.layers.Layer`."
    assert (
        "has what `teachconv.keras.layers.Layer` has" in entries["teachconv.keras.layers"]["Conv2D"]["also"]
    )
    for module, found in entries.items():
        for entry in found.values():
            same = re.fullmatch(r"The same as `(.+)\.(\w+)`\.", entry["also"])
            if same and same[1] != "teachconv":
                assert entries[same[1]][same[2]]["kind"] in ("class", "function", "exception"), (
                    module,
                    entry,
                )
