"""The control planes behind a backed fleet, as their API servers tell of them, beside the fleet's lock and state.

``problems`` says what of the one is not true of the other. What Berth put on a cluster is known by its field manager,
which is the provider's own mark, so that nothing has to be believed of labels.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any, Final, NamedTuple

from automation.engine.checkpoint import Resource
from automation.engine.family import Family
from automation.rehearsal.backing.departures import take_away
from automation.rehearsal.kubernetes.api import Api
from automation.rehearsal.provider.kinds import HELM_RELEASE
from components.labels import Label
from stacks.environment import read_lock
from tests.support.backed_run import BackedRun
from tests.support.keeper_run import api_of
from tests.support.pod_watch import node_of

Object = dict[str, Any]

NODES: Final = "/api/v1/nodes"
PODS: Final = "/api/v1/pods"
CLAIMS: Final = "/apis/resource.k8s.io/v1/resourceclaims"
SECRETS: Final = "/api/v1/secrets"

_MANAGER: Final = "pulumi-kubernetes"
_RELEASE: Final = "stand-in.release."


class Key(NamedTuple):
    """An object on a cluster: its group and kind, and its id as the state writes it."""

    kind: str
    id: str

    def __str__(self) -> str:
        """Return both."""
        return f"{self.kind} {self.id}"


@contextmanager
def kept_clusters(run: BackedRun) -> Generator[dict[str, Api]]:
    """Reach the control planes behind the clusters that the state has, by the names in the manifests."""
    names = {each.endpoint: name for name, each in run.existing().clusters.items()}
    with ExitStack() as opened:
        yield {
            names[each["server"]]: opened.enter_context(closing(api_of(each)))
            for each in run.door.ask("list")["clusters"]
        }


def problems(run: BackedRun, clusters: Mapping[str, Api]) -> Iterator[str]:
    """Yield what is not as the lock and the state say, on any cluster; a device with two owners fails at once."""
    lock = read_lock(run.folder)
    assert lock is not None
    wanted: dict[str, dict[tuple[str, str], str]] = {name: {} for name in clusters}
    for identity, entry, _ in lock.replicas():
        wanted[identity.cluster][identity.namespace, entry.name] = str(identity)
    serving = {str(identity) for identity, _, _ in lock.replicas()}
    if {name for name, phase in run.replicas().items() if phase == "Serving"} != serving:
        yield f"the lock has {sorted(serving)}, the state {run.replicas()}"
    for name, api in clusters.items():
        for text in (*_pods(api, wanted[name]), *_objects(api, frozenset(_known(run, name)))):
            yield f"{name}: {text}"


def _pods(api: Api, wanted: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Look whether every replica of the lock has ready pods, on nodes that are there, with devices of these nodes."""
    claims = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in api.items(CLAIMS)}
    owners = Counter(device for claim in claims.values() for device in devices(claim))
    doubled = [device for device, count in owners.items() if count > 1]
    assert not doubled, f"devices with two claims: {doubled}"
    nodes = {each["metadata"]["name"] for each in api.items(NODES)}
    seen = Counter[tuple[str, str]]()
    for pod in api.items(PODS):
        metadata = pod["metadata"]
        replica = metadata.get("labels", {}).get(Label.SERVING.value)
        if replica is None:
            continue
        key = (metadata["namespace"], replica)
        used = [each["resourceClaimName"] for each in pod.get("status", {}).get("resourceClaimStatuses", ())]
        places = {node for each in used for node, _ in devices(claims.get((key[0], each), {}))}
        if key not in wanted:
            yield f"pod {metadata['name']} is left of {replica}"
        elif not is_ready(pod):
            yield f"pod {metadata['name']} of {wanted[key]} is not ready"
        elif node_of(pod) not in nodes or places != {node_of(pod)}:
            yield f"pod {metadata['name']} of {wanted[key]} is on {node_of(pod)} with devices of {sorted(places)}"
        else:
            seen[key] += 1
    yield from (f"{identity} has {seen[key]} ready pods" for key, identity in wanted.items() if seen[key] != 1)


def _objects(api: Api, known: frozenset[Key]) -> Iterator[str]:
    """Look whether what Berth made there is what the state knows. Namespaces stay on purpose when replicas leave."""
    there = {key for key in provided(api) if key.kind != "Namespace" or key in known}
    yield from (f"{key} is there and in no state" for key in sorted(there - known))
    yield from (f"{key} is in the state and not there" for key in sorted(known - there))


def _known(run: BackedRun, cluster: str) -> Iterator[Key]:
    for stack in run.stacks():
        checkpoint = run.checkpoint(stack)
        family = Family(checkpoint)
        for each in checkpoint:
            if each.custom and each.type.startswith("kubernetes:") and family.cluster(each.urn) == cluster:
                yield _key(each)


def _key(resource: Resource) -> Key:
    if resource.type == HELM_RELEASE:
        return Key(HELM_RELEASE, resource.id)
    _, module, kind = resource.type.split(":")
    group, _, _ = module.rpartition("/")
    return Key(_kind(group.removeprefix("core"), kind.removesuffix("Patch")), resource.id)


def _kind(group: str, kind: str) -> str:
    return f"{kind}.{group}" if group else kind


def provided(api: Api) -> Iterator[Key]:
    """Give what Pulumi's provider made or changed on a cluster, and the releases that were put there for it."""
    for group, kind, path in _kinds(api):
        for each in api.items(path):
            metadata = each["metadata"]
            space, name = metadata.get("namespace"), metadata["name"]
            if any(field["manager"].startswith(_MANAGER) for field in metadata.get("managedFields", ())):
                yield Key(_kind(group, kind), f"{space}/{name}" if space else name)
            if path == SECRETS and name.startswith(_RELEASE):
                yield Key(HELM_RELEASE, f"{space}/{name.removeprefix(_RELEASE)}")


def _kinds(api: Api) -> Iterator[tuple[str, str, str]]:
    """Give every kind that can be listed: its group, its name and its path."""
    groups = api.get("/apis")["groups"]
    paths = {"": "/api/v1", **{each["name"]: f"/apis/{each['preferredVersion']['groupVersion']}" for each in groups}}
    for group, path in paths.items():
        for each in api.get(path)["resources"]:
            if "list" in each["verbs"]:
                yield group, each["kind"], f"{path}/{each['name']}"


def devices(claim: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Give the devices of a claim, as (node, device)."""
    results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    return [(each["pool"], each["device"]) for each in results]


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether a pod stays and is ready."""
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", ()))
    return ready and "deletionTimestamp" not in pod["metadata"]


def lose_node(api: Api, name: str) -> Object:
    """Take a node with its pods away, as Kubernetes' collectors would; gives what it was, to bring it back."""
    node = api.get(f"{NODES}/{name}")
    take_away(api, [name])
    return {**node, "metadata": {key: node["metadata"][key] for key in ("name", "labels")}}
