"""The routing surface of a replica: what stands between its cluster's gateway and its pods.

An InferencePool gathers the serving pods of all engines, the endpoint picker chooses among them, and one HTTPRoute
leads ``/<namespace>/<replica>/`` to the pool. A pool is there even for one pod, so that a second one later is not a
change of route. Requests have no timeout: an answer streams for as long as it takes.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from components.labels import Label
from components.models.manifest import Manifest, Owner
from components.models.picker import PICKER_PORT, POOL_GROUP
from components.models.pods import SERVING_PORT
from components.naming import SYSTEM_NAMESPACE, picker_name, pool_service_name
from components.serving.gateway import GATEWAY_API, GATEWAY_NAME

_DEFAULT_BLOCK_SIZE: Final = 16
_BLOCK_FLAGS: Final = ("--block-size", "--page-size")


def inference_pool(owner: Owner, *, replica: str) -> Manifest:
    """Return the pool of a replica's serving pods."""
    body = {
        "apiVersion": f"{POOL_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": owner.metadata(pool_service_name(replica)),
        "spec": {
            "selector": {"matchLabels": {Label.SERVING.value: replica}},
            "targetPorts": [{"number": SERVING_PORT}],
            "endpointPickerRef": {
                "kind": "Service",
                "name": picker_name(replica),
                "port": {"number": PICKER_PORT},
                "failureMode": "FailOpen",
            },
        },
    }
    return Manifest("pool", body)


def replica_path(namespace: str, replica: str) -> str:
    """Return the prefix under which a replica answers on its cluster's gateway."""
    return f"/{namespace}/{replica}/"


def replica_route(owner: Owner, *, replica: str) -> Manifest:
    """Return the route from the cluster's gateway to the replica's pool."""
    rewrite = {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}
    body = {
        "apiVersion": GATEWAY_API,
        "kind": "HTTPRoute",
        "metadata": owner.metadata(replica),
        "spec": {
            "parentRefs": [{"name": GATEWAY_NAME, "namespace": SYSTEM_NAMESPACE}],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": replica_path(owner.namespace, replica)}}],
                    "filters": [{"type": "URLRewrite", "urlRewrite": rewrite}],
                    "timeouts": {"request": "0s"},
                    "backendRefs": [{"group": POOL_GROUP, "kind": "InferencePool", "name": pool_service_name(replica)}],
                }
            ],
        },
    }
    return Manifest("route", body, after=("pool", "picker-service"))


def block_size(container: Mapping[str, Any]) -> int:
    """Return how many tokens a block of the engine's cache holds, as its flags say; vLLM's default without one.

    The picker must cut prompts as the engine does, or its choice by prefix means nothing.
    """
    for flag in _BLOCK_FLAGS:
        value = flag_value(container, flag)
        if value is not None:
            return value
    return _DEFAULT_BLOCK_SIZE


def flag_value(container: Mapping[str, Any], flag: str) -> int | None:
    """Return the number that a flag of the container's command line has; None when it is absent or not a number.

    Looks into arguments that are shell command lines too; the last one wins, as it does for the engine.
    """
    words = list(_words([*(container.get("command") or ()), *(container.get("args") or ())]))
    found = None
    for position, word in enumerate(words):
        if word.startswith(f"{flag}="):
            found = word.partition("=")[2]
        elif word == flag and position + 1 < len(words):
            found = words[position + 1]
    try:
        return int(found) if found is not None else None
    except ValueError:
        return None


def _words(arguments: Sequence[str]) -> Iterator[str]:
    for argument in arguments:
        if not any(character.isspace() for character in argument):
            yield argument
            continue
        try:
            yield from shlex.split(argument, comments=True)
        except ValueError:  # an unfinished quote: a shell would refuse it, and so there is no flag to find
            yield argument
