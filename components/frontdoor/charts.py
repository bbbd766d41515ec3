"""The charts that a front door is made of, as data. PURE.

Traefik's version is the gateway manifest's. The Gateway API itself comes with the cluster's serving stack, which is
there on front doors too.
"""

from typing import Final

from components.clusters.chart import Chart

METALLB: Final = Chart(
    name="metallb",
    repository="https://metallb.github.io/metallb",
    version="0.14.9",
    namespace="metallb-system",
)


def traefik(version: str) -> Chart:
    """Return Traefik's chart in the version that the gateway's manifest names."""
    return Chart(
        name="traefik", repository="https://traefik.github.io/charts", version=version, namespace="traefik-system"
    )
