"""What an environment needs follows from its clusters, and from what its states hold."""

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.driver.provisions import require_provisions
from automation.engine.state import read_existing
from tests.support.platforms import eks, fleet, pool
from tests.support.samples import fleet_of, small_files
from tests.unit.engine.samples import checkpoint, entry, stack_entry

if TYPE_CHECKING:
    from automation.driver.reading import Situation
    from automation.driver.session import Session

EKS = fleet(eks(pools=[pool()]))
EXISTING = fleet_of(small_files())


def needs(manifests: Any, *resources: dict[str, Any], simulated: bool = False) -> tuple[list[str], list[str]]:
    """Return the packages and the programs that are asked for."""
    asked: list[tuple[list[str], list[str]]] = []

    def require(packages: Collection[str], programs: Mapping[str, str]) -> None:
        assert all(programs.values())
        asked.append((sorted(packages), sorted(programs)))

    state = checkpoint(stack_entry(), *resources)
    found = SimpleNamespace(fleet=manifests, checkpoints={state.stack: state}, existing=read_existing([state]))
    session = SimpleNamespace(provisions=None if simulated else SimpleNamespace(require=require))
    require_provisions(cast("Session", session), cast("Situation", found))
    return asked[0] if asked else ([], [])


@pytest.mark.parametrize(
    ("manifests", "resources", "want"),
    [
        pytest.param(EKS, (), (["aws", "kubernetes"], ["aws"]), id="a cluster that is to come"),
        pytest.param(EXISTING, (), (["kubernetes"], []), id="no cloud"),
        pytest.param(
            EXISTING,
            (
                entry("pulumi:providers:aws", "aws-default-us-east-1"),
                entry("pulumi:providers:pulumi", "default"),
                entry("berth:index:EksCluster", "gone", inputs={"cluster": "gone", "source": "EKS"}),
            ),
            (["aws", "kubernetes"], ["aws"]),
            id="a cluster that is to go",
        ),
    ],
)
def test_needs_are_those_of_the_clusters(
    manifests: Any, resources: tuple[dict[str, Any], ...], want: tuple[list[str], list[str]]
) -> None:
    """A source that nobody uses asks for nothing."""
    assert needs(manifests, *resources) == want


def test_a_simulated_run_needs_nothing() -> None:
    """Its providers are Berth's own."""
    assert needs(EKS, simulated=True) == ([], [])
