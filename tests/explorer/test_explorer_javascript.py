"""Python functions as JavaScript: what they return there is what they return in Python."""

import random
from dataclasses import dataclass, replace
from itertools import product

import pytest
from javascript import written
from node import answers, needs_node
from recorders import record_page_rules

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


def changed(box, number):
    return replace(box, second=number)


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


@dataclass(frozen=True)
class Half:
    of: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", self.of // 2)


def with_locals(first, second=2, *, third=3, **others):
    return placed_by_name(0, **locals())


def placed_by_name(start, first, second, third, others):
    return (
        start,
        first,
        second,
        third,
        "more" if others else "",
        Half(first).of,
        Half(of=first).of,
        replace(Half(first), of=9).of,
    )


def declared(items):
    for number in items:
        if number % 2:
            found = number
            double = 2 * found
        else:
            double = number
        last = double
    low, high = min(items), max(items)
    if low < 0:
        low = 0
    return low, high, last, divmod(high, 2), [*product(items[:2], "ab")]


def drawn_pairs():
    """Pairs of numbers of all sizes below 2**53, of either sign, the second one not 0."""
    rng = random.Random(20260)

    def number(least):
        size = rng.choice([10, 2**20, 2**31, 2**53])
        return rng.choice([-1, 1]) * rng.randint(max(least, size // rng.choice([2, size])), size - 1)

    return [(number(0), number(1)) for _ in range(2000)]


def divided(a, b):
    return a // b, a % b, divmod(a, b), -(-a // b), (a - 1) // b if a > 0 else (a + 1) // b


CALLS = [
    *[(numbers, pair) for pair in ((7, 2), (-7, 2), (3, 5))],
    *[(divided, pair) for pair in drawn_pairs()],
    *[(with_locals, (value,)) for value in (5, 8)],
    *[(declared, (items,)) for items in ((1, 2, 3), (-4, 6))],
    *[(conditions, pair) for pair in (([], ""), ([1], "x"), ((1, "x"), None), ("x", "y"))],
    (unpacked, (((1, 2, 3), 4),)),
    *[(texts, pair) for pair in (("ab", (1,)), ("cab", [None, "it's"]), ("", True))],
    (collections, (3,)),
    (starred, ((7, 8), 9)),
    *[(objects, (value,)) for value in (2, 7)],
    *[(refused, (value,)) for value in (1, 2)],
]


@needs_node
@pytest.mark.parametrize("to_read", [False, True])
def test_functions_return_in_javascript_what_they_return_in_python(to_read):
    functions = list(dict.fromkeys(function for function, _ in CALLS))
    natives = {ArgumentError: "Refusal", ValueError: "Refusal", product: "product"}
    names, parts = written(functions, natives, to_read=to_read)
    text = "\n".join(part.text for part in parts)
    answer = answers(("python",), text)
    run = f"(calls) => calls.map(([f, given]) => repr([{','.join(names)}][f](...fromJson(given))))"
    got = answer(run, [[functions.index(function), given] for function, given in CALLS])
    assert "unused" not in text
    for (function, given), said in zip(CALLS, got, strict=True):
        given = tuples(given)
        assert said == repr(function(*given)), (function.__name__, given)


@needs_node
@pytest.mark.parametrize("number", [2**53, -(2**53), 2**53 + 2, 2**64])
def test_numbers_that_javascript_does_not_have_exactly_are_refused(number):
    names, parts = written([divided, Box, changed], {ArgumentError: "Refusal", product: "product"})
    answer = answers(("python",), "\n".join(part.text for part in parts))
    for call in (
        "divided(n, 3)",
        "divided(3, n)",
        "new Box(n)",
        f"{names[2]}(new Box(1), n)",
        "prod([2, n / 2])",
        "max(1, n, -n)",
    ):
        said = answer(
            f"(n) => {{ try {{ return {call}; }} catch (error) {{ return error.message; }} }}", number
        )
        assert said.startswith("a page has whole numbers below 2**53 only"), (call, said)
    with pytest.raises(NotImplementedError, match="has no exact number"):
        written([(number,)], {})


@pytest.mark.parametrize("name", ["law.js", "rules.json"])
def test_the_law_and_the_rules_of_the_pages_are_those_of_python(name):
    """After a change of the functions that they come from: make page-rules."""
    assert (record_page_rules.SCRIPTS / name).read_text("utf-8") == record_page_rules.made()[name]


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
