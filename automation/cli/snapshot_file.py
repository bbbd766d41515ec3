"""Writing the snapshot that a plan was made from."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from automation.scheduling.snapshot import Snapshot


def save_snapshot(path: Path, snapshot: "Snapshot") -> None:
    """Write a snapshot, as YAML where the file's name says so, else as JSON. Raises UsageError when it cannot."""
    import json

    import yaml

    from automation.document.write_snapshot import snapshot_document
    from components.errors import UsageError

    value = snapshot_document(snapshot).to_json()
    if path.suffix in {".yaml", ".yml"}:
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
    else:
        text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the snapshot cannot be written to {path}: {error.strerror}") from error
