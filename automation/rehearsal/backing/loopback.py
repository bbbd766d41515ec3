"""The guard of backed runs: a kubeconfig may lead to this machine's loopback interface, and nowhere else."""

import ipaddress
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from automation.rehearsal.provider.kubeconfig import Unreadable, endpoint
from automation.rehearsal.wire import has_unknown

_PROXY: Final = "proxy-url"


def stray_server(settings: Mapping[str, Any]) -> str:
    """Return where a provider's settings lead when that is off this machine; empty for those that stay on it.

    A kubeconfig that is not known yet leads nowhere, and neither does one that cannot be read. None at all would mean
    the one of this machine's user, which is never meant.
    """
    kubeconfig = settings.get("kubeconfig")
    if kubeconfig is None:
        return "wherever the kubeconfig of this machine's user says"
    if has_unknown(kubeconfig):
        return ""
    if _PROXY in str(kubeconfig):
        return "a proxy"
    try:
        chosen = {key: str(settings.get(key) or "") for key in ("context", "cluster")}
        server = endpoint(kubeconfig, **chosen).server
    except Unreadable:
        return ""
    return "" if is_loopback(server) else server


def is_loopback(server: str) -> bool:
    """Whether the address of a server is one of the loopback interface, by number: a name may change its meaning."""
    try:
        return ipaddress.ip_address(urlsplit(server).hostname or "").is_loopback
    except ValueError:
        return False
