"""The register of kinds: which model reads a document, by apiVersion and kind."""

from typing import Final

from components.api.aks_cluster import AKSCluster
from components.api.base import BERTH_VERSION, MODELPLANE, Document
from components.api.eks_cluster import EKSCluster
from components.api.environment import Environment
from components.api.gke_cluster import GKECluster
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster
from components.api.inference_gateway import InferenceGateway
from components.api.infrastructure import INFRASTRUCTURE, InfrastructureDocument
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.model_endpoint import ModelEndpoint
from components.api.model_replica import ModelReplica
from components.api.model_service import ModelService
from components.api.nebius_cluster import NebiusCluster
from components.api.serving_stack import ServingStack
from components.api.vultr_cluster import VultrCluster

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

MACHINE_KINDS: Final[dict[str, type[Document]]] = {
    model.__name__: model
    for model in (
        AKSCluster,
        EKSCluster,
        GKECluster,
        ModelReplica,
        NebiusCluster,
        ServingStack,
        VultrCluster,
    )
}
"""The kinds that only the predecessor's machinery writes, by name."""

ALL_KINDS: Final[dict[str, type[Document]]] = dict(sorted((KINDS | MACHINE_KINDS).items()))

API_VERSIONS: Final = (MODELPLANE, BERTH_VERSION)


def api_versions(kind: str) -> tuple[str, ...]:
    """Return the apiVersions under which a kind is written; raises KeyError when there is no such kind."""
    model = ALL_KINDS[kind]
    if issubclass(model, InfrastructureDocument):
        return (INFRASTRUCTURE,)
    if model.MACHINE_MADE:
        return (MODELPLANE,)
    return (BERTH_VERSION,) if kind == "Environment" else API_VERSIONS
