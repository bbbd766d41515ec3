"""Located problems as SARIF 2.1.0, for code scanners, editors and review tools."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from components.errors import Problem, Severity

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION: Final = "2.1.0"


def sarif(problems: Sequence[Problem], *, version: str, pages: Mapping[str, str]) -> dict[str, Any]:
    """Return a SARIF log with one run: a rule for every code that occurs, a result for every problem.

    Files are relative to the root of the repository, or absolute. ``pages`` holds what the documentation says of a
    code, in Markdown. Columns count characters, as everywhere here, and not UTF-16 units.
    """
    codes = sorted({str(problem.code) for problem in problems})
    ordered = sorted(problems, key=lambda problem: problem.order)
    run = {
        "tool": {"driver": {"name": "berth", "version": version, "rules": [_rule(code, pages) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, codes.index(str(problem.code))) for problem in ordered],
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def sentence(problem: Problem) -> str:
    """Return a problem in one line: what is wrong, what is allowed, what to do."""
    parts = [problem.message]
    if problem.allowed:
        parts.append(f"allowed: {problem.allowed}")
    if problem.help:
        parts.append(f"help: {problem.help}")
    return "; ".join(parts)


def fingerprint(problem: Problem) -> str:
    """Return what a problem keeps when lines above it come and go."""
    identity = "\n".join((str(problem.code), problem.file, problem.path, problem.message))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def _rule(code: str, pages: Mapping[str, str]) -> dict[str, Any]:
    page = pages.get(code, "")
    first = " ".join(page.split("\n\n")[0].split()) or code
    text = page or f"berth explain {code}"
    return {"id": code, "shortDescription": {"text": first}, "help": {"text": text, "markdown": text}}


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": str(problem.code),
        "ruleIndex": rule,
        "level": "error" if problem.severity is Severity.ERROR else "warning",
        "message": {"text": sentence(problem)},
        "partialFingerprints": {"berth/v1": fingerprint(problem)},
    }
    if problem.file:
        result["locations"] = [_location(problem)]
    return result


def _location(problem: Problem) -> dict[str, Any]:
    uri = quote(problem.file.encode("utf-8", "surrogateescape"))  # a name need not be text
    physical: dict[str, Any] = {
        "artifactLocation": {"uri": f"file://{uri}"}
        if problem.file.startswith("/")
        else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    }
    if problem.line:
        region: dict[str, Any] = {"startLine": problem.line}
        if problem.column:
            region["startColumn"] = problem.column
        if problem.text:
            region["snippet"] = {"text": problem.text}
        physical["region"] = region
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.path:
        location["logicalLocations"] = [{"fullyQualifiedName": problem.path}]
    return location
