"""``berth init``: a commented, valid environment to start from, and the files that plain Pulumi needs.

It asks nothing: every choice is an option. Each manifest names a schema for editors, which lies beside the environments
and not at an address: so it works without a network, in a private repository, and says what the Berth in use accepts.
"""

import json
import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from automation.cli.options import Show
from automation.render.output_version import API_VERSION
from components.errors import UsageError

_TEMPLATES = Path(__file__).with_name("templates")
SCHEMA_FILE = "manifest.schema.json"
"""The schema of all manifests, in the folder of the environments."""

_SHOW = Show()


def init(
    name: str = "dev",
    /,
    *,
    environments: Annotated[Path | None, Parameter(env_var="BERTH_ENVIRONMENTS")] = None,
    namespace: str = "ml-team",
    cluster: str = "eks-a",
    region: str = "us-east-1",
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    show: Show = _SHOW,
) -> int:
    """Write a commented, valid environment to start from.

    Parameters
    ----------
    name
        Name of the environment.
    environments
        Folder that holds the environments.
    namespace
        Namespace of the sample model.
    cluster
        Name of the sample cluster.
    region
        Its AWS region.
    dry_run
        Say what would be written and write nothing.
    """
    from automation.engine.toolchain.layout import Layout
    from automation.render.text import line
    from components.api.syntax import is_dns_label
    from stacks.environment import environment_folder
    from stacks.shown_path import shown_path

    for what, value in (("environment", name), ("namespace", namespace), ("cluster", cluster)):
        if not is_dns_label(value):
            raise UsageError(
                f"{what} name {value!r} is not a DNS label",
                consequence="Nothing was written.",
                help="use lower-case letters, digits and dashes, at most 63",
            )
    root = Layout.find().root
    folder = environment_folder(root, name, environments=environments)
    values = {"name": name, "namespace": namespace, "cluster": cluster, "region": region, "zone": f"{region}a"}
    files = environment_files(folder, values)
    _check(folder, files)
    files |= project_files(root)
    existing = sorted(path for path in files if path.exists())
    if existing:
        raise UsageError(
            f"{shown_path(existing[0])} exists already",
            consequence="Nothing was written.",
            help=f"choose another name: berth init {name}-2",
        )
    files[folder.parent / SCHEMA_FILE] = schema_text()  # written anew each time: it is this Berth's
    if not dry_run:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    sinks = show.sinks()
    if sinks.machine:
        written = [shown_path(path) for path in files]
        sinks.document({"apiVersion": API_VERSION, "kind": "Written", "dryRun": dry_run, "files": written})
    else:
        sinks.data([line(shown_path(path)) for path in files])
    if not dry_run:
        sinks.say(f"next: berth validate -e {name}, then berth plan -e {name} --simulated")
    return 0


def environment_files(folder: Path, values: dict[str, str]) -> dict[Path, str]:
    """Return the files of a new environment, filled in."""
    source = _TEMPLATES / "environment"
    files: dict[Path, str] = {}
    for path in sorted(source.rglob("*.yaml")):
        parts = path.relative_to(source).parts
        relative = Path(*(values["namespace"] if part == "namespace" else part for part in parts))
        schema = Path(os.path.relpath(folder.parent / SCHEMA_FILE, (folder / relative).parent)).as_posix()
        filled = {name: _scalar(value) for name, value in values.items()} | {"schema": schema}
        files[folder / relative] = _filled(path.read_text(encoding="utf-8"), filled)
    return files


def schema_text() -> str:
    """Return the schema file's text."""
    from automation.render.manifest_schema import manifest_schema

    return json.dumps(manifest_schema(), indent=2, ensure_ascii=False) + "\n"


def _scalar(text: str) -> str:
    """Write a value so that YAML reads it as text."""
    from components.api.compose import resolve
    from components.api.syntax import is_dns_label

    plain = is_dns_label(text) and isinstance(resolve(text), str)
    return text if plain else json.dumps(text, ensure_ascii=False)


def _check(folder: Path, files: dict[Path, str]) -> None:
    """Raise UsageError when the options do not make a valid environment: nothing wrong is written."""
    from components.api.load import load_fleet

    given = [(path.relative_to(folder).as_posix(), text.encode()) for path, text in files.items()]
    problems = load_fleet(given, name=folder.name).errors
    if problems:
        raise UsageError(problems[0].message, consequence="Nothing was written.", help=problems[0].help)


def project_files(root: Path) -> dict[Path, str]:
    """Return the files that plain Pulumi needs and the project does not have yet."""
    if (root / "Pulumi.yaml").exists() or (root / "Pulumi.yml").exists():
        return {}
    source = sorted(path for path in (_TEMPLATES / "project").iterdir() if path.is_file())
    return {root / path.name.removesuffix(".template"): path.read_text() for path in source}


def _filled(text: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        text = text.replace("{" + key + "}", value)
    return text
