"""``berth preflight``: whether a cluster has what the environment needs of it, and how to give it what is missing."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.engine.toolchain.finding import Check
    from automation.observe.access import Access
    from automation.observe.api import NoAnswer
    from automation.observe.preflight.wanted import Wanted

_SHOW = Show()
_WHERE = Where()


def preflight(
    cluster: str,
    /,
    *,
    kubeconfig: Path | None = None,
    context: str = "",
    timeout: Annotated[float, Parameter(name="--timeout")] = 30.0,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Check whether a cluster has what the environment needs of it, and say how to fix what is missing.

    Reads the API server and changes nothing; what becomes of claims for devices it asks with a dry run. The cluster
    needs a manifest and need not be built yet. Exits 1 when there is a problem, and 3 when the API server does not know
    who asks.

    Parameters
    ----------
    cluster
        Name of an InferenceCluster.
    kubeconfig
        File to reach it by; by default the kubeconfig that Berth uses, from the stack's secrets or its state. With a
        file no engine is started.
    context
        Context of the kubeconfig, instead of its current one.
    timeout
        Seconds that the whole may take.
    """
    from automation.cli.clusters import require_clusters
    from automation.driver.reading import read_manifests_of
    from automation.observe.api import NoAnswer
    from automation.observe.preflight.wanted import Wanted
    from automation.render.preflight import CheckView, PreflightView, preflight_lines
    from components.errors import AuthError

    sinks = show.sinks()
    workspace = where.workspace()
    fleet, _ = read_manifests_of(workspace)
    require_clusters(fleet, [cluster])
    access = _kept(where, sinks, cluster, context) if kubeconfig is None else _given(kubeconfig, context)
    wanted = Wanted.of(fleet, cluster)
    if where.backed:
        from automation.rehearsal.kubernetes.definitions import groups

        wanted = wanted.brought(groups())
    checks, unknown = _asked(access, wanted, timeout)
    view = PreflightView(
        environment=fleet.name,
        backed=where.backed,
        cluster=cluster,
        server="" if isinstance(access, NoAnswer) else access.server,
        ready=not any(each.status == "problem" for each in checks),
        checks=tuple(
            CheckView(name=each.name, status=each.status.value, found=each.found, want=each.want, fix=each.fix)
            for each in checks
        ),
    )
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(preflight_lines(view, width=sinks.width))
    if unknown:
        return AuthError.exit_code
    return 0 if view.ready else 1


def _given(path: Path, context: str) -> "Access":
    from automation.observe.access import read_access
    from components.errors import UsageError

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text"
        raise UsageError(f"the kubeconfig {path} cannot be read: {why}") from error
    return read_access(text, where=str(path), context=context, folder=path.resolve().parent)


def _kept(where: Where, sinks: "Sinks", cluster: str, context: str) -> "Access | NoAnswer":
    """Return how Berth itself reaches a cluster."""
    from automation.cli.running import session_for
    from automation.driver.kubeconfigs import accesses
    from automation.driver.reading import read_situation
    from components.errors import UsageError

    if where.simulated and not where.backed:
        raise UsageError(
            "a preflight asks an API server, and a simulated cluster has none",
            help=f"berth preflight {cluster} -e {where.env} --kubeconfig FILE",
        )
    with session_for(where, sinks) as session:
        situation = read_situation(session, create=False, missing_ok=True, lenient=True)
        return accesses(session, situation, [cluster], context=context)[cluster]


def _asked(access: "Access | NoAnswer", wanted: "Wanted", seconds: float) -> "tuple[tuple[Check, ...], bool]":
    """Return the findings, and whether the server does not know who asks."""
    from automation.engine.toolchain.finding import Check, Status
    from automation.observe.api import ClusterApi, NoAnswer
    from automation.observe.parallel import ask_each
    from automation.observe.preflight.run import preflight as run

    def ask(_: str) -> "tuple[Check, ...]":
        if isinstance(access, NoAnswer):
            raise access
        with ClusterApi(access, seconds=seconds) as api:
            return run(api, wanted)

    answer = ask_each(ask, [wanted.cluster], seconds=seconds)[wanted.cluster]
    if not isinstance(answer, NoAnswer):
        return answer, False
    fix = answer.fix or _advice(answer, access, wanted)
    return (Check("api server", Status.PROBLEM, str(answer), "answers", fix),), answer.unauthorized


def _advice(answer: "NoAnswer", access: "Access | NoAnswer", wanted: "Wanted") -> str:
    """Return what helps against a server that does not answer, or not to who asks."""
    from automation.observe.api import NoAnswer

    if answer.unauthorized or isinstance(access, NoAnswer):
        return f"berth preflight {wanted.cluster} -e {wanted.environment} --kubeconfig FILE asks as another"
    through = f" through {access.proxy}" if access.proxy else ""
    return f"is it up, and is {access.server}{through} reached from here? kubectl get --raw /readyz asks the same"
