"""The pictures follow the theme of the page around them, in pages that imitate the places where they are shown."""

import time
from html import escape

import numpy as np
import pytest
from browser import Page, needs_browser
from helpers import mostly_slow

import teachconv as tc
from teachconv.explorer.page import script, style
from teachconv.support import palette

pytestmark = needs_browser

X = np.random.default_rng(1).integers(-4, 5, (1, 5, 5, 1)).astype("float32")
W = np.random.default_rng(2).integers(-4, 5, (3, 3, 1, 1)).astype("float32")
PAPER = {
    dark: "rgb({}, {}, {})".format(*(int(palette.COLOURS["paper"][dark][i : i + 2], 16) for i in (1, 3, 5)))
    for dark in (False, True)
}

# how each host says that it is light or dark: attributes of <html> and of <body>, and a script that changes them
HOSTS = {
    "JupyterLab": (
        "",
        'data-jp-theme-light="{not_dark}"',
        "document.body.dataset.jpThemeLight = '{not_dark}'",
    ),
    "Furo": ("", 'data-theme="{word}"', "document.body.dataset.theme = '{word}'"),
    "pydata": ('data-theme="{word}"', "", "document.documentElement.dataset.theme = '{word}'"),
    "VS Code": ("", 'class="vscode-{word}"', "document.body.className = 'vscode-{word}'"),
    "VS Code, high contrast": (
        "",
        'class="vscode-high-contrast{-light}"',
        "document.body.className = 'vscode-high-contrast{-light}'",
    ),
    "Colab": ('theme="{word}"', "", "document.documentElement.setAttribute('theme', '{word}')"),
}


def said(text, dark):
    """A host's way to say that it is dark, or light."""
    light_too = "" if dark else " vscode-high-contrast-light"
    found = text.replace("{-light}", light_too)
    return found.replace("{not_dark}", str(not dark).lower()).replace("{word}", "dark" if dark else "light")


@pytest.fixture(scope="module")
def outputs():
    """What notebooks show: a frame, a widget that is part of the page, and a picture."""
    explorer = tc.explore(tc.conv2d, X, W, 2, "SAME", budget=120_000)
    data = explorer.html().split('id="explorer-data">')[1].split("</script>")[0]
    widget = (
        f"<style>{palette.scheme_rules('.tcx')}{style()}</style><div id='widget'></div>"
        f"<script type='module'>{script()}\nopen(document.getElementById('widget'), {data});</script>"
    )
    return explorer._repr_html_() + widget + tc.explain(tc.conv2d, X, W, at=(0, 0, 0, 0))._repr_html_()


def opened(driver, path, outputs, head="", body="", dark_system=False):
    path.write_text(
        f"<!DOCTYPE html><html {head}><meta charset=utf-8><title>host</title><body {body}>{outputs}",
        encoding="utf-8",
    )
    return Page(driver, path, dark=dark_system)


def grounds(page):
    """The ground of the frame's page, of the widget and of the picture, as soon as all of them are there."""
    ask = "return [...document.querySelectorAll('{}')].map((e) => getComputedStyle(e).{})"
    deadline = time.monotonic() + 60
    found = []
    while len(found) < 3:
        assert time.monotonic() < deadline
        page.driver.switch_to.frame(0)
        found = page.run(ask.format("body:has(.stage)", "backgroundColor"))
        page.driver.switch_to.default_content()
        found += page.run(ask.format("#widget.tcx", "backgroundColor"))
        found += page.run(ask.format("div > svg.tc-picture > rect:first-of-type", "fill"))
    return found


def settled(page, dark, framed=None):
    """Wait until everything is light, or dark: a frame hears of it a moment later."""
    deadline = time.monotonic() + 60
    want = [PAPER[dark if framed is None else framed], PAPER[dark], PAPER[dark]]
    while (found := grounds(page)) != want:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


@pytest.mark.parametrize("host", mostly_slow(HOSTS, "JupyterLab"))
def test_a_hosts_theme_counts_not_the_systems(driver, tmp_path, outputs, host):
    head, body, switch = HOSTS[host]
    for dark in (False, True):
        words = said(head, dark), said(body, dark)
        page = opened(driver, tmp_path / "host.html", outputs, *words, dark_system=not dark)
        settled(page, dark)
        page.run(said(switch, not dark))  # the reader changes the theme
        settled(page, not dark)
        assert page.complaints() == []


def test_elsewhere_the_systems_theme_counts(driver, tmp_path, outputs):
    for dark in (False, True):
        head = 'style="color-scheme: light dark"'  # the host follows the system
        page = opened(driver, tmp_path / "host.html", outputs, head, 'data-theme="auto"', dark_system=dark)
        settled(page, dark)


@pytest.mark.parametrize("dark", mostly_slow([False, True], True))
def test_text_stands_out_in_a_host_of_another_theme(driver, tmp_path, outputs, dark):
    """The host says nothing that the picture knows: the frame takes its ground, the others that of the system."""
    ground, text = ("#fff", "#222") if dark else ("#111", "#ddd")
    page = opened(
        driver,
        tmp_path / "host.html",
        outputs,
        body=f'style="background: {ground}; color: {text}"',
        dark_system=dark,
    )
    settled(page, dark, framed=not dark)
    least, where = page.contrast("#widget *")
    assert least >= 4.5, where
    page.driver.switch_to.frame(0)
    least, where = page.contrast()
    page.driver.switch_to.default_content()
    assert least >= 4.5, where


def test_the_readers_own_choice_wins(driver, tmp_path):
    path = tc.explore(tc.conv2d, X, W, 2, "SAME").save(tmp_path / "page.html")
    page = Page(driver, path)
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert page.run(ground) == PAPER[False]
    page.run("postMessage({ explorerTheme: 'dark' }, '*')")
    deadline = time.monotonic() + 60
    while page.run(ground) != PAPER[True]:
        assert time.monotonic() < deadline
    page.all(".theme")[0].click()  # automatic to light
    assert page.run(ground) == PAPER[False]


def test_the_strict_output_of_colab_and_vs_code(driver, tmp_path):
    """A sandboxed frame of its own around the output, with trusted types, as Colab and VS Code have it."""
    explorer = tc.explore(tc.conv2d, X, W, 2, "SAME", at=(0, 1, 1, 0), budget=120_000)
    policy = "<meta http-equiv='Content-Security-Policy' content=\"require-trusted-types-for 'script'\">"
    output = (
        f"<!DOCTYPE html><html theme=dark><head>{policy}</head><body>{explorer._repr_html_()}</body></html>"
    )
    (tmp_path / "host.html").write_text(
        "<!DOCTYPE html><meta charset=utf-8><title>host</title>"
        f'<iframe sandbox="allow-scripts" style="width:100%;height:900px" srcdoc="{escape(output)}"></iframe>'
    )
    page = Page(driver, tmp_path / "host.html")
    try:
        page.driver.switch_to.frame(0)
        page.driver.switch_to.frame(0)
        deadline = time.monotonic() + 60
        while page.run("return getComputedStyle(document.body).backgroundColor") != PAPER[True]:
            assert time.monotonic() < deadline
        seen = page.run(
            "document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));"  # it moves until then
            'document.querySelector(\'.stage .grid:nth-of-type(3) [data-row="1"][data-col="2"]\').click();'
            "return document.querySelector('.headline').textContent"
        )
        assert seen.split(" = ") == ["output[0, 1, 2, 0]", f"{explorer.result[0, 1, 2, 0]:.0f}"]
    finally:
        page.driver.switch_to.default_content()
    assert page.complaints() == []
