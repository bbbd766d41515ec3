"""What verbs answer, by hand: one of everything that can be shown, and the plainest case of each."""

from datetime import UTC, datetime, timedelta
from typing import Final

from automation.render.observation import (
    FactView,
    HolderView,
    ObservationView,
    ReplicaPodsView,
    SeenClusterView,
    SeenNodeView,
    SeenPoolView,
)
from automation.render.preflight import CheckView, PreflightView
from automation.render.views import (
    AppliedStepView,
    ChoiceView,
    ClusterVerdictView,
    ConditionView,
    DeploymentView,
    DestroyedView,
    DriftView,
    ExplanationView,
    FailureView,
    FrontDoorView,
    LeavingView,
    PlacementView,
    PlanView,
    PolicySummaryView,
    PolicyView,
    PoolVerdictView,
    RemedyView,
    ResourceView,
    ScoreView,
    ShortfallView,
    StatusView,
    StepView,
    UpView,
    VerdictView,
)

NEW: Final = PlacementView(
    replica="ml-team/qwen3-8b/eks-euw1/0",
    namespace="ml-team",
    deployment="qwen3-8b",
    cluster="eks-euw1",
    index=0,
    name="qwen3-8b-1a2b3",
    change="new",
    reason="Placed",
    planned_cluster=True,
    needs_scale_up=True,
    devices=("l4: 1 x gpu.nvidia.com",),
)
KEPT: Final = PlacementView(
    replica="search/embedder/eks-euw1/0",
    namespace="search",
    deployment="embedder",
    cluster="eks-euw1",
    index=0,
    name="embedder-4d5e6",
    change="kept",
    reason="Kept",
    devices=("l40s: 2 x gpu.nvidia.com", "efa: no device"),
)
SUCCESSOR: Final = PlacementView(
    replica="search/reranker/eks-use1/0",
    namespace="search",
    deployment="reranker",
    cluster="eks-use1",
    index=0,
    name="reranker-7f8a9",
    change="changed",
    reason="Drained",
    replaces="search/reranker/eks-euw1/0",
)
VERDICTS: Final = (
    VerdictView(
        cluster="edge",
        code="NoPool",
        message="it has no pool",
    ),
    VerdictView(
        cluster="eks-euw1",
        code="NoRoom",
        message="8 devices on one node wanted, a node has 4",
        wanted=8,
        free=6,
        planned=True,
        pools=(
            "l4: device gpu has 23034Mi of memory, and `device.capacity['gpu.nvidia.com'].memory` must be 80Gi or more",
            "l40s: 8 devices on one node wanted, a node has 4",
        ),
    ),
)
SHORTFALL: Final = ShortfallView(
    deployment="ml-team/deepseek-v3",
    wanted=2,
    placed=0,
    message="0 of 2 placed: no cluster has room",
    summary="2 clusters refused",
    verdicts=VERDICTS,
)
RESOURCES: Final = (
    ResourceView(op="create", type="aws:ec2/vpc:Vpc", name="eks-euw1-vpc", stack="dev"),
    ResourceView(
        op="update",
        type="kubernetes:apps/v1:Deployment",
        name="ml-team/qwen3-8b/eks-euw1/0-workload-main",
        stack="dev",
        because=("spec.template.spec.containers[0].image",),
    ),
    ResourceView(
        op="replace",
        type="aws:efs/fileSystem:FileSystem",
        name="eks-euw1-files",
        stack="dev",
        because=("encrypted",),
        loses_data=True,
    ),
    ResourceView(op="delete", type="kubernetes:core/v1:Secret", name="ml-team/weights/eks-euw1/0-token", stack="dev"),
)
POLICIES: Final = PolicySummaryView(
    packs=("berth 0.1.0",),
    passed=("cache-fits-volume", "device-one-owner"),
    violations=(
        PolicyView(
            rule="gpu-pool-tainted",
            level="mandatory",
            subject="eks-euw1/l4",
            message="its nodes carry GPUs but not the taint.\nAdd the taint to the pool.",
        ),
        PolicyView(rule="owner-named", level="advisory", subject="the stack", message="nobody answers for it."),
    ),
    deferred=(
        PolicyView(
            rule="component-truthful",
            level="advisory",
            subject="eks-euw1/l4-nodes",
            message="taints is not known before it is applied",
        ),
    ),
)
PLAN: Final = PlanView(
    environment="dev",
    simulated=True,
    empty=False,
    placements=(NEW, KEPT, SUCCESSOR),
    leaving=(
        LeavingView(replica="search/reranker/eks-euw1/0", reason="Drained", successor="search/reranker/eks-use1/0"),
        LeavingView(replica="ml-team/old/eks-use1/1", reason="Deleted"),
    ),
    shortfalls=(SHORTFALL,),
    steps=(
        StepView(kind="build", actions=("1 cluster to build", "2 replicas to start")),
        StepView(kind="retire", actions=()),
    ),
    front_doors=(
        FrontDoorView(cluster="edge", change="leaving", address="203.0.113.7"),
        FrontDoorView(cluster="eks-euw1", change="new"),
        FrontDoorView(cluster="eks-use1", change="rebuilt"),
        FrontDoorView(cluster="gke-euw4", change="moved", address="203.0.113.8", new_address="203.0.113.9"),
    ),
    counts={"create": 41, "update": 1, "replace": 1, "delete": 1, "same": 12},
    resources=RESOURCES,
    policies=POLICIES,
    notes=("eks-apse1 SKIPPED unreachable: no answer in 5 s",),
    lock_changed=("ml-team.yaml",),
)
NOTHING: Final = PlanView(environment="dev", simulated=False, empty=True)
STATUS: Final = StatusView(
    environment="dev",
    simulated=True,
    tree=(
        ConditionView(
            kind="cluster",
            name="eks-euw1",
            condition="Ready",
            detail="https://eks-euw1.example.test",
            children=(
                ConditionView(kind="pool", name="l4", condition="Ready", detail="4 nodes"),
                ConditionView(
                    kind="replica", name="ml-team/qwen3-8b/0", condition="Failed", detail="ImagePullBackOff: vllm:2"
                ),
            ),
        ),
        ConditionView(kind="cluster", name="eks-use1", condition="Unreachable"),
    ),
    deployments=(
        DeploymentView(
            deployment="ml-team/deepseek-v3", wanted=1, placed=0, serving=0, reason="0/2 clusters: 2 no matching device"
        ),
        DeploymentView(
            deployment="ml-team/qwen3-8b",
            wanted=2,
            placed=2,
            serving=1,
            reason="ml-team/qwen3-8b/eks-euw1/0 failed: ImagePullBackOff: vllm:2",
        ),
        DeploymentView(deployment="search/embedder", wanted=1, placed=1, serving=1),
    ),
    pending=("aws:ec2/vpc:Vpc eks-use1-vpc: interrupted while creating; it may exist without being in the state",),
    orphans=("aws:eks/addon:Addon eks-use1-dns may exist and is not in the state: look for it and delete it by hand",),
    leases=("dev by sam@host (pid 41, `berth up`) since 2026-11-02T08:00:00+00:00: no such process runs here",),
)
EXPLANATION: Final = ExplanationView(
    deployment="ml-team/deepseek-v3",
    wanted=2,
    placed=1,
    summary="0/2 clusters: 1 without GPU pools, 1 full",
    next_replica=RemedyView(
        answer="never",
        message="never fits: request gpu wants 16 devices, a node has 8 of gpu (eks-use1/h100 comes closest)",
        cluster="",
        growth=(),
    ),
    order=("fewest own replicas", "name"),
    chosen=(
        ChoiceView(
            replica="ml-team/deepseek-v3/eks-euw1/0",
            score=ScoreView(own=0, region=1, mixes=False, cost="98.32", wanted=12),
        ),
        ChoiceView(
            replica="ml-team/deepseek-v3/eks-euw1/1",
            score=ScoreView(own=1, region=2, mixes=True, cost=None, wanted=12),
        ),
    ),
    leaving=(LeavingView(replica="ml-team/deepseek-v3/eks-use1/0", reason="drained"),),
    verdicts=(
        ClusterVerdictView(
            cluster="eks-euw1",
            code="no-room",
            message="wanted 8 devices of h100, free 6 of 8",
            planned=True,
            taken=0,
            wanted=8,
            free=6,
            pools=(
                PoolVerdictView(
                    pool="l4",
                    code="no-match",
                    message="request gpus: l4 does not satisfy"
                    " device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
                    engine="main",
                    member="Standalone",
                    request="gpus",
                    expression="device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
                    device="l4",
                    wanted=8,
                    free=None,
                ),
                PoolVerdictView(
                    pool="h100",
                    code="no-room",
                    message="wanted 8 devices of h100, free 6 of 8",
                    engine="main",
                    member="",
                    request="",
                    expression="",
                    device="",
                    wanted=8,
                    free=6,
                ),
            ),
            score=None,
        ),
    ),
)
DRIFT: Final = DriftView(
    environment="dev",
    simulated=False,
    resources=(
        ResourceView(op="delete", type="kubernetes:core/v1:Service", name="edge/ml/chat-service", stack="dev"),
        ResourceView(
            op="update", type="aws:eks/nodeGroup:NodeGroup", name="eks-euw1/l4-nodes", stack="dev", because=("taints",)
        ),
    ),
    notes=("eks-use1 was not looked at: unreachable",),
)
UP: Final = UpView(
    environment="dev",
    simulated=True,
    ok=False,
    steps=(
        AppliedStepView(kind="build", stack="dev", counts={"create": 40, "same": 12}, seconds=12.5),
        AppliedStepView(
            kind="shift",
            stack="dev",
            counts={"same": 52},
            seconds=1.0,
            failures=(
                FailureView(
                    subject="ml-team/qwen3-8b/eks-euw1/0",
                    resource="workload-main",
                    message="the image cannot be pulled\nvllm:2: not found",
                ),
            ),
        ),
    ),
    shortfalls=(SHORTFALL,),
    notes=("the next run retries it",),
)
DESTROYED: Final = DestroyedView(
    environment="dev",
    simulated=True,
    deleted=1,
    retained=("namespace ml-team on eks-euw1",),
    failures=(FailureView(subject="eks-use1", resource="eks-use1-vpc", message="it has a load balancer"),),
    notes=("eks-apse1 was marked lost",),
)
PREFLIGHT: Final = PreflightView(
    environment="dev",
    cluster="onprem",
    server="https://onprem.test:6443",
    ready=False,
    checks=(
        CheckView(name="version", status="ok", found="v1.34.4", want="1.34 to 1.36"),
        CheckView(
            name="taints of pool a100",
            status="problem",
            found="none on n1: any pod may come there",
            want="nvidia.com/gpu=true:NoSchedule",
            fix="kubectl taint node n1 nvidia.com/gpu=true:NoSchedule",
        ),
        CheckView(
            name="condition of pool a100",
            status="warning",
            found="cordoned: n2",
            want="schedulable",
            fix="kubectl uncordon n2",
        ),
    ),
)
FIT: Final = PreflightView(
    environment="dev", cluster="onprem", server="https://onprem.test:6443", ready=True, checks=PREFLIGHT.checks[:1]
)
_SEEN: Final = datetime(2026, 11, 2, 8, tzinfo=UTC)
OBSERVATION: Final = ObservationView(
    environment="dev",
    simulated=False,
    now=_SEEN + timedelta(seconds=3),
    clusters=(
        SeenClusterView(
            name="eks-euw1",
            status="Observed",
            at=_SEEN,
            server_ready=True,
            api_server="v1.34.4",
            kubelet="v1.34.2",
            driver="580.105.8",
            pools=(
                SeenPoolView(
                    name="l4", counted=True, usable=2, unusable=0, nodes=(SeenNodeView(name="n1", usable=True),)
                ),
                SeenPoolView(
                    name="l40s",
                    counted=True,
                    usable=1,
                    unusable=1,
                    nodes=(SeenNodeView(name="n2", usable=False, why=("cordoned", "publishes 3 of 4 gpu")),),
                    foreign=(HolderView(name="team/notebook", devices={"gpu": 2}),),
                ),
            ),
            replicas=(ReplicaPodsView(replica="search/embedder/eks-euw1/0", pool="l40s", pods=2, ready=1),),
            facts=(FactView(name="nodes", at=_SEEN),),
        ),
        SeenClusterView(
            name="onprem",
            status="Observed",
            at=_SEEN - timedelta(minutes=4),
            server_ready=False,
            api_server="v1.35.1",
            pools=(SeenPoolView(name="a100", counted=False, usable=0, unusable=0),),
            facts=(
                FactView(
                    name="nodes",
                    at=_SEEN,
                    trouble="does not allow to list nodes (403)",
                    fix="kubectl create clusterrole berth-nodes --verb=list --resource=nodes, and bind it to this user",
                ),
            ),
        ),
        SeenClusterView(name="edge", status="Silent", message="did not answer within 15 s", at=_SEEN),
    ),
)
