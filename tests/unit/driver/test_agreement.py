"""What planning refuses of manifests alone, checking them says too: the same code, place, severity and words."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.fake_runner_session import FakeDriver

CLOUD_CLASS = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: cloudy}
spec:
  provisioning:
    provider: EKS
    eks: {instanceType: g6.12xlarge, accelerator: {type: L4, count: 4}}
    gke: {machineType: g2-standard-48, accelerator: {type: nvidia-l4, count: 4}}
  devices:
    - {name: gpu, driver: gpu.nvidia.com, deviceClassName: gpu.nvidia.com, count: 4}
"""
GKE = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: far}
spec:
  cluster:
    source: GKE
    gke: {region: us-central1}
  nodePools:
    - {name: small, className: cloudy, zones: [us-central1-a]}
"""
EKS = """\
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {name: cloud}
spec:
  cluster:
    source: EKS
    eks: {region: us-east-1, credentials: {name: prod}}
  nodePools:
    - {name: small, className: cloudy, zones: [us-east-1a]}
"""
AWS = """
  providers:
    aws:
      prod: {roleArn: "arn:aws:iam::1:role/x", externalId: e}
"""
QWEN, A, ENVIRONMENT, CLASSES = "models/ml/qwen.yaml", "platform/a.yaml", "environment.yaml", "platform/classes.yaml"
MEMORY = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('1Gi')) > 0"


@dataclass(frozen=True)
class Case:
    """Edits of a fleet's files, the code of what is refused, where the caret stands, and the help."""

    code: str
    edits: tuple[tuple[str, str, str], ...]
    file: str
    at: str
    help: str = ""


def _flow(expression: str) -> tuple[str, str, str]:
    return QWEN, '"true"', f'"{expression}"'


CASES = {
    "an attribute that no device has": Case(
        "selector-fails",
        (_flow("device.attributes['gpu.nvidia.com'].mig"),),
        QWEN,
        '.mig"}',
        "ask first whether the device has it, as in",
    ),
    "a mistyped capacity": Case(
        "selector-fails", (_flow(MEMORY.replace("memory", "memry")),), QWEN, ".memry", "did you mean `memory`?"
    ),
    "a capacity among the attributes": Case(
        "selector-fails",
        (_flow("device.attributes['gpu.nvidia.com'].memory == 'x'"),),
        QWEN,
        ".memory",
        'did you mean `device.capacity["gpu.nvidia.com"].memory`?',
    ),
    "a mistyped domain beside a right driver": Case(
        "selector-fails",
        (_flow(f"device.driver == 'gpu.nvidia.com' && {MEMORY.replace('nvidia', 'nvida')}"),),
        QWEN,
        ".memory",
        "did you mean `gpu.nvidia.com`?",
    ),
    "a release that is not there": Case(
        "release-unknown",
        ((ENVIRONMENT, "frontDoors: [a]", "frontDoors: [a], release: defualt"),),
        ENVIRONMENT,
        "defualt",
        "did you mean `default`?",
    ),
    "a release of a cluster that is not there": Case(
        "release-unknown", ((A, "  nodePools:", "  release: other\n  nodePools:"),), A, "other"
    ),
    "a release that does not fit": Case(
        "release-unfit",
        ((A, "secretRef: {name: a-kubeconfig}", 'secretRef: {name: a-kubeconfig}\n      kubernetesVersion: "1.30"'),),
        A,
        '"1.30"',
        "write a newer version",
    ),
    "an identity beside a kubeconfig": Case(
        "identity-secret-unsupported",
        (
            (
                A,
                "secretRef: {name: a-kubeconfig}",
                "secretRef: {name: a-kubeconfig}\n      identitySecretRef: {name: i}",
            ),
        ),
        A,
        "identitySecretRef",
    ),
}


def answers(driver: FakeDriver, capsys: pytest.CaptureFixture[str], verb: str) -> tuple[int, list[dict[str, Any]]]:
    """Run a verb for a program; return its code and the errors that it gives."""
    capsys.readouterr()
    arguments = ["-e", "dev", "--json"]
    code = driver.berth(verb, *arguments)
    document = json.loads(capsys.readouterr().out)
    return code, [each for each in document["problems"] if each["severity"] == "error"]


def agreed(driver: FakeDriver, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the one error that checking gives, and that planning gives as well, to the last word."""
    code, said = answers(driver, capsys, "validate")
    assert (code, answers(driver, capsys, "plan")) == (2, (2, said))
    (problem,) = said
    return problem


def pointed(driver: FakeDriver, problem: dict[str, Any]) -> str:
    """Return the text under the caret."""
    line = (driver.root / problem["file"]).read_text().splitlines()[problem["line"] - 1]
    return line[problem["column"] - 1 :]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_checking_says_what_planning_refuses(fresh: FakeDriver, capsys: pytest.CaptureFixture[str], case: Case) -> None:
    """Whoever checks in a pull request is not told otherwise when the plan is made."""
    for edit in case.edits:
        fresh.edit(*edit)
    problem = agreed(fresh, capsys)
    assert (problem["code"], problem["file"]) == (case.code, f"environments/dev/{case.file}")
    assert pointed(fresh, problem).startswith(case.at)
    assert problem["help"].startswith(case.help)


def test_a_cluster_on_a_cloud_that_cannot_be_built_on(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """An environment with one cannot be planned, so it is not right."""
    fresh.write("platform/cloudy.yaml", CLOUD_CLASS)
    fresh.write("platform/far.yaml", GKE)
    problem = agreed(fresh, capsys)
    assert (problem["code"], pointed(fresh, problem)) == ("source-unsupported", "GKE")
    assert problem["help"] == "sources that can be built: EKS, Existing"


def test_an_identity_that_cannot_log_in_to_its_clusters(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said once, in the Environment, whatever number of clusters it builds."""
    fresh.write("platform/cloudy.yaml", CLOUD_CLASS)
    fresh.write("platform/cloud.yaml", EKS)
    fresh.write("platform/more.yaml", EKS.replace("name: cloud}", "name: more}"))
    fresh.edit(ENVIRONMENT, "spec: {layout: Single, frontDoors: [a]}\n", f"spec:\n  frontDoors: [a]{AWS}")
    problem = agreed(fresh, capsys)
    assert (problem["code"], problem["file"]) == ("eks-external-id", "environments/dev/environment.yaml")
    assert pointed(fresh, problem) == "e}"


def test_a_cluster_that_leaves_is_not_held_against_its_release(fresh: FakeDriver) -> None:
    """Nothing is built on it."""
    fresh.edit(A, "  nodePools:", "  release: other\n  removing: true\n  nodePools:")
    fresh.edit(ENVIRONMENT, "[a]", "[b]")
    assert fresh.berth("validate", "-e", "dev") == 0
    assert fresh.berth("plan", "-e", "dev") == 0


def test_a_selector_that_matches_somewhere_is_no_mistake(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """On other devices it may fail; those pools are refused, and neither command says an error."""
    text = (fresh.folder / CLASSES).read_text()
    before, mark, after = text.rpartition("      capacity:")
    fresh.write(CLASSES, f"{before}      attributes: {{mig: {{bool: true}}}}\n{mark}{after}")
    fresh.edit(QWEN, '"true"', "\"device.attributes['gpu.nvidia.com'].mig\"")
    assert answers(fresh, capsys, "validate") == (0, [])
    assert fresh.berth("plan", "-e", "dev") == 0


def test_what_a_warning_foretold_is_said_once(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """The error has the better place and words."""
    fresh.edit(QWEN, '"true"', "\"device.attributes['gpu.nvidia.com'].mig\"")
    capsys.readouterr()
    assert fresh.berth("validate", "-e", "dev", "--json") == 2
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["code"], problem["severity"]) == ("selector-fails", "error")


def test_a_part_of_an_environment_is_not_planned(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands beside it is not known, so nothing of it is refused."""
    fresh.write("far/far.yaml", GKE)
    assert fresh.berth("validate", "environments/dev/far/far.yaml") == 0
    assert "source-unsupported" in capsys.readouterr().out


def test_what_is_refused_by_the_state_has_a_place_too(driver: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """Checking cannot know what exists; planning points to the manifest that it is about."""
    driver.edit("models/search/embed.yaml", "clusterSelector: {matchLabels: {cluster: b}}", "")
    driver.edit(A, "    - {name: small, className: gpu-4x, nodeCount: 1}\n", "")
    manifest = (driver.folder / "platform/b.yaml").read_text()
    driver.remove("platform/b.yaml")
    driver.remove("platform/gateway.yaml")
    driver.edit(ENVIRONMENT, "[a]", "[]")
    assert answers(driver, capsys, "validate") == (0, [])
    code, problems = answers(driver, capsys, "plan")
    told = {(each["code"], each["file"].removeprefix("environments/dev/"), pointed(driver, each)) for each in problems}
    assert (code, told) == (
        2,
        {
            ("cluster-in-use", ENVIRONMENT, "dev}"),
            ("gateway-in-use", ENVIRONMENT, "frontDoors: []}"),
            ("pool-in-use", A, "nodePools:"),
        },
    )
    driver.write("platform/b2.yaml", manifest.replace("b-kubeconfig", "b2-kubeconfig").replace("name: b,", "name: b2,"))
    _, problems = answers(driver, capsys, "plan")
    (renamed,) = [each for each in problems if each["code"] == "cluster-in-use"]
    assert (renamed["file"], pointed(driver, renamed)[:3]) == ("environments/dev/platform/b2.yaml", "b2,")
    assert "name it b again" in renamed["help"]
