"""The environment variables of every engine call, real or simulated, and of plain ``pulumi`` in a shell.

A simulated run gets a home, a backend and a passphrase of its own and nothing that leads to a cloud. A real one keeps
what its user has set. Both stay away from the user's own ``~/.pulumi``, except that a login found there is used.
Only values are computed here: ``simulated.prepare`` makes the folders.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from automation.engine.toolchain import credentials
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Toolchain

SIMULATED_VARIABLE: Final = "BERTH_SIMULATED"
BACKED_VARIABLE: Final = "BERTH_BACKED"
ENVIRONMENTS_VARIABLE: Final = "BERTH_ENVIRONMENTS"

SIMULATED_PASSPHRASE: Final = "simulated"  # noqa: S105 - it protects nothing, and says so
"""The passphrase of every simulated stack: there is no secret in one."""

_KEPT_WHEN_SIMULATED: Final = frozenset(
    {
        "PULUMI_CONTINUE_ON_ERROR",
        "PULUMI_DEBUG_GRPC",
        "PULUMI_OPTION_COLOR",
        "PULUMI_OPTION_NON_INTERACTIVE",
        "PULUMI_OPTION_PARALLEL",
        "PULUMI_PARALLEL",
        "PULUMI_SKIP_CONFIRMATIONS",
    }
)
"""Variables of the CLI that only change how it works or looks. All others may lead to a real backend or plugin."""

_NO_DOWNLOADS: Final = "^.*$=https://simulated.invalid"
"""Sends every plugin download to a name that cannot exist, also those that somebody asks for by hand."""

_ONLY_LOOPBACK: Final = {
    # Go never takes a proxy to the loopback interface, and always to everywhere else: there is none at this address.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "localhost,127.0.0.1",
}
"""Keeps the real Kubernetes provider of backed runs on this machine, whatever a kubeconfig says."""

_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy", "grpc_proxy"})
"""Variables in lower case that mean the same, and go before the others."""


def engine_environment(
    layout: Layout,
    *,
    simulated: bool,
    base: Mapping[str, str],
    toolchain: Toolchain | None = None,
) -> dict[str, str]:
    """Compute all variables for an engine call from those of this process (``base``).

    ``toolchain`` puts its CLI first on PATH; without one it is the installed CLI, if there is one.
    """
    own = _simulated(layout) if simulated else _real(layout, base)
    left = {} if simulated else _left_over(layout, base)
    kept = {name: value for name, value in base.items() if name not in left and (not simulated or _is_harmless(name))}
    kept.pop(BACKED_VARIABLE, None)  # a backed run sets it anew
    if simulated and layout.backed:
        kept = {name: value for name, value in kept.items() if name.lower() not in _PROXIES}
    common = {
        "PATH": _path(layout, base, toolchain),
        # The official language host takes this interpreter; ours runs in it anyway.
        "PULUMI_PYTHON_CMD": sys.executable,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    if environments := base.get(ENVIRONMENTS_VARIABLE):
        # The program runs in another folder than Berth, and would look for a relative one there.
        common[ENVIRONMENTS_VARIABLE] = str(layout.root / environments)
    return dict(sorted({**kept, **common, **own}.items()))


def plain_environment(
    layout: Layout,
    *,
    simulated: bool,
    base: Mapping[str, str],
    toolchain: Toolchain | None = None,
) -> dict[str, str]:
    """Compute the variables for plain ``pulumi`` in the checkout.

    The driver says itself in which folder the engine works. By hand, a simulated ``pulumi`` has to be sent to the
    project of the simulated runs, so that it leaves ``Pulumi.<stack>.yaml`` of the real stack alone.
    """
    variables = engine_environment(layout, simulated=simulated, base=base, toolchain=toolchain)
    if simulated:
        variables["PULUMI_OPTION_CWD"] = str(layout.simulated_project)
    return variables


def environment_changes(variables: Mapping[str, str], *, base: Mapping[str, str]) -> dict[str, str | None]:
    """Say what a shell with ``base`` has to set, and to unset (``None``), to have ``variables``; sorted by name."""
    names = sorted({*variables, *base})
    return {name: variables.get(name) for name in names if variables.get(name) != base.get(name)}


def _simulated(layout: Layout) -> dict[str, str]:
    nowhere = {name: str(layout.simulated_nowhere / file) for name, file in credentials.FILES.items()}
    return {
        **nowhere,
        **credentials.SWITCHES,
        **({BACKED_VARIABLE: "1", **_ONLY_LOOPBACK} if layout.backed else {}),
        SIMULATED_VARIABLE: "1",
        "PULUMI_BACKEND_URL": layout.simulated_state.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": SIMULATED_PASSPHRASE,
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(layout.simulated_home),
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": _NO_DOWNLOADS,
    }


def _real(layout: Layout, base: Mapping[str, str]) -> dict[str, str]:
    variables = {
        "PULUMI_HOME": str(layout.home),
        "PULUMI_IGNORE_AMBIENT_PLUGINS": base.get("PULUMI_IGNORE_AMBIENT_PLUGINS", "true"),
    }
    login = _login(layout, base)
    return variables if login is None else {**variables, "PULUMI_CREDENTIALS_PATH": str(login)}


def _login(layout: Layout, base: Mapping[str, str]) -> Path | None:
    """Find the folder of the user's own ``pulumi login``, which the home of our runs would hide."""
    if base.get("PULUMI_CREDENTIALS_PATH"):
        return None
    homes = [base.get("PULUMI_HOME"), str(Path(base["HOME"]) / ".pulumi") if base.get("HOME") else None]
    folders = [Path(home) for home in homes if home]
    return next((f for f in folders if layout.berth not in f.parents and (f / "credentials.json").is_file()), None)


def _is_harmless(name: str) -> bool:
    """Whether a simulated run may see a variable."""
    if name.startswith("PULUMI_"):
        return name in _KEPT_WHEN_SIMULATED
    return not credentials.leads_to_a_cloud(name)


def _left_over(layout: Layout, base: Mapping[str, str]) -> dict[str, str]:
    """Find what was set for runs that are not real, in a shell that took the output of ``berth env`` before.

    Values that lead into the simulation are never meant for a real run; the other ones only count as left over
    in a shell that still says it is simulated, because a user may have chosen the same.
    """
    says_so = base.get(SIMULATED_VARIABLE) == "1"
    found: dict[str, str] = {}
    for other in (Layout(layout.root), Layout(layout.root, backed=True)):
        own = {**_simulated(other), "PULUMI_OPTION_CWD": str(other.simulated_project)}
        inside = (str(other.simulated), other.simulated.as_uri())
        found |= {
            name: value
            for name, value in own.items()
            if base.get(name) == value and (says_so or value.startswith(inside) or name == SIMULATED_VARIABLE)
        }
    return found


def _path(layout: Layout, base: Mapping[str, str], toolchain: Toolchain | None) -> str:
    pulumi = toolchain.pulumi if toolchain is not None else layout.pulumi
    first = [str(layout.backed_programs)] if layout.backed else []
    first += [str(pulumi.parent)] if pulumi.is_file() else []
    first.append(str(Path(sys.executable).parent))
    strange = {*first, str(Layout(layout.root, backed=True).backed_programs)}
    rest = [entry for entry in base.get("PATH", "").split(os.pathsep) if entry and entry not in strange]
    return os.pathsep.join([*first, *rest])
