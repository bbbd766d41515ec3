"""Reads the manifests of an environment: bytes in, a fleet or every located problem out.

Pure: the caller reads files and hands over pairs of path and bytes; paths are relative to the environment's folder
(``environment.yaml``, ``platform/…``, ``models/<namespace>/…``). Loading never raises, whatever the bytes; all problems
of all files come at once, sorted. What the files say together (references) is checked as far as the documents are
right, and nothing is called missing that a file with a syntax error may hold.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar, cast

from components.api.base import Document
from components.api.codes import Code
from components.api.compose import compose
from components.api.composed import Composed
from components.api.document import Recogniser, is_list, recognise
from components.api.environment import Environment
from components.api.fleet import Fleet
from components.api.frozen import FrozenDict
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import SOURCE_PATH, InferenceCluster
from components.api.inference_gateway import InferenceGateway
from components.api.location import Location
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.model_endpoint import ModelEndpoint
from components.api.model_service import ModelService
from components.api.nodes import MappingNode, Node, ScalarNode, SequenceNode, kind_of, written
from components.api.reading import Reading
from components.api.references import check_references
from components.api.secrets import SecretUse, secret_uses
from components.api.selector_use import SelectorUse
from components.api.selectors import expressions
from components.api.source import Source
from components.api.syntax import dns_label
from components.api.templates import template_problem
from components.errors import ConfigError, Problem, Severity

Doc = TypeVar("Doc", bound=Document)

SUFFIXES: Final = (".yaml", ".yml")
"""Endings of the files that are read, in capitals or not (``is_manifest``); others are passed over."""

_MINIMAL: Final = "add environment.yaml with: apiVersion: berth.dev/v1alpha1, kind: Environment, metadata: {name: %s}"


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What loading gave.

    ``broken`` holds kind, namespace and name of everything that has an error; where a file could not be read to its
    end, what it may have held stands with an empty kind and name, and with the folder's namespace (empty for a file
    that may hold any).
    """

    fleet: Fleet | None
    problems: tuple[Problem, ...] = ()
    broken: frozenset[tuple[str, str, str]] = field(default_factory=frozenset)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop a run."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that are only said."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)

    def raise_if_errors(self) -> Fleet:
        """Return the fleet; raises ConfigError with all problems if there is none."""
        if self.fleet is None:
            raise ConfigError(self.problems)
        return self.fleet


def load_fleet(
    files: Iterable[tuple[str, bytes]],
    *,
    name: str = "",
    complete: bool = True,
    shown: Callable[[str], str] = str,
    sources: Collection[str] | None = None,
    machines: Mapping[str, Mapping[str, int]] | None = None,
    over: Iterable[tuple[str, bytes]] = (),
) -> LoadResult:
    """Read an environment's files.

    ``name`` is the folder's name, which the Environment must bear; empty skips that check. With ``complete`` false the
    files are only some of an environment: a reference that leads outside is a warning, and no Environment is needed.
    ``shown`` says how a path is written in problems.
    ``sources`` are the sources of clusters that can be built; a cluster from another one is warned of. ``machines`` are
    the machine types that are known, by source, each with its GPUs; another one is warned of. Documents of the
    files in ``over`` stand in for those of the same kind, namespace and name.
    """
    loader = _Loader(name=name, complete=complete, shown=shown, sources=sources, machines=machines)
    return loader.load(files, over)


def is_manifest(path: str) -> bool:
    """Whether a file is read. An ending in capitals counts: what is passed over is taken for deleted."""
    return path.lower().endswith(SUFFIXES)


def folder_namespace(path: str) -> str:
    """Return the namespace that the files of a path's folder may hold: that of ``models/<namespace>/…``, else empty."""
    parts = path.replace("\\", "/").removeprefix("./").split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "models" else ""  # noqa: PLR2004 (models, namespace, file)


class _Loader:
    """One load; holds what the files gave so far."""

    def __init__(
        self,
        *,
        name: str,
        complete: bool,
        shown: Callable[[str], str],
        sources: Collection[str] | None,
        machines: Mapping[str, Mapping[str, int]] | None,
    ) -> None:
        self.name = name
        self.complete = complete
        self.shown = shown
        self.buildable = sources
        self.machines = machines or {}
        self.problems: list[Problem] = []
        self.sources: list[Source] = []
        self.unread: set[str] = set()
        self.folders: set[str] = set()

    def load(self, files: Iterable[tuple[str, bytes]], over: Iterable[tuple[str, bytes]] = ()) -> LoadResult:
        """Read everything, check it together, and build the fleet."""
        for path, content in sorted(files):
            if is_manifest(path):
                self._file(path, content)
        for path, content in over:
            self._over(path, content)
        first = self._unique()
        environment = self._environment(first)
        sound = not any(problem.severity is Severity.ERROR for problem in self._all())
        unnamed = {source.key[:2] for source in self.sources if source.misnamed}
        reading = Reading(
            first,
            frozenset(self.unread),
            environment,
            complete=self.complete,
            sound=sound,
            unnamed=frozenset(unnamed),
            buildable=self.buildable,
            machines=self.machines,
        )
        check_references(reading)
        return self._result(first, environment)

    def _over(self, path: str, content: bytes) -> None:
        """Read a file whose documents push others of the same key out."""
        below = self.sources
        self.sources = []
        self._file(path, content)
        taken = {source.key for source in self.sources}
        self.sources += [source for source in below if source.key not in taken]

    def _file(self, path: str, content: bytes) -> None:
        namespace = folder_namespace(path)
        composed = compose(self.shown(path), content)
        template = template_problem(composed)
        if template is not None:
            self.problems.append(template)
            self.unread.add(namespace)
            return
        self.problems += composed.problems
        self._folder(path, namespace)
        if not composed.complete:
            self.unread.add(namespace)
        recogniser = Recogniser(namespace)
        others: list[MappingNode] = []
        for node in composed.documents:
            for document in self._documents(node, composed, namespace):
                source = Source(composed, document, Document)
                model = recognise(source)
                if model is not None:
                    source.model = model
                    recogniser.read(source)
                    self.sources.append(source)
                elif source.problems:
                    self.problems += source.problems
                    self.unread.add(namespace)
                else:
                    others.append(document)
        if others:
            self._report_others(composed, others)

    def _folder(self, path: str, namespace: str) -> None:
        """Check once that a folder's name can be a namespace; the first of its files stands for it."""
        reason = dns_label(namespace) if namespace and namespace not in self.folders else ""
        self.folders.add(namespace)
        if reason:
            message = f"the folder models/{namespace}/ is a namespace, so its name must {reason}"
            self.problems.append(Problem(Code.NAME_INVALID, message, self.shown(path), help="rename the folder"))

    def _documents(self, node: Node, composed: Composed, namespace: str) -> Iterator[MappingNode]:
        """Yield the documents of a node: itself, or the items of a List."""
        if not isinstance(node, MappingNode):
            message = f"a document must be a mapping with apiVersion and kind, and this one is {kind_of(node)}"
            self._shapeless(message, node, composed, namespace)
        elif not is_list(node):
            yield node
        elif isinstance(items := node.get("items"), SequenceNode):
            for item in items.items:
                yield from self._documents(item, composed, namespace)
        elif items is not None and not (isinstance(items, ScalarNode) and items.value is None):
            message = f"the items of a List must be a list, and this is {kind_of(items)}"
            self._shapeless(message, items, composed, namespace)

    def _shapeless(self, message: str, node: Node, composed: Composed, namespace: str) -> None:
        """Report what cannot hold a document, so that nothing is called missing that it was meant to hold."""
        text = composed.line(node.line)
        self.problems.append(Problem(Code.DOCUMENT_SHAPE, message, composed.file, node.line, node.column, text=text))
        self.unread.add(namespace)

    def _report_others(self, composed: Composed, others: list[MappingNode]) -> None:
        """Say once per file that it holds documents that are not Berth's."""
        kinds = sorted({f"{node.text('apiVersion')} {node.text('kind')}" for node in others})
        shown = ", ".join(kinds[:5]) + (f" and {len(kinds) - 5} more" if len(kinds) > 5 else "")  # noqa: PLR2004 (what a line holds)
        line = others[0].line
        message = f"ignored, because Berth does not know them: {shown}"
        hint = "move the file elsewhere, or write its path in `.berthignore` of the environment's folder"
        self.problems.append(
            Problem(
                Code.OTHER_DOCUMENT,
                message,
                composed.file,
                line,
                others[0].column,
                text=composed.line(line),
                help=hint,
                severity=Severity.WARNING,
            )
        )

    def _unique(self) -> dict[tuple[str, str, str], Source]:
        """Keep the first document of every key, and report the others with both places."""
        first: dict[tuple[str, str, str], Source] = {}
        for source in self.sources:
            if not source.key[2] or source.key[0] == "Environment":
                continue
            before = first.setdefault(source.key, source)
            if before is not source:
                kind, namespace, name = source.key
                whose = f" in namespace {namespace}" if namespace else ""
                message = f"{kind} `{name}`{whose} is defined twice; the first is at {before.file}:{before.line}"
                source.add(Code.NAME_DUPLICATE, message, ("metadata", "name"))
        return first

    def _environment(self, first: dict[tuple[str, str, str], Source]) -> Source | None:
        found = [source for source in self.sources if source.model is Environment]
        for source in found[1:]:
            message = f"an environment has one Environment; the first is at {found[0].file}:{found[0].line}"
            source.add(Code.ENVIRONMENT_DUPLICATE, message, ("kind",))
        if found:
            first[found[0].key] = found[0]
            actual = found[0].key[2]
            if self.name and actual and actual != self.name:
                message = f"the Environment is named `{actual}`, but its folder `{self.name}`"
                found[0].add(Code.ENVIRONMENT_NAME, message, ("metadata", "name"), hint=f"name it `{self.name}`")
            return found[0]
        if self.complete and "" not in self.unread:
            message = "the environment has no document of kind Environment"
            hint = _MINIMAL % (self.name or "dev")
            self.problems.append(Problem(Code.ENVIRONMENT_MISSING, message, self.shown("environment.yaml"), help=hint))
        return None

    def _all(self) -> Iterator[Problem]:
        yield from self.problems
        for source in self.sources:
            yield from source.problems

    def _result(self, first: dict[tuple[str, str, str], Source], environment: Source | None) -> LoadResult:
        # A value that is aliased is wrong wherever it is used, and mended in one place.
        places = {problem.order: problem for problem in sorted(self._all(), key=lambda problem: problem.path)}
        ordered = tuple(places[order] for order in sorted(places))
        broken = {source.key for source in self.sources if source.broken}
        broken |= {("", namespace, "") for namespace in self.unread}
        if any(problem.severity is Severity.ERROR for problem in ordered):
            return LoadResult(None, ordered, frozenset(broken))
        document = environment.document if environment else _default_environment(self.name)
        return LoadResult(_fleet(cast("Environment", document), first), ordered)


def _default_environment(name: str) -> Environment:
    return Environment.model_validate(
        {"apiVersion": "berth.dev/v1alpha1", "kind": "Environment", "metadata": {"name": name or "default"}}
    )


def _fleet(environment: Environment, first: Mapping[tuple[str, str, str], Source]) -> Fleet:
    """Sort the documents into a fleet."""

    def spaced(kind: type[Doc]) -> FrozenDict[tuple[str, str], Doc]:
        found = (first[key].document for key in sorted(first) if first[key].model is kind)
        return FrozenDict({document.key[1:]: document for document in found if isinstance(document, kind)})

    def plain(kind: type[Doc]) -> FrozenDict[str, Doc]:
        return FrozenDict({name: document for (_, name), document in spaced(kind).items()})

    return Fleet(
        environment=environment,
        classes=plain(InferenceClass),
        clusters=plain(InferenceCluster),
        gateways=plain(InferenceGateway),
        deployments=spaced(ModelDeployment),
        services=spaced(ModelService),
        caches=spaced(ModelCache),
        endpoints=spaced(ModelEndpoint),
        sources=FrozenDict({key: Location(first[key].file, first[key].line) for key in sorted(first)}),
        cluster_fields=FrozenDict(found for key in sorted(first) for found in _cluster_fields(first[key])),
        secret_uses=tuple(use for key in sorted(first) for use in _secret_uses(first[key])),
        selector_uses=tuple(use for key in sorted(first) for use in _selector_uses(first[key])),
    )


def _cluster_fields(source: Source) -> Iterator[tuple[tuple[str, str], Location]]:
    cluster = source.document
    if isinstance(cluster, InferenceCluster):
        for path in (SOURCE_PATH, cluster.version_path):
            yield (cluster.name, written(path)), source.locate(path)


def _secret_uses(source: Source) -> Iterator[SecretUse]:
    for use in secret_uses([source.document] if source.document else []):
        yield replace(use, place=source.locate(use.path))


def _selector_uses(source: Source) -> Iterator[SelectorUse]:
    if isinstance(source.document, ModelDeployment):
        for path, expression in expressions(source.document):
            place, lines = source.locate(path), source.lines(path)
            yield SelectorUse(source.document.key, path, expression, place, lines)
