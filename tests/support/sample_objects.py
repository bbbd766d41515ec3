"""The Kubernetes objects of the samples, as the program registers them.

Samples are the environments, also those of demonstrations and the one that ``berth init`` writes, the examples that
have every field, and the pages of the documentation with models in their blocks; these have the platform of ``dev``.

The program runs in the small engine, as an update; so nothing is left unknown, and what a secret hides is plain.
"""

from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from automation.cli.main import run
from components.api.fleet import Fleet
from components.lock import Lock
from components.naming import StackName
from stacks.config import ProgramConfig
from stacks.program import program
from stacks.shard import Shard
from tests.support.mini_engine import Secret, Unknown, run_program
from tests.support.samples import EDGE_SECRETS, ENVIRONMENTS, Placed, environment_files, fleet_of, lock_of
from tests.unit.docs.pages import Page, pages
from tests.unit.planning.world import World

Object = dict[str, Any]

WRITTEN: Final = "what berth init writes"
EXAMPLES: Final = "examples of every field"

_AUTOMATION: Final = Path(__file__).parents[2] / "automation"
_EXAMPLES: Final = _AUTOMATION / "cli" / "examples"
_MODELS: Final = ("ModelDeployment", "ModelCache", "ModelService", "ModelEndpoint")
_KUBERNETES: Final = "kubernetes:"


@dataclass(frozen=True, slots=True)
class Sample:
    """One object: the logical name of its resource, the type, and the object itself."""

    name: str
    type: str
    body: Object

    @property
    def kind(self) -> tuple[str, str]:
        """Its apiVersion and kind, both empty for a chart."""
        return str(self.body.get("apiVersion", "")), str(self.body.get("kind", ""))


def samples() -> dict[str, list[Sample]]:
    """Return the objects of every sample, by its name."""
    examples = {kind: (_EXAMPLES / f"{kind}.fields.yaml").read_text(encoding="utf-8") for kind in _MODELS}
    return {
        **{folder.name: _objects(*_environment(folder)) for folder in environments()},
        WRITTEN: _objects(*_written()),
        EXAMPLES: _objects(*_models(examples)),
        **{name: _objects(*_models({"all": text})) for name, text in _pages()},
    }


def environments() -> Iterator[Path]:
    """Yield the folders of the environments that this project comes with."""
    for root in (ENVIRONMENTS, _AUTOMATION / "rehearsal" / "environments"):
        yield from (path.parent for path in sorted(root.glob("*/environment.yaml")))


def _objects(fleet: Fleet, lock: Lock) -> list[Sample]:
    """Return what the program makes of an environment, of all its stacks."""
    clusters = [entry.name for entry in lock.platform.clusters]
    stacks = [fleet.name]
    if fleet.environment.spec.layout == "PerCluster":
        stacks += [f"{fleet.name}.{each}" for each in clusters if each not in lock.platform.front_doors]
    config = ProgramConfig(
        berth_version="0.1.0",
        secrets=EDGE_SECRETS,
        gateway_addresses={each: f"{each}.example.com" for each in clusters},
        simulated=True,
        gated=True,
    )
    return [each for stack in stacks for each in _registered(fleet, lock, stack, config)]


def _registered(fleet: Fleet, lock: Lock, stack: str, config: ProgramConfig) -> Iterator[Sample]:
    shard = Shard.of(StackName.parse(stack), fleet, clusters=[entry.name for entry in lock.platform.clusters])
    recorded = run_program(lambda: program(fleet, lock, shard, config), stack=stack, dry_run=False)
    for each in recorded.resources:
        if each.type.startswith(_KUBERNETES):
            yield Sample(each.name, each.type, _plain(each.inputs))


def _environment(folder: Path) -> tuple[Fleet, Lock]:
    fleet = fleet_of(environment_files(folder.name, folder.parent), name=folder.name)
    return fleet, World(fleet).target()


def _written() -> tuple[Fleet, Lock]:
    """Run ``berth init`` in an empty folder."""
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        assert run(["init", "mine"]) == 0
        (written,) = Path(folder).rglob("environment.yaml")
        return _environment(written.parent)


def _models(texts: Mapping[str, str]) -> tuple[Fleet, Lock]:
    """Put models on the platform of ``dev``, all on one pool; whether they fit there is not the question here."""
    files = {path: text for path, text in environment_files("dev").items() if not path.startswith("models/")}
    fleet = fleet_of(files | {f"models/ml-team/{name}.yaml": text.encode() for name, text in texts.items()})
    placed = [Placed(namespace, deployment, "eks-use1", "h100") for namespace, deployment in fleet.deployments]
    caches = [(namespace, cache, "eks-use1") for namespace, cache in fleet.caches]
    return fleet, lock_of(fleet, placed, caches=caches)


def _pages() -> Iterator[tuple[str, str]]:
    """Yield the models of pages as one text, with the pages' names: as many pages as do not contradict one another.

    Of a name the last on a page counts. Caches are there on all, since pages speak of those of others.
    """
    groups: list[tuple[list[str], dict[tuple[str, str], Object]]] = []
    caches: dict[tuple[str, str], Object] = {}
    for page in pages():
        found = {(each["kind"], each["metadata"]["name"]): each for each in _of_page(page)}
        caches |= {key: each for key, each in found.items() if key[0] == "ModelCache"}
        for names, models in groups if found else ():
            if all(models.get(key, each) == each for key, each in found.items()):
                names.append(page.name)
                models.update(found)
                break
        else:
            groups += [([page.name], found)] if found else []
    for names, models in groups:
        yield ", ".join(names), yaml.safe_dump_all((caches | models).values())


def _of_page(page: Page) -> Iterator[Object]:
    for block in page.blocks:
        for each in yaml.safe_load_all(block.text) if block.language == "yaml" else ():
            if isinstance(each, dict) and each.get("kind") in _MODELS:
                yield each


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return _plain(value.value)
    if isinstance(value, Mapping):
        return {_spelt(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    assert not isinstance(value, Unknown)
    return value


def _spelt(key: str) -> str:
    """Spell a key as the provider does for the API server: no property of Pulumi's has a dash in its name."""
    return key.replace("_", "-") if key.startswith("x_kubernetes_") else key
