"""The pods of a local cluster as its API server tells of them: who waits for one reads no clock."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self

import httpx

from automation.rehearsal.kubernetes.local import LocalCluster

Object = dict[str, Any]

PODS: Final = "/api/v1/pods"
MOST_SECONDS: Final = 120.0
"""How long anything here may take: a second or two, on a busy machine much longer."""

_SILENCE: Final = 1.0
"""Seconds without an event after which the watch is opened anew: so often it sees that it should end."""


class PodWatch:
    """Follows all pods of a cluster in a thread of its own. Use it as a context."""

    def __init__(self, cluster: LocalCluster) -> None:
        """Watch ``cluster``, whose token is its administrator's."""
        token = cluster.files.tokens.read_text(encoding="utf-8").partition(",")[0]
        self._client = httpx.Client(
            base_url=cluster.server,
            verify=ssl.create_default_context(cafile=str(cluster.files.certificate)),
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(30.0, read=_SILENCE),
            trust_env=False,
        )
        self._pods: dict[str, dict[str, Object]] = {}
        self._changed: dict[str, float] = {}
        self._news = threading.Condition()
        self._version = ""
        self._ending = False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ending = True
        self._thread.join()
        self._client.close()

    def wait(
        self, namespace: str, done: Callable[[Mapping[str, Object]], bool], *, seconds: float = MOST_SECONDS
    ) -> Mapping[str, Object]:
        """Wait until the pods of a namespace, by name, are as ``done`` wants them; gives them as they then are.

        They are given as they are when the time is over, too.
        """
        deadline = time.monotonic() + seconds
        with self._news:
            while not done(pods := dict(self._pods.get(namespace, {}))):
                if self._failure is not None:
                    raise self._failure
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._news.wait(left)
            return pods

    def verdicts(self, namespace: str, names: Iterable[str]) -> Mapping[str, Object]:
        """Wait until every one of some pods is bound, or has been refused; gives them."""
        wanted = frozenset(names)
        return self.wait(
            namespace, lambda pods: wanted <= pods.keys() and all(node_of(pods[x]) or refusal(pods[x]) for x in wanted)
        )

    def bound(self, namespace: str, names: Iterable[str], *, patience: float) -> Mapping[str, Object]:
        """Wait until every one of some pods is bound; gives those that are not when nothing has moved for a while.

        Whoever the scheduler refused may be tried again when others have gone. A pod counts as left pending when the
        scheduler has said so and no pod of its namespace has changed for ``patience`` seconds.
        """
        wanted = frozenset(names)

        def left(pods: Mapping[str, Object]) -> dict[str, Object]:
            return {name: pods.get(name, {}) for name in wanted if not node_of(pods.get(name, {}))}

        deadline = time.monotonic() + MOST_SECONDS
        while True:
            begin = time.monotonic()
            pods = self.wait(namespace, lambda pods: not left(pods), seconds=patience)
            waiting = left(pods)
            if not waiting or begin > deadline:
                return waiting
            still = self._changed.get(namespace, 0.0) < begin
            if still and all(refusal(pod) for pod in waiting.values()):
                return waiting

    def _put(self, pod: Object, *, gone: bool = False) -> None:
        pods = self._pods.setdefault(pod["metadata"]["namespace"], {})
        if gone:
            pods.pop(pod["metadata"]["name"], None)
        else:
            pods[pod["metadata"]["name"]] = pod

    def _follow(self) -> None:
        version = ""
        while not self._ending:
            try:
                version = self._stream(version) if version else self._list()
            except httpx.ReadTimeout:
                version = self._version
            except Exception as error:  # noqa: BLE001 (told to whoever waits)
                with self._news:
                    self._failure = error
                    self._news.notify_all()
                return

    def _list(self) -> str:
        found = self._client.get(PODS, timeout=30.0).raise_for_status().json()
        with self._news:
            self._pods = {}
            for pod in found["items"]:
                self._put(pod)
            self._version = str(found["metadata"]["resourceVersion"])
            self._news.notify_all()
        return self._version

    def _stream(self, version: str) -> str:
        """Take in events until there are none for a while; gives the version to go on from, empty to list anew."""
        with self._client.stream("GET", PODS, params={"watch": "true", "resourceVersion": version}) as answer:
            for line in answer.raise_for_status().iter_lines():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return ""
                pod = event["object"]
                with self._news:
                    self._version = str(pod["metadata"]["resourceVersion"])
                    self._changed[pod["metadata"]["namespace"]] = time.monotonic()
                    self._put(pod, gone=event["type"] == "DELETED")
                    self._news.notify_all()
                if self._ending:
                    break
        return self._version


def node_of(pod: Mapping[str, Any]) -> str:
    """Give the node that a pod is bound to; empty when it is not."""
    return str(pod.get("spec", {}).get("nodeName", ""))


def refusal(pod: Mapping[str, Any]) -> str:
    """Give what the scheduler says of a pod that it cannot place; empty while it says nothing."""
    conditions = pod.get("status", {}).get("conditions", ())
    found = [each for each in conditions if each["type"] == "PodScheduled" and each["status"] == "False"]
    return "".join(each.get("message", "") for each in found)
