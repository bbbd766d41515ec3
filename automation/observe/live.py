"""Asks clusters over the network whether their API servers answer.

A TCP connection and a TLS handshake are enough and need no credentials: an API server that completes a handshake is
there. All are asked at once, each within a few seconds.

Limit: a server that is only reached through a proxy is not found this way; set ``direct=False`` for such a network and
every cluster counts as reachable.
"""

import socket
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from urllib.parse import urlsplit

from automation.observe.reachability import Reachability

_WORKERS = 64


class LiveObserver:
    """An :class:`~automation.observe.reachability.Observer` on real clusters; ``timeout`` is in seconds per cluster."""

    def __init__(
        self,
        *,
        timeout: float = 5.0,
        direct: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._timeout = timeout
        self._direct = direct
        self._clock = clock

    def reachable(self, endpoints: Mapping[str, str]) -> Mapping[str, Reachability]:
        """Ask every cluster at once."""
        if not endpoints:
            return {}
        names = sorted(endpoints)
        with ThreadPoolExecutor(max_workers=min(_WORKERS, len(names))) as pool:
            reasons = list(pool.map(lambda name: self._trouble(endpoints[name]), names))
        now = self._clock()
        return {name: Reachability(name, not why, now, why) for name, why in zip(names, reasons, strict=True)}

    def _trouble(self, endpoint: str) -> str:
        """Return why the server does not answer, empty when it does."""
        if not self._direct:
            return ""
        try:
            parts = urlsplit(endpoint if "//" in endpoint else f"https://{endpoint}")
            host, secure = parts.hostname, parts.scheme != "http"
            port = parts.port or (443 if secure else 80)
        except ValueError as error:
            return f"its address {endpoint!r} is not a URL: {error}"
        if not host:
            return f"its address {endpoint!r} names no host"
        try:
            self._knock(host, port, secure=secure)
        except OSError as error:
            return "" if _is_alert(error) else f"{host}:{port} {_in_words(error, self._timeout)}"
        return ""

    def _knock(self, host: str, port: int, *, secure: bool) -> None:
        with socket.create_connection((host, port), timeout=self._timeout) as connection:
            if secure:
                with _handshake().wrap_socket(connection, server_hostname=host):
                    pass


def _handshake() -> ssl.SSLContext:
    """Return a context that proves only that somebody answers; nothing is sent, so nothing needs to be trusted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _is_alert(error: OSError) -> bool:
    """Return whether the other side spoke TLS and said no, as one that insists on a client's certificate does."""
    return isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")


def _in_words(error: OSError, timeout: float) -> str:
    if isinstance(error, TimeoutError):
        return f"did not answer within {timeout:g} s"
    if isinstance(error, socket.gaierror):
        return "has no address"
    if isinstance(error, ssl.SSLError):
        return "does not speak TLS"
    return f"cannot be reached: {error.strerror or error}"
