"""Claim templates and what one pod asks for through them, found as Kubernetes finds them: by cluster, namespace, name.

Where a template stands in the program does not matter for what a pod gets; that it belongs to somebody else is for the
rule about owners to judge.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from policies.resources import Resource, Stack
from policies.wire import UNKNOWN

_CLAIM_TEMPLATES: Final = tuple(
    f"kubernetes:resource.k8s.io/{version}:ResourceClaimTemplate" for version in ("v1", "v1beta2", "v1beta1")
)


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a claim template. ``problem`` says in words why its devices cannot be counted."""

    device_class: str
    count: int
    problem: str = ""
    shares: bool = False
    """It asks for access to devices that somebody else holds."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What one pod claims through templates."""

    requests: tuple[Request, ...] = ()
    templates: tuple[Resource, ...] = ()
    certain: bool = True
    """Whether it is known which templates these are, and what they ask for."""


@dataclass(frozen=True, slots=True)
class _Templates:
    known: Mapping[tuple[str, str, str], tuple[Resource, tuple[Request, ...]]]
    nameless: frozenset[str]
    """Clusters with a template whose name or namespace is not known yet: one that is missing there may be it."""


def claims_of(stack: Stack, workload: Resource, names: Iterable[str]) -> Claims:
    """Return what a pod of a workload claims through the templates of these names."""
    names = tuple(names)
    if not names:
        return Claims()
    all_templates = stack.once(_templates)
    cluster, namespace = stack.place_of(workload), _namespace(stack, workload)
    requests: list[Request] = []
    templates: list[Resource] = []
    certain = namespace is not None
    for name in names if namespace is not None else ():
        found = all_templates.known.get((cluster, namespace, name))
        if found is not None:
            templates.append(found[0])
            requests += found[1]
            certain = certain and not stack.has_deferred(found[0])
        elif cluster in all_templates.nameless:
            certain = False
        else:
            problem = f"the program has no claim template {namespace}/{name} on its cluster"
            requests.append(Request(device_class="", count=0, problem=problem))
    return Claims(tuple(requests), tuple(templates), certain)


def _templates(stack: Stack) -> _Templates:
    known: dict[tuple[str, str, str], tuple[Resource, tuple[Request, ...]]] = {}
    nameless: set[str] = set()
    for template in stack.of_type(*_CLAIM_TEMPLATES):
        cluster, namespace = stack.place_of(template), _namespace(stack, template)
        name = stack.read(template, "metadata", "name")
        requests = tuple(_asked(stack, template))
        if namespace is None or name is None:
            nameless.add(cluster)
        else:
            known[cluster, namespace, str(name)] = (template, requests)
    return _Templates(known, frozenset(nameless))


def _namespace(stack: Stack, resource: Resource) -> str | None:
    """Return the namespace of an object; None when it is not known."""
    if stack.peek(resource, "metadata", "namespace") is UNKNOWN:
        stack.read(resource, "metadata", "namespace")  # remembered as deferred
        return None
    return str(stack.read(resource, "metadata", "namespace") or "default")


def _asked(stack: Stack, template: Resource) -> Iterator[Request]:
    for request in stack.read(template, "spec", "spec", "devices", "requests") or ():
        exactly = request.get("exactly") or request  # v1beta1 has the fields in the request itself
        device_class = str(exactly.get("deviceClassName") or "")
        problem = ""
        if request.get("firstAvailable"):
            problem = "takes the first of several kinds"
        elif exactly.get("allocationMode") == "All":
            problem = "takes all devices of a node"
        yield Request(
            device_class,
            int(exactly.get("count") or 1),
            problem=f"request {request.get('name')} {problem}" if problem else "",
            shares=bool(exactly.get("adminAccess")),
        )
