"""The tables are sound: every type, path, source and reference in them exists."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from automation.rehearsal.provider.kinds import kind_of
from automation.rehearsal.provider.rules import file_name
from automation.rehearsal.provider.table import DATA, load_table, packages

AWS, KUBERNETES = load_table("aws"), load_table("kubernetes")
TYPES = sorted(AWS.facts["types"])
KINDS = sorted(KUBERNETES.facts["kinds"])
CONTROLLERS_MAKE = {"aws:lb/loadBalancer:LoadBalancer", "aws:ebs/volume:Volume", "aws:efs/accessPoint:AccessPoint"}


@pytest.fixture(scope="session")
def rules(installed: Path, rules_folder: Path) -> Mapping[str, Any]:
    """Read what was derived for every type of the tables when the providers were installed."""
    assert installed.is_dir()
    found = {}
    for table in (AWS, KUBERNETES):
        folder = next(rules_folder.glob(f"{table.package}-*"))
        found.update({token: json.loads((folder / file_name(token)).read_text()) for token in table.tokens})
    return found


def has(rules: Mapping[str, Any], path: str, *, outputs: bool = False) -> bool:
    """Say whether a type has a property at a dotted path."""
    fields = rules["outputs" if outputs else "inputs"]
    for part in path.split("."):
        if fields is None:
            return True  # below a map any key may stand
        if part not in fields:
            return False
        kind = fields[part][0]
        kind = kind["list"] if isinstance(kind, dict) and "list" in kind else kind
        is_map = isinstance(kind, dict) and "map" in kind
        fields = (
            rules["objects"][kind["object"]] if isinstance(kind, dict) and "object" in kind else None if is_map else {}
        )
    return True


def inputs_named_in(value: Any) -> Iterator[str]:
    """Yield the input paths that templates read."""
    if isinstance(value, dict):
        for item in value.values():
            yield from inputs_named_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from inputs_named_in(item)
    elif isinstance(value, str):
        for piece in value.split("{in.")[1:]:
            path = piece.partition("}")[0]
            yield ".".join(part for part in path.split(".") if not part.isdigit())


def test_every_table_is_installed_by_its_file_name() -> None:
    """The built-in clouds are these."""
    assert packages() == ("aws", "kubernetes")
    assert all(load_table(package).style in {"catalog", "kubernetes"} for package in packages())
    assert DATA.is_dir()


@pytest.mark.parametrize("token", TYPES)
def test_rows_name_types_and_properties_that_exist(token: str, rules: Mapping[str, Any]) -> None:
    """A misspelt property in a table would never match and never be missed."""
    row, known = AWS.facts["types"][token], rules[token]
    assert known is not None
    inputs = [*row.get("immutable", ()), *row.get("sets", ()), *inputs_named_in(row)]
    inputs += [row["name"]["property"]] if "name" in row else []
    inputs += [path for rule in row.get("constraints", ()) for path in rule.get("paths", ())]
    assert [path for path in inputs if not has(known, path)] == []
    outputs = [*row.get("computed", ()), *row.get("defaults", ()), *row.get("unstable", ())]
    assert [path for path in outputs if not has(known, path, outputs=True)] == []


@pytest.mark.parametrize("token", TYPES)
def test_every_immutable_input_has_a_source(token: str) -> None:
    """Each is somebody's documented fact, in the list of sources."""
    sources = AWS.facts["sources"]
    used = {**AWS.facts["types"][token].get("immutable", {}), **AWS.facts["immutable"]}
    assert [path for path, source in used.items() if not sources.get(source)] == []


@pytest.mark.parametrize("token", TYPES)
def test_relations_lead_to_types_of_the_table(token: str, rules: Mapping[str, Any]) -> None:
    """What is needed or blocks has a row, or is made by controllers, and has the property that is looked at."""
    row = AWS.facts["types"][token]
    for relation in (*row.get("needs", ()), *row.get("blocked_by", ())):
        type_ = relation["type"]
        assert type_ in AWS.facts["types"] or type_ in CONTROLLERS_MAKE
        path = relation.get("property") or relation.get("by")
        if path and type_ not in CONTROLLERS_MAKE:
            assert has(rules[type_], path, outputs=True), (type_, path)
        assert relation["error"]


def test_no_source_is_unused() -> None:
    """A source that nothing cites was left over from a row that is gone."""
    for table, rows in ((AWS, AWS.facts["types"]), (KUBERNETES, KUBERNETES.facts["kinds"])):
        cited = {*table.facts.get("immutable", {}).values(), *table.facts.get("retried", {}).values()}
        for row in rows.values():
            cited |= {*row.get("immutable", {}).values(), *row.get("refused", {}).values()}
            cited |= {block["source"] for block in row.get("blocked_by", ()) if "source" in block}
            cited |= {row.get("cluster", {}).get("load_balancer", {}).get("prefer", {}).get("source", "")} - {""}
        assert set(table.facts["sources"]) == cited


@pytest.mark.parametrize("key", KINDS)
def test_kinds_name_properties_that_exist(key: str, rules: Mapping[str, Any]) -> None:
    """Paths of kinds that the SDK knows are properties of theirs, and all have a source."""
    row = KUBERNETES.facts["kinds"][key]
    paths = {**row.get("immutable", {}), **row.get("refused", {})}
    assert [path for path, source in paths.items() if not KUBERNETES.facts["sources"].get(source)] == []
    tokens = [token for token in KUBERNETES.facts["sdk_types"] if kind_of(token, KUBERNETES).key == key]
    for token in tokens:
        assert [path for path in (*paths, *inputs_named_in(row)) if not has(rules[token], path)] == []


@pytest.mark.parametrize("token", KUBERNETES.facts["sdk_types"])
def test_kinds_of_the_sdk_are_derived(token: str, rules: Mapping[str, Any]) -> None:
    """What is derived at installation exists in the SDK, and cluster-wide kinds are known as such."""
    assert rules[token] is not None
    kind = kind_of(token, KUBERNETES)
    assert kind.namespaced is (kind.key not in KUBERNETES.facts["cluster_scoped"])
