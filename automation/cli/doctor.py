"""``berth doctor``: what a run needs, what was found, and how to fix what is missing."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where
from automation.render.output_version import API_VERSION

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.engine.toolchain.kubernetes import Minor
    from automation.engine.toolchain.layout import Layout

_SHOW = Show()
_WHERE = Where()


def doctor(
    *,
    install: Annotated[bool, Parameter(negative="")] = False,
    background: Annotated[bool, Parameter(negative="")] = False,
    kubernetes: str | None = None,
    quiet_when_ready: Annotated[bool, Parameter(negative="", show=False)] = False,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Check what a run needs of this machine, and what an environment's clusters need; say how to fix what is missing.

    Parameters
    ----------
    install
        Download or build first what is missing: the Pulumi CLI, and with `--kubernetes` what that names; with
        `--backed` as well, Pulumi's Kubernetes provider last.
    background
        With `--install`: do that in a process of its own and return at once. `berth doctor` tells how far it is, and
        whatever needs one of the programs meanwhile waits for it.
    kubernetes
        Also check the programs of a local control plane of this minor version of Kubernetes: 1.34, 1.35 or 1.36.
        Building them takes about a quarter of an hour and 10 GB of Go's caches, once. The Pulumi provider that puts
        objects on one is shown too; only `--backed` asks for it, and `berth backing` gets it.
    quiet_when_ready
        Print nothing when there is no problem.
    """
    from automation.driver.needs import needs_of
    from automation.engine.toolchain.doctor import Status, diagnose
    from automation.engine.toolchain.ensure import ensure
    from automation.engine.toolchain.install import ensure_tool
    from automation.engine.toolchain.kubernetes import kubernetes_tools, minor_of, rehearsal_tools
    from automation.engine.toolchain.layout import Layout
    from automation.render.checks import checks_table

    sinks = show.sinks()
    layout = Layout.find(backed=where.backed)
    minor = minor_of(kubernetes) if kubernetes is not None else None
    if background:
        return _in_background(sinks, layout, where, minor, install=install)
    if install:
        ensure(layout, progress=sinks.say)
        tools = rehearsal_tools if layout.backed else kubernetes_tools
        for tool in tools(minor) if minor else ():
            ensure_tool(tool, layout, progress=sinks.say)
    environment, needs = needs_of(where.env, named=where.named, environments=where.environments)
    diagnosis = diagnose(layout, simulated=where.simulated, environment=(environment,), needs=needs, kubernetes=minor)
    failed = diagnosis.status is Status.PROBLEM
    if sinks.machine:
        checks = [
            {"name": each.name, "status": each.status.value, "found": each.found, "want": each.want, "fix": each.fix}
            for each in diagnosis.checks
        ]
        sinks.document(
            {
                "apiVersion": API_VERSION,
                "kind": "Diagnosis",
                "simulated": where.simulated,
                "backed": where.backed,
                "checks": checks,
            }
        )
    elif failed or not quiet_when_ready:
        sinks.data(checks_table([row[:4] for row in diagnosis.to_rows()], width=sinks.width))
        for each in diagnosis.checks:
            if each.fix and each.status is not Status.OK:
                sinks.say(f"{each.name}: {each.fix}")
    return 1 if failed else 0


def _in_background(sinks: "Sinks", layout: "Layout", where: Where, minor: "Minor | None", *, install: bool) -> int:
    """Start an installation and say where to look after it."""
    from automation.engine.toolchain.background import install_in_background
    from components.errors import UsageError
    from stacks.shown_path import shown_path

    asked = [*(["--backed"] if where.backed else ["--simulated"] if where.simulated else [])]
    asked += ["--kubernetes", minor.name] if minor else []
    look = " ".join(["berth doctor", *asked])
    if not install:
        raise UsageError("--background says how to install, and nothing is to be installed", help=f"{look} --install")
    process = install_in_background(layout, ["doctor", "--install", *asked]).process
    pid = process.pid if process else None
    log = shown_path(layout.install_log)
    what = f"process {pid}" if pid else "another one is at work already"
    if sinks.machine:
        sinks.document({"apiVersion": API_VERSION, "kind": "Installation", "pid": pid, "log": str(layout.install_log)})
    sinks.say(f"installing in the background ({what}); {log} has what it says")
    sinks.say(f"next: {look}")
    return 0
