"""Writes Python functions as JavaScript: for the pages, the law and the rules (recorders/record_page_rules.py).

`written` starts from a few functions and adds all functions, classes and constants that they use. It knows
the part of Python in which laws and rules on numbers, words and shapes are written, and raises at anything else. The
caller names what the page has in JavaScript of its own; ``explorer/script/python.js`` has Python's built-in functions.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import json
import re
import string
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from textwrap import indent
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

__all__ = ["Part", "written"]


class Part(NamedTuple):
    """The definition of a function, a class or a constant.

    Attributes:
        value: the Python object.
        name: its name in JavaScript.
        module: the Python module that it comes from; of a constant, one that uses it.
        line: where it is in the module; 0 for a constant.
        text: JavaScript.
    """

    value: Any
    name: str
    module: str
    line: int
    text: str


def written(
    roots: Iterable[Any],
    natives: Mapping[Any, str],
    *,
    known: Iterable[Part] = (),
    members: Iterable[str] = (),
    without: Iterable[str] = (),
    to_read: bool = False,
) -> tuple[list[str], list[Part]]:
    """Return what JavaScript calls the roots, and the definitions of all that they use.

    Args:
        roots: functions, classes or constants.
        natives: what the page calls functions and classes that it has in JavaScript of its own.
        known: definitions that the page has from another call.
        members: methods and properties of the classes that other scripts use.
        without: names of fields that objects are written without.
        to_read: whether local names stay, and the first sentences of docstrings become comments; otherwise
            local names become letters.

    Returns:
        One expression for each root, and the definitions of functions, classes and constants.

    Raises:
        NotImplementedError: if a function has an expression or a statement that is not known here.

    >>> from teachconv.core.law import split_padding
    >>> names, [part] = written([split_padding], {}, to_read=True)
    >>> print(names, part.text, sep="\\n")
    ['split_padding']
    /** Split the padding of one axis into half of it before, and the rest after. */
    function split_padding(total, lower = false) {
      const [small, large] = [floorDiv(total, 2), total - floorDiv(total, 2)];
      return lower ? tuple(large, small) : tuple(small, large);
    }
    """
    writer = _Writer(natives, known, members, {*without}, to_read)
    return [writer.value(root) for root in roots], writer.finished()


class _Writer:
    """What is written: the names of Python's objects in JavaScript, and their definitions."""

    def __init__(
        self,
        natives: Mapping[Any, str],
        known: Iterable[Part],
        members: Iterable[str],
        without: set[str],
        to_read: bool,
    ) -> None:
        self.natives = natives
        self.without, self.to_read = without, to_read
        self.names = {id(part.value): part.name for part in known}  # by the id of what has the name,
        self.kept: list[Any] = []  # which lives as long
        self.parts: list[Part] = []
        self.waiting: list[Any] = []
        self.classes: dict[type, dict[str, str]] = {}  # the members of each that are written
        self.attributes = {*members}  # that functions use

    def value(self, value: Any, module: str = "", name: str = "") -> str:
        """Return a Python object as an expression; a module's constant has a name."""
        if isinstance(value, int) and abs(value) >= 2**53:
            raise NotImplementedError(f"JavaScript has no exact number {value}")
        if value is None or isinstance(value, (bool, int, str)):
            return json.dumps(value, ensure_ascii=False)
        if callable(value):
            if value in self.natives:
                return self.natives[value]
            if value.__module__ == "builtins":
                return "tupleOf" if value is tuple else str(value.__name__)
            if id(value) not in self.names:
                self._enter(value, value.__module__, value.__name__)
                if isinstance(value, type):
                    self.classes[value] = {}
                else:
                    self.waiting.append(value)
        elif id(value) not in self.names:
            text = self._constant(value)
            if not name:
                return text
            self._enter(value, module, name)
            self._define(value, module, 0, f"const {self.names[id(value)]} = {text};")
        return self.names[id(value)]

    def _enter(self, value: Any, module: str, name: str) -> None:
        """Name a function, class or constant; with its module if another or a local name has the name."""
        taken = {*self.names.values(), *self.natives.values(), *_HELPERS, *vars(builtins)}
        is_taken = name in taken or not name[1:].strip(string.digits)
        self.names[id(value)] = f"{module.rpartition('.')[2]}_{name}" if is_taken else name
        self.kept.append(value)

    def _define(self, value: Any, module: str, line: int, text: str) -> None:
        self.parts.append(Part(value, self.names[id(value)], module, line, text))

    def _constant(self, value: Any) -> str:
        """Return a collection, or an object with its fields and properties."""
        if isinstance(value, range):
            return f"range({value.start}, {value.stop})"
        if isinstance(value, (tuple, list)):
            opening, closing = ("tuple(", ")") if isinstance(value, tuple) else ("[", "]")
            return _listed(opening, map(self.value, value), closing)
        if not isinstance(value, Mapping):
            names = [field.name for field in dataclasses.fields(value) if field.name not in self.without]
            names += [name for name, member in vars(type(value)).items() if isinstance(member, _PROPERTY)]
            value = {name: getattr(value, name) for name in names}
        pairs = (f"{self.value(key)}: {self.value(item)}" for key, item in value.items())  # a key may be null
        return _listed("{", pairs, "}")

    def finished(self) -> list[Part]:
        """Return all definitions; a class has those of its members that are used."""
        while self.waiting or self._add_members():
            while self.waiting:
                value = self.waiting.pop()
                function = _Function(self, inspect.unwrap(value))
                text = function.definition(f"function {self.names[id(value)]}")
                self._define(value, value.__module__, function.node.lineno, self._comment(value) + text)
        for cls, members in self.classes.items():
            body = indent("\n\n".join([*self._constructor(cls), *members.values()]), "  ")
            text = f"{self._comment(cls)}class {self.names[id(cls)]} {{\n{body}\n}}"
            self._define(cls, cls.__module__, inspect.getsourcelines(cls)[1], text)
        return self.parts

    def _comment(self, value: Any) -> str:
        """Return the first sentence of a docstring as a comment, if the text is to be read."""
        sentence = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("``", "`").replace("\n", " ")
        return f"/** {sentence} */\n" if sentence and self.to_read else ""

    def _add_members(self) -> bool:
        """Write the methods and properties that are used and not written yet; return whether any were."""
        before = sum(map(len, self.classes.values()))
        for cls, members in [*self.classes.items()]:
            for name, member in [pair for base in cls.__mro__ for pair in vars(base).items()]:
                function: Any = member
                if isinstance(member, _PROPERTY):
                    function = member.fget if isinstance(member, property) else member.func
                is_used = name in self.attributes or name == "__post_init__"
                if name in members or not is_used or not isinstance(function, FunctionType):
                    continue
                if function not in self.natives:
                    head = f"get {name}" if isinstance(member, _PROPERTY) else name
                    members[name] = self._comment(member) + _Function(self, function).definition(head)
        return sum(map(len, self.classes.values())) > before

    def _constructor(self, cls: type) -> Iterable[str]:
        """Yield the fields of a dataclass, and its constructor."""
        words, fields = [], {}
        for name, parameter in inspect.signature(cls).parameters.items():
            word, default = _free(name), parameter.default
            fields[name] = name if name == word else f"{name}: {word}"
            if default.__class__.__module__ == "dataclasses":  # a dict, made anew for each object
                word += " = {}"
            elif default is not parameter.empty:
                word += f" = {self.value(default)}"
            words.append(word)
        assigned = _listed("assigned(this, {", fields.values(), "});")
        if hasattr(cls, "__post_init__"):
            assigned += "\nthis.__post_init__();"
        if self.to_read:
            yield f"{'; '.join(fields)};"
        yield f"{_listed('constructor(', words, ')')} {{\n{indent(assigned, '  ')}\n}}"


_MOST = 130  # letters on a line


def _listed(opening: str, items: Iterable[str], closing: str) -> str:
    """Return items in brackets, each on a line of its own if they are long."""
    listed = [*items]
    space = " " if opening.endswith("{") and listed else ""
    line = f"{opening}{space}{', '.join(listed)}{space}{closing}"
    if len(listed) < 2 or max(map(len, line.split("\n"))) <= _MOST:
        return line
    lines = indent("".join(f"{item},\n" for item in listed), "  ")
    return f"{opening}\n{lines}{closing}"


def _letter(number: int) -> str:
    """Return the local name of a number: a, b, ..., Z, a1."""
    return string.ascii_letters[number % 52] + str(number // 52 or "")


def _free(name: str) -> str:
    """Return a local name, with an underscore if JavaScript or python.js has the name."""
    return f"{name}_" if name in (*_RESERVED, *_HELPERS, *vars(builtins)) else name


@lru_cache
def _module(name: str) -> ast.Module:
    """Return a module as a tree."""
    return ast.parse(inspect.getsource(sys.modules[name]))


_PROPERTY = (property, cached_property)
# methods of Python's types: {0} is the object, {1} the arguments
_METHODS = {
    "append": "{0}.push({1})",
    "format": "format({0}, {1})",
    "get": "get({0}, {1})",
    "index": "{0}.indexOf({1})",
    "items": "itemsOf({0})",
    "join": "{1}.join({0})",
    "lower": "{0}.toLowerCase()",
    "replace": "{0}.replaceAll({1})",
    "split": "{0}.split({1})",
    "startswith": "{0}.startsWith({1})",
    "translate": "translated({0}, {1})",
    "upper": "{0}.toUpperCase()",
}
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
# functions of python.js that are not Python's own
_HELPERS = (
    "add",
    "assigned",
    "both",
    "changed",
    "contains",
    "either",
    "equal",
    "floorDiv",
    "floorMod",
    "repeated",
    "spread",
    "text",
    "truth",
    "tuple",
)
# names that JavaScript does not give to a local variable, and Python does
_RESERVED = (
    "arguments", "case", "catch", "const", "default", "delete", "do", "enum", "export", "extends", "function", "let",
    "new", "null", "static", "super", "switch", "this", "throw", "typeof", "var", "void",
)  # fmt: skip
# functions and methods by what they return
_RETURNS = {
    "bool": ("all", "any", "hasattr", "isinstance", "startswith"),
    "int": ("abs", "index", "len", "max", "min", "sum"),
    "list": ("enumerate", "islice", "items", "range", "sorted", "zip"),
    "str": ("join",),
}


# signs by how much they bind; one for all comparisons
_BINDS = {
    sign: number
    for number, signs in enumerate(("?", "||", "&&", "==", "+-", "*"))
    for sign in (signs, *signs)
}


class _Open(str):
    """Text with a sign of its own, which may need parentheses beside another one."""

    binds: int

    def __new__(cls, text: str, sign: str) -> _Open:
        made = super().__new__(cls, text)
        made.binds = _BINDS[sign]
        return made


def _closed(text: str, sign: str = "*", *, is_first: bool = False) -> str:
    """Return text as it stands beside a sign, before it if it is the first operand."""
    if not isinstance(text, _Open) or text.binds + is_first > _BINDS[sign]:
        return text
    return f"({text})"


class _Function(ast.NodeVisitor):
    """One function; each ``visit_`` method returns the text of a node."""

    def __init__(self, writer: _Writer, function: FunctionType) -> None:
        self.writer, self.function = writer, function
        self.types: dict[str, str] = {}  # of local names, where they are known
        self.letters: dict[str, str] = {}
        self.declares: dict[int, str] = {}  # "const " or "let ", by the id of the statement that declares
        self.node: Any = _module(function.__module__)
        for word in function.__qualname__.split("."):
            self.node = next(node for node in self.node.body if getattr(node, "name", "") == word)
        inner = [*ast.walk(self.node)][1:]
        self.names = {node.id for node in inner if isinstance(node, ast.Name) and _stores(node)}
        self.names |= {node.arg for node in inner if isinstance(node, ast.arg)}
        self.names |= {node.name for node in inner if isinstance(node, ast.FunctionDef)}

    def generic_visit(self, node: ast.AST) -> Any:
        place = f"{self.function.__module__}, line {getattr(node, 'lineno', '?')}"
        raise NotImplementedError(f"{place}: {type(node).__name__} cannot be written: {ast.unparse(node)}")

    def definition(self, head: str, node: Any = None) -> str:
        """Return the function as text, after its first words; ``node`` is that of a function inside."""
        node = node or self.node
        args = node.args
        usual = [*[None] * (len(args.args) - len(args.defaults)), *args.defaults, *args.kw_defaults]
        words = []
        for arg, default in zip([*args.args, *args.kwonlyargs], usual, strict=True):
            self.types[arg.arg] = ast.unparse(arg.annotation) if arg.annotation else ""
            if arg.arg != "self":
                words.append(self._local(arg.arg) + (f" = {self.visit(default)}" if default else ""))
        if args.kwarg and args.kwarg.arg != "_":
            words.append(f"{self._local(args.kwarg.arg)} = {{}}")
        inner = [part for statement in node.body for part in _own(statement)]
        if any(isinstance(part, ast.Yield) for part in inner):
            head = head.replace("function", "function*")
        given = {arg.arg for arg in ast.walk(args) if isinstance(arg, ast.arg)}
        block = self._block(node.body, self._declare(given, inner, node.body))
        if self.writer.to_read:  # TypeScript refuses a parameter that nothing reads without an underscore
            words = [word if re.search(rf"\b{word.split()[0]}\b", block) else f"_{word}" for word in words]
        return f"{_listed(f'{head}(', words, ')')} {block}"

    def _declare(self, given: set[str], inner: Sequence[ast.AST], body: Sequence[Any]) -> list[str]:
        """Find the statements that declare names as they set them; return the names that have no such statement."""
        grown = [part.target for part in inner if isinstance(part, ast.AugAssign) and _is_list(part.value)]
        names = [part for part in inner if isinstance(part, ast.Name) and _stores(part) and part not in grown]
        stored = [part.id for part in names if part.id not in (*given, "_")]
        places = {name: _place(name, body) for name in dict.fromkeys(stored)}
        others = []
        for name, statement in places.items():
            fresh = _names(_target(statement)) - {"_"} if statement else {name}
            if statement and all(places.get(each) is statement for each in fresh):
                is_const = all(stored.count(each) == 1 for each in fresh)
                self.declares[id(statement)] = "const " if is_const else "let "
            else:
                others.append(name)
        return sorted(others)

    def _local(self, name: str) -> str:
        if self.writer.to_read:
            return _free(name)
        return self.letters.setdefault(name, _letter(len(self.letters)))

    def _block(self, body: Sequence[ast.stmt], names: Sequence[str] = ()) -> str:
        """Return statements in braces, one on a line, after a declaration of names."""
        lines = [f"let {', '.join(map(self._local, names))};"] if names else []
        lines += filter(None, map(self.visit, body))
        text = indent("\n".join(lines), "  ")
        return f"{{\n{text}\n}}"

    # -- statements -------------------------------------------------------------------------------

    def visit_Expr(self, node: Any) -> str:
        value = "" if isinstance(node.value, ast.Constant) else self.visit(node.value)
        return f"{value};" if value and not value.startswith("nothing(") else ""  # a native that does nothing

    def visit_Return(self, node: Any) -> str:
        return f"return {self.visit(node.value)};" if node.value else "return;"

    def visit_Raise(self, node: Any) -> str:
        return f"throw {self.visit(node.exc)};"

    def visit_FunctionDef(self, node: Any) -> str:
        return self.definition(f"function {self._local(node.name)}", node)

    def visit_Assign(self, node: Any) -> str:
        target, value = _target(node), node.value
        head = self.declares.get(id(node), "")
        if isinstance(target, ast.Tuple):
            made = self.visit(ast.List(value.elts) if isinstance(value, ast.Tuple) else value)
            starred = [isinstance(item, ast.Starred) for item in target.elts]
            if any(starred[:-1]):  # JavaScript has such a name only at the end
                first = starred.index(True)
                made = f"spread({made}, {first}, {len(starred) - first - 1})"
                return f"{head}{self.visit(target).replace('...', '')} = {made};"
            return f"{head}{self.visit(target)} = {made};"
        if isinstance(target, ast.Name):
            for name in _RETURNS if head == "const " else ("int",):  # only a constant surely keeps its type
                if self._is_a(name, value):
                    self.types[target.id] = name
        return f"{head}{self.visit(target)} = {self.visit(value)};"

    def visit_AnnAssign(self, node: Any) -> str:
        return self.visit_Assign(node)

    def visit_AugAssign(self, node: Any) -> str:
        target = self.visit(node.target)
        if isinstance(node.value, ast.List):
            return _listed(f"{target}.push(", map(self.visit, node.value.elts), ");")
        if isinstance(node.value, ast.ListComp):
            return f"{target}.push(...{self.visit(node.value)});"
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return f"{target} = {self.visit(ast.BinOp(read, node.op, node.value))};"

    def visit_If(self, node: Any) -> str:
        head, other = f"if ({self._test(node.test)})", node.orelse
        if (
            not other
            and len(node.body) == 1
            and isinstance(node.body[0], (ast.Return, ast.Raise, ast.Continue))
        ):
            line = f"{head} {self.visit(node.body[0])}"
            if len(line) <= _MOST:
                return line
        block = self._block(node.body)
        head = f"{head} {block}"
        if not other:
            return head if block != self._block([]) else ""
        is_if = len(other) == 1 and isinstance(other[0], ast.If)
        return f"{head} else {self.visit(other[0]) if is_if else self._block(other)}"

    def visit_For(self, node: Any) -> str:
        target = self.declares.get(id(node), "") + self.visit(node.target)
        return f"for ({target} of {self._array(node.iter)}) {self._block(node.body)}"

    def visit_Continue(self, node: Any) -> str:
        return "continue;"

    def visit_Try(self, node: Any) -> str:
        [handler] = node.handlers
        check = f"if (!(error instanceof {self.writer.natives[ValueError]})) throw error;"
        rescue = self._block(handler.body).removeprefix("{\n")
        return f"try {self._block(node.body)} catch (error) {{\n  {check}\n{rescue}"

    # -- names, constants, collections ------------------------------------------------------------

    def visit_Name(self, node: Any) -> str:
        if node.id == "self":
            return "this"
        if node.id == "_":  # nothing, in a pattern
            return ""
        if node.id in self.names:
            return self._local(node.id)
        return self.writer.value(self._python(node), self.function.__module__, node.id)

    def _python(self, node: Any) -> Any:
        """Return the object of a module that a name or an attribute means; None if there is none."""
        if isinstance(node, ast.Name) and node.id not in self.names:
            return self.function.__globals__.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute) and isinstance(
            holder := self._python(node.value), (ModuleType, type)
        ):
            return getattr(holder, node.attr)
        return None

    def visit_Attribute(self, node: Any) -> str:
        if (found := self._python(node)) is not None:
            return self.writer.value(found)
        self.writer.attributes.add(node.attr)
        return f"{_closed(self.visit(node.value))}.{node.attr}"

    def visit_Constant(self, node: Any) -> str:
        return self.writer.value(node.value)

    def visit_JoinedStr(self, node: Any) -> str:
        parts, plain = [], True
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(
                    json.dumps(part.value, ensure_ascii=False)[1:-1]
                    .replace('\\"', '"')
                    .replace("`", "\\`")
                    .replace("${", "\\${")
                )
                continue
            text = self.visit(part.value)
            if part.format_spec is not None:
                text = f"{text}.padEnd({part.format_spec.values[0].value.removeprefix('<')})"
            elif part.conversion == ord("r"):
                text = f"repr({text})"
            else:
                plain = plain and (self._is_a("int", part.value) or self._is_a("str", part.value))
            parts.append(f"${{{text}}}")
        return f"{'' if plain else 'text'}`{''.join(parts)}`"

    def visit_Tuple(self, node: Any) -> str:
        items = [self.visit(item) for item in node.elts]
        if not _stores(node):
            return _listed("tuple(", items, ")")
        return f"[{', '.join(items[:-1] if items[-1] == '...' else items)}]"

    def visit_List(self, node: Any) -> str:
        return _listed("[", map(self.visit, node.elts), "]")

    def visit_Starred(self, node: Any) -> str:
        return f"...{self.visit(node.value)}"

    def visit_Dict(self, node: Any) -> str:
        items = []
        for key, value in zip(node.keys, node.values, strict=True):
            name = str(key.value) if isinstance(key, ast.Constant) else key and f"[{self.visit(key)}]"
            items.append(f"{name}: {self.visit(value)}" if key else f"...{self.visit(value)}")
        return _listed("{", items, "}")

    def visit_Subscript(self, node: Any) -> str:
        index, known = node.slice, self._python(node.value)
        word = index.value if isinstance(index, ast.Constant) else None
        if isinstance(word, str) and isinstance(known, Mapping):
            return self.writer.value(known[word], self.function.__module__, word)
        value = _closed(self.visit(node.value))
        if isinstance(word, str):
            return f"{value}.{word}"
        if isinstance(index, ast.UnaryOp):
            return f"{value}.at({self.visit(index)})"
        if not isinstance(index, ast.Slice):
            return f"{value}[{self.visit(index)}]"
        if index.step is not None:
            return f"reversed({value})"
        low = self.visit(index.lower) if index.lower else "0"
        return f"{value}.slice({low}{f', {self.visit(index.upper)}' if index.upper else ''})"

    # -- operators --------------------------------------------------------------------------------

    def _is_a(self, name: str, node: Any) -> bool:
        """Return whether a value is known to be of a type, which spares a call that looks at it."""
        if isinstance(node, ast.Constant):
            return type(node.value).__name__ == name
        if isinstance(node, ast.Name):
            return self.types.get(node.id) == name
        if isinstance(node, ast.IfExp):
            return self._is_a(name, node.body) and self._is_a(name, node.orelse)
        if isinstance(node, ast.Call):
            known = getattr(self._python(node.func), "__annotations__", {}).get("return") == name
            return known or _called(node) in _RETURNS[name]
        if isinstance(node, ast.BoolOp):
            return all(self._is_a(name, value) for value in node.values)
        if isinstance(node, ast.UnaryOp):
            return name == ("bool" if isinstance(node.op, ast.Not) else "int")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return name != "bool" and (self._is_a(name, node.left) or self._is_a(name, node.right))
        if isinstance(node, ast.BinOp):
            return name == "int" and not isinstance(node.op, ast.BitOr)
        if isinstance(node, (ast.Compare, ast.JoinedStr)):
            return name == ("bool" if isinstance(node, ast.Compare) else "str")
        return name == "list" and isinstance(node, (ast.List, ast.ListComp, ast.GeneratorExp))

    def _test(self, node: Any) -> str:
        """Return a condition; what it tests may be of any type."""
        if isinstance(node, ast.BoolOp):
            sign = "&&" if isinstance(node.op, ast.And) else "||"
            return _Open(f" {sign} ".join(_closed(self._test(value), sign) for value in node.values), sign)
        known = any(self._is_a(name, node) for name in ("bool", "int", "str"))
        return self.visit(node) if known else f"truth({self.visit(node)})"

    def visit_BoolOp(self, node: Any) -> str:
        if self._is_a("bool", node):
            return self._test(node)
        first, second = map(self.visit, node.values)
        other = f"({second})" if second.startswith("{") else second
        return f"{'both' if isinstance(node.op, ast.And) else 'either'}({first}, () => {other})"

    def visit_UnaryOp(self, node: Any) -> str:
        if isinstance(node.op, ast.Not):
            return f"!{_closed(self._test(node.operand))}"
        return f"-{_closed(self.visit(node.operand))}"

    def visit_IfExp(self, node: Any) -> str:
        test, body, other = self._test(node.test), self.visit(node.body), self.visit(node.orelse)
        return _Open(f"{_closed(test, '?')} ? {_closed(body, '?')} : {_closed(other, '?')}", "?")

    def visit_BinOp(self, node: Any) -> str:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.BitOr):
            return f"{{ ...{left}, ...{right} }}"
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Tuple):
            return f"repeated({left}, {right})"
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            return f"{'floorDiv' if isinstance(node.op, ast.FloorDiv) else 'floorMod'}({left}, {right})"
        if isinstance(node.op, ast.Add) and not (self._is_a("int", node) or self._is_a("str", node)):
            return f"add({left}, {right})"
        sign = _SIGNS[type(node.op)]
        return _Open(f"{_closed(left, sign, is_first=True)} {sign} {_closed(right, sign)}", sign)

    def visit_Compare(self, node: Any) -> str:
        sides = [node.left, *node.comparators]
        found = [self._compared(*pair) for pair in zip(sides, node.ops, sides[1:], strict=False)]
        return found[0] if len(found) == 1 else _Open(" && ".join(found), "&&")

    def _compared(self, left: Any, op: ast.cmpop, right: Any) -> str:
        first, second = _closed(self.visit(left), "=="), _closed(self.visit(right), "==")
        if type(op) in _SIGNS:
            return _Open(f"{first} {_SIGNS[type(op)]} {second}", "==")
        no = "!" if isinstance(op, (ast.NotEq, ast.NotIn, ast.IsNot)) else ""
        if isinstance(op, (ast.In, ast.NotIn)):
            return f"{no}contains({second}, {first})"
        if isinstance(op, (ast.Is, ast.IsNot)):
            return _Open(f"{first} {no or '='}= {second}", "==")  # null and undefined are the same
        if any(self._is_a(name, side) for name in ("int", "str") for side in (left, right)):
            return _Open(f"{first} {no or '='}== {second}", "==")
        return f"{no}equal({first}, {second})"

    # -- calls, and what is iterated over ---------------------------------------------------------

    def visit_Call(self, node: Any) -> str:
        function, called = self._python(node.func), node.func
        arguments = [self.visit(argument) for argument in node.args]
        if function in (any, all) and isinstance(node.args[0], ast.GeneratorExp):
            return self._each(node.args[0], "some" if function is any else "every")
        if function is isinstance:
            return f"isinstance({arguments[0]}, {json.dumps(ast.unparse(node.args[1]))})"
        if function is str.maketrans:
            return f"maketrans({', '.join(arguments)})"
        if function is object.__setattr__:
            return f"{arguments[0]}.{node.args[1].value} = {arguments[2]}"
        keywords = [word for word in node.keywords if word.arg != "strict"]
        if keywords and ast.unparse(keywords[-1]) == "**locals()":
            own = [arg.arg for arg in ast.walk(self.node.args) if isinstance(arg, ast.arg)]
            keywords[-1:] = [ast.keyword(name, ast.Name(name)) for name in own]
        words = [(word.arg, self.visit(word.value)) for word in keywords]
        pairs = (
            value if name == value else f"{name}: {value}" if name else f"...{value}" for name, value in words
        )
        fields = _listed("{", pairs, "}")
        if function is dataclasses.replace:
            return f"changed({arguments[0]}, {fields})"
        if isinstance(function, type) and dataclasses.is_dataclass(function):
            given, names = dict(words), [*inspect.signature(function).parameters]
            if None not in given and not any(isinstance(argument, ast.Starred) for argument in node.args):
                for name in names[len(arguments) :]:
                    arguments += [given.pop(name, "undefined")] if given else []
            made = _listed(f"new {self.visit(called)}(", arguments, ")")
            return f"changed({made}, {fields})" if given else made  # __post_init__ runs again
        if words and words[0][0] is None:  # the callee takes its arguments as one object
            return f"{self.visit(called)}({words[0][1]})"
        if words:
            if function is None:
                self.generic_visit(node)
            given, parameters = dict(words), inspect.signature(function).parameters
            names = iter([*parameters][len(arguments) :])
            if any(isinstance(argument, ast.Starred) for argument in node.args):  # all that have a place
                names = iter(inspect.getfullargspec(function).kwonlyargs)
            while given:
                name = next(names)
                arguments.append(given.pop(name, None) or self.writer.value(parameters[name].default))
        text = ", ".join(arguments)
        if function is None and isinstance(called, ast.Attribute) and called.attr in _METHODS:
            text = self._array(node.args[0]) if called.attr == "join" else text
            return _METHODS[called.attr].format(_closed(self.visit(called.value)), text)
        made_new = (
            isinstance(function, type) and issubclass(function, (Exception, str)) and function is not str
        )
        return _listed(f"{'new ' * made_new}{self.visit(called)}(", arguments, ")")

    def _array(self, node: Any) -> str:
        """Return what is iterated over as an array."""
        if isinstance(node, ast.Tuple):
            return self.visit_List(node)
        return self.visit(node) if self._is_a("list", node) else f"list({self.visit(node)})"

    def _each(self, node: Any, method: str = "map") -> str:
        """Return a comprehension; ``method`` is that of arrays that takes each element."""
        first, *others = node.generators
        text, target = self._array(first.iter), self.visit(first.target)
        for condition in first.ifs:
            text += f".filter(({target}) => {self._test(condition)})"
        if others:
            inner = self._each(type(node)(node.elt, others), method)
            return f"{text}.{'flatMap' if method == 'map' else method}(({target}) => {inner})"
        element = self.visit(node.elt) if method == "map" else self._test(node.elt)
        body = f"({element})" if element.startswith("{") else element
        return text if element == target else f"{text}.{method}(({target}) => {body})"

    def visit_ListComp(self, node: Any) -> str:
        return self._each(node)

    def visit_GeneratorExp(self, node: Any) -> str:
        return self._each(node)

    def visit_DictComp(self, node: Any) -> str:
        return f"dict({self._each(ast.ListComp(ast.List([node.key, node.value]), node.generators))})"

    def visit_Lambda(self, node: Any) -> str:
        return f"({', '.join(self._local(arg.arg) for arg in node.args.args)}) => {self.visit(node.body)}"

    def visit_Yield(self, node: Any) -> str:
        return f"yield {self.visit(node.value)}"


def _called(node: Any) -> str:
    """Return the name of the function or method of a call."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _stores(node: Any) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _is_list(node: Any) -> bool:
    return isinstance(node, (ast.List, ast.ListComp))


def _names(node: Any) -> set[str]:
    """Return all names in a statement or an expression."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _target(statement: Any) -> Any:
    """Return what a statement assigns to."""
    [target] = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return target


def _place(name: str, body: Sequence[Any]) -> Any:
    """Return the statement that sets a name before, and where, all others can see it; None if there is none."""
    first, *others = [statement for statement in body if name in _names(statement)]
    if isinstance(first, (ast.If, ast.For)) and not others:
        heads = [first.test] if isinstance(first, ast.If) else [first.target, first.iter]
        inside = [
            block
            for block in (heads, first.body, first.orelse)
            if any(name in _names(part) for part in block)
        ]
        if len(inside) == 1 and inside[0] is not heads:
            return _place(name, inside[0])
    if not isinstance(first, (ast.Assign, ast.AnnAssign, ast.For)) or (isinstance(first, ast.For) and others):
        return None
    stored = (part.id for part in ast.walk(_target(first)) if isinstance(part, ast.Name) and _stores(part))
    return first if name in stored else None


def _own(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a statement without those of functions and comprehensions inside it."""
    if not isinstance(node, (ast.FunctionDef, ast.GeneratorExp, ast.ListComp, ast.DictComp, ast.Lambda)):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _own(child)
