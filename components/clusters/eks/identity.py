"""AwsIdentity: who Berth is on AWS for one credential and region, and the provider that acts as it.

The program makes one provider per credential and region, not per cluster. The same identity gets the cluster's tokens,
or the API server would not know the one that created it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from components.api.environment import AwsProvider
from components.api.fleet import Fleet
from components.api.nodes import written
from components.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pulumi_aws as aws

AMBIENT = "default"
"""The credential that is whatever the machine is logged in as, unless the environment defines it."""

_SESSION = "berth"


@dataclass(frozen=True, slots=True, order=True)
class AwsIdentity:
    """One credential in one region."""

    credential: str
    region: str
    profile: str = ""
    role_arn: str = ""
    external_id: str = ""

    @property
    def name(self) -> str:
        """The provider's logical name."""
        return f"aws-{self.credential}-{self.region}"

    @classmethod
    def of_cluster(cls, fleet: Fleet, cluster: str) -> Self:
        """Return the identity that builds an EKS cluster. Raises ConfigError when its credential is unknown."""
        source = fleet.clusters[cluster].spec.cluster.eks
        assert source is not None, f"{cluster} is no EKS cluster"
        credential = source.credentials.name
        known = fleet.environment.spec.providers.aws
        if credential not in known and credential != AMBIENT:
            raise ConfigError(
                [
                    Problem(
                        "credentials-unknown",
                        f"cluster {cluster} names AWS credentials {credential!r}, which the environment does not have",
                        path="spec.cluster.eks.credentials.name",
                        allowed=", ".join(sorted({AMBIENT, *known})),
                    )
                ]
            )
        settings = known.get(credential, AwsProvider())
        if settings.external_id and settings.role_arn:
            place = fleet.place(fleet.environment.kind, fleet.name)
            raise ConfigError(
                [
                    Problem(
                        "eks-external-id",
                        f"AWS credentials {credential!r} assume a role with an external id, which `aws eks get-token`"
                        " cannot do, so nothing could be put on the cluster",
                        place.file,
                        place.line,
                        path=written(("spec", "providers", "aws", credential, "externalId")),
                        allowed="a profile of the shared AWS configuration that assumes the role",
                    )
                ]
            )
        return cls(credential, source.region, settings.profile or "", settings.role_arn or "")

    def token_command(self, cluster: str) -> tuple[str, ...]:
        """Return the command that prints a token for the EKS cluster of this physical name."""
        command = ("aws", "eks", "get-token", "--region", self.region, "--cluster-name", cluster, "--output", "json")
        return (*command, "--role-arn", self.role_arn) if self.role_arn else command

    def token_environment(self) -> dict[str, str]:
        """Return the environment variables that the command needs."""
        return {"AWS_PROFILE": self.profile} if self.profile else {}


def aws_provider(identity: AwsIdentity) -> "aws.Provider":
    """Register the provider of an identity, as a child of the stack root."""
    import pulumi_aws as aws  # noqa: PLC0415 (a cloud SDK loads only where it is used)

    roles = (
        [aws.ProviderAssumeRoleArgs(role_arn=identity.role_arn, session_name=_SESSION)] if identity.role_arn else None
    )
    return aws.Provider(identity.name, region=identity.region, profile=identity.profile or None, assume_roles=roles)
