"""The tree of a YAML document, with the place of every key and value.

Only what the loader needs: plain values for the models, places for the problems. Lines and columns count from 1.
Aliased values are shared, so their place is where the anchor stands: that is where a person mends them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Scalar = str | int | float | bool | None
PathPart = str | int


class Node:
    """A value and where it begins."""

    __slots__ = ("column", "line")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column


class ScalarNode(Node):
    """A single value: ``text`` as written (without quotes), ``value`` as YAML 1.2 understands it.

    ``style`` is ``""`` for a plain scalar, else its quote or block sign. ``broken`` says that the composer has already
    reported this value, so nothing more is said about it.
    """

    __slots__ = ("broken", "style", "text", "value")

    def __init__(self, line: int, column: int, text: str, value: Scalar, style: str, *, broken: bool = False) -> None:
        super().__init__(line, column)
        self.text = text
        self.value = value
        self.style = style
        self.broken = broken


class SequenceNode(Node):
    """A list."""

    __slots__ = ("items",)

    def __init__(self, line: int, column: int, items: list[Node]) -> None:
        super().__init__(line, column)
        self.items = items


class MappingNode(Node):
    """A mapping; each key keeps its own place."""

    __slots__ = ("entries",)

    def __init__(self, line: int, column: int, entries: dict[str, tuple[ScalarNode, Node]]) -> None:
        super().__init__(line, column)
        self.entries = entries

    def get(self, key: str) -> Node | None:
        """Return the value of ``key``, if it is there."""
        entry = self.entries.get(key)
        return entry[1] if entry else None

    def text(self, key: str) -> str:
        """Return the value of ``key`` if it is text, else an empty string."""
        node = self.get(key)
        return node.value if isinstance(node, ScalarNode) and isinstance(node.value, str) else ""


@dataclass(frozen=True, slots=True)
class Found:
    """What stands at a path: the key's node (None in lists and at the root), the value's (None when it is missing).

    ``depth`` is how many parts of the path exist.
    """

    key: Node | None
    value: Node | None
    depth: int


def find(root: Node, path: Sequence[PathPart]) -> Found:
    """Follow ``path`` as far as it goes; what is missing leaves the deepest key and value that exist."""
    key: Node | None = None
    node: Node = root
    for depth, part in enumerate(path):
        if isinstance(node, MappingNode) and isinstance(part, str) and part in node.entries:
            key, node = node.entries[part]
        elif isinstance(node, SequenceNode) and isinstance(part, int) and 0 <= part < len(node.items):
            key, node = None, node.items[part]
        else:
            return Found(key, node, depth)
    return Found(key, node, len(path))


def written(path: Sequence[PathPart]) -> str:
    """Return a path as people write it: ``spec.nodePools[0].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif "." in part or "/" in part:
            text += f'["{part}"]'
        else:
            text += f".{part}" if text else part
    return text


_PART = re.compile(r"""\.?([^.\[\]]+)|\[([0-9]+)\]|\["([^"]*)"\]""")


def parts(path: str) -> tuple[PathPart, ...]:
    """Return the path that ``written`` wrote so."""
    return tuple(int(found[2]) if found[2] is not None else found[1] or found[3] for found in _PART.finditer(path))


def plain(node: Node) -> Any:
    """Return a tree as plain data: mappings, lists and single values."""
    if isinstance(node, MappingNode):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    return node.value if isinstance(node, ScalarNode) else None


def kind_of(node: Node) -> str:
    """Name what a node is, in a person's words."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    value = node.value if isinstance(node, ScalarNode) else None
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "text"
    return "a number" if isinstance(value, int) else "a decimal number"
