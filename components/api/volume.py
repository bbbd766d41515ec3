"""Volumes of a pod besides those of shared memory and the cache, and where containers mount them."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import ExactlyOne
from components.api.env_var import ObjectName
from components.api.rules import Check, DnsLabel, Violation, checked, duplicates, shown, unlike, within
from components.api.values import Amount

Path = Annotated[str, Field(min_length=1, max_length=1024), checked(syntax.absolute_path, Code.VALUE_INVALID)]
SubPath = Annotated[str, Field(min_length=1, max_length=1024), checked(syntax.folder, Code.VALUE_INVALID)]

RESERVED_NAMES: Final = ("dshm", "model-cache")
"""Volumes that every pod of an engine has, or has with a cache."""

RESERVED_PATHS: Final = ("/dev/shm", "/mnt/models")  # noqa: S108 (the pod's, not ours)
"""Where those are mounted."""


def _pods(name: str) -> Violation:
    message = f"every pod of an engine may have a volume named {shown(name)} already"
    return Violation(Code.NAME_INVALID, message, hint="choose another name")


def _free(path: str) -> str:
    """Check that nothing else is mounted at a path."""
    if path.rstrip("/") in RESERVED_PATHS:
        message = f"{shown(path)} holds what every engine needs, and nothing else is mounted there"
        raise Violation(Code.FIELD_CONFLICT, message).error()
    return path


class EmptyDir(Model):
    """A folder that lives as long as the pod."""

    medium: Literal["", "Memory"] = ""
    """`Memory` for a file system in memory."""

    size_limit: Amount | None = None
    """Most that it may hold, such as `10Gi`."""


class ConfigMapVolume(Model):
    """Files from a ConfigMap of the pod's namespace."""

    name: ObjectName
    """Name of the ConfigMap."""

    optional: bool = False
    """Whether the pod may start without it."""


class SecretVolume(Model):
    """Files from a Secret of the pod's namespace."""

    secret_name: ObjectName
    """Name of the Secret."""

    optional: bool = False
    """Whether the pod may start without it."""


class ClaimVolume(Model):
    """A volume claim of the pod's namespace, which must exist on every cluster that may run the pod."""

    claim_name: ObjectName
    """Name of the claim."""

    read_only: bool = False
    """Whether nothing can be written to it."""


class HostPath(Model):
    """A file or folder of the node."""

    path: Path
    """Where it lies on the node."""

    type: Literal["", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"] = ""
    """What must be there; nothing is checked without it."""


class Volume(Ruled):
    """A volume, from one of several sources."""

    CONDITIONS: ClassVar = (
        ExactlyOne(
            "a volume has exactly one of",
            ("empty_dir", "config_map", "secret", "persistent_volume_claim", "host_path"),
        ),
    )

    name: Annotated[DnsLabel, unlike(RESERVED_NAMES, _pods)]
    """Name within the pod."""

    empty_dir: EmptyDir | None = None
    """A folder that lives as long as the pod."""

    config_map: ConfigMapVolume | None = None
    """Files from a ConfigMap."""

    secret: SecretVolume | None = None
    """Files from a Secret."""

    persistent_volume_claim: ClaimVolume | None = None
    """A volume claim that exists."""

    host_path: HostPath | None = None
    """A file or folder of the node."""


class VolumeMount(Model):
    """Where a volume stands in a container."""

    name: DnsLabel
    """Name of the volume."""

    mount_path: Annotated[Path, Check(_free, {"not": {"pattern": f"^({'|'.join(RESERVED_PATHS)})/*$"}})]
    """Where it is mounted."""

    sub_path: SubPath | None = None
    """Folder or file of the volume that is mounted, instead of all of it."""

    read_only: bool = False
    """Whether nothing can be written to it here."""


def mount_violations(mounts: Items[VolumeMount]) -> Iterator[Violation]:
    """Yield what is wrong with a container's mounts among themselves; paths lead from the container."""
    yield from within("volumeMounts", duplicates(mounts, lambda mount: mount.mount_path, "mountPath", "the path"))
