"""``berth init``: a commented, valid environment to start from, and the files that plain Pulumi needs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from automation.cli.options import Show
from components.errors import UsageError

_TEMPLATES = Path(__file__).with_name("templates")
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
    values = {"name": name, "namespace": namespace, "cluster": cluster, "region": region}
    files = environment_files(folder, values) | project_files(root)
    existing = sorted(path for path in files if path.exists())
    if existing:
        raise UsageError(
            f"{shown_path(existing[0])} exists already",
            consequence="Nothing was written.",
            help=f"choose another name: berth init {name}-2",
        )
    if not dry_run:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    sinks = show.sinks()
    if sinks.machine:
        written = [shown_path(path) for path in files]
        sinks.document({"apiVersion": "berth.dev/output/v1", "kind": "Written", "dryRun": dry_run, "files": written})
    else:
        sinks.data([line(shown_path(path)) for path in files])
    sinks.say(f"next: berth validate -e {name}, then berth plan -e {name} --simulated")
    return 0


def environment_files(folder: Path, values: dict[str, str]) -> dict[Path, str]:
    """Return the files of a new environment, filled in."""
    source = _TEMPLATES / "environment"
    files: dict[Path, str] = {}
    for path in sorted(source.rglob("*.yaml")):
        parts = path.relative_to(source).parts
        relative = Path(*(values["namespace"] if part == "namespace" else part for part in parts))
        files[folder / relative] = _filled(path.read_text(), values)
    return files


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
