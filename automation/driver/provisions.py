"""Which plugins and programs an environment needs, on real clouds: those of its clusters, and of what states hold."""

from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.engine.events import PROVIDER_PREFIX
from components.clusters.sources import facts_of

_BUILT_IN = "pulumi"
"""The engine's own package, which has no plugin."""


def require_provisions(session: Session, situation: Situation) -> None:
    """See that everything is there before the engine is asked; raises ToolchainError with all that is missing."""
    if session.provisions is None:
        return
    sources: set[str] = {cluster.source for cluster in situation.fleet.clusters.values()}
    sources |= {cluster.source for cluster in situation.existing.clusters.values() if cluster.source}
    packages = {package for source in sources for package in facts_of(source).packages}
    packages |= {
        resource.type.removeprefix(PROVIDER_PREFIX)
        for checkpoint in situation.checkpoints.values()
        for resource in checkpoint
        if resource.is_provider
    } - {_BUILT_IN}
    programs = {name: why for source in sorted(sources) for name, why in facts_of(source).programs.items()}
    session.provisions.require(packages, programs)
