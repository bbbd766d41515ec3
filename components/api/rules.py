"""Rules inside a model: how a model or a field says that a value is wrong, where, and what would be right.

A violation travels through pydantic as its own error type, so that rules of any depth report at once beside the type
errors, each with its place. Nothing here knows files or lines; ``translate.py`` adds them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from components.api import syntax
from components.api.codes import Code
from components.api.frozen import FrozenMap
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


def checked(check: Callable[[str], str], code: Code) -> AfterValidator:
    """Make a validator of a text from a check of ``syntax``."""

    def apply(text: str) -> str:
        reason = check(text)
        if reason:
            raise Violation(code, f"{shown(text)} must {reason}").error()
        return text

    return AfterValidator(apply)


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


def within(field: str, violations: Iterable[Violation]) -> Iterator[Violation]:
    """Move violations below ``field``."""
    for found in violations:
        yield Violation(found.code, found.message, (field, *found.path), found.allowed, found.hint, found.at_key)


def exactly_one(what: str, given: Mapping[str, object], *, at_key: bool = False) -> Iterator[Violation]:
    """Yield a violation unless exactly one of the fields ``given`` by name is set; ``what`` begins the message."""
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        message = f"{what} {', '.join(given)}; {' and '.join(found) or 'none'} is set"
        yield Violation(Code.FIELD_CONFLICT, message, at_key=at_key)


def shown(text: str) -> str:
    """Quote a text for a message, shortened where it is long; what nobody could see is written as its number."""
    short = text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 (what fits in a message)
    if not short.isprintable():
        short = "".join(sign if sign.isprintable() else f"<U+{ord(sign):04X}>" for sign in short)
    return f"`{short}`"


def _labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    refuse(_label_violations(labels))
    return labels


def _own_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    refuse((*_reserved(labels), *_label_violations(labels)))
    return labels


def _annotations(annotations: Mapping[str, str]) -> Mapping[str, str]:
    refuse(_key_violations(annotations, "annotation"))
    return annotations


def _label_violations(labels: Mapping[str, str]) -> Iterator[Violation]:
    yield from _key_violations(labels, "label")
    for key, value in labels.items():
        reason = syntax.label_value(value)
        if reason:
            yield Violation(Code.LABEL_INVALID, f"the label value {shown(value)} must {reason}", (key,))


def _key_violations(keys: Iterable[str], what: str) -> Iterator[Violation]:
    for key in keys:
        reason = syntax.label_key(key)
        if reason:
            yield Violation(Code.LABEL_INVALID, f"the {what} key {shown(key)} must {reason}", (key,), at_key=True)


def _reserved(labels: Mapping[str, str]) -> Iterator[Violation]:
    for key in labels:
        prefix = key.partition("/")[0]
        if "/" in key and prefix in ("modelplane.ai", "berth.dev"):
            message = f"labels under `{prefix}/` are written by Berth itself"
            yield Violation(Code.LABEL_RESERVED, message, (key,), hint="choose another prefix, or none", at_key=True)


DnsLabel = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": syntax.LABEL_PATTERN}),
    checked(syntax.dns_label, Code.NAME_INVALID),
]
"""A name that is an RFC 1123 label."""

Namespace = Annotated[
    str,
    Field(json_schema_extra={"pattern": syntax.LABEL_PATTERN}),
    checked(lambda text: syntax.dns_label(text) if text else "", Code.NAME_INVALID),
]
"""A namespace, or nothing."""

ServiceLabel = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": syntax.SERVICE_PATTERN}),
    checked(syntax.service_label, Code.NAME_INVALID),
]
"""A name that Services are named after."""

Subdomain = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": syntax.SUBDOMAIN_PATTERN}),
    checked(syntax.dns_subdomain, Code.NAME_INVALID),
]
"""A name of labels joined by dots."""

ShortSubdomain = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": syntax.SUBDOMAIN_PATTERN}),
    checked(syntax.short_subdomain, Code.NAME_INVALID),
]
"""A subdomain that also becomes a label's value."""

Labels = Annotated[FrozenMap[str, str], AfterValidator(_labels)]
"""Labels, or what is compared with labels."""

OwnLabels = Annotated[FrozenMap[str, str], AfterValidator(_own_labels)]
"""Labels that users put on what Berth makes: its own prefixes are refused."""

Annotations = Annotated[FrozenMap[str, str], AfterValidator(_annotations)]
"""Annotations."""
