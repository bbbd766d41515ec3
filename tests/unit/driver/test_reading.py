"""Before anything is planned, a run refuses what would take one thing for another."""

import pytest

from automation.driver.reading import refuse_other_source
from automation.scheduling.existing import Existing, ExistingCluster
from components.errors import ConfigError
from tests.unit.planning.world import cluster, fleet


def existing(source: str) -> Existing:
    """Return a state that holds the cluster ``a``."""
    return Existing(clusters={"a": ExistingCluster("a", source=source)})


def test_a_cluster_that_would_come_from_another_source_is_refused() -> None:
    """The name is the same, but everything on the old cluster would be taken for being on the new one."""
    with pytest.raises(ConfigError) as caught:
        refuse_other_source(fleet(cluster("a")), existing("EKS"))
    (problem,) = caught.value.problems
    assert problem.code == "source-changed"
    assert problem.where.startswith("platform/all.yaml:")
    assert "EKS" in problem.message
    assert "Existing" in problem.message
    assert "removing: true" in problem.help


@pytest.mark.parametrize(
    ("source", "spec"),
    [("Existing", {}), ("", {}), ("EKS", {"lost": True})],
    ids=["the same source", "a source that no state tells", "a cluster that is given up"],
)
def test_other_clusters_are_let_through(source: str, spec: dict[str, object]) -> None:
    """Only a difference that would be built is refused."""
    refuse_other_source(fleet(cluster("a", **spec), cluster("b")), existing(source))
    refuse_other_source(fleet(cluster("b")), existing(source))
