"""ExistingClusterArgs: a cluster that was there, and the kubeconfig that reaches it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi

from components.api.fleet import Fleet
from components.api.secrets import set_command
from components.clusters.contract import ClusterArgs
from components.clusters.existing.identity import refuse_identity
from components.errors import ConfigError, Problem
from components.lock_model import HeldPool
from components.naming import SYSTEM_NAMESPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingClusterArgs:
    """One cluster that Berth did not make."""

    cluster: ClusterArgs
    kubeconfig: pulumi.Input[str]
    """Its text; a secret whatever it is wrapped in."""
    where: str
    """The place of the kubeconfig in the secrets, for messages."""
    command: str = ""
    """What sets it anew, for the same."""
    storage_class: str | None = None

    @staticmethod
    def secret_of(fleet: Fleet, name: str) -> tuple[str, str]:
        """Return where the kubeconfig of a cluster lies in the secrets: ``namespace/name`` and the key.

        The namespace is always the system's, as the predecessor has it.
        """
        source = fleet.clusters[name].spec.cluster.existing
        assert source is not None, f"{name} is no existing cluster"
        return f"{SYSTEM_NAMESPACE}/{source.secret_ref.name}", source.secret_ref.key

    @classmethod
    def from_spec(
        cls,
        fleet: Fleet,
        name: str,
        *,
        release: str,
        stack: str,
        kubeconfig: pulumi.Input[str] | None,
        held: Sequence[HeldPool] | None = None,
    ) -> Self:
        """Read an existing cluster from the fleet; ``kubeconfig`` is what the secrets hold for ``secret_of``.

        Raises ConfigError when they hold nothing, or when the manifest wants an identity beside the kubeconfig.
        """
        source = fleet.clusters[name].spec.cluster.existing
        assert source is not None, f"{name} is no existing cluster"
        secret, key = cls.secret_of(fleet, name)
        refuse_identity(fleet, name)
        command = set_command(secret, key, stack=stack)
        if kubeconfig is None:
            raise ConfigError(
                [
                    Problem(
                        "secret-missing",
                        f"the kubeconfig of cluster {name} is not among the secrets: {secret} has no key {key}",
                        path="spec.cluster.existing.secretRef",
                        help=command,
                    )
                ]
            )
        return cls(
            cluster=ClusterArgs.from_spec(fleet, name, release=release, stack=stack, held=held),
            kubeconfig=kubeconfig,
            where=f"secret {secret}, key {key}",
            command=command,
            storage_class=source.cache.storage_class_name if source.cache else None,
        )
