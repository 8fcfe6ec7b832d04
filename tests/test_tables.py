"""Tables: text and HTML; numbers; and every report's ways to show itself."""

import re
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np
import photo_network
import pytest

import teachconv as tc
from teachconv import graph as tg
from teachconv.data.seeded import make_array
from teachconv.support import tables
from teachconv.support.tables import Table, bar, bars, count, duration, left, number, right, size
from teachconv.truth import bounds
from teachconv.truth.exact import abs_sum

TABLE = Table(
    (*left("name", "what"), *right("time"), *left("note")),
    [
        ("a", "<b> & 'c'", "1 s", ""),
        ("long name", "", "", ""),
        (["several", "lines"], "x", "20 s", "a note that runs on"),
        ("this one has nothing beside it, so it may run on", "", "", ""),
    ],
    "headline",
    ["a line before"],
    ["a line after"],
    marked={1},
)


def test_text():
    assert str(TABLE).split("\n") == [
        "headline",
        "a line before",
        "name     what       time  note",
        "a        <b> & 'c'   1 s",
        "long name",
        "several  x          20 s  a note that runs on",
        "lines",
        "this one has nothing beside it, so it may run on",
        "a line after",
    ]
    assert str(Table(left("", ""), [("a", "b")])) == "a  b"
    assert str(Table(left("a", "b"), [])) == "a  b"


def test_text_is_folded_where_a_line_is_full():
    """Between words, and paths after a slash; what is last in its line has the room that is left of it."""
    rows = [
        ("a path", "teachconv/kernels/row_gemm.h:277", "1,234", "a remark of several words, [1, 20, 20, 8]"),
        ("x", "", "5", ""),
        (
            ["", "a heading that nothing stands beside, so that it may run on as far as there is room"],
            *[""] * 3,
        ),
    ]
    table = Table((*left("name", "where"), *right("time"), *left("")), rows, "a headline of 24 characters")
    assert table.text(60).split("\n") == [
        "a headline of 24 characters",
        "name    where                   time",
        "a path  teachconv/kernels/     1,234  a remark of several",
        "        row_gemm.h:277                words, [1, 20, 20, 8]",
        "x                                  5",
        "",
        "a heading that nothing stands beside, so that it may run on",
        "as far as there is room",
    ]
    assert table.text(20).split("\n")[:5] == [
        "a headline of",
        "24 characters",
        "name   a path",
        "where  teachconv/",
        "       kernels/",
    ]
    for room in range(20, 130):
        shown = table.text(room)
        assert max(map(len, shown.split("\n"))) <= room
        assert "1,234" in shown
        assert "".join(rows[2][0][1].split()) in "".join(shown.split())


HOSTILE = "\x1b[2J\x1b]0;title\x07\r\n\x9b31m\x7f\u202egnp.exe\u2066\u2028[/bold][red]"
ESCAPED = r"\x1b[2J\x1b]0;title\x07\r\n\x9b31m\x7f\u202egnp.exe\u2066\u2028[/bold][red]"


def test_a_table_prints_control_characters_escaped():
    """In every cell, headline, line, note and head, in both ways."""
    table = Table(left(HOSTILE, ""), [(HOSTILE, [HOSTILE, "x"])], HOSTILE, [HOSTILE], [HOSTILE])
    for shown in (table.text(1000), table.html()):
        assert shown.count(ESCAPED) == 6
        assert re.sub(r"\n", "", shown).isprintable()


def test_names_from_elsewhere_are_escaped_in_reports_and_errors():
    report = tc.diff(*CALL, backends=[], against={HOSTILE: np.zeros((1, 20, 20, 8))})
    layer = tc.keras.layers.Dense(2, name=HOSTILE)
    model = tc.keras.Sequential([tc.keras.Input((3,)), layer], name=HOSTILE)
    lines = []
    model.summary(print_fn=lines.append)
    shown = [str(report), repr(report), repr(layer), *lines]
    for error in (tc.ArgumentError, tc.ArgumentTypeError, tc.BackendUnavailable, tg.InvalidArgumentError):
        shown.append(str(error(f"{HOSTILE} is not known")))
    for text in shown:
        assert text.replace("\n", "").isprintable(), text
    assert sum("x1b[2J" in text for text in shown) == len(shown) - 1  # the repr of a diff has no names


def test_html():
    html = TABLE.html()
    ElementTree.fromstring(html.replace("<br>", "<br/>"))
    assert "&lt;b&gt; &amp; &#x27;c&#x27;" in html
    assert "<b>" not in html
    assert html.count("<tr>") == 1 + 4 + 1
    assert html.count("font-weight:bold") == 4  # the cells of the marked row
    assert html.count("text-align:right") == 1 + 4
    assert "<thead>" not in Table(left("", ""), [("a", "b")]).html()


def test_what_is_too_wide_is_folded():
    for width in (100, 40):
        text = TABLE.text(width)
        shown = re.sub(r"\s", "", text)
        for part in ("headline", "alinebefore", "alineafter", "<b>&'c'", "20s"):
            assert part in shown
        assert all(len(line) <= width for line in text.split("\n"))


def test_on_a_narrow_terminal_bars_are_short_and_numbers_whole():
    columns = (*left("algorithm"), *right("GFLOP/s", "× reference"), *bars(""))
    rows = [("a long name", "0.00652", "12.3", bar(1.0)), ("im2col", "1,234", "0.0848", bar(0.5))]

    def shown(width):
        return Table(columns, rows).text(width).rstrip().split("\n")

    for width, most in ((100, 40), (53, 18)):
        assert shown(width)[1:] == [
            "a long name  0.00652         12.3  " + "█" * most,
            "im2col         1,234       0.0848  " + "█" * (most // 2),
        ]
    assert shown(31) == [
        "                              ×",
        "algorithm    GFLOP/s  reference",
        "a long name  0.00652       12.3",
        "im2col         1,234     0.0848",
    ]
    assert shown(20)[:4] == [
        "algorithm    a long",
        "             name",
        "GFLOP/s      0.00652",
        "× reference  12.3",
    ]


@pytest.mark.parametrize("unit", ["duration", "size", "number"])
def test_no_number_is_written_with_many_digits(unit):
    """From the smallest to the largest: at most three digits in a row, and no exponent before a unit."""
    write = {"duration": duration, "size": lambda value: size(int(value)), "number": number}[unit]
    seen = set()
    for exponent in range(-7, 16):
        for digits in (1.0, 1.64, 9.994, 9.996, 9.9999):
            text = write(digits * 10.0**exponent)
            seen.add(text.split(" ")[-1])
            if unit != "number":
                assert "e" not in text.split(" ")[0], text
                assert not re.search(r"\d{4}", text), text
    expected = {"duration": {"µs", "ms", "s", "min"}, "size": {"B", "KiB", "MiB", "GiB", "TiB"}}
    assert seen >= expected.get(unit, set())


def test_numbers():
    assert [duration(s) for s in (0, 1.5e-6, 0.00099951, 59.96, 60, 3725)] == [
        "0 µs", "1.5 µs", "1 ms", "1 min", "1 min", "62 min 5 s",
    ]  # fmt: skip
    assert [count(n, "node") for n in (0, 1, 2)] == ["0 nodes", "1 node", "2 nodes"]
    assert [number(x) for x in (np.inf, -np.inf, np.nan, 0.0, -1234.5)] == [
        "inf",
        "-inf",
        "nan",
        "0",
        "-1,230",
    ]
    assert number(np.float32(0.1), 7) == "0.1"
    assert number(-0.0) == number(-0.0, 7) == "0"
    assert (bar(0.0), bar(0.5, 4), bar(1.0, 4)) == ("█", "██", "████")


# --- reports -----------------------------------------------------------------------------------------


X, W = make_array((1, 40, 40, 32), "float32"), make_array((5, 5, 32, 8), "float32")
CALL = (tc.conv2d, X, W, 2, "SAME")
GEOMETRY = tc.conv2d_geometry(X.shape, W.shape, 2, "SAME")


@lru_cache
def photo():
    return photo_network.run("numpy")


REPORTS = {
    "trace": lambda: tc.trace(*CALL),
    "explain": lambda: tc.explain(*CALL, at=(0, 3, 3, 0)),
    "explain inverse": lambda: tc.explain(*CALL, at_input=(0, 3, 3, 0)),
    "diff": lambda: tc.diff(*CALL, backends=["numpy"]),
    "failed diff": lambda: tc.diff(*CALL, backends=[], against={"port": np.zeros((1, 20, 20, 8))}),
    "autotune": lambda: tc.autotune(*CALL, backends=["numpy"], rounds=1),
    "backends": tc.backends,
    "receptive field": lambda: tc.receptive_field([GEOMETRY]),
    "geometry": lambda: GEOMETRY,
    "gradients": lambda: tc.check_gradients(tc.conv2d, X[:, :6, :6], W[:3, :3]),
    "own backend": lambda: tc.check_backend("numpy", "int32", tags="hand"),
    "find_source": lambda: tc.find_source(*CALL),
    "find_source of a node": lambda: tg.find_source("conv2d"),
    "run metadata": lambda: photo().metadata,
    "empty run metadata": tg.RunMetadata,
    "graph": lambda: photo().metadata.after,
    "translation": lambda: tc.translate(tc.conv2d, (1, 8, 8, 1), (3, 3, 1, 4), 2, "SAME", to="torch"),
}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_text_html_and_a_short_repr(name):
    report = REPORTS[name]()
    text, html, short = str(report), report._repr_html_(), repr(report)
    assert text
    assert name == "translation" or max(map(len, text.split("\n"))) <= 100  # its code has its own width
    assert html.count("<pre") == html.count("<pre style='font-family:ui-monospace,monospace;")
    assert html.startswith("<")
    for numbers in ("array(", "[[", "0., 0."):
        assert numbers not in text + html + short, name
    table = name == "backends"  # it shows itself where it is asked for
    assert len(short) < (5000 if table else 600), name
    assert table or "\n" not in short


def test_no_repr_on_the_way_holds_an_array():
    explained = tc.explain(*CALL, at=(0, 3, 3, 0))
    report = tc.diff(*CALL, backends=["numpy"], against={"port": np.zeros((1, 20, 20, 8))})
    for thing in (explained.call, explained.taps[0], *report.rows, photo(), photo().metadata.nodes[0]):
        assert "array(" not in repr(thing)


def test_numbers_of_things():
    with tg.Graph().as_default(), tg.Session() as session:
        metadata = tg.RunMetadata()
        x = tg.placeholder("float32", [2], name="x")
        session.run(x * x, {x: [1, 2]}, run_metadata=metadata)
    assert "prune: 1 of 2 nodes not needed: x" in str(metadata.all)
    trace = tc.trace(tc.conv2d, np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)))
    assert re.search(r"algorithm \w+: [\d.,]+ (µs|ms|s) in \d+ stages$", str(trace).split("\n")[0])


# --- units in the last place -------------------------------------------------------------------------


def test_ulps_near_zero_are_those_of_a_term():
    """The terms cancel to nearly nothing: what direct summation may lose is not millions of ulps."""
    x = make_array((1, 12, 12, 8), "float32", "normal")
    w = make_array((3, 3, 8, 4), "float32", "normal")
    x[..., 4:], w[:, :, 4:] = -x[..., :4], w[:, :, :4] * np.float32(1 + 2.0**-22)
    want = tc.conv2d(x, w, backend="reference")
    assert np.abs(want).max() < 1e-4
    rows = tc.diff(tc.conv2d, x, w).rows
    assert all(row.passed for row in rows)
    terms = 72
    assert 0 < max(row.max_ulps for row in rows if row.algorithm in ("direct", "im2col", "taps")) < terms


def test_ulps_of_other_cells_are_those_of_the_result():
    want = np.float32([1.0, 2.0, 2.0**-20, 0.0])
    ulp = np.float32([2.0**-23, 2.0**-22, 2.0**-43, 0.0])
    verdict = bounds.judge(want + 3 * ulp, want, 1.0)
    assert verdict.ulps.tolist() == [3, 3, 3, 0]
    # a mean term of 1/4 has ulps of 2^-25: they are the smallest that count
    verdict = bounds.judge(want + 3 * ulp, want, 1.0, np.full(4, 2.0), 8)
    assert verdict.ulps.tolist() == [3, 3, 3 * 2.0**-18, 0]


def test_the_mean_term_is_no_larger_than_the_largest():
    x, w = make_array((1, 6, 6, 3), "float64", "normal"), make_array((3, 3, 3, 2), "float64", "normal")
    call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w), {})
    largest = max(abs(tap.product) for tap in tc.explain(tc.conv2d, x, w, at=(0, 1, 2, 1)).taps)
    assert abs_sum(call)[0, 1, 2, 1] / call.terms <= largest


def test_a_column_that_is_last_in_each_of_its_lines_is_shown():
    table = tables.Table(tables.left("", "", ""), [("1", "a/place.py:3", ""), ("2", "", "a note")])
    assert "a/place.py:3" in table.text()
    assert "a/place.py:3" in tables.Table(tables.left("", "", ""), [("1", "a/place.py:3", "")]).text()
