"""How the keeper of a project's control planes is found and asked, from any process of the same user.

The keeper listens on a port of the loopback interface and writes that, with a key that only its user can read, to a
record in the project's backed folder. A record without a keeper is nothing: whoever calls there is not answered, and
one whose port went to somebody else does not know the key.

It imports nothing heavy: a program that prints a token comes here hundreds of times.
"""

import json
import os
from collections.abc import Mapping
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any, Final

RECORD: Final = "backing.json"
"""The name of the record in the backed folder."""

Answer = dict[str, Any]


class NotKept(Exception):
    """No keeper answers for the project."""


class KeeperRefused(Exception):
    """The keeper said no; the message says why."""


class Door:
    """The way to the keeper of one backed folder."""

    def __init__(self, record: Path) -> None:
        self.record: Final = record

    def ask(self, do: str, **request: Any) -> Answer:
        """Ask for something and wait for the answer.

        Raises ``NotKept`` when there is no keeper, and ``KeeperRefused`` with what it says.
        """
        where = self._where()
        try:
            with Client(("127.0.0.1", int(where["port"])), authkey=bytes.fromhex(where["key"])) as connection:
                connection.send_bytes(json.dumps({"do": do, **request}).encode())
                answer: Answer = json.loads(connection.recv_bytes())
        except (OSError, EOFError, AuthenticationError, ValueError) as error:
            raise NotKept(f"the keeper of {self.record.parent} does not answer") from error
        if "error" in answer:
            raise KeeperRefused(answer["error"])
        return answer

    def is_kept(self) -> bool:
        """Whether a keeper answers."""
        try:
            self.ask("ping")
        except NotKept:
            return False
        return True

    def _where(self) -> Mapping[str, Any]:
        try:
            found: Mapping[str, Any] = json.loads(self.record.read_bytes())
        except (OSError, ValueError) as error:
            raise NotKept(f"no keeper has left a record in {self.record.parent}") from error
        return found


def write_record(record: Path, *, port: int, key: bytes) -> None:
    """Say where the keeper of this process is."""
    scratch = record.with_name(f"{record.name}.{os.getpid()}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"port": port, "key": key.hex()}, file)
    scratch.replace(record)
