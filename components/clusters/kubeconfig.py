"""Kubeconfig: read one that a user gave, write one for a cluster that Berth made. PURE.

The text is a secret, so no message ever quotes it: an error names the place of the secret and what is wrong there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import yaml

from components.canonical import canonical_json
from components.errors import BerthError

_PORTS = {"https": 443, "http": 80}
_LIMIT = 1_000_000
"""Bytes; a Kubernetes Secret holds no more, and a kubeconfig is a few kilobytes."""


class KubeconfigError(BerthError):
    """A kubeconfig is not YAML, or does not say how to reach a cluster."""

    code = "kubeconfig"
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """What Berth needs to know of a kubeconfig: which cluster its current context reaches."""

    context: str
    endpoint: str
    """URL of the API server."""
    proxy: str = ""
    """URL of the proxy that leads there; the same private address behind two proxies is two servers."""

    @property
    def server(self) -> str:
        """What tells one API server from another, in a form that may be shown and compared."""
        return server_address(self.endpoint)

    @property
    def host(self) -> str:
        """Host of the API server, without a port."""
        return urlsplit(self.endpoint).hostname or ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A context of a kubeconfig with the ``cluster`` and the ``user`` that it names, as they are written."""

    context: str
    server: str
    """URL of the API server."""
    cluster: Mapping[str, Any] = field(repr=False)
    user: Mapping[str, Any] = field(repr=False)
    """Empty where the context names none."""


def read_entry(text: str, *, where: str = "the kubeconfig", context: str = "") -> Entry:
    """Read what a kubeconfig says of a context, by default its current one.

    ``where`` names its place for messages (``modelplane-system/edge, key kubeconfig``). Raises KubeconfigError.
    """
    document = _document(text, where)
    name = context or document.get("current-context")
    if not isinstance(name, str) or not name:
        raise kubeconfig_error(where, "it has no current-context")
    chosen = _named(document, "contexts", name, "context", where)
    cluster = chosen.get("cluster")
    if not isinstance(cluster, str) or not cluster:
        raise kubeconfig_error(where, f"its context {name!r} names no cluster")
    reached = _named(document, "clusters", cluster, "cluster", where)
    server = reached.get("server")
    if not isinstance(server, str) or not _is_url(server):
        raise kubeconfig_error(where, f"its cluster {cluster!r} has no server URL (https://...)")
    user = chosen.get("user")
    known = _named(document, "users", user, "user", where) if isinstance(user, str) and user else {}
    return Entry(name, server, reached, known)


def parse_kubeconfig(text: str, *, where: str = "the kubeconfig") -> Kubeconfig:
    """Read which cluster a kubeconfig's current context reaches. Raises KubeconfigError."""
    entry = read_entry(text, where=where)
    proxy = entry.cluster.get("proxy-url")
    return Kubeconfig(entry.context, entry.server, proxy if isinstance(proxy, str) else "")


def server_address(url: str) -> str:
    """Return a server's URL in one form for all its spellings: case, a default port, a last slash; no user in it."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host.rstrip(".")
    shown = "" if port in {None, _PORTS.get(parts.scheme)} else f":{port}"
    return f"{parts.scheme}://{host}{shown}{parts.path.rstrip('/')}"


def exec_kubeconfig(
    name: str, *, endpoint: str, authority: str, command: Sequence[str], environment: Mapping[str, str]
) -> str:
    """Write a kubeconfig that gets its token by running ``command``; nothing in it expires.

    ``authority`` is the base64 of the API server's certificate authority. Equal input gives equal text.
    """
    program, *arguments = command
    return canonical_json(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": name, "cluster": {"server": endpoint, "certificate-authority-data": authority}},
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [
                {
                    "name": name,
                    "user": {
                        "exec": {
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": program,
                            "args": arguments,
                            "env": [{"name": key, "value": value} for key, value in sorted(environment.items())]
                            or None,
                            "interactiveMode": "Never",
                        }
                    },
                }
            ],
        }
    )


def _document(text: str, where: str) -> Mapping[str, Any]:
    if len(text.encode(errors="replace")) > _LIMIT:
        raise kubeconfig_error(where, "it is larger than a secret can be")
    try:
        document = yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise kubeconfig_error(where, f"it is not YAML{place}") from None  # the cause would quote the secret
    if not isinstance(document, dict):
        raise kubeconfig_error(where, "it is not a YAML mapping")
    kind = document.get("kind", "Config")
    if kind != "Config":
        raise kubeconfig_error(where, "its kind is not Config")
    return document


def _named(document: Mapping[str, Any], group: str, name: str, kind: str, where: str) -> Mapping[str, Any]:
    """Return the entry ``name`` of a list such as ``contexts``."""
    entries = document.get(group)
    for entry in entries if isinstance(entries, list) else ():
        found = entry.get(kind) if isinstance(entry, dict) and entry.get("name") == name else None
        if isinstance(found, dict):
            return found
    raise kubeconfig_error(where, f"it has no {kind} named {name!r} under {group}")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"https", "http"} and bool(parts.hostname)


def kubeconfig_error(where: str, what: str) -> KubeconfigError:
    """Return the error of a kubeconfig that cannot be used; ``what`` quotes nothing of its text but names."""
    return KubeconfigError(
        f"{where} cannot be used as a kubeconfig: {what}",
        consequence="Nothing was changed.",
        help="set it again, from the whole file of a kubeconfig",
    )
