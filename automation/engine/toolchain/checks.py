"""The single checks of the doctor. Each looks at one thing and gives a finding; none raises for what it finds."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from automation.engine.language_host.packages import required_plugins
from automation.engine.toolchain.backend import GIVE_ONE, NAME_ONE, backend_of, is_managed, passphrase_fault
from automation.engine.toolchain.build import go_version
from automation.engine.toolchain.ensure import locate
from automation.engine.toolchain.finding import INSTALLING, Check, Status
from automation.engine.toolchain.host import find_host, is_ours
from automation.engine.toolchain.install import underway
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.requirements import Requirement, requirements
from automation.engine.toolchain.tool import Tool
from automation.engine.toolchain.toolchain import Toolchain
from automation.engine.toolchain.versions import MINIMUM, PULUMI, VERSION
from components.errors import UsageError

_PYTHON: Final = (3, 11)
_INSTALL: Final = "berth doctor --install"
_SDKS: Final = ("pulumi", "pulumi-aws", "pulumi-kubernetes")
_GO_SAYS: Final = re.compile(r"\bgo(\d+\.\d+(?:\.\d+)?)")
_STAND_IN: Final = re.compile(r"^\s*(?:import|from)\s+celpy\b", re.MULTILINE)
_SECONDS_TO_ANSWER: Final = 20


def berth() -> Check:
    """Say the version of Berth."""
    try:
        return Check("Berth", Status.OK, metadata.version("berth"))
    except metadata.PackageNotFoundError:
        fix = "install Berth into this interpreter (`make venv`, or as a tool)"
        return Check("Berth", Status.PROBLEM, "not installed, only importable", "installed", fix)


def mode(layout: Layout, *, simulated: bool) -> Check:
    """Say whether runs are real, simulated or backed."""
    if layout.backed:
        found = f"backed: clouds simulated in {layout.simulated_clouds}, real Kubernetes on this machine"
        return Check("mode", Status.OK, found)
    if simulated:
        return Check("mode", Status.OK, f"simulated: clouds in {layout.simulated_clouds}, no real one is reached")
    return Check("mode", Status.OK, "real", fix="rehearse with --simulated or BERTH_SIMULATED=1")


def python() -> Check:
    """Say which interpreter runs programs, policies and providers."""
    found = f"{'.'.join(str(part) for part in sys.version_info[:3])} at {sys.executable}"
    status = Status.OK if sys.version_info[:2] >= _PYTHON else Status.PROBLEM
    want = f"{_PYTHON[0]}.{_PYTHON[1]} or newer"
    return Check("Python", status, found, want, "" if status is Status.OK else f"install Berth with Python {want}")


def engine(layout: Layout, environ: Mapping[str, str], *, simulated: bool) -> Iterable[Check]:
    """Look at the CLI and its language host."""
    want = f"{MINIMUM} or newer on PATH, else {VERSION}"
    try:
        toolchain, failures = locate(layout, environ=environ)
    except UsageError as error:
        yield Check("Pulumi CLI", Status.PROBLEM, error.summary, want, error.help)
        return
    if toolchain is None and (far := underway(PULUMI, layout)):
        yield Check("Pulumi CLI", Status.PROBLEM, far, want, INSTALLING)
    elif toolchain is None:
        reasons = "; ".join(failures.values()) or "none installed"
        yield Check("Pulumi CLI", Status.PROBLEM, reasons, want, _INSTALL)
    else:
        found = f"{toolchain.version}, {toolchain.source.words}: {toolchain.pulumi}"
        yield Check("Pulumi CLI", Status.OK, found, want)
        yield _host(layout, toolchain, simulated=simulated)


def _host(layout: Layout, toolchain: Toolchain, *, simulated: bool) -> Check:
    name, host = "language host", find_host(layout, toolchain.pulumi, simulated=simulated)
    if host is None:
        return Check(
            name, Status.PROBLEM, "none; plain pulumi and policy packs in folders do not work", "one", _INSTALL
        )
    whose = "Berth's" if is_ours(host) else "of the Pulumi CLI"
    return Check(name, Status.OK, f"{whose}: {host}")


def go(environ: Mapping[str, str], *, missing: Sequence[Tool]) -> Check:
    """Look at Go, which is needed only to build the tools that are missing."""
    modules = [tool.module for tool in missing or (PULUMI,) if tool.module is not None]
    wanted = max((go_version(module) for module in modules), key=_numbers, default="")
    if not wanted:
        return Check("Go", Status.OK, _go_version(environ) or "none", "not needed: what is missing cannot be built")
    what = ", ".join(tool.phrase for tool in missing or (PULUMI,) if tool.module is not None)
    want = f"{wanted} or newer, to build {what}" + ("" if missing else "; not needed now")
    found = _go_version(environ)
    if found and _numbers(found) >= _numbers(wanted):
        return Check("Go", Status.OK, found, want)
    status = Status.WARNING if missing else Status.OK
    fix = f"install Go {wanted} or newer, unless the official download can be reached" if missing else ""
    return Check("Go", status, found or "none", want, fix)


def _go_version(environ: Mapping[str, str]) -> str:
    program = shutil.which("go", path=environ.get("PATH", ""))
    if program is None:
        return ""
    try:
        answer = subprocess.run(  # noqa: S603 - the Go found on PATH
            [program, "version"], capture_output=True, timeout=_SECONDS_TO_ANSWER, check=False, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _GO_SAYS.search(answer.stdout.decode(errors="replace"))
    return match[1] if match else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def sdks() -> Iterable[Check]:
    """Compare the installed Pulumi SDKs with what Berth's own package asks for."""
    wanted = requirements("berth")
    for name in _SDKS:
        requirement = wanted.get(name, Requirement(name=name))
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield _missing(requirement)
            continue
        fits = requirement.accepts(found)
        fix = "" if fits else f"install {requirement}"
        yield Check(f"SDK {name}", Status.OK if fits else Status.PROBLEM, found, requirement.range, fix)


def _missing(requirement: Requirement) -> Check:
    status = Status.WARNING if requirement.extra else Status.PROBLEM
    fix = f"install berth[{requirement.extra}]" if requirement.extra else f"install {requirement}"
    return Check(f"SDK {requirement.name}", status, "not installed", requirement.range, fix)


def plugins(layout: Layout, *, simulated: bool) -> Iterable[Check]:
    """Look for the provider plugins that the installed SDKs ask for, in the plugin cache of this kind of run."""
    home = layout.home_of(simulated=simulated)
    for plugin in required_plugins():
        name = f"plugin {plugin.name}"
        path = plugin.file_in(home)
        if plugin.is_in(home):
            yield Check(name, Status.OK, str(path), plugin.version)
        elif simulated:
            yield Check(name, Status.OK, "not there yet; a simulated run places those it simulates", plugin.version)
        else:
            fix = f"is downloaded when first used, or: pulumi plugin install resource {plugin.name} {plugin.version}"
            yield Check(name, Status.WARNING, "not in the plugin cache", plugin.version, fix)
    if simulated:
        yield from _strangers(home / "plugins")


def _strangers(cache: Path) -> Iterable[Check]:
    """Report programs in the simulated plugin cache that are no scripts: a simulated provider is one."""
    for path in sorted(cache.glob("resource-*/pulumi-resource-*")):
        if not _is_script(path):
            found = f"{path} is a real plugin"
            yield Check("plugin cache", Status.PROBLEM, found, "simulated ones", f"rm -r {path.parent}")


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def backend(layout: Layout, environ: Mapping[str, str], *, simulated: bool) -> Iterable[Check]:
    """Say where state is kept, and whether secrets can be read."""
    if simulated:
        yield Check("backend", Status.OK, str(layout.simulated_state), "one of its own")
        return
    url = backend_of(layout, environ)
    if not url:
        yield Check("backend", Status.PROBLEM, "none", "where the state is kept", NAME_ONE)
        return
    yield Check("backend", Status.OK, _without_password(url))
    fault = "" if is_managed(url) else passphrase_fault(layout, environ)
    if fault:
        want = "one, unless the stack has a secrets provider"
        yield Check("passphrase", Status.WARNING, fault, want, GIVE_ONE)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return parts._replace(netloc=f"{parts.username}:[secret]@{parts.netloc.rpartition('@')[2]}").geturl()


def policies(*, simulated: bool) -> Check:
    """Say when the policy pack runs."""
    found = "berth plan and berth up run the pack; plain pulumi on a self-managed backend runs none"
    return Check("policies", Status.OK, found, fix="" if simulated else "by hand: pulumi preview --policy-pack FOLDER")


def selectors() -> Check:
    """Say which engine evaluates device selectors: Berth's own, or the stand-in library."""
    modules = (module for module in files("components.cel").iterdir() if module.name.endswith(".py"))
    if any(_STAND_IN.search(module.read_text(encoding="utf-8")) for module in modules):
        found = "cel-python, a stand-in: its answers can differ from those of Kubernetes"
        return Check("selectors", Status.WARNING, found, "Berth's own engine", "a newer Berth")
    return Check("selectors", Status.OK, "Berth's own engine")
