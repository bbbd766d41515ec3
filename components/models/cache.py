"""Cache: weights staged once on one cluster, for every replica there that reads them.

A volume claim that many nodes can mount, a Job that fills it, and, while it does, the one key of the one secret that
the download needs. A changed repository, revision or size is another cache beside this one (the next index), so the
claim is never edited and never replaced; and a cluster's storage class may change without touching what is staged.
Names from manifests reach the Job as variables, never as text of its script.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.base import Component
from components.canonical import canonical_json
from components.clusters.contract import ClusterOutputs
from components.labels import Label
from components.lock import CacheShape
from components.models.images import HUB_CLIENT, HYDRATION
from components.models.manifest import Manifest, Owner
from components.models.register import options_for, register_one
from components.naming import (
    CacheId,
    bounded_name,
    cache_claim_name,
    cache_job_name,
    cache_secret_name,
    child_name,
)

_MOUNT: Final = "/mnt/artifact"

_SCRIPT: Final = f"""\
set -eu
marker={_MOUNT}/.modelplane-hydrated
if [ -e "$marker" ]; then
  echo "already staged"
  exit 0
fi
pip install --quiet --no-cache-dir --root-user-action=ignore "$HUB_CLIENT"
if [ -n "$REVISION" ]; then
  hf download --local-dir {_MOUNT} --revision "$REVISION" -- "$REPO"
else
  hf download --local-dir {_MOUNT} -- "$REPO"
fi
touch "$marker"
"""
"""The marker is the predecessor's: a volume that it filled is not filled again. A download that was cut off resumes."""

_CHOOSING: Final = """\
set -f
set --
for pattern in $INCLUDE; do set -- "$@" --include "$pattern"; done
for pattern in $EXCLUDE; do set -- "$@" --exclude "$pattern"; done
"""
"""Turns patterns, which hold no spaces, into arguments. Only caches that have some run it: another script is another
Job, and every volume would be looked at again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheArgs:
    """A staged cache as the lock has it."""

    identity: CacheId
    digest: str
    shape: CacheShape
    environment: str
    storage_class: str
    token: pulumi.Input[str] | None = field(default=None, repr=False)
    """The download token; None when none is needed or staging is over."""

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        return {
            "namespace": self.identity.namespace,
            "cache": self.identity.cache,
            "cluster": self.identity.cluster,
            "index": self.identity.index,
            "shapeDigest": self.digest,
            "shape": self.shape.to_json(),
        }


class Cache(Component):
    """One staged copy of a cache; logical name ``<namespace>/<cache>/<cluster>/<index>``."""

    TYPE = "berth:index:Cache"

    def __init__(self, args: CacheArgs, *, cluster: ClusterOutputs, depends_on: Sequence[pulumi.Resource]) -> None:
        name = str(args.identity)
        super().__init__(name, args.props(), environment=args.environment)
        owner = Owner(name, args.identity.namespace, args.environment)
        before = [*cluster.ready, *cluster.storage, *depends_on]
        claim = self._claim(owner, args, cluster, before)
        token = self._token(owner, args, cluster, before)
        manifest = hydration_job(owner, identity=args.identity, shape=args.shape)
        options = options_for(self, manifest, cluster, [*before, claim, *token])
        job = register_one(manifest, self.child(manifest.role), options)
        self.claim_name = cache_claim_name(args.identity)
        self.size_gib = args.shape.size_gib
        self.staged: tuple[pulumi.Resource, ...] = (claim, job)
        """What must be there before a replica reads the cache."""
        self.publish(claimName=self.claim_name)

    def _claim(
        self, owner: Owner, args: CacheArgs, cluster: ClusterOutputs, before: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        manifest = volume_claim(owner, identity=args.identity, shape=args.shape, storage_class=args.storage_class)
        # The disk behind it outlives the cluster, so it is deleted before the cluster and not with it.
        options = options_for(
            self, manifest, cluster, before, deleted_with=None, ignore_changes=["spec.storageClassName"]
        )
        return register_one(manifest, self.child(manifest.role), options)

    def _token(
        self, owner: Owner, args: CacheArgs, cluster: ClusterOutputs, before: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        if args.token is None or args.shape.secret is None:
            return []
        options = self.options(provider=cluster.provider, depends_on=before, deleted_with=cluster.deleted_with)
        metadata: Any = owner.metadata(token_secret_name(args.identity), labels=_labels(args.identity))
        data = {args.shape.secret.key: pulumi.Output.secret(args.token)}
        return [Secret(self.child("token"), metadata=metadata, string_data=data, opts=options)]


def volume_claim(owner: Owner, *, identity: CacheId, shape: CacheShape, storage_class: str) -> Manifest:
    """Return the claim of the volume that holds the weights."""
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": owner.metadata(cache_claim_name(identity), labels=_labels(identity), annotations=_NO_WAIT),
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": f"{shape.size_gib}Gi"}},
        },
    }
    return Manifest("volume", body)


_NO_WAIT: Final = {"pulumi.com/skipAwait": "true"}
"""Some classes bind a volume only when a pod uses it; the Job that does so is awaited."""

_REPLACE_FAILED: Final = {"pulumi.com/replaceUnready": "true"}
"""A Job that failed stays failed for ever, so the next update makes a new one."""


def hydration_job(owner: Owner, *, identity: CacheId, shape: CacheShape) -> Manifest:
    """Return the Job that fills the volume. It cannot be changed, so its name holds a hash of what it does."""
    template = {
        "metadata": {"labels": _labels(identity)},
        "spec": {
            "restartPolicy": "OnFailure",
            "containers": [
                {
                    "name": "hydrate",
                    "image": shape.image or HYDRATION,
                    "command": ["sh", "-c", _script(shape)],
                    "env": _variables(identity, shape),
                    "volumeMounts": [{"name": "artifact", "mountPath": _MOUNT}],
                }
            ],
            "volumes": [{"name": "artifact", "persistentVolumeClaim": {"claimName": cache_claim_name(identity)}}],
        },
    }
    name = cache_job_name(identity, canonical_json(template))
    body = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": owner.metadata(name, labels=_labels(identity), annotations=_REPLACE_FAILED),
        "spec": {"backoffLimit": 3, "template": template},
    }
    return Manifest("hydrate", body, minutes=stage_minutes(shape.size_gib))


def _script(shape: CacheShape) -> str:
    if shape.include is None and shape.exclude is None:
        return _SCRIPT
    head, download = _SCRIPT.split("pip install", 1)
    return f"{head}{_CHOOSING}pip install" + download.replace("hf download ", 'hf download "$@" ')


def stage_minutes(size_gib: int) -> int:
    """Return how long to wait for a download: half an hour, and a GiB in twelve seconds (85 MiB/s) on top."""
    return 30 + -(-size_gib // 5)


def token_secret_name(identity: CacheId) -> str:
    """Return the name of the token's Secret; a second revision that is staged beside the first has its own."""
    if identity.index == 0:
        return cache_secret_name(identity)
    return child_name("modelcache", identity.namespace, identity.cache, str(identity.index), "auth")


def _variables(identity: CacheId, shape: CacheShape) -> list[dict[str, Any]]:
    variables: list[dict[str, Any]] = [
        {"name": "REPO", "value": _literal(shape.repo)},
        {"name": "REVISION", "value": _literal(shape.revision or "")},
        {"name": "HUB_CLIENT", "value": HUB_CLIENT},
    ]
    for name, patterns in (("INCLUDE", shape.include), ("EXCLUDE", shape.exclude)):
        if patterns is not None or shape.include is not None or shape.exclude is not None:
            variables.append({"name": name, "value": _literal(" ".join(patterns or ()))})
    if shape.secret:
        # Optional, because the token goes away once the weights are there and the Job may run again to look.
        reference = {"name": token_secret_name(identity), "key": shape.secret.key, "optional": True}
        variables.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}})
    return variables


def _literal(text: str) -> str:
    """Keep Kubernetes from expanding ``$(NAME)`` in a variable's value."""
    return text.replace("$", "$$")


def _labels(identity: CacheId) -> dict[str, str]:
    return {Label.CACHE.value: bounded_name(identity.cache)}
