"""How the pages are found: excerpts, the glossary's words, other projects' names, the sitemap. See docs/finding.py."""

import importlib
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest
from docutils import nodes
from node import answers, needs_node

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def finding(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("finding")


def test_prose_is_what_paragraphs_say(finding):
    table = nodes.table("", nodes.paragraph("", "a cell"))
    arguments = nodes.field_list("", nodes.field("", nodes.paragraph("", "x: the input")))
    page = nodes.section("", nodes.title("", "A title"), nodes.paragraph("", "One\ntwo."), table, arguments)
    page += nodes.paragraph("", "", nodes.Text("Three "), nodes.literal("", "four"))
    assert finding.prose(page) == "One two.\nThree four"


def test_the_glossary_gives_its_words_but_the_common_ones(finding):
    words = finding.glossary_words((DOCS / "glossary.md").read_text(encoding="utf-8"))
    assert {"SAME", "ulp", "receptive field", "index law"} <= set(words)
    assert {"CNN", "ReLU", "bias", "feature map", "U-Net", "kernel size", "feature extraction"} <= set(words)
    assert set(words).isdisjoint(finding.COMMON)
    assert all(word in (DOCS / "glossary.md").read_text(encoding="utf-8") for word in finding.COMMON)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Taps and ulps.", ["Taps", "ulps"]),
        ("the SAME word, not the same", ["SAME"]),
        ("A receptive field of VALID windows", ["receptive field", "VALID"]),
        ("an ulp, another ulp", ["ulp"]),
        ("tap-dance, tapes and Ulps_", []),
    ],
)
def test_the_first_mention_of_each_word_is_marked(finding, text, marked):
    words = {
        word: finding.mention(word) for word in ("SAME", "VALID", "field", "receptive field", "tap", "ulp")
    }
    found = finding.first_mentions(text, words)
    assert [match[0] for match, _ in found] == marked
    made = list(finding.linked(text, found, "a page"))
    assert "".join(node.astext() for node in made) == text
    assert [node["reftarget"] for node in made if "reftarget" in node] == [word for _, word in found]


def test_the_names_of_other_projects_are_inventories_that_sphinx_reads(finding):
    found = finding.inventories((DOCS / "other_projects.txt").read_text(encoding="utf-8"))
    assert {"python", "numpy"} <= found.keys()
    inventory = importlib.import_module("sphinx.util.inventory").InventoryFile
    for project, (address, data) in found.items():
        read = inventory.loads(data, uri=address).data
        names = {name: item for kind in read.values() for name, item in kind.items()}
        assert names, project
        for name, item in names.items():
            assert item.uri.startswith("https://")
            module, _, last = name.rpartition(".")
            assert hasattr(pytest.importorskip(module), last)


def test_the_sitemap_lists_addresses(finding):
    text = finding.sitemap(["https://example.org/a.html", "https://example.org/b.html?x=1&y=2"])
    root = xml.etree.ElementTree.fromstring(text.encode())
    places = [place.text for place in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert places == ["https://example.org/a.html", "https://example.org/b.html?x=1&y=2"]


def test_an_old_address_leads_to_where_its_text_is(finding):
    page = finding.moved("answers/old", "howto/new.html#a-part")
    assert 'content="0; url=../howto/new.html#a-part"' in page
    assert '<a href="../howto/new.html#a-part">' in page
    assert 'content="0; url=new.html"' in finding.moved("old", "new.html")


def test_every_old_address_leads_to_a_heading(finding):
    assert finding.MOVED
    for old, new in finding.MOVED.items():
        page, _, anchor = new.partition(".html#")
        headings = re.findall(r"^##* (.*)$", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
        assert not (DOCS / f"{old}.md").exists(), old
        assert anchor in [nodes.make_id(heading) for heading in headings], new


def test_a_card_describes_its_page(finding, monkeypatch):
    assert "og:image" not in finding.card("a", "A", "About.")  # which needs an address
    monkeypatch.setattr(finding, "ADDRESS", "https://example.org/")
    text = finding.card("answers/a", "A &amp; b", 'Says "why". ' * 40)
    assert 'property="og:title" content="A &amp; b"' in text
    assert 'property="og:url" content="https://example.org/answers/a.html"' in text
    assert 'content="Says &quot;why&quot;.' in text
    assert max(map(len, text.split("\n"))) < 500


@needs_node
def test_a_word_of_the_glossary_is_the_second_result():
    ask = answers((), (DOCS / "search_ranking.js").read_text(encoding="utf-8"))
    pages = [["answers/a", "A", ""], ["answers/b", "B", ""]]
    others = [["glossary", "Glossary", "#term-U-Net"], ["api/c", "c", "#c"]]
    for query, places in (("u-net", ["", "#term-U-Net", "", "#c"]), ("net", ["", "", "#c", "#term-U-Net"])):
        assert [anchor for _, _, anchor in ask("inOrder", query, pages, others)] == places
