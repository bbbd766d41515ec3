"""Recognises a document of a file and reads it into its model.

What a server wrote (status, uid, managed fields) is left out; a field of Berth's own under the predecessor's apiVersion
is an error, and so is one that is not supported yet: the value of the first is not looked at, that of the second is
checked first, so that what is written will be right on the day that it is built. A key without a value counts as
absent, as the API server has it.
"""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import ValidationError

from components.api.base import BERTH_VERSION, MODELPLANE, Document, Model
from components.api.codes import Code
from components.api.composed import MAX_PROBLEMS
from components.api.doubts import Doubt, may_be_program, spelling, template
from components.api.infrastructure import INFRASTRUCTURE
from components.api.kinds import ALL_KINDS, API_VERSIONS, KINDS, api_versions
from components.api.near import did_you_mean
from components.api.nodes import MappingNode, Node, PathPart, ScalarNode, SequenceNode, kind_of, plain
from components.api.predecessor import kind_of_another_version
from components.api.rules import shown
from components.api.shape import FieldShape, shape
from components.api.source import Source
from components.api.syntax import is_dns_label
from components.api.translate import comment_hint, translate
from components.errors import Severity

SERVER_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""What an API server adds to metadata; a manifest that was read back from a cluster has it."""

_GROUPS: Final = frozenset(version.partition("/")[0] for version in API_VERSIONS)

RESERVED_NAMESPACES: Final = frozenset({"platform"})
"""Namespaces whose file in the lock would be another's."""

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl keeps a copy of the manifest."""


class Recogniser:
    """Reads documents under one folder's rules.

    ``namespace`` is the one that a file under ``models/<namespace>/`` may hold; empty elsewhere.
    """

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def read(self, source: Source) -> None:
        """Fill ``source`` with its key, and with its model if the document is right."""
        written = source.node.get("metadata")
        name = written.text("name") if isinstance(written, MappingNode) else ""
        source.key = (source.model.__name__, self._namespace(source), name)
        self._folder(source)
        reader = _Reader(source)
        data = reader.mapping(source.node, source.model, ())
        metadata = data.get("metadata")
        if source.model.NAMESPACED and isinstance(metadata, dict):
            folder = source.key[1] if is_dns_label(source.key[1]) else ""  # a folder's name is the loader's to judge
            metadata["namespace"] = metadata.get("namespace") or folder
        try:
            document = source.model.model_validate(data, by_alias=True, by_name=False)
        except ValidationError as error:
            found = error.errors(include_url=False)
            translate(source, (each for each in found if not _below(each["loc"], reader.refused)))
            wrong = [error["loc"] for error in found]
            reader.refuse_later(wrong)
            reader.doubt(wrong)
            return
        reader.refuse_later(())
        reader.doubt(())
        if document.MACHINE_MADE:
            message = f"{source.key[0]} is made by the predecessor's machinery; Berth reads it and leaves it alone"
            source.warn(Code.MACHINE_MADE, message, ("kind",))
        if not source.broken:
            source.document = document

    def _namespace(self, source: Source) -> str:
        if not source.model.NAMESPACED:
            return ""
        metadata = source.node.get("metadata")
        said = metadata.text("namespace") if isinstance(metadata, MappingNode) else ""
        return said or self.namespace or "default"

    def _folder(self, source: Source) -> None:
        """Check that the document may stand in its folder."""
        kind, namespace, _ = source.key
        if not source.model.NAMESPACED:
            if self.namespace:
                message = f"{kind} belongs to the whole environment and may not stand under models/{self.namespace}/"
                where = "environment.yaml" if kind == "Environment" else "the platform/ folder"
                source.add(Code.FOLDER_WRONG, message, ("kind",), hint=f"move it to {where}")
        elif not is_dns_label(self.namespace or namespace) or not is_dns_label(namespace):
            return  # the name itself is wrong, which is said elsewhere
        elif self.namespace and namespace != self.namespace:
            message = f"a file under models/{self.namespace}/ holds only that namespace, not {shown(namespace)}"
            hint = f"remove the line, or move the document to models/{namespace}/"
            source.add(Code.NAMESPACE_WRONG, message, ("metadata", "namespace"), hint=hint)
        elif namespace in RESERVED_NAMESPACES:
            message = f"the namespace {shown(namespace)} is reserved: its lock would take the name of the platform's"
            source.add(Code.NAMESPACE_WRONG, message, ("metadata", "namespace"), hint="choose another namespace")


class _Reader:
    """Turns a tree into plain data for the model, with what no model can see: marks of fields, empty values."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.portable = source.node.text("apiVersion") == MODELPLANE
        self.refused: list[tuple[PathPart, ...]] = []
        self.later: list[tuple[PathPart, ...]] = []
        self.doubts: list[tuple[tuple[PathPart, ...], Code, Doubt, ScalarNode]] = []

    def mapping(self, node: MappingNode, model: type[Model], path: tuple[PathPart, ...]) -> dict[str, Any]:
        """Read a mapping that a model describes."""
        data: dict[str, Any] = {}
        fields = shape(model)
        skipped = self._skipped(path)
        for key, (_, value) in node.entries.items():
            field = fields.get(key)
            if key in skipped or (field is not None and _empty(value)):
                continue
            here = (*path, key)
            if path == ("spec",) and key == "crossplane" and self.portable:
                message = "`crossplane` holds settings of the predecessor's machinery; it has no effect here"
                self.source.warn(Code.FIELD_IGNORED, message, here, at_key=True)
            elif path == ("metadata",) and key == "namespace" and not self.source.model.NAMESPACED:
                message = f"{self.source.key[0]} has no namespace; this line has no effect"
                self.source.warn(Code.NAMESPACE_IGNORED, message, here)
            else:
                if field is not None:
                    self._owned(field, value, here)
                data[key] = self._bounded(field, self.value(value, field, here), here)
        return data

    def value(self, node: Node, field: FieldShape | None, path: tuple[PathPart, ...]) -> Any:
        """Read any value; ``field`` says which model is inside, if one is."""
        if isinstance(node, ScalarNode):
            self._look(node, path)
            return node.value
        if field is not None and field.free:
            return plain(node)
        model = field.model if field else None
        container = field.container if field else ""
        if isinstance(node, SequenceNode):
            inner = model if container == "list" else None
            return tuple(self._inner(item, inner, (*path, index)) for index, item in enumerate(node.items))
        assert isinstance(node, MappingNode)
        if model is not None and not container:
            return self.mapping(node, model, path)
        inner = model if container == "map" else None
        data: dict[str, Any] = {}
        for key, (name, value) in node.entries.items():
            if key == LAST_APPLIED:
                continue
            if _empty(value):
                self._valueless(key, name, (*path, key))
                continue
            self._look(name, (*path, key))
            data[key] = self._inner(value, inner, (*path, key))
        return data

    def _inner(self, node: Node, model: type[Model] | None, path: tuple[PathPart, ...]) -> Any:
        if model is not None and isinstance(node, MappingNode):
            return self.mapping(node, model, path)
        return self.value(node, None, path)

    def _valueless(self, key: str, name: ScalarNode, path: tuple[PathPart, ...]) -> None:
        """Warn of an entry of a map that says nothing: a label to match, for one, would be matched by everything."""
        message = f"`{key}` has no value, so this line has no effect"
        hint = comment_hint(self.source, name) or f'for an empty text write `{key}: ""`'
        self.doubts.append((path, Code.FIELD_IGNORED, Doubt(message, hint), name))

    def _look(self, node: ScalarNode, path: tuple[PathPart, ...]) -> None:
        """Keep what is doubtful about a value, until it is known whether it is wrong anyway."""
        code = Code.VALUE_AMBIGUOUS
        found = spelling(node)
        if found is None:  # the text first: few hold a sign of a template, and paths are long
            code = Code.TEMPLATE_FILE
            found = template(node.text)
            if found is not None and any(isinstance(part, str) and may_be_program(part) for part in path):
                found = None
        if found is not None:
            self.doubts.append((path, code, found, node))

    def doubt(self, wrong: Iterable[tuple[PathPart, ...]]) -> None:
        """Warn of the doubtful values that nothing else is said of."""
        places = [place for place in wrong if place]
        for path, code, found, node in self.doubts:
            if len(self.source.problems) >= MAX_PROBLEMS:
                return
            if not _below(path, places) and not _below((*path, "[key]"), places) and not node.broken:
                self.source.add(code, found.message, path, hint=found.help, at=node, severity=Severity.WARNING)

    def _skipped(self, path: tuple[PathPart, ...]) -> frozenset[str]:
        if not path:
            return frozenset({"status"})
        return SERVER_METADATA if path == ("metadata",) else frozenset()

    def refuse_later(self, wrong: Iterable[tuple[PathPart, ...]]) -> None:
        """Refuse the fields that are not supported yet, except those with something ``wrong`` inside."""
        places = list(wrong)
        for path in self.later:
            if not any(_below(place, (path,)) for place in places):
                self.source.add(Code.NOT_SUPPORTED_YET, f"`{path[-1]}` is not supported yet", path, at_key=True)

    def _owned(self, field: FieldShape, value: Node, path: tuple[PathPart, ...]) -> None:
        """Check whose field it is, and whose value."""
        own, values = field.own, field.values
        if self.refused and _below(path, self.refused):
            return
        if own is not None and self.portable:
            later = "" if own.supported else ", and it is not supported yet"
            message = f"`{field.name}` is a field of Berth's own, which apiVersion {MODELPLANE} does not have{later}"
            self._refuse(path, message, at_key=True)
        elif own is not None and not own.supported:
            self.later.append(path)
        elif values is not None and self.portable and isinstance(value, ScalarNode) and value.value in values.values:
            later = "" if values.supported else ", and it is not supported yet"
            whose = f"is a {field.name} of Berth's own, which apiVersion {MODELPLANE} does not have"
            self._refuse(path, f"{shown(value.text)} {whose}{later}", at_key=False)

    def _refuse(self, path: tuple[PathPart, ...], message: str, *, at_key: bool) -> None:
        self.refused.append(path)
        hint = f"write `apiVersion: {BERTH_VERSION}` on line {self._version_line()}"
        self.source.add(Code.BERTH_FIELD, message, path, hint=hint, at_key=at_key)

    def _bounded(self, field: FieldShape | None, value: Any, path: tuple[PathPart, ...]) -> Any:
        """Hold a number to the predecessor's bounds; one outside is reported and replaced, so it is reported once."""
        bounds = field.portable if field and self.portable else None
        if bounds is None or type(value) is not int or bounds.low <= value <= bounds.high:
            return value
        message = f"{path[-1]} must be from {bounds.low} to {bounds.high} under {MODELPLANE}, and is {value}"
        hint = f"with `apiVersion: {BERTH_VERSION}` on line {self._version_line()} any number is allowed"
        self.source.add(Code.VALUE_OUT_OF_RANGE, message, path, hint=hint if value >= 0 else "")
        return bounds.low

    def _version_line(self) -> int:
        return self.source.node.entries["apiVersion"][0].line


def recognise(source: Source) -> type[Document] | None:
    """Find the model of a document by apiVersion and kind; None after recording why there is none.

    A document that is not Berth's is left without a problem: the caller reports those once per file.
    """
    node = source.node
    version, kind = node.text("apiVersion"), node.text("kind")
    missing = [key for key in ("apiVersion", "kind") if _empty(node.get(key))]
    if missing:
        message = f"{' and '.join(f'`{key}`' for key in missing)} {'are' if len(missing) > 1 else 'is'} missing"
        hint = next((did_you_mean(key, missing) for key in node.entries if did_you_mean(key, missing)), "")
        source.add(Code.FIELD_MISSING, message, allowed=", ".join(API_VERSIONS), hint=hint)
        return None
    for key, text in (("apiVersion", version), ("kind", kind)):
        if not text:
            value = node.get(key)
            assert value is not None
            if not (isinstance(value, ScalarNode) and value.broken):
                source.add(Code.TYPE_WRONG, f"{key} must be text, and is {kind_of(value)}", (key,))
            return None
    if kind in ALL_KINDS and version in api_versions(kind):
        return ALL_KINDS[kind]
    ours = "modelplane" in version or "berth" in version
    if version in ALL_KINDS and "/" in kind:
        message = "apiVersion and kind stand in each other's place"
        hint = f"write `apiVersion: {kind}` and `kind: {version}`"
        source.add(Code.API_VERSION_UNKNOWN, message, ("apiVersion",), hint=hint)
    elif version not in API_VERSIONS and version.partition("/")[0] in _GROUPS and kind not in KINDS:
        message = f"{shown(version)} is not an apiVersion of Berth's or the predecessor's"
        hint = did_you_mean(version, API_VERSIONS)
        source.add(Code.API_VERSION_UNKNOWN, message, ("apiVersion",), allowed=", ".join(API_VERSIONS), hint=hint)
    elif kind in KINDS or (kind in ALL_KINDS and ours):
        versions = api_versions(kind)
        message = f"{shown(version)} is not an apiVersion of {kind}"
        hint = did_you_mean(version, versions)
        source.add(Code.API_VERSION_UNKNOWN, message, ("apiVersion",), allowed=", ".join(versions), hint=hint)
    elif version in (*API_VERSIONS, INFRASTRUCTURE):
        near = [each for each in ALL_KINDS if version in api_versions(each)]
        message = f"{shown(kind)} is not a kind of {version}"
        hint = kind_of_another_version(kind) or did_you_mean(kind, near)
        source.add(Code.KIND_UNKNOWN, message, ("kind",), allowed=", ".join(near), hint=hint)
    return None


def is_list(node: MappingNode) -> bool:
    """Whether a document only holds others: kubectl's `List`, or an API server's list of one kind."""
    version, kind = node.text("apiVersion"), node.text("kind")
    inner = kind.removesuffix("List")
    return (version, kind) == ("v1", "List") or (
        inner != kind and inner in ALL_KINDS and version in api_versions(inner)
    )


def _below(place: tuple[PathPart, ...], paths: Iterable[tuple[PathPart, ...]]) -> bool:
    """Whether a place is one of the paths or inside one."""
    return any(place[: len(path)] == path for path in paths)


def _empty(node: Node | None) -> bool:
    """Whether a value is absent: no node, or nothing after the `:`."""
    return node is None or (isinstance(node, ScalarNode) and node.value is None and not node.broken)
