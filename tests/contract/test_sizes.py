"""Sizes: what no longer fits on a screen or in a head is split. An exception stands here with its reason."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("automation", "components", "policies", "stacks")
MODULE_LINES: Final = 400
TEST_LINES: Final = 600
FUNCTION_LINES: Final = 50
LARGEST: Final = 10

LONG_FILES: Final[Mapping[str, str]] = {}
"""Files that are longer, each with its reason."""

LONG_FUNCTIONS: Final[Mapping[str, str]] = {
    "components/cel/parser.py:_operand": "every nested expression enters here, which keeps a level at two frames",
    "tests/support/selector_expressions.py:_grown": "a grammar, one production a line",
    "tests/support/samples.py:lock_of": "a lock in one pass: services lead to what was placed before them",
}
"""Functions that are longer, as ``path:name``, each with its reason."""


@dataclass(frozen=True, order=True)
class Sized:
    """How long something is, and how long it may be."""

    lines: int
    name: str
    limit: int

    def __str__(self) -> str:
        """Return one line of the report."""
        return f"{self.lines:>5}  of {self.limit}  {self.name}"


def files() -> Iterator[tuple[str, str, int]]:
    """Yield path, text and limit of every module and test."""
    for folder in (*PRODUCT, "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            limit = TEST_LINES if folder == "tests" else MODULE_LINES
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"), limit


def modules() -> list[Sized]:
    """Measure every file."""
    return [Sized(text.count("\n"), path, limit) for path, text, limit in files()]


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement inside a node, without the expressions, which are most of a tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from statements(child)


def functions() -> list[Sized]:
    """Measure every function and method from its first line of code to its last; decorators and docstrings are free."""
    found = []
    for path, text, _ in files():
        for node in statements(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                found.append(Sized(lines, f"{path}:{node.name}", FUNCTION_LINES))
    return found


def judged(sized: list[Sized], exceptions: Mapping[str, str]) -> tuple[list[Sized], set[str]]:
    """Return what is too long without a reason, and the exceptions that are none any more."""
    long = {each.name for each in sized if each.lines > each.limit}
    return sorted(
        (each for each in sized if each.name in long - exceptions.keys()), reverse=True
    ), exceptions.keys() - long


def report(title: str, sized: list[Sized]) -> str:
    """Return the largest ones."""
    lines = [str(each) for each in sorted(sized, reverse=True)[:LARGEST]]
    return "\n".join([f"The largest {title}:", *lines])


def test_no_file_is_too_long() -> None:
    """Modules have 400 lines, tests 600."""
    sized = modules()
    print(report("files", sized))  # noqa: T201 (shown by -s, and with a failure)
    long, stale = judged(sized, LONG_FILES)
    assert not long, "split these, or name them in LONG_FILES with a reason:\n" + "\n".join(map(str, long))
    assert not stale, f"no exception is needed any more: {sorted(stale)}"


def test_no_function_is_too_long() -> None:
    """Fifty lines of code, docstring aside."""
    sized = functions()
    print(report("functions", sized))  # noqa: T201 (shown by -s, and with a failure)
    long, stale = judged(sized, LONG_FUNCTIONS)
    assert not long, "split these, or name them in LONG_FUNCTIONS with a reason:\n" + "\n".join(map(str, long))
    assert not stale, f"no exception is needed any more: {sorted(stale)}"


def test_an_exception_that_is_not_needed_is_found() -> None:
    """So the list never grows old."""
    sized = [Sized(10, "short.py", 400), Sized(500, "long.py", 400), Sized(401, "excused.py", 400)]
    long, stale = judged(sized, {"excused.py": "a table", "short.py": "was long once"})
    assert ([each.name for each in long], stale) == (["long.py"], {"short.py"})
