"""The schema of all manifests in one: an editor that knows no kind beforehand gets the same answers."""

from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from automation.cli.examples_of import examples_of
from automation.render.manifest_schema import manifest_schema
from components.api.kinds import KINDS

VALIDATOR = Draft202012Validator(manifest_schema())


def documents(kind: str) -> list[Any]:
    """Read the examples of a kind."""
    return [document for text in examples_of(kind) for document in yaml.safe_load_all(text)]


def test_it_is_a_schema() -> None:
    """By the standard's own rules, and every reference leads somewhere."""
    made = manifest_schema()
    Draft202012Validator.check_schema(made)
    names = set(made["$defs"])

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return [*own, *(found for each in value.values() for found in references(each))]
        return [found for each in value for found in references(each)] if isinstance(value, list) else []

    found = set(references(made))
    assert found
    assert {each.removeprefix("#/$defs/") for each in found} <= names | {"#"}


@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_every_example_and_refuses_a_misspelt_field(kind: str) -> None:
    """As the schema of the kind alone does; the message is about that kind only."""
    for document in documents(kind):
        assert VALIDATOR.is_valid(document), [error.message for error in VALIDATOR.iter_errors(document)]
        document["spec"]["nope"] = 1
        (error,) = VALIDATOR.iter_errors(document)
        assert "nope" in error.message
        assert VALIDATOR.is_valid({"apiVersion": "v1", "kind": "List", "items": [document]}) is False


def test_it_refuses_a_kind_that_nobody_writes() -> None:
    """An editor marks it."""
    assert not VALIDATOR.is_valid({"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeploymnt"})
