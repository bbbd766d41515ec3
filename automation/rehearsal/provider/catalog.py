"""Clouds whose behaviour is a table: AWS and every cloud like it.

A type's row says what its name may look like, what id and outputs it gets, which names may exist once, which inputs
force a replacement, what must exist before it and what keeps it from being deleted. A type without a row behaves as the
SDK's class says: its inputs come back, and every output that is always set gets a plausible value.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from automation.rehearsal.aftermath import register_cluster, remove
from automation.rehearsal.provider import naming, plausible
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
        return difference(olds, news, self._table.facts.get("provider_replaces", ()), delete_first=False)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Take the settings; the place is required, credentials are never looked at."""
        config = settings(config)
        place = self._table.facts.get("place", {})
        if place and not config.get(place["property"]):
            raise Refused(place["missing"])
        self._config = config

    def _where(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Name the account and the place that a resource belongs to."""
        place = self._table.facts.get("place", {})
        region = plain(inputs.get("region")) or self._config.get(place.get("property", ""), "")
        account = self._table.facts.get("account", "")
        return {"region": region if isinstance(region, str) else "", "account": account, "config": self._config}

    def _scope(self, facts: Mapping[str, Any], where: Mapping[str, Any]) -> str:
        parts = [self._table.package, where["account"]]
        return "/".join(parts if facts.get("scope") == "account" else [*parts, where["region"]])

    def _strike(self, call: str, target: Target, inputs: Mapping[str, Any], *, preview: bool = False) -> Call:
        name = lookup(dict(inputs), self._table.type(target.type).get("name", {}).get("property", "name"))
        request = Call(
            package=self._table.package,
            type=target.type,
            call=call,
            urn=target.urn,
            names=(name,) if isinstance(name, str) else (),
            region=self._where(inputs)["region"],
            preview=preview,
        )
        self._world.faults.strike(request, texts=self._table.facts.get("failures", {}))
        return request

    # -- the resource protocol -----------------------------------------------------------------------------------------

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check inputs by the SDK's rules and give the resource a name if it needs one."""
        self._strike("check", target, news)
        rules = self._world.rules.of(target.type)
        if rules is None:
            return news, [Failure("", f"the {self._table.package} SDK has no resource type {target.type}")]
        failures = check(news, rules)
        name = self._table.type(target.type).get("name") or naming.by_convention(rules)
        news, named = naming.assign(target.name, name, olds, news, seed)
        return news, [*failures, *named]

    def diff(self, target: Target, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Compare inputs; a name that was chosen by hand and stays makes the replacement delete first."""
        facts = self._table.type(target.type)
        own = facts.get("name", {}).get("property", "name")
        kept = own in facts.get("immutable", {}) and own in news and own not in (news.get("__defaults") or ())
        delete_first = facts.get("delete_first", False) or (kept and plain(olds.get(own)) == plain(news[own]))
        return difference(olds, news, tuple(facts.get("immutable", ())), delete_first=delete_first)

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Create a resource."""
        inputs = without_nulls(inputs)
        call = self._strike("create", target, inputs, preview=preview)
        if preview:
            return Live(id="", outputs=self._preview(target, inputs))
        facts, where = self._table.type(target.type), self._where(inputs)
        with self._world.store.transaction() as transaction:
            ordinal = transaction.ordinal(f"{target.urn}/{self._scope(facts, where)}")
            seed = hashlib.sha256(f"{target.urn}|{where['region']}|{ordinal}".encode()).hexdigest()
            context = self._context(transaction, target, inputs, where, seed)
            self._require(transaction, facts, context, where)
            identifier = SIMULATED + str(context.render(facts.get("id", "{hex:17}")))
            context = replace(context, values={**context.values, "id": identifier})
            outputs = self._outputs(target, inputs, context, {})
            row = Row(
                package=self._table.package,
                type=target.type,
                scope=self._scope(facts, where),
                id=identifier,
                claim=self._claim(target, facts, context),
                name=str(context.values["name"] or identifier),
                urn=target.urn,
                created="",
                inputs=self._world.store.seal(inputs),
                outputs=self._world.store.seal(outputs),
            )
            try:
                transaction.insert(row)
            except Taken as error:
                text = facts.get("taken", "{type}: the name {name} is in use already")
                raise Refused(str(context.render(text))) from error
            if "cluster" in facts:
                seen = replace(context, values={**context.values, "out": outputs})
                register_cluster(transaction, row, seen.render(facts["cluster"]))
        return self._settle(call, Live(id=identifier, outputs=outputs), verb="creating")

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Read a resource, putting back the secrets that the engine showed."""
        self._ours(target.id)
        self._strike("read", target, inputs)
        with self._world.store.reading() as transaction:
            row = self._find(transaction, target, inputs or outputs)
        if row is None:
            return None
        store = self._world.store
        kept = store.unseal(row.inputs, inputs, outputs)
        return Live(id=row.id, outputs=store.unseal(row.outputs, outputs, inputs), inputs=kept)

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Change a resource in place."""
        self._ours(target.id)
        inputs = without_nulls(inputs)
        call = self._strike("update", target, inputs, preview=preview)
        facts, where = self._table.type(target.type), self._where(inputs)
        if preview:
            with self._world.store.reading() as transaction:
                context = self._context(transaction, target, inputs, where, target.id)
            outputs = self._outputs(target, inputs, context, olds)
            return mark_like({**outputs, **dict.fromkeys(facts.get("unstable", ()), UNKNOWN)}, inputs)
        with self._world.store.transaction() as transaction:
            row = self._find(transaction, target, inputs)
            if row is None:
                raise Refused(self._gone(target))
            context = self._context(transaction, target, inputs, where, row.id, old=row.outputs)
            outputs = self._outputs(target, inputs, context, self._world.store.unseal(row.outputs, olds))
            sealed = self._world.store.seal
            transaction.update(replace(row, inputs=sealed(inputs), outputs=sealed(outputs)))
        return self._settle(call, Live(id=target.id, outputs=outputs), verb="updating").outputs

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Delete a resource, unless something depends on it."""
        self._ours(target.id)
        self._strike("delete", target, outputs)
        with self._world.store.transaction() as transaction:
            row = self._find(transaction, target, outputs)
            if row is None:
                return
            self._unblocked(transaction, row)
            remove(transaction, row)

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Answer a function from the table."""
        shape = self._table.facts.get("functions", {}).get(token)
        if shape is None:
            raise Refused(f"{token} is not simulated; a program should not ask clouds while it is planned")
        where = self._where(arguments)
        filled: dict[str, Any] = Context({**where, "in": plain(arguments)}, seed=token).render(shape)
        return {**arguments, **filled}

    # -- helpers -------------------------------------------------------------------------------------------------------

    def _ours(self, identifier: str) -> None:
        if not identifier.startswith(SIMULATED):
            raise Refused(f"the id {identifier!r} belongs to a real cloud, and this run is simulated")

    def _find(self, transaction: Transaction, target: Target, bag: Mapping[str, Any]) -> Row | None:
        scope = self._scope(self._table.type(target.type), self._where(bag))
        return transaction.find(self._table.package, target.type, scope, target.id)

    def _gone(self, target: Target) -> str:
        text: str = self._table.facts.get("failures", {}).get("gone", "{type} {name} does not exist")
        return text.format(type=target.type, name=target.id, call="update", region="", kind="gone")

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
        values = {**where, "in": bare, "old": dict(old or {}), "name": name, "id": target.id or None,
                  "type": target.type, "logical": target.name, "urn": target.urn}  # fmt: skip
        package = self._table.package

        def find(type_: str) -> Iterator[Mapping[str, Any]]:
            return ({**row.outputs, "id": row.id} for row in transaction.select(package=package, type_=type_))

        return Context(values, seed, find)

    def _outputs(
        self, target: Target, inputs: dict[str, Any], context: Context, old: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Complete inputs to outputs; in an update what the cloud had computed before stays, unless it is unstable."""
        facts = self._table.type(target.type)
        computed: dict[str, Any] = {}
        for key, template in facts.get("computed", {}).items():
            keep = key in old and key not in facts.get("unstable", ())
            computed[key] = plain(old[key]) if keep else context.render(template)
        rules = self._world.rules.of(target.type)
        guessed = plausible.outputs(rules, {**inputs, **computed}, context) if rules else {}
        guessed.update({key: plain(old[key]) for key in guessed if key in old})
        base = merge(merge(guessed, computed), {**facts.get("defaults", {}), **self._tags(rules, inputs)})
        outputs: dict[str, Any] = merge(base, plain(_public(inputs)))
        marks = {**inputs, **{key: old[key] for key in computed if key in old}}
        return mark_like(outputs, marks)

    def _preview(self, target: Target, inputs: dict[str, Any]) -> dict[str, Any]:
        """Say what is known before creation: inputs and defaults; what the cloud computes is unknown."""
        facts, rules = self._table.type(target.type), self._world.rules.of(target.type)
        guessed = plausible.names(rules, inputs) if rules else ()
        unknown = {**dict.fromkeys(guessed, UNKNOWN), **_unknown_leaves(facts.get("computed", {}))}
        known = {**facts.get("defaults", {}), **self._tags(rules, inputs)}
        bare = plain(_public(inputs))
        return mark_like(merge(merge(unknown, known), bare), inputs)

    def _tags(self, rules: Mapping[str, Any] | None, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Join the provider's default tags with the resource's own, where the type has a place for the result."""
        place = self._table.facts.get("tags")
        if not place or not rules or place["all"] not in rules["outputs"]:
            return {}
        defaults = lookup(self._config, place["defaults"]) or {}
        own = plain(inputs.get(place["own"])) or {}
        return {place["all"]: {**defaults, **own} if isinstance(own, dict) else UNKNOWN}

    def _require(
        self, transaction: Transaction, facts: Mapping[str, Any], context: Context, where: Mapping[str, Any]
    ) -> None:
        """Refuse a creation that points at something that does not exist."""
        for need in facts.get("needs", ()):
            wanted = context.render(need["value"])
            for value in wanted if isinstance(wanted, list) else [wanted]:
                if value is not None and not self._exists(transaction, need, value, where):
                    text = replace(context, values={**context.values, "value": value}).render(need["error"])
                    raise Refused(str(text))

    def _exists(self, transaction: Transaction, need: Mapping[str, Any], value: Any, where: Mapping[str, Any]) -> bool:
        scope = self._scope(self._table.type(need["type"]), where)
        rows = transaction.select(package=self._table.package, type_=need["type"], scope=scope)
        return any(value in (row.id, lookup(row.outputs, need.get("by", "id"))) for row in rows)

    def _claim(self, target: Target, facts: Mapping[str, Any], context: Context) -> str | None:
        if "unique" not in facts:
            return None
        claim = context.render(facts["unique"])
        return None if claim is None else f"{target.type}|{claim}"

    def _unblocked(self, transaction: Transaction, row: Row) -> None:
        """Refuse a deletion while another live resource uses this one."""
        values = {"id": row.id, "name": row.name, "out": row.outputs, "in": row.inputs, "type": row.type}
        for block in self._table.type(row.type).get("blocked_by", ()):
            context = Context(values, seed=row.id)
            wanted = context.render(block.get("equals", "{id}"))
            for other in transaction.select(package=self._table.package, type_=block["type"]):
                used = list(_values_at(other.outputs, block["property"]))
                if wanted is not None and wanted in used and not _excused(other, block):
                    values = {**values, "other": other.id, "othername": other.name}
                    raise Refused(str(Context(values, seed=row.id).render(block["error"])))

    def _settle(self, call: Call, live: Live, *, verb: str) -> Live:
        reasons = self._world.faults.unready(call)
        if reasons:
            name = call.names[0] if call.names else call.logical
            summary = f"{verb} {call.type} ({name}): {reasons[0]}"
            raise NotReady(summary, id_=live.id, outputs=live.outputs, reasons=reasons)
        return live


def _internal(key: str) -> bool:
    return key.startswith("__") or key in {"version", "pluginDownloadURL"}


def _public(bag: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in bag.items() if not key.startswith("__")}


def _unknown_leaves(template: Any) -> Any:
    if isinstance(template, dict) and not any(key.startswith("$") for key in template):
        return {key: _unknown_leaves(value) for key, value in template.items()}
    return UNKNOWN


def _values_at(outputs: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path; ``*`` stands for every item of a list, and a list at the end gives its items."""
    head, _, rest = path.partition(".")
    if head == "*":
        for item in outputs if isinstance(outputs, list) else ():
            yield from _values_at(item, rest) if rest else [item]
        return
    value = outputs.get(head) if isinstance(outputs, dict) else None
    if rest:
        yield from _values_at(value, rest)
    elif isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _excused(other: Row, block: Mapping[str, Any]) -> bool:
    unless = block.get("unless", {})
    return any(lookup(other.outputs, path) == value for path, value in unless.items())
