"""The folder of an environment that a test edits: its manifests, and its lock."""

from pathlib import Path


class EnvironmentFolder:
    """What a run on an environment ``dev`` under ``root`` can do with its files."""

    root: Path

    @property
    def folder(self) -> Path:
        """The environment's folder; outside the repo where there is one."""
        return self.root / "environments" / "dev"

    def write(self, path: str, text: str) -> None:
        """Write one manifest."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Change a manifest in one place."""
        text = (self.folder / path).read_text()
        assert text.count(old) == 1, f"{path} holds {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def remove(self, path: str) -> None:
        """Remove a manifest."""
        (self.folder / path).unlink()

    def lock(self) -> dict[str, bytes]:
        """Return the files of the lock."""
        return {path.name: path.read_bytes() for path in sorted((self.folder / "lock").glob("*"))}
