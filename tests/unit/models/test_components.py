"""Replica, cache and namespace as resources: dependencies, options, what the state keeps."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.labels import TAKES_BACK
from components.lock import CacheShape, SecretUse, shape_digest
from components.models.cache import Cache, CacheArgs, hydration_job, stage_minutes, token_secret_name
from components.models.manifest import Owner
from components.models.namespace import Namespace, NamespaceArgs
from components.models.replica import Replica, ReplicaArgs
from components.models.secrets import secrets_of
from components.naming import CacheId, ReplicaId, cache_claim_name
from tests.support.mini_engine import Recorded, Secret, leaves, run_program
from tests.support.samples import cluster_outputs, engine, entry, member, shape

CACHE_ID = CacheId("ml", "weights", "a", 0)
CONTENT = CacheShape(source="HuggingFace", repo="org/model", revision="v1", size_gib=160)
GATED = CONTENT.model_copy(update={"secret": SecretUse(name="hub", key="HF_TOKEN")})


def replica(*engines: Any, owned: bool = True, **changes: Any) -> Recorded:
    """Register a replica."""
    what = shape(*engines)
    args = ReplicaArgs(
        identity=ReplicaId("ml", "qwen", "a", 0), entry=entry(what, cluster="a"), shape=what, environment="dev"
    )

    def program() -> None:
        Replica(replace(args, **changes), cluster=cluster_outputs(owned=owned), depends_on=())

    return run_program(program)


def cache(args: CacheArgs, *, owned: bool = True) -> Recorded:
    """Register a cache."""

    def program() -> None:
        Cache(args, cluster=cluster_outputs(owned=owned), depends_on=())

    return run_program(program)


def staged(content: CacheShape = CONTENT, *, index: int = 0, token: str | None = None) -> CacheArgs:
    """Return the arguments of a cache."""
    return CacheArgs(
        identity=replace(CACHE_ID, index=index),
        digest=shape_digest(content),
        shape=content,
        environment="dev",
        storage_class="nfs",
        token=token,
    )


# -- replica -----------------------------------------------------------------------------------------------------------


def test_replica_keeps_the_whole_truth_about_itself_in_the_state() -> None:
    """The driver rebuilds the lock from it, even when the update failed; policies judge by it."""
    what = shape(engine())
    inputs = (
        replica(engine(), cache_footprint=("a",), tolerations=({"key": "x", "operator": "Exists"},))
        .one("berth:index:Replica")
        .inputs
    )
    assert inputs == {
        "namespace": "ml",
        "deployment": "qwen",
        "cluster": "a",
        "index": 0,
        "name": "qwen-5ab63",
        "phase": "Serving",
        "shapeDigest": shape_digest(what),
        "shape": what.to_json(),
        "labels": {},
        "placement": [each.to_json() for each in entry(what).placement],
        "tolerations": [{"key": "x", "operator": "Exists"}],
        "cacheFootprint": ["a"],
    }


def test_replica_that_was_there_first_says_so() -> None:
    """Otherwise the checks would refuse it under a taint."""
    what = shape()
    marked = entry(what, cluster="a").model_copy(update={"stays": "drain:NoSchedule"})
    assert replica(entry=marked, shape=what).one("berth:index:Replica").inputs["stays"] == "drain:NoSchedule"


def test_workload_waits_for_its_claims_and_the_nodes_of_its_pool() -> None:
    """The rest of a replica does not wait for nodes."""
    recorded = replica(engine("main", member("Leader"), member("Worker")))
    needed = recorded.requires(recorded.named("ml/qwen/a/0-workload-main"))
    for role in ("claim-main-leader", "claim-main-worker"):
        assert recorded.named(f"ml/qwen/a/0-{role}").urn in needed
    assert recorded.named("a-nodes").urn in needed
    assert recorded.named("a-nodes").urn not in recorded.requires(recorded.named("ml/qwen/a/0-route"))
    assert recorded.named("a-ready").urn in recorded.requires(recorded.named("ml/qwen/a/0-route"))


def test_objects_of_a_replica_go_with_a_cluster_that_berth_owns() -> None:
    """And are deleted one by one on a cluster that stays."""
    owned, existing = replica(), replica(owned=False)
    for recorded, want in ((owned, owned.named("a-ready").urn), (existing, "")):
        objects = [each for each in recorded.resources if each.name.startswith("ml/qwen/a/0-")]
        assert len(objects) == 10
        assert {each.options.deleted_with for each in objects} == {want}


def test_engine_is_awaited_for_as_long_as_its_weights_take() -> None:
    """A failed one fails its own resource; the rest of the update goes on."""
    recorded = replica(cache_claim="modelcache-x", cache_gib=500)
    assert recorded.named("ml/qwen/a/0-workload-main").options.timeouts == {"create": "70m", "update": "70m"}
    assert recorded.named("ml/qwen/a/0-route").options.timeouts == {}


def test_secrets_of_a_replica_are_those_its_pods_name() -> None:
    """Variables and pull secrets, of every member."""
    env = [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "a"}}},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "not-a-secret", "key": "b"}}},
        {"name": "C", "value": "1"},
    ]
    what = shape(engine("main", member("Leader", env=env), member("Worker", pod={"imagePullSecrets": [{"name": "r"}]})))
    assert secrets_of(what) == {"keys", "r"}
    assert secrets_of(shape()) == set()


# -- cache -------------------------------------------------------------------------------------------------------------


def test_volume_is_shared_and_never_replaced_by_an_edit() -> None:
    """It holds the weights: another class of the cluster leaves it alone, and it is deleted before the cluster is."""
    recorded = cache(staged())
    claim = recorded.named("ml/weights/a/0-volume")
    assert claim.inputs["metadata"]["name"] == cache_claim_name(CACHE_ID)
    assert claim.inputs["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "nfs",
        "resources": {"requests": {"storage": "160Gi"}},
    }
    assert claim.options.ignore_changes == ("spec.storageClassName",)
    assert claim.options.deleted_with == ""
    assert claim.options.retain_on_delete is None


def test_job_fills_the_volume_and_is_waited_for() -> None:
    """A failed Job is replaced by the next update instead of failing for ever."""
    recorded = cache(staged())
    job = recorded.named("ml/weights/a/0-hydrate")
    assert recorded.named("ml/weights/a/0-volume").urn in recorded.requires(job)
    assert job.inputs["metadata"]["annotations"]["pulumi.com/replaceUnready"] == "true"
    assert job.inputs["spec"]["backoffLimit"] == 3
    assert "ttlSecondsAfterFinished" not in job.inputs["spec"], "a Job that vanishes by itself would be drift"
    assert job.options.timeouts["create"] == f"{stage_minutes(160)}m"
    pod = job.inputs["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "OnFailure"
    assert "tolerations" not in pod, "it must not take a GPU node"


@pytest.mark.parametrize("text", ["org/model; rm -rf /", "$(HF_TOKEN)", "`id`", "--help", "a'b\"c"])
def test_names_from_manifests_are_never_text_of_the_script(text: str) -> None:
    """They are values of variables, and Kubernetes does not expand them."""
    content = CONTENT.model_copy(update={"repo": text, "revision": text})
    owner = Owner("ml/weights/a/0", "ml", "dev")
    jobs = [hydration_job(owner, identity=CACHE_ID, shape=each).body for each in (content, CONTENT)]
    containers = [job["spec"]["template"]["spec"]["containers"][0] for job in jobs]
    assert containers[0]["command"] == containers[1]["command"]
    values = {each["name"]: each.get("value") for each in containers[0]["env"]}
    assert values["REPO"] == values["REVISION"] == text.replace("$", "$$")
    script = containers[0]["command"][2]
    assert '-- "$REPO"' in script
    assert '--revision "$REVISION"' in script


def container_of_job(content: CacheShape) -> dict[str, Any]:
    """Return the container of the Job that stages a content."""
    body = hydration_job(Owner("ml/weights/a/0", "ml", "dev"), identity=CACHE_ID, shape=content).body
    found: dict[str, Any] = body["spec"]["template"]["spec"]["containers"][0]
    return found


def test_patterns_become_arguments_of_the_download(tmp_path: Path) -> None:
    """The script itself is run, with programs of the same name that say how they were called."""
    content = CONTENT.model_copy(update={"include": ("*.safetensors", "a/*"), "exclude": ("*$(X).bin",)})
    job = container_of_job(content)
    variables = {each["name"]: each["value"].replace("$$", "$") for each in job["env"]}
    for program in ("pip", "hf"):
        fake = tmp_path / program
        fake.write_text(f'#!/bin/sh\nprintf "%s\\n" {program} "$@"\n')
        fake.chmod(0o755)
    script = job["command"][2].replace("/mnt/artifact", str(tmp_path))
    (tmp_path / "x.safetensors").touch()
    ran = subprocess.run(
        ["/bin/sh", "-c", script],
        env={**variables, "PATH": f"{tmp_path}:/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    called = ran.stdout.split("\nhf\n")[1].splitlines()
    patterns = ["--include", "*.safetensors", "--include", "a/*", "--exclude", "*$(X).bin"]
    assert called == ["download", *patterns, "--local-dir", str(tmp_path), "--revision", "v1", "--", "org/model"]
    assert (tmp_path / ".modelplane-hydrated").exists()


def test_a_cache_without_patterns_keeps_its_script() -> None:
    """A changed script is another Job, and every volume of every fleet would be looked at again."""
    plain = container_of_job(CONTENT)
    assert "INCLUDE" not in {each["name"] for each in plain["env"]} | {plain["command"][2]}
    assert "hf download --local-dir" in plain["command"][2]
    only = container_of_job(CONTENT.model_copy(update={"exclude": ("*.bin",)}))
    assert {"name": "INCLUDE", "value": ""} in only["env"]
    assert {"name": "EXCLUDE", "value": "*.bin"} in only["env"]


def test_the_staging_image_is_the_manifest_s() -> None:
    """For registries that only serve what they mirror."""
    image = "registry.example.com/python:3.12"
    assert container_of_job(CONTENT.model_copy(update={"image": image}))["image"] == image
    assert container_of_job(CONTENT)["image"] != image


def test_other_content_is_another_job() -> None:
    """Jobs cannot be changed, so the name holds a hash of what they do."""
    owner = Owner("x", "ml", "dev")

    def name(content: CacheShape, index: int = 0) -> str:
        return hydration_job(owner, identity=replace(CACHE_ID, index=index), shape=content).name

    assert name(CONTENT) == name(CONTENT)
    names = {name(CONTENT), name(CONTENT.model_copy(update={"revision": "v2"})), name(CONTENT, 1)}
    assert len(names) == 3


def test_token_is_a_secret_that_the_job_reads_if_it_is_there() -> None:
    """One key of one secret; two revisions that are staged at once do not share it."""
    recorded = cache(staged(GATED, token="sample-token"))
    token = recorded.named("ml/weights/a/0-token")
    assert token.inputs["metadata"]["name"] == token_secret_name(CACHE_ID)
    assert token.inputs["stringData"] == Secret({"HF_TOKEN": "sample-token"})
    job = recorded.named("ml/weights/a/0-hydrate")
    assert token.urn in recorded.requires(job)
    variable = job.inputs["spec"]["template"]["spec"]["containers"][0]["env"][-1]
    assert variable["valueFrom"]["secretKeyRef"] == {
        "name": token_secret_name(CACHE_ID),
        "key": "HF_TOKEN",
        "optional": True,
    }
    assert token_secret_name(CACHE_ID) != token_secret_name(replace(CACHE_ID, index=1))


def test_token_that_is_no_longer_needed_changes_nothing_but_itself() -> None:
    """Dropping it must not start the Job again."""
    with_token, without = (cache(staged(GATED, token=token)) for token in ("sample-token", None))
    assert set(with_token.names()) - set(without.names()) == {"ml/weights/a/0-token"}
    assert with_token.named("ml/weights/a/0-hydrate").inputs == without.named("ml/weights/a/0-hydrate").inputs


def test_cache_tells_its_claim() -> None:
    """Replicas mount it by that name."""
    outputs = cache(staged(index=2)).one("berth:index:Cache", "ml/weights/a/2").outputs
    assert (outputs or {})["claimName"] == cache_claim_name(replace(CACHE_ID, index=2))


# -- namespace ---------------------------------------------------------------------------------------------------------


def namespace(**changes: Any) -> Recorded:
    """Register a namespace."""
    args = NamespaceArgs(cluster="a", namespace="ml", environment="dev", **changes)

    def program() -> None:
        Namespace(args, cluster=cluster_outputs(owned=True), depends_on=())

    return run_program(program)


def test_namespace_is_applied_as_a_patch_and_retained() -> None:
    """So that one that was retained, or made by somebody else, is taken over and not refused."""
    made = namespace().named("a/ml-namespace")
    assert made.type == "kubernetes:core/v1:NamespacePatch"
    assert made.options.retain_on_delete is True
    assert made.inputs["metadata"]["annotations"]["pulumi.com/patchForce"] == "true"


def test_secrets_follow_their_namespace_and_are_wrapped() -> None:
    """Pull secrets get the type that the kubelet wants."""
    recorded = namespace(
        secrets={"keys": {"b": "sample-2", "a": "sample-1"}, "pull": {".dockerconfigjson": "sample-3"}}
    )
    for name, kind in (("keys", "Opaque"), ("pull", "kubernetes.io/dockerconfigjson")):
        secret = recorded.named(f"a/ml-secret-{name}")
        assert not secret.inputs["metadata"]["annotations"].keys() & TAKES_BACK.keys()  # the name is the user's
        assert secret.inputs["type"] == kind
        assert isinstance(secret.inputs["stringData"], Secret)
        assert recorded.named("a/ml-namespace").urn in recorded.requires(secret)
    texts = [value for each in recorded.resources for _, value in leaves(each.inputs) if isinstance(value, str)]
    assert not any("sample-" in text for text in texts)


def test_secrets_never_show_in_the_text_of_arguments() -> None:
    """Arguments end up in logs and tracebacks."""
    args = NamespaceArgs(cluster="a", namespace="ml", environment="dev", secrets={"keys": {"a": "sample-1"}})
    assert "sample-1" not in repr(args)
    assert "sample-token" not in repr(staged(GATED, token="sample-token"))
