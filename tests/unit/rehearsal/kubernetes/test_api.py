"""What is only read is asked for again when a connection breaks off; whatever may have been done is not done twice."""

import ssl
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from automation.rehearsal.kubernetes import api as module
from automation.rehearsal.kubernetes.api import Api, ApiError

BROKEN = httpx.ConnectError("tlsv1 alert decode error")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Api, list[str]]]:
    """Make a client whose server fails as it is told to, and then answers; it notes what it was asked."""
    monkeypatch.setattr(module, "_PAUSE", 0)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: True)

    def make(*failures: Exception | httpx.Response) -> tuple[Api, list[str]]:
        left, requests = list(failures), list[str]()

        def answer(request: httpx.Request) -> httpx.Response:
            requests.append(request.method)
            if left:
                failure = left.pop(0)
                if isinstance(failure, httpx.Response):
                    return failure
                raise failure
            return httpx.Response(200, json={"items": [{"a": 1}]})

        api = Api("https://127.0.0.1:1", authority=Path("none"), token="-")
        api._client = httpx.Client(base_url=api.server, transport=httpx.MockTransport(answer))
        return api, requests

    return make


@pytest.mark.parametrize("failures", [(), (BROKEN,), (BROKEN, httpx.RemoteProtocolError("disconnected"))])
def test_a_broken_connection_is_made_again(
    asked: Callable[..., tuple[Api, list[str]]], failures: tuple[Exception, ...]
) -> None:
    """A handshake that a server broke off says nothing about the server, nor does a connection that it gave up."""
    api, requests = asked(*failures)
    assert api.items("/api/v1/pods") == [{"a": 1}]
    assert requests == ["GET"] * (len(failures) + 1)


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_for_it_is_asked_again(asked: Callable[..., tuple[Api, list[str]]], status: int) -> None:
    """It makes itself ready for a new kind, for one; such a request was not carried out, whatever it was."""
    later = httpx.Response(status, headers={"Retry-After": "0"}, json={"message": "storage is (re)initializing"})
    api, requests = asked(later, later)
    assert api.items("/api/v1/pods") == [{"a": 1}]
    assert requests == ["GET"] * 3
    api, requests = asked(later)
    api.create("/api/v1/pods", {})
    assert requests == ["POST"] * 2
    api, requests = asked(*[later] * 20)
    with pytest.raises(ApiError, match="initializing"):
        api.get("/api/v1/pods")
    assert len(requests) == 10
    api, requests = asked(httpx.Response(status, json={"message": "no time is said"}))
    with pytest.raises(ApiError, match="no time is said"):
        api.get("/api/v1/pods")
    assert len(requests) == 1


def test_a_server_that_stays_away_does_not_answer(asked: Callable[..., tuple[Api, list[str]]]) -> None:
    """With the last reason."""
    api, requests = asked(*[BROKEN] * 3)
    with pytest.raises(ApiError, match="did not answer: tlsv1 alert") as raised:
        api.get("/api/v1/pods")
    assert raised.value.status == 0
    assert len(requests) == 3


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("late"), httpx.DecodingError("no gzip")])
def test_what_is_late_or_wrong_is_not_waited_for_again(
    asked: Callable[..., tuple[Api, list[str]]], failure: Exception
) -> None:
    """It had its time, or it came."""
    api, requests = asked(failure)
    with pytest.raises(ApiError):
        api.get("/api/v1/pods")
    assert requests == ["GET"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda api: api.create("/api/v1/pods", {}), id="create"),
        pytest.param(lambda api: api.patch("/api/v1/pods/a", {}), id="patch"),
        pytest.param(lambda api: api.delete("/api/v1/pods/a"), id="delete"),
    ],
)
def test_a_change_is_asked_for_once(
    asked: Callable[..., tuple[Api, list[str]]], change: Callable[[Api], object]
) -> None:
    """Nobody knows whether it was made."""
    api, requests = asked(BROKEN)
    with pytest.raises(ApiError):
        change(api)
    assert len(requests) == 1
