"""ExistingCluster: reached by its kubeconfig, nothing made for it, everything wrong said early."""

import pulumi
import pytest

from components.api.fleet import Fleet
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.existing.cluster import ExistingCluster, _endpoint
from components.clusters.kubeconfig import KubeconfigError
from components.errors import ConfigError
from tests.support.mini_engine import ProgramFailed, Recorded, Secret, run_program
from tests.support.platforms import KUBECONFIG, TOKEN, existing, fleet, pool


def _args(known: Fleet, kubeconfig: pulumi.Input[str] | None = KUBECONFIG) -> ExistingClusterArgs:
    return ExistingClusterArgs.from_spec(known, "edge", release="default", stack="dev", kubeconfig=kubeconfig)


def _run(known: Fleet, text: str = KUBECONFIG, *, secret: bool = True) -> Recorded:
    def program() -> None:
        ExistingCluster(_args(known, pulumi.Output.secret(text) if secret else text))

    return run_program(program)


def test_nothing_is_made_but_the_way_in_and_the_description_of_pools() -> None:
    """One provider and the pools' components: no cloud is called."""
    recorded = _run(fleet(existing(pools=[pool(zones=None)])))
    assert recorded.names() == ("edge", "edge-kubernetes", "edge/gpu")
    assert recorded.named("edge/gpu").inputs["provisioned"] is False


def test_the_endpoint_is_known_in_a_preview_even_from_a_secret() -> None:
    """Config secrets are known from the start, and an address is no secret."""
    for secret in (True, False):
        recorded = _run(fleet(existing()), secret=secret)
        assert (recorded.named("edge").outputs or {})["endpoint"] == "https://edge.test:6443"
        assert recorded.named("edge-kubernetes").inputs["kubeconfig"] == Secret(KUBECONFIG)


def test_an_unusable_kubeconfig_fails_the_program_before_anything_is_put_anywhere() -> None:
    """As plain text at once, as an Output when it is read; the message never quotes it."""
    broken = f"token: {TOKEN}\n  bad: ["
    with pytest.raises(ProgramFailed, match="cannot be used as a kubeconfig: it is not YAML") as caught:
        _run(fleet(existing()), broken)
    assert TOKEN not in str(caught.value)
    with pytest.raises(ProgramFailed, match="secret modelplane-system/edge, key kubeconfig"):
        _run(fleet(existing()), broken, secret=False)


def test_an_unusable_kubeconfig_comes_with_the_command_that_sets_it() -> None:
    """With the place and the stack that it must be set for."""
    with pytest.raises(KubeconfigError) as caught:
        _endpoint(_args(fleet(existing()), "- no kubeconfig"))
    assert caught.value.help == (
        "pulumi config set --stack dev --secret --path 'berth:secrets[\"modelplane-system/edge\"].kubeconfig' < FILE"
    )


def test_the_secret_is_looked_up_in_the_system_namespace() -> None:
    """As in the predecessor; the key has a default."""
    assert ExistingClusterArgs.secret_of(fleet(existing()), "edge") == ("modelplane-system/edge", "kubeconfig")
    other = existing(source={"secretRef": {"name": "s", "key": "k"}})
    assert ExistingClusterArgs.secret_of(fleet(other), "edge") == ("modelplane-system/s", "k")


def test_a_missing_secret_says_which_and_how_to_set_it() -> None:
    """The command can be copied."""
    with pytest.raises(ConfigError) as caught:
        _args(fleet(existing()), None)
    (problem,) = caught.value.problems
    assert problem.code == "secret-missing"
    assert 'berth:secrets["modelplane-system/edge"].kubeconfig' in problem.help


def test_an_identity_beside_the_kubeconfig_is_refused() -> None:
    """Silently ignored, the cluster would be reached as somebody else, or not at all."""
    source = {"identitySecretRef": {"name": "id"}}
    with pytest.raises(ConfigError) as caught:
        _args(fleet(existing(source=source)))
    assert caught.value.problems[0].code == "identity-secret-unsupported"


def test_without_a_storage_class_there_are_no_caches() -> None:
    """The scheduler refuses caches there by the description; the program finds no class to use."""
    assert _args(fleet(existing())).storage_class is None
    assert _args(fleet(existing(source={"cache": {"storageClassName": "nfs"}}))).storage_class == "nfs"
    assert "storageClass" not in (_run(fleet(existing())).named("edge").outputs or {})
