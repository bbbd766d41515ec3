"""Write a syntax tree back as text, macros as macros, for explanations."""

# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.estimate import is_bind
from components.cel.library.text import quote
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
    if isinstance(node, Call):
        return _call(node, outer)
    if isinstance(node, ListExpr):
        parts = [("?" if index in node.optional else "") + _write(one, 0) for index, one in enumerate(node.elements)]
        return "[" + ", ".join(parts) + "]"
    if isinstance(node, MapExpr):
        return _entries("", node.entries)
    if isinstance(node, StructExpr):
        return _entries(node.name, node.entries)
    assert isinstance(node, Fold)
    return _fold(node)


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


def _fold(node: Fold) -> str:
    if is_bind(node):
        return f"cel.bind({node.accu}, {_write(node.init, 0)}, {_write(node.result, 0)})"
    step = node.step
    assert isinstance(step, Call)
    names = f"{node.var}, {node.var2}" if node.var2 else node.var
    owner = _write(node.range, _TIGHT)
    if step.function in {"_&&_", "_||_"}:
        return f"{owner}.{'all' if step.function == '_&&_' else 'exists'}({names}, {_write(step.args[1], 0)})"
    condition = ""
    if step.function == "_?_:_":
        condition = _write(step.args[0], 0)
        if isinstance(node.init, Literal):
            return f"{owner}.{'existsOne' if node.var2 else 'exists_one'}({names}, {condition})"
        inner = step.args[1]
        assert isinstance(inner, Call)
        step, condition = inner, condition + ", "
    if step.function == "cel.@mapInsert":
        entry = len(step.args) == 2
        return f"{owner}.transformMap{'Entry' if entry else ''}({names}, {condition}{_write(step.args[-1], 0)})"
    made = step.args[1]
    assert isinstance(made, ListExpr)
    return f"{owner}.{'transformList' if node.var2 else 'map'}({names}, {condition}{_write(made.elements[0], 0)})"
