"""The program's configuration: typed, and never quoted when it is wrong."""

import json
from typing import Any

import pytest

from components.errors import ConfigError
from stacks.config import ProgramConfig
from tests.support.mini_engine import run_program

TOKEN = "sample-secret-token"


def read(*, secret: bool = True, **values: Any) -> ProgramConfig | ConfigError:
    """Return what ``from_pulumi`` makes of these values, or what it raises."""
    found: list[ProgramConfig | ConfigError] = []

    def program() -> None:
        try:
            found.append(ProgramConfig.from_pulumi())
        except ConfigError as error:
            found.append(error)

    texts = {f"berth:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    secrets = {key: text for key, text in texts.items() if key == "berth:secrets" and secret}
    run_program(program, config={k: v for k, v in texts.items() if k not in secrets}, secret_config=secrets)
    return found[0]


def test_everything_is_empty_by_default() -> None:
    """A stack without configuration can be previewed when nothing needs any."""
    config = read()
    assert isinstance(config, ProgramConfig)
    assert (dict(config.secrets), dict(config.gateway_addresses), config.staged) == ({}, {}, frozenset())
    assert config.berth_version


def test_values_are_read_and_secrets_stay_out_of_its_text() -> None:
    """A value in a log or a traceback would be a leak."""
    config = read(secrets={"ml/hub": {"HF_TOKEN": TOKEN}}, gateways={"a": "198.51.100.1"}, staged=["ml/weights/a/0"])
    assert isinstance(config, ProgramConfig)
    assert config.secret("ml", "hub") == {"HF_TOKEN": TOKEN}
    assert config.secret("other", "hub") is None
    assert config.gateway_addresses == {"a": "198.51.100.1"}
    assert config.staged == {"ml/weights/a/0"}
    assert TOKEN not in repr(config)


def test_secrets_in_clear_text_are_refused() -> None:
    """They would lie in the stack's file for everybody who reads the repo."""
    error = read(secret=False, secrets={"ml/hub": {"HF_TOKEN": TOKEN}})
    assert isinstance(error, ConfigError)
    assert "in clear text" in error.problems[0].message
    assert TOKEN not in error.problems[0].message


def test_empty_secrets_need_no_encryption() -> None:
    """The project file's default is an empty object."""
    assert isinstance(read(secret=False, secrets={}), ProgramConfig)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("secrets", f'{{"ml/hub": {TOKEN}'),
        ("secrets", [TOKEN]),
        ("secrets", {"hub": {"HF_TOKEN": TOKEN}}),
        ("secrets", {"ml/hub/x": {"HF_TOKEN": TOKEN}}),
        ("secrets", {"ml/hub": TOKEN}),
        ("secrets", {"ml/hub": {"HF_TOKEN": [TOKEN]}}),
        ("gateways", {"a": 1}),
        ("gateways", ["a"]),
        ("staged", {"a": True}),
        ("staged", [1]),
    ],
)
def test_wrong_values_are_refused_without_being_quoted(key: str, value: Any) -> None:
    """The error names the key and the shape it must have."""
    error = read(**{key: value})
    assert isinstance(error, ConfigError)
    (problem,) = error.problems
    assert f"berth:{key}" in problem.message
    assert TOKEN not in f"{problem}{error}"
    assert error.__cause__ is None


@pytest.mark.parametrize(("value", "want"), [("1", True), ("true", True), ("", False), ("0", False)])
def test_simulation_is_asked_for_by_a_variable(monkeypatch: pytest.MonkeyPatch, value: str, want: bool) -> None:
    """Never guessed."""
    monkeypatch.setenv("BERTH_SIMULATED", value)
    config = read()
    assert isinstance(config, ProgramConfig)
    assert config.simulated is want
