"""Turns the bytes of a YAML file into trees with places, or into located problems; it never raises.

libyaml's event parser does the scanning (PyYAML's C binding; the pure one where that is missing), the composing is
ours: YAML 1.2 core scalars (``no`` is text), duplicate keys refused, merge keys read, and bounds on size, depth and
alias expansion, so that no file can take more than a moment. After a syntax error composing goes on at the next
``---``, so that one broken document does not hide the problems of the others.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml

from components.api.codes import Code
from components.api.composed import Composed, read_text
from components.api.nodes import MappingNode, Node, Scalar, ScalarNode, SequenceNode
from components.api.syntax_errors import wording
from components.errors import Severity

try:
    from yaml import CSafeLoader as EventParser
except ImportError:  # pragma: no cover - a PyYAML built without libyaml: slower, the same events
    from yaml import SafeLoader as EventParser  # type: ignore[assignment]

MAX_DEPTH: Final = 64
"""Deepest nesting; an ordinary deployment has 12 levels."""
MAX_NODES: Final = 400_000
"""Most values in one file, aliases unfolded."""
MAX_DIGITS: Final = 40
"""Longest number; every field's bounds are far below."""
MAX_RESTARTS: Final = 20
"""Syntax errors after which the rest of a file is not read."""

_UNTEXT = re.compile("[\0\ud800-\udfff]")  # an escape can write them, nothing can send them on
_DOCUMENT = re.compile(r"---(?=[ \t\r\n]|$)")
_JOINED = re.compile(r" *(- \S.*|[A-Za-z]\w*:[^\s/:].*)")  # a later line of a plain text that looks like structure
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Scalar] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_NOT_TEXT = frozenset("0123456789+-.~nNtTfF")  # what a plain scalar that is not text begins with
_TAG = "tag:yaml.org,2002:"


def compose(file: str, content: bytes) -> Composed:
    """Read one file; ``file`` only names it in problems."""
    result = Composed(file)
    text = read_text(content, result)
    if text is None:
        result.complete = False
    else:
        _read(text, result)
    return result


def resolve(text: str) -> Scalar:
    """Read a plain scalar by YAML 1.2's core schema; raises ValueError for a number with too many digits."""
    if text and text[0] not in _NOT_TEXT:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError
        return float(text)
    return text


def _read(text: str, result: Composed) -> None:
    """Compose document after document; after a syntax error, start again at the next ``---``."""
    offset = 0
    nodes = 0
    for _ in range(MAX_RESTARTS):
        rest = text if not offset else "\n".join(result.lines[offset:])
        composer = _Composer(rest, result, offset=offset, nodes=nodes)
        stopped = composer.run()
        nodes = composer.nodes
        if not stopped:
            return
        result.complete = False
        first = max(stopped - 1, composer.document_line)
        following = (number for number in range(first, len(result.lines)) if _DOCUMENT.match(result.lines[number]))
        offset = next(following, 0)
        if not offset or result.full or composer.exhausted:
            return


class _Stop(Exception):
    """The rest of the document cannot be read; the problem is already recorded."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class _Composer:
    """Composes the documents of one stream of events."""

    def __init__(self, text: str, result: Composed, *, offset: int, nodes: int) -> None:
        self.text = text
        self.result = result
        self.first = offset + 1  # number of the stream's first line in the file
        self.nodes = nodes
        self.exhausted = False
        self.document_line = offset + 1
        self.anchors: dict[str, tuple[Node, int, int]] = {}  # value, how many nodes, how many levels
        self.deepest = 0
        self.open: set[str] = set()
        self.keys: dict[str, str] = {}
        self.joined: list[tuple[str, int, int, str]] = []

    def run(self) -> int:
        """Compose everything; return the line at which reading stopped, or 0 at the end of the stream."""
        try:
            parser: Any = EventParser(self.text)
            self.next = parser.get_event
            while not isinstance(event := self.next(), yaml.StreamEndEvent):
                if isinstance(event, yaml.DocumentStartEvent):
                    self._document(event)
        except yaml.MarkedYAMLError as error:
            return self._syntax(error)
        except _Stop as stop:
            return stop.line
        except (yaml.YAMLError, ValueError, OverflowError, MemoryError) as error:
            # libyaml's reader reports what it cannot decode without a place.
            self._problem(Code.YAML_SYNTAX, f"the file cannot be read as YAML ({type(error).__name__})", 1, 1)
            self.exhausted = True
            return 1
        return 0

    def _document(self, start: Any) -> None:
        self.anchors, self.open, self.joined = {}, set(), []
        self.document_line = self.first + start.start_mark.line
        event = self.next()
        node = self._node(event, 0)
        self.next()  # the document's end
        for message, line, column, hint in self.joined:  # after an error they would only say it again
            self._problem(Code.YAML_JOINED, message, line, column, hint=hint, severity=Severity.WARNING)
        if not (isinstance(node, ScalarNode) and node.value is None):
            self.result.documents.append(node)

    def _node(self, event: Any, depth: int, *, item: bool = False) -> Node:
        mark = event.start_mark
        line, column = self.first + mark.line, mark.column + 1
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.exhausted = True
            self._stop(Code.FILE_TOO_LARGE, f"the file holds more than {MAX_NODES:,} values", line, column)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor, line, column, depth)
        anchor = event.anchor
        before, around = self.nodes, self.deepest
        self.deepest = depth
        if anchor is not None:
            self.open.add(anchor)
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event, line, column)
        elif depth >= MAX_DEPTH:
            self._stop(Code.YAML_TOO_DEEP, f"values are nested more than {MAX_DEPTH} levels deep", line, column)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._tag(event.tag, "seq", line, column)
            node = SequenceNode(line, column, list(self._items(depth)))
        else:
            self._tag(event.tag, "map", line, column)
            node = self._mapping(line, column, depth, item=item)
        if anchor is not None:
            self.open.discard(anchor)
            self.anchors[anchor] = (node, self.nodes - before, self.deepest - depth)
        self.deepest = max(around, self.deepest)
        return node

    def _items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1, item=True)

    def _mapping(self, line: int, column: int, depth: int, *, item: bool) -> MappingNode:
        entries: dict[str, tuple[ScalarNode, Node]] = {}
        merges: list[Node] = []
        restarted = False
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(self.next(), depth + 1)
            if not isinstance(key, ScalarNode):
                self._problem(
                    Code.YAML_KEY, "a key must be a simple text, not a list or a mapping", key.line, key.column
                )
            elif key.broken:
                continue
            elif key.text == "<<" and not key.style:
                merges.append(value)
            elif key.value is None and not key.style:
                self._problem(Code.YAML_KEY, "a key is missing before the `:`", key.line, key.column)
            elif key.text in entries:
                if not restarted:
                    self._twice(key, entries, item=item, root=not depth)
                # Where a `- ` or `---` is missing, the other keys repeat too: the first one says it for all.
                restarted = restarted or key.text == next(iter(entries)) or _begins(key, root=not depth)
            else:
                entries[self.keys.setdefault(key.text, key.text)] = (key, value)
        for merge in merges:
            self._merge(entries, merge)
        return MappingNode(line, column, entries)

    def _twice(self, key: ScalarNode, entries: dict[str, tuple[ScalarNode, Node]], *, item: bool, root: bool) -> None:
        first = entries[key.text][0].line
        message = f"`{_short(key.text)}` stands twice in one mapping; the first is on line {first}"
        hint = ""
        if _begins(key, root=root):
            hint = f"does another document begin here? Write `---` on a line of its own above line {key.line}"
            self.result.complete = False
        elif item and key.text == next(iter(entries)):
            written = self.result.line(key.line).strip()
            hint = f"does another item begin here? Write `- {_short(written)}`"
        else:
            hint = "remove one of the two"
        self._problem(Code.YAML_DUPLICATE_KEY, message, key.line, key.column, hint=hint)

    def _merge(self, entries: dict[str, tuple[ScalarNode, Node]], value: Node) -> None:
        """Add the keys of a ``<<`` value that are not there yet; of several, the earlier wins."""
        for source in value.items if isinstance(value, SequenceNode) else [value]:
            if isinstance(source, MappingNode):
                self.nodes += len(source.entries)
                for key, entry in source.entries.items():
                    entries.setdefault(key, entry)
            elif not (isinstance(source, ScalarNode) and source.broken):
                message = "`<<` takes a mapping, or a list of mappings, to merge"
                self._problem(Code.YAML_KEY, message, source.line, source.column)

    def _alias(self, anchor: Any, line: int, column: int, depth: int) -> Node:
        if anchor in self.open or anchor not in self.anchors:
            inside = "stands inside the value it repeats" if anchor in self.open else "has no anchor before it"
            self._problem(Code.YAML_ALIAS, f"the alias `*{_short(anchor)}` {inside}", line, column)
            return ScalarNode(line, column, "", None, "*", broken=True)
        node, size, levels = self.anchors[anchor]
        self.nodes += size
        self.deepest = max(self.deepest, depth + levels)
        if self.deepest > MAX_DEPTH:
            message = f"aliases nest values more than {MAX_DEPTH} levels deep"
            self._stop(Code.YAML_TOO_DEEP, message, line, column)
        if self.nodes > MAX_NODES:
            self.exhausted = True
            message = f"the aliases of this file unfold to more than {MAX_NODES:,} values"
            self._stop(Code.YAML_ALIAS, message, line, column)
        return node

    def _scalar(self, event: Any, line: int, column: int) -> ScalarNode:
        text: str = event.value
        style: str = event.style or ""
        tag = event.tag
        bad = _UNTEXT.search(text)
        if bad:
            self._problem(Code.YAML_CHARACTER, f"the text holds the character U+{ord(bad.group()):04X}", line, column)
            return ScalarNode(line, column, text, None, style, broken=True)
        if tag is not None and tag != "!":
            return self._tagged(tag, text, style, line, column)
        if style or tag == "!":
            return ScalarNode(line, column, text, text, style)
        if event.end_mark.line > event.start_mark.line:
            self._joined(event.start_mark.line, event.end_mark.line)
        try:
            return ScalarNode(line, column, text, resolve(text), style)
        except ValueError:
            self._problem(Code.YAML_NUMBER, f"the number has more than {MAX_DIGITS} digits", line, column)
            return ScalarNode(line, column, text, None, style, broken=True)

    def _joined(self, first: int, last: int) -> None:
        """Note where YAML joins lines to one text though a later one was meant as an item or a field."""
        for number in range(self.first + first + 1, self.first + last + 1):
            found = _JOINED.match(self.result.line(number))
            if found:
                what = "item" if found[1].startswith("-") else "field"
                above = self.first + first
                message = f"this line is no {what}: YAML joins it to the text that begins on line {above}"
                hint = f"indent it like line {above}" if what == "item" else "write a space after the `:`"
                column = found.start(1) + 1
                self.joined.append((message, number, column, hint))
                return

    def _tagged(self, tag: str, text: str, style: str, line: int, column: int) -> ScalarNode:
        name = tag.removeprefix(_TAG) if tag.startswith(_TAG) else ""
        types: dict[str, Any] = {"str": str, "int": int, "float": (float, int), "bool": bool, "null": type(None)}
        if name == "str":
            return ScalarNode(line, column, text, text, style or "!")
        try:
            value = resolve(text)
        except ValueError:
            value = text
        if name not in types or not isinstance(value, types[name]) or (name != "bool" and isinstance(value, bool)):
            shown = f"!!{name}" if name else _short(tag)
            message = f"the tag `{shown}` does not go with `{_short(text)}`" if name in types else _no_tag(shown)
            self._problem(Code.YAML_TAG, message, line, column)
            return ScalarNode(line, column, text, None, style, broken=True)
        return ScalarNode(line, column, text, value, style)

    def _tag(self, tag: str | None, name: str, line: int, column: int) -> None:
        if tag not in (None, "!", _TAG + name):
            shown = f"!!{tag.removeprefix(_TAG)}" if tag and tag.startswith(_TAG) else _short(tag or "")
            self._problem(Code.YAML_TAG, _no_tag(shown), line, column)

    def _syntax(self, error: yaml.MarkedYAMLError) -> int:
        said = wording(error, self.result.lines, self.first - 1)
        self._problem(said.code, said.message, said.line + 1, said.column + 1, hint=said.help)
        mark = error.problem_mark or error.context_mark
        return self.first + mark.line if mark else said.line + 1

    def _problem(
        self,
        code: Code,
        message: str,
        line: int,
        column: int,
        *,
        hint: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.result.add(code, message, line, column, hint=hint, severity=severity)
        if self.result.full:
            self.exhausted = True
            raise _Stop(line)

    def _stop(self, code: Code, message: str, line: int, column: int) -> NoReturn:
        self._problem(code, message, line, column)
        raise _Stop(line)


def _begins(key: ScalarNode, *, root: bool) -> bool:
    """Whether a key that stands twice begins another document, whose `---` is missing."""
    return root and key.column == 1 and key.text in ("apiVersion", "kind")


def _no_tag(tag: str) -> str:
    return f"the tag `{tag}` has no meaning in a manifest"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 (what fits in a message)
