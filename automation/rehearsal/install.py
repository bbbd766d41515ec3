"""Place simulated providers in a plugin cache, so that an unchanged program and engine talk to them.

A private plugin cache (``$PULUMI_HOME/plugins``) gets, for every package that has a table and an installed SDK, a
launcher at exactly the version the SDK asks for, and the rules derived from the SDK's classes. The cache must hold no
real plugin: what can reach a real cloud does not belong beside what pretends.
"""

import importlib.metadata
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from automation.rehearsal.provider.rules import FORMAT, derivation, file_name
from automation.rehearsal.provider.table import DATA, Table, load_table, packages
from components.errors import DriverError, MixedState

MARKER: Final = "simulated.json"
_KUBERNETES: Final = "kubernetes"
_LONGEST_SHEBANG: Final = 120  # the kernel's limit is 127 on older systems, with "#!", " -u" and the newline


@dataclass(frozen=True, slots=True)
class Backing:
    """What stands behind the clusters of simulated clouds: their keeper's record, and the real Kubernetes provider."""

    record: Path
    provider: Path
    version: str
    """The provider's own version; the SDK may be newer."""


def install(
    plugins_home: Path,
    *,
    interpreter: Path,
    database: Path,
    rules: Path | None = None,
    data: Path | None = None,
    backing: Backing | None = None,
) -> None:
    """Install every simulated provider whose SDK is installed for ``interpreter``.

    ``plugins_home`` is the engine's home (``PULUMI_HOME``), ``database`` the simulated cloud's file, made on first use.
    ``rules`` is where derived rules are kept; several homes may share it (default: in ``plugins_home``). ``data`` is a
    folder of tables other than the built-in ones. With ``backing`` clusters are real, and in place of the simulated
    Kubernetes provider stands the front of the real one. Running it again changes nothing that is right already. A home
    that holds a real provider by itself is refused.
    """
    _refuse_real_plugins(plugins_home)
    tables = data or DATA
    store = rules or plugins_home / "rehearsal"
    for package in packages(folder=tables):
        version = _sdk_version(package)
        if version:
            table = load_table(package, folder=tables)
            folder = store / f"{package}-{version}-{FORMAT}"
            _derive(table, folder, interpreter)
            settings = {
                "simulated": True,
                "package": package,
                "version": version,
                "database": str(database.absolute()),
                "rules": str(folder.absolute()),
                "interpreter": str(interpreter),
                "data": str(data.absolute()) if data else "",
                **(_backed(package, version, backing) if backing else {}),
            }
            _place(plugin_folder(plugins_home, package, version), settings)


def _backed(package: str, version: str, backing: Backing) -> dict[str, Any]:
    """Give the settings of a launcher in a backed home."""
    shared = {"backing": str(backing.record.absolute())}
    if package != _KUBERNETES:
        return shared
    return {
        **shared,
        "simulated": False,
        "provider": str(backing.provider.absolute()),
        "version": f"{version}+backed.{backing.version}",
    }


def plugin_folder(plugins_home: Path, package: str, version: str) -> Path:
    """Name the folder in which the engine looks for a provider of this version."""
    return plugins_home / "plugins" / f"resource-{package}-v{version}"


def _refuse_real_plugins(plugins_home: Path) -> None:
    """Raise when a provider here did not come from us: it could reach a real cloud from a simulated run."""
    for folder in sorted(plugins_home.glob("plugins/resource-*")):
        if folder.is_dir() and not (folder / MARKER).exists() and any(folder.glob("pulumi-resource-*")):
            raise MixedState(
                f"{folder.name} is a real provider, in a home that is meant for simulated ones",
                consequence="Nothing was installed, and nothing was run.",
                help=f"rm -r {folder}",
            )


def _sdk_version(package: str) -> str:
    """Read the version that the installed SDK sends to the engine; empty when the SDK is not installed."""
    try:
        distribution = importlib.metadata.distribution(f"pulumi-{package}")
    except importlib.metadata.PackageNotFoundError:
        return ""
    name = f"pulumi_{package.replace('-', '_')}/pulumi-plugin.json"
    declared = distribution.read_text(f"../{name}") or (distribution.locate_file(name).read_text())
    return str(json.loads(declared).get("version") or distribution.version)


def _derive(table: Table, folder: Path, interpreter: Path) -> None:
    missing = [token for token in table.tokens if not (folder / file_name(token)).exists()]
    if not missing:
        return
    command = derivation(interpreter, table.package, folder, *missing)
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own module
    if done.returncode:
        raise DriverError(
            f"The input rules of the simulated {table.package} provider cannot be derived",
            consequence=done.stderr.strip()[-800:],
            help="berth doctor",
        )


def _place(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write a launcher and its settings."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / MARKER
    _write(marker, json.dumps(settings, indent=2, sort_keys=True) + "\n", mode=0o644)
    launcher = folder / f"pulumi-resource-{settings['package']}"
    module = "provider.program" if settings["simulated"] else "backing.provider"
    _write(launcher, _launcher(Path(settings["interpreter"]), marker.absolute(), module), mode=0o755)


def _launcher(interpreter: Path, settings: Path, module: str) -> str:
    return script(
        interpreter,
        "from pathlib import Path\n"
        "from components.protocol_only import leave_sdk_out\n"
        "leave_sdk_out()\n"
        f"from automation.rehearsal.{module} import serve\n"
        f"serve(Path({str(settings)!r}))\n",
    )


def script(interpreter: Path, body: str) -> str:
    """Make a program that starts fast: Python directly, or through the shell when the path is too long or odd."""
    first = f"#!{interpreter} -u"
    if len(first) <= _LONGEST_SHEBANG and not re.search(r"\s", str(interpreter)):
        return f"{first}\n{body}"
    quoted = str(interpreter).replace("'", "'\\''")
    return f"#!/bin/sh\n'''exec' '{quoted}' -u \"$0\" \"$@\"\n' '''\n{body}"


def _write(path: Path, text: str, *, mode: int) -> None:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.chmod(mode)
    scratch.replace(path)
