"""Resource claim templates: what the pods of a member ask of dynamic resource allocation.

A template stamps one claim for every pod. Templates cannot be changed, so the name holds a hash of the content: an
edited request makes a new template, and pods of the old one keep theirs until they are gone.
"""

from typing import Any

from components.canonical import canonical_json
from components.lock import EngineShape, MemberPlacement, MemberShape
from components.models.manifest import Manifest, Owner
from components.naming import claim_template_name

POD_CLAIM = "devices"
"""Name of the claim within a pod; a container takes the whole of it."""


def claim_role(engine: str, role: str) -> str:
    """Return the role, within the replica, of a member's claim template."""
    return f"claim-{engine}-{role.lower()}"


def claim_template(
    owner: Owner, *, replica: str, engine: EngineShape, member: MemberShape, placement: MemberPlacement
) -> Manifest | None:
    """Return a member's claim template; None for a member that claims nothing.

    Requests that were placed on a device without a claim are not in the placement and not in the template.
    """
    if not placement.claims:
        return None
    spec = {"spec": {"devices": {"requests": _requests(member, placement)}}}
    name = claim_template_name(replica, engine.name, member.role, canonical_json(spec))
    body = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": owner.metadata(name),
        "spec": spec,
    }
    return Manifest(claim_role(engine.name, member.role), body)


def _requests(member: MemberShape, placement: MemberPlacement) -> list[dict[str, Any]]:
    asked = {request.name: request for request in member.requests}
    return [
        {
            "name": claim.request,
            "exactly": {
                "deviceClassName": claim.device_class,
                "count": asked[claim.request].count,
                "selectors": [{"cel": {"expression": selector}} for selector in asked[claim.request].selectors],
            },
        }
        for claim in placement.claims
    ]
