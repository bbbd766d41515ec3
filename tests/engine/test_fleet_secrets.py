"""No secret is ever in clear: not in what commands print, not in a lock, a state, its history, a log or a cloud."""

import base64
import json
import urllib.parse
from dataclasses import dataclass

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.scenario import Failure, Fault
from tests.support.crash_run import Hold, Victim, cut_off, pending
from tests.support.fleet_run import (
    GATEWAY,
    Answer,
    FleetRun,
    cluster,
    deployment,
    environment,
    gpu_class,
)

pytestmark = [pytest.mark.engine, pytest.mark.lives]

DOWNLOAD = "hf_Sample/Download+Token=4711"
KEY = "sk-Sample/Engine+Key=0815"
NEW_KEY = "sk-Sample/Another+Key=1516"
BEARER = "Sample/Cluster+Bearer=1234"
KUBECONFIG = f"""\
apiVersion: v1
kind: Config
current-context: a
clusters: [{{name: a, cluster: {{server: "https://a.example.test:6443"}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
users: [{{name: a, user: {{token: "{BEARER}"}}}}]
"""
ALL = (DOWNLOAD, KEY, NEW_KEY, BEARER)
SECRET = "kubernetes:core/v1:Secret"

CACHE = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: weights, namespace: ml}
spec:
  source: HuggingFace
  huggingFace:
    repo: Sample/Model
    revision: main
    sizeGiB: 10
    authSecret: {name: hub, key: token}
"""


def files() -> dict[str, str]:
    """Return a cluster with a cache that needs a token, and a deployment that needs a key."""
    key = "{name: API_KEY, valueFrom: {secretKeyRef: {name: keys, key: api}}}"
    return {
        "environment.yaml": environment(
            more=", secrets: [ml/hub, ml/keys, modelplane-system/a-kubeconfig]",
        ),
        "platform/classes.yaml": f"{gpu_class('gpu-4x', 4)}---\n{gpu_class('gpu-8x', 8)}",
        "platform/gateway.yaml": GATEWAY,
        "platform/a.yaml": cluster("a", storage="nfs"),
        "models/ml/weights.yaml": CACHE,
        "models/ml/qwen.yaml": deployment("qwen", env=key, spec="modelCacheRef: {name: weights}"),
    }


@dataclass
class Kept:
    """What was seen on the way."""

    run: FleetRun
    answers: list[Answer]
    up: Answer
    on_cluster: list[dict[str, str]]
    """The Secrets on the cluster by name, with the seal of their content: after the first run and after the last."""
    told: str
    rotated: Answer
    midway: list[str]
    """Files that held a secret right after a refusal, a crash, and a failure; later ones write over some."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Kept:
    """Give the secrets to the stack, apply, look everywhere, and give one of them a new value."""
    run = FleetRun.make(tmp_path_factory.mktemp("kept"), pulumi_cli.pulumi, files())
    run.variables["TMPDIR"] = str(run.root / "tmp")  # what engine, plugins and Berth leave there is looked at too
    (run.root / "tmp").mkdir()
    answers = [run.by_hand("stack", "init", "dev")]
    midway: list[str] = []
    for trouble in (refused, crashed, failed):
        answers += trouble(run)
        midway += holders(run)
    up = run.berth("up", "--yes")
    seals = [on_cluster(run)]
    answers += [
        up,
        run.berth("status"),
        run.berth("explain", "qwen", "--json"),
        run.by_hand("preview", "--stack", "dev", "--diff", "--expect-no-changes"),
        run.by_hand("stack", "export", "--stack", "dev"),
        run.by_hand("stack", "history", "--stack", "dev", "--json"),
        run.by_hand("config", "--stack", "dev", "--json"),
        set_secrets(run, NEW_KEY),
    ]
    told = json.loads(answers[-2].stdout)["berth:staged"]["value"]
    rotated = run.berth("up", "--yes")
    seals.append(on_cluster(run))
    return Kept(run, [*answers, rotated], up, seals, told, rotated, midway)


def refused(run: FleetRun) -> list[Answer]:
    """Give a kubeconfig that is none, and hear so."""
    given = set_secrets(run, KEY, kubeconfig=f"token: {BEARER}\n  bad: [")
    answer = run.berth("plan", code=2)
    assert "cannot be used as a kubeconfig: it is not YAML (line 2" in answer.said
    return [given, answer, run.berth("plan", "--json", code=2), set_secrets(run, KEY)]


def crashed(run: FleetRun) -> list[Answer]:
    """Kill a run, engine and all, while it brings a secret to the cluster; look at what it leaves."""
    cut = cut_off(run, Hold("create", SECRET, "-secret-keys", "after"), victim=Victim.BOTH)
    assert SECRET in {each.resource.type for each in pending(run)}
    return [Answer(cut.code, cut.stdout, cut.stderr, (), 0.0), run.berth("status")]


def failed(run: FleetRun) -> list[Answer]:
    """Let the cloud refuse a secret; the run says what failed."""
    run.scenario(Fault(type=SECRET, name="*-token", fail=Failure.PERMISSION))
    answer = run.berth("up", "--yes", code=4)
    assert "ml/weights/a/0-token" in answer.said or "ml/weights/a/0: token" in answer.said
    run.scenario()
    return [answer]


def holders(run: FleetRun) -> list[str]:
    """Return the files that hold a secret now."""
    files = [path for path in run.root.rglob("*") if path.is_file() and not path.is_symlink()]
    return [str(path) for path in files if found_in(path.read_bytes())]


def on_cluster(run: FleetRun) -> dict[str, str]:
    """Return the Secrets that the engine made, sealed as the simulated cloud keeps them."""
    return {each.name: json.dumps(each.inputs["data"]) for each in run.cloud.resources(type=SECRET) if each.urn}


def set_secrets(run: FleetRun, key: str, *, kubeconfig: str = KUBECONFIG) -> Answer:
    """Set the one secret configuration value, as a person would."""
    secrets = {
        "ml/hub": {"token": DOWNLOAD},
        "ml/keys": {"api": key},
        "modelplane-system/a-kubeconfig": {"kubeconfig": kubeconfig},
    }
    return run.by_hand("config", "set", "--secret", "berth:secrets", "--stack", "dev", stdin=json.dumps(secrets))


def forms(secret: str) -> set[bytes]:
    """Return how a secret may look: as it is, URL-encoded, and in base64 at every offset in a longer text."""
    found = {secret, urllib.parse.quote(secret), urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret)}
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + secret.encode()).decode()
        # The first and the last characters depend on what stands around the secret.
        inside = coded[4 if offset else 0 :].rstrip("=")[:-2]
        found |= {inside, inside.replace("+", "-").replace("/", "_")}
    return {form.encode() for form in found}


def found_in(text: bytes) -> list[bytes]:
    """Return the forms of secrets that a text holds."""
    return [form for secret in ALL for form in forms(secret) if form in text]


def test_a_secret_that_is_there_would_be_found() -> None:
    """The search finds what it looks for, in every form and at every offset."""
    for secret in ALL:
        for before in (b"", b"x", b"xy"):
            assert found_in(base64.b64encode(before + secret.encode() + b"after"))
        assert found_in(urllib.parse.quote(secret, safe="").encode())
        assert found_in(f"token: {secret}\n".encode())


def test_no_output_holds_a_secret(kept: Kept) -> None:
    """Neither ours nor what plain pulumi prints of the state, its history and its configuration."""
    assert [each.said for each in kept.answers if found_in(each.said.encode())] == []


def test_no_file_holds_a_secret(kept: Kept) -> None:
    """Lock, state, backups, history, configuration, simulated clouds, logs, temporary files: all that was written.

    Also where a run was refused, killed in the middle of an operation, or failed.
    """
    assert kept.midway == []
    files = [path for path in kept.run.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 50
    kinds = {path.suffix for path in files}
    assert {".json", ".sqlite", ".yaml", ".bak"} <= kinds, kinds
    places = {path.relative_to(kept.run.root).as_posix().split("/")[0] for path in files}
    assert {"repo", "environments"} <= places
    assert any(".pulumi/history" in path.as_posix() for path in files)
    assert any("lock" in path.parts for path in files)
    assert holders(kept.run) == []


def test_a_download_token_leaves_the_cluster_once_its_cache_is_staged(kept: Kept) -> None:
    """It is there for the download and not longer; the stack is told, so that a hand preview is empty all the same."""
    lines = [line.strip() for line in kept.up.stderr.splitlines()]
    token = f"{SECRET} ml/weights/a/0-token"
    job = "kubernetes:batch/v1:Job ml/weights/a/0-hydrate"
    assert lines.index(f"created {token}") < lines.index(f"created {job}") < lines.index(f"deleted {token}")
    assert set(kept.on_cluster[0]) == {"keys"}
    assert json.loads(kept.told) == ["ml/weights/a/0"]


def test_a_secret_with_a_new_value_is_brought_to_the_cluster(kept: Kept) -> None:
    """No manifest and no lock changed; the engine sees it, and the next run applies it."""
    assert kept.on_cluster[1].keys() == kept.on_cluster[0].keys()
    assert kept.on_cluster[1]["keys"] != kept.on_cluster[0]["keys"]
    assert "ml/weights/a/0-token" not in kept.rotated.said
