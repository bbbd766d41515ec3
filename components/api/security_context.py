"""Security settings of a pod and of its containers, as Kubernetes has them."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.rules import Violation, duplicates, shown, within

Id = Annotated[int, Field(ge=0, le=2**31 - 1)]
Capability = Annotated[str, Field(min_length=1, max_length=64, pattern="^[A-Z][A-Z0-9_]*$")]


class SeccompProfile(Ruled):
    """Which system calls are allowed."""

    type: Literal["RuntimeDefault", "Unconfined", "Localhost"]
    """The runtime's own profile, none, or a file on the node."""

    localhost_profile: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """The file below the kubelet's folder of profiles; only for `Localhost`."""

    def rules(self) -> Iterator[Violation]:
        """Check that a file is named exactly where one is used."""
        if self.type == "Localhost" and self.localhost_profile is None:
            message = "`localhostProfile` is missing; type Localhost needs it"
            yield Violation(Code.FIELD_MISSING, message)
        if self.type != "Localhost" and self.localhost_profile is not None:
            message = f"`localhostProfile` belongs to type Localhost, and the type is {self.type}"
            yield Violation(Code.FIELD_CONFLICT, message, ("localhostProfile",), at_key=True)


class Capabilities(Ruled):
    """Privileges of Linux, without `CAP_` in front."""

    add: Items[Capability] = ()
    """Those to add."""

    drop: Items[Capability] = ()
    """Those to take away; `ALL` for every one."""

    def rules(self) -> Iterator[Violation]:
        """Check that none stands twice."""
        yield from within("add", duplicates(self.add, str, "", "the capability"))
        yield from within("drop", duplicates(self.drop, str, "", "the capability"))


class SecurityContext(Ruled):
    """Security settings of a container."""

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

    def rules(self) -> Iterator[Violation]:
        """Check what an API server would refuse."""
        yield from root_violations(self.run_as_user, self.run_as_non_root)
        if self.privileged and self.allow_privilege_escalation is False:
            message = "a privileged container can always escalate, so `allowPrivilegeEscalation` cannot be false"
            yield Violation(Code.FIELD_CONFLICT, message, ("allowPrivilegeEscalation",))


class Sysctl(Model):
    """A setting of the kernel in the pod's own namespace."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name, such as `net.core.somaxconn`."""

    value: str
    """Value, as text."""


class PodSecurityContext(Ruled):
    """Security settings of a pod."""

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
        """Check what an API server would refuse."""
        yield from root_violations(self.run_as_user, self.run_as_non_root)
        yield from within("sysctls", duplicates(self.sysctls, lambda each: each.name, "name", "the setting"))


def root_violations(user: int | None, non_root: bool | None) -> Iterator[Violation]:  # noqa: FBT001 (a field's value)
    """Yield a violation where root is both asked for and forbidden."""
    if user == 0 and non_root:
        message = f"runAsNonRoot is true, so runAsUser cannot be {shown('0')}"
        yield Violation(Code.FIELD_CONFLICT, message, ("runAsUser",))
