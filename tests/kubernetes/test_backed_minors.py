"""The Kubernetes behind a simulated cluster is the one that its manifest says, or nothing is made.

``SORTED`` is an expression that only API servers of 1.35 and newer take.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from automation.engine.toolchain.kubernetes import MINORS
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.backing.eks import CLUSTER
from automation.rehearsal.backing.keeper import Keeper
from automation.rehearsal.kubernetes.api import ApiError
from automation.rehearsal.store import Store
from components.cel.selector import admit
from tests.support.backed_run import BackedRun, cluster, two_clusters
from tests.support.keeper_run import api_of, start_cluster
from tests.support.kubernetes_minor import MINOR

pytestmark = [
    pytest.mark.kubernetes,
    pytest.mark.filterwarnings("ignore:.* has been deprecated in favor of:DeprecationWarning"),
]

SORTED = "[3, 1].sort()[0] == 1"
OTHER = next(name for name in [*MINORS][::-1] if name != MINOR.name)
TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"


@pytest.fixture
def run(programs: Mapping[str, Path], provider: Path, pulumi_cli: Toolchain, tmp_path: Path) -> Iterator[BackedRun]:
    """Give a repo with two clusters, whose keeper has the programs of one minor."""
    made = BackedRun.with_provider(tmp_path / "fleet", pulumi_cli.pulumi, two_clusters(), provider=provider)
    with Keeper(programs, made.layout, say=lambda _: None, minor=MINOR.name):
        yield made


def test_a_cluster_of_a_minor_that_is_not_there_is_refused_before_anything_is_made(run: BackedRun) -> None:
    """By a plan and by a run: at the line that says it, with both ways out; once it is written, it is what answers."""
    run.write("platform/b.yaml", cluster("b", version=OTHER))
    for verb in (("plan",), ("up", "--yes")):
        said = run.berth(*verb, code=2).stderr
        assert "[backed-kubernetes-missing]" in said
        assert "platform/b.yaml:5:" in said
        assert f"the manifest of cluster b says Kubernetes {OTHER}, whose programs are not here" in said
        assert f"berth doctor --kubernetes {OTHER} --install" in said
        assert f'`kubernetesVersion: "{MINOR.name}"`' in said
    assert run.door.ask("list")["clusters"] == []
    assert run.stacks() == []
    with Store(run.layout.simulated_clouds).reading() as transaction:
        assert transaction.select() == []
    run.write("platform/b.yaml", cluster("b"))
    run.berth("up", "--yes")
    with Store(run.layout.simulated_clouds).reading() as transaction:
        assert {row.outputs["version"] for row in transaction.select(type_=CLUSTER)} == {MINOR.name}
    for each in run.door.ask("list")["clusters"]:
        with closing(api_of(each)) as api:
            assert api.get("/version")["gitVersion"].startswith(f"v{MINOR.name}.")
    run.write("platform/b.yaml", cluster("b", version=OTHER))
    assert f"the control plane behind it has {MINOR.name}" in run.berth("plan", code=2).stderr


def test_a_selector_is_judged_as_the_api_server_behind_the_cluster_judges_it(
    programs: Mapping[str, Path], tmp_path: Path
) -> None:
    """What the manifest's version makes of it, the server says too; a minor that says otherwise is not behind it."""
    layout = Layout(tmp_path, backed=True)
    request = {
        "name": "gpu",
        "exactly": {"deviceClassName": "gpu.nvidia.com", "selectors": [{"cel": {"expression": SORTED}}]},
    }
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "sorted"},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    taken = {name: not admit(SORTED, minor=name).error for name in MINORS}
    assert taken == {"1.34": False, "1.35": True, "1.36": True}
    with (
        Keeper(programs, layout, say=lambda _: None, minor=MINOR.name) as keeper,
        closing(api_of(start_cluster(keeper, layout, version=MINOR.name))) as api,
        nullcontext() if taken[MINOR.name] else pytest.raises(ApiError, match=r"cel\.expression"),
    ):
        api.create(TEMPLATES, template)
