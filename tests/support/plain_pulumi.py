"""Plain ``pulumi`` in a project of its own, with the variables that a simulated run gives it."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from automation.engine.toolchain.environment import engine_environment, plain_environment
from automation.engine.toolchain.host import place_host
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.simulated import prepare
from automation.engine.toolchain.toolchain import Toolchain

PROJECT = "name: sample\nruntime: python\nmain: program\n"
STACK = "dev"


@dataclass
class PlainPulumi:
    """A project in a temporary folder and the CLI that works on it; ``sent`` says whether it is sent to the copy."""

    layout: Layout
    toolchain: Toolchain
    sent: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the project, its host and its backend."""
        self.program.mkdir(parents=True, exist_ok=True)
        (self.layout.root / "Pulumi.yaml").write_text(PROJECT)
        place_host(self.layout, self.toolchain.pulumi, self.toolchain.source)
        prepare(self.layout)

    @property
    def program(self) -> Path:
        """The folder of the program."""
        return self.layout.root / "program"

    @property
    def locks(self) -> list[Path]:
        """The leases that are held on the stack."""
        return list(self.layout.simulated_state.glob(f".pulumi/locks/organization/sample/{STACK}/*.json"))

    @property
    def environ(self) -> dict[str, str]:
        """The variables of the calls."""
        environment = plain_environment if self.sent else engine_environment
        base = {**os.environ, **self.extra}
        return environment(self.layout, simulated=True, base=base, toolchain=self.toolchain)

    def write(self, source: str) -> None:
        """Write the program."""
        (self.program / "__main__.py").write_text(source)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the CLI in the project; both streams come as one."""
        return subprocess.Popen(
            [self.toolchain.pulumi, *arguments, "--non-interactive"],
            cwd=self.layout.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __call__(self, *arguments: str, fails: bool = False) -> str:
        """Run the CLI to its end and give what it printed; it has to fail when ``fails`` says so, and only then."""
        with self.start(*arguments) as process:
            out, _ = process.communicate(timeout=120)
        assert (process.returncode != 0) is fails, f"pulumi {' '.join(arguments)} gave {process.returncode}:\n{out}"
        return out
