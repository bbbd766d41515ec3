"""What each verdict on a cluster means, in the order of severity: the one table that summaries and help read. PURE.

A contract test holds it to ``verdict.Code``: an entry for each, in that order.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from automation.scheduling.meaning import Meaning

_EXPLAIN = "berth explain NAMESPACE/NAME"
_MOVE = "berth plan --what-if FILE"
_CAPACITY = "berth capacity"

VERDICT_MEANINGS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "lost": Meaning(
            "The cluster is marked `lost: true`: it will never answer again, and nothing is put there.",
            "Nothing, if it is gone. Take `lost` out of its manifest again if that was a mistake and no `berth up` has"
            " forgotten it yet.",
            ("berth get InferenceCluster", "berth status"),
        ),
        "going-away": Meaning(
            "The cluster, or the pool that would do, is being removed, or the plan would replace it: it gets nothing"
            " new, and what is on it moves first.",
            "Nothing, if it is meant to go. Otherwise take the edit back that removes or replaces it: `removing: true`,"
            " or a field that cannot change in place, which the resources of the plan name.",
            ("berth plan", "berth explain InferenceCluster.spec.removing"),
        ),
        "not-ready": Meaning(
            "The cluster has a problem (its last update failed or was cut off, or it does not answer): it keeps what"
            " it has and gets nothing new.",
            "See what is wrong with it, mend that, and run `berth up`, which finishes what was begun.",
            ("berth status", "berth observe CLUSTER", "berth up"),
        ),
        "too-old": Meaning(
            "The cluster's API server is older than Kubernetes 1.34, or a node of it than 1.34.2, as they were seen or"
            " as the manifest says: device claims do not work there.",
            "Upgrade the cluster; of an existing one, write the new `kubernetesVersion` into its manifest.",
            ("berth preflight CLUSTER", "berth explain InferenceCluster.spec.cluster.existing.kubernetesVersion"),
        ),
        "tainted": Meaning(
            "The cluster's manifest has a taint that the deployment does not tolerate.",
            "Nothing while the cluster is drained on purpose. Take the taint out when the work is done, or give the"
            " deployment a toleration of it.",
            (
                "berth explain InferenceCluster.spec.taints",
                "berth explain ModelDeployment.spec.template.spec.tolerations",
            ),
        ),
        "deselected": Meaning(
            "The deployment's `clusterSelector` asks for labels that the cluster does not have.",
            "Nothing, if the deployment is meant for other clusters. Otherwise widen the selector, or label the cluster"
            " in its manifest.",
            ("berth explain ModelDeployment.spec.template.spec.clusterSelector", "berth get InferenceCluster -o yaml"),
            "not selected",
        ),
        "outside-cache": Meaning(
            "The `clusterSelector` of the deployment's cache leaves the cluster out, so its weights are not there.",
            "Widen the selector of the ModelCache, or label the cluster in its manifest.",
            ("berth explain ModelCache.spec.clusterSelector", "berth get ModelCache -o yaml"),
            "outside the cache's clusters",
        ),
        "no-storage": Meaning(
            "The deployment has a cache, and the cluster has no storage class that many nodes can mount.",
            "Name one in `existing.cache.storageClassName` of an existing cluster, narrow the cache to clusters that"
            " have one, or take `modelCacheRef` out of the deployment.",
            ("berth explain InferenceCluster.spec.cluster.existing.cache", "berth preflight CLUSTER"),
            "without shared storage",
        ),
        "cache-failed": Meaning(
            "Staging the deployment's cache failed on the cluster; the reason stands beside it.",
            "Mend what the reason names (the repository, the token, the size of the volume) and run `berth up`, which"
            " stages it again.",
            ("berth status", "berth explain ModelCache.spec.huggingFace", "berth up"),
            "where staging failed",
        ),
        "no-pools": Meaning(
            "The cluster has no GPU pools, as one that only carries the front door.",
            "Nothing, if it is a front door. Otherwise add `nodePools` to its manifest.",
            ("berth explain InferenceCluster.spec.nodePools",),
            "without GPU pools",
        ),
        "selector-error": Meaning(
            "A selector of the deployment cannot be evaluated on a device of the pool. The scheduler of Kubernetes"
            " would give up on such a pod, so no replica is put there.",
            "Guard the selector: ask whether an attribute is there before it is read"
            " (`'model' in device.attributes['gpu.nvidia.com']`). Test it on the devices of the class.",
            ("berth selector test EXPRESSION --class CLASS", _EXPLAIN),
            "where a selector fails",
        ),
        "no-match": Meaning(
            "No pool of the cluster has the devices that the deployment asks for. The reason names the pool that came"
            " closest, the request, and the part of the selector that is not met.",
            "Compare the selector with the devices that the class declares; loosen it, mend the class, or add a pool of"
            " such nodes.",
            ("berth selector test EXPRESSION --class CLASS", "berth get InferenceClass -o yaml", _EXPLAIN),
            "no matching device",
        ),
        "pod-too-large": Meaning(
            "There are such devices, and one pod asks for more of them than one node has.",
            "Ask for fewer devices in each pod and spread the engine over more pods (`worker` members), or add a pool"
            " of larger nodes.",
            ("berth explain ModelDeployment.spec.template.spec.engines[].members", "berth get InferenceClass -o yaml"),
            "with nodes too small",
        ),
        "selector-too-new": Meaning(
            "A selector uses what only a newer Kubernetes than the cluster's understands; with that, the pool would"
            " have the devices. A cluster whose version nobody knows counts as 1.34.",
            "Write the selector in the words of the older minor, or upgrade the cluster; of an existing one, write its"
            " `kubernetesVersion` if it is newer than that.",
            ("berth selector check EXPRESSION", "berth observe CLUSTER", "berth preflight CLUSTER"),
            "with a Kubernetes too old for a selector",
        ),
        "spot-only": Meaning(
            "Only spot nodes of the cluster have such devices, and the deployment does not allow them.",
            "Write `spot: true` in the deployment if it may be interrupted, or add a pool of other nodes.",
            ("berth explain ModelDeployment.spec.spot", "berth explain InferenceCluster.spec.nodePools[].capacityType"),
            "only on spot nodes",
        ),
        "no-fabric": Meaning(
            "The nodes that would carry an engine of several pods do not share the fast network that it needs, as far"
            " as Berth can know.",
            "Write `fabricId` for a pool whose nodes share one, or `fabric: None` for the deployment if plain Ethernet"
            " will do (in `spec.scheduling` of the Environment for all of them).",
            (
                "berth explain InferenceCluster.spec.nodePools[].fabricId",
                "berth explain ModelDeployment.spec.template.spec.fabric",
            ),
            "no common fabric",
        ),
        "over-quota": Meaning(
            "One more replica would take more than the quota of its namespace leaves.",
            "Scale something of the namespace down, or ask whoever owns the Environment for a larger quota.",
            ("berth explain Environment.spec.quotas", _CAPACITY),
            "over the quota",
        ),
        "over-cost": Meaning(
            "All replicas of the deployment together would cost more per hour than its `maxCostPerHour`, or a price is"
            " not known.",
            "Raise the limit, ask for fewer replicas or devices, or write the price of the class.",
            ("berth explain ModelDeployment.spec.maxCostPerHour", _CAPACITY),
            "too dear for the deployment",
        ),
        "over-budget": Meaning(
            "The nodes that could run for it would cost more than the budget of the fleet, or a price is not known.",
            "Scale something down, lower `maxNodeCount` of pools that need it no more, write missing prices, or ask"
            " whoever owns the Environment for a larger budget.",
            ("berth explain Environment.spec.budget", _CAPACITY),
            "over the budget",
        ),
        "no-room": Meaning(
            "The cluster has such devices, and not enough of them are sure to be free: `wanted` and `free` are counts"
            " of devices. What is on its way out counts until it is retired.",
            "Raise `nodeCount` or `maxNodeCount` of the pool, scale something down, or add a cluster; the line `next"
            " replica` of the answer says what is cheapest. Where replicas of the same plan retire, run `berth up`"
            " again after it.",
            (_EXPLAIN, "berth plan --capacity CLUSTER/POOL=NODES", _MOVE),
            "full",
        ),
        "fits": Meaning(
            "The cluster would take one more replica. None was put there because none is missing, or because another"
            " cluster was better.",
            "Nothing has to be done. Ask for more `replicas`, or select the cluster, to have one there.",
            (_EXPLAIN,),
        ),
        "taken": Meaning(
            "The scheduler took the cluster for this deployment: it holds at least one of its replicas. (It does not"
            " mean that others occupy it; that is `no-room`.) The reason says how many, and why it gets no more if"
            " more are wanted.",
            "Nothing has to be done for the replicas that are there. Where some are missing, the reason is what the"
            " next one would meet: `free 0` calls for what helps with `no-room`.",
            (_EXPLAIN, _CAPACITY),
        ),
    }
)
"""By the verdict."""
