"""Kubeconfigs: read with clear errors that never quote the secret, written so that nothing expires."""

import json

import pytest
import yaml

from components.clusters.kubeconfig import KubeconfigError, exec_kubeconfig, parse_kubeconfig, server_address
from tests.support.platforms import KUBECONFIG, TOKEN


def test_a_kubeconfig_tells_its_endpoint() -> None:
    """The current context decides which cluster is meant."""
    parsed = parse_kubeconfig(KUBECONFIG)
    assert (parsed.context, parsed.endpoint, parsed.host) == ("edge", "https://edge.test:6443", "edge.test")


def test_a_context_without_a_user_and_entries_of_other_names_are_no_problem() -> None:
    """An API server behind a tunnel may ask for nobody, and a file may hold many clusters."""
    text = KUBECONFIG.replace(", user: admin", "").replace("clusters: [", "clusters: [{name: other}, 1, ")
    assert parse_kubeconfig(text).host == "edge.test"


def _without(key: str) -> str:
    return yaml.safe_dump({name: value for name, value in yaml.safe_load(KUBECONFIG).items() if name != key})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: [1", "it is not YAML (line 2, column 1)", id="not-yaml"),
        pytest.param("\x00", "it is not YAML", id="control-character"),
        pytest.param("[" * 100_000, "it is not YAML", id="too-deep"),
        pytest.param("just text", "it is not a YAML mapping", id="a-string"),
        pytest.param("", "it is not a YAML mapping", id="empty"),
        pytest.param("kind: Secret", "its kind is not Config", id="another-kind"),
        pytest.param(_without("current-context"), "no current-context", id="no-context-chosen"),
        pytest.param(_without("contexts"), "no context named 'edge'", id="no-contexts"),
        pytest.param(_without("clusters"), "no cluster named 'edge'", id="no-clusters"),
        pytest.param(_without("users"), "no user named 'admin'", id="no-users"),
        pytest.param(KUBECONFIG.replace("https://edge.test:6443", "edge.test"), "no server URL", id="no-url"),
        pytest.param(KUBECONFIG.replace("https://edge.test:6443", "https://[::1"), "no server URL", id="broken-url"),
        pytest.param(KUBECONFIG.replace("{cluster: edge, user: admin}", "{}"), "names no cluster", id="empty-context"),
        pytest.param("x" * 1_000_001, "larger than a secret", id="too-large"),
    ],
)
def test_an_unusable_kubeconfig_says_what_is_wrong_with_it(text: str, message: str) -> None:
    """One error type with exit code 2, the place of the secret, and the reason."""
    with pytest.raises(KubeconfigError) as caught:
        parse_kubeconfig(text, where="secret modelplane-system/edge, key kubeconfig")
    assert message in caught.value.summary
    assert caught.value.summary.startswith("secret modelplane-system/edge, key kubeconfig cannot be used")
    assert (caught.value.exit_code, caught.value.code) == (2, "kubeconfig")


@pytest.mark.parametrize("broken", [f"token: {TOKEN}\n  bad: [", f"{{users: {TOKEN}", f'"{TOKEN}'])
def test_an_error_never_quotes_the_secret(broken: str) -> None:
    """A YAML error carries a snippet of its input, so it is not passed on, not even as a cause."""
    with pytest.raises(KubeconfigError) as caught:
        parse_kubeconfig(broken)
    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_written_kubeconfig_gets_tokens_by_a_command_and_can_be_read_back() -> None:
    """It holds no token that would expire, and equal input gives equal text."""

    def write() -> str:
        return exec_kubeconfig(
            "dev-east",
            endpoint="https://x.test",
            authority="Q0E=",
            command=("aws", "eks", "get-token"),
            environment={"B": "2", "A": "1"},
        )

    user = json.loads(write())["users"][0]["user"]
    assert user["exec"]["command"] == "aws"
    assert user["exec"]["args"] == ["eks", "get-token"]
    assert user["exec"]["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert "token" not in user
    assert write() == write()
    assert parse_kubeconfig(write()).endpoint == "https://x.test"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://API.example.test:443/", "https://api.example.test"),
        ("https://api.example.test:6443", "https://api.example.test:6443"),
        ("https://api.example.test/k8s/c-1/", "https://api.example.test/k8s/c-1"),
        ("https://user:word@api.example.test", "https://api.example.test"),
        ("https://[FD00::1]:6443", "https://[fd00::1]:6443"),
        ("https://api.example.test:x", "https://api.example.test"),
    ],
    ids=["spelling", "port", "path", "a user", "an address of version 6", "no port at all"],
)
def test_a_server_has_one_address_however_it_is_spelt(url: str, address: str) -> None:
    """Two addresses that differ are two servers, so the same one must not look like two."""
    assert server_address(url) == address
