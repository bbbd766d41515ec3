"""Simulated Kubernetes clusters, behaving as the real Kubernetes provider and an API server together do.

One configured provider is one cluster, known by the address of its server. Objects live in that scope; a simulated
cloud's cluster that is gone takes its server's name along, so its provider finds nobody ("no such host"). Which kinds
are cluster-wide, what their fields allow and what status they get is data (``data/kubernetes.json``).

Ids are the real provider's (``namespace/name``); that an object is simulated shows in its ``metadata.uid``, which
starts with ``sim-``. An object with another uid is refused: it belongs to a real cluster.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from automation.rehearsal import aftermath
from automation.rehearsal.provider import kinds, objects, relations
from automation.rehearsal.provider.base import SIMULATED, Difference, Live, Target, World, covers, difference
from automation.rehearsal.provider.check import Failure
from automation.rehearsal.provider.cluster import Cluster, diff_settings
from automation.rehearsal.provider.errors import NotReady, Refused
from automation.rehearsal.provider.faults import Call
from automation.rehearsal.provider.kinds import HELM_RELEASE, kind_of
from automation.rehearsal.provider.live import LiveObject
from automation.rehearsal.provider.normal import normal_inputs
from automation.rehearsal.store import Row, Taken, Transaction
from automation.rehearsal.wire import UNKNOWN, has_unknown, lookup, mark_like, plain, without_nulls

_PACKAGE: Final = "kubernetes"
_REASONS: Final = "__reasons"
_GONE_HINT: Final = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)


class KubernetesCloud:
    """One configured cluster."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._cluster = Cluster(world)

    # -- configuration -------------------------------------------------------------------------------------------------

    def check_config(self, news: Mapping[str, Any]) -> list[Failure]:
        """Refuse settings that the provider does not have."""
        rules = self._world.rules.of("pulumi:providers:kubernetes")
        known = {*(rules["inputs"] if rules else news), "version", "pluginDownloadURL"}
        return [Failure(key, "unknown property") for key in news if key not in known and not key.startswith("__")]

    def diff_config(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Compare settings as the real provider does."""
        return diff_settings(olds, news)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Take the settings."""
        self._cluster.configure(config)
        self._world.faults.before(
            self._call("configure", Target(urn="", type="pulumi:providers:kubernetes", name=""), {})
        )

    # -- the resource protocol -----------------------------------------------------------------------------------------

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check inputs by the SDK's rules, or as a custom resource; give the object a name if it needs one."""
        self._world.faults.before(self._call("check", target, news))
        rules = self._world.rules.of(target.type)
        if target.type == HELM_RELEASE:
            return objects.check_release(target, rules, (olds, news), namespace=self._cluster.namespace, seed=seed)
        kind, default = kind_of(target.type, self._world.table), str(self._cluster.config.get("namespace") or "")
        return objects.check_object(target, kind, rules, (olds, news), namespace=default, seed=seed)

    def diff(
        self,
        target: Target,
        olds: Mapping[str, Any],
        news: Mapping[str, Any],
        outputs: Mapping[str, Any],  # noqa: ARG002 - the protocol of clouds
    ) -> Difference:
        """Compare inputs; a name chosen by hand that stays makes a replacement delete first."""
        if target.type == HELM_RELEASE:
            return difference(olds, news, ("name", "namespace"), delete_first=False)
        kind, rules = kind_of(target.type, self._world.table), self._world.rules.of(target.type)
        olds, news = (normal_inputs(kind, dict(bag), rules) for bag in (olds, news))
        facts = kind.facts
        same = all(
            lookup(dict(olds), path) == lookup(dict(news), path) for path in ("metadata.name", "metadata.namespace")
        )
        immutable = ["metadata.name", "metadata.namespace", *facts.get("immutable", {})]
        switch = facts.get("mutable_with")
        if (
            switch
            and self._cluster.config.get(switch["setting"]) is True
            and lookup(dict(news), "immutable") is not True
        ):
            immutable = [path for path in immutable if path not in switch["paths"]]
        found = difference(olds, news, immutable, delete_first=same and not objects.is_autonamed(news))
        return replace(found, of_live=True)

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Create an object."""
        inputs = without_nulls(inputs)
        trouble = self._cluster.trouble()
        if trouble and not preview:
            raise Refused(f"configured Kubernetes cluster is unreachable: {trouble}")
        call = self._call("create", target, inputs, preview=preview)
        self._world.faults.before(call)
        if preview:
            return self._preview(target, inputs, reachable=not trouble)
        with self._world.store.transaction() as transaction:
            thing = self._thing(transaction, target, inputs)
            thing.validate()
            thing.require_namespace(transaction)
            thing.born(transaction.ordinal(f"{target.urn}/{self._cluster.server}"))
            outputs, row = self._insert(transaction, target, inputs, thing)
        self._world.faults.after(call)
        outputs, reasons = self._ready(call, thing, row, outputs)
        return self._settle(target, Live(id=row.id, outputs=mark_like(outputs, inputs)), reasons, verb="created")

    def _preview(self, target: Target, inputs: dict[str, Any], *, reachable: bool) -> Live:
        """Preview a creation; with every value known a live API server would refuse what is invalid already now."""
        if reachable and not has_unknown(inputs):
            with self._world.store.reading() as transaction:
                self._thing(transaction, target, inputs).validate()
        return Live(id="", outputs={**inputs, "status": UNKNOWN})

    def _insert(
        self, transaction: Transaction, target: Target, inputs: dict[str, Any], thing: LiveObject
    ) -> tuple[dict[str, Any], Row]:
        seal = self._world.store.seal
        outputs = thing.guarded(thing.outputs())
        row = Row(
            package=_PACKAGE,
            type=target.type,
            scope=self._cluster.server,
            id=thing.id,
            claim=f"{self._cluster.server}|{thing.claim}",
            name=thing.name,
            urn=target.urn,
            created="",
            inputs=seal(thing.guarded(inputs)),
            outputs=seal(mark_like(outputs, inputs)),
        )
        try:
            transaction.insert(row)
        except Taken as error:
            raise Refused(thing.taken()) from error
        thing.make_companions(transaction, row)
        return outputs, row

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Read an object, putting back the secrets that the engine showed."""
        _ours(outputs)
        trouble = self._cluster.trouble()
        if trouble:
            if self._cluster.config.get("deleteUnreachable") is True:
                return None
            if self._cluster.config.get("skipUpdateUnreachable") is True:
                return Live(id=target.id, outputs=outputs, inputs=inputs)
            raise Refused(f"failed to read resource state due to unreachable cluster. {_GONE_HINT} ({trouble})")
        call = self._call("read", target, inputs or outputs)
        self._world.faults.before(call)
        row = self._row(target)
        if row is None:
            return None
        if row.outputs.get(_REASONS):
            row = self._look_again(call, target, row)
        unseal = self._world.store.unseal
        live = unseal({key: value for key, value in row.outputs.items() if key != _REASONS}, outputs, inputs)
        found = Live(id=row.id, outputs=live, inputs=unseal(row.inputs, inputs, outputs))
        if reasons := (row.outputs.get(_REASONS) or {}).get("said"):
            raise NotReady(str(reasons[0]), id_=row.id, outputs=live, reasons=reasons, inputs=found.inputs)
        return found

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Change an object in place; what an API server does not allow to change is refused."""
        _ours(olds)
        inputs = without_nulls(inputs)
        trouble = self._cluster.trouble()
        if trouble and not preview:
            if self._cluster.config.get("skipUpdateUnreachable") is True:
                return olds
            raise Refused(f"configured Kubernetes cluster is unreachable: {trouble}")
        call = self._call("update", target, inputs, preview=preview)
        self._world.faults.before(call)
        if preview:
            return self._preview_update(target, olds, inputs, reachable=not trouble)
        with self._world.store.transaction() as transaction:
            row = transaction.find(_PACKAGE, target.type, self._cluster.server, target.id)
            if row is None:
                raise Refused(f'update of resource "{target.urn}" failed: "{target.id}" not found')
            thing = self._thing(transaction, target, inputs)
            thing.validate()
            self._refuse_immutable(target, row, thing)
            outputs, seal = thing.guarded(thing.outputs(row.outputs, changed=True)), self._world.store.seal
            row = replace(row, inputs=seal(thing.guarded(inputs)), outputs=seal(mark_like(outputs, inputs)))
            transaction.update(row)
            thing.make_companions(transaction, row)
        self._world.faults.after(call)
        outputs, reasons = self._ready(call, thing, row, outputs)
        return self._settle(
            target, Live(id=row.id, outputs=mark_like(outputs, inputs)), reasons, verb="updated"
        ).outputs

    def _preview_update(
        self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, reachable: bool
    ) -> dict[str, Any]:
        """Preview an update: a dry run against a live API server, or the new inputs when that cannot be asked."""
        row = self._row(target) if reachable and not has_unknown(inputs) else None
        if row is None:
            return {**olds, **inputs}
        with self._world.store.reading() as transaction:
            thing = self._thing(transaction, target, inputs)
        thing.validate()
        self._refuse_immutable(target, row, thing)
        outputs = {**thing.guarded(thing.outputs(row.outputs))}
        outputs.update({key: olds[key] for key in ("status",) if key in olds})
        return dict(mark_like(outputs, inputs))

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Delete an object and what hangs on it."""
        _ours(outputs)
        trouble = self._cluster.trouble()
        if trouble:
            if target.type == HELM_RELEASE:
                raise Refused(f"can't delete Helm Release with unreachable cluster. Reason: {json.dumps(trouble)}")
            if self._cluster.config.get("deleteUnreachable") is True:
                return
            raise Refused(f"configured Kubernetes cluster is unreachable. {_GONE_HINT} ({trouble})")
        call = self._call("delete", target, outputs)
        self._world.faults.before(call)
        with self._world.store.transaction() as transaction:
            row = transaction.find(_PACKAGE, target.type, self._cluster.server, target.id)
            if row is not None:
                thing = self._thing(transaction, target, row.inputs)
                relations.unblocked(transaction, row, thing.kind.facts)
                aftermath.remove(transaction, row, controlled=thing.is_controlled(transaction))
        self._world.faults.after(call)

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - the protocol of clouds
        """Refuse functions: they render charts or manifests, which needs the real provider."""
        raise Refused(f"{token} is not simulated; charts are installed as Helm releases, objects are written out")

    # -- helpers -------------------------------------------------------------------------------------------------------

    def _row(self, target: Target) -> Row | None:
        with self._world.store.reading() as transaction:
            return transaction.find(_PACKAGE, target.type, self._cluster.server, target.id)

    def _call(self, call: str, target: Target, inputs: Mapping[str, Any], *, preview: bool = False) -> Call:
        with self._world.store.reading() as transaction:
            facts = self._cluster.facts(transaction)
        bare = plain(dict(inputs))
        names = (lookup(bare, "metadata.name"), bare.get("name") if target.type == HELM_RELEASE else None, target.id)
        return Call(
            package=_PACKAGE,
            type=target.type,
            call=call,
            urn=target.urn,
            names=tuple(name for name in names if isinstance(name, str) and name),
            clusters=self._cluster.names(facts),
            images=kinds.images(bare),
            preview=preview,
            words=self._world.table.facts.get("failures", {}),
        )

    def _thing(self, transaction: Transaction, target: Target, inputs: dict[str, Any]) -> LiveObject:
        return LiveObject(
            target=target,
            kind=kind_of(target.type, self._world.table),
            inputs=plain(inputs),
            server=self._cluster.server,
            cluster=self._cluster.facts(transaction),
            namespace=self._cluster.namespace,
            charts=self._world.table.facts.get("charts", {}),
        )

    def _refuse_immutable(self, target: Target, row: Row, thing: LiveObject) -> None:
        fixed = thing.kind.facts.get("refused", {})
        found = difference(row.inputs, self._world.store.seal(thing.inputs), tuple(fixed), delete_first=False)
        for path in found.replaces:
            field = next(item for item in fixed if covers(item, path))
            raise Refused(f'update of resource "{target.urn}" failed: {thing.invalid(f"{field}: field is immutable")}')

    def _ready(
        self, call: Call, thing: LiveObject, row: Row, outputs: dict[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Wait until the object is ready; when it does not become so, spoil its status and remember why."""
        ordered = self._world.faults.unready(call)
        reasons = ordered or self._missing(thing)
        if reasons:
            spoilt = {**(outputs.get("status") or {}), **thing.kind.facts.get("unready_status", {})}
            outputs = {**outputs, "status": spoilt}
            stored = {**row.outputs, "status": spoilt, _REASONS: {"said": list(reasons), "ordered": bool(ordered)}}
            with self._world.store.transaction() as transaction:
                transaction.update(replace(row, outputs=stored))
        return outputs, reasons

    def _missing(self, thing: LiveObject) -> tuple[str, ...]:
        """Say what the object waits for in vain; objects made at the same time get a moment to appear."""
        ends = time.monotonic() + self._world.patience
        while True:
            with self._world.store.reading() as transaction:
                reasons = tuple(thing.missing(transaction))
            if not reasons or time.monotonic() >= ends:
                return reasons
            time.sleep(0.05)

    def _look_again(self, call: Call, target: Target, row: Row) -> Row:
        """Let an object become ready whose trouble is over."""
        with self._world.store.transaction() as transaction:
            thing = self._thing(transaction, target, row.inputs)
            before = row.outputs[_REASONS]
            still = tuple(thing.missing(transaction))
            if before["ordered"]:
                ordered = self._world.faults.unready(replace(call, call="update"), counted=False)
                still = ordered if call.images else tuple(before["said"])
            outputs = {key: value for key, value in row.outputs.items() if key != _REASONS}
            if still:
                outputs[_REASONS] = {"said": list(still), "ordered": before["ordered"]}
            else:
                outputs["status"] = thing.outputs(row.outputs).get("status")
            row = replace(row, outputs=outputs)
            transaction.update(row)
        return row

    def _settle(self, target: Target, live: Live, reasons: Sequence[str], *, verb: str) -> Live:
        if not reasons:
            return live
        summary = (
            f'resource "{target.urn}" was successfully {verb}, but the Kubernetes API server reported that it failed '
            f"to fully initialize or become live: {reasons[0]}"
        )
        raise NotReady(summary, id_=live.id, outputs=live.outputs, reasons=(summary, *reasons))


def _ours(outputs: Mapping[str, Any]) -> None:
    uid = lookup(dict(outputs), "metadata.uid")
    if isinstance(uid, str) and uid and not uid.startswith(SIMULATED):
        raise Refused(f"the object with uid {uid!r} belongs to a real cluster, and this run is simulated")
