"""JSON Schemas: valid themselves, accept what the loader accepts, and refuse what it refuses."""

from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from components.api.kinds import KINDS
from components.api.schema import schema
from tests.support.api_manifests import FILES, OWN, Edit, files

VALIDATORS = {kind: Draft202012Validator(schema(kind)) for kind in KINDS}


def documents(found: dict[str, bytes]) -> list[Any]:
    """Read every document of the files as plain values."""
    return [document for content in found.values() for document in yaml.safe_load_all(content)]


def valid(document: Any) -> bool:
    """Whether a document fits its kind's schema."""
    return bool(VALIDATORS[document["kind"]].is_valid(document))


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    """The validator of the dialect accepts it, and it says what it is for."""
    made = schema(kind)
    Draft202012Validator.check_schema(made)
    assert made["title"] == kind
    assert made["description"]
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_is_described(kind: str) -> None:
    """Editors show the models' own documentation."""
    made = schema(kind)
    for part in (made, *made["$defs"].values()):
        for name, prop in part["properties"].items():
            assert prop.get("description"), name
            assert "title" not in prop


def test_valid_documents_fit() -> None:
    """Everything that the sample environment holds."""
    for document in documents(files()):
        assert valid(document), document["kind"]


BAD = [
    Edit("east", "nodeCount: 2", 'nodeCount: "2"'),
    Edit("qwen", "replicas: 2", "repilcas: 2"),
    Edit("qwen", "replicas: 2", "replicas: 11"),
    Edit("qwen", "replicas: 2", "replicas: 2\n  surge: {}"),
    Edit("qwen", "replicas: 2", "replicas: 2\n  priority: 1"),
    Edit("east", "region: us-east-1", "region: us-east-1\n      network: {}"),
    Edit("east", "effect: NoSchedule", "effect: noschedule"),
    Edit("edge", "name: edge\n", "name: Edge\n"),
    Edit("environment", "layout: Single", "budget: {}"),
    Edit("cache", "sizeGiB: 40", "sizeGiB: 0"),
]


@pytest.mark.parametrize("edit", BAD, ids=lambda edit: edit.new)
def test_mistakes_of_one_field_do_not_fit(edit: Edit) -> None:
    """What an editor can mark, it marks."""
    assert not all(valid(document) for document in documents(files(edit)))


OWN_FIELDS = [
    ("qwen", "replicas: 2", "replicas: 2000\n  surge: {allowGap: true}"),
    ("east", "spec:", "spec:\n  removing: true\n  release: x"),
    ("east", "region: us-east-1", "region: us-east-1\n      network: {vpcCidr: 10.0.0.0/16}"),
]


@pytest.mark.parametrize(("file", "old", "new"), OWN_FIELDS)
def test_berth_s_own_fields_fit_under_its_own_apiversion(file: str, old: str, new: str) -> None:
    """And only there."""
    own = (Edit(file, *OWN), Edit(file, old, new))
    assert all(valid(document) for document in documents(files(*own)))
    assert not all(valid(document) for document in documents(files(own[1])))


def test_a_schema_s_text_depends_on_its_meaning_alone() -> None:
    """Made twice it is equal, and its keys are sorted."""
    for kind in KINDS:
        made = schema(kind)
        assert made == schema(kind)
        assert list(made["properties"]) == sorted(made["properties"])


def test_an_unknown_kind_has_no_schema() -> None:
    """The caller offers near matches."""
    with pytest.raises(KeyError):
        schema("Nothing")


def test_the_sample_covers_every_kind() -> None:
    """No kind goes untested here."""
    assert {document["kind"] for content in FILES.values() for document in yaml.safe_load_all(content)} == set(KINDS)
