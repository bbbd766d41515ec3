"""``berth schema``: the JSON Schema of a kind of manifest, of the lock, or of an output."""

from typing import Any

from automation.cli.options import Show
from automation.render.output_version import API_VERSION

_SHOW = Show()


def schema(kind: str = "", /, *, show: Show = _SHOW) -> int:
    """Print the JSON Schema of a kind; without one, list the kinds.

    Parameters
    ----------
    kind
        A kind of manifest (``ModelDeployment``, ``deployments``, ``md``), ``Manifest`` for all of them in one, a part
        of the lock (``NamespaceLock``), or an output (``Plan``).
    """
    from automation.render.kind_names import kind_named, near_kind
    from automation.render.text import line
    from components.errors import UsageError

    sinks = show.sinks()
    schemas = all_schemas()
    if not kind and sinks.machine:
        sinks.document({"apiVersion": API_VERSION, "kind": "SchemaList", "schemas": list(schemas)})
        return 0
    if not kind:
        sinks.data([line(name) for name in schemas])
        return 0
    found = kind_named(kind) or {name.lower(): name for name in schemas}.get(kind.lower())
    if found is None:
        meant = near_kind(kind, list(schemas))
        raise UsageError(f"there is no kind {kind!r}", help=f"berth schema {meant}" if meant else "berth schema")
    sinks.document(schemas[found]())
    return 0


def all_schemas() -> dict[str, Any]:
    """Return, by name, a function that makes each schema."""
    from automation.document.snapshot_document import SnapshotDocument
    from automation.render import manifest_views, views
    from automation.render.capacity import CapacityView
    from automation.render.manifest_schema import manifest_schema
    from automation.render.observation import ObservationView
    from automation.render.preflight import PreflightView
    from automation.render.schedule_view import ScheduleView
    from automation.render.what_if import WhatIfView
    from components.api.kinds import ALL_KINDS
    from components.api.schema import schema as schema_of
    from components.lock import NamespaceLock, PlatformLock
    from stacks.outputs import StackOutputs

    schemas: dict[str, Any] = {name: (lambda name=name: schema_of(name)) for name in ALL_KINDS}
    schemas["Manifest"] = manifest_schema
    models = {
        "NamespaceLock": NamespaceLock,
        "PlatformLock": PlatformLock,
        "StackOutputs": StackOutputs,
        "Plan": views.PlanView,
        "Applied": views.UpView,
        "Status": views.StatusView,
        "Explanation": views.ExplanationView,
        "Snapshot": SnapshotDocument,
        "Schedule": ScheduleView,
        "Capacity": CapacityView,
        "WhatIf": WhatIfView,
        "Observation": ObservationView,
        "Preflight": PreflightView,
        "Drift": views.DriftView,
        "Destroyed": views.DestroyedView,
        "Conversion": manifest_views.ConversionView,
        "FieldHelp": manifest_views.FieldHelpView,
        "Validation": manifest_views.ValidationView,
    }
    return schemas | {name: model.model_json_schema for name, model in models.items()}
