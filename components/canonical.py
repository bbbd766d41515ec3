"""Canonical JSON and digests: one text for one value, whatever its key order or spelling.

Digests in locks, content hashes in names and equality of stored values all rest on this one function.
"""

import hashlib
import json
from typing import Any

DIGEST_PREFIX = "sha256:"


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys, no spaces and no escapes of printable characters.

    Raises TypeError for what JSON cannot hold and ValueError for NaN and infinities.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return ``sha256:<64 hex digits>`` of the canonical JSON of ``value``."""
    return DIGEST_PREFIX + hashlib.sha256(canonical_json(value).encode()).hexdigest()
