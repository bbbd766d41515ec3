"""``berth observe``: what the clusters say of themselves now, read from their API servers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from automation.cli.options import Talk, Where

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.render.observation import ObservationView

_WHERE = Where()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShowSeen(Talk):
    """How an observation is shown."""

    output: Annotated[
        Literal["table", "wide", "json", "yaml", "name"], Parameter(name=["--output", "-o"], env_var="BERTH_OUTPUT")
    ] = "table"
    """Form of the answer on stdout; `wide` adds versions and pods, `berth plan --observation` takes `json`, `yaml`."""

    @property
    def form(self) -> str:
        """The form that is asked for; ``--json`` wins."""
        return "json" if self.json else self.output


_SHOW = ShowSeen()


def observe(
    *clusters: str,
    timeout: float = 15.0,
    where: Where = _WHERE,
    show: ShowSeen = _SHOW,
) -> int:
    """Read nodes, devices, claims and pods of the clusters, all at once, and say what each pool can really take.

    Changes nothing. A cluster that is silent is one row with its reason, holds up no other, and is no failure. Nodes
    that are cordoned, not ready, tainted, or publish fewer devices than their class has, are not usable; devices that
    pods outside the fleet hold are foreign. `berth plan --observation FILE` counts with what was seen.

    Parameters
    ----------
    clusters
        Names of clusters; without any, all of the environment.
    timeout
        Seconds that one cluster may take, its login included.
    """
    from automation.cli.clusters import require_clusters
    from automation.cli.running import session_for
    from automation.driver.observing import observe as run
    from automation.driver.reading import read_manifests_of, read_situation

    sinks = show.sinks_for("json" if show.form == "json" else "table")
    fleet, _ = read_manifests_of(where.workspace())
    require_clusters(fleet, clusters)
    # One that is lost is looked at only by its name.
    chosen = clusters or [name for name, each in fleet.clusters.items() if not each.spec.lost]
    with session_for(where, sinks) as session:
        situation = read_situation(session, create=False, missing_ok=True, lenient=True)
        view = run(session, situation, chosen, seconds=timeout)
    _print(sinks, show.form, view)
    return 0


def _print(sinks: "Sinks", form: str, view: "ObservationView") -> None:
    from automation.render.field_examples import as_yaml
    from automation.render.observation import observation_lines
    from automation.render.text import line

    if form == "json":
        sinks.document(view.to_json())
    elif form == "yaml":
        sinks.verbatim(as_yaml(view.to_json()) + "\n")
    elif form == "name":
        sinks.data([line(f"inferencecluster/{each.name}") for each in view.clusters])
    elif not view.clusters:
        sinks.say(f"No InferenceCluster in {view.environment}.")
    else:
        sinks.data(observation_lines(view, width=sinks.width, wide=form == "wide"))
