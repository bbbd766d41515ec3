"""Rules between documents: names that must exist, classes that fit their cluster, front doors, secrets.

Only documents that are right by themselves are looked at; a broken one still counts as being there.
"""

from typing import Final

from components.api.advice import advise
from components.api.base import MODELPLANE
from components.api.codes import Code
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster
from components.api.inference_gateway import InferenceGateway
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.reading import Reading
from components.api.recipes import check_recipes
from components.api.secrets import secret_uses
from components.api.selectors import check_selectors
from components.api.source import Source
from components.errors import Severity

CLOUDS: Final = {"EKS": "aws", "GKE": "gcp", "AKS": "azure", "Nebius": "nebius", "Vultr": "vultr"}
"""The key of each source's cloud in `Environment.spec.providers`."""

DEFAULT_GATEWAY: Final = "default"
"""The gateway that services use."""


def check_references(reading: Reading) -> None:
    """Record every problem between documents at the document that causes it."""
    for source, cluster in reading.documents(InferenceCluster):
        _cluster(reading, source, cluster)
    for source, deployment in reading.documents(ModelDeployment):
        cache = deployment.spec.template.spec.model_cache_ref
        if cache is not None:
            path = ("spec", "template", "spec", "modelCacheRef", "name")
            reading.require(source, ModelCache, cache.name, path, deployment.namespace)
    _same_kubeconfig(reading)
    _front_doors(reading)
    _secrets(reading)
    check_recipes(reading, reading.machines)
    advise(reading, check_selectors(reading))


def _cluster(reading: Reading, source: Source, cluster: InferenceCluster) -> None:
    for index, pool in enumerate(cluster.spec.node_pools):
        path = ("spec", "nodePools", index, "className")
        if not reading.require(source, InferenceClass, pool.class_name, path):
            continue
        found = reading.get(InferenceClass, pool.class_name)
        if found is None or not cluster.provisioned:
            continue
        provisioning = found.spec.provisioning
        if provisioning is None or not provisioning.offers(cluster.source):
            block = cluster.source.lower()
            message = f"the class `{found.name}` does not say how {cluster.source} makes a node"
            hint = f"add the block `provisioning.{block}` to it, or choose another class"
            source.add(Code.PROVISIONING_MISSING, message, path, hint=hint)
    _pools(reading, source, cluster)
    _credentials(reading, source, cluster)


def _pools(reading: Reading, source: Source, cluster: InferenceCluster) -> None:
    environment = reading.environment
    if cluster.spec.node_pools or cluster.spec.removing or cluster.spec.lost or environment is None:
        return
    doors = environment.spec.front_doors
    if cluster.name in doors or any(reading.missing(InferenceCluster, name) for name in doors):
        return  # a misspelt front door is reported by itself
    message = f"the cluster `{cluster.name}` has no GPU pools and is no front door, so nothing can run on it"
    hint = "add `spec.nodePools`, or name the cluster in `frontDoors` of the Environment"
    severity = Severity.ERROR if cluster.provisioned else Severity.WARNING
    source.add(Code.POOLS_MISSING, message, ("spec",), hint=hint, severity=severity, at_key=True)


def _credentials(reading: Reading, source: Source, cluster: InferenceCluster) -> None:
    credentials = cluster.spec.cluster.credentials
    environment = reading.environment
    if credentials is None or credentials.name == "default" or environment is None:
        return
    cloud = CLOUDS[cluster.source]
    known = sorted(getattr(environment.spec.providers, cloud))
    if credentials.name not in known:
        block = cluster.source.lower()
        message = f"the Environment has no identity `{credentials.name}` under providers.{cloud}"
        source.add(
            Code.REFERENCE_MISSING,
            message,
            ("spec", "cluster", block, "credentials", "name"),
            allowed=", ".join([*known, "default"]),
            hint=f"add `providers.{cloud}.{credentials.name}` to the Environment",
            severity=Severity.ERROR if reading.complete else Severity.WARNING,
        )


def _same_kubeconfig(reading: Reading) -> None:
    """Report clusters that share a kubeconfig: they are one, and each would take the other's objects for its own."""
    first: dict[tuple[str, str], Source] = {}
    for source, cluster in reading.documents(InferenceCluster):
        existing = cluster.spec.cluster.existing
        if existing is None or cluster.spec.lost:
            continue
        secret = existing.secret_ref
        before = first.setdefault((secret.name, secret.key), source)
        if before is not source:
            message = (
                f"the cluster `{cluster.name}` has the kubeconfig of `{before.key[2]}` ({before.file}:{before.line}):"
                f" secret `{secret.name}`, key `{secret.key}`, so both are one cluster"
            )
            hint = "give it the secret of its own cluster, or remove one of the two"
            path = ("spec", "cluster", "existing", "secretRef", "name")
            source.add(Code.CLUSTER_TWICE, message, path, hint=hint)


def _front_doors(reading: Reading) -> None:
    source, environment = reading.environment_source, reading.environment
    if source is None or environment is None:
        return
    for index, name in enumerate(environment.spec.front_doors):
        path = ("spec", "frontDoors", index)
        reading.require(source, InferenceCluster, name, path)
        cluster = reading.get(InferenceCluster, name)
        if cluster is not None and (cluster.spec.removing or cluster.spec.lost):
            state = "removed" if cluster.spec.removing else "given up as lost"
            message = f"the cluster `{name}` is being {state}, so it cannot carry a gateway"
            source.add(Code.FIELD_CONFLICT, message, path, hint="take it out of frontDoors")
    if environment.spec.front_doors and reading.missing(InferenceGateway, DEFAULT_GATEWAY):
        message = f"front doors need an InferenceGateway named `{DEFAULT_GATEWAY}`, and there is none"
        hint = f"add one: apiVersion: {MODELPLANE}, kind: InferenceGateway, spec: {{backend: Traefik, …}}"
        severity = Severity.ERROR if reading.complete else Severity.WARNING
        source.add(Code.REFERENCE_MISSING, message, ("spec", "frontDoors"), hint=hint, severity=severity, at_key=True)


def _secrets(reading: Reading) -> None:
    """Warn of secrets that the environment does not list; without a list nothing can be said."""
    environment = reading.environment
    if environment is None or not environment.spec.secrets:
        return
    for use in secret_uses(source.document for source in reading.sources.values() if source.document is not None):
        if use.secret not in environment.spec.secrets:
            message = f"the Environment does not list the secret `{use.secret}`"
            hint = "add it to `spec.secrets` of the Environment"
            reading.sources[use.document].warn(Code.SECRET_UNDECLARED, message, use.path, hint=hint)
