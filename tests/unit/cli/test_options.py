"""Which clouds a run has, by its options and by the scenario of simulated clouds."""

from pathlib import Path

import pytest

from automation.cli.options import Where
from automation.rehearsal.scenario import SCENARIO_VARIABLE
from components.errors import UsageError

BACKING = "backing: kubernetes\n"
RULES = "rules: [{fail: quota}]\n"


@pytest.mark.parametrize(
    ("option", "scenario", "simulated", "backed"),
    [
        ("", None, False, False),
        ("", BACKING, False, False),
        ("simulated", None, True, False),
        ("simulated", RULES, True, False),
        ("simulated", BACKING, True, True),
        ("simulated", BACKING + RULES, True, True),
        ("backed", None, True, True),
        ("backed", RULES, True, True),
    ],
)
def test_a_scenario_backs_what_is_simulated_and_nothing_else(
    option: str, scenario: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, simulated: bool, backed: bool
) -> None:
    """One that is not there says nothing, as to the providers."""
    path = tmp_path / "scenario.yaml"
    monkeypatch.setenv(SCENARIO_VARIABLE, str(path))
    if scenario is not None:
        path.write_text(scenario)
    found = Where(simulated=option == "simulated", backed=option == "backed")
    assert (found.simulated, found.backed) == (simulated, backed)


def test_a_scenario_that_cannot_be_used_stops_a_simulated_run_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It might have said where the run belongs; a real run does not ask it."""
    path = tmp_path / "scenario.yaml"
    path.write_text("baking: kubernetes\n")
    monkeypatch.setenv(SCENARIO_VARIABLE, str(path))
    with pytest.raises(UsageError, match="unknown field 'baking'"):
        Where(simulated=True)
    assert not Where().simulated
