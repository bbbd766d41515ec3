"""The one place that pins the Pulumi CLI: its version, what else is accepted, and where it comes from.

``modules/pulumi/go.mod`` names the same version for the build from source; a test holds the two together.
"""

from typing import Final

from automation.engine.toolchain.tool import GoModule, Release, Tool

VERSION: Final = "3.274.1"
"""The CLI that Berth is tested with: what is downloaded or built."""

MINIMUM: Final = "3.272.0"
"""The oldest CLI accepted on PATH: the version of the locked Python SDK, because an SDK that is newer than its engine
is not a direction Pulumi supports."""

PULUMI: Final = Tool(
    name="pulumi",
    title="Pulumi CLI",
    version=VERSION,
    minimum=MINIMUM,
    below="4.0.0",
    ask=("version",),
    folder="bin",
    mirror="BERTH_PULUMI_DOWNLOAD_URL",
    # The archive holds the hosts of seven languages; the others stay in it.
    companions="pulumi-*python*",
    release=Release(
        address="https://get.pulumi.com/releases/sdk",
        name=f"pulumi-v{VERSION}-{{system}}-{{machine}}.tar.gz",
        # Unlike the archives its name has no "v".
        checksums=f"pulumi-{VERSION}-checksums.txt",
        systems=("linux", "darwin"),
        machines={"amd64": "x64", "arm64": "arm64"},
    ),
    module=GoModule(
        folder="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        # The tags of the official release builds.
        tags=("osusergo", "grpcnotrace"),
        # Without it the CLI prints an empty version and the Automation API refuses it.
        symbols=(("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", f"v{VERSION}"),),
    ),
)
