"""What the doctor finds of a local Kubernetes control plane, for whoever asks for one."""

from collections.abc import Iterable, Mapping

from automation.engine.toolchain.finding import INSTALLING, Check, Status
from automation.engine.toolchain.install import locate_tool, underway
from automation.engine.toolchain.kubernetes import PROVIDER, Minor, kubernetes_tools
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.tool import Tool
from components.errors import UsageError


def kubernetes(minor: Minor, layout: Layout, environ: Mapping[str, str]) -> Iterable[Check]:
    """Say whether the minor is proven, then look for each of its programs, and for the provider of backed runs.

    Only these need the provider: unless the layout is theirs, a machine without it is as good for anything else.
    """
    found = f"{minor.version}, {'proven' if minor.proven else 'not proven: nothing was run with it yet'}"
    yield Check(f"Kubernetes {minor.name}", Status.OK if minor.proven else Status.WARNING, found)
    install = f"berth doctor --kubernetes {minor.name} --install"
    for tool in kubernetes_tools(minor):
        yield _look(tool, layout, environ, missing=Status.PROBLEM, fix=install)
    install = f"berth doctor --backed --kubernetes {minor.name} --install"
    fix = install if layout.backed else f"{install}, or berth backing when it starts; nothing else needs it"
    yield _look(PROVIDER, layout, environ, missing=Status.PROBLEM if layout.backed else Status.WARNING, fix=fix)


def _look(tool: Tool, layout: Layout, environ: Mapping[str, str], *, missing: Status, fix: str) -> Check:
    want = f"{tool.range} on PATH, else {tool.version}"
    try:
        program, failures = locate_tool(tool, layout, environ=environ)
    except UsageError as error:
        return Check(tool.called, Status.PROBLEM, error.summary, want, error.help)
    if program is None and (far := underway(tool, layout)):
        return Check(tool.called, missing, far, want, INSTALLING)
    if program is None:
        return Check(tool.called, missing, "; ".join(failures.values()) or "none installed", want, fix)
    return Check(tool.called, Status.OK, f"{program.version}, {program.source.words}: {program.path}", want)
