"""``berth selector``: exit codes, and what a person and a program read."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from automation.cli.main import run

A: Final = 'device.attributes["gpu.nvidia.com"]'
SLICES: Final = """\
apiVersion: v1
kind: List
items:
- kind: ResourceSlice
  spec:
    driver: gpu.nvidia.com
    devices:
    - name: gpu-0
      attributes: {architecture: {string: Hopper}, index: {int: 0}}
      capacity: {memory: {value: 80Gi}}
    - name: gpu-1
      basic:
        attributes: {architecture: {string: Hopper}, index: {int: 1}}
        capacity: {memory: {value: 80Gi}}
- kind: ConfigMap
- kind: ResourceSlice
  spec:
    driver: gpu.nvidia.com
    devices:
    - name: gpu-0
      attributes: {index: {int: 0}}
"""
TABLE: Final = """\
devices:
  h100:
    driver: gpu.nvidia.com
    attributes: {index: {int: 3}}
    capacity: {}
cases:
- {id: one, expr: 'device.attributes["gpu.nvidia.com"].index == 3', device: h100, eval: true, admit: ok}
- {id: two, expr: 'device.attributes["gpu.nvidia.com"].index == 4', device: h100, eval: false}
"""


@pytest.fixture
def slices(tmp_path: Path) -> str:
    """Write ResourceSlices as kubectl does."""
    path = tmp_path / "slices.yaml"
    path.write_text(SLICES, encoding="utf-8")
    return str(path)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a verb; gives the exit code and both streams."""
    code = run(["selector", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """Run a verb for a program."""
    code, out, _ = ran(capsys, *arguments, "-o", "json")
    return code, json.loads(out)


def test_a_selector_is_explained_on_every_device(capsys: pytest.CaptureFixture[str], slices: str) -> None:
    """One device makes it fail, so the answer is no."""
    code, out, err = ran(capsys, "test", f'{A}.architecture == "Hopper"', "--slice", slices)
    assert code == 1
    assert "2 match, 0 do not, 1 fail" in out
    assert "this device has no attribute gpu.nvidia.com/architecture; guard with has(" in out
    assert err == ""


def test_a_selector_that_matches_some_is_well(capsys: pytest.CaptureFixture[str], slices: str) -> None:
    """Exit code 0; two slices may name their devices alike."""
    code, document = as_json(capsys, "test", f"{A}.index == 0", "--slice", slices)
    assert code == 0
    assert document["total"] == {"match": 2, "noMatch": 1, "error": 0}
    assert len(document["devices"]) == 3
    assert document["devices"]["gpu-1"]["outcome"] == "no-match"
    assert [part["value"] for part in document["devices"]["gpu-1"]["parts"] if part["decided"]] == ["false"]


def test_one_device_can_be_chosen(capsys: pytest.CaptureFixture[str], slices: str) -> None:
    """By its name."""
    code, document = as_json(capsys, "test", f"{A}.index == 1", "--slice", slices, "--device", "gpu-1")
    assert (code, list(document["devices"])) == (0, ["gpu-1"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("test", "true"), "either a class or a file"),
        (("test", "true", "--slice", "{slices}", "--class", "h100"), "either a class or a file"),
        (("test", "true", "--slice", "/nowhere.yaml"), "cannot read"),
        (("verify", "/nowhere.yaml"), "cannot read"),
        (("test", "true", "--minor", "1.33", "--slice", "{slices}"), "1.33"),
        (("test", "true", "--slice", "{slices}", "--device", "x"), "no device 'x'"),
        (("test", "device.nope", "--slice", "{slices}"), "undefined field 'nope'"),
        (("test", "true", "--slice", "{broken}"), "no YAML"),
        (("test", "true", "--slice", "{table}"), "no ResourceSlice"),
        (("verify", "{broken}"), "no YAML"),
        (("verify", "{slices}"), "no case table"),
        (("check", "true", "--minor", "1.12"), "1.12"),
    ],
)
def test_a_wrong_use_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, slices: str, arguments: tuple[str, ...], words: str
) -> None:
    """Exit code 2, words on the other stream, nothing for programs."""
    (tmp_path / "broken.yaml").write_text("{", encoding="utf-8")
    (tmp_path / "table.yaml").write_text(TABLE, encoding="utf-8")
    names = {"slices": slices, "broken": str(tmp_path / "broken.yaml"), "table": str(tmp_path / "table.yaml")}
    code, out, err = ran(capsys, *(argument.format(**names) for argument in arguments))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_check_tells_the_minors_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """A new selector may use what the minor before knew."""
    code, document = as_json(capsys, "check", "device.allowMultipleAllocations")
    assert code == 1
    assert {name: one["accepted"] for name, one in document["minors"].items()} == {
        "1.34": False, "1.35": False, "1.36": True, "1.37": True,
    }  # fmt: skip
    assert document["minors"]["1.34"]["column"] == 7
    code, document = as_json(capsys, "check", "device.allowMultipleAllocations", "--stored")
    assert (code, [one["cost"] for one in document["minors"].values()]) == (0, [2, 2, 2, 2])


def test_check_shows_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    """A caret under it."""
    code, out, _ = ran(capsys, "check", f"{A}.index = 3", "--minor", "1.34")
    assert code == 1
    line, mark = out.splitlines()[-2:]
    assert line[mark.index("^")] == "="


def test_verify_runs_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Agreement per question; exit code 1 on any disagreement, which is shown."""
    path = tmp_path / "table.yaml"
    path.write_text(TABLE, encoding="utf-8")
    code, document = as_json(capsys, "verify", str(path))
    assert (code, document["agrees"], document["falseMatches"]) == (0, True, 0)
    assert document["questions"]["eval"]["asked"] == document["questions"]["eval"]["agreed"] == 8
    path.write_text(TABLE.replace("eval: true", "eval: false"), encoding="utf-8")
    code, out, _ = ran(capsys, "verify", str(path), "--minor", "1.34")
    assert code == 1
    assert "want false, got true" in out
    assert "1 false matches" in out


def test_the_rounds_of_a_macro_are_shown(capsys: pytest.CaptureFixture[str], slices: str) -> None:
    """One value for each element that was looked at; literals only to programs."""
    asked = ("test", f"{A}.exists(k, {A}[k] == 1)", "--slice", slices, "--device", "gpu-1")
    code, out, _ = ran(capsys, *asked)
    assert code == 0
    shown = dict(row.strip().rsplit("  =  ", 1) for row in out.splitlines() if "  =  " in row)
    assert shown[f"{A}[k] == 1"] == "false, true"
    assert '"gpu.nvidia.com"' not in shown
    _, document = as_json(capsys, *asked)
    parts = {part["expression"]: part for part in document["devices"]["gpu-1"]["parts"]}
    assert (parts[f"{A}[k] == 1"]["rounds"], parts[f"{A}[k] == 1"]["times"]) == (["false", "true"], 2)
    assert parts['"gpu.nvidia.com"']["value"] == '"gpu.nvidia.com"'
    _, out, _ = ran(capsys, "test", "[1,2,3,4,5,6,7,8,9].all(x, x > 0)", "--slice", slices, "--device", "gpu-1")
    assert f"x > 0  =  {', '.join(['true'] * 8)}, ..." in out


def test_check_asks_the_minors_that_are_given(capsys: pytest.CaptureFixture[str]) -> None:
    """In their order; the caret stands under what is too long, too."""
    code, document = as_json(capsys, "check", "[2, 1].sort() == [1, 2]", "--minor", "1.35", "--minor", "1.34")
    assert (code, list(document["minors"])) == (1, ["1.35", "1.34"])
    assert [one["accepted"] for one in document["minors"].values()] == [True, False]
    assert as_json(capsys, "check", "[2, 1].sort() == [1, 2]", "--minor", "1.34", "--stored")[0] == 0
    code, out, _ = ran(capsys, "check", f'"{"x" * 11_000}" == ""', "--minor", "1.36")
    assert code == 1
    assert "1:10241" in out
    assert out.splitlines()[-1].strip() == "^"


def test_verify_asks_for_quantities_and_gates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A table needs no cases; a question of another minor is not asked."""
    path = tmp_path / "table.yaml"
    path.write_text("quantities:\n- {in: 1Gi, ok: true, canonical: 1Gi}\n- {in: Pi, ok: false}\n", encoding="utf-8")
    code, document = as_json(capsys, "verify", str(path), "--minor", "1.34")
    assert (code, document["questions"]) == (0, {"quantity": {"asked": 2, "agreed": 2}})
    gated = "{expr: '[1].includes(1)', gates: {lt: true}, eval: true, admit: {'1.36': ok}, est: 11, act: 11}"
    path.write_text(f"cases:\n- {gated}\n", encoding="utf-8")
    for minor, asked in (("1.35", set()), ("1.36", {"eval", "admit", "est", "act"}), ("1.37", {"eval", "est", "act"})):
        _, document = as_json(capsys, "verify", str(path), "--minor", minor)
        assert set(document["questions"]) == asked


ENVIRONMENT: Final = "apiVersion: berth.dev/v1alpha1\nkind: Environment\nmetadata: {name: lab}\n"
CLASS: Final = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: h100}
spec:
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: 8
      attributes: {architecture: {string: Hopper}}
      capacity: {memory: {value: 81559Mi}}
"""


@pytest.fixture
def environments(tmp_path: Path) -> str:
    """Write an environment with one class."""
    folder = tmp_path / "envs/lab"
    (folder / "platform").mkdir(parents=True)
    (folder / "environment.yaml").write_text(ENVIRONMENT, encoding="utf-8")
    (folder / "platform/classes.yaml").write_text(CLASS, encoding="utf-8")
    return str(tmp_path / "envs")


def test_the_devices_of_a_class_are_asked(capsys: pytest.CaptureFixture[str], environments: str) -> None:
    """By the name of an InferenceClass, in the environment and for the minor that are given."""
    where = ("--environments", environments, "--env", "lab")
    wanted = f'{A}.architecture == "Hopper"'
    code, document = as_json(capsys, "test", wanted, "--class", "h100", "--minor", "1.36", *where)
    assert (code, document["minor"], document["total"]) == (0, "1.36", {"match": 1, "noMatch": 0, "error": 0})
    parts = [(part["expression"], part["value"], part["decided"]) for part in document["devices"]["gpu"]["parts"]]
    assert parts[0] == (wanted, "true", True)
    assert parts[1] == (f"{A}.architecture", '"Hopper"', False)
    code, out, _ = ran(capsys, "test", f"{A}.nope == 1", "--class", "h100", *where)
    assert code == 1
    assert "0 match, 0 do not, 1 fail" in out
    code, _, err = ran(capsys, "test", "true", "--class", "b200", *where)
    assert code == 2
    assert "no InferenceClass 'b200' in lab" in " ".join(err.split())


CLUSTER: Final = """\
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {name: NAME}
spec:
  cluster:
    source: Existing
    existing: {secretRef: {name: NAME}, kubernetesVersion: "VERSION"}
  nodePools: [{name: gpus, className: CLASS, nodeCount: 1}]
"""


def test_a_class_is_asked_for_the_oldest_minor_that_has_it(
    capsys: pytest.CaptureFixture[str], environments: str
) -> None:
    """Of the clusters with nodes of the class; others may be older."""
    platform = Path(environments) / "lab/platform"
    more = (platform / "classes.yaml").read_text(encoding="utf-8").replace("name: h100", "name: other")
    (platform / "more.yaml").write_text(more, encoding="utf-8")
    for name, version, of in (("a", "v1.36.2", "h100"), ("b", "1.35", "h100"), ("c", "1.34", "other")):
        text = CLUSTER.replace("NAME", name).replace("VERSION", version).replace("CLASS", of)
        (platform / f"{name}.yaml").write_text(text, encoding="utf-8")
    _, document = as_json(capsys, "test", "true", "--class", "h100", "--environments", environments, "--env", "lab")
    assert document["minor"] == "1.35"


@pytest.mark.parametrize(("minor", "outcome"), [("1.34", "error"), ("1.37", "match")])
def test_the_scheduler_of_the_minor_is_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, minor: str, outcome: str
) -> None:
    """A list attribute is an error of the device before 1.37."""
    path = tmp_path / "slice.json"
    devices = [{"name": "gpu-0", "attributes": {"links": {"strings": ["a"]}}}]
    path.write_text(json.dumps({"kind": "ResourceSlice", "spec": {"driver": "d", "devices": devices}}), "utf-8")
    _, document = as_json(capsys, "test", "true", "--slice", str(path), "--minor", minor)
    assert document["devices"]["gpu-0"]["outcome"] == outcome


def test_verify_asks_the_minors_that_are_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """And only those."""
    path = tmp_path / "table.yaml"
    path.write_text(TABLE, encoding="utf-8")
    code, document = as_json(capsys, "verify", str(path), "--minor", "1.36", "--minor", "1.37")
    assert (code, document["minors"], document["questions"]["eval"]["asked"]) == (0, ["1.36", "1.37"], 4)


def test_plain_text_for_people_has_no_colour_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The options of all verbs hold here too."""
    code, out, err = ran(capsys, "check", "true", "--minor", "1.34", "--color", "never", "--quiet")
    assert (code, err) == (0, "")
    assert out.split() == ["1.34", "accepted", "worst-case", "cost", "0"]
    assert "\x1b[" in ran(capsys, "check", "true", "--color", "always")[1]
