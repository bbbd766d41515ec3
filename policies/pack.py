"""The pack: its name and its rules, in the order in which they are shown."""

from typing import Final

from policies import (
    cache_fits_volume,
    cluster_taint_tolerated,
    component_truthful,
    device_one_owner,
    devices_within_pool,
    gpu_pool_tainted,
    gpu_taint_tolerated,
    replica_in_cache_footprint,
)
from policies.rule import Rule

NAME: Final = "berth"
RULES: Final[tuple[Rule, ...]] = (
    gpu_pool_tainted.RULE,
    gpu_taint_tolerated.RULE,
    cluster_taint_tolerated.RULE,
    device_one_owner.RULE,
    devices_within_pool.RULE,
    replica_in_cache_footprint.RULE,
    cache_fits_volume.RULE,
    component_truthful.RULE,
)
