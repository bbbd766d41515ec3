"""What the doctor finds of a local Kubernetes control plane, for whoever asks for one."""

from collections.abc import Iterable, Mapping

from automation.engine.toolchain.finding import Check, Status
from automation.engine.toolchain.install import locate_tool
from automation.engine.toolchain.kubernetes import Minor, rehearsal_tools
from automation.engine.toolchain.layout import Layout
from components.errors import UsageError


def kubernetes(minor: Minor, layout: Layout, environ: Mapping[str, str]) -> Iterable[Check]:
    """Say whether the minor is proven, then look for each of its programs."""
    found = f"{minor.version}, {'proven' if minor.proven else 'not proven: nothing was run with it yet'}"
    yield Check(f"Kubernetes {minor.name}", Status.OK if minor.proven else Status.WARNING, found)
    install = f"berth doctor --kubernetes {minor.name} --install"
    for tool in rehearsal_tools(minor):
        want = f"{tool.range} on PATH, else {tool.version}"
        try:
            program, failures = locate_tool(tool, layout, environ=environ)
        except UsageError as error:
            yield Check(tool.called, Status.PROBLEM, error.summary, want, error.help)
            continue
        if program is None:
            yield Check(tool.called, Status.PROBLEM, "; ".join(failures.values()) or "none installed", want, install)
        else:
            yield Check(tool.called, Status.OK, f"{program.version}, {program.source.words}: {program.path}", want)
