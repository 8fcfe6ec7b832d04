"""TensorFlow's words: what teachconv.tf answers to each snippet is what TensorFlow answered, or is on the page.

tools/recorders/record_tensorflow_words.py recorded TensorFlow's answers. If the page is out of date, run
``python docs/differences.py``.
"""

import importlib.util
from pathlib import Path

import pytest
from recorders.snippets import Outcome, Snippet, snippets, with_teachconv

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = [
    pytest.mark.xdist_group("words"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def page():
    """docs/differences.py."""
    spec = importlib.util.spec_from_file_location("differences", DOCS / "differences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def outcomes(page):
    return page.outcomes()


def test_every_snippet_agrees_or_is_on_the_page(page, outcomes):
    listed = [name for reason in page.reasons() for name in reason["snippets"]]
    assert len(set(listed)) == len(listed)
    different = page.different(outcomes)
    assert set(different) - set(listed) == set(), "these differ from TensorFlow, and no reason says so"
    assert set(listed) - set(different) == set(), "these agree with TensorFlow, and yet a reason is given"


def test_the_page_is_todays(page, outcomes):
    assert page.TARGET.read_text(encoding="utf-8") == page.page(outcomes)


def test_every_snippet_was_recorded(page):
    recorded = page.recorded()["outcomes"]
    assert set(recorded) == set(snippets())
    assert len(recorded) >= 120


def test_only_the_import_is_replaced():
    code = "import tensorflow as tf\nfrom tensorflow.keras import layers\nimport tensorflow_datasets\nx = 'tensorflow'\n"
    assert with_teachconv(code) == (
        "import teachconv.tf as tf\nfrom teachconv.tf.keras import layers\nimport tensorflow_datasets\nx = 'tensorflow'\n"
    )


def test_the_comparison_can_fail():
    recorded = Outcome("1\n", "ValueError", "no", ("ValueError", "Exception"))
    assert Outcome("1\n", "ArgumentError", "", ("ArgumentError", "ValueError")).agrees_with(recorded)
    assert not Outcome("2\n", "ValueError", "", ("ValueError",)).agrees_with(recorded)
    assert not Outcome("1\n", "TypeError", "", ("TypeError",)).agrees_with(recorded)
    assert not Outcome("1\n").agrees_with(recorded)
    assert not recorded.agrees_with(Outcome("1\n"))
    assert Snippet("a", "b", "", "").name == "a: b"
