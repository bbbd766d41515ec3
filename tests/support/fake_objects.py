"""An API server that only remembers: objects by path, with the refusals that clients have to live with."""

import copy
import itertools
from typing import Any

from automation.rehearsal.kubernetes.api import ApiError

Object = dict[str, Any]


class FakeApi:
    """Takes what ``Api`` takes. A kind that is not defined has to be named in ``undefined``."""

    def __init__(self, *, undefined: tuple[str, ...] = ()) -> None:
        self.server = "https://127.0.0.1:1"
        self.objects: dict[str, Object] = {}
        self.undefined = undefined
        self.closed = False
        self.down = False
        """Whether nobody answers."""
        self._numbers = itertools.count(1)

    def close(self) -> None:
        """Take no more."""
        self.closed = True

    def get(self, path: str) -> Object:
        """Read an object."""
        return copy.deepcopy(self._need(path))

    def items(self, path: str, *, cached: bool = False) -> list[Object]:
        """List the objects of a kind, in all namespaces when the path names none; a query selects by type."""
        del cached  # it forgets nothing
        path, _, query = path.partition("?")
        root, _, plural = path.rpartition("/")
        if plural in self.undefined:
            raise ApiError(f"GET {path}: 404", status=404)
        wanted = query.partition("type%3D")[2].replace("%2F", "/")
        found = [
            each
            for key, each in self.objects.items()
            if key.startswith(f"{root}/") and key.split("/")[-2] == plural and wanted in {"", each.get("type")}
        ]
        return copy.deepcopy(found)

    def create(self, path: str, body: Object) -> Object:
        """Create an object."""
        key = f"{path}/{body['metadata']['name']}"
        if key in self.objects:
            raise ApiError(f"POST {path}: already exists", status=409)
        namespace = path.partition("/namespaces/")[2].partition("/")[0]
        made = copy.deepcopy(body)
        made["metadata"] |= {"uid": f"uid-{next(self._numbers)}", "generation": 1} | (
            {"namespace": namespace} if namespace else {}
        )
        made.setdefault("status", {})
        self.objects[key] = made
        return copy.deepcopy(made)

    def patch(self, path: str, body: Object) -> Object:
        """Merge into an object, or into its status alone."""
        found = self._need(path.removesuffix("/status"))
        _merge(found, {"status": body["status"]} if path.endswith("/status") else body)
        return copy.deepcopy(found)

    def delete(self, path: str) -> None:
        """Delete an object, however it is to be done."""
        if self.down:
            raise ApiError(f"DELETE {path}: the API server did not answer", status=0)
        path = path.partition("?")[0]
        self._need(path)
        del self.objects[path]

    def names(self, plural: str) -> set[str]:
        """Name the objects of a kind."""
        return {key.rpartition("/")[2] for key in self.objects if key.split("/")[-2] == plural}

    def _need(self, path: str) -> Object:
        if path not in self.objects:
            raise ApiError(f"{path}: not found", status=404)
        return self.objects[path]


def _merge(into: Object, changes: Object) -> None:
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
