"""Python functions as JavaScript: what they return in a browser is what they return in Python."""

import json
from dataclasses import dataclass, replace

import pytest
from browser import needs_browser
from javascript import written
from recorders import record_page_rules

from teachconv.explorer.page import script
from teachconv.support.errors import ArgumentError

WORDS = {"a": ("x", 1), "b": ("y", 2)}
TEMPLATE = "{}-{}"


@dataclass(frozen=True)
class Box:
    first: int
    second: int = 3
    notes: tuple[str, ...] = ()

    @property
    def larger(self) -> int:
        return max(self.first, self.second)

    def unused(self):
        return NotImplemented


def numbers(a: int, b):
    small, large = a // b, a - b * -2
    return [
        small,
        large,
        a % b,
        -(-a // b),
        abs(a) + b,
        0 <= a < 5,
        (a, b) == (7, 2),
        min([a, b]),
        max(*[a], 0),
    ]


def conditions(a, b):
    found = []
    if not a:
        found.append("empty")
    elif a == [1] and b:
        found += ["one", b]
    else:
        found.append("more")
    return found, a or [0], b and "both", None if b is None else b, "x" in a, 2 not in (1, a)


def unpacked(first, *_):
    (a, *rest), b = first
    *start, end = a, *rest, b
    low, *middle, high = (number for number in range(5))
    return a, rest, start, end, low, middle, high, [*start, 9][-1], start[1:], start[:1], rest[::-1]


def texts(name, value):
    line = f"{name:<6}| {value} {value!r} {len(name)}{{}} `${name}`"
    for letter in name.upper():
        line += letter
    return (
        line,
        TEMPLATE.format(name, value),
        ", ".join(name),
        name.replace("a", "b"),
        name.translate(str.maketrans("ab", "ba")),
    )


def collections(size: int):
    pairs = [(x, y) for x in range(size) if x != 1 for y in "ab"]
    table = {key: number for number, (key, _) in enumerate(WORDS.items())} | {"c": size}
    table["d"] = 4
    for name, (word, number) in WORDS.items():
        if number == 2:
            continue
        table[word] = name
    return (
        pairs,
        [*table.items()],
        [*dict(zip("abc", [1, 2], strict=False)).items()],
        sorted({"b": 1, "a": 2}),
        table.get("e", ()),
        WORDS["b"],
    )


def objects(first):
    box = replace(Box(first, notes=("n",)), second=5, **{"notes": ("m",)})
    return box.first, box.larger, box.notes, Box(1).notes, any(n == "m" for n in box.notes), sum([first, 1])


def placed(a, b, c, *, first=1, last=2):
    return a, b, c, first, last


def starred(pair, number):
    return (
        placed(*pair, number, first=3),
        placed(number, *pair, last=5),
        placed(*pair, *[number], first=4, last=6),
    )


def counted(most: int):
    for number in range(most):
        yield number if number % 2 else None


def refused(value):
    def check(number: int, least: int = 1) -> int:
        if number < least:
            raise ArgumentError(f"value must be at least {least}; got {number}")
        return number

    try:
        return check(value, 2)
    except (ValueError, TypeError):
        return [
            *counted(3),
            isinstance(value, str),
            isinstance((value,), (list, tuple)),
            hasattr(value, "__iter__"),
        ]


CALLS = [
    *[(numbers, pair) for pair in ((7, 2), (-7, 2), (3, 5))],
    *[(conditions, pair) for pair in (([], ""), ([1], "x"), ((1, "x"), None), ("x", "y"))],
    (unpacked, (((1, 2, 3), 4),)),
    *[(texts, pair) for pair in (("ab", (1,)), ("cab", [None, "it's"]), ("", True))],
    (collections, (3,)),
    (starred, ((7, 8), 9)),
    *[(objects, (value,)) for value in (2, 7)],
    *[(refused, (value,)) for value in (1, 2)],
]


@needs_browser
def test_functions_return_in_a_browser_what_they_return_in_python(driver, tmp_path):
    functions = list(dict.fromkeys(function for function, _ in CALLS))
    names, text = written(functions, {ArgumentError: "Refusal", ValueError: "Refusal"})
    page = tmp_path / "page.html"
    run = f"window.answer = (calls) => calls.map(([f, given]) => repr([{','.join(names)}][f](...fromJson(given))));"
    page.write_text(
        f'<meta charset="utf-8"><script type="module">{script(("python", "law"))}{text}\n{run}</script>'
    )
    driver.get(page.as_uri())
    calls = [[functions.index(function), given] for function, given in CALLS]
    got = driver.execute_script("return answer(arguments[0])", json.loads(json.dumps(calls)))
    assert "unused" not in text
    for (function, given), answer in zip(CALLS, got, strict=True):
        given = tuples(given)
        assert answer == repr(function(*given)), (function.__name__, given)


def test_the_rules_of_the_pages_are_those_of_python():
    """After a change of the functions that they come from: make page-rules."""
    assert record_page_rules.RECORDED.read_text() == record_page_rules.recorded(record_page_rules.made())


def with_while(n):
    while n:
        n -= 1


def with_named(n):
    def half(number):
        return number // 2

    return half(number=n)


@pytest.mark.parametrize(("function", "what"), [(with_while, "While"), (with_named, "Call")])
def test_what_cannot_be_written_is_refused_with_its_place(function, what):
    line = function.__code__.co_firstlineno
    with pytest.raises(
        NotImplementedError, match=rf"{__name__}, line \d+: {what} cannot be written: "
    ) as raised:
        written([function], {})
    assert line < int(str(raised.value).split("line ")[1].split(":")[0]) < line + 6


def tuples(value):
    """What comes from JSON is a tuple wherever Python has a sequence."""
    return tuple(map(tuples, value)) if isinstance(value, (list, tuple)) else value
