"""Every use of a secret in the manifests: which secret, which key of it, and where it is written.

What a secret holds comes from the `berth:secrets` configuration, never from a manifest. Validation warns of names that
the Environment does not list; planning refuses a use that the configuration does not hold.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from components.api.base import Document
from components.api.inference_cluster import ExistingSource, InferenceCluster
from components.api.location import NOWHERE, Location
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.nodes import PathPart
from components.api.pod_template import Container, InitContainer, PodSpec, Sidecar
from components.naming import SECRETS_KEY, SYSTEM_NAMESPACE


def set_command(secret: str, key: str, *, stack: object) -> str:
    """Return the command that sets a key of a secret (``namespace/name``); a kubeconfig is read from a file."""
    step = f".{key}" if key.isidentifier() else f'["{key}"]'
    source = " < FILE" if secret.startswith(f"{SYSTEM_NAMESPACE}/") else ""
    return f"pulumi config set --stack {stack} --secret --path '{SECRETS_KEY}[\"{secret}\"]{step}'{source}"


@dataclass(frozen=True, slots=True)
class SecretUse:
    """One use: ``secret`` is ``namespace/name``; ``key`` is empty where the whole secret is meant.

    ``place`` is known for the documents of a fleet.
    """

    document: tuple[str, str, str]
    path: tuple[PathPart, ...]
    secret: str
    key: str = ""
    place: Location = NOWHERE


def secret_uses(documents: Iterable[Document]) -> Iterator[SecretUse]:
    """Yield every use of a secret that must be there, in the order of the documents."""
    for document in documents:
        if isinstance(document, InferenceCluster):
            yield from _of_cluster(document)
        elif isinstance(document, ModelCache):
            hub = document.spec.hugging_face
            if hub is not None and hub.auth_secret is not None:
                path = ("spec", "huggingFace", "authSecret", "name")
                secret = f"{document.namespace}/{hub.auth_secret.name}"
                yield SecretUse(document.key, path, secret, hub.auth_secret.key)
        elif isinstance(document, ModelDeployment):
            yield from _of_deployment(document)


def _of_cluster(cluster: InferenceCluster) -> Iterator[SecretUse]:
    block = cluster.spec.cluster.block
    if not isinstance(block, ExistingSource):
        return
    for field, reference in (("secretRef", block.secret_ref), ("identitySecretRef", block.identity_secret_ref)):
        if reference is not None:
            path = ("spec", "cluster", "existing", field, "name")
            yield SecretUse(cluster.key, path, f"{SYSTEM_NAMESPACE}/{reference.name}", reference.key)


def _of_deployment(deployment: ModelDeployment) -> Iterator[SecretUse]:
    """Yield pull secrets, volumes and variables; what is optional may lack its secret."""
    for number, engine in enumerate(deployment.spec.template.spec.engines):
        for index, member in enumerate(engine.members):
            base = ("spec", "template", "spec", "engines", number, "members", index, "template", "spec")
            path: tuple[PathPart, ...]
            for position, pull in enumerate(member.template.spec.image_pull_secrets):
                path = (*base, "imagePullSecrets", position, "name")
                yield SecretUse(deployment.key, path, f"{deployment.namespace}/{pull.name}")
            for position, volume in enumerate(member.template.spec.volumes or ()):
                if volume.secret is not None and not volume.secret.optional:
                    path = (*base, "volumes", position, "secret", "secretName")
                    yield SecretUse(deployment.key, path, f"{deployment.namespace}/{volume.secret.secret_name}")
            for path, name, key in _variables(member.template.spec):
                yield SecretUse(deployment.key, (*base, *path), f"{deployment.namespace}/{name}", key)


def _variables(pod: PodSpec) -> Iterator[tuple[tuple[PathPart, ...], str, str]]:
    """Yield path, name and key of every secret that a variable of a container must have."""
    groups: tuple[tuple[str, Sequence[Container | InitContainer | Sidecar]], ...] = (
        ("containers", pod.containers),
        ("initContainers", pod.init_containers or ()),
        ("sidecars", pod.sidecars or ()),
    )
    for field, containers in groups:
        for index, container in enumerate(containers):
            for position, variable in enumerate(container.env):
                reference = variable.value_from.secret_key_ref if variable.value_from else None
                if reference is not None and not reference.optional:
                    path = (field, index, "env", position, "valueFrom", "secretKeyRef", "name")
                    yield path, reference.name, reference.key
