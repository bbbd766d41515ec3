"""A client that reads an API server: lists in pages, single objects, and questions about permissions.

It changes nothing: the POSTs that it can do ask the server who asks, what they may do and what it would make of an
object, and are stored nowhere.
Why it is not one of the client libraries: ``docs/decisions/0009-a-reader-of-our-own-for-api-servers.md``.

Every call keeps to one deadline for the whole cluster, also where a server asks to be asked again later. Limit: the
look-up of a host's name cannot be bounded here, so whoever asks many clusters also watches the clock (``parallel``).
"""

import json
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from automation.observe.access import Access
from automation.observe.credential import Credential, LoginFailed, credential_of
from automation.observe.later import TRIES, seconds_until_again

if TYPE_CHECKING:
    import httpx

Object = dict[str, Any]

_PAGE: Final = 500
"""Objects in a page, as kubectl asks for them."""

_GONE: Final = 410
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_SAID: Final = 300


class NoAnswer(Exception):
    """A question that got no answer; its text says why in words. ``status`` is the HTTP status, 0 without one."""

    def __init__(self, why: str, *, status: int = 0, fix: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.fix = fix

    @property
    def silent(self) -> bool:
        """Whether no API server answered."""
        return self.status == 0

    @property
    def unauthorized(self) -> bool:
        """Whether the server does not know who asks."""
        return self.status == _UNAUTHORIZED

    @property
    def final(self) -> bool:
        """Whether every other question would get the same answer, so that asking more is in vain."""
        return self.silent or self.unauthorized

    @property
    def forbidden(self) -> bool:
        """Whether the server knows who asks and does not let them."""
        return self.status == _FORBIDDEN

    @property
    def not_found(self) -> bool:
        """Whether there is no such thing."""
        return self.status == _NOT_FOUND


class ClusterApi:
    """Reads one API server until ``seconds`` from now. Use it as a context."""

    def __init__(self, access: Access, *, seconds: float, transport: "httpx.BaseTransport | None" = None) -> None:
        """Log in, which may run a credential plugin. Raises NoAnswer. ``transport`` stands in for the network."""
        import httpx  # noqa: PLC0415 - a tenth of a second that only whoever talks to a server should pay

        self._end = time.monotonic() + seconds
        self._access = access
        self._extensions = {"sni_hostname": access.name} if access.name else {}
        try:
            credential = credential_of(access, seconds=seconds)
            context = _tls(access, credential)
        except LoginFailed as error:
            raise NoAnswer(str(error), status=_UNAUTHORIZED) from error
        except (ssl.SSLError, OSError) as error:
            raise NoAnswer(f"its certificates cannot be used: {error}", status=_UNAUTHORIZED) from error
        try:
            self._client = httpx.Client(
                base_url=access.server,
                verify=context,
                headers={"Authorization": f"Bearer {credential.token}"} if credential.token else {},
                proxy=access.proxy or None,
                trust_env=not access.is_loopback,  # a proxy of the user's, as for kubectl; none leads back here
                transport=transport,
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:  # a port or a proxy that is none; SOCKS
            raise NoAnswer(f"cannot be asked: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str) -> Object:
        """Read an object. Raises NoAnswer."""
        return self._ask("GET", path)

    def text(self, path: str) -> str:
        """Read a text, such as a health endpoint's. Raises NoAnswer."""
        return self._answer("GET", path).text

    def items(self, path: str, *, labels: str = "") -> list[Object]:
        """Read every object of a list, page by page; ``labels`` is a label selector. Raises NoAnswer.

        A list that changed too much while it was read is read again, once, from its start.
        """
        try:
            return list(self._pages(path, labels))
        except NoAnswer as error:
            if error.status != _GONE:
                raise
        return list(self._pages(path, labels))

    def may(self, verb: str, *, group: str, resource: str) -> bool:
        """Ask whether whoever asks may do ``verb`` to ``resource`` in all namespaces. Raises NoAnswer."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": resource}},
        }
        answer = self._ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
        return bool((answer.get("status") or {}).get("allowed"))

    def user(self) -> str:
        """Ask who asks, by the server's word. Raises NoAnswer."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = self._ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review)
        return str(((answer.get("status") or {}).get("userInfo") or {}).get("username") or "USER")

    def would_make(self, path: str, body: Object) -> Object:
        """Ask what would be stored if ``body`` were created at ``path``, which it is not. Raises NoAnswer."""
        return self._ask("POST", path, parameters={"dryRun": "All"}, body=body)

    def _pages(self, path: str, labels: str) -> Iterator[Object]:
        following = ""
        while True:
            parameters = {"limit": str(_PAGE)}
            parameters |= {"labelSelector": labels} if labels else {}
            parameters |= {"continue": following} if following else {}
            page = self._ask("GET", path, parameters=parameters)
            yield from page.get("items") or ()
            following = (page.get("metadata") or {}).get("continue") or ""
            if not following:
                return

    def _ask(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Object | None = None,
    ) -> Object:
        answer = self._answer(method, path, parameters=parameters, body=body)
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise NoAnswer(f"answers {path} with something that is no object, so it is no API server")
        return found

    def _answer(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Object | None = None,
    ) -> "httpx.Response":
        for _ in range(TRIES):
            answer = self._request(method, path, parameters, body)
            wait = seconds_until_again(answer)
            if wait is None or time.monotonic() + wait >= self._end:
                break
            time.sleep(wait)
        if not answer.is_success:
            raise _refusal(answer, method, path)
        return answer

    def _request(
        self, method: str, path: str, parameters: Mapping[str, str] | None, body: Object | None
    ) -> "httpx.Response":
        import httpx  # noqa: PLC0415 - as above

        left = self._end - time.monotonic()
        if left <= 0:
            raise NoAnswer("did not answer in the time that it has")
        try:
            return self._client.request(
                method, path, params=parameters, json=body, timeout=left, extensions=dict(self._extensions)
            )
        except httpx.TimeoutException as error:
            raise NoAnswer("did not answer in the time that it has") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoAnswer(_in_words(error, self._access)) from error


def _tls(access: Access, credential: Credential) -> ssl.SSLContext:
    """Return what verifies the server, and proves who asks where that is done by a certificate."""
    context = ssl.create_default_context(cadata=access.authority or None)
    if credential.certificate:
        # The standard library takes them from files only; they are there for the moment in which it reads them.
        with _files(credential.certificate, credential.key) as (certificate, key):
            context.load_cert_chain(certificate, key)
    return context


@contextmanager
def _files(*texts: str) -> Generator[list[Path]]:
    with TemporaryDirectory(prefix="berth-") as folder:  # which only its user can read
        paths = [Path(folder) / str(number) for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="ascii")
        yield paths


def _in_words(error: Exception, access: Access) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not to be trusted: {cause.verify_message}"
        cause = cause.__cause__ or cause.__context__
    return f"{access.server} cannot be reached: {str(error) or type(error).__name__}"


def _refusal(answer: "httpx.Response", method: str, path: str) -> NoAnswer:
    status = answer.status_code
    if status == _UNAUTHORIZED:
        return NoAnswer(
            "does not know who asks (401): the credential in its kubeconfig is wrong or has expired", status=status
        )
    if status == _FORBIDDEN and not _admission(answer):
        resource, group, name = resource_of(path)
        verb = "create" if method == "POST" else "get" if name else "list"
        shown = f"{resource}.{group}" if group else resource
        return NoAnswer(f"does not allow to {verb} {shown} (403)", status=status, fix=grant(verb, resource, group))
    return NoAnswer(f"answers {path} with {status}: {_message(answer)}", status=status)


def _admission(answer: "httpx.Response") -> bool:
    """Whether a refusal is a quota's, a policy's or a webhook's: one of permissions says which user may not."""
    said = _message(answer)
    of_object = '" is forbidden: ' in said and ' is forbidden: User "' not in said
    return of_object or said.startswith("admission webhook ")


def resource_of(path: str) -> tuple[str, str, str]:
    """Return resource, API group and object of a path; a path that leads to no resource, like ``/version``, is itself.

    ``/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims/a`` gives ``resourceclaims``, ``resource.k8s.io``, ``a``.
    """
    first, *parts = path.strip("/").split("/")
    group = parts.pop(0) if first == "apis" and parts else ""
    parts = parts[1:]  # the version
    if first not in {"api", "apis"} or not parts:
        return path, "", ""
    if parts[0] == "namespaces" and len(parts) > len(("namespaces", "ml")):
        parts = parts[2:]
    return parts[0], group, "/".join(parts[1:])


def grant(verb: str, resource: str, group: str) -> str:
    """Return the command that makes a role with a permission; who gets it is the reader's to say."""
    if resource.startswith("/"):
        return f"kubectl create clusterrole berth-reader --verb=get --non-resource-url={resource}"
    named = f"{resource}.{group}" if group else resource
    return f"kubectl create clusterrole berth-{resource} --verb={verb} --resource={named}, and bind it to this user"


def _message(answer: "httpx.Response") -> str:
    try:
        return str(json.loads(answer.text)["message"])[:_SAID]
    except (ValueError, KeyError, TypeError):
        return " ".join(answer.text.split())[:_SAID]
