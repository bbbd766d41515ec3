"""``berth get``: what was loaded, in the columns and forms that kubectl users know."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from automation.cli.code_pages import code_pages
from automation.cli.main import run
from automation.render.kind_names import kind_named, plural
from automation.render.listing import STATE_COLUMNS, listing_lines, requests_go
from automation.render.text import plain
from components.api.fleet import Fleet
from components.api.kinds import ALL_KINDS, KINDS
from components.api.load import load_fleet
from tests.support.api_manifests import load

pytestmark = pytest.mark.usefixtures("project")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the verb; gives the exit code and both streams."""
    code = run(["get", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run the verb for a program."""
    code, out, _ = ran(capsys, *arguments, "-o", "json")
    assert code == 0
    return json.loads(out)


def fleet() -> Fleet:
    """Load the sample environment."""
    return load().raise_if_errors()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed_by_each_of_its_names(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """Name, plural and short name, in any case; one row for each document, with its printer columns."""
    wanted = [each for each in fleet().documents() if each.kind == kind]
    short = ALL_KINDS[kind].SHORT_NAME
    names = (kind, kind.lower(), plural(kind), plural(kind).upper(), short, short.upper(), f"{plural(kind)}.berth.dev")
    outs = {ran(capsys, name)[1] for name in names}
    (out,) = outs
    head, *rows = out.splitlines()
    assert len(rows) == len(wanted) > 0
    assert head.split() == [
        *(["NAMESPACE"] if ALL_KINDS[kind].NAMESPACED else []), "NAME", *(name for name, _ in ALL_KINDS[kind].COLUMNS)
    ]  # fmt: skip
    assert {each.name for each in wanted} <= {word for row in rows for word in row.split()}


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("clusters", "InferenceCluster"),
        ("cluster", "InferenceCluster"),
        ("Deployments", "ModelDeployment"),
        ("classes", "InferenceClass"),
        ("gateway", "InferenceGateway"),
        ("services", "ModelService"),
        ("endpoints", "ModelEndpoint"),
        ("caches", "ModelCache"),
        ("environments", "Environment"),
    ],
)
def test_the_last_word_of_a_kind_is_enough(capsys: pytest.CaptureFixture[str], word: str, kind: str) -> None:
    """For people's kinds, whatever machines' kinds end so too; for every verb that takes a kind."""
    assert ran(capsys, word) == ran(capsys, kind)
    told = [run(["explain", name, "-o", "json"]) or json.loads(capsys.readouterr().out) for name in (word, kind)]
    assert told[0] == told[1]
    printed = [run(["schema", name]) or json.loads(capsys.readouterr().out) for name in (word, kind)]
    assert printed[0] == printed[1]


def test_columns_show_what_the_manifest_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Defaults too: what is loaded is what counts."""
    out = ran(capsys, "ic")[1]
    assert [row.split() for row in out.splitlines()] == [["NAME", "SOURCE"], ["east", "EKS"], ["edge", "Existing"]]
    assert "Single" in ran(capsys, "env")[1]


def test_what_only_the_state_knows_is_left_out_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, and not for a program."""
    code, out, err = ran(capsys, "ic")
    assert code == 0
    assert "READY" not in out
    assert "INNER GATEWAY, READY: with --status, from the state" in err
    assert ran(capsys, "ic", "-q")[2] == ran(capsys, "ic", "-o", "json")[2] == ran(capsys, "env")[2] == ""


def test_columns_of_the_state_are_shown_when_it_was_read() -> None:
    """What does not exist yet has a dash."""
    documents = list(fleet().clusters.values())
    state = {"InferenceCluster": {("", "east"): ("True", "192.0.2.1")}}
    lines = plain(listing_lines(documents, state=state, width=100)).splitlines()
    assert [line.split() for line in lines] == [
        ["NAME", "SOURCE", "READY", "INNER", "GATEWAY"],
        ["east", "EKS", "True", "192.0.2.1"],
        ["edge", "Existing", "-", "-"],
    ]
    assert set(STATE_COLUMNS) <= set(KINDS)


ASK = "Clients send requests to a service: berth get services --status shows where (SEND REQUESTS TO)"


def test_no_code_is_hidden_by_a_kind() -> None:
    """``berth explain`` takes either."""
    assert [code for code in code_pages() if kind_named(code)] == []


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (
            ["InferenceCluster"],
            f"INNER GATEWAY: only front doors lead there. {ASK}",
        ),
        (
            ["InferenceGateway"],
            ASK,
        ),
        (
            ["InferenceCluster", "ModelService"],
            "INNER GATEWAY: only front doors lead there. Clients send requests to a service: see SEND REQUESTS TO",
        ),
        (["ModelService"], ""),
        (["ModelDeployment"], ""),
        ([], ""),
    ],
)
def test_the_address_for_requests_is_told_from_the_others(kinds: list[str], said: str) -> None:
    """A cluster has a gateway, a front door another one, and only a service is asked for a model."""
    assert requests_go(kinds) == said


def test_a_namespace_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """By option or before the name; a kind without namespaces does not mind."""
    names = [each["metadata"]["name"] for each in as_json(capsys, "md", "-n", "ml")["items"]]
    assert names == [name for namespace, name in fleet().deployments if namespace == "ml"]
    assert (
        as_json(capsys, "md", "ml/qwen") == as_json(capsys, "md", "qwen", "-n", "ml") == as_json(capsys, "md/ml/qwen")
    )
    assert as_json(capsys, "ic", "-n", "ml")["items"]


def test_one_by_its_name_is_a_manifest_and_many_are_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    """As kubectl prints them."""
    assert as_json(capsys, "ic", "east")["kind"] == "InferenceCluster"
    found = as_json(capsys, "ic")
    assert (found["apiVersion"], found["kind"], len(found["items"])) == ("v1", "List", 2)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_printed_loads_again(capsys: pytest.CaptureFixture[str], form: str) -> None:
    """The same fleet, value by value."""
    text = ran(capsys, "all", "-o", form)[1]
    again = load_fleet([("all.yaml", text.encode())], name="dev").raise_if_errors()
    assert again == fleet()
    assert list(yaml.safe_load_all(text))


@pytest.mark.parametrize("text", ["1e3", "0o17", "no", "1.30", "null", " spaced ", "two\nlines\n", "0x1f", "~", "'"])
def test_texts_stay_texts(capsys: pytest.CaptureFixture[str], project: Path, text: str) -> None:
    """Whatever a reader of YAML 1.1 or 1.2 might take them for."""
    file = project / "stacks/environments/dev/platform/classes.yaml"
    file.write_text(file.read_text().replace("One NVIDIA L4.", json.dumps(text)))
    out = ran(capsys, "icl", "l4", "-o", "yaml")[1]
    loaded = load_fleet([("l4.yaml", out.encode())], complete=False).raise_if_errors()
    assert loaded.classes["l4"].spec.description == text


def test_names_can_be_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is an argument of this very verb."""
    lines = ran(capsys, "all", "-o", "name")[1].splitlines()
    assert len(lines) == len(list(fleet().documents()))
    assert "modeldeployment/ml/qwen" in lines
    assert all(ran(capsys, line, "-o", "name")[1] == f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("arguments", "summary", "help_"),
    [
        (("modeldeploymen",), "there is no kind 'modeldeploymen'", "berth get ModelDeployment"),
        (("clutsers",), "there is no kind 'clutsers'", "berth get InferenceCluster"),
        (("clas",), "there is no kind 'clas'", "berth get InferenceClass"),
        (("model-deployment",), "there is no kind 'model-deployment'", "berth get ModelDeployment"),
        (("deployments.apps",), "there is no kind 'deployments.apps'", "berth get ModelDeployment"),
        (("replicas",), "kind ModelReplica: machines make it", "berth status shows what exists"),
        (("gkeclutser",), "there is no kind 'gkeclutser'", "berth get GKECluster"),
        (("qq",), "there is no kind 'qq'", "berth get lists the kinds"),
        (("md", "qwn"), "there is no ModelDeployment 'qwn'", "did you mean `qwen`?"),
        (("md", "-n", "m"), "no ModelDeployment is in a namespace 'm'", "ml"),
        (("mr",), "kind ModelReplica: machines make it", "berth status shows what exists"),
        (("eks",), "kind EKSCluster: machines make it", "berth get ic lists the clusters"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], summary: str, help_: str
) -> None:
    """Exit code 2, nothing on stdout."""
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert summary in err
    assert help_ in err


def test_without_a_kind_the_kinds_are_listed(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """With their short names, and without any environment."""
    code, out, _ = ran(capsys, "--environments", str(project / "nowhere"))
    assert code == 0
    assert {line.split()[0]: line.split()[1] for line in out.splitlines()[1:]} == {
        kind: model.SHORT_NAME for kind, model in ALL_KINDS.items()
    }


def test_a_broken_manifest_is_said_and_nothing_is_listed(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """A list without it would be a wrong answer."""
    file = project / "stacks/environments/dev/platform/east.yaml"
    file.write_text(file.read_text().replace("source: EKS", "source: ESK"))
    code, out, err = ran(capsys, "icl")
    assert (code, out) == (2, "")
    assert "value-not-allowed" in err


def test_every_kind_is_listed_with_who_writes_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The columns hold what their heads say, and a program gets a document."""
    monkeypatch.setenv("COLUMNS", "160")
    head, *rows = ran(capsys)[1].splitlines()
    at = head.index("WRITTEN BY")
    assert {row[at:].split()[0] for row in rows} == {"people", "machines"}
    assert all("v1alpha1" in row[head.index("APIVERSIONS") :] for row in rows)
    found = as_json(capsys)["kinds"]
    assert [each["name"] for each in found] == list(ALL_KINDS) == ran(capsys, "-o", "name")[1].split()
    assert yaml.safe_load(ran(capsys, "-o", "yaml")[1])["kinds"] == found
    assert {each["name"] for each in found if each["writtenBy"] == "people"} == set(KINDS)
