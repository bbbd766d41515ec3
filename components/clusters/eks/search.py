"""The commands with which a person finds in AWS what Berth, or a cluster of Berth's, made there. PURE.

Berth makes no such search itself: it would need rights that nothing else of it needs. What is found there and not in
the state is an orphan.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from components.labels import Tag
from components.naming import cluster_name


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """One search: in which region, for what, and the command to run."""

    region: str
    what: str
    command: str

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.what} ({self.region}): {self.command}"


def environment_search(region: str, *, environment: str, profile: str = "") -> Search:
    """Return the search for everything in a region that carries an environment's tag."""
    filters = [(Tag.ENVIRONMENT.value, (environment,))]
    return Search(region, f"everything tagged as {environment}'s", _by_tags(region, profile, filters))


def cluster_searches(
    region: str, *, environment: str, cluster: str, pools: Iterable[str], profile: str = ""
) -> tuple[Search, ...]:
    """Return the searches for one cluster: what Berth made for it, what it made itself, and its roles.

    Roles need one of their own: tags of IAM roles are not searched by the tagging API (aws/aws-sdk issue 581).
    """
    components = (
        f"berth:index:EksCluster::{cluster}",
        *(f"berth:index:Pool::{cluster}/{pool}" for pool in sorted(pools)),
    )
    name = cluster_name(cluster, environment)
    own = [(Tag.ENVIRONMENT.value, (environment,)), (Tag.COMPONENT.value, components)]
    made = [(f"kubernetes.io/cluster/{name}", ("owned",))]
    roles = f"Roles[?starts_with(RoleName, '{environment}-{cluster}-')].RoleName"
    listing = ["aws", "iam", "list-roles", *_profile(profile), "--query", roles, "--output", "text"]
    return (
        Search(region, f"made for cluster {cluster}", _by_tags(region, profile, own)),
        Search(region, f"made by cluster {cluster}, as load balancers and volumes", _by_tags(region, profile, made)),
        Search(region, f"roles of cluster {cluster}", shlex.join(listing)),
    )


def _by_tags(region: str, profile: str, filters: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    command = ["aws", "resourcegroupstaggingapi", "get-resources", "--region", region, *_profile(profile)]
    command += ["--tag-filters", *(f"Key={key},Values={','.join(values)}" for key, values in filters)]
    return shlex.join([*command, "--query", "ResourceTagMappingList[].ResourceARN", "--output", "text"])


def _profile(profile: str) -> tuple[str, ...]:
    return ("--profile", profile) if profile else ()
