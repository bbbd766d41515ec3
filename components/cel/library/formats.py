"""The named formats of Kubernetes: ``format.dns1123Label().validate(text)`` gives nothing when the text fits."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import re
from functools import partial

from components.cel.library.text import quote
from components.cel.library.times import parse_timestamp
from components.cel.library.urls import is_url
from components.cel.problem import EvaluationError
from components.cel.values import NOTHING, NamedFormat, Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_LABEL_TEXT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL: Final = re.compile(_LABEL_TEXT, re.ASCII)
_OLD_LABEL_TEXT: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_OLD_LABEL: Final = re.compile(_OLD_LABEL_TEXT, re.ASCII)
_NAME_TEXT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME: Final = re.compile(_NAME_TEXT, re.ASCII)
_LOWER: Final = "consist of lower case alphanumeric characters"
_ONE: Final = "an alphanumeric character"
_ENDS: Final = f"start and end with {_ONE}"
_KEY_EXAMPLE: Final = "(e.g. 'example.com/MyName')"
_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_BASE64: Final = re.compile(
    r"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})", re.ASCII
)
_CLOCK: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253


def _trimmed(text: str) -> str:
    """Forgive a trailing dash, as prefixes of generated names may have one."""
    return text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text


def _too_long(text: str, limit: int, *, unit: str = "bytes") -> list[str]:
    return [f"must be no more than {limit} {unit}"] if len(text.encode("utf-8", "surrogatepass")) > limit else []


def _unfit(rule: str, pattern: str, *examples: str) -> str:
    """Write as Kubernetes 1.36 does: its words are values that a selector can compare."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def _label(text: str) -> list[str]:
    found = _too_long(text, _MAX_LABEL, unit="characters")
    if not _LABEL.fullmatch(text):
        dotted = all(_LABEL.fullmatch(part) for part in text.split("."))
        rule = f"a lowercase RFC 1123 label must {_LOWER} or '-', and must {_ENDS}"
        found.append("must not contain dots" if dotted else _unfit(rule, _LABEL_TEXT, "my-name", "123-abc"))
    return found


def _old_label(text: str) -> list[str]:
    found = _too_long(text, _MAX_LABEL, unit="characters")
    if not _OLD_LABEL.fullmatch(text):
        rule = f"a DNS-1035 label must {_LOWER} or '-', start with an alphabetic character, and end with {_ONE}"
        found.append(_unfit(rule, _OLD_LABEL_TEXT, "my-name", "abc-123"))
    return found


def _subdomain(text: str, *, unit: str = "characters") -> list[str]:
    found = _too_long(text, _MAX_SUBDOMAIN, unit=unit)
    if not all(_LABEL.fullmatch(part) for part in text.split(".")):
        rule = f"a lowercase RFC 1123 subdomain must {_LOWER}, '-' or '.', and must {_ENDS}"
        found.append(_unfit(rule, f"{_LABEL_TEXT}(\\.{_LABEL_TEXT})*", "example.com"))
    return found


def _name_rule() -> str:
    rule = f"must consist of alphanumeric characters, '-', '_' or '.', and must {_ENDS}"
    return _unfit(rule, _NAME_TEXT, "MyName", "my.name", "123-abc")


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [f"a valid label key {_name_rule()} with an optional DNS subdomain prefix and '/' {_KEY_EXAMPLE}"]
    found = []
    if slash:
        found += [
            f"prefix part {problem}"
            for problem in (_subdomain(prefix, unit="bytes") if prefix else ["must be non-empty"])
        ]
    found += [f"name part {problem}" for problem in (_too_long(name, _MAX_LABEL) if name else ["must be non-empty"])]
    if not _NAME.fullmatch(name):
        found.append(f"name part {_name_rule()}")
    return found


def _label_value(text: str) -> list[str]:
    found = _too_long(text, _MAX_LABEL)
    if text and not _NAME.fullmatch(text):
        allowed = "an empty string or consist of alphanumeric characters, '-', '_' or '.'"
        rule = f"a valid label must be {allowed}, and must {_ENDS}"
        found.append(_unfit(rule, f"({_NAME_TEXT})?", "MyValue", "my_value", "12345"))
    return found


def _uri(text: str) -> list[str]:
    if is_url(text):
        return []
    return [f"parse {quote(text)}: {'invalid URI for request' if text else 'empty url'}"]


def _date(text: str) -> bool:
    return len(text) == 10 and parse_timestamp(text + "T00:00:00Z") is not None


def _datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(text) < 4 or len(parts) < 2 or not _safe_date(parts[0]):
        return False
    found = _CLOCK.fullmatch(parts[1])
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _safe_date(text: str) -> bool:
    try:
        return _date(text)
    except EvaluationError:  # the year 0 is a date for Go, and out of range for a timestamp
        return text.startswith("0000-")


def _when(test: Callable[[str], object], complaint: str) -> Callable[[str], list[str]]:
    return lambda text: [] if test(text) else [complaint]


_VALIDATORS: Final[dict[str, tuple[Callable[[str], list[str]], int]]] = {
    "dns1123Label": (_label, 30),
    "dns1123Subdomain": (_subdomain, 60),
    "dns1035Label": (_old_label, 30),
    "qualifiedName": (_qualified_name, 60),
    "dns1123LabelPrefix": (lambda text: _label(_trimmed(text)), 30),
    "dns1123SubdomainPrefix": (lambda text: _subdomain(_trimmed(text)), 60),
    "dns1035LabelPrefix": (lambda text: _old_label(_trimmed(text)), 30),
    "labelValue": (_label_value, 40),
    "uri": (_uri, 1103),
    "uuid": (_when(_UUID.fullmatch, "does not match the UUID format"), 70),
    "byte": (_when(_BASE64.fullmatch, "invalid base64"), 84),
    "date": (_when(_safe_date, "invalid date"), 71),
    "datetime": (_when(_datetime, "invalid datetime"), 71),
}


def regex_size(value: NamedFormat) -> int:
    """Give the size of the pattern that a validation is priced by."""
    return _VALIDATORS[value.name][1]


def _named(name: str) -> Value:
    return Opt(NamedFormat(name)) if name in _VALIDATORS else NOTHING


def _validate(value: NamedFormat, text: str) -> Value:
    problems = _VALIDATORS[value.name][0](text)
    return Opt([*problems]) if problems else NOTHING


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "format-named": _named,
    "format-validate": _validate,
    **{f"format.{name}": partial(NamedFormat, name) for name in _VALIDATORS},
}
