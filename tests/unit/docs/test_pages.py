"""What is written in README and docs holds: manifests load, commands parse, links lead somewhere."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any, Final

import pytest

from automation.cli.main import build_app
from components.api.load import load_fleet
from tests.unit.docs.pages import DOCS, ROOT, Block, Page, pages

PAGES: Final = {page.name: page for page in pages()}
MACHINE: Final = re.compile(r"(?<![\w.~-])/(?:work|root|tmp|opt/conda)/")
_VARIABLE: Final = re.compile(r"^[A-Z_]+=\S*$")


def manifests() -> Iterator[tuple[str, str]]:
    """Yield every YAML block that holds a manifest, with where it stands."""
    for page in PAGES.values():
        for block in page.blocks:
            if block.language == "yaml" and re.search(r"^kind: ", block.text, re.MULTILINE):
                yield f"{page.name}:{block.line}", block.text


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield the words of every `berth` command in a console block, with where it stands."""
    for page in PAGES.values():
        for block in page.blocks:
            if block.language == "console":
                yield from _of_block(page, block)


def _of_block(page: Page, block: Block) -> Iterator[tuple[str, list[str]]]:
    for offset, line in enumerate(block.text.splitlines()):
        words = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ ") else []
        while words and _VARIABLE.match(words[0]):
            words.pop(0)
        if words and words[0].rpartition("/")[2] == "berth":
            end = next((index for index, word in enumerate(words) if word in {">", "|", "&&"}), len(words))
            yield f"{page.name}:{block.line + offset}", words[1:end]


def _named(cases: Iterator[tuple[str, Any]]) -> list[Any]:
    return [pytest.param(value, id=where) for where, value in cases]


@pytest.mark.parametrize("text", _named(manifests()))
def test_every_manifest_that_is_shown_loads(text: str) -> None:
    """A reader who copies an example gets no error; references may lead outside the example."""
    loaded = load_fleet([("example.yaml", text.encode())], complete=False)
    assert not loaded.errors, "\n".join(f"{problem.where}: {problem.message}" for problem in loaded.errors)


@pytest.mark.parametrize("words", _named(commands()))
def test_every_command_that_is_shown_exists(words: list[str]) -> None:
    """Each verb and option of a console block is one that the command line takes."""
    build_app().parse_args(words, exit_on_error=False, print_error=False)


def test_there_are_manifests_and_commands_to_look_at() -> None:
    """The two tests above would pass on pages that they cannot read."""
    assert len(list(manifests())) > 15
    assert len(list(commands())) > 30


@pytest.mark.parametrize("page", [pytest.param(page, id=name) for name, page in PAGES.items()])
def test_every_link_leads_to_a_page_and_a_heading(page: Page) -> None:
    """A link inside the repository names a file that is there, and a heading that this file has."""
    broken = []
    for link in page.links:
        target, _, fragment = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        path = (ROOT / page.path.parent / target).resolve() if target else ROOT / page.path
        known = PAGES.get(path.relative_to(ROOT).as_posix()) if path.is_relative_to(ROOT) else None
        if not path.exists() or (fragment and (known is None or fragment not in known.anchors)):
            broken.append(link)
    assert not broken, f"{page.name} links to {', '.join(broken)}"


@pytest.mark.parametrize("page", [pytest.param(page, id=name) for name, page in PAGES.items()])
def test_no_page_names_a_path_of_this_machine(page: Page) -> None:
    """Output that was copied into a page has the paths of a reader, not of the writer."""
    found = [line for line in page.text.splitlines() if MACHINE.search(line) or str(ROOT) in line]
    assert not found, found


@pytest.mark.parametrize("page", [pytest.param(page, id=name) for name, page in PAGES.items()])
def test_headings_of_a_page_are_distinct(page: Page) -> None:
    """Two equal headings would share a fragment, and a link could lead to the wrong one."""
    anchors = page.anchors
    assert len(anchors) == len(set(anchors)), sorted(anchor for anchor in anchors if anchors.count(anchor) > 1)


def test_the_site_lists_every_page_once() -> None:
    """A page that the navigation does not have is never found; one that is not there is a dead end."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    listed = list(_listed(config["project"]["nav"]))
    there = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert len(listed) == len(set(listed))
    missing, gone = sorted(set(there) - set(listed)), sorted(set(listed) - set(there))
    assert not missing, f"add to `nav` of zensical.toml: {', '.join(missing)}"
    assert not gone, f"take out of `nav` of zensical.toml: {', '.join(gone)}"


def _listed(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for value in nav.values():
            yield from _listed(value)
    else:
        for entry in nav:
            yield from _listed(entry)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_row_of_a_table_ends_on_its_line(page: Page) -> None:
    """A line end inside a cell would end the table there."""
    assert not [line for line in page.prose.splitlines() if line.startswith("|") and not line.endswith("|")]
