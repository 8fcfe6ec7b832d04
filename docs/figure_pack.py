"""The figure pack: thirty loops of what a convolution does, as SVG and GIF: python docs/figure_pack.py FOLDER

`make figures` writes all of them to docs/_build/figures. What has not changed is not drawn again: there is a
hash of each film. The build of the docs writes every SVG, and the GIFs of `FIRST`. Every number is one
that the library computed.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from loops import LONGEST, Cell, Film, Frame, Plane, to_gif, to_svg

import teachconv as tc
from teachconv.core.winograd import FORMS
from teachconv.support.tables import count

LOOPS: dict[str, "Loop"] = {}
FIRST = ("stride_2_same", "transposed_stride_2", "same_beside_padding_1")  # those of the README
CREDIT = "Figure: teachconv, Apache-2.0"


class Loop(NamedTuple):
    """A title, and the function that makes the film, whose docstring is the title."""

    title: str
    make: Callable[[], Film]


def loop(make: Callable[[], Film]) -> Callable[[], Film]:
    """Add a loop."""
    LOOPS[make.__name__] = Loop((make.__doc__ or "").rstrip("."), make)
    return make


def integers(*shape):
    """Return seeded whole numbers from -3 to 4."""
    return np.random.default_rng(list(shape)).integers(-3, 5, shape).astype("float32")


# ---------------------------------------------------------------------------------------------
# Films of any call
# ---------------------------------------------------------------------------------------------


def place(cell: Any, filters: bool = False) -> Cell:
    """Return row and column of a cell; a sequence is one row."""
    spatial = cell[:-2] if filters else cell[1:-1]
    return tuple((0, *spatial)[-2:])  # type: ignore[return-value]


def plane(array: np.ndarray, filters: bool = False) -> np.ndarray:
    """Return the first plane of an array."""
    return np.atleast_2d(array[..., 0, 0] if filters else array[0, ..., 0])


def reach(indices: Iterator[int], size: int) -> range:
    """Return the indices to draw: those inside, and those that any tap meets."""
    met = [*indices]
    return range(min(0, *met), max(size - 1, *met) + 1)


def written(value: float) -> str:
    """Return a number as text."""
    return f"{value + 0.0:.4g}".replace("-", "−")


def signed(value: float) -> str:
    """Return a number as it is written in a product."""
    return f"({written(value)})" if value < 0 else written(value)


def pace(cells: int, spent: int, most: int = 500) -> int:
    """Return the milliseconds of each cell, so that a loop is not too long."""
    return min(most, (LONGEST - spent - 900) // cells)


def sliding(op: Any, first: Any, second: Any, *args: Any, words=("input", "filter", "output"), **kwargs: Any):
    """Return the film of all cells of a call's result, of which the first inner one is summed tap by tap."""
    result = op(first, second, *args, **kwargs)
    gradient = op is tc.conv2d_backprop_filter
    back = gradient or op is tc.conv2d_backprop_input
    arrays = {"input": first, "filter": second, "back": args[0] if back else None}
    numbers = plane(result, gradient)
    cells = list(np.ndindex(numbers.shape))

    def explained(cell: Cell) -> Any:
        inner = cell[-1:] if result.ndim == 3 else cell
        return tc.explain(
            op, first, second, *args, at=(*inner, 0, 0) if gradient else (0, *inner, 0), **kwargs
        )

    found = {cell: explained(cell) for cell in cells}

    def taps(cell: Cell) -> list[tuple[Cell, Cell, Any]]:
        """The place of the first factor, that of the second one, and the tap."""
        return [(place(t.input_index), *second_of(t), t) for t in found[cell].taps]

    def second_of(tap: Any) -> tuple[Cell]:
        return (place(tap.out_backprop_index) if gradient else place(tap.filter_index, True),)

    source = plane(arrays["back"] if op is tc.conv2d_backprop_input else first)
    operand = plane(arrays["back"]) if gradient else plane(second, True)
    drawn = [
        reach((tap[0][axis] for cell in cells for tap in taps(cell)), source.shape[axis]) for axis in (0, 1)
    ]
    planes = [
        [
            Plane(words[0], source, *drawn),
            Plane(words[1], operand, before="×"),
            Plane(words[2], numbers, fills=True, before="="),
        ]
    ]
    inside = {cell: sum(not tap.in_padding for *_, tap in taps(cell)) for cell in cells}
    inner = max(cells, key=lambda cell: inside[cell])

    def marks(cell: Cell, last: int | None = None) -> dict[int, dict[Cell, str]]:
        met = taps(cell)
        rings = {0: {a: "outside" if tap.in_padding else "window" for a, _, tap in met}}
        rings |= {1: {b: "factor" for _, b, tap in met if not tap.in_padding}, 2: {cell: "current"}}
        if last is not None:
            rings[0][met[last][0]] = rings[1][met[last][1]] = "tap"
        return rings

    frames, known = [], {}
    slow = 200 if len(taps(inner)) > 9 else 260
    for number, (_, _, tap) in enumerate(taps(inner)):
        factors = [v for v in (tap.input_value, tap.filter_value, tap.out_backprop_value) if v is not None]
        product = "padding: skipped" if tap.in_padding else " · ".join(map(signed, factors))
        text = f"{product}   so far {written(tap.running_sum)}"
        frames.append(Frame(slow, text, marks(inner, number), {2: dict(known)}))
    known[inner] = float(found[inner].value)
    spent = slow * len(frames)
    name = words[2]
    for cell in cells:
        known[cell] = float(numbers[cell])
        at = cell[-1:] if result.ndim == 3 else cell
        text = f"{name}[{', '.join(map(str, at))}] = {written(numbers[cell])}"
        frames.append(Frame(pace(len(cells), spent), text, marks(cell), {2: dict(known)}))
    return Film(planes, [*frames, Frame(900, "", {}, {2: dict(known)})])


def stamping(x: np.ndarray, w: np.ndarray, *args: Any, **kwargs: Any) -> Film:
    """Return the film of a transposed convolution: each input cell adds the filter, times its value."""
    result = tc.conv2d_transpose(x, w, *args, **kwargs)
    numbers, known, frames = plane(result), {}, []
    cells = list(np.ndindex(x.shape[1:3]))
    for cell in cells:
        stamped = tc.explain(tc.conv2d_transpose, x, w, *args, at_input=(0, *cell, 0), **kwargs)
        met = {place(t.output_index): t.product for t in stamped.taps if t.output_index is not None}
        for target, product in met.items():
            known[target] = known.get(target, 0) + product
        text = f"{written(x[0, *cell, 0])} × the filter is added"
        rings = {0: {cell: "current"}, 2: dict.fromkeys(met, "fed")}
        frames.append(Frame(pace(len(cells), 0, 900), text, rings, {2: dict(known)}))
    assert all(known.get(cell, 0) == numbers[cell] for cell in np.ndindex(numbers.shape))
    planes = [
        [
            Plane("input", plane(x)),
            Plane("filter", plane(w, True), before="×"),
            Plane("output", numbers, fills=True, before="→"),
        ]
    ]
    return Film(planes, [*frames, Frame(900, "overlaps add up", {}, {2: dict(known)})])


def rooms(x: np.ndarray, w: np.ndarray, words: Callable[[int], str], op: Any = tc.conv2d, *args: Any) -> Film:
    """Return the film of a call with several channels: which of them each output channel reads."""
    result = op(x, w, *args)
    ins, outs = x.shape[3], result.shape[3]
    planes = [
        [Plane(f"in {c}", x[0, :, :, c]) for c in range(ins)],
        [Plane(f"out {o}", result[0, :, :, o], fills=True) for o in range(outs)],
    ]
    known: dict[int, dict[Cell, float]] = {ins + o: {} for o in range(outs)}
    frames, cells = [], list(np.ndindex(result.shape[1:3]))
    for o in range(outs):
        for cell in cells:
            marks: dict[int, dict[Cell, str]] = {ins + o: {cell: "current"}}
            for tap in tc.explain(op, x, w, *args, at=(0, *cell, o)).taps:
                marks.setdefault(tap.input_index[-1], {})[place(tap.input_index)] = "window"
            known[ins + o][cell] = float(result[0, *cell, o])
            shown = {number: dict(values) for number, values in known.items()}
            frames.append(Frame(pace(outs * len(cells), 0, 300), words(o), marks, shown))
    return Film(planes, [*frames, Frame(900, "", {}, {n: dict(v) for n, v in known.items()})])


def pool(op: Any, *args: Any, name: str) -> Film:
    """Return the film of a pool."""
    x = np.abs(integers(1, 6, 6, 1))
    result = plane(op(x, *args))
    cells = list(np.ndindex(result.shape))
    found = {cell: tc.explain(op, x, *args, at=(0, *cell, 0)) for cell in cells}
    met = {cell: [place(at) for at, _ in found[cell].taps] for cell in cells}
    drawn = [reach((at[axis] for cell in cells for at in met[cell]), 6) for axis in (0, 1)]
    planes = [[Plane("input", plane(x), *drawn), Plane("output", result, fills=True, before="→")]]
    frames, known = [], {}
    for cell in cells:
        known[cell] = float(result[cell])
        inside = [at for at in met[cell] if min(at) >= 0 and max(at) < 6]
        rings = {at: "window" if at in inside else "outside" for at in met[cell]}
        if name == "max":
            rings |= {at: "tap" for at in inside if plane(x)[at] == result[cell]}
        text = f"the {name} of {len(inside)} cells is {written(float(result[cell]))}"
        frames.append(
            Frame(pace(len(cells), 0, 700), text, {0: rings, 1: {cell: "current"}}, {1: dict(known)})
        )
    return Film(planes, [*frames, Frame(900, "", {}, {1: dict(known)})])


# ---------------------------------------------------------------------------------------------
# The cases of "A guide to convolution arithmetic" (Dumoulin and Visin)
# ---------------------------------------------------------------------------------------------


def forward(n: int, k: int, *args: Any, **kwargs: Any) -> Film:
    """Return the film of a convolution of n × n cells with k × k weights."""
    return sliding(tc.conv2d, integers(1, n, n, 1), integers(k, k, 1, 1), *args, **kwargs)


def transposed(n: int, k: int, stride: int = 1, padding: Any = 0, more: int = 0) -> Film:
    """Return the film of the transposed convolution of n × n cells with k × k weights."""
    words = {"output_padding": more} if more else {}
    return stamping(integers(1, n, n, 1), integers(k, k, 1, 1), None, stride, padding, **words)


@loop
def no_padding() -> Film:
    """No padding, stride 1."""
    return forward(4, 3)


@loop
def arbitrary_padding() -> Film:
    """Arbitrary padding: 2 around a filter of 4."""
    return forward(5, 4, 1, 2)


@loop
def half_padding() -> Film:
    """Half padding: SAME at stride 1."""
    return forward(5, 3, 1, "SAME")


@loop
def full_padding() -> Film:
    """Full padding: every overlap."""
    return forward(4, 3, 1, 2)


@loop
def stride_2() -> Film:
    """No padding, stride 2."""
    return forward(5, 3, 2)


@loop
def padding_1_stride_2() -> Film:
    """Padding 1, stride 2."""
    return forward(5, 3, 2, 1)


@loop
def padding_1_stride_2_odd() -> Film:
    """Padding 1, stride 2, and a row that no window reads."""
    return forward(6, 3, 2, 1)


@loop
def dilation_2() -> Film:
    """Dilation 2: the holes between the taps."""
    return forward(7, 3, dilations=2)


@loop
def transposed_no_padding() -> Film:
    """Transposed, no padding, stride 1."""
    return transposed(2, 3)


@loop
def transposed_arbitrary_padding() -> Film:
    """Transposed, padding 2, filter 4."""
    return transposed(4, 4, 1, 2)


@loop
def transposed_half_padding() -> Film:
    """Transposed, half padding."""
    return transposed(4, 3, 1, 1)


@loop
def transposed_full_padding() -> Film:
    """Transposed, full padding."""
    return transposed(5, 3, 1, 2)


@loop
def transposed_stride_2() -> Film:
    """Transposed, stride 2: stamps that overlap."""
    return transposed(3, 3, 2)


@loop
def transposed_padding_1_stride_2() -> Film:
    """Transposed, padding 1, stride 2."""
    return transposed(3, 3, 2, 1)


@loop
def transposed_output_padding() -> Film:
    """Transposed, padding 1, stride 2, output_padding 1."""
    return transposed(3, 3, 2, 1, 1)


# ---------------------------------------------------------------------------------------------
# Padding and frameworks
# ---------------------------------------------------------------------------------------------


@loop
def stride_2_same() -> Film:
    """SAME at stride 2 on 6 rows: the odd row of padding is below."""
    return forward(6, 3, 2, "SAME")


@loop
def same_at_7() -> Film:
    """SAME at stride 2 on 7 rows: 4 rows."""
    return forward(7, 3, 2, "SAME")


@loop
def same_at_8() -> Film:
    """SAME at stride 2 on 8 rows: 4 rows, too."""
    return forward(8, 3, 2, "SAME")


@loop
def same_beside_padding_1() -> Film:
    """TensorFlow's SAME beside PyTorch's padding=1."""
    x, w = integers(1, 6, 6, 1), integers(3, 3, 1, 1)
    results = [plane(tc.conv2d(x, w, 2, padding)) for padding in ("SAME", 1)]
    frames: list[Frame] = []
    known: list[dict[Cell, float]] = [{}, {}]
    cells = list(np.ndindex(results[0].shape))
    for cell in cells:
        marks: dict[int, dict[Cell, str]] = {0: {}, 1: {cell: "current"}, 2: {cell: "other"}}
        for padding, ring in ((1, "other"), ("SAME", "window")):
            for tap in tc.explain(tc.conv2d, x, w, 2, padding, at=(0, *cell, 0)).taps:
                marks[0][place(tap.input_index)] = ring
        for values, result in zip(known, results, strict=True):
            values[cell] = float(result[cell])
        text = " and ".join(written(result[cell]) for result in results)
        frames.append(Frame(750, text, marks, {1: dict(known[0]), 2: dict(known[1])}))
    planes = [
        [
            Plane("input", plane(x), range(-1, 7), range(-1, 7)),
            Plane("SAME", results[0], fills=True, before="→"),
            Plane("padding=1", results[1], fills=True),
        ]
    ]
    differ = int((results[0] != results[1]).sum())
    last = Frame(1200, f"{differ} of {len(cells)} differ", {}, {1: known[0], 2: known[1]})
    return Film(planes, [*frames, last])


@loop
def causal() -> Film:
    """1-D, CAUSAL: nothing of the future is read."""
    return sliding(tc.conv1d, integers(1, 8, 1), integers(3, 1, 1), 1, "CAUSAL")


# ---------------------------------------------------------------------------------------------
# Channels
# ---------------------------------------------------------------------------------------------


@loop
def groups() -> Film:
    """Two groups: nothing passes the wall."""
    return rooms(
        integers(1, 4, 4, 4),
        integers(3, 3, 2, 4),
        lambda o: f"out {o} reads in {2 * (o // 2)} and {2 * (o // 2) + 1}",
    )


@loop
def depthwise() -> Film:
    """Depthwise: each channel has a filter of its own."""
    return rooms(
        integers(1, 4, 4, 4),
        integers(3, 3, 4, 1),
        lambda o: f"out {o} reads in {o} alone",
        tc.depthwise_conv2d,
        1,
        "VALID",
    )


@loop
def one_by_one() -> Film:
    """1 × 1: every pixel, all channels."""
    return rooms(integers(1, 3, 3, 4), integers(1, 1, 4, 3), lambda o: f"out {o} mixes all four")


# ---------------------------------------------------------------------------------------------
# The transposed convolution, four ways; gradients
# ---------------------------------------------------------------------------------------------

SMALL, CROSS = integers(1, 3, 3, 1), integers(3, 3, 1, 1)


@loop
def transposed_gather() -> Film:
    """Transposed, way 2: each output cell gathers."""
    return sliding(tc.conv2d_transpose, SMALL, CROSS, None, 2, "VALID")


@loop
def transposed_zeros() -> Film:
    """Transposed, way 3: zeros inserted, filter flipped, stride 1."""
    stuffed = np.zeros((1, 5, 5, 1), "float32")
    stuffed[:, ::2, ::2] = SMALL
    flipped = CROSS[::-1, ::-1]
    assert (tc.conv2d(stuffed, flipped, 1, 2) == tc.conv2d_transpose(SMALL, CROSS, None, 2, "VALID")).all()
    return sliding(tc.conv2d, stuffed, flipped, 1, 2, words=("with zeros", "flipped", "output"))


def product(matrix: np.ndarray, vector: np.ndarray, names: tuple[str, str, str]) -> Film:
    """Return the film of a matrix product with one column: row by row."""
    result = (matrix @ vector)[:, None]
    frames, known = [], {}
    for row in range(len(matrix)):
        known[row, 0] = float(result[row, 0])
        met = [col for col in range(matrix.shape[1]) if matrix[row, col]]
        marks = {
            0: {(row, col): "factor" for col in met},
            1: {(col, 0): "window" for col in met},
            2: {(row, 0): "current"},
        }
        text = f"row {row}: {count(len(met), 'number')} that {'is' if len(met) == 1 else 'are'} not 0"
        frames.append(Frame(pace(len(matrix), 0), text, marks, {2: dict(known)}))
    planes = [
        [
            Plane(names[0], matrix),
            Plane(names[1], vector[:, None]),
            Plane(names[2], result, fills=True, before="="),
        ]
    ]
    return Film(planes, [*frames, Frame(900, "", {}, {2: known})])


@loop
def transposed_matrix() -> Film:
    """Transposed, way 4: the matrix of the convolution, transposed."""
    y = SMALL[:, :2, :2]
    w = CROSS[:2, :2]
    matrix = tc.conv_matrix(w, tc.conv2d_geometry((1, 4, 4, 1), w.shape, 2)).toarray().T
    assert (matrix @ y.ravel() == tc.conv2d_transpose(y, w, None, 2, "VALID").ravel()).all()
    return product(matrix, y.ravel(), ("Cᵀ", "y", "x"))


@loop
def im2col() -> Film:
    """im2col: each window is a row of a matrix."""
    x, w = integers(1, 4, 4, 1), integers(3, 3, 1, 1)
    windows = [
        [tap.input_value for tap in tc.explain(tc.conv2d, x, w, at=(0, *cell, 0)).taps]
        for cell in np.ndindex(2, 2)
    ]
    patches = np.float32(windows)
    result = plane(tc.conv2d(x, w)).reshape(-1, 1)
    assert (patches @ w.reshape(-1, 1) == result).all()
    frames, rows, known = [], {}, {}
    for number, cell in enumerate(np.ndindex(2, 2)):
        met = [place(tap.input_index) for tap in tc.explain(tc.conv2d, x, w, at=(0, *cell, 0)).taps]
        for i, value in enumerate(patches[number]):
            rows[number, i] = float(value)
            if number == 0:
                marks = {0: dict.fromkeys(met, "window") | {met[i]: "tap"}, 1: {(0, i): "tap"}}
                frames.append(Frame(220, "the window in one row", marks, {1: dict(rows), 3: {}}))
        marks = {0: dict.fromkeys(met, "window"), 1: {(number, i): "window" for i in range(9)}}
        frames.append(Frame(450, "the window in one row", marks, {1: dict(rows), 3: {}}))
    for number in range(4):
        known[number, 0] = float(result[number, 0])
        marks = {
            1: {(number, i): "window" for i in range(9)},
            2: {(i, 0): "factor" for i in range(9)},
            3: {(number, 0): "current"},
        }
        frames.append(Frame(600, "and one matrix product", marks, {1: dict(rows), 3: dict(known)}))
    planes = [
        [Plane("input", plane(x))],
        [
            Plane("patches", patches, fills=True),
            Plane("w", w.reshape(-1, 1), before="×"),
            Plane("y", result, fills=True, before="="),
        ],
    ]
    return Film(planes, [*frames, Frame(900, "", {}, {1: rows, 3: known})])


@loop
def winograd() -> Film:
    """Winograd's tile F(2×2, 3×3): 16 products for 36."""
    x, w = integers(1, 4, 4, 1), integers(3, 3, 1, 1)
    tile = tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0), algorithm="winograd2").tile
    d, g = plane(x), plane(w, True)
    steps = tile.transformed_inputs[0], tile.transformed_filters[0], tile.products, tile.outputs
    u, v, m, y = (array.astype(np.float64) for array in steps)
    A = FORMS["winograd2"][3][2].astype(np.float64)
    assert (y == plane(tc.conv2d(x, w))).all()
    planes = [
        [Plane("tile d", d), Plane("filter g", g)],
        [Plane("Bᵀd B", u, fills=True), Plane("G g Gᵀ", v, fills=True, before="⊙")],
        [Plane("products", m, fills=True, before="="), Plane("Aᵀ… A", y, fills=True, before="→")],
    ]
    filled = [dict(np.ndenumerate(array)) for array in (u, v, m, y)]
    whole = dict.fromkeys(np.ndindex(4, 4), "window")
    small = dict.fromkeys(np.ndindex(3, 3), "factor")
    frames = [
        Frame(900, "a tile of the input, and the filter", {0: whole, 1: small}, {}),
        Frame(900, "only sums and differences", {0: whole, 2: whole}, {2: filled[0]}),
        Frame(
            900,
            "once for each filter",
            {1: small, 3: dict.fromkeys(whole, "factor")},
            {2: filled[0], 3: filled[1]},
        ),
    ]
    products: dict[Cell, float] = {}
    for cell in np.ndindex(4, 4):
        products[cell] = float(m[cell])
        marks = {2: {cell: "tap"}, 3: {cell: "tap"}, 4: {cell: "current"}}
        shown = {2: filled[0], 3: filled[1], 4: dict(products)}
        frames.append(Frame(160, f"product {len(products)} of 16", marks, shown))
    for number, cell in enumerate(np.ndindex(2, 2)):
        part = {at: value for i, (at, value) in enumerate(filled[3].items()) if i <= number}
        used = np.outer(A[cell[0]], A[cell[1]])
        marks = {4: {at: "window" for at in np.ndindex(4, 4) if used[at]}, 5: {cell: "current"}}
        shown = {2: filled[0], 3: filled[1], 4: products, 5: part}
        frames.append(Frame(450, f"y[{cell[0]}, {cell[1]}] = {written(y[cell])}", marks, shown))
    return Film(planes, [*frames, Frame(900, "", {}, {i + 2: each for i, each in enumerate(filled)})])


@loop
def filter_gradient() -> Film:
    """The gradient of the filter: what each weight met."""
    words = ("input", "dy", "gradient")
    return sliding(
        tc.conv2d_backprop_filter, integers(1, 5, 5, 1), (3, 3, 1, 1), integers(1, 3, 3, 1), 1, words=words
    )


@loop
def input_gradient() -> Film:
    """The gradient of the input: back through each window."""
    words = ("dy", "filter", "gradient")
    return sliding(
        tc.conv2d_backprop_input, (1, 4, 4, 1), integers(3, 3, 1, 1), integers(1, 2, 2, 1), 1, words=words
    )


@loop
def max_pooling() -> Film:
    """Max pooling, 2 × 2 at stride 2."""
    return pool(tc.max_pool, 2, 2, "VALID", name="max")


@loop
def average_pooling() -> Film:
    """Average pooling, SAME: padding does not count."""
    return pool(tc.avg_pool, 3, 2, "SAME", name="mean")


# ---------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------


def write(folder: Path, gifs: Any = LOOPS) -> None:
    """Write each loop as SVG, and those of ``gifs`` as GIF; what has not changed is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "figures.json"
    known = json.loads(listing.read_text(encoding="utf-8")) if listing.exists() else {}
    drawing = (Path(__file__).parent / "loops.py").read_bytes()
    made = {}
    for name, (title, make) in LOOPS.items():
        film = make()
        made[name] = hashlib.sha256(drawing + repr((title, film)).encode()).hexdigest()[:16]
        svg, gif = folder / f"{name}.svg", folder / f"{name}.gif"
        same = known.get(name) == made[name]
        if not (same and svg.exists()):
            svg.write_text(to_svg(film, title), encoding="utf-8")
        if name in gifs and not (same and gif.exists()):
            gif.write_bytes(to_gif(film))
        elif not same:
            gif.unlink(missing_ok=True)
    listing.write_text(json.dumps(made, indent=1), encoding="utf-8")


def preview(folder: Path, target: Path) -> None:
    """Write the list of all loops for the page "Take these": each with its files and the lines to paste."""
    items = []
    for name, (title, _) in LOOPS.items():
        image = f'width="320" alt="{escape(title)}">'
        pasted = {
            "Markdown": f"![{title}]({name}.svg)\n{CREDIT}",
            "HTML": f'<figure><img src="{name}.svg" {image}\n<figcaption>{CREDIT}</figcaption></figure>',
            "LaTeX": f"\\begin{{figure}}\n  \\includegraphics[width=8.5cm]{{{name}.pdf}}\n"
            f"  \\caption{{{title}. {CREDIT}.}}\n\\end{{figure}}",
        }
        files = [f"{folder.name}/{name}.{ending}" for ending in ("svg", "gif")]
        links = [
            f'<a href="{file}" download>{Path(file).name}</a>'
            for file in files
            if (folder.parent / file).exists()
        ]
        boxes = [
            f"<details><summary>{how}</summary>"
            f'<div class="highlight"><pre>{escape(text)}</pre></div></details>'
            for how, text in pasted.items()
        ]
        items.append(
            f'<figure class="loop" id="{name}"><img src="{files[0]}" loading="lazy" {image}'
            f"<figcaption><b>{escape(title)}</b><br>{' '.join(links)}</figcaption>{''.join(boxes)}</figure>"
        )
    target.write_text(f'<div class="loops">{"".join(items)}</div>\n', encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
