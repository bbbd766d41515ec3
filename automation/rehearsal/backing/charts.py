"""Stand-ins for Helm releases on local clusters: charts are not fetched, and no container of theirs would run.

Of a chart, what other objects need of it is made: its namespace when it is told to make one, the definitions of its
custom resources, the DeviceClasses of a device driver. A controller may be run as a process by whoever installs. What
is installed is kept as Helm keeps it, in a Secret of the release's namespace; so it goes with the cluster, and whoever
looks sees that it is only a stand-in.
"""

import base64
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from automation.rehearsal.kubernetes.api import Api, ApiError
from automation.rehearsal.kubernetes.definitions import definitions
from automation.rehearsal.kubernetes.nodes import EFA_DRIVER, GPU_DRIVER, Object, device_classes
from components.errors import TimedOut

GPU_CHART: Final = "dra-driver-nvidia-gpu"
EFA_CHART: Final = "aws-dranet"
GANG_CHART: Final = "lws"

_DRIVERS: Final[Mapping[str, str]] = {GPU_CHART: GPU_DRIVER, EFA_CHART: EFA_DRIVER}
"""The driver of devices that a chart installs, with its DeviceClasses."""

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SECONDS_TO_SERVE: Final = 60.0
_BETWEEN_LOOKS: Final = 0.2

_TYPE: Final = "berth.dev/stand-in-of-a-release"
_ATTEMPTS: Final = 3
_CONFLICT: Final = 409


def install(api: Api, release: Mapping[str, Any], *, run: Callable[[str], None] = lambda _: None) -> int:
    """Install or upgrade a release; give its revision. Raises ApiError, TimedOut, and ToolchainError.

    ``run`` starts what a chart's containers would run, when its definitions are there; what it raises is raised.
    """
    namespace, chart = str(release["namespace"]), chart_name(release)
    if release.get("createNamespace"):
        ensure(api, "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    made = definitions(chart)
    for each in made:
        ensure(api, _DEFINITIONS, each)
    _await(lambda: all(map(_is_served, (api.get(f"{_DEFINITIONS}/{each['metadata']['name']}") for each in made))))
    run(chart)
    for each in device_classes(_DRIVERS[chart]) if chart in _DRIVERS else ():
        ensure(api, "/apis/resource.k8s.io/v1/deviceclasses", each)
    known = find(api, namespace, str(release["name"]))
    revision = int(known["revision"]) + 1 if known else 1
    body = _secret({**release, "revision": revision})
    if known:
        api.patch(f"{_secrets(namespace)}/{body['metadata']['name']}", {"data": body["data"]})
    else:
        api.create(_secrets(namespace), body)
    return revision


def find(api: Api, namespace: str, name: str) -> dict[str, Any] | None:
    """Read what a release was installed with; None when it is not there."""
    try:
        found = api.get(f"{_secrets(namespace)}/{_secret_name(name)}")
    except ApiError as error:
        if error.not_found:
            return None
        raise
    release: dict[str, Any] = json.loads(base64.b64decode(found["data"]["release"]))
    return release


def uninstall(api: Api, namespace: str, name: str, *, end: Callable[[str], None] = lambda _: None) -> None:
    """Forget a release. Namespaces and definitions stay, as Helm leaves them; ``end`` ends what ``run`` has started."""
    known = find(api, namespace, name)
    if known is None:
        return
    end(chart_name(known))
    try:
        api.delete(f"{_secrets(namespace)}/{_secret_name(name)}")
    except ApiError as error:
        if not error.not_found:
            raise


def installed(api: Api) -> frozenset[str]:
    """Name the charts that are installed on a cluster."""
    found = api.items(f"/api/v1/secrets?fieldSelector=type%3D{_TYPE.replace('/', '%2F')}", cached=True)
    return frozenset(chart_name(json.loads(base64.b64decode(each["data"]["release"]))) for each in found)


def chart_name(release: Mapping[str, Any]) -> str:
    """Give the bare name of a release's chart, whose reference may be an address."""
    return str(release["chart"]).rpartition("/")[2]


def ensure(api: Api, path: str, body: Object) -> None:
    """Create an object unless it is there. A server that does not answer in time is asked again: it may be busy."""
    for attempt in range(_ATTEMPTS):
        try:
            api.create(path, body)
        except ApiError as error:
            if error.status == _CONFLICT:
                return
            if error.status or attempt + 1 == _ATTEMPTS:
                raise
        else:
            return


def _is_served(definition: Object) -> bool:
    conditions = definition["status"].get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _await(done: Callable[[], bool]) -> None:
    """Wait for definitions to be served, as Helm does; whoever makes an object of theirs next would be refused."""
    deadline = time.monotonic() + _SECONDS_TO_SERVE
    while not done():
        if time.monotonic() > deadline:
            raise TimedOut("the definitions of custom resources are not served in time")
        time.sleep(_BETWEEN_LOOKS)


def _secret(release: Mapping[str, Any]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": _secret_name(str(release["name"])), "labels": {"owner": "berth-stand-in"}},
        "type": _TYPE,
        "data": {"release": base64.b64encode(json.dumps(release, sort_keys=True).encode()).decode()},
    }


def _secrets(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/secrets"


def _secret_name(release: str) -> str:
    return f"stand-in.release.{release}"
