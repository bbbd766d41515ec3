"""PrefillDecode serving: one engine reads prompts, another writes answers, and their pods hand the cache over.

Takes the pods of both engines and adds what the hand-over needs: labels by which the picker tells them apart, a proxy
in front of the decode engine that fetches the prompt's cache from a prefill pod, and NIXL's side channel. The engine's
own flags (``--kv-transfer-config``) and an image that ships NIXL are the user's.
"""

from typing import Any, Final

from components.lock import EngineShape
from components.models.images import SIDECAR
from components.models.pods import ENGINE, SERVING_PORT, probe
from components.models.routing import flag_value

DECODE_PORT: Final = 8001
"""Where a decode engine listens unless its flags say otherwise: the proxy has taken the serving port."""

_SIDE_CHANNEL: Final = (
    {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5557"},
)
"""Without the pod's address an engine names an unreachable one, and requests fail with nothing in its log."""


def disaggregated(pod: dict[str, Any], *, engine: EngineShape, role: str, replica: str) -> dict[str, Any]:
    """Return the pod of an engine's member as PrefillDecode serving needs it; only serving pods change."""
    if role == "Worker":
        return pod
    phase = (engine.phase or "").lower()
    metadata = dict(pod.get("metadata") or {})
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        "llm-d.ai/role": phase,
        "llm-d.ai/inference-serving": "true",
        "app": replica,
    }
    containers = [_with_side_channel(container) for container in pod["spec"]["containers"]]
    if phase == "decode":
        containers = _behind_proxy(containers)
    return {"metadata": metadata, "spec": {**pod["spec"], "containers": containers}}


def _with_side_channel(container: dict[str, Any]) -> dict[str, Any]:
    own = {variable["name"] for variable in container.get("env") or ()}
    added = [dict(variable) for variable in _SIDE_CHANNEL if variable["name"] not in own]
    return {**container, "env": [*(container.get("env") or ()), *added]}


def _behind_proxy(containers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    engine = next(container for container in containers if container["name"] == ENGINE)
    port = flag_value(engine, "--port") or DECODE_PORT
    moved = {**engine, "ports": [{"containerPort": port}]}
    if engine.get("readinessProbe") == probe(SERVING_PORT):  # the user's own question knows its port
        moved["readinessProbe"] = probe(port)
    proxy = {
        "name": "pd-sidecar",
        "image": SIDECAR,
        "args": ["--secure-proxy=false", "--kv-connector=nixlv2", f"--vllm-port={port}"],
        "ports": [{"containerPort": SERVING_PORT}],
        "readinessProbe": probe(SERVING_PORT),
    }
    return [moved if container is engine else container for container in containers] + [proxy]
