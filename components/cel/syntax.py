"""The abstract syntax of an expression: eight kinds of node, made by the parser and read by everything else.

Nodes are plain objects with slots because a compile makes dozens of them; nobody changes one after the parser made it.
Types and overloads are kept beside the tree (``components.cel.checked``), so that one tree can be checked in several
environments. ``id`` is unique in a tree, ``pos`` is the code-point offset that an error about the node points at.
"""

# ruff: noqa: A002 - arguments are named as the attributes
# ruff: noqa: FBT001 - as A002
# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR0917 - id, place and height come first in all of them

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from components.cel.values import Value


class Expr:
    """What all nodes have; ``height`` counts the nested operations that the parser's depth limit counts."""

    __slots__ = ("height", "id", "pos")

    id: int
    pos: int
    height: int


class Literal(Expr):
    """A constant: null, bool, int, uint, double, string or bytes."""

    __slots__ = ("value",)

    def __init__(self, id: int, pos: int, height: int, value: Value) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.value = value


class Ident(Expr):
    """A name; a leading dot is kept."""

    __slots__ = ("name",)

    def __init__(self, id: int, pos: int, height: int, name: str) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.name = name


class Select(Expr):
    """``operand.field``, or the presence test of ``has()`` when ``test`` is set."""

    __slots__ = ("field", "operand", "test")

    def __init__(self, id: int, pos: int, height: int, operand: Expr, field: str, test: bool) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.operand = operand
        self.field = field
        self.test = test


class Call(Expr):
    """A call, global when ``target`` is absent; operators are calls of names such as ``_+_``."""

    __slots__ = ("args", "function", "target")

    def __init__(
        self, id: int, pos: int, height: int, function: str, target: Expr | None, args: tuple[Expr, ...]
    ) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.function = function
        self.target = target
        self.args = args


class ListExpr(Expr):
    """A list literal; ``optional`` has the indices written ``?e``."""

    __slots__ = ("elements", "optional")

    def __init__(self, id: int, pos: int, height: int, elements: tuple[Expr, ...], optional: frozenset[int]) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.elements = elements
        self.optional = optional


class Entry:
    """One entry of a map or message literal; the key of a message is the field's name."""

    __slots__ = ("key", "optional", "pos", "value")

    def __init__(self, pos: int, key: Expr | str, value: Expr, optional: bool) -> None:
        self.pos = pos
        self.key = key
        self.value = value
        self.optional = optional


class MapExpr(Expr):
    """A map literal."""

    __slots__ = ("entries",)

    def __init__(self, id: int, pos: int, height: int, entries: tuple[Entry, ...]) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.entries = entries


class StructExpr(Expr):
    """A message literal ``Name{field: value}``."""

    __slots__ = ("entries", "name")

    def __init__(self, id: int, pos: int, height: int, name: str, entries: tuple[Entry, ...]) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.name = name
        self.entries = entries


class Fold(Expr):
    """What comprehension macros expand to: fold ``range`` into ``accu`` while ``condition`` holds."""

    __slots__ = ("accu", "condition", "init", "range", "result", "step", "var", "var2")

    def __init__(
        self,
        id: int,
        pos: int,
        height: int,
        range: Expr,
        var: str,
        var2: str,
        accu: str,
        init: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> None:
        self.id = id
        self.pos = pos
        self.height = height
        self.range = range
        self.var = var
        self.var2 = var2
        self.accu = accu
        self.init = init
        self.condition = condition
        self.step = step
        self.result = result


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


def unfinished(root: Expr, done: Container[int]) -> Expr:
    """Find the node at which a walk that finishes children before parents stopped; ``done`` has ids."""
    node = root
    while True:
        pending = next((child for child in children(node) if child.id not in done), None)
        if pending is None:
            return node
        node = pending
