"""A run works on one environment, which is named and never a path."""

from pathlib import Path

import pytest

from automation.driver.workspace import Workspace
from components.errors import UsageError


@pytest.mark.parametrize("name", ["", ".", "..", "../environments/dev", "dev/", "dev.a", "Dev", "d" * 64])
def test_a_name_that_no_environment_can_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A path would find a folder and give a stack that no other run finds; a dot means one cluster's stack."""
    (tmp_path / "Pulumi.yaml").write_text("name: berth\n")
    (tmp_path / "stacks/environments/dev").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert Workspace.open("dev").environment == "dev"
    with pytest.raises(UsageError, match="is not a DNS label"):
        Workspace.open(name)


@pytest.mark.parametrize(
    ("there", "asked", "help_"),
    [
        ((), "dev", "berth init dev, or --environments DIR"),
        (("prod", "stage"), "dev", "-e prod (or BERTH_ENV=prod), or berth init dev"),
        (("prod", "stage"), "prd", "did you mean `prod`? If not: berth init prd"),
    ],
)
def test_an_environment_that_is_not_there_is_answered_with_what_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], asked: str, help_: str
) -> None:
    """Whoever names none gets the default name, which a checkout need not have."""
    (tmp_path / "Pulumi.yaml").write_text("name: berth\n")
    (tmp_path / "stacks/environments").mkdir(parents=True)
    for name in there:
        (tmp_path / "stacks/environments" / name).mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        Workspace.open(asked)
    assert caught.value.help == help_
