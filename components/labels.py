"""Every label, annotation and tag key that Berth writes or reads.

Keys of the predecessor stay as they are (``modelplane.ai/...``), because existing clusters and dashboards carry them;
new ones are ``berth.dev/...``. The docstring under a member says what the label stands on and means.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

RESERVED_PREFIX = "modelplane.ai/"
"""Users may not set labels under it in a deployment's template."""

GPU_TAINT_KEY = "nvidia.com/gpu"
"""Taint of every GPU pool; serving pods tolerate it with ``Exists``, which fits every value a cloud gives it."""
GPU_TAINT_VALUE = "true"
GPU_TAINT_EFFECT = "NoSchedule"

SYSTEM_POOL = "berth-system"
"""Value of the pool label on the nodes of the system's own pods; no pool of a manifest may have this name."""

TAKES_BACK: Final[Mapping[str, str]] = MappingProxyType({"pulumi.com/patchForce": "true"})
"""Annotation by which the provider sets a field again that somebody else has set since, with kubectl for example. The
API server otherwise refuses the whole object, because the field belongs to them (server-side apply)."""


class Label(StrEnum):
    """Labels and annotations on Kubernetes objects."""

    DEPLOYMENT = "modelplane.ai/deployment"
    """Replica and endpoint objects: the deployment's name, without namespace."""
    CLUSTER = "modelplane.ai/cluster"
    """Replica and endpoint objects: the cluster's name."""
    REPLICA_INDEX = "modelplane.ai/replica-index"
    """Replica and endpoint objects: the index on its cluster, in decimal."""
    POOL = "modelplane.ai/pool"
    """Every node of every provisioned pool, and the node selector of serving pods."""
    GPU = "modelplane.ai/gpu"
    """Nodes of GPU pools: the accelerator type of their class."""
    SERVING = "modelplane.ai/serving"
    """Serving pods (the leader of a gang): the replica's name; the InferencePool selects on it."""
    WORKLOAD = "modelplane.ai/workload"
    """Pods of a standalone engine: the workload's name; the Deployment selects on it."""
    LWS_ROLE = "modelplane.ai/lws-role"
    """Gang leaders only: ``leader``."""
    PICKER_CHECKSUM = "modelplane.ai/epp-config-checksum"
    """Annotation of the endpoint picker's pods: SHA-256 of its configuration, so that a change rolls it."""
    CACHE = "modelplane.ai/modelcache"
    """A cache's claim, Job, Job pods and token Secret: the cache's name."""
    ENVIRONMENT = "berth.dev/environment"
    """Everything Berth creates on a cluster: the environment's name."""
    OWNER = "berth.dev/owner"
    """Annotation of everything Berth creates on a cluster: the owning component's logical name."""
    SIMULATED = "berth.dev/simulated"
    """Objects of a simulated cloud."""


class Tag(StrEnum):
    """Tags on cloud resources."""

    ENVIRONMENT = "berth:environment"
    """The environment's name."""
    STACK = "berth:stack"
    """The Pulumi stack that owns the resource."""
    COMPONENT = "berth:component"
    """The owning component's type and logical name, so that an orphan can be traced."""
    OWNER = "berth:owner"
    """Who answers for it (from the Environment)."""
    COST_CENTRE = "berth:cost-centre"
    """Who pays for it (from the Environment)."""
