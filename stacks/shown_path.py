"""How a path is written for a person: from where they stand, so that it can be clicked and pasted."""

import os
from pathlib import Path


def shown_path(path: Path) -> str:
    """Return ``path`` relative to the current folder when it lies below it, else absolute; links are not followed."""
    whole, here = Path(os.path.abspath(path)), Path.cwd()  # noqa: PTH100 (resolve() would follow links)
    return (whole.relative_to(here) if whole.is_relative_to(here) else whole).as_posix()
