"""The charts that a front door is made of, as data.

Traefik's version is the gateway manifest's; the others are pinned here. Sources: the charts' own repositories, read in
November 2026.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Where a chart comes from; ``version`` is empty when the manifest names it."""

    release: str
    chart: str
    repository: str
    version: str
    namespace: str


GATEWAY_API: Final = Chart(
    release="gateway-api-crds",
    chart="gateway-api-crds",
    repository="https://charts.christianhuth.de",
    version="1.2.0",
    namespace="traefik-system",
)
"""Gateway API v1.5.1, standard channel: what Traefik 3.7 watches. Traefik's chart ships no such definitions since 40.2,
and charts that hold both channels pass the megabyte that Helm can keep of a release."""

METALLB: Final = Chart(
    release="metallb",
    chart="metallb",
    repository="https://metallb.github.io/metallb",
    version="0.14.9",
    namespace="metallb-system",
)

TRAEFIK: Final = Chart(
    release="traefik",
    chart="traefik",
    repository="https://traefik.github.io/charts",
    version="",
    namespace="traefik-system",
)
