"""Takes out of an official release what Berth needs: the program, and for the Pulumi CLI its Python language host.

A release is an archive or the bare program. Everything is written under a temporary name and the program is put in its
place last, so an interrupted installation is no installation.
"""

import shutil
import tarfile
import zlib
from pathlib import Path

from automation.engine.toolchain.find import ask_version
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.tool import Tool
from automation.engine.toolchain.toolchain import Unavailable


def install(tool: Tool, release: Path, layout: Layout, *, progress: Progress) -> None:
    """Put a downloaded release in the tool's place after its program has said that it is the pinned version."""
    progress(f"unpacking {tool.phrase}")
    place = tool.place(layout)
    staging = place.folder / ".unpacked"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        names = _unpack(tool, release, staging)
        if tool.name not in names:
            raise Unavailable(f"{release.name} holds no {tool.name}")
        if ask_version(tool, staging / tool.name, layout=layout) != tool.version:
            raise Unavailable(
                f"the {tool.name} in {release.name} is not {tool.version}, or does not run on this system"
            )
        for name in sorted(names - {tool.name}):
            (staging / name).replace(place.folder / name)
        (staging / tool.name).replace(place.program)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _unpack(tool: Tool, release: Path, folder: Path) -> frozenset[str]:
    if not release.name.endswith(".tar.gz"):
        shutil.copyfile(release, folder / tool.name)
        (folder / tool.name).chmod(0o755)
        return frozenset({tool.name})
    names: set[str] = set()
    try:
        with tarfile.open(release, "r:gz") as content:
            for member in content:
                name = Path(member.name).name
                source = content.extractfile(member) if member.isfile() and tool.wants(name) else None
                if source is None or name in names:
                    continue
                with source, (folder / name).open("wb") as out:
                    shutil.copyfileobj(source, out)
                (folder / name).chmod(0o755)
                names.add(name)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise Unavailable(f"{release.name} cannot be unpacked: {error}") from error
    return frozenset(names)
