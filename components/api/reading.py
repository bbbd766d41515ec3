"""Everything that one load has read, as the checks between documents see it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from components.api.base import Document
from components.api.codes import Code
from components.api.environment import Environment
from components.api.near import did_you_mean
from components.api.nodes import PathPart
from components.api.source import Source
from components.errors import Severity

Doc = TypeVar("Doc", bound=Document)
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """The documents by kind, namespace and name, and which folders have a file that could not be read to its end.

    With ``complete`` false the files are only some of an environment, so what is not here may be elsewhere. ``sound``
    says that no file and no document had an error by itself. ``unnamed`` holds kind and namespace of documents whose
    name could not be read, or is wrong: they may be what somebody refers to. ``buildable`` holds the sources of
    clusters that can be built; None when that is not asked.
    """

    sources: dict[Key, Source]
    unread: frozenset[str]
    environment_source: Source | None
    complete: bool = True
    sound: bool = True
    unnamed: frozenset[tuple[str, str]] = frozenset()
    buildable: Collection[str] | None = None
    machines: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """GPUs by source and machine type, as far as they are known."""
    by_kind: dict[type[Document], list[tuple[Source, Any]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the valid documents by kind once; every check goes over them."""
        for key in sorted(self.sources):
            source = self.sources[key]
            if source.document is not None:
                self.by_kind.setdefault(source.model, []).append((source, source.document))

    @property
    def environment(self) -> Environment | None:
        """The Environment, if it is right."""
        document = self.environment_source.document if self.environment_source else None
        return document if isinstance(document, Environment) else None

    def documents(self, kind: type[Doc]) -> Iterator[tuple[Source, Doc]]:
        """Yield the valid documents of a kind, sorted by namespace and name."""
        yield from self.by_kind.get(kind, ())

    def get(self, kind: type[Doc], name: str, namespace: str = "") -> Doc | None:
        """Return a valid document by its name."""
        source = self.sources.get((kind.__name__, namespace, name))
        return source.document if source and isinstance(source.document, kind) else None

    def names(self, kind: type[Document], namespace: str = "") -> list[str]:
        """Return the names of a kind, those of broken documents too."""
        return sorted(key[2] for key in self.sources if key[:2] == (kind.__name__, namespace))

    def missing(self, kind: type[Document], name: str, namespace: str = "") -> bool:
        """Whether no document has that name, and no unreadable file can hold it."""
        if (kind.__name__, namespace, name) in self.sources or (kind.__name__, namespace) in self.unnamed:
            return False
        return "" not in self.unread and namespace not in self.unread

    @property
    def whole(self) -> bool:
        """Whether all of the environment was read and is right so far, so that absence means something."""
        if self.unread or not self.complete or not self.sound:
            return False
        return not any(source.broken for source in self.sources.values())

    def require(
        self, source: Source, kind: type[Document], name: str, path: tuple[PathPart, ...], namespace: str = ""
    ) -> bool:
        """Check that a name is there; report it at ``path`` if it is missing. False when it is."""
        if not self.missing(kind, name, namespace):
            return True
        known = self.names(kind, namespace)
        hint = did_you_mean(name, known) or self._elsewhere(kind, name, namespace)
        where = f" in namespace {namespace}" if namespace else ""
        among = "" if self.complete else " among these files"
        message = f"there is no {kind.__name__} named `{name}`{where}{among}"
        severity = Severity.ERROR if self.complete else Severity.WARNING
        source.add(
            Code.REFERENCE_MISSING,
            message,
            path,
            allowed=", ".join(known[:40]),
            hint=hint,
            severity=severity,
        )
        return False

    def _elsewhere(self, kind: type[Document], name: str, namespace: str) -> str:
        """Say in which other namespaces the name is, or how the first of a kind is made."""
        others = sorted({key[1] for key in self.sources if key[0] == kind.__name__ and key[2] == name} - {namespace})
        if others:
            return f"there is one in namespace {' and in '.join(others)}, which cannot be used from here"
        if self.names(kind, namespace) or not self.complete:
            return ""
        whose = f" of namespace {namespace}" if namespace else ""
        return f"no manifest{whose} is of kind {kind.__name__}; `berth explain {kind.__name__}` says what it needs"
