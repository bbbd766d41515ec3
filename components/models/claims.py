"""Resource claim templates: what the pods of a member ask of dynamic resource allocation.

A template stamps one claim for every pod. Templates cannot be changed, so the name holds a hash of the content: an
edited request makes a new template, and pods of the old one keep theirs until they are gone. A pod that asks for more
devices than a claim may hold has several claims, which the allocator meets together.
"""

from collections.abc import Iterator
from typing import Any, Final

from components.canonical import canonical_json
from components.lock import EngineShape, MemberPlacement, MemberShape
from components.models.manifest import Manifest, Owner
from components.naming import claim_template_name

MOST_DEVICES: Final = 32
"""Devices that one claim can hold (``AllocationResultsMaxSize`` of ``resource.k8s.io/v1``).

The API server takes a claim for more, and the scheduler then fails on its pod for ever. A node of eight GPUs with four
EFA interfaces for each has 40.
"""

_POD_CLAIM: Final = "devices"


def claim_role(engine: str, role: str) -> str:
    """Return the role, within the replica, of a member's claim template; a second one ends with ``-2``."""
    return f"claim-{engine}-{role.lower()}"


def pod_claim(number: int) -> str:
    """Return the name, within the pod, of its claim of a number (from 0); a container takes the whole of each."""
    return _numbered(_POD_CLAIM, number)


def claim_templates(
    owner: Owner, *, replica: str, engine: EngineShape, member: MemberShape, placement: MemberPlacement
) -> tuple[Manifest, ...]:
    """Return a member's claim templates, nearly always one; none for a member that claims nothing.

    Requests that were placed on a device without a claim are not in the placement and not in a template.
    """
    templates = []
    for number, requests in enumerate(_claims(member, placement)):
        spec = {"spec": {"devices": {"requests": requests}}}
        body = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": owner.metadata(
                claim_template_name(replica, engine.name, _numbered(member.role, number), canonical_json(spec))
            ),
            "spec": spec,
        }
        templates.append(Manifest(_numbered(claim_role(engine.name, member.role), number), body))
    return tuple(templates)


def _claims(member: MemberShape, placement: MemberPlacement) -> Iterator[list[dict[str, Any]]]:
    """Yield the requests of each claim: in order, and cut where a claim is full."""
    asked = {request.name: request for request in member.requests}
    requests: list[dict[str, Any]] = []
    room = MOST_DEVICES
    for claim in placement.claims:
        left = asked[claim.request].count
        while left:
            if not room:
                yield requests
                requests, room = [], MOST_DEVICES
            count = min(left, room)
            requests.append(
                {
                    "name": claim.request,
                    "exactly": {
                        "deviceClassName": claim.device_class,
                        "count": count,
                        "selectors": [{"cel": {"expression": each}} for each in asked[claim.request].selectors],
                    },
                }
            )
            left, room = left - count, room - count
    if requests:
        yield requests


def _numbered(name: str, number: int) -> str:
    return f"{name}-{number + 1}" if number else name
