"""The pages of the documentation as tests read them: text, headings, links and fenced blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
DOCS: Final = ROOT / "docs"

_FENCE: Final = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK: Final = re.compile(r"(?<!!)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")
_INLINE: Final = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the line it begins on."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Page:
    """One page; ``path`` is relative to the repository."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """The path as messages and ids show it."""
        return self.path.as_posix()

    @property
    def prose(self) -> str:
        """The text without fenced blocks."""
        return _FENCE.sub("", self.text)

    @property
    def blocks(self) -> list[Block]:
        """Every fenced block."""
        return [Block(m[1], m[2], self.text.count("\n", 0, m.start()) + 2) for m in _FENCE.finditer(self.text)]

    @property
    def headings(self) -> list[str]:
        """Every heading as it is written."""
        return _HEADING.findall(self.prose)

    @property
    def anchors(self) -> list[str]:
        """The fragment of every heading, as site and repository browser make it."""
        return [re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-") for heading in self.headings]

    @property
    def links(self) -> list[str]:
        """Every link's target."""
        return _LINK.findall(_INLINE.sub("x", self.prose))


def pages() -> Iterator[Page]:
    """Yield README and every page of the documentation."""
    for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md"))):
        yield Page(path.relative_to(ROOT), path.read_text(encoding="utf-8"))
