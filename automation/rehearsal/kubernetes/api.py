"""A client of one API server: plain objects by path, as kubectl's ``--raw`` takes them.

It reads no environment, so that no proxy of the user stands between it and the loopback interface. An answer that is no
success is an ``ApiError`` with the server's own words.
"""

import json
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from automation.observe.later import TRIES, seconds_until_again
from components.errors import DriverError

if TYPE_CHECKING:
    import httpx

Object = dict[str, Any]

_SECONDS: Final = 30.0
_CONNECTIONS: Final = 3
"""How often a server is asked for what it has, before it counts as silent: handshakes break off now and then."""
_PAUSE: Final = 0.2
"""Seconds between tries."""
_NOT_FOUND: Final = 404


class ApiError(DriverError):
    """An API server refused a request; ``status`` is the HTTP status, 0 when there was no answer."""

    code = "kubernetes-api"
    exit_code = 1

    def __init__(self, summary: str, *, status: int) -> None:
        super().__init__(summary)
        self.status = status

    @property
    def not_found(self) -> bool:
        """Whether there is no such object, or no such kind."""
        return self.status == _NOT_FOUND


class Api:
    """Talks to one API server as its administrator."""

    def __init__(self, server: str, *, authority: Path, token: str) -> None:
        """Reach ``server``, which is known by the certificates in the file ``authority``."""
        import httpx  # noqa: PLC0415 - a tenth of a second that only whoever talks to a server should pay

        self.server: Final = server
        self._client = httpx.Client(
            base_url=server,
            verify=ssl.create_default_context(cafile=str(authority)),
            headers={"Authorization": f"Bearer {token}"},
            timeout=_SECONDS,
            trust_env=False,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str) -> Object:
        """Read an object or a list."""
        return self._do("GET", path)

    def items(self, path: str, *, cached: bool = False) -> list[Object]:
        """Read the items of a list; ``cached`` as the server remembers them, which costs it little and may be late."""
        if cached:
            path += ("&" if "?" in path else "?") + "resourceVersion=0"
        found: list[Object] = self.get(path)["items"]
        return found

    def create(self, path: str, body: Object, *, dry_run: bool = False) -> Object:
        """Create an object; an unknown or doubled field is refused, not dropped."""
        parameters = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry_run else {})
        return self._do("POST", path, body=body, parameters=parameters)

    def patch(self, path: str, body: Object) -> Object:
        """Merge into an object."""
        return self._do("PATCH", path, body=body, kind="application/merge-patch+json")

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._do("DELETE", path)

    def is_ready(self) -> bool:
        """Ask whether the server has finished its start."""
        import httpx  # noqa: PLC0415 - as above

        try:
            return self._client.get("/readyz").is_success
        except httpx.HTTPError:
            return False

    def _do(
        self,
        method: str,
        path: str,
        *,
        body: Object | None = None,
        parameters: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> Object:
        content = None if body is None else json.dumps(body)
        for _ in range(TRIES):
            answer = self._answer(method, path, content, parameters, kind)
            wait = seconds_until_again(answer)
            if wait is None:
                break
            time.sleep(wait)
        if not answer.is_success:
            raise ApiError(f"{method} {path}: {_message(answer)}", status=answer.status_code)
        found: Object = answer.json()
        return found

    def _answer(
        self, method: str, path: str, content: str | None, parameters: Mapping[str, str] | None, kind: str
    ) -> "httpx.Response":
        import httpx  # noqa: PLC0415 - as above

        for left in reversed(range(_CONNECTIONS if method == "GET" else 1)):
            try:
                return self._client.request(
                    method, path, params=parameters, content=content, headers={"Content-Type": kind}
                )
            except httpx.HTTPError as error:
                if not left or not isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
                    why = str(error) or type(error).__name__
                    raise ApiError(f"{method} {path}: the API server did not answer: {why}", status=0) from error
                time.sleep(_PAUSE)
        raise AssertionError("the last try returns or raises")


def _message(answer: "httpx.Response") -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} {answer.text[:200]}"
