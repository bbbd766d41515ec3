"""Law of the warning at load: what can never be placed by it is never placed by the scheduler.

L7 A deployment that `deployment-unplaceable` warns of gets no place on an empty fleet, whatever hardware, counts and
accounting there are. The reverse does not hold: the scheduler knows more.
"""

from datetime import UTC, datetime
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from automation.scheduling.build import build_snapshot
from automation.scheduling.changes import NO_CHANGES
from automation.scheduling.existing import Existing
from automation.scheduling.schedule import schedule
from components.api.codes import Code
from components.api.load import load_fleet
from tests.support.api_manifests import GATEWAY
from tests.support.effort import law

NOW = datetime(2027, 1, 1, tzinfo=UTC)
DRIVERS = ("gpu.nvidia.com", "gpu.nvidia.com", "gpu.nvidia.com", "nic.nvidia.com")
"""What devices are of; the first more often, so that many fleets have room."""


def document(kind: str, name: str, spec: Any) -> dict[str, Any]:
    """Write one manifest."""
    version = "berth.dev/v1alpha1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


@st.composite
def classes(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Generate a class with one or two kinds of devices, claimed or synthetic."""
    devices = []
    for index in range(draw(st.integers(1, 2))):
        claim = draw(st.sampled_from(["DRA", "DRA", "Synthetic"]))
        device = {"name": f"d{index}", "claim": claim, "driver": draw(st.sampled_from(DRIVERS))}
        device["count"] = draw(st.sampled_from([2, 8, 8]))
        devices.append(device | ({"deviceClassName": device["driver"]} if claim == "DRA" else {}))
    return document("InferenceClass", name, {"devices": devices})


@st.composite
def members(draw: st.DrawFn, role: str) -> dict[str, Any]:
    """Generate a member that asks for one or two things."""
    requests = [
        {
            "name": f"r{index}",
            "count": draw(st.sampled_from([1, 1, 2, 8])),
            "selectors": [{"cel": f'device.driver == "{draw(st.sampled_from(DRIVERS))}"'}],
        }
        for index in range(draw(st.sampled_from([1, 1, 2])))
    ]
    member = {"role": role, "nodeSelector": {"devices": requests}}
    member["template"] = {"spec": {"containers": [{"name": "engine", "image": "a"}]}}
    return member | ({"worker": {"nodes": draw(st.integers(1, 3))}} if role == "Worker" else {})


@st.composite
def fleets(draw: st.DrawFn) -> list[tuple[str, bytes]]:
    """Generate an environment with one deployment of one replica."""
    accounting = draw(st.sampled_from(["Device", "Node", "BestFit"]))
    found = [document("Environment", "dev", {"frontDoors": ["c0"], "scheduling": {"accounting": accounting}})]
    found += [draw(classes(f"k{index}")) for index in range(2)]
    for index in range(draw(st.integers(1, 2))):
        pools = [
            {"name": f"p{number}", "className": f"k{draw(st.integers(0, 1))}", "nodeCount": draw(st.integers(0, 5))}
            for number in range(draw(st.integers(1, 2)))
        ]
        source = {"source": "Existing", "existing": {"secretRef": {"name": f"c{index}"}}}
        found.append(document("InferenceCluster", f"c{index}", {"cluster": source, "nodePools": pools}))
    engines = []
    for index in range(draw(st.integers(1, 2))):
        roles = draw(st.sampled_from([("Standalone",), ("Leader", "Worker")]))
        engine = {"name": f"e{index}", "copies": draw(st.integers(1, 2))}
        engines.append(engine | {"members": [draw(members(role)) for role in roles]})
    deployment = document("ModelDeployment", "m", {"replicas": 1, "template": {"spec": {"engines": engines}}})
    platform = yaml.safe_dump_all(found, sort_keys=False) + f"---\n{GATEWAY}"
    return [("platform/all.yaml", platform.encode()), ("models/ml/m.yaml", yaml.safe_dump(deployment).encode())]


@given(files=fleets())
@law(80)
def test_what_is_called_unplaceable_is_never_placed(files: list[tuple[str, bytes]]) -> None:
    """L7: the warning is never wrong."""
    loaded = load_fleet(files, name="dev")
    warned = any(problem.code == Code.DEPLOYMENT_UNPLACEABLE for problem in loaded.problems)
    snapshot = build_snapshot(loaded.raise_if_errors(), Existing(), changes=NO_CHANGES, observation=None, now=NOW)
    if warned:
        assert schedule(snapshot).placements == ()
