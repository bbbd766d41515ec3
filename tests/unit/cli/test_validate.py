"""``berth validate``: environments and parts, the places of problems, and the forms that machines read."""

import io
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from automation.cli.main import run
from stacks.environment import read_manifests
from tests.support.api_manifests import files

GKE = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: far}
spec:
  cluster:
    source: GKE
    gke: {region: us-central1}
  nodePools:
  - name: h100
    className: h100x8
    zones: [us-central1-a]
"""
WRONG = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: outside, namespace: ml}
spec: {url: "ftp://example.com/100%, sure"}
"""


pytestmark = pytest.mark.usefixtures("project")


def write(path: Path, content: bytes | str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the verb; gives the exit code and both streams."""
    code = run(["validate", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """Run the verb for a program."""
    code, out, _ = ran(capsys, *arguments)
    return code, json.loads(out)


@pytest.mark.parametrize("stand", [".", "stacks", "stacks/environments/dev", "stacks/environments/dev/models"])
def test_a_place_is_told_from_where_the_person_stands(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stand: str
) -> None:
    """Relative below the current folder, absolute elsewhere, so that it can be clicked."""
    broken = write(project / "stacks/environments/dev/models/ml/outside.yaml", WRONG)
    monkeypatch.chdir(project / stand)
    code, out, err = ran(capsys)
    assert code == 2
    assert out.startswith(f"{broken.relative_to(project / stand).as_posix()}:4:")
    assert "1 error" in err
    monkeypatch.chdir(project / "stacks/environments/dev/platform")
    assert ran(capsys)[1].startswith(f"{broken}:4:")


def test_both_places_of_a_name_are_told_alike(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A place inside a message is written like the one before it."""
    folder = project / "stacks/environments/dev/platform"
    write(folder / "twice.yaml", GKE)
    write(folder / "another.yaml", GKE)
    code, document = as_json(capsys, "-o", "json")
    (problem,) = [each for each in document["problems"] if each["severity"] == "error"]
    assert code == 2
    assert problem["file"] == "stacks/environments/dev/platform/twice.yaml"
    assert "the first is at stacks/environments/dev/platform/another.yaml:1" in problem["message"]


def test_a_cluster_that_cannot_be_built_is_refused_where_it_is_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Planning refuses it with the same words and the same code."""
    write(project / "stacks/environments/dev/platform/far.yaml", GKE)
    code, document = as_json(capsys, "--json")
    (problem,) = document["problems"]
    assert (code, document["valid"], problem["severity"], problem["code"]) == (2, False, "error", "source-unsupported")
    assert (problem["line"], problem["column"], problem["path"]) == (6, 13, "spec.cluster.source")
    assert problem["message"] == "cluster far: this Berth cannot build clusters on GKE yet"


def test_a_folder_with_an_environment_is_checked_as_one(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """By itself, above it, and beside others; each alone, so that two environments do not meet."""
    for path, content in files().items():
        write(project / "stacks/environments/prod" / path, content.replace(b"name: dev", b"name: prod"))
    code, document = as_json(capsys, "stacks", "--json")
    assert (code, document["environments"], document["problems"]) == (0, ["dev", "prod"], [])
    code, document = as_json(capsys, "stacks/environments/dev", "stacks/environments/prod", "--json")
    assert (code, document["environments"], document["problems"]) == (0, ["dev", "prod"], [])


def test_what_a_part_refers_to_may_lie_elsewhere(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """A missing class is a warning there, and an error in an environment."""
    write(project / "far.yaml", GKE)
    code, document = as_json(capsys, "far.yaml", "--json")
    found = {each["code"]: each for each in document["problems"]}
    assert (code, document["environments"], document["files"]) == (0, [], 1)
    assert found["reference-missing"]["severity"] == "warning"
    assert found["reference-missing"]["message"] == "there is no InferenceClass named `h100x8` among these files"
    assert ran(capsys, "far.yaml", "stacks/environments/dev/platform/classes.yaml", "--json")[0] == 0


def test_a_part_of_an_environment_is_read_as_from_there(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """The folder's namespace holds for one file of it too."""
    path = write(project / "stacks/environments/dev/models/other/outside.yaml", WRONG.replace("ftp", "http"))
    code, document = as_json(capsys, str(path), "--json")
    assert code == 2
    assert [each["code"] for each in document["problems"]] == ["namespace-wrong"]


def test_files_of_other_tools_are_passed_over_by_a_pattern(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """They are warned of once per file otherwise."""
    write(project / "stacks/environments/dev/extra/map.yaml", "apiVersion: v1\nkind: ConfigMap\n")
    assert [each["code"] for each in as_json(capsys, "--json")[1]["problems"]] == ["other-document"]
    assert as_json(capsys, "--json", "--ignore", "extra/*")[1]["problems"] == []


def test_what_is_passed_over_is_not_counted(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """The number of files is that of the files that were read."""
    count = as_json(capsys, "--json")[1]["files"]
    write(project / "stacks/environments/dev/extra/map.yaml", "a: [")
    assert as_json(capsys, "--json")[1]["files"] == count + 1
    assert as_json(capsys, "--json", "--ignore", "extra/*")[1]["files"] == count


@pytest.mark.parametrize("pattern", ["extra/map.yaml", "extra/*", "extra/", "*/map.y*"])
def test_an_environment_says_for_every_verb_what_is_no_manifest_of_its(
    capsys: pytest.CaptureFixture[str], project: Path, pattern: str
) -> None:
    """By itself, below a folder that is asked for, for the program; only a file that is asked for by name is read."""
    folder = project / "stacks/environments/dev"
    other = write(folder / "extra/map.yaml", "a: [")
    write(folder / ".berthignore", f"# charts\n\n  {pattern}\n")
    for arguments in ((), ("stacks",), ("stacks/environments/dev",)):
        code, document = as_json(capsys, *arguments, "--json")
        assert (code, document["problems"]) == (0, [])
    assert not read_manifests(folder).problems
    assert as_json(capsys, str(other), "--json")[0] == 2


@pytest.mark.parametrize(
    ("argument", "words"),
    [("nowhere", "no file or folder nowhere"), ("empty", "no manifest in empty"), ("notes.txt", "is no manifest")],
)
def test_nothing_to_check_is_no_success(
    capsys: pytest.CaptureFixture[str], project: Path, argument: str, words: str
) -> None:
    """A misspelt path in a script must not pass."""
    (project / "empty").mkdir()
    write(project / "notes.txt", "hello")
    code, out, err = ran(capsys, argument)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("argument", "help_"),
    [("staging", "-e staging"), ("models/ml", "paths count from "), ("qwen.yaml", "paths count from ")],
)
def test_a_path_that_is_not_there_is_an_environment_only_where_it_could_be(
    capsys: pytest.CaptureFixture[str], project: Path, argument: str, help_: str
) -> None:
    """No environment is called like a file, or like a path into one."""
    assert project.is_dir()
    assert help_ in ran(capsys, argument)[2]


def test_sarif_places_every_problem(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """One rule per code with its page, one result per problem with file, line and column."""
    write(project / "stacks/environments/dev/models/ml/outside file.yaml", WRONG)
    code, log = as_json(capsys, "-o", "sarif")
    run_ = log["runs"][0]
    (result,) = run_["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (code, log["version"], result["level"]) == (2, "2.1.0", "error")
    assert place["artifactLocation"]["uri"] == "stacks/environments/dev/models/ml/outside%20file.yaml"
    assert place["region"] == {"startLine": 4, "startColumn": 13, "snippet": {"text": WRONG.splitlines()[3]}}
    rule = run_["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "url-invalid"
    assert "URL" in rule["help"]["markdown"]


def test_marks_of_a_workflow_are_escaped_and_rooted(
    capsys: pytest.CaptureFixture[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stderr, by themselves inside a workflow; a file is named from the root, not from the current folder."""
    write(project / "stacks/environments/dev/models/ml/outside.yaml", WRONG)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project))
    monkeypatch.chdir(project / "stacks/environments")
    code, out, err = ran(capsys)
    marks = [line for line in err.splitlines() if line.startswith("::")]
    start = "::error file=stacks/environments/dev/models/ml/outside.yaml,line=4,col=13,title=url-invalid::"
    assert code == 2
    assert "::" not in out
    assert [mark for mark in marks if mark.startswith(start)] == marks != []
    assert "100%25, sure" in marks[0]
    assert "::error" not in ran(capsys, "--annotations", "none")[2]
    run(["plan"])
    assert start in capsys.readouterr().err


def test_a_code_quality_report_is_the_document(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """A list of findings, each with a fingerprint and a line."""
    write(project / "stacks/environments/dev/models/ml/outside.yaml", WRONG)
    code, report = as_json(capsys, "--annotations", "gitlab")
    (finding,) = report
    assert (code, finding["check_name"], finding["severity"]) == (2, "url-invalid", "major")
    assert finding["location"] == {"path": "stacks/environments/dev/models/ml/outside.yaml", "lines": {"begin": 4}}
    assert len(finding["fingerprint"]) == 64
    assert ran(capsys, "--annotations", "gitlab", "--json")[0] == 2


def test_a_file_that_cannot_be_read_is_a_result_too(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """A scanner gets its log, with the exit code of an error."""
    (project / "stacks/environments/dev/gone.yaml").symlink_to("nowhere.yaml")
    code, log = as_json(capsys, "-o", "sarif")
    assert code == 2
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == ["file-unreadable"]


@pytest.mark.parametrize("name", [b"\xff.yaml", b"new\nline.yaml", "caf\u00e9.yaml".encode(), b"\x1b[31m.yaml"])
@pytest.mark.parametrize("form", ["table", "json", "sarif"])
def test_a_name_that_is_no_plain_text_is_told_in_every_form(
    capsys: pytest.CaptureFixture[str], project: Path, form: str, name: bytes
) -> None:
    """A file system allows what a terminal and a document do not."""
    (project / os.fsdecode(name)).write_bytes("a: [caf\u00e9, \U0001f600".encode())
    code, out, _ = ran(capsys, os.fsdecode(name), "-o", form, "--annotations", "github")
    assert code == 2
    assert "\x1b" not in out
    assert form == "table" or json.loads(out)
    if form == "sarif":
        place = json.loads(out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert unquote_to_bytes(place["artifactLocation"]["uri"]) == name


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_stream_of_a_plain_locale_gets_what_it_can_write(
    project: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is escaped; a letter of a manifest is no reason to fail."""
    (project / "a.yaml").write_bytes("\u00e9: [\U0001f600".encode())
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert run(["validate", "a.yaml", "-o", form]) == 2
    stream.seek(0)
    text = stream.read()
    assert text.isascii()
    assert form == "table" or json.loads(text)["problems"]
