"""The reader of API servers: pages, refusals in words, one deadline, and many asked at once."""

import threading
import time
from pathlib import Path

import httpx
import pytest

from automation.observe.access import Access
from automation.observe.api import ClusterApi, NoAnswer, resource_of
from automation.observe.parallel import ask_each
from tests.support.fake_api import CLAIMS, NODES, SERVER, SLICES, FakeApi


def named(count: int) -> list[dict[str, object]]:
    """Give objects that have names and nothing else."""
    return [{"metadata": {"name": f"n{number}"}} for number in range(count)]


def test_a_list_is_read_page_by_page() -> None:
    """No object is lost or doubled where one page ends."""
    fake = FakeApi({NODES: named(7)}, page=3)
    with fake.api() as api:
        assert [each["metadata"]["name"] for each in api.items(NODES)] == [f"n{number}" for number in range(7)]
    assert fake.asked == [f"GET {NODES}"] * 3


def test_a_list_that_changed_too_much_is_read_again_once() -> None:
    """An expired continue token is a 410; what was read before it is thrown away."""
    fake = FakeApi({NODES: named(4)}, page=2)
    expired = iter([True])

    def expire(request: httpx.Request) -> None:
        gone = "continue" in request.url.params and next(expired, False)
        fake.refused = {NODES: 410} if gone else {}

    fake.before = expire
    with fake.api() as api:
        assert len(api.items(NODES)) == 4
        fake.before = lambda request: fake.refused.update({NODES: 410} if "continue" in request.url.params else {})
        with pytest.raises(NoAnswer, match="410"):
            api.items(NODES)


@pytest.mark.parametrize(
    ("refusals", "wait", "asked"),
    [
        pytest.param(2, "0", 3, id="soon"),
        pytest.param(20, "0", 10, id="again-and-again"),
        pytest.param(1, "9", 1, id="later-than-there-is-time"),
        pytest.param(1, "Mon, 30 Nov 2026 12:00:00 GMT", 1, id="at-a-time"),
    ],
)
def test_a_server_that_asks_for_it_is_asked_again(refusals: int, wait: str, asked: int) -> None:
    """While it makes itself ready or has too much to do, within the time that there is."""
    requests: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request.method)
        if len(requests) <= refusals:
            return httpx.Response(429, headers={"Retry-After": wait}, json={"message": "too many requests"})
        return httpx.Response(200, json={"items": []})

    with ClusterApi(Access(SERVER, token="sample"), seconds=5, transport=httpx.MockTransport(answer)) as api:
        if asked > refusals:
            assert api.items(NODES) == []
        else:
            with pytest.raises(NoAnswer, match="too many requests"):
                api.items(NODES)
    assert len(requests) == asked


@pytest.mark.parametrize(
    ("path", "status", "message", "fix"),
    [
        (NODES, 401, "does not know who asks", ""),
        (NODES, 403, "does not allow to list nodes", "--verb=list --resource=nodes"),
        (SLICES, 403, "list resourceslices.resource.k8s.io", "--resource=resourceslices.resource.k8s.io"),
        (CLAIMS, 404, f"answers {CLAIMS} with 404: refused with 404", ""),
        (NODES, 500, "with 500", ""),
    ],
)
def test_a_refusal_says_what_is_missing(path: str, status: int, message: str, fix: str) -> None:
    """A missing permission comes with the verb and the resource that would grant it."""
    with FakeApi(refused={path: status}).api() as api, pytest.raises(NoAnswer, match=message) as refused:
        api.items(path)
    assert fix in refused.value.fix
    assert not refused.value.silent


@pytest.mark.parametrize(
    ("said", "granted"),
    [
        ('namespaces "ml" is forbidden: User "me" cannot get resource "namespaces" in API group ""', True),
        ('namespaces is forbidden: User "me" cannot list resource "namespaces" in API group ""', True),
        ("", True),
        ('namespaces "ml" is forbidden: exceeded quota: few', False),
        ('admission webhook "names.example.com" denied the request: no', False),
    ],
)
def test_only_a_missing_permission_is_answered_with_a_role(said: str, *, granted: bool) -> None:
    """A quota and a webhook refuse with the same status, and no role helps against them; they are quoted."""
    path = "/api/v1/namespaces/ml"
    fake = FakeApi(refused={path: 403}, says={path: said})
    with fake.api() as api, pytest.raises(NoAnswer) as refused:
        api.get(path)
    assert refused.value.forbidden
    assert bool(refused.value.fix) is granted
    assert granted or said in str(refused.value)


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/api/v1/nodes", ("nodes", "", "")),
        ("/api/v1/namespaces", ("namespaces", "", "")),
        ("/api/v1/namespaces/ml", ("namespaces", "", "ml")),
        ("/api/v1/namespaces/ml/pods", ("pods", "", "")),
        ("/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims/a", ("resourceclaims", "resource.k8s.io", "a")),
        ("/apis/resource.k8s.io/v1", ("/apis/resource.k8s.io/v1", "", "")),
        ("/version", ("/version", "", "")),
    ],
)
def test_a_path_says_what_is_asked_for(path: str, want: tuple[str, str, str]) -> None:
    """A permission is named by resource and group, and for one object it is another verb than for a list."""
    assert resource_of(path) == want


@pytest.mark.parametrize("answer", ["<html>", "[]"])
def test_who_answers_with_something_else_is_no_api_server(answer: str) -> None:
    """A login page of a proxy is 200 as well."""
    with FakeApi(documents={"/version": answer}).api() as api, pytest.raises(NoAnswer, match="no API server"):
        api.get("/version")


@pytest.mark.parametrize(
    ("access", "message"),
    [
        pytest.param(Access(SERVER, authority="no PEM"), "its certificates cannot be used", id="authority"),
        pytest.param(Access(SERVER, certificate="no PEM", key="x"), "its certificates cannot be used", id="client"),
        pytest.param(Access(SERVER, proxy="gopher://proxy.test"), "cannot be asked: Unknown scheme", id="proxy"),
        pytest.param(Access("https://edge.test:no"), "cannot be asked: Invalid port", id="port"),
    ],
)
def test_what_a_kubeconfig_has_and_nobody_can_use_is_a_reason(
    access: Access, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong cluster is no failure of the others; and a key that was on disk for a moment is gone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(NoAnswer, match=message):
        ClusterApi(access, seconds=5)
    assert not list(tmp_path.iterdir())


def test_nobody_there_and_a_deadline_are_silence() -> None:
    """One deadline holds for all questions together."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    with ClusterApi(Access(SERVER), seconds=5, transport=httpx.MockTransport(refuse)) as api:
        with pytest.raises(NoAnswer, match=f"{SERVER} cannot be reached: connection refused") as silent:
            api.get("/version")
        assert silent.value.silent
    with FakeApi().api(seconds=0) as api, pytest.raises(NoAnswer, match="in the time") as late:
        api.get("/version")
    assert late.value.silent


def test_the_token_goes_with_every_question() -> None:
    """And no cookie or proxy credential of the environment does."""
    seen: list[str] = []
    fake = FakeApi(before=lambda request: seen.append(request.headers["authorization"]))
    with fake.api() as api:
        api.get("/version")
        assert api.may("create", group="apps", resource="deployments")
    assert seen == ["Bearer sample"] * 2


def test_one_that_hangs_holds_up_nobody() -> None:
    """Its place goes to the next, although its thread cannot be ended."""
    over = threading.Event()

    def work(name: str) -> str:
        if name.startswith("hung"):
            over.wait(20)
        elif name == "refused":
            raise NoAnswer("no")
        return name.upper()

    start = time.monotonic()
    found = ask_each(work, ["hung-a", "a", "refused", "hung-b", "b"], seconds=0.2, workers=1)
    over.set()
    assert time.monotonic() - start < 10
    assert list(found) == ["hung-a", "a", "refused", "hung-b", "b"]
    assert {name: str(answer) for name, answer in found.items()} == {
        "hung-a": "did not answer within 0.2 s",
        "a": "A",
        "refused": "no",
        "hung-b": "did not answer within 0.2 s",
        "b": "B",
    }


def test_a_bug_in_the_work_is_not_taken_for_silence() -> None:
    """It comes out where everybody waits."""

    def work(name: str) -> str:
        raise KeyError(name)

    with pytest.raises(KeyError, match="east"):
        ask_each(work, ["east"], seconds=5)
