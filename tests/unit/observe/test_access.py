"""How API servers are reached: what kubeconfigs may say, and what is refused before a credential leaves the machine."""

import base64
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from automation.observe.access import Access, Plugin, read_access
from automation.observe.credential import Credential, LoginFailed, credential_of
from components.clusters.kubeconfig import KubeconfigError

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
DATA = base64.b64encode(PEM.encode()).decode()
V1 = "client.authentication.k8s.io/v1"


def kubeconfig(*, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> str:
    """Write a kubeconfig with two contexts, of which the first is the current one."""
    reached = {"server": "https://edge.test:6443/", **(cluster or {})}
    document = {
        "current-context": "edge",
        "contexts": [
            {"name": "edge", "context": {"cluster": "edge", "user": "me"}},
            {"name": "other", "context": {"cluster": "other"}},
        ],
        "clusters": [
            {"name": "edge", "cluster": reached},
            {"name": "other", "cluster": {"server": "http://localhost:8001"}},
        ],
        "users": [{"name": "me", "user": {"token": "secret-4711"} if user is None else user}],
    }
    return yaml.safe_dump(document)


def test_a_context_says_server_authority_and_user() -> None:
    """Everything that reaching a server takes is read at once."""
    more = {"certificate-authority-data": DATA, "tls-server-name": "kubernetes", "proxy-url": "http://proxy.test:3128"}
    access = read_access(kubeconfig(cluster=more))
    assert access == Access(
        "https://edge.test:6443", authority=PEM, name="kubernetes", proxy="http://proxy.test:3128", token="secret-4711"
    )


def test_another_context_may_be_chosen() -> None:
    """A server behind a tunnel of one's own asks for nobody."""
    access = read_access(kubeconfig(), context="other")
    assert (access.server, access.token, access.is_loopback) == ("http://localhost:8001", "", True)
    with pytest.raises(KubeconfigError, match="no context named 'third'"):
        read_access(kubeconfig(), context="third")


def test_files_are_read_beside_the_kubeconfig(tmp_path: Path) -> None:
    """A path in it is from its own folder; in a secret there is no folder, and it must carry the data."""
    for name in ("ca.pem", "me.pem", "me.key"):
        (tmp_path / name).write_text(PEM)
    text = kubeconfig(
        cluster={"certificate-authority": "ca.pem"}, user={"client-certificate": "me.pem", "client-key": "me.key"}
    )
    access = read_access(text, folder=tmp_path)
    assert (access.authority, access.certificate, access.key) == (PEM, PEM, PEM)
    with pytest.raises(KubeconfigError, match="certificate-authority names a file"):
        read_access(text)


@pytest.mark.parametrize(
    ("cluster", "user", "message"),
    [
        pytest.param({"insecure-skip-tls-verify": True}, None, "insecure-skip-tls-verify would hand", id="unverified"),
        pytest.param({"server": "http://edge.test"}, None, "speaks no TLS", id="no-tls"),
        pytest.param({}, {"client-certificate-data": DATA}, "one of client-certificate and client-key", id="half"),
        pytest.param({}, {"username": "a", "password": "b"}, "logs in by password", id="password"),
        pytest.param({}, {"auth-provider": {"name": "gcp"}}, "logs in by auth-provider", id="auth-provider"),
        pytest.param({"certificate-authority-data": "?"}, None, "is not a PEM text in base64", id="not-base64"),
        pytest.param({}, {"exec": {"command": "x", "apiVersion": "v2"}}, "its exec has apiVersion v2", id="version"),
        pytest.param({}, {"exec": {"apiVersion": V1}}, "names no command", id="no-command"),
        pytest.param(
            {},
            {"exec": {"command": "x", "apiVersion": V1, "interactiveMode": "Always"}},
            "wants to ask a person",
            id="interactive",
        ),
    ],
)
def test_what_is_unsafe_or_gone_is_refused(cluster: dict[str, Any], user: dict[str, Any] | None, message: str) -> None:
    """The reason stands there, and no credential does."""
    with pytest.raises(KubeconfigError, match=message) as refused:
        read_access(kubeconfig(cluster=cluster, user=user), where="secret modelplane-system/edge")
    assert refused.value.summary.startswith("secret modelplane-system/edge cannot be used")
    assert "4711" not in refused.value.summary


def plugin(script: str, **fields: Any) -> Access:
    """Give an access whose credential a Python script prints."""
    return Access("https://edge.test", plugin=Plugin(V1, sys.executable, ("-c", script), **fields))


def test_a_plugin_gives_the_credential() -> None:
    """It gets its own variables and learns that nobody can be asked."""
    script = (
        "import json, os; told = json.loads(os.environ['KUBERNETES_EXEC_INFO']);"
        "print(json.dumps({'apiVersion': told['apiVersion'], 'kind': 'ExecCredential', 'status':"
        " {'token': os.environ['WHO'] + str(told['spec']['interactive'])}}))"
    )
    assert credential_of(plugin(script, environment={"WHO": "me"}), seconds=20) == Credential("meFalse")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        pytest.param("import sys; sys.exit('Token has expired')", "ended with status 1: Token has expired", id="fails"),
        pytest.param("print('{}')", "did not print an ExecCredential", id="empty"),
        pytest.param("print('secret-4711')", "did not print an ExecCredential", id="not-json"),
        pytest.param("print('{\"status\": {}}')", f"did not answer as {V1}", id="other-version"),
    ],
)
def test_a_plugin_that_fails_is_said_in_its_own_words(script: str, message: str) -> None:
    """What it prints on stdout is a secret and is not among them."""
    with pytest.raises(LoginFailed, match=message) as failed:
        credential_of(plugin(script), seconds=20)
    assert "4711" not in str(failed.value)


def test_a_plugin_that_is_missing_says_how_to_get_it() -> None:
    """The kubeconfig's own hint is passed on."""
    with pytest.raises(LoginFailed, match=r"cannot be started: No such file.*; install the cloud's tool"):
        credential_of(
            Access("https://edge.test", plugin=Plugin(V1, "no-such-login", hint="install the cloud's tool")), seconds=1
        )


def test_a_plugin_that_hangs_is_ended_with_what_it_started() -> None:
    """Its child holds the pipe, and nobody waits for it."""
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    start = time.monotonic()
    with pytest.raises(LoginFailed, match="gave no credential"):
        credential_of(plugin(script), seconds=0.5)
    assert time.monotonic() - start < 20
