"""Where the state of real runs is kept, and what opens it: all that can be known of it before the engine is started.

The CLI looks in the same places in the same order, but it has to be there first, and to build it takes minutes.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import yaml

from automation.engine.toolchain.environment import engine_environment
from automation.engine.toolchain.layout import Layout
from components.errors import AuthError

NAME_ONE: Final = "export PULUMI_BACKEND_URL (s3://, gs://, azblob://, file://), or run `pulumi login`"
"""How a person says where the state is kept."""

GIVE_ONE: Final = "export PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"
"""How a person gives a passphrase."""

_NOTHING: Final = "Nothing was changed."
_PULUMI_CLOUD: Final = "https://api.pulumi.com"
_PASSPHRASE, _FILE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"


def backend_of(layout: Layout, environ: Mapping[str, str]) -> str:
    """Return the address of the backend that real runs use, empty when none is named.

    The environment names it, else the project, else a login; a token alone means Pulumi Cloud.
    """
    variables = engine_environment(layout, simulated=False, base=environ)
    named = variables.get("PULUMI_BACKEND_URL") or _of_project(layout) or _of_login(layout, variables)
    if named or not variables.get("PULUMI_ACCESS_TOKEN"):
        return named
    return variables.get("PULUMI_API") or _PULUMI_CLOUD


def is_managed(url: str) -> bool:
    """Whether a backend keeps the keys of secrets itself, so that no passphrase is asked for."""
    return urlsplit(url).scheme in ("http", "https")


def passphrase_fault(layout: Layout, environ: Mapping[str, str]) -> str:
    """Say what is wrong with the passphrase that is given; empty when there is nothing, ``none`` when there is none."""
    variables = engine_environment(layout, simulated=False, base=environ)
    if _PASSPHRASE in variables:
        return ""
    if not variables.get(_FILE):
        return "none"
    file = layout.root / variables[_FILE]  # the engine works in the project's folder
    try:
        file.read_bytes()
    except OSError as error:
        return f"{file} cannot be read: {error.strerror}"
    return ""


def require_backend(layout: Layout, environ: Mapping[str, str]) -> str:
    """Return the address of the backend; raises AuthError, with the ways to name one, when there is none."""
    url = backend_of(layout, environ)
    if not url:
        raise AuthError(
            "no backend is named: it is not known where the state is kept",
            consequence=_NOTHING,
            help=f"{NAME_ONE}; --simulated rehearses without either",
        )
    return url


def require_passphrase(layout: Layout, environ: Mapping[str, str], *, configuration: Path) -> None:
    """Raise AuthError when a passphrase is certain to be asked for and there is none that can be read.

    ``configuration`` is the file of the stack's configuration. A stack without one gets a passphrase when it is made.
    """
    fault = passphrase_fault(layout, environ)
    if not fault or is_managed(backend_of(layout, environ)) or _has_key_service(configuration):
        return
    raise AuthError(
        "no passphrase is given, and one encrypts the secrets of the state" if fault == "none" else fault,
        consequence=_NOTHING,
        help=f"{GIVE_ONE}; a key service needs none: make the stack yourself, with `pulumi stack init"
        " --secrets-provider`, and commit its Pulumi.STACK.yaml",
    )


def _has_key_service(configuration: Path) -> bool:
    return str(_mapping(configuration).get("secretsprovider") or "passphrase") != "passphrase"


def _of_project(layout: Layout) -> str:
    named = _mapping(layout.project_file).get("backend") if layout.project_file else None
    return str(named.get("url") or "") if isinstance(named, dict) else ""


def _mapping(file: Path) -> dict[str, object]:
    """Read a file of YAML; what is wrong with it is said by whoever needs it."""
    try:
        content = yaml.safe_load(file.read_bytes())
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        return {}
    return content if isinstance(content, dict) else {}


def _of_login(layout: Layout, variables: Mapping[str, str]) -> str:
    folder = Path(variables.get("PULUMI_CREDENTIALS_PATH") or layout.home)
    try:
        return str(json.loads((folder / "credentials.json").read_bytes())["current"] or "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""
