"""What a run that is not real needs before the engine starts: folders of its own, and the providers it takes."""

import sys
from pathlib import Path

from automation.engine.toolchain.disk import write_whole, writing
from automation.engine.toolchain.install import locate_tool
from automation.engine.toolchain.kubernetes import PROVIDER
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.simulated import prepare
from automation.rehearsal.backing.door import RECORD, Door
from automation.rehearsal.install import Backing, install, script
from components.errors import ToolchainError, UsageError


def prepare_simulation(layout: Layout) -> None:
    """Make the simulated home, backend and project, and place the simulated providers; cheap when all is there.

    A backed run gets the real Kubernetes provider, and the stand-ins of the clouds' programs. Raises UsageError when
    nobody keeps control planes for it, and ToolchainError without the provider.
    """
    backing = _backing(layout) if layout.backed else None
    prepare(layout)
    install(
        layout.simulated_home,
        interpreter=Path(sys.executable),
        database=layout.simulated_clouds,
        backing=backing,
    )
    if backing:
        with writing(layout.berth):
            for name, text in _stand_in_programs(backing.record).items():
                write_whole(layout.backed_programs / name, text.encode(), mode=0o755)


def require_kept(layout: Layout) -> None:
    """Raise UsageError when nobody keeps control planes for backed runs of this project."""
    if not Door(layout.simulated / RECORD).is_kept():
        raise UsageError(
            f"no control planes are kept for {layout.root}",
            consequence="Nothing was changed.",
            help="berth backing, in another terminal; it keeps them until it is interrupted",
        )


def _backing(layout: Layout) -> Backing:
    require_kept(layout)
    provider, failures = locate_tool(PROVIDER, layout)
    if provider is None:
        raise ToolchainError(
            f"{PROVIDER.phrase} is not there: {'; '.join(failures.values()) or 'not installed'}",
            consequence="Nothing was changed.",
            help="berth backing, which gets it before it begins",
        )
    return Backing(layout.simulated / RECORD, provider.path, provider.version)


def _stand_in_programs(record: Path) -> dict[str, str]:
    """Write the programs that stand in for those of clouds, by name."""
    body = (
        "import sys\n"
        "from pathlib import Path\n"
        "from automation.rehearsal.backing.token_program import main\n"
        f"sys.exit(main(sys.argv[1:], Path({str(record)!r})))\n"
    )
    return {"aws": script(Path(sys.executable), body)}
