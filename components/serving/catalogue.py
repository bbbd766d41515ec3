"""The releases that come with Berth and the definitions beside them: the one place that reads these files."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from components.api.near import did_you_mean
from components.errors import ConfigError, Problem
from components.serving.release import Definition, Release, parse_release

_SUFFIX = ".yaml"


def release_names() -> tuple[str, ...]:
    """Return the names of all releases, sorted."""
    return tuple(
        sorted(
            entry.name.removesuffix(_SUFFIX) for entry in _folder("releases").iterdir() if entry.name.endswith(_SUFFIX)
        )
    )


@cache
def load_release(name: str) -> Release:
    """Return a release by name. Raises ConfigError that names the releases there are."""
    if name not in release_names():
        raise ConfigError(
            [
                Problem(
                    "release-unknown",
                    f"there is no release {name!r} of the serving stack",
                    path="spec.release",
                    allowed=", ".join(release_names()),
                    help=did_you_mean(name, release_names()) or "leave `release` out for `default`",
                )
            ]
        )
    return parse_release(_folder("releases").joinpath(f"{name}{_SUFFIX}").read_text("utf-8"), where=f"{name}{_SUFFIX}")


def load_definition(definition: Definition) -> dict[str, Any]:
    """Return a CustomResourceDefinition as it is written; a fresh value each time."""
    text = _folder("definitions").joinpath(definition.file).read_text("utf-8")
    document: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return document


def _folder(name: str) -> Traversable:
    return files("components.serving").joinpath(name)
