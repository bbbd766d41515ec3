"""``berth explain`` of kinds, fields and codes: what is asked is told by its shape, and what is near is offered."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from automation.cli.code_pages import code_pages
from automation.cli.main import run
from automation.render.fields import FieldRow, root
from automation.render.word_help import meanings_of, scheduling_words
from components.api.codes import Code
from components.api.kinds import ALL_KINDS

_ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where there is no environment: fields and codes need none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BERTH_ENVIRONMENTS", raising=False)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the verb; gives the exit code and both streams."""
    code = run(["explain", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run the verb for a program."""
    code, out, _ = ran(capsys, *arguments, "-o", "json")
    assert code == 0
    return json.loads(out)


def test_a_field_is_told_with_everything_a_writer_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Type, bounds, choices, whether it is required, which apiVersion has it, meaning, example."""
    field = as_json(capsys, "md.spec.template.spec.engines[].phase")["field"]
    assert (field["type"], field["choices"], field["required"]) == ("one of", ["Prefill", "Decode"], False)
    assert field["apiVersions"] == ["modelplane.ai/v1alpha1", "berth.dev/v1alpha1"]
    assert field["meaning"]
    shown = yaml.safe_load(field["example"])
    assert shown["spec"]["template"]["spec"]["engines"] == [{"phase": "Prefill"}]


@pytest.mark.parametrize(
    "path",
    [
        "InferenceCluster.spec.nodePools[].fabric.type",
        "inferenceclusters.spec.nodePools.fabric.type",
        "ic.spec.nodePools[0].fabric.type",
        "IC.spec.nodePools[].fabric.type",
    ],
)
def test_a_path_may_be_written_as_people_do(capsys: pytest.CaptureFixture[str], path: str) -> None:
    """By any name of the kind, with or without brackets and positions."""
    code, out, _ = ran(capsys, path)
    assert code == 0
    assert out.startswith("InferenceCluster.spec.nodePools[].fabric.type  one of\n")
    assert "one of      None, EFA, InfiniBand" in out


@pytest.mark.parametrize("key", ["aws.*.roleArn", "aws.production.roleArn", "aws.roleArn"])
def test_the_key_of_a_map_may_be_any(capsys: pytest.CaptureFixture[str], key: str) -> None:
    """Or left out, or a star."""
    assert as_json(capsys, f"env.spec.providers.{key}")["field"]["path"] == "spec.providers.aws.*.roleArn"


@pytest.mark.parametrize(
    ("path", "versions"),
    [
        ("ic.spec.removing", ["berth.dev/v1alpha1"]),
        ("ic.spec.cluster.eks.network.vpcCidr", ["berth.dev/v1alpha1"]),
        ("ic.spec.driverManagement", []),
        ("env.spec.layout", ["berth.dev/v1alpha1"]),
        ("mr.spec.clusterName", ["modelplane.ai/v1alpha1"]),
        ("eks.spec.region", ["infrastructure.modelplane.ai/v1alpha1"]),
    ],
)
def test_a_field_names_the_apiversions_that_have_it(
    capsys: pytest.CaptureFixture[str], path: str, versions: list[str]
) -> None:
    """Also inside an object that only Berth's own has; none for what is not built yet."""
    assert as_json(capsys, path)["field"]["apiVersions"] == versions


def test_bounds_of_the_predecessor_are_told_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    """A portable manifest has the narrower ones."""
    field = as_json(capsys, "md.spec.replicas")["field"]
    assert (field["bounds"], field["portableBounds"]) == ("0 to 2147483647", "1 to 10")
    assert "1 to 10 under the predecessor's apiVersion" in ran(capsys, "md.spec.replicas")[1]


def test_choices_that_are_not_built_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """A kind of source that is refused for now is no choice of today."""
    field = as_json(capsys, "mc.spec.source")["field"]
    assert "HuggingFace" not in field["laterChoices"]
    assert set(field["laterChoices"]) < set(field["choices"])
    out = ran(capsys, "mc.spec.source")[1]
    assert [line.split("not yet", 1)[1].strip() for line in out.splitlines() if line.startswith("  not yet")] == (
        [", ".join(field["laterChoices"])] if field["laterChoices"] else []
    )


def test_recursive_lists_the_fields_of_fields(capsys: pytest.CaptureFixture[str]) -> None:
    """Each after the one that holds it; without it only the next level."""
    flat = [each["path"] for each in as_json(capsys, "ms.spec")["fields"]]
    deep = [each["path"] for each in as_json(capsys, "ms.spec", "--recursive")["fields"]]
    assert "spec.endpoints" in flat
    assert "spec.endpoints[].selector" not in flat
    assert deep.index("spec.endpoints[].selector.matchLabels") == deep.index("spec.endpoints[].selector") + 1
    assert set(flat) < set(deep)
    lines = ran(capsys, "ms.spec", "--recursive")[1].splitlines()
    assert any(line.startswith("      matchLabels ") for line in lines)


def _paths(row: FieldRow) -> list[str]:
    return [path for child in row.children for path in (child.path, *_paths(child))]


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_field_can_be_asked_for(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """By the very path that the answers, the errors and the pages write."""
    paths = _paths(root(kind))
    assert paths
    for path in paths[:: max(1, len(paths) // 12)]:
        assert as_json(capsys, f"{kind}.{path}")["field"]["path"] == path
    document = as_json(capsys, kind)
    assert all(each["kind"] == kind for each in yaml.safe_load_all(document["field"]["example"]))
    assert [each["path"] for each in document["fields"]] == ["apiVersion", "kind", "metadata", "spec"]


def test_a_code_prints_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    """What stands in brackets in an error; links are only their text, because a terminal follows none."""
    code, out, _ = ran(capsys, "source-unsupported")
    assert (code, out.splitlines()[0]) == (0, "source-unsupported")
    assert "This version cannot build clusters on that cloud. Real clouds lists what it" in out
    assert as_json(capsys, "yaml-tab")["code"] == "yaml-tab"


def test_every_code_has_a_page_to_print() -> None:
    """The documentation comes with the package."""
    pages = code_pages()
    assert {str(code) for code in Code} <= set(pages)
    assert all(pages.values())
    assert not [code for code, text in pages.items() if "](" in text]


def test_the_page_of_codes_is_part_of_the_package() -> None:
    """The wheel takes it from the documentation to where an installed Berth reads it."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"docs/reference/errors.md": "automation/cli/errors.md"}
    assert (_ROOT / "docs/reference/errors.md").is_file()


@pytest.mark.parametrize("word", scheduling_words())
def test_every_word_of_a_plan_can_be_asked_for(capsys: pytest.CaptureFixture[str], word: str) -> None:
    """Verdicts, reasons and the words of summaries: what it means, what helps, which command shows more."""
    code, out, err = ran(capsys, word)
    assert (code, err) == (0, "")
    known = meanings_of(word)
    assert known
    said = " ".join(out.split())
    for each, _, meaning in known:
        assert f"{each}: a" in said
        assert meaning.means in said
        assert meaning.helps in said
        assert all(f"  {command}\n" in out for command in meaning.commands)


def test_a_word_of_two_sorts_is_told_as_both(capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster is deselected, and so is a replica on it; a program gets one text under the word that it asked for."""
    assert ran(capsys, "deselected")[1].count("deselected: a") == 2
    document = as_json(capsys, "full")
    assert (document["kind"], document["code"]) == ("CodeHelp", "full")
    assert document["text"].startswith("no-room: a verdict on a cluster.\n")


def test_the_chosen_cluster_is_not_taken_by_others(capsys: pytest.CaptureFixture[str]) -> None:
    """The word could be read as its opposite, so it is told from the other."""
    assert "that is `no-room`" in " ".join(ran(capsys, "taken")[1].split())


@pytest.mark.parametrize(
    ("subject", "summary", "help_"),
    [
        ("md.spec.replcas", "ModelDeployment.spec has no field 'replcas'", "did you mean `replicas`?"),
        ("ms.spec.endpoints.nope", "ModelService.spec.endpoints has no field 'nope'", "it has: weight, "),
        ("ms.spec.endpoints.weight.x", "has no field 'x'", "it has no fields of its own"),
        ("modeldeploymnt.spec", "is no kind, no field, no code and no verdict", "berth explain ModelDeployment.spec"),
        ("ModelCahe", "is no kind, no field, no code and no verdict", "berth explain ModelCache"),
        ("feild-unknown", "is no kind, no field, no code and no verdict", "berth explain field-unknown"),
        ("qqq.spec", "is no kind, no field, no code and no verdict", "berth get lists the kinds"),
        ("no-romm", "is no kind, no field, no code and no verdict", "berth explain no-room"),
        ("nowhere-togo", "is no kind, no field, no code and no verdict", "berth explain nowhere-to-go"),
        ("no matching devices", "no field, no code and no verdict", "berth explain 'no matching device'"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is_near(
    capsys: pytest.CaptureFixture[str], subject: str, summary: str, help_: str
) -> None:
    """Exit code 2, nothing on stdout."""
    code, out, err = ran(capsys, subject)
    assert (code, out) == (2, "")
    assert summary in err
    assert help_ in err


def test_a_name_with_a_slash_is_a_deployment(capsys: pytest.CaptureFixture[str]) -> None:
    """Even one that is called like a kind; here there is no environment to look in."""
    code, _, err = ran(capsys, "ml/md")
    assert code == 2
    assert "there is no environment 'dev'" in err


@pytest.mark.usefixtures("project")
def test_a_deployment_that_is_not_there_needs_no_backend(capsys: pytest.CaptureFixture[str]) -> None:
    """The manifests tell; nobody has to log in to learn of a slip of the pen."""
    code, out, err = ran(capsys, "ml/qwn")
    assert (code, out) == (2, "")
    assert "ml/qwen" in err
