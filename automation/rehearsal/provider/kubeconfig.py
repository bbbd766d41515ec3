"""Kubeconfigs, read only as far as a simulation needs: which server is meant.

Nothing is dialled and no credential helper runs. A kubeconfig is text (YAML or JSON) or the path of a file, as in the
real provider.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automation.rehearsal.wire import lookup


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a kubeconfig points: the server's address and the names by which people know the cluster."""

    server: str
    cluster: str = ""
    context: str = ""
    namespace: str = ""


class Unreadable(ValueError):
    """The text is no kubeconfig; the message says why and shows nothing of it."""


def endpoint(text: Any, *, context: str = "", cluster: str = "") -> Endpoint:
    """Find the server that a kubeconfig's current (or the given) context and cluster mean."""
    document = _document(text)
    context = context or str(document.get("current-context") or "")
    chosen = _named(document, "contexts", context)
    settings = chosen.get("context") or {}
    cluster = cluster or str(settings.get("cluster") or "")
    server = lookup(_named(document, "clusters", cluster), "cluster.server")
    if not isinstance(server, str) or not server:
        raise Unreadable(f"no server for context {context!r}" if context else "no current-context")
    return Endpoint(
        server=server.rstrip("/"), cluster=cluster, context=context, namespace=str(settings.get("namespace") or "")
    )


def _named(document: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    entries = document.get(section)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name:
            return entry
    return {}


def _document(text: Any) -> Mapping[str, Any]:
    if isinstance(text, Mapping):
        return text
    if not isinstance(text, str) or not text.strip():
        raise Unreadable("invalid configuration: no configuration has been provided")
    if "\n" not in text and "{" not in text:
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8")
        except OSError as error:
            raise Unreadable(f"the kubeconfig file cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise Unreadable("the kubeconfig file is not UTF-8") from error
    try:
        document = json.loads(text)
    except ValueError:
        document = _yaml(text)
    if not isinstance(document, dict):
        raise Unreadable("couldn't get version/kind; the kubeconfig is not a mapping")
    return document


def _yaml(text: str) -> Any:
    import yaml  # noqa: PLC0415 - slow to import, and kubeconfigs made by programs are JSON

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise Unreadable(f"yaml: {getattr(error, 'problem', None) or 'cannot be parsed'}{where}") from None
