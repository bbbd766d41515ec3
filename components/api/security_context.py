"""Security settings of a pod and of its containers, as Kubernetes has them."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import Belongs, Needs, Together, equal
from components.api.rules import Violation, distinct, duplicates, matching, within

Id = Annotated[int, Field(ge=0, le=2**31 - 1)]
Capability = Annotated[str, Field(min_length=1, max_length=64, pattern="^[A-Z][A-Z0-9_]*$")]


class SeccompProfile(Ruled):
    """Which system calls are allowed."""

    CONDITIONS: ClassVar = (
        Needs("localhost_profile", "type", ("Localhost",)),
        Belongs("localhost_profile", "type", ("Localhost",)),
    )

    type: Literal["RuntimeDefault", "Unconfined", "Localhost"]
    """The runtime's own profile, none, or a file on the node."""

    localhost_profile: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """The file below the kubelet's folder of profiles; only for `Localhost`."""


class Capabilities(Model):
    """Privileges of Linux, without `CAP_` in front."""

    add: Annotated[Items[Capability], distinct("the capability")] = ()
    """Those to add."""

    drop: Annotated[Items[Capability], distinct("the capability")] = ()
    """Those to take away; `ALL` for every one."""


def _not_both(context: "SecurityContext | PodSecurityContext") -> Iterator[Violation]:
    if context.run_as_user == 0 and context.run_as_non_root:
        message = "runAsNonRoot is true, so runAsUser cannot be `0`"
        yield Violation(Code.FIELD_CONFLICT, message, ("runAsUser",))


def _escalates(context: "SecurityContext") -> Iterator[Violation]:
    if context.privileged and context.allow_privilege_escalation is False:
        message = "a privileged container can always escalate, so `allowPrivilegeEscalation` cannot be false"
        yield Violation(Code.FIELD_CONFLICT, message, ("allowPrivilegeEscalation",))


_ROOT: Final = Together(
    _not_both,
    ({"if": equal("runAsNonRoot", value=True), "then": {"properties": {"runAsUser": {"not": {"const": 0}}}}},),
)
_NOT_FALSE: Final = {"properties": {"allowPrivilegeEscalation": {"not": {"const": False}}}}
_PRIVILEGED: Final = Together(_escalates, ({"if": equal("privileged", value=True), "then": _NOT_FALSE},))


class SecurityContext(Ruled):
    """Security settings of a container."""

    CONDITIONS: ClassVar = (_ROOT, _PRIVILEGED)

    run_as_user: Id | None = None
    """User id of its processes."""

    run_as_group: Id | None = None
    """Group id of its processes."""

    run_as_non_root: bool | None = None
    """Whether it may only start as another user than root."""

    allow_privilege_escalation: bool | None = None
    """Whether a process may gain more privileges than its parent has."""

    read_only_root_filesystem: bool | None = None
    """Whether its own files cannot be changed."""

    privileged: bool | None = None
    """Whether it is as good as root on the node."""

    capabilities: Capabilities | None = None
    """Privileges of Linux."""

    seccomp_profile: SeccompProfile | None = None
    """Which system calls are allowed."""


class Sysctl(Model):
    """A setting of the kernel in the pod's own namespace."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=253),
        matching(
            r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?",
            "be the name of a setting of the kernel, such as `net.core.somaxconn`",
            Code.NAME_INVALID,
        ),
    ]
    """Name, such as `net.core.somaxconn`."""

    value: str
    """Value, as text."""


class PodSecurityContext(Ruled):
    """Security settings of a pod."""

    CONDITIONS: ClassVar = (_ROOT,)

    run_as_user: Id | None = None
    """User id of the processes of its containers."""

    run_as_group: Id | None = None
    """Group id of the processes of its containers."""

    run_as_non_root: bool | None = None
    """Whether its containers may only start as another user than root."""

    fs_group: Id | None = None
    """Group that owns its volumes."""

    fs_group_change_policy: Literal["Always", "OnRootMismatch"] | None = None
    """Whether the owner of every file is set at each start, or only where the root's is another."""

    supplemental_groups: Items[Id] = ()
    """More groups of its processes."""

    seccomp_profile: SeccompProfile | None = None
    """Which system calls are allowed."""

    sysctls: Items[Sysctl] = ()
    """Settings of the kernel."""

    def rules(self) -> Iterator[Violation]:
        """Check that a setting of the kernel stands once."""
        yield from within("sysctls", duplicates(self.sysctls, lambda each: each.name, "name", "the setting"))
