"""What a plan computes once: constant lists, maps and conversions, constant sets, and constant patterns.

Upstream does the same when it makes a program, so a constant conversion that fails (``int("x")``) makes the expression
uncompilable. The cost of a constant is zero wherever it stands.
"""

from __future__ import annotations

from components.cel.kinds import type_name
from components.cel.library.registry import implementation
from components.cel.problem import EvaluationAborted, EvaluationError, SelectorError
from components.cel.syntax import Call, Entry, Expr, Ident, ListExpr, Literal, MapExpr, Select, children
from components.cel.types import Kind
from components.cel.values import CelMap, TypeValue, UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from components.cel.checker import Checked
    from components.cel.regex.pattern import Pattern

CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
_HASHABLE: Final = frozenset({str, int, bool, float, UInt})
_KEYS: Final = frozenset({str, int, bool, float, UInt})
_INDEXES: Final = frozenset({"_[_]", "_[?_]"})
_PATTERNED: Final = frozenset({"matches", "find", "findAll"})


class Constants:
    """Constants, constant sets and patterns by node id."""

    __slots__ = ("patterns", "sets", "values")

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self.sets: dict[int, frozenset[tuple[type, Value]]] = {}
        self.patterns: dict[int, Pattern] = {}


def constants_of(checked: Checked, expression: str) -> Constants:
    """Compute the constants of a checked expression; raises what makes its plan impossible."""
    folder = _Folder(checked, expression)
    folder.visit(checked.root)
    return folder.found


class _Folder:
    __slots__ = ("_checked", "_expression", "found")

    def __init__(self, checked: Checked, expression: str) -> None:
        self._checked = checked
        self._expression = expression
        self.found = Constants()

    def visit(self, node: Expr) -> None:
        if type(node) is Literal:
            self.found.values[node.id] = node.value
            return
        named = self._checked.type_values.get(node.id)
        if named is not None:
            self.found.values[node.id] = TypeValue(named)
            return
        if type(node) is Ident:
            if self._checked.types[node.id].kind is Kind.TYPE:  # upstream takes it for the name of a type
                message = f"reference to undefined type: {node.name[:80]}"
                raise SelectorError("undeclared", message, expression=self._expression, offset=node.pos)
            return
        if type(node) is Select:
            self.visit(node.operand)
            return
        if type(node) is Call:
            self._call(node)
            return
        for child in children(node):
            self.visit(child)
        if isinstance(node, ListExpr) and not node.optional:
            self._list(node)
        elif isinstance(node, MapExpr):
            self._map(node)

    def _list(self, node: ListExpr) -> None:
        values = self.found.values
        if all(element.id in values for element in node.elements):
            values[node.id] = [values[element.id] for element in node.elements]

    def _map(self, node: MapExpr) -> None:
        values = self.found.values
        if any(not _constant_entry(entry, values) for entry in node.entries):
            return
        built = CelMap()
        try:
            for entry in node.entries:
                assert isinstance(entry.key, Expr)
                built.insert(values[entry.key.id], values[entry.value.id])
        except EvaluationAborted as error:
            raise SelectorError(
                "constant-folding", error.message, expression=self._expression, offset=node.pos
            ) from error
        values[node.id] = built

    def _call(self, node: Call) -> None:
        global_name = self._checked.global_names.get(node.id)
        name = global_name or node.function
        if node.target is not None and not global_name:
            self.visit(node.target)
        for arg in node.args:
            self.visit(arg)
        values = self.found.values
        if name == "@in":
            self._membership(node)
        elif name in CONVERSIONS and len(node.args) == 1 and not (node.target and not global_name):
            if node.args[0].id in values:
                self._convert(node, name)
        elif name in _INDEXES:
            index = node.args[1]
            if index.id in values and type(values[index.id]) not in _KEYS:
                message = f"a value of type {type_name(values[index.id])} is no key or index"
                raise SelectorError("invalid-index", message, expression=self._expression, offset=node.pos)
        elif name in _PATTERNED:
            self._pattern(node)

    def _convert(self, node: Call, name: str) -> None:
        checked = self._checked
        function = checked.environment.functions[name]
        run = implementation(function, checked.overloads[node.id], growing=False)
        try:
            self.found.values[node.id] = run(self.found.values[node.args[0].id])
        except EvaluationError as error:
            raise SelectorError(
                "constant-folding", error.message, expression=self._expression, offset=node.pos
            ) from error

    def _membership(self, node: Call) -> None:
        listed = self.found.values.get(node.args[1].id)
        if self._checked.overloads[node.id] != ("in_list",) or not isinstance(listed, list):
            return
        if not listed:
            self.found.values[node.id] = False
            return
        if any(type(element) not in _HASHABLE for element in listed):
            return
        members: set[tuple[type, Value]] = set()
        for element in listed:
            members |= _members(element)
        self.found.sets[node.id] = frozenset(members)

    def _pattern(self, node: Call) -> None:
        args = node.args if node.target is None else (node.target, *node.args)
        source = self.found.values.get(args[1].id) if len(args) > 1 else None
        if not isinstance(source, str):
            return
        from components.cel.regex.code import RegexError  # noqa: PLC0415 - only searches pay for the engine
        from components.cel.regex.pattern import compile_pattern  # noqa: PLC0415 - as above

        try:
            self.found.patterns[node.id] = compile_pattern(source, self._checked.environment.minor)
        except RegexError as error:
            raise SelectorError(
                "bad-regex-literal", error.message, expression=self._expression, offset=args[1].pos
            ) from error


def _constant_entry(entry: Entry, values: dict[int, Value]) -> bool:
    assert isinstance(entry.key, Expr)
    return entry.key.id in values and entry.value.id in values and not entry.optional


def _members(element: Value) -> set[tuple[type, Value]]:
    """Give the element and what equals it in the other number types, as far as the conversion loses nothing."""
    kind = type(element)
    found: set[tuple[type, Value]] = {(kind, element)}
    if kind is int or kind is UInt:
        whole = int(element)
        found.add((float, float(whole)))
        if 0 <= whole < 2**64:
            found.add((UInt, whole))
        if whole < 2**63:
            found.add((int, whole))
    elif kind is float and element.is_integer():
        whole = int(element)
        if -(2**63) < whole < 2**63:
            found.add((int, whole))
        if 0 <= whole < 2**64:
            found.add((UInt, whole))
    elif kind is float and element != element:  # noqa: PLR0124 - NaN
        found.clear()
    return found
