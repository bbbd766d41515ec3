"""The register of kinds: which model reads a document, by apiVersion and kind."""

from typing import Final

from components.api.base import BERTH_VERSION, MODELPLANE, Document
from components.api.environment import Environment
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster
from components.api.inference_gateway import InferenceGateway
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.model_endpoint import ModelEndpoint
from components.api.model_service import ModelService

KINDS: Final[dict[str, type[Document]]] = {
    model.__name__: model
    for model in (
        Environment,
        InferenceClass,
        InferenceCluster,
        InferenceGateway,
        ModelCache,
        ModelDeployment,
        ModelEndpoint,
        ModelService,
    )
}
"""The kinds that people write, by name."""

API_VERSIONS: Final = (MODELPLANE, BERTH_VERSION)


def api_versions(kind: str) -> tuple[str, ...]:
    """Return the apiVersions under which a kind is written."""
    return (BERTH_VERSION,) if kind == "Environment" else API_VERSIONS
