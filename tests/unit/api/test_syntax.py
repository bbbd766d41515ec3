"""The syntax of names, labels, images, quantities, versions, durations and addresses."""

from collections.abc import Callable

import pytest

from components.api import syntax

Check = Callable[[str], str]


def name_of(check: Check) -> str:
    """Name a check in the ids of its rows."""
    return str(getattr(check, "__name__", check))


GOOD: dict[Check, list[str]] = {
    syntax.dns_label: ["a", "0", "a-b", "9b", "a" * 63],
    syntax.service_label: ["a", "a-9", "x" * 63],
    syntax.dns_subdomain: ["a", "a.b", "p5.48xlarge", "1.2", "a" * 253],
    syntax.short_subdomain: ["qwen2.5", "a" * 63],
    syntax.label_key: ["a", "A_b.c-d", "example.com/a", "a/b", "1/2", "x" * 63, "a" * 253 + "/b"],
    syntax.label_value: ["", "a", "A", "a_b.c-d", "1", "x" * 63],
    syntax.image: [
        "vllm", "vllm/vllm-openai:v0.23.0", "ghcr.io/a/b__c:1", "localhost:5000/a", "a@sha256:" + "0" * 64,
        "r.io/a:1@sha256:" + "f" * 64, "a/b.c/d-e---f", "[::1]:5000/a", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7",
    ],
    syntax.quantity: ["1", "23034Mi", "1.5G", "100m", "1e3", "0"],
    syntax.semantic_version: ["0.0.0", "8.9.0", "1.2.3-rc.1+b"],
    syntax.duration: ["1h", "30m", "45s", "1h30m", "0s"],
    syntax.repository: ["Qwen/Qwen3-8B", "gpt2", "a_b/c.d-e"],
    syntax.revision: ["main", "refs/pr/1", "v1.0", "0123abc"],
    syntax.secret_name: ["ml/hf", "a/b.c"],
    syntax.tag_value: ["", "ML Platform", "cc-42", "a:b/c=d+e@f_g.h", "Plattform für KI"],
    syntax.variable: ["A", "a.b-c", "_x 1"],
    syntax.url: [
        "http://a", "https://api.together.xyz/", "http://10.0.0.1:8000/v1", "https://[::1]:8443/x", "http://a.b?c=d",
    ],
}  # fmt: skip

BAD: dict[Check, list[str]] = {
    syntax.dns_label: ["", "A", "a_b", "-a", "a-", "a.b", "a" * 64, "a\n", "é"],
    syntax.service_label: ["", "9a", "A", "a.b", "a" * 64],
    syntax.dns_subdomain: ["", ".a", "a.", "a..b", "A.b", "a_b", "a" * 254],
    syntax.short_subdomain: ["a" * 64, "A"],
    syntax.label_key: ["", "/a", "a/", "a/b/c", "A.com/x", "-a", "a-", "a b", "x" * 64, "a" * 254 + "/b"],
    syntax.label_value: ["-a", "a-", "a b", "a/b", "x" * 64, "é"],
    syntax.image: [
        "", " a", "a b", "a\n", "A", "r.io/A/b", "a:", "a@sha256:0", "a//b", "/a", "a:t:u", "http://a",
        "a:" + "t" * 129,
    ],
    syntax.quantity: ["", "80GB", "1 G", "80gi", "x", "1,5G", "1Kb"],
    syntax.semantic_version: ["9.0", "v1.2.3", "1", "01.2.3", "1.2.3-", ""],
    syntax.duration: ["", "1", "1d", "m", "1m1h", "-1s", "1.5h"],
    syntax.repository: ["", "a/b/c", "a b", "$(rm)", "/a", "../a", "a;b"],
    syntax.revision: ["", "a b", "-a", "--upload", "a\nb"],
    syntax.secret_name: ["a", "a/b/c", "A/b", "a/", "/b"],
    syntax.tag_value: ["a;b", "a\tb", "a\nb", "<a>"],
    syntax.variable: ["", "A=B", "a\n", "é"],
    syntax.url: [
        "", "a", "ftp://a", "http://", "http:///x", "http://a:0", "http://a:99999", "http://a:x", "http://a b",
        "http://u:p@a", "http://[::1", "//a", "http://a_b", "http://A..b",
    ],
}  # fmt: skip

GOOD_ROWS = [pytest.param(check, text, id=f"{name_of(check)}-{text[:20]!r}") for check in GOOD for text in GOOD[check]]
BAD_ROWS = [pytest.param(check, text, id=f"{name_of(check)}-{text[:20]!r}") for check in BAD for text in BAD[check]]


@pytest.mark.parametrize(("check", "text"), GOOD_ROWS)
def test_what_is_right_passes(check: Callable[[str], str], text: str) -> None:
    """A right text has no reason against it."""
    assert check(text) == ""


@pytest.mark.parametrize(("check", "text"), BAD_ROWS)
def test_what_is_wrong_has_a_reason(check: Callable[[str], str], text: str) -> None:
    """A wrong text has a reason that follows "must"."""
    reason = check(text)
    assert reason
    assert reason.split()[0] in {"be", "have", "begin", "not", "name"}


@pytest.mark.parametrize(
    ("check", "text", "near"),
    [
        (syntax.dns_label, "Qwen_2.5", "qwen-2-5"),
        (syntax.dns_label, "-a-", "a"),
        (syntax.dns_subdomain, "My Class", "my-class"),
        (syntax.quantity, "80GB", "80Gi"),
        (syntax.quantity, "80 gb", "80Gi"),
        (syntax.semantic_version, "9.0", "9.0.0"),
        (syntax.semantic_version, "v1.2", "1.2.0"),
    ],
)
def test_a_near_value_is_offered(check: Callable[[str], str], text: str, near: str) -> None:
    """What the person probably meant stands in the reason, and is right."""
    assert f"`{near}` perhaps" in check(text)
    assert check(near) == ""


def test_no_near_value_is_offered_where_there_is_none() -> None:
    """A name without a single usable character has no suggestion."""
    assert "perhaps" not in syntax.dns_label("___")


@pytest.mark.parametrize(("text", "seconds"), [("1h30m", 5400), ("45s", 45), ("0s", 0), ("2h1m1s", 7261)])
def test_a_duration_has_seconds(text: str, seconds: int) -> None:
    """Hours, minutes and seconds add up."""
    assert syntax.duration_seconds(text) == seconds


def test_the_plain_question_has_a_plain_answer() -> None:
    """Callers that need no reason ask for a boolean."""
    assert syntax.is_dns_label("a")
    assert not syntax.is_dns_label("A")
