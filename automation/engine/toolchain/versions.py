"""The one place that pins the Pulumi CLI: its version, what else is accepted, and where it comes from.

``cli_module/go.mod`` names the same version for the build from source; a test holds the two together.
"""

import platform
import re
import sys
from dataclasses import dataclass
from typing import Final, Self

VERSION: Final = "3.274.1"
"""The CLI that Berth is tested with: what is downloaded or built."""

MINIMUM: Final = "3.272.0"
"""The oldest CLI accepted on PATH: the version of the locked Python SDK, because an SDK that is newer than its engine
is not a direction Pulumi supports."""

DOWNLOAD_ADDRESS: Final = "https://get.pulumi.com/releases/sdk"
"""Where the official release archives and their checksums lie."""

CLI_PACKAGE: Final = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
VERSION_SYMBOL: Final = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
"""The linker fills this symbol. Without it the CLI prints an empty version and the Automation API refuses it."""

BUILD_TAGS: Final = ("osusergo", "grpcnotrace")
"""The tags of the official release builds."""

_NUMBERS = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:[-+.].*)?$")
_SYSTEMS = {"linux": "linux", "darwin": "darwin"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "arm64": "arm64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version by its three numbers; what follows them (``-dev.0``) does not count."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read ``v3.274.1`` or ``3.274.1-dev.0``; ``None`` when there are no three numbers."""
        match = _NUMBERS.match(text.strip())
        return cls(*(int(group) for group in match.groups())) if match else None

    @property
    def acceptable(self) -> bool:
        """Whether a CLI of this version may be used: new enough, and of the same major version as the pinned one."""
        minimum, pinned = Version.parse(MINIMUM), Version.parse(VERSION)
        assert minimum is not None
        assert pinned is not None
        return minimum <= self and self.major == pinned.major

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True, slots=True)
class Platform:
    """An operating system and a processor, in the words of the official archives (``linux``, ``x64``)."""

    system: str
    machine: str

    @classmethod
    def current(cls) -> Self:
        """Say where this process runs; words that Pulumi has no archive for are kept as they are."""
        machine = platform.machine().lower()
        return cls(system=_SYSTEMS.get(sys.platform, sys.platform), machine=_MACHINES.get(machine, machine))

    @property
    def supported(self) -> bool:
        """Whether there is an official archive for it."""
        return self.system in _SYSTEMS.values() and self.machine in _MACHINES.values()

    @property
    def archive(self) -> str:
        """The file name of the official archive."""
        return f"pulumi-v{VERSION}-{self.system}-{self.machine}.tar.gz"


CHECKSUMS: Final = f"pulumi-{VERSION}-checksums.txt"
"""The file that lists the SHA-256 of every archive; unlike the archives its name has no ``v``."""
