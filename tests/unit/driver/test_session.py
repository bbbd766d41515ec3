"""What a run lacks is said before the engine is installed, as far as it can be known without it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from automation.driver.session import open_session
from automation.driver.workspace import Workspace
from automation.engine.interruption import Interruption
from automation.engine.toolchain.layout import Layout
from components.errors import AuthError, BerthError, UsageError
from tests.support.fake_runner_session import Heard


class InstalledError(Exception):
    """The engine would be installed now."""


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., BerthError | None]:
    """Give what opens a session of a project and returns what it lacks; None where the engine's turn has come."""
    for name in ("BACKEND_URL", "ACCESS_TOKEN", "CONFIG_PASSPHRASE", "CONFIG_PASSPHRASE_FILE", "HOME", "API"):
        monkeypatch.delenv(f"PULUMI_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\nruntime: python\n")

    def install(*_: object, **__: object) -> None:
        raise InstalledError

    monkeypatch.setattr("automation.driver.session.ensure", install)

    def open_one(kind: str = "real", *, previews: bool = True) -> BerthError | None:
        layout = Layout(tmp_path, backed=kind == "backed")
        workspace = Workspace(layout, "prod", tmp_path / "prod", simulated=kind != "real")
        try:
            open_session(workspace, Heard(), interruption=Interruption(), previews=previews)
        except BerthError as error:
            return error
        except InstalledError:
            return None
        raise AssertionError

    return open_one


def test_a_real_run_without_a_backend_ends_at_once(opened: Callable[..., BerthError | None]) -> None:
    """The ways are named in the order of the README: an address of one's own, then a login."""
    for previews in (True, False):
        error = opened(previews=previews)
        assert isinstance(error, AuthError)
        assert "no backend is named" in error.summary
        assert error.help.index("PULUMI_BACKEND_URL") < error.help.index("pulumi login")
    assert opened("simulated") is None


def test_a_backend_of_ones_own_needs_a_passphrase_where_programs_run(
    opened: Callable[..., BerthError | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever only looks at the state does not open its secrets."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://state")
    error = opened()
    assert isinstance(error, AuthError)
    assert "no passphrase is given" in error.summary
    assert "PULUMI_CONFIG_PASSPHRASE_FILE" in error.help
    assert opened(previews=False) is None
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "")
    assert opened() is None


def test_a_file_of_the_passphrase_must_be_there(
    opened: Callable[..., BerthError | None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A relative one lies in the project, where the engine works."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://state")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE_FILE", "secret.txt")
    error = opened()
    assert error is not None
    assert error.summary == f"{tmp_path}/secret.txt cannot be read: No such file or directory"
    (tmp_path / "secret.txt").write_text("x")
    assert opened() is None


@pytest.mark.parametrize(
    ("configuration", "passes"),
    [
        ("secretsprovider: awskms://alias/berth\nencryptedkey: AA==\n", True),
        ("secretsprovider: passphrase\nencryptionsalt: v1:x\n", False),
        ("encryptionsalt: v1:x\n", False),
        ("[", False),
    ],
)
def test_a_key_service_needs_no_passphrase(
    opened: Callable[..., BerthError | None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    configuration: str,
    *,
    passes: bool,
) -> None:
    """The stack's configuration says which one it has."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://state")
    (tmp_path / "Pulumi.prod.yaml").write_text(configuration)
    assert (opened() is None) is passes


@pytest.mark.parametrize("variable", ["PULUMI_ACCESS_TOKEN", "PULUMI_BACKEND_URL"])
def test_pulumi_cloud_keeps_the_keys_itself(
    opened: Callable[..., BerthError | None], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A token alone leads there, too."""
    monkeypatch.setenv(variable, "https://api.pulumi.com")
    assert opened() is None


def test_a_backed_run_without_control_planes_ends_at_once(opened: Callable[..., BerthError | None]) -> None:
    """Before anything is built that it could not use."""
    error = opened("backed")
    assert isinstance(error, UsageError)
    assert "no control planes are kept" in error.summary
