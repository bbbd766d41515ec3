"""Located problems as text and as JSON: the line, a caret, what is allowed, and what to do."""

from collections.abc import Sequence
from typing import Any

from automation.render.output_version import API_VERSION
from automation.render.text import Line, Span, Style, cells, count, line
from components.errors import BerthError, ConfigError, Problem, Severity


def problem_lines(problem: Problem) -> list[Line]:
    """Return one problem as lines: place and message, the source line with a caret, and help."""
    style: Style = "bad" if problem.severity is Severity.ERROR else "warn"
    places = [problem.where, "" if problem.line else problem.path]
    where = "".join(f"{place}: " for place in places if place).replace("\n", "\u240a")
    lines = [line(where, Span(f"{problem.severity.value}[{problem.code}]", style), f" {problem.message}")]
    if problem.text and problem.line:
        gutter = f"{problem.line:>5} | "
        text, column = _around(problem.text.expandtabs(1), problem.column)
        lines.append(line(Span(gutter, "dim"), text))
        if column:
            lines.append(line(" " * (len(gutter) + cells(text[: column - 1])), Span("^", style)))
    if problem.allowed:
        lines.append(line(Span("  allowed: ", "dim"), problem.allowed))
    if problem.help:
        lines.append(line(Span("  help: ", "dim"), problem.help))
    return lines


_LONGEST = 160
"""Letters of a source line that are shown; a line of megabytes would bury what is said about it."""
_CUT = "..."


def _around(text: str, column: int) -> tuple[str, int]:
    """Return a line, or what stands around a column of a long one, and where the column is in it (0: nowhere)."""
    if len(text) <= _LONGEST:
        return text, column
    start = max(0, min(column - _LONGEST // 2, len(text) - _LONGEST))
    before = _CUT if start else ""
    after = _CUT if start + _LONGEST < len(text) else ""
    return f"{before}{text[start : start + _LONGEST]}{after}", column - start + len(before) if column else 0


def problems_lines(problems: Sequence[Problem]) -> list[Line]:
    """Return all problems, sorted by place, one after the other."""
    lines: list[Line] = []
    for problem in sorted(problems, key=lambda each: each.order):
        lines += problem_lines(problem)
    return lines


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return one problem as JSON; absent parts are left out."""
    fields = {
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.message,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "path": problem.path,
        "allowed": problem.allowed,
        "help": problem.help,
    }
    return {key: value for key, value in fields.items() if value}


def summary(problems: Sequence[Problem]) -> str:
    """Return ``2 errors, 1 warning``; empty when there is nothing."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    warnings = len(problems) - errors
    return ", ".join(
        text for n, text in ((errors, count(errors, "error")), (warnings, count(warnings, "warning"))) if n
    )


def error_lines(error: BerthError) -> list[Line]:
    """Return any error of ours as a person reads it: problems first, then summary, consequence and help."""
    lines = problems_lines(error.problems) if isinstance(error, ConfigError) else []
    first, *rest = error.summary.splitlines() or [""]
    where = f"{error.where}: " if error.where else ""
    lines.append(line(where, Span(f"error[{error.code}]", "bad"), f" {first}"))
    lines += [line(f"  {text}") for text in rest]
    if error.consequence:
        lines.append(line(f"  {error.consequence}"))
    if error.help:
        lines.append(line(Span("  help: ", "dim"), error.help))
    return lines


def error_json(error: BerthError) -> dict[str, Any]:
    """Return any error of ours as one JSON document."""
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Error",
        "code": error.code,
        "exitCode": error.exit_code,
        "summary": error.summary,
    }
    extra = {"where": error.where, "consequence": error.consequence, "help": error.help}
    document |= {key: value for key, value in extra.items() if value}
    if isinstance(error, ConfigError):
        document["problems"] = [problem_json(problem) for problem in error.problems]
    return document
