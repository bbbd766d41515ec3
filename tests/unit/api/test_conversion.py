"""Between the two apiVersions: the version's text changes, and nothing else; what cannot go down is shown."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.api.base import BERTH_VERSION, MODELPLANE
from components.api.codes import Code
from components.api.compose import compose
from components.api.conversion import convert
from components.api.nodes import plain
from tests.support.api_manifests import OWN, Edit, files

PORTABLE = {path: content for path, content in files().items() if path != "environment.yaml"}
ENDPOINT = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: a}
spec: {url: "http://a.example.com"}
"""


def up(text: str | bytes, path: str = "a.yaml") -> bytes:
    """Convert to Berth's own version, and expect no problem."""
    made = convert(path, text if isinstance(text, bytes) else text.encode(), to=BERTH_VERSION)
    assert not made.problems, made.problems
    return made.content


@pytest.mark.parametrize("path", PORTABLE)
def test_every_other_byte_stays(path: str) -> None:
    """Up and down again is the same file; in between only the version differs."""
    content = PORTABLE[path]
    made = convert(path, content, to=BERTH_VERSION)
    assert made.documents == content.count(MODELPLANE.encode())
    assert made.content == content.replace(MODELPLANE.encode(), BERTH_VERSION.encode())
    again = convert(path, made.content, to=MODELPLANE)
    assert again.content == content
    assert convert(path, content, to=MODELPLANE) == again.__class__(content)


WRITTEN: list[tuple[str, Callable[[str], str]]] = [
    ("comment behind", lambda text: text.replace("v1alpha1\n", "v1alpha1   # why\n", 1)),
    ("double quotes", lambda text: text.replace(MODELPLANE, f'"{MODELPLANE}"')),
    ("single quotes", lambda text: text.replace(MODELPLANE, f"'{MODELPLANE}'")),
    ("a tag", lambda text: text.replace(MODELPLANE, f"!!str {MODELPLANE}")),
    ("an anchor", lambda text: text.replace(MODELPLANE, f"&v {MODELPLANE}")),
    ("an anchor and quotes", lambda text: text.replace(MODELPLANE, f"&v '{MODELPLANE}'")),
    ("the next line", lambda text: text.replace(f" {MODELPLANE}", f"\n  {MODELPLANE}")),
    ("a block", lambda text: text.replace(f" {MODELPLANE}", f" |- # block\n  {MODELPLANE}")),
    ("a folded block", lambda text: text.replace(f" {MODELPLANE}", f" >-\n\n  {MODELPLANE}").replace("\n\n ", "\n ")),
    ("a quoted key", lambda text: text.replace("apiVersion:", '"apiVersion" :')),
    ("carriage returns", lambda text: text.replace("\n", "\r\n")),
    ("a byte order mark", lambda text: "\ufeff" + text),
    ("no line end", lambda text: text.rstrip("\n")),
    ("a document before", lambda text: f"kind: ConfigMap\napiVersion: v1\ndata: {{v: {MODELPLANE}}}\n---\n{text}"),
    ("markers", lambda text: f"%YAML 1.2\n---\n{text}...\n"),
    ("letters of several bytes", lambda text: f"# Grüße, 你好, \U0001d4b3\n{text}"),
    ("another key first", lambda text: "kind: ModelEndpoint\n" + text.replace("kind: ModelEndpoint\n", "")),
    ("an odd line end", lambda text: f"# a\x85# b\u2028{text}"),
    ("one line", lambda text: "{apiVersion: " + MODELPLANE + ", kind: ModelEndpoint, metadata: {name: a}, "
     'spec: {url: "http://a.example.com"}}'),
]  # fmt: skip


@pytest.mark.parametrize("write", [pytest.param(write, id=name) for name, write in WRITTEN])
def test_however_the_version_is_written(write: Callable[[str], str]) -> None:
    """The documents that are Berth's change, and only in their version."""
    text = write(ENDPOINT)
    made = up(text)
    others = text.count(MODELPLANE) - 1
    assert made.decode().count(BERTH_VERSION) == 1
    assert made.decode().count(MODELPLANE) == others
    head, _, tail = made.decode().partition(BERTH_VERSION)
    assert text.startswith(head)
    assert text.endswith(tail)


def test_a_version_that_documents_share_changes_once() -> None:
    """By an anchor inside one List."""
    item = "kind: ModelEndpoint\n  metadata: {name: %s}\n  spec: {url: 'http://a.example.com'}\n"
    items = f"- apiVersion: &v {MODELPLANE}\n  {item % 'a'}- apiVersion: *v\n  {item % 'b'}"
    text = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    made = convert("a.yaml", text.encode(), to=BERTH_VERSION)
    assert (made.problems, made.documents) == ((), 2)
    assert made.content == text.replace(MODELPLANE, BERTH_VERSION).encode()


def test_a_merge_key_changes_where_it_is_written() -> None:
    """When all who merge it are converted."""
    text = f"- &base {{apiVersion: {MODELPLANE}, kind: ModelEndpoint, metadata: {{name: a}}, spec: {{url: 'http://a.b'}}}}\n"
    text = f"apiVersion: v1\nkind: List\nitems:\n{text}- <<: *base\n  metadata: {{name: b}}\n"
    made = convert("a.yaml", text.encode(), to=BERTH_VERSION)
    assert (made.problems, made.documents) == ((), 2)
    assert made.content.count(BERTH_VERSION.encode()) == 1


@pytest.mark.parametrize(
    "text",
    [
        ENDPOINT.replace(MODELPLANE, f"&v {MODELPLANE}").replace("{name: a}", "{name: a, annotations: {from: *v}}"),
        ENDPOINT.replace(MODELPLANE, '"modelplane\\u002eai/v1alpha1"'),
    ],
    ids=["shared with a label", "written with an escape"],
)
def test_a_version_that_cannot_change_alone_is_refused(text: str) -> None:
    """At its key; the file stays."""
    made = convert("a.yaml", text.encode(), to=BERTH_VERSION)
    (problem,) = made.problems
    assert (problem.code, problem.line, problem.column) == (Code.VERSION_SHARED, 1, 1)
    assert made.content == text.encode()


def test_a_version_that_cannot_change_alone_holds_up_its_own_document_only() -> None:
    """Anchors end with their document, so the others in the file are not accused."""
    sharing = ENDPOINT.replace(": modelplane.ai", ": &v modelplane.ai", 1).replace(
        "name: a}", "name: b, labels: {a: *v}}"
    )
    made = convert(
        "f", f"{ENDPOINT}---\n{sharing}---\n{ENDPOINT.replace('name: a', 'name: c')}".encode(), to=BERTH_VERSION
    )
    assert [(problem.code, problem.line) for problem in made.problems] == [(Code.VERSION_SHARED, 6)]


def test_the_items_of_a_list_of_one_kind_are_converted_with_it() -> None:
    """As those of kubectl's own List, which has no version of ours."""
    item = "- " + ENDPOINT.replace("\n", "\n  ").rstrip() + "\n"
    for head, documents in (
        (f"apiVersion: {MODELPLANE}\nkind: ModelEndpointList", 2),
        ("apiVersion: v1\nkind: List", 1),
    ):
        made = convert("f.yaml", f"{head}\nitems:\n{item}".encode(), to=BERTH_VERSION)
        assert (made.problems, made.documents) == ((), documents)
        assert MODELPLANE.encode() not in made.content


def test_a_warning_of_the_text_does_not_stand_in_the_way() -> None:
    """Only an error does."""
    text = ENDPOINT.replace("metadata: {name: a}", "metadata:\n  name: a\n  annotations:\n    x: y\n      - z")
    assert up(text) == text.replace(MODELPLANE, BERTH_VERSION).encode()


def test_fields_of_berths_own_do_not_go_down() -> None:
    """Each is shown where it stands, with what to do; a bound of the predecessor's counts too."""
    content = files(Edit("east", *OWN), Edit("east", "spec:", "spec:\n  removing: true\n  release: x"))
    made = convert("platform/east.yaml", content["platform/east.yaml"], to=MODELPLANE)
    assert [(each.code, each.path) for each in made.problems] == [
        (Code.BERTH_FIELD, "spec.removing"),
        (Code.BERTH_FIELD, "spec.release"),
    ]
    for problem in made.problems:
        assert problem.text.strip().startswith(problem.path.rpartition(".")[2])
        assert problem.help == f"take it out first, or leave the document under {BERTH_VERSION}"
    assert made.content == content["platform/east.yaml"]
    many = files(Edit("qwen", *OWN), Edit("qwen", "replicas: 2", "replicas: 2000"))["models/ml/qwen.yaml"]
    (problem,) = convert("models/ml/qwen.yaml", many, to=MODELPLANE).problems
    assert (problem.code, problem.path) == (Code.VALUE_OUT_OF_RANGE, "spec.replicas")


def test_a_place_is_that_of_the_old_text() -> None:
    """Although the version before it on the line is longer or shorter afterwards."""
    text = (
        f"{{apiVersion: {BERTH_VERSION}, kind: InferenceCluster, metadata: {{name: a}}, "
        "spec: {removing: true, cluster: {source: Existing, existing: {secretRef: {name: a}}}}}"
    )
    (problem,) = convert("a.yaml", text.encode(), to=MODELPLANE).problems
    assert text[problem.column - 1 :].startswith("removing")
    assert problem.text == text


def test_a_file_that_asks_for_the_other_version_is_mended() -> None:
    """A field of Berth's under the predecessor's version is what one converts for."""
    content = files(Edit("east", "spec:", "spec:\n  removing: true"))["platform/east.yaml"]
    assert BERTH_VERSION.encode() in up(content, "platform/east.yaml")


def test_what_is_wrong_anyway_is_said_first() -> None:
    """Broken text, a field that no version has; nothing is changed."""
    for text, code in ((ENDPOINT + "\t x: 1\n", Code.YAML_TAB), (ENDPOINT + "nope: 1\n", Code.FIELD_UNKNOWN)):
        made = convert("a.yaml", text.encode(), to=BERTH_VERSION)
        assert [each.code for each in made.problems] == [code]
        assert made.content == text.encode()


def test_an_environment_has_only_one_version() -> None:
    """It stays, and its place is told."""
    content = files()["environment.yaml"]
    made = convert("environment.yaml", content, to=MODELPLANE, shown=lambda path: f"dev/{path}")
    assert (made.content, made.documents, made.problems) == (content, 0, ())
    assert made.kept == ("dev/environment.yaml:1",)
    assert convert("environment.yaml", content, to=BERTH_VERSION).kept == ()


def test_what_is_not_berths_stays() -> None:
    """Other tools' documents, machine-made ones, and files without any."""
    text = (
        f"apiVersion: {MODELPLANE}\nkind: ModelReplica\nspec: {{}}\n---\napiVersion: v1\nkind: Secret\n---\n# nothing\n"
    )
    assert convert("a.yaml", text.encode(), to=BERTH_VERSION).content == text.encode()
    assert convert("a.yaml", b"", to=BERTH_VERSION).content == b""


@given(
    st.lists(st.sampled_from(["# c\n", "\n", "  # modelplane.ai/v1alpha1\n", "---\n", ENDPOINT, "---\n" + ENDPOINT]))
)
def test_whatever_is_between_documents_stays(parts: list[str]) -> None:
    """Whenever it converts at all, putting the version back gives the old bytes."""
    text = "".join(parts)
    made = convert("a.yaml", text.encode(), to=BERTH_VERSION)
    if made.problems:
        assert made.content == text.encode()
        return
    before = [plain(node) for node in compose("", text.encode()).documents]
    after = [plain(node) for node in compose("", made.content).documents]
    assert after == [{**each, "apiVersion": BERTH_VERSION} for each in before]
    assert convert("a.yaml", made.content, to=MODELPLANE).content == text.encode()


@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer(content: bytes) -> None:
    """Never an exception, and never a change of what is not understood."""
    assert convert("a.yaml", content, to=BERTH_VERSION).content == content
