"""How the run gets at clusters: kubeconfigs from the secrets and from the state, and the preflight that uses them."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from automation.driver.kubeconfigs import accesses
from automation.observe.access import Access
from automation.observe.api import NoAnswer
from components.clusters.kubeconfig import exec_kubeconfig
from components.naming import StackName
from tests.support.fake_runner_session import FakeDriver
from tests.support.simulated import kubeconfig

SECRET = "secret-4711"


def hold(driver: FakeDriver, name: str, text: str, stack: str = "dev") -> None:
    """Put a kubeconfig into a stack's secrets."""
    secrets = {f"modelplane-system/{name}-kubeconfig": {"kubeconfig": text}}
    driver.runner.ensure_stack(StackName.parse(stack))
    driver.runner.set_config(StackName.parse(stack), "berth:secrets", json.dumps(secrets), secret=True)


def found(driver: FakeDriver, *names: str) -> dict[str, Access | NoAnswer]:
    """Return how clusters are reached."""
    situation = driver.read(create=False, missing_ok=True, lenient=True)
    return accesses(driver.session, situation, names)


def why(answer: Access | NoAnswer) -> tuple[str, str]:
    """Return why a cluster is not reached, and what to do."""
    assert isinstance(answer, NoAnswer)
    return str(answer), answer.fix


def test_an_existing_cluster_is_reached_by_the_secret_of_its_stack(driver: FakeDriver) -> None:
    """A missing one comes with the command that sets it; the engine is asked once for all."""
    hold(driver, "a", kubeconfig("https://a.simulated.invalid", name="a"))
    answers = found(driver, "b", "a")
    assert isinstance(answers["a"], Access)
    assert answers["a"].server == "https://a.simulated.invalid"
    reason, fix = why(answers["b"])
    assert reason == "has no kubeconfig among the secrets"
    assert fix.startswith("pulumi config set --stack dev --secret --path")
    assert driver.runner.count("get_secret") == 1


def test_every_stack_has_secrets_of_its_own(split: FakeDriver) -> None:
    """With one stack for each cluster, its kubeconfig lies there."""
    hold(split, "b", kubeconfig("https://b.simulated.invalid", name="b"), stack="dev.b")
    assert isinstance(found(split, "b")["b"], Access)


def test_a_cluster_that_is_not_built_is_reached_by_its_secret_too(fresh: FakeDriver) -> None:
    """A stack must be there to hold it."""
    assert why(found(fresh, "a")["a"])[0] == "is not built yet, and no stack holds its kubeconfig"
    hold(fresh, "a", kubeconfig("https://a.test", name="a"))
    assert isinstance(found(fresh, "a")["a"], Access)


def test_a_kubeconfig_of_another_cluster_is_not_followed(driver: FakeDriver) -> None:
    """What is seen there would be taken for this one's."""
    hold(driver, "a", kubeconfig("https://other.test", name="a"))
    reason, _ = why(found(driver, "a")["a"])
    assert reason == (
        "is at https://a.simulated.invalid, and its kubeconfig leads to https://other.test: another cluster"
    )


def test_a_kubeconfig_that_cannot_be_used_is_a_reason_and_no_failure(driver: FakeDriver) -> None:
    """One wrong secret does not keep anybody from looking at the others."""
    hold(driver, "a", f"users: [{SECRET}")
    reason, fix = why(found(driver, "a")["a"])
    assert reason.startswith("secret modelplane-system/a-kubeconfig, key kubeconfig cannot be used")
    assert SECRET not in reason
    assert fix


def test_a_cluster_that_berth_made_is_reached_by_its_state(cloud: FakeDriver) -> None:
    """Its kubeconfig is a secret there, with the provider that puts objects on it."""
    name = next(name for name, each in cloud.existing().clusters.items() if each.source == "EKS")
    endpoint = cloud.existing().clusters[name].endpoint
    assert endpoint is not None
    assert why(found(cloud, name)[name])[0] == "is not built yet"
    text = kubeconfig(endpoint, name=name)
    entry = cloud.state_of(f"{name}-kubernetes")
    entry["inputs"] = {"kubeconfig": {"4dabf18193072939515e22adb298388d": "x", "plaintext": json.dumps(text)}}
    reached = found(cloud, name)[name]
    assert isinstance(reached, Access)
    assert reached.server == endpoint


def test_a_backed_run_stays_on_this_machine(cloud: FakeDriver) -> None:
    """No other server is asked, and the program that logs in is the stand-in, which is first on its PATH."""
    name, other = sorted(name for name, each in cloud.existing().clusters.items() if each.source == "EKS")[:2]
    situation = cloud.read(create=False)
    layout = replace(cloud.session.workspace.layout, backed=True)
    session = replace(cloud.session, workspace=replace(cloud.session.workspace, layout=layout))
    local = "https://127.0.0.1:16443"
    servers = replace(situation.servers, known={**situation.servers.known, name: local})
    for each, server in ((name, local), (other, servers.known[other])):
        text = exec_kubeconfig(each, endpoint=server, authority="", command=["aws", "eks"], environment={"A": "b"})
        cloud.state_of(f"{each}-kubernetes")["inputs"] = {"kubeconfig": text}
    answers = accesses(session, replace(situation, servers=servers), [name, other])
    assert why(answers[other])[0] == "is simulated, without a control plane on this machine"
    reached = answers[name]
    assert isinstance(reached, Access)
    assert reached.plugin is not None
    assert reached.plugin.environment["PATH"].startswith(f"{layout.backed_programs}{os.pathsep}")
    assert reached.plugin.environment["A"] == "b"


def test_a_preflight_without_a_way_says_how_to_give_one(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster that only has a manifest; nothing is made by looking."""
    fresh.simulated = False
    assert fresh.berth("preflight", "a", "-o", "json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["kind"], answer["cluster"], answer["ready"]) == ("Preflight", "a", False)
    (check,) = answer["checks"]
    assert check["found"] == "is not built yet, and no stack holds its kubeconfig"
    assert "--kubeconfig FILE" in check["fix"]
    assert not fresh.does()


def test_a_preflight_of_nobody_there_ends_in_time(
    fresh: FakeDriver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file is enough: no engine is asked."""
    path = tmp_path / "kubeconfig"
    path.write_text(kubeconfig("https://127.0.0.1:1", name="a"))
    assert fresh.berth("preflight", "a", "--kubeconfig", str(path)) == 1
    said = capsys.readouterr().out
    assert "https://127.0.0.1:1 cannot be reached" in said
    assert "Not fit. a: 1 problem." in said
    assert not fresh.runner.calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("c",), "there is no InferenceCluster 'c' in dev", id="no-such-cluster"),
        pytest.param(("a",), "a preflight asks an API server, and a simulated cluster has none", id="simulated"),
        pytest.param(("a", "--kubeconfig", "nowhere"), "the kubeconfig nowhere cannot be read", id="no-file"),
    ],
)
def test_a_preflight_that_cannot_be_asked_is_a_usage_error(
    fresh: FakeDriver, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    """Before anything is started."""
    assert fresh.berth("preflight", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not fresh.runner.calls
