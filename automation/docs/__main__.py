"""``python -m automation.docs``: writes the generated reference pages into ``docs/``; with ``--check`` only compares.

The pages are committed, so that they read in a repository browser and a review shows what a change does to them.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from automation.cli.examples_of import examples_of
from automation.docs.commands import PATH, commands_page
from automation.docs.kinds import kind_pages, kind_schemas
from automation.docs.words import PATH as WORDS_PATH
from automation.docs.words import words_page
from components.api.kinds import ALL_KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def pages() -> dict[str, str]:
    """Return every generated page, by path below ``docs/``."""
    examples = {kind: examples_of(kind)[0] for kind in ALL_KINDS}
    return {PATH: commands_page(), WORDS_PATH: words_page(), **kind_pages(examples), **kind_schemas()}


def stale(folder: Path = DOCS) -> list[str]:
    """Return the pages that are not as the code makes them."""
    made = pages()
    kept = {path: folder / path for path in made}
    return [path for path, file in kept.items() if not file.is_file() or file.read_text(encoding="utf-8") != made[path]]


def main(arguments: Sequence[str]) -> int:
    """Write or check the pages; returns the exit status."""
    old = stale()
    if "--check" in arguments:
        sys.stdout.writelines(f"docs/{path} is not as the code makes it\n" for path in old)
        return 1 if old else 0
    made = pages()
    for path in old:
        file = DOCS / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made[path], encoding="utf-8")
        sys.stdout.write(f"wrote docs/{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
