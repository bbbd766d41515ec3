"""Names are derived as existing clusters carry them, stay within limits, and do not meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.naming import (
    CacheId,
    ReplicaId,
    StackName,
    bounded_name,
    cache_claim_name,
    child_name,
    claim_template_name,
    physical_name,
    picker_name,
    pool_service_name,
    replica_name,
    workload_name,
)

LABEL = st.sampled_from("az") | st.text("az09-", max_size=61).map(lambda middle: f"m{middle}9")


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        (("test-cluster", "kubeconfig"), "test-cluster-kubeconfig-55b57"),
        (("modelplane-system", "test-cluster", "eks"), "modelplane-system-test-cluster-eks-0865f"),
        (("modelcache", "ml-team", "qwen"), "modelcache-ml-team-qwen-17db2"),
    ],
)
def test_child_names_equal_the_published_ones(parts: tuple[str, ...], want: str) -> None:
    """The predecessor's examples come out the same."""
    assert child_name(*parts) == want


@pytest.mark.parametrize(
    ("cluster", "index", "want"),
    [("cluster-a", 0, "my-model-5ab63"), ("cluster-a", 1, "my-model-609c5"), ("cluster-b", 0, "my-model-f0b76")],
)
def test_replica_names_equal_the_published_ones(cluster: str, index: int, want: str) -> None:
    """The predecessor's examples come out the same, whatever the namespace."""
    for namespace in ("ml-team", "other"):
        assert replica_name(ReplicaId(namespace, "my-model", cluster, index)) == want


def test_a_taken_replica_name_takes_more_digits() -> None:
    """A name in use is never given twice."""
    replica = ReplicaId("ml-team", "my-model", "cluster-a", 0)
    first = replica_name(replica)
    second = replica_name(replica, taken={first})
    third = replica_name(replica, taken={first, second})
    assert len({first, second, third}) == 3
    assert second.startswith("my-model-5ab63")
    assert all(len(name) <= 63 for name in (first, second, third))


@given(LABEL, LABEL, st.integers(0, 99), LABEL)
def test_every_derived_name_is_a_dns_label(deployment: str, cluster: str, index: int, engine: str) -> None:
    """No combination of legal names makes a name that Kubernetes refuses."""
    replica = replica_name(ReplicaId("ns", deployment, cluster, index))
    names = [
        replica,
        workload_name(replica, engine),
        claim_template_name(replica, engine, "Leader", "content"),
        pool_service_name(replica),
        picker_name(replica),
        cache_claim_name(CacheId("ns", deployment, cluster, index)),
        physical_name(deployment, cluster, inputs=engine),
        bounded_name(deployment * 3),
    ]
    for name in names:
        assert 0 < len(name) <= 63, name
        assert name == name.lower()
        assert name[0].isalnum()
        assert name[-1].isalnum()
    assert workload_name(replica, engine) != replica


@given(LABEL, LABEL, LABEL, st.integers(0, 10**6))
def test_identities_read_back(namespace: str, deployment: str, cluster: str, index: int) -> None:
    """A logical name holds the whole identity."""
    replica = ReplicaId(namespace, deployment, cluster, index)
    cache = CacheId(namespace, deployment, cluster, index)
    assert ReplicaId.parse(str(replica)) == replica
    assert CacheId.parse(str(cache)) == cache
    assert StackName.parse(str(StackName(namespace, cluster))) == StackName(namespace, cluster)
    assert StackName.parse(namespace) == StackName(namespace)


def test_a_changed_input_changes_the_physical_name_only_where_it_replaces() -> None:
    """The hash of force-new inputs keeps create-before-delete from meeting its own name."""
    assert physical_name("dev", "eks-a", "l4", inputs="a") != physical_name("dev", "eks-a", "l4", inputs="b")
    assert physical_name("dev", "eks-a", "l4") == "dev-eks-a-l4"
    assert len(physical_name("x" * 80, inputs="a", limit=40)) == 40
