"""``berth doctor`` and the environment: a missing one is a problem where somebody asked for it."""

import json
from pathlib import Path

import pytest

from automation.cli.main import run
from automation.engine.toolchain.background import Background
from automation.engine.toolchain.layout import Layout

pytestmark = pytest.mark.usefixtures("project")


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str]]:
    """Run the doctor; gives the exit code and what it says of the environment."""
    code = run(["doctor", "--simulated", "-o", "json", *arguments])
    checks = json.loads(capsys.readouterr().out)["checks"]
    (check,) = [each for each in checks if each["name"].startswith("environment ")]
    return code, check


def test_an_environment_that_was_named_and_is_not_there_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    """With the ones that are there, and the command that makes it."""
    code, check = found(capsys, "-e", "prod")
    assert (code, check["status"]) == (1, "problem")
    assert check["fix"] == "-e dev (or BERTH_ENV=dev), or berth init prod"
    assert found(capsys, "-e", "dev")[1]["status"] == "ok"


def test_the_variable_names_one_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As the option does."""
    monkeypatch.setenv("BERTH_ENV", "prod")
    assert found(capsys)[1]["status"] == "problem"


@pytest.mark.parametrize(("arguments", "status"), [((), "warning"), (("-e", "dev"), "problem")])
def test_before_the_first_environment_the_doctor_is_of_use(
    capsys: pytest.CaptureFixture[str], project: Path, arguments: tuple[str, ...], status: str
) -> None:
    """Nobody asked for the one that is assumed; the same name given is asked for."""
    _, check = found(capsys, *arguments, "--environments", str(project / "none"))
    assert check["status"] == status
    assert check["fix"].startswith("berth init dev")
    assert ("none was named" in check["found"]) is (not arguments)


def test_it_is_said_to_people_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Below the table, where all that helps stands."""
    run(["doctor", "--simulated", "-e", "prod"])
    said = capsys.readouterr()
    assert "environment prod: -e dev (or BERTH_ENV=dev), or berth init prod" in " ".join(said.err.split())
    (row,) = [line for line in said.out.splitlines() if line.startswith("environment prod")]
    assert "problem" in row


def test_the_background_is_for_an_installation(
    capsys: pytest.CaptureFixture[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone it is a mistake; with --install it returns at once, and says where to look."""
    assert run(["doctor", "--background", "--kubernetes", "1.34"]) == 2
    assert "berth doctor --kubernetes 1.34 --install" in capsys.readouterr().err
    asked: list[str] = []

    def start(layout: Layout, arguments: list[str]) -> Background:
        asked.extend([str(layout.root), *arguments])
        return Background(None)

    monkeypatch.setattr("automation.engine.toolchain.background.install_in_background", start)
    assert run(["doctor", "--backed", "--install", "--background", "--kubernetes", "1.34", "-o", "json"]) == 0
    assert asked == [str(project.resolve()), "doctor", "--install", "--backed", "--kubernetes", "1.34"]
    said = capsys.readouterr()
    assert json.loads(said.out)["pid"] is None
    assert "another one is at work already" in said.err
    assert "next: berth doctor --backed --kubernetes 1.34" in said.err
