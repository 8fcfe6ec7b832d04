"""The quiz of a network's page: what it takes for right is what Python computes, and a wrong answer gets the reason."""

import re

import numpy as np
import pytest
from browser import needs_browser
from explorer_pages import address_of, wait_for

import teachconv as tc
from teachconv import keras
from teachconv.data import digits
from teachconv.explorer.digits import digits_model, draw_a_digit

pytestmark = needs_browser
IMAGE = digits()["images"][14:15].astype("float32") / 16  # whose answer hangs on single maps
DRAWN = address_of(IMAGE)
WORDS = "return document.querySelector('.quiz h2')?.textContent"
SAID = "return document.querySelector('.quiz [role=status]').textContent"
FOCUS = "return document.activeElement.className || document.activeElement.tagName"


@pytest.fixture(scope="module")
def digit():
    return draw_a_digit()


@pytest.fixture(scope="module")
def numbers():
    """What each layer of the network makes of the image, by name, and its layers."""
    x, made = IMAGE, {}
    for layer in digits_model().layers:
        x = layer(x)
        made[layer.name] = np.asarray(x)
    return made


@pytest.fixture
def asked(show, digit):
    """Open the page at a question about the image."""
    page = show(digit)

    def ask(seed, level):
        page.run("location.hash = arguments[0]", f"{DRAWN}&quiz={seed},{level}")
        wait_for(
            page,
            f"return location.hash.endsWith('&quiz={seed},{level}') && document.querySelector('.quiz h2')",
        )
        return page

    return ask


def numbers_in(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def first_read(layer, index):
    """The first row (or column) of the input that a row of a layer reads: windows of 3 padded by 1, and pools of 2."""
    if layer == "conv1":
        return max(0, index - 1)
    if layer == "conv2":
        return first_read("pool1", max(0, index - 1))
    return first_read("conv1" if layer == "pool1" else "conv2", 2 * index)


def test_what_a_cell_reads_is_pointed_at(asked):
    from selenium.webdriver import ActionChains, Keys

    layers = set()
    for seed in range(1, 9):
        page = asked(seed, 1)
        layer, words = re.match(
            r"Which cells of the input does (\w+), (map .+) read\?", page.run(WORDS)
        ).groups()
        layers.add(layer)
        _, *place = numbers_in(words)
        answer = [first_read(layer, index) for index in place]
        assert page.run(FOCUS) == "CANVAS"
        assert page.all(".net > svg .window") == []  # it would be the answer
        page.press(Keys.ARROW_RIGHT)
        assert page.run(SAID) == "Row 0, column 0: Enter takes it."
        if answer != [0, 0]:
            page.press(Keys.ENTER)
            assert page.run(SAID) == "Row 0, column 0 is not read."
        page.press(*[Keys.ARROW_DOWN] * answer[0], *[Keys.ARROW_RIGHT] * answer[1])
        page.press(Keys.ARROW_RIGHT)
        if seed % 2:  # with the mouse, on the frame that the keys have moved
            ActionChains(page.driver).move_to_element(page.all(".net > svg .window")[0]).click().perform()
        else:
            page.press(Keys.ENTER)
        last = [min(7, index) for index in (answer[0], answer[1] + 1)]
        name = f"Row {last[0]}, column {last[1]} is "
        assert page.run(SAID).startswith(
            (f"{name}within what it reads, but not the first: go left.", f"{name}where its window begins in")
        )
        page.press(Keys.ARROW_LEFT, Keys.ENTER)
        rows, cols = answer
        assert re.match(
            rf"That is it\. It reads rows {rows} to \d and columns {cols} to \d\.", page.run(SAID)
        )
        assert page.run(FOCUS) == "next"
        assert page.all(".net > svg .window")
    assert len(layers) > 2


def test_the_strongest_product_is_the_largest_in_size(asked, numbers):
    weights, before = digits(), {"conv1": IMAGE, "conv2": numbers["pool1"], "dense": numbers["pool2"]}
    layers = set()
    for seed in range(1, 9):
        page = asked(seed, 2)
        layer, words = re.match(r"Three products of (\w+), (.+), a value", page.run(WORDS)).groups()
        layers.add(layer)
        if layer == "dense":
            taps = zip(before[layer].ravel(), weights["dense/weights"][:, numbers_in(words)[0]], strict=True)
        else:
            channel, row, col = numbers_in(words)
            explained = tc.explain(
                tc.conv2d, before[layer], weights[f"{layer}/filters"], 1, "SAME", at=(0, row, col, channel)
            )
            taps = ((tap.input_value, tap.filter_value) for tap in explained.taps if not tap.in_padding)
        taps = [(float(value), float(weight)) for value, weight in taps]
        buttons = page.all(".quiz [data-choice]")
        products = []
        for button in buttons:
            value, weight = (float(number) for number in button.text.split(" × "))
            near = [
                a * b
                for a, b in taps
                if a == pytest.approx(value, rel=1e-3) and b == pytest.approx(weight, rel=1e-3)
            ]
            assert near, button.text
            products.append(near[0])
        order = np.argsort(np.abs(products))
        buttons[order[0]].click()
        assert page.run(SAID).endswith(", and another one is further from zero.")
        assert page.run(FOCUS) == "asks"
        page.all(".quiz [data-choice]")[order[-1]].click()
        assert page.run(SAID).startswith("That is it. ")
        assert page.run(SAID).count(" × ") == 3
    assert len(layers) > 1


def test_the_answer_without_a_map_is_the_models(asked, numbers):
    names, model = list(numbers), digits_model()
    changed = 0
    for seed in range(1, 9):
        page = asked(seed, 3)
        win, channel, layer = re.match(
            r"The answer is (\d)\. What is it if map (\d+) of (\w+) is taken", page.run(WORDS)
        ).groups()
        assert int(win) == numbers["dense"].argmax()
        x = numbers[layer].copy()
        x[..., int(channel)] = 0
        for later in model.layers[names.index(layer) + 1 :]:
            x = later(x)
        answer = int(np.asarray(x).argmax())
        changed += answer != int(win)
        choices = [int(button.text) for button in page.all(".quiz [data-choice]")]
        assert answer in choices
        assert len(choices) == 3
        wrong = next(c for c in choices if c != answer)
        page.all(f".quiz [data-choice='{wrong}']")[0].click()
        assert re.match(
            rf"Not {wrong}: the score of {wrong} goes from -?[\d.]+ to -?[\d.]+, and another", page.run(SAID)
        )
        page.all(f".quiz [data-choice='{answer}']")[0].click()
        assert page.run(SAID).startswith(f"That is it. It is {answer}: ")
    assert 0 < changed < 8


def test_the_quiz_begins_and_ends_as_the_page_goes_on(show, digit):
    from selenium.webdriver import Keys

    page = show(digit)
    wait_for(page, "return document.querySelector('header output').textContent.startsWith('7, ')")
    page.all(".begin-quiz")[0].click()
    first = page.run(WORDS)
    wait_for(page, "return location.hash === '#quiz=1,1'")
    page.all(".quiz .give")[0].click()
    assert page.run(SAID).startswith("It reads rows ")
    page.all(".quiz .next")[0].click()
    assert page.run(WORDS) != first
    wait_for(page, "return location.hash === '#quiz=2,2'")
    choices = "return [...document.querySelectorAll('.quiz [data-choice]')].map((e) => e.textContent).join()"
    before = page.run(choices)
    page.run("location.hash = arguments[0]", f"{DRAWN}&quiz=2,2")  # another drawing has other products
    wait_for(page, f"{choices} !== {before!r}")
    page.press(Keys.ESCAPE)
    assert page.run(WORDS) is None
    assert page.all("h2")[0].text == "Point at any cell"
    page.all(".begin-quiz")[0].click()
    page.all(".quiz .end")[0].click()
    assert page.run(FOCUS) == "begin-quiz"
    page.all(".begin-quiz")[0].click()
    page.run("[...document.querySelectorAll('.tools button')].find((e) => e.textContent === 'why?').click()")
    assert page.run(WORDS) is None
    assert page.all("h2")[0].text.startswith("Why ")


def test_a_network_without_an_answer_is_asked_about_too(show):
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((6, 6, 1)), layers.Conv2D(2, 3, name="a"), layers.Conv2D(1, 2, name="b")]
    )
    page = show(tc.explore(model, np.random.default_rng(2).random((1, 6, 6, 1), "float32")))
    page.all(".begin-quiz")[0].click()
    kinds = []
    for _ in range(3):
        kinds.append(page.run(WORDS).split(" ")[0])
        page.all(".quiz .give")[0].click()
        page.all(".quiz .next")[0].click()
    assert kinds == ["Which", "Three", "Which"]


def test_on_a_phone_the_next_question_is_not_cut(show):
    """The sheet is as high as the question with its reason."""
    page = show(draw_a_digit(), width=390, height=844)
    page.run("location.hash = '#quiz=3,2'")
    wait_for(page, "return document.querySelector('.give')")
    page.run("document.querySelector('.give').click()")
    box = "document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    assert page.run(f"return {box}", ".next") <= min(844, page.run(f"return {box}", ".told"))
