"""The reference says what the code has, no more and no less."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Final

import pytest
import yaml
from cyclopts import App

import automation
import components
import stacks
from automation.cli.main import VERBS, build_app
from automation.cli.examples_of import examples_of
from automation.docs.__main__ import stale
from automation.render.field_examples import example_of
from automation.render.fields import FieldRow, ObjectFields, objects, root
from components.api.load import load_fleet
from components.api.codes import Code
from components.api.kinds import ALL_KINDS
from components.errors import BerthError
from tests.unit.docs.pages import DOCS, ROOT, Page

_VARIABLE: Final = re.compile(r"\bBERTH_[A-Z]+(?:_[A-Z]+)*\b")


def page(path: str) -> Page:
    """Read one page below ``docs/``."""
    return Page((DOCS / path).relative_to(ROOT), (DOCS / path).read_text(encoding="utf-8"))


def sources() -> Iterator[ast.Module]:
    """Parse every module of the product."""
    for package in ("automation", "components", "policies", "stacks"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


def literal_codes() -> set[str]:
    """Return the codes of problems that are written where the problem is made."""
    found = set()
    for module in sources():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem":
                given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "code")]
                found |= {each.value for each in given if isinstance(each, ast.Constant) and each.value}
    return {str(code) for code in found}


def error_classes() -> list[type[BerthError]]:
    """Return every error of the product; importing all modules makes them known."""
    for package in (automation, components, stacks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and ".templates" not in module.name:
                importlib.import_module(module.name)
    found: list[type[BerthError]] = [BerthError]
    for each in found:
        found += [
            inner for inner in each.__subclasses__() if inner not in found and not inner.__module__.startswith("tests")
        ]
    return found


def commands(app: App, name: str) -> Iterator[tuple[str, App]]:
    """Yield every command that can be run, by the words that a person types."""
    inner = [sub for sub in app if not sub.startswith("-")] if app.default_command is None else []
    if not inner:
        yield name, app
    for sub in inner:
        yield from commands(app[sub], f"{name} {sub}")


def all_commands() -> dict[str, App]:
    """Return every command of the app."""
    app = build_app()
    return {name: found for verb in VERBS for name, found in commands(app[verb], f"berth {verb}")}


def test_generated_pages_are_as_the_code_makes_them() -> None:
    """A change of models or command line shows in the reference; `python -m automation.docs` writes it."""
    assert stale() == []


@pytest.mark.parametrize("name", all_commands())
def test_the_page_of_commands_lists_exactly_the_options_there_are(name: str) -> None:
    """Every visible option of a command stands in its section or in a section it refers to, and no other does."""
    text = page("reference/cli.md").text
    parts = dict(re.findall(r"^#{2,3} (.+)\n((?:(?!#{2,3} ).*\n?)*)", text, re.MULTILINE))
    section = parts[name]
    shared = [
        parts[title] for title in ("Which environment", "How the answer is shown") if f"[{title.lower()}]" in section
    ]
    said = {option for part in (section, *shared) for row in _rows(part) for option in row}
    there = set()
    for argument in all_commands()[name].assemble_argument_collection():
        if "*" in argument.names or argument.parameter.show is False:
            continue
        positional = argument.index is not None
        there |= {argument.names[0].lstrip("-").upper()} if positional else set(argument.names)
    assert said == there


def _rows(section: str) -> Iterator[list[str]]:
    for line in section.splitlines():
        if line.startswith("| `"):
            yield re.findall(r"`([^`]+)`", line.split(" | ")[0])


def test_the_page_of_commands_lists_exactly_the_verbs() -> None:
    """A verb that goes or comes changes the page."""
    headings = page("reference/cli.md").headings
    assert [each.removeprefix("berth ") for each in headings if re.fullmatch(r"berth \w+", each)] == list(VERBS)


def test_every_code_has_a_section_and_every_section_a_code() -> None:
    """Whoever reads a code in brackets finds what it means."""
    codes = {str(code) for code in Code} | {each.code for each in error_classes()} | literal_codes()
    sections = re.findall(r"^### (.+)$", page("reference/errors.md").text, re.MULTILINE)
    assert len(sections) == len(set(sections))
    assert not codes - set(sections), "docs/reference/errors.md has no section for these"
    assert not set(sections) - codes, "docs/reference/errors.md explains what no code raises"


def test_every_error_stands_beside_its_exit_code() -> None:
    """The table of exit codes names each error in the row of its number."""
    text = page("reference/exit-codes.md").text
    said = {}
    for row in re.findall(r"^\| (\d+) \| .*$", text, re.MULTILINE):
        line = next(each for each in text.splitlines() if each.startswith(f"| {row} |"))
        said |= dict.fromkeys(re.findall(r"\(errors\.md#([\w-]+)\)", line), int(row))
    assert said == {each.code: each.exit_code for each in error_classes()}


def test_every_variable_of_ours_is_listed() -> None:
    """The page lists exactly the variables that the code reads."""
    read = set()
    for module in sources():
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.fullmatch(node.value):
                read.add(node.value)
    listed = set(_VARIABLE.findall(page("reference/environment-variables.md").text))
    assert listed == read


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_page_of_a_kind_names_every_field(kind: str) -> None:
    """Each field that may be written has a row with a meaning, and each that may not is named as such."""
    text = page(f"reference/kinds/{kind.lower()}.md").text
    for each in objects(kind):
        section = text.split(f"\n### {each.path}\n", 1)[1].split("\n### ", 1)[0]
        for row in each.rows:
            assert f"| `{row.name}` |" in section
            assert row.meaning, f"{each.path}.{row.name} has no meaning"
        for row in each.later:
            assert f"`{row.name}`" in section


def _object(kind: str, path: str) -> ObjectFields:
    return next(each for each in objects(kind) if each.path == path)


def test_a_field_is_told_with_type_default_and_bounds() -> None:
    """The words of a row come from the schema: choices, spans, what is required, what is Berth's own."""
    spec = {row.name: row for row in _object("ModelDeployment", "spec").rows}
    assert (spec["replicas"].type, spec["replicas"].default, spec["replicas"].bounds) == (
        "integer",
        "required",
        "0 to 2147483647",
    )
    assert spec["surge"].told.endswith("Needs `berth.dev/v1alpha1`.")
    engine = {row.name: row for row in _object("ModelDeployment", "spec.template.spec.engines[]").rows}
    assert (engine["copies"].default, engine["copies"].bounds) == ("1", "1 to 64")
    assert (engine["phase"].type, engine["phase"].bounds, engine["phase"].default) == ("one of", "Prefill, Decode", "")
    assert engine["members"].inside == "spec.template.spec.engines[].members[]"


def test_a_field_that_is_not_built_is_told_apart() -> None:
    """What the loader refuses as not supported yet stands in no table."""
    deployment = _object("ModelDeployment", "spec")
    assert "keepOld" in {row.name for row in deployment.later}
    assert "keepOld" not in {row.name for row in deployment.rows}


def test_a_kind_without_namespace_shows_none() -> None:
    """The namespace of a cluster means nothing, so its page does not offer one."""
    assert "namespace" not in {row.name for row in _object("InferenceCluster", "metadata").rows}
    assert "namespace" in {row.name for row in _object("ModelService", "metadata").rows}


def _writable(row: FieldRow) -> Iterator[FieldRow]:
    for child in row.children:
        if child.versions:
            yield child
            yield from _writable(child)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_field_has_an_example(kind: str) -> None:
    """`berth explain` shows it; the page's example has the usual ones, `<Kind>.fields.yaml` beside it all others."""
    manifests = examples_of(kind)
    missing = [row.path for row in _writable(root(kind)) if not example_of(kind, row.path, manifests)]
    assert not missing, f"add these to automation/cli/examples/{kind}.fields.yaml: {', '.join(missing)}"


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_example_loads(kind: str) -> None:
    """Without a problem, except that what machines wrote is said to be so and references lead outside."""
    for number, text in enumerate(examples_of(kind)):
        loaded = load_fleet([(f"{number}.yaml", text.encode())], complete=False)
        found = [each for each in loaded.problems if each.code not in {Code.MACHINE_MADE, Code.REFERENCE_MISSING}]
        assert not found, [f"{each.where}: {each.message}" for each in found]


def test_every_example_belongs_to_a_kind() -> None:
    """A file of a misspelt name would never be shown."""
    names = {path.name for path in (ROOT / "automation/cli/examples").iterdir()}
    assert names <= {f"{kind}{end}" for kind in ALL_KINDS for end in (".yaml", ".fields.yaml")}


def test_what_another_field_of_the_same_object_shows_is_moved_to_its_place() -> None:
    """A probe is a probe; a map's key and a list's item are made up on the way."""
    head = "kind: ModelDeployment\nspec: {template: {spec: {engines: [{members: [{template: {spec: {containers: [{"
    given = head + "startupProbe: {tcpSocket: {port: 9}}}]}}}]}]}}}"
    pod = "spec.template.spec.engines[].members[].template.spec"
    shown = yaml.safe_load(example_of("ModelDeployment", f"{pod}.sidecars[].livenessProbe.tcpSocket.port", [given]))
    (one,) = shown["spec"]["template"]["spec"]["engines"][0]["members"][0]["template"]["spec"]["sidecars"]
    assert one == {"livenessProbe": {"tcpSocket": {"port": 9}}}
    assert example_of("ModelDeployment", f"{pod}.volumes", [given]) == ""
