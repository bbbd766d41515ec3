"""Small pieces of Markdown: tables, code, links to headings. PURE.

Pages must read the same on the documentation site and in a repository browser, so only what both render is used: no
extensions, no HTML.
"""

import re
from collections.abc import Iterable, Sequence

_ROLE = re.compile(r"``([^`]+)``")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table; a bar inside a cell is escaped, and a line end is a space, since a row ends with its line."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(_cell(cell) for cell in cells)} |" for cells in lines]


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def code(text: str) -> str:
    """Return inline code; empty for an empty text."""
    return f"`{text}`" if text else ""


def prose(docstring: str) -> str:
    """Return a docstring as Markdown: double backticks become single ones, line ends inside a paragraph are kept."""
    return _ROLE.sub(r"`\1`", docstring.strip())


def anchor(heading: str) -> str:
    """Return the fragment under which a heading of letters, dots, dashes and brackets is linked."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def page(lines: Iterable[str]) -> str:
    """Return the text of a page."""
    return "\n".join(lines).rstrip() + "\n"


GENERATED = "<!-- Made by `python -m automation.docs` from the code; edit that, not this page. -->"
"""The note at the head of every generated page."""
