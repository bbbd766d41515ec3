"""Helm releases of a backed cluster, as the engine sees them: a cloud of one type, whose objects the keeper makes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from automation.rehearsal.backing.door import Door, KeeperRefused, NotKept
from automation.rehearsal.provider import objects
from automation.rehearsal.provider.base import Difference, Live, Target, difference, settings
from automation.rehearsal.provider.check import Failure
from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.provider.kubeconfig import Unreadable, endpoint
from automation.rehearsal.provider.rules import Rules
from automation.rehearsal.wire import UNKNOWN, mark_like, plain, without_nulls

_REMEMBERED: Final = ("name", "namespace", "chart", "version", "createNamespace")


class ReleaseCloud:
    """The releases on one configured cluster."""

    def __init__(self, door: Door, rules: Rules) -> None:
        self._door = door
        self._rules = rules
        self._server = ""

    def check_config(self, news: Mapping[str, Any]) -> list[Failure]:
        """Leave the settings to the real provider."""
        del news
        return []

    def diff_config(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Leave the settings to the real provider."""
        del olds, news
        return Difference()

    def configure(self, config: Mapping[str, Any]) -> None:
        """Remember which cluster is meant."""
        try:
            self._server = endpoint(settings(config).get("kubeconfig")).server
        except Unreadable:
            self._server = ""

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check inputs by the SDK's rules."""
        rules = self._rules.of(target.type)
        return objects.check_release(target, rules, (olds, news), namespace="default", seed=seed)

    def diff(
        self, target: Target, olds: Mapping[str, Any], news: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> Difference:
        """Compare inputs; another name or place is another release."""
        del target, outputs
        return difference(olds, news, ("name", "namespace"), delete_first=False)

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Install a release."""
        del target
        inputs = without_nulls(inputs)
        if preview:
            return Live(id="", outputs={**inputs, "status": UNKNOWN})
        bare = plain(inputs)
        if self._find(bare["namespace"], bare["name"]) is not None:
            raise Refused(f"failed to create release {bare['name']!r}: cannot re-use a name that is still in use")
        return Live(id=f"{bare['namespace']}/{bare['name']}", outputs=self._install(inputs))

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Look whether a release is installed."""
        namespace, _, name = target.id.partition("/")
        found = self._find(namespace, name)
        return None if found is None else Live(id=target.id, outputs=outputs, inputs=inputs)

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Upgrade a release."""
        del target, olds
        inputs = without_nulls(inputs)
        return {**inputs, "status": UNKNOWN} if preview else self._install(inputs)

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Uninstall a release."""
        del outputs
        namespace, _, name = target.id.partition("/")
        self._ask("uninstall", namespace=namespace, name=name)

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Refuse: there are no functions of releases."""
        del arguments
        raise Refused(f"{token} is not known here")

    def _install(self, inputs: dict[str, Any]) -> dict[str, Any]:
        bare = plain(inputs)
        release = {key: bare[key] for key in _REMEMBERED if key in bare}
        revision = self._ask("install", release=release)["revision"]
        status = {
            "appVersion": "stand-in",
            "chart": bare["chart"],
            "name": bare["name"],
            "namespace": bare["namespace"],
            "revision": revision,
            "status": "deployed",
            "version": bare.get("version", ""),
        }
        outputs: dict[str, Any] = mark_like({**bare, "status": status, "resourceNames": {}}, inputs)
        return outputs

    def _find(self, namespace: str, name: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._ask("release", namespace=namespace, name=name)["release"]
        return found

    def _ask(self, do: str, **request: Any) -> dict[str, Any]:
        try:
            return self._door.ask(do, server=self._server, **request)
        except (NotKept, KeeperRefused) as error:
            raise Refused(f"configured Kubernetes cluster is unreachable: {error}") from error
