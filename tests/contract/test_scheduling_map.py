"""The map of the scheduler's modules in its documentation."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_module_stands_on_the_map_once() -> None:
    """Whoever opens the folder finds each file in the order of the pass."""
    text = (ROOT / "docs" / "concepts" / "scheduling.md").read_text(encoding="utf-8")
    section = text.partition("## In the code\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    named = Counter(name for row in rows for name in re.findall("`([a-z_]+)`", row))
    modules = {path.stem for path in (ROOT / "automation" / "scheduling").glob("*.py")} - {"__init__"}
    assert named == Counter(modules)
