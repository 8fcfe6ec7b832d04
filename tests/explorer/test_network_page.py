"""The page of a network in a browser: it draws a digit itself, is drawn on, pointed at and asked, on every screen."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import SAVED, address_of, wait_for

import teachconv as tc
from teachconv import keras
from teachconv.data import digits
from teachconv.explorer.digits import digits_model, draw_a_digit
from teachconv.explorer.packing import dumps

pytestmark = needs_browser
ANSWER = "return document.querySelector('header output').textContent"
TOOL = "[...document.querySelectorAll('.tools button')].find((e) => e.textContent === arguments[0]).click()"


@pytest.fixture(scope="module")
def digit():
    return draw_a_digit()


def draw(page, *points):
    """Draw a line on the pad with the mouse, through points in parts of its side."""
    from selenium.webdriver import ActionChains

    surface = page.all(".surface")[0]
    width, height = surface.size["width"], surface.size["height"]
    chain = ActionChains(page.driver, duration=10)
    places = [(int((x - 0.5) * width), int((y - 0.5) * height)) for x, y in points]
    chain.move_to_element_with_offset(surface, *places[0]).click_and_hold()
    for place in places[1:]:
        chain.move_to_element_with_offset(surface, *place)
    chain.release().perform()


def test_a_seven_draws_itself_and_the_first_touch_clears_it(show, digit):
    page = show(digit, motion=True)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    draw(page, (0.5, 0.15), (0.5, 0.5), (0.5, 0.85))
    wait_for(page, f"{ANSWER}.startsWith('1, ')")
    wait_for(page, "return location.hash.startsWith('#d=')")
    drawn = page.run("return location.hash.slice(3)")
    image = np.float32([int(letter, 17) / 16 for letter in drawn]).reshape(1, 8, 8, 1)
    chances = np.asarray(digits_model()(image))[0]
    assert chances.argmax() == 1
    assert 0.9995 < chances[1] < 1
    assert page.run(ANSWER) == "1, >99.9 %"
    page.run(TOOL, "clear")
    wait_for(page, "return document.querySelector('header output').hidden")


@pytest.fixture
def framed(driver, digit, tmp_path):
    """The page in a frame of another one, which has a style around it."""
    digit.save(tmp_path / "network.html")

    def opened(style, **options):
        viewport = "<meta name=viewport content='width=device-width'>"
        frame = '<iframe src="network.html" style="width: 100%; height: 800px"></iframe>'
        (tmp_path / "host.html").write_text(f'<!DOCTYPE html>{viewport}<div style="{style}">{frame}</div>')
        page = Page(driver, tmp_path / "host.html", **options)
        driver.switch_to.frame(0)
        return page

    yield opened
    driver.switch_to.default_content()


def test_a_frame_that_its_host_hides_is_drawn_as_it_is_shown(framed):
    page = framed("display: none")
    page.driver.switch_to.default_content()
    page.run("document.querySelector('div').style.display = 'block'")
    page.driver.switch_to.frame(0)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    wait_for(page, "return document.querySelector('.net > canvas').width > 600")
    assert page.complaints() == []


def test_a_seven_stands_there_until_it_is_seen_and_then_draws_itself(framed):
    page = framed("padding-top: 3000px", motion=True)
    assert page.run(ANSWER).startswith("7, ")
    page.run(
        """window.drawn = [];
        const lines = document.querySelector('.surface g');
        new MutationObserver(() => drawn.push(lines.firstChild.getAttribute('points').split(' ')))
          .observe(lines, { attributes: true, childList: true, subtree: true });
        document.querySelector('.surface').scrollIntoView();"""
    )
    wait_for(page, "return drawn.length > 3 && drawn.at(-1)[3] === '0.44,0.84'")  # its four corners
    assert min(map(len, page.run("return drawn"))) < 4
    assert page.run(ANSWER).startswith("7, ")


def test_the_sheet_of_a_phone_stands_on_the_screen_in_a_frame_too(framed):
    page = framed("", width=390, height=844)
    page.run(TOOL, "why?")
    bottom = page.run("return document.querySelector('.told').getBoundingClientRect().bottom")
    assert bottom < 730  # bars of the browser and a title above the frame take the rest of the screen


def test_the_titles_stand_over_the_lines_of_a_question(show, digit):
    page = show(digit, width=390, height=844)
    page.run(TOOL, "why?")
    titles, ways = page.run(
        """const all = [...document.querySelectorAll('.net > svg *')];
        const title = all.filter((e) => /^(conv|pool)[12] /.test(e.textContent) && e.tagName === 'text');
        return [title.map((e) => all.indexOf(e)), [...document.querySelectorAll('path.way')].map((e) => all.indexOf(e))];"""
    )
    assert len(titles) == 4
    assert max(ways) < min(titles)


def test_the_number_of_a_map_at_the_edge_of_a_phone_is_whole(framed):
    page = framed("", width=390, height=844)
    for column in (0, 15):
        page.run("location.hash = arguments[0]", f"at=3,1,2,{column}")
        wait_for(page, f"return document.querySelector('.map-name').textContent === 'map {column}'")
        left, right, width = page.run(
            """const [name, net] = ['.map-name', '.net'].map((e) => document.querySelector(e).getBoundingClientRect());
            return [name.left - net.left, net.right - name.right, name.width];"""
        )
        assert min(left, right) >= 0 < width


@pytest.mark.parametrize(
    ("width", "way"), [(1440, "From left to right: your ink"), (390, "From top to bottom: your ink")]
)
def test_the_page_says_what_is_drawn_and_how_to_share_it(show, digit, width, way):
    told = show(digit, width=width, height=844).run("return document.querySelector('.told').textContent")
    assert way in told
    assert "each cell of it one number" in told
    assert told.endswith("a link to share.")


def test_a_link_shows_the_drawing_and_the_question(show, digit):
    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")  # without motion at once
    page.run(TOOL, "why?")
    assert page.all("h2")[0].text.startswith("Why 7 and not")
    assert len(page.all(".ways li")) == 3
    assert page.all("path.way")
    page.run(
        "document.querySelector('.told select').value = '1'; document.querySelector('.told select').dispatchEvent(new Event('change'))"
    )
    wait_for(page, "return location.hash === '#why=7,1'")
    image = digit.network.x
    page.run("location.hash = arguments[0]", f"{address_of(image)}&at=3,1,2,5")
    answer = np.asarray(digits_model()(image))[0].argmax()
    assert answer != 7
    wait_for(page, f"{ANSWER}.startsWith('{answer}, ')")
    assert page.all("h2")[0].text.startswith("conv2, map 5, row 1, column 2 = ")


def test_a_cell_says_its_window_and_its_sum_and_opens_its_call(show):
    """Worked by hand in test_network.py: 5 x 7 cells, whose windows span 6 x 8."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(1, 3, padding="same", name="a"),
            layers.MaxPooling2D(2, name="b"),
            layers.Conv2D(1, 3, padding="same", name="c"),
        ]
    )
    page = show(
        tc.explore(model, np.random.default_rng(1).random((1, 8, 8, 1), "float32"), at=("c", 0, 1, 0))
    )
    reads = "reads 5 × 7 of the input: rows 0 to 4, columns 0 to 6; its window is 6 × 8, the rest is padding"
    assert reads in page.all(".told")[0].text
    value = page.run("return document.querySelector('.told output').textContent")
    assert len(page.all("rect.dashed")) == 2  # before it, and on the input
    page.run("document.querySelector('.open-call').click()")
    assert page.all(".call .headline output")[0].text == value
    assert "Each output cell is the sum of up to 9 products" in page.all(".call")[0].text
    page.run("document.querySelector('.close').click()")
    canvas = page.all(".net > canvas")[0]
    canvas.click()
    page.run("document.querySelector('.net > canvas').focus()")
    from selenium.webdriver import Keys

    page.press(Keys.ESCAPE)
    page.press(Keys.ARROW_DOWN)
    page.press(Keys.ARROW_DOWN)
    assert page.all("h2")[0].text.startswith("input, row 1, column 0 = ")


def test_a_story_of_nine_steps_points_at_the_page(show, digit):
    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run(TOOL, "clear")
    wait_for(page, "return document.querySelector('header output').hidden")
    page.run(TOOL, "how it works")
    wait_for(page, f"{ANSWER}.startsWith('7, ')")  # of a digit
    said, arrows, forward = [], set(), """document.querySelector('[aria-label="next step"]')"""
    for number in range(1, 10):
        wait_for(page, f"return document.querySelector('.story p').textContent.startsWith('{number}/9 ')")
        heading = page.run("return document.querySelector('h2').innerText")
        said.append(heading.partition(" = ")[0])
        arrows.add(page.run(f"return {forward}.getBoundingClientRect().x"))
        if number == 2:
            assert heading.endswith(" = 16 of 16, read as 1")
        page.run(f"{forward}.click()")  # it is made anew with each answer
    assert page.all(".story") == []
    assert len(arrows) == 1
    assert said[0] == "Point at any cell"
    assert [text.partition(",")[0] for text in said[1:8]] == [
        "input",
        "conv1",
        "conv1",
        "conv1",
        "pool1",
        "conv2",
        "dense",
    ]
    assert said[7] == "dense, class 7"
    assert said[8].startswith("Why 7 and not")


def test_the_picture_of_a_question_is_saved(show, digit):
    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run(TOOL, "why?")
    text = page.run(
        SAVED.replace('document.querySelector(".save").click()', TOOL.replace("arguments[0]", "'⤓ SVG'"))
    )
    picture = ElementTree.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    lines = [path for path in picture.iter(f"{svg}path") if path.get("class") == "way"]
    assert len(lines) == len(page.all("path.way")) > 3
    assert all(line.get("stroke").startswith("rgb") for line in lines)
    assert picture.find(f"{svg}image").get("href").startswith("data:image/png;base64,")
    assert picture.find(f"{svg}text").text.startswith("Draw a digit · 7, ")


BUTTONS = """return JSON.stringify([...document.querySelectorAll(".tools button, .surface, .net > canvas, h1")].map(
  (e) => e.getBoundingClientRect().toJSON()))"""
BADGE = "return document.querySelector('.net > svg circle + text').textContent"
STROKES = "return document.querySelector('.surface g').innerHTML"


def ask_for_a_change(page):
    page.run(TOOL, "change its mind")
    wait_for(page, "return document.querySelector('.try')")


def test_escape_closes_and_never_clears(show, digit):
    """Wherever the focus is: on the pad, a button, the page after a layer's call."""
    from selenium.webdriver import Keys

    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    draw(page, (0.5, 0.15), (0.5, 0.5), (0.5, 0.85))
    wait_for(page, f"{ANSWER}.startsWith('1, ')")
    drawn = page.run(STROKES)
    assert drawn.startswith("<polyline points=")
    closed = "return document.querySelector('h2').textContent === 'Point at any cell' && !document.querySelector('.story')"
    for name in ("why?", "how it works"):
        page.run(TOOL, name)
        assert not page.run(closed)
        page.press(Keys.ESCAPE)
        assert page.run(closed)
    ask_for_a_change(page)
    page.press(Keys.ESCAPE)
    assert page.run(closed)
    page.run("location.hash = location.hash.split('&')[0] + '&at=3,1,2,5'")
    wait_for(page, "return document.querySelector('.open-call')")
    page.all(".open-call")[0].click()
    page.press(Keys.ESCAPE)
    wait_for(page, "return !document.querySelector('dialog')")
    assert page.all(".open-call")
    page.press(Keys.ESCAPE)
    assert page.run(closed)
    assert page.run(STROKES) == drawn
    page.run("document.querySelector('.surface').focus()")
    page.press(Keys.ARROW_UP)
    assert "Delete clears" in page.all(".told")[0].text.split("\n")[0]
    page.press(Keys.DELETE)
    wait_for(page, "return document.querySelector('header output').hidden")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_nothing_moves_as_the_answer_does(show, digit, width, height):
    page = show(digit, width=width, height=height)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    places = page.run(BUTTONS)
    page.run(TOOL, "clear")
    wait_for(page, "return document.querySelector('header output').hidden")
    assert page.run(BUTTONS) == places
    disabled = "return [...document.querySelectorAll('.tools button:disabled')].map((e) => e.textContent)"
    assert page.run(disabled) == ["why?", "change its mind"]
    marks = "return document.querySelector('.net > svg').textContent"
    assert "%" not in page.run(marks)
    assert page.all(".net > svg .best") == []
    assert "percent among these ten" in page.run(marks)
    draw(page, (0.5, 0.15), (0.5, 0.5), (0.5, 0.85))
    wait_for(page, f"{ANSWER}.startsWith('1, ')")
    assert page.run(disabled) == []
    ask_for_a_change(page)
    assert page.run(BUTTONS) == places


def test_a_change_is_tried_and_taken_back(show, digit):
    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    before = page.run(ANSWER)
    ask_for_a_change(page)
    text = page.all(".told p")[0].text
    assert text.startswith(
        "No single cell does: each of 64 cells was tried with 16 other amounts of ink. The nearest: row "
    )
    assert page.run(BADGE) == re.search(r" to (\d+) of 16 leaves the score of 7 ahead", text)[1]
    images = digits()["images"]
    counts = images[14, ..., 0].astype(int)
    page.run("location.hash = arguments[0]", address_of(counts / 16))
    wait_for(page, f"{ANSWER} !== {before!r}")
    before = page.run(ANSWER)
    ask_for_a_change(page)
    found = re.fullmatch(
        r"The least change: row (\d), column (\d) from (\d+) to (\d+) of 16, and it says (\d)\.",
        page.all(".told p")[0].text,
    )
    row, col, was, to, says = map(int, found.groups())
    assert counts[row, col] == was != to
    counts[row, col] = to
    chances = np.asarray(digits_model()(np.float32(counts / 16).reshape(1, 8, 8, 1)))[0]
    assert chances.argmax() == says != int(before[0])
    assert page.run(BADGE) == str(to)
    page.all(".try")[0].click()
    assert page.run(ANSWER) == f"{says}, {100 * chances[says]:.0f} %"
    assert "your lines stay as you drew them" in page.all(".told")[0].text
    assert page.all(".try")[0].text == "back"
    page.all(".try")[0].click()
    assert page.run(ANSWER) == before
    page.all(".try")[0].click()
    page.run(TOOL, "why?")
    assert page.run(ANSWER).startswith(f"{says}, ")  # the question is asked of what the network reads now
    assert f"Why {says} and not" in page.all(".told")[0].text
    page.run(TOOL, "why?")
    assert page.run(ANSWER) == before
    ask_for_a_change(page)
    page.all(".try")[0].click()
    page.all(".shut")[0].click()
    assert page.run(ANSWER) == before  # closing takes it back


def test_cells_are_seen_while_the_question_is_open(show, digit):
    from selenium.webdriver import ActionChains

    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run(TOOL, "why?")
    reasons = page.all(".ways li")
    assert [re.search(r"\npool2, map (\d+), row", reason.text)[1] for reason in reasons] == ["15", "6", "0"]
    assert sorted(e.text for e in page.all(".net > svg .map-name")) == ["map 0", "map 15", "map 6"]
    text = reasons[0].text.split("\n")[2]
    assert re.search(r"; without this cell of conv2, pool2 takes the next largest, [\d.]+: ", text)
    ActionChains(page.driver).move_to_element(reasons[1]).perform()
    lit = page.all("path.lit")
    assert 1 < len(lit) < len(page.all("path.way"))
    # its cell of conv2 reads 3 x 3 cells of pool1, 6 x 6 of conv1 and 8 x 8 of the input, less what is padding
    assert reasons[1].text.startswith("reads 7 × 7 blocks of ink: rows 0 to 6, columns 0 to 6\n")
    window = "const { width, height } = document.querySelector('.net > svg .window').getBoundingClientRect(); return [width, height]"
    side = page.run("return document.querySelector('.pad-holder').clientWidth") / 8  # of a cell of the input
    assert page.run(window) == pytest.approx([7 * side] * 2, abs=8)
    ActionChains(page.driver).move_to_element(page.all("h1")[0]).perform()
    assert page.all(".net > svg .window, path.lit") == []
    page.run("arguments[0].focus()", reasons[1])
    assert len(page.all("path.lit")) == len(lit)
    assert page.all(".net > svg .window")
    page.run("arguments[0].blur()", reasons[1])
    canvas = page.all(".net > canvas")[0]
    x, y = page.run(
        "const { left, top, width, height } = arguments[0].getBoundingClientRect(); return [260 - left - width / 2, 260 - top - height / 2]",
        canvas,
    )
    there = [canvas, int(x), int(y)]
    ActionChains(page.driver).move_to_element_with_offset(*there).perform()
    name = page.all(".told h2")[0].text.partition(", row")[0]
    assert re.fullmatch(r"conv1, map \d", name)
    assert [e.text for e in page.all(".net > svg .map-name")] == [name.split(", ")[1]]
    ActionChains(page.driver).move_to_element(page.all("h1")[0]).perform()
    assert page.all(".told h2")[0].text.startswith("Why 7 and not")
    page.run(TOOL, "why?")
    assert page.all(".told h2")[0].text == "Point at any cell"
    page.run(TOOL, "why?")
    ActionChains(page.driver).move_to_element_with_offset(*there).click().perform()
    ActionChains(page.driver).move_to_element(page.all("h1")[0]).perform()
    assert page.all(".told h2")[0].text.startswith("conv1, map ")
    page.run(TOOL, "why?")
    page.all(".shut")[0].click()
    assert page.all(".told h2")[0].text == "Point at any cell"


def test_the_story_is_turned_by_arrows_and_a_question_closes_it(show, digit):
    from selenium.webdriver import Keys

    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.all(".tools button")[0].click()  # the focus stays there
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.all(".story p")[0].text.startswith("1/9 ")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.all(".story p")[0].text.startswith("3/9 ")
    for name in ("why?", "change its mind"):
        page.run(TOOL, "how it works")
        assert page.all(".story")
        page.run(TOOL, name)
        assert page.all(".story") == []


def test_a_panel_begins_at_its_top_and_an_empty_pad_has_no_cell(show, digit):
    page = show(digit, width=1280, height=720)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run("document.querySelector('.told').scrollTop = 80")
    page.run(TOOL, "why?")
    assert page.run("return document.querySelector('.told').scrollTop") == 0
    ask_for_a_change(page)
    page.run("document.querySelector('.net > canvas').focus()")
    from selenium.webdriver import Keys

    page.press(Keys.ARROW_DOWN)
    assert page.all("h2")[0].text.startswith("input, row 0, column 0 = ")
    assert page.all(".net > svg circle") == []
    assert page.all(".tools [aria-pressed=true]") == []
    page.run("document.querySelector('.surface').focus()")
    page.press(Keys.DELETE)
    assert page.all("h2")[0].text == "Point at any cell"
    assert page.all("path.mark") == []


def test_the_numbers_of_a_map_fit_at_1280(show, digit):
    page = show(digit, width=1280, height=800)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run("location.hash = '#at=1,2,3,2'")
    wait_for(page, "return document.querySelector('.written')")
    assert page.run("const e = document.querySelector('.written'); return e.scrollWidth <= e.clientWidth")


def test_a_ring_at_the_edge_of_a_phone_is_whole(show, digit):
    page = show(digit, width=390, height=844)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    for cell, side in (("4,0,0,0", "left"), ("4,0,1,7", "right")):
        page.run(f"location.hash = '#at={cell}'")
        wait_for(
            page, f"return document.querySelector('h2').textContent.startsWith('pool2, map {cell[-1]},')"
        )
        edges = "return ['.net', 'path.mark'].map((name) => document.querySelector(name).getBoundingClientRect()[arguments[0]])"
        net, ring = page.run(edges, side)
        assert abs(net - ring) >= 1.5
        assert (net < ring) == (side == "left")


def test_the_cell_that_wins_a_pool_is_outlined(show, digit):
    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run("location.hash = '#at=4,0,0,3'")
    wait_for(page, "return document.querySelector('h2').textContent.startsWith('pool2, map 3,')")
    cells = page.run(
        "return [...document.querySelectorAll('.told .product')].map((e) => [Number(e.textContent), e.matches('.winner')])"
    )
    assert len(cells) == 4
    assert [number for number, wins in cells if wins] == [max(number for number, _ in cells)]


def test_no_number_of_a_map_is_cut(show):
    """Numbers of six letters; the table is as wide as they need, and scrolls."""
    layers = keras.layers
    model = keras.Sequential([layers.Input((12, 12, 1)), layers.Conv2D(2, 3, padding="same", name="a")])
    rng = np.random.default_rng(1)
    model.layers[-1].set_weights([rng.normal(0, 0.5, (3, 3, 1, 2)).astype("float32"), np.zeros(2, "float32")])
    x = rng.normal(0, 0.05, (1, 12, 12, 1)).astype("float32")
    x[0, 1:4, 2:5] = 1.2345e-4  # products of eleven letters, if written without a power
    page = show(tc.explore(model, x, at=("a", 2, 3, 1)), width=1280, height=800)
    cut = "return [...document.querySelectorAll('.written > *, .told .product')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"
    assert len(page.all(".written > *")) == 144
    assert (
        max(
            page.run("return [...document.querySelectorAll('.written > *')].map((e) => e.textContent.length)")
        )
        >= 6
    )
    assert page.run(cut) == []


def test_the_names_of_a_file_are_text(show):
    """A name of a layer may hold markup, and a frame in a notebook runs scripts."""
    name = "<img src=x onerror=alert(1)>"
    network = tc.explore(
        keras.Sequential([keras.layers.Input((3, 3, 1)), keras.layers.Conv2D(1, 2)]), np.ones((1, 3, 3, 1))
    )
    network.data()["columns"][1] |= {"name": name, "word": name}
    network._json = dumps(network.data() | {"at": [1, 0, 0, 0]})
    page = show(network)
    assert page.all("img") == []
    assert page.all("h2")[0].text.startswith(name)
    assert name[:10] in page.run("return document.querySelector('.net > svg').textContent")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 800), (390, 844)])
def test_pad_layers_and_answer_are_seen_without_scrolling(show, digit, width, height, dark):
    page = show(digit, width=width, height=height, dark=dark)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run(TOOL, "why?")
    boxes = json.loads(
        page.run(
            """const box = (name) => document.querySelector(name).getBoundingClientRect();
            return JSON.stringify({ pad: box('.surface'), maps: box('.net > canvas'), told: box('.told') });"""
        )
    )
    for box in boxes.values():
        assert box["left"] >= 0
        assert box["right"] <= width
    assert boxes["maps"]["bottom"] <= (height if width > 390 else boxes["told"]["top"] + 1)
    assert boxes["told"]["bottom"] <= height + 1
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.contrast(".network > :not(.net) *")[0] >= 4.5
    apart = """const [close, margin] = ['.shut', '.told h2 output'].map((name) => document.querySelector(name).getBoundingClientRect());
      return close.left - margin.right"""
    assert page.run(apart) > 5


def test_the_scales_of_the_colours_are_told(show, digit):
    page = show(digit)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    text = page.all(".told")[0].text
    scales = [(column["name"], column["largest"]) for column in digit.data()["columns"][1:-1]]
    assert [name for name, _ in scales] == ["conv1", "pool1", "conv2", "pool2"]
    assert ", ".join(f"{name} ±{largest:.3g}" for name, largest in scales) in text


def test_a_weight_is_dragged_and_the_answer_follows(show, digit):
    from selenium.webdriver import ActionChains

    page = show(digit)
    image = digits()["images"][:1].astype("float32") / 16
    page.run("location.hash = arguments[0]", f"{address_of(image)}&at=1,2,4,2")
    fields = ".kernel input"
    wait_for(page, f"return document.querySelectorAll('{fields}').length === 9")
    value = "return document.querySelector('.told h2 output').textContent"
    before, answers, field = page.run(value), page.run(ANSWER), page.all(fields)[4]
    field.location_once_scrolled_into_view  # noqa: B018
    given = float(field.get_attribute("value"))
    chain = ActionChains(page.driver, duration=10).move_to_element(field)
    chain.click_and_hold().move_by_offset(0, -60).release().perform()
    weights = digits()["conv1/filters"].copy()
    weights[1, 1, 0, 2] = round(given + 15 * 0.05, 2)
    assert page.run(f"return document.querySelectorAll('{fields}')[4].value") == str(
        weights[1, 1, 0, 2].round(3)
    )
    sums = tc.conv2d(image, weights, 1, "SAME", bias=digits()["conv1/bias"])
    assert float(page.run(value)) == pytest.approx(max(0, sums[0, 2, 4, 2]), rel=1e-6)
    assert page.run(value) != before
    assert "you changed weights" in page.all("footer")[0].text
    page.all(".as-given")[0].click()
    assert page.run(value) == before
    assert page.run(ANSWER) == answers
    assert "you changed weights" not in page.all("footer")[0].text


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_maps_painted_one_by_one_are_those_painted_anew(show, digit, width, height):
    """A drawing paints only the maps that it changes; another layout paints all."""
    page = show(digit, width=width, height=height)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run(TOOL, "clear")
    draw(page, (0.5, 0.15), (0.5, 0.5), (0.5, 0.85))
    wait_for(page, f"{ANSWER}.startsWith('1, ')")
    draw(page, (0.3, 0.85), (0.7, 0.85))
    same = """return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
        const canvas = document.querySelector('.net > canvas'), before = canvas.toDataURL();
        dispatchEvent(new Event('resize'));
        done([before === canvas.toDataURL(), before.length]);
    })))"""
    alike, size = page.run(same)
    assert alike
    assert size > 5000


def test_paper_is_light_and_holds_all_maps(show, digit):
    """Printed from a dark page: the canvas is painted again, and the screen's page comes back."""
    page = show(digit, width=1440, height=900, dark=True)
    wait_for(page, f"{ANSWER}.startsWith('7, ')")
    page.run(TOOL, "why?")
    look = """const canvas = document.querySelector('.net > canvas');
        const { right } = canvas.getBoundingClientRect();
        const copy = Object.assign(document.createElement('canvas'), { width: 1000, height: 100 }).getContext('2d');
        copy.drawImage(canvas, 0, -60);
        const red = copy.getImageData(0, 0, 1000, 100).data.filter((v, i, all) => i % 4 === 0 && all[i + 3] === 255).sort();
        return [right, red[red.length >> 1]];"""
    before = page.run(look)
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    page.run("dispatchEvent(new Event('beforeprint'))")  # a browser says so before it lays the paper out
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [dark]})
    page.settle()
    right, usual = page.run(look)
    assert right <= 710 < before[0]
    assert usual > 150 > before[1]
    hidden = (
        "return [...document.querySelectorAll('.tools, .theme, .shut')].every((e) => !e.checkVisibility())"
    )
    assert page.run(hidden)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [dark]})
    page.run("dispatchEvent(new Event('afterprint'))")
    page.settle()
    assert page.run(look) == before


@pytest.mark.slow
def test_the_benchmark_of_the_page_checks_answers_and_prints_a_table():
    script = Path(__file__).parents[2] / "benchmarks" / "network_page.py"
    done = subprocess.run(
        [sys.executable, str(script), "--digits", "1"], capture_output=True, text=True, check=True
    )
    rows = [
        line for line in done.stdout.splitlines() if re.fullmatch(r"\| [^|]+ \| \d+( \| [\d.]+){4} \|", line)
    ]
    assert len(rows) == 3
