"""The derived rules of types, read from their files; a type met for the first time is derived by a subprocess.

The serving process never imports an SDK: it starts ``automation.rehearsal.derive`` with the interpreter it was
installed with, once per type that installation did not foresee.
"""

import json
import re
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FORMAT: Final = 1  # part of the folder's name: raise it when the shape of the rules changes


def file_name(token: str) -> str:
    """Name the file that holds a type's rules; tokens hold characters that file systems do not like."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", token) + ".json"


def derivation(interpreter: Path, package: str, folder: Path, *tokens: str) -> list[str]:
    """Write the command that derives the rules of types into a folder.

    The current folder is that of the program, whose modules bear names of the standard library (``platform``,
    ``secrets``): ``-P`` keeps them out.
    """
    return [str(interpreter), "-P", "-m", "automation.rehearsal.derive", package, str(folder), *tokens]


class Rules:
    """Input rules and outputs by type token, with a memory."""

    def __init__(self, package: str, *, folder: Path, interpreter: Path) -> None:
        self._package = package
        self._folder = folder
        self._interpreter = interpreter
        self._known: dict[str, Mapping[str, Any] | None] = {}
        self._lock = threading.Lock()

    def of(self, token: str) -> Mapping[str, Any] | None:
        """Give a type's rules; ``None`` when the SDK has no such type."""
        with self._lock:
            if token not in self._known:
                self._known[token] = self._load(token)
            return self._known[token]

    def _load(self, token: str) -> Mapping[str, Any] | None:
        path = self._folder / file_name(token)
        if not path.exists():
            command = derivation(self._interpreter, self._package, self._folder, token)
            done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own module
            if done.returncode:
                raise RuntimeError(f"the rules of {token} could not be derived: {done.stderr.strip()[-400:]}")
        rules: Mapping[str, Any] | None = json.loads(path.read_text(encoding="utf-8"))
        return rules
