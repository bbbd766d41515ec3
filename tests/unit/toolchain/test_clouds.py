"""What the doctor finds of the programs and logins that an environment's clouds need."""

from collections.abc import Callable
from pathlib import Path

import pytest

from automation.engine.toolchain.clouds import NOTHING, Login, Needs, clouds
from automation.engine.toolchain.doctor import diagnose
from automation.engine.toolchain.finding import Check, Status
from automation.engine.toolchain.layout import Layout

Program = Callable[..., Path]

AMBIENT = Needs(aws=(Login("default", "", ("east", "west")),))
CONFIG = "[default]\nregion = us-east-1\n[profile build]\nrole_arn = sample\n[sso-session corp]\n"
CREDENTIALS = "[keys]\naws_access_key_id = sample-key-4711\naws_secret_access_key = sample-token-4711\n"


def found(needs: Needs, home: Path, **variables: str) -> dict[str, Check]:
    """Return the findings by name, on a machine with this home and nothing on PATH."""
    return {check.name: check for check in clouds(needs, {"HOME": str(home), "PATH": str(home), **variables})}


def shared(home: Path, *, config: str = CONFIG, credentials: str = CREDENTIALS) -> Path:
    """Write the shared AWS configuration."""
    (home / ".aws").mkdir()
    (home / ".aws" / "config").write_text(config)
    (home / ".aws" / "credentials").write_text(credentials)
    return home


def test_an_environment_without_such_clusters_is_asked_nothing(tmp_path: Path) -> None:
    """Whoever only uses clusters that exist needs no AWS CLI."""
    assert found(NOTHING, tmp_path) == {}


def test_a_missing_aws_cli_says_what_it_is_for(tmp_path: Path) -> None:
    """Without it a run would build the clusters and then stand before their doors."""
    check = found(AMBIENT, tmp_path)["program aws"]
    assert (check.status, check.found) == (Status.PROBLEM, "not on PATH")
    assert check.want.endswith("to log in to east, west (`aws eks get-token`)")


@pytest.mark.parametrize(
    ("says", "want"),
    [
        pytest.param("aws-cli/2.31.0 Python/3.13 Linux/6.1", Status.OK, id="new"),
        pytest.param("aws-cli/2.12.2 Python/3.11", Status.PROBLEM, id="old"),
        pytest.param("aws-cli/1.27.160 Python/3.8", Status.OK, id="first-version-new-enough"),
        pytest.param("aws-cli/1.27.159 Python/3.8", Status.PROBLEM, id="first-version-old"),
        pytest.param("something else", Status.WARNING, id="says-nothing"),
    ],
)
def test_the_aws_cli_must_be_new_enough(program: Program, tmp_path: Path, says: str, want: Status) -> None:
    """Both major versions are in use, each with its own oldest one."""
    aws = program("aws", f"echo '{says}'")
    check = found(AMBIENT, tmp_path, PATH=f"{aws.parent}:/bin")["program aws"]
    assert check.status is want
    assert bool(check.fix) is (want is not Status.OK)


@pytest.mark.parametrize(
    ("variables", "want"),
    [
        pytest.param({}, "no variable, no default profile", id="nothing"),
        pytest.param(
            {"AWS_ACCESS_KEY_ID": "sample-key-4711", "AWS_SECRET_ACCESS_KEY": "sample-token-4711"},
            "a key (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
            id="key",
        ),
        pytest.param({"AWS_ACCESS_KEY_ID": "sample-key-4711"}, "no variable, no default profile", id="half-a-key"),
        pytest.param(
            {"AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": "arn"},
            "the identity of a pod or a pipeline (AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN)",
            id="pipeline",
        ),
    ],
)
def test_an_ambient_login_is_looked_for_where_the_sdk_looks(
    tmp_path: Path, variables: dict[str, str], want: str
) -> None:
    """None at all is a warning, because a machine of AWS has a role that nothing here shows."""
    check = found(AMBIENT, tmp_path, **variables)["AWS login default"]
    assert check.found == want
    assert check.status is (Status.WARNING if want.startswith("no ") else Status.OK)
    assert "4711" not in f"{check}"


def test_a_profile_is_looked_for_in_both_files(tmp_path: Path) -> None:
    """A session of a login is no profile; what the files hold is never shown."""
    home = shared(tmp_path)
    assert found(AMBIENT, home)["AWS login default"].status is Status.OK
    assert found(AMBIENT, home, AWS_PROFILE="keys")["AWS login default"].status is Status.OK
    needs = Needs(aws=(Login("prod", "build", ("east",)), Login("other", "corp", ("west",))))
    checks = found(needs, home)
    assert checks["AWS login prod"].status is Status.OK
    lacking = checks["AWS login other"]
    assert lacking.status is Status.PROBLEM
    assert lacking.found == "no profile corp in the shared AWS configuration; there are build, default, keys"
    assert "4711" not in f"{checks}"


@pytest.mark.parametrize("config", ["no section\n", "[a]\n[a\n", "[profile x]\n[profile x]\n= nothing\n"])
def test_a_broken_configuration_has_no_profiles(tmp_path: Path, config: str) -> None:
    """The doctor does not fail over somebody else's file."""
    home = shared(tmp_path, config=config, credentials="")
    assert found(AMBIENT, home, AWS_PROFILE="x")["AWS login default"].status in set(Status)


def test_files_may_lie_elsewhere(tmp_path: Path) -> None:
    """Where the SDK's own variables say."""
    (tmp_path / "c").write_text("[profile far]\n")
    check = found(AMBIENT, tmp_path, AWS_PROFILE="far", AWS_CONFIG_FILE=str(tmp_path / "c"))["AWS login default"]
    assert check.status is Status.OK


@pytest.mark.parametrize(("simulated", "asked"), [(False, True), (True, False)])
def test_only_a_real_run_needs_clouds(layout: Layout, tmp_path: Path, *, simulated: bool, asked: bool) -> None:
    """A rehearsal reaches none."""
    diagnosis = diagnose(layout, simulated=simulated, environ={"PATH": str(tmp_path)}, needs=AMBIENT)
    assert any(check.name == "program aws" for check in diagnosis.checks) is asked
