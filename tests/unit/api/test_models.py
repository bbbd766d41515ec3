"""The models themselves: frozen, hashable, strict, with the predecessor's defaults."""

import copy
import json
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from components.api.base import LATER, LabelSelector, Model, Own, Ruled
from components.api.environment import Environment
from components.api.frozen import FrozenDict
from components.api.inference_class import Attribute, InferenceClass
from components.api.inference_cluster import EksSource, InferenceCluster
from components.api.kinds import ALL_KINDS, KINDS
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.shape import homes, model_at, names, shape
from tests.support.api_manifests import load

FLEET = load().raise_if_errors()


def values() -> list[Model]:
    """Return one document of every kind."""
    groups = (
        FLEET.classes,
        FLEET.clusters,
        FLEET.gateways,
        FLEET.deployments,
        FLEET.services,
        FLEET.caches,
        FLEET.endpoints,
    )
    return [FLEET.environment, *(next(iter(group.values())) for group in groups)]


def test_every_kind_has_a_sample() -> None:
    """The samples of these tests cover the register."""
    assert {type(value) for value in values()} == set(KINDS.values())


@pytest.mark.parametrize("value", values(), ids=lambda value: type(value).__name__)
def test_a_document_cannot_be_changed(value: Any) -> None:
    """Neither its fields nor its mappings; so it can be shared and hashed."""
    with pytest.raises(ValidationError):
        value.kind = "Other"
    with pytest.raises(TypeError):
        value.metadata.labels["a"] = "b"
    assert hash(value) == hash(copy.deepcopy(value))


@pytest.mark.parametrize("value", values(), ids=lambda value: type(value).__name__)
def test_a_document_survives_being_written_and_read(value: Any) -> None:
    """As JSON in wire names, with or without its defaults, pickled, and copied."""
    for dumped in (
        value.model_dump_json(by_alias=True),
        json.dumps(value.model_dump(mode="json", by_alias=True, exclude_defaults=True)),
    ):
        assert type(value).model_validate_json(dumped) == value
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 (our own bytes)
    assert copy.deepcopy(value) == value


@pytest.mark.parametrize("change", ["clear", "popitem"])
def test_no_way_of_writing_a_mapping_works(change: str) -> None:
    """Every method that would change it raises."""
    frozen = FrozenDict({"a": 1})
    with pytest.raises(TypeError):
        getattr(frozen, change)()
    with pytest.raises(TypeError):
        del frozen["a"]
    with pytest.raises(TypeError):
        frozen |= {"b": 2}
    for method, arguments in (("update", ({"b": 1},)), ("setdefault", ("b", 1)), ("pop", ("a",))):
        with pytest.raises(TypeError):
            getattr(frozen, method)(*arguments)
    assert frozen == {"a": 1}


def test_the_predecessor_s_defaults_hold() -> None:
    """What a manifest leaves out has the value it has there."""
    cluster = InferenceCluster.model_validate(
        {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "InferenceCluster",
            "metadata": {"name": "a"},
            "spec": {
                "cluster": {
                    "source": "Existing",
                    "existing": {"secretRef": {"name": "s"}, "identitySecretRef": {"name": "i"}},
                    "gke": {"region": "r"},
                    "eks": {"region": "r"},
                    "aks": {"location": "r"},
                    "nebius": {},
                    "vultr": {"region": "r"},
                },
                "nodePools": [{"name": "p", "className": "c"}],
            },
        }
    )
    spec = cluster.spec
    source = spec.cluster
    assert source.existing is not None
    assert source.existing.secret_ref.key == "kubeconfig"
    assert source.existing.identity_secret_ref is not None
    assert source.existing.identity_secret_ref.key == "private_key"
    assert source.existing.identity_secret_ref.type == "GoogleApplicationCredentials"
    blocks = (source.gke, source.eks, source.aks, source.nebius, source.vultr)
    assert [block.kubernetes_version for block in blocks if block] == ["1.35", "1.36", "1.34", "1.34", "v1.36.1+3"]
    assert all(block.credentials.name == "default" for block in blocks if block)
    assert all(block.credentials.type == "ClusterProviderConfig" for block in blocks if block)
    (pool,) = spec.node_pools
    assert (pool.node_count, pool.min_node_count, pool.max_node_count, pool.fabric.type) == (1, None, None, "None")
    assert (pool.most_nodes, pool.autoscaled) == (1, False)


def test_the_defaults_of_models_hold() -> None:
    """Copies, roles, counts, operators, keys."""
    deployment = FLEET.deployments["ml", "coder"]
    spec = deployment.spec.template.spec
    assert spec.serving.mode == "Unified"
    assert spec.tolerations[0].operator == "Equal"
    (engine,) = spec.engines
    assert engine.copies == 1
    cache = FLEET.caches["ml", "weights"].spec.hugging_face
    assert cache is not None
    assert cache.auth_secret is not None
    assert cache.auth_secret.key == "HF_TOKEN"
    device = FLEET.classes["h100x8"].spec.devices[1]
    assert (device.count, device.claim, FLEET.classes["h100x8"].spec.devices[0].claim) == (1, "Synthetic", "DRA")
    provisioning = FLEET.classes["h100x8"].spec.provisioning
    assert provisioning is not None
    assert provisioning.nebius is not None
    assert (provisioning.nebius.drivers_preset, provisioning.nebius.disk_size_gb) == ("cuda13.0", 100)


def test_a_cluster_answers_for_its_source() -> None:
    """Region, version and source are one question each, whatever the source."""
    east, edge = FLEET.clusters["east"], FLEET.clusters["edge"]
    assert (east.source, east.region, east.kubernetes_version) == ("EKS", "us-east-1", "1.36")
    assert (edge.source, edge.region, edge.kubernetes_version) == ("Existing", "", "")
    assert (east.provisioned, edge.provisioned) == (True, False)
    assert edge.spec.cluster.credentials is None
    assert isinstance(east.spec.cluster.block, EksSource)
    assert east.spec.cluster.block.zones == ("us-east-1a", "us-east-1b", "us-east-1c")
    assert [pool.most_nodes for pool in east.spec.node_pools] == [4, 2]


@pytest.mark.parametrize(
    ("source", "block", "region", "version"),
    [
        ("GKE", {"gke": {"region": "us-central1"}}, "us-central1", "1.35"),
        ("AKS", {"aks": {"location": "eastus"}}, "eastus", "1.34"),
        ("Vultr", {"vultr": {"region": "ewr"}}, "ewr", "v1.36.1+3"),
        ("Nebius", {"nebius": {}}, "", "1.34"),
        ("GKE", {"gke": {"region": "us-central1", "kubernetesVersion": "latest"}}, "us-central1", "latest"),
        (
            "Existing",
            {"existing": {"secretRef": {"name": "s"}, "region": "eu", "kubernetesVersion": "v1.35.2"}},
            "eu",
            "v1.35.2",
        ),
    ],
)
def test_every_source_has_a_region_if_it_says_one(source: str, block: Any, region: str, version: str) -> None:
    """Azure calls it location, Nebius knows it from the identity."""
    cluster = InferenceCluster.model_validate(
        {
            "apiVersion": "berth.dev/v1alpha1",
            "kind": "InferenceCluster",
            "metadata": {"name": "a"},
            "spec": {"cluster": {"source": source, **block}},
        }
    )
    assert (cluster.region, cluster.kubernetes_version) == (region, version)


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [({"string": "a"}, "string", "a"), ({"version": "1.2.3"}, "version", "1.2.3"), ({"bool": False}, "bool", False),
     ({"int": 0}, "int", 0)],
)  # fmt: skip
def test_an_attribute_knows_its_type(given: Any, kind: str, value: Any) -> None:
    """False and zero are values too."""
    attribute = Attribute.model_validate(given)
    assert (attribute.kind, attribute.value) == (kind, value)


def test_a_cache_knows_its_size() -> None:
    """The one number that a volume needs."""
    assert FLEET.caches["ml", "weights"].size_gib == 40


def test_labels_are_matched_by_equality() -> None:
    """All wanted labels, nothing more; an empty selector takes everything."""
    selector = LabelSelector.model_validate({"matchLabels": {"a": "1"}})
    assert selector.matches({"a": "1", "b": "2"})
    assert not selector.matches({"a": "2"})
    assert LabelSelector().matches({})


def all_models(model: type[Model]) -> set[type[Model]]:
    """Return a model and everything inside it."""
    found = {model}
    for field in shape(model).values():
        if field.model is not None:
            found |= all_models(field.model)
    return found


MODELS = sorted(set().union(*(all_models(kind) for kind in ALL_KINDS.values())), key=lambda model: model.__name__)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_and_field_is_documented(model: type[Model]) -> None:
    """`berth explain` and the schemas have nothing else to say."""
    assert (model.__doc__ or "").strip()
    for name, field in shape(model).items():
        assert (field.info.description or "").strip(), name
        assert "\n\n" not in (field.info.description or "")


def test_names_of_models_are_unique() -> None:
    """A schema's definitions are named after them."""
    assert len({model.__name__ for model in MODELS}) == len(MODELS)


def test_shapes_lead_through_lists_and_maps() -> None:
    """A path of a document finds the model whose fields stand there."""
    assert model_at(Environment, ()) is Environment
    assert model_at(Environment, ("spec", "providers", "aws", "prod")) is not None
    assert model_at(InferenceClass, ("spec", "devices", 0, "attributes", "x")) is Attribute
    assert model_at(InferenceClass, ("spec", "devices")) is None
    assert model_at(InferenceClass, ("spec", "nothing")) is None
    assert model_at(InferenceClass, ("spec", "description", "x")) is None
    assert list(homes(ModelCache, "repo")) == [("spec", "huggingFace", "repo")]
    assert list(homes(ModelDeployment, "keepOld")) == []
    assert "keepOld" not in names(shape(ModelDeployment)["spec"].model or Model)


def test_marks_of_fields_are_found() -> None:
    """Berth's own fields and those to come are known from the model alone."""
    spec = shape(InferenceCluster)["spec"].model
    assert spec is not None
    assert shape(spec)["removing"].own == Own()
    assert shape(spec)["overrides"].own == LATER
    assert shape(spec)["taints"].own is None


def test_a_model_has_no_rules_unless_it_says_so() -> None:
    """The base breaks nothing."""
    assert list(Ruled().rules()) == []


def test_a_group_of_a_service_matches_by_equality() -> None:
    """As selectors of clusters do."""
    selector = FLEET.services["ml", "chat"].spec.endpoints[0].selector
    assert selector.matches({"model": "qwen", "x": "y"})
    assert not selector.matches({"model": "other"})
