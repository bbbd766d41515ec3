"""Mistakes on the command line: exit code 2, and the help of the very verb."""

import pytest

from automation.cli.main import run


@pytest.mark.parametrize(
    ("words", "help_"),
    [
        (["up", "--nope"], "berth up --help"),
        (["convert", "x.yaml"], "berth convert --help"),
        (["selector", "test"], "berth selector test --help"),
        (["nope"], "berth --help"),
    ],
)
def test_a_mistake_names_the_help_of_its_verb(capsys: pytest.CaptureFixture[str], words: list[str], help_: str) -> None:
    """One page to read, not the list of all verbs."""
    assert run(words) == 2
    assert capsys.readouterr().err.splitlines()[-1].strip() == f"help: {help_}"
