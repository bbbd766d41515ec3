"""Mirror rules: every chart and image reference moves, and what was pinned stays pinned."""

import pytest

from components.clusters.chart import Chart
from components.errors import ConfigError
from components.serving.registry import NO_RULES, ImageValue, Mirror, Registry

RULES = Registry(
    (
        Mirror("docker.io", "mirror.test/hub"),
        Mirror("registry.k8s.io", "mirror.test/k8s"),
        Mirror("registry.k8s.io/nfd", "other.test:5000/nfd"),
        Mirror("charts.jetstack.io", "mirror.test/charts/jetstack"),
    )
)
DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param("registry.k8s.io/lws/lws:v0.10.0", "mirror.test/k8s/lws/lws:v0.10.0", id="tag"),
        pytest.param(f"registry.k8s.io/a@{DIGEST}", f"mirror.test/k8s/a@{DIGEST}", id="digest"),
        pytest.param(f"registry.k8s.io/a:1@{DIGEST}", f"mirror.test/k8s/a:1@{DIGEST}", id="tag-and-digest"),
        pytest.param("registry.k8s.io/nfd/x:1", "other.test:5000/nfd/x:1", id="longest-rule-wins"),
        pytest.param("registry.k8s.io/nfdx/x:1", "mirror.test/k8s/nfdx/x:1", id="whole-parts-only"),
        pytest.param("traefik:v3", "mirror.test/hub/library/traefik:v3", id="hub-short-name"),
        pytest.param("envoyproxy/gateway", "mirror.test/hub/envoyproxy/gateway", id="hub-user-no-tag"),
        pytest.param("quay.io/a/b:1", "quay.io/a/b:1", id="no-rule"),
        pytest.param("localhost:5000/a:1", "localhost:5000/a:1", id="a-port-is-no-tag"),
        pytest.param("localhost/a", "localhost/a", id="localhost-is-a-host"),
    ],
)
def test_images_move_by_the_longest_rule_and_keep_tag_and_digest(given: str, want: str) -> None:
    """A digest is the same content wherever it comes from."""
    assert RULES.image(given) == want
    assert Registry(RULES.mirrors[::-1]).image(given) == want
    assert NO_RULES.image(given) == given


@pytest.mark.parametrize(
    ("repository", "want"),
    [
        ("oci://registry.k8s.io/lws/charts", "oci://mirror.test/k8s/lws/charts"),
        ("https://charts.jetstack.io", "https://mirror.test/charts/jetstack"),
        ("https://charts.jetstack.io/", "https://mirror.test/charts/jetstack"),
        ("https://traefik.github.io/charts", "https://traefik.github.io/charts"),
    ],
)
def test_charts_move_and_keep_how_they_are_fetched(repository: str, want: str) -> None:
    """A chart of a registry stays one, an index stays one; name and version never change."""
    chart = Chart(name="c", repository=repository, version="1", namespace="n")
    moved = RULES.chart(chart)
    assert moved == Chart(name="c", repository=want, version="1", namespace="n")


def test_an_index_can_move_into_a_registry_of_charts() -> None:
    """A mirror that writes its scheme decides how charts are fetched from it."""
    rules = Registry((Mirror("charts.jetstack.io", "oci://mirror.test/charts"),))
    moved = rules.chart(Chart(name="c", repository="https://charts.jetstack.io", version="1", namespace="n"))
    assert (moved.reference, moved.is_oci) == ("oci://mirror.test/charts/c", True)


def test_values_get_the_mirrors_address_where_the_chart_reads_it() -> None:
    """Each style of value is written as the chart expects it, and nothing given is changed in place."""
    values = {"image": {"repository": "registry.k8s.io/own/build", "tag": "1"}, "other": 1}
    images = (
        ImageValue("image.repository", "repository", "registry.k8s.io/lws/lws"),
        ImageValue("sidecar.image", "reference", f"envoyproxy/x:2@{DIGEST}"),
        ImageValue("global.imageRegistry", "registry", "docker.io/envoyproxy/gateway"),
        ImageValue("quiet.image", "reference", "quay.io/a/b:1"),
    )
    moved = RULES.values(values, images)
    assert moved == {
        "image": {"repository": "mirror.test/k8s/own/build", "tag": "1"},
        "other": 1,
        "sidecar": {"image": f"mirror.test/hub/envoyproxy/x:2@{DIGEST}"},
        "global": {"imageRegistry": "mirror.test/hub"},
    }
    assert values["image"] == {"repository": "registry.k8s.io/own/build", "tag": "1"}
    assert NO_RULES.values(values, images) == values


def test_a_mirror_with_other_paths_is_refused_where_only_the_host_can_be_set() -> None:
    """Written into the values, it would send every other image of the chart to a place that does not have it."""
    rules = Registry((Mirror("docker.io/envoyproxy", "mirror.test/flat"),))
    with pytest.raises(ConfigError) as caught:
        rules.values({}, (ImageValue("global.imageRegistry", "registry", "docker.io/envoyproxy/gateway"),))
    assert "must keep the path envoyproxy/gateway" in caught.value.problems[0].message
