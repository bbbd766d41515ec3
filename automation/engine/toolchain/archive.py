"""Takes out of an official release archive what Berth needs: the CLI and its Python language host.

The archive holds the hosts of seven languages; the others stay in it. Everything is written under a temporary name and
the CLI is put in its place last, so an interrupted installation is no installation.
"""

import shutil
import tarfile
import zlib
from pathlib import Path

from automation.engine.toolchain.find import ask_version
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.toolchain import Unavailable
from automation.engine.toolchain.versions import VERSION

_CLI = "pulumi"


def install(archive: Path, layout: Layout, *, progress: Progress) -> None:
    """Unpack an archive into ``layout.bin`` after its CLI has said that it is the pinned version."""
    progress("unpacking the Pulumi CLI")
    staging = layout.bin / ".unpacked"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        names = _unpack(archive, staging)
        if _CLI not in names:
            raise Unavailable(f"{archive.name} holds no pulumi")
        if ask_version(staging / _CLI, layout=layout) != VERSION:
            raise Unavailable(f"the pulumi in {archive.name} is not {VERSION}, or does not run on this system")
        for name in sorted(names - {_CLI}):
            (staging / name).replace(layout.bin / name)
        (staging / _CLI).replace(layout.pulumi)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _unpack(archive: Path, folder: Path) -> frozenset[str]:
    names: set[str] = set()
    try:
        with tarfile.open(archive, "r:gz") as content:
            for member in content:
                name = Path(member.name).name
                source = content.extractfile(member) if member.isfile() and _wanted(name) else None
                if source is None or name in names:
                    continue
                with source, (folder / name).open("wb") as out:
                    shutil.copyfileobj(source, out)
                (folder / name).chmod(0o755)
                names.add(name)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise Unavailable(f"{archive.name} cannot be unpacked: {error}") from error
    return frozenset(names)


def _wanted(name: str) -> bool:
    return name == _CLI or (name.startswith("pulumi-") and "python" in name)
