"""``berth init``: what it writes is valid, commented, known to editors, and found by every other verb."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from automation.cli.init import SCHEMA_FILE
from automation.cli.main import run
from automation.render.manifest_schema import manifest_schema
from stacks.environment import read_environment
from stacks.shard import shards

_MODELINE = re.compile(r"^# yaml-language-server: \$schema=(\S+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a project without environments, where nobody can be asked."""
    (tmp_path / "Pulumi.yaml").write_text("name: berth\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BERTH_ENVIRONMENTS", raising=False)
    monkeypatch.setattr("builtins.input", None)
    return tmp_path


def manifests(folder: Path) -> list[Path]:
    """Return the files of an environment."""
    return sorted(folder.rglob("*.yaml"))


@pytest.mark.parametrize("where", ["envs", None], ids=["a folder of one's own", "the usual folder"])
def test_what_init_writes_from_a_subfolder_is_found_by_the_other_verbs(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str | None
) -> None:
    """A relative folder lies under the project for both, wherever the command is given."""
    below = project / "some/folder"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    options = ["--environments", where] if where else []
    assert run(["init", "lab", *options]) == 0
    assert run(["validate", "-e", "lab", *options]) == 0
    assert "valid: lab" in capsys.readouterr().out
    assert (project / (where or "stacks/environments") / "lab/platform").is_dir()
    assert not list(below.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--namespace", "search", "--cluster", "west", "--region", "eu-west-1"],
        ["--namespace", "null", "--cluster", "1e3", "--region", "us-gov-west-1"],
        ["--namespace", "007", "--cluster", "0x1f"],
    ],
    ids=["defaults", "others", "words of YAML", "numbers of YAML"],
)
@pytest.mark.parametrize("name", ["dev", "123", "true"])
def test_what_init_writes_is_valid_without_a_warning(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, options: list[str]
) -> None:
    """Whatever YAML might take a name for; the names are where they were asked for."""
    assert run(["init", name, *options]) == 0
    capsys.readouterr()
    assert run(["validate", "-e", name, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["valid"], document["problems"]) == (True, [])
    assert run(["get", "all", "-e", name, "-o", "name"]) == 0
    listed = capsys.readouterr().out.splitlines()
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert f"environment/{name}" in listed
    assert f"inferencecluster/{given.get('--cluster', 'eks-a')}" in listed
    assert f"modeldeployment/{given.get('--namespace', 'ml-team')}/qwen" in listed


@pytest.mark.parametrize("where", ["envs", "deep/er/envs"])
def test_every_document_names_a_schema_that_is_there(project: Path, where: str) -> None:
    """Relative to its own file, as editors read it; the schema takes the document and marks a misspelt field."""
    assert run(["init", "lab", "--environments", where]) == 0
    files = manifests(project / where / "lab")
    assert len(files) > 3
    for file in files:
        text = file.read_text()
        documents = list(yaml.safe_load_all(text))
        named = _MODELINE.findall(text)
        assert len(named) == len(documents), f"{file.name}: a modeline holds for one document"
        for path, document in zip(named, documents, strict=True):
            schema = json.loads((file.parent / path).read_text())
            validator = Draft202012Validator(schema)
            assert validator.is_valid(document), [error.message for error in validator.iter_errors(document)]
            assert not validator.is_valid({**document, "nope": 1})
    assert json.loads((project / where / SCHEMA_FILE).read_text()) == manifest_schema()


def test_every_file_says_what_it_is_for(project: Path) -> None:
    """A person reads it before any page."""
    assert run(["init", "lab"]) == 0
    for file in manifests(project / "stacks/environments/lab"):
        lines = [line for line in file.read_text().splitlines() if line.startswith("# ") and "$schema" not in line]
        assert lines, file.name
        assert "{" not in "".join(lines)


def test_the_words_of_layouts_are_what_happens(project: Path) -> None:
    """A cluster of the front doors has no stack of its own."""
    assert run(["init", "lab"]) == 0
    file = project / "stacks/environments/lab/environment.yaml"
    text = file.read_text()
    words = " ".join(text.replace("#", " ").split())
    assert "PerCluster: one stack holds the clusters of frontDoors" in words
    assert "every other cluster has a stack of its own" in words
    file.write_text(text.replace("layout: Single", "layout: PerCluster"))
    fleet = read_environment(file.parent)[0].raise_if_errors()
    assert fleet.clusters.keys() == set(fleet.environment.spec.front_doors)
    assert [str(each.stack) for each in shards(fleet)] == ["lab"]


def test_a_second_environment_renews_the_schema_and_nothing_else(project: Path) -> None:
    """The file is Berth's own; manifests are people's."""
    assert run(["init", "dev"]) == 0
    schema = project / "stacks/environments" / SCHEMA_FILE
    schema.write_text("{}")
    before = {path: path.read_text() for path in manifests(project / "stacks/environments/dev")}
    assert run(["init", "prod"]) == 0
    assert json.loads(schema.read_text()) == manifest_schema()
    assert {path: path.read_text() for path in before} == before
    assert run(["init", "dev"]) == 2


@pytest.mark.parametrize("region", ["", "a" * 40, "x\ny: 1", "us east"])
def test_options_that_make_no_valid_environment_write_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], region: str
) -> None:
    """A wrong value is said at once, or is a text that loads."""
    code = run(["init", "lab", "--region", region])
    err = capsys.readouterr().err
    if code == 0:
        assert run(["validate", "-e", "lab"]) == 0
    else:
        assert "Nothing was written." in err
        assert not (project / "stacks").exists()


def test_a_dry_run_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And names every file."""
    assert run(["init", "lab", "--dry-run", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert f"stacks/environments/{SCHEMA_FILE}" in document["files"]
    assert "next:" not in err, "there is nothing to validate"
    assert not (project / "stacks").exists()
