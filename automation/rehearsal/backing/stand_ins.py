"""Stand-ins for the controllers that exist only on real clusters, one pass at a time.

| on a real cluster | here |
| --- | --- |
| the cloud's load balancers | a Service of that type gets an address of the range for documentation (RFC 5737) |
| the controllers of gateways | a Gateway is accepted, programmed and gets such an address |
| the drivers of volumes | a claim that its class's driver would serve gets a volume that is a name (``volumes``) |
| the drivers of devices | nodes whose driver's chart is installed get the slices that it would publish |

``played`` says it to users, with what is played elsewhere. Nothing listens at any of the addresses. Gangs need no
stand-in: their own controller runs here (``kubernetes.gangs``).
"""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from automation.rehearsal.backing import charts, volumes
from automation.rehearsal.kubernetes.api import Api, ApiError
from automation.rehearsal.kubernetes.machines import Machine
from automation.rehearsal.kubernetes.nodes import EFA_DRIVER, GPU_DRIVER, Object, resource_slices

_GATEWAYS: Final = "/apis/gateway.networking.k8s.io/v1/gateways"
_NODES: Final = "/api/v1/nodes"
_SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
_DRIVERS: Final = {GPU_DRIVER: charts.GPU_CHART, EFA_DRIVER: charts.EFA_CHART}


def play(api: Api, machines: Mapping[str, Machine]) -> None:
    """Do what the controllers of one cluster would do now; ``machines`` are those of its nodes, by name.

    Raises ApiError when the API server cannot be reached; the next pass begins anew.
    """
    _each(api, "/api/v1/services", _balance)
    _each(api, _GATEWAYS, _program)
    volumes.provision(api)
    _publish(api, machines)


def _each(api: Api, path: str, act: Callable[[Api, str, Object], None]) -> None:
    try:
        found = api.items(path, cached=True)
    except ApiError as error:
        if error.not_found:  # its kind is not defined there
            return
        raise
    root, _, plural = path.rpartition("/")
    for each in found:
        metadata = each["metadata"]
        act(api, f"{root}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}/status", each)


def _balance(api: Api, status: str, service: Object) -> None:
    if service["spec"].get("type") == "LoadBalancer" and not service["status"].get("loadBalancer", {}).get("ingress"):
        api.patch(status, {"status": {"loadBalancer": {"ingress": [{"ip": _address(service)}]}}})


def _program(api: Api, status: str, gateway: Object) -> None:
    if gateway.get("status", {}).get("addresses"):
        return
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": kind,
            "message": "by a stand-in: nothing listens there",
            "lastTransitionTime": now,
            "observedGeneration": gateway["metadata"]["generation"],
        }
        for kind in ("Accepted", "Programmed")
    ]
    addresses = [{"type": "IPAddress", "value": _address(gateway)}]
    api.patch(status, {"status": {"addresses": addresses, "conditions": conditions}})


def _publish(api: Api, machines: Mapping[str, Machine]) -> None:
    installed = charts.installed(api)
    published = {each["metadata"]["name"] for each in api.items(_SLICES, cached=True)}
    owed = {
        f"{name}-{driver}"
        for name, machine in machines.items()
        for driver, devices in ((GPU_DRIVER, machine.gpus), (EFA_DRIVER, machine.efa))
        if devices and _DRIVERS[driver] in installed
    } - published
    # Of nodes that are there: one that was lost behind the cloud's back publishes nothing.
    for node in api.items(_NODES) if owed else ():
        machine = machines.get(node["metadata"]["name"])
        for each in resource_slices(node, machine) if machine else ():
            if each["metadata"]["name"] in owed:
                charts.ensure(api, _SLICES, each)


def _address(owner: Object) -> str:
    digest = hashlib.sha256(owner["metadata"]["uid"].encode()).digest()
    return f"203.0.113.{1 + digest[0] % 254}"
