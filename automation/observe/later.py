"""Whether an API server asks to be asked again, and when: it is loaded, or is still making itself ready for a kind.

It then refuses with 429, or with a status from 500 on, and a ``Retry-After``. Kubernetes' own client does what it is
told, ten times at the most (``k8s.io/client-go/rest``).
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx

TRIES: Final = 10
"""How often a question is asked in all."""

_TOO_MANY: Final = 429
_FAULTS_OF_SERVERS: Final = 500


def seconds_until_again(answer: "httpx.Response") -> int | None:
    """Return after how many seconds to ask again; None where the answer is one, and where it says no time."""
    said = answer.headers.get("Retry-After", "")
    asks = answer.status_code == _TOO_MANY or answer.status_code >= _FAULTS_OF_SERVERS
    return int(said) if asks and said.isdecimal() else None
