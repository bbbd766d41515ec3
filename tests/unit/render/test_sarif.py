"""SARIF: every log holds what the standard asks of one; the checks are the schema's essentials, written out."""

import re
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from automation.render.annotations import github_commands, gitlab_report
from automation.render.sarif import sarif
from components.errors import Problem, Severity

PROBLEMS: Final = (
    Problem("type-wrong", "a list", file="b/c d.yaml", line=3, column=7, path="spec.a[0]", text="  a: [x]", help="do"),
    Problem("type-wrong", "a text\nof lines", file="/abs/a.yaml", line=9, allowed="x, y"),
    Problem("file-unreadable", "cannot be read", file="a.yaml"),
    Problem("other-document", "nowhere", severity=Severity.WARNING),
)
LEVELS: Final = {"none", "note", "warning", "error"}


def check_log(log: dict[str, Any]) -> None:
    """Assert what the schema of SARIF 2.1.0 requires of the parts that are used."""
    assert set(log) <= {"$schema", "version", "runs", "inlineExternalProperties", "properties"}
    assert log["version"] == "2.1.0"
    assert urlsplit(log["$schema"]).scheme == "https"
    assert isinstance(log["runs"], list)
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        rules = driver["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            assert rule["shortDescription"]["text"]
            assert rule["help"]["text"]
        assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
        for result in run["results"]:
            check_result(result, rules)


def check_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    """Assert the same of one result."""
    assert result["message"]["text"]
    assert result["level"] in LEVELS
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    for location in result.get("locations", ()):
        place = location["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+", uri)
        assert urlsplit(uri).scheme in {"", "file"}
        region = place.get("region", {"startLine": 1})
        assert region["startLine"] >= 1
        assert region.get("startColumn", 1) >= 1
        for logical in location.get("logicalLocations", ()):
            assert logical["fullyQualifiedName"]


@pytest.mark.parametrize("problems", [(), PROBLEMS], ids=["nothing", "some"])
def test_a_log_holds_what_the_standard_requires(problems: tuple[Problem, ...]) -> None:
    """Required properties, index and rule that agree, addresses that are addresses, numbers from one."""
    check_log(sarif(problems, version="1.0", pages={"type-wrong": "A value of another type.\n\nMore."}))


def test_the_check_would_find_a_wrong_log() -> None:
    """A log whose index leads to another rule does not pass."""
    log = sarif(PROBLEMS, version="1.0", pages={})
    log["runs"][0]["results"][0]["ruleIndex"] = 1 - log["runs"][0]["results"][0]["ruleIndex"]
    with pytest.raises(AssertionError):
        check_log(log)


def test_a_result_says_all_that_a_person_would_read() -> None:
    """Message, what is allowed, help; a problem without a file has no place."""
    log = sarif(PROBLEMS, version="1.0", pages={"type-wrong": "A value of another type.\n\nMore."})
    results = {result["message"]["text"]: result for result in log["runs"][0]["results"]}
    assert set(results) == {"a list; help: do", "a text\nof lines; allowed: x, y", "cannot be read", "nowhere"}
    assert "locations" not in results["nowhere"]
    assert results["a list; help: do"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "b/c%20d.yaml"
    rules = {rule["id"]: rule for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["type-wrong"]["shortDescription"]["text"] == "A value of another type."
    assert rules["other-document"]["help"]["text"] == "berth explain other-document"


def test_a_fingerprint_outlives_a_move() -> None:
    """Lines above a problem come and go; another message is another problem."""
    here, there = (Problem("a", "b", file="f", line=line, path="p") for line in (1, 2))
    other = Problem("a", "c", file="f", line=1, path="p")
    prints = [gitlab_report([each])[0]["fingerprint"] for each in (here, there, other)]
    assert prints[0] == prints[1] != prints[2]


def test_a_workflow_command_is_one_line() -> None:
    """Line ends, percent signs, and in properties colons and commas too."""
    problem = Problem("a", "50%\nof: it, all", file="x:y,z.yaml", line=2)
    assert list(github_commands([problem])) == ["::error file=x%3Ay%2Cz.yaml,line=2,title=a::50%25%0Aof: it, all"]
    assert list(github_commands([Problem("b", "c")])) == ["::error title=b::c"]
