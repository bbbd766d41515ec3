"""Styled text without a terminal: lines of spans, and tables laid out in a given width.

A style is a word (``ok``, ``warn``, ``bad``, ``add``, ``change``, ``remove``, ``dim``, ``strong``, or empty); what it
looks like is the sink's business, and nothing is ever said by style alone.
"""

import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

Style = Literal["", "ok", "warn", "bad", "add", "change", "remove", "dim", "strong"]


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters in one style."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output."""

    spans: tuple[Span, ...] = ()

    @property
    def plain(self) -> str:
        """The line's characters without styles and without trailing spaces."""
        return "".join(span.text for span in self.spans).rstrip()


def line(*parts: str | Span) -> Line:
    """Make a line of strings and spans."""
    return Line(tuple(part if isinstance(part, Span) else Span(part) for part in parts if part))


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for a wide letter, none for a mark on another."""
    if text.isascii():
        return len(text)
    return sum(0 if _takes_none(sign) else 2 if unicodedata.east_asian_width(sign) in "FW" else 1 for sign in text)


def _takes_none(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me", "Cf")


def visible(text: str) -> str:
    """Return a text in which nothing steers a terminal: controls, and signs that turn the order of what is read."""
    return text if text.isprintable() else text.translate(_VISIBLE)


_VISIBLE: dict[int, int] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


def plain(lines: Iterable[Line]) -> str:
    """Return lines as text without styles, each ended by a newline."""
    return "".join(f"{each.plain}\n" for each in lines)


def heading(text: str) -> Line:
    """Make a section's heading."""
    return line(Span(text, "strong"))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its capital head, and whether it may be dropped or wrapped when the width is short.

    ``drop`` orders the columns that go first (0 stays, 1 goes first); a column that ``wraps`` takes what is left.
    """

    head: str
    drop: int = 0
    wraps: bool = False


Cell = str | Span


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, width: int, indent: int = 0, blank: str = "-"
) -> list[Line]:
    """Lay rows out under capital heads within ``width`` columns; an empty cell shows as ``blank``.

    Columns that do not fit are dropped in their declared order; wrapping columns share what is left and fold.
    """
    shown = list(range(len(columns)))
    cells = [[_span(cell, blank) for cell in row] for row in rows]
    widths = [max([len(column.head), *(len(row[i].text) for row in cells)]) for i, column in enumerate(columns)]
    fixed = _fixed(columns, widths)

    def needed() -> int:
        return indent + sum(fixed[i] for i in shown) + 2 * (len(shown) - 1)

    for index in sorted((i for i in shown if columns[i].drop), key=lambda i: columns[i].drop):
        if needed() <= width:
            break
        shown.remove(index)
    left = max(0, width - needed())
    folding = sorted((i for i in shown if columns[i].wraps), key=lambda i: widths[i] - fixed[i])
    for position, index in enumerate(folding):
        given = min(widths[index] - fixed[index], left // (len(folding) - position))
        widths[index] = fixed[index] + given
        left -= given
    lines = [_row([Span(columns[i].head, "strong") for i in shown], [widths[i] for i in shown], indent)]
    for row in cells:
        lines += _wrapped(row, shown, columns, widths, indent)
    return lines


_WRAP_MINIMUM = 24


def _fixed(columns: Sequence[Column], widths: Sequence[int]) -> list[int]:
    return [min(w, _WRAP_MINIMUM) if column.wraps else w for column, w in zip(columns, widths, strict=True)]


def _span(cell: Cell, blank: str) -> Span:
    span = cell if isinstance(cell, Span) else Span(cell)
    return span if span.text else Span(blank, "dim")


def _row(cells: Sequence[Span], widths: Sequence[int], indent: int) -> Line:
    spans = [Span(" " * indent)] if indent else []
    for position, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        last = position == len(cells) - 1
        spans.append(Span(cell.text if last else cell.text.ljust(width) + "  ", cell.style))
    return Line(tuple(spans))


def _wrapped(
    row: Sequence[Span], shown: Sequence[int], columns: Sequence[Column], widths: Sequence[int], indent: int
) -> list[Line]:
    parts = {
        i: textwrap.wrap(row[i].text, widths[i], break_on_hyphens=False) or [""] if columns[i].wraps else [row[i].text]
        for i in shown
    }
    height = max(len(texts) for texts in parts.values())
    return [
        _row(
            [Span(parts[i][n] if n < len(parts[i]) else "", row[i].style) for i in shown],
            [widths[i] for i in shown],
            indent,
        )
        for n in range(height)
    ]


def listed(names: Collection[object], few: int = 3) -> str:
    """Return the first few names, and a mark where there are more."""
    return ", ".join(map(str, islice(names, few))) + (" ..." if len(names) > few else "")


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 replica`` or ``2 replicas``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
