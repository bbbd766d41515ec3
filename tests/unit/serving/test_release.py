"""Releases: the file's rules, and what the release that comes with Berth promises."""

import pytest
import yaml

from components.errors import ConfigError
from components.serving.catalogue import load_definition, load_release, release_names
from components.serving.registry import Mirror, Registry
from components.serving.release import Needs, filled, merged, parse_release

MINIMAL = """
name: small
version: "1"
description: d
constraints: {kubernetes: {minimum: "1.34", maximum: "1.36"}}
components:
  - {name: a, chart: a, repository: "https://a.test", version: "1", namespace: a}
  - {name: b, chart: b, repository: "oci://b.test/charts", version: "1", namespace: b, dependsOn: [a]}
gateway:
  className: envoy
  controller: c
  provider: b
  listeners: [{name: http, protocol: HTTP, port: 80}]
"""


def test_a_release_is_read_in_the_order_of_its_dependencies() -> None:
    """A component comes after what it depends on, else in the order of the file."""
    text = MINIMAL.replace("dependsOn: [a]", "dependsOn: []").replace(
        'version: "1", namespace: a}', 'version: "1", namespace: a, dependsOn: [b]}'
    )
    assert [part.name for part in parse_release(MINIMAL, where="x").parts_for(pools=True)] == ["a", "b"]
    assert [part.name for part in parse_release(text, where="x").parts_for(pools=True)] == ["b", "a"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("dependsOn: [a]", "dependsOn: [zz]", "depends on zz", id="unknown-dependency"),
        pytest.param("provider: b", "provider: zz", "gateway depends on zz", id="unknown-provider"),
        pytest.param("- {name: b,", "- {name: a,", "more than one component is named a", id="doubled-name"),
        pytest.param("chart: b,", "chart: b, color: red,", "color is not known", id="unknown-field"),
        pytest.param("namespace: a}", "namespace: a, dependsOn: [b]}", "depend on each other", id="circle"),
        pytest.param("namespace: a}", "namespace: a, needs: Pools}", "which is not", id="needs-what-some-lack"),
        pytest.param("name: small", "name: [", "not YAML", id="not-yaml"),
    ],
)
def test_a_wrong_release_is_refused_with_its_reason(old: str, new: str, message: str) -> None:
    """A release is edited by people, so each mistake names the file and what is wrong."""
    with pytest.raises(ConfigError) as caught:
        parse_release(MINIMAL.replace(old, new), where="small.yaml")
    assert all(problem.file == "small.yaml" for problem in caught.value.problems)
    assert any(message in problem.message for problem in caught.value.problems)


def test_two_charts_with_one_release_name_in_a_namespace_are_refused() -> None:
    """Helm would take the second for an upgrade of the first."""
    text = MINIMAL.replace("chart: b,", "chart: a,").replace("namespace: b,", "namespace: a,")
    with pytest.raises(ConfigError, match="problem"):
        parse_release(text, where="x")


def test_an_unknown_release_is_refused_with_those_there_are() -> None:
    """The list helps against a typing error."""
    with pytest.raises(ConfigError) as caught:
        load_release("defualt")
    assert caught.value.problems[0].allowed == ", ".join(release_names())
    assert "default" in release_names()


@pytest.mark.parametrize(
    ("version", "old", "new"),
    [
        ("1.33", True, False),
        ("1.34", False, False),
        ("v1.36.1+3", False, False),
        ("1.37", False, True),
        ("", False, False),
        ("latest", False, False),
    ],
)
def test_a_release_knows_which_kubernetes_it_was_put_together_for(version: str, old: bool, new: bool) -> None:
    """Compared by minor version; an unknown version is neither."""
    versions = load_release("default").constraints.kubernetes
    assert (versions.too_old(version), versions.too_new(version)) == (old, new)


@pytest.mark.parametrize("name", release_names())
def test_every_release_is_pinned_and_can_be_mirrored(name: str) -> None:
    """Each chart has an exact version and a repository, and each of its images moves to a mirror of its host."""
    release = load_release(name)
    assert release.name == name
    hosts = {image.image.partition("/")[0] for part in release.components for image in part.images}
    rules = Registry(tuple(Mirror(host, f"mirror.test/{host}") for host in sorted(hosts)))
    for part in release.components:
        assert part.version.removeprefix("v")[0].isdigit()
        assert part.repository.startswith(("https://", "oci://"))
        values = part.values_for(pools=True, facts={"driverRoot": "/"})
        if part.images:
            assert "mirror.test" in yaml.safe_dump(rules.values(values, part.image_values))


@pytest.mark.parametrize("name", release_names())
def test_every_definition_of_a_release_is_one_that_a_server_takes(name: str) -> None:
    """Its file is there, its name is what Kubernetes derives, and a group of the project says that it is unapproved."""
    for definition in load_release(name).definitions:
        document = load_definition(definition)
        spec, metadata = document["spec"], document["metadata"]
        assert document["kind"] == "CustomResourceDefinition"
        assert metadata["name"] == f"{spec['names']['plural']}.{spec['group']}"
        assert [version["storage"] for version in spec["versions"]].count(True) == 1
        if spec["group"].endswith(".k8s.io"):
            assert metadata["annotations"]["api-approved.kubernetes.io"].startswith("unapproved")
        assert load_definition(definition) is not document


def test_a_front_door_gets_nothing_that_serves_models() -> None:
    """It needs certificates, the Gateway API and metrics; drivers and gangs are for clusters with pools."""
    release = load_release("default")
    assert [part.name for part in release.parts_for(pools=False)] == ["cert-manager", "envoy-gateway", "prometheus"]
    assert release.gateway.needs is Needs.POOLS


def test_envoy_is_told_of_inference_pools_only_where_they_are_defined() -> None:
    """Its controller does not start when it is told to watch a kind that the cluster does not have."""
    part = load_release("default").component("envoy-gateway")
    with_pools = part.values_for(pools=True, facts={})["config"]["envoyGateway"]
    without = part.values_for(pools=False, facts={})["config"]["envoyGateway"]
    assert with_pools["extensionManager"]["backendResources"][0]["kind"] == "InferencePool"
    assert with_pools["extensionApis"] == without["extensionApis"] == {"enableBackend": True}
    assert "extensionManager" not in without


def test_what_the_gpu_stack_needs_is_in_the_values() -> None:
    """Each of these fails silently on a real cluster: no label, no plugin, claims pending for ever."""
    release = load_release("default")
    driver = release.component("nvidia-dra-driver").values_for(pools=True, facts={"driverRoot": "/opt/nvidia"})
    assert driver["gpuResourcesEnabledOverride"] is True
    assert driver["nvidiaDriverRoot"] == "/opt/nvidia"
    worker = release.component("node-feature-discovery").values["worker"]
    assert worker["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert release.component("cert-manager").values["crds"]["enabled"] is True


def test_values_are_merged_in_depth_and_lists_are_replaced() -> None:
    """As Helm does, so that an overlay means the same here and there."""
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert merged(base, {"a": {"c": [3]}, "e": {"f": 1}}) == {"a": {"b": 1, "c": [3]}, "d": 1, "e": {"f": 1}}
    assert filled(base, {"a.x.y": 2, "d": 3}) == {"a": {"b": 1, "c": [1, 2], "x": {"y": 2}}, "d": 3}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 1}
