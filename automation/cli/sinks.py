"""Where output goes: data to stdout, talk to stderr; the only place besides the verbs that knows a terminal.

A sink turns the renderers' styled lines into colours when the terminal wants them, and says how wide it is. Output
for machines is one JSON document on stdout, whatever happens on stderr.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TextIO

from automation.cli.answered import ANSWERED
from automation.render.text import Line, Style, line, visible

_CODES: dict[Style, str] = {
    "ok": "32",
    "warn": "33",
    "bad": "31",
    "add": "32",
    "change": "33",
    "remove": "31",
    "dim": "2",
    "strong": "1",
}
_DEFAULT_WIDTH = 100


@dataclass(frozen=True)
class Sinks:
    """The two streams of a run and how to write to them."""

    output: Literal["table", "json"] = "table"
    color: Literal["auto", "always", "never"] = "auto"
    quiet: bool = False
    answer_on_stderr: bool = False

    def on_stderr(self) -> "Sinks":
        """Return sinks that print answers for people on stderr, where stdout belongs to a machine."""
        return replace(self, output="table", answer_on_stderr=True)

    @property
    def machine(self) -> bool:
        """Whether stdout is for a program, so that nothing may be asked."""
        return self.output == "json"

    @property
    def width(self) -> int:
        """Columns of the terminal; 100 where there is none."""
        return shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns

    def data(self, lines: Iterable[Line]) -> None:
        """Print the answer."""
        self._write(sys.stderr if self.answer_on_stderr else sys.stdout, lines)

    def document(self, value: Any) -> None:
        """Print the answer as one JSON document; a run has one, and what follows it is left to stderr and exit code."""
        if ANSWERED.given:
            return
        ANSWERED.given = True
        text = json.dumps(value, indent=2, ensure_ascii=False)
        if not _holds(sys.stdout, text):
            text = json.dumps(value, indent=2)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def verbatim(self, text: str) -> None:
        """Print the answer as it is: a file's text, where a space at the end of a line matters."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def talk(self, lines: Iterable[Line]) -> None:
        """Print progress, hints and warnings."""
        if not self.quiet:
            self._write(sys.stderr, lines)

    def say(self, text: str) -> None:
        """Print one plain line of progress."""
        self.talk([Line()] if not text else [line(text)])

    def complain(self, lines: Iterable[Line]) -> None:
        """Print an error; never silenced."""
        self._write(sys.stderr, lines)

    def _write(self, stream: TextIO, lines: Iterable[Line]) -> None:
        coloured = _wants_colour(stream, self.color)
        for each in lines:
            text = _coloured(each) if coloured else visible(each.plain)
            stream.write((text if _holds(stream, text) else _escaped(stream, text)) + "\n")
        stream.flush()


def _holds(stream: TextIO, text: str) -> bool:
    """Whether a stream can write a text: one of a plain locale has few signs, and none has half a character."""
    if text.isascii():
        return True
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escaped(stream: TextIO, text: str) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _coloured(each: Line) -> str:
    return "".join(
        f"\x1b[{_CODES[span.style]}m{visible(span.text)}\x1b[0m" if span.style else visible(span.text)
        for span in each.spans
    ).rstrip()


def _wants_colour(stream: TextIO, color: str) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    return stream.isatty()
