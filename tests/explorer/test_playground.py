"""The playground in a real browser, network off: what the reader sets, against what Python computes."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from browser import Page, needs_browser
from helpers import mostly_slow

import teachconv as tc
from teachconv.cli.main import main

pytestmark = needs_browser


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tc.playground().save(tmp_path_factory.mktemp("playground") / "playground.html")


class Address:
    """A page at an address."""

    def __init__(self, path, hash_):
        self.uri = path.as_uri() + hash_

    def as_uri(self):
        return self.uri


@pytest.fixture
def at(driver, path):
    """Open the playground at an address; afterwards the console has to be empty."""
    pages = []

    def opened(hash_="", **options):
        driver.get("about:blank")  # else only the address would change
        pages.append(Page(driver, Address(path, hash_), **options))
        return pages[-1]

    yield opened
    for page in pages:
        assert page.complaints() == []


def set_field(page, name, value):
    page.run(
        """const field = document.querySelector(`.call [name="${arguments[0]}"]`);
        field.value = arguments[1]; field.dispatchEvent(new Event("change"));""",
        name,
        value,
    )


def heading(page):
    return page.run("return document.querySelector('h1 code').textContent")


def problem(page):
    return page.run(
        "const e = document.querySelector('.head .message'); return e.hidden ? '' : e.textContent"
    )


def address(page):
    return page.run("return location.hash")


def plane(seen, number):
    """The numbers of a grid as an array; cells outside the arrays are left out."""
    cells = [c for c in seen["grids"][number]["cells"] if not {"padding", "outside"} & set(c["classes"])]
    rows, cols = (sorted({c[axis] for c in cells}) for axis in ("row", "col"))
    values = [float(c["label"].split(", ")[2]) for c in cells]  # the whole number
    return np.array(values, "float32").reshape(len(rows), len(cols))


def as_nhwc(page):
    x, w, y = (plane(page.look(), number) for number in range(3))
    return x[None, :, :, None], w[:, :, None, None], y


def test_an_address_is_one_case(at):
    page = at("#conv2d&n=7&k=3&s=2&p=same&at=1,2")
    assert heading(page) == "tc.conv2d(input [1, 7, 7, 1], filters [3, 3, 1, 1], strides=2, padding='SAME')"
    x, w, y = as_nhwc(page)
    want = tc.conv2d(x, w, 2, "SAME")
    assert (y == want[0, :, :, 0]).all()
    seen = page.look()
    assert "[0, 1, 2, 0]" in seen["headline"]
    assert float(seen["value"]) == want[0, 1, 2, 0]


def test_the_back_button_undoes_a_step(at):
    page = at("#conv2d&n=5&k=3&s=1&p=valid")
    before, head = address(page), heading(page)
    set_field(page, "s", "2")
    set_field(page, "p", "same")
    assert "s=2&p=same" in address(page)
    assert "strides=2, padding='SAME'" in heading(page)
    page.run("history.back()")
    page.run("return new Promise((done) => setTimeout(done, 100))")
    assert "padding" not in heading(page)
    page.run("history.back()")
    page.run("return new Promise((done) => setTimeout(done, 100))")
    assert (heading(page), address(page).partition("&at")[0]) == (head, before.partition("&at")[0])


VIEW = """
return { channels: [...document.querySelectorAll(".thumb[aria-pressed=true]")].map((e) => e.dataset.thumb).join(),
  current: [...document.querySelectorAll(".stage .cell.current")].map((e) => [e.closest(".grid").querySelector("b").textContent, e.dataset.row, e.dataset.col].join()).join(" "),
  open: [...document.querySelectorAll("details[data-section][open]")].map((e) => e.dataset.section).join(), later: document.querySelectorAll(".product.later").length,
  colours: document.querySelector(".tcx.colours") !== null, stamp: document.querySelector(".stamp")?.getAttribute("aria-pressed") };"""
PAUSE = "return new Promise((done) => setTimeout(done, 120))"


def test_a_link_shows_the_channels_the_place_and_what_is_open(at):
    page = at("#conv2d&n=6&k=3&s=2&p=same&c=2&o=3")
    page.run("document.querySelector('[data-thumb=o2]').click()")
    page.run("document.querySelector('[data-thumb=c1]').click()")
    page.run('document.querySelector(\'.stage .grid:nth-of-type(2) [data-row="0"][data-col="2"]\').click()')
    page.open("matrix")
    page.run("document.querySelector('.channels input[type=checkbox]').click()")
    page.run(PAUSE)
    link, seen = address(page), page.run(VIEW)
    assert link.endswith("&ch=1,2&on=w,0,2&show=colours,matrix")
    assert seen == {
        "channels": "c1,o2",
        "current": "filters,0,2",
        "open": "calls,matrix",
        "later": 0,
        "colours": True,
        "stamp": None,
    }
    again = at(link, motion=True)  # what is pointed at stays, also where pages begin to move
    again.run("return new Promise((done) => setTimeout(done, 1200))")
    assert (address(again), again.run(VIEW)) == (link, seen)


def test_a_link_shows_a_tap_and_stamping(at):
    page = at("#conv2d&n=5&k=3&s=1&p=valid&at=1,1")
    for _ in range(3):
        page.run("document.querySelector('[aria-label=\"next tap\"]').click()")
    link = address(page)
    assert link.endswith("&at=1,1&tap=2")
    again = at(link)
    assert again.run(VIEW)["later"] == 6
    page = at("#transpose&n=3&k=3&s=2&p=same")
    page.run("document.querySelector('.stamp').click()")
    page.run('document.querySelector(\'.stage .grid [data-row="1"][data-col="2"]\').click()')
    link, seen = address(page), page.run(VIEW)
    assert link.endswith("&on=x,1,2&show=stamp")
    assert seen["stamp"] == "true"
    assert seen["current"] == "input,1,2"
    again = at(link)
    assert (address(again), again.run(VIEW)) == (link, seen)


def test_the_back_button_undoes_a_choice_of_channels(at):
    page = at("#conv2d&n=5&k=3&s=1&p=valid&c=2&o=2")
    before = page.run(VIEW)
    page.run("document.querySelector('[data-thumb=o1]').click()")
    assert "ch=0,1" in address(page)
    set_field(page, "s", "2")
    assert "ch=0,1" in address(page)  # kept by a change of the stride
    for _ in range(2):
        page.run("history.back()")
        page.run(PAUSE)
    assert page.run(VIEW) == before
    assert "ch=" not in address(page)


@pytest.mark.parametrize(
    "hash_", ["#conv2d&ch=0,9", "#conv2d&on=x,77,0", "#conv2d&tap=500", "#conv2d&show=nothing"]
)
def test_a_place_that_the_call_lacks_is_left_out(at, hash_):
    page = at(hash_)
    assert page.look()["headline"].startswith("output[0, 1, 1, 0]")
    assert not {"ch", "on", "tap", "show"} & {part.partition("=")[0] for part in address(page).split("&")}


def test_the_overview_of_a_large_input_goes_anywhere(at):
    page = at("#conv2d&n=64&k=3&s=1&p=same&c=2&ch=1,0")
    for down, right in ((1.8 / 64, 62.8 / 64), (62.8 / 64, 1.8 / 64)):  # a click is at whole pixels
        page.run(
            """const box = document.querySelector(".overview :is(img, canvas)").getBoundingClientRect();
            document.querySelector("button.overview").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1,
              clientX: box.left + box.width * arguments[1], clientY: box.top + box.height * arguments[0] }));""",
            down,
            right,
        )
        page.run(PAUSE)
        row, col = (int(64 * part) for part in (down, right))
        assert page.look()["headline"].startswith(f"output[0, {row}, {col}, 0]")
        assert address(page).endswith(f"&at={row},{col}&ch=1,0")
        assert page.look()["message"] == ""


WORDS = {
    "tensorflow": ("tc.conv2d(", "tc.conv2d_transpose("),
    "torch": ("tc.dialects.torch.conv2d(", "tc.dialects.torch.conv_transpose2d("),
    "jax": ("tc.dialects.jax.conv_general_dilated(", "tc.dialects.jax.conv_transpose("),
    "onnx": ("tc.dialects.onnx.conv(", "tc.dialects.onnx.conv_transpose("),
    "keras": ("tc.dialects.keras.conv(", "tc.dialects.keras.conv_transpose("),
}


@pytest.mark.parametrize("framework", mostly_slow(WORDS, "tensorflow"))
def test_the_frameworks_words(at, framework):
    forward, transposed = WORDS[framework]
    page = at(f"#conv2d&n=5&k=3&s=2&p=valid&as={framework}")
    assert heading(page).startswith(forward)
    page = at(f"#transpose&n=3&k=3&s=2&p={'0' if framework == 'torch' else 'valid'}&as={framework}")
    assert heading(page).startswith(transposed)


def test_the_calls_of_all_frameworks_are_translates(at):
    page = at("#conv2d&n=8&k=3&s=2&p=same&c=2&o=4&g=2")
    for to in ("tensorflow", "torch", "jax", "onnx", "keras"):
        text = page.run(
            "return document.querySelector(`[data-framework='${arguments[0]}'] pre`).textContent", to
        )
        want = tc.translate(tc.conv2d, (1, 8, 8, 2), (3, 3, 1, 4), strides=2, padding="SAME", to=to)
        assert text == want.code.rstrip("\n")


def test_what_a_framework_lacks_is_said_and_shown_in_tensorflows_words(at):
    page = at("#transpose&n=3&k=3&s=2&p=same&as=torch")
    assert "PyTorch's conv_transpose2d has no padding" in problem(page)
    assert heading(page).startswith("tc.conv2d_transpose(")


def test_a_cell_of_the_result_that_nothing_feeds_is_said(at):
    page = at("#transpose&n=2&k=2&s=3&p=valid")
    cell = "return document.querySelector('.stage .cell.unread').getAttribute('aria-label')"
    assert page.run(cell) == "row 0, column 2, 0, fed by no input cell"
    assert "fed by no input cell" in page.run("return document.querySelector('.legend').textContent")


def test_a_refused_call_shows_the_error(at):
    page = at("#conv2d&n=2&k=5&s=1&p=valid")
    with pytest.raises(ValueError, match=r"VALID needs in_rows >= 5 \(filter 5, dilation 1\); got 2"):
        tc.conv2d_geometry((1, 2, 2, 1), (5, 5, 1, 1))
    assert problem(page) == "VALID needs at least 5 rows (filter 5, dilation 1); got 2"
    set_field(page, "n", "6,2")
    assert problem(page) == "VALID needs at least 5 columns (filter 5, dilation 1); got 2"
    set_field(page, "n", "6")
    assert problem(page) == ""
    assert page.look()["grids"]


FIELDS = """const shown = (e) => e.scrollWidth <= e.clientWidth;
return { values: Object.fromEntries([...document.querySelectorAll(".call .stepper input")].map((e) => [e.name, e.value])),
  wrong: [...document.querySelectorAll(".call [aria-invalid=true]")].map((e) => e.name), whole: [...document.querySelectorAll(".call .stepper input")].every(shown),
  grey: document.querySelectorAll(".stale .stage").length === 1 };"""


def test_a_field_keeps_what_it_cannot_take_and_the_picture_is_grey(at):
    page = at("#conv2d&n=7&k=3&s=2&p=same")
    for value in ("banana", "-3", "1e9", "2.5", ""):
        set_field(page, "k", value)
        seen = page.run(FIELDS)
        assert (seen["values"]["k"], seen["wrong"], seen["grey"], seen["whole"]) == (value, ["k"], True, True)
        got = f'"{value}"' if value else "nothing"
        assert (
            problem(page) == f"filter must be a whole number or two (rows × columns) from 1 to 15; got {got}"
        )
    set_field(page, "s", "0")
    assert page.run(FIELDS)["wrong"] == ["k", "s"]
    assert problem(page).count("must be") == 2
    set_field(page, "k", "4")  # the stride is still wrong, and stays as it was typed
    seen = page.run(FIELDS)
    assert (seen["values"]["k"], seen["values"]["s"], seen["wrong"], seen["grey"]) == ("4", "0", ["s"], True)
    assert problem(page).startswith("stride must be")
    set_field(page, "s", "3")
    assert page.run(FIELDS)["wrong"] == []
    assert (problem(page), page.run(FIELDS)["grey"]) == ("", False)
    assert "filters [4, 4, 1, 1], strides=3" in heading(page)
    set_field(page, "s", "0")
    page.run("document.querySelector('.beginnings button:nth-of-type(3)').click()")
    assert (problem(page), page.run(FIELDS)["wrong"], page.run(FIELDS)["grey"]) == ("", [], False)
    set_field(page, "o", "0")  # a field that goes takes its fault with it
    page.run(
        "const op = document.querySelector('[name=op]'); op.value = 'max_pool'; op.dispatchEvent(new Event('change'))"
    )
    assert (problem(page), page.run(FIELDS)["grey"]) == ("", False)


@pytest.mark.parametrize("op", ["conv2d", "transpose"])
def test_on_a_phone_the_common_fields_come_before_the_picture_and_the_others_are_folded(at, op):
    page = at(f"#{op}&n=4&k=3&s=2&p=valid", width=390, height=844)
    box = "const { top, bottom } = document.querySelector(arguments[0]).getBoundingClientRect(); return [top, bottom]"
    call, rest, stage = (page.run(box, name) for name in (".call", ".rest", ".stage"))
    assert call[1] <= rest[0]
    assert rest[1] <= stage[0] < 480
    shown = "return [...document.querySelectorAll('.head :is(input, select)')].filter((e) => e.checkVisibility()).map((e) => e.name).filter(Boolean)"
    common = ["op", "n", "k", "s", "p"]
    assert page.run(shown) == common
    page.run("document.querySelector('.rest').open = true")
    assert {"as", "d", "c", "o", "g"} < {*page.run(shown)}
    page = at("#conv2d&n=8&k=3&d=2&p=same", width=390, height=844)  # a link to what is folded
    assert "d" in page.run(shown)


def test_messages_are_for_people(at):
    assert problem(at("#nonsense")) == 'the playground has no operation "nonsense"'
    assert problem(at("#conv2d&q=3")) == 'the playground cannot read "q=3" in its address'


@pytest.mark.parametrize(
    ("op", "framework", "ins", "outs", "groups"),
    mostly_slow(
        [
            ("conv2d", "tensorflow", 4, 4, 3),
            ("conv2d", "tensorflow", 1, 1, 2),
            ("transpose", "tensorflow", 6, 6, 4),
            ("conv2d", "torch", 5, 10, 2),
        ],
        ("conv2d", "tensorflow", 4, 4, 3),
    ),
)
def test_groups_that_do_not_divide_the_channels_are_refused(at, op, framework, ins, outs, groups):
    """The groups are the ratio of two shapes in TensorFlow: without the check, others than the field's were computed."""
    page = at("#conv2d&n=5&k=3&s=1&p=valid")
    for name, value in {"op": op, "as": framework, "c": ins, "o": outs, "g": groups}.items():
        set_field(page, name, str(value))
    assert problem(page) == f"groups must divide channels in ({ins}) and channels out ({outs}); got {groups}"
    set_field(page, "g", "1")
    assert problem(page) == ""


# what every object of JavaScript has by inheritance is no parameter, no framework and no preset
INHERITED = ["toString=1", "constructor=1", "__proto__=1", "as=constructor", "as=__proto__", "x=constructor"]
INHERITED += ["w=toString", "p=valueOf", "show=constructor,1", "on=constructor,1,1"]


@pytest.mark.parametrize(
    "hash_",
    ["#conv2d&n=0", "#conv2d&k=x", "#nonsense", "#conv2d&q=3", "#conv2d&p=%E0%A4%A", "#conv2d&x=1,two", "#x="]
    + [f"#conv2d&{part}" for part in INHERITED],
)
def test_an_address_that_is_not_legal_is_said(at, hash_):
    page = at(hash_)
    assert problem(page)
    assert page.look()["grids"]


def test_a_number_typed_into_a_cell(at):
    page = at("#conv2d&n=3&k=2&s=1&p=valid")
    page.run(
        """const cell = document.querySelector(".stage .grid [data-row='1'][data-col='1']");
        cell.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
        const input = cell.querySelector("input"); input.value = "-7.5";
        input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));"""
    )
    x, w, y = as_nhwc(page)
    assert x[0, 1, 1, 0] == -7.5
    assert (y == tc.conv2d(x, w)[0, :, :, 0]).all()
    assert "-7.5" in address(page)
    again = at(address(page))
    assert as_nhwc(again)[0][0, 1, 1, 0] == -7.5


def test_a_space_in_a_text_is_a_space(at):
    page = at()
    page.open("numbers")
    page.all(".arrays textarea")[0].send_keys("1 2")
    assert "1 2" in page.run("return document.querySelector('.arrays textarea').value")
    assert page.all(".play")[0].text.endswith("play")


def test_the_focus_stays_in_the_grid_whose_number_was_typed(at):
    page = at("#conv2d&n=3&k=2&s=1&p=valid")
    page.run("document.querySelector('.stage .grid [role=grid]').focus()")
    page.press("\ue015", "\ue007")  # down, Enter
    page.press("9", "\ue007")
    assert as_nhwc(page)[0][0, 1, 0, 0] == 9
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "input"


def give(page, side, path):
    page.open("numbers")
    page.all(".arrays input[type=file]")[side].send_keys(str(path))
    page.run("return new Promise((done) => setTimeout(done, 300))")


def test_arrays_come_in_as_npy_and_go_out_as_values(at, tmp_path):
    x = np.random.default_rng(1).integers(-9, 9, (4, 6)).astype("float64")
    w = np.random.default_rng(2).integers(-9, 9, (2, 3, 1, 2)).astype("int32")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", w)
    page = at("#conv2d&n=3&k=3&s=1&p=same")
    give(page, 0, tmp_path / "x.npy")
    give(page, 1, tmp_path / "w.npy")
    assert "input [1, 4, 6, 1], filters [2, 3, 1, 2]" in heading(page)
    want = tc.conv2d(x.astype("float32")[None, :, :, None], w.astype("float32"), 1, "SAME")
    assert (plane(page.look(), 2) == want[0, :, :, 0]).all()
    page.open("numbers")
    written = page.run("return document.querySelector('.arrays textarea').value")
    assert (np.array([line.split(",") for line in written.split("\n")], "float64") == x).all()


def test_an_image_becomes_three_channels(at, tmp_path):
    image = pytest.importorskip("PIL.Image")
    colours = np.random.default_rng(3).integers(0, 256, (5, 6, 3)).astype("uint8")
    image.fromarray(colours).save(tmp_path / "picture.png")
    page = at("#conv2d&n=3&k=1&s=1&p=valid")
    give(page, 0, tmp_path / "picture.png")
    assert "input [1, 5, 6, 3]" in heading(page)
    assert (plane(page.look(), 0) == colours[:, :, 0]).all()


@pytest.mark.parametrize("name", ["x.npy", "x.csv"])
def test_a_file_that_is_no_array_is_said(at, tmp_path, name):
    (tmp_path / name).write_text("not,numbers\n1")
    page = at()
    give(page, 0, tmp_path / name)
    assert name in problem(page)


def test_a_file_of_an_inherited_type_is_said(at, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 3), "float64"))
    data = (tmp_path / "x.npy").read_bytes().replace(b"'<f8'", b"'valueOf'").replace(b"    \n", b"\n")
    (tmp_path / "x.npy").write_bytes(data)
    page = at()
    give(page, 0, tmp_path / "x.npy")
    assert "must be of type <f4, <f8" in problem(page)


def test_random_choices_show_what_python_computes(at):
    """After any sequence of choices: no error, and the picture is of the call in the heading."""
    rng = random.Random(5)
    page = at("#conv2d&n=6&k=3&s=1&p=same")
    choices = {
        "op": ["conv2d", "transpose"],
        "as": ["tensorflow", "torch", "jax", "onnx", "keras"],
        "n": ["1", "4", "7x5"],
        "k": ["1", "2", "3", "4x2"],
        "s": ["1", "2", "3,1"],
        "d": ["1", "2"],
        "p": ["same", "valid", "same_lower", "1", "0,2", "-1,0,2,1"],
    }
    shown = 0
    for _ in range(16):
        name = rng.choice(list(choices))
        page.run("location.hash = arguments[0]", changed(address(page), name, rng.choice(choices[name])))
        page.run("return new Promise((done) => setTimeout(done, 20))")
        if problem(page):
            continue
        state = dict(part.split("=") for part in address(page)[1:].split("&")[1:])
        op = tc.conv2d_transpose if address(page).startswith("#transpose") else tc.conv2d
        if state.get("as", "tensorflow") != "tensorflow":
            continue
        x, w, y = as_nhwc(page)
        words = {
            "strides": numbers(state["s"]),
            "padding": padding(state["p"]),
            "dilations": numbers(state.get("d", "1")),
        }
        assert (y == op(x, w, **words)[0, :, :, 0]).all(), address(page)
        shown += 1
    assert shown > 3


def changed(hash_, name, value):
    op, *parts = hash_[1:].split("&")
    if name == "op":
        return "#" + "&".join([value, *parts])
    return "#" + "&".join(
        [op, *(p for p in parts if not p.startswith((f"{name}=", "at="))), f"{name}={value}"]
    )


def numbers(text):
    return tuple(map(int, text.split(",")))


def padding(text):
    if not text.lstrip("-")[0].isdigit():
        return text.upper()
    found = numbers(text)
    return (found[:2], found[2:]) if len(found) == 4 else found * 2 if len(found) == 1 else found


def test_a_notebook_shows_it_in_a_frame(driver, tmp_path):
    """A frame has no address of its own; the choices work all the same."""
    (tmp_path / "host.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{tc.playground()._repr_html_()}")
    page = Page(driver, tmp_path / "host.html")
    driver.switch_to.frame(0)
    try:
        set_field(page, "s", "1")
        assert "strides" not in heading(page)
    finally:
        driver.switch_to.default_content()
    assert page.complaints() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(at, width):
    page = at("#conv2d&n=7&k=3&s=2&p=same&c=2&o=2", width=width)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_products_stand_beside_the_windows(at):
    page = at(width=1280, height=800)
    box = "const {top, bottom, left, right} = document.querySelector(arguments[0]).getBoundingClientRect(); return {top, bottom, left, right}"
    stage, products = (page.run(box, selector) for selector in (".stage", ".products"))
    assert products["left"] > stage["right"]
    assert products["bottom"] <= 800


def test_the_command_writes_it(tmp_path, capsys):
    assert main(["explore", "--playground", "-o", str(tmp_path / "page.html")]) == 0
    assert Path(tmp_path / "page.html").read_text(encoding="utf-8") == tc.playground().html()
    assert main(["explore", "conv2d", "--playground"]) == 2
    assert "takes no call" in capsys.readouterr().err


@pytest.mark.parametrize("op", ["max_pool", "avg_pool"])
def test_a_pool_shows_what_python_computes(at, op):
    """The heading is a call that Python runs, and the picture has its numbers."""
    page = at(f"#{op}&n=7&k=3&s=2&p=same")
    rng = random.Random(op)
    for _ in range(14):
        flags = [f"{flag}=1" for flag in ("ceil", "counted") if rng.random() < 0.6]
        sizes = [
            f"n={rng.choice(['7', '6x8', '5'])}",
            f"k={rng.choice(['2', '3', '3x2'])}",
            f"s={rng.choice('123')}",
        ]
        sizes += [
            f"p={rng.choice(['same', 'valid', 'same_lower', '1', '0,1,1,0'])}",
            f"d={rng.choice('112')}",
            "c=2",
        ]
        page.run("location.hash = arguments[0]", "#" + "&".join([op, *sizes, *flags]))
        page.run("return new Promise((done) => setTimeout(done, 30))")
        if problem(page):
            assert "needs at least" in problem(page)
            continue
        text = heading(page)
        call = re.sub(r"(input|X) \[.*?\]", "image", text)
        seen = page.look()
        x, y = plane(seen, 0), plane(seen, 2)
        image = np.stack([x, x])[None]
        image = image.transpose(0, 2, 3, 1) if "tc.avg" in call or "tc.max" in call else image
        want = eval(call, {"tc": tc, "image": image})
        want = want[0, :, :, 0] if "tc.avg" in call or "tc.max" in call else want[0, 0]
        shown = np.float32([float(f"{value:.7g}") for value in want.ravel()])  # labels have seven digits
        assert (y.ravel() == shown).all(), (address(page), text)


def test_a_pools_padding_flags_and_sentences(at):
    page = at("#avg_pool&n=6&k=3&s=2&p=1&counted=1&ceil=1&x=ones&at=0,0")
    assert "count_include_pad=1" in heading(page)
    assert "ceil_mode=1" in heading(page)
    text = page.run("return document.body.textContent")
    assert "4 / 9 = 0.4444" in text
    assert "padding counts in the divisor" in text
    assert "The sum of 4 cells; 5 taps fall into the padding" in text
    assert "tc.translate(tc.dialects.onnx.average_pool, [1, 1, 6, 6], kernel_shape=[3, 3]" in text
    assert not page.run("return document.querySelector('.call [name=o], .call [name=as]')")
    set_field(page, "counted", "0")
    assert "4 / 4 = 1; padding does not count" in page.run("return document.body.textContent")
    set_field(page, "op", "max_pool")
    assert address(page).startswith("#max_pool")
    assert "largest so far" in page.run("return document.body.textContent")
    assert "the largest: 1" in page.run("return document.body.textContent")
    page = at("#max_pool&n=6&k=3&s=2&p=3")
    assert "padding of a pool must be from 0 to 2" in problem(page)
