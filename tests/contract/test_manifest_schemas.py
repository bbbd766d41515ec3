"""A manifest that was valid stays valid: the schemas of all kinds are pinned, and a narrower one is refused.

A schema may take more than its pin (a new field, a wider bound); the pin is then renewed. One that takes less breaks
somebody's manifests, and no renewal helps: it needs a new apiVersion.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from automation.cli.examples_of import examples_of
from components.api.kinds import ALL_KINDS
from components.api.schema import schema
from tests.support import pinned
from tests.support.narrowing import narrowings

PINS: Final = Path(__file__).parent / "schemas" / "manifests"


def check(kind: str, made: dict[str, Any]) -> None:
    """Fail when a schema is narrower than its pin, whatever is being renewed; then when it is another."""
    pin = PINS / f"{kind}.json"
    if pin.exists():
        lost = narrowings(json.loads(pin.read_text(encoding="utf-8")), made)
        assert not lost, (
            f"The schema of {kind} was narrowed: manifests that were valid would be refused. Take the change back, or"
            " give it a new apiVersion; renewing pins does not help here.\n" + "\n".join(lost)
        )
    text = json.dumps(made, indent=1, sort_keys=True) + "\n"
    pinned.check(pin, text, meaning=f"The schema of {kind} changed, and takes all that it took before.")


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_schemas_of_manifests_are_pinned_and_never_narrowed(kind: str) -> None:
    """Every kind, those that machines write too."""
    check(kind, schema(kind))


def test_every_kind_has_a_pin_and_nothing_else_has() -> None:
    """A kind that is gone leaves its pin behind, which says that it may not go."""
    assert {file.stem for file in PINS.glob("*.json")} == set(ALL_KINDS)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_schema_is_one_and_describes_its_fields(kind: str) -> None:
    """The validator of the dialect accepts it, and each field says what it is for."""
    made = schema(kind)
    Draft202012Validator.check_schema(made)
    for part in (made, *made["$defs"].values()):
        assert all(prop.get("description") for prop in part["properties"].values())


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_example_fits_its_schema(kind: str) -> None:
    """What the reference shows, an editor marks nothing in."""
    validator = Draft202012Validator(schema(kind))
    for text in examples_of(kind):
        for document in yaml.safe_load_all(text):
            errors = [error.message for error in validator.iter_errors(document)]
            assert errors == []


Change = Callable[[dict[str, Any]], None]


def spec(made: dict[str, Any], definition: str = "ModelDeploymentSpec") -> dict[str, Any]:
    """Return a definition of a schema."""
    found: dict[str, Any] = made["$defs"][definition]
    return found


def closed(made: dict[str, Any]) -> None:
    """Forbid a field under the predecessor's apiVersion."""
    made["then"]["properties"]["spec"]["properties"]["template"] = False


NARROWER: Final[dict[str, tuple[Change, str]]] = {
    "a field goes": (lambda made: spec(made)["properties"].pop("surge"), ".spec.surge: the field is gone"),
    "a field becomes required": (lambda made: spec(made)["required"].append("surge"), ".spec.surge: it is required"),
    "a lower maximum": (
        lambda made: spec(made)["properties"]["replicas"].update(maximum=100),
        ".spec.replicas: maximum falls from 2147483647 to 100",
    ),
    "a higher minimum": (
        lambda made: spec(made)["properties"]["replicas"].update(minimum=1),
        ".spec.replicas: minimum rises from 0 to 1",
    ),
    "a bound where none was": (
        lambda made: spec(made, "Container")["properties"]["args"].update(maxItems=9),
        ".args: maxItems falls from none to 9",
    ),
    "a choice goes": (
        lambda made: spec(made, "Serving")["properties"]["mode"]["enum"].remove("PrefillDecode"),
        "'PrefillDecode' is not accepted any more",
    ),
    "free text becomes a choice": (
        lambda made: spec(made, "Container")["properties"]["image"].update(enum=["a"]),
        ".image: only 'a' is accepted now",
    ),
    "another type": (
        lambda made: spec(made)["properties"]["replicas"].update(type="string"),
        ".spec.replicas: integer is not accepted any more",
    ),
    "a pattern": (
        lambda made: spec(made, "Container")["properties"]["image"].update(pattern="^a"),
        ".image: the pattern is another",
    ),
    "a map is closed": (
        lambda made: spec(made, "ReplicaMetadata")["properties"]["labels"].update(additionalProperties=False),
        ".labels: fields of any other name are not accepted",
    ),
    "nothing may be absent": (
        lambda made: spec(made, "Container")["properties"]["image"].update(minLength=9),
        ".image: minLength rises from 1 to 9",
    ),
    "the predecessor loses a field": (closed, "under modelplane.ai.spec.template: nothing is accepted"),
    "the predecessor's bound falls": (
        lambda made: made["then"]["properties"]["spec"]["properties"]["replicas"].update(maximum=5),
        "under modelplane.ai.spec.replicas: maximum falls from 10 to 5",
    ),
    "an apiVersion goes": (
        lambda made: made["properties"]["apiVersion"]["enum"].remove("modelplane.ai/v1alpha1"),
        ".apiVersion: 'modelplane.ai/v1alpha1' is not accepted any more",
    ),
    "a rule between fields": (
        lambda made: spec(made, "Member")["allOf"].append({"required": ["worker"]}),
        'a rule is new, {"required": ["worker"]}',
    ),
    "keys of a map": (
        lambda made: spec(made, "ReplicaMetadata")["properties"]["labels"].update(propertyNames={"maxLength": 9}),
        '.labels: propertyNames is new or another, {"maxLength": 9}',
    ),
    "a value is taken out": (
        lambda made: spec(made, "Container")["properties"]["image"].update({"not": {"const": "a"}}),
        '.image: not is new or another, {"const": "a"}',
    ),
    "an alternative goes": (
        lambda made: spec(made, "Member")["properties"]["worker"].update(anyOf=[{"type": "null"}]),
        ".worker: object is not accepted any more",
    ),
}


@pytest.mark.parametrize("name", NARROWER)
def test_a_narrower_schema_fails_and_says_what_was_lost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even while pins are being renewed."""
    change, says = NARROWER[name]
    made = copy.deepcopy(schema("ModelDeployment"))
    change(made)
    pin = (PINS / "ModelDeployment.json").read_bytes()
    for renew in ("0", "1"):
        monkeypatch.setenv(pinned.RENEW, renew)
        with pytest.raises(AssertionError, match="was narrowed: manifests that were valid would be refused") as raised:
            check("ModelDeployment", made)
        assert says in str(raised.value)
    assert (PINS / "ModelDeployment.json").read_bytes() == pin


def own(made: dict[str, Any]) -> None:
    """Add a field of Berth's own."""
    spec(made, "ReplicaSpec")["properties"]["fresh"] = {"type": "string", "description": "New."}
    inner = made["then"]["properties"]["spec"]["properties"]
    inner["template"] = {"properties": {"spec": {"properties": {"fresh": False}}}}


WIDER: Final[dict[str, Change]] = {
    "a new field": lambda made: spec(made)["properties"].update(fresh={"type": "string"}),
    "a new field of Berth's own": own,
    "a field need not be there any more": lambda made: spec(made)["required"].remove("replicas"),
    "a higher maximum": lambda made: spec(made)["properties"]["replicas"].update(maximum=2**40),
    "a rule between fields goes": lambda made: spec(made, "Member")["allOf"].clear(),
    "a bound goes": lambda made: spec(made)["properties"]["replicas"].pop("minimum"),
    "a new choice": lambda made: spec(made, "Serving")["properties"]["mode"]["enum"].append("Other"),
    "a number instead of a whole one": lambda made: spec(made)["properties"]["replicas"].update(type="number"),
    "other words": lambda made: spec(made)["properties"]["replicas"].update(description="Copies."),
    "an alternative more": lambda made: spec(made, "Member")["properties"]["worker"]["anyOf"].append(
        {"type": "string"}
    ),
}


@pytest.mark.parametrize("name", WIDER)
def test_a_wider_schema_is_only_renewed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure says that nothing was lost, and how to renew."""
    monkeypatch.delenv(pinned.RENEW, raising=False)
    made = copy.deepcopy(schema("ModelDeployment"))
    WIDER[name](made)
    assert narrowings(schema("ModelDeployment"), made) == []
    with pytest.raises(AssertionError, match="takes all that it took before"):
        check("ModelDeployment", made)
