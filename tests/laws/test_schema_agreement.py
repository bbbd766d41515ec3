"""Law of the JSON Schemas: what a schema takes the models take, and the reverse.

L6 A schema and its model give one verdict on every object whose fields are mixed freely, right and wrong, with ``null``
for what is absent; but for what JSON Schema cannot say, each with its reason.
"""

import copy
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from components.api.base import Metadata, Model, Ruled
from components.api.codes import Code
from components.api.kinds import ALL_KINDS
from components.api.schema import schema
from components.api.shape import FieldShape, shape
from tests.support.comparisons import compared
from tests.support.model_documents import OBJECTS, VALUES

UNSAID: Final[dict[Code, str]] = {
    Code.LIST_DUPLICATE: "JSON Schema compares whole items, and not one field of them",
    Code.NETWORK_INVALID: "whether ranges overlap or nest is arithmetic",
    Code.REFERENCE_MISSING: "JSON Schema cannot look a name up elsewhere in the document",
    Code.VALUE_OUT_OF_RANGE: "JSON Schema cannot compare two values of a document",
    Code.ZONE_INVALID: "whether a zone lies in a region compares two values",
}
"""What only the models refuse, by the code of the problem."""


COMPARING: Final = frozenset(
    {
        "AKSClusterSpec",
        "AksNetwork",
        "Container",
        "EKSClusterSpec",
        "EksNetwork",
        "EnvironmentSpec",
        "GKEClusterSpec",
        "GkeNetwork",
        "InferenceClassSpec",
        "InferenceClusterSpec",
        "ModelDeploymentSpec",
        "ModelReplicaSpec",
        "NebiusClusterSpec",
        "NodePool",
        "NodeSelector",
        "PlacedMember",
        "PodSecurityContext",
        "PodSpec",
        "Policies",
        "Promotion",
        "Registry",
        "ReplicaSpec",
        "Resources",
        "ServiceTimeouts",
        "StackGateway",
        "VultrClusterSpec",
    }
)
"""The models that have rules between values, which only the models know."""


@cache
def holders() -> dict[type[Model], str]:
    """Return every model with one kind that it is part of."""
    found: dict[type[Model], str] = {}

    def walk(model: type[Model], kind: str) -> None:
        for field in shape(model).values():
            if field.model is not None and field.model not in found:
                found[field.model] = kind
                walk(field.model, kind)

    for kind, model in ALL_KINDS.items():
        walk(model, kind)
    return found


@cache
def validator(model: type[Model]) -> Any:
    """Return a validator of one model alone."""
    whole = schema(holders()[model], later=True)
    return Draft202012Validator({"$ref": f"#/$defs/{model.__name__}", "$defs": whole["$defs"]})


def without_nothing(value: Any) -> Any:
    """Leave out what has no value, as the loader does."""
    if isinstance(value, dict):
        return {key: without_nothing(inner) for key, inner in value.items() if inner is not None}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


def broken(model: type[Model], value: Any) -> set[str]:
    """Return the codes, or the types, of everything that a model refuses."""
    if issubclass(model, Metadata) and not ALL_KINDS[holders()[model]].NAMESPACED:
        value = {key: each for key, each in value.items() if key != "namespace"}  # it has no effect there
    try:
        model.model_validate(without_nothing(value), by_alias=True, by_name=False)
    except ValidationError as error:
        return {str((each.get("ctx") or {}).get("code", each["type"])) for each in error.errors()}
    return set()


def choices(field: FieldShape) -> list[Any]:
    """Return the values that a field is tried with: those of the samples, its choices, and some that are wrong."""
    texts = ["", "a", "A b", "system", "engine", "80GB", "9.0", "a.b/c", "..", "modelplane.ai/x"]
    return [
        *texts,
        0,
        1,
        2000,
        True,
        False,
        None,
        [],
        {},
        ["a", "a"],
        {"modelplane.ai/x": "a"},
        {"a b": "c"},
        *_enum(field),
    ]


def _enum(field: FieldShape) -> list[Any]:
    return [each for each in getattr(field.info.annotation, "__args__", ()) if isinstance(each, str)]


@st.composite
def mixtures(draw: st.DrawFn, model: type[Model]) -> Any:
    """Generate an object that begins as a sample's and has some fields taken away, set to nothing, or set otherwise."""
    made = copy.deepcopy(draw(st.sampled_from(OBJECTS[model])))
    for name in draw(st.lists(st.sampled_from(sorted(shape(model))), max_size=4)):
        field = shape(model)[name]
        known = VALUES.get(model, {}).get(name, [])
        way = draw(st.sampled_from(["away", "known", "known", "other"]))
        if way == "away":
            made.pop(name, None)
        else:
            made[name] = copy.deepcopy(draw(st.sampled_from(known if way == "known" and known else choices(field))))
    return made


@pytest.mark.fuzz
@pytest.mark.parametrize("model", holders(), ids=lambda model: model.__name__)
@given(data=st.data())
@compared(15)
def test_a_schema_and_its_model_give_one_verdict(model: type[Model], data: st.DataObject) -> None:
    """L6: every model, whatever its fields hold together."""
    made = data.draw(mixtures(model))
    found = broken(model, made)
    accepted = validator(model).is_valid(made)
    if accepted and found and found <= set(UNSAID):
        return
    assert accepted == (not found), (made, found, [error.message for error in validator(model).iter_errors(made)])


def test_only_rules_that_compare_have_no_face_in_a_schema() -> None:
    """A model whose rules could be said in JSON Schema says them as ``CONDITIONS``."""
    plain = {model.__name__ for model in holders() if issubclass(model, Ruled) and "rules" in vars(model)}
    assert plain == COMPARING
