"""The doctor's checks of what the clouds of an environment need: programs and logins. No value is ever shown.

Only the sources that the environment's clusters use are asked about, and only for real runs. Whether a login is right
is not tried: nothing here asks a network.
"""

import configparser
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from automation.engine.toolchain.finding import Check, Status

_AWS_MINIMUM: Final = ((1, 27, 160), (2, 12, 3))
"""The oldest AWS CLI of either major version whose tokens clusters of today take (EKS user guide, read 2026-08)."""
_AWS_SAYS: Final = re.compile(r"aws-cli/(\d+)\.(\d+)\.(\d+)")
_SECONDS_TO_ANSWER: Final = 20


@dataclass(frozen=True, slots=True)
class Login:
    """An AWS identity that clusters use: its name in the Environment, and its profile (empty: the ambient one)."""

    name: str
    profile: str
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """What an environment needs of clouds: the AWS identities of its EKS clusters."""

    aws: tuple[Login, ...] = ()


NOTHING: Final = Needs()


def clouds(needs: Needs, environ: Mapping[str, str]) -> Iterable[Check]:
    """Look for the programs and logins that an environment's clusters need."""
    if needs.aws:
        yield _aws_program(needs.aws, environ)
        for login in needs.aws:
            yield _aws_login(login, environ)


def _aws_program(logins: Collection[Login], environ: Mapping[str, str]) -> Check:
    name, clusters = "program aws", sorted(cluster for login in logins for cluster in login.clusters)
    oldest = " or ".join(".".join(str(part) for part in version) for version in _AWS_MINIMUM)
    want = f"{oldest} or newer, to log in to {', '.join(clusters)} (`aws eks get-token`)"
    program = shutil.which("aws", path=environ.get("PATH", ""))
    fix = "install the AWS CLI, version 2"
    if program is None:
        return Check(name, Status.PROBLEM, "not on PATH", want, fix)
    version = _aws_version(program, environ)
    if version is None:
        return Check(name, Status.WARNING, f"{program} does not say its version", want, fix)
    found = f"{'.'.join(str(part) for part in version)} at {program}"
    floor = _AWS_MINIMUM[0] if version[0] < _AWS_MINIMUM[1][0] else _AWS_MINIMUM[1]
    fits = version >= floor
    return Check(name, Status.OK if fits else Status.PROBLEM, found, want, "" if fits else fix)


def _aws_version(program: str, environ: Mapping[str, str]) -> tuple[int, int, int] | None:
    try:
        answer = subprocess.run(  # noqa: S603 - the AWS CLI found on PATH
            [program, "--version"], capture_output=True, timeout=_SECONDS_TO_ANSWER, check=False, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _AWS_SAYS.search((answer.stdout + answer.stderr).decode(errors="replace"))
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _aws_login(login: Login, environ: Mapping[str, str]) -> Check:
    name = f"AWS login {login.name}"
    want = f"one, to build {', '.join(login.clusters)} and to log in there"
    if login.profile:
        return _profile(name, login.profile, want, environ)
    for variables, found in _BY_VARIABLES:
        if all(environ.get(variable) for variable in variables):
            return Check(name, Status.OK, f"{found} ({' and '.join(variables)})", want)
    chosen = environ.get("AWS_PROFILE") or environ.get("AWS_DEFAULT_PROFILE") or ""
    if chosen:
        return _profile(name, chosen, want, environ)
    if "default" in _profiles(environ):
        return Check(name, Status.OK, "the default profile of the shared AWS configuration", want)
    fix = "log in (`aws configure sso`, `aws login`), or set AWS_PROFILE; on a machine of AWS its role is used"
    return Check(name, Status.WARNING, "no variable, no default profile", want, fix)


_BY_VARIABLES: Final = (
    (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "a key"),
    (("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"), "the identity of a pod or a pipeline"),
    (("AWS_CONTAINER_CREDENTIALS_FULL_URI",), "the role of a container"),
    (("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",), "the role of a container"),
)
"""What variables give a login by themselves; profiles come after them, a machine's own role last."""


def _profile(name: str, profile: str, want: str, environ: Mapping[str, str]) -> Check:
    known = sorted(_profiles(environ))
    if profile in known:
        return Check(name, Status.OK, f"profile {profile} of the shared AWS configuration", want)
    fix = f"aws configure --profile {profile} (or `aws configure sso --profile {profile}`)"
    there = f"there are {', '.join(known)}" if known else "there is none"
    return Check(name, Status.PROBLEM, f"no profile {profile} in the shared AWS configuration; {there}", want, fix)


def _profiles(environ: Mapping[str, str]) -> set[str]:
    """Return the names of all profiles; a file that cannot be read has none."""
    folder = Path(environ.get("HOME", "")) / ".aws"
    credentials = Path(environ.get("AWS_SHARED_CREDENTIALS_FILE") or folder / "credentials")
    config = Path(environ.get("AWS_CONFIG_FILE") or folder / "config")
    named = {title.removeprefix("profile ").strip() for title in _titles(config) if _is_profile(title)}
    return named | _titles(credentials)


def _is_profile(title: str) -> bool:
    return title == "default" or title.startswith("profile ")


def _titles(file: Path) -> set[str]:
    parser = configparser.RawConfigParser(default_section="", strict=False, allow_no_value=True)
    try:
        parser.read_string(file.expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, configparser.Error):
        return set()
    return set(parser.sections())
