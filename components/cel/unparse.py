"""Write a syntax tree back as text, macros as macros, for explanations."""

# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.library.text import quote
from components.cel.macros import SORT_INPUT
from components.cel.record import Record, put
from components.cel.syntax import Call, Entry, Expr, Fold, Ident, ListExpr, Literal, MapExpr, Select, StructExpr
from components.cel.values import UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_BINARY: Final = {
    "_&&_": (2, " && "), "_||_": (1, " || "), "_==_": (3, " == "), "_!=_": (3, " != "), "_<_": (3, " < "),
    "_<=_": (3, " <= "), "_>_": (3, " > "), "_>=_": (3, " >= "), "@in": (3, " in "), "_+_": (4, " + "),
    "_-_": (4, " - "), "_*_": (5, " * "), "_/_": (5, " / "), "_%_": (5, " % "),
}  # fmt: skip
_UNARY: Final = {"!_": "!", "-_": "-"}
_SIGNED: Final = 6
_TIGHT: Final = 7


class Macro(Record):
    """A call of a macro: ``args`` are the expressions of the body, ``names`` the variables before them."""

    __slots__ = ("args", "name", "names", "owner")

    name: str
    owner: Expr | None
    names: str
    args: tuple[Expr, ...]

    def __init__(self, name: str, owner: Expr | None, names: str, args: tuple[Expr, ...]) -> None:
        put(self, "name", name)
        put(self, "owner", owner)
        put(self, "names", names)
        put(self, "args", args)


def unparse(node: Expr) -> str:
    """Write a node."""
    return _write(node, 0)


def shown(value: Value) -> str:
    """Write a constant."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bytes):
        return "b" + quote(value.decode("latin-1"))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value}u" if type(value) is UInt else str(value)


def _write(node: Expr, outer: int) -> str:
    if isinstance(node, Literal):
        text = shown(node.value)
        return f"({text})" if text.startswith("-") and outer > _SIGNED else text
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select):
        text = f"{_write(node.operand, _TIGHT)}.{node.field}"
        return f"has({text})" if node.test else text
    macro = macro_of(node)
    if macro is not None:
        args = ", ".join((macro.names, *(_write(arg, 0) for arg in macro.args)))
        owner = "" if macro.owner is None else f"{_write(macro.owner, _TIGHT)}."
        return f"{owner}{macro.name}({args})"
    if isinstance(node, Call):
        return _call(node, outer)
    if isinstance(node, ListExpr):
        parts = [("?" if index in node.optional else "") + _write(one, 0) for index, one in enumerate(node.elements)]
        return "[" + ", ".join(parts) + "]"
    if isinstance(node, MapExpr):
        return _entries("", node.entries)
    assert isinstance(node, StructExpr)
    return _entries(node.name, node.entries)


def _entries(name: str, entries: tuple[Entry, ...]) -> str:
    parts = []
    for entry in entries:
        key = _write(entry.key, 0) if isinstance(entry.key, Expr) else entry.key
        parts.append(f"{'?' if entry.optional else ''}{key}: {_write(entry.value, 0)}")
    return name + "{" + ", ".join(parts) + "}"


def _call(node: Call, outer: int) -> str:
    name, args = node.function, node.args
    if name in _BINARY:
        level, sign = _BINARY[name]
        text = sign.join(_write(arg, level + (1 if index else 0)) for index, arg in enumerate(args))
        return f"({text})" if level < outer else text
    if name == "_?_:_":
        text = f"{_write(args[0], 1)} ? {_write(args[1], 1)} : {_write(args[2], 0)}"
        return f"({text})" if outer else text
    if name in _UNARY:
        operand = _write(args[0], _TIGHT)
        signed = name == "-_" and isinstance(args[0], Literal) and not operand.startswith("(")
        text = _UNARY[name] + (f"({operand})" if signed else operand)  # -1 would be a literal
        return f"({text})" if outer > _SIGNED else text
    if name in {"_[_]", "_[?_]"}:
        return f"{_write(args[0], _TIGHT)}[{'?' if '?' in name else ''}{_write(args[1], 0)}]"
    if name == "_?._":
        assert isinstance(args[1], Literal)
        return f"{_write(args[0], _TIGHT)}.?{args[1].value}"
    text = f"{name}({', '.join(_write(arg, 0) for arg in args)})"
    return text if node.target is None else f"{_write(node.target, _TIGHT)}.{text}"


def macro_of(node: Expr) -> Macro | None:
    """Tell which macro a node is the expansion of, and with what; nothing for a node that was written as it is."""
    if isinstance(node, Fold):
        return _bound(node) if isinstance(node.step, Ident) else _folded(node)
    if isinstance(node, Call) and node.function == "_?_:_" and node.args[2].pos == node.pos:  # made, not written
        has, some = node.args[0], node.args[1]
        assert isinstance(has, Call)
        flat = isinstance(some, Fold)
        made = some if flat or not isinstance(some, Call) else some.args[0]
        assert isinstance(made, Fold)
        return Macro("optFlatMap" if flat else "optMap", has.target, made.accu, (made.result,))
    return None


def _bound(node: Fold) -> Macro:
    if node.accu != SORT_INPUT:
        return Macro("cel.bind", None, node.accu, (node.init, node.result))
    call = node.result
    assert isinstance(call, Call)
    keys = macro_of(call.args[0])
    assert keys is not None
    return Macro("sortBy", node.init, keys.names, keys.args)


def _folded(node: Fold) -> Macro:
    step = node.step
    assert isinstance(step, Call)
    names = f"{node.var}, {node.var2}" if node.var2 else node.var
    if step.function in {"_&&_", "_||_"}:
        return Macro("all" if step.function == "_&&_" else "exists", node.range, names, (step.args[1],))
    condition: tuple[Expr, ...] = ()
    if step.function == "_?_:_":
        condition = (step.args[0],)
        if isinstance(node.init, Literal):
            return Macro("existsOne" if node.var2 else "exists_one", node.range, names, condition)
        inner = step.args[1]
        assert isinstance(inner, Call)
        step = inner
    made = step.args[-1]
    if step.function == "cel.@mapInsert":
        name = "transformMapEntry" if len(step.args) == 2 else "transformMap"
        return Macro(name, node.range, names, (*condition, made))
    assert isinstance(made, ListExpr)
    (element,) = made.elements
    if condition and element.pos < condition[0].pos:  # it is the variable, where the macro names it
        return Macro("filter", node.range, names, condition)
    return Macro("transformList" if node.var2 else "map", node.range, names, (*condition, element))
