"""Facts about Kubernetes kinds, from the table: scope, name rules, what a change means, what status appears."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from automation.rehearsal.provider.table import Table

HELM_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_RULES: Final = {
    "subdomain": (253, _SUBDOMAIN, "an RFC 1123 subdomain consists of lower case letters, digits, '-' and '.'"),
    "label": (63, _LABEL, "an RFC 1123 label consists of lower case letters, digits and '-'"),
    "service": (63, r"[a-z]([-a-z0-9]*[a-z0-9])?", "an RFC 1035 label starts with a letter; then letters, digits, '-'"),
    "path": (253, r"(?!\.{1,2}$)[^/%]+", "it may not contain '/' or '%'"),
}
_LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_KEY: Final = re.compile(rf"({_SUBDOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object: ``group/Kind`` (the core group is ``/Kind``), its version, and the table's facts."""

    group: str
    version: str
    kind: str
    facts: Mapping[str, Any]
    namespaced: bool

    @property
    def key(self) -> str:
        """The kind without its version: two versions of one kind are the same objects."""
        return f"{self.group}/{self.kind}"

    @property
    def api_version(self) -> str:
        """The ``apiVersion`` that objects of it carry."""
        return f"{self.group}/{self.version}" if self.group else self.version


def kind_of(token: str, table: Table) -> Kind:
    """Read a type token (``kubernetes:apps/v1:Deployment``, ``kubernetes:core/v1:Pod``, also ``kubernetes:v1:Pod``)."""
    _, module, kind = token.split(":")
    group, _, version = module.rpartition("/")
    group = "" if group == "core" else group
    key = f"{group}/{kind}"
    facts: Mapping[str, Any] = table.facts.get("kinds", {}).get(key, {})
    return Kind(group, version, kind, facts, namespaced=key not in table.facts.get("cluster_scoped", ()))


def name_problem(kind: Kind, name: str) -> str:
    """Say what the API server would dislike about a name; empty when it is fine."""
    longest, pattern, wants = _RULES[kind.facts.get("name", "subdomain")]
    longest = kind.facts.get("name_max", longest)
    if len(name) > longest:
        return f"Invalid value: {name!r}: must be no more than {longest} characters"
    return "" if re.fullmatch(pattern, name) else f"Invalid value: {name!r}: {wants}"


def label_problem(key: str, value: Any) -> str:
    """Say what the API server would dislike about a label; empty when it is fine."""
    if not _LABEL_KEY.fullmatch(key):
        return f"Invalid value: {key!r}: not a valid label key"
    if not isinstance(value, str) or len(value) > 63 or not _LABEL_VALUE.fullmatch(value):  # noqa: PLR2004 - the API's limit
        return "Invalid value: a valid label is at most 63 alphanumeric characters, '-', '_' or '.'"
    return ""


def images(bag: Any) -> tuple[str, ...]:
    """List the images of all containers found anywhere in an object, in order."""
    found: list[str] = []
    if isinstance(bag, dict):
        for key, value in bag.items():
            if key in {"containers", "initContainers"} and isinstance(value, list):
                names = [item.get("image") for item in value if isinstance(item, dict)]
                found += [name for name in names if isinstance(name, str)]
            else:
                found += images(value)
    elif isinstance(bag, list):
        for item in bag:
            found += images(item)
    return tuple(found)
