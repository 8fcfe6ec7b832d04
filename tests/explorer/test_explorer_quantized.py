"""The explorer of a quantized call: the page's law against `explain`, cell by cell, and what the page shows."""

import json

import numpy as np
import pytest
from browser import needs_browser
from node import answers, needs_node
from quantized import drawn

import teachconv as tc
from teachconv.explorer.document import Document
from teachconv.explorer.packing import dumps
from teachconv.explorer.page import MODULES
from teachconv.explorer.variants import Variants
from teachconv.quantized.calls import call_of
from teachconv.quantized.schemes import SCHEMES

# the steps of every cell of the base, without the result that Python computed, and the values of every variant
_CELLS = """
const plain = (number) => (typeof number === "bigint" ? String(number) : number);
const cellsOf = (view) => {
  const [rows, cols] = view.drawn(view.doc.result).map(inside);
  return [...view.planes(view.doc.result)].flatMap((plane) => rows.flatMap((r) => cols.map((q) => [0, r, q, plane])));
};
const cells = (text, most) => {
  const { call } = unpacked(JSON.parse(text));
  const view = new View(call, call.base);
  const all = cellsOf(view);
  const every = Math.ceil(all.length / most);
  return all.filter((_, i) => i % every === 0).map((cell) => {
    const { list, steps, total } = view.taps(cell);
    const taps = list.map((tap) => [tap.outside ? "0" : plain(tap.value), plain(tap.weight), plain(tap.running)]);
    return { cell, taps, value: plain(view.value(cell)), total: plain(total), painted: view.painted(cell), steps: steps?.map(([what, number]) => [what, plain(number)]) };
  });
};
const variants = (text) => {
  const { call, variants } = unpacked(JSON.parse(text));
  return Object.fromEntries(Object.entries(variants.table).filter(([, { error }]) => !error).map(([key, variant]) => {
    const view = new View(call, variant);
    return [key, cellsOf(view).map((cell) => [cell, plain(view.value(cell))])];
  }));
};
const written = (numbers) => numbers.map(exactly);
"""


@pytest.fixture(scope="module")
def page():
    """A function that calls a function of the page."""
    return answers(MODULES, _CELLS)


def text_of(op, **given):
    return dumps({"call": Document(op, (), given, None).base(), "variants": {"table": {}}})


def like(scheme):
    """The scheme whose drawn calls this one computes, too."""
    return {"tflite_single": "tflite", "float": "torch"}.get(scheme, scheme)


@needs_node
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_has_the_steps_of_explain_in_every_cell(page, scheme):
    seen = 0
    for seed in range(400, 405):
        name, given = drawn.convolution(seed, like(scheme))
        given["x"], op = given["x"][:1], getattr(tc.quantized, name)
        given["scheme"] = scheme
        y = op(**given)
        for shown in page("cells", text_of(op, **given), 40):
            n, row, col, plane = shown["cell"]
            slice_, channel = divmod(plane, y.shape[-1])
            cell = {3: (n, col, channel), 4: (n, row, col, channel), 5: (n, slice_, row, col, channel)}[
                y.ndim
            ]
            found = tc.quantized.explain(op, at=cell, **given)
            assert int(shown["value"]) == int(shown["total"]) == shown["painted"] == y[cell], (seed, cell)
            assert [what for what, _ in shown["steps"]] == [what for what, _ in found.steps]
            numbers = [float(number) for _, number in shown["steps"]]
            assert numbers == [float(number) for _, number in found.steps], (seed, cell)
            taps = [[int(number) for number in tap] for tap in shown["taps"]]
            assert taps == [[tap.x_less, tap.w_less, tap.running_sum] for tap in found.taps]
            seen += 1
    assert seen > 100


@needs_node
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_has_the_steps_of_explain_in_the_windows_of_pools(page, scheme):
    for seed in range(8):
        for name in ("avg_pool", "max_pool"):
            given, op = drawn.pool(seed, like(scheme), name), getattr(tc.quantized, name)
            if name == "avg_pool":
                given["scheme"] = scheme
            y = op(**given)
            for shown in page("cells", text_of(op, **given), 12):
                cell = tuple(shown["cell"])
                found = tc.explain(op, at=cell, **given)
                assert int(shown["value"]) == int(shown["total"]) == y[cell] == found.value
                steps = shown.get("steps") or [["maximum", shown["total"]]]
                assert [what for what, _ in steps] == [what for what, _ in found.steps]
                for (_, ours), (_, theirs) in zip(steps, found.steps, strict=True):
                    assert float(ours) in (float(theirs), float(str(theirs))), (seed, cell)


@needs_node
def test_the_rescaling_of_2000_sums_is_that_of_the_scheme(page):
    """Sums up to the ends of the accumulator, and multipliers that are powers of two and others, below and above 1."""
    rng = np.random.default_rng(0)
    for scheme, law in SCHEMES.items():
        for x_type, w_type in law.types:
            sums = rng.integers(-(2**31), 2**31, 250) >> rng.integers(0, 31, 250)
            bias = np.float32(rng.normal(size=250) * 100) if law.bias_types == ("float32",) else None
            scales = 2.0 ** rng.integers(-20, 2, 250) * rng.choice([1, 0.7531], 250)
            call = call_of(
                "conv2d",
                np.ones((1, 1, 1, 1), x_type),
                np.ones((1, 1, 1, 250), w_type),
                bias,
                x_scale=1.0,
                x_zero_point=0,
                w_scale=scales,
                w_zero_point=0,
                y_scale=1.0,
                y_zero_point=0 if x_type == "int16" else 5,
                scheme=scheme,
                strides=1,
                padding="VALID",
                data_format="NHWC",
                dilations=None,
                activation=None,
                dtype=None,
            )
            facts = Document(tc.quantized.conv2d, *_again(call, bias, scales, scheme), None).base()[
                "quantized"
            ]
            asked = """(quantized, sums) => {
                const view = { doc: { quantized, result: "output" }, split: (side, plane) => [0, plane] };
                return sums.map((sum, i) => Number(rescaled(view, i, BigInt(sum)).at(-1)[1]));
            }"""
            want = np.array([call.rescaled(np.full(250, one))[i] for i, one in enumerate(sums)])
            assert page(asked, json.loads(dumps(facts)), sums.tolist()) == want.tolist(), (scheme, x_type)


def _again(call, bias, scales, scheme):
    """The arguments of that call, for `tc.explore`."""
    x, w = call.stored
    facts = {
        "x_scale": 1.0,
        "x_zero_point": 0,
        "w_scale": scales,
        "y_scale": 1.0,
        "y_zero_point": call.y_zero_point,
    }
    return (x, w, bias), facts | {"scheme": scheme}


X = np.int8([[3, 7, -2, 5], [0, -4, 9, 1], [6, 2, -8, 4], [1, 5, 3, -6]]).reshape(1, 4, 4, 1)
W = np.int8([[1, -2, 0], [3, 4, -1], [2, -3, 5]]).reshape(3, 3, 1, 1)
FACTS = {
    "x_scale": 0.5,
    "x_zero_point": 3,
    "w_scale": [0.25],
    "y_scale": 1.5,
    "y_zero_point": -2,
    "scheme": "tflite",
}


@needs_node
@pytest.mark.parametrize("op", ["conv2d", "conv2d_transpose", "depthwise_conv2d", "conv1d", "conv3d"])
def test_variants_are_summed_and_rescaled_on_the_page(page, op):
    """Also of other filter sizes, which are padded with the zero point of w."""
    function = getattr(tc.quantized, op)
    given = FACTS | {"x": X, "w": W, "scheme": "torch", "w_zero_point": [2], "padding": "SAME"}
    given["y_zero_point"] = 20
    given["x"] = given["x"].astype("int16").astype("uint8") // 2
    if op == "conv1d":
        given |= {"x": given["x"][:, 0], "w": W[0]}
    if op == "conv3d":
        given |= {"x": given["x"][..., None], "w": W[..., None]}
    explorer = tc.explore(function, budget=400_000, **given)
    names = [control["name"] for control in explorer.data()["variants"]["controls"]]
    seen = page("variants", dumps(explorer.data()))
    assert len(seen) > 15
    variants = Variants(explorer._document)
    for key, values in list(seen.items())[:40]:
        arguments = variants._resolve(tuple(map(int, key.split(","))))[-1]
        want = function(**arguments).ravel().tolist()
        planes = np.array([int(value) for _, value in values]).reshape(-1)
        assert sorted(planes.tolist()) == sorted(want), (names, key)


@needs_node
def test_numbers_have_the_digits_that_say_which_they_are(page):
    numbers = [0.1, float(np.float32(0.1)), float(np.float32(1) / 3), 1 / 3, 2.0**-40, 1e-30, 5.0, -0.0078125]
    texts = page("written", numbers)
    assert texts[:2] == ["0.1", "0.1"]
    for number, text in zip(numbers, texts, strict=True):
        assert np.float32(text) == np.float32(number)
    assert len(texts[2]) < len(texts[3])


def test_beside_another_scheme_the_cells_that_differ_are_named():
    x, w = np.arange(-60, 40, dtype="int8").reshape(1, 10, 10, 1), np.int8([[[[1]]]])
    facts = FACTS | {"x_zero_point": 0, "y_scale": 0.25, "w_scale": 0.25}
    data = tc.explore(tc.quantized.conv2d, x, w, **facts).beside(scheme="onnx").data()
    assert data["beside"]["passed"] is False
    assert "as by scheme 'onnx'" in data["beside"]["diagnosis"]
    ours = tc.quantized.conv2d(x, w, **facts)
    data = tc.explore(tc.quantized.conv2d, x, w, **facts).beside(ours, name="mine").data()
    assert data["beside"]["passed"] is True


def test_what_a_page_of_a_quantized_call_refuses(tmp_path):
    explorer = tc.explore(tc.quantized.conv2d, X, W, **FACTS)
    assert repr(explorer).startswith(
        "Explorer(tc.quantized.conv2d(x [1, 4, 4, 1], w [3, 3, 1, 1], x_scale=0.5, "
    )
    of_numpy = repr(tc.explore(tc.quantized.conv2d, X, W, **FACTS | {"x_scale": np.float32(0.1)}))
    assert "x_scale=0.1, x_zero_point=3" in of_numpy
    with pytest.raises(ValueError, match="path must end in .html: of a quantized call there is no static"):
        explorer.save(tmp_path / "page.svg")
    with pytest.raises(ValueError, match="path must end in .html: of a pool there is no static"):
        tc.explore(tc.quantized.max_pool, X, 2, 2, "VALID").save(tmp_path / "page.svg")
    with pytest.raises(IndexError, match="at must be inside shape"):
        tc.explore(tc.quantized.conv2d, X, W, at=(0, 4, 0, 0), **FACTS)
    empty = tc.explore(tc.quantized.conv2d, X[:0], W, **FACTS)
    assert empty.data()["call"]["empty"]


@needs_browser
def test_a_page_shows_zero_points_products_and_steps(show):
    page = show(
        tc.explore(tc.quantized.conv2d, X, W, np.int32([9]), padding="SAME", at=(0, 0, 0, 0), **FACTS)
    )
    look = page.look()
    source = look["grids"][0]["cells"]
    assert {cell["text"] for cell in source if "padding" in cell["classes"]} == {"3"}
    y = tc.quantized.conv2d(X, W, np.int32([9]), padding="SAME", **FACTS)
    assert look["value"] == str(y[0, 0, 0, 0])
    assert "(7 − 3) × (-1 − 0) = -4" in look["products"]
    found = tc.quantized.explain(
        tc.quantized.conv2d, X, W, np.int32([9]), padding="SAME", at=(0, 0, 0, 0), **FACTS
    )
    steps = page.driver.execute_script(
        "return [...document.querySelectorAll('.rescaling li')].map((e) => [...e.children].map((c) => c.textContent))"
    )
    assert steps == [[what, str(number)] for what, number in found.steps]
    rows = [row[2:] for row in look["rows"]]
    assert rows == [
        ["padding" if tap.in_padding else str(tap.x), str(tap.w), str(tap.x_less), str(tap.w_less)]
        + ["" if tap.in_padding else str(tap.x_less * tap.w_less), str(tap.running_sum)]
        for tap in found.taps
    ]
    multiplier = page.driver.execute_script("return document.querySelector('.rescaling p').textContent")
    assert f"as an integer {found.rescaling.multiplier} / 2**31 * 2**{found.rescaling.shift}" in multiplier
