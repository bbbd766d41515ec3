"""Versions of Kubernetes that manifests ask of clusters that exist: what no cloud would give is refused where it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from automation.planning.upgrades import version_problems
from automation.scheduling.existing import Existing, ExistingCluster
from automation.scheduling.snapshot import Version
from components.api.fleet import Fleet
from components.errors import Problem
from tests.support.samples import environment_files, fleet_of

SEEN = datetime(2026, 11, 1, tzinfo=UTC)
NAME = "eks-use1"
FILE = "platform/clusters.yaml"
REGION = "      region: us-east-1\n"


def fleet(version: str, *, more: str = "") -> Fleet:
    """Return the sample environment, one cluster of which writes a version; without one it has the default."""
    files = environment_files()
    text = files[FILE].decode()
    line = f'      kubernetesVersion: "{version}"\n' if version else ""
    text = text.replace(REGION, REGION + line)
    if more:
        text = text.replace("modelplane.ai/v1alpha1", "berth.dev/v1alpha1", 1)
        text = text.replace("spec:\n", f"spec:\n  {more}\n", 1)
    return fleet_of({**files, FILE: text.encode()})


def problems(
    wanted: str, running: str, *, pools: Mapping[str, str] | None = None, seen: str = "", more: str = ""
) -> list[Problem]:
    """Return what is wrong with asking a version of a cluster that has another one."""
    existing = Existing(
        clusters={
            NAME: ExistingCluster(NAME, source="EKS", kubernetes_version=running, pool_versions=pools or {}),
            "edge": ExistingCluster("edge", source="Existing"),
        }
    )
    versions = {NAME: Version(seen, SEEN)} if seen else {}
    return list(version_problems(fleet(wanted, more=more), existing, versions))


@dataclass(frozen=True, slots=True)
class Case:
    """A version that is asked for, what there is, and what is refused."""

    name: str
    wanted: str
    running: str
    code: str = ""
    words: str = ""
    allowed: str = ""
    pools: Mapping[str, str] = field(default_factory=dict)
    seen: str = ""
    more: str = ""


CASES = [
    Case("the same", "1.35", "1.35"),
    Case("the same, as a patch", "1.35", "v1.35.4-eks-1"),
    Case("one up", "1.36", "1.35"),
    Case("nothing is built yet", "1.34", ""),
    Case("a version that nobody can read", "1.34", "latest"),
    Case("one down", "1.35", "1.36", "kubernetes-downgrade", "runs Kubernetes 1.36", "1.36 or 1.37"),
    Case("two down", "1.34", "1.36", "kubernetes-downgrade", "its manifest says 1.34", "1.36 or 1.37"),
    Case("two up", "1.36", "1.34", "kubernetes-skips-minor", "one minor at a time", "1.34 or 1.35"),
    Case("by default", "", "1.34", "kubernetes-skips-minor", "says nothing, which means 1.36", "1.34 or 1.35"),
    Case("it was given up", "1.34", "1.36", more="lost: true"),
    Case("it is on its way out", "1.34", "1.36", "kubernetes-downgrade", "runs", "1.36 or 1.37", more="removing: true"),
    Case(
        "it was upgraded elsewhere",
        "1.34",
        "1.34",
        "kubernetes-downgrade",
        "runs Kubernetes 1.35, as seen at 2026-11-01 00:00 UTC",
        "1.35 or 1.36",
        seen="v1.35.2-eks-1",
    ),
    Case("it was looked at before it was upgraded", "1.36", "1.35", seen="v1.34.9"),
    Case("nodes three behind", "1.37", "1.36", pools={"h100": "1.34"}),
    Case(
        "nodes four behind",
        "1.37",
        "1.36",
        "kubernetes-nodes-behind",
        "the nodes of its pool h100 have 1.33",
        "1.36 or older",
        pools={"h100": "1.33", "l4": "1.36"},
    ),
    Case("nodes four behind already", "1.37", "1.37", pools={"h100": "1.33"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_no_cloud_would_give_is_refused(case: Case) -> None:
    """Where it stands, with what is allowed instead; everything else is left to the plan."""
    found = problems(case.wanted, case.running, pools=case.pools, seen=case.seen, more=case.more)
    assert [each.code for each in found] == ([case.code] if case.code else [])
    for each in found:
        assert case.words in each.message
        assert each.allowed == case.allowed


def test_the_place_is_that_of_the_version() -> None:
    """Or of the cluster's block, where the manifest leaves it to the default."""
    (written,) = problems("1.34", "1.36")
    assert (written.file, written.path) == (FILE, "spec.cluster.eks.kubernetesVersion")
    assert written.text[written.column - 1 :] == '"1.34"'
    (default,) = problems("", "1.34")
    assert default.text[default.column - 1 :] == "eks:"
    assert 'kubernetesVersion: "1.35"' in default.help


def test_no_version_is_planned_of_a_cluster_that_berth_did_not_make() -> None:
    """Its manifest only says what it runs."""
    existing = Existing(clusters={"edge": ExistingCluster("edge", source="Existing", kubernetes_version="1.36")})
    files = environment_files()
    head, edge = files[FILE].decode().rsplit("---\n", 1)
    edge = edge.replace("modelplane.ai/v1alpha1", "berth.dev/v1alpha1")
    edge = edge.replace("    existing:\n", '    existing:\n      kubernetesVersion: "1.34"\n')
    made = fleet_of({**files, FILE: f"{head}---\n{edge}".encode()})
    assert made.clusters["edge"].kubernetes_version == "1.34"
    assert not list(version_problems(made, existing, {}))
