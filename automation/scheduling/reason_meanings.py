"""What each reason for a replica to stay, move or go means, in the order of ``reason.Reason``. PURE.

They stand under WHY and under Leaving of a plan. A contract test holds the table to the enumeration.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from automation.scheduling.meaning import Meaning

_NOTHING = "Nothing has to be done."
_EXPLAIN = "berth explain NAMESPACE/NAME"
_UP = "berth up"
_ROOM = "berth capacity"

REASON_MEANINGS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "kept": Meaning("The replica runs what is wanted, where it may run.", _NOTHING, (_EXPLAIN,)),
        "held": Meaning(
            "The manifest of its deployment cannot be used, so the replica stays exactly as it is.",
            "Mend the manifest; the errors name file and line.",
            ("berth validate",),
        ),
        "relabelled": Meaning(
            "Only the labels of the replica changed; they are changed in place.", _NOTHING, (_EXPLAIN,)
        ),
        "placed": Meaning(
            "The replica is new: the deployment wants more than it has.", _NOTHING, (_EXPLAIN, "berth up")
        ),
        "moved": Meaning(
            "The replica is new and takes the place of one that must leave; the old one goes when it serves.",
            "Nothing has to be done. Leaving says why the old one has to go.",
            (_EXPLAIN, _UP),
        ),
        "edited": Meaning(
            "What the deployment runs was edited: a successor with the new shape starts beside the replica, which goes"
            " when the successor serves.",
            _NOTHING,
            (_EXPLAIN, _UP),
        ),
        "reclaimed": Meaning(
            "The devices of the replica's pool were edited: the same shape claims others now, so a successor takes its"
            " place.",
            "Nothing has to be done. Take the edit of the class back if no replica was to move for it.",
            ("berth get InferenceClass -o yaml", _EXPLAIN),
        ),
        "edited-unserved": Meaning(
            "The deployment was edited before this replica ever served, so it takes the new shape in place.",
            _NOTHING,
            (_EXPLAIN,),
        ),
        "edited-in-place": Meaning(
            "The deployment was edited and nothing has room for a successor: the replica takes the new shape in place"
            " while another one serves.",
            "Nothing has to be done. With room beside it, it would be replaced without a gap.",
            (_ROOM, _EXPLAIN),
        ),
        "edit-waits": Meaning(
            "The deployment was edited, and the replica keeps its old shape for now: there is no room for a successor,"
            " or others change first.",
            "Run `berth up` again when the others have changed. Without room make some, or accept a gap with"
            " `surge.allowGap`.",
            ("berth explain ModelDeployment.spec.surge.allowGap", _ROOM, _UP),
        ),
        "cluster-leaves": Meaning(
            "The replica's cluster is being removed or replaced, so a successor takes its place elsewhere.",
            "Nothing has to be done, if the cluster is meant to go. Otherwise take the edit of its manifest back.",
            ("berth plan", _EXPLAIN),
        ),
        "cluster-lost": Meaning(
            "The replica's cluster is marked `lost: true`; the replica is forgotten and placed elsewhere.",
            "Nothing has to be done. `berth up` lists what may still cost money there.",
            (_UP, "berth orphans"),
        ),
        "pool-leaves": Meaning(
            "A pool that the replica runs on is gone from the manifest, or is being removed or replaced.",
            "Nothing has to be done, if the pool is meant to go. Otherwise take the edit of its manifest back.",
            ("berth plan", _EXPLAIN),
        ),
        "pool-shrinks": Meaning(
            "A pool that the replica runs on is edited to fewer nodes or other devices, and not all that is on it fits"
            " any more. The pool stays as it is until the replica has left.",
            "Nothing has to be done. Take the edit of the pool back if nothing was to move for it.",
            ("berth plan", _EXPLAIN),
        ),
        "repinned": Meaning(
            "The replica's cluster has not been ready for longer than `repinDwell`, and there is room elsewhere.",
            "Nothing has to be done for the replica; see what is wrong with its cluster.",
            ("berth status", "berth explain Environment.spec.scheduling.repinDwell"),
        ),
        "scale-up-refused": Meaning(
            "The replica waits for nodes that its cloud refused and has never served; there is room elsewhere.",
            "Nothing has to be done for the replica. Ask the cloud for quota or capacity.",
            ("berth observe CLUSTER", _EXPLAIN),
        ),
        "drained": Meaning(
            "The replica's cluster has a taint with the effect `NoExecute` that the deployment does not tolerate, so a"
            " successor takes its place elsewhere.",
            "Nothing has to be done while the cluster is drained on purpose. Take the taint out when the work is done.",
            ("berth explain InferenceCluster.spec.taints", _UP),
        ),
        "deselected": Meaning(
            "The replica's cluster matches the `clusterSelector` of the deployment or of its cache no more.",
            "Nothing has to be done, if it is meant to move. Otherwise take the edit of the selector, or of the"
            " cluster's labels, back.",
            ("berth explain ModelDeployment.spec.template.spec.clusterSelector", _EXPLAIN),
        ),
        "unmatched": Meaning(
            "A pool that the replica runs on does not satisfy its selectors any more: the class or the selector was"
            " edited.",
            "Nothing has to be done, if it is meant to move. Otherwise take the edit back.",
            ("berth selector test EXPRESSION --class CLASS", _EXPLAIN),
        ),
        "nowhere-to-go": Meaning(
            "The replica should move and nothing else has room: it stays and serves, and is counted as missing.",
            "Make room elsewhere; the line `next replica` of the answer says what is cheapest. Or take the edit back"
            " that drives it out.",
            (_EXPLAIN, _ROOM),
        ),
        "move-waits": Meaning(
            "The replica should move and stays for now: as many successors exist beside others as may.",
            "Run `berth up` again when the others have moved, or raise `maxSurge`.",
            (_UP, "berth explain Environment.spec.scheduling.surge"),
        ),
        "scaled-down": Meaning("The deployment wants fewer replicas.", _NOTHING, (_EXPLAIN,)),
        "preempted": Meaning(
            "The replica gives its room to one of a higher priority, which the Environment allows.",
            "Add room to have both, or change `priority` of either deployment.",
            ("berth explain ModelDeployment.spec.priority", _ROOM),
        ),
        "removed": Meaning(
            "The manifest of the deployment was removed.",
            "Nothing has to be done, if it is meant to go. Otherwise bring the manifest back before the next"
            " `berth up`.",
            ("berth plan",),
        ),
    }
)
"""By the reason."""
