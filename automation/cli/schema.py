"""``berth schema``: the JSON Schema of a kind of manifest, of the lock, or of an output."""

from automation.cli.options import Show

_SHOW = Show()


def schema(kind: str = "", /, *, show: Show = _SHOW) -> int:
    """Print the JSON Schema of a kind; without one, list the kinds.

    Parameters
    ----------
    kind
        A kind of manifest (``ModelDeployment``), a part of the lock (``NamespaceLock``), or an output (``Plan``).
    """
    import difflib

    from automation.render.text import line
    from components.errors import UsageError

    sinks = show.sinks()
    schemas = all_schemas()
    if not kind:
        sinks.data([line(name) for name in schemas])
        return 0
    found = {name.lower(): name for name in schemas}.get(kind.lower())
    if found is None:
        near = difflib.get_close_matches(kind, list(schemas), n=1)
        raise UsageError(f"there is no kind {kind!r}", help=f"berth schema {near[0]}" if near else "berth schema")
    sinks.document(schemas[found]())
    return 0


def all_schemas() -> dict:
    """Return, by name, a function that makes each schema."""
    from automation.render import manifest_views, views
    from components.api.kinds import KINDS
    from components.api.schema import schema as manifest_schema
    from components.lock import NamespaceLock, PlatformLock
    from stacks.outputs import StackOutputs

    schemas = {name: (lambda name=name: manifest_schema(name)) for name in KINDS}
    models = {
        "NamespaceLock": NamespaceLock,
        "PlatformLock": PlatformLock,
        "StackOutputs": StackOutputs,
        "Plan": views.PlanView,
        "Applied": views.UpView,
        "Status": views.StatusView,
        "Explanation": views.ExplanationView,
        "Drift": views.DriftView,
        "Destroyed": views.DestroyedView,
        "Validation": manifest_views.ValidationView,
    }
    return schemas | {name: model.model_json_schema for name, model in models.items()}
