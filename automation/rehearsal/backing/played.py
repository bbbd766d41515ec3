"""What is played in a backed run, because it exists only on real clusters: the one list of it.

``berth backing`` shows it when it starts, the demonstration at its end, and runs name it in one line. The reference
page has the same words (``docs/reference/local-kubernetes.md``). How it is done: ``stand_ins``, ``charts``, ``eks``,
``departures``, ``volumes``, ``token_program``, and ``stages.yaml`` of the local clusters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Played:
    """Something of real clusters, and what there is in its place."""

    what: str
    by: str


PLAYED: Final = (
    Played("clouds", "simulated, in a file; node groups become Node objects"),
    Played("nodes and pods", "kwok: no kubelet, no container; an image whose tag ends in -broken cannot be pulled"),
    Played("Jobs", "their pods succeed at once, also those that hydrate a cache: no weights are fetched"),
    Played("devices", "slices as NVIDIA's and EFA's drivers publish them, from the table of machine types"),
    Played(
        "charts", "not fetched: namespaces, definitions, DeviceClasses; a process for the controller of gangs alone"
    ),
    Played("volumes", "a claim that the driver of its class would serve gets one that is a name and nothing more"),
    Played("addresses", "load balancers and gateways get some of 203.0.113.0/24, where nothing listens"),
    Played("logins", "the kubeconfig's `aws` is a stand-in that gives the local cluster's token"),
)


def played_in_short() -> str:
    """Name what is played, in one line."""
    return f"played by stand-ins: {', '.join(each.what for each in PLAYED)}"


def played_in_full() -> Iterator[str]:
    """Say of each what there is in its place, one line each."""
    width = max(len(each.what) for each in PLAYED)
    yield "played by stand-ins, because it exists only on real clusters:"
    yield from (f"  {each.what.ljust(width)}  {each.by}" for each in PLAYED)
