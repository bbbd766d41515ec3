"""Failures in words: what went wrong with a replica, a cache or a cluster, as one sentence.

Providers speak in paragraphs ("1 error occurred", the object's URN, the same reason three times). A person wants to
know which part of which replica failed and why: ``workload-main: ImagePullBackOff: Back-off pulling image "x"``.
Nothing here decides what follows from a failure.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from automation.engine.checkpoint import Checkpoint
from automation.engine.family import Family, Member
from automation.engine.runner import ResourceFailure

_COUNT = re.compile(r"^\d+ errors? occurred:?\s*", re.MULTILINE)
_BULLET = re.compile(r"^\s*[*-]\s+", re.MULTILINE)
_ABOUT_ITSELF = re.compile(
    r"""(?:resource\ "?[^"\s]+"?|the\ Kubernetes\ API\ server\ reported\ that\ "?[^"\s]+"?)\s*
    (?:was\ (?:not\ )?successfully\ (?:created|updated)(?:\ by\ the\ Kubernetes\ API\ server)?
    |failed\ to\ (?:fully\ )?(?:initialize|become)(?:\ or\ become\ live)?)
    (?:,\ but\ the\ Kubernetes\ API\ server\ reported\ that\ it\ failed\ to\ fully\ initialize\ or\ become\ live)?
    :?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_URN = re.compile(r"urn:pulumi:\S*::(\S+)")
_UNREADY = re.compile(r"\[?containers with unready status: \[[^\]]*\]\]?(?: -- )?\s*", re.IGNORECASE)
_REASON = re.compile(r"\[([A-Z][A-Za-z]+)\]\s*")
_SPACE = re.compile(r"\s+")
_LIMIT = 300
"""Characters of one reason; the full text stays in the diagnostics."""


def words(messages: Iterable[str]) -> str:
    """Return what providers say as one sentence: noise gone, each reason once, in order."""
    reasons: dict[str, None] = {}
    for message in messages:
        text = _BULLET.sub("", _COUNT.sub("", message))
        text = _URN.sub(r"\1", _UNREADY.sub("", _ABOUT_ITSELF.sub("", text)))
        for line in text.splitlines():
            reason = _SPACE.sub(" ", _REASON.sub(r"\1: ", line)).strip(" .;:")
            if reason and not any(reason in other for other in reasons):
                reasons[_short(reason)] = None
    return "; ".join(reasons)


def _short(text: str) -> str:
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 3]}..."


def failures_by_component(
    failures: Sequence[ResourceFailure], checkpoint: Checkpoint, *, steps: Iterable[Member] = ()
) -> Mapping[str, str]:
    """Return what failed in words, by the logical name of the component it belongs to.

    What belongs to no component stands under its own name.
    """
    family = Family([*checkpoint, *steps])
    said: dict[str, list[str]] = {}
    for failure in failures:
        component = family.component(failure.urn) or family.component(failure.parent)
        owner = component.urn.rpartition("::")[2] if component else failure.name
        said.setdefault(owner, []).append(_part(owner, failure.name, [*failure.messages, *failure.init_errors]))
    return {owner: "; ".join(dict.fromkeys(texts)) for owner, texts in sorted(said.items())}


def failure_under(checkpoint: Checkpoint, urn: str) -> str:
    """Return the initialisation errors that the state keeps under a component, in words; empty for none."""
    owner = urn.rpartition("::")[2]
    texts = [_part(owner, part.name, part.init_errors) for part in checkpoint.subtree(urn) if part.init_errors]
    return "; ".join(dict.fromkeys(texts))


def _part(owner: str, name: str, messages: Iterable[str]) -> str:
    """Name the part by its role, without repeating its component's name."""
    role = name.removeprefix(owner).strip("-/")
    text = words(messages) or "failed without a reason"
    return f"{role}: {text}" if role else text
