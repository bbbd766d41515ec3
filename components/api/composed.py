"""The text of a file, its lines, and the problems found in it so far.

Text is UTF-8 with characters that YAML allows; anything else is a located problem, and nothing here raises.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from components.api.codes import Code
from components.api.nodes import Node
from components.errors import Problem, Severity

MAX_BYTES: Final = 4 * 1024 * 1024
"""Largest file; an ordinary deployment is under 2 KiB."""
MAX_LINE: Final = 1000
"""Characters of a source line that a problem carries."""
MAX_PROBLEMS: Final = 100
"""Problems after which the rest of a file is not read, and no more are told of a document."""

_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # what libyaml counts as the end of a line
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_BOMS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(slots=True)
class Composed:
    """What a file holds: the tree of each document that is not empty, its source lines, and the problems."""

    file: str
    documents: list[Node] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    complete: bool = True
    """False when some document of the file could not be read at all."""

    def line(self, number: int) -> str:
        """Return a source line by its number, cut where no terminal would show it."""
        return self.lines[number - 1][:MAX_LINE] if 0 < number <= len(self.lines) else ""

    def add(
        self,
        code: Code,
        message: str,
        line: int,
        column: int,
        *,
        hint: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Record a problem at a place."""
        text = self.line(line)
        self.problems.append(Problem(code, message, self.file, line, column, text=text, help=hint, severity=severity))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which the file cannot be used."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def full(self) -> bool:
        """Whether so many problems were found that reading on helps nobody."""
        return len(self.problems) >= MAX_PROBLEMS


def read_text(content: bytes, result: Composed) -> str | None:
    """Return the text of a file and keep its lines; None after recording why it is no text of ours."""
    text = _decode(content, result)
    if text is None:
        return None
    result.lines = _BREAK.split(text)
    bad = _UNPRINTABLE.search(text)
    if bad is None:
        return text
    breaks = list(_BREAK.finditer(text, 0, bad.start()))
    column = bad.start() - (breaks[-1].end() if breaks else 0) + 1
    message = f"the character U+{ord(bad.group()):04X} is not allowed in YAML"
    result.add(Code.YAML_CHARACTER, message, len(breaks) + 1, column, hint="remove it")
    return None


def line_starts(text: str) -> list[int]:
    """Return where each line of a text begins, as lines are counted here."""
    return [0, *(found.end() for found in _BREAK.finditer(text))]


def _decode(content: bytes, result: Composed) -> str | None:
    if len(content) > MAX_BYTES:
        size = f"{len(content) / 1024 / 1024:.1f} MiB"
        message = f"the file is {size} large; a manifest has at most {MAX_BYTES // 1024 // 1024} MiB"
        result.add(Code.FILE_TOO_LARGE, message, 0, 0, hint="split it, or move what is no manifest away")
        return None
    for mark, name in _BOMS.items():
        if content.startswith(mark):
            hint = f"write it anew: `iconv -f {name} -t UTF-8 FILE`"
            result.add(Code.NOT_UTF8, f"the file is {name}; manifests are UTF-8", 1, 1, hint=hint)
            return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", "replace")
        lines = _BREAK.split(before)
        message = f"byte 0x{content[error.start]:02X} is not UTF-8 text"
        hint = "save the file as UTF-8"
        result.add(Code.NOT_UTF8, message, len(lines), len(lines[-1]) + 1, hint=hint)
        return None
