"""The documents that machines read: schemas of the lock, of a stack's outputs, and of what verbs print.

A failure means that a change breaks users: their scripts, their other stacks and their reviewed locks rest on these.
Inside a version a field may be added; one that goes, gets another type or becomes required needs a new version.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from automation.cli.schema import all_schemas
from automation.document.snapshot_document import SnapshotDocument
from automation.render import manifest_views, views
from automation.render.capacity import CapacityView
from automation.render.observation import ObservationView
from automation.render.preflight import PreflightView
from automation.render.schedule_view import ScheduleView
from automation.render.what_if import WhatIfView
from components.api.kinds import ALL_KINDS
from components.lock import NamespaceLock, PlatformLock
from stacks.outputs import StackOutputs
from tests.support import pinned
from tests.support.samples import DEV_CACHES, DEV_PLACED, environment_files, fleet_of, lock_of

PINS: Final = Path(__file__).parent / "schemas"
DOCUMENTS: Final = sorted(all_schemas().keys() - {*ALL_KINDS, "Manifest"})
MODELS: Final = (
    NamespaceLock,
    PlatformLock,
    StackOutputs,
    views.PlanView,
    views.UpView,
    views.StatusView,
    views.ExplanationView,
    SnapshotDocument,
    ScheduleView,
    CapacityView,
    WhatIfView,
    ObservationView,
    PreflightView,
    views.DriftView,
    views.DestroyedView,
    manifest_views.ConversionView,
    manifest_views.FieldHelpView,
    manifest_views.ValidationView,
)


def paths(schema: Any, *, at: str = "") -> Iterator[str]:
    """Yield every property with its type, and what is required: the parts that readers and writers rest on."""
    if isinstance(schema, Mapping):
        for name, each in (schema.get("properties") or {}).items():
            yield f"{at}.{name}: {json.dumps(_typed(each), sort_keys=True)}"
        for name in schema.get("required") or ():
            yield f"{at}.{name}: required"
        for name, each in (schema.get("$defs") or {}).items():
            yield from paths(each, at=name)


def _typed(schema: Any) -> Any:
    """Leave out what only people read."""
    if isinstance(schema, Mapping):
        return {key: _typed(each) for key, each in schema.items() if key not in {"title", "description"}}
    return [_typed(each) for each in schema] if isinstance(schema, list) else schema


def meaning(name: str, schema: Any) -> str:
    """Say what is gone and what is new against the pinned schema."""
    file = PINS / f"{name}.json"
    old = set(paths(json.loads(file.read_text(encoding="utf-8")))) if file.exists() else set()
    new = set(paths(schema))
    gone, added = "\n".join(sorted(old - new)) or "nothing", "\n".join(sorted(new - old)) or "nothing"
    return (
        f"The schema of {name} changed. What is gone or has another type breaks users: keep it, or raise the version"
        f" and say so in the changelog.\nGone:\n{gone}\nNew:\n{added}"
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schemas_are_pinned(name: str) -> None:
    """As ``berth schema`` prints them."""
    schema = all_schemas()[name]()
    text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
    pinned.check(PINS / f"{name}.json", text, meaning=meaning(name, schema))


def test_no_document_is_without_a_pin() -> None:
    """Every model that is written or printed has a schema that users can ask for, and nothing else is pinned."""
    made = {json.dumps(make(), sort_keys=True) for name, make in all_schemas().items() if name in DOCUMENTS}
    assert made == {json.dumps(model.model_json_schema(), sort_keys=True) for model in MODELS}
    assert {file.stem for file in PINS.glob("*.json")} == set(DOCUMENTS)


def test_a_field_that_goes_is_called_a_breakage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure names the field and says how to renew the pin on purpose."""
    monkeypatch.delenv(pinned.RENEW, raising=False)
    schema = all_schemas()["Plan"]()
    del schema["properties"]["placements"]
    text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
    with pytest.raises(AssertionError, match="breaks users") as raised:
        pinned.check(PINS / "Plan.json", text, meaning=meaning("Plan", schema))
    assert ".placements: " in str(raised.value)
    assert "BERTH_RENEW_PINS=1" in str(raised.value)


def test_a_real_lock_fits_its_schema() -> None:
    """So an editor that reads the schema agrees with Berth."""
    fleet = fleet_of(environment_files())
    lock = lock_of(fleet, DEV_PLACED, caches=DEV_CACHES)
    jsonschema.validate(lock.platform.to_json(), all_schemas()["PlatformLock"]())
    for part in lock.namespaces.values():
        jsonschema.validate(part.to_json(), all_schemas()["NamespaceLock"]())
