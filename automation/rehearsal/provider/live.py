"""One object as it lives on a simulated cluster: its identity, what the API server adds, its status, its companions.

Helm releases are here too: they are objects with another id, another uniqueness rule and a revision.
"""

import base64
import hashlib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from automation.rehearsal.aftermath import MADE_BY, NAMESPACE, OWNER, owner_of
from automation.rehearsal.provider import pods
from automation.rehearsal.provider.base import SIMULATED, Target
from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.provider.kinds import HELM_RELEASE, Kind
from automation.rehearsal.provider.templates import Context
from automation.rehearsal.store import Row, Transaction
from automation.rehearsal.wire import Secret, lookup, merge

_ALWAYS_THERE: Final = ("default", "kube-system", "kube-public", "kube-node-lease")


@dataclass(slots=True)
class LiveObject:
    """Computes what a cluster makes of an object's inputs. ``inputs`` are plain values."""

    target: Target
    kind: Kind
    inputs: dict[str, Any]
    server: str
    cluster: Mapping[str, Any]
    namespace: str
    charts: Mapping[str, Any]
    _seed: str = field(default="", init=False)
    _generated: str = field(default="", init=False)

    @property
    def is_release(self) -> bool:
        """Whether this is a Helm release rather than an API object."""
        return self.target.type == HELM_RELEASE

    @property
    def name(self) -> str:
        """The physical name."""
        where = "name" if self.is_release else "metadata.name"
        return str(lookup(self.inputs, where) or self._generated or "")

    @property
    def own_namespace(self) -> str:
        """The namespace it lives in; empty for cluster-wide kinds."""
        if self.is_release:
            return str(self.inputs.get("namespace") or self.namespace)
        return str(lookup(self.inputs, "metadata.namespace") or self.namespace) if self.kind.namespaced else ""

    @property
    def id(self) -> str:
        """The id that the real provider gives: ``namespace/name``, or the name alone."""
        return f"{self.own_namespace}/{self.name}" if self.own_namespace else self.name

    @property
    def claim(self) -> str:
        """What no other live object of the cluster may have: kind (any version), namespace and name."""
        return f"{self.kind.key}|{self.id}"

    def taken(self) -> str:
        """Say that the name is in use, in the API server's words, or Helm's."""
        if self.is_release:
            return f"failed to create release {self.name!r}: cannot re-use a name that is still in use"
        plural = f"{self.kind.kind.lower()}s" + (f".{self.kind.group}" if self.kind.group else "")
        return (
            f'resource "{self.target.urn}" was not successfully created by the Kubernetes API server: '
            f'{plural} "{self.name}" already exists'
        )

    def invalid(self, problem: str) -> str:
        """Say what is wrong with the object, as the API server begins such sentences."""
        return f'{self.kind.kind}.{self.kind.group or "core"} "{self.name}" is invalid: {problem}'

    def validate(self) -> None:
        """Refuse what the API server's validation refuses."""
        found = list(pods.problems(self.kind.key, self.inputs, self.kind.facts.get("pods", [])))
        if found:
            text = self.invalid("; ".join(found))
            raise Refused(f'resource "{self.target.urn}" was refused by the Kubernetes API server: {text}')

    def missing(self, transaction: Transaction) -> Iterator[str]:
        """Yield what the object waits for: things its pods use, or the storage class of a claim.

        Only on clusters made in the simulation, and only kinds that no chart makes.
        """
        if not self.cluster:
            return
        if not self.is_controlled(transaction):
            yield f"no controller of gateways is installed: {' or '.join(self.kind.facts['controllers'])}"
        for kind, name, words in pods.references(self.inputs, self.kind.facts.get("pods", [])):
            if not transaction.claimed("kubernetes", f"{self.server}|{kind}|{self.own_namespace}/{name}"):
                yield words
        wanted = lookup(self.inputs, "spec.storageClassName") if self.kind.key == "/PersistentVolumeClaim" else None
        if wanted and not self._storage_class(transaction):
            yield f"storageclass.storage.k8s.io {wanted!r} not found"

    def is_controlled(self, transaction: Transaction) -> bool:
        """Say whether the controller that acts on this kind runs: one of the charts that bring it is installed.

        On a cluster made elsewhere it is taken to run.
        """
        charts = self.kind.facts.get("controllers")
        if not charts or not self.cluster:
            return True
        releases = transaction.select(package="kubernetes", type_=HELM_RELEASE, scope=self.server)
        return any(_chart(release.inputs) in charts for release in releases)

    def _storage_class(self, transaction: Transaction) -> Row | None:
        name = lookup(self.inputs, "spec.storageClassName")
        return transaction.claimed("kubernetes", f"{self.server}|storage.k8s.io/StorageClass|{name}")

    def born(self, ordinal: int) -> None:
        """Give the object its own randomness; the same URN created again gets another uid."""
        self._seed = hashlib.sha256(f"{self.server}|{self.target.urn}|{ordinal}".encode()).hexdigest()
        prefix = lookup(self.inputs, "metadata.generateName")
        self._generated = f"{prefix}{self._seed[:5]}" if prefix else ""

    def require_namespace(self, transaction: Transaction) -> None:
        """Refuse an object in a namespace that does not exist.

        Only on clusters that were made in the simulation: what an existing cluster held before is not known.
        """
        space = self.own_namespace
        if not self.cluster or not space or space in _ALWAYS_THERE:
            return
        if transaction.claimed("kubernetes", f"{self.server}|/Namespace|{space}"):
            return
        if self.is_release and self.inputs.get("createNamespace"):
            transaction.insert(self._made_namespace(space))
            return
        raise Refused(
            f'resource "{self.target.urn}" was not successfully created by the Kubernetes API server: '
            f'namespaces "{space}" not found'
        )

    def _made_namespace(self, space: str) -> Row:
        uid = SIMULATED + hashlib.sha256(f"{self.server}|{space}".encode()).hexdigest()[:32]
        outputs = {"metadata": {"name": space, "uid": uid}, "status": {"phase": "Active"}}
        return Row(
            package="kubernetes",
            type=NAMESPACE,
            scope=self.server,
            id=space,
            claim=f"{self.server}|/Namespace|{space}",
            name=space,
            urn="",
            created="",
            inputs={MADE_BY: self.target.urn},
            outputs=outputs,
        )

    def guarded(self, bag: dict[str, Any]) -> dict[str, Any]:
        """Mark as secret what always is: the contents of Kubernetes Secrets."""
        if self.kind.key != "/Secret":
            return bag
        marked = {
            key: bag[key] if isinstance(bag[key], Secret) else Secret(bag[key])
            for key in ("data", "stringData")
            if bag.get(key)
        }
        return {**bag, **marked}

    def outputs(self, old: Mapping[str, Any] | None = None, *, changed: bool = False) -> dict[str, Any]:
        """Complete the inputs to what the cluster shows; with ``old`` the object exists and keeps its identity."""
        if self.is_release:
            return self._release(old)
        known = (old or {}).get("metadata") or {}
        uid = known.get("uid") or SIMULATED + str(uuid.UUID(self._seed[:32]))
        revision = int(known.get("resourceVersion", 0)) + (1 if changed or not old else 0)
        server_side = {
            "name": self.name,
            "uid": uid,
            "creationTimestamp": known.get("creationTimestamp") or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "resourceVersion": str(revision),
            "generation": int(known.get("generation", 0)) + (1 if changed or not old else 0),
        }
        if self.own_namespace:
            server_side["namespace"] = self.own_namespace
        context = self._context(str(uid))
        added = {key: context.render(self.kind.facts[key]) for key in ("spec", "status") if key in self.kind.facts}
        base = {"apiVersion": self.kind.api_version, "kind": self.kind.kind, "metadata": server_side, **added}
        result: dict[str, Any] = merge(base, self.inputs)
        if self.kind.key == "/Secret" and self.inputs.get("stringData"):
            encoded = {
                key: base64.b64encode(str(text).encode()).decode() for key, text in self.inputs["stringData"].items()
            }
            result["data"] = {**(self.inputs.get("data") or {}), **encoded}
        result["__initialApiVersion"] = self.kind.api_version
        result["__fieldManager"] = f"pulumi-kubernetes-{str(uid)[-8:]}"
        return result

    def _release(self, old: Mapping[str, Any] | None) -> dict[str, Any]:
        version = str(self.inputs.get("version") or "0.0.0")
        status = {
            "name": self.name, "namespace": self.own_namespace, "chart": _chart(self.inputs), "version": version,
            "appVersion": version, "status": "deployed",
            "revision": int(lookup(dict(old or {}), "status.revision") or 0) + 1,
        }  # fmt: skip
        return {**self.inputs, "namespace": self.own_namespace, "status": status, "resourceNames": {}}

    def _context(self, uid: str) -> Context:
        values = {
            "in": self.inputs,
            "name": self.name,
            "namespace": self.own_namespace,
            "id": self.id,
            **self._address(uid),
        }
        return Context(values, seed=uid)

    def _address(self, uid: str) -> dict[str, Any]:
        """Give the address that a load balancer of this object has: a host name in a cloud, else a documentation IP."""
        digest = hashlib.sha256(uid.encode()).hexdigest()
        balancer = self.cluster.get("load_balancer")
        if not balancer:
            return {"ip": f"203.0.113.{1 + int(digest[:2], 16) % 254}", "addresstype": "IPAddress"}
        return {"hostname": f"{SIMULATED}{digest[:32]}{balancer['host_suffix']}", "addresstype": "Hostname"}

    def make_companions(self, transaction: Transaction, row: Row) -> None:
        """Make, and take away, the cloud resources that controllers keep for this object."""
        wanted = {made.id: made for made in (self._balancer(transaction, row), self._volume(transaction, row)) if made}
        for made in transaction.select(owned=True):
            if made.inputs.get(OWNER) == owner_of(row) and wanted.pop(made.id, None) is None:
                transaction.delete(made)
        for made in wanted.values():
            transaction.insert(made)

    def _balancer(self, transaction: Transaction, row: Row) -> Row | None:
        """Describe the load balancer of a Service, a Gateway or a chart that brings one."""
        facts = self.cluster.get("load_balancer")
        condition = self.kind.facts.get("load_balancer")
        if self.is_release:
            condition = {} if (self.charts.get(_chart(self.inputs)) or {}).get("load_balancer") else None
        if (
            not facts
            or condition is None
            or any(lookup(self.inputs, path) != value for path, value in condition.items())
        ):
            return None
        if any(
            lookup(self.inputs, path) == value
            for path, value in self.kind.facts.get("load_balancer_unless", {}).items()
        ):
            return None
        outputs: dict[str, Any] = {**facts["outputs"], "dnsName": self._address(_uid(row)).get("hostname")}
        if prefer := facts.get("prefer"):
            outputs[prefer["property"]] = _preferred(transaction, outputs[prefer["property"]], prefer)
        return self._companion(row, facts, f"k8s-{self.own_namespace[:8]}-{self.name[:8]}", outputs)

    def _volume(self, transaction: Transaction, row: Row) -> Row | None:
        """Describe the disk behind a claim, where the class's driver makes one."""
        stored = self._storage_class(transaction) if self.kind.key == "/PersistentVolumeClaim" else None
        facts = (self.cluster.get("volumes") or {}).get(stored.outputs.get("provisioner")) if stored else None
        if not facts or not stored:
            return None
        outputs = {"fileSystemId": lookup(stored.outputs, "parameters.fileSystemId"),
                   "size": lookup(self.inputs, "spec.resources.requests.storage")}  # fmt: skip
        return self._companion(row, facts, f"pvc-{self.own_namespace[:8]}-{self.name[:16]}", outputs)

    def _companion(self, row: Row, facts: Mapping[str, Any], name: str, outputs: dict[str, Any]) -> Row:
        digest = hashlib.sha256(f"{facts['type']}|{_uid(row)}".encode()).hexdigest()
        return Row(
            package=facts["package"], type=facts["type"], scope=facts["scope"], id=f"{SIMULATED}{digest[:32]}",
            claim=None, name=f"{name}-{digest[:10]}", urn="", created="", inputs={OWNER: owner_of(row)},
            outputs={key: value for key, value in outputs.items() if value is not None},
        )  # fmt: skip


def _preferred(transaction: Transaction, among: list[str], prefer: Mapping[str, str]) -> list[str]:
    """Take those that carry a tag, in their order; all of them where none does."""
    tagged = {
        other.id
        for other in transaction.select(type_=prefer["type"])
        if prefer["tag"] in (other.outputs.get("tagsAll") or other.outputs.get("tags") or {})
    }
    return [one for one in among if one in tagged] or among


def _chart(inputs: Mapping[str, Any]) -> str:
    """Name a release's chart, wherever it is pulled from."""
    return str(inputs.get("chart") or "").rstrip("/").rpartition("/")[2]


def _uid(row: Row) -> str:
    return str(lookup(row.outputs, "metadata.uid") or f"{row.scope}|{row.id}")
