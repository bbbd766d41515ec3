"""The IAM roles of an EKS cluster: for its control plane, its nodes, and the pods that call AWS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from components.canonical import canonical_json
from components.clusters.eks import facts
from components.clusters.eks.site import Site

if TYPE_CHECKING:
    import pulumi_aws as aws

_POLICY_ARN = "arn:{partition}:iam::aws:policy/{name}"


@dataclass(frozen=True, slots=True)
class Granted:
    """A role and what must exist before it can be used."""

    role: "aws.iam.Role"
    policies: tuple[pulumi.Resource, ...]


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles that exist before the cluster."""

    cluster: Granted
    node: Granted
    pods: Mapping[str, Granted]
    """By role name of ``facts.POD_ROLES``."""


def build_roles(site: Site) -> Roles:
    """Register the roles with the policies that the cloud manages, and the autoscaler's own."""
    pods = {
        pod.role: _role(
            site,
            pod.role,
            service="pods.eks.amazonaws.com",
            actions=("sts:AssumeRole", "sts:TagSession"),
            managed=(pod.managed_policy,) if pod.managed_policy else (),
        )
        for pod in facts.POD_ROLES
    }
    pods["autoscaler"] = _with_autoscaler_policy(site, pods["autoscaler"])
    return Roles(
        cluster=_role(site, "cluster", service="eks.amazonaws.com", managed=facts.CLUSTER_POLICIES),
        node=_role(site, "node", service="ec2.amazonaws.com", managed=facts.NODE_POLICIES),
        pods=pods,
    )


def bind_pod_roles(site: Site, cluster: "aws.eks.Cluster", roles: Roles) -> dict[str, pulumi.Resource]:
    """Give the service accounts their roles; return the bindings by role name."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    return {
        pod.role: aws.eks.PodIdentityAssociation(
            site.child(f"{pod.role}-identity"),
            cluster_name=cluster.name,
            namespace=pod.namespace,
            service_account=pod.service_account,
            role_arn=roles.pods[pod.role].role.arn,
            tags=site.tags(),
            opts=site.options(aws.eks.PodIdentityAssociation, depends_on=roles.pods[pod.role].policies),
        )
        for pod in facts.POD_ROLES
    }


def _role(
    site: Site, name: str, *, service: str, actions: Sequence[str] = ("sts:AssumeRole",), managed: Sequence[str] = ()
) -> Granted:
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    trust = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}],
    }
    role = aws.iam.Role(
        site.child(f"{name}-role"),
        name=site.args.name_of(name, limit=facts.ROLE_NAME_LIMIT),
        assume_role_policy=canonical_json(trust),
        tags=site.tags(),
        opts=site.options(aws.iam.Role),
    )
    partition = facts.partition(site.args.cluster.region)
    policies = [
        aws.iam.RolePolicyAttachment(
            site.child(f"{name}-role-{policy.rpartition('/')[2]}"),
            role=role.name,
            policy_arn=_POLICY_ARN.format(partition=partition, name=policy),
            opts=site.options(aws.iam.RolePolicyAttachment),
        )
        for policy in managed
    ]
    return Granted(role, tuple(policies))


def _with_autoscaler_policy(site: Site, granted: Granted) -> Granted:
    """Let the autoscaler read everything it must, and change only the groups of this cluster."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    own = {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{site.args.physical_name}": "owned"}
    document = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": list(facts.AUTOSCALER_READS), "Resource": "*"},
            {
                "Effect": "Allow",
                "Action": list(facts.AUTOSCALER_WRITES),
                "Resource": "*",
                "Condition": {"StringEquals": own},
            },
        ],
    }
    policy = aws.iam.RolePolicy(
        site.child("autoscaler-role-policy"),
        name="autoscaler",
        role=granted.role.name,
        policy=canonical_json(document),
        opts=site.options(aws.iam.RolePolicy),
    )
    return Granted(granted.role, (*granted.policies, policy))
