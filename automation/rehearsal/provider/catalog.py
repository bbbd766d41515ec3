"""Clouds whose behaviour is a table: AWS and every cloud like it.

A type's row says what its name may look like, what id and outputs it gets, which names may exist once, which inputs
force a replacement, what must exist before it and what keeps it from being deleted. A type without a row behaves as the
SDK's class says: its inputs come back, and every output that is always set gets a plausible value.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from automation.rehearsal.aftermath import register_cluster, remove
from automation.rehearsal.provider import naming, plausible, relations
from automation.rehearsal.provider.base import SIMULATED, Difference, Live, Target, World, difference, settings
from automation.rehearsal.provider.check import Failure, check
from automation.rehearsal.provider.errors import NotReady, Refused
from automation.rehearsal.provider.faults import Call
from automation.rehearsal.provider.templates import Context
from automation.rehearsal.store import Row, Taken, Transaction
from automation.rehearsal.wire import UNKNOWN, lookup, mark_like, merge, plain, without_nulls


class CatalogCloud:
    """One configured cloud of a table."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._table = world.table
        self._config: dict[str, Any] = {}

    # -- configuration -------------------------------------------------------------------------------------------------

    def check_config(self, news: Mapping[str, Any]) -> list[Failure]:
        """Refuse settings that the provider does not have."""
        rules = self._world.rules.of(f"pulumi:providers:{self._table.package}")
        known = set(rules["inputs"]) if rules else set(news)
        return [Failure(key, "unknown property") for key in news if key not in known and not _internal(key)]

    def diff_config(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Compare settings; those that mean another account or place force a replacement of the provider."""
        return difference(olds, news, tuple(self._table.facts.get("provider_replaces", ())), delete_first=False)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Take the settings; the place is required, credentials are never looked at."""
        config = settings(config)
        place = self._table.facts.get("place", {})
        if place and not config.get(place["property"]):
            raise Refused(place["missing"])
        call = Call(package=self._table.package, type=f"pulumi:providers:{self._table.package}", call="configure",
                    region=str(config.get(place.get("property", ""), "")), words=self._words())  # fmt: skip
        self._world.faults.before(call)
        self._config = config

    # -- the resource protocol -----------------------------------------------------------------------------------------

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check inputs by the SDK's rules and give the resource a name if it needs one."""
        self._world.faults.before(self._call("check", target, news))
        rules = self._world.rules.of(target.type)
        if rules is None:
            return news, [Failure("", f"the {self._table.package} SDK has no resource type {target.type}")]
        facts = self._table.type(target.type)
        failures = check(news, rules)
        failures += [Failure(path, reason) for path, reason in relations.conflicts(facts, news)]
        news, named = naming.assign(target.name, facts.get("name") or naming.by_convention(rules), olds, news, seed)
        return news, [*failures, *named]

    def diff(
        self, target: Target, olds: Mapping[str, Any], news: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> Difference:
        """Compare inputs; a name that was chosen by hand and stays makes the replacement delete first.

        A resource that names no place is in the provider's: when that changes, the resource is replaced.
        """
        facts = self._table.type(target.type)
        own = facts.get("name", {}).get("property", "name")
        immutable = (*facts.get("immutable", ()), *self._table.facts.get("immutable", ()))
        kept = own in immutable and own in news and own not in (news.get(naming.DEFAULTS) or ())
        delete_first = bool(facts.get("delete_first")) or (kept and plain(olds.get(own)) == plain(news[own]))
        sets = tuple(facts.get("sets", ()))
        old, new = relations.without_order(dict(olds), sets), relations.without_order(dict(news), sets)
        place = self._table.facts.get("place", {}).get("property", "")
        if place in immutable and outputs.get(place) and place not in new:
            old, new = {**old, place: outputs[place]}, {**new, place: self._where(new)["region"]}
        return difference(old, new, immutable, delete_first=delete_first)

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Create a resource."""
        inputs = without_nulls(inputs)
        call = self._call("create", target, inputs, preview=preview)
        self._world.faults.before(call)
        if preview:
            return Live(id="", outputs=self._preview(target, inputs))
        with self._world.store.transaction() as transaction:
            row, outputs, cluster = self._insert(transaction, target, inputs)
        if self._world.door is not None:
            from automation.rehearsal.provider.backing import back  # noqa: PLC0415 (backed runs only; start-up is short)

            outputs = {**outputs, **back(self._world.door, self._world.store, row, cluster)}
        live = Live(id=row.id, outputs=outputs)
        self._world.faults.after(call)
        return self._settle(call, live, verb="creating")

    def _insert(
        self, transaction: Transaction, target: Target, inputs: dict[str, Any]
    ) -> tuple[Row, dict[str, Any], dict[str, Any]]:
        """Insert a resource; give its row, its outputs, and what is remembered of it when it is a cluster."""
        facts, where = self._table.type(target.type), self._where(inputs)
        scope = self._scope_of(target.type, where)
        seed = hashlib.sha256(
            f"{target.urn}|{scope}|{transaction.ordinal(f'{target.urn}/{scope}')}".encode()
        ).hexdigest()
        context = self._context(transaction, target, inputs, where, seed)
        place = relations.Place(transaction, self._table.package, lambda type_: self._scope_of(type_, where))
        relations.require(place, facts, context)
        identifier = SIMULATED + str(context.render(facts.get("id", "{hex:17}")))
        context = replace(context, values={**context.values, "id": identifier})
        outputs = self._outputs(target, inputs, context, {})
        row = Row(
            package=self._table.package,
            type=target.type,
            scope=scope,
            id=identifier,
            claim=self._claim(target, facts, context, scope),
            name=str(context.values["name"] or identifier),
            urn=target.urn,
            created="",
            inputs=self._world.store.seal(inputs),
            outputs=self._world.store.seal(outputs),
        )
        try:
            transaction.insert(row)
        except Taken as error:
            raise Refused(str(context.render(facts.get("taken", "{type}: the name {name} is in use")))) from error
        cluster: dict[str, Any] = {}
        if "cluster" in facts:
            seen = replace(context, values={**context.values, "out": outputs})
            cluster = seen.render(facts["cluster"])
            register_cluster(transaction, row, cluster)
        return row, outputs, cluster

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Read a resource, putting back the secrets that the engine showed."""
        _ours(target.id)
        self._world.faults.before(self._call("read", target, inputs))
        with self._world.store.reading() as transaction:
            row = self._find(transaction, target, outputs, inputs)
        if row is None:
            return None
        unseal = self._world.store.unseal
        return Live(id=row.id, outputs=unseal(row.outputs, outputs, inputs), inputs=unseal(row.inputs, inputs, outputs))

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Change a resource in place."""
        _ours(target.id)
        inputs = without_nulls(inputs)
        call = self._call("update", target, inputs, preview=preview)
        self._world.faults.before(call)
        facts, where = self._table.type(target.type), self._where(inputs)
        if preview:
            with self._world.store.reading() as transaction:
                context = self._context(transaction, target, inputs, where, target.id)
                outputs = self._outputs(target, inputs, context, olds)
            return mark_like({**outputs, **dict.fromkeys(facts.get("unstable", ()), UNKNOWN)}, inputs)
        with self._world.store.transaction() as transaction:
            row = self._find(transaction, target, olds, inputs)
            if row is None:
                raise Refused(self._words()["gone"].format(type=target.type, name=target.id))
            if self._world.door is not None:
                from automation.rehearsal.provider.backing import refuse_upgrade  # noqa: PLC0415 (backed runs only)

                refuse_upgrade(row, inputs)
            context = self._context(transaction, target, inputs, where, row.id, old=row.outputs)
            outputs = self._outputs(target, inputs, context, self._world.store.unseal(row.outputs, olds))
            sealed = self._world.store.seal
            transaction.update(replace(row, inputs=sealed(inputs), outputs=sealed(outputs)))
        self._world.faults.after(call)
        return self._settle(call, Live(id=target.id, outputs=outputs), verb="updating").outputs

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Delete a resource, unless something depends on it and does not go either."""
        _ours(target.id)
        call = self._call("delete", target, outputs)
        self._world.faults.before(call)
        ends = time.monotonic() + self._world.patience
        while (refusal := self._removed(target, outputs)) is not None:
            if time.monotonic() >= ends or not self._is_retried(refusal):
                raise refusal
            time.sleep(0.05)
        self._world.faults.after(call)

    def _removed(self, target: Target, outputs: dict[str, Any]) -> Refused | None:
        """Remove a resource that is there; return what the cloud says when something else keeps it."""
        with self._world.store.transaction() as transaction:
            row = self._find(transaction, target, outputs)
            if row is not None:
                try:
                    relations.unblocked(transaction, row, self._table.type(row.type))
                except Refused as refusal:
                    return refusal
                remove(transaction, row)
        return None

    def _is_retried(self, refusal: Refused) -> bool:
        """Whether the real provider tries again, because what stands in the way may be going at the same time."""
        return any(word in str(refusal) for word in self._table.facts.get("retried", ()))

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Answer a function from the table."""
        shape = self._table.facts.get("functions", {}).get(token)
        if shape is None:
            raise Refused(f"{token} is not simulated; a program should not ask clouds while it is planned")
        values = {**self._where(arguments), "in": plain(arguments)}
        filled: dict[str, Any] = Context(values, seed=token).render(shape)
        return {**arguments, **filled}

    # -- helpers -------------------------------------------------------------------------------------------------------

    def _words(self) -> Mapping[str, str]:
        words: Mapping[str, str] = self._table.facts.get("failures", {})
        return {"gone": "updating {type} ({name}): it does not exist", **words}

    def _where(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Name the account and the place that a resource belongs to."""
        place = self._table.facts.get("place", {}).get("property", "")
        region = plain(inputs.get(place)) or self._config.get(place, "")
        account = self._table.facts.get("account", "")
        return {"region": region if isinstance(region, str) else "", "account": account, "config": self._config}

    def _scope_of(self, type_: str, where: Mapping[str, Any]) -> str:
        parts = [self._table.package, where["account"]]
        return "/".join(parts if self._table.type(type_).get("scope") == "account" else [*parts, where["region"]])

    def _call(self, call: str, target: Target, inputs: Mapping[str, Any], *, preview: bool = False) -> Call:
        name = lookup(dict(inputs), self._table.type(target.type).get("name", {}).get("property", "name"))
        names = [item for item in (name, target.id) if isinstance(item, str) and item]
        region = self._where(inputs)["region"]
        return Call(package=self._table.package, type=target.type, call=call, urn=target.urn, names=tuple(names),
                    region=region, preview=preview, words=self._words())  # fmt: skip

    def _find(self, transaction: Transaction, target: Target, *bags: Mapping[str, Any]) -> Row | None:
        """Find a resource where its state says it is; the first bag that names a place counts."""
        place = self._table.facts.get("place", {}).get("property", "")
        scope = self._scope_of(target.type, self._where(next((bag for bag in bags if bag.get(place)), {})))
        return transaction.find(self._table.package, target.type, scope, target.id)

    def _claim(self, target: Target, facts: Mapping[str, Any], context: Context, scope: str) -> str | None:
        claim = context.render(facts["unique"]) if "unique" in facts else None
        claim = "/".join(str(part) for part in claim) if isinstance(claim, list) else claim
        return None if claim is None else f"{target.type}|{scope}|{claim}"

    def _context(
        self,
        transaction: Transaction,
        target: Target,
        inputs: Mapping[str, Any],
        where: Mapping[str, Any],
        seed: str,
        *,
        old: Mapping[str, Any] | None = None,
    ) -> Context:
        bare = plain(dict(inputs))
        name = lookup(bare, self._table.type(target.type).get("name", {}).get("property", "name"))
        service = target.type.split(":")[1].partition("/")[0]
        values = {**where, "in": bare, "old": dict(old or {}), "name": name, "id": target.id or None,
                  "type": target.type, "service": service, "logical": target.name, "urn": target.urn}  # fmt: skip
        package = self._table.package

        def find(type_: str) -> Iterator[Mapping[str, Any]]:
            rows = transaction.select(package=package, type_=type_, scope=self._scope_of(type_, where))
            return ({**row.outputs, "id": row.id} for row in rows)

        return Context(values, seed, find)

    def _outputs(
        self, target: Target, inputs: dict[str, Any], context: Context, old: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Complete inputs to outputs; in an update what the cloud had computed before stays, unless it is unstable."""
        facts = self._table.type(target.type)
        unstable = facts.get("unstable", ())
        templates = facts.get("computed", {})
        computed = {key: _kept(templates[key], None if key in unstable else old.get(key), context) for key in templates}
        rules, texts = self._world.rules.of(target.type), self._table.facts.get("plausible", {})
        known = {**facts.get("defaults", {}), **self._tags(rules, inputs)}
        guessed = plausible.outputs(rules, {**inputs, **computed, **known}, context, texts) if rules else {}
        guessed.update({key: plain(old[key]) for key in guessed if key in old})
        base = merge(merge(guessed, computed), known)
        outputs: dict[str, Any] = merge(base, plain(_public(inputs)))
        return mark_like(outputs, {**inputs, **{key: old[key] for key in computed if key in old}})

    def _preview(self, target: Target, inputs: dict[str, Any]) -> dict[str, Any]:
        """Say what is known before creation: inputs and defaults; what the cloud computes is unknown."""
        facts, rules = self._table.type(target.type), self._world.rules.of(target.type)
        guessed = plausible.names(rules, inputs) if rules else ()
        unknown = {**dict.fromkeys(guessed, UNKNOWN), **_unknown_leaves(facts.get("computed", {}))}
        known = {**facts.get("defaults", {}), **self._tags(rules, inputs)}
        return mark_like(merge(merge(unknown, known), plain(_public(inputs))), inputs)

    def _tags(self, rules: Mapping[str, Any] | None, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Join the provider's default tags with the resource's own, where the type has a place for the result."""
        place = self._table.facts.get("tags")
        if not place or not rules or place["all"] not in rules["outputs"]:
            return {}
        defaults = lookup(self._config, place["defaults"]) or {}
        own = plain(inputs.get(place["own"])) or {}
        return {place["all"]: {**defaults, **own} if isinstance(own, dict) else UNKNOWN}

    def _settle(self, call: Call, live: Live, *, verb: str) -> Live:
        reasons = self._world.faults.unready(call)
        if reasons:
            summary = f"{verb} {call.type} ({call.name}): {reasons[0]}"
            raise NotReady(summary, id_=live.id, outputs=live.outputs, reasons=reasons)
        return live


def _ours(identifier: str) -> None:
    if not identifier.startswith(SIMULATED):
        raise Refused(f"the id {identifier!r} belongs to a real cloud, and this run is simulated")


def _internal(key: str) -> bool:
    return key.startswith("__") or key in {"version", "pluginDownloadURL"}


def _public(bag: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in bag.items() if not key.startswith("__")}


def _kept(template: Any, old: Any, context: Context) -> Any:
    """Keep what the cloud computed once, leaf by leaf, and compute what is missing."""
    if old is None:
        return context.render(template)
    if isinstance(old, dict) and isinstance(template, dict) and not any(key.startswith("$") for key in template):
        return {key: _kept(template[key], old.get(key), context) for key in template}
    return plain(old)


def _unknown_leaves(template: Any) -> Any:
    if isinstance(template, dict) and not any(key.startswith("$") for key in template):
        return {key: _unknown_leaves(value) for key, value in template.items()}
    return UNKNOWN
