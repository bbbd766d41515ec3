"""The example manifests of a kind, which come with the package."""

from pathlib import Path

_FOLDER = Path(__file__).with_name("examples")


def examples_of(kind: str) -> tuple[str, ...]:
    """Return the example that explains the kind, then the one that has the fields which that one does without."""
    files = (_FOLDER / f"{kind}.yaml", _FOLDER / f"{kind}.fields.yaml")
    return tuple(file.read_text(encoding="utf-8") for file in files if file.is_file())
