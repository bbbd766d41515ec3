"""The reference pages of the kinds: one for each, and one that lists those that machines wrote. PURE.

An example for each kind lies beside the command line, which shows it too; the caller reads it, a test loads it.
"""

import json
from collections.abc import Iterator, Mapping

from automation.render.fields import FieldRow, ObjectFields, objects
from automation.docs.markdown import GENERATED, anchor, code, page, prose, table
from components.api.kinds import ALL_KINDS, KINDS, MACHINE_KINDS, api_versions
from components.api.schema import schema

FOLDER = "reference/kinds"

_PLACES = {
    "Environment": "`environment.yaml`, exactly one",
    "InferenceClass": "`platform/`",
    "InferenceCluster": "`platform/`",
    "InferenceGateway": "`platform/`",
    "ModelCache": "`models/<namespace>/`",
    "ModelDeployment": "`models/<namespace>/`",
    "ModelEndpoint": "`models/<namespace>/`",
    "ModelService": "`models/<namespace>/`",
}
_PLANNED = "Not built yet."
_HEAD = ("Field", "Type", "Default", "Bounds", "Meaning")


def kind_pages(examples: Mapping[str, str]) -> dict[str, str]:
    """Return the pages, by path below ``docs/``; ``examples`` holds a YAML text for every kind."""
    pages = {f"{FOLDER}/{kind.lower()}.md": kind_page(kind, example=examples[kind]) for kind in ALL_KINDS}
    return {f"{FOLDER}/index.md": _index(), **pages, f"{FOLDER}/machine-made.md": _machine_made()}


def kind_schemas() -> dict[str, str]:
    """Return the JSON Schema of every kind, by path below ``docs/``."""
    return {
        f"{FOLDER}/schemas/{kind}.schema.json": json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"
        for kind in ALL_KINDS
    }


def kind_page(kind: str, *, example: str) -> str:
    """Return the page of one kind."""
    model = ALL_KINDS[kind]
    versions = " or ".join(code(version) for version in api_versions(kind))
    lines = [
        f"# {kind}",
        "",
        GENERATED,
        "",
        prose(model.__doc__ or ""),
        "",
        *table(
            ("", ""),
            [
                ("apiVersion", versions),
                ("short name", code(model.SHORT_NAME)),
                ("lives in", "a namespace" if model.NAMESPACED else "the whole environment"),
                ("usual place", _PLACES.get(kind, "a dump of the predecessor's control plane")),
                ("JSON Schema", f"[{kind}.schema.json](schemas/{kind}.schema.json), or {code(f'berth schema {kind}')}"),
            ],
        ),
        "",
        "## Example",
        "",
        "```yaml",
        *example.strip().splitlines(),
        "```",
        "",
        "## Fields",
        "",
        "Names, types and bounds are what the loader accepts; rules between fields are in",
        "[errors](../errors.md). A field with an empty default may be left out.",
        "",
    ]
    for each in objects(kind):
        lines += _section(each)
    return page(lines)


def _section(each: ObjectFields) -> Iterator[str]:
    yield from (f"### {each.path}", "", prose(each.meaning) + (f" {_PLANNED}" if each.planned else ""), "")
    if each.rows:
        yield from table(_HEAD, (_row(row) for row in each.rows))
        yield ""
    if each.later:
        yield from (
            "Declared and not built yet; writing one is refused with",
            "[not-supported-yet](../errors.md#not-supported-yet), after its value was checked:",
            "",
            *table(_HEAD, (_row(row) for row in each.later)),
            "",
        )


def _row(row: FieldRow) -> tuple[str, ...]:
    kind = f"[{row.type}](#{anchor(row.inside)})" if row.inside else row.type
    default = row.default if row.required else code(row.default)
    return code(row.name), kind, default, _bounds(row.bounds), prose(row.told)


def _bounds(text: str) -> str:
    return "; ".join(code(part) if part.startswith("^") else part for part in text.split("; ")) if text else ""


def _index() -> str:
    rows = [
        (f"[{kind}]({kind.lower()}.md)", code(model.SHORT_NAME), prose(model.__doc__ or ""), _PLACES[kind])
        for kind, model in KINDS.items()
    ]
    return page(
        [
            "# Manifests",
            "",
            GENERATED,
            "",
            "Everything that people write is one of these kinds. A file may hold several documents, and any file of an",
            "environment's folder may hold any kind, except below `models/<namespace>/`, where only that namespace's",
            "models may stand. [Files](../files.md) says more.",
            "",
            *table(("Kind", "Short name", "What it is", "Usual place"), rows),
            "",
            "`modelplane.ai/v1alpha1` manifests load as they are. `berth.dev/v1alpha1` has the same kinds with fields",
            "of Berth's own; a file that says `modelplane.ai` stays portable, and a field of Berth's in it is an",
            "[error](../errors.md#berth-field).",
            "",
            "Kinds that only [machines](machine-made.md) write are read and left alone.",
        ]
    )


def _machine_made() -> str:
    rows = [
        (
            f"[{kind}]({kind.lower()}.md)",
            code(model.SHORT_NAME),
            code(api_versions(kind)[0]),
            prose((model.__doc__ or "").partition("\n")[0]),
        )
        for kind, model in MACHINE_KINDS.items()
    ]
    return page(
        [
            "# Kinds that machines write",
            "",
            GENERATED,
            "",
            "A dump of the predecessor's control plane holds these beside what people wrote. Berth checks them, says",
            "[machine-made](../errors.md#machine-made), and leaves them alone: placements are in the lock, software",
            "on a cluster comes from a release, and infrastructure from InferenceClusters.",
            "",
            *table(("Kind", "Short name", "apiVersion", "What it is"), rows),
            "",
            "`berth schema KIND` prints the schema of these too.",
        ]
    )
