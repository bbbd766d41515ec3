"""Rules inside a model: how a model or a field says that a value is wrong, where, and what would be right.

A violation travels through pydantic as its own error type, so that rules of any depth report at once beside the type
errors, each with its place. Nothing here knows files or lines; ``translate.py`` adds them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

from components.api import syntax
from components.api.codes import Code
from components.api.frozen import FrozenDict, FrozenMap
from components.api.nodes import PathPart


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: ``path`` leads from the model to the place; ``at_key`` points at the key instead of the value."""

    code: Code
    message: str
    path: tuple[PathPart, ...] = ()
    allowed: str = ""
    hint: str = ""
    at_key: bool = False

    def error(self) -> PydanticCustomError:
        """Wrap the violation for pydantic."""
        return PydanticCustomError(
            "violation",
            "{message}",
            {
                "code": self.code,
                "message": self.message,
                "allowed": self.allowed,
                "hint": self.hint,
                "at_key": self.at_key,
            },
        )


def refuse(violations: Iterable[Violation]) -> None:
    """Raise all violations at once, if there are any."""
    details = [InitErrorDetails(type=found.error(), loc=found.path, input=None) for found in violations]
    if details:
        raise ValidationError.from_exception_data("rules", details)


@dataclass(frozen=True, slots=True)
class Check(AfterValidator):
    """A validator of a field that also says what it asks in JSON Schema, so that the two cannot part."""

    said: Mapping[str, Any] = field(default=FrozenDict(), compare=False)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add what the check asks to the schema of the value."""
        return _narrowed(handler(core), self.said)


def _narrowed(schema: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that says ``more`` besides; of two bounds the narrower one holds."""
    made = dict(schema)
    for key, value in more.items():
        before = made.setdefault(key, value)
        if before == value:
            continue
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            made[key] = _narrowed(before, value)
        elif isinstance(before, int):
            made[key] = max(before, value) if key.startswith("min") else min(before, value)
        else:
            made["allOf"] = [*made.get("allOf", ()), {key: value}]
    return made


def checked(check: Callable[[str], str], code: Code, *, said: Mapping[str, Any] | None = None) -> Check:
    """Make a validator of a text from a check of ``syntax``, or from another one that is ``said`` in JSON Schema."""

    def apply(text: str) -> str:
        reason = check(text)
        if reason:
            raise Violation(code, f"{shown(text)} must {reason}").error()
        return text

    return Check(apply, {**(syntax.said(check) if said is None else said), **_worded(check)})


def _worded(check: Callable[[str], str]) -> dict[str, str]:
    """Return what editors show in place of a pattern: the check's own words about a text that is surely wrong."""
    reason = next((found for text in ("!", " ", "") if (found := check(text))), "")
    return {"patternErrorMessage": f"must {reason}"} if reason else {}


def matching(pattern: str, reason: str, code: Code) -> Check:
    """Make a validator of a text that a pattern, without anchors, says all about; ``reason`` follows "must"."""
    whole = re.compile(pattern)
    said = {"pattern": f"^(?:{pattern})$"}
    return checked(lambda text: "" if whole.fullmatch(text) else reason, code, said=said)


def keyed(check: Callable[[str], str], code: Code, what: str, *, said: Mapping[str, Any] | None = None) -> Check:
    """Make a validator of the keys of a map, as ``checked`` makes one of a text; ``what`` says what a key is."""

    def apply(entries: Mapping[str, Any]) -> Mapping[str, Any]:
        refuse(key_violations(entries, check, code, what))
        return entries

    return Check(apply, {"propertyNames": syntax.said(check) if said is None else said})


def key_violations(keys: Iterable[str], check: Callable[[str], str], code: Code, what: str) -> Iterator[Violation]:
    """Yield a violation for every key that a check refuses."""
    for key in keys:
        reason = check(key)
        if reason:
            yield Violation(code, f"the {what} {shown(key)} must {reason}", (key,), at_key=True)


def distinct(what: str) -> Check:
    """Make a validator of a list of texts in which each stands once; ``what`` says what one is."""

    def apply(items: Sequence[str]) -> Sequence[str]:
        refuse(duplicates(items, str, "", what))
        return items

    return Check(apply, {"uniqueItems": True})


def unlike(taken: Iterable[str], refusal: Callable[[str], Violation]) -> Check:
    """Make a validator of a text that may be none of those ``taken``."""
    names = tuple(taken)

    def apply(text: str) -> str:
        if text in names:
            raise refusal(text).error()
        return text

    return Check(apply, {"not": {"enum": list(names)}})


def duplicates(items: Iterable[Any], key: Callable[[Any], Any], field: str, what: str) -> Iterator[Violation]:
    """Yield a violation for every item of a list whose ``key`` an earlier item has."""
    first: dict[Any, int] = {}
    for index, item in enumerate(items):
        before = first.setdefault(key(item), index)
        if before != index:
            value = key(item)
            text = shown(value) if isinstance(value, str) else ", ".join(shown(str(part)) for part in value)
            message = f"{what} {text} is already item {before} of this list"
            yield Violation(Code.LIST_DUPLICATE, message, (index, field) if field else (index,))


def within(field: PathPart, violations: Iterable[Violation]) -> Iterator[Violation]:
    """Move violations below ``field``, which may be an item."""
    for found in violations:
        yield Violation(found.code, found.message, (field, *found.path), found.allowed, found.hint, found.at_key)


def shown(text: str) -> str:
    """Quote a text for a message, shortened where it is long; what nobody could see is written as its number."""
    short = text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 (what fits in a message)
    if not short.isprintable():
        short = "".join(sign if sign.isprintable() else f"<U+{ord(sign):04X}>" for sign in short)
    return f"`{short}`"


_RESERVED = ("modelplane.ai", "berth.dev")
"""Prefixes of labels that Berth writes itself."""

_LABELS = {
    "propertyNames": syntax.said(syntax.label_key),
    "additionalProperties": syntax.said(syntax.label_value),
}


def _labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    refuse(_label_violations(labels))
    return labels


def _own_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    refuse((*_reserved(labels), *_label_violations(labels)))
    return labels


def _label_violations(labels: Mapping[str, str]) -> Iterator[Violation]:
    yield from key_violations(labels, syntax.label_key, Code.LABEL_INVALID, "label key")
    for key, value in labels.items():
        reason = syntax.label_value(value)
        if reason:
            yield Violation(Code.LABEL_INVALID, f"the label value {shown(value)} must {reason}", (key,))


def _reserved(labels: Mapping[str, str]) -> Iterator[Violation]:
    for key in labels:
        prefix = key.partition("/")[0]
        if "/" in key and prefix in _RESERVED:
            message = f"labels under `{prefix}/` are written by Berth itself"
            yield Violation(Code.LABEL_RESERVED, message, (key,), hint="choose another prefix, or none", at_key=True)


DnsLabel = Annotated[str, Field(min_length=1), checked(syntax.dns_label, Code.NAME_INVALID)]
"""A name that is an RFC 1123 label."""

Namespace = Annotated[
    str,
    checked(
        lambda text: syntax.dns_label(text) if text else "",
        Code.NAME_INVALID,
        said={"pattern": f"^({syntax.LABEL_PATTERN[1:-1]})?$", "maxLength": syntax.LABEL_LIMIT},
    ),
]
"""A namespace, or nothing."""

ServiceLabel = Annotated[str, Field(min_length=1), checked(syntax.service_label, Code.NAME_INVALID)]
"""A name that Services are named after."""

Subdomain = Annotated[str, Field(min_length=1), checked(syntax.dns_subdomain, Code.NAME_INVALID)]
"""A name of labels joined by dots."""

ShortSubdomain = Annotated[str, Field(min_length=1), checked(syntax.short_subdomain, Code.NAME_INVALID)]
"""A subdomain that also becomes a label's value."""

Labels = Annotated[FrozenMap[str, str], Check(_labels, _LABELS)]
"""Labels, or what is compared with labels."""

OwnLabels = Annotated[
    FrozenMap[str, str],
    Check(
        _own_labels,
        _narrowed(_LABELS, {"propertyNames": {"not": {"pattern": f"^({'|'.join(map(re.escape, _RESERVED))})/"}}}),
    ),
]
"""Labels that users put on what Berth makes: its own prefixes are refused."""

Annotations = Annotated[FrozenMap[str, str], keyed(syntax.label_key, Code.LABEL_INVALID, "annotation key")]
"""Annotations."""
