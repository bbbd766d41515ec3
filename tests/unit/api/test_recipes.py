"""How nodes are made: machine types that are known, and counts that agree."""

import pytest

from components.api.codes import Code
from components.api.load import load_fleet
from components.clusters.machines import gpus_by_machine
from components.errors import Problem, Severity
from tests.support.api_manifests import pointed

CLASS = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: l4}
spec:
  provisioning:
    provider: EKS
    eks: {instanceType: g6.12xlarge, accelerator: {type: L4, count: 4}}
  devices:
    - {name: gpu, driver: gpu.nvidia.com, deviceClassName: gpu.nvidia.com, count: 4}
"""


def found(text: str) -> list[Problem]:
    """Return the problems of one class."""
    result = load_fleet([("platform/l4.yaml", text.encode())], complete=False, machines=gpus_by_machine())
    return list(result.problems)


RIGHT = {
    "as it is": (),
    "a device by the driver beside it": (
        ("count: 4}\n", "count: 4}\n    - {name: nic, driver: dra.net, claim: Synthetic}\n"),
    ),
    "two kinds of one driver": (
        ("count: 4}\n", "count: 2}\n    - {name: old, driver: gpu.nvidia.com, claim: Synthetic, count: 2}\n"),
    ),
    "parts of GPUs": (("count: 4}\n", "count: 28, attributes: {profile: {string: 1g.5gb}}}\n"),),
    "no GPUs of NVIDIA": (
        ("g6.12xlarge", "trn2.48xlarge"),
        ("driver: gpu.nvidia.com, deviceClassName: gpu.nvidia.com", "driver: neuron.aws.com, deviceClassName: neuron"),
    ),
}


@pytest.mark.parametrize("edits", RIGHT.values(), ids=RIGHT.keys())
def test_what_agrees_is_not_warned_of(edits: tuple[tuple[str, str], ...]) -> None:
    """Nor what nobody can know."""
    text = CLASS
    for old, new in edits:
        text = text.replace(old, new)
    assert found(text) == []


WRONG = [
    (
        "instanceType: g6.12xlarge",
        "instanceType: g6.12xlrge",
        Code.MACHINE_UNKNOWN,
        "g6.12xlrge",
        "did you mean `g6.12xlarge`?",
    ),
    (
        "instanceType: g6.12xlarge",
        "instanceType: zz.huge",
        Code.MACHINE_UNKNOWN,
        "zz.huge",
        "nothing is wrong if the cloud",
    ),
    ("type: L4, count: 4", "type: L4, count: 8", Code.DEVICES_DIFFER, "8}", "write 4, or another machine type"),
    ("count: 4}\n", "count: 8}\n", Code.DEVICES_DIFFER, "4}", "make `count` of the device"),
]


@pytest.mark.parametrize(("old", "new", "code", "at", "hint"), WRONG)
def test_what_is_unknown_or_differs_is_warned_of(old: str, new: str, code: Code, at: str, hint: str) -> None:
    """It may be right, so it stops nobody."""
    (problem,) = found(CLASS.replace(old, new))
    assert (problem.code, problem.severity) == (code, Severity.WARNING)
    assert pointed(problem).startswith(at)
    assert problem.help.startswith(hint)


CLUSTER = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: eu}
spec:
  cluster:
    source: EKS
    eks: {region: REGION}
  nodePools:
    - {name: a, className: l4, zones: [eu-west-1a, eu-west-1b]}
    - {name: b, className: l4, zones: [ZONE]}
"""


@pytest.mark.parametrize(
    ("region", "zone", "at", "hint"),
    [
        ("eu-west-11", "eu-west-1a", ["eu-west-11"], "did you mean `eu-west-1`?"),
        ("eu-wst", "eu-west-1a", ["eu-wst"], "did you mean `eu-west-1`?"),
        ("eu-west-1", "eu-west-2a", ["eu-west-2a"], ""),
        ("eu-west-11", "eu-west-2a", ["eu-west-1a", "eu-west-1b", "eu-west-2a"], ""),
    ],
)
def test_the_region_is_at_fault_where_all_zones_say_another(region: str, zone: str, at: list[str], hint: str) -> None:
    """A misspelt region is one mistake, and not one in each zone."""
    text = CLUSTER.replace("REGION", region).replace("ZONE", zone)
    result = load_fleet([("platform/eu.yaml", text.encode())], complete=False)
    wrong = [problem for problem in result.problems if problem.code is Code.ZONE_INVALID]
    assert [pointed(problem).startswith(place) for problem, place in zip(wrong, at, strict=True)] == [True] * len(at)
    assert {problem.help for problem in wrong} == {hint}
