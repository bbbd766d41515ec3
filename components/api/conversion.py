"""Rewrites manifests between the two apiVersions: the version's text changes, every other byte stays.

Nothing is parsed and written anew, so comments, order, quotes and line ends are as they were. What comes out is read
again and must say the same under the new version; where it does not, nothing is rewritten and every reason is a located
problem: fields of Berth's own on the way to the predecessor's version, an anchor that other things share.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from components.api.base import BERTH_VERSION, MODELPLANE
from components.api.codes import Code
from components.api.compose import compose
from components.api.composed import Composed, line_starts
from components.api.document import is_list
from components.api.kinds import API_VERSIONS, KINDS, api_versions
from components.api.load import load_fleet
from components.api.nodes import MappingNode, Node, SequenceNode, plain
from components.errors import Problem, Severity

_BOM: Final = b"\xef\xbb\xbf"
# What may stand between the place of a value and its text: an anchor, a tag, the sign of a block, a quote.
_BEFORE: Final = r"(?:[&!][^\s]*\s+)*(?:[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?\n\s*)?['\"]?"


@dataclass(frozen=True, slots=True)
class Conversion:
    """One file, converted: ``content`` is the file's new bytes, or the old ones when there are ``problems``.

    ``documents`` counts those whose version changed, ``kept`` names the places of those that have only one version.
    """

    content: bytes
    documents: int = 0
    kept: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Edit:
    """One place that is rewritten; ``column`` counts from 1 in the old line."""

    start: int
    line: int
    column: int
    old: str


def convert(path: str, content: bytes, *, to: str, shown: Callable[[str], str] = str) -> Conversion:
    """Convert the manifests of one file to the apiVersion ``to``.

    ``path`` is relative to the environment's folder, as for loading; ``shown`` says how it is written in problems.
    """
    composed = compose(shown(path), content)
    if composed.errors:
        return Conversion(content, problems=composed.errors)
    found = [document for node in composed.documents for document in _documents(node)]
    targets = [each for each in found if _convertible(each) and each.text("apiVersion") != to]
    kept = tuple(
        f"{composed.file}:{each.line}" for each in found if each.text("kind") in KINDS and to not in _versions(each)
    )
    if not targets:
        return Conversion(content, kept=kept)
    text = content.decode("utf-8-sig")
    edits, problems = _edits(text, targets, composed)
    if problems:
        return Conversion(content, kept=kept, problems=tuple(problems))
    mark = _BOM if content.startswith(_BOM) else b""
    made = mark + _applied(text, edits, to).encode()
    problems = _shared(composed, made, targets, to) or _refused(path, made, edits, to=to, composed=composed)
    if problems:
        return Conversion(content, kept=kept, problems=tuple(problems))
    return Conversion(made, documents=len(targets), kept=kept)


def _documents(node: Node) -> Iterator[MappingNode]:
    """Yield the documents of a node: itself, and the items of a list; kubectl's own `List` has no version of ours."""
    if not isinstance(node, MappingNode):
        return
    if not is_list(node) or node.text("apiVersion") in API_VERSIONS:
        yield node
    items = node.get("items") if is_list(node) else None
    for item in items.items if isinstance(items, SequenceNode) else []:
        yield from _documents(item)


def _versions(document: MappingNode) -> tuple[str, ...]:
    kind = document.text("kind").removesuffix("List")
    return api_versions(kind) if kind in KINDS else ()


def _convertible(document: MappingNode) -> bool:
    return document.text("apiVersion") in API_VERSIONS and len(_versions(document)) > 1


def _edits(text: str, targets: Sequence[MappingNode], composed: Composed) -> tuple[list[_Edit], list[Problem]]:
    """Find the text of every version; several documents may share one by an anchor."""
    starts = line_starts(text)
    edits: dict[int, _Edit] = {}
    problems = []
    for document in targets:
        node = document.entries["apiVersion"][1]
        old = document.text("apiVersion")
        place = starts[node.line - 1] + node.column - 1
        match = re.compile(_BEFORE + "(" + re.escape(old) + ")").match(text, place)
        if match is None:
            problems.append(_version_shared(document, composed, "is written so that it cannot be rewritten in place"))
            continue
        start = match.start(1)
        line = next(number for number in range(len(starts), 0, -1) if starts[number - 1] <= start)
        edits[start] = _Edit(start, line, start - starts[line - 1] + 1, old)
    return [edits[start] for start in sorted(edits)], problems


def _applied(text: str, edits: Sequence[_Edit], to: str) -> str:
    parts = []
    done = 0
    for edit in edits:
        parts += [text[done : edit.start], to]
        done = edit.start + len(edit.old)
    return "".join([*parts, text[done:]])


def _shared(composed: Composed, made: bytes, targets: Sequence[MappingNode], to: str) -> list[Problem]:
    """Return a problem for every document that says anything else in the new text than the new version.

    Anchors end with their document, so one that shares its version says nothing of the others in the file.
    """
    chosen = {id(document) for document in targets}
    again = compose(composed.file, made)
    found = [plain(node) for node in again.documents]
    wanted = [_wanted(node, chosen, to) for node in composed.documents]
    if again.errors or len(found) != len(wanted):
        changed = composed.documents
    else:
        changed = [node for node, new, old in zip(composed.documents, found, wanted, strict=True) if new != old]
    sharing = {id(document) for node in changed for document in _documents(node)}
    return [
        _version_shared(document, composed, "shares its text with something else")
        for document in targets
        if id(document) in sharing
    ]


def _wanted(node: Node, chosen: set[int], to: str) -> Any:
    """Return the plain data that a tree should become."""
    if isinstance(node, SequenceNode):
        return [_wanted(item, chosen, to) for item in node.items]
    if not isinstance(node, MappingNode):
        return plain(node)
    data = {key: _wanted(value, chosen, to) for key, (_, value) in node.entries.items()}
    return {**data, "apiVersion": to} if id(node) in chosen else data


def _refused(path: str, made: bytes, edits: Sequence[_Edit], *, to: str, composed: Composed) -> list[Problem]:
    """Return what is wrong with the new text, each problem at its place in the old one."""
    loaded = load_fleet([(path, made)], complete=False, shown=lambda _: composed.file)
    return [_placed(problem, edits, to=to, composed=composed) for problem in loaded.errors]


def _placed(problem: Problem, edits: Sequence[_Edit], *, to: str, composed: Composed) -> Problem:
    moved = 0
    for edit in edits:
        if edit.line == problem.line and problem.column >= edit.column + moved + len(to):
            moved += len(to) - len(edit.old)
    advice = problem.help
    if to == MODELPLANE and BERTH_VERSION in advice:
        advice = f"take it out first, or leave the document under {BERTH_VERSION}"
    return replace(
        problem, column=problem.column and problem.column - moved, text=composed.line(problem.line), help=advice
    )


def _version_shared(document: MappingNode, composed: Composed, why: str) -> Problem:
    key = document.entries["apiVersion"][0]
    return Problem(
        Code.VERSION_SHARED,
        f"this apiVersion {why}",
        composed.file,
        key.line,
        key.column,
        path="apiVersion",
        text=composed.line(key.line),
        help="write it out here, as plain text of its own",
        severity=Severity.ERROR,
    )
