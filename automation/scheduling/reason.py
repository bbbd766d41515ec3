"""Why a replica stays, moves or goes: the one table that every decision about a live replica comes from.

A law of the scheduler says that no replica moves or goes for anything that is not listed here.
"""

from enum import StrEnum


class Reason(StrEnum):
    """Why a replica is where the schedule has it."""

    KEPT = "kept"
    """It runs what is wanted, where it may run."""
    HELD = "held"
    """Its deployment's manifest cannot be used; it stays exactly as it is."""
    RELABELLED = "relabelled"
    """Only its labels changed; they are changed in place."""
    PLACED = "placed"
    """It is new: the deployment wants more replicas than it had."""
    MOVED = "moved"
    """It is new: it takes the place of one that must leave."""
    EDITED = "edited"
    """The deployment was edited: a successor with the new shape takes its place."""
    RECLAIMED = "reclaimed"
    """The devices of its pool were edited: the same shape would claim others, so a successor takes its place."""
    EDITED_UNSERVED = "edited-unserved"
    """The deployment was edited before this replica ever served; it takes the new shape in place."""
    EDITED_IN_PLACE = "edited-in-place"
    """The deployment was edited and there is no room for a successor; it takes the new shape while another serves."""
    EDIT_WAITS = "edit-waits"
    """The deployment was edited; this replica keeps its old shape until a later move, or until there is room."""
    CLUSTER_LEAVES = "cluster-leaves"
    """Its cluster is being removed or replaced."""
    CLUSTER_LOST = "cluster-lost"
    """Its cluster is gone for good."""
    POOL_LEAVES = "pool-leaves"
    """A pool it runs on is gone, or is being removed or replaced."""
    POOL_SHRINKS = "pool-shrinks"
    """A pool it runs on is edited to a size, or to devices, that it does not fit beside those that stay."""
    REPINNED = "repinned"
    """Its cluster has not been ready for longer than the dwell time, and there is room elsewhere."""
    SCALE_UP_REFUSED = "scale-up-refused"
    """It waits for nodes that its cloud refused and has never served, and there is room elsewhere."""
    DRAINED = "drained"
    """Its cluster carries a NoExecute taint that the deployment does not tolerate."""
    DESELECTED = "deselected"
    """Its cluster no longer matches the deployment's or its cache's selector."""
    UNMATCHED = "unmatched"
    """A pool it runs on no longer satisfies its selectors."""
    NOWHERE_TO_GO = "nowhere-to-go"
    """It should move and nothing else has room; it stays, and the shortfall is counted."""
    MOVE_WAITS = "move-waits"
    """It should move and stays until a later move: as many successors exist beside others as may."""
    SCALED_DOWN = "scaled-down"
    """The deployment wants fewer replicas."""
    PREEMPTED = "preempted"
    """It gives its room to a replica of a higher priority, and the environment allows that."""
    REMOVED = "removed"
    """The deployment's manifest was removed."""

    @property
    def stays(self) -> bool:
        """Whether a replica that has it is in the target under its identity."""
        return self in _STAYING


_STAYING = frozenset(
    {
        Reason.KEPT,
        Reason.HELD,
        Reason.RELABELLED,
        Reason.PLACED,
        Reason.MOVED,
        Reason.EDITED_UNSERVED,
        Reason.EDITED_IN_PLACE,
        Reason.EDIT_WAITS,
        Reason.NOWHERE_TO_GO,
        Reason.MOVE_WAITS,
    }
)
