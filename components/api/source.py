"""A document as it stands in its file: it turns paths into located problems."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from components.api.base import Document
from components.api.codes import Code
from components.api.composed import Composed
from components.api.location import Location
from components.api.nodes import Found, MappingNode, Node, PathPart, ScalarNode, find, written
from components.errors import Problem, Severity


@dataclass(slots=True)
class Source:
    """One recognised document, with what was read from it so far.

    ``key`` is kind, namespace and name as far as they could be read; ``document`` is None until the model is valid.
    """

    composed: Composed
    node: MappingNode
    model: type[Document]
    key: tuple[str, str, str] = ("", "", "")
    document: Document | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The file's path."""
        return self.composed.file

    @property
    def line(self) -> int:
        """The line the document begins on."""
        return self.node.line

    @property
    def broken(self) -> bool:
        """Whether the document has an error."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def misnamed(self) -> bool:
        """Whether the document's name could not be read, or is wrong."""
        return not self.key[2] or any(problem.path == "metadata.name" for problem in self.problems)

    def add(
        self,
        code: Code,
        message: str,
        path: Sequence[PathPart] = (),
        *,
        allowed: str = "",
        hint: str = "",
        at_key: bool = False,
        at: Node | None = None,
        inner: tuple[int, int] | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Record a problem at ``path``.

        The place is that of ``at``, if given; else the value's if it is a single value, else its key's, else that of
        the deepest thing that exists.
        ``inner`` is a line (from 0) and column (from 0) inside a text, used where the text stands as it was written.
        """
        found = find(self.node, path)
        node = at or place(found, at_key=at_key or found.depth < len(path))
        line, column = (node.line, node.column) if node else (self.node.line, self.node.column)
        if inner is not None and isinstance(node, ScalarNode):
            line, column = _inside(node, inner, self.composed)
        self.problems.append(
            Problem(
                code,
                message,
                self.file,
                line,
                column,
                path=written(path),
                text=self.composed.line(line),
                allowed=allowed,
                help=hint,
                severity=severity,
            )
        )

    def locate(self, path: Sequence[PathPart]) -> Location:
        """Return where the value of ``path`` stands, or the deepest thing of it that exists."""
        found = find(self.node, path)
        node = place(found, at_key=found.depth < len(path)) or self.node
        return Location(self.file, node.line, node.column, self.composed.line(node.line))

    def lines(self, path: Sequence[PathPart]) -> tuple[Location, ...]:
        """Return where each line of the text at ``path`` begins; none where it does not stand as it was written."""
        node = find(self.node, path).value
        if not isinstance(node, ScalarNode):
            return ()
        found = []
        for number in range(len(node.text.splitlines())):
            (line, column), after = (_inside(node, (number, inner), self.composed) for inner in (0, 1))
            if after != (line, column + 1):
                return ()
            found.append(Location(self.file, line, column, self.composed.line(line)))
        return tuple(found)

    def warn(
        self,
        code: Code,
        message: str,
        path: Sequence[PathPart] = (),
        *,
        hint: str = "",
        at_key: bool = False,
        inner: tuple[int, int] | None = None,
    ) -> None:
        """Record a warning at ``path``."""
        self.add(code, message, path, hint=hint, at_key=at_key, inner=inner, severity=Severity.WARNING)


def place(found: Found, *, at_key: bool) -> Node | None:
    """Choose between a key and its value."""
    if found.key is not None and (at_key or not isinstance(found.value, ScalarNode)):
        return found.key
    return found.value


def _inside(node: ScalarNode, inner: tuple[int, int], composed: Composed) -> tuple[int, int]:
    """Find a place inside a text; where folding or escapes moved it, stay at the text's beginning."""
    line, column = inner
    if node.style == "|":
        first = _first_text_line(node, composed)
        if first:
            source = composed.line(first)
            indentation = len(source) - len(source.lstrip(" "))
            return first + line, indentation + column + 1
        return node.line, node.column
    quote = 1 if node.style in ('"', "'") else 0
    start = node.column - 1 + quote
    written_text = composed.line(node.line)[start : start + len(node.text)]
    if line == 0 and written_text == node.text:
        return node.line, node.column + quote + column
    return node.line, node.column


def _first_text_line(node: ScalarNode, composed: Composed) -> int:
    """Return the line on which a literal block's text begins, if its first line is not blank."""
    first = node.text.split("\n", 1)[0]
    if not first.strip() or first != first.lstrip():
        return 0
    return node.line + 1 if composed.line(node.line + 1).strip() == first.rstrip() else 0
