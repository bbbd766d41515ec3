"""Secrets that are needed and missing are all named at once, each with who asks for it and how to set it."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from components.api.fleet import Fleet
from components.errors import ConfigError, Problem
from components.lock import Lock
from components.naming import StackName
from stacks.config import ProgramConfig
from stacks.secrets import require_secrets
from stacks.shard import Shard
from tests.support.samples import Placed, deployment, fleet_of, lock_of, small_files

CACHE = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: weights, namespace: ml}
spec:
  source: HuggingFace
  huggingFace: {repo: o/m, sizeGiB: 10, authSecret: {name: hub}}
  clusterSelector: {matchLabels: {cluster: a}}
"""
ENV = "{name: A, valueFrom: {secretKeyRef: {name: keys, key: api}}}"
OTHER = Placed("ml", "other", "b", "gpu")
STAGED = ("ml", "weights", "a")
CLUSTERS = ("a", "b", "edge")
KUBECONFIGS = [f"modelplane-system/{name}-kubeconfig" for name in CLUSTERS]
NOTHING: Mapping[str, Mapping[str, str]] = MappingProxyType({})


def kubeconfigs() -> dict[str, dict[str, str]]:
    """Return a configuration that holds the kubeconfig of all three clusters."""
    return {secret: {"kubeconfig": "{}"} for secret in KUBECONFIGS}


def files(*, layout: str = "Single", secrets: str = "ml/keys") -> dict[str, bytes]:
    """Return manifests with a cache that needs a token and a deployment that reads a key."""
    return {
        **small_files(layout=layout, secrets=secrets),
        "models/ml/weights.yaml": CACHE,
        "models/ml/other.yaml": deployment("other", env=ENV),
    }


def missing(
    fleet: Fleet,
    lock: Lock,
    secrets: Mapping[str, Mapping[str, str]] = NOTHING,
    *,
    stack: str = "dev",
    simulated: bool = False,
    staged: tuple[str, ...] = (),
) -> tuple[Problem, ...]:
    """Return what is refused."""
    config = ProgramConfig(berth_version="0.1.0", secrets=secrets, simulated=simulated, staged=frozenset(staged))
    shard = Shard.of(StackName.parse(stack), fleet, clusters=[entry.name for entry in lock.platform.clusters])
    try:
        require_secrets(fleet, lock, shard, config)
    except ConfigError as error:
        return error.problems
    return ()


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    """Return the fleet."""
    return fleet_of(files())


@pytest.fixture(scope="module")
def lock(fleet: Fleet) -> Lock:
    """Return its lock, with a replica and a staged cache."""
    return lock_of(fleet, (OTHER,), caches=(STAGED,))


def test_all_that_is_missing_is_named_at_once(fleet: Fleet, lock: Lock) -> None:
    """A kubeconfig, a token and a listed secret: each where it is asked for, with the command that sets it."""
    problems = missing(fleet, lock)
    assert {problem.code for problem in problems} == {"secret-missing"}
    assert [(problem.file, problem.message) for problem in problems] == [
        ("models/ml/other.yaml", "secret ml/keys is not in berth:secrets: deployment ml/other needs its key api"),
        ("models/ml/weights.yaml", "secret ml/hub is not in berth:secrets: cache ml/weights needs its key HF_TOKEN"),
        *(
            (
                f"platform/{name}.yaml",
                f"secret {secret} is not in berth:secrets: cluster {name} needs its key kubeconfig",
            )
            for name, secret in zip(CLUSTERS, KUBECONFIGS, strict=True)
        ),
    ]
    for problem in problems:
        found = files()[problem.file].decode().splitlines()[problem.line - 1]
        assert problem.text == found
        name = problem.message.split()[1].partition("/")[2]
        assert found[problem.column - 1 :].startswith(name)
    assert [problem.help for problem in problems] == [
        "pulumi config set --stack dev --secret --path 'berth:secrets[\"ml/keys\"].api'",
        "pulumi config set --stack dev --secret --path 'berth:secrets[\"ml/hub\"].HF_TOKEN'",
        *(
            f"pulumi config set --stack dev --secret --path 'berth:secrets[\"{secret}\"].kubeconfig' < FILE"
            for secret in KUBECONFIGS
        ),
    ]


def test_nothing_is_missing_when_all_is_there(fleet: Fleet, lock: Lock) -> None:
    """Also when more is there than is needed."""
    held = {**kubeconfigs(), "ml/hub": {"HF_TOKEN": "t"}, "ml/keys": {"api": "k", "z": "1"}, "x/y": {"z": "1"}}
    assert missing(fleet, lock, held) == ()


def test_a_simulated_run_lacks_nothing(fleet: Fleet, lock: Lock) -> None:
    """What is not there is made up."""
    assert missing(fleet, lock, simulated=True) == ()


def test_a_secret_without_the_key_that_is_read_is_named(fleet: Fleet, lock: Lock) -> None:
    """Copied to the cluster, it would take the place of one that has it, and pods would wait for ever."""
    held = {**kubeconfigs(), "ml/hub": {"HF_TOKEN": "t"}, "ml/keys": {"other": "k"}}
    (problem,) = missing(fleet, lock, held)
    assert problem.message == "secret ml/keys in berth:secrets has no key api, which deployment ml/other needs"
    assert "k" not in problem.message.split()


def test_a_secret_that_nobody_lists_is_taken_to_be_on_the_cluster(lock: Lock) -> None:
    """As the predecessor has it; a deployment that is not placed needs none at all."""
    held = {**kubeconfigs(), "ml/hub": {"HF_TOKEN": "t"}}
    unlisted = fleet_of(files(secrets=""))
    assert missing(unlisted, lock, held) == ()
    listed = fleet_of(files())
    assert missing(listed, lock_of(listed, (), caches=(STAGED,)), held) == ()


def test_a_token_is_needed_until_its_weights_are_there(fleet: Fleet, lock: Lock) -> None:
    """Then it was taken away, and may be forgotten."""
    held = {**kubeconfigs(), "ml/keys": {"api": "k"}}
    (problem,) = missing(fleet, lock, held)
    assert "ml/hub" in problem.message
    assert missing(fleet, lock, held, staged=("ml/weights/a/0",)) == ()


def test_what_only_the_manifests_ask_for_is_named_when_something_is_missing(fleet: Fleet) -> None:
    """The first preview looks at the platform alone; a person should not come back for the rest."""
    empty = lock_of(fleet, ())
    assert missing(fleet, empty, kubeconfigs()) == ()
    said = [problem.message.split()[1] for problem in missing(fleet, empty)]
    assert said == ["ml/hub", *KUBECONFIGS]


def test_what_an_old_lock_needs_is_named_without_a_place() -> None:
    """The manifest speaks of another secret by now, or is gone."""
    old = fleet_of(files())
    lock = lock_of(old, (OTHER,), caches=(STAGED,))
    new = fleet_of(
        {
            **small_files(secrets="ml/keys"),
            "models/ml/weights.yaml": CACHE.replace(b"name: hub", b"name: another"),
        }
    )
    held = {**kubeconfigs(), "ml/another": {"HF_TOKEN": "t"}}
    problems = missing(new, lock, held)
    assert [(problem.file, problem.message) for problem in problems] == [
        ("", "secret ml/hub is not in berth:secrets: cache ml/weights/a/0 needs its key HF_TOKEN"),
        ("", "secret ml/keys is not in berth:secrets: a replica that exists needs it"),
    ]
    assert problems[1].help.endswith('berth:secrets["ml/keys"].KEY\'')


def test_a_stack_of_one_cluster_needs_what_is_on_it() -> None:
    """With one stack for each cluster a secret is set in the stack that uses it."""
    fleet = fleet_of(files(layout="PerCluster"))
    lock = lock_of(fleet, (OTHER,), caches=(STAGED,))

    def named(stack: str) -> list[tuple[str, str]]:
        return [(each.message.split()[1], each.help.split()[4]) for each in missing(fleet, lock, stack=stack)]

    assert named("dev") == [(KUBECONFIGS[-1], "dev")]
    assert ("ml/hub", "dev.a") in named("dev.a")
    assert ("ml/keys", "dev.b") in named("dev.b")
    assert "ml/hub" not in {secret for secret, _ in named("dev.b")}
