"""Simulated Kubernetes clusters, behaving as the real Kubernetes provider and an API server together do.

One configured provider is one cluster, known by the address of its server. Objects live in that scope; a simulated
cloud's cluster that is gone takes its server's name along, so its provider finds nobody ("no such host"). Which kinds
are cluster-wide, what their fields allow and what status they get is data (``data/kubernetes.json``); Helm releases are
in ``helm``.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from automation.rehearsal import aftermath
from automation.rehearsal.provider import kinds, naming
from automation.rehearsal.provider.base import SIMULATED, Difference, Live, Target, World, covers, difference, settings
from automation.rehearsal.provider.check import Failure, check
from automation.rehearsal.provider.errors import NotReady, Refused
from automation.rehearsal.provider.faults import Call
from automation.rehearsal.provider.kinds import HELM_RELEASE, Kind, kind_of
from automation.rehearsal.provider.kubeconfig import Endpoint, Unreadable, endpoint
from automation.rehearsal.provider.live import LiveObject
from automation.rehearsal.store import Row, Taken, Transaction
from automation.rehearsal.wire import UNKNOWN, Secret, has_unknown, lookup, mark_like, plain, without_nulls

_IDENTIFIER: Final = "clusterIdentifier"
_WHERE: Final = ("kubeconfig", "context", "cluster")
_ALWAYS_THERE: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
REASONS: Final = "__reasons"


class KubernetesCloud:
    """One configured cluster."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._config: dict[str, Any] = {}
        self._endpoint = Endpoint(server="")
        self._broken = ""

    # -- configuration -------------------------------------------------------------------------------------------------

    def check_config(self, news: Mapping[str, Any]) -> list[Failure]:
        """Refuse settings that the provider does not have."""
        rules = self._world.rules.of("pulumi:providers:kubernetes")
        known = set(rules["inputs"]) if rules else set(news)
        internal = {"version", "pluginDownloadURL"}
        return [
            Failure(key, "unknown property") for key in news if key not in known | internal and not key.startswith("__")
        ]

    def diff_config(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Compare settings as the real provider does.

        With the same ``clusterIdentifier`` on both sides nothing forces a replacement; without one, every change of the
        kubeconfig, context or cluster does, an unknown one too, because clusters have no identity of their own.
        """
        found = difference(olds, news, ("renderYamlToDirectory", *_WHERE), delete_first=False)
        old, new = plain(olds.get(_IDENTIFIER)), plain(news.get(_IDENTIFIER))
        if new and old == new and not has_unknown(new):
            return replace(found, replaces=())
        changed = (_IDENTIFIER,) if old and new and old != new else ()
        return replace(found, replaces=(*found.replaces, *changed))

    def configure(self, config: Mapping[str, Any]) -> None:
        """Take the settings; a kubeconfig that cannot be read makes the cluster unreachable, as in the real provider."""
        self._config = settings(config)
        try:
            self._endpoint = endpoint(
                self._config.get("kubeconfig"),
                context=self._config.get("context") or "",
                cluster=self._config.get("cluster") or "",
            )
        except Unreadable as error:
            self._broken = f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {error}"

    def _known_cluster(self, transaction: Transaction) -> dict[str, Any]:
        found = transaction.recall(aftermath.cluster_key(self._endpoint.server))
        return dict(json.loads(found)) if found else {}

    def _clusters(self, cluster: Mapping[str, Any]) -> tuple[str, ...]:
        names = (
            self._config.get(_IDENTIFIER), cluster.get("name"), self._endpoint.cluster, self._endpoint.context,
            self._endpoint.server,
        )  # fmt: skip
        return tuple(name for name in names if isinstance(name, str) and name)

    def _trouble(self) -> str:
        """Say why the cluster cannot be reached; empty when it can."""
        if self._broken:
            return self._broken
        with self._world.store.reading() as transaction:
            cluster = self._known_cluster(transaction)
        host = self._endpoint.server.partition("://")[2].partition(":")[0].partition("/")[0]
        why = self._world.faults.unreachable(self._clusters(cluster))
        if not why and host.startswith(SIMULATED) and not cluster:
            why = f"dial tcp: lookup {host}: no such host"
        text = "unable to load schema information from the API server: Get "
        return f'{text}"{self._endpoint.server}/openapi/v2?timeout=32s": {why}' if why else ""

    def _call(self, call: str, target: Target, inputs: Mapping[str, Any], *, preview: bool = False) -> Call:
        """Describe a call and let the scenario strike."""
        with self._world.store.reading() as transaction:
            cluster = self._known_cluster(transaction)
        bare = plain(dict(inputs))
        names = (lookup(bare, "metadata.name"), bare.get("name") if target.type == HELM_RELEASE else None, target.id)
        request = Call(
            package="kubernetes",
            type=target.type,
            call=call,
            urn=target.urn,
            names=tuple(name for name in names if isinstance(name, str) and name),
            clusters=self._clusters(cluster),
            images=kinds.images(bare),
            preview=preview,
        )
        self._world.faults.strike(request, texts=self._world.table.facts.get("failures", {}))
        return request

    # -- the resource protocol -----------------------------------------------------------------------------------------

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check inputs by the SDK's rules, or as a custom resource; give the object a name if it needs one."""
        self._call("check", target, news)
        if target.type == HELM_RELEASE:
            return self._check_release(target, olds, news, seed)
        rules = self._world.rules.of(target.type)
        failures = check(news, rules) if rules else _check_custom(target, news)
        kind = kind_of(target.type, self._world.table)
        metadata = news.get("metadata") or {}
        if not isinstance(metadata, dict):
            return news, failures
        if not metadata.get("name") and not metadata.get("generateName"):
            metadata = _autonamed(target.name, metadata, olds, seed)
        if kind.namespaced and not metadata.get("namespace") and self._config.get("namespace"):
            metadata = {**metadata, "namespace": self._config["namespace"]}
        news = {**news, "metadata": metadata}
        return news, [*failures, *_check_metadata(kind, metadata)]

    def diff(self, target: Target, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Compare inputs; a name chosen by hand that stays makes a replacement delete first."""
        if target.type == HELM_RELEASE:
            return difference(olds, news, ("name", "namespace"), delete_first=False)
        kind = kind_of(target.type, self._world.table)
        old, new = lookup(dict(olds), "metadata") or {}, lookup(dict(news), "metadata") or {}
        auto = (plain(new.get("annotations")) or {}).get(naming.AUTONAMED) == "true"
        same = all(plain(old.get(key)) == plain(new.get(key)) for key in ("name", "namespace"))
        immutable = ["metadata.name", "metadata.namespace", *kind.facts.get("immutable", {})]
        switch = kind.facts.get("mutable_with")
        if switch and self._config.get(switch["setting"]) is True:
            immutable = [path for path in immutable if path not in switch["paths"]]
        return difference(olds, news, immutable, delete_first=same and not auto)

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Create an object."""
        inputs = without_nulls(inputs)
        trouble = self._trouble()
        if trouble and not preview:
            raise Refused(f"configured Kubernetes cluster is unreachable: {trouble}")
        call = self._call("create", target, inputs, preview=preview)
        if preview:
            return Live(id="", outputs={**inputs, "status": UNKNOWN})
        with self._world.store.transaction() as transaction:
            thing = self._live(transaction, target, inputs)
            thing.require_namespace(transaction)
            ordinal = transaction.ordinal(f"{target.urn}/{self._endpoint.server}")
            thing.born(ordinal)
            outputs, row = self._insert(transaction, target, inputs, thing)
            outputs, reasons = self._ready(call, outputs)
            if reasons:
                transaction.update(replace(row, outputs=self._world.store.seal({**outputs, REASONS: list(reasons)})))
        return self._settle(target, Live(id=row.id, outputs=mark_like(outputs, inputs)), reasons, verb="created")

    def _insert(
        self, transaction: Transaction, target: Target, inputs: dict[str, Any], thing: LiveObject
    ) -> tuple[dict[str, Any], Row]:
        seal = self._world.store.seal
        outputs = thing.outputs()
        row = Row(
            package="kubernetes",
            type=target.type,
            scope=self._endpoint.server,
            id=thing.id,
            claim=f"{self._endpoint.server}|{thing.claim}",
            name=thing.name,
            urn=target.urn,
            created="",
            inputs=seal(thing.guarded(inputs)),
            outputs=seal(mark_like(thing.guarded(outputs), inputs)),
        )
        try:
            transaction.insert(row)
        except Taken as error:
            raise Refused(thing.taken()) from error
        thing.make_companions(transaction, row)
        return thing.guarded(outputs), row

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Read an object, putting back the secrets that the engine showed."""
        self._ours(outputs)
        trouble = self._trouble()
        if trouble:
            if self._config.get("deleteUnreachable") is True:
                return None
            if self._config.get("skipUpdateUnreachable") is True:
                return Live(id=target.id, outputs=outputs, inputs=inputs)
            raise Refused(
                "failed to read resource state due to unreachable cluster. If the cluster was deleted, you can remove "
                "this resource from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE "
                f'environment variable set to "true" ({trouble})'
            )
        call = self._call("read", target, inputs or outputs)
        with self._world.store.reading() as transaction:
            row = transaction.find("kubernetes", target.type, self._endpoint.server, target.id)
        if row is None:
            return None
        unseal = self._world.store.unseal
        live = unseal({key: value for key, value in row.outputs.items() if key != REASONS}, outputs, inputs)
        found = Live(id=row.id, outputs=live, inputs=unseal(row.inputs, inputs, outputs))
        reasons = row.outputs.get(REASONS) or ()
        if reasons and call.images and not self._world.faults.unready(replace(call, call="update"), counted=False):
            reasons = self._heal(target, row)
            found = replace(found, outputs=unseal(self._reread(target).outputs, outputs, inputs))
        if reasons:
            trouble_now = NotReady(str(reasons[0]), id_=row.id, outputs=found.outputs, reasons=reasons)
            trouble_now.inputs = found.inputs
            raise trouble_now
        return found

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Change an object in place; what an API server does not allow to change is refused."""
        self._ours(olds)
        inputs = without_nulls(inputs)
        trouble = self._trouble()
        if trouble and not preview:
            if self._config.get("skipUpdateUnreachable") is True:
                return olds
            raise Refused(f"configured Kubernetes cluster is unreachable: {trouble}")
        call = self._call("update", target, inputs, preview=preview)
        if trouble or (preview and has_unknown(inputs)):
            return mark_like({**olds, **inputs}, inputs)
        if preview:
            with self._world.store.reading() as transaction:
                row = transaction.find("kubernetes", target.type, self._endpoint.server, target.id)
                if row is None:
                    return mark_like({**olds, **inputs}, inputs)
                thing = self._live(transaction, target, inputs)
                self._refuse_immutable(target, row, thing)
                return mark_like(thing.guarded(thing.outputs(row.outputs)), inputs)
        with self._world.store.transaction() as transaction:
            row = transaction.find("kubernetes", target.type, self._endpoint.server, target.id)
            if row is None:
                raise Refused(f'update of resource "{target.urn}" failed: "{target.id}" not found')
            thing = self._live(transaction, target, inputs)
            self._refuse_immutable(target, row, thing)
            outputs, reasons = self._ready(call, thing.guarded(thing.outputs(row.outputs, changed=True)))
            kept = {**outputs, REASONS: list(reasons)} if reasons else outputs
            seal = self._world.store.seal
            changed = replace(row, inputs=seal(thing.guarded(inputs)), outputs=seal(mark_like(kept, inputs)))
            transaction.update(changed)
            thing.make_companions(transaction, changed)
        return self._settle(
            target, Live(id=row.id, outputs=mark_like(outputs, inputs)), reasons, verb="updated"
        ).outputs

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Delete an object and what hangs on it."""
        self._ours(outputs)
        trouble = self._trouble()
        if trouble:
            if self._config.get("deleteUnreachable") is True and target.type != HELM_RELEASE:
                return
            if target.type == HELM_RELEASE:
                raise Refused(f"can't delete Helm Release with unreachable cluster. Reason: {json.dumps(trouble)}")
            raise Refused(
                "configured Kubernetes cluster is unreachable. If the cluster was deleted, you can remove this resource "
                "from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE environment "
                f'variable set to "true" ({trouble})'
            )
        self._call("delete", target, outputs)
        with self._world.store.transaction() as transaction:
            row = transaction.find("kubernetes", target.type, self._endpoint.server, target.id)
            if row is not None:
                aftermath.remove(transaction, row)

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Refuse functions: they render charts or manifests, which needs the real provider."""
        raise Refused(f"{token} is not simulated; charts are installed as Helm releases, objects are written out")

    # -- helpers -------------------------------------------------------------------------------------------------------

    def _ours(self, outputs: Mapping[str, Any]) -> None:
        uid = lookup(dict(outputs), "metadata.uid")
        if isinstance(uid, str) and uid and not uid.startswith(SIMULATED):
            raise Refused(f"the object with uid {uid!r} belongs to a real cluster, and this run is simulated")

    def _live(self, transaction: Transaction, target: Target, inputs: dict[str, Any]) -> LiveObject:
        kind = kind_of(target.type, self._world.table)
        return LiveObject(
            target=target,
            kind=kind,
            inputs=plain(inputs),
            server=self._endpoint.server,
            cluster=self._known_cluster(transaction),
            namespace=str(self._config.get("namespace") or self._endpoint.namespace or "default"),
            facts=self._world.table.facts,
        )

    def _refuse_immutable(self, target: Target, row: Row, thing: LiveObject) -> None:
        fixed = thing.kind.facts.get("refused", {})
        found = difference(self._world.store.unseal(row.inputs), thing.inputs, tuple(fixed), delete_first=False)
        for path in found.replaces:
            field = next(item for item in fixed if covers(item, path))
            raise Refused(
                f'update of resource "{target.urn}" failed: {thing.kind.kind}.{thing.kind.group or "core"} "{thing.name}" '
                f"is invalid: {field}: Invalid value: field is immutable"
            )

    def _ready(self, call: Call, outputs: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Ask the scenario whether the object becomes ready, and spoil its status when not."""
        reasons = self._world.faults.unready(call)
        if reasons:
            spoilt = kind_of(call.type, self._world.table).facts.get("unready_status", {})
            outputs = {**outputs, "status": {**(outputs.get("status") or {}), **spoilt}}
        return outputs, reasons

    def _settle(self, target: Target, live: Live, reasons: Sequence[str], *, verb: str) -> Live:
        if not reasons:
            return live
        said = (
            "successfully created, but the Kubernetes API server reported that it"
            if verb == "created"
            else "updated, but it"
        )
        summary = f'resource "{target.urn}" was {said} failed to fully initialize or become live: {reasons[0]}'
        raise NotReady(summary, id_=live.id, outputs=live.outputs, reasons=(summary, *reasons))

    def _reread(self, target: Target) -> Row:
        with self._world.store.reading() as transaction:
            row = transaction.find("kubernetes", target.type, self._endpoint.server, target.id)
        assert row is not None
        return row

    def _heal(self, target: Target, row: Row) -> tuple[str, ...]:
        """Let an object become ready whose trouble is over."""
        with self._world.store.transaction() as transaction:
            thing = self._live(transaction, target, row.inputs)
            outputs = {**row.outputs, **{"status": thing.outputs(row.outputs).get("status")}}
            outputs.pop(REASONS, None)
            transaction.update(replace(row, outputs=outputs))
        return ()

    def _check_release(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        rules = self._world.rules.of(target.type)
        failures = check(news, rules) if rules else []
        if not news.get("namespace"):
            news = {**news, "namespace": self._config.get("namespace") or self._endpoint.namespace or "default"}
        rule = {"property": "name", "auto": True, "max": 53, "pattern": r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
                "wants": "a release name is lower case letters, digits, '-' and '.', at most 53 characters"}  # fmt: skip
        news, named = naming.assign(target.name, rule, olds, news, seed)
        return news, [*failures, *named]


def _autonamed(logical: str, metadata: dict[str, Any], olds: Mapping[str, Any], seed: bytes) -> dict[str, Any]:
    old = lookup(dict(olds), "metadata") or {}
    kept = old.get("name") if (plain(old.get("annotations")) or {}).get(naming.AUTONAMED) == "true" else None
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
    name = plain(metadata.get("name"))
    if isinstance(name, str) and (problem := kinds.name_problem(kind, name)):
        failures.append(Failure("metadata.name", problem))
    namespace = plain(metadata.get("namespace"))
    if namespace and not kind.namespaced:
        failures.append(Failure("metadata.namespace", f"{kind.kind} objects belong to no namespace"))
    labels = plain(metadata.get("labels"))
    for key, value in labels.items() if isinstance(labels, dict) else ():
        if not has_unknown(value) and (problem := kinds.label_problem(key, value)):
            failures.append(Failure(f'metadata.labels["{key}"]', problem))
    return failures
