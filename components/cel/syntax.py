"""The abstract syntax of an expression: eight kinds of node, made by the parser and read by everything else.

Nodes are plain objects with slots because a compile makes dozens of them; nobody changes one after the parser made it.
Types and overloads are kept beside the tree (``components.cel.checked``), so that one tree can be checked in several
environments. ``id`` is unique in a tree, ``pos`` is the code-point offset that an error about the node points at.
"""

# ruff: noqa: PLR0911 - one return per kind of value reads best

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.cel.values import Value


@dataclass(slots=True, eq=False)
class Expr:
    """What all nodes have; ``height`` counts the nested operations that the parser's depth limit counts."""

    id: int
    pos: int
    height: int


@dataclass(slots=True, eq=False)
class Literal(Expr):
    """A constant: null, bool, int, uint, double, string or bytes."""

    value: Value


@dataclass(slots=True, eq=False)
class Ident(Expr):
    """A name; a leading dot is kept."""

    name: str


@dataclass(slots=True, eq=False)
class Select(Expr):
    """``operand.field``, or the presence test of ``has()`` when ``test`` is set."""

    operand: Expr
    field: str
    test: bool


@dataclass(slots=True, eq=False)
class Call(Expr):
    """A call, global when ``target`` is absent; operators are calls of names such as ``_+_``."""

    function: str
    target: Expr | None
    args: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class ListExpr(Expr):
    """A list literal; ``optional`` has the indices written ``?e``."""

    elements: tuple[Expr, ...]
    optional: frozenset[int]


@dataclass(slots=True, eq=False)
class Entry:
    """One entry of a map or message literal; the key of a message is the field's name."""

    pos: int
    key: Expr | str
    value: Expr
    optional: bool


@dataclass(slots=True, eq=False)
class MapExpr(Expr):
    """A map literal."""

    entries: tuple[Entry, ...]


@dataclass(slots=True, eq=False)
class StructExpr(Expr):
    """A message literal ``Name{field: value}``."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(slots=True, eq=False)
class Fold(Expr):
    """What comprehension macros expand to: fold ``range`` into ``accu`` while ``condition`` holds."""

    range: Expr
    var: str
    var2: str
    accu: str
    init: Expr
    condition: Expr
    step: Expr
    result: Expr


def qualified_name(node: Expr) -> str:
    """Give ``a.b.c`` for a chain of plain selections of a name, and nothing for any other node."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return ""
    parts.append(node.name)
    return ".".join(reversed(parts)) if len(parts) > 1 else parts[0]


def children(node: Expr) -> tuple[Expr, ...]:
    """Give the direct sub-expressions in source order."""
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, Call):
        return node.args if node.target is None else (node.target, *node.args)
    if isinstance(node, ListExpr):
        return node.elements
    if isinstance(node, MapExpr):
        return tuple(child for entry in node.entries for child in (entry.key, entry.value) if isinstance(child, Expr))
    if isinstance(node, StructExpr):
        return tuple(entry.value for entry in node.entries)
    if isinstance(node, Fold):
        return (node.range, node.init, node.condition, node.step, node.result)
    return ()
