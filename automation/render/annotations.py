"""Located problems as continuous integration shows them beside the lines of a change."""

from collections.abc import Iterator, Sequence
from typing import Any

from automation.render.sarif import fingerprint, sentence
from components.errors import Problem, Severity


def github_commands(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a workflow command for every problem, sorted by place; files are relative to the repository's root."""
    for problem in sorted(problems, key=lambda each: each.order):
        level = "error" if problem.severity is Severity.ERROR else "warning"
        fields = {"file": problem.file, "line": problem.line, "col": problem.column, "title": str(problem.code)}
        given = ",".join(f"{name}={_property(str(value))}" for name, value in fields.items() if value)
        yield f"::{level} {given}::{_data(sentence(problem))}"


def gitlab_report(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return a Code Quality report; a problem of a whole file stands at its first line, because a line is required."""
    return [
        {
            "description": sentence(problem),
            "check_name": str(problem.code),
            "fingerprint": fingerprint(problem),
            "severity": "major" if problem.severity is Severity.ERROR else "minor",
            "location": {"path": problem.file, "lines": {"begin": problem.line or 1}},
        }
        for problem in sorted(problems, key=lambda each: each.order)
    ]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
