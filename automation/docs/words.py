"""The reference page of the scheduler's words, made from the tables that ``berth explain`` prints from. PURE."""

from collections.abc import Iterator

from automation.docs.markdown import GENERATED, code, page, table
from automation.scheduling.reason_meanings import REASON_MEANINGS
from automation.scheduling.verdict_meanings import VERDICT_MEANINGS

PATH = "reference/verdicts.md"

_INTRODUCTION = """\
`berth plan`, `up`, `explain`, `capacity`, `schedule` and `status` say why a cluster takes a replica or not, and why a
replica stays, moves or goes, in these words. `berth explain WORD` prints the same; a name with a slash
(`berth explain ml-team/full`) is always a deployment. Names in capitals stand for yours.

[Scheduling](../concepts/scheduling.md#why-a-cluster-is-refused) has the rules behind them."""

_VERDICTS = """\
Under VERDICT, for each cluster. The verdict is the first that applies, in this order; lines that sum up many clusters
have the word in brackets instead (`0/3 clusters: 1 without GPU pools, 2 no matching device`)."""

_REASONS = """\
Under WHY and under Leaving, for each replica."""


def words_page() -> str:
    """Return the page: every verdict in the order of severity, then every reason."""
    lines = ["# Verdicts and reasons", "", GENERATED, "", *_INTRODUCTION.splitlines(), ""]
    lines += ["## Verdicts on a cluster", "", *_VERDICTS.splitlines(), "", *_verdicts()]
    lines += ["## Reasons of a replica", "", *_REASONS.splitlines(), ""]
    rows = (
        (code(word), each.means, each.helps, ", ".join(map(code, each.commands)))
        for word, each in REASON_MEANINGS.items()
    )
    return page([*lines, *table(("Reason", "Meaning", "What usually helps", "Commands"), rows)])


def _verdicts() -> Iterator[str]:
    for word, each in VERDICT_MEANINGS.items():
        called = f" (`{each.noun}`)" if each.noun else ""
        yield from (f"### {word}", "", f"{each.means}{called}", "", each.helps, "")
        yield from ("```console", *(f"$ {command}" for command in each.commands), "```", "")
