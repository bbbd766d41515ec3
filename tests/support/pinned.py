"""Texts that are pinned as files beside the tests: what is made must be what was reviewed.

``BERTH_RENEW_PINS=1`` writes the files anew instead of comparing; the change is then reviewed like code.
"""

import difflib
import os
from pathlib import Path

RENEW = "BERTH_RENEW_PINS"


def check(path: Path, text: str, *, meaning: str) -> None:
    """Compare ``text`` with the file at ``path``; a failure says ``meaning``, the difference, and how to renew."""
    if os.environ.get(RENEW) == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    pinned = path.read_text(encoding="utf-8") if path.exists() else ""
    if text != pinned:
        name = path.name
        lines = difflib.unified_diff(pinned.splitlines(), text.splitlines(), f"{name} (pinned)", name, lineterm="")
        raise AssertionError(f"{meaning}\nTo renew on purpose: {RENEW}=1 {_command(path)}\n" + "\n".join(lines))


def _command(path: Path) -> str:
    here = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
    return f".venv/bin/pytest {here or path.parent}"
