"""Check an expression's types in one environment, and resolve every call to its possible overloads.

The answer is beside the tree: the type of each node, the overloads of each call, and calls whose receiver turned out
to be a namespace (``optional.of(x)``). The first problem is raised; its kind is the class that the tables name.
"""

# ruff: noqa: SLF001 - a table of the class above it

from __future__ import annotations

from components.cel import types as t
from components.cel.problem import SelectorError
from components.cel.syntax import (
    Call,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    qualified_name,
    unfinished,
)
from components.cel.types import Kind, Type, is_dyn
from components.cel.unify import Bindings, hopeless, most_general, renamed
from components.cel.values import UInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, NoReturn

    from components.cel.declarations import Function, Overload
    from components.cel.environment import Environment

_LITERALS: Final[dict[object, Type]] = {
    bool: t.BOOL, int: t.INT, UInt: t.UINT, float: t.DOUBLE, str: t.STRING, bytes: t.BYTES, type(None): t.NULL,
}  # fmt: skip
_A, _B = t.param("A"), t.param("B")
TYPE_NAMES: Final[dict[str, Type]] = {
    "bool": t.BOOL, "bytes": t.BYTES, "double": t.DOUBLE, "int": t.INT, "null_type": t.NULL, "string": t.STRING,
    "uint": t.UINT, "list": t.list_of(_A), "map": t.map_of(_A, _B), "type": t.type_of(),
    "google.protobuf.Timestamp": t.TIMESTAMP, "google.protobuf.Duration": t.DURATION,
    "net.IP": t.IP, "net.CIDR": t.CIDR, "optional_type": Type(Kind.OPAQUE, "optional_type"),
}  # fmt: skip
WRAPPERS: Final[dict[str, Type]] = {
    f"google.protobuf.{name}Value": Type(kind.kind, kind.name, nullable=True)
    for name, kind in (
        ("Bool", t.BOOL), ("Bytes", t.BYTES), ("Double", t.DOUBLE), ("Float", t.DOUBLE), ("Int32", t.INT),
        ("Int64", t.INT), ("String", t.STRING), ("UInt32", t.UINT), ("UInt64", t.UINT),
    )
}  # fmt: skip
_TYPE_WORDS: Final = frozenset(name.rpartition(".")[2] for name in TYPE_NAMES if "." in name)
_EQUALITIES: Final = {"_==_": ("equals",), "_!=_": ("not_equals",)}
_GROUND: Final = frozenset(
    {Kind.BOOL, Kind.BYTES, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.STRING, Kind.STRUCT, Kind.TIMESTAMP, Kind.UINT}
)
_SYMBOLS: Final = {"@in": "in", "_?_:_": "? :"}


class Checked:
    """The result of a check; keys are node ids.

    ``called`` has the names of the functions that are called, ``[]``, ``{}`` and ``fold`` for literals and folds
    among them.
    """

    __slots__ = ("called", "environment", "global_names", "overloads", "root", "type_values", "types")

    def __init__(self, environment: Environment, root: Expr) -> None:
        self.environment = environment
        self.root = root
        self.called: set[str] = set()
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[str, ...]] = {}
        self.global_names: dict[int, str] = {}
        self.type_values: dict[int, str] = {}

    @property
    def result(self) -> Type:
        """The type of the whole expression."""
        return self.types[self.root.id]


def check(root: Expr, environment: Environment, expression: str) -> Checked:
    """Check a tree; the result type is not judged here."""
    checker = _Checker(root, environment, expression)
    try:
        checker.check(root)
        return checker.finish()
    except SelectorError as error:  # a type has no place of its own
        raise error.located(expression, unfinished(root, checker.types).pos) from None


class _Checker:
    __slots__ = ("_bindings", "_checked", "_environment", "_expression", "_fresh", "_functions", "_scopes", "types")

    def __init__(self, root: Expr, environment: Environment, expression: str) -> None:
        self._environment = environment
        self._functions = environment.functions
        self._expression = expression
        self._checked = Checked(environment, root)
        self.types = self._checked.types
        self._bindings = Bindings()
        self._scopes: list[dict[str, Type]] = []
        self._fresh = 0

    def finish(self) -> Checked:
        """Bind what is still free."""
        resolve = self._bindings.resolve
        for node_id, found in self.types.items():
            if found.generic:
                self.types[node_id] = resolve(found, free_to_dyn=True)
        return self._checked

    def check(self, node: Expr) -> Type:
        """Check one node; its handler keeps the type, so that a level costs one frame, two for a fold."""
        return _HANDLERS[type(node)](self, node)

    def _keep(self, node: Expr, found: Type) -> Type:
        self.types[node.id] = found
        return found

    def _fail(self, kind: str, message: str, pos: int) -> NoReturn:
        raise SelectorError(kind, message, expression=self._expression, offset=pos)

    def _free(self) -> Type:
        self._fresh += 1
        return t.param(f"_var{self._fresh}")

    def _resolve(self, value: Type) -> Type:
        if value.generic:
            return self._bindings.resolve(value, free_to_dyn=False)
        return value

    def _literal(self, node: Literal) -> Type:
        found = self.types[node.id] = _LITERALS[type(node.value)]
        return found

    def _lookup(self, name: str, node: Expr) -> Type | None:
        """Find a variable or the name of a type."""
        bare = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if bare in scope:
                return scope[bare]
        if bare == "device":
            return t.DEVICE
        named = TYPE_NAMES.get(bare)
        if named is not None:
            self._checked.type_values[node.id] = bare
            return t.type_of(named)
        return None

    def _ident(self, node: Ident) -> Type:
        found = self._lookup(node.name, node)
        if found is None:
            self._fail("undeclared", f"undeclared reference to {node.name[:80]!r}", node.pos)
        return self._keep(node, found)

    def _select(self, node: Select) -> Type:
        if node.field in _TYPE_WORDS:
            named = self._lookup(qualified_name(node), node)
            if named is not None:
                return self._keep(node, named)
        operand = _HANDLERS[type(node.operand)](self, node.operand)
        found = self._field(node, operand, node.field, optional=False)
        return self._keep(node, t.BOOL if node.test else found)

    def _field(self, node: Expr, operand: Type, name: str, *, optional: bool) -> Type:
        target, wrapped = t.unwrap(self._resolve(operand))
        if target.kind is Kind.MAP:
            found = target.params[1]
        elif target.kind is Kind.STRUCT:
            found = self._member(node, target, name)
        elif target.kind is Kind.PARAM:
            self._bindings.assign([t.DYN], [target])
            found = t.DYN
        else:
            if not is_dyn(target):
                self._fail("no-field-selection", f"type '{target}' does not support field selection", node.pos)
            found = t.DYN
        found = self._resolve(found)
        return t.optional_of(found) if wrapped or optional else found

    def _member(self, node: Expr, target: Type, name: str) -> Type:
        fields = self._environment.device_fields if target == t.DEVICE else {}
        if name not in fields:
            allowed = f"; it has {', '.join(sorted(fields))}" if fields else ""
            self._fail("undefined-field", f"undefined field '{name[:80]}' of {target}{allowed}", node.pos)
        return fields[name]

    def _call(self, node: Call) -> Type:
        name = node.function
        if name == "_?._":
            field_name = node.args[1]
            assert isinstance(field_name, Literal)
            assert isinstance(field_name.value, str)
            self.types[field_name.id] = t.STRING
            operand = _HANDLERS[type(node.args[0])](self, node.args[0])
            found = self._field(node, operand, field_name.value, optional=True)
            self._checked.overloads[node.id] = ("select_optional_field",)
            return self._keep(node, found)
        target = node.target
        name = self._global_name(node)
        types: list[Type] = []
        for arg in node.args:
            types.append(_HANDLERS[type(arg)](self, arg))  # noqa: PERF401 - a comprehension costs a frame a level
        member = target is not None and node.id not in self._checked.global_names
        if target is not None and member:
            types.insert(0, _HANDLERS[type(target)](self, target))
        function = self._functions.get(name)
        self._checked.called.add(node.function)
        if function is None:
            self._fail("undeclared", f"undeclared reference to function {name[:80]!r}", node.pos)
        return self._keep(node, self._overload(node, function, types, member=member))

    def _global_name(self, node: Call) -> str:
        """Give the function's name; a receiver that is only a namespace becomes part of it."""
        name, target = node.function, node.target
        if target is None:
            if name.startswith("."):
                name = name[1:]
                self._checked.global_names[node.id] = name
            return name
        if name not in self._environment.namespaced:
            return name
        prefix = qualified_name(target)
        full = f"{prefix}.{name}".removeprefix(".")
        if prefix and full in self._functions:
            self._checked.global_names[node.id] = full
            return full
        return name

    def _overload(self, node: Call, function: Function, types: list[Type], *, member: bool) -> Type:
        name = function.name
        if name in {"_&&_", "_||_"}:
            return self._logic(node, function, types)
        if name == "_[_]" and types[0].kind is Kind.MAP and types[0].params[0] is t.STRING and types[1] is t.STRING:
            self._checked.overloads[node.id] = ("index_map",)
            return self._resolve(types[0].params[1])
        key = (name, "m" if member else "g", *[one.name if one.whole else "" for one in types])
        known = self._environment.resolved.get(key)
        if known is None:
            known = self._resolved(node, function, types, member=member)
            if "" not in key and not known[0].generic:
                self._environment.resolved[key] = known
        else:
            self._fresh += known[2]
        result, self._checked.overloads[node.id], _ = known
        return result

    def _resolved(
        self, node: Call, function: Function, types: list[Type], *, member: bool
    ) -> tuple[Type, tuple[str, ...], int]:
        """Give the type of a call, its possible overloads, and how many type parameters that took."""
        before = self._fresh
        if function.name in _EQUALITIES and types[0] == types[1] and types[0].kind in _GROUND:
            return t.BOOL, _EQUALITIES[function.name], 0
        result: Type | None = None
        found: list[str] = []
        for overload in function.overloads:
            if overload.member != member or len(overload.args) != len(types) or hopeless(types, overload.args):
                continue
            candidate = self._try(overload, types)
            if candidate is None:
                continue
            found.append(overload.id)
            if result is None:
                result = candidate
            elif not is_dyn(result) and candidate != result:
                result = t.DYN
        if result is None:
            self._no_overload(node, function, types, member=member)
        return result, tuple(found), self._fresh - before

    def _try(self, overload: Overload, types: list[Type]) -> Type | None:
        """Give the result type of an overload that takes the arguments."""
        if not overload.params:
            return overload.result if self._bindings.assign(types, overload.args) else None
        names = {t.param(name): self._free() for name in overload.params}
        args = [renamed(arg, names) for arg in overload.args]
        if not self._bindings.assign(types, args):
            return None
        return self._bindings.resolve(renamed(overload.result, names), free_to_dyn=False)

    def _logic(self, node: Call, function: Function, types: list[Type]) -> Type:
        for arg, found in zip(node.args, types, strict=True):
            if found is not t.BOOL and not self._bindings.assign([found], [t.BOOL]):
                self._fail("type-mismatch", f"expected type 'bool' but found '{self._shown(found)}'", arg.pos)
        self._checked.overloads[node.id] = (function.overloads[0].id,)
        return t.BOOL

    def _no_overload(self, node: Call, function: Function, types: list[Type], *, member: bool) -> NoReturn:
        shown = [self._shown(found) for found in types]
        applied = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
        name = _SYMBOLS.get(function.name, function.name.strip("_"))  # "==" of "_==_"
        self._fail("no-matching-overload", f"found no matching overload for '{name}' applied to '{applied}'", node.pos)

    def _shown(self, value: Type) -> str:
        return str(self._bindings.resolve(value, free_to_dyn=True))

    def _join(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        if not self._bindings.assign([previous], [current]):
            return t.DYN  # validators refuse it, except among the arguments of format
        return most_general(previous, current)

    def _optional_value(self, node: Expr, value: Type) -> Type:
        inner, wrapped = t.unwrap(value)
        if not wrapped and not is_dyn(value):
            message = f"expected type '{t.optional_of(value)}' but found '{self._shown(value)}'"
            self._fail("type-mismatch", message, node.pos)
        return inner

    def _list(self, node: ListExpr) -> Type:
        self._checked.called.add("[]")
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            found = _HANDLERS[type(element)](self, element)
            if index in node.optional:
                found = self._optional_value(element, found)
            joined = self._join(joined, found)
        return self._keep(node, t.list_of(self._free() if joined is None else joined))

    def _map(self, node: MapExpr) -> Type:
        self._checked.called.add("{}")
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            assert isinstance(entry.key, Expr)
            keys = self._join(keys, _HANDLERS[type(entry.key)](self, entry.key))
            found = _HANDLERS[type(entry.value)](self, entry.value)
            if entry.optional:
                found = self._optional_value(entry.value, found)
            values = self._join(values, found)
        if keys is None or values is None:
            keys, values = self._free(), self._free()
        return self._keep(node, t.map_of(keys, values))

    def _struct(self, node: StructExpr) -> Type:
        name = node.name.removeprefix(".")
        result = t.DEVICE if name == t.DEVICE.name else WRAPPERS.get(name)
        if result is None:
            text = f"'{name}' is not a message type" if name in TYPE_NAMES else f"undeclared reference to '{name[:80]}'"
            self._fail("undeclared", text, node.pos)
        fields = self._environment.device_fields if result == t.DEVICE else {"value": Type(result.kind, result.name)}
        for entry in node.entries:
            found = self.check(entry.value)
            if entry.optional:
                found = self._optional_value(entry.value, found)
            assert isinstance(entry.key, str)
            if entry.key not in fields:
                self._fail("undefined-field", f"undefined field '{entry.key[:80]}' of {name}", entry.pos)
            if not self._bindings.assign([fields[entry.key]], [found]):
                message = f"expected type of field '{entry.key}' is '{fields[entry.key]}' but found '{found}'"
                self._fail("type-mismatch", message, entry.pos)
        return self._keep(node, result)

    def _fold(self, node: Fold) -> Type:
        self._checked.called.add("fold")
        ranged = self._resolve(_HANDLERS[type(node.range)](self, node.range))
        accu = _HANDLERS[type(node.init)](self, node.init)
        self._scopes.append({node.accu: accu})
        first, second = self._range_types(node, ranged)
        self._scopes.append({node.var: first, node.var2: second} if node.var2 else {node.var: first})
        self._expect(node.condition, _HANDLERS[type(node.condition)](self, node.condition), t.BOOL)
        self._expect(node.step, _HANDLERS[type(node.step)](self, node.step), accu)
        self._scopes.pop()
        result = _HANDLERS[type(node.result)](self, node.result)
        self._scopes.pop()
        return self._keep(node, self._resolve(result))

    def _range_types(self, node: Fold, ranged: Type) -> tuple[Type, Type]:  # noqa: RET503 - the last line always raises
        if ranged.kind is Kind.LIST:
            element = ranged.params[0]
            return (t.INT, element) if node.var2 else (element, element)
        if ranged.kind is Kind.MAP:
            return ranged.params[0], ranged.params[1]
        if ranged.kind is Kind.DYN or ranged.kind is Kind.PARAM:
            self._bindings.assign([t.DYN], [ranged])
            return t.DYN, t.DYN
        message = f"expression of type '{ranged}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self._fail("comprehension-range", message, node.range.pos)

    def _expect(self, node: Expr, found: Type, wanted: Type) -> None:
        """Bind what a part of a fold leaves open; ``cel.bind(.int, 1, ...)`` has a step that is no int."""
        if not self._bindings.assign([wanted], [found]):
            message = f"expected type '{self._shown(wanted)}' but found '{self._shown(found)}'"
            self._fail("type-mismatch", message, node.pos)


_HANDLERS: Final[dict[type[Expr], Callable[[Any, Any], Type]]] = {
    Literal: _Checker._literal, Ident: _Checker._ident, Select: _Checker._select, Call: _Checker._call,
    ListExpr: _Checker._list, MapExpr: _Checker._map, StructExpr: _Checker._struct, Fold: _Checker._fold,
}  # fmt: skip
