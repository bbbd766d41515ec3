"""Free ports on the loopback interface that stay ours between being found and being served on.

A port that is looked up and let go may be taken by somebody else before the program that it is for listens. Here a
socket keeps it, without listening, and the program shares it (``SO_REUSEPORT``: only processes of the same user can,
and only those that ask to). A program that cannot ask for that but reuses addresses, as every server in Go does, gets
its port from a socket that allows it (``SO_REUSEADDR``, on Linux); it is still never given to somebody who asks for a
free one. So two runs side by side never get the same port, and a program that is started anew gets its old one.
"""

import socket
from typing import Final

HOST: Final = "127.0.0.1"


class Port:
    """A port of this process until it is closed or the process ends."""

    def __init__(self, *, reuse: int = socket.SO_REUSEPORT) -> None:
        """Take a free port; ``reuse`` is the option of the socket that lets the program in."""
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, reuse, 1)
        self._socket.bind((HOST, 0))
        self.number: Final[int] = self._socket.getsockname()[1]

    @property
    def address(self) -> str:
        """Host and port."""
        return f"{HOST}:{self.number}"

    def close(self) -> None:
        """Let the port go."""
        self._socket.close()
