"""Checks of Kubernetes objects before anything is created: names, labels, required parts of custom resources."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from automation.rehearsal.provider import kinds, naming
from automation.rehearsal.provider.base import Target
from automation.rehearsal.provider.check import Failure, check
from automation.rehearsal.provider.kinds import Kind
from automation.rehearsal.provider.normal import normal_inputs
from automation.rehearsal.wire import Secret, has_unknown, lookup, plain

_RELEASE_NAME: Final = {
    "property": "name",
    "auto": True,
    "max": 53,
    "pattern": r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    "wants": "a release name consists of lower case letters, digits, '-' and '.'",
}


def check_object(
    target: Target,
    kind: Kind,
    rules: Mapping[str, Any] | None,
    bags: tuple[Mapping[str, Any], dict[str, Any]],
    *,
    namespace: str,
    seed: bytes,
) -> tuple[dict[str, Any], Sequence[Failure]]:
    """Check an object's inputs (``bags`` are old and new ones), write them as usual, and give the object a name.

    ``rules`` is empty for kinds that the SDK does not know. ``namespace`` is the provider's default, if it has one.
    """
    olds, news = bags
    failures = check(news, rules) if rules else _check_custom(target, news)
    news = normal_inputs(kind, news, rules)
    metadata = news.get("metadata") or {}
    if not isinstance(metadata, dict):
        return news, failures
    if not metadata.get("name") and not metadata.get("generateName"):
        metadata = _autonamed(target.name, metadata, olds, seed)
    if kind.namespaced and not metadata.get("namespace") and namespace:
        metadata = {**metadata, "namespace": namespace}
    return {**news, "metadata": metadata}, [*failures, *_check_metadata(kind, metadata)]


def check_release(
    target: Target,
    rules: Mapping[str, Any] | None,
    bags: tuple[Mapping[str, Any], dict[str, Any]],
    *,
    namespace: str,
    seed: bytes,
) -> tuple[dict[str, Any], Sequence[Failure]]:
    """Check a Helm release's inputs and give it a name and a namespace if it has none."""
    olds, news = bags
    failures = check(news, rules) if rules else []
    if not news.get("namespace"):
        news = {**news, "namespace": namespace}
    news, named = naming.assign(target.name, _RELEASE_NAME, olds, news, seed)
    return news, [*failures, *named]


def is_autonamed(bag: Mapping[str, Any]) -> bool:
    """Say whether an object's name was made up here."""
    annotations = plain(lookup(dict(bag), "metadata.annotations"))
    return isinstance(annotations, dict) and annotations.get(naming.AUTONAMED) == "true"


def _autonamed(logical: str, metadata: dict[str, Any], olds: Mapping[str, Any], seed: bytes) -> dict[str, Any]:
    kept = lookup(dict(olds), "metadata.name") if is_autonamed(olds) else None
    name = kept or f"{logical}-{hashlib.sha256(seed + logical.encode()).hexdigest()[:8]}"
    return {**metadata, "name": name, "annotations": {**(metadata.get("annotations") or {}), naming.AUTONAMED: "true"}}


def _check_custom(target: Target, news: Mapping[str, Any]) -> list[Failure]:
    """Check what every custom resource must have."""
    _, module, kind = target.type.split(":")
    wanted = {"apiVersion": module.removeprefix("core/"), "kind": kind}
    failures = [
        Failure(key, f"expected {value!r}")
        for key, value in wanted.items()
        if plain(news.get(key)) != value and not has_unknown(news.get(key))
    ]
    metadata = news.get("metadata")
    if metadata is not None and not isinstance(metadata.value if isinstance(metadata, Secret) else metadata, dict):
        failures.append(Failure("metadata", "expected an object"))
    return failures


def _check_metadata(kind: Kind, metadata: Mapping[str, Any]) -> list[Failure]:
    failures = []
    name, namespace, labels = (plain(metadata.get(key)) for key in ("name", "namespace", "labels"))
    if isinstance(name, str) and (problem := kinds.name_problem(kind, name)):
        failures.append(Failure("metadata.name", problem))
    if namespace and not kind.namespaced:
        failures.append(Failure("metadata.namespace", f"{kind.kind} objects belong to no namespace"))
    for key, value in labels.items() if isinstance(labels, dict) else ():
        if not has_unknown(value) and (problem := kinds.label_problem(key, value)):
            failures.append(Failure(f'metadata.labels["{key}"]', problem))
    return failures
