"""What the YAML scanner's complaints mean, in words that help.

The scanner names what it expected; a person wants to know what to change. Each known complaint has its own wording,
the rest a general one. Tests run every entry against the real scanner, so an upgrade that rewords one is seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from components.api import slips
from components.api.codes import Code
from components.api.slips import Slip, Stop


@dataclass(frozen=True, slots=True)
class Wording:
    """A syntax error in our words; ``line`` and ``column`` count from 0 in the file."""

    code: Code
    message: str
    help: str
    line: int
    column: int


_INDENT = "check that this line is indented like its neighbours, and that no `:` or `- ` is missing"
_QUOTES = "put the value in quotes"

_KNOWN: Final[tuple[tuple[str, str, str], ...]] = (
    ("mapping values are not allowed", "a second `: ` on one line", "put a value that holds `: ` in quotes"),
    ("sequence entries are not allowed", "a list item may not begin here", "begin the list on its own line"),
    ("mapping keys are not allowed", "a key may not begin here", _INDENT),
    ("could not find expected ':'", "a key without a `:`", "write `key: value`, with a space after the `:`"),
    ("did not find expected key", "this line does not fit the indentation around it", _INDENT),
    ("did not find expected '-' indicator", "an item of a list must begin with `- ` here", _INDENT),
    ("expected <block end>", "this line does not fit the indentation around it", _INDENT),
    ("did not find expected ',' or ']'", "a `[` list is not closed, or a `,` is missing", "close it with `]`"),
    ("expected ',' or ']'", "a `[` list is not closed, or a `,` is missing", "close it with `]`"),
    ("did not find expected ',' or '}'", "a `{` mapping is not closed, or a `,` is missing", "close it with `}`"),
    ("expected ',' or '}'", "a `{` mapping is not closed, or a `,` is missing", "close it with `}`"),
    ("did not find expected node content", "a value is missing here", _QUOTES),
    ("expected the node content", "a value is missing here", _QUOTES),
    ("found unknown escape character", "a `\\` escape that YAML does not know", "use single quotes, or write `\\\\`"),
    ("hexdecimal number", "a `\\x` or `\\u` escape without its digits", "use single quotes, or write `\\\\`"),
    ("escape sequence of", "a `\\x` or `\\u` escape without its digits", "use single quotes, or write `\\\\`"),
    ("invalid Unicode character escape", "an escape that is no character", "use single quotes, or write `\\\\`"),
    ("alphabetic or numeric character", "`&` and `*` begin an anchor or an alias", _QUOTES),
    ("expected comment or line break", "only a comment may follow `|` or `>` on its line", "begin the text below it"),
    ("comment or a line break", "only a comment may follow `|` or `>` on its line", "begin the text below it"),
    ("indentation indicator", "the number after `|` or `>` must be 1 to 9", "leave the number out"),
    ("document start>", "a new document must begin with `---`", _INDENT),
    ("found incompatible YAML document", "this file asks for another YAML version", "remove the `%YAML` line"),
    ("duplicate %YAML", "`%YAML` stands twice", "remove the `%YAML` line"),
    ("duplicate YAML", "`%YAML` stands twice", "remove the `%YAML` line"),
    ("duplicate %TAG", "`%TAG` stands twice", "remove the `%TAG` line"),
    ("duplicate tag handle", "`%TAG` stands twice", "remove the `%TAG` line"),
    ("undefined tag handle", "a `!` begins a tag", _QUOTES),
    ("tag", "a `!` begins a tag", _QUOTES),
    ("expected '>'", "a `!<` tag is not closed", _QUOTES),
    ("found unexpected ':'", "a `:` where a `,` or the end of the list belongs", _QUOTES),
    ("found unexpected end of stream", "the file ends in the middle of a value", "close what was opened"),
    ("found unexpected document indicator", "the document ends in the middle of a value", "close what was opened"),
)


def wording(error: yaml.MarkedYAMLError, lines: Sequence[str], offset: int) -> Wording:
    """Say in our words what ``error`` means; the text that was scanned begins ``offset`` lines into ``lines``."""
    problem, context = error.problem or "", error.context or ""
    mark, start = error.problem_mark or error.context_mark, error.context_mark
    line, column = (mark.line + offset, mark.column) if mark else (offset, 0)
    stop = Stop(lines, offset, line, column, (start.line + offset, start.column) if start else None)
    tab = _tab(stop)
    if tab is not None and any(word in problem for word in ("token", "tab", "key", "block", "'-'", "values")):
        return tab
    found = _slip(stop, problem, context)
    if found is not None:
        return Wording(Code.YAML_SYNTAX, found.message, found.help, found.line, found.column)
    line, column = _within(stop)
    if "cannot start any token" in problem:
        sign = stop.source[column : column + 1]
        return Wording(Code.YAML_SYNTAX, f"a value may not begin with `{sign}`", _QUOTES, line, column)
    if "depth" in problem:
        return Wording(Code.YAML_TOO_DEEP, "values are nested too deep", "", line, column)
    for known, message, hint in _KNOWN:
        if known in problem:
            return Wording(Code.YAML_SYNTAX, message, hint, line, column)
    return Wording(Code.YAML_SYNTAX, "this is not valid YAML", _INDENT, line, column)


def _within(stop: Stop) -> tuple[int, int]:
    """Return where the scanner stopped, or the end of the last line that holds something when it stopped behind all."""
    last = next(stop.above(len(stop.lines)), stop.first)
    if stop.line <= last or last >= len(stop.lines):
        return min(stop.line, last), stop.column
    return last, len(stop.lines[last])


def _slip(stop: Stop, problem: str, context: str) -> Slip | None:
    """Look for the slip that made the scanner stop, by what it complains of."""
    found = slips.conflict(stop)
    if found is None and "quoted scalar" in context and "unexpected" in problem:
        found = slips.unclosed_quote(stop)
    elif found is None and "',' or" in problem:
        found = slips.flow(stop, "{" if "}" in problem else "[")
    elif found is None and "mapping values are not allowed" in problem:
        found = slips.second_colon(stop)
    elif found is None and "could not find expected ':'" in problem and stop.start is not None:
        found = slips.unfinished(stop, stop.start[0]) or slips.meaningless(*stop.start)
    elif found is None and "node content" in problem:
        found = slips.no_value(stop)
    elif found is None and "document start>" in problem:
        found = slips.before(stop)
    elif found is None and any(words in problem for words in ("expected key", "'-' indicator", "<block end>")):
        found = slips.unfit(stop)
    if found is None and "'-' indicator" in problem:
        found = slips.missing_dash(stop)
    return found


def _tab(stop: Stop) -> Wording | None:
    """Find a tab where the scanner stopped, or in the indentation of its line or of the ones before it."""
    if stop.source[stop.column : stop.column + 1] == "\t" and stop.source[: stop.column].strip():
        before = stop.source[: stop.column].rstrip()[-1]
        message = f"a tab follows the `{before}`; YAML allows only spaces here"
        return Wording(Code.YAML_TAB, message, "use a space", stop.line, stop.column)
    for number in range(stop.line, max(stop.first, stop.line - _TAB_LINES) - 1, -1):
        source = stop.lines[number] if number < len(stop.lines) else ""
        indentation = source[: len(source) - len(source.lstrip(" \t"))]
        if "\t" in indentation:
            blank = not source.strip()
            message = "a tab stands in this empty line" if blank else "a tab indents this line"
            advice = "empty the line" if blank else "use spaces"
            return Wording(
                Code.YAML_TAB, f"{message}; YAML allows only spaces", advice, number, indentation.index("\t")
            )
        if number < stop.line and source.strip():
            break
    return None


_TAB_LINES: Final = 20  # lines above the one where the scanner stopped
