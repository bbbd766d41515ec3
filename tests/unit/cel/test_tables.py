"""The case tables: what Kubernetes' own code answers, for every minor."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.cel.environment import MINORS
from components.cel.problem import SelectorError
from components.cel.selector import compile_unlimited
from components.cel.table import Disagreement, TableError, device_view, run_table

CASES = Path(__file__).parent / "cases"
SLOW_WHEN_TRACED = {"co-limit-4"}  # counts to a million; every minor takes the same branches for it, so one counts them
WRONG = {
    "devices": {"one": {"driver": "d", "attributes": {"n": {"int": 1}}}},
    "cases": [
        {"id": "eval", "expr": "true", "device": "one", "eval": "false"},
        {"id": "admit", "expr": "1", "eval": {"1.34": "compile:result-type"}, "admit": "ok"},
        {"id": "cost", "expr": "[1] == [1]", "est": 1, "act": {"1.34": 2, "1.36": None}},
        {"id": "gate", "expr": "true", "gates": {"lt": True}, "eval": "false"},
        {"id": "bool", "expr": "true", "eval": True, "admit": {"1.35": "ok"}},
    ],
    "quantities": [{"in": "1K", "ok": True}, {"in": "1Gi", "ok": True, "canonical": "1G"}, {"in": "1Pi", "sign": 1}],
}


@cache
def _load(name: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((CASES / f"{name}.yaml").read_bytes(), Loader=loader)  # noqa: S506 - a safe loader, the fast one


RUNS = [("reference", minor) for minor in MINORS] + [("upstream", minor) for minor in (MINORS[0], MINORS[-1])]
RUNS += [("libraries", "1.36"), ("edges", "1.36"), ("branches", "1.36"), *(("random", minor) for minor in MINORS)]


@pytest.mark.parametrize(("name", "minor"), RUNS)
def test_every_answer_is_the_one_of_kubernetes(name: str, minor: str) -> None:
    """Scheduler, API validation, estimate and counted cost agree, case by case; nothing matches that should not."""
    table = _load(name)
    if sys.gettrace() and minor != MINORS[-1]:
        table = {**table, "cases": [case for case in table["cases"] if case["id"] not in SLOW_WHEN_TRACED]}
    report = run_table(table, minors=[minor])
    assert report.disagreements == ()
    assert report.false_matches == 0
    assert report.scores["eval"].asked > 300
    assert report.agrees


@pytest.mark.parametrize("name", ["reference", "random", "libraries", "edges", "branches"])
def test_both_ways_of_evaluating_answer_the_same(name: str) -> None:
    """The closures that placement uses give outcome, class, words and place of the counted evaluation."""
    table = _load(name)
    views = {device: device_view(entry) for device, entry in table["devices"].items()}
    different = []
    for case in table["cases"]:
        try:
            selector = compile_unlimited(case["expr"], minor="1.36")
        except SelectorError:
            continue
        if selector.always_counted:
            continue  # there is one way only
        view = views.get(case.get("device")) or device_view(None)
        if selector.evaluate(view) != selector.counted(view)[0]:
            different.append(case["id"])
    assert different == []


def test_a_table_with_mistakes_is_reported_case_by_case() -> None:
    """Each disagreement names minor, case, question, and both answers."""
    report = run_table(WRONG, minors=["1.34", "1.35"])
    found = {(one.minor, one.case, one.question): (one.want, one.got) for one in report.disagreements}
    assert found[("1.34", "eval", "eval")] == ("false", "true")
    assert found[("1.34", "admit", "admit")] == ("ok", "compile:result-type")
    assert found[("1.34", "cost", "est")] == ("1", "21")
    assert found[("1.34", "cost", "act")] == ("2", "1")
    assert found[("", "1K", "quantity")] == ("{'ok': True}", "{'ok': False}")
    assert ("", "1Gi", "quantity") in found
    assert ("", "1Pi", "quantity") not in found
    assert not any(one.case == "gate" for one in report.disagreements)
    assert not any(one.case == "bool" for one in report.disagreements)
    assert report.false_matches == 2
    assert not report.agrees
    assert isinstance(report.disagreements[0], Disagreement)


def test_a_gate_is_forced_where_the_minor_has_it() -> None:
    """A case with the gate of list attributes is asked from 1.36 on."""
    table = {"cases": [{"id": "g", "expr": "[1].includes(1)", "gates": {"lt": True}, "admit": "ok"}]}
    assert run_table(table, minors=["1.35"]).scores == {}
    assert run_table(table, minors=["1.36"]).scores["admit"].agreed == 1


def test_what_does_not_compile_disagrees_with_an_estimate() -> None:
    """Also where the case asks for no evaluation; an answer of null asks for nothing."""
    cases = [{"expr": "1 +", "est": 1, "act": 1}, {"expr": "1 +", "act": 1}, {"expr": "1 +", "est": None}]
    report = run_table({"cases": cases}, minors=["1.36"])
    found = [(one.question, one.got) for one in report.disagreements]
    assert found == [("est", "compile:syntax"), ("act", "compile:syntax")]


@pytest.mark.parametrize(
    "table",
    [[], {}, {"cases": {}}, {"cases": [{}]}, {"cases": ["x"]}, {"cases": [{"expr": "true", "device": "none"}]}],
    ids=["list", "nothing", "cases map", "no expression", "text", "unknown device"],
)
def test_what_is_no_table_is_refused(table: Any) -> None:
    """Malformed tables are an error of their own, not a crash."""
    with pytest.raises(TableError):
        run_table(table)
