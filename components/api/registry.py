"""Rules that send every chart and every image of an environment to mirrors."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.api import syntax
from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.rules import Violation, checked, duplicates, within
from components.api.values import SecretName

Prefix = Annotated[str, Field(min_length=1, max_length=253), checked(syntax.registry_prefix, Code.VALUE_INVALID)]


class RegistryMirror(Model):
    """References that begin with one text come from elsewhere; what follows, and a digest, stay as they are."""

    source: Prefix
    """How a reference begins: a registry, with a path if any, such as `docker.io` or `ghcr.io/team`."""

    mirror: Prefix
    """What takes its place, such as `registry.example.com/hub`."""


class Registry(Ruled):
    """Mirrors of registries; of several that fit a reference, the one with the longest source is taken."""

    mirrors: Items[RegistryMirror] = Field(min_length=1, max_length=64)
    """The mirrors, in any order."""

    require_mirror: bool = False
    """Whether a chart or an image that no mirror serves is an error."""

    pull_secret: SecretName | None = None
    """`namespace/name` of the secret with the credentials of the mirrors."""

    def rules(self) -> Iterator[Violation]:
        """Check that every source has one mirror."""
        yield from within("mirrors", duplicates(self.mirrors, lambda each: each.source, "source", "the source"))
