"""Completes problems that name a document and a path in it with the line and column that they are about.

Who finds a mistake in a fleet knows the models, which keep no places: what is kept is where each document begins. The
file is read again only here, for the one who is told.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from components.api.base import Document
from components.api.compose import compose
from components.api.document import is_list
from components.api.nodes import MappingNode, Node, SequenceNode, parts
from components.api.source import Source
from components.errors import Problem


def pinpointed(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems with the place of their path; those that have one, or whose file is gone, stay as they are."""
    return tuple(map(_pinpointed, problems))


def _pinpointed(problem: Problem) -> Problem:
    if not problem.file or not problem.line or problem.column or not problem.path:
        return problem
    try:
        composed = compose(problem.file, Path(problem.file).read_bytes())
    except OSError:
        return problem
    for node in composed.documents:
        for document in _documents(node):
            if document.line == problem.line:
                place = Source(composed, document, Document).locate(parts(problem.path))
                return replace(problem, line=place.line, column=place.column, text=place.text)
    return problem


def _documents(node: Node) -> Iterator[MappingNode]:
    """Yield the documents of a node: itself, or the items of a List."""
    if not isinstance(node, MappingNode):
        return
    items = node.get("items") if is_list(node) else None
    if isinstance(items, SequenceNode):
        for item in items.items:
            yield from _documents(item)
    else:
        yield node
