"""What a person forgot in a line of YAML, when the scanner stops a line or more behind it.

A scanner sees a colon that is missing only when the next line cannot continue what it took for a text. What is looked
for here is the slip itself: a `:`, a `- `, a space, a quote or a bracket that is not there, an indentation that fits
nothing. Each answer has the line to write. Lines and columns count from 0, as the scanner's do.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from components.api.source_line import cut, holds, indent_by, indentation, quoted, shorn, shown_line, spaces


@dataclass(frozen=True, slots=True)
class Slip:
    """One slip: what is wrong, what to write, and where."""

    message: str
    help: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the scanner stopped: ``line`` and ``column``, and the ``start`` of what it was reading, if it says so.

    ``lines`` are those of the file, and the document begins not before line ``first``.
    """

    lines: Sequence[str]
    first: int
    line: int
    column: int
    start: tuple[int, int] | None = None

    @property
    def source(self) -> str:
        """The line that it stopped in."""
        return self.lines[self.line] if self.line < len(self.lines) else ""

    def above(self, line: int) -> Iterator[int]:
        """Yield the numbers of the lines above that hold something, the nearest first."""
        for number in range(min(line, len(self.lines)) - 1, self.first - 1, -1):
            if holds(self.lines[number]):
                yield number

    def below(self, line: int) -> int | None:
        """Return the number of the next line that holds something."""
        return next((number for number in range(line + 1, len(self.lines)) if holds(self.lines[number])), None)


NO_SPACE: Final = "a space is missing after the `:`"
EQUALS: Final = "a `=` stands where a `: ` belongs"

_KEY: Final = r"[A-Za-z_][\w./-]*"
_NO_SPACE: Final = re.compile(rf"({_KEY}):(?!//|:)(\S.*)")
_EQUALS: Final = re.compile(rf"({_KEY})\s*=\s*(\S.*)")
_NO_COLON: Final = re.compile(rf"({_KEY})\s+([^\s:=].*)")
_WORD: Final = re.compile(_KEY)
_ITEM: Final = re.compile(r"\s*-(?:\s|$)")
_PAIR: Final = re.compile(rf"\s*(?:- +)*({_KEY}|\"[^\"]*\"|'[^']*'):(?:\s+(.*))?$")
_TIGHT_DASH: Final = re.compile(rf"(\s*)-({_KEY}:(?:\s.*)?)$")
_SIGNS: Final = {
    "\uff1a": ":",
    "\u2013": "-",
    "\u2014": "-",
    "\u2022": "-",
    "\u00a0": " ",
    "\u3000": " ",
    "\u201c": '"',
    "\u201d": '"',
    "\u2018": "'",
    "\u2019": "'",
}
_SIGN: Final = re.compile("[" + "".join(_SIGNS) + "]")
_LIKE: Final = {" ": "a space", "-": "a dash", ":": "a colon"}
_MARKS: Final = frozenset("<=>|")
_CONFLICT: Final = re.compile(r"(<{7}|={7}|>{7}|\|{7})(?: |$)")
_CLOSERS: Final = {"[": "]", "{": "}"}


def conflict(stop: Stop) -> Slip | None:
    """Find the mark of a merge that nobody finished, at or above the line."""
    for number in range(stop.first, min(stop.line + 2, len(stop.lines))):
        if stop.lines[number][:1] in _MARKS and _CONFLICT.match(stop.lines[number]):
            advice = "keep one side, and remove the lines that git put in"
            return Slip("a merge conflict is not resolved here", advice, number, 0)
    return None


def second_colon(stop: Stop) -> Slip | None:
    """Say why a `: ` may not stand here: a value that holds one, or a line above that ends wrongly."""
    written = re.match(rf"(\s*(?:- +)*(?:{_KEY}|\"[^\"]*\"|'[^']*'):\s+)(\S.*)", stop.source[: stop.column])
    if written and stop.source[written.end(1)] not in "\"'":
        whole = shorn(stop.source)[written.end(1) :]
        return Slip(
            "the value holds a second `: `, or ends with a `:`",
            f"put the value in quotes{shown_line(written[1].strip() + ' ' + quoted(whole))}",
            stop.line,
            stop.column,
        )
    above = next(stop.above(stop.line), None)
    if above is None:
        return None
    return shallow_text(stop, stop.line) or unfinished(stop, above) or _too_deep(stop, above)


def before(stop: Stop) -> Slip | None:
    """Say what is missing in the line above, which the scanner took for a whole document."""
    line = next(stop.above(stop.line), None)
    return None if line is None else unfinished(stop, line)


def shallow_text(stop: Stop, line: int) -> Slip | None:
    """Say that the text of a `|` or `>` is indented no deeper than its key."""
    for number in stop.above(line):
        found = re.search(r"(?::|-) ([|>])[-+0-9]*$", shorn(stop.lines[number]))
        if found:
            key = re.match(r"\s*(?:- +)*", stop.lines[number])
            least = key.end() if key else 0
            text = number + 1
            indent = indentation(stop.lines[text])
            if indent > least:
                return None
            message = f"the text of a `{found[1]}` must be indented deeper than its key"
            return Slip(message, f"indent it by {spaces(least + 2)}", text, indent)
        if _PAIR.match(stop.lines[number]) or _ITEM.match(stop.lines[number]):
            return None
    return None


def _too_deep(stop: Stop, before: int) -> Slip | None:
    """Say that a line is indented as if it continued the value above it."""
    above = _PAIR.match(stop.lines[before])
    indent = indentation(stop.source)
    if above is None or not above[2] or indent <= above.start(1):
        return None
    message = f"this line is indented deeper than `{above[1]}` above it, which has its value already"
    return Slip(message, f"{indent_by(above.start(1))}, like line {before + 1}", stop.line, indent)


def unfinished(stop: Stop, line: int) -> Slip | None:
    """Say what is missing in a line that is no `key: value` and no item of a list."""
    shallow = shallow_text(stop, line)
    if shallow is not None:
        return shallow
    source = shorn(stop.lines[line])
    tight = _TIGHT_DASH.match(source)
    if tight:
        return Slip("a space is missing after the `-`", f"write `- {cut(tight[2])}`", line, len(tight[1]))
    sign = _SIGN.search(source)
    if sign and (sign.start() <= indentation(source) or _PAIR.match(source) is None):
        return look_alike(source, line)
    return None if _PAIR.match(source) else _no_pair(stop, line, source)


def meaningless(line: int, column: int) -> Slip:
    """Say of any other line that stands for nothing what a line must be."""
    message = "this line is neither a `key: value` nor an item of a list"
    return Slip(message, "write `key: value`, with a space after the `:`, or `- value`", line, column)


def _no_pair(stop: Stop, line: int, source: str) -> Slip | None:
    """Say how a line becomes an item, or a `key: value`."""
    prefix = re.match(r"\s*(?:- +)*", source)
    column = prefix.end() if prefix else 0
    text = source[column:]
    if text and (_among_items(stop, line, column) or text.startswith("--")):
        return Slip("an item of a list must begin with `- `", f"write `- {cut(text)}`", line, column)
    said = bare(text)
    if said is not None:
        return Slip(said.message, said.help, line, column)
    if not _WORD.fullmatch(text):
        return None
    below = stop.below(line)
    block = below is not None and (indentation(stop.lines[below]) > column or _ITEM.match(stop.lines[below]))
    message = f"there is no `:` after `{cut(text)}`"
    return Slip(message, f"write `{cut(text)}:`{'' if block else ' and its value'}", line, column)


def bare(text: str) -> Slip | None:
    """Say what makes one line of text no `key: value`, though it was meant to be one."""
    if tight := _NO_SPACE.fullmatch(text):
        return Slip(NO_SPACE, f"write `{cut(f'{tight[1]}: {tight[2]}')}`", 0, 0)
    if equals := _EQUALS.fullmatch(text):
        return Slip(EQUALS, f"write `{cut(f'{equals[1]}: {equals[2]}')}`", 0, 0)
    if spaced := _NO_COLON.fullmatch(text):
        return Slip(f"there is no `:` after `{spaced[1]}`", f"write `{cut(f'{spaced[1]}: {spaced[2]}')}`", 0, 0)
    return None


def look_alike(source: str, line: int = 0) -> Slip | None:
    """Find a sign that looks like one of YAML's and is another, such as a dash or a space from a text processor."""
    found = _SIGN.search(source)
    if found is None:
        return None
    name = _LIKE.get(_SIGNS[found.group()], "a quote")
    message = f"U+{ord(found.group()):04X} looks like {name}, and is none to YAML"
    plain = _SIGN.sub(lambda sign: _SIGNS[sign.group()], source)
    return Slip(message, f"write `{cut(plain.strip())}`", line, found.start())


def unfit(stop: Stop) -> Slip | None:
    """Say why a line fits nothing around it: text after a quote, a stray bracket, a dash, an indentation."""
    before = stop.source[: stop.column].rstrip()
    sign = stop.source[stop.column : stop.column + 1]
    if before and before[-1] in "\"'":
        return open_quote(stop, before) or _after_quote(stop, before)
    if sign and sign in "]}":
        return Slip(f"this `{sign}` closes nothing", "remove it, or put the value in quotes", stop.line, stop.column)
    if stop.column != indentation(stop.source) or not holds(stop.source):
        return None
    above = next(stop.above(stop.line), None)
    if above is not None and _SIGN.match(stop.lines[above].lstrip(" ")):
        return look_alike(stop.lines[above], above)
    return _first_dash(stop) or _misplaced(stop)


def open_quote(stop: Stop, before: str) -> Slip | None:
    """Find the quote that was closed by the next one in the file, lines below it."""
    quote = before[-1]
    if before.count(quote) % 2 == 0:
        return None
    for number in stop.above(stop.line):
        found = re.match(rf"\s*(?:- +)*(?:{_KEY}:\s+)?({quote}[^{quote}]*)$", stop.lines[number])
        if found:
            return Slip("this quote is not closed", _close_quote(found[1]), number, found.start(1))
    return None


def _close_quote(text: str) -> str:
    return f"close it{shown_line(text.rstrip() + text[0])}"


def unclosed_quote(stop: Stop) -> Slip | None:
    """Say how a quoted text that runs to the end of its document is closed."""
    if stop.start is None:
        return None
    line, column = stop.start
    text = stop.lines[line][column:] if line < len(stop.lines) else ""
    return Slip("this quote is not closed", _close_quote(text), line, column) if text else None


def _after_quote(stop: Stop, before: str) -> Slip | None:
    start = re.match(rf"\s*(?:- +)*(?:{_KEY}:\s+)?", before)
    column = start.end() if start else 0
    whole = shorn(stop.source)[column:]
    advice = f"put the whole value in quotes{shown_line(quoted(whole))}"
    return Slip("the value goes on after its closing quote", advice, stop.line, stop.column)


def _first_dash(stop: Stop) -> Slip | None:
    """Find the first item of a list, without its dash, above an item that has one."""
    if not _ITEM.match(stop.source):
        return None
    owner = next((each for each in stop.above(stop.line) if indentation(stop.lines[each]) <= stop.column), None)
    if owner is None or not shorn(stop.lines[owner]).endswith(":") or _ITEM.match(stop.lines[owner]):
        return None
    item = stop.below(owner)
    if item is None or item >= stop.line or _ITEM.match(stop.lines[item]):
        return None
    text = shorn(stop.lines[item]).strip()
    message = "an item of a list must begin with `- `, as the next one does"
    return Slip(message, f"write `- {cut(text)}`", item, indentation(stop.lines[item]))


def _misplaced(stop: Stop) -> Slip | None:
    """Say by how many spaces a line would be indented like one above it."""
    levels: dict[int, int] = {}
    lowest = None
    dashed = _ITEM.match(stop.source) is not None
    for number in stop.above(stop.line):
        source = stop.lines[number]
        indent = indentation(source)
        if lowest is not None and indent >= lowest:
            continue
        lowest = indent
        if not dashed and (inner := re.match(r"\s*(?:- +)+", source)):
            levels.setdefault(inner.end(), number)
        levels.setdefault(indent, number)
    if not levels or stop.column in levels:
        return None
    fits = sorted(levels, key=lambda level: (abs(level - stop.column), -level))[:2]
    advice = ", or ".join(f"{indent_by(level)}, like line {levels[level] + 1}" for level in fits)
    message = f"this line is indented by {spaces(stop.column)}, and no line around it is"
    return Slip(message, advice, stop.line, stop.column)


def flow(stop: Stop, opener: str) -> Slip | None:
    """Say what is wrong inside `[ ]` or `{ }`: not closed, closed by the other sign, or a comma that is missing."""
    if stop.start is None or stop.start[0] >= len(stop.lines):
        return None
    line, column = stop.start
    closer = _CLOSERS[opener]
    sign = stop.source[stop.column : stop.column + 1]
    if sign and sign in "]}" and sign != closer:
        message = f"`{sign}` closes what `{opener}` began"
        return Slip(message, f"write `{closer}`", stop.line, stop.column)
    source = shorn(stop.lines[line])
    missing = _open_signs(source[column:])
    if missing:
        more = source.endswith((",", opener))  # it goes on below, and nobody but its author knows to where
        advice = f"close it with `{closer}`{'' if more else shown_line((source + _open_signs(source)).strip())}"
        return Slip(f"this `{opener}` is not closed", advice, line, column)
    at = stop.column
    if sign == ":" and (words := re.search(r"\S+$", stop.source[: stop.column])):
        at = words.start()
    return Slip("a `,` is missing before this", "put a `,` between the items", stop.line, at)


def no_value(stop: Stop) -> Slip | None:
    """Say what stands where a value belongs: a comma too many, or the end of a file whose bracket is open."""
    sign = stop.source[stop.column : stop.column + 1]
    if sign == ",":
        return Slip("a value is missing before this `,`", "remove the `,`, or write the value", stop.line, stop.column)
    if sign.strip():
        return None
    for number in stop.above(len(stop.lines)):
        source = shorn(stop.lines[number])
        if source.endswith((*_CLOSERS, ",")) and (missing := _open_signs(source)):
            opener = {closer: sign for sign, closer in _CLOSERS.items()}[missing[0]]
            column = source.rindex(opener)
            return Slip(f"this `{opener}` is not closed", f"close it with `{missing[0]}`", number, column)
    return None


def missing_dash(stop: Stop) -> Slip | None:
    """Say that a line among the items of a list begins none."""
    text = shorn(stop.source).strip()
    if not text or stop.column != indentation(stop.source):
        return None
    advice = f"write `- {cut(text)}`; if it belongs to the item above, indent it by {spaces(stop.column + 2)}"
    return Slip("an item of a list must begin with `- ` here", advice, stop.line, stop.column)


def _open_signs(text: str) -> str:
    """Return what would close the brackets that a line leaves open, innermost first."""
    stack = []
    quote = ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _CLOSERS:
            stack.append(_CLOSERS[sign])
        elif stack and sign == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))


def _among_items(stop: Stop, line: int, column: int) -> bool:
    """Whether the nearest lines of the same indentation are items of a list."""
    above = next((each for each in stop.above(line) if indentation(stop.lines[each]) <= column), None)
    if above is not None and indentation(stop.lines[above]) == column and _ITEM.match(stop.lines[above]):
        return True
    below = stop.below(line)
    at_key = above is not None and shorn(stop.lines[above]).endswith(":")
    return (
        at_key
        and below is not None
        and indentation(stop.lines[below]) == column
        and bool(_ITEM.match(stop.lines[below]))
    )
