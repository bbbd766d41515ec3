"""Near matches: the name a person probably meant."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_CUTOFF = 0.6
_SAME: Final = (
    ("region", "location"),
    ("instanceType", "machineType", "vmSize", "plan", "preset"),
    ("size", "sizeGiB", "diskSizeGb", "sizeLimit"),
    ("repo", "repository", "model", "modelId"),
    ("nodes", "nodeCount", "count", "size", "replicas", "copies"),
    ("min", "minSize", "minNodes", "minNodeCount"),
    ("max", "maxSize", "maxNodes", "maxNodeCount"),
    ("class", "className", "inferenceClass"),
    ("cel", "expression"),
    ("version", "kubernetesVersion", "revision", "tag"),
    ("url", "host", "address", "endpoint"),
)
"""Words for one thing: what one cloud, or one part of Kubernetes, calls by another name."""

_MANY = 2_000  # comparing with more candidates than this takes longer than the hint is worth


def near(text: str, candidates: Collection[str]) -> str:
    """Return the candidate most like ``text``, or an empty string; equal but for case and dashes wins."""
    plain = _plain(text)
    exact = sorted(candidate for candidate in candidates if _plain(candidate) == plain)
    if exact:
        return exact[0]
    if len(candidates) > _MANY or len(text) > 100:  # noqa: PLR2004 (no name is longer)
        return ""
    by_plain = {_plain(candidate): candidate for candidate in sorted(candidates, reverse=True)}
    found = get_close_matches(plain, sorted(by_plain), n=1, cutoff=_CUTOFF)
    return by_plain[found[0]] if found else ""


def near_field(key: str, fields: Collection[str]) -> str:
    """Return the field that was probably meant by a key: the nearest, or the only one that means the same."""
    found = near(key, fields)
    if found:
        return found
    same = sorted({each for group in _SAME if key in group for each in group if each in fields})
    return same[0] if len(same) == 1 else ""


def did_you_mean(text: str, candidates: Collection[str]) -> str:
    """Return the hint ``did you mean `x`?``, or an empty string."""
    found = near(text, candidates)
    return f"did you mean `{found}`?" if found else ""


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "")
