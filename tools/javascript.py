"""Writes Python functions as JavaScript, so that a page runs the library's own rules (recorders/record_page_rules.py).

`written` starts from a few functions and adds all functions, classes and constants that they use. It knows
the part of Python in which rules on numbers, words and shapes are written, and raises at anything else. The
caller names what the page has in JavaScript of its own; ``explorer/script/python.js`` has Python's built-in functions.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import json
import string
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["written"]


def written(roots: Iterable[Any], natives: Mapping[Any, str]) -> tuple[list[str], str]:
    """Return what JavaScript calls the roots, and the text that defines them.

    Args:
        roots: functions, classes or constants.
        natives: what the page calls functions and classes that it has already.

    Returns:
        One expression for each root, and the text of all functions, classes and constants. Local names
        become letters.

    Raises:
        NotImplementedError: if a function has an expression or a statement that is not known here.

    >>> from teachconv.core.law import split_padding
    >>> names, text = written([split_padding], {})
    >>> print(names, *text.split(";"), sep="\\n")
    ['split_padding']
    function split_padding(a,b=false){let c,d
    [d,c]=[floorDiv(a,2),a-floorDiv(a,2)]
    return b?tuple(c,d):tuple(d,c)
    }
    """
    writer = _Writer(natives)
    names = [writer.value(root) for root in roots]
    return names, writer.text()


class _Writer:
    """What is written: the names of Python's objects in JavaScript, and their definitions."""

    def __init__(self, natives: Mapping[Any, str]) -> None:
        self.natives = natives
        self.names: dict[int, str] = {}  # by the id of what has the name,
        self.kept: list[Any] = []  # which lives as long
        self.parts: list[str] = []
        self.waiting: list[FunctionType] = []
        self.classes: dict[type, dict[str, str]] = {}  # the members of each that are written
        self.attributes: set[str] = set()  # that functions use

    def value(self, value: Any, module: str = "", name: str = "") -> str:
        """Return a Python object as an expression; a module's constant has a name."""
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
            self.parts.append(f"const {self.names[id(value)]}={text};")
        return self.names[id(value)]

    def _enter(self, value: Any, module: str, name: str) -> None:
        """Name a function, class or constant; with its module if another or a local name has the name."""
        taken = {*self.names.values(), *self.natives.values(), *_HELPERS, *vars(builtins)}
        is_taken = name in taken or not name[1:].strip(string.digits)
        self.names[id(value)] = f"{module.rpartition('.')[2]}_{name}" if is_taken else name
        self.kept.append(value)

    def _constant(self, value: Any) -> str:
        """Return a collection, or an object with its fields and properties."""
        if isinstance(value, (tuple, list)):
            items = ",".join(map(self.value, value))
            return f"tuple({items})" if isinstance(value, tuple) else f"[{items}]"
        if not isinstance(value, Mapping):
            names = [field.name for field in dataclasses.fields(value)]
            names += [name for name, member in vars(type(value)).items() if isinstance(member, _PROPERTY)]
            value = {name: getattr(value, name) for name in names}
        pairs = (f"{self.value(key)}:{self.value(item)}" for key, item in value.items())  # a key may be null
        return f"{{{','.join(pairs)}}}"

    def text(self) -> str:
        """Return all definitions; a class has those of its members that are used."""
        while self.waiting or self._add_members():
            while self.waiting:
                function = self.waiting.pop()
                head = f"function {self.names[id(function)]}"
                self.parts.append(_Function(self, function).definition(head))
        for cls, members in self.classes.items():
            self.parts.append(
                f"class {self.names[id(cls)]}{{{self._constructor(cls)}{''.join(members.values())}}}"
            )
        return "\n".join(self.parts)

    def _add_members(self) -> bool:
        """Write the methods and properties that are used and not written yet; return whether any were."""
        before = sum(map(len, self.classes.values()))
        for cls, members in [*self.classes.items()]:
            for name, member in vars(cls).items():
                function: Any = member
                if isinstance(member, _PROPERTY):
                    function = member.fget if isinstance(member, property) else member.func
                if name in members or name not in self.attributes or not isinstance(function, FunctionType):
                    continue
                if function not in self.natives:
                    head = f"get {name}" if isinstance(member, _PROPERTY) else name
                    members[name] = _Function(self, function).definition(head)
        return sum(map(len, self.classes.values())) > before

    def _constructor(self, cls: type) -> str:
        """Return the constructor of a dataclass."""
        words, fields = [], []
        for number, parameter in enumerate(inspect.signature(cls).parameters.values()):
            word, default = _letter(number), parameter.default
            fields.append(f"{parameter.name}:{word}")
            if default.__class__.__module__ == "dataclasses":  # a dict, made anew for each object
                word += "={}"
            elif default is not parameter.empty:
                word += f"={self.value(default)}"
            words.append(word)
        return f"constructor({','.join(words)}){{Object.assign(this,{{{','.join(fields)}}});}}"


def _letter(number: int) -> str:
    """Return the local name of a number: a, b, ..., Z, a1."""
    return string.ascii_letters[number % 52] + str(number // 52 or "")


@lru_cache
def _module(name: str) -> ast.Module:
    """Return a module as a tree."""
    return ast.parse(inspect.getsource(sys.modules[name]))


# methods of Python's types: {0} is the object, {1} the arguments
_PROPERTY = (property, cached_property)
_METHODS = {
    "append": "{0}.push({1})",
    "format": "format({0},{1})",
    "get": "get({0},{1})",
    "index": "{0}.indexOf({1})",
    "items": "itemsOf({0})",
    "join": "{1}.join({0})",
    "lower": "{0}.toLowerCase()",
    "replace": "{0}.replaceAll({1})",
    "split": "{0}.split({1})",
    "startswith": "{0}.startsWith({1})",
    "translate": "translated({0},{1})",
    "upper": "{0}.toUpperCase()",
}
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
# functions of python.js that are not Python's own
_HELPERS = (
    "add",
    "both",
    "changed",
    "contains",
    "either",
    "equal",
    "floorDiv",
    "floorMod",
    "repeated",
    "truth",
    "tuple",
)
# functions and methods by what they return
_RETURNS = {
    "bool": ("all", "any", "hasattr", "isinstance", "startswith"),
    "int": ("abs", "index", "len", "max", "min", "sum"),
    "list": ("enumerate", "islice", "items", "range", "sorted", "zip"),
    "str": ("join",),
}


class _Open(str):
    """Text with an operator of its own, which needs parentheses beside another one."""

    __slots__ = ()


def _closed(text: str) -> str:
    return f"({text})" if isinstance(text, _Open) else text


class _Function(ast.NodeVisitor):
    """One function; each ``visit_`` method returns the text of a node."""

    def __init__(self, writer: _Writer, function: FunctionType) -> None:
        self.writer, self.function = writer, function
        self.types: dict[str, str] = {}  # of local names, where they are known
        self.letters: dict[str, str] = {}
        self.node: Any = _module(function.__module__)
        for word in function.__qualname__.split("."):
            self.node = next(node for node in self.node.body if getattr(node, "name", "") == word)
        self.names = {node.id for node in ast.walk(self.node) if isinstance(node, ast.Name) and _stores(node)}
        self.names |= {node.arg for node in ast.walk(self.node) if isinstance(node, ast.arg)}
        self.names |= {node.name for node in ast.walk(self.node) if isinstance(node, ast.FunctionDef)}

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
                words.append(self._local(arg.arg) + (f"={self.visit(default)}" if default else ""))
        inner = [part for statement in node.body for part in _own(statement)]
        stored = {part.id for part in inner if isinstance(part, ast.Name) and _stores(part)}
        names = sorted(stored - {"_", *(arg.arg for arg in [*args.args, *args.kwonlyargs])})
        declared = f"let {','.join(map(self._local, names))};" if names else ""
        if any(isinstance(part, ast.Yield) for part in inner):
            head = head.replace("function", "function*")
        return f"{head}({','.join(words)}){{{declared}{self._statements(node.body)}}}"

    def _local(self, name: str) -> str:
        return self.letters.setdefault(name, _letter(len(self.letters)))

    def _statements(self, body: Sequence[ast.stmt]) -> str:
        return "".join(map(self.visit, body))

    # -- statements -------------------------------------------------------------------------------

    def visit_Expr(self, node: Any) -> str:
        return "" if isinstance(node.value, ast.Constant) else f"{self.visit(node.value)};"

    def visit_Return(self, node: Any) -> str:
        return f"return {self.visit(node.value)};" if node.value else "return;"

    def visit_Raise(self, node: Any) -> str:
        return f"throw {self.visit(node.exc)};"

    def visit_FunctionDef(self, node: Any) -> str:
        return self.definition(f"function {self._local(node.name)}", node)

    def visit_Assign(self, node: Any) -> str:
        [target], value = node.targets, node.value
        if isinstance(target, ast.Tuple):
            made = self.visit(ast.List(value.elts) if isinstance(value, ast.Tuple) else value)
            starred = [isinstance(item, ast.Starred) for item in target.elts]
            if any(starred[:-1]):  # JavaScript has such a name only at the end
                first = starred.index(True)
                made = f"spread({made},{first},{len(starred) - first - 1})"
                return f"{self.visit(target).replace('...', '')}={made};"
            return f"{self.visit(target)}={made};"
        if isinstance(target, ast.Name) and self._is_a("int", value):
            self.types[target.id] = "int"
        return f"{self.visit(target)}={self.visit(value)};"

    def visit_AnnAssign(self, node: Any) -> str:
        return self.visit_Assign(ast.Assign([node.target], node.value))

    def visit_AugAssign(self, node: Any) -> str:
        target = self.visit(node.target)
        if isinstance(node.value, (ast.List, ast.ListComp)):
            return f"{target}.push(...{self.visit(node.value)});"
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return f"{target}={self.visit(ast.BinOp(read, node.op, node.value))};"

    def visit_If(self, node: Any) -> str:
        head, body = f"if({self._test(node.test)})", self._statements(node.body)
        if node.orelse:
            return f"{head}{{{body}}}else{{{self._statements(node.orelse)}}}"
        return head + (body if len(node.body) == 1 else f"{{{body}}}")

    def visit_For(self, node: Any) -> str:
        return f"for({self.visit(node.target)} of {self._array(node.iter)}){{{self._statements(node.body)}}}"

    def visit_Continue(self, node: Any) -> str:
        return "continue;"

    def visit_Try(self, node: Any) -> str:
        [handler] = node.handlers
        check = f"if(!(error instanceof {self.writer.natives[ValueError]}))throw error;"
        return f"try{{{self._statements(node.body)}}}catch(error){{{check}{self._statements(handler.body)}}}"

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
                parts.append(str(part.value).replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${"))
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
            return f"tuple({','.join(items)})"
        return f"[{','.join(items[:-1] if items[-1] == '...' else items)}]"

    def visit_List(self, node: Any) -> str:
        return f"[{','.join(map(self.visit, node.elts))}]"

    def visit_Starred(self, node: Any) -> str:
        return f"...{self.visit(node.value)}"

    def visit_Dict(self, node: Any) -> str:
        items = []
        for key, value in zip(node.keys, node.values, strict=True):
            name = str(key.value) if isinstance(key, ast.Constant) else key and f"[{self.visit(key)}]"
            items.append(f"{name}:{self.visit(value)}" if key else f"...{self.visit(value)}")
        return f"{{{','.join(items)}}}"

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
        return f"{value}.slice({low}{f',{self.visit(index.upper)}' if index.upper else ''})"

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
            return _Open(sign.join(_closed(self._test(value)) for value in node.values))
        known = any(self._is_a(name, node) for name in ("bool", "int", "str"))
        return self.visit(node) if known else f"truth({self.visit(node)})"

    def visit_BoolOp(self, node: Any) -> str:
        if self._is_a("bool", node):
            return self._test(node)
        first, second = map(self.visit, node.values)
        return f"{'both' if isinstance(node.op, ast.And) else 'either'}({first},()=>({second}))"

    def visit_UnaryOp(self, node: Any) -> str:
        if isinstance(node.op, ast.Not):
            return f"!{_closed(self._test(node.operand))}"
        return f"-{_closed(self.visit(node.operand))}"

    def visit_IfExp(self, node: Any) -> str:
        return _Open(
            f"{_closed(self._test(node.test))}?{_closed(self.visit(node.body))}:{_closed(self.visit(node.orelse))}"
        )

    def visit_BinOp(self, node: Any) -> str:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.BitOr):
            return f"{{...{left},...{right}}}"
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Tuple):
            return f"repeated({left},{right})"
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            return f"{'floorDiv' if isinstance(node.op, ast.FloorDiv) else 'floorMod'}({left},{right})"
        if isinstance(node.op, ast.Add) and not (self._is_a("int", node) or self._is_a("str", node)):
            return f"add({left},{right})"
        return _Open(f"{_closed(left)}{_SIGNS[type(node.op)]}{_closed(right)}")

    def visit_Compare(self, node: Any) -> str:
        sides = [node.left, *node.comparators]
        found = [self._compared(*pair) for pair in zip(sides, node.ops, sides[1:], strict=False)]
        return found[0] if len(found) == 1 else _Open("&&".join(found))

    def _compared(self, left: Any, op: ast.cmpop, right: Any) -> str:
        first, second = _closed(self.visit(left)), _closed(self.visit(right))
        if type(op) in _SIGNS:
            return _Open(f"{first}{_SIGNS[type(op)]}{second}")
        no = "!" if isinstance(op, (ast.NotEq, ast.NotIn, ast.IsNot)) else ""
        if isinstance(op, (ast.In, ast.NotIn)):
            return f"{no}contains({second},{first})"
        if isinstance(op, (ast.Is, ast.IsNot)):
            return _Open(f"{first}{no or '='}={second}")  # null and undefined are the same
        if any(self._is_a(name, side) for name in ("int", "str") for side in (left, right)):
            return _Open(f"{first}{no or '='}=={second}")
        return f"{no}equal({first},{second})"

    # -- calls, and what is iterated over ---------------------------------------------------------

    def visit_Call(self, node: Any) -> str:
        function, called = self._python(node.func), node.func
        arguments = [self.visit(argument) for argument in node.args]
        if function in (any, all) and isinstance(node.args[0], ast.GeneratorExp):
            return self._each(node.args[0], "some" if function is any else "every")
        if function is isinstance:
            return f"isinstance({arguments[0]},{json.dumps(ast.unparse(node.args[1]))})"
        if function is str.maketrans:
            return f"maketrans({','.join(arguments)})"
        words = [(word.arg, self.visit(word.value)) for word in node.keywords if word.arg != "strict"]
        fields = f"{{{','.join(f'{name}:{value}' if name else f'...{value}' for name, value in words)}}}"
        if function is dataclasses.replace:
            return f"changed({arguments[0]},{fields})"
        if isinstance(function, type) and dataclasses.is_dataclass(function):
            made = f"new {self.visit(called)}({','.join(arguments)})"
            return f"changed({made},{fields})" if words else made
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
        text = ",".join(arguments)
        if function is None and isinstance(called, ast.Attribute) and called.attr in _METHODS:
            text = self._array(node.args[0]) if called.attr == "join" else text
            return _METHODS[called.attr].format(_closed(self.visit(called.value)), text)
        made_new = (
            isinstance(function, type) and issubclass(function, (Exception, str)) and function is not str
        )
        return f"{'new ' * made_new}{self.visit(called)}({text})"

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
            text += f".filter(({target})=>{self._test(condition)})"
        if others:
            inner = self._each(type(node)(node.elt, others), method)
            return f"{text}.{'flatMap' if method == 'map' else method}(({target})=>{inner})"
        element = self.visit(node.elt) if method == "map" else self._test(node.elt)
        body = f"({element})" if element.startswith("{") else element
        return text if element == target else f"{text}.{method}(({target})=>{body})"

    def visit_ListComp(self, node: Any) -> str:
        return self._each(node)

    def visit_GeneratorExp(self, node: Any) -> str:
        return self._each(node)

    def visit_DictComp(self, node: Any) -> str:
        return f"dict({self._each(ast.ListComp(ast.List([node.key, node.value]), node.generators))})"

    def visit_Lambda(self, node: Any) -> str:
        return f"({','.join(self._local(arg.arg) for arg in node.args.args)})=>{self.visit(node.body)}"

    def visit_Yield(self, node: Any) -> str:
        return f"yield {self.visit(node.value)}"


def _called(node: Any) -> str:
    """Return the name of the function or method of a call."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _stores(node: Any) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _own(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a statement without those of functions and comprehensions inside it."""
    if not isinstance(node, (ast.FunctionDef, ast.GeneratorExp, ast.ListComp, ast.DictComp, ast.Lambda)):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _own(child)
