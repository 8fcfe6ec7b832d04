"""What the tests of pages in a real browser share."""

import pytest
from browser import Page


@pytest.fixture
def show(driver, tmp_path):
    """Save an explorer, open it from disk, and check afterwards that the console is empty."""
    pages = []

    def opened(explorer, **options):
        pages.append(Page(driver, explorer.save(tmp_path / "page.html"), **options))
        return pages[-1]

    yield opened
    for page in pages:
        assert page.complaints() == []
