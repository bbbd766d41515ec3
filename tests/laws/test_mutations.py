"""Laws of loading, on documents generated from the models of all kinds.

L3 A right document that is changed in one place has one problem, at that place. L4 Writing a document and reading it
gives the same value. A field whose work is not built is a problem of its own, which a mistake inside it replaces.
"""

from functools import cache
from typing import Any, Final

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from components.api.base import BERTH_VERSION, Document, Model
from components.api.codes import Code
from components.api.compose import compose
from components.api.kinds import ALL_KINDS
from components.api.load import load_fleet
from components.api.nodes import find, written
from components.api.schema import schema
from components.api.shape import shape
from components.errors import Problem
from tests.support.effort import law
from tests.support.model_documents import VALUES, Mutation, Path, documents, mutations, samples
from tests.support.own_fields import LATER_FIELDS, OWN_FIELDS

SLOW: Final = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def errors(text: str) -> list[Problem]:
    """Load one document alone, where what it refers to may lie elsewhere."""
    return list(load_fleet([("x.yaml", text.encode())], complete=False).errors)


def dumped(document: Any) -> str:
    """Write a plain document."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(document, Dumper=dumper, sort_keys=False, width=10_000))


def reached(model: type[Model]) -> set[tuple[type[Model], str]]:
    """Return every field of a model and of the models inside it."""
    found = {(model, name) for name in shape(model)}
    for field in shape(model).values():
        if field.model is not None:
            found |= reached(field.model)
    return found


def test_the_samples_have_every_field_of_every_model() -> None:
    """So that generated documents do too: a field that nobody writes is not tested."""
    wanted = set().union(*(reached(model) for model in ALL_KINDS.values()))
    missing = {f"{model.__name__}.{name}" for model, name in wanted if not VALUES.get(model, {}).get(name)}
    assert missing == set()


@cache
def _validator(kind: str) -> Any:
    return Draft202012Validator(schema(kind, later=True))


def _fits(document: Any) -> bool:
    """Whether a document is right by the schema of its kind; one whose kind was changed has none."""
    kind = document.get("kind")
    return isinstance(kind, str) and kind in ALL_KINDS and _validator(kind).is_valid(document)


def check(before: list[Problem], mutation: Mutation) -> None:
    """Check that a change gave one problem more, at its place, and that the kind's schema refuses it too."""
    text = dumped(mutation.document)
    known = {(problem.code, problem.path) for problem in before}
    found = [each for each in errors(text) if (each.code, each.path) not in known]
    if mutation.what == "too many items":  # copies of an item have copies of its fields that are not built
        found = [each for each in found if each.code is not Code.NOT_SUPPORTED_YET]
    assert len(found) == 1, (mutation.what, written(mutation.path), found)
    assert not _fits(mutation.document), (mutation.what, mutation.path)
    (problem,) = found
    assert problem.path == written(mutation.path)
    assert mutation.code in (None, problem.code)
    assert problem.code is not Code.NOT_SUPPORTED_YET
    place = find(compose("x.yaml", text.encode()).documents[0], mutation.path)
    nodes = [node for node in (place.key, place.value) if node is not None]
    assert (problem.line, problem.column) in {(node.line, node.column) for node in nodes}


@given(data=st.data(), document=documents())
@law(100, suppress=SLOW)
def test_a_change_in_one_place_is_one_problem_at_that_place(data: st.DataObject, document: Any) -> None:
    """L3: every kind, every way of being wrong that the models know."""
    before = errors(dumped(document))
    assert {problem.code for problem in before} <= {Code.NOT_SUPPORTED_YET}
    check(before, data.draw(st.sampled_from(list(mutations(document)))))


SAMPLES: Final = [pytest.param(each, ((),), id=f"{number}-{each['kind']}") for number, each in enumerate(samples())]
ROWS: Final = [
    pytest.param(row.document(BERTH_VERSION), row.paths, id=str(row)) for row in (*LATER_FIELDS, *OWN_FIELDS)
]


@pytest.mark.parametrize(("sample", "inside"), SAMPLES + ROWS)
def test_every_change_of_a_sample_is_one_problem_at_its_place(sample: Any, inside: tuple[Path, ...]) -> None:
    """L3, in full: the samples hold every field of every model, and each is changed in every way."""
    before = errors(dumped(sample))
    for mutation in mutations(sample):
        if any(mutation.path[: len(path)] == path for path in inside):
            check(before, mutation)


@given(document=documents(later=False))
@law(50, suppress=SLOW)
def test_what_was_written_is_read_as_the_same(document: Any) -> None:
    """L4: with its defaults written out and without, through YAML and the loader."""
    model: type[Document] = ALL_KINDS[document["kind"]]
    value = model.model_validate(document, by_alias=True, by_name=False)
    for defaults in (True, False):
        again = value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=not defaults)
        again |= {"apiVersion": document["apiVersion"], "kind": document["kind"]}
        if BERTH_VERSION in str(model.model_fields["api_version"].annotation):
            again["apiVersion"] = BERTH_VERSION  # defaults of Berth's own fields are written out too
        assert errors(dumped(again)) == []
        read = model.model_validate(yaml.safe_load(dumped(again)), by_alias=True, by_name=False)
        assert read.model_dump(exclude={"api_version"}) == value.model_dump(exclude={"api_version"})
